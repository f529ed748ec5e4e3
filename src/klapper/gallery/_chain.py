"""Bodies in a row for the impact examples: the model, answers by other methods, and the audit of an impact."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics.impact import Impact, ImpactProblem

LAWS = ("newton", "poisson", "sequential")
TITLES = {"newton": "Newton", "poisson": "Poisson", "sequential": "sequential"}


def chain(masses: Any, before: Any, restitution: Any) -> "ImpactProblem":
    """Bodies (n,) that touch their neighbours, Waltersberger (5.1)-(5.5); contacts are named 1-2, 2-3, …"""
    from klapper.mechanics.impact import ImpactProblem

    n = len(masses)
    normal = np.eye(n, n - 1, k=-1) - np.eye(n, n - 1)
    names = [f"{i}-{i + 1}" for i in range(1, n)]
    return ImpactProblem(masses, before, normal, restitution=restitution, names=names)


def resolve(law: str, problem: "ImpactProblem", limit: int = 20_000) -> "Impact":
    from klapper.mechanics.impact import Newton, Poisson, Sequential

    laws = {"newton": Newton(), "poisson": Poisson(), "sequential": Sequential(limit=limit)}
    return laws[law].resolve(problem)


def expected_velocities(law: str, impact: "Impact") -> np.ndarray:
    """Velocities (n,) after the first body has hit the others at rest, without a complementarity problem.

    Newton: the hit bodies take no impulse from their own coefficients and move as one. Poisson: compression makes all
    one body; restitution is the isotonic regression of what is pushed back. Sequential: as many rounds of impacts of
    pairs as the law had fast impacts.
    """
    masses, restitution = impact.problem.mass, impact.problem.restitution
    speed = float(impact.problem.before[0])
    if law == "newton":
        return _as_one_body(masses, speed, restitution[0])
    if law == "poisson":
        return _poisson(masses, speed, restitution)
    return pair_impacts(masses, speed, restitution, len(impact.stages))


SOURCES = {
    "newton": "impact of body 1 on all others as one body, ε₁",
    "poisson": "plastic compression, then isotonic regression of the velocities pushed back",
    "sequential": "impacts of pairs by hand",
}


def _as_one_body(masses: np.ndarray, speed: float, restitution: float) -> np.ndarray:
    rest = masses[1:].sum()
    push = (1.0 + restitution) * speed * rest / (masses[0] + rest)
    return np.concatenate([[speed - push], np.full(len(masses) - 1, push * masses[0] / rest)])


def _poisson(masses: np.ndarray, speed: float, restitution: np.ndarray) -> np.ndarray:
    from scipy.optimize import isotonic_regression

    together = speed * masses[0] / masses.sum()
    returned = np.concatenate([[0.0], restitution * together * np.cumsum(masses[::-1])[-2::-1], [0.0]])
    return isotonic_regression(together - np.diff(returned) / masses, weights=masses).x


def pair_impacts(masses: np.ndarray, speed: float, restitution: np.ndarray, rounds: int) -> np.ndarray:
    """A row hit at its end: of two neighbouring contacts only one approaches at a time, so that pairs suffice."""
    velocity = speed * (np.arange(len(masses)) == 0)
    for _ in range(rounds):
        approaching = np.flatnonzero(velocity[:-1] > velocity[1:])
        left, right = masses[approaching], masses[approaching + 1]
        difference = velocity[approaching] - velocity[approaching + 1]
        push = (1.0 + restitution[approaching]) * difference * left * right / (left + right)
        velocity[approaching] -= push / left
        velocity[approaching + 1] += push / right
    return velocity


def audit(impact: "Impact") -> dict[str, Any]:
    """Solver, residuals, uniqueness and books of an impact, for an example's audit."""
    solutions = [stage.solution for stage in impact.stages if stage.solution is not None]
    books = impact.audit
    solvers = dict.fromkeys(solution.solver for solution in solutions)
    return {
        "law": impact.law,
        "solver": f"{', '.join(solvers) or 'none'}, {len(solutions)} contact problems",
        "residuals": {
            "worst contact problem": max((s.residuals.worst for s in solutions), default=0.0) + 0.0,
            "energy books": books.residual,
        },
        "uniqueness": " ".join(str(impact.unique).split()),
        "energy": impact.words,
        "dissipated by contact": dict(zip(books.names, books.normal.tolist(), strict=True)),
    }
