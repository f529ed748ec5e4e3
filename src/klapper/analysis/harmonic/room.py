"""Whether stops that move leave room for any motion between them.

    J_Nᵀ q + g₀(t) ≥ 0   for some q at every time t of a period,   else some y ≥ 0 with J_N y = 0 has g₀(t)ᵀ y < 0

A balance of few harmonics lets gaps be a little negative, so that it may seem to exist where there is no room.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

_TIMES = 64  # of a period at which is looked
_TOUCHING = 1e-9  # of the largest offset: stops that touch leave room enough


def require_room(system: LinearSystem, period: float) -> None:
    """Refuse rigid stops that pass through each other within the ``period`` [s], and name them."""
    times = period * np.arange(_TIMES) / _TIMES
    offsets = system.gap_offsets(times)[:, system.contacts.has_normal]
    if system.compliance is not None or not np.any(np.ptp(offsets, axis=0) > 0.0):
        return  # contacts that give way, or stops at rest, which the start of the system lies between
    numbers = np.flatnonzero(system.contacts.has_normal)
    reached = scipy.linalg.orth(dense(system.normal_directions)[:, numbers].T)
    overlaps = [_overlap(reached, offset) for offset in offsets]
    worst = int(np.argmax([overlap for overlap, _ in overlaps]))
    overlap, pressed = overlaps[worst]
    if overlap > _TOUCHING * np.abs(offsets).max():
        names = " and ".join(f"'{system.contacts.name(int(numbers[i]))}'" for i in pressed)
        raise InvalidModel(
            f"the stops {names} of '{system.name}' pass through each other, at {times[worst]:.6g} s each by "
            f"{overlap:.3g} m: no motion stays between them. Move them less, or give them compliance."
        )


def _overlap(reached: np.ndarray, offset: np.ndarray) -> tuple[float, np.ndarray]:
    """The least r ≥ 0 with B y + g₀ + r ≥ 0 for some y, and the contacts that keep it from being smaller.

    B (m, k) is a basis of the gaps that motions reach.
    """
    m, k = reached.shape
    found = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=-np.hstack([reached, np.ones((m, 1))]),
        b_ub=offset,
        bounds=[(None, None)] * k + [(0.0, None)],
        method="highs",
    )
    return float(found.x[-1]), np.flatnonzero(np.abs(found.ineqlin.marginals) > 1e-9)
