"""Values, expectations and verdicts of a record in a few characters, for tables and pages."""

from collections.abc import Iterator
from typing import Any

SHOWN_ENTRIES = 8


def brief(value: Any) -> str:
    """A value in one short line; long lists by their size and range."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return _brief_list(value)
    if isinstance(value, dict):
        if value.keys() == {"real", "imag"} and all(isinstance(part, int | float) for part in value.values()):
            return f"{complex(value['real'], value['imag']):.6g}"
        return f"({', '.join(f'{name} {brief(entry)}' for name, entry in value.items())})" if value else "–"
    return str(value)


def expectation(check: dict[str, Any]) -> str:
    """What a check expects: a value, or bounds written with ≤ and ≥."""
    expected = check["expected"]
    if not isinstance(expected, dict) or not expected or not expected.keys() <= {"at_least", "at_most"}:
        return brief(expected)
    signs = {"at_least": "≥", "at_most": "≤"}
    return " and ".join(f"{signs[name]} {brief(bound)}" for name, bound in expected.items())


def deviation(check: dict[str, Any]) -> str:
    """The largest distance between value and expected value, where both are numbers."""
    pairs = list(_pairs(check["value"], check["expected"]))
    if not pairs or not all(_is_number(entry) for pair in pairs for entry in pair):
        return ""
    return f"{max(abs(value - expected) for value, expected in pairs):.3g}"


def verdict(checks: list[dict[str, Any]]) -> str:
    """The outcome of all checks in one sentence."""
    failed = [check["name"] for check in checks if not check["passed"]]
    if not checks:
        return "No check applies to these parameters."
    if not failed:
        return "The check passed." if len(checks) == 1 else f"All {len(checks)} checks passed."
    return f"{len(failed)} of {len(checks)} checks failed: {'; '.join(failed)}."


def _brief_list(value: list[Any]) -> str:
    if len(value) <= SHOWN_ENTRIES and not any(isinstance(entry, dict) and len(entry) > 2 for entry in value):
        return f"[{', '.join(brief(entry) for entry in value)}]"
    numbers = [entry for entry in value if _is_number(entry)]
    if len(numbers) == len(value):
        return f"{len(value)} entries from {brief(min(numbers))} to {brief(max(numbers))}"
    return f"{len(value)} entries: {brief(value[0])}, …, {brief(value[-1])}"


def _pairs(value: Any, expected: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list):
        spread = expected if isinstance(expected, list) else [expected] * len(value)
        for entry, other in zip(value, spread, strict=False):
            yield from _pairs(entry, other)
    else:
        yield value, expected


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
