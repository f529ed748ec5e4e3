"""The shaken incline against numerical integration, closed forms, symmetry, printed numbers and other starts."""

from math import asin, cos, pi, sin, sqrt

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from scipy.integrate import quad

from klapper.analysis.shaken_boundaries import type_boundaries
from klapper.analysis.shaken_incline import REGULARISATIONS, history, stationary_drift
from klapper.gallery._vielsack import PERIOD, Incline, integrate, integrated_period

PULL = st.floats(-0.98, 0.98)
SHAKING = st.floats(0.0, 5.0)
EPS = st.floats(1e-3, 0.2)
LAW = st.sampled_from(REGULARISATIONS)
STEADY = settings(max_examples=60)
SLOWER = settings(max_examples=12)


@pytest.mark.parametrize(
    ("A", "B", "drift", "half_a_digit"),
    [(0.9, 0.11, 6.633450e-4, 0.5e-9), (0.05, 3.0, 0.200489, 0.5e-6), (0.1, 3.0, 0.39948, 0.5e-5)],
)
def test_the_drift_under_coulombs_law_is_as_printed(
    A: float, B: float, drift: float, half_a_digit: float
) -> None:
    assert stationary_drift(A, B).drift == pytest.approx(drift, abs=half_a_digit)


@pytest.mark.parametrize(
    ("A", "B", "eps", "percent", "half_a_digit"),
    [
        (0.9, 0.11, 0.01, (109.0, 1357.0, 5.5), (0.5, 0.5, 0.05)),
        (0.9, 0.11, 0.001, (11.0, 136.0, 0.52), (0.05, 0.5, 0.005)),
        (0.05, 3.0, 0.01, (4.7, 0.1, 0.34), (0.05, 0.05, 0.005)),
        (0.1, 3.0, 0.01, (4.7, 0.1, 0.34), (0.05, 0.05, 0.01)),
        (0.05, 3.0, 0.001, (1.5, 0.0107, 0.03), (0.05, 0.00005, 0.005)),
    ],
)
def test_the_errors_of_the_regularised_drift_are_as_printed(
    A: float, B: float, eps: float, percent: tuple[float, ...], half_a_digit: tuple[float, ...]
) -> None:
    exact = stationary_drift(A, B).drift
    found = [
        100.0 * (stationary_drift(A, B, eps, law).drift / exact - 1.0) for law in ("spring", "damper", "both")
    ]
    assert np.all(np.abs(np.array(found) - percent) <= half_a_digit)


@SLOWER
@given(A=PULL, B=SHAKING, eps=EPS, law=LAW)
def test_a_period_by_integration_has_the_same_drift(A: float, B: float, eps: float, law: str) -> None:
    motion = stationary_drift(A, B, eps, law)
    assume(motion.cycle == 1)
    begin = history(A, B, eps, law)
    other = integrated_period(Incline(A, B, eps, law), begin)
    assert other.distance / PERIOD == pytest.approx(float(motion.drift), abs=1e-10)
    assert other.velocity == pytest.approx(begin.velocity[0], abs=1e-9)


@pytest.mark.parametrize("law", REGULARISATIONS)
def test_a_long_integration_from_rest_arrives_at_the_drift(law: str) -> None:
    incline = Incline(0.45, 1.3, 0.05, law)
    periods = 20 if law == "spring" else 8  # the spring forgets its start most slowly
    reached = integrate(incline, 0.0, periods * PERIOD, 0.0)
    longer = integrate(incline, 0.0, (periods + 1) * PERIOD, 0.0)
    drift = stationary_drift(0.45, 1.3, 0.05, law).drift
    assert (longer.distance - reached.distance) / PERIOD == pytest.approx(float(drift), abs=1e-9)


@STEADY
@given(
    A=PULL,
    B=SHAKING,
    eps=EPS,
    law=st.sampled_from(["none", "spring", "damper", "arctan"]),
    velocity=st.floats(-20.0, 20.0),
    phase=st.floats(0.0, 6.28),
)
def test_the_drift_does_not_depend_on_the_start(
    A: float, B: float, eps: float, law: str, velocity: float, phase: float
) -> None:
    from_rest = stationary_drift(A, B, eps, law)
    moving = stationary_drift(A, B, eps, law, velocity=velocity, phase=phase)
    assert from_rest.cycle == moving.cycle == 1
    assert moving.drift == pytest.approx(float(from_rest.drift), abs=1e-10)


@STEADY
@given(A=PULL, B=SHAKING, eps=EPS, law=st.sampled_from(["none", "spring", "damper", "arctan"]))
def test_a_mirrored_incline_drifts_the_other_way(A: float, B: float, eps: float, law: str) -> None:
    there, back = stationary_drift(np.array([A, -A]), B, eps, law).drift
    assert there == pytest.approx(-back, abs=1e-11)


@STEADY
@given(B=SHAKING, eps=EPS, law=st.sampled_from(["none", "spring", "damper", "arctan"]))
def test_without_pull_nothing_drifts(B: float, eps: float, law: str) -> None:
    assert stationary_drift(0.0, B, eps, law).drift == pytest.approx(0.0, abs=1e-11)


@STEADY
@example(A=0.25, B=5.0, eps=0.125, law="damper")  # from one limit to the other in a moment
@example(A=0.25, B=5.0, eps=0.01, law="damper")
@example(A=0.25, B=50.0, eps=0.3, law="both")
@given(A=PULL, B=SHAKING, eps=EPS, law=LAW)
def test_the_mean_force_carries_the_pull(A: float, B: float, eps: float, law: str) -> None:
    """Momentum over the stationary period: its velocity repeats itself, so the mean of ρ is A."""
    assume(stationary_drift(A, B, eps, law).cycle == 1)
    run = history(A, B, eps, law, samples=4000)
    assert run.velocity[-1] == pytest.approx(run.velocity[0], abs=1e-12 * (1.0 + B))
    curvature = (PERIOD / 4000) ** 2 / 12.0 * (B + 20.0 / eps)
    assert np.trapezoid(run.force, run.time) / PERIOD == pytest.approx(A, abs=curvature)


@pytest.mark.parametrize(("A", "B"), [(0.0, 2.5), (0.3, 4.0), (-0.5, 3.5), (0.7, 6.0)])
def test_motion_without_pause_turns_at_the_times_of_the_closed_form(A: float, B: float) -> None:
    """Reversals at m ∓ π(1 − A)/2 with sin m = −π(1 − A²)/(2 B cos(πA/2))."""
    middle = -asin(pi * (1.0 - A * A) / (2.0 * B * cos(0.5 * pi * A)))
    turns = middle - 0.5 * pi * (1.0 - A), middle + 0.5 * pi * (1.0 - A)

    def velocity(t: float) -> float:
        start, s = (turns[0], -1) if t < turns[1] else (turns[1], 1)
        return (A - s) * (t - start) - B * (cos(t) - cos(start))

    there = quad(velocity, turns[0], turns[1], epsabs=1e-13)[0]
    back = quad(velocity, turns[1], turns[0] + PERIOD, epsabs=1e-13)[0]
    motion = stationary_drift(A, B)
    assert motion.motion_type == "VI"
    assert motion.force_jump == 2.0
    assert motion.drift == pytest.approx((there + back) / PERIOD, abs=1e-12)
    switches = np.sort(np.mod(turns, PERIOD))
    assert history(A, B).switches == pytest.approx(switches, abs=1e-12)


def test_without_shaking_damper_and_arctan_law_creep_in_closed_form() -> None:
    A = np.linspace(-0.9, 0.9, 7)
    assert stationary_drift(A, 0.0, 0.03, "damper").drift == pytest.approx(0.03 * A, abs=1e-14)
    creep = 0.03 * np.tan(0.5 * pi * A)
    assert stationary_drift(A, 0.0, 0.03, "arctan").drift == pytest.approx(creep, abs=1e-13)


def test_the_spring_shakes_down_below_its_limit() -> None:
    """A spring follows the shaking without slip where |A| + B/(1 − ε) < 1: no drift from any start."""
    assert stationary_drift(0.5, 0.44, 0.1, "spring", velocity=2.0).drift == 0.0
    run = history(0.5, 0.44, 0.1, "spring", periods=60, start=(2.0, 0.0))
    assert np.all(run.phase[run.time > 50 * PERIOD] == 0)
    assert stationary_drift(0.5, 0.46, 0.1, "spring").drift > 1e-4


@pytest.mark.parametrize("damper", [0.02, 0.05, 0.0500001, 0.1, 0.5])
def test_over_critical_and_under_damped_stick_join_smoothly(damper: float) -> None:
    """ε_d = √ε_e/2 is critical; the closed forms join smoothly there."""
    eps = 0.01
    run = history(0.5, 1.2, eps, "both", eps_damper=damper)
    stick = np.flatnonzero((run.phase[1:] == 0) & (run.phase[:-1] != 0))[0] + 1
    end = stick + int(np.argmin(run.phase[stick:] == 0)) - 1

    from scipy.integrate import solve_ivp

    solution = solve_ivp(
        lambda t, y: [y[1], 0.5 + 1.2 * sin(t) - y[0] / eps - y[1] / damper],
        (run.time[stick], run.time[end]),
        [eps * run.phase[stick - 1], 0.0],
        rtol=1e-12,
        atol=1e-14,
        method="DOP853",
    )
    assert run.velocity[end] == pytest.approx(solution.y[1, -1], abs=1e-11)
    force = solution.y[0, -1] / eps + solution.y[1, -1] / damper
    assert run.force[end] == pytest.approx(force, abs=1e-9)


def test_in_type_five_the_spring_slips_where_coulombs_law_sticks() -> None:
    exact = history(0.5, 1.6)
    order = exact.phase[np.append(0, np.flatnonzero(np.diff(exact.phase)) + 1)]
    assert stationary_drift(0.5, 1.6).motion_type == "V"
    assert order.tolist() == [0, 1, -1, 0]
    spring = history(0.5, 1.6, 0.01, "spring")
    order = spring.phase[np.append(0, np.flatnonzero(np.diff(spring.phase)) + 1)]
    assert order.tolist() == [0, 1, 0, -1, 0, 1, 0]
    begin, end = spring.switches[-2:]
    assert 0.0 < end - begin < 0.1
    assert abs(0.5 + 1.6 * sin(begin)) < 1.0  # Coulomb's law sticks there


def test_types_change_at_their_boundaries() -> None:
    A = np.linspace(0.02, 0.97, 20)
    edges = type_boundaries(A)
    for name, below, above in [
        ("rest", "I", "III"),
        ("reversal", "III", "IV"),
        ("second_pause", "IV", "V"),
        ("first_reversal", "III", "V"),
        ("no_pause", "V", "VI"),
    ]:
        there = np.isfinite(getattr(edges, name))
        B = getattr(edges, name)[there]
        assert set(stationary_drift(A[there], B * (1.0 - 1e-9)).motion_type) == {below}
        assert set(stationary_drift(A[there], B * (1.0 + 1e-9)).motion_type) == {above}
    assert type_boundaries(0.0).no_pause[0] == pytest.approx(sqrt(1.0 + pi * pi / 4.0), abs=1e-15)


@STEADY
@given(A=st.floats(-1.5, 1.5), B=SHAKING)
def test_types_follow_from_pull_and_shaking_and_drift_goes_with_the_pull(A: float, B: float) -> None:
    assume(abs(A) != 1.0)
    motion = stationary_drift(A, B)
    kind = str(motion.motion_type)
    assert (kind == "I") == (abs(A) + B <= 1.0)
    assert (kind == "II") == (abs(A) > 1.0)
    assert kind == stationary_drift(-A, B).motion_type
    if kind == "II":
        assert motion.drift == np.copysign(np.inf, A)
    elif kind == "I":
        assert motion.drift == 0.0
    elif kind in ("III", "IV", "V") and abs(A) > 1e-6:
        assert motion.drift * A > 0.0
    assert 0.0 <= motion.force_jump <= 2.0


def test_no_drift_can_be_given_on_the_verge_of_acceleration() -> None:
    assert np.isnan(stationary_drift(1.0, 0.5).drift)
    assert stationary_drift(1.0, 0.0).drift == 0.0


def test_accelerating_slip_gains_the_same_in_every_period() -> None:
    run = history(1.3, 0.7, periods=4, samples=10, start=(0.5, 1.0))
    ends = run.velocity[np.isclose(np.mod(run.time + 1.0, PERIOD), 1.0, atol=1e-9)]
    assert np.diff(ends)[np.diff(ends) > 1e-9] == pytest.approx(PERIOD * 0.3, abs=1e-12)
    with pytest.raises(ValueError, match="give a start"):
        history(1.3, 0.7)


def test_the_batch_equals_single_calls() -> None:
    generator = np.random.default_rng(5)
    A, B = generator.uniform(-1.1, 1.1, 700), generator.uniform(0.0, 4.0, 700)
    for law in REGULARISATIONS:
        many = stationary_drift(A, B, 0.02, law, threads=2)
        for k in range(0, 700, 50):
            one = stationary_drift(A[k], B[k], 0.02, law)
            assert one.drift == many.drift[k]
            assert one.motion_type == many.motion_type[k]
            assert one.periods == many.periods[k]
    assert stationary_drift(A[:6].reshape(2, 3, 1), B[:4]).drift.shape == (2, 3, 4)


def test_spring_and_damper_can_need_two_periods() -> None:
    """A period-doubled motion, confirmed by integration over both of its periods."""
    A, B, eps = 0.57, 1.4646464646464645, 0.1
    motion = stationary_drift(A, B, eps, "both")
    assert motion.cycle == 2
    other = integrated_period(Incline(A, B, eps, "both"), history(A, B, eps, "both"), 2)
    assert other.distance / (2.0 * PERIOD) == pytest.approx(float(motion.drift), abs=1e-9)
    assert other.velocity == pytest.approx(history(A, B, eps, "both").velocity[0], abs=1e-8)


def test_a_very_fast_start_is_followed_in_closed_form() -> None:
    slow, fast = stationary_drift(0.99, 0.5), stationary_drift(0.99, 0.5, velocity=1e6)
    assert fast.drift == pytest.approx(float(slow.drift), abs=1e-10)
    assert fast.periods > 1e6 / (PERIOD * 0.011)


def test_history_is_continuous_in_position_and_velocity() -> None:
    for law in REGULARISATIONS:
        run = history(0.4, 1.7, 0.02, law, periods=3)
        same = np.flatnonzero(np.diff(run.time) == 0.0)
        assert np.all(np.diff(run.time) >= 0.0)
        assert run.position[same + 1] == pytest.approx(run.position[same], abs=1e-12)
        assert run.velocity[same + 1] == pytest.approx(run.velocity[same], abs=1e-12)
        assert np.abs(run.force).max() <= 1.0 + 1e-12
        if law != "none":
            assert run.force[same + 1] == pytest.approx(run.force[same], abs=1e-10)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0.5, -1.0), {}, "amplitude of at least 0"),
        ((0.5, 1.0, 0.01, "rubber"), {}, "one of none, spring"),
        ((0.5, 1.0, 0.0, "spring"), {}, "between 0 and 1"),
        ((0.5, 1.0, 1.5, "damper"), {}, "between 0 and 1"),
        ((float("nan"), 1.0), {}, "not finite"),
        ((0.5, 1.0, 0.01, "spring"), {"eps_damper": 0.1}, "for 'both' only"),
        ((0.5, 1.0), {"most_periods": 0}, "at least 1 period"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stationary_drift(*arguments, **options)


def test_histories_and_boundaries_refuse_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="at least 1 and 2"):
        history(0.5, 1.0, periods=0)
    with pytest.raises(ValueError, match="one motion at a time"):
        history(np.zeros(2), 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0 ≤ A < 1"):
        type_boundaries(1.0)
