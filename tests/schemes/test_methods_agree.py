"""The methods against each other and against closed forms, on random and on chosen models.

Event-driven and exact integration share the decision about contacts but not the motion in between: one integrates with
error control, the other has matrix exponentials. Time stepping shares neither.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.comparison import compare
from klapper.mechanics import (
    Constant,
    Constraint,
    Contact,
    FrictionElement,
    Harmonic,
    LinearSystem,
    Ramp,
    Signal,
)
from klapper.results import Run
from klapper.schemes import SCHEMES, EventDriven, Moreau, Ordinary, PiecewiseExact
from klapper.schemes.phases import Phased
from klapper.simulation import simulate

G = 9.81
PHASED = [scheme() for scheme in SCHEMES.values() if issubclass(scheme, Phased)]
DECIDING = [scheme for scheme in PHASED if not isinstance(scheme, Ordinary)]  # of several contacts at once
NUMERICAL = 6  # column of the energies
ARRAYS = ("step", "time", "position", "velocity", "gap", "impulse", "state", "energy", "residual")
randomised = settings(max_examples=4)


def at(run: Run, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities at sampled times, after an impact there."""
    last = [np.flatnonzero(np.abs(run.time - t) <= 1e-12 * max(1.0, abs(t)))[-1] for t in times]
    return run.position[last], run.velocity[last]


def random_load(rng: np.random.Generator, n: int) -> Signal:
    load: Signal = Constant(5.0 * rng.standard_normal(n))
    for _ in range(rng.integers(0, 3)):
        load = load + Harmonic(20.0 * rng.standard_normal(n), rng.uniform(1.0, 20.0), rng.uniform(0.0, 6.0))
    return load + Ramp(np.zeros(n), rng.choice([0.0, 5.0]) * rng.standard_normal(n))


def random_matrices(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    stiffness = rng.uniform(20.0, 400.0) * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    skew = rng.standard_normal((n, n))
    skew -= skew.T
    return {
        "stiffness": stiffness,
        "damping": rng.choice([0.0, 0.005]) * stiffness,
        "gyroscopic": rng.choice([0.0, 2.0]) * skew,
        "circulatory": rng.choice([0.0, 3.0]) * skew,
    }


def random_offset(rng: np.random.Generator, begin: float) -> Signal:
    """A wall at rest, shaken, or steadily approaching from the start on."""
    speed = rng.uniform(0.0, 0.005)
    rest = Constant(rng.uniform(0.01, 0.05))
    return (
        rest,
        rest + Harmonic(0.005, rng.uniform(1.0, 15.0), np.pi / 2),
        Ramp(rest.amount + speed * begin, -speed),
    )[rng.integers(3)]


def rattling(rng: np.random.Generator) -> LinearSystem:
    """A chain with stops at walls and between masses, from elastic to plastic, and a tie that may be given twice."""
    n = int(rng.integers(1, 7))
    unit, begin = np.eye(n), float(rng.choice([0.0, -2.5, 40.0]))
    stops = []
    for i in rng.permutation(n)[: rng.integers(1, 4)]:
        free = rng.random() < 0.5 or n == 1
        normal = rng.choice([-1.0, 1.0]) * unit[i] if free else unit[(i + 1) % n] - unit[i]
        offset, restitution = random_offset(rng, begin), float(rng.choice([0.0, 0.3, 0.7, 1.0]))
        stops.append(Contact(f"stop {i}", normal=normal, gap=offset, restitution=restitution))
    held = (
        [Constraint("tie", unit[0] - unit[1]), Constraint("tie again", 2.0 * (unit[0] - unit[1]))]
        if n > 3
        else []
    )
    return LinearSystem(
        rng.uniform(0.3, 3.0, n),
        force=random_load(rng, n),
        contacts=stops,
        constraints=held[: rng.integers(0, 3)] if n > 3 else [],
        time=begin,
        **random_matrices(rng, n),
    )


def rubbing(rng: np.random.Generator) -> LinearSystem:
    """A chain with joints between masses, brakes, and belts at given or shaken speed."""
    n = int(rng.integers(1, 7))
    unit = np.eye(n)
    joints = []
    for i in rng.permutation(n)[: rng.integers(1, 4)]:
        to_ground = rng.random() < 0.6 or n == 1
        speeds = (0.0, 0.2, -0.1, Harmonic(0.1, rng.uniform(1.0, 10.0)))
        joints.append(
            FrictionElement(
                f"joint {i}",
                tangents=unit[i] if to_ground else unit[i] - unit[(i + 1) % n],
                limit=rng.uniform(0.1, 6.0),
                tangential_rate=speeds[rng.integers(4)],
            )
        )
    return LinearSystem(
        rng.uniform(0.3, 3.0, n), force=random_load(rng, n), contacts=joints, **random_matrices(rng, n)
    )


def bouncing_blocks(rng: np.random.Generator) -> LinearSystem:
    """Blocks that are pressed on a floor, lift off and come back, coupled along the floor."""
    n = int(rng.integers(1, 4))
    unit = np.eye(2 * n)
    along = np.zeros((2 * n, 2 * n))
    along[:n, :n] = rng.uniform(20.0, 200.0) * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    push = np.concatenate([10.0 * rng.standard_normal(n), rng.uniform(5.0, 15.0, n)])
    return LinearSystem(
        np.tile(rng.uniform(0.3, 3.0, n), 2),
        stiffness=along,
        force=Constant(np.repeat([0.0, -G], n))
        + Harmonic(push, rng.uniform(4.0, 15.0), rng.uniform(0.0, 6.0)),
        contacts=[
            Contact(
                f"floor {i}",
                normal=unit[n + i],
                gap=float(rng.choice([0.0, 0.02])),
                tangents=unit[i],
                friction=rng.uniform(0.0, 0.6),
                restitution=float(rng.choice([0.0, 0.5])),
                tangential_rate=float(rng.choice([0.0, 0.3])),
            )
            for i in range(n)
        ],
    )


def require_agreement(system: LinearSystem, duration: float) -> None:
    begin, parts = system.start.time, 6
    times = begin + duration / parts * np.arange(1, parts + 1)
    exact = simulate(system, begin + duration, PiecewiseExact(sample=duration / parts))
    driven = simulate(system, begin + duration, EventDriven(1e-12, sample=duration / parts))
    for one, two in zip(at(exact, times), at(driven, times), strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-9 * max(1.0, np.abs(one).max()))
    for run in (exact, driven):
        turnover = max(1.0, np.abs(run.samples.energy).max())
        assert np.abs(run.ledger.residual).max() <= 1e-12 * turnover
        assert np.abs(run.samples.energy[:, NUMERICAL]).max() <= 3e-9 * turnover
        assert np.nanmin(run.gap, initial=0.0) >= -1e-11


@pytest.mark.parametrize("family", [rattling, rubbing, bouncing_blocks])
@randomised
@given(seed=st.integers(0, 10_000))
def test_event_driven_and_exact_agree_on_random_models(family, seed):
    require_agreement(family(np.random.default_rng(seed)), 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("family", [rattling, rubbing, bouncing_blocks])
@settings(max_examples=40)
@given(seed=st.integers(0, 10_000_000))
def test_event_driven_and_exact_agree_on_many_random_models(family, seed):
    require_agreement(family(np.random.default_rng(seed)), 1.5)


def rattling_with_brake() -> LinearSystem:
    n = 4
    unit = np.eye(n)
    stiffness = 300.0 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    return LinearSystem(
        np.ones(n),
        stiffness=stiffness,
        damping=0.002 * stiffness,
        force=Harmonic([20.0, -5.0, 3.0, 9.0], 11.0),
        contacts=[
            *(Contact(f"gap {i}", normal=unit[i + 1] - unit[i], gap=0.02, restitution=0.4) for i in range(3)),
            FrictionElement("brake", tangents=unit[3], limit=2.0),
        ],
    )


@pytest.mark.parametrize("system", [rattling_with_brake(), bouncing_blocks(np.random.default_rng(3))])
def test_time_stepping_converges_to_exact_integration(system):
    """Order one, as the mean over many step sizes: the place of an impact within its step looks random."""
    end = 0.6
    goal = simulate(system, end, PiecewiseExact()).position[-1]
    counts = np.unique(np.geomspace(100, 30_000, 16).astype(int))
    errors = [np.abs(simulate(system, end, Moreau(end / k)).position[-1] - goal).max() for k in counts]
    assert np.polyfit(np.log(counts), np.log(errors), 1)[0] < -0.85
    assert errors[-1] < 1e-4


@pytest.mark.parametrize("scheme", DECIDING)
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_ctrl_c_keeps_what_there_is_and_the_rest_follows_bit_for_bit(scheme, share, tmp_path, monkeypatch):
    system, end = rattling_with_brake(), 0.8
    whole = simulate(system, end, scheme)
    steps = int(share * whole.about["steps"])
    step = type(scheme).step

    def interrupted(self, system, snapshot, until=np.inf, work=None):
        if snapshot.step == steps:
            raise KeyboardInterrupt
        return step(self, system, snapshot, until, work)

    with monkeypatch.context() as patch:
        patch.setattr(type(scheme), "step", interrupted)
        part = simulate(system, end, scheme, store=tmp_path / "run", on_interrupt="return")
    assert part.about["status"] == "interrupted"
    assert part.samples.step[-1] == steps
    resumed = simulate(system, end, scheme, store=tmp_path / "run")
    assert resumed.about["status"] == "complete"
    for name in ARRAYS:
        np.testing.assert_array_equal(
            getattr(resumed.samples, name), getattr(whole.samples, name), err_msg=name
        )


def test_a_scheme_serves_several_systems_in_turn():
    """What it keeps from one system is not used for another."""
    scheme = PiecewiseExact()
    first = simulate(rattling_with_brake(), 0.3, scheme)
    other = LinearSystem(
        np.ones(4),
        stiffness=7.0 * np.ones(4),
        position=np.ones(4),
        contacts=first_contacts(),
        velocity=np.zeros(4),
    )
    simulate(other, 0.3, scheme)
    again = simulate(rattling_with_brake(), 0.3, scheme)
    np.testing.assert_array_equal(first.position, again.position)


def first_contacts() -> list[FrictionElement]:
    return [FrictionElement(f"brake {i}", tangents=np.eye(4)[i], limit=0.5) for i in range(4)]


def test_ordinary_integration_is_event_driven_where_one_contact_acts_at_a_time():
    system = LinearSystem(
        [1.0],
        force=Harmonic([20.0], 5.0) + Constant([-G]),
        contacts=[Contact("floor", normal=[1.0])],
        position=[0.2],
    )
    runs = [simulate(system, 3.0, scheme) for scheme in (Ordinary(), *DECIDING)]
    for run in runs[1:]:
        np.testing.assert_allclose(run.position[-1], runs[0].position[-1], rtol=0, atol=1e-9)


def test_compare_sees_the_same():
    comparison = compare(
        rattling_with_brake(),
        0.5,
        [Moreau(1e-3), EventDriven(), PiecewiseExact(), Ordinary()],
        samples=40,
        refine=5,
    )
    assert comparison.reference == "exact"
    assert comparison.distance("event-driven").max() < 1e-9
    assert comparison.order("moreau") > 0.85
    assert "restitution 0.4" in comparison.refused["ordinary"]
    losses = {row["method"]: row["impact"] + row["friction"] for row in comparison.table}
    assert losses["event-driven"] == pytest.approx(losses["exact"], rel=1e-8)
    assert losses["moreau"] == pytest.approx(losses["exact"], rel=0.05)
