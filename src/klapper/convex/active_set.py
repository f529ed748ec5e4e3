"""Nearest point of a polyhedron, by the dual active-set method of Goldfarb and Idnani (1983).

    x = arg min ½ (x - z)ᵀ G (x - z)   subject to   Aᵀx + b ≥ 0

Starting from z, one violated constraint after the other is taken in. The multipliers stay non-negative and
the distance grows with every step, so the method ends after finitely many, also for dependent constraints.
"""

import numpy as np

from klapper.convex._arguments import Array


class EmptySetError(ValueError):
    """The inequalities contradict each other: no point fulfils all of them."""


def nearest_point(normals: Array, offsets: Array, point: Array, metric: Array | None = None) -> Array:
    """Point of {x : Aᵀx + b ≥ 0} nearest to ``point`` in the metric.

    Parameters
    ----------
    normals: A, shape (n, m), no zero column
    offsets: b, shape (m,)
    point: z, shape (n,)
    metric: symmetric positive definite G, shape (n, n); the unit matrix if not given
    """
    slacks = offsets + normals.T @ point
    if metric is None:
        return _sum(point, _shortest_step(normals, slacks))
    factor = np.linalg.cholesky(metric)  # with y = Lᵀ(x - z) the metric is Euclidean
    step = _shortest_step(np.linalg.solve(factor, normals), slacks)
    return np.linalg.solve(factor.T, _sum(factor.T @ point, step)) if step.any() else point


def _sum(point: Array, step: Array) -> Array:
    """point + step, exactly zero where nothing but round-off is left: the apex of a cone."""
    total = point + step
    return total if np.linalg.norm(total) > 1e-14 * np.linalg.norm(point) else np.zeros_like(total)


def _shortest_step(normals: Array, slacks: Array) -> Array:
    """arg min |y| subject to Aᵀy + s ≥ 0."""
    dimension, count = normals.shape
    lengths = np.linalg.norm(normals, axis=0)
    unit, start = normals / lengths, slacks / lengths
    step, multipliers = np.zeros(dimension), np.zeros(0)
    active: list[int] = []
    for _ in range(50 * (dimension + count + 1)):
        slack = unit.T @ step + start
        slack[active] = 0.0
        worst = int(np.argmin(slack)) if count else -1
        scale = np.abs(start).max(initial=0.0) + np.linalg.norm(step)
        if worst < 0 or slack[worst] >= -1e-13 * scale:
            return _polished(unit, start, step, active)
        try:
            step, active, multipliers = _take_in(worst, unit, start, step, active, multipliers)
        except EmptySetError:
            if slack[worst] < -1e-9 * scale:
                raise
            return _polished(unit, start, step, active)  # round-off where the active facets meet in a point
    raise RuntimeError(
        f"the nearest point of a polyhedron with {count} facets was not found; check its scaling"
    )


def _take_in(
    new: int, unit: Array, start: Array, step: Array, active: list[int], multipliers: Array
) -> tuple[Array, list[int], Array]:
    """Move until constraint ``new`` is an equality, dropping those whose multiplier would turn negative."""
    own = 0.0
    while True:
        held = unit[:, active]
        rates = np.linalg.lstsq(held, unit[:, new], rcond=None)[0] if active else np.zeros(0)
        direction = unit[:, new] - held @ rates
        rise = direction @ direction
        falling = np.flatnonzero(rates > 1e-12)
        partial, full = np.inf, np.inf
        if falling.size:
            drop = int(falling[np.argmin(multipliers[falling] / rates[falling])])
            partial = multipliers[drop] / rates[drop]
        if rise > 1e-20:
            full = max(0.0, -(unit[:, new] @ step + start[new])) / rise
        length = min(partial, full)
        if np.isinf(length):
            raise EmptySetError(
                "the inequalities Aᵀx + b >= 0 contradict each other, they must leave at least a point"
            )
        if np.isfinite(full):
            step = step + length * direction
        multipliers, own = multipliers - length * rates, own + length
        if full <= partial:
            return step, [*active, new], np.append(multipliers, own)
        active = active[:drop] + active[drop + 1 :]
        multipliers = np.delete(multipliers, drop)


def _polished(unit: Array, start: Array, step: Array, active: list[int]) -> Array:
    """Solve the active equations once more from scratch, which removes the round-off of many small steps."""
    if not active:
        return step
    fresh = np.asarray(np.linalg.lstsq(unit[:, active].T, -start[active], rcond=None)[0], dtype=float)
    worst_before = min(0.0, float((unit.T @ step + start).min()))
    worst_after = min(0.0, float((unit.T @ fresh + start).min()))
    return fresh if worst_after >= worst_before - 1e-14 * np.linalg.norm(step) else step
