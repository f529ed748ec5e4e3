"""The delaminated rotor of Waltersberger 5.3.4: numbers of the print, of an independent program, and closed forms."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from klapper.analysis.rotor import Band, centrifugal_deflection, clatter_map, gravity_response, growth
from klapper.gallery import find
from klapper.gallery._rotor import ALUMINIUM, PLACES, Shaft
from klapper.gallery._rotor_clatter import Clatter, settled
from klapper.gallery._rotor_film import FRAMES, TurningShaft, widest_frame
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError
from klapper.gallery.rotor_clatter import _checks
from klapper.gallery.rotor_stability import LONG, SHORT
from klapper.report.figures import draw
from klapper.report.film import Film

PRINTED_5_14 = {
    "L": 3.0,
    "L2": 1.6,
    "a": 0.045,
    "b": 0.04,
    "h": 0.036,
    "E": 69e9,
    "rho": 2800.0,
    "alpha2": 1e-5,
    "speed_to": 25.0,
}
SHORT_RUN = {"modes": 6, "compared_modes": (4,), "contacts": 9, "until": 25.0, "steps": 500}


def passed(outcome: Outcome) -> bool:
    assert outcome.passed, [check.as_json() for check in outcome.checks if not check.passed]
    return True


@pytest.mark.parametrize(
    ("given", "bands", "critical"),
    [
        # L₂ = 0.6, Example 5.13
        ({}, [(22.83, 23.97), (36.4, 41.85), (43.06, 70.0)], [22.814, 23.994, 43.082, 67.472]),
        # L₂ = 0.1, Example 5.12; less damping opens a second band
        (
            {"L2": 0.1, "speed_to": 226.0},
            [(95.6, 95.95)],
            [23.994, 23.994, 95.579, 95.977, 215.847, 215.949],
        ),
        (
            {"L2": 0.1, "speed_to": 226.0, "damping_ext": 0.01},
            [(95.58, 95.98), (215.85, 215.95)],
            [23.994, 23.994, 95.579, 95.977, 215.847, 215.949],
        ),
        # Example 5.14 with its text read as L₂ = 1.6
        (PRINTED_5_14, [(10.0, 10.84), (16.74, 19.44), (19.84, 25.0)], [10.004, 10.844, 19.841]),
    ],
)
def test_unstable_bands_and_critical_speeds_are_the_published_ones(
    given: dict[str, Any], bands: list[tuple[float, float]], critical: list[float]
) -> None:
    outcome = find("rotor-stability").run(**given)
    assert passed(outcome)
    np.testing.assert_allclose(outcome.numbers["unstable_bands"], bands, atol=0.05)
    np.testing.assert_allclose(outcome.numbers["critical_speeds"], critical, atol=2e-3)


def test_the_printed_delamination_of_5_14_has_none_of_its_effects() -> None:
    """With L₂ = 0.1 m only the unequal section makes bands, those of the intact shaft."""
    split = find("rotor-stability").run(**PRINTED_5_14 | {"L2": 0.1})
    intact = find("rotor-stability").run(**PRINTED_5_14 | {"L2": 0.0})
    np.testing.assert_allclose(split.numbers["unstable_bands"], intact.numbers["unstable_bands"], rtol=1e-3)
    assert len(split.numbers["unstable_bands"]) == 1
    assert split.numbers["opening_per_squared_speed"] < 1e-9


def test_intact_square_shaft_is_stable_at_every_speed() -> None:
    """Example 5.11."""
    outcome = find("rotor-stability").run(L2=0.0, damping_ext=0.0, speed_to=226.0)
    assert passed(outcome)
    assert outcome.numbers["unstable_bands"] == []
    first = np.pi / 2 * np.sqrt(210e9 * 0.01**2 / (12 * 7500.0))
    np.testing.assert_allclose(
        outcome.numbers["critical_speeds"], first * np.repeat([1, 4, 9], 2), rtol=1e-12
    )
    assert len(draw(outcome.figures)) == 2


def test_matrices_of_the_intact_shaft_are_the_limit_of_a_vanishing_delamination() -> None:
    shaft = Shaft(1.0, 0.002, 0.01, 0.012, 0.0075, 210e9, 7500.0, 2.0, 1e-5)
    speeds = np.linspace(3.0, 130.0, 40)
    np.testing.assert_allclose(
        growth(shaft.intact_rotor(8), speeds),
        growth(shaft.model(8).rotor, speeds),
        rtol=1e-3,
        atol=1e-3 * np.abs(growth(shaft.intact_rotor(8), speeds)).max(),
    )


def test_a_delamination_too_short_for_finite_elements_runs_without_them() -> None:
    """The example runs without that comparison, and has the critical speeds of the intact shaft in each plane."""
    outcome = find("rotor-stability").run(L2=1e-4, modes=6)
    assert outcome.passed and not [check for check in outcome.checks if "finite elements" in check.name]
    first = np.pi / 2 * np.sqrt(210e9 * 1e-4 / (12 * 7500.0))
    np.testing.assert_allclose(outcome.numbers["critical_speeds"], [first, first], rtol=1e-6)


def test_sag_of_the_intact_shaft_stands_still() -> None:
    """5 ν g L⁴/(384 E I), at every speed: gravity and a square shaft that turns."""
    shaft = replace(SHORT, split=0.0, drag=0.0)
    rotor = shaft.intact_rotor(60)
    waves = np.array([int(name.split()[2]) for name in rotor.coordinates])
    along = np.array([name.startswith("direction 1") for name in rotor.coordinates])
    middle = np.sqrt(2 / shaft.line_mass) * np.sin(np.pi * waves / 2) * along
    sag = np.abs(gravity_response(rotor, [1.0, 40.0, 150.0], middle))[:, 0]
    expected = 5 * shaft.line_mass * 9.81 / (384 * shaft.young * 0.01**4 / 12)
    np.testing.assert_allclose(sag, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("shaft", "expected", "lost"), [(SHORT, [2.55e-7, 6.39e-6], 0.08), (LONG, [3.82e-4], 0.01)]
)
def test_the_steel_shaft_opens_as_in_the_independent_program(
    shaft: Shaft, expected: list[float], lost: float
) -> None:
    """At 10 and 50 Hz by 16 modes of the independent program; all modes open a short delamination 7 % wider."""
    speeds = [10.0, 50.0][: len(expected)]
    model, elements = shaft.model(16), shaft.beam.model(None, method="fe")
    few, all_of_them = (
        centrifugal_deflection(each.rotor, speeds, each.gap_rows([0.5]))[:, 0] for each in (model, elements)
    )
    np.testing.assert_allclose(few, expected, rtol=5e-3)
    np.testing.assert_allclose(few, all_of_them, rtol=lost)


@pytest.fixture(scope="module")
def resonant() -> Outcome:
    return find("rotor-clatter").run(**SHORT_RUN | {"modes": 16})


def test_it_clatters_in_the_resonance(resonant: Outcome) -> None:
    assert passed(resonant)
    assert resonant.numbers["clatters"] is True
    assert resonant.numbers["max_gap"] > resonant.numbers["opening"]
    assert resonant.numbers["pair_resonance"] == pytest.approx(5.199, abs=1e-3)
    np.testing.assert_allclose(resonant.numbers["resonances"], [5.22, 13.36], atol=0.02)
    inside = [band for band in resonant.numbers["clatter_bands"] if band[0] < 5.2 < band[1]]
    np.testing.assert_allclose(inside, [[5.11, 5.47]], atol=0.05)


@pytest.mark.parametrize("speed", [4.3, 8.0])
def test_it_does_not_clatter_beside_the_resonance(speed: float) -> None:
    outcome = find("rotor-clatter").run(**SHORT_RUN | {"speed": speed})
    assert passed(outcome)  # among the checks: the motion is the linear response
    assert outcome.numbers["clatters"] is False
    assert outcome.numbers["contact_share"] == 0.0


def test_at_the_printed_speed_it_just_does_not_touch() -> None:
    """5.5 Hz: smallest gap 0.11 mm, largest 4.85 mm by the independent program."""
    outcome = find("rotor-clatter").run(**SHORT_RUN | {"speed": 5.5, "modes": 16, "until": 60.0})
    assert passed(outcome)
    assert outcome.numbers["clatters"] is False
    assert outcome.numbers["max_gaps"][-1] == pytest.approx(4.85e-3, rel=0.01)
    assert outcome.numbers["min_gaps"][-1] == pytest.approx(0.11e-3, abs=0.03e-3)


def test_the_printed_delamination_hardly_opens() -> None:
    outcome = find("rotor-clatter").run(**SHORT_RUN | {"L2": 0.1, "until": 5.0})
    assert passed(outcome)
    assert outcome.numbers["opening"] < 1e-8


@pytest.mark.parametrize("speed", [10.9, 18.0])
def test_a_motion_that_grows_without_bound_is_shown_and_called_so(speed: float) -> None:
    outcome = find("rotor-clatter").run(
        **SHORT_RUN | {"speed": speed, "modes": 16, "growth_speeds": (17.0, 18.0)}
    )
    assert passed(outcome)  # among the checks: 1.7 and 2.9 1/s at 17 and 18 Hz
    assert outcome.numbers["growth"] == "grows without bound"


def test_wrong_motions_fail_the_checks() -> None:
    """A motion without contact inside a band, and one that is not the linear response to its speed."""
    model = ALUMINIUM.model(6)
    run = settled(model, 4.3, 9, 25.0, 300).run
    band = [Band(5.1, 5.5, 1.0)]
    for claimed, expected in ((5.2, "the laminae touch"), (4.5, "largest gap of a motion without contact")):
        here = clatter_map(model.rotor, model.gap_rows(PLACES), [claimed])
        failed = [
            check.name for check in _checks(Clatter(model, run, claimed), here, band) if not check.passed
        ]
        assert failed == [expected]


def test_every_figure_and_the_film_can_be_drawn(resonant: Outcome) -> None:
    film = resonant.figures["turn"]
    assert isinstance(film, Film)
    stills = {name: drawing for name, drawing in resonant.figures.items() if name != "turn"}
    pictures = draw(stills | {"turn": replace(film, frames=film.still + 2)})  # its beginning is enough here
    assert {"growth", "clatter-map", "gap", "phase-portrait", "energy"} <= set(stills)
    assert pictures[-1].gif.startswith(b"GIF89a")
    assert all(picture.caption for picture in pictures)


def test_the_film_shows_the_gap_of_the_run() -> None:
    """Whatever the angle, the distance of the touching faces along their normal is the gap; the shaft turns forward."""
    model = ALUMINIUM.model(6)
    found = settled(model, 5.2, 9, 3.0, 500)
    shaft = TurningShaft(model, found.run, 5.2)
    row = model.gap_rows([0.5])[0]
    gaps = found.run.position_at(shaft.times) @ row
    for frame in (0, 17, 50):
        upper, lower = (shaft.corners(part, frame)[12] for part in (1, 2))
        normal = shaft.turned(frame)[:, 0]
        faces = upper[[2, 3]].mean(axis=0) - lower[[0, 1]].mean(axis=0)
        assert normal @ faces == pytest.approx(gaps[frame], abs=1e-12)
    angles = np.unwrap([np.arctan2(*shaft.turned(frame)[::-1, 0]) for frame in range(FRAMES)])
    np.testing.assert_allclose(np.diff(angles), 2 * np.pi / FRAMES)
    assert gaps[widest_frame(model, found.run, 5.2)] == gaps.max()


def test_stiffer_contacts_come_closer_to_rigid_ones() -> None:
    given = {"modes": (6,), "contacts": 3}
    outcomes = [
        find("rotor-methods").run(**given, stiffness=1e3 * factor, damping=4e4 * factor) for factor in (1, 10)
    ]
    assert all(passed(outcome) for outcome in outcomes)
    for name in ("penetration", "distance"):
        soft, stiff = (outcome.numbers[name][0] for outcome in outcomes)
        assert 0.0 < stiff < 0.5 * soft
    assert len(draw(outcomes[0].figures)) == 2


def test_small_friction_takes_energy_in_proportion() -> None:
    """Sliding hardly changes, so that the loss goes with μ; and so does the change of the motion."""
    given = {"modes": 6, "contacts": 3, "patches": 2, "turns": 1, "steps": 200, "slip": "axis"}
    less, more = (find("rotor-friction").run(**given, mu=mu) for mu in (1e-3, 1e-2))
    assert passed(less)
    assert passed(more)
    for name in ("friction_per_turn", "largest_change_of_the_gap"):
        assert more.numbers[name] == pytest.approx(10 * less.numbers[name], rel=0.05)
        assert less.numbers[name] > 0.0
    assert len(draw(more.figures)) == 3


@pytest.mark.slow
def test_friction_in_the_joint_is_resolved_by_the_steps() -> None:
    """Twice as many steps change by a tenth what friction takes, and by less what it does to the gap."""
    shipped, finer = (find("rotor-friction").run(steps=steps).numbers for steps in (800, 1600))
    assert shipped["friction_per_turn"] == pytest.approx(finer["friction_per_turn"], rel=0.1)
    assert shipped["max_gap"] == pytest.approx(finer["max_gap"], rel=0.01)
    lost = sum(shipped[f"{name}_per_turn"] for name in ("friction", "impact", "damping"))
    assert 0.005 < shipped["friction_per_turn"] / lost < 0.02


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("rotor-stability", {"h": 0.01}, "h must be below the height a = 0.01 m"),
        ("rotor-stability", {"L2": 1.0}, "L2 must be below the length L = 1 m"),
        ("rotor-stability", {"L2": 1e-6}, "L2 cannot be 1e-06 m here: segment 2 is 1e-06 m long"),
        ("rotor-stability", {"speed_from": 80.0}, "speed_to must be above speed_from 80 Hz"),
        ("rotor-methods", {"speed": 10.4}, "speed is 10.4 Hz, at which motions grow by"),
        ("rotor-clatter", {"L2": 0.0}, "L2 must be a number above 0"),
        ("rotor-methods", {"speed": 18.0}, "without bound; choose a speed outside"),
    ],
)
def test_impossible_parameters_are_refused(name: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find(name).run(**given)
