"""Stationary states of known contact states, from the linear equations of rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse

from klapper.analysis.stationary_state import StationaryState
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics import LinearSystem


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)


def rest_of(
    system: LinearSystem,
    closed: Sequence[str] = (),
    sticking: Sequence[str] = (),
    sliding: dict[str, np.ndarray] | None = None,
) -> StationaryState:
    """K q = f + J_N λ_N + J_T λ_T + J_B λ_B with these contacts closed and sticking where they are unstrained.

    ``sliding`` gives the friction force over the normal force (d,) of closed contacts that slide.
    """
    slides = sliding or {}
    n, d = system.size, system.contacts.tangential
    number = {name: i for i, name in enumerate(system.contacts.names)}
    shut, stuck = [number[name] for name in closed], [number[name] for name in sticking]
    normal, tangential = dense(system.normal_directions), dense(system.tangential_directions)
    fixed = dense(system.constraint_matrix)
    held = np.hstack([fixed, normal[:, shut], *(tangential[:, i * d : (i + 1) * d] for i in stuck)])
    push = held.copy()
    p = fixed.shape[1]
    for name, share in slides.items():
        i = number[name]
        push[:, p + shut.index(i)] += tangential[:, i * d : (i + 1) * d] @ np.asarray(share)
    stiffness = np.zeros((n, n)) if system.position_matrix is None else dense(system.position_matrix)
    load = system.load.value(system.start.time)
    offsets = np.concatenate(
        [
            system.constraint_residuals(0.0, np.zeros(n)),
            system.gap_offsets(0.0)[shut],
            np.zeros(len(stuck) * d),
        ]
    )
    h = held.shape[1]
    matrix = np.block([[stiffness, -push], [held.T, np.zeros((h, h))]])
    solved = np.linalg.lstsq(matrix, np.concatenate([load, -offsets]), rcond=None)[0]
    position, multipliers = solved[:n], solved[n:]
    gaps = system.gaps(0.0, position, np.arange(len(number)))
    forces, states = np.zeros((len(number), 1 + d)), np.full(len(number), OPEN)
    forces[shut, 0], states[shut] = multipliers[p : p + len(shut)], SLIP
    for k, i in enumerate(stuck):
        forces[i, 1:] = multipliers[p + len(shut) + k * d : p + len(shut) + (k + 1) * d]
        states[i] = STICK
    for name, share in slides.items():
        forces[number[name], 1:] = forces[number[name], 0] * np.asarray(share)
    residual = float(np.abs(matrix @ solved - np.concatenate([load, -offsets])).max())
    return StationaryState(
        system,
        position,
        forces,
        gaps,
        states,
        ~(np.abs(gaps) > 1e-9),
        multipliers[:p],
        residual,
    )
