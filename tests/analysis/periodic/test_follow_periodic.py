"""Branches of periodic motions: folds, period doublings, grazing and its relatives against closed forms."""

import numpy as np
import pytest
from oscillators import driven_slider, impact_oscillator, single
from scipy.linalg import expm
from scipy.optimize import brentq

from klapper.analysis import bifurcation_diagram, follow_periodic, periodic_motion
from klapper.analysis.periodic import follow
from klapper.mechanics import Contact, Harmonic, LinearSystem
from klapper.mechanics.errors import InvalidModel
from klapper.progress import Silent


def family(**given):
    return lambda frequency: impact_oscillator(frequency, **given).system()


def speeds(motion):
    return [event.speed for event in motion.events if event.kind == "impact"]


@pytest.fixture(scope="module")
def down():
    """From vibration without impacts through grazing, a fold and a window of doubled period."""
    return follow_periodic(family(), 2.1, 0.9, largest=0.1)


def test_one_branch_goes_through_grazing_and_fold(down):
    kinds = [found.kind for found in down.bifurcations]
    assert kinds == ["grazing", "fold", "period doubling", "period doubling"]
    for value, motion in zip(down.parameters, down.motions, strict=True):
        found = speeds(motion)
        if found and found[0] > 1e-3:
            known = impact_oscillator(value).single_impacts
            assert min(abs(found[0] - motion.u) for motion in known) < 1e-7 * found[0]
    assert down.ended == "the parameter has reached 0.9"


def test_grazing_is_where_the_vibration_reaches_the_stop(down):
    grazing = brentq(lambda w: impact_oscillator(w).amplitude - 0.5, 1.5, 2.0, xtol=1e-14)
    (found,) = down.named("grazing")
    assert found.parameter == pytest.approx(grazing, abs=1e-9)
    assert found.contact == "stop"
    assert speeds(found.motion) == []


def test_the_fold_is_where_the_quadratic_equation_has_one_root(down):
    def apart(frequency):
        known = impact_oscillator(frequency).single_impacts
        return known[0].u - known[1].u if known else -1.0

    low, high = 1.9, 2.0  # square root: the last frequency with two solutions
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if apart(middle) > 0.0 else (low, middle)
    (found,) = down.named("fold")
    assert found.parameter == pytest.approx(low, abs=1e-9)
    assert min(np.abs(found.motion.multipliers - 1.0)) < 1e-5


def test_the_period_doubles_where_a_multiplier_is_minus_one(down):
    def at_minus_one(frequency):
        motion = single(impact_oscillator(frequency))
        return 1.0 + motion.trace + motion.determinant

    expected = [brentq(at_minus_one, *ends, xtol=1e-14) for ends in ((1.05, 1.3), (0.95, 1.05))]
    found = [point.parameter for point in down.named("period doubling")]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_doubled_branch_is_what_simulation_shows(down):
    doubled = down.switch(down.named("period doubling")[0], start=1.06, end=1.1)
    assert np.all(np.isclose([motion.period_ratio for motion in doubled.motions], 2.0))
    at = int(np.argmin(np.abs(doubled.parameters - 1.075)))
    motion = doubled.motions[at]
    assert motion.stable
    seen = bifurcation_diagram(
        family(),
        [doubled.parameters[at]],
        settle=150,
        keep=4,
        start=motion.start,
        quantity=lambda run: run.impacts().impulse[:, 0] / 1.9,
    ).seen[0]
    np.testing.assert_allclose(np.sort(seen[-2:]), np.sort(speeds(motion)), atol=1e-8)
    assert "meets the branch" not in doubled.ended


def test_doubled_branch_comes_back_to_where_it_left(down):
    doubled = down.switch(down.named("period doubling")[0], largest=0.1, most=200)
    assert "meets the branch of half its period at 1.01532" in doubled.ended
    assert {found.kind for found in doubled.bifurcations} == {"grazing", "fold", "period doubling"}


def between_stops(frequency):
    """A mass on a soft spring between two stops."""
    stops = [
        Contact(name, normal=[sign], gap=2.0, restitution=0.9)
        for name, sign in (("right", -1.0), ("left", 1.0))
    ]
    return LinearSystem(
        [1.0], stiffness=[0.2], damping=[0.02], force=Harmonic([1.0], frequency), contacts=stops
    )


def loss_of_symmetry(frequency):
    """1 − tr + det of the half period S Φ(T/2) of the symmetric motion with one impact on each side, in closed form:
    vanishes where neighbours with x(t + T/2) ≠ −x(t) are motions as well."""
    half = expm(np.array([[0.0, 1.0], [-0.2, -0.02]]) * np.pi / frequency)
    a, b = np.linalg.solve(half + np.eye(2), 0.9 * half[:, 1] - np.array([0.0, 1.0]))
    response = 1.0 / complex(0.2 - frequency**2, 0.02 * frequency)
    square, line = a**2 + (b / frequency) ** 2, -2.0 * a
    u = (-line + np.sqrt(line**2 - square * (4.0 - abs(response) ** 2))) / square
    place, speed = 2.0 - a * u, -b * u
    phase = np.arctan2(-speed / frequency, place) - np.angle(response)
    push = np.cos(phase) - 0.2 * 2.0
    jump = np.array([[-0.9, 0.0], [(push + 0.02 * 0.9 * u + 0.9 * (push - 0.02 * u)) / u, -0.9]])
    return 1.0 - np.trace(jump @ half) + np.linalg.det(jump @ half)


def test_symmetry_is_lost_at_a_branch_point_from_which_a_symmetric_branch_goes_on():
    branch = follow_periodic(between_stops, 0.8, 0.9, back=0.78, largest=0.1, most=40)
    (found,) = branch.named("branch point")
    assert found.parameter == pytest.approx(brentq(loss_of_symmetry, 0.79, 0.82, xtol=1e-14), abs=1e-7)
    symmetric = branch.switch(found, start=0.75, end=0.85, most=10)
    for motion in symmetric.motions:
        one, two = motion.events
        assert one.contact != two.contact
        assert one.speed == pytest.approx(two.speed, rel=1e-8)
        assert two.time - one.time == pytest.approx(0.5 * motion.period, rel=1e-8)


def test_multipliers_pass_the_circle_where_damping_vanishes():
    def swinging(damping):
        return LinearSystem(
            [1.0], stiffness=[1.0], damping=[damping], force=Harmonic([1.0], 2.5), contacts=[]
        )

    branch = follow_periodic(swinging, 0.2, -0.1, largest=0.2)
    (found,) = branch.named("Neimark-Sacker")
    assert abs(found.parameter) < 1e-8
    assert np.abs(found.motion.multipliers) == pytest.approx(1.0, abs=1e-8)


def test_a_slider_begins_to_rest_where_friction_holds_its_turning_point():
    # where the slider turns, spring and load must overcome friction at once, else it rests
    branch = follow_periodic(lambda limit: driven_slider(0.6, limit), 0.3, 0.7, largest=0.1)
    first = branch.bifurcations[0]
    assert first.kind == "crossing-sliding"
    assert first.contact == "ground"
    turn = first.motion.events[0].time
    passage = first.motion.passage
    i = int(np.argmin(np.abs((passage.times[:-1] - turn) % first.motion.period)))
    push = np.cos(0.6 * turn) - passage.before[i][0]
    assert abs(push) == pytest.approx(first.parameter, abs=1e-7)
    assert [event.kind for event in branch.motions[-1].events] == ["sticks", "slips"] * 2
    assert branch.motions[-1].residual < 1e-9


def test_impacts_that_do_not_feel_each_other_may_change_their_order():
    # two oscillators side by side: nothing happens to them where they hit at the same time
    one = impact_oscillator(1.5, 0.3, 0.6, 0.05)

    def pair(stiffness):
        stops = [Contact(f"stop {k + 1}", normal=-np.eye(2)[k], gap=0.3, restitution=0.6) for k in range(2)]
        return LinearSystem(
            [1.0, 1.0],
            stiffness=[1.0, stiffness],
            damping=[0.1, 0.1],
            force=Harmonic([1.0, 1.0], 1.5),
            contacts=stops,
        )

    branch = follow_periodic(pair, 0.8, 1.2, largest=0.1)
    assert branch.bifurcations == ()
    assert branch.ended == "the parameter has reached 1.2"
    order = [[event.contact for event in branch.motions[i].events] for i in (0, -1)]
    assert order[0] == order[1][::-1]
    for motion in branch.motions:
        hit = next(event.speed for event in motion.events if event.contact == "stop 1")
        assert hit == pytest.approx(single(one).u, rel=1e-9)


def test_interrupted_branches_keep_what_there_is():
    calls = 0

    def counting(frequency):
        nonlocal calls
        calls += 1
        if calls > 60:
            raise KeyboardInterrupt
        return impact_oscillator(frequency).system()

    motion = periodic_motion(impact_oscillator(1.5).system())
    branch = follow_periodic(counting, 1.5, 1.2, first=motion)
    assert "interrupted" in branch.ended
    assert len(branch) >= 2
    assert branch.multipliers.shape == (len(branch), 2)


def test_progress_counts_motions(monkeypatch):
    counts = []

    class Counting(Silent):
        def count(self, done):
            counts.append(done)

    monkeypatch.setattr(follow, "tally_for", lambda *given: Counting())
    motion = periodic_motion(impact_oscillator(1.5).system())
    branch = follow_periodic(family(), 1.5, 1.4, first=motion)
    assert counts == list(range(2, len(branch) + 1))


def test_a_branch_says_its_bifurcations_and_why_it_ends(down):
    text = str(down)
    assert "grazing of stop at 1.7317" in text
    assert "It ends because the parameter has reached 0.9." in text
    assert down.values(lambda motion: motion.period).shape == (len(down),)


def test_an_empty_range_and_a_switch_to_nowhere_are_refused(down):
    with pytest.raises(InvalidModel, match="give a range"):
        follow_periodic(family(), 1.0, 1.0)
    with pytest.raises(InvalidModel, match="no other branch begins"):
        down.switch(down.named("fold")[0])
    doubling = down.named("period doubling")[0]
    with pytest.raises(InvalidModel, match="side is 0"):
        down.switch(doubling, side=0.0)
    with pytest.raises(InvalidModel, match="'bigger' is no option"):
        down.switch(doubling, bigger=1.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"most": 1.5}, "most is 1.5"),
        ({"step": -1.0}, "step is -1"),
        ({"step": 0.2, "largest": 0.1}, "up to largest"),
        ({"tolerance": 0.0}, "tolerance is 0"),
        ({"period": 2.0}, "a function parameter → period"),
    ],
)
def test_wrong_options_are_refused(given, words):
    with pytest.raises(InvalidModel, match=words):
        follow_periodic(family(), 1.5, 1.0, **given)


def test_motions_of_other_systems_are_refused():
    with pytest.raises(InvalidModel, match="a function parameter → system"):
        follow_periodic(3.0, 1.5, 1.0)
    with pytest.raises(InvalidModel, match="that periodic_motion has found"):
        follow_periodic(family(), 1.5, 1.0, first=impact_oscillator().system())
    other = periodic_motion(driven_slider(0.6, 0.3))
    with pytest.raises(InvalidModel, match="has 2 coordinates and 1 contact, the family has 1 and 1"):
        follow_periodic(family(), 1.5, 1.0, first=other)


def chain(frequency):
    """20 masses in a row, every second one with a stop, driven at the end."""
    n = 20
    springs = 4.0 * (2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    springs[-1, -1] = 4.0
    stops = [Contact(f"stop {i}", normal=-np.eye(n)[i], gap=0.3, restitution=0.7) for i in range(1, n, 2)]
    return LinearSystem(
        np.ones(n),
        stiffness=springs,
        damping=0.4 * np.eye(n) + 0.05 * springs,
        force=Harmonic(2.0 * np.eye(n)[-1], frequency),
        contacts=stops,
    )


@pytest.mark.slow
def test_a_chain_with_ten_stops_is_followed_over_200_motions():
    motion = periodic_motion(chain(0.6), settle=12)
    branch = follow_periodic(chain, 0.6, 0.7, first=motion, step=0.004, largest=0.004, most=200)
    assert len(branch) == 200
    assert any(speeds(motion) for motion in branch.motions)
    for motion in branch.motions[::50]:
        assert motion.residual < 1e-9
    last = branch.motions[-1]
    simulated = periodic_motion(chain(branch.parameters[-1]), settle=12)
    assert last.distance(simulated.start) < 1e-8
