"""Single questions to a form from Python, by the addresses of its functions; signals are brought to the time first."""

from __future__ import annotations

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.phase_parts import form_of
from klapper.schemes.kernels.phase_rows import (
    BRING,
    C_CURVATURE,
    C_DIRECTIONS,
    CURVATURE,
    DIRECTIONS,
    FORCE,
    GAPS,
    MASS,
    POWERS,
    RESIDUALS,
)


@njit(cache=True, error_model="numpy")
def ask_force(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    form = form_of(index, data, at)
    form[BRING](index, data, t)
    form[FORCE](index, data, t, q, v, out)


@njit(cache=True, error_model="numpy")
def ask_powers(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    form = form_of(index, data, at)
    form[BRING](index, data, t)
    form[POWERS](index, data, t, q, v, out)


@njit(cache=True, error_model="numpy")
def ask_mass(
    index: np.ndarray, data: np.ndarray, at: np.ndarray, q: np.ndarray, places: np.ndarray, mass: np.ndarray
) -> None:
    entries = np.empty(places.shape[1])
    form_of(index, data, at)[MASS](index, data, q, entries)
    mass[:, :] = 0.0
    for e in range(entries.size):
        mass[places[0, e], places[1, e]] += entries[e]


@njit(cache=True, error_model="numpy")
def ask_gaps(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    which: np.ndarray,
    out: np.ndarray,
) -> None:
    form = form_of(index, data, at)
    form[BRING](index, data, t)
    form[GAPS](index, data, t, q, which, out)


@njit(cache=True, error_model="numpy")
def ask_directions(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    which: np.ndarray,
    width: int,
    directions: np.ndarray,
    rates: np.ndarray,
) -> None:
    """``directions`` (k, 1 + d, n) and ``rates`` (k, 1 + d)."""
    form = form_of(index, data, at)
    k, d = directions.shape[0], directions.shape[1]
    columns, rows = np.zeros((k, width), dtype=np.int64), np.zeros((k, d, width))
    form[BRING](index, data, t)
    form[DIRECTIONS](index, data, t, q, which, columns, rows, rates)
    for i in range(k):
        for c in range(d):
            for w in range(width):
                directions[i, c, columns[i, w]] += rows[i, c, w]


@njit(cache=True, error_model="numpy")
def ask_curvature(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    which: np.ndarray,
    out: np.ndarray,
) -> None:
    form = form_of(index, data, at)
    form[BRING](index, data, t)
    form[CURVATURE](index, data, t, q, v, which, out)


@njit(cache=True, error_model="numpy")
def ask_residuals(
    index: np.ndarray, data: np.ndarray, at: np.ndarray, t: float, q: np.ndarray, out: np.ndarray
) -> None:
    form = form_of(index, data, at)
    form[BRING](index, data, t)
    form[RESIDUALS](index, data, t, q, out)


@njit(cache=True, error_model="numpy")
def ask_constraint_directions(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    width: int,
    directions: np.ndarray,
    rates: np.ndarray,
) -> None:
    """``directions`` (p, n) and ``rates`` (p,)."""
    form = form_of(index, data, at)
    p = directions.shape[0]
    columns, rows = np.zeros((p, width), dtype=np.int64), np.zeros((p, width))
    form[BRING](index, data, t)
    form[C_DIRECTIONS](index, data, t, q, columns, rows, rates)
    for i in range(p):
        for w in range(width):
            directions[i, columns[i, w]] += rows[i, w]


@njit(cache=True, error_model="numpy")
def ask_constraint_curvature(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    form = form_of(index, data, at)
    form[BRING](index, data, t)
    form[C_CURVATURE](index, data, t, q, v, out)
