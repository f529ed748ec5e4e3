"""A line that says what is compiled, and about how long it takes, when that is more than a moment.

Kernels are compiled when they are first called, once on a machine: :mod:`klapper.machine_code` keeps them on disk.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

__all__ = ["compilation_told", "expected_seconds"]

_MOMENT = 2.0  # seconds from which on something is said
_SECONDS = 0.3e-3  # per byte of Python code: within a factor of two on machines of 2020 to 2025


@contextmanager
def compilation_told(stream: TextIO | None = None) -> Iterator[None]:
    """Write a line to ``stream`` before each long compilation, and after them how long all took; None: standard error,
    if that is a terminal.

    >>> import sys
    >>> from klapper.compiling import compilation_told
    >>> with compilation_told(sys.stdout):  # nothing is said of work that compiles nothing
    ...     pass
    """
    if stream is None:
        if not sys.stderr.isatty():
            yield
            return
        stream = sys.stderr
    from numba.core import event

    listener = _listener(event.Listener, stream)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
        if listener.seconds >= _MOMENT:
            print(f"Compiled in {listener.seconds:.0f} s in all.", file=stream, flush=True)


def expected_seconds(function: Any) -> float:
    """About how long numba needs for a function with all that it calls, by the length of their code.

    >>> from klapper.compiling import expected_seconds
    >>> from klapper.schemes.kernels.linear_form import form, spring_energy
    >>> 0.0 < expected_seconds(spring_energy) < expected_seconds(form) + expected_seconds(spring_energy) < 2.0
    True
    """
    size = 0
    seen: set[int] = set()
    left = [function]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        body = one.py_func
        size += len(body.__code__.co_code)
        for name in body.__code__.co_names:
            used = body.__globals__.get(name)
            if hasattr(used, "py_func") and not used.overloads:
                left.append(used)
    return _SECONDS * size


def _listener(base: type, stream: TextIO) -> Any:
    class Told(base):  # type: ignore[misc]
        """Speaks when something is compiled that was not called by something that is."""

        depth, began, seconds = 0, 0.0, 0.0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth > 1:
                return
            self.began = time.perf_counter()
            function = event.data["dispatcher"]
            seconds = expected_seconds(function)
            if seconds >= _MOMENT:
                what = f"{function.py_func.__module__}.{function.py_func.__name__}"
                print(
                    f"Compiling {what}, once on this machine: about {seconds:.0f} s …",
                    file=stream,
                    flush=True,
                )

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += time.perf_counter() - self.began

    return Told()
