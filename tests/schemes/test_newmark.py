"""Newmark's and the generalised-α method: closed forms of the linear oscillator, orders, constraints, contacts."""

import numpy as np
import pytest
from pendulum import G, rod, swung

from klapper.continuum import Continuum, Gravity, NeoHooke, Solid, Support, Wall, block
from klapper.mechanics import Constraint, Contact, FunctionSystem, Harmonic, InvalidModel, LinearSystem
from klapper.mechanics.ledger import ENTRIES
from klapper.schemes import EnergyMomentum, GeneralisedAlpha, Moreau, Newmark, PenaltyContact
from klapper.simulation import simulate

SCHEMES = {
    "newmark": Newmark,
    "alpha 1": lambda h, **o: GeneralisedAlpha(h, 1.0, **o),
    "alpha 0.8": lambda h, **o: GeneralisedAlpha(h, 0.8, **o),
    "alpha 0": lambda h, **o: GeneralisedAlpha(h, 0.0, **o),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_with_constraints_the_error_is_of_second_order(name: str) -> None:
    errors = []
    for h in (0.01, 0.005):
        run = simulate(rod(), 1.0, SCHEMES[name](h))
        errors.append(np.abs(run.position[-1] - swung(1.0)).max())
        assert max(abs(q @ q - 1.0) for q in run.position) < 1e-12
        assert run.ledger.closes(1e-9)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.12)


def test_forces_of_constraints_are_those_of_the_pendulum() -> None:
    """λ = −(v² − g y) on the unit circle; impulses of the rod over a step are second order as well."""
    errors = []
    for h in (0.02, 0.01):
        run = simulate(rod(), 1.0, GeneralisedAlpha(h, 0.5))
        tension = -np.sum(run.velocity**2, axis=1) + G * run.position[:, 1]
        mean = 0.5 * (tension[1:] + tension[:-1])
        errors.append(np.abs(run.constraint_force[1:, 0] - mean)[10:].max())
    assert errors[1] < 0.35 * errors[0]


@pytest.mark.parametrize(("gamma", "beta"), [(0.5, 0.25), (0.5, 1.0 / 6.0), (0.6, 0.3025)])
def test_a_step_of_the_oscillator_is_the_closed_form_of_hughes(gamma: float, beta: float) -> None:
    """One step of q̈ = −ω² q against the closed form of Hughes, The finite element method, (9.1.26)."""
    omega, h = 3.0, 0.2
    system = LinearSystem([1.0], stiffness=[omega**2], position=[0.7], velocity=[-0.4])
    run = simulate(system, h, Newmark(h, gamma, beta))
    x = (omega * h) ** 2
    a = -(omega**2) * 0.7
    position = (0.7 - 0.4 * h + h * h * (0.5 - beta) * a) / (1.0 + beta * x)
    velocity = -0.4 + h * ((1.0 - gamma) * a - gamma * omega**2 * position)
    assert run.position[-1, 0] == pytest.approx(position, abs=1e-12)
    assert run.velocity[-1, 0] == pytest.approx(velocity, abs=1e-11)


@pytest.mark.parametrize("radius", [0.0, 0.5, 0.9])
def test_high_frequencies_are_damped_by_the_spectral_radius(radius: float) -> None:
    """For ω h → ∞ all roots have the modulus ρ: after k steps ρ^k times a polynomial of degree 2."""
    run = simulate(LinearSystem([1.0], stiffness=[1e5], velocity=[1.0]), 40.0, GeneralisedAlpha(1.0, radius))
    late, steps = np.abs(run.velocity[20:, 0]), np.arange(20, 41)
    bound = max(radius, 0.05) ** steps * (1.0 + steps) ** 2  # roots of ρ = 0 are of the size (ω h)^(−2/3)
    assert np.all(late <= 10.0 * bound)
    if radius > 0.0:
        assert late.max() > 1e-3 * bound.max()


def test_newmark_is_the_trapezoidal_rule_in_linear_systems() -> None:
    """With γ = ½, β = ¼ it keeps the energy of a linear system, and steps like Moreau's midpoint without loads."""
    system = LinearSystem(
        [[2.0, 0.3], [0.3, 1.0]],
        damping=np.diag([0.1, 0.2]),
        stiffness=[[50.0, -10.0], [-10.0, 30.0]],
        position=[0.1, -0.2],
    )
    runs = [
        simulate(system, 1.0, scheme) for scheme in (Newmark(0.01), Moreau(0.01), GeneralisedAlpha(0.01, 1.0))
    ]
    np.testing.assert_allclose(runs[0].position, runs[1].position, atol=1e-10)
    assert np.abs(runs[2].position - runs[1].position).max() < 1e-3  # ρ = 1: the same order, another method


def bar(**given) -> Continuum:
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e3, 0.3), density=1000.0)
    nodes = solid.mesh.nodes
    bent = nodes + np.column_stack([np.zeros(len(nodes)), 0.2 * nodes[:, 0] ** 2])
    return Continuum([solid], supports=[Support("bar", "left")], position={"bar": bent}, **given)


@pytest.fixture(scope="module")
def swaying() -> np.ndarray:
    return simulate(bar(), 0.2, EnergyMomentum(0.001)).position[-1]


@pytest.mark.parametrize("name", SCHEMES)
def test_at_large_strains_the_error_is_of_second_order(name: str, swaying: np.ndarray) -> None:
    runs = [simulate(bar(), 0.2, SCHEMES[name](h)) for h in (0.01, 0.005)]
    errors = [np.abs(run.position[-1] - swaying).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)


def test_a_moving_support_puts_work_in() -> None:
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e4, 0.3), density=100.0)
    shaken = Support("bar", "left", displacement=Harmonic((0.0, 0.02), 20.0))
    at = solid.mesh.nodes + np.array([0.0, 0.02])
    world = Continuum([solid], supports=[shaken], position={"bar": at}, loads=[Gravity((0.0, -9.81))])
    one, other = (simulate(world, 0.3, scheme) for scheme in (Newmark(0.0025), EnergyMomentum(0.0025)))
    assert one.ledger.closes(1e-9)
    work = [run.samples.energy[-1, ENTRIES.index("loads")] for run in (one, other)]
    assert abs(work[1]) > 1e-3
    assert work[0] == pytest.approx(work[1], rel=0.02)


def test_a_supports_speed_at_the_start_is_taken_over() -> None:
    solid = Solid("bar", block((1.0, 0.2), (2, 1)), NeoHooke(1e4, 0.3), density=100.0)
    world = Continuum(
        [solid], supports=[Support("bar", "left", displacement=Harmonic((0.0, 0.02), 20.0, -np.pi / 2))]
    )
    start = Newmark(0.001).init(world)
    directions, rate = world.constraint_directions(0.0, start.position)
    np.testing.assert_allclose(directions.T @ start.velocity + rate, 0.0, atol=1e-12)


def test_a_penalty_holds_a_mass_on_a_stop_like_a_spring() -> None:
    """q̈ = −g + ε ⟨−q⟩: free fall, half a period of the spring, free flight up to the same height."""
    stiffness, height = 1e3, 0.1
    ball = LinearSystem([1.0], force=[-G], position=[height], contacts=[Contact("floor", normal=[1.0])])
    omega, fall = np.sqrt(stiffness), np.sqrt(2.0 * height / G)
    pressed = (np.pi + 2.0 * np.arctan(1.0 / (omega * fall))) / omega
    until = 2.0 * fall + pressed
    run = simulate(ball, until, Newmark(until / 1000, contact=PenaltyContact(stiffness)))
    assert run.position[-1, 0] == pytest.approx(height, rel=1e-4)
    deepest = (G + np.sqrt(G**2 + (omega * G * fall) ** 2)) / stiffness
    assert -run.gap.min() == pytest.approx(deepest, rel=1e-4)
    assert run.impulse[:, 0, 0].sum() == pytest.approx(G * until, rel=1e-4)
    assert run.ledger.closes(1e-9)
    assert abs(run.ledger.numerical).max() < 1e-4 * run.ledger.scale


def test_springs_of_a_wall_take_the_momentum_that_the_body_loses() -> None:
    solid = Solid("block", block((0.2, 0.2), (2, 2)), NeoHooke(1e6, 0.3), density=1000.0)
    world = Continuum(
        [solid],
        loads=[Gravity((0.0, -G))],
        walls=[Wall("block", "bottom", point=(0.0, 0.0), normal=(0.0, 1.0))],
    )
    run = simulate(world, 0.1, Newmark(2e-3, contact=PenaltyContact(1e5)))
    gained = [world.linear_momentum(v)[1] for v in run.velocity]
    pushed = run.impulse[:, :, 0].sum(axis=1).cumsum() - 40.0 * G * run.time
    np.testing.assert_allclose(gained, pushed, atol=1e-9)
    assert np.abs(gained).max() > 1.0
    assert run.ledger.closes(1e-9)
    assert run.conservation["momentum"].changed_by == ("loads", "contacts")


def test_what_it_cannot_treat_is_refused() -> None:
    stop = LinearSystem([1.0], stiffness=[1.0], contacts=[Contact("stop", normal=[1.0], gap=1.0)])
    with pytest.raises(InvalidModel, match=r"one-sided contacts.*PenaltyContact"):
        simulate(stop, 1.0, Newmark(0.1))
    rough = LinearSystem(
        np.eye(2), contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)]
    )
    with pytest.raises(InvalidModel, match="contact 'floor' has friction"):
        simulate(rough, 1.0, Newmark(0.1, contact=PenaltyContact(1e3)))
    turning = FunctionSystem([0.0], [1.0], mass=lambda q: [[1.0 + q[0] ** 2]], force=lambda t, q, v: -q)
    with pytest.raises(InvalidModel, match="depends on its position"):
        simulate(turning, 1.0, Newmark(0.1))
    with pytest.raises(InvalidModel, match=r"spectral_radius is 1\.5"):
        GeneralisedAlpha(0.1, 1.5)
    with pytest.raises(InvalidModel, match=r"gamma is 0\.2"):
        Newmark(0.1, 0.2)
    with pytest.raises(InvalidModel, match="contact is 5"):
        Newmark(0.1, contact=5)


@pytest.mark.parametrize("scheme", [Newmark(0.01), GeneralisedAlpha(0.01, 0.8)])
def test_redundant_constraints_do_not_disturb_the_motion(scheme) -> None:
    """One coordinate is held twice, the other one swings as cos t."""
    twice = LinearSystem(
        [1.0, 1.0],
        stiffness=[[1.0, 0.0], [0.0, 1.0]],
        position=[0.0, 1.0],
        constraints=[Constraint("a", [1.0, 0.0]), Constraint("b", [2.0, 0.0])],
    )
    run = simulate(twice, 1.0, scheme)
    assert np.abs(run.position[:, 0]).max() < 1e-12
    np.testing.assert_allclose(run.position[:, 1], np.cos(run.time), atol=1e-4)
