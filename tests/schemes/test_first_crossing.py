"""First crossings against functions whose zeros are known in closed form."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from klapper.schemes.first_crossing import first_crossing

ONE = np.array([1e-12])
quiet = settings(max_examples=60)


def columns(*functions):
    return lambda times: np.column_stack([function(times) for function in functions])


def trigonometric(roots, frequency):
    """∏ sin(ω (t − r_i)/2), a trigonometric polynomial that vanishes exactly at r_i + 2π k/ω."""
    return lambda t: np.prod([np.sin(0.5 * frequency * (t - r)) for r in roots], axis=0)


@quiet
@given(
    st.lists(st.floats(0.05, 0.95), min_size=1, max_size=6, unique_by=lambda r: round(r, 3)),
    st.floats(0.5, 2.0),
    st.integers(1, 3),
)
def test_a_trigonometric_polynomial_crosses_at_its_first_falling_root(roots, frequency, pieces):
    roots = np.sort(roots)
    sign = 1.0 if len(roots) % 2 == 0 else -1.0  # positive before the first root
    polynomial = trigonometric(roots, frequency)
    found = first_crossing(
        columns(lambda t: sign * polynomial(t)), 0.0, 1.0, np.array([1e-14]), pieces=pieces
    )
    apart = roots[1] - roots[0] if len(roots) > 1 else 1.0
    depth = np.max(-sign * polynomial(np.linspace(roots[0], roots[0] + min(apart, 1.0 - roots[0]), 99)))
    if depth < 1e-12:  # too shallow to tell from zero
        return
    assert found is not None
    slope = np.abs(polynomial(roots[0] + 1e-7) - polynomial(roots[0] - 1e-7)) / 2e-7
    assert abs(found.time - roots[0]) <= 4e-16 * (1.0 + 1.0 / slope)


@quiet
@given(st.floats(0.01, 0.98), st.floats(-1.0, 1.0), st.floats(1.0, 30.0))
def test_two_crossings_a_millionth_apart_are_not_missed(root, phase, frequency):
    def touch(t):  # below zero for 1e-6 s only
        return (t - root) * (t - root - 1e-6) * (1.5 + np.sin(frequency * t + phase))

    found = first_crossing(columns(touch), 0.0, 1.0, np.array([1e-14]))
    assert found is not None
    assert found.time == pytest.approx(root, abs=2e-9)  # round-off 1e-16 of the square over the slope 1e-6


@pytest.mark.parametrize(
    ("depth", "event"), [(-1.0, False), (0.0, False), (0.5, False), (2.0, True), (1e3, True)]
)
@quiet
@given(place=st.floats(0.05, 3.9), bend=st.floats(0.1, 1e3))
@example(place=0.25, bend=997.0)  # round-off of the largest value is as large as the noise
@example(place=3.4737843147190772, bend=702.625)
def test_only_a_touch_deeper_than_the_noise_is_an_event(depth, event, place, bend):
    noise = 1e-11
    found = first_crossing(
        columns(lambda t: bend * (t - place) ** 2 - depth * noise), 0.0, 4.0, np.array([noise])
    )
    assert (found is not None) is event
    if found is not None:
        assert found.time == pytest.approx(
            place - np.sqrt(depth * noise / bend), abs=1e-3 * np.sqrt(noise / bend)
        )


@pytest.mark.parametrize("power", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("offset", [0.0, 1e-16, -1e-16, -4e-13])
def test_what_starts_at_zero_and_rises_is_no_event_before_it_falls(power, offset):
    rising = columns(lambda t: np.expm1(t) ** power + offset)
    assert first_crossing(rising, 0.0, 1.0, ONE) is None
    later = first_crossing(columns(lambda t: t**power * np.cos(t) + offset), 0.0, 2.0, ONE)
    assert later is not None
    assert later.time == pytest.approx(np.pi / 2, abs=1e-12 + 2 * abs(offset))


@pytest.mark.parametrize("power", [1, 2, 3])
def test_what_starts_at_zero_and_falls_is_an_event_at_the_start(power):
    found = first_crossing(columns(lambda t: -((t - 2.0) ** power)), 2.0, 3.0, ONE)
    assert found is not None
    assert found.time == 2.0


def test_below_zero_from_the_start_is_an_event_at_the_start():
    found = first_crossing(columns(lambda t: np.cos(t) - 2.0, np.cos), 0.0, 3.0, np.full(2, 1e-12))
    assert found is not None
    assert found.time == 0.0
    assert found.which.tolist() == [0]


def test_events_at_the_same_time_are_told_together():
    functions = columns(
        lambda t: 1.0 - t,
        lambda t: np.sin(7.0 * (1.0 - t)),
        lambda t: 1.5 - t,
        lambda t: 1.0 + 2e-15 - t,
        lambda t: (1.0 - t) ** 3,
        lambda t: (1.0 - t) ** 2,
    )
    found = first_crossing(functions, 0.7, 1.4, np.full(6, 1e-12))
    assert found is not None
    assert found.time == pytest.approx(1.0, abs=3e-16)
    assert found.which.tolist() == [0, 1, 3, 4]


def test_what_touches_now_and_falls_later_is_not_among_them():
    functions = columns(lambda t: 1.0 - t, lambda t: (t - 1.0) ** 2 * (1.3 - t))
    found = first_crossing(functions, 0.0, 2.0, np.full(2, 1e-12))
    assert found is not None
    assert found.which.tolist() == [0]


@quiet
@given(st.integers(0, 2**32 - 1))
def test_the_first_of_many_functions_is_found(seed):
    random = np.random.default_rng(seed)
    count = 40
    roots, slope = random.uniform(0.1, 3.0, count), random.uniform(0.1, 10.0, count)

    def functions(t):
        return slope * (roots - t[:, None]) * (1.1 + np.sin(np.outer(t, 3.0 + np.arange(count))))

    found = first_crossing(functions, 0.0, 3.2, np.full(count, 1e-12))
    assert found is not None
    assert found.time == pytest.approx(roots.min(), abs=1e-14)
    assert found.which.tolist() == [int(np.argmin(roots))]


@pytest.mark.parametrize("frequency", [3e2, 3e3, 3e4])
def test_a_dip_among_thousands_of_oscillations_is_found(frequency):
    dip, depth = 0.6180339, 1e-9

    def narrow(t):  # of thousands of minima only the one at dip is below zero
        return 2.0 * np.sin(0.5 * frequency * (t - dip)) ** 2 + (t - dip) ** 2 - depth

    found = first_crossing(columns(narrow), 0.0, 1.0, np.array([1e-11]))
    assert found is not None
    half = np.sqrt(depth / (0.5 * frequency**2 + 1.0))
    assert found.time == pytest.approx(dip - half, abs=1e-6 * half)


@quiet
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 0.8))
def test_round_off_of_the_functions_does_no_harm(seed, root):
    """Values with an error of 1e-13 although the noise claims 1e-14: no endless search, no false early event."""
    random = np.random.default_rng(seed)

    def rough(t):
        return np.column_stack([np.sin(root - t) + 1e-13 * random.standard_normal(len(t))])

    found = first_crossing(rough, 0.0, 1.0, np.array([1e-14]))
    assert found is not None
    assert found.time == pytest.approx(root, abs=2e-12)
    assert found.evaluations < 5000


def test_late_times_are_resolved_as_far_as_the_clock_goes():
    late = 1e6
    found = first_crossing(columns(lambda t: np.cos(t - late)), late, late + 3.0, ONE)
    assert found is not None
    assert found.time == pytest.approx(late + np.pi / 2, rel=3e-16)


def test_a_stretch_of_many_oscillations_costs_forty_evaluations_each():
    counted = [0]

    def swing(t):
        counted[0] += len(t)
        return (np.cos(t) + 1.0 + 1e-6)[:, None]

    assert first_crossing(swing, 0.0, 2000.0 * np.pi, ONE, pieces=2000) is None
    assert counted[0] <= 40 * 1000


def test_an_empty_watch_or_interval_has_no_crossing():
    assert first_crossing(lambda t: np.zeros((len(t), 0)), 0.0, 1.0, np.zeros(0)) is None
    assert first_crossing(columns(np.cos), 1.0, 1.0, ONE) is None
    at_once = first_crossing(columns(np.sin), 4.0, 4.0, ONE)
    assert at_once is not None
    assert at_once.time == 4.0


def test_a_level_just_at_the_noise_costs_little():
    found = first_crossing(columns(lambda t: -1e-12 * (1.0 + 1e-7 * np.sin(40.0 * t))), 0.0, 1.0, ONE)
    assert found is None or found.evaluations < 5000


def test_values_beyond_all_numbers_are_said_if_no_event_comes_before():
    def grows(t):
        return (2.0 - t) * np.exp(1e3 * t)

    with np.errstate(over="ignore"):
        found = first_crossing(columns(lambda t: (0.5 - t) * np.exp(1e3 * t)), 0.0, 1.0, ONE)
        assert found is not None
        assert found.time == pytest.approx(0.5, abs=1e-15)
        with pytest.raises(ValueError, match="not finite"):
            first_crossing(columns(grows), 0.0, 1.0, ONE)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="noise"):
        first_crossing(columns(np.cos), 0.0, 1.0, np.array([0.0]))
    with pytest.raises(ValueError, match="empty"):
        first_crossing(columns(np.cos), 1.0, 0.0, ONE)


def test_a_constant_is_settled_at_once_however_small_the_noise_is():
    """Round-off of a value that does not vary does not shrink when intervals are halved."""
    found = first_crossing(columns(lambda t: 0.5 + 1e-16 * np.sin(1e5 * t)), 9.4, 20.0, np.array([4e-24]))
    assert found is None
    below = first_crossing(columns(lambda t: -0.5 + 0.0 * t), 9.4, 20.0, np.array([1e-16]))
    assert below is not None
    assert below.time == 9.4
    assert below.evaluations < 1000


@pytest.mark.parametrize("noise", [1e-5, 1e-7])
def test_noise_of_a_function_above_what_counts_as_zero_does_not_end_in_halving_without_end(noise):
    """Forces with curvatures by differences of differences are no smoother, however short the interval is."""

    def rough(t):
        if len(counted) > 2000:
            raise AssertionError("halved without end")
        counted.append(len(t))
        return noise * np.sin(1e12 * t)

    counted: list[int] = []
    start, length = 0.3535, 2e-4
    away = columns(lambda t: 5.68 + 3.0 * np.sin(t) + rough(t))
    assert first_crossing(away, start, start + length, np.array([1e-8])) is None
    assert len(counted) < 100
    counted.clear()
    slope = 40.0 * noise / length
    falls = first_crossing(
        columns(lambda t: slope * (start + 0.7 * length - t) + rough(t)),
        start,
        start + length,
        np.array([1e-8]),
    )
    assert falls is not None
    assert falls.time == pytest.approx(start + 0.7 * length, abs=2.0 * noise / slope)
    counted.clear()
    rests = columns(lambda t: 1e-3 + 1e3 * (t - start - 0.4 * length) ** 2 + rough(t))
    assert first_crossing(rests, start, start + length, np.array([1e-8])) is None
