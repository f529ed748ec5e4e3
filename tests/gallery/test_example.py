"""The decorator, outcomes and the catalogue."""

import subprocess
import sys
from typing import Annotated, Any

import numpy as np
import pytest

from klapper.gallery import UnknownExample, catalogue, examples, find
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example


def test_the_decorated_function_is_an_ordinary_one(fakes: dict[str, Any]) -> None:
    outcome = fakes["lever"](weight=8.0, arms=(1.0, 4.0))
    assert outcome.numbers["force"] == 2.0
    assert outcome.passed
    assert fakes["lever"].__doc__.startswith("Lever")


def test_it_checks_its_arguments(fakes: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"^weight must be a number above 0 \(N\), not -1\.0\.$"):
        fakes["lever"](weight=-1.0)
    with pytest.raises(ParameterError, match="did you mean 'weight'"):
        fakes["lever"](wait=1.0)
    with pytest.raises(TypeError, match="by keyword"):
        fakes["lever"](1.0)


def test_checks_follow_the_parameters(fakes: dict[str, Any]) -> None:
    for weight in (1.0, 50.0, 1e4):
        assert fakes["lever"](weight=weight).passed
        assert not fakes["lever"](weight=weight, wrong=True).passed


def test_a_title_is_the_first_line_of_the_docstring(fakes: dict[str, Any]) -> None:
    entry = find("fake-lever")
    assert entry.summary == "Lever <&>: one force balances another"
    assert entry.text.startswith("The moments about the pivot")


def test_an_example_without_docstring_takes_that_of_its_file(fakes: dict[str, Any]) -> None:
    @example("fake-bare", source="nobody")
    def bare() -> Outcome:
        return Outcome(numbers={})

    assert find("fake-bare").summary == "The decorator, outcomes and the catalogue"


def test_the_command_repeats_the_run(fakes: dict[str, Any]) -> None:
    entry = find("fake-lever")
    given = entry.read(["weight=50", "arms=1,2", "wrong=yes", "turns=1"])
    about = entry.introduction(given)
    assert about.command == "klapper run fake-lever --set weight=50.0 --set arms=1.0,2.0 --set wrong=true"
    again = entry.read(word for word in about.command.split() if "=" in word)
    assert entry.values(again) == entry.values(given)


@pytest.mark.parametrize("settings", [["weight"], ["weight=1", "weight=2"], ["=3"], ["weight =3"]])
def test_a_wrong_setting_is_refused(fakes: dict[str, Any], settings: list[str]) -> None:
    with pytest.raises(ParameterError):
        find("fake-lever").read(settings)


def test_an_unknown_name_suggests_the_nearest(fakes: dict[str, Any]) -> None:
    with pytest.raises(UnknownExample, match="no example 'fake-liver'; the nearest is 'fake-lever'"):
        find("fake-liver")


def test_an_empty_gallery_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    examples()
    monkeypatch.setattr(catalogue, "_shelf", {})
    with pytest.raises(UnknownExample, match="the gallery is empty"):
        find("anything")


def test_two_examples_cannot_share_a_name(fakes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="two examples are called 'fake-lever'"):

        @example("fake-lever", source="nobody")
        def other() -> Outcome:
            """Another lever."""
            return Outcome(numbers={})


@pytest.mark.parametrize("name", ["Lever", "four_legs", "", "-a", "a b", "../a"])
def test_a_name_is_small_letters_and_hyphens(name: str) -> None:
    with pytest.raises(ValueError, match="an example cannot be called"):
        example(name, source="nobody")


@pytest.mark.parametrize("name", ["report", "result", "a/b", "../a", "", "A"])
def test_a_figure_cannot_take_the_place_of_another_file(name: str) -> None:
    with pytest.raises(ValueError, match="a figure cannot be called"):
        Outcome(numbers={}, figures={name: lambda figure: None})


def test_units_belong_to_numbers() -> None:
    with pytest.raises(ValueError, match="units are given for b"):
        Outcome(numbers={"a": 1.0}, units={"b": "N"})


def test_only_an_outcome_is_an_outcome(fakes: dict[str, Any]) -> None:
    @example("fake-nothing", source="nobody")
    def nothing() -> Outcome:
        """Nothing at all."""
        return {"force": 1.0}  # type: ignore[return-value]

    with pytest.raises(TypeError, match="returned dict instead of an Outcome"):
        nothing()


def test_string_annotations_work(fakes: dict[str, Any]) -> None:
    @example("fake-quoted", source="nobody")
    def quoted(*, length: "Annotated[float, Parameter('length', unit='m')]" = 1.0) -> "Outcome":
        """Quoted annotations."""
        return Outcome(
            numbers={"twice": 2 * length},
            checks=[
                Check(
                    "twice",
                    value=2 * length,
                    expected=np.float64(length + length),
                    tolerance=0.0,
                    source="sum",
                )
            ],
        )

    assert quoted(length=3.0).numbers == {"twice": 6.0}


def test_listing_the_gallery_loads_no_compiler_and_no_drawing() -> None:
    code = (
        "import sys, klapper.gallery; klapper.gallery.examples();"
        "print([name for name in ('matplotlib', 'numba') if name in sys.modules])"
    )
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == "[]"
