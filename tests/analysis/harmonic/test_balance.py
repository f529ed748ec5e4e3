"""The equations of harmonic balance: derivatives against differences, condensation against the full system."""

import numpy as np
import pytest
from harmonic_models import SKEW, STIFFNESS, chain, every_kind

from klapper.analysis import harmonic_response
from klapper.analysis.harmonic import flexibility
from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.directions import ContactDirections
from klapper.analysis.harmonic.fourier import Grid, packed, series, unpacked
from klapper.analysis.harmonic.sources import PlayedSystem
from klapper.mechanics import Constraint, Contact, FrictionElement, Harmonic, InvalidModel, LinearSystem


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", list(every_kind()))
def test_derivatives_are_those_of_differences(kind: str, order: int) -> None:
    system = every_kind()[kind]
    source = PlayedSystem.of(system, None, order)
    omega = 2.0 * np.pi / source.period / order
    balance = Balance.of(source, omega, 4, samples=301)
    rng = np.random.default_rng(4)
    u, way = rng.normal(size=balance.size), rng.normal(size=balance.size)
    residual, jacobian, slope = balance.linearised(u, omega)
    assert residual == pytest.approx(balance.residual(u, omega), abs=1e-14)
    d = 1e-7
    along = (balance.residual(u + d * way, omega) - balance.residual(u - d * way, omega)) / (2 * d)
    assert jacobian @ way == pytest.approx(along, abs=1e-7 * np.abs(along).max())
    step = d * omega
    over = (balance.residual(u, omega + step) - balance.residual(u, omega - step)) / (2 * step)
    assert slope == pytest.approx(over, abs=1e-7 * np.abs(over).max())


def test_samples_and_harmonics_belong_together() -> None:
    grid = Grid(5, 24)
    amplitudes = np.random.default_rng(0).normal(size=(6, 3, 2)) @ np.array([1.0, 1j])
    amplitudes[0] = amplitudes[0].real
    direct = (grid.waves[:, :, None] * amplitudes).sum(axis=1).real
    assert grid.to_time(amplitudes) == pytest.approx(direct, abs=1e-13)
    assert series(amplitudes, 31).shape == (31, 3)
    assert grid.to_harmonics(direct) == pytest.approx(amplitudes, abs=1e-13)
    assert unpacked(packed(amplitudes), 5, 3) == pytest.approx(amplitudes, abs=0.0)


def condensed(
    system: LinearSystem, omega: float, way: str, monkeypatch: pytest.MonkeyPatch
) -> flexibility.Condensed:
    """By modes, by dense or by sparse matrices."""
    monkeypatch.setattr(flexibility, "_BY_MODES", 600 if way == "modes" else 0)
    monkeypatch.setattr(flexibility, "_DENSE", 120 if way == "dense" else 0)
    directions = ContactDirections.of(system)
    source = PlayedSystem.of(system, None, 1)
    found = flexibility.dynamics_of(system, directions.matrix(system.size))
    assert type(found).__name__ == {"modes": "_Modal", "dense": "_Dense", "sparse": "_Sparse"}[way]
    courses = source.courses(3)
    return found.condensed(omega, found.right(courses.load, courses.guide))


def by_hand(system: LinearSystem, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """Jᵀ Z⁻¹ J and Jᵀ Z⁻¹ f of the first harmonic, constraints eliminated by their null space."""
    matrix = ContactDirections.of(system).matrix(system.size)
    z = STIFFNESS + 1j * omega * 0.05 * STIFFNESS - omega**2 * np.eye(3)
    for part in (
        1j * omega * (system.gyroscopic if system.gyroscopic is not None else 0.0),
        system.circulatory,
    ):
        z = z + (0.0 if part is None else part)
    load, given = np.array([1.0, 0.0, 0.5], dtype=complex), np.zeros(3, dtype=complex)
    basis = np.eye(3)
    if system.constraints:
        basis = np.linalg.svd(np.ones((1, 3)))[2][1:].T
        given = np.full(3, -0.1 * np.exp(-1j * np.pi / 2) / 3.0)
    inner = basis.T @ z @ basis
    spread = basis @ np.linalg.inv(inner) @ basis.T
    return matrix.T @ spread @ matrix, matrix.T @ (given + spread @ (load - z @ given))


GUIDE = Constraint("guide", direction=[1.0, 1, 1], offset=Harmonic(0.1, 1.3, -np.pi / 2))
AGAIN = Constraint("again", direction=[2.0, 2, 2], offset=Harmonic(0.2, 1.3, -np.pi / 2))
FRICTION = FrictionElement("f", tangents=[[1.0, 0.5, 0]], limit=1.0)
STOP = Contact("n", normal=[0, 0, 1.0], gap=1.0)


@pytest.mark.parametrize(
    ("way", "parts"),
    [
        ("modes", {}),
        ("dense", {}),
        ("sparse", {}),
        ("dense", {"constraints": [GUIDE]}),
        ("sparse", {"constraints": [GUIDE]}),
        ("dense", {"constraints": [GUIDE, AGAIN]}),
        ("dense", {"gyroscopic": SKEW, "circulatory": 0.2 * SKEW}),
        ("sparse", {"gyroscopic": SKEW, "circulatory": 0.2 * SKEW, "constraints": [GUIDE, AGAIN]}),
    ],
)
def test_condensation_equals_the_full_system(way: str, parts: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    system = chain(contacts=[FRICTION, STOP], **parts)
    found = condensed(system, 1.3, way, monkeypatch)
    flexible, free = by_hand(system, 1.3)
    assert found.flexibility[1] == pytest.approx(flexible, rel=1e-11)
    assert found.free[1] == pytest.approx(free, rel=1e-11)
    d = 1e-6
    ahead, behind = (condensed(system, w, way, monkeypatch) for w in (1.3 + d, 1.3 - d))
    for name in ("flexibility", "free"):
        change = (getattr(ahead, name) - getattr(behind, name)) / (2 * d)
        assert getattr(found, f"{name}_rate") == pytest.approx(change, abs=1e-8 * np.abs(change).max())


def test_large_structures_give_the_answer_of_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    system = every_kind()["friction element"]
    small = harmonic_response(system, harmonics=3)
    monkeypatch.setattr(flexibility, "_BY_MODES", 0)
    monkeypatch.setattr(flexibility, "_DENSE", 0)
    large = harmonic_response(system, harmonics=3)
    assert large.amplitudes == pytest.approx(small.amplitudes, abs=1e-9 * np.abs(small.amplitudes).max())
    assert max(small.residual.balance, large.residual.balance) < 1e-13


@pytest.mark.parametrize("dense", [True, False])
def test_structures_that_can_move_freely_are_refused(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flexibility, "_DENSE", 120 if dense else 0)
    free = LinearSystem(
        [1.0, 1.0],
        stiffness=[[1.0, -1.0], [-1.0, 1.0]],
        damping=[[1.0, 0.0], [0.0, 0.0]],
        force=Harmonic([1.0, 0.0], 1.0),
        contacts=[FrictionElement("f", tangents=[[1.0, 0.0]], limit=0.1)],
    )
    with pytest.raises(InvalidModel, match="supported structure"):
        harmonic_response(free)
