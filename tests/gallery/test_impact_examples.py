"""The examples of impact laws: numbers known independently, other parameters, refused ones."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from klapper.gallery import find
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError
from klapper.report.figures import draw

OTHER_PARAMETERS: list[tuple[str, dict[str, Any]]] = [
    ("ball-chain", {"types": "AABD"}),
    ("ball-chain", {"types": "AABD", "law": "newton", "speed": 0.5}),
    ("ball-chain", {"types": "AABD", "law": "poisson", "speed": 2.0}),
    ("ball-chain", {"types": "CB", "law": "sequential", "speed": 1e-3}),
    ("ball-chain", {"types": "CCCCCCCCCCCC"}),
    ("ball-chain", {"types": "DCDADBDADCAA", "law": "poisson", "speed": 300.0}),
    ("ball-chain", {"types": "DDAAABCDAACC"}),
    ("mass-row", {"restitution": (1.0, 1.0)}),
    ("mass-row", {"restitution": (0.0, 0.0), "speed": 7.0}),
    ("mass-row", {"restitution": (0.1, 1.0), "masses": (1.0, 3.0, 0.2)}),
    ("mass-row", {"restitution": (1.0, 0.0), "masses": (1e-3, 1e3, 1.0)}),
    ("mass-row", {"restitution": (0.4, 0.4), "masses": (1.0, 1e-2, 1.0)}),
    ("disc-ring", {"discs": 3, "restitution": 0.0, "limit": 100}),
    ("disc-ring", {"discs": 11, "restitution": 0.7, "speed": 4.0, "limit": 500}),
    ("disc-ring", {"discs": 40, "restitution": 0.95, "limit": 60}),
    ("disc-ring", {"discs": 5, "limit": 1}),
    ("fremond-impact", {"wall_mass": 0.0}),
    ("fremond-impact", {"wall_mass": 1.0}),
    ("fremond-impact", {"mass": 5.0, "speed": 3.0}),
    ("fremond-impact", {"mass": 1e-3, "wall_mass": 1e9}),
    ("two-stops", {"restitution": (0.5, 0.5)}),
    ("two-stops", {"restitution": (0.0, 0.0), "mass": 4.0}),
    ("two-stops", {"restitution": (0.8, 0.3), "speed": 20.0}),
    ("two-stops", {"restitution": (0.5, 0.5000001)}),
]


def run(name: str, **given: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


@pytest.mark.parametrize(("name", "given"), OTHER_PARAMETERS)
def test_checks_hold_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    assert run(name, **given).audit["uniqueness"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("ball-chain", {"types": "DDAAABCDAACC", "speed": 5.0}),
        ("ball-chain", {"types": "AD", "law": "poisson"}),
        ("mass-row", {"restitution": (0.0, 0.0), "masses": (1.0, 2.0, 30.0)}),
        ("disc-ring", {"discs": 40, "limit": 300}),
        ("disc-ring", {"discs": 3, "limit": 1}),
        ("fremond-impact", {"wall_mass": 0.0}),
        ("two-stops", {"restitution": (0.0, 0.0)}),
    ],
)
def test_figures_can_be_drawn_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    assert all(picture.png for picture in draw(run(name, **given).figures))


@pytest.mark.parametrize(
    ("types", "velocities"),
    [
        ("AAA", (0.0147784, 0.0149966, 0.970225)),
        ("ADA", (-0.52626, 0.24256, 0.63148)),
        ("DAA", (0.35317, 0.88273, 1.50336)),
        ("AAAAA", (0.01435, 0.01456, 0.01477, 0.01498, 0.94134)),
    ],
)
@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_chains_of_balls_leave_as_in_the_experiments(
    types: str, velocities: tuple[float, ...], speed: float
) -> None:
    numbers = run("ball-chain", types=types, speed=speed).numbers
    assert numbers["velocities"] == pytest.approx(speed * np.array(velocities), abs=6e-6 * speed)


@pytest.mark.parametrize("pair", ["AA", "AB", "BA", "CD", "DD"])
@pytest.mark.parametrize("law", ["newton", "poisson", "sequential"])
def test_two_balls_reproduce_the_measured_restitution(pair: str, law: str) -> None:
    """What Table 5.1 means: two balls separate with ε times their approach, by every law."""
    table = {"AA": 0.97, "AB": 0.53, "BA": 0.53, "CD": 0.30, "DD": 0.85}
    numbers = run("ball-chain", types=pair, law=law, speed=1.5).numbers
    assert numbers["opening_speeds"] == pytest.approx([1.5 * table[pair]])


def test_table_of_pairs_is_complete() -> None:
    from klapper.gallery.ball_chain import Balls

    for first, second in ((a, b) for a in "ABCD" for b in "ABCD"):
        assert Balls(first + second).restitution == Balls(second + first).restitution
    assert Balls("ABCD").restitution.tolist() == [0.53, 0.28, 0.30]


def test_only_the_sequential_law_sends_the_last_ball_off_alone() -> None:
    after = {
        law: run("ball-chain", law=law).numbers["velocities"] for law in ("newton", "poisson", "sequential")
    }
    assert after["newton"][1] == pytest.approx(after["newton"][2])
    assert after["newton"] == pytest.approx(after["poisson"])
    assert after["sequential"][2] > 0.97


@pytest.mark.parametrize(
    ("restitution", "newton", "sequential"),
    [
        (1.0, (-1 / 3, 2 / 3, 2 / 3), (0, 0, 1)),
        (0.5, (0, 0.5, 0.5), (0.203125, 0.234375, 0.5625)),
        (0.0, (1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_a_row_of_masses_leaves_as_in_the_thesis(restitution: float, newton: Any, sequential: Any) -> None:
    """Waltersberger Ex. 5.1 and 5.4; equal coefficients make Poisson's law Newton's."""
    numbers = run("mass-row", restitution=(restitution, restitution)).numbers
    assert numbers["velocities_newton"] == pytest.approx(newton, abs=1e-12)
    assert numbers["velocities_poisson"] == pytest.approx(newton, abs=1e-12)
    assert numbers["velocities_sequential"] == pytest.approx(sequential, abs=2e-9)
    assert numbers["poisson_largest_opening_2_3"] == pytest.approx(0.5)


def test_ring_of_discs_hands_over() -> None:
    numbers = run("disc-ring", discs=6, limit=10).numbers
    assert numbers["velocities"] == pytest.approx(np.eye(6)[4])
    assert not numbers["finished"]
    assert numbers["fast_impacts"] == 10
    assert numbers["velocities_after_handing_over"] == pytest.approx(1 / 3 - np.eye(6)[4])


@pytest.mark.parametrize(
    ("wall_mass", "after"), [(0.0, 0), (0.5, 0), (1.0, 0), (2.0, 1 / 3), (3.0, 0.5), (9.0, 0.8)]
)
def test_fremonds_law_rebounds_as_in_the_thesis(wall_mass: float, after: float) -> None:
    assert run("fremond-impact", wall_mass=wall_mass).numbers["velocity_after"] == pytest.approx(
        after, abs=1e-12
    )


def test_the_elastic_of_two_stops_decides_as_in_the_thesis() -> None:
    """Waltersberger Ex. 1.1c: ⁺v = 1, Λ = (0, 2)."""
    numbers = run("two-stops").numbers
    assert numbers["velocity_after"] == pytest.approx(1.0)
    assert numbers["impulses"] == pytest.approx([0.0, 2.0])
    assert numbers["poisson_motion"] == "not unique"


def test_velocities_are_straight_lines_over_the_speed() -> None:
    speeds = [0.5, 1.0, 1.5, 2.0]
    velocities = [run("ball-chain", types="BADC", speed=speed).numbers["velocities"] for speed in speeds]
    for one, two in pairwise(np.array(velocities) / np.array(speeds)[:, None]):
        assert two == pytest.approx(one, abs=1e-8)


@pytest.mark.parametrize(
    ("name", "setting", "sentence"),
    [
        ("ball-chain", "types=AAE", "types must be a text of the form [ABCD]{2,12}, not AAE."),
        ("ball-chain", "types=A", "types must be a text of the form [ABCD]{2,12}, not A."),
        ("ball-chain", "speed=0", "speed must be a number above 0 (m/s), not 0.0."),
        ("ball-chain", "law=hertz", "law must be one of newton, poisson, sequential, not hertz."),
        ("mass-row", "restitution=0.5", "restitution must be 2 numbers separated by commas"),
        ("mass-row", "restitution=0.5,1.5", "restitution must be 2 numbers separated by commas"),
        ("mass-row", "masses=1,0,1", "masses must be 3 numbers separated by commas, each above 0 (kg)"),
        ("disc-ring", "discs=2", "discs must be a whole number at least 3 and at most 40, not 2."),
        ("fremond-impact", "wall_mass=-1", "wall_mass must be a number at least 0 (kg), not -1.0."),
        ("two-stops", "mass=0", "mass must be a number above 0 (kg), not 0.0."),
    ],
)
def test_wrong_values_are_told_in_a_sentence(name: str, setting: str, sentence: str) -> None:
    example = find(name)
    with pytest.raises(ParameterError) as told:
        example.run(**example.read([setting]))
    assert str(told.value).startswith(sentence)
