"""``follow_harmonic``: the response over frequency as one curve, through its folds.

    curve = follow_harmonic(system, 10.0, 30.0)

The unknowns of the curve are the contact forces in harmonics and the frequency; see
:func:`klapper.analysis.periodic.curve.follow_curve`. Where a contact begins or ceases to act the curve has a corner; it
is followed in pieces from corner to corner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.curve import HarmonicCurve
from klapper.analysis.harmonic.fourier import packed
from klapper.analysis.harmonic.newton import balanced, newton
from klapper.analysis.harmonic.response import HarmonicResponse
from klapper.analysis.harmonic.solve import balance_of, guess_from, source_of
from klapper.analysis.periodic.corrector import StepRefused
from klapper.analysis.periodic.curve import Curve, follow_curve
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.progress import Silent, Tally, tally_for
from klapper.results import Run

_SMALLEST = 1e-6  # step, in parts of the range: where it is refused, the curve has a corner
_ACROSS = (1e-4, 1e-3, 1e-2)  # of the range: how far beyond a corner the curve is looked for
_SAME = 0.95  # cosine between ways that are the same
_LEAP = 0.5  # longest way across a corner, in scaled unknowns
_SMALL = 1e-3  # of the largest motion of a contact: the least one that others are given


def follow_harmonic(
    system: LinearSystem | Callable[[float], LinearSystem],
    start: float,
    end: float,
    *,
    harmonics: int = 20,
    order: int = 1,
    period: float | None = None,
    first: HarmonicResponse | Run | None = None,
    samples: int | None = None,
    step: float = 0.005,
    largest: float = 0.05,
    tolerance: float = 1e-8,
    most: int = 1000,
    progress: bool | None = None,
) -> HarmonicCurve:
    """The responses from the frequency ``start`` on, in the direction of ``end`` [Hz], while it stays between both.

    ``system``   one system, whose course of forces is played at every frequency; or a function of the frequency [Hz]
                 that returns the system, e.g. with the gyroscopic terms and the unbalance of a speed
    ``first``    a response near ``start``, or a run there; it, ``harmonics``, ``order``, ``period`` and ``samples`` are
                 as for :func:`harmonic_response`
    ``step``     first step, ``largest`` the largest one: relative to the range of frequencies and of the contact forces
    ``tolerance``  of points, in the same unit
    ``most``     number of responses after which to stop
    ``progress`` show how many responses there are; None: on a terminal

    Ctrl-C ends the curve early and keeps what there is.

    A pad that can carry 2 N holds a mass that is shaken by 1 N, at every frequency:

    >>> from klapper.analysis import follow_harmonic
    >>> from klapper.mechanics import FrictionElement, Harmonic, LinearSystem
    >>> pad = FrictionElement("pad", tangents=[[1.0]], limit=2.0)
    >>> mass = LinearSystem([1.0], stiffness=[1.0], force=Harmonic([1.0], 1.5), contacts=[pad])
    >>> curve = follow_harmonic(mass, 0.1, 0.2, harmonics=1, step=0.5, largest=1.0)
    >>> curve.frequencies[[0, -1]].round(9), curve.amplitude("q1").round(9).max()
    (array([0.1, 0.2]), np.float64(0.0))
    """
    begins = number(start, "start", "numbers above 0, in Hz", above=0.0)
    ends = number(end, "end", "numbers above 0, in Hz", above=0.0)
    if begins == ends:
        raise InvalidModel(f"start and end are both {begins} Hz; give a range of frequencies.")
    source = source_of(system, period, order)
    turn = 2.0 * np.pi / order
    balance = balance_of(source, turn * np.sqrt(begins * ends), harmonics, samples, 1.0)
    if balance.size == 0:
        raise InvalidModel("the system has no contacts; its response is linear. Use harmonic_response.")
    guess = None if first is None else guess_from(first, balance, turn * begins)
    unknowns = balanced(balance, turn * begins, guess)

    walk = _Walk(
        balance,
        (min(begins, ends), max(begins, ends)),
        np.append(_sizes(balance, (begins, np.sqrt(begins * ends), ends)), abs(ends - begins)),
        _Options(step, largest, tolerance, most),
    )
    with tally_for(progress, most, "responses") as shown:
        pieces = walk.go(np.append(unknowns, begins), 1.0 if ends > begins else -1.0, shown)
    return HarmonicCurve(balance, joined(pieces))


@dataclass(frozen=True)
class _Options:
    step: float
    largest: float
    tolerance: float
    most: int


@dataclass(frozen=True, eq=False)
class _Walk:
    """Pieces of a curve between its corners."""

    balance: Balance
    bounds: tuple[float, float]
    scale: np.ndarray
    options: _Options

    def go(self, start: np.ndarray, direction: Any, shown: Tally | Silent) -> list[Curve]:
        pieces = [self._piece(start, direction, 0, shown)]
        done = len(pieces[0].points)
        while pieces[-1].end == "stuck" and done < self.options.most:
            try:
                beyond = self._beyond(pieces[-1])
                if beyond is None:
                    break
                pieces.append(self._piece(beyond, beyond - pieces[-1].points[-1], done, shown))
            except InvalidModel:  # no curve begins there
                break
            except KeyboardInterrupt:
                pieces[-1] = replace(pieces[-1], end="interrupted", ended=f"interrupted after {done} points")
                break
            done += len(pieces[-1].points)
        return pieces

    def _piece(self, start: np.ndarray, direction: Any, done: int, shown: Tally | Silent) -> Curve:
        options = self.options
        return follow_curve(
            self._equations,
            start,
            direction=direction,
            low=self.bounds[0],
            high=self.bounds[1],
            step=min(options.step, options.largest),
            smallest=min(_SMALLEST, options.step, options.largest),
            largest=options.largest,
            tolerance=options.tolerance,
            scale=self.scale,
            most=max(options.most - done, 1),
            progress=lambda _, count: shown.count(done + count),
        )

    def _equations(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if x[-1] <= 0.0:
            raise StepRefused("the frequency is not above 0")
        turn = 2.0 * np.pi / self.balance.source.order
        residual, jacobian, slope = self.balance.linearised(x[:-1], turn * x[-1])
        return residual, np.column_stack([jacobian, turn * slope])

    def _beyond(self, piece: Curve) -> np.ndarray | None:
        """A point on the other side of the corner at which a piece has ended, or None."""
        corner = piece.points[-1]
        ahead = piece.tangents[-1] / self.scale
        back = (piece.points - corner) / self.scale
        for distance in _ACROSS:
            near = np.flatnonzero(np.linalg.norm(back, axis=1) >= distance)
            behind = -ahead if not len(near) else back[near[-1]]
            for sense in (np.sign(ahead[-1]) or 1.0, -(np.sign(ahead[-1]) or 1.0)):
                frequency = corner[-1] + sense * distance * self.scale[-1]
                found = self._at(frequency, corner)
                if found is not None and _apart((found - corner) / self.scale, behind):
                    return found
        return None

    def _at(self, frequency: float, guess: np.ndarray) -> np.ndarray | None:
        if not self.bounds[0] < frequency < self.bounds[1]:
            return None
        omega = 2.0 * np.pi * frequency / self.balance.source.order
        found = newton(self.balance, omega, self.balance.forces(guess[:-1]))
        return None if found is None else np.append(found, frequency)


def _apart(way: np.ndarray, behind: np.ndarray) -> bool:
    """Whether a way is not the one that was come."""
    along = float(way @ behind) / max(float(np.linalg.norm(way) * np.linalg.norm(behind)), 1e-300)
    return along < _SAME and float(np.linalg.norm(way)) < _LEAP


def joined(pieces: Sequence[Curve]) -> Curve:
    """Pieces of a curve as one."""
    offsets = np.cumsum([0.0, *(piece.places[-1] for piece in pieces[:-1])])
    return Curve(
        np.concatenate([piece.points for piece in pieces]),
        np.concatenate([piece.tangents for piece in pieces]),
        np.concatenate([piece.places + offset for piece, offset in zip(pieces, offsets, strict=True)]),
        tuple(
            replace(special, place=special.place + offset)
            for piece, offset in zip(pieces, offsets, strict=True)
            for special in piece.special
        ),
        pieces[-1].end,
        pieces[-1].ended,
    )


def _sizes(balance: Balance, frequencies: Sequence[float]) -> np.ndarray:
    """Sizes [N] of the unknowns, by a look at some frequencies [Hz].

    Of normal forces those that would move their contacts as far as the loads do without them; of friction forces the
    given limits, or between these and the forces that would hold the contacts if those are less.
    """
    turn = 2.0 * np.pi / balance.source.order
    seen = [balance.seen(turn * f) for f in frequencies]
    gives = np.array([np.abs(np.einsum("kii->ki", one.flexibility)) for one in seen])
    moved = np.array([np.abs(one.given) for one in seen])[:, 1:]
    reach = moved.max(axis=(0, 1))
    reach = np.maximum(reach, _SMALL * reach.max()) if reach.max() > 0.0 else np.ones_like(reach)
    sizes = reach / np.sqrt(np.mean(gives**2, axis=0))
    held = (moved / gives[:, 1:]).max(axis=(0, 1))
    for part in balance.directions.parts:
        for column in part.tangential:
            if part.limit > 0.0:
                sizes[:, column] = min(np.sqrt(held[column] * part.limit), part.limit) or part.limit
    return packed(sizes + 1j * sizes)
