"""Globalised Newton iteration on a semismooth map Φ: V d = −Φ with V from the generalised Jacobian, a nonmonotone line
search on ½‖Φ‖², and a Levenberg–Marquardt step where V is singular. A found point is polished by full steps on its
active pieces, exact for linear problems.
Grippo, Lampariello & Lucidi, SIAM J. Numer. Anal. 23 (1986) 707-716.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from klapper.complementarity.checking import Matrix
from klapper.complementarity.newton_directions import damped_direction, newton_direction

MEMORY = 6  # merit values the nonmonotone line search compares with
ROUND_OFF = 1e-14


class SemismoothMap(Protocol):
    """A map Φ (n,) whose zeros are wanted.

    ``derivative`` returns an element of the generalised Jacobian, dense or sparse; ``shortcut`` the zero of
    the linearisation on the pieces active at x, or None where nothing is better than a Newton step.
    """

    def value(self, x: np.ndarray) -> np.ndarray: ...

    def derivative(self, x: np.ndarray) -> Matrix: ...

    def shortcut(self, x: np.ndarray) -> np.ndarray | None: ...


@dataclass(frozen=True)
class Path:
    """Where :func:`damped_newton` ended: best point, its residual, steps, and all residuals on the way."""

    x: np.ndarray
    residual: float
    iterations: int
    history: tuple[float, ...]


def damped_newton(
    mapping: SemismoothMap,
    x: np.ndarray,
    measure: Callable[[np.ndarray], float],
    tolerance: float,
    max_iterations: int,
) -> Path:
    """Newton's method on Φ(x) = 0 until ``measure(x)`` is at most ``tolerance`` or no step is found."""
    value = mapping.value(x)
    merits = [0.5 * float(value @ value)]
    history = [measure(x)]
    best = x
    while history[-1] > tolerance and len(merits) <= max_iterations and not _stalls(merits):
        if history[-1] < 1e-3 or len(merits) % 10 == 0:
            guess = mapping.shortcut(x)
            if guess is not None and (residual := measure(guess)) <= tolerance:
                return Path(guess, residual, len(merits), (*history, residual))
        found = _accepted_step(mapping, x, value, mapping.derivative(x), max(merits[-MEMORY:]))
        if found is None:
            break
        x, value = found
        merits.append(0.5 * float(value @ value))
        history.append(measure(x))
        if history[-1] <= min(history):
            best = x
    return Path(best, min(history), len(merits) - 1, tuple(history))


def _stalls(merits: list[float], window: int = 25) -> bool:
    """Whether the merit function has not fallen by a tenth within the last steps, or is not a number."""
    return not np.isfinite(merits[-1]) or (
        len(merits) > window and min(merits[-window:]) > 0.9 * min(merits[:-window])
    )


def polished(mapping: SemismoothMap, path: Path, measure: Callable[[np.ndarray], float]) -> Path:
    """Up to three full steps from the end of ``path``, each kept only if it lowers the residual."""
    for _ in range(3):
        if path.residual <= ROUND_OFF:
            break
        better = mapping.shortcut(path.x)
        if better is None:
            step = newton_direction(mapping.derivative(path.x), mapping.value(path.x))
            better = None if step is None else path.x + step
        if better is None or not (lower := measure(better)) < path.residual:
            break
        path = Path(better, lower, path.iterations + 1, (*path.history, lower))
    return path


def _accepted_step(
    mapping: SemismoothMap, x: np.ndarray, value: np.ndarray, jacobian: Matrix, reference: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """First of Newton's and three damped directions along which the merit falls below ``reference``."""
    gradient = jacobian.T @ value
    damping = min(1.0, float(np.linalg.norm(value)))
    for factor in (0.0, 1e-8, 1e-4, 1.0):
        if factor == 0.0:
            step = newton_direction(jacobian, value)
        else:
            step = damped_direction(jacobian, value, gradient, factor * damping)
        if step is None or not (slope := float(gradient @ step)) < 0.0:
            continue
        length = 1.0
        while length >= 2.0**-12:
            trial = x + length * step
            trial_value = mapping.value(trial)
            if 0.5 * float(trial_value @ trial_value) <= reference + 1e-4 * length * slope:
                return trial, trial_value
            length *= 0.5
    return None


def largest_entry(mapping: SemismoothMap) -> Callable[[np.ndarray], float]:
    return lambda x: float(np.abs(mapping.value(x)).max(initial=0.0))
