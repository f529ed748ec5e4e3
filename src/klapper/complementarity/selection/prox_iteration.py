"""The member that a prox iteration ends in, by doing it.

    x_N ← max(0, x_N − r v_N),   x_T ← proj_D(x_T − r v_T),   v = G (x − x̄)           Seiwald (3.15)

Every sweep adds a combination of the columns of R Wᵀ, so that without clipping the end is

    x = arg min Σ (x_i − x_i⁰)² / r_i   over all x with W x = W x̄                     (spec 15.7)

With one common direction and r small enough that the defect W (x − x̄) keeps its sign, Σ r_i G_ii ≤ 1, every force moves
one way only, x_i = clip(x_i⁰ + α r_i): the same minimum within the limits. A larger r may swing over a limit and end
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.errors import InvalidProblem, NotApplicable
from klapper.complementarity.selection.force_set import ForceSet
from klapper.complementarity.selection.reading import as_previous
from klapper.complementarity.selection.rule import Selection, by_force, chosen, positive
from klapper.counting import counted


@dataclass(frozen=True)
class ProxIteration:
    """Where the prox iteration ends that starts from given forces with given factors.

    Assumes nothing physical: the choice is made by numbers of the method. Read as mechanics it is elasticity without a
    history, with stiffnesses in the ratio of the factors and ``start`` locked in.

    ``start``           x⁰ [N]: one number for friction, (r,) for all forces, a mapping from names, or "previous" for a
                        warm start; normal forces that are not given start as those of the set at hand, as if they had
                        been iterated before (Seiwald, listing C.1)
    ``factors``         r_i relative to each other: one number, (r,) or a mapping from names
    ``relaxation``      the largest r G that a sweep applies, in (0, 2), dimensionless; up to 1 none overshoots
    ``max_iterations``  after which the nearest member to the last iterate is taken, and the note says so

    Two feet share −2 N; from zero the one with three times the factor r takes three times the force:

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])
    >>> ProxIteration(factors=[3.0, 1.0]).select(pair).forces.round(9).tolist()
    [-1.5, -0.5]
    """

    start: Any = 0.0
    factors: Any = 1.0
    relaxation: float = 1.0
    max_iterations: int = 200_000
    name = "prox iteration"

    def __post_init__(self) -> None:
        positive(self.factors, "factors")
        if isinstance(self.start, str) and self.start != "previous":
            raise InvalidProblem(f"start is {self.start!r}; allowed are forces in N and 'previous'.")
        if not 0.0 < self.relaxation < 2.0:
            raise InvalidProblem(f"relaxation is {self.relaxation}; allowed are numbers between 0 and 2.")
        if self.max_iterations < 1:
            raise InvalidProblem(f"max_iterations is {self.max_iterations}; allowed are numbers from 1 on.")

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        from klapper.complementarity.kernels.selection import prox_member

        if forces.polygon is not None:
            raise NotApplicable("The prox iteration knows friction discs, not polygons; use another rule.")
        note = ""
        x = np.where(forces.fixed, forces.forces, self._start(forces, previous))
        factors = self._factors(forces)
        pairs = np.full((len(forces.patches), 2), -1)
        pairs[:, : forces.patches.shape[1]] = forces.patches
        senses = np.zeros((len(forces.patches), 2))
        senses[:, : forces.sense.shape[1]] = forces.sense
        change, iterations = prox_member(
            np.ascontiguousarray(forces.delassus),
            forces.forces,
            forces.normal.astype(np.int64),
            pairs.astype(np.int64),
            np.ascontiguousarray(forces.friction),
            forces.limit,
            senses,
            forces.sliding,
            forces.fixed,
            factors,
            1e-15 * forces.face.size,
            self.max_iterations,
            x,
        )
        if iterations >= self.max_iterations or not forces.contains(x):
            note = (
                f"after {counted(iterations, 'sweep')} forces still change by {change:.1e} N: the nearest "
                "member of the set was "
                f"taken"
            )
            x = forces.face.at(forces.face.nearest(x, 1.0 / factors))
        return chosen(forces, x, self.name, note)

    def _start(self, forces: ForceSet, previous: np.ndarray | None) -> np.ndarray:
        given = self.start
        if isinstance(given, str):
            if previous is not None:
                return as_previous(previous, forces.size)
            given = 0.0
        start = by_force(given, forces, "start", np.nan)
        if np.ndim(given) == 0 and not isinstance(given, dict):
            start[forces.normal] = np.nan
        start[forces.normal] = np.where(np.isnan(start), forces.forces, start)[forces.normal]
        return np.nan_to_num(start)

    def _factors(self, forces: ForceSet) -> np.ndarray:
        """r (r,) [kg] with the largest eigenvalue of R^½ G R^½ over the forces that vary at ``relaxation``."""
        weight = by_force(self.factors, forces, "factors", 1.0)
        varies = ~forces.fixed
        varies[forces.patches[forces.sliding].ravel()] = False
        root = np.sqrt(weight[varies])
        scaled = forces.delassus[np.ix_(varies, varies)] * np.outer(root, root)
        largest = float(np.linalg.eigvalsh(0.5 * (scaled + scaled.T)).max(initial=0.0))
        return weight * (self.relaxation / largest if largest > 0.0 else 1.0)
