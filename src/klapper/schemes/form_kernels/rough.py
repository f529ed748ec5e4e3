"""Contact problems with friction: sweeps, then semismooth Newton steps where they stall.

Compiled only for models with friction, which call it through a pointer.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.complementarity.kernels.alart_curnier import alart_curnier
from klapper.complementarity.kernels.contact_blocks import ContactBlocks, columns_from_dense, local_data
from klapper.complementarity.kernels.contact_local import solve_contact
from klapper.complementarity.kernels.contact_sweep import gauss_seidel, refresh, residual
from klapper.schemes.form_kernels.compiling import inner, outer

_FINE = 0.5e-13  # residual that is aimed at
_QUICK_SWEEPS = 60
_SWEEPS = 3000  # of a few contacts: redundant ones with friction in space converge slowly
_NEWTON_STEPS = 60


@outer
def solve_rough(
    matrix: np.ndarray,
    offset: np.ndarray,
    table: np.ndarray,
    friction: np.ndarray,
    limit: np.ndarray,
    share_start: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
    tolerance: float,
    x: np.ndarray,
) -> float:
    """Impulses from the guess in ``x`` (r,); returns the relative residual.

    ``matrix`` W (r, r), ``offset`` b (r,); ``table`` (k, 3) rows of each contact, −1 where it has none; ``limit`` (k,)
    [N s]; ``share_…`` rows of the coefficients with which other contacts' normal impulses add to the limits
    """
    count = table.shape[0]
    if count == 1 and table[0, 0] >= 0 and share.size == 0 and _symmetric(matrix):
        return _single(matrix, offset, table, friction[0], limit[0], x)
    start, neighbour, push = columns_from_dense(matrix, table)
    own, schur, tangent, mobility = local_data(start, neighbour, push)
    softest = mobility.max()
    kind = np.zeros(count, np.int8)
    free, force = np.zeros(3 * count), np.zeros(3 * count)
    for i in range(count):
        kind[i] = 0 if table[i, 0] >= 0 else 1
        for a in range(2):
            if mobility[i, a] == 0.0:
                mobility[i, a] = softest
        for a in range(3):
            if table[i, a] >= 0:
                free[3 * i + a] = offset[table[i, a]]
                force[3 * i + a] = x[table[i, a]]
    blocks = ContactBlocks(
        start, neighbour, push, own, schur, tangent, mobility, kind, friction, limit,
        share_start, share_of, share, free, 0,
    )  # fmt: skip
    _, reached = gauss_seidel(blocks, force, 1.3, 5, _FINE, _QUICK_SWEEPS)
    if not reached <= _FINE:
        before = force.copy()
        better = _newton(blocks, matrix, offset, table, force, reached)
        if not better <= tolerance and not reached <= tolerance:
            force[:] = before
            _, reached = gauss_seidel(blocks, force, 1.3, 5, _FINE, _SWEEPS)
        else:
            reached = better
    for i in range(count):
        for a in range(3):
            if table[i, a] >= 0:
                x[table[i, a]] = force[3 * i + a]
    return reached


@inner
def _newton(
    blocks: ContactBlocks,
    matrix: np.ndarray,
    offset: np.ndarray,
    table: np.ndarray,
    force: np.ndarray,
    reached: float,
) -> float:
    """Newton steps in dimensionless forces; ``force`` (3 k,) is replaced where they come closer."""
    count, size = table.shape[0], offset.size
    width = 2 if table[:, 2].max() >= 0 else 1
    weight = np.empty(size)
    normal = np.empty(count, np.int64)
    place = np.full(count, -1, np.int64)
    pressed = 0
    tangential = np.empty((count, width), np.int64)
    for i in range(count):
        if table[i, 0] >= 0:
            normal[pressed] = table[i, 0]
            place[i] = pressed
            pressed += 1
            weight[table[i, 0]] = blocks.mobility[i, 0]
        for a in range(width):
            tangential[i, a] = table[i, 1 + a]
            weight[table[i, 1 + a]] = blocks.mobility[i, 1]
    speed = np.abs(offset).max()
    if speed == 0.0:
        return reached
    scaled = np.empty((size, size))
    start = np.empty(size)
    for j in range(size):
        for i in range(size):
            scaled[i, j] = matrix[i, j] / weight[j]
    shares = blocks.share.size
    starts, columns = np.zeros(count + 1, np.int64), np.empty(count + shares, np.int64)
    friction, limit = np.empty(count + shares), np.empty(count)
    entries = 0
    for i in range(count):
        limit[i] = blocks.limit[i] * blocks.mobility[i, 1] / speed
        if place[i] >= 0:
            columns[entries] = place[i]
            friction[entries] = blocks.friction[i] * blocks.mobility[i, 1] / blocks.mobility[i, 0]
            entries += 1
        for k in range(blocks.share_start[i], blocks.share_start[i + 1]):
            j = blocks.share_of[k]
            columns[entries] = place[j]
            friction[entries] = blocks.share[k] * blocks.mobility[i, 1] / blocks.mobility[j, 0]
            entries += 1
        starts[i + 1] = entries
        for a in range(3):
            if table[i, a] >= 0:
                start[table[i, a]] = force[3 * i + a] * weight[table[i, a]] / speed
    found, _, _ = alart_curnier(
        scaled, offset / speed, normal[:pressed], tangential, starts, columns, friction, limit, start,
        _FINE, _NEWTON_STEPS,
    )  # fmt: skip
    trial, velocity = np.zeros(3 * count), np.zeros(3 * count)
    for i in range(count):
        for a in range(3):
            if table[i, a] >= 0:
                trial[3 * i + a] = found[table[i, a]] * speed / weight[table[i, a]]
        if table[i, 0] >= 0 and trial[3 * i] < 0.0:
            trial[3 * i] = 0.0
    scale = refresh(blocks, trial, velocity)
    achieved = residual(blocks, trial, velocity, scale)
    if achieved < reached or math.isnan(reached):
        force[:] = trial
        return achieved
    return reached


@inner
def _symmetric(matrix: np.ndarray) -> bool:
    for i in range(matrix.shape[0]):
        for j in range(i):
            if matrix[i, j] != matrix[j, i]:
                return False
    return True


@inner
def _single(
    matrix: np.ndarray, offset: np.ndarray, table: np.ndarray, friction: float, limit: float, x: np.ndarray
) -> float:
    """One contact, exactly."""
    w = np.zeros((1, 9))
    q = np.zeros(3)
    for a in range(3):
        if table[0, a] >= 0:
            q[a] = offset[table[0, a]]
            for c in range(3):
                if table[0, c] >= 0:
                    w[0, 3 * a + c] = matrix[table[0, a], table[0, c]]
    _, schur, tangent, _ = local_data(np.array([0, 1]), np.array([0]), w)
    s, t = schur[0], tangent[0]
    normal, first, second, _ = solve_contact(
        (q[0], q[1], q[2]),
        (w[0, 0], w[0, 1], w[0, 2]),
        (s[0], s[1], s[2], s[3]),
        (t[0], t[1], t[2], t[3]),
        friction,
        limit,
        0.0,
    )
    force = (normal, first, second)
    for a in range(3):
        if table[0, a] >= 0:
            x[table[0, a]] = force[a]
    return 0.0 if math.isfinite(normal) and w[0, 0] > 0.0 else math.inf
