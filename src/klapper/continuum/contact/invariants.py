"""Quadratic invariants of a few nodes, and functions of them.

    π_i = ½ x · H_i x,   ∇π_i = H_i x                                                       Hesch (2.176), (2.177)

x (s,) holds the positions of the nodes of one contact element. Products of differences of positions do not change when
the bodies move or turn together; what is a function of them conserves momentum and angular momentum by itself. Because
they are quadratic, ∇π(mean of two positions) · change = change of π, exactly.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""Λ: turns a direction of the plane by −90°, out of a body whose surface runs with the body to its left."""


class Expansion(NamedTuple):
    """f functions of m invariants at E points: values (E, f), gradients (E, f, m), curvatures (E, f, m, m) or None."""

    value: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray | None


class InvariantFunctions(Protocol):
    """Functions of invariants, one row of parameters per element."""

    @property
    def forms(self) -> np.ndarray:
        """H (m, s, s), constant."""
        ...

    def expand(self, invariants: np.ndarray, *, curved: bool) -> Expansion:
        """At π (E, m)."""
        ...


def product(first: ArrayLike, second: ArrayLike, *, turned: bool = False) -> np.ndarray:
    """H (2 k, 2 k) of a · b, or of a · Λ b, where a = Σ first_j x_j and b = Σ second_j x_j over k nodes of the plane.

    >>> H = product([-1, 1], [-1, 1])
    >>> x = np.array([0.0, 0.0, 3.0, 4.0])
    >>> float(0.5 * x @ H @ x)
    25.0
    """
    inner = TURN if turned else np.eye(2)
    half = np.kron(np.outer(np.asarray(first), np.asarray(second)), inner)
    return half + half.T


def invariants(forms: np.ndarray, x: np.ndarray) -> np.ndarray:
    """π (E, m) of positions (E, s)."""
    return 0.5 * np.sum(invariant_gradients(forms, x) * x[:, None, :], axis=2)


def invariant_gradients(forms: np.ndarray, x: np.ndarray) -> np.ndarray:
    """∇π (E, m, s)."""
    m, s, _ = forms.shape
    return (x @ forms.reshape(m * s, s).T).reshape(len(x), m, s)
