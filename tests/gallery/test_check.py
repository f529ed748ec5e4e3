"""Checks: what passes, what fails, what is stored."""

from typing import Any

import numpy as np
import pytest

from klapper.gallery.check import Check


def check(value: Any, **knowledge: Any) -> Check:
    return Check("quantity", value=value, source="by hand", **knowledge)


@pytest.mark.parametrize(
    ("value", "knowledge"),
    [
        (1.0, {"expected": 1.5, "tolerance": 0.5}),
        (np.float64(1.0), {"expected": 1, "tolerance": 0.0}),
        ([1.0, 2.0], {"expected": np.array([1.0, 2.1]), "tolerance": 0.2}),
        ([[1.0, 2.0]], {"expected": [[1.0, 2.0]], "tolerance": 0.0}),
        ([1.0, 2.0], {"expected": [1.1, 3.0], "tolerance": [0.2, 1.0]}),
        ([1e-12, -1e-12], {"expected": 0.0, "tolerance": 1e-9}),
        (1 + 1j, {"expected": 1 + 1.1j, "tolerance": 0.2}),
        (np.inf, {"expected": np.inf, "tolerance": 1.0}),
        (3, {"expected": 3}),
        (np.int64(3), {"expected": 3}),
        (True, {"expected": True}),
        (np.bool_(False), {"expected": False}),
        (["stick", "slip"], {"expected": ("stick", "slip")}),
        (np.array([1, 2]), {"expected": [1, 2]}),
        (0.5, {"at_most": 0.5}),
        ([0.5, 0.7], {"at_least": 0.5, "at_most": 0.7}),
        (np.inf, {"at_least": 0.0}),
    ],
)
def test_a_value_that_agrees_with_its_knowledge_passes(value: Any, knowledge: dict[str, Any]) -> None:
    assert check(value, **knowledge).passed is True


@pytest.mark.parametrize(
    ("value", "knowledge"),
    [
        (1.0, {"expected": 1.5, "tolerance": 0.49}),
        (np.nan, {"expected": np.nan, "tolerance": 1.0}),
        (np.nan, {"expected": 0.0, "tolerance": np.inf}),
        (np.inf, {"expected": -np.inf, "tolerance": 1.0}),
        ([1.0, 2.0, 3.0], {"expected": [1.0, 2.0], "tolerance": 1.0}),
        (1.0, {"expected": [1.0], "tolerance": 1.0}),
        ([1.0, np.nan], {"expected": 1.0, "tolerance": 1.0}),
        (None, {"expected": 1.0, "tolerance": 1.0}),
        ("1", {"expected": 1.0, "tolerance": 1.0}),
        (True, {"expected": 1.0, "tolerance": 1.0}),
        (True, {"expected": 1}),
        (1, {"expected": True}),
        ("stick", {"expected": "slip"}),
        (0.6, {"at_most": 0.5}),
        (np.nan, {"at_most": 0.5}),
        ([], {"at_most": 0.5}),
        ("low", {"at_most": 0.5}),
        (0.4, {"at_least": 0.5, "at_most": 0.7}),
    ],
)
def test_a_value_outside_its_knowledge_fails(value: Any, knowledge: dict[str, Any]) -> None:
    assert check(value, **knowledge).passed is False


@pytest.mark.parametrize(
    "knowledge",
    [
        {},
        {"expected": 1.0},
        {"expected": [1.0]},
        {"expected": 1.0, "tolerance": -1.0},
        {"expected": 1.0, "tolerance": float("nan")},
        {"expected": 1, "at_most": 2.0},
        {"at_most": 2.0, "tolerance": 0.1},
    ],
)
def test_a_check_without_clear_knowledge_is_refused(knowledge: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="check 'quantity'"):
        check(1.0, **knowledge)


def test_a_check_is_stored_with_value_expectation_and_source() -> None:
    assert check(np.array([1.0, np.inf]), expected=[1.0, np.inf], tolerance=1e-9).as_json() == {
        "name": "quantity",
        "value": [1.0, "inf"],
        "expected": [1.0, "inf"],
        "tolerance": 1e-9,
        "passed": True,
        "source": "by hand",
    }
    assert check(0.3, at_most=0.5).as_json()["expected"] == {"at_most": 0.5}
    assert check(True, expected=True).as_json()["tolerance"] is None
