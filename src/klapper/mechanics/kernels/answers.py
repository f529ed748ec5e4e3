"""What functions of users return, as numbers in arrays: arrays, tuples, lists, nested or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from klapper.machine_code import njit

_REAL = (types.Integer, types.Float, types.Boolean)


def fill(out: np.ndarray, given: Any) -> bool:
    """Put numbers (n,) or rows (k, n) into an array of the same shape; False if the shape differs."""
    raise NotImplementedError


def fill_rows(out: np.ndarray, given: Any) -> bool:
    """Put one row (n,) or up to k rows into an array (k, n), and 0 into the others."""
    raise NotImplementedError


def as_number(given: Any) -> float:
    """One number, also as an array without axes."""
    raise NotImplementedError


def _real_array(given: Any, axes: int) -> bool:
    return isinstance(given, types.Array) and given.ndim == axes and isinstance(given.dtype, _REAL)


@overload(as_number, strict=False)
def _as_number(given: Any) -> Any:
    if isinstance(given, _REAL):
        return lambda given: float(given)
    if _real_array(given, 0):
        return lambda given: float(given[()])
    return None


@overload(fill, strict=False)
def _fill(out: Any, given: Any) -> Any:
    axes = out.ndim
    if isinstance(given, types.List | types.Array) and _depth(given) == axes:
        if axes == 1:
            return _copy
        return _copy_rows if isinstance(given, types.Array) else _fill_list
    if axes == 1 and isinstance(given, _REAL):
        return _one
    if isinstance(given, types.BaseTuple):
        entries = list(given)  # type: ignore[call-overload]
        if axes == 1 and all(isinstance(entry, _REAL) for entry in entries):
            return _written("out[{0}] = given[{0}]", len(entries))
        if axes == 2 and all(_depth(entry) == 1 for entry in entries):
            return _written("good = fill(out[{0}], given[{0}]) and good", len(entries))
    return None


@overload(fill_rows, strict=False)
def _fill_rows(out: Any, given: Any) -> Any:
    depth = _depth(given)
    if depth == 1:
        return _one_row
    if depth == 2:
        return _some_rows
    return None


def _depth(given: Any) -> int:
    """Number of axes, or −1 if it is nothing like an array of numbers."""
    if isinstance(given, _REAL):
        return 0
    if isinstance(given, types.Array):
        return given.ndim if isinstance(given.dtype, _REAL) else -1
    if isinstance(given, types.List):
        inner = {_depth(given.dtype)}
    elif isinstance(given, types.BaseTuple):
        inner = {_depth(entry) for entry in given}  # type: ignore[attr-defined]
    else:
        return -1
    return inner.pop() + 1 if len(inner) == 1 and -1 not in inner else -1


def _copy(out: np.ndarray, given: np.ndarray) -> bool:
    if len(given) != out.size:
        return False
    for k in range(out.size):  # a loop, as slices that are assigned take numba a second
        out[k] = given[k]
    return True


def _copy_rows(out: np.ndarray, given: np.ndarray) -> bool:
    rows, columns = out.shape
    if given.shape[0] != rows or given.shape[1] != columns:
        return False
    for k in range(rows):
        for j in range(columns):
            out[k, j] = given[k, j]
    return True


def _one(out: np.ndarray, given: float) -> bool:
    if out.size != 1:
        return False
    out[0] = given
    return True


def _fill_list(out: np.ndarray, given: list[Any]) -> bool:
    if len(given) != out.shape[0]:
        return False
    good = True
    for k in range(out.shape[0]):
        good = fill(out[k], given[k]) and good
    return good


def _one_row(out: np.ndarray, given: Any) -> bool:
    _clear(out, 1)
    return fill(out[0], given)


def _some_rows(out: np.ndarray, given: Any) -> bool:
    if len(given) > out.shape[0]:
        return False
    _clear(out, len(given))
    return fill(out[: len(given)], given)


@njit(error_model="numpy")
def _clear(out: np.ndarray, begin: int) -> None:
    for k in range(begin, out.shape[0]):
        for j in range(out.shape[1]):
            out[k, j] = 0.0


def _written(line: str, count: int) -> Callable[..., Any]:
    """A function that does the ``line`` for every entry of a tuple: those may be of different types."""
    text = (
        f"def entries(out, given):\n    if out.shape[0] != {count}:\n        return False\n    good = True\n"
    )
    text += "".join(f"    {line.format(k)}\n" for k in range(count)) + "    return good\n"
    names: dict[str, Any] = {"__name__": __name__, "fill": fill}
    exec(compile(text, "<klapper>", "exec"), names)
    made: Callable[..., Any] = names["entries"]
    return made
