"""Beams that rattle: rocking, quasi-static reduction, modes of a delaminated beam, the forced delaminated beam.

References that are neither closed forms nor another method are those of independent small programs, to their printed
digits: Hermite and cubic Timoshenko elements, non-negative least squares in every step.
"""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.gallery import find
from klapper.gallery._beam_on_stop import BeamOnStop, RigidRocking, Rock
from klapper.gallery._forced_delamination import Shaken
from klapper.gallery.delaminated_modes import intact
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError
from klapper.gallery.rocking_beam import SHIPPED, Integrator, scheme_of
from klapper.mechanics import Contact, LinearSystem, State
from klapper.structures.delaminated_beam import DelaminatedBeam

SHAKEN_BEAM = DelaminatedBeam(1.0, 0.6, 0.01, 0.02, 0.0075, 210e9, 7500.0)


def ran(name: str, **given: Any) -> Outcome:
    outcome = find(name).run(**given)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]
    return outcome


def rigid_by_integration(rigid: RigidRocking) -> list[float]:
    """Touch of B, height of A, next touch: by integrating the turn about each pivot, and momentum about the new one."""

    def turn(side: int, angle: float, speed: float) -> tuple[float, float, float]:
        d = rigid.pivots[side]

        def rate(t: float, y: np.ndarray) -> list[float]:
            return [y[1], -rigid.gravity * d / (rigid.gyration + d**2) - rigid.damping * y[1]]

        def down(t: float, y: np.ndarray) -> float:
            return float(y[0]) if t > 1e-6 else 1.0

        down.terminal = True  # type: ignore[attr-defined]
        done = solve_ivp(
            rate, (0.0, 10.0), [angle, speed], rtol=1e-12, atol=1e-14, events=down, max_step=1e-2
        )
        return float(done.t[-1]), float(done.y[0].max()), float(done.y[1, -1])

    touch, _, speed = turn(0, rigid.tilt, 0.0)
    d, e = rigid.pivots
    speed = -speed * (rigid.gyration - d * e) / (rigid.gyration + e**2)
    swing, _, _ = turn(1, 0.0, speed)
    pull = rigid.gravity * e / (rigid.gyration + e**2)
    rise = solve_ivp(
        lambda t, y: [y[1], -pull - rigid.damping * y[1]],
        (0.0, 10.0),
        [0.0, speed],
        rtol=1e-12,
        atol=1e-14,
        events=_stopped,
    )
    return [touch, float(rise.y_events[0][0][0]) * (d + e), touch + swing]


def _stopped(t: float, y: np.ndarray) -> float:
    return float(y[1])


_stopped.terminal = True  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "rigid",
    [
        RigidRocking((0.1, 0.1), 1 / 12, 0.05, 9.81, 0.01),
        RigidRocking((0.1, 0.1), 1 / 12, 0.05, 9.81, 0.0),
        RigidRocking((0.05, 0.2), 0.1, 0.02, 9.81, 3.0),
    ],
)
def test_the_closed_form_of_the_rigid_beam_is_that_of_an_integration(rigid: RigidRocking) -> None:
    expected = rigid_by_integration(rigid)
    assert [rigid.touch, rigid.first_height, rigid.next_touch] == pytest.approx(expected, rel=1e-8)


def test_rigid_beam_without_damping_has_the_printed_heights() -> None:
    rigid = RigidRocking((0.1, 0.1), 1 / 12, 0.05, 9.81, 0.0)
    heights = [height for _, height in rigid.swings(4)]
    assert heights == pytest.approx([0.01, 6.1735e-3, 3.8112e-3, 2.3528e-3, 1.4525e-3], abs=5e-8)
    assert rigid.touch == pytest.approx(0.0975, abs=1e-4)


def test_wide_stop_lets_no_rigid_beam_rock() -> None:
    """k² < d d': both points stay down after the impact."""
    assert RigidRocking((0.45, 0.45), 1 / 12, 0.05, 9.81, 0.0).first_height == 0.0
    outcome = ran("rocking-beam", modes=2, a=0.05, b=0.95, until=0.3, step=1e-4)
    assert abs(outcome.numbers["first_max_A"]) < 1e-5


@pytest.mark.parametrize(("modes", "first"), [(3, 6.95e-3), (6, 7.22e-3), (15, 7.37e-3)])
def test_the_first_maximum_rises_with_the_number_of_modes_as_published(modes: int, first: float) -> None:
    outcome = ran("rocking-beam", modes=modes, until=0.26)
    assert outcome.numbers["first_max_A"] == pytest.approx(first, abs=5e-6)
    assert outcome.numbers["min_gap"] > -4.5e-6
    frequencies = [0.0, 0.0, 27.194, 74.948, 146.89, 242.74]
    assert outcome.numbers["frequencies"][: min(modes, 6)] == pytest.approx(frequencies[:modes], rel=1e-4)


def test_the_other_reading_of_the_section_has_four_times_the_frequencies() -> None:
    outcome = ran("rocking-beam", modes=6, section="20mm", until=0.26, step=5e-5)
    assert outcome.numbers["frequencies"] == pytest.approx(
        [0.0, 0.0, 108.63, 298.62, 583.09, 958.84], rel=1e-4
    )


def rocked(modes: int, contacts: int, integrator: Integrator) -> Rock:
    """The shipped beam over its first rock."""
    scheme = scheme_of(integrator, 1e-3, 0.25)
    return Rock.of(SHIPPED, SHIPPED.reduced("modal", modes, contacts), SHIPPED.rigid.next_touch, scheme)


def test_two_modes_rock_like_a_rigid_beam() -> None:
    """By the exact method; its check compares with the event-driven one."""
    outcome = ran("rocking-beam", modes=2, contacts=2, integrator="exact", until=0.26, step=1e-3)
    touch, first, _ = rigid_by_integration(SHIPPED.rigid)
    assert outcome.numbers["touch_time_B"] == pytest.approx(touch, rel=1e-8)
    assert outcome.numbers["first_max_A"] == pytest.approx(first, rel=1e-7)


def test_ordinary_integrator_does_not_let_three_modes_rock() -> None:
    outcome = ran("rocking-beam", modes=3, contacts=2, integrator="ordinary", until=0.26, step=1e-3)
    assert outcome.numbers["first_max_A"] < 1e-8
    assert outcome.numbers["located_first_max_A"] == pytest.approx(6.96e-3, rel=3e-3)
    assert rocked(6, 2, "ordinary").first[1] == pytest.approx(7.26e-3, rel=3e-3)


def test_redundant_contacts_change_no_motion() -> None:
    """25 contacts on three modes: the motion of the two that carry."""
    many, two = rocked(3, 25, "exact"), rocked(3, 2, "exact")
    assert many.touch == pytest.approx(two.touch, rel=1e-10)
    assert many.first == pytest.approx(two.first, rel=1e-9)


def test_attachment_shapes_come_near_many_modes() -> None:
    outcome = ran("rocking-beam", modes=6, reduction="attachment", until=0.26)
    assert outcome.numbers["first_max_A"] == pytest.approx(7.37e-3, rel=0.01)
    assert outcome.numbers["lost_flexibility"] < 1e-8


def test_massless_boundary_rocks_like_quasi_static_reduction() -> None:
    """Both let all but the kept modes follow statically; they differ in the mass of the boundary only."""
    given: dict[str, Any] = {"modes": 4, "step": 2e-4, "until": 0.26, "contacts": 5}
    first = [
        ran("rocking-beam", reduction=r, **given).numbers["first_max_A"]
        for r in ("massless-boundary", "quasi-static")
    ]
    assert first[0] == pytest.approx(first[1], rel=0.01)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reduction": "quasi-static", "integrator": "exact"}, "integrator must be moreau with theta=1"),
        ({"reduction": "quasi-static", "theta": 0.5}, "integrator must be moreau with theta=1"),
        ({"until": 0.1}, "until must be at least 0.25"),
        ({"step": 0.01}, "step must be at most"),
        ({"a": 0.55}, "the stop must have the middle of the beam"),
        ({"reduction": "quasi-static", "modes": 1000}, "modes cannot be 1000 with reduction quasi-static"),
        ({"modes": 1}, "modes must be a whole number at least 2"),
    ],
)
def test_impossible_parameters_of_the_rocking_beam_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find("rocking-beam").run(**given)


def test_the_quasi_static_beam_has_the_distances_of_an_independent_program() -> None:
    """Distances of an independent program: 0.089 and 0.17 mm for 4 modes quasi-static and 6 modal, at 1e-4 s."""
    outcome = ran("quasi-static-beam", modes=(4,), modal=(6,), steps=(1e-4,))
    assert outcome.numbers["distances_quasi_static"][0, 0] == pytest.approx(0.089e-3, rel=0.05)
    assert outcome.numbers["distances_modal"][0, 0] == pytest.approx(0.17e-3, rel=0.05)
    assert outcome.numbers["min_gap"] > -1e-12


@pytest.mark.slow
def test_quasi_static_beam_depends_on_the_step() -> None:
    outcome = ran("quasi-static-beam", modes=(3, 4, 6), modal=(3, 6), steps=(2e-5, 1e-4, 4e-4))
    expected = [[1.13e-3, 0.89e-3, 0.385e-3], [0.24e-3, 0.089e-3, 0.278e-3], [0.28e-3, 0.045e-3, 0.35e-3]]
    np.testing.assert_allclose(outcome.numbers["distances_quasi_static"], expected, rtol=0.12)
    np.testing.assert_allclose(
        outcome.numbers["distances_modal"][:, 1:], [[0.40e-3, 0.525e-3], [0.17e-3, 0.367e-3]], rtol=0.1
    )
    heights = np.array(outcome.numbers["first_max_A"])
    assert np.all(np.diff(heights, axis=1) < 0.0)  # longer steps lose more


def test_quasi_static_beam_refuses_long_steps() -> None:
    with pytest.raises(ParameterError, match="steps must be at most"):
        find("quasi-static-beam").run(steps=(0.1,))


TABLE = {
    (0.005, 0.1): (23.994, 95.052, 215.88, 370.06, 598.43, 803.20, 1165.4, 1391.1, 1899.6, 2163.4, 2646.2),
    (0.005, 0.2): (23.991, 89.442, 213.90, 318.39, 563.24, 679.91, 714.62, 1010.1, 1328.1, 1638.9, 1874.2),
    (0.005, 0.4): (23.900, 68.506, 169.98, 178.78, 284.78, 434.57, 468.55, 634.2, 903.6, 918.5, 1127.4),
    (0.005, 0.6): (23.342, 54.446, 75.545, 134.75, 208.24, 252.91, 408.02, 408.24, 565.3, 674.9, 758.3),
    (0.0075, 0.6): (22.814, 43.082, 67.472, 113.64, 166.93, 215.83, 320.98, 344.74, 500.91, 527.62, 675.81),
    (0.0075, 0.1): (23.994, 95.579, 215.85, 377.91, 597.52, 836.59, 1145.2, 1463.2, 1463.4, 1981.2, 2258.5),
}


@pytest.mark.parametrize(("place", "expected"), TABLE.items())
@pytest.mark.parametrize("method", ["semi-analytical", "fe"])
def test_the_delaminated_beam_has_the_published_frequencies_by_both_methods(
    place: tuple[float, float], expected: tuple[float, ...], method: str
) -> None:
    outcome = ran("delaminated-modes", h=place[0], L2=place[1], method=method)
    assert outcome.numbers["frequencies"] == pytest.approx(expected, rel=3e-4)
    assert outcome.numbers["largest_difference"] < 5e-4


@pytest.mark.parametrize(("length", "first"), [(0.1, 18.98), (0.2, 16.30), (0.4, 13.60), (0.6, 12.46)])
def test_without_coupling_the_first_frequency_is_the_published_one(length: float, first: float) -> None:
    outcome = ran("delaminated-modes", L2=length, coupling=False, count=2)
    assert outcome.numbers["frequencies"][0] == pytest.approx(first, abs=0.005)
    coupled = ran("delaminated-modes", L2=length, count=2)
    assert coupled.numbers["first_without_coupling"] == pytest.approx(first, abs=0.005)
    assert coupled.numbers["drop_of_first"] < 0.03


def test_short_delamination_has_the_frequencies_of_the_intact_beam() -> None:
    outcome = ran("delaminated-modes", L2=0.002, count=8)
    assert outcome.numbers["frequencies"] == pytest.approx(intact(SHAKEN_BEAM, 8), rel=1e-4)


def test_a_delamination_too_short_for_finite_elements_is_left_to_functions() -> None:
    """Functions still do it, and say that nothing was compared; elements are refused, and so are lost mode shapes."""
    outcome = ran("delaminated-modes", L2=1e-4, count=6)
    assert outcome.numbers["frequencies"] == pytest.approx(intact(SHAKEN_BEAM, 6), rel=1e-6)
    assert len(outcome.numbers["other_method"]) == 0
    assert outcome.audit["compared with"] == "the number of roots by counting"
    with pytest.raises(
        ParameterError, match=r"L2 cannot be 0.0001 m with method fe: .* use method 'semi-analytical'"
    ):
        find("delaminated-modes").run(L2=1e-4, method="fe")
    with pytest.raises(ParameterError, match="L2 cannot be 1e-06 m with method semi-analytical: segment 2"):
        find("delaminated-modes").run(L2=1e-6)


def test_frequencies_are_the_same_upside_down() -> None:
    one, other = (ran("delaminated-modes", L2=0.5, h=h).numbers["frequencies"] for h in (0.003, 0.007))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_delamination_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="L2 and h must fit into the beam"):
        find("delaminated-modes").run(L2=1.2)


def test_forced_delamination_settles_to_one_period() -> None:
    """B35: period one, largest gap 2.66 mm ± 3 %; ten modes are practically converged, eight are not."""
    outcome = ran("forced-delamination", modes=(8, 10, 11))
    numbers = outcome.numbers
    assert numbers["period_ratio"] == 1.0
    assert numbers["scatter"] < 1e-3
    assert numbers["max_gap"] == pytest.approx(2.66e-3, rel=0.03)
    assert numbers["tip_displacement"] == pytest.approx(2.233e-3, rel=0.01)
    assert numbers["tip_velocity"] == pytest.approx(0.3295, rel=0.03)
    eight, ten, _ = numbers["gap_differences"]
    assert ten < 0.01 < eight < 0.06


def test_the_forced_delamination_opens_as_in_the_independent_program() -> None:
    """39 points and steps of about 0.05 ms: 2.662 and 2.661 mm with 8 and 11 modes, 2.233 mm, 0.329 m/s."""
    numbers = ran("forced-delamination", modes=(8, 11), contacts=39, steps=900).numbers
    assert numbers["period_ratio"] == 1.0
    assert numbers["max_gaps"] == pytest.approx([2.662e-3, 2.661e-3], rel=0.01)
    assert numbers["tip_displacement"] == pytest.approx(2.233e-3, rel=0.01)
    assert numbers["tip_velocity"] == pytest.approx(0.3295, rel=0.03)
    assert numbers["gap_differences"][0] < 0.03


def test_steps_of_the_forced_delamination_are_short_enough() -> None:
    """Half of them change the largest gap by less than 0.1 %; the independent program's would change it by more."""
    shaken = Shaken(SHAKEN_BEAM, 11, 7, 0.5, 0.0, 10.0, 22.8, 3600, 400)
    gaps = [replace(shaken, steps=n).max_gap for n in (900, 1800, 3600)]
    assert abs(gaps[1] / gaps[2] - 1) < 1e-3
    assert abs(gaps[0] / gaps[2] - 1) > 0.01


@pytest.mark.slow
def test_located_impacts_give_the_forced_delamination_the_same_gap() -> None:
    """From the settled motion on, event by event: the same largest gap, and back after one period."""
    from klapper.schemes.piecewise_exact import PiecewiseExact
    from klapper.simulation import simulate

    shaken = Shaken(SHAKEN_BEAM, 11, 7, 0.5, 0.0, 10.0, 22.8, 3600, 400)
    record = shaken.record
    shut = record.gap.min(axis=1)
    start = int(np.argmax(shut[: 2 * shaken.steps]))
    system = copy.copy(shaken.system)
    system.start = State(float(record.time[start]), record.position[start], record.velocity[start])
    run = simulate(system, system.start.time + shaken.period, PiecewiseExact(sample=shaken.period / 400))
    gap = run.position @ shaken.middle
    assert gap.max() == pytest.approx(shaken.max_gap, rel=2e-3)
    assert abs(gap[-1] - gap[0]) < 2e-3 * gap.max()
    assert run.gap.min() > -1e-9


def test_twice_the_force_moves_the_forced_delamination_twice_as_far() -> None:
    """Contact without friction knows no scale: twice the force, twice the motion."""
    given: dict[str, Any] = {"modes": (6,), "contacts": 9, "steps": 300}
    one, two = (ran("forced-delamination", force=f, **given).numbers for f in (10.0, 20.0))
    assert two["max_gap"] == pytest.approx(2 * one["max_gap"], rel=1e-9)
    assert two["tip_velocity"] == pytest.approx(2 * one["tip_velocity"], rel=1e-9)


def test_shaken_beam_without_contact_has_the_frequency_response() -> None:
    """Without contacts, the steady state of the same coordinates in closed form."""
    shaken = Shaken(SHAKEN_BEAM, 6, 1, 0.5, 1e-4, 10.0, 15.0, 400, 400)
    system, ω = shaken.system, 2 * np.pi * 15.0
    matrix = system.stiffness - ω**2 * system.mass_matrix + 1j * ω * system.damping
    row = shaken.model.row(1, 0.5, 1)
    amplitude = abs(shaken.middle @ np.linalg.solve(matrix, 10.0 * row.astype(complex)))
    free = LinearSystem(
        system.mass_matrix,
        stiffness=system.stiffness,
        damping=system.damping,
        force=system.load,
        contacts=[Contact("far", normal=shaken.middle, gap=1.0)],
    )
    object.__setattr__(shaken, "system", free)
    long = shaken.advance(free.start, 600 * shaken.period)
    gap = long.position[-400:] @ shaken.middle
    assert 0.5 * np.ptp(gap) == pytest.approx(amplitude, rel=1e-3)


def test_stop_must_lie_under_the_middle() -> None:
    with pytest.raises(ParameterError, match="between them and end within its length"):
        BeamOnStop(1.0, 210e9, 81e9, 7500.0, "printed", 1.2, 0.4, 1.6, 0.01, 0.01, 1e-4, 9.81)
