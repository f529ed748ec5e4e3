"""Models of the impact tests and the independent methods they are compared with."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import nnls

from klapper.mechanics.impact import ImpactProblem

MASSES = {"A": 0.045, "B": 0.053, "C": 0.053, "D": 0.166}
RESTITUTION = {
    frozenset(pair): value
    for pair, value in {
        "AA": 0.97, "AB": 0.53, "AC": 0.31, "AD": 0.94, "BB": 0.36, "BC": 0.28, "BD": 0.38,
        "CC": 0.27, "CD": 0.30, "DD": 0.85,
    }.items()
}  # fmt: skip


def row(masses: Any, before: Any, **given: Any) -> ImpactProblem:
    """Masses in a row, each touching the next, Waltersberger (5.1)-(5.5)."""
    n = len(masses)
    normal = np.zeros((n, n - 1))
    normal[np.arange(n - 1), np.arange(n - 1)] = -1.0
    normal[np.arange(1, n), np.arange(n - 1)] = 1.0
    return ImpactProblem(masses, before, normal, **given)


def three(restitution: Any, before: Any = (1.0, 0.0, 0.0)) -> ImpactProblem:
    """Three unit masses, Waltersberger Ex. 5.1."""
    return row([1.0, 1.0, 1.0], before, restitution=restitution)


def balls(types: str, speed: float = 1.0) -> ImpactProblem:
    """A chain of the balls of Table 5.1, the first one moving."""
    restitution = [RESTITUTION[frozenset(pair)] for pair in pairwise(types)]
    before = speed * (np.arange(len(types)) == 0)
    return row([MASSES[kind] for kind in types], before, restitution=restitution)


def ring(discs: int, restitution: float) -> ImpactProblem:
    """Tightly packed discs on a closed track, one of them moving, Waltersberger Ex. 5.5."""
    normal = np.roll(np.eye(discs), 1, axis=0) - np.eye(discs)
    return ImpactProblem(np.ones(discs), np.arange(discs) == 0, normal, restitution=restitution)


def random_impact(
    rng: np.random.Generator,
    *,
    restitution: Any = 0.0,
    size: int = 5,
    contacts: int = 3,
    approaching: bool = True,
    dimension: int = 0,
    friction: float = 0.4,
) -> ImpactProblem:
    """A full mass matrix and random directions; ``dimension`` 0 means without friction."""
    factor = rng.normal(size=(size, size))
    before, normal = rng.normal(size=size), rng.normal(size=(size, contacts))
    if approaching:
        normal *= -np.sign(before @ normal)
    given: dict[str, Any] = {}
    if dimension:
        tangential = rng.normal(size=(size, contacts * dimension))
        given = {"tangential": tangential, "friction": friction, "dimension": dimension}
    return ImpactProblem(
        factor @ factor.T + 0.3 * np.eye(size), before, normal, restitution=restitution, **given
    )


def projection(problem: ImpactProblem) -> np.ndarray:
    """⁺v of Waltersberger (3.111), the nearest point of C in the metric of M, by least distance programming.

    Lawson & Hanson, Solving least squares problems, chapter 23: min |x| with G x ≥ h by non-negative least squares.
    """
    mass = np.diag(problem.mass) if problem.mass.ndim == 1 else problem.mass
    lower = np.linalg.cholesky(mass)
    g = np.linalg.solve(lower, problem.normal).T
    h = -(1.0 + problem.restitution) * problem.normal_velocity(problem.before)
    scale = np.abs(h).max()
    if h.max() <= 0.0:
        return problem.before
    dual = np.vstack([g.T, h / scale])
    target = np.append(np.zeros(len(problem.before)), 1.0)
    residual = dual @ nnls(dual, target)[0] - target
    return problem.before + np.linalg.solve(lower.T, -residual[:-1] / residual[-1] * scale)
