"""Block on two feet: every method, other parameters, refusals; the companions of the example."""

import re
from pathlib import Path

import numpy as np
import pytest

from klapper.gallery import find
from klapper.gallery.parameter import ParameterError

METHODS = (
    "pinv",
    "pinv-redistributed",
    "prox",
    "functional-1",
    "functional-2",
    "functional-3",
    "compliant",
    "two-body",
)
KEYS = {
    "transition_time",
    "forces_at_10N",
    "flag_changes",
    "outer_iterations",
    "inner_iterations",
    "final_position",
}


def failed(outcome) -> list:
    return [check.as_json() for check in outcome.checks if not check.passed]


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method: str) -> None:
    """E5, E9: keys, checks, the exact motion within 2e-7 m, and the friction sum at 10 N."""
    outcome = find("undetermined-block").run(method=method)
    assert not failed(outcome)
    numbers = outcome.numbers
    assert set(numbers) >= KEYS
    assert numbers["final_position"] == pytest.approx(0.1 + 1.342326e-4, abs=2e-7)
    friction = np.array(numbers["forces_at_10N"])[[0, 2]]
    allowed = 0.02 if method in ("functional-1", "two-body") else 2e-3
    assert friction.sum() == pytest.approx(-10.0, abs=allowed)
    if method == "two-body":
        assert friction == pytest.approx([-1.637, -8.348], abs=2e-3)
        assert numbers["transition_time"] == pytest.approx(62.65e-3, abs=0.5e-3)
    elif method == "compliant":
        assert friction == pytest.approx([-1.652, -8.348], abs=2e-3)
    else:
        assert friction == pytest.approx([-5.0, -5.0], abs=0.01)
    assert (numbers["flag_changes"] > 10) == (method == "pinv")


@pytest.mark.parametrize("method", ["prox", "functional-3", "pinv", "compliant", "two-body"])
def test_other_blocks(method: str) -> None:
    """The checks are computed from the parameters."""
    step = 2e-4 if method != "two-body" else 1e-6
    outcome = find("undetermined-block").run(
        method=method, mass=5.0, width=0.3, height=0.2, mu=0.3, force_rate=400.0, until=0.06, step=step
    )
    assert not failed(outcome)
    assert outcome.numbers["displacement"] > 1e-6


def test_start_forces_and_a_constant_push() -> None:
    """E6 in this example: (5.7), by two or four numbers."""
    for start in ((-500.0, 500.0), (-500.0, 0.0, 500.0, 0.0)):
        outcome = find("undetermined-block").run(
            force=9.999, force_rate=1.0, until=0.01, start_forces=start, projection="none"
        )
        assert not failed(outcome)
        assert outcome.numbers["forces_at_10N"][[0, 2]] == pytest.approx([-7.348, -2.652], abs=1e-2)


def test_the_safe_projection_gives_an_earlier_flag() -> None:
    """C20 through the example: the flag of the safe projection at 62.90 ms, that of the thesis at 63.5 ms."""
    outcome = find("undetermined-block").run(method="functional-3", projection="step-safe")
    assert outcome.numbers["slips_for_good"] == pytest.approx(62.9e-3, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "two-body", "step": 1e-4}, "springs between the halves allow at most"),
        ({"start_forces": (1.0, 2.0, 3.0)}, "start_forces has 3 numbers"),
        ({"force_rate": 1e4}, "the block tips"),
        ({"method": "functional-1", "max_rounds": 20}, "does not get through"),
        ({"until": 1e-5}, "at least one step"),
        ({"springs": (0.0, 1.0, 1.0, 1.0), "method": "compliant"}, "springs are refused"),
    ],
)
def test_wrong_parameters_are_refused(given: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find("undetermined-block").run(**given)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("prox-start", {"mu": 0.5, "push": 30.0, "velocity": 3.0}),
        ("prox-start", {"height": 0.3, "push": 1.0, "weights": (0.3, 1.0), "start": (3.0, -2.0)}),
        ("quality-functional", {"push": 3.0, "mass": 4.0, "width": 0.3, "load": (1.0, -5.0, 0.3)}),
        ("coupled-sliders", {"mass": 3.0, "mu": 0.2, "stiffness": 1e5, "push": 1.4}),
        ("block-halves", {"mass": 8.0, "height": 0.15, "springs": (2e6, 1e6, 2.0, 2.0)}),
        ("block-methods", {"methods": ("prox", "compliant"), "mu": 0.2, "until": 0.2}),
    ],
)
def test_companions_with_other_parameters(name: str, given: dict) -> None:
    assert not failed(find(name).run(**given))


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("prox-start", {"push": 20.0}, "the block slides from"),
        ("prox-start", {"velocity": 1e-3}, "must be shorter"),
        ("quality-functional", {"push": 20.0}, "the block slides from"),
        ("block-halves", {"step": 1e-3}, "must lie between"),
        ("block-methods", {"until": 0.01}, "it must pass"),
    ],
)
def test_companions_refuse(name: str, given: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find(name).run(**given)


def test_the_page_can_be_followed() -> None:
    """All snippets of the page one after the other; the last one prints a distance that is tiny."""
    page = Path(__file__).parents[2] / "docs" / "undetermined_block.md"
    names: dict = {"__name__": "guide"}
    for snippet in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        exec(compile(snippet, page.name, "exec"), names)
    assert np.abs(names["run"].forces[1:, :, 1] - names["expected"]).max() < 1e-3
