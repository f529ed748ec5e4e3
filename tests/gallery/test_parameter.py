"""Parameters: reading text, checking values, and what is said when they are wrong."""

from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given, strategies as st

from klapper.gallery.parameter import Argument, Parameter, ParameterError, arguments, complete


def declared(
    *,
    length: Annotated[float, Parameter("length", unit="m", above=0.0, at_most=10.0)] = 1.0,
    count: Annotated[int, Parameter("count", at_least=1)] = 3,
    damped: Annotated[bool, Parameter("damping")] = False,
    solver: Annotated[Literal["lemke", "newton"], Parameter("solver")] = "lemke",
    order: Annotated[Literal[1, 2], Parameter("order")] = 2,
    word: Annotated[str, Parameter("modes", pattern="[AB]+")] = "AAB",
    note: Annotated[str, Parameter("any text")] = "",
    loads: Annotated[list[float], Parameter("loads", unit="N", above=0.0)] = [1.0, 2.0],  # noqa: B006
    corner: Annotated[tuple[float, float], Parameter("corner", unit="m")] = (0.0, 1.0),
    flags: Annotated[tuple[int, ...], Parameter("flags")] = (1, 2),
) -> None:
    """All kinds of parameters."""


KEYWORDS: dict[str, Argument] = {argument.name: argument for argument in arguments(declared)}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("length", "2.5", 2.5),
        ("length", "1e-3", 1e-3),
        ("length", "10", 10.0),
        ("count", "7", 7),
        ("count", "1e3", 1000),
        ("damped", "true", True),
        ("damped", "No", False),
        ("solver", "newton", "newton"),
        ("order", "1", 1),
        ("word", "BAB", "BAB"),
        ("note", "a=b, c\nd", "a=b, c\nd"),
        ("note", "", ""),
        ("loads", "1,2.5 , 3", [1.0, 2.5, 3.0]),
        ("loads", "[4]", [4.0]),
        ("corner", "-1,2", (-1.0, 2.0)),
        ("flags", "3", (3,)),
    ],
)
def test_text_is_read_into_the_declared_type(name: str, text: str, value: Any) -> None:
    read = KEYWORDS[name].read(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("length", "long", "length must be a number above 0 and at most 10 (m), not long."),
        ("length", "0", "length must be a number above 0 and at most 10 (m), not 0.0."),
        ("length", "10.1", "length must be a number above 0 and at most 10 (m), not 10.1."),
        ("length", "nan", "length must be a number above 0 and at most 10 (m), not nan."),
        ("length", "", "length must be a number above 0 and at most 10 (m), not empty."),
        ("corner", "inf,1", "corner must be 2 numbers separated by commas (m), not inf,1.0."),
        ("corner", "1,2,3", "corner must be 2 numbers separated by commas (m), not 1.0,2.0,3.0."),
        ("count", "2.5", "count must be a whole number at least 1, not 2.5."),
        ("count", "0", "count must be a whole number at least 1, not 0."),
        ("damped", "maybe", "damped must be true or false, not maybe."),
        ("solver", "Lemke", "solver must be one of lemke, newton, not Lemke."),
        ("order", "3", "order must be one of 1, 2, not 3."),
        ("word", "ABC", "word must be a text of the form [AB]+, not ABC."),
        ("loads", "1,-2", "loads must be numbers separated by commas, each above 0 (N), not 1.0,-2.0."),
        ("loads", "", "loads must be numbers separated by commas, each above 0 (N), not empty."),
        ("flags", "1,x", "flags must be whole numbers separated by commas, not 1,x."),
    ],
)
def test_a_wrong_text_is_refused_with_what_is_allowed(name: str, text: str, sentence: str) -> None:
    with pytest.raises(ParameterError) as refused:
        KEYWORDS[name].read(text)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("length", 2, 2.0),
        ("length", np.float32(0.5), 0.5),
        ("length", np.array(0.5), 0.5),
        ("count", np.int64(4), 4),
        ("damped", np.bool_(True), True),
        ("loads", np.array([1.0, 2.0]), [1.0, 2.0]),
        ("loads", (1, 2), [1.0, 2.0]),
        ("corner", [1, 2], (1.0, 2.0)),
    ],
)
def test_python_values_pass_the_same_check(name: str, value: Any, accepted: Any) -> None:
    result = KEYWORDS[name].accept(value)
    assert result == accepted
    assert type(result) is type(accepted)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("length", "1.0"),
        ("length", True),
        ("length", -1.0),
        ("length", None),
        ("length", 1j),
        ("count", 2.0),
        ("count", True),
        ("damped", 1),
        ("solver", 1),
        ("order", True),
        ("word", 3),
        ("loads", 1.0),
        ("loads", "1,2"),
        ("loads", np.ones((2, 2))),
        ("corner", (1.0,)),
    ],
)
def test_python_values_of_another_kind_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=rf"^{name} must be "):
        KEYWORDS[name].accept(value)


@given(st.lists(st.floats(min_value=1e-300, allow_infinity=False), min_size=1))
def test_what_is_written_is_read_back(loads: list[float]) -> None:
    assert KEYWORDS["loads"].read(KEYWORDS["loads"].written(loads)) == loads


@pytest.mark.parametrize("name", KEYWORDS)
def test_shipped_values_are_read_back(name: str) -> None:
    keyword = KEYWORDS[name]
    assert keyword.read(keyword.written(keyword.default)) == keyword.default


def test_missing_values_are_the_shipped_ones() -> None:
    values = complete(tuple(KEYWORDS.values()), {"length": 3.0}, "thing")
    assert values["length"] == 3.0
    assert values["solver"] == "lemke"
    assert list(values) == list(KEYWORDS)


def test_an_unknown_name_is_told_with_the_nearest_and_all() -> None:
    with pytest.raises(ParameterError) as refused:
        complete(tuple(KEYWORDS.values()), {"lenght": 3.0}, "thing")
    assert "thing has no parameter 'lenght' (did you mean 'length'?); it takes length, count," in str(
        refused.value
    )


def test_an_example_without_parameters_says_so() -> None:
    with pytest.raises(ParameterError, match=r"^thing has no parameter 'x'; it takes none\.$"):
        complete((), {"x": 1}, "thing")


def positional(length: Annotated[float, Parameter("length")] = 1.0) -> None: ...
def without_default(*, length: Annotated[float, Parameter("length")]) -> None: ...
def bare(*, length: float = 1.0) -> None: ...
def unknown_type(*, length: Annotated[dict, Parameter("length")] = {}) -> None: ...  # noqa: B006
def mixed(*, pair: Annotated[tuple[float, int], Parameter("pair")] = (1.0, 1)) -> None: ...
def bounded_text(*, word: Annotated[str, Parameter("word", above=1.0)] = "a") -> None: ...
def patterned_number(*, length: Annotated[float, Parameter("length", pattern="a")] = 1.0) -> None: ...


@pytest.mark.parametrize(
    "function", [positional, without_default, bare, unknown_type, mixed, bounded_text, patterned_number]
)
def test_a_wrong_declaration_is_refused_at_once(function: Any) -> None:
    with pytest.raises(TypeError, match="of an example"):
        arguments(function)


def wrong_default(*, length: Annotated[float, Parameter("length", above=0.0)] = -1.0) -> None: ...


def test_a_shipped_value_must_be_allowed() -> None:
    with pytest.raises(ParameterError, match="length must be a number above 0, not -1"):
        arguments(wrong_default)
