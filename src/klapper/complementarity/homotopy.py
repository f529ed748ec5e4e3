"""Follow the solutions of a linear problem along a parameter: speed, load, flow velocity.

    0 ≤ x ⟂ A(s) x + b(s) ≥ 0

While the set of closed contacts stays, x(s) is given by linear equations. Where a force or a gap reaches zero,
that pair is exchanged and the branch goes on, forwards or, at a fold, backwards. Where the solution grows without bound
the branch is lost; Lemke, started from the last basis, then looks for another one: see
:mod:`klapper.complementarity.basis_path`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from klapper.algebra import StepRefused
from klapper.complementarity.basis_path import BasisPath, PathKind
from klapper.complementarity.basis_point import HeldPoint, Orientation, regular_solver, signed_distance
from klapper.complementarity.checking import as_vector
from klapper.complementarity.convert import Conversion, as_linear
from klapper.complementarity.dense import dense
from klapper.complementarity.dispatch import solve
from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.problem import LinearComplementarity
from klapper.counting import counted

EventKind = Literal["closes", "opens", "fold", "critical", "lost", "resumed", "end"]
MAX_SHOWN = 20
_ROUND_OFF = 1e-9  # residual that is always allowed
_TINY = float(np.finfo(float).tiny)
_KEPT = 64  # problems kept in memory


@dataclass(frozen=True)
class BranchEvent:
    """Something that happens at ``parameter``, in the unit of the parameter; ``name`` is the unknown concerned.

    ``kind`` is ``closes`` or ``opens`` for a contact, ``fold``, ``critical`` where the closed contacts' matrix changes
    its sign while the forces stay bounded, ``lost`` and ``resumed`` where the branch is lost and another one taken, or
    ``end``.

    >>> print(BranchEvent("closes", 1.5, "left stop"))
    1.5: left stop closes
    """

    kind: EventKind
    parameter: float
    name: str = ""

    def __str__(self) -> str:
        words = {
            "closes": f"{self.name} closes",
            "opens": f"{self.name} opens",
            "fold": f"fold: the branch turns back where {self.name} changes",
            "critical": "critical value: beyond it the problem is not convex",
            "lost": "the branch is lost" + (f": {self.name}" if self.name else ""),
            "resumed": "another branch found by Lemke from the last basis",
            "end": "end" + (f": {self.name}" if self.name else ""),
        }
        return f"{self.parameter:.6g}: {words[self.kind]}"


@dataclass(frozen=True)
class SolutionBranch:
    """Verified solutions along the parameter.

    ``parameter`` (k,) in its unit, ``x`` (k, n) and ``y`` (k, n) in the user's unknowns; ``closed`` (k, m) tells which
    unknowns of the linear problem are in the basis; ``number`` (k,) counts up whenever the branch was lost and another
    one taken; ``events`` in the order met.

    A stop of compliance 2 m/N that the load s [m] closes at s = 1, x = (s − 1)/2:

    >>> branch = follow(lambda s: LinearComplementarity([[2.0]], [1.0 - s]), 0.0, 3.0, steps=3)
    >>> print(branch)
    8 solutions on 1 branch, from 0
      1: x0 closes
      3: end
    >>> float(branch.parameter[-1]), branch.x[-1].round(12).tolist(), branch.closed[-1].tolist()
    (3.0, [1.0], [True])
    """

    parameter: np.ndarray
    x: np.ndarray
    y: np.ndarray
    closed: np.ndarray
    number: np.ndarray
    events: tuple[BranchEvent, ...]

    @property
    def ended(self) -> str:
        """Why the branch ended, in a sentence."""
        last = self.events[-1]
        return last.name or f"the parameter has reached {last.parameter:.8g}"

    @property
    def folds(self) -> np.ndarray:
        """Parameters at which the branch turns back."""
        return np.array([event.parameter for event in self.events if event.kind == "fold"])

    def __str__(self) -> str:
        branches = counted(self.number[-1] + 1, "branch", "branches")
        head = f"{counted(len(self.parameter), 'solution')} on {branches}, from {self.parameter[0]:.6g}"
        shown = [f"  {event}" for event in self.events[:MAX_SHOWN]]
        hidden = len(self.events) - len(shown)
        return "\n".join([head, *shown, *([f"  … and {hidden} more events"] if hidden else [])])


def follow(
    family: Callable[[float], Any],
    start: float,
    end: float,
    *,
    steps: int = 200,
    first: Any = None,
    at_fold: Literal["turn", "jump"] = "turn",
    tolerance: float = 1e-9,
) -> SolutionBranch:
    """Follow a solution of ``family(s)`` from ``start`` to ``end``.

    ``family`` returns a linear problem for a parameter value s of any unit (or anything ``as_linear`` accepts);
    ``first`` is a solution x (n,) at ``start`` (default: what :func:`solve` finds), ``tolerance`` the allowed residual
    of every solution, dimensionless. Steps are at most (end − start) / steps long; changes of contact are located to
    round-off between them. A branch that folds is followed back, at most to ``start``; with ``at_fold="jump"`` it is
    left there, as a structure would whose speed is raised further, and another branch is looked for.

    >>> branch = follow(lambda s: LinearComplementarity([[-1.0]], [s]), 1.0, -1.0, first=[0.0])
    >>> [event.kind for event in branch.events], branch.folds.round(12).tolist()
    (['closes', 'fold', 'end'], [0.0])
    """
    if not steps >= 1 or start == end or not np.isfinite([start, end]).all():
        raise InvalidProblem(
            f"start, end and steps are {start}, {end} and {steps}; allowed are finite start ≠ end and steps from 1 on."
        )
    if at_fold not in ("turn", "jump"):
        raise InvalidProblem(f"at_fold is {at_fold!r}; allowed are 'turn' and 'jump'.")
    problems = _Problems(family, max(tolerance, _ROUND_OFF))
    path = BasisPath(problems, float(start), float(end), int(steps), at_fold == "jump")
    lost = path.begin(problems.first(float(start), first, tolerance))
    if lost:
        raise InvalidProblem(
            f"first is not a solution of the problem at start, or its basis is singular: {lost}."
        )
    path.follow()
    if path.interrupted:
        raise KeyboardInterrupt
    parameter, x, y, closed, number = zip(*problems.kept, strict=True)
    events = tuple(_event(*event) for event in path.events if event[0] in _KINDS)
    return SolutionBranch(
        np.array(parameter), np.array(x), np.array(y), np.array(closed), np.array(number), events
    )


_KINDS: dict[PathKind, EventKind] = {
    "closes": "closes",
    "loads": "closes",
    "opens": "opens",
    "unloads": "opens",
    "fold": "fold",
    "branching": "critical",
    "lost": "lost",
    "resumed": "resumed",
    "end": "end",
}
"""Kinds of events here by those of a path: of a contact only its force is told, and of a pole that the branch is
lost there."""


def _event(kind: PathKind, s: float, name: str) -> BranchEvent:
    return BranchEvent(_KINDS[kind], s, "" if kind == "branching" else name)


@dataclass(eq=False)
class _Problems:
    """Linear problems over a parameter, and the solutions kept: parameter, x, y, closed, number of the branch."""

    poles = True
    word = "solution"

    family: Callable[[float], Any]
    tolerance: float
    kept: list[tuple[float, np.ndarray, np.ndarray, np.ndarray, int]] = field(default_factory=list)
    size: int | None = None
    forms: dict[float, _LinearForm] = field(default_factory=dict)
    force: float = 0.0  # the largest one of the last solution
    terms: Any = 0.0  # (n,) the terms of its rows

    def form(self, s: float) -> _LinearForm:
        if s not in self.forms:
            if len(self.forms) >= _KEPT:
                del self.forms[next(iter(self.forms))]
            self.forms[s] = self._form(s)
        return self.forms[s]

    def _form(self, s: float) -> _LinearForm:
        try:
            with np.errstate(all="ignore"):
                conversion = as_linear(self.family(s))
        except (ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError, InvalidProblem) as error:
            raise StepRefused(f"there is no problem at {s:.6g} ({error})") from None
        self.size = self.size or conversion.problem.size
        if not (
            np.isfinite(dense(conversion.problem.matrix)).all()
            and np.isfinite(conversion.problem.offset).all()
        ):
            raise StepRefused(f"the problem at {s:.6g} is not finite")
        if conversion.problem.size != self.size:
            raise StepRefused(
                f"the problem at {s:.6g} has {conversion.problem.size} unknowns, not {self.size}"
            )
        return _LinearForm(conversion, self.force, self.terms)

    def first(self, start: float, given: Any, tolerance: float) -> HeldPoint:
        """The solution to begin with, as given or as found."""
        conversion = as_linear(self.family(start))
        self.size = conversion.problem.size
        if given is None:
            x = solve(conversion.problem, tolerance=tolerance).x
        else:
            x = conversion.lift(as_vector(given, "first", self.family(start).size))
        if not conversion.problem.residuals(x).worst <= tolerance:
            raise InvalidProblem("first is not a solution of the problem at start, or its basis is singular.")
        return self.form(start).point(x, x > 0.0)

    def names(self, s: float) -> tuple[str, ...]:
        return self.form(s).problem.names

    def course(self, point: HeldPoint) -> tuple[np.ndarray, ...]:
        return point.forces, point.gaps

    def keep(self, s: float, point: HeldPoint, number: int) -> str:
        """Keep the solution at s if it satisfies the problem."""
        form, x = self.form(s), np.maximum(point.forces, 0.0)
        residual = form.residual(x)
        if not residual <= self.tolerance:
            return f"the residual {residual:.1e} exceeds {self.tolerance:.0e}; badly conditioned"
        self.force, self.terms = form.own(x)
        original, own = self.family(s), form.conversion.recover(x)
        self.kept.append((s, own, original.image(own), point.closed.copy(), number))
        return ""

    def passed(self, left: float, right: float) -> tuple[tuple[float, str], ...]:
        return ()

    def growing(self, s: float, change: np.ndarray) -> str:
        return ""


@dataclass(frozen=True, eq=False)
class _LinearForm:
    """A linear problem as a path along its bases needs it; ``force`` and ``terms`` (n,) are those of a solution nearby,
    against which those that vanish are judged."""

    conversion: Conversion[LinearComplementarity]
    force: float
    terms: Any

    @cached_property
    def problem(self) -> LinearComplementarity:
        return self.conversion.problem

    @cached_property
    def matrix(self) -> np.ndarray:
        return dense(self.problem.matrix)

    @cached_property
    def monotone(self) -> bool:
        """Whether A is positive definite to round-off."""
        least = np.linalg.eigvalsh(0.5 * (self.matrix + self.matrix.T)).min(initial=np.inf)
        return bool(least > 1e-12 * np.abs(self.matrix).max(initial=0.0))

    def largest(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The largest force and the terms (n,) of the rows, here or at the last solution."""
        force, terms = self.own(x)
        return max(force, self.force), np.maximum(terms, self.terms)

    def own(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The largest force and the terms (n,) of the rows."""
        return float(np.abs(x).max(initial=0.0)), np.abs(self.problem.offset) + np.abs(self.matrix) @ np.abs(
            x
        )

    def reach(self, point: HeldPoint) -> float:
        """The largest force, or the least one that would change a row by the size of its terms."""
        force, terms = self.largest(point.forces)
        rows = np.abs(self.matrix).max(axis=1, initial=0.0)
        needed = terms[rows > 0.0] / rows[rows > 0.0]
        return max(force, float(needed.min(initial=np.inf)) if len(needed) else 0.0)

    def residual(self, x: np.ndarray) -> float:
        """Error of 0 ≤ x ⟂ A x + b ≥ 0, relative to the largest forces and terms."""
        force, terms = self.largest(x)
        gaps = self.matrix @ x + self.problem.offset
        pairs = np.minimum(x / (force or 1.0), gaps / np.where(terms > 0.0, terms, 1.0))
        return float(np.abs(pairs).max(initial=0.0))

    @cached_property
    def _points(self) -> dict[bytes, HeldPoint | None]:
        return {}

    def held(self, closed: np.ndarray) -> HeldPoint | None:
        key = closed.tobytes()
        if key not in self._points:
            self._points[key] = self._held(closed)
        return self._points[key]

    def _held(self, closed: np.ndarray) -> HeldPoint | None:
        x = np.zeros(len(closed))
        with np.errstate(all="ignore"):
            solver = regular_solver(self._block(closed))
            if solver is None:
                return None
            x[closed] = solver(-self.problem.offset[closed])
        point = self.point(x, closed)
        finite = np.isfinite(point.margins).all() and np.isfinite(point.sizes).all()
        return point if finite else None

    def point(self, x: np.ndarray, closed: np.ndarray) -> HeldPoint:
        """Forces (n,) with what follows from them."""
        gaps = self.matrix @ x + self.problem.offset
        force, terms = self.largest(x)
        return HeldPoint(x, x, gaps, closed, np.where(closed, x, gaps), np.where(closed, force, terms))

    def _block(self, closed: np.ndarray) -> np.ndarray:
        return self.matrix[np.ix_(closed, closed)]

    def orientation(self, closed: np.ndarray) -> Orientation:
        block = self._block(closed)
        size = float(np.abs(block).max(initial=0.0)) or 1.0
        return Orientation(int(np.linalg.slogdet(block)[0]), None, size)

    def regularity(self, closed: np.ndarray, since: Orientation) -> float:
        """Zero also where the block has a pole."""
        block = self._block(closed) / since.size
        size = float(np.linalg.norm(block, 2)) if block.size else 1.0
        distance = signed_distance(block)
        return since.sign * float(np.copysign(min(abs(distance), 1.0 / max(size, _TINY)), distance))

    def crossing(self, closed: np.ndarray) -> np.ndarray:
        forces = np.zeros(len(closed))
        if closed.any():
            forces[closed] = np.linalg.svd(self._block(closed))[2][-1]
        return np.where(closed, forces, self.matrix @ forces)

    def condensed(self, names: tuple[str, ...]) -> LinearComplementarity:
        return self.problem
