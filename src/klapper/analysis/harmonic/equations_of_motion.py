"""The equations of motion of the whole system, harmonic by harmonic, from its own matrices.

K q + i k Ω (D + G) q − k² Ω² M q − f − J λ = J_B λ_B
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse

if TYPE_CHECKING:
    from klapper.analysis.harmonic.response import HarmonicResponse


def unbalanced(response: HarmonicResponse) -> np.ndarray:
    """What loads, inertia, damping, stiffness and contacts leave (K + 1, n) [N]: the part of the constraints."""
    system, q = response.system, response.amplitudes
    w = (response.omega * np.arange(len(q)))[:, None]
    left = -(w**2) * (system.mass_matrix @ q.T).T - response.played.courses(response.harmonics).load
    if system.rate_matrix is not None:
        left = left + 1j * w * (system.rate_matrix @ q.T).T
    if system.position_matrix is not None:
        left = left + (system.position_matrix @ q.T).T
    return left - response.contact_amplitudes @ response.balance.directions.matrix(system.size).T


def reactions(response: HarmonicResponse) -> np.ndarray:
    """λ_B (K + 1, p) [N]; the least ones where constraints repeat each other."""
    directions = constraint_directions(response)
    if directions.shape[1] == 0:
        return np.zeros((len(response.amplitudes), 0), dtype=complex)
    return np.linalg.lstsq(directions.astype(complex), unbalanced(response).T, rcond=None)[0].T


def constraint_directions(response: HarmonicResponse) -> np.ndarray:
    """J_B (n, p)."""
    matrix = response.system.constraint_matrix
    return matrix.toarray() if sparse.issparse(matrix) else matrix
