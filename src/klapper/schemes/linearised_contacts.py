"""States of the contacts of an implicit step that is linearised: one complementarity problem for all of them.

0 ≤ λ_N ⟂ g + W (λ − λ₀) ≥ 0,   −slip ∈ N_D(λ_T),   W = ∂(gaps, slips)/∂q · A⁻¹ · directions of the forces
"""

from __future__ import annotations

import numpy as np

from klapper.complementarity import FrictionalContact, solve
from klapper.contact_states import OPEN, STICK
from klapper.schemes.held_contacts import BACKWARD, FORWARD, HeldContacts
from klapper.schemes.implicit_step import ImplicitStep


def linearised_states(
    closed: HeldContacts,
    parted: ImplicitStep,
    q: np.ndarray,
    multipliers: np.ndarray,
    normal: np.ndarray,
    tangential: np.ndarray,
) -> np.ndarray:
    """States (k,) at q (n,), from all contacts ``closed`` and the equations with all of them ``parted``.

    ``multipliers``         (p,) of the two-sided constraints
    ``normal, tangential``  forces (k,) [N] of the step at q
    """
    pairing, k = closed.pairing, len(closed.states)
    found = closed.at(q)
    inverse = parted.inverse(np.concatenate([q, multipliers]))
    push = np.zeros((len(q) + len(multipliers), found.push.shape[1]))
    push[: len(q)] = parted.balance.weight * found.push.toarray()
    mobility = found.slope.T @ inverse(push)[: len(q)]
    rough = closed.stick
    force = np.concatenate([normal, tangential[rough]])
    matrix = np.zeros((len(rough), k))
    matrix[np.arange(len(rough)), rough] = pairing.friction[rough]
    problem = FrictionalContact.from_parts(
        mobility,
        found.value - mobility @ force,
        normal=np.arange(k),
        tangential=np.arange(k, k + len(rough)),
        friction=matrix,
    )
    solution = solve(problem)
    return _states_of(solution.x[:k], solution.x[k:], rough, pairing.friction)


def _states_of(normal: np.ndarray, tangential: np.ndarray, rough: np.ndarray, mu: np.ndarray) -> np.ndarray:
    states = np.where(normal > 0.0, STICK, OPEN).astype(np.int8)
    slides = (np.abs(tangential) >= (1.0 - 1e-9) * mu[rough] * normal[rough]) & (normal[rough] > 0.0)
    states[rough[slides]] = np.where(tangential[slides] < 0.0, FORWARD, BACKWARD)
    return states
