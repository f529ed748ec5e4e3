"""Constraints by invariants: a bead on a rope between two masses flies and keeps energy and both momenta."""

import numpy as np
import pytest

from klapper.mechanics import Constraint, FunctionSystem, InvalidModel, Invariants
from klapper.schemes import EnergyMomentum
from klapper.schemes.constraint_between import ConstraintStep
from klapper.simulation import simulate

START = np.array([0.0, 0.0, 0.6, 0.5, 1.5, 0.0])
VELOCITY = np.array([0.3, -1.0, 0.8, 1.5, 0.2, -2.0])
MASS = np.array([1.0, 1.0, 0.5, 0.5, 2.0, 2.0])
ENDS = (
    (slice(0, 2), slice(2, 4)),
    (slice(2, 4), slice(4, 6)),
)  # the rope runs from mass 1 by the bead to mass 3


def squares(q: np.ndarray) -> np.ndarray:
    return np.array([np.sum((q[a] - q[b]) ** 2) for a, b in ENDS])


def slopes(q: np.ndarray) -> np.ndarray:
    found = np.zeros((6, 2))
    for k, (a, b) in enumerate(ENDS):
        found[a, k], found[b, k] = 2.0 * (q[a] - q[b]), 2.0 * (q[b] - q[a])
    return found


LENGTH = float(np.sqrt(squares(START)).sum())
ROPE = Invariants(squares, slopes, lambda pi: float(np.sqrt(pi).sum()) - LENGTH, lambda pi: 0.5 / np.sqrt(pi))


def rope(**given) -> FunctionSystem:
    """|q₁ − q₂| + |q₂ − q₃| = L, no loads; the start has no velocity along the constraint."""
    slope = slopes(START) @ ROPE.gradient(squares(START))
    speed = VELOCITY - slope / MASS * (slope @ VELOCITY) / (slope @ (slope / MASS))
    return FunctionSystem(
        START,
        speed,
        mass=np.diag(MASS),
        force=lambda t, q, v: np.zeros(6),
        tangents=lambda t, q, v: (np.zeros((6, 6)), np.zeros((6, 6))),
        potential=lambda q: 0.0,
        constraints=[
            Constraint(
                "rope",
                lambda t, q: slopes(q) @ ROPE.gradient(squares(q)),
                lambda t, q: ROPE.function(squares(q)),
                **given,
            )
        ],
    )


def kept(run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Energy (s,), momentum (s, 2) and angular momentum (s,) of a run."""
    p = run.velocity * MASS
    spin = (run.position[:, 0::2] * p[:, 1::2] - run.position[:, 1::2] * p[:, 0::2]).sum(axis=1)
    momentum = np.stack([p[:, 0::2].sum(axis=1), p[:, 1::2].sum(axis=1)], axis=1)
    return 0.5 * np.sum(run.velocity * p, axis=1), momentum, spin


@pytest.mark.parametrize("step", [0.01, 0.1])
def test_energy_and_both_momenta_are_kept(step: float) -> None:
    system = rope(invariants=ROPE)
    run = simulate(system, 1.0, EnergyMomentum(step))
    for quantity in kept(run):
        np.testing.assert_allclose(quantity, np.broadcast_to(quantity[0], quantity.shape), atol=1e-11)
    assert max(np.abs(system.constraint_residuals(0.0, q)).max() for q in run.position) < 1e-12


def test_over_coordinates_angular_momentum_is_lost() -> None:
    """Gonzalez' form (2.171) keeps energy only: Δq turns with the step."""
    energy, _, spin = kept(simulate(rope(), 1.0, EnergyMomentum(0.1)))
    np.testing.assert_allclose(energy, energy[0], atol=1e-11)
    assert np.ptp(spin) > 1e-6


@pytest.mark.parametrize("surplus", [0.0, 0.03])
def test_gradients_between_give_the_change_without_momentum_and_have_the_right_derivative(
    surplus: float,
) -> None:
    random = np.random.default_rng(1)
    before, after = START + 0.1 * random.standard_normal((2, 6))
    found = ROPE.between(before, after, surplus)
    change = ROPE.function(squares(after)) - ROPE.function(squares(before))
    assert found @ (after - before) == pytest.approx(change - surplus, abs=1e-14)
    place, force = 0.5 * (before + after), found
    np.testing.assert_allclose([force[0::2].sum(), force[1::2].sum()], 0.0, atol=1e-14)
    assert np.sum(place[0::2] * force[1::2] - place[1::2] * force[0::2]) == pytest.approx(0.0, abs=1e-14)
    slope = ROPE.between_slope(before, after, surplus)
    for j, unit in enumerate(np.eye(6)):
        ends = [ROPE.between(before, after + sign * 1e-6 * unit, surplus) for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, slope[:, j], atol=1e-7)


@pytest.mark.parametrize("invariants", [None, ROPE])
def test_a_loss_takes_its_energy_step_by_step(invariants: Invariants | None) -> None:
    """ΔH = −λ D h in each step; with invariants both momenta stay, as long as the invariants change: (3.61)."""
    step, loss = 0.01, -0.1  # the force of a rope in tension is negative along ∂Φ/∂q
    system = rope(invariants=invariants, loss=loss)
    run = simulate(system, 0.04, EnergyMomentum(step))
    energy, momentum, spin = kept(run)
    taken = run.samples.constraint_impulse[1:, 0] * loss
    assert np.all(taken > 1e-4)
    np.testing.assert_allclose(np.diff(energy), -taken, atol=1e-12)
    if invariants is not None:
        np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-11)
        np.testing.assert_allclose(spin, spin[0], atol=1e-11)
    step_ = ConstraintStep(system, 0.0, step, START, "discrete")
    after = START + step * system.start.velocity
    curved = step_.curvature(after, np.array([1.0]))
    for j, unit in enumerate(np.eye(6)):
        ends = [step_.at(after + sign * 1e-6 * unit).push[:, 0] for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, curved[:, j], rtol=1e-6, atol=1e-5)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidModel, match="need a function"):
        Constraint("held", [1.0, 0.0], loss=1.0)
    with pytest.raises(InvalidModel, match="invariants is 3"):
        Constraint("rope", None, lambda t, q: q[0], invariants=3)
    with pytest.raises(InvalidModel, match="loss is nan"):
        Constraint("rope", None, lambda t, q: q[0], loss=float("nan"))
