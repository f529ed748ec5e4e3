"""Follow the solutions of a linear problem along a parameter: speed, load, flow velocity.

    0 ≤ x ⟂ A(s) x + b(s) ≥ 0

While the set of closed contacts stays, x(s) is given by linear equations. Where a force or a gap reaches zero,
that pair is exchanged and the branch goes on, forwards or, at a fold, backwards. Where the equations become
singular the branch is lost; Lemke, started from the last basis, then looks for another one. This is the procedure that
Waltersberger & Wauer (2005) found to work above the critical speed, where A is not positive definite and solutions
are neither certain nor unique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from klapper.complementarity.checking import as_vector
from klapper.complementarity.convert import Conversion, as_linear
from klapper.complementarity.dense import dense
from klapper.complementarity.dispatch import solve
from klapper.complementarity.errors import ComplementarityError, InvalidProblem
from klapper.complementarity.lemke import Lemke
from klapper.complementarity.problem import LinearComplementarity, linear_residuals
from klapper.counting import counted

EventKind = Literal["closes", "opens", "fold", "critical", "lost", "resumed", "end"]
ROUND_OFF = 1e-10
MAX_SHOWN = 20
SMALLEST_STEP = 1e-7


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
    5 solutions on 1 branch, from 0
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
    of every solution, dimensionless. Step length is (end − start) / steps; changes of contact are located to round-off
    between the steps. A branch that folds is followed back, at most to ``start``; with ``at_fold="jump"`` it is left
    there, as a structure would whose speed is raised further, and another branch is looked for.

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
    return _Tracer(family, float(start), float(end), steps, at_fold == "jump", tolerance).trace(first)


class _Tracer:
    """The state of one pursuit: parameter, basis, direction, and what was recorded."""

    def __init__(
        self, family: Any, start: float, end: float, steps: int, jump: bool, tolerance: float
    ) -> None:
        self.family = family
        self.start, self.end = start, end
        self.length = (end - start) / steps
        self.step = self.length
        self.limit = 20 * steps + 1000
        self.jump = jump
        self.tolerance = tolerance
        self.direction = 1.0
        self.branch = 0
        self.closed: Any = None
        self.points: list[tuple[float, np.ndarray, np.ndarray, np.ndarray, int, tuple[str, ...]]] = []
        self.events: list[BranchEvent] = []

    def conversion(self, s: float) -> Conversion[LinearComplementarity] | None:
        """The linear problem at s with the way back, or None where there is none (exactly at a critical speed)."""
        try:
            with np.errstate(all="ignore"):
                found = as_linear(self.family(s))
        except (ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError, InvalidProblem):
            return None
        return found if self.closed is None or found.problem.size == len(self.closed) else None

    def problem(self, s: float) -> LinearComplementarity | None:
        found = self.conversion(s)
        return None if found is None else found.problem

    def trace(self, first: Any) -> SolutionBranch:
        conversion = as_linear(self.family(self.start))
        if first is None:
            x = solve(conversion.problem, tolerance=self.tolerance).x
        else:
            x = conversion.lift(as_vector(first, "first", self.family(self.start).size))
        self.s, self.closed = self.start, x > 0
        if not conversion.problem.residuals(x).worst <= self.tolerance or not self.record(self.start):
            raise InvalidProblem("first is not a solution of the problem at start, or its basis is singular.")
        while len(self.points) < self.limit:
            if not self.advance():
                break
        parameter, xs, ys, closed, number, _ = zip(*self.points, strict=True)
        return SolutionBranch(
            np.array(parameter),
            np.array(xs),
            np.array(ys),
            np.array(closed),
            np.array(number),
            tuple(self.events),
        )

    def advance(self) -> bool:
        """One step, or one event; False at the end of the range."""
        last = self.end if self.direction > 0 else self.start
        if abs(self.s - last) <= 1e-14 * (abs(self.start) + abs(self.end)):
            note = "" if self.direction > 0 else "back at the start"
            self.events.append(BranchEvent("end", self.s, note))
            return False
        target = self.s + self.direction * self.step
        if (target - last) * np.sign(self.end - self.start) * self.direction >= 0:
            target = last
        if self.problem(target) is None and target != last:  # exactly on a critical value
            target -= 1e-3 * (target - self.s)
        if not self.smooth(target):
            if abs(self.step) > SMALLEST_STEP * abs(self.length):
                self.step *= 0.5
                return True
            return self.lose(target)
        self.step = np.sign(self.length) * min(2.0 * abs(self.step), abs(self.length))
        if self.admissible(target, self.closed) and self.same_side(target):
            self.s = target
            if self.record(target):
                return True
        return self.exchange(target)

    def smooth(self, target: float) -> bool:
        """Whether forces and gaps halfway are near the mean of both ends: no pole lies in between."""
        middle = 0.5 * (self.s + target)
        if self.problem(middle) is None:
            middle += 1e-3 * (target - self.s)
        values = [self.margins(s, self.closed) for s in (self.s, middle, target)]
        if any(value is None for value in values):
            return False
        low, half, high = (value[0] for value in values if value is not None)
        size = np.maximum(np.maximum(np.abs(low), np.abs(half)), np.abs(high))
        return bool(np.all(np.abs(half - 0.5 * (low + high)) <= 0.25 * size))

    def margins(self, s: float, closed: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Forces of closed and gaps of open contacts (n,), and the size of the terms they are made of; None if
        singular."""
        problem = self.problem(s)
        x = self.point(s, closed)
        if problem is None or x is None:
            return None
        matrix = dense(problem.matrix)
        size = np.abs(problem.offset) + np.abs(matrix) @ np.abs(x)
        force_size = np.abs(x).max(initial=0.0)
        return np.where(closed, x, matrix @ x + problem.offset), np.where(closed, force_size, size)

    def admissible(self, s: float, closed: np.ndarray) -> bool:
        found = self.margins(s, closed)
        return found is not None and bool(np.all(found[0] >= -ROUND_OFF * found[1]))

    def point(self, s: float, closed: np.ndarray) -> np.ndarray | None:
        problem = self.problem(s)
        if problem is None:
            return None
        x = np.zeros(problem.size)
        block = dense(problem.matrix)[np.ix_(closed, closed)]
        try:
            x[closed] = np.linalg.solve(block, -problem.offset[closed])
        except np.linalg.LinAlgError:
            return None
        return x if np.isfinite(x).all() else None

    def orientation(self, s: float) -> float:
        """Sign of the determinant of the closed contacts' block; zero where it is singular."""
        problem = self.problem(s)
        if problem is None:
            return 0.0
        return float(np.linalg.slogdet(dense(problem.matrix)[np.ix_(self.closed, self.closed)])[0])

    def same_side(self, target: float) -> bool:
        """Whether x stays bounded on the way to the target; a change of orientation on the way is reported."""
        if self.orientation(self.s) == self.orientation(target):
            return True
        critical = self.singular_point(target)
        before = self.points[-2][0] if len(self.points) > 1 else self.s
        ends = [self.point(s, self.closed) for s in (before, target)]
        beside = [self.point(critical + step * (target - self.s), self.closed) for step in (-1e-6, 1e-6)]
        sizes = [np.inf if x is None else float(np.abs(x).max(initial=0.0)) for x in (*ends, *beside)]
        if max(sizes[2:]) > 1e3 * max(sizes[:2]):
            return False
        self.events.append(BranchEvent("critical", critical))
        return True

    def singular_point(self, target: float) -> float:
        """Where the determinant of the closed contacts' block changes its sign."""
        low, high, sign = self.s, target, self.orientation(self.s)
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.orientation(middle) == sign else (low, middle)
        return 0.5 * (low + high)

    def exchange(self, target: float) -> bool:
        """Go to the first contacts that change before the target and exchange them; otherwise the branch is lost."""
        crossings = self.first_crossings(target)
        if not crossings:
            return self.lose(target)
        self.s = crossings[0][0]
        together = [i for _, i in crossings]
        names = self.points[-1][5]
        self.record(self.s)
        ahead = 1e-7 * self.length * self.direction
        for group in [together] if len(together) == 1 else [together, *([i] for i in together)]:
            other = self.closed.copy()
            other[group] = ~other[group]
            for sign in (1.0, -1.0):
                if not self.admissible(self.s + sign * ahead, other):
                    continue
                kinds: list[EventKind] = ["closes" if other[i] else "opens" for i in group]
                self.events += [
                    BranchEvent(kind, self.s, names[i]) for kind, i in zip(kinds, group, strict=True)
                ]
                self.closed = other
                if sign > 0:
                    return True
                self.events.append(BranchEvent("fold", self.s, names[group[0]]))
                if self.jump:
                    return self.resume(self.s, ahead, "it turns back")
                self.direction = -self.direction
                return True
        return self.resume(self.s, ahead)

    def first_crossings(self, target: float) -> list[tuple[float, int]]:
        """Nearest parameter at which margins pass through zero (not through infinity), with their indices."""
        here, there = self.margins(self.s, self.closed), self.margins(target, self.closed)
        if here is None or there is None:
            return []
        size = np.maximum(here[1], there[1])
        found: list[tuple[float, int]] = []
        for i in np.flatnonzero(there[0] < -ROUND_OFF * there[1]):
            touching = here[0][i] <= ROUND_OFF * here[1][i]
            root = self.s if touching else self.zero_of_margin(int(i), target, size[i])
            if root is not None:
                found.append((root, int(i)))
        found.sort(key=lambda crossing: abs(crossing[0] - self.s))
        return [crossing for crossing in found if abs(crossing[0] - found[0][0]) <= 1e-9 * abs(self.length)]

    def zero_of_margin(self, i: int, target: float, size: float) -> float | None:
        """Bisection; None if the margin is not small where it changes its sign (a pole)."""
        low, high = self.s, target
        value = np.inf
        for _ in range(90):
            middle = 0.5 * (low + high)
            found = self.margins(middle, self.closed)
            if found is not None and found[0][i] >= 0:
                low, value = middle, found[0][i]
            else:
                high = middle
        return low if value <= 1e-6 * size else None

    def lose(self, target: float) -> bool:
        if self.orientation(self.s) != self.orientation(target):
            self.s = self.singular_point(target)
        self.step = self.length
        return self.resume(self.s, 1e-6 * self.length * self.direction, "forces or gaps grow without bound")

    def resume(self, s: float, ahead: float, reason: str = "no basis continues it") -> bool:
        """Look beyond a lost point with Lemke from the last basis, then with every solver, in growing steps."""
        self.events.append(BranchEvent("lost", s, reason))
        last = self.end if self.direction > 0 else self.start
        while abs(ahead) <= abs(last - s):
            problem = self.problem(s + ahead)
            solvers: tuple[str | Lemke, ...] = (Lemke(basis=self.closed), "auto")
            for solver in solvers if problem is not None else ():
                assert problem is not None
                try:
                    x = solve(problem, solver, tolerance=self.tolerance).x
                except ComplementarityError:
                    continue
                self.s, self.closed = s + ahead, x > 0
                self.branch += 1
                if self.record(self.s):
                    self.events.append(BranchEvent("resumed", self.s))
                    return True
                self.branch -= 1
            ahead = ahead + self.direction * self.length if abs(ahead) >= abs(self.length) else 4.0 * ahead
        self.events.append(BranchEvent("end", s, "no solution was found beyond"))
        return False

    def record(self, s: float) -> bool:
        """Keep the solution at s if it satisfies the problem."""
        problem = self.problem(s)
        x = self.point(s, self.closed)
        if problem is None or x is None:
            return False
        x = np.maximum(x, 0.0)
        free = np.zeros(problem.size, dtype=bool)
        if not linear_residuals(problem.matrix, problem.offset, x, free).natural_map <= max(
            self.tolerance, ROUND_OFF * 10
        ):
            return False
        original, conversion = self.family(s), self.conversion(s)
        assert conversion is not None
        point = conversion.recover(x)
        self.points.append((s, point, original.image(point), self.closed.copy(), self.branch, problem.names))
        return True
