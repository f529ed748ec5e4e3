"""Projected Gauss–Seidel sweeps for 0 ≤ x ⟂ A x + b ≥ 0: contacts without friction.

    x_i ← max(0, x_i − ω y_i / A_ii),   y ← y + A_{:,i} Δx_i

A is stored by columns, so that y = A x + b is always current and unknowns that stay zero cost nothing. The
strategy is that of ``contact_sweep``: sweeps over all, then over those that still change most, and Anderson
acceleration.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from klapper.complementarity.kernels.contact_acceleration import accelerate, forget, new_history, overwrite
from klapper.machine_code import njit

_fast = {"contract"}
_CYCLES_PER_REFRESH = 20
_NEGLIGIBLE = 0.05  # changes below this part of the tolerance are not made
_HOT = 0.1  # part of the largest change above which unknowns are changed again
_WIDE = 0.25  # part of all unknowns from which on changing only the hot ones saves nothing
_WIDE_SWEEPS, _HOT_SWEEPS = 3, 100  # changes per unknown before the next sweep over all
_SETTLED = 1e-16


class Columns(NamedTuple):
    """A in compressed sparse columns, its diagonal, the offset b (n,) and the row scales' bounds (n,)."""

    start: np.ndarray
    row: np.ndarray
    value: np.ndarray
    diagonal: np.ndarray
    offset: np.ndarray
    largest_scale: np.ndarray


@njit(cache=True, fastmath=_fast, error_model="numpy")
def sweep(
    columns: Columns, x: np.ndarray, y: np.ndarray, scale: np.ndarray, relaxation: float, negligible: float
) -> tuple[float, int]:
    """One pass over all unknowns in place; relative changes up to ``negligible`` are not made.

    Returns the largest change |A_ii Δx_i| relative to the row's scale, and the number of unknowns changed.
    """
    largest, changes = 0.0, 0
    start, row, value = columns.start, columns.row, columns.value
    for i in range(x.size):
        if x[i] == 0.0 and y[i] >= 0.0:
            continue
        step = max(-relaxation * y[i] / columns.diagonal[i], -x[i])
        change = abs(step) * columns.diagonal[i] / scale[i]
        if not change > negligible:
            if change != change:
                return math.nan, changes
            continue
        largest = max(largest, change)
        changes += 1
        x[i] += step
        for k in range(start[i], start[i + 1]):
            y[row[k]] += value[k] * step
    return largest, changes


@njit(cache=True, fastmath=_fast, error_model="numpy")
def refresh(columns: Columns, x: np.ndarray, y: np.ndarray, scale: np.ndarray) -> None:
    """Recompute y = A x + b without accumulated round-off, and each row's scale |b| + |A||x| (1 for zero)."""
    overwrite(y, columns.offset)
    overwrite(scale, np.abs(columns.offset))
    for j in range(x.size):
        if x[j] != 0.0:
            for k in range(columns.start[j], columns.start[j + 1]):
                term = columns.value[k] * x[j]
                y[columns.row[k]] += term
                scale[columns.row[k]] += abs(term)
    for i in range(x.size):
        scale[i] = min(scale[i], columns.largest_scale[i])
        if scale[i] == 0.0:
            scale[i] = 1.0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def residual(columns: Columns, x: np.ndarray, y: np.ndarray, scale: np.ndarray) -> float:
    """The worst residual of ``LinearComplementarity.residuals`` for current y and row scales."""
    worst = 0.0
    for j in range(x.size):
        influence = 0.0
        for k in range(columns.start[j], columns.start[j + 1]):
            influence = max(influence, abs(columns.value[k]) / scale[columns.row[k]])
        force, answer = x[j] * influence, y[j] / scale[j]
        worst = max(worst, abs(min(force, answer)), abs(force * answer))
    return worst


@njit(cache=True, error_model="numpy")
def gauss_seidel(
    columns: Columns, x: np.ndarray, relaxation: float, memory: int, tolerance: float, max_sweeps: int
) -> tuple[int, float]:
    """Sweep until the residual is at most ``tolerance``; ``x`` (n,) holds the start and becomes the answer.

    Returns the number of sweeps and the residual reached (nan after an overflow).
    """
    y, scale, origin = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    history = new_history(memory, x.size)
    refresh(columns, x, y, scale)
    reached = residual(columns, x, y, scale)
    sweeps, cycle, negligible = 0, 0, _NEGLIGIBLE * tolerance
    while not reached <= tolerance and sweeps < max_sweeps:
        cycle += 1
        overwrite(origin, x)
        factor = relaxation if cycle > 1 else 1.0  # independent unknowns need no second sweep
        change, _ = sweep(columns, x, y, scale, factor, negligible)
        sweeps += 1
        if change != change:
            return sweeps, math.nan
        threshold = max(_HOT * change, negligible)
        hot, wide = sweep_hot(columns, x, y, scale, relaxation, threshold)
        sweeps += hot
        settled = change <= _SETTLED
        if threshold <= tolerance or sweeps >= max_sweeps or cycle % _CYCLES_PER_REFRESH == 0:
            refresh(columns, x, y, scale)
            reached = residual(columns, x, y, scale)
            if settled and negligible == 0.0:
                break
        if settled:
            negligible = 0.0
        if not wide:
            forget(history)
        elif not reached <= tolerance:
            accelerate(history, origin, x, y, columns.diagonal)
    return sweeps, reached


@njit(cache=True, error_model="numpy")
def sweep_hot(
    columns: Columns, x: np.ndarray, y: np.ndarray, scale: np.ndarray, relaxation: float, threshold: float
) -> tuple[int, bool]:
    """Sweep until no relative change exceeds ``threshold`` or enough was spent.

    Returns the number of sweeps, by the unknowns changed, and whether the last one still changed a large part
    of all.
    """
    spent = 0
    while True:
        change, changes = sweep(columns, x, y, scale, relaxation, threshold)
        spent += changes + x.size // 10 + 1  # looking for changes costs time as well
        wide = changes > _WIDE * x.size
        if not change > 0.0 or spent > (_WIDE_SWEEPS if wide else _HOT_SWEEPS) * x.size:
            return spent // x.size, wide
