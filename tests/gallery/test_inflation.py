"""A balloon that presses into a cushion: what each interface does to the surface between them."""

import numpy as np
import pytest

from klapper.gallery.inflation import Inflation, inflation
from klapper.gallery.parameter import ParameterError

KINDS = ("nts", "nts-two-pass", "mortar")


@pytest.fixture(scope="module")
def models() -> dict[str, Inflation]:
    return {kind: Inflation(kind, 25.0, 40, (35, 4), 3) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_contacts_obey_their_laws_and_each_body_is_in_balance(models, kind: str) -> None:
    model = models[kind]
    force, held = model.run.force[-1][:, 0], model.run.constraint_force[-1]
    assert force.min() >= -1e-8 * force.max()
    assert model.overlap <= 1e-9
    push = model.push("balloon")
    np.testing.assert_allclose(push.sum(axis=0), -model.push("cushion").sum(axis=0), atol=1e-12)
    assert held[-3:-1].tolist() == pytest.approx((-push.sum(axis=0)).tolist(), abs=1e-7 * force.max())
    assert held[: 2 * 36].reshape(-1, 2)[:, 1].sum() == pytest.approx(push[:, 1].sum(), rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_tension_of_the_free_part_is_pressure_times_radius(models, kind: str) -> None:
    """N = p r of the circle that three free corners lie on, on each side between the support and the cushion."""
    model = models[kind]
    assert np.abs(model.membrane - 1.0).max() <= 1e-8
    side = model.outline[(model.outline[:, 0] > 0.0) & (model.outline[:, 1] > 0.3)]
    columns = np.column_stack([2.0 * side, np.ones(len(side))])
    x, y, rest = np.linalg.lstsq(columns, np.sum(side**2, axis=1), rcond=None)[0]
    radius = np.sqrt(rest + x**2 + y**2)
    line = np.linalg.norm(side[1] - side[0])
    tension = model.world.bodies[0].tension(model.outline)
    assert tension.max() / (model.pressure * radius) == pytest.approx(1.0, abs=(line / radius) ** 2)
    np.testing.assert_allclose(np.linalg.norm(side - (x, y), axis=1), radius, rtol=1e-8)


def test_mortar_is_smoother_than_two_passes_and_these_than_one(models) -> None:
    """Hesch A.1, Figs. A.4 to A.6."""
    rough = {kind: model.roughness for kind, model in models.items()}
    assert rough["mortar"] < rough["nts-two-pass"] < rough["nts"]


def test_nodes_of_the_cushion_enter_the_balloon_with_one_pass_only(models) -> None:
    assert models["nts-two-pass"].penetration <= 1e-9
    assert models["nts-two-pass"].penetration < models["mortar"].penetration < models["nts"].penetration


def test_two_passes_have_more_conditions_of_full_rank_and_uneven_forces(models) -> None:
    """Conditions of both sides do not depend on each other here: forces are determined, but they take turns."""
    two = models["nts-two-pass"]
    assert len(two.closed) > len(models["nts"].closed) >= len(models["mortar"].closed)
    assert all(model.rank == len(model.closed) for model in models.values())
    assert two.spread > models["nts"].spread > models["mortar"].spread


def test_the_result_does_not_depend_on_the_steps_of_the_pressure(models) -> None:
    """Without friction the end is a state of equilibrium that the path does not enter."""
    other = Inflation("mortar", 25.0, 40, (35, 4), 2)
    np.testing.assert_allclose(other.run.position[-1], models["mortar"].run.position[-1], atol=1e-8)


def test_what_touches_too_little_is_refused() -> None:
    with pytest.raises(ParameterError, match="multiple of 4"):
        inflation(lines=42)
    with pytest.raises(ParameterError, match="fewer than 5 nodes"):
        inflation(pressure=1.0, lines=16, cells=(9, 2))
