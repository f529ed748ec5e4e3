"""The examples with a motion: closed forms, orders of convergence, other parameters, refused ones."""

from collections.abc import Callable
from dataclasses import replace
from math import acosh, sqrt
from typing import Any

import numpy as np
import pytest

import klapper.mechanics
from klapper.gallery import find
from klapper.gallery._impacting_bar import Bar
from klapper.gallery._rocking_block import Block
from klapper.gallery._run import ledger_check, run_audit, run_figures, scheme_named
from klapper.gallery.bouncing_ball import Ball
from klapper.gallery.example import Outcome
from klapper.gallery.newtons_cradle import Cradle
from klapper.gallery.parameter import ParameterError
from klapper.mechanics import Contact, LinearSystem
from klapper.mechanics.impact import Poisson
from klapper.report.figures import draw
from klapper.results import Run
from klapper.simulation import simulate

OTHER_PARAMETERS: list[tuple[str, dict[str, Any]]] = [
    ("bouncing-ball", {"restitution": 0.0}),
    ("bouncing-ball", {"restitution": 1.0, "until": 20.0}),
    ("bouncing-ball", {"restitution": 0.999, "until": 20.0}),
    ("bouncing-ball", {"until": 0.2}),
    ("bouncing-ball", {"until": 0.4520}),
    ("bouncing-ball", {"height": 1e-6, "step": 0.01, "restitution": 0.5}),
    ("bouncing-ball", {"height": 5.0, "step": 0.3, "until": 30.0, "restitution": 0.7}),
    ("bouncing-ball", {"height": 300.0, "gravity": 1.62, "until": 100.0, "step": 0.01}),
    ("incline", {"mu": 0.3, "step": 1e-4}),
    ("incline", {"mu": 0.0, "angle_deg": 0.0, "step": 0.01}),
    ("incline", {"mu": 0.0, "angle_deg": 89.9, "step": 0.01}),
    ("incline", {"mu": 1e6, "angle_deg": 89.9, "step": 0.01}),
    ("incline", {"mu": float(np.tan(np.radians(30.0))), "angle_deg": 30.0, "step": 0.01}),
    ("incline", {"mu": float(np.tan(np.radians(1.0))) * (1 - 1e-13), "angle_deg": 1.0, "step": 0.01}),
    ("incline", {"mu": 0.2, "step": 20.0}),
    ("impacting-bar", {"theta": 1.0}),
    ("impacting-bar", {"elements": 2}),
    ("impacting-bar", {"elements": 20, "step": 1.9e-5}),
    ("impacting-bar", {"elements": 40, "step": 1e-7, "mass_matrix": "lumped"}),
    ("impacting-bar", {"elements": 300, "mass_matrix": "mixed", "theta": 0.6}),
    (
        "impacting-bar",
        {"length": 30.0, "young": 1e7, "density": 1000.0, "area": 2.0, "speed": 5.0, "step": 2e-3},
    ),
    ("newtons-cradle", {"law": "newton"}),
    ("newtons-cradle", {"law": "newton", "lifted": 3, "restitution": 0.7}),
    ("newtons-cradle", {"law": "poisson", "lifted": 2, "until": 0.6}),
    ("newtons-cradle", {"law": "sequential", "balls": 7, "lifted": 3, "restitution": 0.8, "until": 0.6}),
    ("newtons-cradle", {"law": "newton", "spacing": 1e-3, "restitution": 0.9}),
    ("newtons-cradle", {"law": "newton", "balls": 2, "restitution": 0.0}),
    ("newtons-cradle", {"law": "newton", "spacing": 1e-5}),
    ("newtons-cradle", {"law": "newton", "until": 0.1}),
    ("rocking-block", {"mu": 0.1}),
    ("rocking-block", {"mu": 0.0, "until": 0.6}),
    ("rocking-block", {"width": 1.0, "mu": 2.0}),
    ("rocking-block", {"width": 2.0, "mu": 3.0}),
    ("rocking-block", {"tilt": 0.99, "until": 4.0, "gravity": 3.7}),
    ("rocking-block", {"tilt": 0.05, "mass": 1e-3}),
    ("rocking-block", {"until": 0.1}),
]


def run(name: str, **given: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


@pytest.mark.parametrize(("name", "given"), OTHER_PARAMETERS)
def test_checks_hold_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    outcome = run(name, **given)
    find(name).record(given, outcome)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("bouncing-ball", {"until": 0.2}),
        ("incline", {"mu": 0.1, "angle_deg": 60.0, "step": 0.01}),
        ("impacting-bar", {"elements": 2}),
        ("newtons-cradle", {"law": "newton", "until": 0.1}),
        ("rocking-block", {"until": 0.1}),
    ],
)
def test_figures_can_be_drawn_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    assert all(picture.caption for picture in draw(run(name, **given).figures))


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("bouncing-ball", {"restitution": 1.1}, "restitution must be a number at least 0 and at most 1"),
        ("bouncing-ball", {"scheme": "euler"}, "scheme must be one of moreau"),
        ("incline", {"angle_deg": 90.0}, "angle_deg must be a number at least 0 and below 90"),
        ("impacting-bar", {"step": 1e-3}, "step must be at most 1.927e-05 s"),
        ("newtons-cradle", {"lifted": 5}, "lifted must be less than the number of balls 5"),
        ("newtons-cradle", {"spacing": 0.01}, "spacing must be at most 0.005236 m"),
        ("newtons-cradle", {"step": 0.1}, "step must be at most 0.006183 s"),
        ("rocking-block", {"step": 0.1}, "step must be at most"),
        ("rocking-block", {"tilt": 1.0}, "tilt must be a number above 0 and below 1"),
    ],
)
def test_impossible_parameters_are_refused(name: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find(name).run(**given)


@pytest.mark.parametrize(
    ("name", "given", "part", "check"),
    [
        ("bouncing-ball", {}, "force", "impact times"),
        ("bouncing-ball", {"restitution": 0.0}, "force", "impact times"),
        ("bouncing-ball", {"restitution": 1.0, "until": 10.0}, "force", "final height"),
        ("incline", {"mu": 0.3, "step": 0.01}, "force", "displacement"),
        ("impacting-bar", {}, "stiffness", "contact duration"),
        ("impacting-bar", {}, "velocity", "mean force"),
        ("newtons-cradle", {"law": "newton"}, "stiffness", "first impact time"),
    ],
)
def test_checks_notice_a_wrong_model(
    monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, Any], part: str, check: str
) -> None:
    def wrong(*args: Any, **keywords: Any) -> LinearSystem:
        return LinearSystem(*args, **{**keywords, part: 1.1 * np.asarray(keywords[part], dtype=object)[()]})

    monkeypatch.setattr(klapper.mechanics, "LinearSystem", wrong)
    outcome = find(name).run(**given)
    assert check in [each.name for each in outcome.checks if not each.passed]


class TestBouncingBall:
    def test_rests_after_the_accumulation_point(self) -> None:
        outcome = run("bouncing-ball", restitution=0.5, until=3.0)
        fall = sqrt(2 / 9.81)
        assert outcome.numbers["rest_time"] == pytest.approx(3 * fall, rel=1e-12)
        assert outcome.numbers["final_speed"] == 0.0
        assert abs(outcome.numbers["final_height"]) < 1e-4

    def test_elastic_ball_keeps_its_energy(self) -> None:
        outcome = run("bouncing-ball", restitution=1.0, until=20.0)
        assert abs(outcome.numbers["energy_lost"]) < 1e-9
        assert outcome.numbers["rest_time"] == np.inf

    def test_impact_times_converge_with_the_step(self) -> None:
        exact = sqrt(2 / 9.81) * (1 + 2 * (0.8 + 0.64 + 0.512))
        errors = [
            abs(run("bouncing-ball", step=step).numbers["first_impact_times"][3] - exact)
            for step in (1e-2, 1e-4)
        ]
        assert errors[1] < errors[0] / 20

    def test_the_ball_rises_to_the_heights_of_the_closed_form(self) -> None:
        ball = Ball(2.0, 0.5, 10.0)
        fall = sqrt(0.4)
        apex = fall + 0.5 * fall
        heights = ball.heights(np.array([0.0, fall, apex, 2 * fall, 3 * fall, 10.0]))
        assert heights == pytest.approx([2.0, 0.0, 0.5, 0.0, 0.0, 0.0], abs=1e-9)


class TestIncline:
    def test_does_not_creep_in_a_million_steps(self) -> None:
        outcome = run("incline")
        assert outcome.numbers["steps"] == 1_000_000
        assert outcome.numbers["displacement"] == 0.0
        assert outcome.numbers["largest_displacement"] == 0.0
        assert outcome.numbers["speed"] == 0.0
        assert outcome.audit["findings"]["path"] == "compiled"

    def test_slides_by_the_closed_form(self) -> None:
        outcome = run("incline", angle_deg=45.0, mu=0.5, until=2.0, step=1e-3, gravity=10.0)
        assert outcome.numbers["displacement"] == pytest.approx(10.0 / sqrt(2), rel=1e-12)
        assert outcome.numbers["friction_used"] == pytest.approx(1.0, rel=1e-12)

    @pytest.mark.parametrize("angle", [5.0, 20.0, 30.0, 45.0, 60.0, 80.0])
    def test_sticks_at_the_friction_angle(self, angle: float) -> None:
        outcome = run("incline", angle_deg=angle, mu=float(np.tan(np.radians(angle))), step=1e-2)
        assert outcome.numbers["displacement"] == 0.0


class TestImpactingBar:
    @pytest.mark.parametrize(
        ("mass_matrix", "coupled"), [("lumped", 0.0), ("consistent", 1 / 6), ("mixed", 1 / 12)]
    )
    def test_an_end_node_stops_at_once(self, mass_matrix: str, coupled: float) -> None:
        """With short steps an end node of the mass S = a − b²/(S + a) feels the blow, in units of an element with own
        masses a and coupling b: what is left of the mass matrix when all other nodes are eliminated."""
        own = 1 / 2 - coupled
        share = sqrt(own**2 - coupled**2)
        outcome = run("impacting-bar", elements=40, step=2e-8, mass_matrix=mass_matrix)
        assert (1 - outcome.numbers["energy_ratio"]) * 40 == pytest.approx(share, rel=0.01)
        element = 7800.0 * 1e-4 * 1.0 / 40
        assert outcome.numbers["impact_impulse"] == pytest.approx(share * element, rel=0.01)

    def test_converges_with_the_mesh(self) -> None:
        numbers = [run("impacting-bar", elements=n, step=5e-5 / n).numbers for n in (50, 400)]
        losses = [1 - each["energy_ratio"] for each in numbers]
        assert losses[0] / losses[1] == pytest.approx(8.0, rel=0.05)  # first order
        late = [abs(each["duration_ratio"] - 1) for each in numbers]
        assert late[0] / late[1] == pytest.approx(8 ** (2 / 3), rel=0.3)  # width of an Airy front

    @pytest.mark.parametrize("mass_matrix", ["consistent", "lumped", "mixed"])
    def test_a_massless_boundary_cures_the_spike(self, mass_matrix: str) -> None:
        """A mass m of the node and the waves behind it resist an implicit step like √(m² + (ρ c A h)²); so the first
        force is √(s² + 1) exact ones if m v/h are s of them. Without the mass only the overshoot of a front is left."""
        numbers = run("impacting-bar", mass_matrix=mass_matrix).numbers
        assert numbers["spike_ratios"] == pytest.approx([sqrt(17.0), sqrt(257.0)], rel=1e-6)
        assert max(numbers["massless_peak_ratios"]) < 1.35
        assert np.ptp(numbers["massless_peak_ratios"]) < 0.05

    def test_shipped_numbers_are_good(self) -> None:
        numbers = run("impacting-bar").numbers
        assert numbers["duration_ratio"] == pytest.approx(1.0, abs=0.01)
        assert numbers["mean_force_ratio"] == pytest.approx(1.0, abs=0.01)
        assert numbers["energy_ratio"] == pytest.approx(1.0, abs=0.01)
        assert 1.0 < numbers["peak_force_ratio"] < 2.0

    def test_exact_solution_satisfies_the_wave_equation(self) -> None:
        bar = Bar(2.0, 1.0, 4.0, 1.0, 3.0, 64)
        times = np.linspace(0.0, 3 * bar.crossing, 193)
        u = bar.displacements(times)
        assert u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1] == pytest.approx(
            u[1:-1, 2:] - 2 * u[1:-1, 1:-1] + u[1:-1, :-2], abs=1e-12
        )
        assert u[:129, 0] == pytest.approx(0.0, abs=1e-12)
        assert np.diff(u[-32:], axis=0) == pytest.approx(bar.speed * (times[1] - times[0]), rel=1e-9)


class TestNewtonsCradle:
    @pytest.mark.parametrize(
        ("law", "expected"),
        [
            ("newton", [-0.6, 0.4, 0.4, 0.4, 0.4]),
            ("poisson", [-0.6, 0.4, 0.4, 0.4, 0.4]),
            ("sequential", [0.0, 0.0, 0.0, 0.0, 1.0]),
        ],
    )
    def test_each_law_sends_the_row_off_with_its_velocities(self, law: str, expected: list[float]) -> None:
        outcome = run("newtons-cradle", law=law, until=0.3)
        assert outcome.numbers["velocities"] == pytest.approx(expected, abs=2e-4)
        assert outcome.numbers["momentum_ratio"] == pytest.approx(1.0, abs=2e-4)
        assert outcome.numbers["energy_ratio_impact"] == pytest.approx(1.0, abs=1e-9)

    def test_gaps_make_a_cradle_of_any_law(self) -> None:
        """After half a swing of the last ball all others are nearly at rest, though Newton's law is used."""
        outcome = run("newtons-cradle", law="newton", spacing=5e-4, step=1e-4, until=0.3)
        check = next(check for check in outcome.checks if check.name.startswith("speed of the last ball"))
        assert check.value == pytest.approx(outcome.numbers["impact_speed"], rel=5e-3)

    @pytest.mark.parametrize("lifted", [1, 2, 4])
    @pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
    def test_pairs_by_hand_keep_momentum_and_lose_what_they_must(
        self, lifted: int, restitution: float
    ) -> None:
        cradle = Cradle(6, lifted, "sequential", restitution, 0.0, 10.0, 0.15, 0.05, 9.81)
        after = cradle.passed_on()
        assert after.sum() == pytest.approx(lifted)
        assert np.all(np.diff(after) > -1e-9)
        if restitution == 1.0:
            assert after == pytest.approx(1.0 * (np.arange(6) >= 6 - lifted))
        else:
            assert after @ after < lifted


class TestRockingBlock:
    def test_a_slender_block_falls_in_the_time_of_housner(self) -> None:
        block = Block(0.01, 1.0, 0.6, 1.0, 1.0, 9.81)
        assert block.fall_time(block.first_tilt) == pytest.approx(block.slender_fall_time, rel=1e-4)
        assert block.slender_fall_time == pytest.approx(acosh(1 / 0.4) / block.p, rel=1e-12)

    def test_quadrature_meets_the_other_integrator(self) -> None:
        block = Block(0.7, 1.0, 0.8, 1.0, 1.0, 9.81)
        fall = block.fall_time(block.first_tilt)
        assert block.first_fall(np.array([0.0, fall]))[1] == pytest.approx(0.0, abs=1e-7)
        times, tilts = block.motion(3 * fall)
        down = np.flatnonzero(np.diff(np.sign(tilts)))[0]
        assert times[down + 1] == pytest.approx(fall, rel=1e-6)

    def test_angular_momentum_about_the_corner_gives_the_energy_ratio(self) -> None:
        """About the corner that is hit: J ω' = (J_S + m (a² − b²)) ω, with half height a and half width b."""
        block = Block(0.5, 1.2, 0.5, 1.0, 1.0, 9.81)
        a, b = 0.6, 0.25
        inertia = (a**2 + b**2) / 3
        ratio = (inertia + a**2 - b**2) / (inertia + a**2 + b**2)
        assert block.speed_ratio == pytest.approx(ratio, rel=1e-12)
        outcome = run("rocking-block", width=0.5, height=1.2, tilt=0.5, mu=1.0, step=2e-5, until=0.6)
        assert outcome.numbers["energy_ratio"] == pytest.approx(ratio**2, abs=2e-3)

    def test_converges_with_the_step(self) -> None:
        errors = [
            next(
                check.value
                for check in run("rocking-block", step=step, until=0.45).checks
                if check.name.startswith("tilt until")
            )
            for step in (2e-3, 1e-4)
        ]
        assert errors[1] < errors[0] / 10

    def test_slides_below_the_friction_needed(self) -> None:
        needed = run("rocking-block", until=0.1).numbers["friction_needed"]
        held = run("rocking-block", mu=1.3 * needed, until=0.49).numbers["pivot_moved"]
        slid = run("rocking-block", mu=0.5 * needed, until=0.49).numbers["pivot_moved"]
        assert held < 1e-5 < 1e-3 < slid

    def test_wide_block_stays_on_both_corners(self) -> None:
        outcome = run("rocking-block", width=2.0, mu=3.0, until=1.5)
        assert outcome.numbers["exact_energy_ratio"] == 0.0
        assert abs(outcome.numbers["final_tilt"]) < 1e-3


class TestSharedHelper:
    @pytest.fixture
    def bounce(self) -> Callable[..., Run]:
        def made(**options: Any) -> Run:
            ball = LinearSystem(
                [1.0],
                force=[-9.81],
                position=[0.1],
                contacts=[Contact("floor", normal=[1.0], restitution=0.5)],
            )
            return simulate(ball, 0.5, scheme_named("moreau", 1e-3, **options))

        return made

    def test_audit_tells_scheme_findings_and_publications(self, bounce: Callable[..., Run]) -> None:
        audit = run_audit(bounce(theta=1.0))
        assert "theta 1" in audit["scheme"]
        assert audit["steps"] == 500
        assert audit["findings"]["ledger"] == "closes"
        assert any("Moreau" in author for author in audit["publications"])

    def test_impact_law_is_passed_on(self, bounce: Callable[..., Run]) -> None:
        assert bounce(impact=Poisson()).about["settings"]["impact"].startswith("Poisson(")

    def test_ledger_check_fails_on_a_wrong_book(self, bounce: Callable[..., Run]) -> None:
        good = bounce()
        assert ledger_check(good).passed
        energy = good.samples.energy.copy()
        energy[100:, 0] += 1e-6
        assert not ledger_check(replace(good, samples=replace(good.samples, energy=energy))).passed

    def test_a_run_with_contacts_draws_forces_states_and_energy(self, bounce: Callable[..., Run]) -> None:
        assert list(run_figures(bounce())) == ["contact-forces", "contact-states", "energy"]
        free = simulate(LinearSystem([1.0], velocity=[1.0]), 0.1, scheme_named("moreau", 0.1))
        assert list(run_figures(free)) == ["energy"]
        assert list(run_figures(bounce(), "energy")) == ["energy"]
