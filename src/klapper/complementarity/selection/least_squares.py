"""Rules that pick the member nearest to given forces, in a metric of their own.

    x = arg min ½ (x − x₀)ᵀ C (x − x₀)   over the set

Minimum norm: x₀ = 0, C = 1. Compliant: C the compliances of the contacts, the limit of an elastic model. Near previous:
x₀ the forces of the last moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.selection.force_set import ForceSet
from klapper.complementarity.selection.reading import as_matrix, as_previous
from klapper.complementarity.selection.rule import Selection, by_force, chosen, positive


@dataclass(frozen=True)
class MinimumNorm:
    """The smallest forces, min Σ x_i²: Seiwald's secondary criterion min λᵀλ, without his case tables.

    Assumes that all contacts are equally stiff in all directions and were loaded from zero at once; equal forces share
    a load equally. Always a member of the set.

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[0.5, 3.0])
    >>> MinimumNorm().select(pair).forces.round(12).tolist()
    [-0.5, -1.5]
    """

    name = "minimum norm"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        face = forces.face
        t = face.nearest(np.zeros(forces.size), np.ones(forces.size))
        return chosen(forces, face.at(t), self.name)


@dataclass(frozen=True)
class Compliant:
    """The forces of elastic contacts in the limit of great stiffness: min ½ xᵀ C x + sᵀ x.

    Assumes that contacts (or the structure behind them) deform linearly with small compliances C, were assembled with
    the misfit s, and were loaded at once to the present load: complementary energy is least (Castigliano). Only ratios
    of compliances matter; a history of slip and reversals of the load is not followed.

    ``compliance``  [m/N]: one number, (r,), a matrix (r, r), or a mapping from names, e.g. {"A tangential": 1e-9};
                    forces without a name in a mapping get ``default``
    ``misfit``      s [m]: displacement against a force at which the contact is unloaded, e.g. the height by which a leg
                    is too short; one number, (r,) or a mapping. Compliances then matter in size, too

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])
    >>> Compliant([1.0, 3.0]).select(pair).forces.round(12).tolist()
    [-1.5, -0.5]
    """

    compliance: Any
    misfit: Any = 0.0
    default: float = 1.0
    name = "compliant"

    def __post_init__(self) -> None:
        if isinstance(self.compliance, dict) or np.ndim(self.compliance) < 2:
            positive(self.compliance, "compliance")
        else:
            matrix = np.asarray(self.compliance, dtype=float)
            square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and np.all(np.isfinite(matrix))
            if not square or np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min() <= 0.0:
                raise InvalidProblem(
                    f"compliance has shape {matrix.shape}; a matrix must be square, symmetric and positive definite, "
                    f"of finite numbers."
                )
        positive(self.default, "default")

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        if isinstance(self.compliance, dict) or np.ndim(self.compliance) < 2:
            metric = by_force(self.compliance, forces, "compliance", self.default)
            full = np.diag(metric)
        else:
            metric = full = as_matrix(self.compliance, "compliance", forces.size)
        misfit = by_force(self.misfit, forces, "misfit", 0.0)
        target = -np.linalg.solve(full, misfit) if misfit.any() else np.zeros(forces.size)
        face = forces.face
        return chosen(forces, face.at(face.nearest(target, metric)), self.name)


@dataclass(frozen=True)
class NearPrevious:
    """The member nearest to the forces of the last moment: forces change as little as the motion allows.

    Assumes that what is locked in stays locked in until a limit forces it out, with equal stiffness of all contacts:
    elasticity with a memory, in small steps. Without previous forces it is the minimum norm, and says so.

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])
    >>> NearPrevious().select(pair, np.array([-2.0, 1.0])).forces.round(12).tolist()
    [-2.5, 0.5]
    """

    name = "near previous"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        face = forces.face
        target = np.zeros(forces.size) if previous is None else as_previous(previous, forces.size)
        note = "" if previous is not None else "there are no previous forces: the minimum norm was used"
        t = face.nearest(target, np.ones(forces.size))
        return chosen(forces, face.at(t), self.name, note)
