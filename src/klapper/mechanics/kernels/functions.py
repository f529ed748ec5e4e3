"""A system of functions in compiled code: its parts around functions of a user, (…) → inlined numba functions.

Every part reads captured numbers of the function that it calls next from ``data[captured:]``. Tables of contacts and
constraints begin with the same four columns: gap or residual, and its gradient, each as kind and place.

    value       AFFINE: gradient · q + signal at the place;  FUNCTION + k: function k, captured numbers at the place
    gradient    ARRAY: (n,) at the place;  DIFFERENCES;  FUNCTION + k
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from klapper.machine_code import njit
from klapper.mechanics.compiled_form import Tables
from klapper.mechanics.kernels.answers import as_number, fill, fill_rows
from klapper.mechanics.kernels.captured import readonly
from klapper.mechanics.kernels.given import coefficient
from klapper.mechanics.kernels.signatures import form_function, uncounted

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
"""Columns of the table of contacts: value (2), gradient (2), tangents (2), given rate and its components, has normal,
law."""
CONSTRAINT_WIDTH = 4

_views = njit(cache=True, error_model="numpy")
"""What is the same for all models is compiled once, and called by what is compiled for a model."""
_library = uncounted
_DIFFERENCE = 6.0e-6  # as everywhere: the cube root of the rounding unit


def one_of(functions: tuple[Any, ...], arguments: int) -> Callable[..., Any]:
    """(kind, …): function number ``kind`` of the same arguments."""
    names = ", ".join(f"x{k}" for k in range(arguments))
    text = f"def chosen(kind, {names}):\n"
    for k in range(len(functions) - 1):
        text += f"    if kind == {k}:\n        return f{k}({names})\n"
    text += f"    return f{len(functions) - 1}({names})\n"
    scope: dict[str, Any] = {"__name__": __name__} | {
        f"f{k}": function for k, function in enumerate(functions)
    }
    exec(_read(text), scope)
    made: Callable[..., Any] = scope["chosen"]
    return made


@lru_cache(maxsize=256)
def _read(text: str) -> CodeType:
    """The code of a text; reading it takes longer than all else that is done for a form."""
    return compile(text, "<klapper>", "exec")


@form_function("mass", allocates=False)
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


@_library
def contact_row(index: np.ndarray, contact: int) -> int:
    """Where the row of a contact is in ``index``; −1 for numbers that stand for no contact."""
    return index[ROWS] + WIDTH * contact if 0 <= contact < index[CONTACTS] else -1


@_library
def constraint_row(index: np.ndarray, constraint: int) -> int:
    return index[CONSTRAINTS] + CONSTRAINT_WIDTH * constraint


@_library
def affine_value(index: np.ndarray, data: np.ndarray, row: int, q: np.ndarray) -> float:
    """gradient · q + signal; nan for all others."""
    if row < 0 or index[row] != AFFINE:
        return math.nan
    total, place = 0.0, index[row + 3]
    for j in range(q.size):
        total += data[place + j] * q[j]
    return total + data[index[row + 1]]


@_library
def given_gradient(index: np.ndarray, data: np.ndarray, row: int, out: np.ndarray) -> float:
    """The gradient (n,) if it is an array, else nan; returns the rate of an affine value, else nan."""
    kind, place = index[row + 2], index[row + 3]
    for j in range(out.size):
        out[j] = data[place + j] if kind == ARRAY else math.nan
    return data[index[row + 1] + 1] if index[row] == AFFINE else math.nan


@_library
def differences(index: np.ndarray, row: int) -> int:
    """How many values the derivatives of a gap or residual take: none, those over t, or those over t and q."""
    if row < 0 or index[row] < FUNCTION:
        return 0
    return 2 + 2 * index[SIZE] if index[row + 2] == DIFFERENCES else 2


@_library
def shifted(step: int, t: float, q: np.ndarray, moved: np.ndarray) -> float:
    """Time and position of a value: t ahead and behind, then every coordinate; the position goes into ``moved``."""
    for j in range(q.size):
        moved[j] = q[j]
    d = spacing(step, t, q)
    if step % 2 == 1:
        d = -d
    if step < 2:
        return t + d
    moved[step // 2 - 1] += d
    return t


@_library
def spacing(step: int, t: float, q: np.ndarray) -> float:
    return _DIFFERENCE * max(abs(t if step < 2 else q[step // 2 - 1]), 1.0)


@_views
def contact_gradient(rows: np.ndarray, k: int) -> np.ndarray:
    return rows[k, 0]


@_views
def contact_tangents(rows: np.ndarray, k: int) -> np.ndarray:
    """The rows (d, n) of the tangents, all nan."""
    rows[k, 1:] = math.nan
    return rows[k, 1:]


@_views
def constraint_gradient(rows: np.ndarray, k: int) -> np.ndarray:
    return rows[k]


@form_function("gaps", allocates=False)
def affine_gaps(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, which: np.ndarray, out: np.ndarray
) -> None:
    for k in range(which.size):
        out[k] = affine_value(index, data, contact_row(index, which[k]), q)


@form_function("directions", allocates=False)
def given_directions(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    which: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    rates: np.ndarray,
) -> None:
    """All that is given by arrays and signals; normals and rates of other gaps are nan."""
    n, d = q.size, rates.shape[1] - 1
    for k in range(which.size):
        row = contact_row(index, which[k])
        for j in range(n):
            columns[k, j] = j
        for r in range(1 + d):
            rates[k, r] = 0.0
            for j in range(n):
                rows[k, r, j] = 0.0
        if row < 0:
            continue
        if index[row] != NONE:
            rates[k, 0] = given_gradient(index, data, row, rows[k, 0])
        for r in range(d if index[row + 4] == ARRAY else 0):
            for j in range(n):
                rows[k, 1 + r, j] = data[index[row + 5] + r * n + j]
        for r in range(index[row + 7]):
            rates[k, 1 + r] = data[index[row + 6] + r]


@form_function("residuals", allocates=False)
def affine_residuals(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> None:
    for k in range(out.size):
        out[k] = affine_value(index, data, constraint_row(index, k), q)


@form_function("constraint_directions", allocates=False)
def given_constraint_directions(
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
        rates[k] = given_gradient(index, data, constraint_row(index, k), rows[k])


def gaps_of(value: Any) -> Callable[..., None]:
    """``value`` (kind, t, q) are the gaps that are functions."""

    def gaps(
        index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, which: np.ndarray, out: np.ndarray
    ) -> None:
        affine_gaps(index, data, t, q, which, out)
        for k in range(which.size):
            row = contact_row(index, which[k])
            if differences(index, row) > 0:
                captured = index[row + 1]  # noqa: F841
                out[k] = value(index[row], t, readonly(q))

    return gaps


def residuals_of(value: Any) -> Callable[..., None]:
    def residuals(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> None:
        affine_residuals(index, data, t, q, out)
        for k in range(out.size):
            row = constraint_row(index, k)
            if differences(index, row) > 0:
                captured = index[row + 1]  # noqa: F841
                out[k] = value(index[row], t, readonly(q))

    return residuals


def gradient_of(value: Any) -> Callable[..., float]:
    """(row, t, q, out (n,)): the gradient of a gap or residual if it is of differences; returns its rate ∂/∂t."""

    def gradient(
        index: np.ndarray, data: np.ndarray, row: int, t: float, q: np.ndarray, out: np.ndarray
    ) -> float:
        captured = index[row + 1]  # noqa: F841
        moved, ahead, rate = np.empty(q.size), 0.0, math.nan
        for step in range(differences(index, row)):
            now = value(index[row], shifted(step, t, q, moved), readonly(moved))
            if step % 2 == 0:
                ahead = now
            elif step == 1:
                rate = (ahead - now) / (2.0 * spacing(step, t, q))
            else:
                out[step // 2 - 1] = (ahead - now) / (2.0 * spacing(step, t, q))
        return rate

    return gradient


def directions_of(gradient: Any, normal: Any, tangents: Any) -> Callable[..., None]:
    """``gradient`` as above or None; ``normal`` (kind, t, q, out (n,)) and ``tangents`` (…, out (d, n)), or None."""

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
        given_directions(index, data, t, q, which, columns, rows, rates)
        for k in range(which.size):
            row = contact_row(index, which[k])
            if row < 0:
                continue
            if gradient is not None and index[row] >= FUNCTION:
                rates[k, 0] = gradient(index, data, row, t, q, contact_gradient(rows, k))
            if normal is not None and index[row + 2] >= FUNCTION:
                captured = index[row + 3]
                normal(index[row + 2], t, readonly(q), contact_gradient(rows, k))
            if tangents is not None and index[row + 4] >= FUNCTION:
                captured = index[row + 5]  # noqa: F841
                tangents(index[row + 4], t, readonly(q), contact_tangents(rows, k))

    return directions


def constraint_directions_of(gradient: Any, direction: Any) -> Callable[..., None]:
    def constraint_directions(
        index: np.ndarray,
        data: np.ndarray,
        t: float,
        q: np.ndarray,
        columns: np.ndarray,
        rows: np.ndarray,
        rates: np.ndarray,
    ) -> None:
        given_constraint_directions(index, data, t, q, columns, rows, rates)
        for k in range(rates.size):
            row = constraint_row(index, k)
            if index[row] >= FUNCTION:
                rates[k] = gradient(index, data, row, t, q, constraint_gradient(rows, k))
            if direction is not None and index[row + 2] >= FUNCTION:
                captured = index[row + 3]  # noqa: F841
                direction(index[row + 2], t, readonly(q), constraint_gradient(rows, k))

    return constraint_directions


@form_function("laws", allocates=False)
def given_laws(
    index: np.ndarray, data: np.ndarray, which: np.ndarray, speed: np.ndarray, out: np.ndarray
) -> None:
    """The laws where no friction is a function of the user's."""
    for k in range(which.size):
        law = given_law(index, data, which[k], out, k)
        if law >= 0:
            out[k, 2] = coefficient(index, data, law, speed[k])


def laws_of(own: Any) -> Callable[..., None]:
    """``own`` (index, data, law, speed) → μ, as of :class:`klapper.mechanics.user_signals.OwnSignals`."""

    def laws(
        index: np.ndarray, data: np.ndarray, which: np.ndarray, speed: np.ndarray, out: np.ndarray
    ) -> None:
        for k in range(which.size):
            law = given_law(index, data, which[k], out, k)
            if law >= 0:
                mu = own(index, data, law, speed[k])
                if mu >= 0.0:
                    out[k, 2] = mu

    return laws


@_library
def given_law(index: np.ndarray, data: np.ndarray, contact: int, out: np.ndarray, k: int) -> int:
    """Row k of the laws without μ, which is nan; returns the number of the friction law, −1 if there is none."""
    row, place = contact_row(index, contact), index[LAWS] + 3 * contact
    for r in range(4):
        out[k, r] = 0.0
    out[k, 4] = 1.0
    if row < 0:
        return -1
    law = index[row + 9]
    out[k, 0] = float(index[row + 8])
    out[k, 1] = data[place]
    out[k, 2] = 0.0 if law < 0 else math.nan
    out[k, 3] = data[place + 1]
    out[k, 4] = data[place + 2]
    return law
