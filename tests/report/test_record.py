"""Records: plain data, JSON without loss, damaged files told in one sentence."""

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.report.record import DamagedRecord, Record, plain, read


class State(Enum):
    STICK = 1


@dataclass(frozen=True)
class Residual:
    worst: float
    place: tuple[int, int]


RECORD = Record(
    example="table",
    parameters={"weight": 100.0},
    numbers={
        "forces": [1.0, 2.0],
        "limit": "inf",
        "text": "[\n1,\n2]",
        "empty": [],
        "rows": [[1, 2], [3, 4]],
    },
    checks=[
        {
            "name": "λ",
            "value": 1.0,
            "expected": 1.0,
            "tolerance": 0.0,
            "passed": True,
            "source": "closed form",
        },
    ],
    audit={"residuals": {"worst": 1e-12}},
)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([[1.0, np.nan], [np.inf, -np.inf]]), [[1.0, "nan"], ["inf", "-inf"]]),
        (np.array(["a", "b"]), ["a", "b"]),
        ((1, None, "x"), [1, None, "x"]),
        ({1: {"a": (2.0,)}}, {"1": {"a": [2.0]}}),
        (1 - 2j, {"real": 1.0, "imag": -2.0}),
        (np.array([1j]), [{"real": 0.0, "imag": 1.0}]),
        (State.STICK, "stick"),
        (Residual(1.0, (2, 3)), {"worst": 1.0, "place": [2, 3]}),
        (Path("a/b"), "a/b"),
    ],
)
def test_every_value_becomes_plain_json(value: Any, stored: Any) -> None:
    assert plain(value) == stored
    json.dumps(plain(value), allow_nan=False)


def test_what_cannot_be_stored_is_named_by_its_place() -> None:
    with pytest.raises(TypeError, match=r"^audit\.solver\[1\] is a object, which cannot be stored"):
        plain({"solver": [1, object()]}, "audit")


def test_json_is_strict_complete_and_readable() -> None:
    text = RECORD.as_json()

    def refuse(token: str) -> None:
        raise AssertionError(token)

    content = json.loads(text, parse_constant=refuse)
    assert list(content) == ["example", "parameters", "numbers", "checks", "audit"]
    assert content["numbers"] == RECORD.numbers
    assert '"forces": [1.0, 2.0]' in text
    assert "λ" in text


def test_a_stored_record_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(RECORD.as_json(), encoding="utf-8")
    assert read(tmp_path / "result.json") == RECORD
    assert read(tmp_path) == RECORD


def without(name: str) -> str:
    content = json.loads(RECORD.as_json())
    del content[name]
    return json.dumps(content)


def with_check(check: Any) -> str:
    return json.dumps(json.loads(RECORD.as_json()) | {"checks": [check]})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        RECORD.as_json().encode()[:-40],
        b"\xff\xfe\x00",
        b"[]",
        b"3",
        b"[" * 100_000,
        *(without(name).encode() for name in ("example", "parameters", "numbers", "checks", "audit")),
        with_check(3).encode(),
        with_check({"name": "a"}).encode(),
        with_check(RECORD.checks[0] | {"passed": "yes"}).encode(),
    ],
)
def test_a_damaged_file_is_told_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "result.json"
    file.write_bytes(content)
    with pytest.raises(DamagedRecord, match="is no result of a run") as damaged:
        read(file)
    assert "\n" not in str(damaged.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DamagedRecord, match="does not exist"):
        read(tmp_path / "nothing.json")
