"""``harmonic_response``: the periodic motion of a system under periodic forcing, by harmonic balance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.newton import balanced, sampled
from klapper.analysis.harmonic.response import HarmonicResponse
from klapper.analysis.harmonic.sources import PlayedSystem, Source, SystemFamily
from klapper.mechanics.arguments import number, whole
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.results import Run


def harmonic_response(
    system: LinearSystem | Callable[[float], LinearSystem],
    frequency: float | None = None,
    *,
    harmonics: int = 20,
    order: int = 1,
    period: float | None = None,
    start: HarmonicResponse | Run | None = None,
    samples: int | None = None,
    tail: float = 1.0,
) -> HarmonicResponse:
    """A periodic motion of ``system``, its contacts obeying their set-valued laws.

    ``system``     one system, or a function of the frequency [Hz] that returns it
    ``frequency``  of the forcing [Hz], at which all that is given over time is played; None: that of the system
    ``harmonics``  of the forcing that are balanced
    ``order``      periods of the forcing in one period of the motion
    ``period``     [s] of what is given over time, where it cannot be read off the system
    ``start``      a response to begin with, e.g. at a frequency nearby, or a run of the system under the same forcing,
                   of which the last period counts; default: one built up from few harmonics
    ``samples``    of a period in time; default: as many as it takes until twice as many give the same impulses of the
                   contacts to 1e-5
    ``tail``       factor, dimensionless, of the flexibility that the harmonics left out are given; a test of its choice

    Friction converges to the exact motion as harmonics are added. A rigid stop without friction conserves energy in
    harmonic balance: it converges to the motion with restitution 1, whatever the contact says.

    >>> from klapper.analysis import harmonic_response
    >>> from klapper.mechanics import FrictionElement, Harmonic, LinearSystem
    >>> pad = FrictionElement("pad", tangents=[[1.0]], limit=0.3)
    >>> mass = LinearSystem([1.0], stiffness=[1.0], force=Harmonic([1.0], 1.5), contacts=[pad])
    >>> round(harmonic_response(mass, harmonics=40).amplitude("q1"), 2)  # Den Hartog 1931: 0.7211
    0.72
    """
    source = source_of(system, period, order)
    if frequency is None:
        if not isinstance(source, PlayedSystem):
            raise InvalidModel("a family of systems has no frequency of its own; give the frequency, in Hz.")
        frequency = 1.0 / source.period
    hertz = number(frequency, "frequency", "numbers above 0, in Hz", above=0.0)
    omega = 2.0 * np.pi * hertz / order
    balance = balance_of(source, omega, harmonics, samples, tail)
    guess = None if start is None else guess_from(start, balance, omega)
    unknowns = balanced(balance, omega, guess)
    if samples is None:
        balance, unknowns = sampled(balance, omega, unknowns)
    return HarmonicResponse(hertz, balance, unknowns)


def source_of(system: Any, period: float | None, order: int) -> Source:
    whole(order, "order")
    if callable(system) and not isinstance(system, type):
        return SystemFamily(system, period, order)
    return PlayedSystem.of(system, period, order)


def balance_of(source: Source, omega: float, harmonics: int, samples: int | None, tail: float) -> Balance:
    whole(harmonics, "harmonics")
    if samples is not None:
        whole(samples, "samples")
        if samples <= 2 * harmonics * source.order:
            raise InvalidModel(
                f"samples is {samples}; {harmonics} harmonics need more than "
                f"{2 * harmonics * source.order} in a period."
            )
    factor = number(tail, "tail", "numbers above 0", above=0.0)
    return Balance.of(source, omega, harmonics, samples=samples).softened(factor)


def guess_from(start: HarmonicResponse | Run, balance: Balance, omega: float) -> np.ndarray:
    """Forces (k, c) [N] by the harmonics of a balance at Ω [rad/s]."""
    if isinstance(start, Run):
        return _from_run(start, balance, omega)
    forces = start.contact_amplitudes
    if forces.shape[1] != balance.directions.count:
        raise InvalidModel(
            f"start has {forces.shape[1]} directions of contacts, the system {balance.directions.count}; give a "
            f"response of the same contacts."
        )
    ratio, rest = divmod(balance.source.order, start.order)
    if rest:
        raise InvalidModel(
            f"start has the order {start.order}, which does not divide {balance.source.order}; give another start."
        )
    spread = np.zeros((ratio * (len(forces) - 1) + 1, forces.shape[1]), dtype=complex)
    spread[::ratio] = forces
    return spread


def _from_run(run: Run, balance: Balance, omega: float) -> np.ndarray:
    """Harmonics of the impulses in the last period of a run."""
    period = 2.0 * np.pi / omega
    if run.time[-1] - run.time[0] < period:
        raise InvalidModel(
            f"start lasts {run.time[-1] - run.time[0]:.6g} s, less than the period of {period:.6g} s; give a longer "
            f"run."
        )
    late = np.flatnonzero(run.time > run.time[-1] - period)
    between = 0.5 * (run.time[late] + run.time[late - 1])
    waves = np.exp(-1j * omega * np.multiply.outer(balance.grid.orders, between)) * (2.0 / period)
    waves[0] *= 0.5
    forces = np.zeros((len(waves), balance.directions.count), dtype=complex)
    for i, column in enumerate(balance.directions.columns):
        place = 0 if column.is_normal else 1 + column.source % run.layout.tangential
        forces[:, i] = waves @ run.impulse[late, column.contact, place] / column.scale
    return forces
