"""Mode decision on acceleration level: closed forms, all solutions, redundancy, Painlevé, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st

from klapper.complementarity import (
    ComplementarityError,
    MixedComplementarity,
    NoSolution,
    enumerate_solutions,
)
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.acceleration_solution import ModeDecision
from klapper.mechanics.areal import AveragedContact, FrictionPatches, friction_matrix
from klapper.mechanics.contact_area import ContactArea
from klapper.mechanics.errors import InvalidModel


def wedged_disc(
    mu: float, moment: float, *, load: float = 9.81, rotation: float = 0.0
) -> AccelerationProblem:
    """Waltersberger (5.17)-(5.25), counter-clockwise positive, α = π/4, r = 0.1 m, m = 1 kg."""
    alpha, r, mass = np.pi / 4, 0.1, 1.0
    s, c = np.sin(alpha), np.cos(alpha)
    tangential = np.array([[1, c], [0, s], [r, -r]])
    return AccelerationProblem(
        np.diag([mass, mass, mass * r**2 / 2]),
        [-load * np.cos(alpha / 2), -load * np.sin(alpha / 2), moment],
        normal=np.array([[0, s], [1, -c], [0, 0]]),
        tangential=tangential,
        sliding_velocity=(tangential.T @ [0, 0, rotation])[:, None],
        friction=mu,
        normal_names=["wall 1", "wall 2"],
        tangential_names=["wall 1", "wall 2"],
    )


def critical_moment(mu: float) -> float:
    return 0.1 * 9.81 * mu / (np.cos(3 * np.pi / 8) * (1 + mu**2))  # (5.16)


def require_laws(decision: ModeDecision, tolerance: float = 1e-8) -> None:
    """(4.44), (4.49) written out once more, with the exact disc."""
    p = decision.problem
    v, force, slide = decision.acceleration, decision.normal_force, p.sliding_velocity
    mass = np.linalg.inv(p._solve_mass(np.eye(p.size)))
    contact = p.normal @ force + p.tangential @ decision.tangential_force.ravel()
    rest = mass @ v - p.force - contact - p.bilateral @ decision.bilateral_force
    scale = np.abs(p.force).max() + np.abs(force).max(initial=0.0)
    opening = p.normal.T @ v + p.normal_bias
    change = (p.tangential.T @ v + p.tangential_bias).reshape(slide.shape)
    limits = p.friction @ force + p.limit
    assert np.abs(rest).max() < tolerance * scale
    assert force.min(initial=0.0) > -tolerance * scale
    assert opening.min(initial=0.0) > -tolerance * scale
    assert np.abs(force * opening).max(initial=0.0) < tolerance * scale**2
    assert np.abs(p.bilateral.T @ v + p.bilateral_bias).max(initial=0.0) < tolerance * scale
    for i, friction in enumerate(decision.tangential_force):
        direction = slide[i] if np.any(slide[i]) else change[i]
        assert np.linalg.norm(friction) <= limits[i] + tolerance * scale
        lost = limits[i] * np.linalg.norm(direction) + friction @ direction  # zero by maximum dissipation
        assert abs(lost) <= tolerance * scale * max(1.0, float(np.linalg.norm(direction)))


@pytest.mark.parametrize("force", [3.0, -3.0, 0.0])
def test_a_mass_at_a_stop_leaves_if_pulled_and_stays_if_pushed(force: float) -> None:
    """Ex. 4.2a: pulled away it leaves with f/m, pushed it stays with λ = −f."""
    decision = AccelerationProblem([[2.0]], [force], normal=[[1.0]]).solve()
    assert decision.acceleration[0] == pytest.approx(max(force, 0.0) / 2.0)
    assert decision.normal_force[0] == pytest.approx(max(-force, 0.0))
    assert decision.stays_closed.tolist() == [force <= 0.0]
    assert decision.modes == ("open" if force > 0 else "slip",)


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"), [(30, 60, (0.5, 0.0)), (60, 30, (0.8660254, 0.0)), (45, 100, (0.0, 0.0))]
)
def test_a_point_in_a_wedge_rests_on_one_wall_or_none(
    alpha: float, beta: float, expected: tuple[float, float]
) -> None:
    """Ex. 4.2b: one wall, or none, although both would have to pull as two-sided constraints."""
    a, b = np.radians([alpha, beta])
    load = [np.sin(b), -np.cos(b)]
    normal = np.array([[0.0, np.sin(a)], [1.0, -np.cos(a)]])
    decision = AccelerationProblem(np.eye(2), load, normal=normal).solve()
    np.testing.assert_allclose(decision.normal_force, expected, atol=1e-7)
    assert decision.uniqueness.all_unique
    fixed = AccelerationProblem(np.eye(2), load, bilateral=normal).solve()
    expected_fixed = [np.sin(a - b) / np.sin(a), -np.sin(b) / np.sin(a)]
    np.testing.assert_allclose(fixed.bilateral_force, expected_fixed, atol=1e-12)


def test_two_blocks_start_together_when_both_limits_are_passed() -> None:
    """Ex. 1.1d: both blocks start to the left with 0.25 m/s², and press on each other with 0.75 N."""
    problem = AccelerationProblem(
        np.eye(2),
        [0.5, 2.0],
        normal=[[1.0], [-1.0]],
        tangential=np.eye(2),
        sliding_velocity=np.zeros((2, 1)),
        limit=1.0,
    )
    decision = problem.solve()
    np.testing.assert_allclose(decision.acceleration, [0.25, 0.25])
    np.testing.assert_allclose(decision.normal_force, [0.75])
    np.testing.assert_allclose(decision.sliding_rate, [0.25, 0.25])
    np.testing.assert_allclose(decision.tangential_force.ravel(), [-1.0, -1.0])
    assert decision.patch_states.tolist() == [SLIP, SLIP]
    assert decision.uniqueness.all_unique
    assert len(problem.all_solutions()) == 1


TABLE = [
    (0.3, 0.5, [0.0]),
    (0.3, 0.9, [0.0]),
    (0.3, 1.2, [28.222]),
    (0.3, 3.0, [282.218]),
    (0.5, 0.5, [0.0]),
    (0.5, 0.9, [0.0]),
    (0.5, 1.2, [0.0, 41.016]),
    (0.5, 3.0, [0.0, 410.156]),
    (0.8, 1.2, [0.0, 50.019]),
    (0.8, 3.0, [0.0, 500.191]),
]


@pytest.mark.parametrize(("mu", "ratio", "expected"), TABLE)
def test_the_wedged_disc_rests_turns_or_may_do_either(mu: float, ratio: float, expected: list[float]) -> None:
    moment = ratio * critical_moment(mu)
    problem = wedged_disc(mu, moment)
    motions = problem.all_solutions()
    turning = np.sort(motions.accelerations[:, 2])
    np.testing.assert_allclose(turning, expected, atol=6e-4)
    np.testing.assert_allclose(motions.accelerations[:, :2], 0.0, atol=1e-9)
    assert motions.same == (len(expected) == 1)
    assert motions.doubtful == 0
    for decision in motions:
        require_laws(decision)
        rests = abs(decision.acceleration[2]) < 1e-6
        assert decision.modes == (("stick", "stick") if rests else ("slip", "slip"))
        if not rests:
            assert decision.acceleration[2] == pytest.approx((moment - critical_moment(mu)) / 0.005, rel=1e-9)
    found = problem.solve()
    require_laws(found)
    assert np.abs(turning - found.acceleration[2]).min() < 1e-8
    assert (found.uniqueness.motion == "unique") == motions.same


def test_resting_disc_has_one_undetermined_combination() -> None:
    """Four forces, three equations: one free combination. If the disc locks itself, the forces have no upper bound."""
    motions = wedged_disc(0.5, 1.2 * critical_moment(0.5)).all_solutions()
    resting = [bool(d.sticks.all()) for d in motions].index(True)
    assert motions.decisions[resting].uniqueness.null_space.shape[1] == 1
    assert np.isinf(motions.upper[resting]).any()
    assert np.isfinite(motions.upper[1 - resting]).all()
    locked = wedged_disc(0.3, 0.5 * critical_moment(0.3)).solve()
    assert np.isfinite(locked.uniqueness.upper).all()
    assert not locked.uniqueness.forces.any()


@pytest.mark.parametrize(("mu", "expected"), [(0.95, (4.08605, 9.38820)), (1.05, (3.44485, 8.74767))])
@pytest.mark.parametrize("rotation", [2.0, -2.0])
def test_a_turning_disc_presses_more_on_the_wall_it_climbs(
    mu: float, expected: tuple[float, float], rotation: float
) -> None:
    """Ex. 5.6: a turning disc whose centre rests; the larger force is on wall 2 for counter-clockwise rotation."""
    moment = np.sign(rotation) * 2.0
    decision = wedged_disc(mu, moment, rotation=rotation).solve()
    forces = decision.normal_force if rotation > 0 else decision.normal_force[::-1]
    np.testing.assert_allclose(forces, expected, atol=6e-6)
    inertia = 0.005
    turning = np.sign(rotation) * (2.0 - critical_moment(mu)) / inertia
    np.testing.assert_allclose(decision.acceleration, [0, 0, turning], atol=1e-9)
    np.testing.assert_allclose(decision.sliding_rate, 0.1 * abs(turning), rtol=1e-9)
    assert decision.modes == ("slip", "slip")
    assert not decision.sticks.any()
    require_laws(decision)


def sliding_rod(
    mu: float, speed: float, *, turning: float = 0.0, tangent: float = 2.0
) -> AccelerationProblem:
    """A rod of length 2 m and 1 kg whose tip slides to the right on the floor, its centre being to the left above.

    Coordinates: centre and angle θ of the rod to the floor, tip at (x + cos θ, y − sin θ).
    """
    theta = np.arctan(tangent)
    s, c = np.sin(theta), np.cos(theta)
    inertia = 1 / 3
    return AccelerationProblem(
        np.diag([1.0, 1.0, inertia]),
        [0.0, -9.81, 0.0],
        normal=np.array([[0.0], [1.0], [-c]]),
        normal_bias=[s * turning**2],
        tangential=np.array([[1.0], [0.0], [-s]]),
        tangential_bias=[-c * turning**2],
        sliding_velocity=[[speed]],
        friction=mu,
        normal_names=["tip"],
    )


def test_painleve_rod_is_detected() -> None:
    """J_Nᵀ M⁻¹ (J_N + R) = 1 + 3 cos θ (cos θ − μ sin θ): negative from μ = 4/3 on at tan θ = 2, never before."""
    for mu in (0.5, 4 / 3, 2.0):
        assert sliding_rod(mu, 1.0).normal_mobility[0] == pytest.approx(1 + 3 * (1 - 2 * mu) / 5, abs=1e-12)
    tangents = np.linspace(0.05, 20.0, 400)
    least = [min(sliding_rod(mu, 1.0, tangent=t).normal_mobility[0] for t in tangents) for mu in (1.33, 1.34)]
    assert least[0] > 0 > least[1]
    with pytest.raises(NoSolution, match=r"'tip' presses, and sliding friction .* by -0.8 m/s² \(Painlevé\)"):
        sliding_rod(2.0, 1.0).solve()
    assert len(sliding_rod(2.0, 1.0).all_solutions()) == 0


def test_painleve_rod_may_have_two_solutions() -> None:
    """Turning fast enough to lift the tip, the rod may fly or press: λ = −b/W with W < 0 < b."""
    problem = sliding_rod(2.0, 1.0, turning=5.0)
    bias = -9.81 + 25 * np.sin(np.arctan(2.0))
    motions = problem.all_solutions()
    assert sorted(d.modes[0] for d in motions) == ["open", "slip"]
    np.testing.assert_allclose(sorted(d.normal_force[0] for d in motions), [0.0, bias / 0.8], rtol=1e-12)
    assert problem.solve().uniqueness.motion == "not unique"
    for decision in motions:
        require_laws(decision)


def test_a_sliding_rod_has_the_force_of_the_closed_form() -> None:
    for speed, sign in ((1.0, 1), (-1.0, -1)):
        decision = sliding_rod(0.5, speed).solve()
        mobility = 1 + 3 * (1 - sign * 2 * 0.5) / 5
        assert decision.normal_force[0] == pytest.approx(9.81 / mobility, rel=1e-12)
        assert decision.tangential_force[0, 0] == pytest.approx(-sign * 0.5 * 9.81 / mobility, rel=1e-12)
        require_laws(decision)


@pytest.mark.parametrize("kind", ["normal", "bilateral", "tangential"])
def test_doubled_constraints_leave_the_acceleration_alone(kind: str) -> None:
    """C18: the same row twice changes no acceleration; only the sum of both forces is determined."""
    root = np.random.default_rng(3).normal(size=(4, 4))
    mass, load = root @ root.T + np.eye(4), np.array([0.4, -3.0, 0.2, 0.1])
    rows = {
        "normal": np.eye(4)[:, [1]],
        "tangential": np.eye(4)[:, [0]],
        "bilateral": np.array([[0.0], [0.0], [1.0], [0.5]]),
    }

    def problem(copies: dict[str, int]) -> AccelerationProblem:
        parts = {name: np.hstack([row] * copies[name]) for name, row in rows.items()}
        share = np.full((copies["tangential"], copies["normal"]), 5.0 / copies["tangential"])
        rest = np.zeros((copies["tangential"], 1))
        return AccelerationProblem(mass, load, **parts, sliding_velocity=rest, friction=share)

    once = problem({"normal": 1, "tangential": 1, "bilateral": 1}).solve()
    assert once.modes == ("stick",)
    copies = {"normal": 1, "tangential": 1, "bilateral": 1} | {kind: 2}
    twice = problem(copies).solve()
    np.testing.assert_allclose(twice.acceleration, once.acceleration, atol=1e-11)
    forces = {
        "normal": twice.normal_force,
        "tangential": twice.tangential_force,
        "bilateral": twice.bilateral_force,
    }
    single = {
        "normal": once.normal_force,
        "tangential": once.tangential_force,
        "bilateral": once.bilateral_force,
    }
    assert forces[kind].sum() == pytest.approx(single[kind].sum(), rel=1e-9)
    answer = twice.uniqueness
    assert answer.motion == "unique"
    open_ones = [name for name, unique in zip(answer.names, answer.forces, strict=True) if not unique]
    assert len(open_ones) == 2
    np.testing.assert_allclose(np.abs(answer.null_space[answer.null_space != 0]), 1.0)


def test_redundant_two_sided_constraints_obey_gauss() -> None:
    """(4.61), (4.62): v̇ is the point of {Jᵀy + b = 0} nearest to M⁻¹f in the metric M, also for dependent columns."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(6, 6))
        mass, load = root @ root.T + np.eye(6), rng.normal(size=6)
        basis = rng.normal(size=(6, 3))
        directions = basis @ rng.normal(size=(3, 7))
        bias = directions.T @ rng.normal(size=6)
        decision = AccelerationProblem(mass, load, bilateral=directions, bilateral_bias=bias).solve()
        q, _ = np.linalg.qr(basis)
        free = np.linalg.svd(q.T)[2][3:].T  # directions of motion
        particular = -np.linalg.lstsq(directions.T, bias, rcond=None)[0]
        step = np.linalg.solve(free.T @ mass @ free, free.T @ (load - mass @ particular))
        np.testing.assert_allclose(decision.acceleration, particular + free @ step, atol=1e-8)
        assert decision.uniqueness.motion == "unique"
        assert decision.uniqueness.null_space.shape[1] == 4


def test_contradicting_constraints_have_no_solution() -> None:
    with pytest.raises(NoSolution):
        AccelerationProblem(
            np.eye(2), [0, 0], bilateral=[[1.0, 1.0], [0, 0]], bilateral_bias=[0.0, 1.0]
        ).solve()


@pytest.mark.parametrize("speed", [0.5, 3.0])
def test_curvature_decides_about_lift_off(speed: float) -> None:
    """A point at the top of a circle of radius 0.5 m: it leaves when v² > g r, otherwise N = m (g − v²/r)."""
    problem = AccelerationProblem(
        2.0 * np.eye(2),
        [0.0, -2.0 * 9.81],
        normal=[[0.0], [1.0]],
        normal_bias=[speed**2 / 0.5],
        tangential=[[1.0], [0.0]],
        sliding_velocity=[[speed]],
        friction=0.4,
    )
    decision = problem.solve()
    expected = max(0.0, 2.0 * (9.81 - speed**2 / 0.5))
    assert decision.normal_force[0] == pytest.approx(expected)
    assert decision.tangential_force[0, 0] == pytest.approx(-0.4 * expected)
    assert decision.contact_states.tolist() == [OPEN if expected == 0.0 else SLIP]
    assert decision.patch_states.tolist() == decision.contact_states.tolist()


def block(force: list[float], velocity: list[float], mu: float, **more: object) -> AccelerationProblem:
    """A unit mass on a rough floor in space."""
    return AccelerationProblem(
        np.eye(3),
        force,
        normal=np.eye(3)[:, [2]],
        tangential=np.eye(3)[:, :2],
        sliding_velocity=[velocity],
        friction=mu,
        **more,  # type: ignore[arg-type]
    )


def test_spatial_block_sticks_starts_and_slides() -> None:
    at_rest, starting = (block([f, 0.75 * f, -10.0], [0.0, 0.0], 0.5).solve() for f in (3.9, 4.4))
    assert at_rest.contact_states.tolist() == [STICK]
    np.testing.assert_allclose(at_rest.tangential_force, [[-3.9, -2.925]])
    np.testing.assert_allclose(at_rest.acceleration, 0.0, atol=1e-12)
    assert starting.contact_states.tolist() == [SLIP]
    np.testing.assert_allclose(starting.tangential_force, [[-4.0, -3.0]], rtol=1e-9)
    assert starting.sliding_rate[0] == pytest.approx(5.5 - 5.0, rel=1e-9)
    sliding = block([3.9, 0.0, -10.0], [0.0, -2.0], 0.5).solve()
    np.testing.assert_allclose(sliding.tangential_force, [[0.0, 5.0]], atol=1e-12)
    np.testing.assert_allclose(sliding.acceleration, [3.9, 5.0, 0.0], atol=1e-12)
    assert sliding.sliding_rate[0] == pytest.approx(-5.0)  # it slows down
    creeping = block([3.9, 0.0, -10.0], [0.0, -1e-9], 0.5, sticking_speed=1e-8).solve()
    assert creeping.contact_states.tolist() == [STICK]


def test_given_limits_add_to_the_pressed_ones() -> None:
    """ρ = 3 N + 0.5 · 10 N opposes sliding; a patch with a given limit alone holds without any normal force."""
    sliding = block([1.0, 0.0, -10.0], [0.3, -0.4], 0.5, limit=3.0).solve()
    np.testing.assert_allclose(sliding.tangential_force, [[-4.8, 6.4]], atol=1e-12)
    np.testing.assert_allclose(sliding.acceleration, [-3.8, 6.4, 0.0], atol=1e-12)
    lifted = block([1.0, 0.0, 10.0], [0.0, 0.0], 0.5, limit=3.0).solve()
    assert lifted.contact_states.tolist() == [OPEN]
    assert lifted.patch_states.tolist() == [STICK]
    np.testing.assert_allclose(lifted.acceleration, [0.0, 0.0, 10.0], atol=1e-12)
    assert block([1.0, 0.0, -10.0], [0.0, 0.0], 0.0, limit=3.0).solve().uniqueness.all_unique


def test_friction_in_space_is_unique_if_it_does_not_touch_the_normal_motion() -> None:
    """Friction that does not touch the normal motion leaves nothing open; an eccentric push is left undecided."""
    assert block([3.9, 1.0, -10.0], [0.0, 0.0], 0.5).solve().uniqueness.all_unique
    mass = np.diag([1.0, 1.0, 1.0, 0.1])
    tipping = AccelerationProblem(
        mass,
        [3.0, 0.0, -10.0, 0.0],
        normal=np.array([[0.0], [0.0], [1.0], [0.2]]),
        tangential=np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.3, 0.0]]),
        sliding_velocity=[[0.0, 0.0]],
        friction=0.5,
    )
    assert not tipping.decoupled
    assert tipping.solve().uniqueness.motion == "undecided"


def test_polygon_of_a_starting_block_deviates_by_its_half_angle_at_most() -> None:
    exact = block([6.0, 2.0, -10.0], [0.0, 0.0], 0.5).solve()
    for vertices in (4, 8, 16, 64):
        decision = block([6.0, 2.0, -10.0], [0.0, 0.0], 0.5, polygon=vertices).solve()
        wrong = np.linalg.norm(decision.tangential_force - exact.tangential_force)
        assert wrong <= 2 * 5.0 * np.sin(np.pi / (2 * vertices)) + 1e-9
        assert decision.sliding_rate[0] <= np.linalg.norm(decision.tangential_acceleration) + 1e-12


def test_frictionless_patch_never_sticks() -> None:
    decision = block([0.0, 0.0, -10.0], [0.0, 0.0], 0.0).solve()
    assert decision.contact_states.tolist() == [SLIP]
    assert not decision.sticks.any()


def test_an_averaged_contact_slides_when_its_whole_limit_is_reached() -> None:
    """A plate on three averaged contacts and two patches: it starts to slide when the whole limit μ Σλ is reached."""
    area = ContactArea.line(1.0, panels=4)
    contact = AveragedContact.hats(area, [0.0, 0.5, 1.0])
    patches = FrictionPatches(area, [0.0, 0.25, 1.0])
    x = area.points[:, 0]
    one, zero = np.ones_like(x), np.zeros_like(x)
    for pull, state in ((2.99, STICK), (3.2, SLIP)):
        problem = AccelerationProblem(
            np.diag([1.0, 1.0, 0.1]),
            [pull, -10.0, 0.0],
            normal=contact.directions(np.column_stack([zero, one, x - 0.5])),
            tangential=patches.directions(np.column_stack([one, zero, zero])),
            sliding_velocity=np.zeros((2, 1)),
            friction=friction_matrix(contact, patches, 0.3),
        )
        decision = problem.solve()
        require_laws(decision)
        assert decision.acceleration[0] == pytest.approx(max(0.0, pull - 3.0), abs=1e-9)
        assert decision.patch_states.tolist() == [state, state]
        assert decision.normal_force.sum() == pytest.approx(10.0)


def test_a_continuum_of_accelerations_is_not_called_unique() -> None:
    """Two coincident contacts with different friction: any share of the load is possible, and so is any friction."""
    problem = AccelerationProblem(
        np.eye(2),
        [8.0, -10.0],
        normal=[[0.0, 0.0], [1.0, 1.0]],
        tangential=[[1.0, 1.0], [0.0, 0.0]],
        sliding_velocity=[[1.0], [1.0]],
        friction=[0.2, 0.6],
    )
    assert not problem.all_solutions().same
    answer = problem.solve().uniqueness
    assert answer.motion == "not unique"
    np.testing.assert_allclose(answer.upper[:2], 10.0)


def full_problem(p: AccelerationProblem) -> MixedComplementarity:
    """(4.44) in the unknowns (v̇, λ_B, λ_N, λ_P, z) of a planar problem."""
    n, m, rest = p.size, p.contacts, np.flatnonzero(~p.sliding)
    mass = np.linalg.inv(p._solve_mass(np.eye(n)))
    sliding = np.zeros((n, m))  # R, (4.49)
    for i in np.flatnonzero(p.sliding):
        sliding -= np.outer(p.tangential[:, i] * np.sign(p.sliding_velocity[i, 0]), p.friction[i])
    j_p = p.tangential[:, rest] @ np.kron(np.eye(len(rest)), [[1.0, -1.0]])
    spread = np.kron(np.eye(len(rest)), [[1.0], [1.0]])
    sizes = [n, p.bilateral.shape[1], m, 2 * len(rest), len(rest)]
    at = np.cumsum([0, *sizes])
    rows = [slice(a, b) for a, b in pairwise(at)]
    matrix = np.zeros((at[-1], at[-1]))
    for column, block_ in ((0, mass), (1, -p.bilateral), (2, -(p.normal + sliding)), (3, -j_p)):
        matrix[rows[0], rows[column]] = block_
    for row, block_ in ((1, p.bilateral.T), (2, p.normal.T), (3, j_p.T)):
        matrix[rows[row], rows[0]] = block_
    matrix[rows[3], rows[4]] = spread
    matrix[rows[4], rows[3]] = -spread.T
    matrix[rows[4], rows[2]] = p.friction[rest]
    bias = [p.bilateral_bias, p.normal_bias, np.kron(p.tangential_bias[rest], [1.0, -1.0])]
    offset = np.concatenate([-p.force, *bias, np.zeros(len(rest))])
    return MixedComplementarity(matrix, offset, free=n + p.bilateral.shape[1])


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_planar_problems_have_the_motions_of_the_full_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = 4, 2
    root = rng.normal(size=(n, n))
    problem = AccelerationProblem(
        root @ root.T + np.eye(n),
        rng.normal(size=n),
        normal=rng.normal(size=(n, m)),
        normal_bias=-rng.random(m),
        tangential=rng.normal(size=(n, m)),
        tangential_bias=rng.normal(size=m),
        sliding_velocity=rng.choice([0.0, 0.0, 1.0, -1.0], size=(m, 1)),
        friction=rng.choice([0.2, 0.6, 1.2]),
        bilateral=rng.normal(size=(n, 1)),
        bilateral_bias=rng.normal(size=1),
    )
    motions = problem.all_solutions()
    reference = enumerate_solutions(full_problem(problem))
    expected = {tuple(piece.point[:n].round(6) + 0.0) for piece in reference.pieces}
    assert {tuple(row.round(6) + 0.0) for row in motions.accelerations} == expected
    for decision in motions:
        require_laws(decision)
    if expected:
        require_laws(problem.solve())
    else:
        with pytest.raises(NoSolution):
            problem.solve()


def test_spatial_problems_obey_the_laws() -> None:
    solved = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(9, 9))
        problem = AccelerationProblem(
            root @ root.T + np.eye(9),
            rng.normal(size=9),
            normal=rng.normal(size=(9, 3)),
            normal_bias=-rng.random(3),
            tangential=rng.normal(size=(9, 6)),
            sliding_velocity=[[0.0, 0.0], [0.3, -0.2], [0.0, 0.0]],
            friction=0.2,
        )
        try:
            require_laws(problem.solve())
            solved += 1
        except ComplementarityError:
            continue
    assert solved >= 11


def test_sparse_and_dense_mass_agree() -> None:
    n = 30
    mass = sparse.diags_array([np.full(n, 4.0), np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1, -1])
    normal, load = np.eye(n)[:, ::5], np.sin(np.arange(n))
    thick = AccelerationProblem(mass.toarray(), load, normal=normal).solve()
    thin = AccelerationProblem(mass, load, normal=sparse.csr_array(normal)).solve()
    np.testing.assert_allclose(thin.acceleration, thick.acceleration, atol=1e-13)
    assert 0 < thick.stays_closed.sum() < 6


def test_without_contacts_the_motion_is_free() -> None:
    problem = AccelerationProblem(np.diag([1.0, 2.0]), [3.0, 4.0])
    np.testing.assert_allclose(problem.solve().acceleration, [3.0, 2.0])
    np.testing.assert_allclose(problem.all_solutions().accelerations, [[3.0, 2.0]])
    assert problem.solve().uniqueness.all_unique


def test_decision_reads_well() -> None:
    text = str(wedged_disc(0.3, 0.5 * critical_moment(0.3)).solve())
    assert "wall 1" in text
    assert "stick" in text


GOOD = {"normal": [[0.0], [1.0]], "tangential": [[1.0], [0.0]], "sliding_velocity": [[0.0]], "friction": 0.3}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"mass": np.eye(3)}, r"mass has shape \(3, 3\), expected \(2, 2\)"),
        ({"mass": [[1.0, 0.0], [0.0, 0.0]]}, "mass is not positive definite"),
        ({"mass": sparse.diags_array([1.0, -1.0])}, "mass is not positive definite"),
        ({"mass": [[1.0, 0.5], [0.0, 1.0]]}, "mass is not symmetric"),
        ({"normal": [[0.0, 1.0]]}, r"normal has shape \(1, 2\)"),
        ({"normal": [[0.0], [np.nan]]}, r"normal\[1, 0\] is nan"),
        ({"sliding_velocity": None}, "sliding_velocity is missing"),
        ({"sliding_velocity": [[0.0, 0.0]]}, "one entry for each of the 1 tangential columns"),
        ({"friction": -0.1}, "the least entry of friction is"),
        ({"friction": [0.1, 0.2]}, r"friction has shape \(2,\)"),
        ({"normal": None}, r"give the matrix \(1, 0\)"),
        ({"friction": [[0.1, 0.2]]}, r"friction has shape \(1, 2\), expected \(1, 1\)"),
        ({"normal_bias": [1.0, 2.0]}, "normal_bias has shape"),
        ({"sticking_speed": -1.0}, "sticking_speed is -1"),
        ({"normal_names": ["a", "b"]}, "names has 2 entries"),
    ],
)
def test_bad_models_are_refused(change: dict, text: str) -> None:
    given_ = {"mass": np.eye(2), "force": [0.0, -1.0]} | GOOD | change
    with pytest.raises(InvalidModel, match=text):
        AccelerationProblem(**given_)


def test_bad_limits_and_polygons_are_refused() -> None:
    with pytest.raises(InvalidModel, match="the least entry of limit is"):
        AccelerationProblem(np.eye(2), [0.0, -1.0], **GOOD, limit=-1.0)
    with pytest.raises(InvalidModel, match="polygon is 3"):
        AccelerationProblem(np.eye(2), [0.0, -1.0], **GOOD, polygon=3)
