"""Values and verdicts in few words."""

from typing import Any

import pytest

from klapper.report.words import brief, deviation, expectation, verdict


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (True, "yes"),
        (3, "3"),
        (1 / 3, "0.333333"),
        ("inf", "inf"),
        ([1.0, 2.5], "[1, 2.5]"),
        ([[1.0], [2.0]], "[[1], [2]]"),
        (list(range(20)), "20 entries from 0 to 19"),
        (["a"] * 20, "20 entries: a, …, a"),
        ({"real": 1.0, "imag": -2.0}, "1-2j"),
        ({"real": "inf", "imag": -2.0}, "(real inf, imag -2)"),
        ({"a": {"b": 1}}, "(a (b 1))"),
        ({}, "–"),
        ([], "[]"),
    ],
)
def test_a_value_is_told_in_few_words(value: Any, text: str) -> None:
    assert brief(value) == text


def test_expected_values_and_bounds_are_told_with_their_signs() -> None:
    assert expectation({"expected": 2.0}) == "2"
    assert expectation({"expected": {"at_least": 0.0, "at_most": 1.0}}) == "≥ 0 and ≤ 1"
    assert expectation({"expected": {"a": 1}}) == "(a 1)"


def test_the_largest_deviation_is_told() -> None:
    assert deviation({"value": [1.0, 2.0], "expected": [1.5, 2.0]}) == "0.5"
    assert deviation({"value": [1.0, 2.0], "expected": 0}) == "2"
    assert deviation({"value": "a", "expected": "a"}) == ""
    assert deviation({"value": 1.0, "expected": {"at_most": 2.0}}) == ""


def test_the_verdict_counts_passed_checks_and_names_failed_ones() -> None:
    good, bad = {"name": "good", "passed": True}, {"name": "bad", "passed": False}
    assert verdict([]) == "No check applies to these parameters."
    assert verdict([good]) == "The check passed."
    assert verdict([good, good]) == "All 2 checks passed."
    assert verdict([good, bad]) == "1 of 2 checks failed: bad."
