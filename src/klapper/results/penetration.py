"""How deep contacts of a run went in: largest and mean penetration, share of the time, number of closings.

Between samples the gap is a cubic spline on every stretch of contact. Steps of :class:`klapper.schemes.Regularised` end
where contacts open and close, so that this is accurate if every step was saved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from klapper.results.run import Run

_TOUCH = 1e-15


@dataclass(frozen=True)
class Penetration:
    """Of one contact over a run: ``deepest`` [m], ``mean`` [m] while closed, ``share`` of the time, ``closings``."""

    name: str
    deepest: float
    mean: float
    share: float
    closings: int


@dataclass(frozen=True)
class PenetrationStatistics:
    """The penetration of every contact that has a gap, by :func:`penetration_statistics`.

    ``contacts``  of each its name, ``deepest`` [m], ``mean`` [m] while closed, ``share`` of the time and number of
                  ``closings``; ``statistics["floor"]`` is that of one

    A weight of 10 N on a spring of 10⁴ N/m, let go where the spring is slack, goes down twice the static 1 mm:

    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> from klapper.results import penetration_statistics
    >>> from klapper.schemes import Regularised
    >>> from klapper.simulation import simulate
    >>> mass = LinearSystem([1.0], force=[-10.0], contacts=[Contact("floor", normal=[1.0])])
    >>> statistics = penetration_statistics(simulate(mass, 0.05, Regularised(CompliantNormal(1e4, 0.0))))
    >>> round(statistics.deepest, 5)
    0.002
    """

    contacts: tuple[Penetration, ...]

    def __getitem__(self, name: str) -> Penetration:
        for contact in self.contacts:
            if contact.name == name:
                return contact
        raise KeyError(f"there is no contact '{name}' with a gap")

    @property
    def deepest(self) -> float:
        """Of all contacts [m]."""
        return max((contact.deepest for contact in self.contacts), default=0.0)

    def __str__(self) -> str:
        width = max([len(contact.name) for contact in self.contacts] + [7])
        lines = [f"{'contact':<{width}}  deepest / m     mean / m  closed / %  closings"]
        for contact in self.contacts:
            lines.append(
                f"{contact.name:<{width}}  {contact.deepest:>11.4g}  {contact.mean:>11.4g}  "
                f"{100.0 * contact.share:>10.3g}  {contact.closings:>8}"
            )
        return "\n".join(lines)


def penetration_statistics(run: Run) -> PenetrationStatistics:
    """Penetration of every contact of a run, from its samples.

    A mass of 1 kg runs with 2 m/s into a spring of 10⁴ N/m: half a sine, v √(m/c) = 20 mm deep, 2/π of it in the mean.

    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> from klapper.results import penetration_statistics
    >>> from klapper.schemes import Regularised
    >>> from klapper.simulation import simulate
    >>> mass = LinearSystem([1.0], velocity=[-2.0], contacts=[Contact("floor", normal=[1.0])])
    >>> floor = penetration_statistics(simulate(mass, 0.1, Regularised(CompliantNormal(1e4, 0.0))))["floor"]
    >>> round(floor.deepest, 4), round(floor.mean, 4), floor.closings
    (0.02, 0.0127, 1)
    """
    found = []
    for name, gap in zip(run.layout.contacts, run.gap.T, strict=True):
        if np.all(np.isnan(gap)):
            continue  # a friction element
        found.append(_of_one(name, run.time, gap))
    return PenetrationStatistics(tuple(found))


def _of_one(name: str, time: np.ndarray, gap: np.ndarray) -> Penetration:
    time, last = np.unique(time[::-1], return_index=True)  # of samples at the same time the later one
    gap = gap[::-1][last]
    stretches = _stretches(gap < -_TOUCH)
    parts = np.array([_stretch(time, gap, first, last) for first, last in stretches]).reshape(-1, 3)
    closed = float(parts[:, 2].sum())
    return Penetration(
        name,
        deepest=float(parts[:, 0].max(initial=0.0)),
        mean=float(parts[:, 1].sum()) / closed if closed > 0.0 else 0.0,
        share=closed / float(time[-1] - time[0]) if len(time) > 1 else 0.0,
        closings=len(stretches),
    )


def _stretches(inside: np.ndarray) -> list[tuple[int, int]]:
    """First and last index of every uninterrupted stretch."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return [(int(first), int(last) - 1) for first, last in zip(change[::2], change[1::2], strict=True)]


def _stretch(time: np.ndarray, gap: np.ndarray, first: int, last: int) -> tuple[float, float, float]:
    """Largest depth [m], its integral [m s] and the duration [s] of one stretch, with its neighbours at zero."""
    t, g = time[first : last + 1], gap[first : last + 1]
    if first > 0:
        t, g = np.concatenate([[_zero(time, gap, first - 1)], t]), np.concatenate([[0.0], g])
    if last + 1 < len(time):
        t, g = np.concatenate([t, [_zero(time, gap, last)]]), np.concatenate([g, [0.0]])
    if len(t) < 4:
        return float(-g.min()), float(-np.trapezoid(g, t)), float(t[-1] - t[0])
    spline = CubicSpline(t, g)
    turns = spline.derivative().roots(extrapolate=False)
    turns = turns[np.isfinite(turns)]
    lowest = min(float(g.min()), float(spline(turns).min(initial=0.0)))
    return -lowest, -float(spline.integrate(t[0], t[-1])), float(t[-1] - t[0])


def _zero(time: np.ndarray, gap: np.ndarray, i: int) -> float:
    """Where the straight line between two samples crosses zero [s]."""
    return float(time[i] + (time[i + 1] - time[i]) * gap[i] / (gap[i] - gap[i + 1]))
