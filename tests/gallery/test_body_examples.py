"""The mechanisms and toys: numbers known independently, other parameters, refused ones."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.gallery import find
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError
from klapper.report.figures import draw

SHORT: dict[str, dict[str, Any]] = {
    "slider-crank": {"step": 1e-4, "refinements": 2, "until": 0.01},
    "woodpecker": {"step": 2e-5, "until": 0.5},
    "double-hinged-pendulum": {"step": 0.02, "until": 0.4},
    "tippe-top": {"step": 4e-5, "until": 0.5},
}
OTHER_PARAMETERS: list[tuple[str, dict[str, Any]]] = [
    ("slider-crank", {"slider_angle": 0.005, "until": 0.03}),
    ("slider-crank", {"speed": -100.0, "friction": 0.3, "restitution": 0.0}),
    ("slider-crank", {"speed": 0.0, "until": 0.1, "step": 5e-4}),
    ("slider-crank", {"guide": 0.06, "rod_length": 0.2, "gravity": 0.0}),
    ("slider-crank", {"masses": (1.0, 0.01, 0.5), "refinements": 3}),
    ("slider-crank", {"until": 1e-5}),
    ("woodpecker", {"friction": 0.0}),
    ("woodpecker", {"friction": 2.0, "until": 1.0}),
    ("woodpecker", {"restitution": 0.0}),
    ("woodpecker", {"restitution": 1.0, "stiffness": 0.05, "until": 1.0}),
    ("woodpecker", {"start": (0.05, 0.0, 0.0), "gravity": 1.6}),
    ("woodpecker", {"step": 1e-3, "until": 2.0}),
    ("woodpecker", {"until": 1e-5}),
    ("double-hinged-pendulum", {"lean_deg": 90.0, "amplitude_deg": 170.0}),
    ("double-hinged-pendulum", {"amplitude_deg": 1.0, "separation": 0.01}),
    ("double-hinged-pendulum", {"mass": 1e-3, "width": 0.02, "height": 0.05, "step": 2e-3, "until": 0.1}),
    ("tippe-top", {"friction": 0.0}),
    ("tippe-top", {"friction": 2.0, "tilt": 1.5, "spin": 60.0}),
    ("tippe-top", {"spin": 0.0}),
    ("tippe-top", {"tilt": 0.0}),
    ("tippe-top", {"inertias": (3e-6, 3e-6), "offset": 0.015}),
    ("tippe-top", {"tilt": 2.9, "spin": -300.0, "inertias": (1e-6, 2e-6)}),
    ("tippe-top", {"spin": 200.0, "tilt": 0.2, "until": 6.0}),
    ("tippe-top", {"until": 1e-4}),
]


def run(name: str, **given: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


@pytest.mark.parametrize(("name", "given"), OTHER_PARAMETERS)
def test_checks_hold_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    run(name, **{**SHORT[name], **given})


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("slider-crank", {"slider_angle": 0.005, "speed": -50.0}),
        ("woodpecker", {"friction": 0.0, "until": 0.1}),
        ("double-hinged-pendulum", {"lean_deg": 90.0, "until": 0.1}),
        ("tippe-top", {"spin": 0.0, "until": 0.02}),
    ],
)
def test_figures_can_be_drawn_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    assert all(picture.png for picture in draw(run(name, **{**SHORT[name], **given}).figures))


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("slider-crank", {"rod_length": 0.1}, "rod_length must be above crank_length"),
        ("slider-crank", {"guide": 0.05}, "guide must be above 0.05 m"),
        ("slider-crank", {"slider_angle": 0.1}, "guide must be above"),
        ("slider-crank", {"step": 0.01}, "turns the crank by"),
        ("woodpecker", {"sleeve_radius": 0.0025}, "sleeve_radius must be above pole_radius"),
        ("woodpecker", {"start": (0.13, 0.0, 0.0)}, "beak is in the pole"),
        ("double-hinged-pendulum", {"step": 0.2}, "step must be at most 0.08 s"),
        ("tippe-top", {"offset": 0.02}, "offset must be below radius"),
        ("tippe-top", {"inertias": (1e-6, 3e-6)}, "at most 2 I₁"),
        ("tippe-top", {"step": 1e-3}, "step must be at most 0.000417 s"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        find(name).run(**given)


def test_the_slider_crank_agrees_with_an_event_driven_integration() -> None:
    """Without friction and with ε = 1 impacts never pile up: two angles between impacts, a jump at each.

    Time stepping sees an impact up to a step late, which costs up to the step times the jump of the speed, then
    and, since the next ones come at other times, at each of them.
    """
    crank, rod, play, end, step = 0.153, 0.306, 0.001, 0.04, 2.5e-5
    outcome = run("slider-crank", restitution=1.0, friction=0.0, step=step, refinements=2, until=end)
    angle, place, jumps = _event_driven(crank, rod, play, end)
    assert len(jumps) == 4
    late = step * len(jumps) * np.abs(jumps).sum()
    assert outcome.numbers["crank_angle"] == pytest.approx(angle, abs=late)
    assert outcome.numbers["slider_x"] == pytest.approx(place, abs=late * 1.5 * crank)
    assert late <= 1e-3


def _event_driven(crank: float, rod: float, play: float, end: float) -> tuple[float, float, list[float]]:
    """Angle of the crank, place of the slider and jumps of the crank's speed, for a slider that does not tilt."""
    m1 = m2 = 0.038
    m3, j1, j2, g = 0.076, 7.4e-5, 5.9e-4, 9.81

    def mass(y: np.ndarray) -> np.ndarray:
        mixed = (m2 / 2 + m3) * crank * rod * np.cos(y[1] - y[0])
        return np.array([[j1 + (m1 / 4 + m2 + m3) * crank**2, mixed], [mixed, j2 + (m2 / 4 + m3) * rod**2]])

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        pull = (m2 / 2 + m3) * crank * rod * np.sin(y[1] - y[0])
        force = [
            pull * y[3] ** 2 - (m1 / 2 + m2 + m3) * g * crank * np.cos(y[0]),
            -pull * y[2] ** 2 - (m2 / 2 + m3) * g * rod * np.cos(y[1]),
        ]
        return np.concatenate([y[2:], np.linalg.solve(mass(y), force)])

    def gap(t: float, y: np.ndarray) -> float:
        return play - abs(crank * np.sin(y[0]) + rod * np.sin(y[1]))

    gap.terminal, gap.direction = True, -1.0  # type: ignore[attr-defined]
    t, y = 0.0, np.array([0.0, 0.0, 150.0, -75.0])
    jumps: list[float] = []
    while True:
        piece = solve_ivp(rate, (t, end), y, max_step=1e-4, events=gap, rtol=1e-10, atol=1e-12)
        t, y = float(piece.t[-1]), piece.y[:, -1]
        if not len(piece.t_events[0]):
            return float(y[0]), float(crank * np.cos(y[0]) + rod * np.cos(y[1])), jumps
        normal = np.array([crank * np.cos(y[0]), rod * np.cos(y[1])])
        push = np.linalg.solve(mass(y), normal)
        jump = -2.0 * push * (normal @ y[2:]) / (normal @ push)
        y[2:] += jump
        jumps.append(float(jump[0]))


def test_slider_crank_is_of_second_order_until_the_first_impact() -> None:
    outcome = run("slider-crank", refinements=3, until=0.004)
    assert np.all(np.abs(outcome.numbers["free_order"] - 2.0) <= 0.1)


def test_slider_crank_loses_little_energy_but_in_contacts() -> None:
    """Numerical loss falls at least with the square of the step."""
    outcome = run("slider-crank", step=1e-4, refinements=2, until=0.02)
    coarse, fine = np.abs(outcome.numbers["table_numerical_loss"])
    assert fine <= max(coarse / 3.0, 1e-9)
    assert fine <= 1e-3 * 7.4955


def test_jammed_woodpecker_swings_at_its_natural_frequency() -> None:
    """The sleeve sticks on its lower edge; the bird on its spring has ω² = c/(J_S + m_S l_G²)."""
    hanging = -0.0006 / 0.0058 - 0.0045 * 9.81 * 0.015 / 0.0056
    outcome = run("woodpecker", start=(hanging + 0.02, 0.0, 0.0), friction=1.0, until=1.0)
    exact = 2.0 * np.pi * np.sqrt((7.0e-7 + 0.0045 * 0.015**2) / 0.0056)
    assert outcome.numbers["period"] == pytest.approx(exact, rel=1e-5)
    assert outcome.numbers["descent"] == 0.0
    assert outcome.numbers["share_of_time_jammed"] == 1.0


@pytest.mark.parametrize(("start", "swings"), [((-0.27, -7.4, -0.33), 1), ((-0.4, 0.0, 0.0), 2)])
def test_woodpecker_has_two_limit_cycles(start: tuple[float, float, float], swings: int) -> None:
    """Near the published one a start leads to it; one from rest to a cycle of two swings."""
    fine, coarse = (run("woodpecker", start=start, step=step, until=3.0) for step in (1e-5, 2e-5))
    assert fine.numbers["swings_per_period"] == coarse.numbers["swings_per_period"] == swings
    assert fine.numbers["beak_impacts_per_period"] == pytest.approx(swings)
    assert fine.numbers["period"] == pytest.approx(coarse.numbers["period"], rel=0.01)
    published = np.abs(fine.numbers["speeds_at_section"] / -0.3411 - 1.0) <= 0.01
    assert np.all(published) if swings == 1 else not np.any(published)


def test_small_swings_of_the_door_have_the_period_of_a_linear_pendulum() -> None:
    outcome = run("double-hinged-pendulum", amplitude_deg=0.1, lean_deg=90.0, step=0.01, until=1.3)
    inertia = (0.8**2 + 0.04**2) / 12.0 + 0.4**2
    exact = 2.0 * np.pi * np.sqrt(inertia / (9.81 * 0.4))
    assert outcome.numbers["period_closed_form"] == pytest.approx(exact, rel=1e-6)
    assert outcome.numbers["period"] == pytest.approx(exact, rel=5e-4)  # (ω₀ h)²/12 of a midpoint step


def test_hinges_open_with_the_square_of_the_step_and_are_named_in_the_audit() -> None:
    given = {"lean_deg": 90.0, "until": 0.4}
    coarse = run("double-hinged-pendulum", step=0.01, **given)
    fine = run("double-hinged-pendulum", step=0.005, **given)
    ratio = coarse.numbers["largest_opening"] / fine.numbers["largest_opening"]
    assert ratio == pytest.approx(4.0, rel=0.1)
    findings = fine.audit["findings"]
    assert "rank 5" in findings["constraint forces"]
    assert findings["forces at the end"].startswith("not unique: 5 free combinations among upper hinge x")


def test_the_tippe_top_tends_to_an_integration_of_the_sliding_top() -> None:
    """As long as the top slides, friction is −μ N v/|v| and the motion an ordinary differential equation."""
    end = 0.2
    exact = _sliding_top(tilt=0.3, spin=120.0, end=end)
    errors = []
    for step in (8e-5, 4e-5, 2e-5):
        outcome = run("tippe-top", step=step, until=end)
        errors.append(abs(outcome.numbers["final_inclination_deg"] - np.degrees(exact)))
    assert errors[0] <= 0.1
    assert errors[2] <= 0.3 * errors[0]  # first order


def _sliding_top(tilt: float, spin: float, end: float) -> float:
    """Final inclination [rad] of the shipped top, from Newton's and Euler's equations with the sphere on the table."""
    m, radius, a, mu, g = 0.02, 0.02, 0.006, 0.05, 9.81
    inertia = np.array([2.9942857e-6, 2.9942857e-6, 3.2e-6])

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        rotation, v, spun = y[:9].reshape(3, 3), y[9:12], y[12:]
        spin_world, axis = rotation @ spun, rotation[:, 2]
        arm = a * axis - [0.0, 0.0, radius]
        slip = (v + np.cross(spin_world, arm))[:2]
        along = np.append(-mu * slip / np.linalg.norm(slip), 1.0)  # force per normal force
        free = -np.cross(spun, inertia * spun) / inertia
        pushed = rotation.T @ np.cross(arm, along) / inertia
        turning = np.cross(rotation @ free, axis) + np.cross(spin_world, np.cross(spin_world, axis))
        lifted = a * np.cross(rotation @ pushed, axis)[2]
        normal = (g - a * turning[2]) / (1.0 / m + lifted)
        skew = np.array([[0.0, -spun[2], spun[1]], [spun[2], 0.0, -spun[0]], [-spun[1], spun[0], 0.0]])
        push = normal / m * along - [0.0, 0.0, g]
        return np.concatenate([(rotation @ skew).ravel(), push, free + normal * pushed])

    turned = np.array(
        [[1.0, 0.0, 0.0], [0.0, np.cos(tilt), -np.sin(tilt)], [0.0, np.sin(tilt), np.cos(tilt)]]
    )
    start = np.concatenate([turned.ravel(), np.zeros(5), [spin]])
    motion = solve_ivp(rate, (0.0, end), start, method="DOP853", rtol=1e-9, atol=1e-10)
    return float(np.arccos(motion.y[8, -1]))


def test_a_sphere_of_equal_moments_keeps_jelletts_invariant_far_better() -> None:
    """With I₁ = I₃ there are no gyroscopic forces that could see the contact too late."""
    outcome = run("tippe-top", inertias=(3e-6, 3e-6), until=2.0, step=4e-5)
    assert outcome.numbers["jellett_change"] <= 1e-6


def test_a_top_on_a_rough_table_rolls_and_does_not_invert() -> None:
    outcome = run("tippe-top", friction=0.3, until=2.0, step=4e-5)
    assert outcome.numbers["share_of_time_rolling"] >= 0.9
    assert outcome.numbers["largest_inclination_deg"] <= 17.3
