"""A block on two feet as plain arrays, for loops that run compiled: one rigid body, or two halves with a coupling.

Bodies have positions (x, y, φ), velocities (ẋ, ẏ, φ̇). Foot i stands on the plane y = 0 with

    r_i = A(φ) place_i,   g_i = y + r_i,y,   J_T = (1, 0, −r_i,y),   J_N = (0, 1, r_i,x)          Seiwald (B.56), (B.59)

The halves pull each other at a common point with c_T Δs + d_T Δṡ and turn each other with c_R Δφ + d_R Δφ̇, where Δ is
right minus left, (B.14)-(B.20).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class BlockForm(NamedTuple):
    """One or two bodies. Lengths in m, masses in kg.

    ``mass``, ``inertia``  (nb,) of nb = 1 or 2 bodies
    ``foot``               (2, 2) places of A and B in the axes of the first and of the last body
    ``corner``             (2,) where the load acts, in the axes of the last body
    ``joint``              (2, 2) where the halves are joined, in the axes of each; not used by one body
    ``stiffness``          (2,) c_T [N/m], c_R [N m/rad]
    ``damping``            (2,) d_T [N s/m], d_R [N m s/rad]
    ``gravity``            g [m/s²], downwards
    ``friction``           (2,) coefficients of A and B
    """

    mass: np.ndarray
    inertia: np.ndarray
    foot: np.ndarray
    corner: np.ndarray
    joint: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    gravity: float
    friction: np.ndarray
