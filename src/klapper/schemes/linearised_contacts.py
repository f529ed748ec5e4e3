"""States of the contacts of an implicit step that is linearised: one complementarity problem for all of them.

0 ≤ λ_N ⟂ g + W (λ − λ₀) ≥ 0,   −slip ∈ N_D(λ_T),   W = ∂(gaps, slips)/∂q · A⁻¹ · directions of the forces

A body that only its contacts support has no W. Every coordinate gets a spring σ, which is let go bit by bit: it pulls
to where the answer before was, until that stays (proximal point iteration). One soft spring would not do: with friction
a linearised block may as well tip over and hang on its springs far away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import FrictionalContact, solve
from klapper.contact_states import OPEN, STICK
from klapper.schemes.held_contacts import BACKWARD, FORWARD, HeldContacts
from klapper.schemes.implicit_step import Balance, Balanced, ImplicitStep

# σ over the largest stiffness of a coordinate. Larger: more answers until they stay; smaller: some hang on springs.
_SPRING = 1e-2
_MOST, _STAYS = 60, 1e-3  # answers at most, and the share of the largest force below which a change is none


@dataclass
class _OnSprings:
    """A balance with a spring [N/m] at every coordinate."""

    balance: Balance
    spring: float
    weight: float

    def residual(self, q1: np.ndarray) -> Balanced:
        return self.balance.residual(q1)

    def matrix(self, q1: np.ndarray) -> Any:
        return self.balance.matrix(q1) + self.spring * sparse.eye_array(len(q1), format="csr")


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
    spring = _SPRING * float(np.abs(parted.balance.matrix(q).diagonal()).max(initial=0.0))
    supported = ImplicitStep(
        _OnSprings(parted.balance, spring, parted.balance.weight), parted.holding, parted.reduction
    )
    inverse = supported.inverse(np.concatenate([q, multipliers]))
    response = inverse(_below(parted.balance.weight * found.push.toarray(), len(multipliers)))[: len(q)]
    mobility = found.slope.T @ response
    rough = closed.stick
    force = before = np.concatenate([normal, tangential[rough]])
    matrix = np.zeros((len(rough), k))
    matrix[np.arange(len(rough)), rough] = pairing.friction[rough]
    moved = np.zeros(len(q))
    for _ in range(_MOST):
        back = inverse(_below(spring * moved, len(multipliers)))[: len(q)]
        problem = FrictionalContact.from_parts(
            mobility,
            found.value + found.slope.T @ back - mobility @ before,
            normal=np.arange(k),
            tangential=np.arange(k, k + len(rough)),
            friction=matrix,
        )
        after = solve(problem).x
        moved = back + response @ (after - before)
        stays = np.abs(after - force).max() <= _STAYS * np.abs(after).max()
        force = after
        if stays:
            break
    return _states_of(force[:k], force[k:], rough, pairing.friction)


def _below(columns: np.ndarray, rows: int) -> np.ndarray:
    """Columns (n, …) with rows of zeros below them."""
    return np.concatenate([columns, np.zeros((rows, *columns.shape[1:]))])


def _states_of(normal: np.ndarray, tangential: np.ndarray, rough: np.ndarray, mu: np.ndarray) -> np.ndarray:
    states = np.where(normal > 0.0, STICK, OPEN).astype(np.int8)
    slides = (np.abs(tangential) >= (1.0 - 1e-9) * mu[rough] * normal[rough]) & (normal[rough] > 0.0)
    states[rough[slides]] = np.where(tangential[slides] < 0.0, FORWARD, BACKWARD)
    return states
