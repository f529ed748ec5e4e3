"""Weight functions of averaged gaps: boxes, hats and their products on a surface, and what is asked of all of them.

    h_i ≥ 0,   ∫_Γ h_i dΓ > 0,   linearly independent                               Waltersberger (3.12)

Independence is seen from the Gram matrix ∫ h_i h_j dΓ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel

WeightFunction = Callable[..., Any]  # h(x) on a line, h(x, y) on a surface; arrays in, an array out
DEPENDENT = 1e-13  # smallest eigenvalue of the scaled Gram matrix of independent weight functions


@dataclass(frozen=True)
class Box:
    """One between two edges, zero elsewhere; an inner edge belongs to the box on its right."""

    left: float
    right: float
    last: bool

    def __call__(self, x: np.ndarray) -> np.ndarray:
        below = x <= self.right if self.last else x < self.right
        return ((self.left <= x) & below).astype(float)


@dataclass(frozen=True)
class Hat:
    """One at the middle node, zero at its neighbours and beyond; a missing neighbour cuts it off."""

    places: tuple[float, ...]
    heights: tuple[float, ...]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.interp(x, self.places, self.heights, left=0.0, right=0.0)


@dataclass(frozen=True)
class Product:
    """h(x, y, …) = h₁(x) h₂(y) …"""

    factors: tuple[Callable[[np.ndarray], np.ndarray], ...]

    def __call__(self, *coordinates: np.ndarray) -> np.ndarray:
        values = [factor(along) for factor, along in zip(self.factors, coordinates, strict=True)]
        return np.prod(values, axis=0)


def hat(nodes: np.ndarray, i: int) -> Hat:
    """The hat of the node i."""
    chosen = range(max(i - 1, 0), min(i + 2, nodes.size))
    return Hat(tuple(float(nodes[j]) for j in chosen), tuple(float(j == i) for j in chosen))


def products(families: list[list[Any]]) -> list[Product]:
    """All products of one function from the family of each direction, last fastest."""
    return [Product(factors) for factors in product(*families)]


def require_weights(values: np.ndarray, weights: np.ndarray, names: tuple[str, ...]) -> None:
    """h_i ≥ 0 and ∫ h_i > 0, (3.12)."""
    if len(values) == 0:
        raise InvalidModel("an averaged contact needs at least one weight function.")
    for name, row in zip(names, values, strict=True):
        if not np.isfinite(row).all():
            raise InvalidModel(f"'{name}' is not finite everywhere on the contact area.")
        if row.min() < 0.0:
            raise InvalidModel(
                f"'{name}' is negative ({row.min():.3g}) on part of the contact area; weight functions must be ≥ 0."
            )
        if row @ weights <= 0.0:
            raise InvalidModel(
                f"'{name}' vanishes at all points of the contact area; let it reach into the area, or refine the rule."
            )


def require_independence(rows: np.ndarray, names: tuple[str, ...]) -> None:
    """Linear independence of the weight functions, from the Gram matrix ∫ h_i h_j dΓ."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    gram = rows @ rows.T
    if np.linalg.eigvalsh(gram)[0] > DEPENDENT:
        return
    first = next(i for i in range(1, len(gram) + 1) if np.linalg.eigvalsh(gram[:i, :i])[0] <= DEPENDENT)
    reason = (
        f"; the quadrature rule has only {rows.shape[1]} points, refine it"
        if len(rows) > rows.shape[1]
        else ""
    )
    raise InvalidModel(
        f"'{names[first - 1]}' is a combination of the weight functions before it{reason}. Weight functions must be "
        "linearly independent."
    )
