"""A system of functions in compiled code: its parts around functions of a user, (…) → inlined numba functions.

Every part reads captured numbers of the function that it calls next from ``data[captured:]``. Tables of contacts and
constraints begin with the same four columns: gap or residual, and its gradient, each as kind and place.

    value       AFFINE: gradient · q + signal at the place;  FUNCTION + k: function k, captured numbers at the place
    gradient    ARRAY: (n,) at the place;  DIFFERENCES;  FUNCTION + k
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from klapper.mechanics.compiled_form import Tables
from klapper.mechanics.kernels.answers import as_number, fill, fill_rows
from klapper.mechanics.kernels.captured import readonly

NONE, AFFINE, FUNCTION = -2, -1, 0
"""Kinds of values: no gap; affine in q; function 0, 1, …"""
DIFFERENCES, ARRAY = -2, -1
"""Kinds of gradients; of tangents, where NONE stands for none."""
HEAD = 12
"""Entries that a system of functions begins with in ``index``, from ``Tables.HEADER`` on:"""
SIZE, CONTACTS, ROWS, LAWS, CONSTRAINTS, CONSTANT_MASS = range(Tables.HEADER, Tables.HEADER + 6)
"""n, m, tables of contacts (in ``index``), laws (in ``data``) and constraints, entries of a constant mass."""
MASS, FORCE, STIFF, TANGENTS, POTENTIAL, DAMPING = range(Tables.HEADER + 6, Tables.HEADER + HEAD)
"""Captured numbers (in ``data``) of these functions."""
WIDTH = 10
"""Columns of the table of contacts: value (2), gradient (2), tangents (2), given rate and its components, has normal, law.
"""
CONSTRAINT_WIDTH = 4

_DIFFERENCE = 6.0e-6  # as everywhere: the cube root of the rounding unit


def one_of(functions: tuple[Any, ...], arguments: int) -> Callable[..., Any]:
    """(kind, …): function number ``kind`` of the same arguments."""
    names = ", ".join(f"x{k}" for k in range(arguments))
    text = f"def chosen(kind, {names}):\n"
    for k in range(len(functions) - 1):
        text += f"    if kind == {k}:\n        return f{k}({names})\n"
    text += f"    return f{len(functions) - 1}({names})\n"
    scope: dict[str, Any] = {"__name__": __name__} | {f"f{k}": function for k, function in enumerate(functions)}
    exec(compile(text, "<klapper>", "exec"), scope)
    made: Callable[..., Any] = scope["chosen"]
    return made


@njit(inline="always")
def no_number(kind: int, t: float, q: np.ndarray) -> float:
    return math.nan


def constant_mass(index: np.ndarray, data: np.ndarray, q: np.ndarray, out: np.ndarray) -> None:
    place = index[CONSTANT_MASS]
    for k in range(out.size):
        out[k] = data[place + k]


def mass_of(function: Any) -> Callable[..., None]:
    def mass(index: np.ndarray, data: np.ndarray, q: np.ndarray, out: np.ndarray) -> None:
        captured = index[MASS]  # noqa: F841
        for k in range(out.size):
            out[k] = math.nan
        n = index[SIZE]
        fill(out.reshape((n, n)), function(readonly(q)))

    return mass


def force_of(function: Any, place: int) -> Callable[..., None]:
    def force(
        index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
    ) -> None:
        captured = index[place]  # noqa: F841
        for k in range(out.size):
            out[k] = math.nan
        fill(out, function(t, readonly(q), readonly(v)))

    return force


def tangents_of(function: Any) -> Callable[..., None]:
    def tangents(
        index: np.ndarray,
        data: np.ndarray,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        by_position: np.ndarray,
        by_velocity: np.ndarray,
    ) -> None:
        captured = index[TANGENTS]  # noqa: F841
        for k in range(by_position.size):
            by_position[k] = math.nan
            by_velocity[k] = math.nan
        n = index[SIZE]
        parts = function(t, readonly(q), readonly(v))
        fill(by_position.reshape((n, n)), parts[0])
        fill(by_velocity.reshape((n, n)), parts[1])

    return tangents


def potential_of(function: Any) -> Callable[..., float]:
    def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
        captured = index[POTENTIAL]  # noqa: F841
        return as_number(function(readonly(q)))

    return potential


def damping_of(function: Any) -> Callable[..., float]:
    def damping(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> float:
        captured = index[DAMPING]  # noqa: F841
        return as_number(function(t, readonly(q), readonly(v)))

    return damping


def number_of(function: Any) -> Callable[..., float]:
    def number(t: float, q: np.ndarray) -> float:
        return as_number(function(t, q))

    return number


def row_of(function: Any) -> Callable[..., bool]:
    def row(t: float, q: np.ndarray, out: np.ndarray) -> bool:
        return fill(out, function(t, q))

    return row


def rows_of(function: Any) -> Callable[..., bool]:
    def rows(t: float, q: np.ndarray, out: np.ndarray) -> bool:
        return fill_rows(out, function(t, q))

    return rows


def value_of(chosen: Any) -> Callable[..., float]:
    """(row, t, q): the gap or residual of a row of a table."""

    def value(index: np.ndarray, data: np.ndarray, row: int, t: float, q: np.ndarray) -> float:
        kind, captured = index[row], index[row + 1]
        if kind >= FUNCTION:
            return chosen(kind, t, readonly(q))
        if kind == NONE:
            return math.nan
        place, total = index[row + 3], data[captured]
        for j in range(q.size):
            total += data[place + j] * q[j]
        return total

    return value


def gradient_of(value: Any, chosen: Any = None) -> Callable[..., float]:
    """(row, t, q, out (n,)): the gradient of a gap or residual; returns its rate ∂/∂t.

    ``chosen`` (kind, t, q, out (n,)) are functions that give gradients; None if none is a function.
    """

    def gradient(
        index: np.ndarray, data: np.ndarray, row: int, t: float, q: np.ndarray, out: np.ndarray
    ) -> float:
        kind, captured, n = index[row + 2], index[row + 3], index[SIZE]
        for j in range(n):
            out[j] = data[captured + j] if kind == ARRAY else math.nan
        if index[row] == NONE:
            for j in range(n):
                out[j] = 0.0
            return 0.0
        if index[row] == AFFINE:
            return data[index[row + 1] + 1]
        if chosen is not None:
            if kind >= FUNCTION:
                chosen(kind, t, readonly(q), out)
        moved = q.copy()
        time, rate = t, 0.0
        for s in range(-2, 2 * n if kind == DIFFERENCES else 0):  # t ahead and behind, then every coordinate
            j = s // 2
            d = _DIFFERENCE * max(abs(t if s < 0 else q[j]), 1.0)
            if s % 2 == 1:
                d = -d
            if s < 0:
                time = t + d
            else:
                time = t
                moved[j] = q[j] + d
            now = value(index, data, row, time, moved)
            if s < 0:
                rate = now if d > 0.0 else (rate - now) / (-2.0 * d)
            else:
                out[j] = now if d > 0.0 else (out[j] - now) / (-2.0 * d)
                moved[j] = q[j]
        return rate

    return gradient


def gaps_of(value: Any) -> Callable[..., None]:
    def gaps(
        index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, which: np.ndarray, out: np.ndarray
    ) -> None:
        for k in range(which.size):
            out[k] = math.nan
        for k in range(which.size):
            if 0 <= which[k] < index[CONTACTS]:
                out[k] = value(index, data, index[ROWS] + WIDTH * which[k], t, q)

    return gaps


def directions_of(gradient: Any, chosen: Any = None) -> Callable[..., None]:
    """``chosen`` (kind, t, q, out (d, n)) are functions that give tangents; None if none is a function."""

    def directions(
        index: np.ndarray,
        data: np.ndarray,
        t: float,
        q: np.ndarray,
        which: np.ndarray,
        columns: np.ndarray,
        rows: np.ndarray,
        rates: np.ndarray,
    ) -> None:
        n, d = index[SIZE], rates.shape[1] - 1
        for k in range(which.size):
            for r in range(1 + d):
                rates[k, r] = 0.0
                for j in range(n):
                    columns[k, j] = j
                    rows[k, r, j] = math.nan  # stays where a function raises
        for k in range(which.size):
            known = 0 <= which[k] < index[CONTACTS]
            row = index[ROWS] + WIDTH * which[k] if known else 0
            kind, captured = (index[row + 4], index[row + 5]) if known else (NONE, 0)
            for r in range(d):
                for j in range(n):
                    rows[k, 1 + r, j] = data[captured + r * n + j] if kind == ARRAY else 0.0
            if not known:
                for j in range(n):
                    rows[k, 0, j] = 0.0
                continue
            for r in range(index[row + 7]):
                rates[k, 1 + r] = data[index[row + 6] + r]
            rates[k, 0] = gradient(index, data, row, t, q, rows[k, 0])
            if chosen is not None:
                if kind >= FUNCTION:
                    for r in range(d):
                        for j in range(n):
                            rows[k, 1 + r, j] = math.nan
                    chosen(kind, t, readonly(q), rows[k, 1:])

    return directions


def laws_of(coefficient: Any) -> Callable[..., None]:
    def laws(
        index: np.ndarray, data: np.ndarray, which: np.ndarray, speed: np.ndarray, out: np.ndarray
    ) -> None:
        for k in range(which.size):
            for r in range(5):
                out[k, r] = 0.0
            out[k, 4] = 1.0
        for k in range(which.size):
            if not 0 <= which[k] < index[CONTACTS]:
                continue
            row, place = index[ROWS] + WIDTH * which[k], index[LAWS] + 3 * which[k]
            out[k, 0] = float(index[row + 8])
            out[k, 1] = data[place]
            out[k, 2] = math.nan
            out[k, 3] = data[place + 1]
            out[k, 4] = data[place + 2]
            law = index[row + 9]
            mu = 0.0 if law < 0 else coefficient(index, data, law, speed[k])
            out[k, 2] = mu if mu >= 0.0 else math.nan

    return laws


def residuals_of(value: Any) -> Callable[..., None]:
    def residuals(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> None:
        for k in range(out.size):
            out[k] = math.nan
        for k in range(out.size):
            out[k] = value(index, data, index[CONSTRAINTS] + CONSTRAINT_WIDTH * k, t, q)

    return residuals


def constraint_directions_of(gradient: Any) -> Callable[..., None]:
    def constraint_directions(
        index: np.ndarray,
        data: np.ndarray,
        t: float,
        q: np.ndarray,
        columns: np.ndarray,
        rows: np.ndarray,
        rates: np.ndarray,
    ) -> None:
        for k in range(rates.size):
            for j in range(q.size):
                columns[k, j] = j
                rows[k, j] = math.nan
        for k in range(rates.size):
            rates[k] = gradient(index, data, index[CONSTRAINTS] + CONSTRAINT_WIDTH * k, t, q, rows[k])

    return constraint_directions
