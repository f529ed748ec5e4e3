"""What all laws at jumps share: options, and one verified contact problem in contact coordinates.

    ⁺y = free + W Λ,   0 ≤ Λ_N ⟂ ⁺y_N ≥ 0,   −⁺y_T ∈ N_D(Λ_T) with |D| = limit + μ Λ_N,   ⁺y_B = 0

Every law of this folder is one or several such problems; they differ in ``free`` and ``limit``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from klapper.complementarity import (
    ComplementarityError,
    FrictionalContact,
    LinearComplementarity,
    Solution,
    solve,
)
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.impact.problem import ImpactProblem, Matrix
from klapper.mechanics.impact.result import Impact

L = TypeVar("L", bound="type[ImpactLaw]")

IMPACT_LAWS: dict[str, type[ImpactLaw]] = {}
"""Every impact law by the word under which files know it, ``impact = { kind = "newton" }``."""


def impact_law(kind: str) -> Callable[[L], L]:
    """Enter a class of impact laws in ``IMPACT_LAWS`` under the word ``kind``."""

    def enter(law: L) -> L:
        IMPACT_LAWS[kind] = law
        return law

    return enter


@dataclass(frozen=True, kw_only=True)
class ImpactLaw(ABC):
    """Options of a law at jumps.

    ``polygon``    None for the exact friction disc, or an even number of vertices; in the plane both are the same
    ``solver``     "auto", or a solver of :mod:`klapper.complementarity`
    ``tolerance``  allowed residual of every contact problem, dimensionless

    A law with ``in_sequence`` is given all closed contacts, also those that open: it chooses anew after each jump.
    A law of one's own, contacts that take every normal velocity whatever the coefficients say:

    >>> from klapper.mechanics.impact import Stage
    >>> class Plastic(ImpactLaw):
    ...     name = "the plastic law"
    ...     def resolve(self, impact):
    ...         free = impact.contact_velocity(impact.before)
    ...         impulse, solution = self.contact_impulses(impact, impact.delassus, free, self.name)
    ...         after = impact.before + impact.response @ impulse
    ...         return Impact(impact, self.name, (Stage("impact", impulse, impact.before, after, solution),))
    >>> Plastic().resolve(ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5)).normal.tolist()
    [6.0]
    """

    polygon: int | None = None
    solver: Any = "auto"
    tolerance: float = 1e-9
    name: ClassVar[str]
    in_sequence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.polygon is not None and (self.polygon < 4 or self.polygon % 2):
            raise InvalidModel(
                f"polygon is {self.polygon}; allowed are even numbers from 4 on (None: exact disc)."
            )
        if not 0.0 < self.tolerance < 1.0:
            raise InvalidModel(
                f"tolerance is {self.tolerance}; allowed are numbers between 0 and 1, e.g. 1e-9."
            )

    @abstractmethod
    def resolve(self, impact: ImpactProblem) -> Impact:
        """What the law makes of the impact; raises a ``ComplementarityError`` if it has no answer."""

    def contact_impulses(
        self,
        impact: ImpactProblem,
        delassus: Matrix,
        free: np.ndarray,
        stage: str,
        *,
        contacts: np.ndarray | None = None,
        limit: np.ndarray | None = None,
        start: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Solution[Any] | None]:
        """Impulses Λ (m + s d + k,) [N s] of the given ``contacts`` (all: None), and the solved problem.

        ``free`` (m + s d + k,) are contact velocities without impulses, ``limit`` (s,) the given part of the
        friction limits [N s]; ``stage`` names the problem in messages, ``start`` (m + s d + k,) is a guess of Λ.
        """
        impulse = np.zeros(free.size)
        problem, rows = self._contact_problem(impact, delassus, free, contacts, limit)
        if rows.size == 0:
            return impulse, None
        try:
            guess = None if start is None else start[rows]
            solution: Solution[Any] = solve(problem, self.solver, tolerance=self.tolerance, start=guess)
        except ComplementarityError as error:
            raise type(error)(f"{stage}: {error}", error.attempts) from error
        impulse[rows] = solution.x
        np.maximum(
            impulse[: impact.contacts], 0.0, out=impulse[: impact.contacts]
        )  # an iteration may end at −1e-20
        return impulse, solution

    def _contact_problem(
        self,
        impact: ImpactProblem,
        delassus: Matrix,
        free: np.ndarray,
        contacts: np.ndarray | None,
        limit: np.ndarray | None,
    ) -> tuple[LinearComplementarity | FrictionalContact, np.ndarray]:
        """The problem, and the numbers of its unknowns among all entries of Λ."""
        everything = contacts is None
        normal = np.arange(impact.contacts) if contacts is None else contacts
        names = impact.names if everything else tuple(impact.names[i] for i in normal)
        if impact.frictionless and impact.constraints == 0:
            matrix = delassus if everything and impact.patches == 0 else delassus[np.ix_(normal, normal)]
            return LinearComplementarity(matrix, free[normal], names=names), normal
        shares = impact.friction if everything else impact.friction[:, normal]
        given = np.zeros(impact.patches) if limit is None else limit
        patches = np.flatnonzero((np.diff(shares.indptr) > 0) | (given > 0.0))
        normal, tangential, bilateral = impact.rows(normal, patches)
        rows = np.concatenate([normal, tangential.ravel(), bilateral])
        first = len(normal) + tangential.size
        return FrictionalContact.from_parts(
            delassus[np.ix_(rows, rows)],
            free[rows],
            normal=np.arange(len(normal)),
            tangential=np.arange(len(normal), first).reshape(tangential.shape),
            friction=shares[patches],
            limit=given[patches],
            bilateral=np.arange(first, len(rows)),
            polygon=self.polygon,
            normal_names=names,
            tangential_names=[impact.patch_names[i] for i in patches],
            bilateral_names=impact.constraint_names,
        ), rows
