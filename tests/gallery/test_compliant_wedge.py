"""The disc in a compliant wedge: exact flow, stability, decay, limit cycle, scaling."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.gallery import find
from klapper.gallery._compliant_wedge import Wedge
from klapper.gallery._sliding_flow import SlidingFlow
from klapper.gallery._wedged_disc import Disc
from klapper.gallery.parameter import ParameterError
from klapper.gallery.wedge_stability import wedge
from klapper.mechanics import Contact, Harmonic, InvalidModel, LinearSystem, State
from klapper.mechanics.compliance import CompliantNormal, mixed_acceleration, restitution


def example(mu: float, sense: float = -1.0, force: float = 9.81) -> Wedge:
    return Wedge(Disc(mu, np.pi / 4, 1.5 * sense, force, 0.1, 1.0), 1e5, 0.5)


def spring(exponent: float = 1.0, **options: Any) -> SlidingFlow:
    """A mass that falls onto a one-sided spring."""
    floor = Contact("floor", normal=[1.0])
    system = LinearSystem([2.0], contacts=[floor], **options)
    return SlidingFlow(system, CompliantNormal(1e4, 30.0, exponent), (0.0,), (0,))


def test_the_flow_rebounds_with_the_closed_form_restitution() -> None:
    """One-sided spring and damper without other forces: the rebound is in closed form."""
    motion = spring().advance(State(0.0, np.array([0.5]), np.array([-3.0])), 1.0)
    damping_ratio = 30.0 / (2 * np.sqrt(1e4 * 2.0))
    assert motion.velocity[-1, 0] == pytest.approx(3.0 * restitution(damping_ratio), rel=1e-12)
    assert motion.switches.tolist() == [2]


def test_a_touch_within_one_step_is_found() -> None:
    """A mass thrown up against a ceiling that it reaches with hardly any speed, between two steps."""
    ceiling = Contact("ceiling", normal=[-1.0], gap=0.05)
    system = LinearSystem([1.0], force=[-10.0], contacts=[ceiling])
    flow = SlidingFlow(system, CompliantNormal(1e4, 1.0), (0.0,), (0,))
    speed = np.sqrt(2 * 10.0 * 0.05) * (1 + 1e-9)
    motion = flow.advance(State(0.0, np.zeros(1), np.array([speed])), 0.15)
    assert motion.switches.tolist() == [2]
    pressed = np.diff(motion.time[np.flatnonzero(np.diff(motion.time) == 0.0)])
    assert 0.0 < pressed[0] < flow.step


@pytest.mark.parametrize("sense", [-1.0, 1.0])
def test_the_flow_is_that_of_runge_and_kutta(sense: float) -> None:
    one = example(1.05, sense)
    alpha, mu = np.pi / 4, 1.05
    normals = np.array([[0.0, 1.0], [np.sin(alpha), -np.cos(alpha)]])
    tangents = np.array([[1.0, 0.0], [np.cos(alpha), np.sin(alpha)]])
    slides = sense * np.array([1.0, -1.0])
    load = -9.81 * np.array([np.cos(alpha / 2), np.sin(alpha / 2)])

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        gap, speed = normals @ y[:2], normals @ y[2:]
        pressed = np.where(gap < 0.0, np.maximum(0.0, -1e5 * gap - 0.5 * speed), 0.0)
        return np.concatenate([y[2:], load + pressed @ normals - (mu * pressed * slides) @ tangents])

    known = solve_ivp(rate, (0.0, 0.1), np.zeros(4), "DOP853", rtol=1e-10, atol=1e-14, max_step=1e-5).y[:, -1]
    motion = one.flow.advance(one.touching, 0.1)
    size = np.array([*np.abs(motion.position).max(axis=0), *np.abs(motion.velocity).max(axis=0)])
    found = np.concatenate([motion.position[-1], motion.velocity[-1]])
    assert np.abs((found - known) / size).max() < 1e-6


def test_the_flow_composes() -> None:
    """Two halves make a whole, also at times that are no multiples of a step."""
    one = example(1.05)
    whole = one.flow.advance(one.touching, 0.0777)
    half = one.flow.advance(one.touching, 0.03131)
    middle = State(0.03131, half.position[-1], half.velocity[-1])
    rest = one.flow.advance(middle, 0.0777)
    assert rest.position[-1] == pytest.approx(whole.position[-1], rel=1e-9)
    assert (half.switches + rest.switches).tolist() == whole.switches.tolist()


def test_the_flow_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InvalidModel, match="exponent of the law must be 1"):
        spring(1.5)
    with pytest.raises(InvalidModel, match="a load that does not change"):
        spring(force=Harmonic([1.0], 3.0))


def test_mirrored_senses_mirror_the_motion() -> None:
    left, right = (
        one.flow.gaps(one.flow.advance(one.touching, 0.2).position)
        for one in (example(1.05), example(1.05, 1.0))
    )
    assert left.min(axis=0) == pytest.approx(right.min(axis=0)[::-1], rel=1e-7)
    assert left.max(axis=0) == pytest.approx(right.max(axis=0)[::-1], rel=1e-7)


def test_rates_growth_and_switches_are_as_printed() -> None:
    numbers = find("compliant-wedge").run(until=3.0).numbers
    assert numbers["settles_to"] == ["rest", "periodic"]
    assert -np.asarray(numbers["measured_rates"][0]) == pytest.approx([0.195, 0.305], abs=5e-4)
    assert numbers["growth_without_damping"][1] == pytest.approx(35.57, abs=5e-3)
    assert numbers["late_switches"][0] == 0
    assert numbers["switches_per_period"][1] == 2
    assert numbers["cost_ratio"] > 2.0


@pytest.mark.parametrize(
    "changes",
    [
        {
            "mu": (0.5,),
            "alpha": 1.0,
            "moment_ratio": 3.0,
            "force": (50.0, 5.0),
            "until": 0.5,
            "patience": 40.0,
        },
        {"mu": (0.3, 0.6), "alpha": 0.9, "damping": 5.0, "start": "touching", "until": 0.5},
        {"mu": (1.08,), "moment_ratio": 2.0, "patience": 60.0, "until": 1.0},
        {"mu": (0.9,), "mass": 3.0, "radius": 0.3, "stiffness": 1e6, "damping": 20.0, "until": 0.3},
    ],
)
def test_checks_hold_for_other_parameters(changes: dict[str, Any]) -> None:
    outcome = find("compliant-wedge").run(**changes)
    assert [check.as_json() for check in outcome.checks if not check.passed] == []


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("compliant-wedge", {"mu": (1.001,)}, "within 1 % of cot α = 1"),
        ("compliant-wedge", {"moment_ratio": 0.5}, "above 1 or below −1"),
        ("wedge-stability", {"mu": 2.5}, "climbs a wall from μ = cot"),
    ],
)
def test_impossible_parameters_are_refused(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        find(name).run(**changes)


@pytest.mark.parametrize(
    "changes", [{"mu": 0.4}, {"mu": 0.5, "alpha": 1.2, "moment_ratio": 4.0, "stiffness": 3e7}]
)
def test_checks_of_stability_hold_for_other_wedges(changes: dict[str, Any]) -> None:
    outcome = find("wedge-stability").run(angles=2, **changes)
    assert [check.as_json() for check in outcome.checks if not check.passed] == []


def test_compliance_makes_the_acceleration_unique() -> None:
    """(4.95) under the loads that leave rigid walls undecided: one minimiser from every start."""
    disc = Disc(0.5, np.pi / 4, 1.2, 9.81, 0.1, 1.0)
    system = wedge(disc)
    normal_force = np.array([30.0, 40.0])
    directions = system.directions(0.0, np.zeros(3), np.arange(2))
    force = system.force(0.0, np.zeros(3), np.zeros(3)) + directions.normal @ normal_force
    rng = np.random.default_rng(0)
    found = [
        mixed_acceleration(
            system.mass(np.zeros(3)),
            force,
            tangential=directions.tangential,
            friction_limits=disc.mu * normal_force,
            sliding_velocity=np.zeros((2, 1)),
            start=20.0 * rng.normal(size=2),
        )
        for _ in range(20)
    ]
    first = found[0].acceleration
    assert (
        max(np.abs(decision.acceleration - first).max() for decision in found) <= 1e-8 * np.abs(first).max()
    )
    assert found[0].uniqueness.motion == "unique"


@pytest.mark.slow
@pytest.mark.parametrize("sense", [-1.0, 1.0])
@pytest.mark.parametrize("begin", ["touching", "pushed"])
def test_the_limit_cycle_attracts(sense: float, begin: str) -> None:
    """Followed for two minutes without Newton's method, from both starts and for both senses."""
    one = example(1.05, sense)
    start = one.touching if begin == "touching" else one.pushed(0.01)
    later = one.flow.advance(start, 120.0, every=1000)
    last = one.flow.advance(State(0.0, later.position[-1], later.velocity[-1]), 0.1)
    gaps = one.flow.gaps(last.position)[:, [one.loaded, 1 - one.loaded]]
    assert gaps.min(axis=0) == pytest.approx([-2.643e-4, -6.277e-5], abs=8e-8)
    assert gaps.max(axis=0) == pytest.approx([1.545e-4, -7.64e-6], abs=8e-8)


@pytest.mark.slow
def test_regularised_steps_have_the_published_extrema() -> None:
    """The general scheme with rotation from the touching position: the extrema of the published integration."""
    from klapper.analysis.sampled_motion import extrema

    one = example(1.05)
    run = one.by_regularised(one.touching, 100.0, 0.5)
    loaded = extrema(run, lambda t, q, v: one.flow.gaps(q[:, :2])[:, 0])
    other = extrema(run, lambda t, q, v: one.flow.gaps(q[:, :2])[:, 1])
    assert loaded == pytest.approx((-3.879e-4, 7.990e-4), abs=1e-7)
    assert other == pytest.approx((-1.008e-4, 3.479e-5), abs=5e-8)
    assert run.ledger.closes(1e-9)
