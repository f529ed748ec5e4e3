"""Newton's method for the equations of one step.

    x ← x − α R'(x)⁻¹ R(x)

α is halved while a trial makes no sense (a cell turned inside out, numbers that are not finite) or the residual grows.
Corrections may be capped. A derivative whose correction took away most of the residual is used again, since most of a
round is spent on it. After convergence it goes on while the residual still falls: what a step conserves, it conserves
to this residual. Where rounding, or differences in place of derivatives, stop it a little above the
tolerance, what was reached is accepted and told; so is a position that no correction can improve beyond its rounding,
as that of a body at rest, where all forces are rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from klapper.effort import report
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.schemes.sparse_factor import SingularMatrix, Solve

_EPSILON, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
_DIGITS = 4.0 * _EPSILON  # of the coordinates: a correction that is rounding
_FINE = 1e3 * _EPSILON  # residual below which one that stays is rounding, whatever the derivative
_DESCENT = (
    1e-4  # of the residual: the least that a full correction must take away, Dennis & Schnabel (1983), 6.3
)
_STALLED, _STILL = (
    6,
    0.99,
)  # rounds of a line search that leave this share of the residual, after which it gives up
_COARSE = 1e-6  # residual that rounding never explains
_IDLE, _NOISE = 3, 100.0  # rounds without progress after which this many tolerances are taken for rounding


class Residual(NamedTuple):
    """``value`` (N,), and the ``size`` (N,) of the terms that it is the sum of, one number per kind of equation."""

    value: np.ndarray
    size: np.ndarray

    @property
    def relative(self) -> float:
        """Largest entry in units of its terms."""
        return float(np.max(np.abs(self.value) / np.where(self.size > 0.0, self.size, 1.0), initial=0.0))


class Equations(Protocol):
    """What Newton's method asks: the residual at x (N,), and the inverse of its derivative."""

    def residual(self, x: np.ndarray) -> Residual: ...

    def inverse(self, x: np.ndarray) -> Solve: ...


class NotConverged(ArithmeticError):
    """Newton's method found no solution from the given start."""


@dataclass(frozen=True)
class NewtonIteration:
    """How to solve the equations of a step.

    ``tolerance``     of the residual, in units of the terms that it is the sum of
    ``most``          number of rounds
    ``largest``       [m], cap of the correction of a coordinate in one round; None: no cap
    ``line_search``   halve corrections that increase the residual
    ``polish``        go on after the tolerance is reached, as long as the residual falls
    ``reuse``         share of the residual that a correction leaves at most if its derivative is used again; 0: never

    A spring of 4 N/m under 2 N settles at 0.5 m, in rounds that move it by at most 0.2 m:

    >>> from klapper.mechanics import LinearSystem, Ramp
    >>> from klapper.schemes import NewtonIteration, QuasiStatic
    >>> from klapper.simulation import simulate
    >>> spring = LinearSystem([1.0], stiffness=[4.0], force=Ramp([0.0], [2.0]))
    >>> simulate(spring, 1.0, QuasiStatic(1.0, newton=NewtonIteration(largest=0.2))).position[-1].round(9)
    array([0.5])
    """

    tolerance: float = 1e-10
    most: int = 30
    largest: float | None = None
    line_search: bool = True
    polish: bool = True
    reuse: float = 0.05

    def __post_init__(self) -> None:
        number(self.tolerance, "tolerance", "numbers above 0", above=0.0)
        number(self.most, "most", "whole numbers from 1 on", at_least=1.0)
        number(self.reuse, "reuse", "numbers from 0 to 0.5", at_least=0.0, at_most=0.5)
        if self.largest is not None:
            number(self.largest, "largest", "lengths above 0, in m, or None", above=0.0)

    def solve(self, equations: Equations, start: np.ndarray, capped: int) -> tuple[np.ndarray, int, float]:
        """x (N,), number of rounds, relative residual. The first ``capped`` unknowns are coordinates."""
        x, idle, stalled = start.copy(), 0, 0
        now, inverse = equations.residual(x), None
        for rounds in range(1, self.most + 1):
            report("newton_iterations")
            used = inverse is not None
            try:
                with np.errstate(
                    all="ignore"
                ):  # far from any solution numbers overflow, and are refused below
                    inverse = inverse or equations.inverse(x)
                    change = -inverse(now.value)
            except SingularMatrix as error:
                raise NotConverged(f"the equations of the step are singular ({error})") from error
            if not np.all(np.isfinite(change)):
                raise NotConverged("the equations of the step are singular")
            if _rounding(change, x, capped, self.tolerance):
                return x, rounds, self._judged(equations, x, capped, now)
            change = self._capped(change, capped)
            if used:
                place, after = self._moved_on(equations, x, now, change)
            else:
                place, after = self._moved(equations, x, now, change)
            share = after.relative / max(now.relative, _TINY)
            steady = share <= self.reuse or (self.reuse > 0.0 and after.relative <= self.tolerance)
            inverse = inverse if steady else None
            x, now = place, after
            slow = share > self.reuse if now.relative > self.tolerance else share >= 0.5
            if used and slow and now.relative > _FINE:
                inverse = None
                continue  # with a derivative of its own
            idle = idle + 1 if share >= 0.5 else 0
            reached = self.tolerance * (1.0 if idle < _IDLE else _NOISE)
            rest = idle or not self.polish
            if now.relative <= _EPSILON or (rest and now.relative <= reached):
                return x, rounds, now.relative
            stalled = stalled + 1 if share > _STILL else 0
            if self.line_search and stalled >= _STALLED:
                raise NotConverged(
                    f"the residual stays at {now.relative:.1e}, {self.tolerance:.1e} was wanted"
                )
        if now.relative <= self.tolerance:
            return x, self.most, now.relative
        raise NotConverged(
            f"the residual is {now.relative:.1e} after {self.most} rounds, {self.tolerance:.1e} was wanted"
        )

    def _judged(self, equations: Equations, x: np.ndarray, capped: int, now: Residual) -> float:
        """The residual where corrections are below the rounding of the coordinates, if rounding explains it.

        It does if the residual is small, or not large and no more than what the last digits of the coordinates make.
        """
        now = equations.residual(x)  # in sizes that are known since the derivative is
        if now.relative <= _NOISE * self.tolerance:
            return now.relative
        if now.relative <= _COARSE:
            for sign in (np.ones(capped), np.cos(np.pi * np.arange(capped))):
                digits = np.zeros_like(x)
                digits[:capped] = 2.0 * _EPSILON * sign * x[:capped]
                after = _sensible(equations.residual, x + digits)
                if after is None:
                    continue
                if Residual(after.value - now.value, now.size).relative >= 0.5 * now.relative:
                    return now.relative
        raise NotConverged(
            f"the residual stays at {now.relative:.1e} while corrections are below the rounding of the coordinates"
        )

    def _capped(self, change: np.ndarray, capped: int) -> np.ndarray:
        most = float(np.abs(change[:capped]).max(initial=0.0))
        if self.largest is None or most <= self.largest:
            return change
        return change * (self.largest / most)

    def _moved_on(
        self, equations: Equations, x: np.ndarray, now: Residual, change: np.ndarray
    ) -> tuple[np.ndarray, Residual]:
        """By a correction with the derivative of a round before, if it helps."""
        after = _sensible(equations.residual, x + change)
        return (x, now) if after is None or after.relative >= now.relative else (x + change, after)

    def _moved(
        self, equations: Equations, x: np.ndarray, now: Residual, change: np.ndarray
    ) -> tuple[np.ndarray, Residual]:
        share = 1.0
        best: tuple[np.ndarray, Residual] | None = None
        for _ in range(12):
            trial = x + share * change
            after = _sensible(equations.residual, trial)
            if after is not None:
                if best is None or after.relative < best[1].relative:
                    best = trial, after
                if not self.line_search or after.relative <= max(
                    (1.0 - _DESCENT * share) * now.relative, self.tolerance
                ):
                    return trial, after
            share *= 0.5
        if best is None:
            raise NotConverged("no correction of the positions keeps the bodies from turning inside out")
        return best


def require_newton(given: Any) -> None:
    """Refuse what equations cannot be solved by."""
    if not isinstance(given, NewtonIteration):
        raise InvalidModel(f"newton is {given!r}; allowed are NewtonIteration(…) with its options.")


def _rounding(change: np.ndarray, x: np.ndarray, coordinates: int, tolerance: float) -> bool:
    """Whether a correction is below the rounding of the coordinates and hardly changes the multipliers."""
    place, force = (
        np.abs(change[:coordinates]).max(initial=0.0),
        np.abs(change[coordinates:]).max(initial=0.0),
    )
    still = place <= _DIGITS * np.abs(x[:coordinates]).max(initial=0.0)
    return bool(still and force <= tolerance * np.abs(x[coordinates:]).max(initial=0.0))


def _sensible(residual: Callable[[np.ndarray], Residual], x: np.ndarray) -> Residual | None:
    with np.errstate(all="ignore"):
        found = residual(x)
    return found if np.all(np.isfinite(found.value)) else None
