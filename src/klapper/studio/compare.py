"""Two runs beside each other: what was given differently, what came out differently, their books and histories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from klapper.report.run_data import run_data
from klapper.report.words import brief
from klapper.results import overview
from klapper.results.ledger import TITLES
from klapper.studio.opened import Opened

if TYPE_CHECKING:
    from klapper.results import Run

MOST_ROWS = 400
SAME = 1e-9  # relative difference below which two numbers are called equal
_HISTORIES = ("time", "position", "velocity", "spectrum", "directions", "contacts", "energy")


def compared(first: Opened, second: Opened) -> dict[str, Any]:
    """All that the page shows, as plain data; ``first`` is A and ``second`` is B."""
    sides = (first, second)
    numbers = _rows(*(dict(_numbers(side)) for side in sides))
    parameters = _rows(first.parameters, second.parameters)
    return {
        "sides": [_side(side) for side in sides],
        "parameters": [row for row in parameters if row["differs"]][:MOST_ROWS],
        "equal_parameters": sum(not row["differs"] for row in parameters),
        "numbers": numbers[:MOST_ROWS],
        "left_out": max(len(numbers) - MOST_ROWS, 0),
        "ledger": _rows(*(_ledger(side.run) for side in sides)),
        "histories": [None if side.run is None else _histories(side.run) for side in sides],
    }


def _side(side: Opened) -> dict[str, Any]:
    judged = side.verdict
    return {
        "path": side.path,
        "title": side.title,
        "verdict": judged.kind,
        "sentence": judged.sentence,
        "warnings": list(judged.warnings),
        "lines": _nested(judged.lines),
    }


def _nested(value: Any) -> Any:
    """Dictionaries as they are, all else in short."""
    if isinstance(value, Mapping) and value:
        return {str(name): _nested(entry) for name, entry in value.items()}
    return brief(value)


def _rows(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Values by name side by side, in the order of the first; numbers with what B has more than A."""
    names = list(dict.fromkeys([*first, *second]))
    return [_row(name, first.get(name), second.get(name)) for name in names]


def _row(name: str, a: Any, b: Any) -> dict[str, Any]:
    more = ""
    same = a == b or (a != a and b != b)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in (a, b)):
        more = f"{b - a:+.4g}" if b != a else "0"
        same = same or abs(b - a) <= SAME * max(abs(a), abs(b))
    return {"name": name, "a": brief(a), "b": brief(b), "more": more, "differs": not same}


def _numbers(side: Opened) -> Iterator[tuple[str, Any]]:
    if side.record is not None:
        yield from _flat(side.record.numbers)
        for check in side.record.checks:
            yield f"check: {check['name']}", "passed" if check["passed"] else "failed"
    if side.run is not None:
        yield from _of_run(side.run)


def _of_run(run: Run) -> Iterator[tuple[str, Any]]:
    told = overview.numbers(run)
    yield "time reached / s", told["end"]
    yield "samples", told["samples"]
    for name, words in (("steps", "steps"), ("wall_time", "computing time / s")):
        if isinstance(run.about.get(name), int | float):
            yield words, run.about[name]
    yield "largest residual of a contact problem", told["residual"]
    for kind, count in told["events"]["counts"].items():
        yield f"events: {kind}", count
    for contact in told["contacts"][: overview.SHOWN_CONTACTS]:
        for name, value in contact.items():
            if name != "contact":
                yield f"{contact['contact']}: {_WORDS.get(name, f'share of time {name}')}", value
    for name, value in told["coordinates"].items():
        yield f"{name} at the end / m or rad", value
    for name, value in told["velocities"].items():
        yield f"velocity of {name} at the end / m/s or rad/s", value


_WORDS = {
    "impacts": "impacts",
    "smallest_gap": "smallest gap / m",
    "largest_force": "largest force / N",
    "largest_impulse": "largest impulse / N s",
}


def _flat(content: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(content, Mapping) and content.keys() != {"real", "imag"}:
        for key, entry in content.items():
            yield from _flat(entry, f"{name}.{key}".strip("."))
    else:
        yield name, content


def _ledger(run: Run | None) -> dict[str, Any]:
    """Entries at the end [J] by title, and how well the books close."""
    if run is None or not len(run):
        return {}
    balance = run.ledger.balance
    told = {"energy at the start": balance["initial"]}
    told |= {title: balance[name] for name, title in TITLES.items()}
    return told | {"largest closing error": run.ledger.closing_error}


def _histories(run: Run) -> dict[str, Any]:
    data = run_data(run, None)
    return {name: data[name] for name in _HISTORIES}
