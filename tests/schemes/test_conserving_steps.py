"""What conserving steps promise: closed forms of free flight, thousands of steps of any size, derivatives, orders."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from klapper.continuum import Continuum, NeoHooke, SaintVenantKirchhoff, Solid, Support, block, rigid_velocity
from klapper.mechanics import Constraint, FunctionSystem
from klapper.schemes import EnergyMomentum, GeneralisedAlpha, Newmark, NewtonIteration, Penalty, stable_step
from klapper.schemes.constraint_between import ConstraintStep
from klapper.schemes.newton import Residual
from klapper.simulation import simulate

G = 9.81
EM, MIDPOINT = EnergyMomentum, lambda h: EnergyMomentum(h, forces="midpoint")


def flying_block(cells=(2, 1), law=None, spin: float = 6.0, **given) -> Continuum:
    solid = Solid("block", block((1.0, 0.4), cells), law or NeoHooke(1e5, 0.3), density=1000.0)
    return Continuum([solid], velocity={"block": rigid_velocity(solid, (2.0, 1.0), spin)}, **given)


@pytest.mark.parametrize("scheme", [EM(0.05), MIDPOINT(0.05), Newmark(0.05), GeneralisedAlpha(0.05, 0.5)])
def test_rigid_flight_is_exact(scheme) -> None:
    """H = ½ m v², L = m v, J = m (c × v), and every point moves on a line."""
    world = flying_block(spin=0.0)
    run = simulate(world, 1.0, scheme)
    mass, centre, velocity = 400.0, np.array([0.5, 0.2]), np.array([2.0, 1.0])
    expected = world.start.position.reshape(1, -1, 2) + run.time[:, None, None] * velocity
    np.testing.assert_allclose(run.position.reshape(len(run), -1, 2), expected, atol=1e-12)
    spin = mass * (centre[0] * velocity[1] - centre[1] * velocity[0])
    for q, v, energy in zip(run.position, run.velocity, run.samples.energy, strict=True):
        np.testing.assert_allclose(world.linear_momentum(v), mass * velocity, rtol=1e-12)
        np.testing.assert_allclose(world.angular_momentum(q, v), spin, rtol=1e-11)
        assert energy[:2].sum() == pytest.approx(0.5 * mass * 5.0, rel=1e-12)


def test_a_spinning_start_has_the_energy_and_spin_of_a_rigid_body() -> None:
    world = flying_block(cells=(4, 2))
    mass, inertia = 400.0, 400.0 * (1.0 + 0.16) / 12.0
    start = world.start
    kinetic = 0.5 * start.velocity @ (world.mass_matrix @ start.velocity)
    assert kinetic == pytest.approx(0.5 * mass * 5.0 + 0.5 * inertia * 36.0, rel=1e-12)
    spin = mass * (0.5 * 1.0 - 0.2 * 2.0) + inertia * 6.0
    assert world.angular_momentum(start.position, start.velocity)[0] == pytest.approx(spin, rel=1e-12)


@pytest.mark.parametrize(
    ("times", "steps"),
    [
        (0.5, 1000),
        (100.0, 100),
        pytest.param(10.0, 1000, marks=pytest.mark.slow),
        pytest.param(100.0, 1000, marks=pytest.mark.slow),
    ],
)
def test_steps_of_any_size_keep_everything(times: float, steps: int) -> None:
    """Up to 100 times what an explicit scheme could do: there a step is about a fifth of a turn."""
    world = flying_block(law=NeoHooke(1e7, 0.3))
    h = times * stable_step(world)
    run = simulate(world, steps * h, EM(h))
    assert run.about["steps"] == steps
    kept = run.conservation
    assert all(kept.matrix.values())
    for name in kept.quantities:
        assert kept[name].since_start < 1e-8 * kept[name].size


@pytest.mark.parametrize("step", [0.002, 0.02])
def test_the_midpoint_rule_keeps_momenta_and_its_energy_error_is_of_second_order(step: float) -> None:
    world = flying_block()
    errors = []
    for h in (step, 0.5 * step):
        run = simulate(world, 20 * step, MIDPOINT(h))
        assert run.conservation.matrix == {"energy": False, "momentum": True, "angular momentum": True}
        errors.append(run.conservation["energy"].since_start)
    if step < 0.01:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_newmark_keeps_momentum_only() -> None:
    """The matrix of Hesch, 6.3."""
    run = simulate(flying_block(), 0.2, Newmark(0.01))
    assert run.conservation.matrix == {"energy": False, "momentum": True, "angular momentum": False}


def test_newmark_turns_wrong_with_the_second_power_of_the_step() -> None:
    lost = []
    for h in (0.004, 0.002):
        lost.append(simulate(flying_block(), 0.1, Newmark(h)).conservation["angular momentum"].since_start)
    assert np.log2(lost[0] / lost[1]) == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize("law", [NeoHooke(1e5, 0.3), SaintVenantKirchhoff(1e5, 0.3)])
def test_forces_between_turn_with_both_configurations(law) -> None:
    """f̄(Q q₀, Q q₁) = Q f̄(q₀, q₁): equivariance, Hesch (2.174)."""
    world = flying_block(law=law)
    random = np.random.default_rng(5)
    before = world.start.position + random.uniform(-0.05, 0.05, world.size)
    after = world.start.position + random.uniform(-0.05, 0.05, world.size)
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])

    def turned(q: np.ndarray) -> np.ndarray:
        return (q.reshape(-1, 2) @ turn.T).ravel()

    plain = world.force_between(0.0, before, after).force
    np.testing.assert_allclose(
        world.force_between(0.0, turned(before), turned(after)).force,
        turned(plain),
        atol=1e-9 * np.abs(plain).max(),
    )


class _Recorder:
    """Equations that note how large their residual was in each round."""

    def __init__(self, inner) -> None:
        self.inner, self.seen = inner, []

    def residual(self, x: np.ndarray) -> Residual:
        return self.inner.residual(x)

    def inverse(self, x: np.ndarray):
        self.seen.append(self.inner.residual(x).relative)
        return self.inner.inverse(x)


@pytest.mark.parametrize("scheme", [EM(0.03), MIDPOINT(0.03), Newmark(0.03)])
def test_newtons_method_converges_quadratically(scheme, monkeypatch) -> None:
    """The tangents are exact: the number of right digits doubles until rounding."""
    recorders = []
    solve = NewtonIteration.solve

    def watched(self, equations, start, capped):
        recorders.append(_Recorder(equations))
        return solve(self, recorders[-1], start, capped)

    monkeypatch.setattr(NewtonIteration, "solve", watched)
    simulate(flying_block(spin=8.0), 0.09, scheme)
    for recorder in recorders:
        sizes = np.array([size for size in recorder.seen if size > 1e-13])
        last = sizes[sizes < 1e-2]
        for one, two in pairwise(last):
            assert two < max(100.0 * one**2, 1e-12)


def curves() -> FunctionSystem:
    """A point on a surface and on a moving plane, in space."""
    return FunctionSystem(
        [0.5, 0.3, 0.5**2 + 0.3**3],
        [0.0, 0.0, 0.0],
        mass=np.eye(3),
        force=lambda t, q, v: np.array([0.0, 0.0, -G]),
        constraints=[
            Constraint(
                "surface",
                lambda t, q: np.array([-2.0 * q[0], -3.0 * q[1] ** 2, 1.0]),
                lambda t, q: q[2] - q[0] ** 2 - q[1] ** 3,
            ),
            Constraint("curve", lambda t, q: np.array([q[1], q[0], 0.0]), lambda t, q: q[0] * q[1] - 0.15),
        ],
    )


@pytest.mark.parametrize("how", ["discrete", "midpoint", "modified"])
def test_derivatives_of_constraints_over_a_step_are_those_of_differences(how: str) -> None:
    """Slopes and curvatures against differences of values and directions."""
    system = curves()
    before = np.array([0.5, 0.3, 0.277])
    after = before + np.array([0.05, -0.08, 0.03])
    step = ConstraintStep(system, 0.0, 0.1, before, how)
    found, weights = step.at(after), np.array([1.5, -0.7])
    curvature = step.curvature(after, weights)
    for j, unit in enumerate(np.eye(3)):
        ahead, behind = step.at(after + 1e-6 * unit), step.at(after - 1e-6 * unit)
        np.testing.assert_allclose((ahead.value - behind.value) / 2e-6, found.slope[j], atol=1e-8)
        turned = (ahead.push - behind.push) @ weights / 2e-6
        np.testing.assert_allclose(turned, curvature[:, j], atol=1e-6)


def test_discrete_gradients_of_constraints_give_differences() -> None:
    system = curves()
    before = system.start.position
    after = before + np.array([0.05, -0.08, 0.03])
    push = ConstraintStep(system, 0.0, 0.1, before, "discrete").at(after).push
    change = system.constraint_residuals(0.1, after) - system.constraint_residuals(0.1, before)
    np.testing.assert_allclose(push.T @ (after - before), change, atol=1e-15)


def bead() -> FunctionSystem:
    """One mass on y = 1/x under gravity."""
    return FunctionSystem(
        [0.2, 5.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -G]),
        tangents=lambda t, q, v: (np.zeros((2, 2)), np.zeros((2, 2))),
        potential=lambda q: G * q[1],
        constraints=[
            Constraint("curve", lambda t, q: np.array([1.0 / q[0] ** 2, 1.0]), lambda t, q: q[1] - 1.0 / q[0])
        ],
    )


def test_generalised_coordinates_give_the_steps_of_multipliers() -> None:
    """q = F(u) = (u, 1/u), Hesch (3.24): one equation P · R = 0 for u₁, P ⟂ ∇̄Φ = (1/(x₀ x₁), 1)."""
    h = 0.01
    run = simulate(bead(), 0.6, EnergyMomentum(h))
    u, v = 0.2, np.zeros(2)
    for k in range(60):
        q0 = np.array([u, 1.0 / u])

        def equation(u1: float, u0=u, q0=q0, v=v) -> float:
            along = np.array([1.0, -1.0 / (u0 * u1)])
            q1 = np.array([u1, 1.0 / u1])
            return float(along @ (2.0 / h * (q1 - q0) - 2.0 * v + h * np.array([0.0, G])))

        u = brentq(equation, u, u + 0.2, xtol=1e-15, rtol=8.9e-16)
        v = 2.0 / h * (np.array([u, 1.0 / u]) - q0) - v
        np.testing.assert_allclose(run.position[k + 1], [u, 1.0 / u], atol=1e-10)
        np.testing.assert_allclose(run.velocity[k + 1], v, atol=1e-8)


def test_a_bead_follows_its_equation_in_one_coordinate() -> None:
    """(1 + x⁻⁴) ẍ − 2 x⁻⁵ ẋ² = g x⁻², second order."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        x, v = y
        return [v, (G / x**2 + 2.0 * v**2 / x**5) / (1.0 + x**-4)]

    exact = solve_ivp(rate, (0.0, 0.8), [0.2, 0.0], rtol=1e-12, atol=1e-13).y[0, -1]
    errors = [abs(simulate(bead(), 0.8, EnergyMomentum(h)).position[-1, 0] - exact) for h in (0.01, 0.005)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_penalty_exchanges_energy_with_its_springs() -> None:
    """The energy with the springs is kept, that without is not."""
    system = bead()
    run = simulate(system, 0.8, EnergyMomentum(0.01, enforcement=Penalty(1e4)))
    whole = run.samples.energy[:, :2].sum(axis=1)
    springs = np.array(
        [
            5e3 * float(system.constraint_residuals(0.0, q) @ system.constraint_residuals(0.0, q))
            for q in run.position
        ]
    )
    assert np.abs(whole - whole[0]).max() < 1e-9 * abs(whole[0])
    assert np.ptp(whole - springs) > 1e-5 * abs(whole[0])


@pytest.mark.parametrize(
    ("scheme", "order"), [(EM, 2.0), (MIDPOINT, 2.0), (lambda h: EnergyMomentum(h, forces="projected"), 1.0)]
)
def test_against_another_method_steps_are_of_second_order_and_with_projection_of_first(
    scheme, order: float
) -> None:
    """A bent bar that swings, against Newmark's method with a tenth of the step; projection costs at most one order."""
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e3, 0.3), density=1000.0)
    nodes = solid.mesh.nodes
    bent = nodes + np.column_stack([np.zeros(len(nodes)), 0.2 * nodes[:, 0] ** 2])
    world = Continuum([solid], supports=[Support("bar", "left")], position={"bar": bent})
    exact = simulate(world, 0.2, Newmark(0.001)).position[-1]
    errors = [np.abs(simulate(world, 0.2, scheme(h)).position[-1] - exact).max() for h in (0.02, 0.01)]
    assert np.log2(errors[0] / errors[1]) > order - 0.35
    if order == 2.0:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)
