"""Modal coordinates inside the compiled loop: the same trajectory as without, and only where they apply."""

from typing import Any

import numpy as np
import pytest

from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem
from klapper.schemes import Moreau
from klapper.schemes.linear_stretch import LinearStretch
from klapper.schemes.modal_coordinates import decoupled
from klapper.simulation import simulate


def full_system(
    *, size: int = 70, compliance: bool = False, damping: str = "proportional", **more: Any
) -> LinearSystem:
    """A rattling system with full matrices, as condensation leaves them."""
    rng = np.random.default_rng(8)

    def positive(size_of: float) -> np.ndarray:
        a = rng.standard_normal((size, size))
        return size_of * (a @ a.T / size + np.eye(size))

    mass, stiffness = positive(1.0), positive(200.0)
    given = {
        "proportional": 0.4 * mass + 2e-3 * stiffness,
        "none": None,
        "coupling": np.diag(rng.uniform(0.1, 3.0, size)),
    }[damping]
    contacts = [Contact(f"c{i}", normal=rng.standard_normal(size), gap=0.05) for i in range(6)]
    pressed = -3.0 * sum(each.normal for each in contacts)
    return LinearSystem(
        mass,
        stiffness=stiffness,
        damping=given,
        force=Harmonic(5.0 * rng.standard_normal(size), 9.0) + pressed,
        velocity=rng.standard_normal(size),
        contacts=[*contacts, *more.pop("further", ())],
        compliance=1e-4 * np.eye(6) if compliance else None,
        **more,
    )


@pytest.mark.parametrize("damping", ["proportional", "none"])
@pytest.mark.parametrize(("level", "theta", "soft"), [("velocity", 0.5, False), ("position", 1.0, True)])
def test_the_trajectory_is_the_same(damping: str, level: str, theta: float, soft: bool) -> None:
    system = full_system(compliance=soft, damping=damping)
    start = Moreau(2e-3, theta=theta, level=level).init(system)
    modal = LinearStretch(system, 2e-3, theta, 1e-9, level)
    plain = LinearStretch(system, 2e-3, theta, 1e-9, level, modal_from=10**6)
    assert modal._modal is not None and plain._modal is None
    (_, one, _), (_, other, _) = modal.run(start, 300, 1), plain.run(start, 300, 1)
    for name in ("position", "velocity", "gap", "impulse", "energy"):
        scale = 1.0 + np.abs(other[name]).max()
        np.testing.assert_allclose(one[name], other[name], atol=1e-9 * scale, err_msg=name)
    np.testing.assert_array_equal(one["state"], other["state"])
    assert np.count_nonzero(other["impulse"]) > 100


def test_the_loop_chooses_them_and_agrees_with_the_general_path() -> None:
    """Motion and ledger of a whole run; the loop's own gaps are those of the positions that it returns."""
    system = full_system()
    compiled, general = (simulate(system, 0.2, Moreau(2e-3, compiled=compiled)) for compiled in (True, False))
    assert compiled.about["audit"]["path"] == "compiled"
    np.testing.assert_allclose(compiled.position, general.position, atol=1e-9)
    np.testing.assert_allclose(compiled.velocity, general.velocity, atol=1e-7)
    np.testing.assert_allclose(
        compiled.samples.energy, general.samples.energy, atol=1e-9 * general.ledger.scale
    )
    found = np.array(
        [system.gaps(t, q, np.arange(6)) for t, q in zip(compiled.time, compiled.position, strict=True)]
    )
    np.testing.assert_allclose(compiled.gap, found, atol=1e-12)


SKEW = np.triu(np.ones((70, 70)), 1) - np.tril(np.ones((70, 70)), -1)
WITHOUT = {
    "friction": {"further": [FrictionElement("brake", tangents=np.ones(70), limit=1.0)]},
    "damping that couples": {"damping": "coupling"},
    "gyroscopic forces": {"gyroscopic": SKEW},
    "few coordinates": {"size": 20},
}


@pytest.mark.parametrize("name", WITHOUT)
def test_where_they_are_not_used_both_paths_still_agree(name: str) -> None:
    system = full_system(**WITHOUT[name])
    stretch = LinearStretch(system, 2e-3, 0.5, 1e-9)
    assert stretch._modal is None
    compiled, general = (
        simulate(system, 0.05, Moreau(2e-3, compiled=compiled)) for compiled in (True, False)
    )
    np.testing.assert_allclose(compiled.position, general.position, atol=1e-9)


def test_narrow_matrices_stay_as_they_are() -> None:
    system = LinearSystem(
        np.ones(100), stiffness=np.full(100, 50.0), contacts=[Contact("c", normal=np.ones(100))]
    )
    assert LinearStretch(system, 1e-3, 0.5, 1e-9)._modal is None


def test_the_coordinates_diagonalise_all_matrices() -> None:
    system = full_system()
    modal = decoupled(system)
    shapes = modal.shapes
    np.testing.assert_allclose(shapes.T @ system.mass_matrix @ shapes, np.eye(70), atol=1e-12)
    for name in ("stiffness", "damping"):
        full, diagonal = getattr(system, name), getattr(modal.matrices, name).toarray()
        np.testing.assert_allclose(shapes.T @ full @ shapes, diagonal, atol=1e-12 * diagonal.max())
    q = np.random.default_rng(0).standard_normal(70)
    np.testing.assert_allclose(shapes @ modal.into(q), q, atol=1e-13)
