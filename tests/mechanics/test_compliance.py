"""Compliant normal laws and the mixed formulation: closed forms, energy, independent minimisation."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear

from klapper.complementarity import Enumeration, MixedComplementarity, solve
from klapper.convex import Orthant, penalty
from klapper.mechanics.compliance import (
    ApproachDamper,
    BoundaryLayer,
    CompliantNormal,
    mixed_acceleration,
    restitution,
)
from klapper.mechanics.errors import InvalidModel

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
finite = st.floats(-1e3, 1e3, allow_nan=False)


@settings(max_examples=200)
@given(finite, finite, st.floats(1e-3, 1e6), st.floats(0.0, 1e3), st.floats(1.0, 3.0))
def test_no_contact_pulls(gap: float, rate: float, c: float, d: float, kappa: float) -> None:
    law = CompliantNormal(c, d, kappa)
    force = law.force(gap, rate)
    assert force >= 0.0
    assert gap < 0.0 or force == 0.0
    assert law.dissipated_power(gap, rate) >= -1e-9 * abs(force * rate)


def test_the_stiffness_stands_inside_the_power() -> None:
    gap = np.array([-2e-4, 0.0, 3e-4])
    np.testing.assert_allclose(CompliantNormal(1e5).force(gap, 7.0), [20.0, 0.0, 0.0], rtol=1e-14)
    assert CompliantNormal(1e4, exponent=1.5).force(-4e-4, 0.0) == pytest.approx(8.0)  # (10⁴ · 4·10⁻⁴)^1.5
    several = CompliantNormal([1e4, 2e4], [0.0, 10.0], [1.0, 1.5]).force([-1e-3, -1e-3], [-1.0, -1.0])
    np.testing.assert_allclose(several, [10.0, 20.0**1.5 + 10.0], rtol=1e-14)


def test_derivatives_are_those_of_the_force() -> None:
    law = CompliantNormal([1e4, 3e4, 2e4], [5.0, 0.0, 20.0], [1.0, 1.5, 2.0])
    gap, rate, step = np.array([-1e-3, -2e-4, 1e-4]), np.array([-0.1, 0.3, -0.2]), 1e-8
    by_gap, by_rate = law.derivatives(gap, rate)
    difference = (law.force(gap + step, rate) - law.force(gap - step, rate)) / (2 * step)
    np.testing.assert_allclose(by_gap, difference, rtol=1e-6)
    difference = (law.force(gap, rate + step) - law.force(gap, rate - step)) / (2 * step)
    np.testing.assert_allclose(by_rate, difference, rtol=1e-6, atol=1e-6)


def test_power_goes_into_spring_or_damper() -> None:
    """λ ġ = −dU/dt − dissipated power at every state, with dU/dt = −(c|g|)^κ ġ by differences of the potential."""
    rng = np.random.default_rng(1)
    law = CompliantNormal(1e4, 30.0, 1.5)
    gap, rate = rng.normal(scale=1e-3, size=200), rng.normal(size=200)
    step = 1e-9
    stored = (law.potential(gap + step * rate) - law.potential(gap - step * rate)) / (2 * step)
    np.testing.assert_allclose(
        law.force(gap, rate) * rate, -stored - law.dissipated_power(gap, rate), rtol=1e-5, atol=1e-6
    )


def rebound(law: CompliantNormal, mass: float) -> float:
    """Rebound speed of a mass that meets the contact at 1 m/s, by integration up to the loss of force."""

    def released(t: float, y: np.ndarray) -> float:
        return float(law.stiffness * -y[0] - law.damping * y[1]) if t > 0 else 1.0

    released.terminal, released.direction = True, -1  # type: ignore[attr-defined]
    run = solve_ivp(
        lambda t, y: [y[1], float(law.force(y[0], y[1])) / mass],
        (0.0, 100.0),
        [-1e-14, -1.0],
        method="DOP853",
        events=released,
        **TIGHT,
    )
    return float(run.y[1, -1])


@pytest.mark.parametrize(
    ("damping", "printed"), [(0.2, 0.744079), (0.5, 0.506277), (1.0, 0.298436), (3.0, None)]
)
def test_a_damped_spring_rebounds_with_its_restitution(damping: float, printed: float | None) -> None:
    simulated = rebound(CompliantNormal(1.0, damping), 1.0)
    assert simulated == pytest.approx(restitution(damping / 2), abs=1e-8)
    if printed is not None:
        assert simulated == pytest.approx(printed, abs=6e-7)


def test_restitution_has_no_seam_and_right_ends() -> None:
    assert restitution(0.0) == 1.0
    np.testing.assert_allclose(restitution([1 - 1e-9, 1.0, 1 + 1e-9]), np.exp(-2), rtol=1e-8)
    assert restitution(50.0) == pytest.approx(1 / 100**2, rel=1e-2)  # e → 1/(2ζ)² for strong damping
    with pytest.raises(InvalidModel, match="from 0 on"):
        restitution(-0.1)


@pytest.mark.parametrize(
    ("kappa", "expected"), [(1.0, (-0.1303, 0.1502, 0.9800)), (1.5, (-0.0710, 0.0764, 0.9945))]
)
def test_three_balls_part_as_their_exponent_says(kappa: float, expected: tuple[float, ...]) -> None:
    """Two touching unit masses hit by a third at 1 m/s through undamped contacts of any stiffness."""
    law = CompliantNormal(1e3, exponent=kappa)

    def motion(t: float, y: np.ndarray) -> np.ndarray:
        force = law.force(np.diff(y[:3]), np.diff(y[3:]))
        return np.concatenate([y[3:], [-force[0], force[0] - force[1], force[1]]])

    run = solve_ivp(motion, (0.0, 1.0), [0, 0, 0, 1.0, 0, 0], max_step=1e-3, **TIGHT)
    np.testing.assert_allclose(run.y[3:, -1], expected, atol=5.1e-5)
    assert run.y[3:, -1].sum() == pytest.approx(1.0, abs=1e-9)


def wedge(scale: float, mu: float) -> np.ndarray:
    """Centre of a disc that slides in one sense on both compliant walls of a wedge, from the touching position."""
    alpha, mass, load = np.pi / 4, 1.0, 9.81 * scale
    law = CompliantNormal(1e5, 0.5)
    normal = np.array([[0.0, 1.0], [np.sin(alpha), -np.cos(alpha)]])
    tangent = np.array([[1.0, 0.0], [np.cos(alpha), np.sin(alpha)]])
    sense = np.array([1.0, -1.0])  # of the sliding velocities when the disc turns counter-clockwise
    push = -load * np.array([np.cos(alpha / 2), np.sin(alpha / 2)])

    def motion(t: float, y: np.ndarray) -> np.ndarray:
        force = law.force(normal @ y[:2], normal @ y[2:])
        return np.concatenate([y[2:], (push + force @ (normal - mu * sense[:, None] * tangent)) / mass])

    times = np.linspace(0.0, 0.05, 51)
    run = solve_ivp(
        motion, (0.0, 0.05), np.zeros(4), t_eval=times, rtol=1e-11, atol=1e-15 * scale, max_step=1e-4
    )
    return run.y


def test_linear_contacts_scale_with_the_load() -> None:
    """κ = 1: s times the load from rest gives s times the motion, contact openings included."""
    once, tenfold = wedge(1.0, 1.05), wedge(10.0, 1.05)
    np.testing.assert_allclose(tenfold, 10 * once, rtol=1e-6, atol=1e-6 * np.abs(tenfold).max())


def test_approach_damper_is_the_penalty_of_approach_velocities() -> None:
    rng = np.random.default_rng(2)
    velocity = rng.normal(size=(20, 3))
    expected = -penalty(Orthant(3), stiffness=40.0).gradient(velocity)
    np.testing.assert_allclose(ApproachDamper(40.0).force(velocity), expected, atol=1e-12)
    assert not ApproachDamper(40.0).force(velocity, closed=False).any()


def test_boundary_layer_in_touch_is_the_linear_law() -> None:
    rng = np.random.default_rng(3)
    gap, rate = -rng.random(100) * 1e-3, rng.normal(size=100)
    layer, law = BoundaryLayer(1e4, 8.0), CompliantNormal(1e4, 8.0)
    np.testing.assert_allclose(layer.force(-gap, gap, rate), law.force(gap, rate), atol=1e-12)
    touching = layer.touching(-gap, gap, rate)
    np.testing.assert_array_equal(layer.rate(-gap, gap, rate)[touching], -rate[touching])
    assert 0 < touching.sum() < 100


def test_boundary_layer_bounces_and_creeps_back() -> None:
    """A mass on the layer: restitution in closed form; afterwards s decays with the time constant d/c."""
    layer, mass = BoundaryLayer(1.0, 0.5), 1.0

    def motion(t: float, y: np.ndarray) -> list[float]:
        gap, rate, s = y
        return [rate, float(layer.force(s, gap, rate)) / mass, float(layer.rate(s, gap, rate))]

    times = np.linspace(6.0, 8.0, 5)
    run = solve_ivp(motion, (0.0, 8.0), [0.0, -1.0, 0.0], t_eval=times, max_step=1e-2, **TIGHT)
    assert run.y[1, -1] == pytest.approx(restitution(0.25), abs=1e-6)
    np.testing.assert_allclose(np.diff(np.log(run.y[2])), -0.5 / layer.relaxation_time, rtol=1e-6)
    assert np.all(run.y[0] + run.y[2] > 0.0)


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (lambda: CompliantNormal(0.0), "stiffness is 0"),
        (lambda: CompliantNormal(1.0, [-1.0, 2.0]), "damping is -1"),
        (lambda: CompliantNormal(1.0, exponent=0.9), r"exponent is 0\.9; allowed are finite numbers from 1"),
        (lambda: BoundaryLayer(1.0, 0.0), "has no rate"),
        (lambda: ApproachDamper(np.nan), "damping is nan"),
    ],
)
def test_bad_constants_are_refused(law: object, text: str) -> None:
    with pytest.raises(InvalidModel, match=text):
        law()  # type: ignore[operator]


def random_mixed(rng: np.random.Generator, d: int, patches: int = 4, n: int = 5) -> dict:
    root = rng.normal(size=(n, n))
    return {
        "mass": root @ root.T + np.eye(n),
        "force": rng.normal(size=n),
        "tangential": rng.normal(size=(n, patches * d)),
        "tangential_bias": 0.3 * rng.normal(size=patches * d),
        "friction_limits": rng.uniform(0.0, 1.5, patches),
        "sliding_velocity": np.where(np.arange(patches)[:, None] == 0, rng.normal(size=d), 0.0),
    }


def energy(problem: dict, y: np.ndarray) -> float:
    """(4.95) with the sliding patches in f', written once more."""
    v = problem["sliding_velocity"]
    change = (problem["tangential"].T @ y + problem["tangential_bias"]).reshape(v.shape)
    speed = np.linalg.norm(v, axis=1)
    rest = problem["friction_limits"] * np.linalg.norm(change, axis=1)
    slide = problem["friction_limits"] * np.sum(change * v, axis=1) / np.where(speed > 0, speed, 1.0)
    return 0.5 * y @ problem["mass"] @ y - y @ problem["force"] + np.where(speed > 0, slide, rest).sum()


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_mixed_acceleration_minimises_a_strictly_convex_function(seed: int, d: int) -> None:
    """At the minimiser of ½ yᵀMy + convex, every step δ costs at least ½ δᵀMδ: small and large steps."""
    rng = np.random.default_rng(seed)
    problem = random_mixed(rng, d)
    decision = mixed_acceleration(**problem)
    least, y = energy(problem, decision.acceleration), decision.acceleration
    assert decision.solution.residuals.worst < 1e-9
    for size in (1e-6, 1e-3, 1.0):
        for step in size * rng.normal(size=(100, 5)):
            assert energy(problem, y + step) - least >= 0.5 * step @ problem["mass"] @ step - 1e-11
    forces = (
        problem["mass"] @ y - problem["force"] - problem["tangential"] @ decision.tangential_force.ravel()
    )
    np.testing.assert_allclose(forces, 0.0, atol=1e-10)
    assert np.all(np.linalg.norm(decision.tangential_force, axis=1) <= problem["friction_limits"] + 1e-9)


@pytest.mark.parametrize("d", [1, 2])
def test_mixed_acceleration_is_unique_from_random_starts(d: int) -> None:
    rng = np.random.default_rng(10 + d)
    problem = random_mixed(rng, d)
    problem["tangential"][:, -d:] = problem["tangential"][
        :, d : 2 * d
    ]  # a doubled patch: forces are not unique
    problem["tangential_bias"][-d:] = problem["tangential_bias"][d : 2 * d]
    reference = mixed_acceleration(**problem)
    assert reference.uniqueness.motion == "unique"
    for _ in range(20):
        start = rng.normal(scale=2.0, size=4 * d)
        again = mixed_acceleration(**problem, start=start)
        np.testing.assert_allclose(again.acceleration, reference.acceleration, atol=1e-8)


def test_planar_mixed_acceleration_is_a_box_program() -> None:
    """Dual: the friction forces minimise ½ |L⁻¹(f + J λ)|² + bᵀλ over |λ| ≤ ρ (scipy's bounded least squares)."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        problem = random_mixed(rng, 1)
        problem["sliding_velocity"] = np.zeros((4, 1))
        lower = np.linalg.cholesky(problem["mass"])
        directions = problem["tangential"]
        shift = np.linalg.lstsq(directions.T, problem["tangential_bias"], rcond=None)[0]  # b = Jᵀ shift
        matrix = np.linalg.solve(lower, directions)
        target = -np.linalg.solve(lower, problem["force"] + problem["mass"] @ shift)
        limits = problem["friction_limits"]
        forces = lsq_linear(matrix, target, (-limits, limits), method="bvls", tol=1e-14).x
        expected = np.linalg.solve(problem["mass"], problem["force"] + directions @ forces)
        np.testing.assert_allclose(mixed_acceleration(**problem).acceleration, expected, atol=1e-9)


def test_mixed_acceleration_equals_the_complementarity_problem_with_given_loads() -> None:
    """(4.44) without normal rows and with μ λ_N replaced by its value, in the unknowns (v̇, λ⁺, λ⁻, z)."""
    for seed in range(5):
        rng = np.random.default_rng(100 + seed)
        problem = random_mixed(rng, 1, patches=2, n=3)
        problem["sliding_velocity"] = np.zeros((2, 1))
        j = problem["tangential"] @ np.kron(np.eye(2), [[1.0, -1.0]])
        spread = np.kron(np.eye(2), [[1.0], [1.0]])
        zero = np.zeros
        matrix = np.block(
            [
                [problem["mass"], -j, zero((3, 2))],
                [j.T, zero((4, 4)), spread],
                [zero((2, 3)), -spread.T, zero((2, 2))],
            ]
        )
        bias = np.kron(problem["tangential_bias"], [1.0, -1.0])
        offset = np.concatenate([-problem["force"], bias, problem["friction_limits"]])
        mixed = solve(MixedComplementarity(matrix, offset, free=3), Enumeration())
        decision = mixed_acceleration(**problem)
        np.testing.assert_allclose(decision.acceleration, mixed.x[:3], atol=1e-10)
        np.testing.assert_allclose(decision.sliding_rate, mixed.x[-2:], atol=1e-9)


@pytest.mark.parametrize("rotation", [1.0, -1.0])
def test_the_centre_of_the_compliant_wedge_rests_while_the_disc_turns(rotation: float) -> None:
    """Ex. 5.6, μ = 0.95: with penetrations 4.086e-5 m and 9.388e-5 m the centre rests while the disc turns."""
    mu, alpha, r, mass, load = 0.95, np.pi / 4, 0.1, 1.0, 9.81
    phi = (np.pi - alpha) / 2
    total = load / (np.cos(phi) * (1 + mu**2))  # (5.16)
    difference = rotation * mu * total / np.tan(phi)
    pressed = np.array([total - difference, total + difference]) / 2
    np.testing.assert_allclose(np.sort(pressed), [4.08605, 9.38820], atol=6e-6)
    law = CompliantNormal(1e5, 0.5)
    np.testing.assert_allclose(np.sort(pressed / 1e5), [4.086e-5, 9.388e-5], atol=6e-9)
    s, c = np.sin(alpha), np.cos(alpha)
    normal = np.array([[0, s], [1, -c], [0, 0]])
    tangential = np.array([[1, c], [0, s], [r, -r]])
    moment = rotation * 2.0
    force = np.array([-load * np.cos(alpha / 2), -load * np.sin(alpha / 2), moment])
    force += normal @ law.force(-pressed / 1e5, np.zeros(2))
    inertia = mass * r**2 / 2
    decision = mixed_acceleration(
        np.diag([mass, mass, inertia]),
        force,
        tangential=tangential,
        friction_limits=mu * pressed,
        sliding_velocity=rotation * np.array([[r], [-r]]),
    )
    expected = [0.0, 0.0, rotation * (2.0 - r * mu * total) / inertia]
    np.testing.assert_allclose(decision.acceleration, expected, atol=1e-9)


def test_compliant_wedge_at_rest_has_one_acceleration() -> None:
    """Where rigid walls admit rest and rotation (μ = 0.5, M = 1.2 M₀), given loads decide for one: 20 starts agree."""
    mu, alpha, r = 0.5, np.pi / 4, 0.1
    s, c = np.sin(alpha), np.cos(alpha)
    load = np.array([-9.81 * np.cos(alpha / 2), -9.81 * np.sin(alpha / 2), 1.2 * 1.0253905])
    pressed = np.full(2, 9.81 * np.sin(alpha / 2) / (1 + np.cos(alpha)))
    force = load + np.array([[0, s], [1, -c], [0, 0]]) @ pressed
    rng = np.random.default_rng(5)
    found = [
        mixed_acceleration(
            np.diag([1.0, 1.0, 0.005]),
            force,
            tangential=np.array([[1, c], [0, s], [r, -r]]),
            friction_limits=mu * pressed,
            sliding_velocity=np.zeros((2, 1)),
            start=rng.normal(scale=10.0, size=2),
        ).acceleration
        for _ in range(20)
    ]
    np.testing.assert_allclose(found, np.tile(found[0], (20, 1)), atol=1e-8)
