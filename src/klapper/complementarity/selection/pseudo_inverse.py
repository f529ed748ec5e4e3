"""The pseudo-inverse as a selection rule, with what has to be done where it asks for too much.

    x = W⁺ (W x̄)                                                     Seiwald (4.5)-(4.8)

is the smallest x of all with the same W x, in a norm with weights if they are given, whatever its signs and sizes.
Forces beyond the limits of contact and friction are either cut off (Seiwald, listing C.5), which changes W x and hence
the motion, or their excess is handed to the others (4.3.1, "manual redistribution") as long as these can take it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.selection.face import Face
from klapper.complementarity.selection.force_set import ForceSet
from klapper.complementarity.selection.least_squares import MinimumNorm
from klapper.complementarity.selection.rule import Selection, by_force, chosen, positive

_BEYOND = 1e-12  # of the largest force: excess that is round-off
_KEPT = 1e-10  # the same for forces that can no longer be met together


@dataclass(frozen=True)
class PseudoInverse:
    """Smallest forces by the pseudo-inverse, then made to fit the limits.

    Assumes that limits of friction and unilateral contact hardly matter. ``limits="clip"``: what exceeds a limit is cut
    off, and the choice then no longer belongs to the set (``exact`` False): the system slips a little although it could
    stick, which shows as chatter at the transition (Seiwald 5.2.2). ``limits="redistribute"``: forces that reach a
    limit stay there and the others take the rest, smallest first; where that ends in a contradiction the minimum norm
    is used, and the note says so. Redistribution is a heuristic and need not give the smallest forces.

    ``weight``  C of the norm xᵀ C x that is least, above 0: one number, one for each force, or a mapping from names of
                forces, the others having 1

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[0.5, 3.0])
    >>> PseudoInverse("clip").select(pair).forces.round(12).tolist()
    [-0.5, -1.0]
    >>> PseudoInverse("redistribute").select(pair).forces.round(12).tolist()
    [-0.5, -1.5]
    >>> PseudoInverse("clip", weight=[3.0, 1.0]).select(pair).forces.round(12).tolist()
    [-0.5, -1.5]
    """

    limits: Literal["clip", "redistribute"] = "clip"
    weight: Any = 1.0

    def __post_init__(self) -> None:
        if self.limits not in ("clip", "redistribute"):
            raise InvalidProblem(f"limits is {self.limits!r}; allowed are 'clip' and 'redistribute'.")
        positive(self.weight, "weight")

    @property
    def name(self) -> str:
        kind = "pseudo-inverse" if self.limits == "clip" else "redistributed pseudo-inverse"
        return kind if np.ndim(self.weight) == 0 and not isinstance(self.weight, dict) else f"weighted {kind}"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        weight = by_force(self.weight, forces, "weight", 1.0)
        smallest = _least(forces.forces, forces.face.null, weight)
        clipped, rows = _clipped(forces, smallest)
        if rows.size == 0:
            return chosen(forces, smallest, self.name)
        if self.limits == "clip":
            names = ", ".join(forces.names[i] for i in rows[:6])
            return Selection(clipped, self.name, False, f"cut off at their limits: {names}")
        found = _redistributed(forces, clipped, rows, weight)
        if found is not None:
            return chosen(forces, found, self.name)
        other = MinimumNorm().select(forces)
        return Selection(
            other.forces,
            self.name,
            other.exact,
            "the redistribution contradicts itself: the minimum norm was used",
        )


def _clipped(forces: ForceSet, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces within their limits, and the rows that exceeded them."""
    cut, beyond = x.copy(), np.zeros(forces.size, dtype=bool)
    noise = _BEYOND * forces.face.size
    pulling = forces.normal[(x[forces.normal] < -noise) & ~forces.fixed[forces.normal]]
    cut[pulling], beyond[pulling] = 0.0, True
    limits = forces.limits(cut)
    for k, rows in enumerate(forces.patches):
        if np.all(forces.fixed[rows]):
            continue
        if forces.sliding[k]:
            cut[rows] = -limits[k] * forces.sense[k]
            continue
        reach = float(np.linalg.norm(x[rows]))
        if reach > limits[k] + noise:
            cut[rows] = x[rows] * (limits[k] / reach)
            beyond[rows] = True
    return cut, np.flatnonzero(beyond)


def _least(x: np.ndarray, loose: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The member (r,) of x + span(loose) with the least Σ weight x²."""
    if loose.shape[1] == 0:
        return x
    across = weight[:, None] * loose
    return np.asarray(x - loose @ np.linalg.solve(loose.T @ across, across.T @ x))


def _redistributed(
    forces: ForceSet, clipped: np.ndarray, rows: np.ndarray, weight: np.ndarray
) -> np.ndarray | None:
    """Forces (r,) with those at their limits held there, or None if the others cannot make up for them."""
    face: Face = forces.face
    held = rows
    values = clipped[rows]
    for _ in range(forces.size):
        matrix, right = face.null[held], values - face.point[held]
        t = np.linalg.lstsq(matrix, right, rcond=_KEPT)[0]
        if np.abs(matrix @ t - right).max() > _KEPT * face.size:
            return None
        x = _least(face.at(t), face.null @ _null(matrix), weight)
        cut, more = _clipped(forces, x)
        more = np.setdiff1d(more, held)
        if more.size == 0:
            return x if forces.contains(x) else None
        held, values = np.concatenate([held, more]), np.concatenate([values, cut[more]])
    return None


def _null(matrix: np.ndarray) -> np.ndarray:
    _, values, right = np.linalg.svd(matrix)
    return right[np.count_nonzero(values > _KEPT * values.max(initial=0.0)) :].T
