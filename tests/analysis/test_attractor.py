"""Sections, periods and attractors of motions that are known in closed form or in the literature."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.analysis.attractor import advancing, find_attractor
from klapper.analysis.poincare_section import PoincareSection, Stroboscope, order_of_period
from klapper.analysis.sampled_motion import Advance, Trajectory, extrema
from klapper.mechanics import Contact, Harmonic, InvalidModel, LinearSystem, State
from klapper.schemes import Moreau, PiecewiseExact
from klapper.simulation import simulate


def circle(step: float, *, acceleration: bool = True, until: float = 20.0) -> Trajectory:
    t = np.arange(0.0, until, step)
    values = (np.sin(t)[:, None], np.cos(t)[:, None])
    return Trajectory(t, *values, -values[0] if acceleration else None)


@pytest.mark.parametrize("rising", [True, False])
def test_crossings_of_a_circle_are_at_the_arcsine(rising: bool) -> None:
    found = PoincareSection.coordinate(0, 0.5, rising=rising).returns(circle(0.02))
    first = np.arcsin(0.5) if rising else np.pi - np.arcsin(0.5)
    expected = np.arange(first, 20.0, 2 * np.pi)
    assert len(found) == len(expected)
    assert found.time == pytest.approx(expected, abs=1e-9)
    assert found.position[:, 0] == pytest.approx(0.5, abs=1e-12)
    assert found.velocity[:, 0] == pytest.approx(np.cos(first), abs=1e-8)


@pytest.mark.parametrize(("acceleration", "order"), [(True, 4.0), (False, 3.0)])
def test_crossings_are_located_to_fourth_order_with_accelerations_and_to_third_without(
    acceleration: bool, order: float
) -> None:
    """Of a velocity that passes a value: of fourth order with known accelerations, of third without."""
    section = PoincareSection(lambda t, q, v: v[:, 0] - 0.3)
    first, errors = 2 * np.pi - np.arccos(0.3), []
    for step in (0.4, 0.1):
        found = section.returns(circle(step, acceleration=acceleration, until=600.0)).time
        errors.append(np.abs(found - np.arange(first, 600.0, 2 * np.pi)).max())
    assert np.log(errors[0] / errors[1]) / np.log(4.0) == pytest.approx(order, abs=0.2)


def test_a_velocity_that_turns_in_a_jump_is_a_return_with_the_state_after_it() -> None:
    """A ball that bounces at t = 1: the jump of its velocity is a return, with the state after it."""
    t = np.array([0.0, 1.0, 1.0, 2.0])
    ball = Trajectory(t, np.array([[1.0], [0.0], [0.0], [0.5]]), np.array([[-1.0], [-1.0], [0.5], [0.5]]))
    found = PoincareSection.turning(0).returns(ball)
    assert found.time.tolist() == [1.0]
    assert found.velocity.tolist() == [[0.5]]


def test_a_stroboscope_sees_the_state_once_per_period() -> None:
    found = Stroboscope(np.pi, phase=0.25 * np.pi).returns(circle(0.01))
    assert found.time == pytest.approx(np.pi * (0.25 + np.arange(len(found))), abs=1e-12)
    assert len(found) == 7
    assert np.abs(found.states) == pytest.approx(np.sqrt(0.5), abs=1e-9)


def test_extrema_are_found_between_samples() -> None:
    low, high = extrema(circle(0.1), lambda t, q, v: q[:, 0] + 2.0)
    assert (low, high) == pytest.approx((1.0, 3.0), abs=3e-7)


def logistic(rate: float, count: int = 3000) -> np.ndarray:
    points = [0.4]
    for _ in range(count):
        points.append(rate * points[-1] * (1 - points[-1]))
    return np.array(points)[:, None]


@pytest.mark.parametrize(
    ("rate", "order"), [(2.9, 1), (3.2, 2), (3.5, 4), (3.55, 8), (3.8319, 3), (3.9, None)]
)
def test_the_logistic_map_has_its_known_orders(rate: float, order: int | None) -> None:
    assert order_of_period(logistic(rate), 1.0, tolerance=1e-7) == order


def test_few_points_decide_nothing() -> None:
    assert order_of_period(np.zeros((4, 1)), 1.0) is None
    assert order_of_period(np.zeros((5, 1)), 1.0) == 1


def integrated(rate: Callable[[float, np.ndarray], np.ndarray], n: int) -> Advance:
    """Advance states (q, v) of q'' by a tight Runge-Kutta method."""

    def advance(state: State, until: float) -> Trajectory:
        t = np.linspace(state.time, until, max(int((until - state.time) / 0.02), 2))
        y = np.concatenate([state.position, state.velocity])
        answer = solve_ivp(rate, (state.time, until), y, "DOP853", t, rtol=1e-12, atol=1e-13)
        rates = np.array([rate(a, b) for a, b in zip(answer.t, answer.y.T, strict=True)])
        return Trajectory(answer.t, answer.y.T[:, :n], answer.y.T[:, n:], rates[:, n:])

    return advance


def test_the_limit_cycle_of_van_der_pol_has_its_published_period_and_amplitude() -> None:
    advance = integrated(lambda t, y: np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]]), 1)
    sentences: list[str] = []
    found = find_attractor(
        advance,
        State(0.0, np.array([0.01]), np.zeros(1)),
        section=PoincareSection.coordinate(0),
        block=30.0,
        patience=300.0,
        tolerance=1e-3,
        quantities={"x": lambda t, q, v: q[:, 0]},
        report=sentences.append,
    )
    assert (found.kind, found.order) == ("periodic", 1)
    assert found.period == pytest.approx(6.6632868593, abs=1e-9)
    assert found.extrema["x"] == pytest.approx((-2.0086198609, 2.0086198609), abs=1e-8)
    t, x = found.cycle.time, found.cycle.position[:, 0]
    assert found.multipliers.real == pytest.approx([np.exp(np.trapezoid(1 - x**2, t))], rel=1e-3, abs=1e-6)
    assert found.residual < 1e-11
    assert "Periodic: 6.6632869 s, 1 return " in str(found)
    assert len(sentences) == found.blocks


@pytest.mark.parametrize("samples", [(16, 1), (8, 3), (8, 5), (4, 3)])
def test_samples_between_the_times_of_the_stroboscope_make_no_order(samples: tuple[int, int]) -> None:
    """k samples in j periods: values between them repeat with j periods, the motion with one."""
    turn = 2 * np.pi
    system = LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=Harmonic([1.0], 1.0))
    found = find_attractor(
        advancing(system, PiecewiseExact(sample=turn * samples[1] / samples[0])),
        system.start,
        section=Stroboscope(turn),
        block=15.0 * turn,
        patience=150.0 * turn,
    )
    assert (found.kind, found.order, found.period) == ("periodic", 1, turn)


def test_a_forced_oscillator_has_the_multipliers_of_its_free_decay() -> None:
    """A linear oscillator: its multipliers are those of the free decay, its amplitude is in closed form."""
    zeta, eta = 0.1, 1.7
    advance = integrated(lambda t, y: np.array([y[1], np.cos(eta * t) - y[0] - 2 * zeta * y[1]]), 1)
    found = find_attractor(
        advance,
        State(0.0, np.zeros(1), np.zeros(1)),
        section=Stroboscope(2 * np.pi / eta),
        block=20.0,
        patience=200.0,
        tolerance=1e-2,
        quantities={"x": lambda t, q, v: q[:, 0]},
    )
    decay = np.exp((-zeta + 1j * np.sqrt(1 - zeta**2)) * 2 * np.pi / eta)
    assert np.sort_complex(found.multipliers) == pytest.approx(
        np.sort_complex([decay, decay.conj()]), abs=1e-8
    )
    amplitude = 1 / np.hypot(1 - eta**2, 2 * zeta * eta)
    assert found.extrema["x"] == pytest.approx((-amplitude, amplitude), rel=1e-7)
    assert found.period == pytest.approx(2 * np.pi / eta, rel=1e-15)


@pytest.mark.parametrize(("parameter", "order"), [(4.0, 1), (6.0, 2), (8.5, 4), (12.0, 3), (9.0, None)])
def test_roessler_doubles_its_period_until_it_does_not_settle(parameter: float, order: int | None) -> None:
    """The known cascade for a = b = 0.1; at c = 9 it is chaotic, and that is what is said."""

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.array([-y[1] - y[2], y[0] + 0.1 * y[1], 0.1 + y[2] * (y[0] - parameter)])

    def advance(state: State, until: float) -> Trajectory:
        t = np.linspace(state.time, until, int((until - state.time) / 0.02))
        answer = solve_ivp(rate, (state.time, until), state.position, "DOP853", t, rtol=1e-9, atol=1e-10)
        return Trajectory(answer.t, answer.y.T, rate(0.0, answer.y).T)

    start = np.array([1.0, 1.0, 1.0])
    found = find_attractor(
        advance,
        State(0.0, start, rate(0.0, start)),
        section=PoincareSection.coordinate(0, rising=False),
        block=300.0,
        patience=1500.0 if order else 600.0,
        tolerance=1e-4,
        polish=False,
    )
    assert (found.order or None) == order
    assert found.kind == ("not settled" if order is None else "periodic")
    assert found.settled == (order is not None)
    if order is None:
        assert "quasi-periodic, chaotic, or only slow" in str(found)


@pytest.mark.parametrize(("damping", "kind"), [(0.3, "rest"), (-0.3, "unbounded")])
def test_a_damped_motion_ends_at_rest_and_an_excited_one_is_unbounded(damping: float, kind: str) -> None:
    advance = integrated(lambda t, y: np.array([y[1], -y[0] - damping * y[1]]), 1)
    found = find_attractor(
        advance,
        State(0.0, np.ones(1), np.zeros(1)),
        section=PoincareSection.turning(0),
        block=10.0,
        patience=500.0,
    )
    assert found.kind == kind


def test_a_ball_on_a_shaken_table_settles_to_one_impact_per_period() -> None:
    """A ball on a table that shakes: with one impact per period its velocity jumps by g T. The impacts happen where the
    table moves with (1 − e)/(1 + e) g T/2, and such a motion attracts if it then slows down."""
    gravity, restitution, period, amplitude = 9.81, 0.5, 0.2, 0.013
    omega = 2 * np.pi / period
    phase = -np.arcsin((1 - restitution) / (1 + restitution) * gravity * period / 2 / (amplitude * omega))
    table = Harmonic(-amplitude, omega, phase)
    ball = LinearSystem(
        [1.0],
        force=[-gravity],
        position=[amplitude * np.cos(phase) + 1e-4],
        velocity=[1.01 * gravity * period / 2],
        contacts=[Contact("table", normal=[1.0], gap=table, restitution=restitution)],
    )
    found = find_attractor(
        advancing(ball, Moreau(1e-4)),
        ball.start,
        section=Stroboscope(period, phase=period / 2),
        block=20 * period,
        patience=60 * period,
        tolerance=1e-2,
        polish=False,
    )
    assert (found.kind, found.order) == ("periodic", 1)
    run = simulate_from(ball, found)
    jumps = np.diff(run.velocity[:, 0])
    assert jumps.max() == pytest.approx(gravity * period, rel=5e-3)


def simulate_from(system: LinearSystem, found: object) -> Trajectory:
    cycle = found.cycle  # type: ignore[attr-defined]
    begun = State(float(cycle.time[0]), cycle.position[0], cycle.velocity[0])
    advance = advancing(system, Moreau(1e-4))
    return advance(begun, begun.time + 0.2)  # type: ignore[return-value]


def test_returns_of_a_run_are_one_period_apart() -> None:
    swing = LinearSystem([1.0], stiffness=[1.0], position=[1.0])
    run = simulate(swing, 20.0, Moreau(1e-3))
    found = PoincareSection.coordinate(0).returns(run)
    assert found.time == pytest.approx(1.5 * np.pi + 2 * np.pi * np.arange(3), abs=1e-5)


def test_coordinates_that_only_drift_can_be_left_out() -> None:
    """A limit cycle beside an angle that grows for ever."""

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([y[2], y[3], (1 - y[0] ** 2) * y[2] - y[0], 0.0])

    advance = integrated(rate, 2)
    start = State(0.0, np.array([2.0, 0.0]), np.array([0.0, 3.0]))
    options = {"section": PoincareSection.coordinate(0), "block": 40.0, "patience": 80.0, "tolerance": 1e-4}
    assert find_attractor(advance, start, **options).kind == "not settled"
    found = find_attractor(advance, start, coordinates=[0], **options)
    assert found.period == pytest.approx(6.6632868593, abs=1e-8)


def test_bad_sections_and_searches_are_refused_in_one_sentence() -> None:
    swing = LinearSystem([1.0], stiffness=[1.0], damping=[0.1], force=Harmonic([1.0], 1.3))
    section = Stroboscope(2 * np.pi / 1.3)
    with pytest.raises(InvalidModel, match=r"polishing needs a scheme that ends where it is told"):
        find_attractor(
            advancing(swing, Moreau(0.01)),
            swing.start,
            section=section,
            block=50.0,
            patience=400.0,
            tolerance=0.1,
        )
    advance = integrated(lambda t, y: np.array([y[1], -y[0]]), 1)
    with pytest.raises(InvalidModel, match="not above the patience"):
        find_attractor(advance, swing.start, section=section, block=2.0, patience=1.0)
    with pytest.raises(InvalidModel, match="allowed are numbers from 0 to 0"):
        find_attractor(advance, swing.start, section=section, block=1.0, patience=1.0, coordinates=[1])
    with pytest.raises(InvalidModel, match=r"the period is -1\.0"):
        Stroboscope(-1.0)
    with pytest.raises(InvalidModel, match=r"returned the shape \(\), expected"):
        PoincareSection(lambda t, q, v: np.array(1.0)).returns(circle(0.1))
    with pytest.raises(InvalidModel, match="at least two are needed"):
        PoincareSection.coordinate(0).returns(Trajectory(np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1))))
