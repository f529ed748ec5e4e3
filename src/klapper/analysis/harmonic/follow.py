"""``follow_harmonic``: the response over frequency as one curve, through its folds.

    curve = follow_harmonic(system, 10.0, 30.0)

The unknowns of the curve are the contact forces in harmonics, the motions of the contacts and the frequency; see
:mod:`klapper.analysis.harmonic.lifted` and :func:`klapper.algebra.follow_curve`, which passes the corners that the
curve has where a contact begins or ceases to act.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from klapper.algebra import Corrector, Curve, StepRefused, follow_curve
from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.curve import HarmonicCurve
from klapper.analysis.harmonic.lifted import LiftedBalance
from klapper.analysis.harmonic.newton import balanced
from klapper.analysis.harmonic.response import HarmonicResponse
from klapper.analysis.harmonic.solve import balance_of, guess_from, source_of
from klapper.mechanics.arguments import number, whole
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.progress import tally_for
from klapper.results import Run

_SMALLEST = 1e-6  # step, in parts of the range: where it is refused, the curve has a corner
_DETAIL = (
    5e-3  # of the contact forces: smaller turns of the curve are those of the harmonics that are left out
)


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
    ``step``     first step, ``largest`` the largest one: relative to the range of frequencies and to the impulses of
                 the contacts, as they are there
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
    number(tolerance, "tolerance", "numbers above 0", above=0.0)
    longest = number(largest, "largest", "numbers above 0", above=0.0)
    number(step, "step", f"numbers above 0, up to largest, {longest:g}", above=0.0, at_most=longest)
    whole(most, "most")
    source = source_of(system, period, order)
    turn = 2.0 * np.pi / order
    balance = balance_of(source, turn * np.sqrt(begins * ends), harmonics, samples, 1.0)
    if balance.size == 0:
        raise InvalidModel("the system has no contacts; its response is linear. Use harmonic_response.")
    guess = None if first is None else guess_from(first, balance, turn * begins)
    unknowns = balanced(balance, turn * begins, guess)

    equations = LiftedBalance.of(balance, (begins, float(np.sqrt(begins * ends)), ends))
    low, high = min(begins, ends), max(begins, ends)
    with tally_for(progress, most, "responses") as shown:
        curve = follow_curve(
            equations,
            equations.lifted(unknowns, begins),
            direction=1.0 if ends > begins else -1.0,
            low=low,
            high=high,
            step=step,
            smallest=min(_SMALLEST, step),
            largest=largest,
            tolerance=tolerance,
            detail=_DETAIL,
            scale=equations.sizes,
            predictor=equations.ahead,
            most=most,
            progress=lambda _, count: shown.count(count),
        )
    if samples is None:
        balance, curve = _sampled(equations, curve, tolerance)
    return HarmonicCurve(balance, curve)


def _sampled(equations: LiftedBalance, curve: Curve, tolerance: float) -> tuple[Balance, Curve]:
    """The curve with as many samples of the period as its most demanding point takes."""
    balance, size = equations.balance, equations.balance.size
    omegas = [equations.omega(float(x[-1])) for x in curve.points]
    finer = balance
    for x, omega in zip(curve.points, omegas, strict=True):
        while not finer.sampled_well(x[:size], omega):
            finer = finer.refined()
    if finer is balance:
        return balance, curve
    there = replace(equations, balance=finer)
    points = curve.points.copy()
    for i, (x, tangent) in enumerate(zip(points, curve.tangents, strict=True)):
        scale = there.sizes(x)
        along = tangent / scale
        if i in (0, len(points) - 1):  # at the frequencies where the curve begins and ends
            along = np.eye(len(x))[-1]
        try:
            corrector = Corrector(there, scale, tolerance)
            points[i] = corrector.correct(x / scale, along / np.linalg.norm(along)).y * scale
        except StepRefused:  # beside a corner: known to the samples of the curve
            continue
        points[i, -1] = x[-1] if i in (0, len(points) - 1) else points[i, -1]
    return finer, replace(curve, points=points)
