"""What a computation costs: counts of iterations and factorisations, and the time by part.

    effort = Effort()
    with effort.measured():
        …

Solvers and factorisations report here to the computation that surrounds them, if it is measured. What is reported
never changes what is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any

COUNTS = ("newton_iterations", "contact_problems", "contact_iterations", "factorisations")
CONTACT, ALGEBRA = "contact problem", "linear algebra"


class Effort:
    """Counts by the names of ``COUNTS``, and ``seconds`` by part."""

    def __init__(
        self, counts: Mapping[str, int] | None = None, seconds: Mapping[str, float] | None = None
    ) -> None:
        self.counts = {name: int((counts or {}).get(name, 0)) for name in COUNTS}
        self.seconds: dict[str, float] = dict(seconds or {})
        self._inside = False

    @contextmanager
    def measured(self) -> Iterator[None]:
        """What is done within reports here."""
        token = _MEASURED.set(self)
        try:
            yield
        finally:
            _MEASURED.reset(token)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """The time within belongs to ``part``, also that of parts inside it."""
        if self._inside:
            yield
            return
        self._inside, began = True, perf_counter()
        try:
            yield
        finally:
            self._inside = False
            self.seconds[part] = self.seconds.get(part, 0.0) + perf_counter() - began

    def plain(self) -> dict[str, Any]:
        return {"counts": dict(self.counts), "seconds": dict(self.seconds)}


_MEASURED: ContextVar[Effort | None] = ContextVar("klapper_effort", default=None)


def measured() -> Effort | None:
    """The computation that is measured, if any."""
    return _MEASURED.get()


def report(name: str, number: int = 1) -> None:
    """Add to a count of the computation that is measured."""
    effort = _MEASURED.get()
    if effort is not None:
        effort.counts[name] += number


@contextmanager
def part(name: str) -> Iterator[None]:
    """The time within belongs to this part of the computation that is measured."""
    effort = _MEASURED.get()
    if effort is None:
        yield
    else:
        with effort.timed(name):
            yield
