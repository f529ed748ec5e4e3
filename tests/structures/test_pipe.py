"""Pipes conveying fluid against closed forms and published critical velocities."""

from __future__ import annotations

import numpy as np
import pytest

from klapper.analysis import stability
from klapper.mechanics import InvalidModel
from klapper.structures import Beam, Material, Pipe, Section
from klapper.structures.structure import Structure

PINNED = {0.0: "pinned", 2.0: "pinned"}


def growth(structure: Structure) -> float:
    system = structure.system()
    return stability(system.mass_matrix, system.rate_matrix, system.position_matrix).growth


def test_the_simply_supported_pipe_buckles_at_the_closed_form() -> None:
    """M_f U² = E I (π/L)² + T."""
    for tension in (0.0, 40.0):
        pipe = Pipe(2.0, 100.0, 1.0, 0.5, supports=PINNED, tension=tension, elements=12, degree=5)
        critical = np.sqrt((100.0 * (np.pi / 2.0) ** 2 + tension) / 0.5)
        below, above = (pipe.structure(x * critical).modes(1).squares[0] for x in (1 - 1e-8, 1 + 1e-8))
        assert below > 0.0 > above


def test_flow_lowers_the_first_frequency_of_a_light_fluid_as_without_gyroscopic_forces() -> None:
    """With β → 0 at the same M_f U², ω² = ω₁² (1 − U²/U_c²)."""
    pipe = Pipe(2.0, 100.0, 1.0, 1e-8, supports=PINNED, elements=16, degree=5)
    critical = np.pi / 2.0 * np.sqrt(100.0 / 1e-8)
    at_rest, flowing = (pipe.structure(x * critical).modes(1).squares[0] for x in (0.0, 0.6))
    assert flowing / at_rest == pytest.approx(1 - 0.36, rel=1e-6)


@pytest.mark.parametrize(("beta", "published"), [(1e-4, 4.2), (0.2, 5.6), (0.5, 9.3), (0.8, 13.5)])
def test_the_cantilever_flutters_where_gregory_and_paidoussis_say(beta: float, published: float) -> None:
    """U L √(M_f/E I), read from the published curve."""
    pipe = Pipe(1.0, 1.0, 1.0 - beta, beta, supports={0.0: "clamped"}, elements=10)
    assert growth(pipe.structure((published - 0.15) / np.sqrt(beta))) < 0.0
    assert growth(pipe.structure((published + 0.15) / np.sqrt(beta))) > 0.0


def test_gyroscopic_forces_of_the_flow_do_no_work_between_supports() -> None:
    structure = Pipe(2.0, 100.0, 1.0, 0.5, supports=PINNED).structure(5.0)
    assert structure.gyroscopic is not None
    assert abs(structure.gyroscopic + structure.gyroscopic.T).max() < 1e-12
    assert structure.circulatory is None or abs(structure.circulatory).max() < 1e-12


def test_an_empty_pipe_at_rest_is_a_beam() -> None:
    pipe = Pipe(2.0, 100.0, 1.5, 0.0, supports=PINNED)
    beam = Beam(
        2.0,
        Material(100.0, 1.5),
        Section(1.0, 1.0),
        elements=20,
        theory="euler-bernoulli",
        supports=PINNED,
    )
    np.testing.assert_allclose(pipe.structure(3.0).frequencies(4), beam.frequencies(4), rtol=1e-10)


def test_a_free_inlet_and_senseless_numbers_are_refused() -> None:
    with pytest.raises(InvalidModel, match="inlet"):
        Pipe(1.0, 1.0, 1.0, 1.0, supports={1.0: "clamped"})
    with pytest.raises(InvalidModel, match="mass_fluid is -1"):
        Pipe(1.0, 1.0, 1.0, -1.0, supports=PINNED)
    with pytest.raises(InvalidModel, match="flow is -2"):
        Pipe(2.0, 1.0, 1.0, 1.0, supports=PINNED).structure(-2.0)
