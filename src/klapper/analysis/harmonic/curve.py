"""Responses in harmonics along a curve over frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.algebra import Curve
from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.outputs import labelled
from klapper.analysis.harmonic.response import HarmonicResponse
from klapper.counting import counted
from klapper.shown import Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class HarmonicCurve(Shown):
    """Responses along a curve, in its order. Whether they are stable is not judged; shooting does that.

    ``balance``  the equations, with the flexibility of what is left out kept along the curve
    ``curve``    the curve in the unknowns and the frequency

    A pad that can carry 2 N holds a mass that is shaken by 1 N, at every frequency:

    >>> from klapper.analysis import follow_harmonic
    >>> from klapper.mechanics import FrictionElement, Harmonic, LinearSystem
    >>> pad = FrictionElement("pad", tangents=[[1.0]], limit=2.0)
    >>> mass = LinearSystem([1.0], stiffness=[1.0], force=Harmonic([1.0], 1.5), contacts=[pad])
    >>> curve = follow_harmonic(mass, 0.1, 0.2, harmonics=1, step=0.5, largest=1.0)
    >>> curve.shares("pad")[-1].tolist()  # open, sticks, slips
    [0.0, 1.0, 0.0]
    """

    balance: Balance
    curve: Curve

    @property
    def frequencies(self) -> np.ndarray:
        """(k,) [Hz]."""
        return self.curve.parameters

    def __len__(self) -> int:
        return len(self.frequencies)

    def __getitem__(self, number_of: int) -> HarmonicResponse:
        return self._response(self.curve.points[number_of])

    @property
    def folds(self) -> tuple[HarmonicResponse, ...]:
        """Where the frequency turns back: located on the curve, or its point nearest to a corner."""
        way = np.sign(np.diff(self.frequencies))
        located = self.curve.named("fold")
        found = []
        for i in np.flatnonzero(way[1:] * way[:-1] < 0.0) + 1:
            before, after = self.curve.places[i - 1], self.curve.places[i + 1]
            near = [special.point for special in located if before <= special.place <= after]
            found.append(self._response(near[0] if near else self.curve.points[i]))
        return tuple(found)

    @property
    def events(self) -> tuple[HarmonicResponse, ...]:
        """What happens on the curve: its folds."""
        return self.folds

    @property
    def ended(self) -> str:
        """Why the curve ended, in a sentence."""
        return {
            "low": f"the frequency has reached {self.frequencies[-1]:.8g} Hz",
            "high": f"the frequency has reached {self.frequencies[-1]:.8g} Hz",
            "most": f"{counted(len(self), 'response')} were computed, the most that were allowed",
            "interrupted": f"interrupted after {counted(len(self), 'response')}",
        }.get(self.curve.end, self.curve.ended)

    def amplitude(self, what: Any) -> np.ndarray:
        """(k,) [m]: half the distance between the extremes of a displacement: of a coordinate by its name, of a row
        (n,), or of a place of a reduced structure, (reduced, name or row of the full system)."""
        return np.array([self[i].amplitude(what) for i in range(len(self))])

    def harmonic_amplitudes(self, what: Any) -> np.ndarray:
        """(k, K + 1) [m]: sizes of the harmonics of a displacement, given as for :meth:`amplitude`."""
        return np.array([self[i].harmonic_amplitudes(what) for i in range(len(self))])

    def shares(self, contact: str) -> np.ndarray:
        """(k, 3): parts of the period in which a contact is open, sticks (is closed), slips."""
        return np.array([one.shares[one.contact(contact)] for one in (self[i] for i in range(len(self)))])

    def peak(self, what: Any) -> HarmonicResponse:
        """The response with the largest amplitude of a displacement, given as for :meth:`amplitude`, among the points
        of the curve."""
        return self[int(np.argmax(self.amplitude(what)))]

    def plot(self, what: Any = None, onto: Figure | None = None) -> Figure:
        """Amplitude over frequency, and below the parts of the period in which contacts slip or are open.

        ``what``  a displacement as for :meth:`amplitude`, or several: a list, or by the names that they shall have;
                  None: the coordinates that move most
        """
        from klapper.analysis.harmonic.plots import draw_curve

        return draw_curve(self, what, onto)

    def _response(self, point: np.ndarray) -> HarmonicResponse:
        return HarmonicResponse(float(point[-1]), self.balance, point[: self.balance.size])

    def summary(self, what: Any) -> str:
        """The curve in words, with the largest amplitudes of displacements given as for :meth:`plot`."""
        lines = [str(self)]
        for name, one in labelled(what).items():
            peak = self.peak(one)
            lines.append(f"  {name}: at most {peak.amplitude(one):.6g} m, at {peak.frequency:.6g} Hz")
        return "\n".join(lines)

    def __str__(self) -> str:
        turns = f", {len(self.folds)} folds" if self.folds else ""
        unused = self[0].unused_restitution if len(self) else ""
        more = f"\n  Note: {unused}." if unused else ""
        return (
            f"{counted(len(self), 'response')} from {self.frequencies[0]:.6g} Hz{turns}; {self.ended}{more}"
        )
