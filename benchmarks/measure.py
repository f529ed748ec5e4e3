"""Residuals and memory, measured the same way for every side and computed from the problem alone.

Linear complementarity: ‖min(x, A x + b)‖∞ / max(1, ‖b‖∞). Frictional contact: ‖r − P_K(r − (u + μ‖u_T‖
n))‖₂ / ‖b‖₂ with u = W r + b, which is what Siconos calls the full error (the natural map with ρ = 1;
Acary, Brémond, Huber, On solving contact problems with Coulomb friction).
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.problems import LinearBatch, SpherePile

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class ContactStates:
    """Parts of the contacts that are open, stick and slip; they add up to one."""

    open: float
    stick: float
    slip: float


def linear_residuals(batch: LinearBatch, x: np.ndarray) -> np.ndarray:
    """Residual of each problem (k,) for answers x (k, n); infinite where an answer is not finite."""
    slack = np.einsum("kij,kj->ki", batch.matrices, x) + batch.offsets
    natural = np.abs(np.minimum(x, slack)).max(axis=1)
    residual = natural / np.maximum(1.0, np.abs(batch.offsets).max(axis=1))
    return np.where(np.isfinite(residual), residual, np.inf)


def friction_residual(
    delassus: sparse.sparray | np.ndarray, offset: np.ndarray, friction: np.ndarray, forces: np.ndarray
) -> float:
    """Natural map of the frictional contact problem, relative to ‖b‖; infinite if a force is not finite."""
    if not np.all(np.isfinite(forces)):
        return float("inf")
    velocity = (delassus @ forces + offset).reshape(-1, 3)
    velocity[:, 0] += friction * np.linalg.norm(velocity[:, 1:], axis=1)
    reaction = forces.reshape(-1, 3)
    distance = reaction - project_on_cone(reaction - velocity, friction)
    return float(np.linalg.norm(distance) / np.linalg.norm(offset))


def project_on_cone(points: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """Projection (n, 3) on the Coulomb cones ‖p_T‖ ≤ μ p_N."""
    normal = points[:, 0]
    tangential = np.linalg.norm(points[:, 1:], axis=1)
    inside = tangential <= friction * normal
    polar = friction * tangential <= -normal
    height = (normal + friction * tangential) / (1.0 + friction**2)
    shrink = friction * height / np.where(tangential > 0.0, tangential, 1.0)
    projected = np.column_stack([height, shrink[:, None] * points[:, 1:]])
    projected[polar] = 0.0
    projected[inside] = points[inside]
    return projected


def contact_states(pile: SpherePile, forces: np.ndarray) -> ContactStates:
    """Open where the normal force vanishes, slipping where a closed contact moves along its tangent plane."""
    velocity = (pile.delassus @ forces + pile.offset).reshape(-1, 3)
    normal = forces.reshape(-1, 3)[:, 0]
    sliding = np.linalg.norm(velocity[:, 1:], axis=1)
    is_open = normal <= 1e-6 * normal.max()
    slips = ~is_open & (sliding > 1e-5 * sliding.max())
    return ContactStates(float(is_open.mean()), float((~is_open & ~slips).mean()), float(slips.mean()))


def peak_memory(work: Callable[[], object]) -> float:
    """Bytes that `work` takes above what the process held before, at its highest.

    On Linux from the resident set, which sees compiled code too; elsewhere from tracemalloc.
    """
    if _reset_high_water():
        before = _status("VmRSS")
        work()
        return max(0.0, _status("VmHWM") - before)
    tracemalloc.start()
    try:
        work()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def growth_exponent(sizes: np.ndarray, amounts: np.ndarray) -> float:
    """Slope of log(amount) over log(size): 1 for linear, 2 for quadratic growth; nan if an amount is lost in noise."""
    if not np.all(amounts > 0.0):
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(amounts), 1)[0])


def _reset_high_water() -> bool:
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return _STATUS.exists()


def _status(field: str) -> float:
    line = next(row for row in _STATUS.read_text().splitlines() if row.startswith(field))
    return 1024.0 * float(line.split()[1])
