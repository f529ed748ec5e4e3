"""Contact problems of at most two contacts by trying every combination of open, closed, stick and slip.

    y = W x + b,   0 ≤ x_N ⟂ y_N ≥ 0,   −y_T ∈ N(x_T),  |x_T| ≤ ρ = limit + μ x_N          Waltersberger (3.48)

An answer is given only if one combination holds and all others are clearly contradicted: then it is the only solution,
and nothing is left to verify. Whatever is on a border between two combinations is left to the solvers.
"""

from __future__ import annotations

from itertools import product

import numpy as np

CLEAR = 1e-8
"""Of the terms at hand: what is above this is no round-off. Solvers call accelerations up to it zero."""
_MOST = 2  # normals, and patches
_OPEN, _CLOSED = 0, 1
_STICK, _AHEAD, _BACK = 0, 1, -1


def solve_few(
    mobility: np.ndarray, velocity: np.ndarray, normals: int, friction: np.ndarray, limit: np.ndarray
) -> np.ndarray | None:
    """The only x (m + s,), or None if there are more unknowns, none or several solutions, or borders.

    ``mobility`` W (m + s, m + s), ``velocity`` b (m + s,): m normal rows, then s friction rows of one direction each;
    ``friction`` μ (s, m), ``limit`` (s,).

    A block pressed by 2 N on a floor with μ = 0.5, pushed to the side by 3 N: it slides against 1 N.

    >>> solve_few(np.eye(2), np.array([-2.0, 3.0]), 1, np.array([[0.5]]), np.zeros(1)).tolist()
    [2.0, -1.0]
    """
    m, s = normals, len(limit)
    if m > _MOST or s > _MOST:
        return None
    if m + s == 0:
        return np.zeros(0)
    if m == 1 and s == 0:
        own, b = float(mobility[0, 0]), float(velocity[0])
        if not own > 0.0 or b == 0.0:
            return None
        return np.array([-b / own]) if b < 0.0 else np.zeros(1)
    found = None
    for closed in product((_OPEN, _CLOSED), repeat=m):
        pressed = np.array(closed, dtype=bool)
        loaded = [bool(limit[i] > 0.0 or np.any(friction[i, pressed] > 0.0)) for i in range(s)]
        for grips in product(*((_STICK, _AHEAD, _BACK) if able else (None,) for able in loaded)):
            verdict, x = _tried(mobility, velocity, pressed, grips, friction, limit)
            if verdict is None or (verdict and found is not None):
                return None
            if verdict:
                found = x
    return found


def _tried(
    mobility: np.ndarray,
    velocity: np.ndarray,
    pressed: np.ndarray,
    grips: tuple[int | None, ...],
    friction: np.ndarray,
    limit: np.ndarray,
) -> tuple[bool | None, np.ndarray]:
    """Whether a combination holds, and its x; None on a border."""
    m, size = len(pressed), len(velocity)
    spread, given, held = np.eye(size), np.zeros(size), [i for i in range(m) if pressed[i]]
    for i, grip in enumerate(grips):
        row = m + i
        if grip == _STICK:
            held.append(row)
        elif grip is not None:  # slip ahead: y > 0 and x = −ρ
            spread[row, :m] = -grip * friction[i] * pressed
            given[row] = -grip * limit[i]
    x, terms = given.copy(), np.abs(velocity)
    if held:
        columns = spread[:, held]
        matrix = mobility[held] @ columns
        try:
            x = x + columns @ np.linalg.solve(matrix, -velocity[held] - mobility[held] @ given)
        except np.linalg.LinAlgError:
            return None, x
    y = mobility @ x + velocity
    terms = terms + np.abs(mobility) @ np.abs(x)
    own = np.diag(mobility)
    if not np.all(own > 0.0):
        return None, x
    margins = []  # above 0 where the combination holds, in velocities of a unit
    for i in range(m):
        margins.append((x[i] * own[i] if pressed[i] else y[i]) / max(terms[i], 1e-300))
    for i, grip in enumerate(grips):
        row = m + i
        if grip == _STICK:
            rho = limit[i] + float(friction[i] @ x[:m])
            margins.append((rho - abs(x[row])) * own[row] / max(terms[row], rho * own[row], 1e-300))
        elif grip is not None:
            margins.append(grip * y[row] / max(terms[row], 1e-300))
    worst = min(margins, default=1.0)
    return (None if abs(worst) <= CLEAR else worst > 0.0), x
