"""Cost of choosing forces: compiled tables and programs beside general solvers for quadratic programs.

One problem: n friction forces within ±μN act on a body with three degrees of freedom; the functional in two stages
(least acceleration, then smallest forces). General solvers do the two stages one after the other,

    min ½|W x + h|²,  l ≤ x ≤ u,     then     min ½|x|²,  W x = W x*,  l ≤ x ≤ u,

through the interface that their Python package offers for dense problems. proxsuite and HiGHS take part if they are
installed (pip install proxsuite highspy).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.selection import ForceSet, QualityFunctional, select_quality

SIZES = (2, 4, 8, 16)
AGREES = 1e-5


@dataclass(frozen=True)
class Problems:
    """k problems of n forces: directions W (k, 3, n), loads h (k, 3), limits (k, n)."""

    directions: np.ndarray
    loads: np.ndarray
    limits: np.ndarray

    def __len__(self) -> int:
        return len(self.loads)


def problems(count: int, size: int, seed: int = 0) -> Problems:
    rng = np.random.default_rng(seed)
    return Problems(
        rng.standard_normal((count, 3, size)),
        0.6 * size**0.5 * rng.standard_normal((count, 3)),
        rng.uniform(0.2, 1.0, (count, size)),
    )


def compiled(given: Problems) -> np.ndarray:
    """All problems in one call."""
    return select_quality(given.directions, given.loads, -given.limits, given.limits).forces


def one_by_one(given: Problems) -> np.ndarray:
    """The rule, problem by problem, as a scheme uses it."""
    rule, found = QualityFunctional(2), []
    size = given.limits.shape[1]
    for directions, load, limits in zip(given.directions, given.loads, given.limits, strict=True):
        forces = ForceSet.from_arrays(
            np.zeros(size),
            directions,
            patches=np.arange(size)[:, None],
            limit=limits,
            held=np.zeros((0, size)),
            mass=np.eye(3),
            load=load,
        )
        found.append(rule.select(forces).forces)
    return np.array(found)


def by_proxsuite(given: Problems) -> np.ndarray:
    import proxsuite

    size, found = given.limits.shape[1], []
    unit, none = np.eye(size), np.zeros(size)
    for directions, load, limits in zip(given.directions, given.loads, given.limits, strict=True):
        first = proxsuite.proxqp.dense.solve(
            directions.T @ directions, directions.T @ load, None, None, unit, -limits, limits, eps_abs=1e-10
        )
        second = proxsuite.proxqp.dense.solve(
            unit, none, directions, directions @ first.x, unit, -limits, limits, eps_abs=1e-10
        )
        found.append(second.x)
    return np.array(found)


def by_highs(given: Problems) -> np.ndarray:
    import highspy

    size, found = given.limits.shape[1], []
    for directions, load, limits in zip(given.directions, given.loads, given.limits, strict=True):
        first = _highs(
            highspy, directions.T @ directions + 1e-9 * np.eye(size), directions.T @ load, limits, None
        )
        level = directions @ first
        found.append(_highs(highspy, np.eye(size), np.zeros(size), limits, (directions, level)))
    return np.array(found)


def _highs(
    highspy: Any, hessian: np.ndarray, gradient: np.ndarray, limits: np.ndarray, equations: Any
) -> np.ndarray:
    """Minimum of ½ xᵀH x + gᵀx within ±limits, with equations (rows, levels) or None."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    size = len(gradient)
    for i in range(size):
        solver.addVar(-limits[i], limits[i])
        solver.changeColCost(i, float(gradient[i]))
    if equations is not None:
        for row, level in zip(*equations, strict=True):
            solver.addRow(float(level), float(level), size, np.arange(size, dtype=np.int32), row)
    lower = np.tril(hessian)
    columns = [np.flatnonzero(lower[:, j]) for j in range(size)]
    start = np.concatenate([[0], np.cumsum([len(column) for column in columns])])[:-1]
    model = highspy.HighsHessian()
    model.dim_, model.format_ = size, highspy.HessianFormat.kTriangular
    model.start_ = np.append(start, sum(len(column) for column in columns)).astype(np.int32)
    model.index_ = np.concatenate(columns).astype(np.int32)
    model.value_ = np.concatenate([lower[column, j] for j, column in enumerate(columns)])
    solver.passHessian(model)
    solver.run()
    return np.array(solver.getSolution().col_value)


SIDES: dict[str, Callable[[Problems], np.ndarray]] = {
    "klapper, compiled batch": compiled,
    "klapper, rule by rule": one_by_one,
    "proxsuite": by_proxsuite,
    "HiGHS": by_highs,
}


@dataclass(frozen=True)
class Timing:
    """Time [s] per problem, share of the problems with forces within 1e-5 of klapper's, and their median difference."""

    seconds: float
    agree: float
    off: float


def measure(side: Callable[[Problems], np.ndarray], given: Problems, *, repeats: int = 3) -> Timing:
    """Best of some repeats, in process time, after one call that compiles and warms up."""
    few = Problems(given.directions[:2], given.loads[:2], given.limits[:2])
    side(few)
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        found = side(given)
        times.append(time.process_time() - begin)
    off = np.abs(found - compiled(given)).max(axis=1)
    return Timing(min(times) / len(given), float(np.mean(off <= AGREES)), float(np.median(off)))


def table(count: int = 200) -> dict[str, dict[int, Timing]]:
    """Timings of all sides that are installed, by number of forces."""
    found: dict[str, dict[int, Timing]] = {}
    for name, side in SIDES.items():
        try:
            found[name] = {size: measure(side, problems(count, size)) for size in SIZES}
        except ImportError:
            continue
    return found
