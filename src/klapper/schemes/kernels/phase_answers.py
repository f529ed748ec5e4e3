"""Single questions to a form from Python, by the addresses of its functions; signals are brought to the time first."""

from __future__ import annotations

import numpy as np

from klapper.schemes.form_kernels.compiling import outer
from klapper.schemes.kernels.phase_parts import (
    bring_of,
    c_curvature_of,
    c_directions_of,
    curvature_of,
    directions_of,
    force_of,
    gaps_of,
    mass_of,
    powers_of,
    residuals_of,
)


@outer
def ask_force(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    bring_of(at)(index, data, t)
    force_of(at)(index, data, t, q, v, out)


@outer
def ask_powers(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    bring_of(at)(index, data, t)
    powers_of(at)(index, data, t, q, v, out)


@outer
def ask_mass(
    index: np.ndarray, data: np.ndarray, at: np.ndarray, q: np.ndarray, places: np.ndarray, mass: np.ndarray
) -> None:
    entries = np.empty(places.shape[1])
    mass_of(at)(index, data, q, entries)
    mass[:, :] = 0.0
    for e in range(entries.size):
        mass[places[0, e], places[1, e]] += entries[e]


@outer
def ask_gaps(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    which: np.ndarray,
    out: np.ndarray,
) -> None:
    bring_of(at)(index, data, t)
    gaps_of(at)(index, data, t, q, which, out)


@outer
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
    k, d = directions.shape[0], directions.shape[1]
    columns, rows = np.zeros((k, width), dtype=np.int64), np.zeros((k, d, width))
    bring_of(at)(index, data, t)
    directions_of(at)(index, data, t, q, which, columns, rows, rates)
    for i in range(k):
        for c in range(d):
            for w in range(width):
                directions[i, c, columns[i, w]] += rows[i, c, w]


@outer
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
    bring_of(at)(index, data, t)
    curvature_of(at)(index, data, t, q, v, which, out)


@outer
def ask_residuals(
    index: np.ndarray, data: np.ndarray, at: np.ndarray, t: float, q: np.ndarray, out: np.ndarray
) -> None:
    bring_of(at)(index, data, t)
    residuals_of(at)(index, data, t, q, out)


@outer
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
    p = directions.shape[0]
    columns, rows = np.zeros((p, width), dtype=np.int64), np.zeros((p, width))
    bring_of(at)(index, data, t)
    c_directions_of(at)(index, data, t, q, columns, rows, rates)
    for i in range(p):
        for w in range(width):
            directions[i, columns[i, w]] += rows[i, w]


@outer
def ask_constraint_curvature(
    index: np.ndarray,
    data: np.ndarray,
    at: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    bring_of(at)(index, data, t)
    c_curvature_of(at)(index, data, t, q, v, out)
