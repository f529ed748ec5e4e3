"""The compiled loop from event to event: the steps, samples and statistics of the general code, without its work."""

import numpy as np
import pytest
from numba import njit
from stepping_models import block, chain, linear, pendulum, ring, spatial

from klapper.complementarity import Lemke, LinearComplementarity, solve
from klapper.mechanics import Constraint, Contact, FrictionElement, Harmonic, LinearSystem
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.compiled_form import NotCompiled
from klapper.schemes import EventDriven, Ordinary, few_contacts
from klapper.schemes.base import StepFailed
from klapper.schemes.event_stretch import EventStretch
from klapper.schemes.phase_modes import PhaseMemory
from klapper.schemes.phase_step import PhaseStep
from klapper.schemes.work import Work
from klapper.simulation import simulate

G = 9.81


@pytest.fixture
def at_once(monkeypatch) -> None:
    """The loop does all steps of a run, also the first ones."""
    monkeypatch.setattr(EventStretch, "begins_after", 0)


@pytest.fixture
def steps(monkeypatch) -> list[float]:
    """Times of the steps that the general code does."""
    times, made = [], PhaseStep.__init__
    monkeypatch.setattr(PhaseStep, "__init__", lambda *a, **k: (times.append(a[3].time), made(*a, **k))[1])
    return times


def by_loop(system, scheme, until, most, at_most=10**6):
    """Last snapshot, and steps left to the general code; the loop does ``at_most`` steps in a call."""
    loop, now, work, left = scheme.stretch(system), scheme.init(system), Work(), 0
    while now.time < until - 1e-12 and now.step < most:
        now, _, why = loop.run(now, min(most - now.step, at_most), 1, until)
        if why:
            now, left = scheme.step(system, now, until, work).after, left + 1
    return now, left


def states_of(system, step):
    states = np.zeros(system.contacts.count, np.int8)
    states[step.contact] = step.state
    return states


def same_steps(system, until=0.5, most=60, tolerance=1e-10):
    """Compare every step with that of the general code from the same state; how many there were, and how many the loop
    left to it. A run of many steps in one call has the bits of one step after the other.

    Where no event ends a step, round-off in the estimate of its error decides how far it goes: both are compared at the
    time that both reach.
    """
    near, scheme, work = 10.0 * tolerance, EventDriven(tolerance), Work()
    loop, now, left = scheme.stretch(system), scheme.init(system), 0
    while now.time < until - 1e-12 and now.step < most:
        after, arrays, _ = loop.run(now, 1, 1, until)
        step = scheme.step(system, now, until, work)
        general, before = step.after, now
        now, left = general, left + (not arrays)
        if not arrays:
            continue
        np.testing.assert_array_equal(arrays["state"][0], states_of(system, step))
        one, other = (PhaseMemory.read(snapshot.memory) for snapshot in (after, general))
        assert (one.decided, one.impacts, one.stalled) == (other.decided, other.impacts, other.stalled)
        for name in ("contact", "pressed", "grip"):
            np.testing.assert_array_equal(getattr(one.modes, name), getattr(other.modes, name))
        np.testing.assert_array_equal(one.events, other.events)
        assert abs(after.time - general.time) < (near if len(one.events) else 1e3 * tolerance)
        if len(one.events) == 0 and after.time != general.time:
            same = min(after.time, general.time)
            after, general = loop.run(before, 1, 1, same)[0], scheme.step(system, before, same, work).after
        fast = max(1.0, np.abs(general.velocity).max())
        np.testing.assert_allclose(after.position, general.position, rtol=0, atol=near * fast)
        np.testing.assert_allclose(after.velocity, general.velocity, rtol=0, atol=10.0 * near * fast)
        np.testing.assert_allclose(after.sums, general.sums, rtol=near, atol=10.0 * near * fast**2)
    whole, parts = (by_loop(system, scheme, until, most, at_most)[0] for at_most in (10**6, 1))
    for name in ("step", "time", "position", "velocity", "sums", "memory", "impulse"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    return now.step, left


def test_impacts_of_a_ball_follow_their_closed_form_without_a_step_of_the_general_code(
    at_once, steps, monkeypatch
) -> None:
    problems, made = [], AccelerationProblem.__init__
    monkeypatch.setattr(AccelerationProblem, "__init__", lambda *a, **k: problems.append(1) or made(*a, **k))
    e, height = 0.9, 1.25
    floor = Contact("floor", normal=[1.0], restitution=e)
    ball = LinearSystem([1.0], force=[-G], position=[height], contacts=[floor])
    run = simulate(ball, 9.0, EventDriven())
    fall = np.sqrt(2.0 * height / G)
    hits = fall * (1.0 + 2.0 * np.cumsum(np.append(0.0, e ** np.arange(1, 40))))
    hits = hits[hits < 9.0]
    np.testing.assert_allclose(run.impacts().time, hits, rtol=0, atol=1e-11)
    assert len(hits) > 20
    assert not steps
    assert not problems
    assert run.about["audit"]["path"] == "compiled"
    assert run.about["statistics"]["compiled_steps"] == run.about["steps"]
    assert run.over_time.position.largest[0] == height
    # ∫ x dt of every flight is its duration times two thirds of its height
    flights, tops = np.diff(hits), height * e ** (2 * np.arange(1, len(hits)))
    until_last = fall * height * 2.0 / 3.0 + flights @ tops * 2.0 / 3.0
    rest = 9.0 - hits[-1]
    speed = np.sqrt(2.0 * G * tops[-1]) * e
    after = speed * rest**2 / 2.0 - G * rest**3 / 6.0
    assert run.over_time.position.mean[0] == pytest.approx((until_last + after) / 9.0, rel=1e-9)


def test_the_first_steps_of_a_run_do_not_wait_for_the_loop(steps) -> None:
    """It takes seconds to compile on a new machine, and short runs need none of it."""
    floor = Contact("floor", normal=[1.0], restitution=0.9)
    ball = LinearSystem([1.0], force=[-G], position=[1.25], contacts=[floor])
    run = simulate(ball, 1.0, EventDriven())
    assert len(steps) == run.about["steps"] < EventStretch.begins_after
    assert run.about["audit"]["path"] == "general"


def test_a_scheme_that_decides_otherwise_has_no_loop() -> None:
    """Ordinary takes closed contacts as two-sided: the loop, which it inherits, would let them go."""
    with pytest.raises(NotCompiled, match="in its own way"):
        Ordinary().stretch(LinearSystem([1.0], contacts=[Contact("floor", normal=[1.0])]))


def test_an_oscillator_with_dry_friction_stops_where_its_closed_form_does(at_once, steps) -> None:
    """x'' + 100 x = ∓2: turning points 0.15, −0.11, 0.07, −0.03, −0.01 at k π/10, where it stays."""
    pad = FrictionElement("floor", tangents=[[1.0]], limit=2.0)
    swing = LinearSystem([1.0], stiffness=[100.0], position=[0.15], contacts=[pad])
    run = simulate(swing, 3.0, EventDriven())
    turns = 0.1 * np.pi * np.arange(5)
    at = [np.abs(run.time - t).argmin() for t in turns]
    np.testing.assert_allclose(run.time[at], turns, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.position[at, 0], [0.15, -0.11, 0.07, -0.03, -0.01], rtol=0, atol=1e-10)
    assert run.position[-1, 0] == pytest.approx(-0.01, abs=1e-10)
    assert not steps


def test_samples_and_statistics_are_those_of_the_general_code(at_once, monkeypatch) -> None:
    """Masses with rough stops: samples inside the phases, their forces and energies, least, largest, mean, rms."""
    row = np.array([1.0, -0.5, 0.2])
    system = LinearSystem(
        [1.0, 2.0, 1.5],
        stiffness=np.diag([40.0, 30.0, 50.0]) - 10.0 * np.eye(3, k=1) - 10.0 * np.eye(3, k=-1),
        damping=0.2 * np.eye(3),
        force=Harmonic([60.0, -45.0, 50.0], 11.0),
        contacts=[
            Contact("rough", normal=[0.0, 1.0, 0.0], gap=0.02, tangents=[[1.0, 0.0, 0.3]], friction=0.4),
            Contact("stop", normal=-row, gap=0.05, tangents=[[0.0, 0.0, 1.0]], restitution=0.5, friction=0.1),
        ],
    )
    quick = simulate(system, 3.0, EventDriven())

    def refuse(self, system):
        raise NotCompiled("the test asks for the general code")

    monkeypatch.setattr(EventDriven, "stretch", refuse)
    general = simulate(system, 3.0, EventDriven())
    assert quick.about["statistics"]["compiled_steps"] > 0.8 * quick.about["steps"] > 15
    assert len(quick) == len(general)
    for name in ("step", "state"):
        np.testing.assert_array_equal(getattr(quick.samples, name), getattr(general.samples, name))
    for name in ("time", "position", "velocity", "gap", "impulse", "energy"):
        one, other = getattr(quick.samples, name), getattr(general.samples, name)
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-7)
    for kind in ("position", "velocity", "gap", "force", "friction"):
        one, other = getattr(quick.over_time, kind), getattr(general.over_time, kind)
        for name in ("least", "largest", "mean", "rms"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-7)


def footed(height: float, push: float) -> LinearSystem:
    """A block of 2 kg on five rough feet in line: two motions of the floor's normal, five forces."""
    places = np.array([-0.4, -0.25, 0.0, 0.1, 0.4])
    contacts = [
        Contact(f"foot {i}", normal=[0.0, 1.0, x], tangents=[[1.0, 0.0, 0.0]], friction=0.5, restitution=0.5)
        for i, x in enumerate(places)
    ]
    force = [push, -2.0 * G, 0.0]
    return LinearSystem([2.0, 2.0, 0.1], force=force, position=[0.0, height, 0.0], contacts=contacts)


def test_a_block_on_redundant_feet_hops_as_a_ball_does_without_a_step_of_the_general_code(
    at_once, steps
) -> None:
    run = simulate(footed(0.1, 0.0), 0.4, EventDriven())
    fall = np.sqrt(2.0 * 0.1 / G)
    hits = fall * (1.0 + 2.0 * np.cumsum(np.append(0.0, 0.5 ** np.arange(1, 10))))
    hits = hits[hits < 0.4]
    assert len(hits) == 4
    np.testing.assert_allclose(np.unique(run.impacts().time), hits, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.position[:, 2], 0.0, rtol=0, atol=1e-12)
    assert not steps


def test_a_block_at_rest_on_redundant_feet_says_that_its_forces_are_not_unique(at_once, steps) -> None:
    """3 N do not move 2 kg with μ = 0.5; the forces of the feet are open, their sums and their moment are not."""
    run = simulate(footed(0.0, 3.0), 0.5, EventDriven())
    np.testing.assert_allclose(run.position[-1], 0.0, rtol=0, atol=1e-12)
    assert not steps
    assert "depend on each other" in run.about["audit"]["contact forces"]
    impulse = run.impulse.sum(axis=0)
    np.testing.assert_allclose(impulse.sum(axis=0), [2.0 * G * 0.5, -3.0 * 0.5], rtol=1e-9)
    assert np.all(np.abs(impulse[:, 1]) <= 0.5 * impulse[:, 0])
    assert impulse[:, 0] @ [-0.4, -0.25, 0.0, 0.1, 0.4] == pytest.approx(0.0, abs=1e-9)


def hopping() -> LinearSystem:
    """Two balls that hop lower and lower, a hundred times in 5 s."""
    contacts = [
        Contact(f"floor {i}", normal=row, restitution=e)
        for i, (row, e) in enumerate(zip(np.eye(2), (0.99, 0.98), strict=True))
    ]
    return LinearSystem([1.0, 2.0], force=[-G, -2.0 * G], position=[0.02, 0.05], contacts=contacts)


def same_motion(one, other) -> None:
    np.testing.assert_allclose(one.impulse.sum(axis=0), other.impulse.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(one.position[-1], other.position[-1], rtol=0, atol=1e-9)
    for name in ("least", "largest", "mean", "rms"):
        a, b = getattr(one.over_time.position, name), getattr(other.over_time.position, name)
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
    assert one.ledger.closes(1e-9) and other.ledger.closes(1e-9)


@pytest.mark.parametrize("every", [None, 7], ids=["as many as there may be", "every seventh step"])
def test_thinned_samples_of_the_loop_hold_what_happened_between_them(
    every, at_once, steps, monkeypatch
) -> None:
    """Beyond the most samples they are as far apart as those of the general code, and no step is left to it."""
    if every is None:
        monkeypatch.setattr("klapper.simulation._MOST_SAMPLES", 1000)
    quick = simulate(hopping(), 5.0, EventDriven(), every=every)
    assert len(steps) <= 2  # that in which the samples become too many
    assert quick.about["statistics"]["compiled_steps"] >= quick.about["steps"] - 2 > 100

    def refuse(self, system):
        raise NotCompiled("the test asks for the general code")

    monkeypatch.setattr(EventDriven, "stretch", refuse)
    general = simulate(hopping(), 5.0, EventDriven(), every=every)
    same_motion(quick, general)
    if every is None:
        assert 1000 <= len(general) <= len(quick) <= 2100
        assert ("samples" in quick.about["audit"]) and ("samples" in general.about["audit"])
        # a step that ends just before its turn, and one without samples inside behind it
        assert np.diff(quick.time).max() <= 2.5 * 5.0 / 1000
    else:
        assert abs(len(quick) - len(general)) <= 0.05 * len(general)


@pytest.mark.parametrize("make, left_at_most", [(linear, 0.4), (pendulum, 0.2), (block, 0.2)])
def test_random_models_take_the_same_steps(make, left_at_most) -> None:
    found = [same_steps(make(np.random.default_rng(seed))) for seed in range(4)]
    assert sum(left for _, left in found) <= left_at_most * sum(steps for steps, _ in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make, until, most",
    [
        (linear, 0.5, 40),
        (pendulum, 2.0, 12),
        (block, 0.5, 40),
        (ring, 0.5, 12),
        (chain, 2.0, 24),
        (spatial, 0.5, 24),
    ],
)
def test_many_random_models_take_the_same_steps(make, until, most) -> None:
    for seed in range(4, most):
        system = make(np.random.default_rng(seed))
        try:
            EventDriven().stretch(system)
        except NotCompiled:  # shared limits that depend on the sliding speed
            continue
        try:
            same_steps(system, until)
        except StepFailed:  # by both: the general code says why
            continue


def test_a_run_that_is_cut_anywhere_ends_in_the_same_bits() -> None:
    weights = np.array([1.0, 2.0, 1.0])
    contacts = [Contact(f"{i}", normal=row, restitution=0.6) for i, row in enumerate(np.eye(3))]
    rod = Constraint("rod", direction=[1.0, -1.0, 0.0])
    system = LinearSystem(
        weights, force=-G * weights, position=[0.3, 0.3, 0.5], contacts=contacts[1:], constraints=[rod]
    )
    whole, left = by_loop(system, EventDriven(), 1.0, 40)
    parts, _ = by_loop(system, EventDriven(), 1.0, 40, at_most=3)
    assert left <= 4
    for name in ("time", "position", "velocity", "sums", "memory", "impulse"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_compiled_answers_of_few_contacts_are_the_only_ones() -> None:
    """Two rough contacts by the combinations in Python, eight smooth ones by Lemke's method."""
    from klapper.schemes.kernels.event_contacts import solve_few as compiled

    @njit  # the kernel itself has no door for Python
    def solve_few(matrix, offset, m, d, friction, limit, x):
        return compiled(matrix, offset, m, d, friction, limit, x)

    random, given = np.random.default_rng(3), [0, 0]
    for _ in range(200):
        root, offset = random.normal(size=(4, 6)), random.normal(size=4)
        matrix, friction = root @ root.T, np.diag(random.uniform(0.0, 0.9, 2))
        limit = random.uniform(0.0, 0.5, 2) * (random.random(2) < 0.5)
        x = np.zeros(4)
        expected = few_contacts.solve_few(matrix, offset, 2, friction, limit)
        assert solve_few(matrix, offset, 2, 1, friction, limit, x) == (expected is not None)
        if expected is not None:
            given[0] += 1
            np.testing.assert_allclose(x, expected, rtol=0, atol=1e-10 * np.abs(expected).max(initial=1.0))
        root, offset, x = random.normal(size=(8, 10)), random.normal(size=8), np.zeros(8)
        matrix = root @ root.T
        if solve_few(matrix, offset, 8, 0, np.zeros((0, 8)), np.zeros(0), x):
            given[1] += 1
            expected = solve(LinearComplementarity(matrix, offset), Lemke()).x
            np.testing.assert_allclose(x, expected, rtol=0, atol=1e-8 * np.abs(expected).max(initial=1.0))
    assert min(given) > 150
