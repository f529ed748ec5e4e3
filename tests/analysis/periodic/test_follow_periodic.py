"""Branches of periodic motions: folds, period doublings, grazing and its relatives against closed forms."""

import numpy as np
import pytest
from oscillators import driven_slider, impact_oscillator, single
from scipy.optimize import brentq

from klapper.analysis import bifurcation_diagram, follow_periodic, periodic_motion
from klapper.mechanics import Contact, Harmonic, LinearSystem
from klapper.mechanics.errors import InvalidModel


def family(**given):
    return lambda frequency: impact_oscillator(frequency, **given).system()


def speeds(motion):
    return [event.speed for event in motion.events if event.kind == "impact"]


@pytest.fixture(scope="module")
def down():
    """From vibration without impacts through grazing, a fold and a window of doubled period."""
    return follow_periodic(family(), None, 2.1, 0.9, largest=0.1)


def test_one_branch_through_grazing_and_fold(down):
    kinds = [found.kind for found in down.bifurcations]
    assert kinds == ["grazing", "fold", "period doubling", "period doubling"]
    for value, motion in zip(down.parameters, down.motions, strict=True):
        found = speeds(motion)
        if found and found[0] > 1e-3:
            known = impact_oscillator(value).single_impacts
            assert min(abs(found[0] - motion.u) for motion in known) < 1e-7 * found[0]
    assert down.ended == "the parameter has reached 0.9"


def test_grazing_where_the_vibration_reaches_the_stop(down):
    grazing = brentq(lambda w: impact_oscillator(w).amplitude - 0.5, 1.5, 2.0, xtol=1e-14)
    (found,) = down.named("grazing")
    assert found.parameter == pytest.approx(grazing, abs=1e-9)
    assert found.contact == "stop"
    assert speeds(found.motion) == []


def test_fold_where_the_quadratic_equation_has_one_root(down):
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


def test_period_doublings_where_a_multiplier_is_minus_one(down):
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


def test_multipliers_pass_the_circle_where_damping_vanishes():
    def swinging(damping):
        return LinearSystem(
            [1.0], stiffness=[1.0], damping=[damping], force=Harmonic([1.0], 2.5), contacts=[]
        )

    branch = follow_periodic(swinging, None, 0.2, -0.1, largest=0.2)
    (found,) = branch.named("Neimark-Sacker")
    assert abs(found.parameter) < 1e-8
    assert np.abs(found.motion.multipliers) == pytest.approx(1.0, abs=1e-8)


def test_slider_that_begins_to_rest():
    # where the slider turns, spring and load must overcome friction at once, else it rests
    branch = follow_periodic(lambda limit: driven_slider(0.6, limit), None, 0.3, 0.7, largest=0.1)
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

    branch = follow_periodic(pair, None, 0.8, 1.2, largest=0.1)
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
    branch = follow_periodic(counting, motion, 1.5, 1.2)
    assert "interrupted" in branch.ended
    assert len(branch) >= 2
    assert branch.multipliers.shape == (len(branch), 2)


def test_what_is_said(down):
    text = str(down)
    assert "grazing of stop at 1.7317" in text
    assert "It ends because the parameter has reached 0.9." in text
    assert down.values(lambda motion: motion.period).shape == (len(down),)


def test_bad_arguments_are_refused(down):
    with pytest.raises(InvalidModel, match="give a range"):
        follow_periodic(family(), None, 1.0, 1.0)
    with pytest.raises(InvalidModel, match="no other branch begins"):
        down.switch(down.named("fold")[0])
