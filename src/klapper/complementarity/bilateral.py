"""Forces of two-sided constraints, also where they are redundant.

    W λ + b = 0        λ = −W⁺ b, the solution of least norm                      Seiwald (4.8), (C.17)

For independent constraints this is the solution; for redundant ones the motion is unique all the same, and the
pseudo-inverse is one rule to pick the forces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from klapper.complementarity.checking import as_square_matrix, as_vector
from klapper.complementarity.dense import dense
from klapper.complementarity.errors import NoSolution

RANK = 1e-11


def bilateral_forces(delassus: Any, free_velocity: Any) -> np.ndarray:
    """Constraint forces (n,) of least norm with W λ + b = 0.

    ``delassus`` W (n, n) symmetric [1/kg], ``free_velocity`` b (n,) [m/s] (or accelerations, for forces). Raises
    :class:`NoSolution` if redundant constraints demand different motions.

    >>> bilateral_forces([[1.0, 1.0], [1.0, 1.0]], [-2.0, -2.0]).round(12).tolist()
    [1.0, 1.0]
    """
    matrix = dense(as_square_matrix(delassus, "delassus"))
    velocity = as_vector(free_velocity, "free_velocity", len(matrix))
    forces = -scipy.linalg.pinvh(matrix, rtol=RANK) @ velocity
    left = np.abs(matrix @ forces + velocity).max(initial=0.0)
    if left > 1e-8 * np.abs(velocity).max(initial=0.0):
        raise NoSolution(
            f"Redundant two-sided constraints contradict each other: a velocity of {left:.3g} remains, whatever the "
            "forces."
        )
    return forces
