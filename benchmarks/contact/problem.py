"""What programs are asked, in a form that needs numpy only, as the other programs have environments of their own.

    equilibrium   two bodies, primary and secondary, Saint Venant-Kirchhoff in plane strain, no friction
    rings         the same bodies without supports, in motion

A request has, by body, nodes (n, 2) [m], cells (c, 4), facets (f, 2) of the surface that touches, held (k, 2) node and
axis, moved (k,) [m], load (n, 2) [N]. An answer has displacements u_primary and u_secondary (n, 2) [m], the pressure
[N/m²] that the program itself gives at the nodes of the secondary surface, seconds on the processor and rounds of
Newton's method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.continuum.problem import clocked, serve

__all__ = ["BODIES", "clocked", "guess", "serve", "surface_nodes", "surface_shares"]

BODIES = ("primary", "secondary")


def surface_nodes(request: dict[str, Any], body: str) -> np.ndarray:
    """(k,) rising."""
    return np.unique(request[f"facets_{body}"])


def surface_shares(nodes: np.ndarray, facets: np.ndarray) -> np.ndarray:
    """∫ N_A ds (n,) [m] of nodes at places (n, 2), zero away from the facets."""
    half = 0.5 * np.linalg.norm(nodes[facets[:, 1]] - nodes[facets[:, 0]], axis=1)
    return np.bincount(facets.ravel(), np.repeat(half, 2), minlength=len(nodes))


def guess(request: dict[str, Any]) -> np.ndarray:
    """Traction (2,) [N/m²] on the secondary surface that carries the load of its body."""
    length = surface_shares(request["nodes_secondary"], request["facets_secondary"]).sum()
    return -request["load_secondary"].sum(axis=0) / length
