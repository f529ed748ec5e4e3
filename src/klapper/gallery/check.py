"""A check: a computed value beside independent knowledge of what it must be.

    |value − expected| ≤ tolerance      numbers, entry by entry
    value = expected                    texts, truth values, whole numbers, lists of these
    at_least ≤ value ≤ at_most          one-sided or between bounds, entry by entry

The expected value is computed from the parameters of the run, so that a check stays valid when they change. A
check that holds for the shipped parameters only (a printed number of a paper) is left out by the example when
others are given.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

from klapper.report.record import plain


@dataclass(frozen=True)
class Check:
    """One comparison; whether it ``passed`` is computed, never stated.

    ``name``       what is compared
    ``value``      what was computed, a number, an array or a text
    ``source``     where the expected value comes from: a closed form, another method, an equation of a paper
    ``expected``   with an absolute ``tolerance``, in the same unit, where it is a real number; one of each may stand
                   for all entries of an array
    ``at_least``, ``at_most``  bounds instead, in the same unit

    A residual that should vanish reads best as ``expected=0.0, tolerance=1e-9``. Entries that are not a number never
    pass. |value − expected| ≤ tolerance:

    >>> Check("time of fall", value=0.4515, source="√(2 h/g)", expected=0.4515236, tolerance=1e-4).passed
    True
    """

    name: str
    _: KW_ONLY
    value: Any
    source: str
    expected: Any = None
    tolerance: Any = None
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        bounded = self.at_least is not None or self.at_most is not None
        if bounded == (self.expected is not None) or (bounded and self.tolerance is not None):
            raise ValueError(
                f"check '{self.name}': give either expected (and tolerance), or at_least and at_most"
            )
        real = any(isinstance(entry, float | complex) for entry in _entries(_bare(self.expected)))
        if real and self.tolerance is None:
            raise ValueError(f"check '{self.name}': a real number needs a tolerance")
        if any(not entry >= 0 for entry in _entries(_bare(self.tolerance)) if entry is not None):
            raise ValueError(
                f"check '{self.name}': a tolerance is a number of at least 0, not {self.tolerance}"
            )

    @property
    def passed(self) -> bool:
        value = _bare(self.value)
        if self.expected is None:
            low = float("-inf") if self.at_least is None else self.at_least
            high = float("inf") if self.at_most is None else self.at_most
            entries = list(_entries(value))
            return bool(entries) and all(_is_real(entry) and low <= entry <= high for entry in entries)
        if self.tolerance is None:
            return _same(value, _bare(self.expected))
        return _close(value, _bare(self.expected), _bare(self.tolerance))

    def as_json(self) -> dict[str, Any]:
        """The check as stored: bounds stand as ``{"at_least": …, "at_most": …}`` in ``expected``."""
        bounds = {"at_least": self.at_least, "at_most": self.at_most}
        expected = self.expected
        if expected is None:
            expected = {name: bound for name, bound in bounds.items() if bound is not None}
        return {
            "name": self.name,
            "value": plain(self.value, f"value of check '{self.name}'"),
            "expected": plain(expected, f"expected value of check '{self.name}'"),
            "tolerance": plain(self.tolerance),
            "passed": self.passed,
            "source": self.source,
        }


def _bare(value: Any) -> Any:
    """Arrays as nested lists and numpy's scalars as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_bare(entry) for entry in value] if isinstance(value, list | tuple) else value


def _entries(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for entry in value:
            yield from _entries(entry)
    else:
        yield value


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(value: Any, expected: Any) -> bool:
    """Whether both are equal; a truth value is not a number."""
    kinds = [[isinstance(entry, bool) for entry in _entries(side)] for side in (value, expected)]
    return kinds[0] == kinds[1] and bool(plain(value) == plain(expected))


def _close(value: Any, expected: Any, tolerance: Any) -> bool:
    """Whether both have the same shape and every entry is within the tolerance."""
    if isinstance(value, list):
        spread = [
            entry if isinstance(entry, list) else [entry] * len(value) for entry in (expected, tolerance)
        ]
        same_length = all(len(entry) == len(value) for entry in spread)
        return same_length and all(map(_close, value, *spread))
    if any(
        not isinstance(entry, int | float | complex) or isinstance(entry, bool) for entry in (value, expected)
    ):
        return False
    return bool(value == expected or abs(value - expected) <= tolerance) and not isinstance(tolerance, list)
