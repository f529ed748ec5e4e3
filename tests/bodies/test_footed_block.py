"""The block on two feet: directions, forces, energies, static start, closed forms; two sliding masses."""

import numpy as np
import pytest

from klapper.bodies import CoupledSliders, Coupling, FootedBlock, Halves, rigid_block, split_block
from klapper.mechanics import InvalidModel, Ramp
from klapper.mechanics.system import difference_tangents
from klapper.schemes import EventDriven, Moreau, NestedProx
from klapper.simulation import simulate

BLOCK = FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1))
LOW = Coupling(1e6, 1e6, 1.0, 1.0)
HIGH = Coupling(1e9, 1e9, 10.0, 10.0)
BOTH = np.arange(2)


def systems():
    load = Ramp([3.0, -2.0, 0.4], [250.0, 7.0, -1.0])
    return [rigid_block(BLOCK, load=load), split_block(BLOCK, LOW, load=load)]


def test_the_block_at_rest_has_the_printed_directions_of_rank_three() -> None:
    """C1: W(0) of (4.3), rank 3."""
    directions = rigid_block(BLOCK).directions(0.0, np.array([0.1, 0.05, 0.0]), BOTH)
    tangential, normal = directions.tangential, directions.normal
    w = np.column_stack([tangential[:, 0], normal[:, 0], tangential[:, 1], normal[:, 1]])
    np.testing.assert_array_equal(w, [[1, 0, 1, 0], [0, 1, 0, 1], [0.05, -0.1, 0.05, 0.1]])
    assert np.linalg.matrix_rank(w) == 3


@pytest.mark.parametrize("system", systems(), ids=lambda system: system.name)
def test_directions_are_point_velocities_and_forces_are_gradients(system) -> None:
    """C1, C3: Wᵀ v is the velocity of the feet; −∂V/∂q the conservative force; power balance; analytic tangents."""
    rng = np.random.default_rng(5)
    n = len(system.coordinates)
    for _ in range(20):
        q, v = system.start.position + 0.4 * rng.normal(size=n), rng.normal(size=n)
        directions = system.directions(0.0, q, BOTH)
        d = 1e-6
        gap_rate = (system.gaps(0.0, q + d * v, BOTH) - system.gaps(0.0, q - d * v, BOTH)) / (2 * d)
        np.testing.assert_allclose(directions.normal_velocity(v), gap_rate, atol=1e-9)
        for i, (body, place) in enumerate(zip((0, n - 3), system.form.foot, strict=True)):
            turn = q[body + 2]
            arm = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ place
            foot = v[body : body + 2] + v[body + 2] * np.array([-arm[1], arm[0]])
            found = directions.tangential_velocity(v)[i], directions.normal_velocity(v)[i]
            np.testing.assert_allclose(found, foot, atol=1e-12)
        slip = system.foot_velocities(q[None], v[None])[0]
        np.testing.assert_allclose(slip, directions.tangential_velocity(v), atol=1e-12)
        stored = (system.potential(q + d * v) - system.potential(q - d * v)) / (2 * d)
        load, damping = system.powers(0.3, q, v)
        power = v @ system.force(0.3, q, v)
        assert power == pytest.approx(load - damping - stored, rel=1e-6, abs=1e-4)
        tangents, by_differences = (
            system.tangents(0.3, q, v),
            difference_tangents(system.force, system.advance, 0.3, q, v),
        )
        scale = np.abs(by_differences.position).max() + 1.0
        np.testing.assert_allclose(tangents.position, by_differences.position, atol=1e-8 * scale)
        np.testing.assert_allclose(tangents.velocity, by_differences.velocity, atol=1e-8 * scale)
        np.testing.assert_allclose(tangents.time, by_differences.time, atol=1e-8 * scale)
        bends = system.curvature(0.3, q, v, BOTH)
        np.testing.assert_allclose(bends, super(type(system), system).curvature(0.3, q, v, BOTH), atol=1e-6)


def test_the_coupling_acts_and_reacts() -> None:
    """C3: without weight and load the forces on both halves have no sum, those of the springs no moment either."""
    system = split_block(FootedBlock(0.2, 0.1, 16.0, gravity=0.0), LOW)
    rng = np.random.default_rng(1)
    for _ in range(10):
        q, v = rng.normal(size=6), rng.normal(size=6)
        h = system.force(0.0, q, v)
        np.testing.assert_allclose(h[:2] + h[3:5], 0.0, atol=1e-8)
        h = system.force(0.0, q, np.zeros(6))
        moment = sum(q[k] * h[k + 1] - q[k + 1] * h[k] + h[k + 2] for k in (0, 3))
        assert moment == pytest.approx(0.0, abs=1e-7)


def test_the_halves_have_the_printed_inertia_sag_and_frequencies() -> None:
    """C4, C5: θ₁ = 0.0133333, recomposition, q_3s = −1.962e-6 and −1.962e-9, locked-in pair 0.1957 N, frequencies."""
    low, high = Halves(BLOCK, LOW), Halves(BLOCK, HIGH)
    assert low.inertia == pytest.approx(0.0133333, abs=5e-8)
    assert 2 * low.inertia + 2 * low.mass * 0.05**2 == pytest.approx(BLOCK.inertia, rel=1e-14)
    assert low.sag_of_turning_springs == pytest.approx(-1.962e-6, rel=1e-12)
    assert high.sag_of_turning_springs == pytest.approx(-1.962e-9, rel=1e-12)
    assert low.sag == pytest.approx(-8 * 9.81 * 0.05 / (2e6 + 0.005e6), rel=1e-5)  # linear in the angle
    assert low.locked_in_friction == pytest.approx(0.1957, abs=5e-5)
    np.testing.assert_allclose(low.angular_frequencies, [500.0, 790.6, 12247.0], rtol=1e-4)
    np.testing.assert_allclose(high.angular_frequencies, [15811.0, 25000.0, 387298.0], rtol=1e-4)
    assert high.critical_step == pytest.approx(5.16e-6, abs=5e-9)
    with pytest.raises(InvalidModel, match="halves need more"):
        Halves(FootedBlock(1.0, 0.1, 16.0, inertia=0.5), LOW)


@pytest.mark.parametrize("coupling", [LOW, HIGH])
def test_the_static_start_is_an_equilibrium(coupling: Coupling) -> None:
    """Weight, springs and the contact forces of statics balance on each half."""
    system, halves = split_block(BLOCK, coupling), Halves(BLOCK, coupling)
    q = system.start.position
    directions = system.directions(0.0, q, BOTH)
    pair = halves.locked_in_friction
    forces = directions.normal @ [78.48, 78.48] + directions.tangential @ [pair, -pair]
    np.testing.assert_allclose(system.force(0.0, q, np.zeros(6)) + forces, 0.0, atol=2e-6)
    assert np.abs(system.gaps(0.0, q, BOTH)).max() <= 1e-17


def test_the_block_has_the_printed_forces_of_slip_split_and_tipping() -> None:
    """15.1-15.3, 15.5: normal forces, end of equal shares, start of sliding, tipping; the shares of the halves."""
    np.testing.assert_allclose(BLOCK.normal_forces(10.0, -10.0), [73.48, 83.48])
    assert BLOCK.slip_force == pytest.approx(15.696)
    assert BLOCK.equal_split_force == pytest.approx(14.2691, abs=5e-5)
    assert BLOCK.tipping_force == pytest.approx(298.2, abs=0.05)
    np.testing.assert_allclose(BLOCK.smallest_friction([10.0, 15.0]), [[-5, -5], [-7.098, -7.902]])
    way, speed = BLOCK.ramp_motion(250.0, 0.1)
    assert way == pytest.approx(1.342326e-4, abs=5e-11)
    assert speed == pytest.approx(1.08206e-2, abs=5e-8)
    high = Halves(BLOCK, HIGH)
    assert high.saturation_force_of_b == pytest.approx(8.07, abs=0.01)
    np.testing.assert_allclose(high.quasi_static_friction(4.9)[0], 0.1835, atol=5e-5)
    np.testing.assert_allclose(high.quasi_static_friction(10.0), [-1.652, -8.348], atol=5e-4)
    uneven = FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.3))
    limit = np.array(uneven.friction) * uneven.normal_forces(uneven.slip_force, -uneven.slip_force)
    assert limit.sum() == pytest.approx(uneven.slip_force, rel=1e-12)
    sliding = uneven.smallest_friction(100.0)
    np.testing.assert_allclose(sliding, -np.array([0.1, 0.3]) * uneven.normal_forces(100.0, sliding.sum()))


def test_every_scheme_takes_the_block() -> None:
    """The same motion by three methods, to the errors of the steps: x at 0.1 s of the ramp."""
    system = rigid_block(BLOCK, load=Ramp(np.zeros(3), [250.0, 0.0, 0.0]))
    way = BLOCK.ramp_motion(250.0, 0.1)[0]
    for scheme in (Moreau(1e-4), EventDriven(1e-9), NestedProx(1e-4)):
        run = simulate(system, 0.1, scheme)
        assert run.position[-1, 0] - 0.1 == pytest.approx(way, abs=2e-7)
        assert "not unique" in run.about["audit"]["forces with most contacts loaded"]


def test_two_sliders_move_like_one_mass() -> None:
    """C27: the motion of (B.37) by time stepping, and x − x_rigid falls like 1/c; the spring force does not settle."""
    force, errors = 30.0, []
    for stiffness in (1e4, 1e6):
        pair = CoupledSliders(1.0, stiffness, friction=0.5)
        run = simulate(pair.system(force, velocity=5.0), 0.05, Moreau(2e-6), every=50)
        exact = np.column_stack(pair.sliding_motion(force, run.time)) + 5.0 * run.time[:, None]
        scale = force / (2 * pair.mass * pair.angular_frequency**2)
        np.testing.assert_allclose(run.position, exact, atol=0.02 * scale)
        rigid = pair.rigid_motion(force, run.time)
        errors.append(np.abs(pair.sliding_motion(force, run.time)[0] - rigid).max())
        spring = pair.spring_force(force, np.linspace(0.0, 1.0, 100_001))
        assert (spring.min(), spring.max()) == pytest.approx((0.0, force), abs=1e-3)
        assert spring.mean() == pytest.approx(force / 2, rel=1e-3)
    assert errors[0] / errors[1] == pytest.approx(100.0, rel=0.02)


def test_two_sliders_share_by_history() -> None:
    """C27: the sum is always −F; slow pushes give (B.34) within 1 %, sudden ones without damping the overshoot."""
    pair = CoupledSliders(1.0, 1e6, damping=2e3, friction=0.5)
    push = 1.2 * pair.limit
    slow = simulate(pair.system(lambda t: push * min(t / 0.05, 1.0)), 0.1, Moreau(1e-5)).force[-1, :, -1]
    np.testing.assert_allclose(slow, pair.quasi_static_friction(push), atol=0.01 * pair.limit)
    undamped = CoupledSliders(1.0, 1e6, friction=0.5)
    sudden = simulate(undamped.system(push), 0.01, Moreau(1e-6), every=1).force[-1, :, -1]
    np.testing.assert_allclose(sudden / pair.limit, [-0.4, -0.8], atol=5e-3)
    np.testing.assert_allclose(undamped.overshoot_friction(push) / pair.limit, [-0.4, -0.8], rtol=1e-12)
    for forces in (slow, sudden):
        assert forces.sum() == pytest.approx(-push, rel=1e-6)
    three = pair.quasi_static_friction(np.array([0.5, 1.5, 3.0]) * pair.limit) / pair.limit
    np.testing.assert_allclose(three, [[0, -0.5], [-0.5, -1], [-1, -1]])
    with pytest.raises(InvalidModel, match="closed form holds"):
        undamped.overshoot_friction(2.0 * undamped.limit)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: FootedBlock(0.0, 0.1, 16.0), "width of the block"),
        (lambda: FootedBlock(0.2, 0.1, 16.0, friction=(0.1,)), "friction is"),
        (lambda: Coupling(0.0, 1.0), "stiffness of the coupling"),
        (lambda: rigid_block(BLOCK, load=1.0), "load has shape"),
        (lambda: rigid_block(BLOCK, at=(0.1, 0.04, 0.0)), "overlap"),
        (lambda: split_block(BLOCK, LOW, start="tense"), "start is 'tense'"),
        (lambda: CoupledSliders(1.0, 1.0).system([1.0, 2.0]), "force has shape"),
    ],
)
def test_wrong_models_are_refused(call, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        call()
