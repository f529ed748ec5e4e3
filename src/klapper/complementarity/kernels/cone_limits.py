"""The limits of small convex programs: half-spaces and discs.

a_i = G_i t + h_i ≥ 0,      u_j = r_jᵀt + ρ_j ≥ |w_j|,   w_j = P_j t + p_j
"""

from typing import NamedTuple

import numpy as np


class Limits(NamedTuple):
    """``rows`` G (m, k), ``offsets`` h (m,), ``disc_rows`` P (s, 2, k), ``centre`` p (s, 2), ``slope`` r (s, k),
    ``radius`` ρ (s,)."""

    rows: np.ndarray
    offsets: np.ndarray
    disc_rows: np.ndarray
    centre: np.ndarray
    slope: np.ndarray
    radius: np.ndarray
