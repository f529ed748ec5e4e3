"""``compare``: one model under many methods.

    comparison = compare(system, 10.0, [Moreau(1e-3), EventDriven(), PiecewiseExact()])
    print(comparison)
    comparison.plot()

A method that cannot treat the model is refused by its own words; one that fails on the way is told with its message.
Neither stops the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.results import Run
from klapper.results.comparison import Comparison, Refinement
from klapper.schemes.base import Scheme, require_scheme
from klapper.simulation import SimulationFailed, require_arguments, simulate

__all__ = ["compare"]

_TRUST = ("exact", "event-driven")  # methods that are taken as the reference, in this order
_SHORT = 0.5  # s of computing below which a run is repeated, so that compiling is not counted


def compare(
    system: System,
    until: float,
    methods: Mapping[str, Scheme] | Sequence[Scheme],
    *,
    reference: str | None = None,
    samples: int = 400,
    refine: int = 0,
    progress: bool | None = None,
) -> Comparison:
    """Integrate ``system`` to the time ``until`` [s] by every method, and compare.

    ``methods``    schemes, or schemes by the names they shall have in the comparison
    ``reference``  the method that the others are measured against; None: the exact one, else the event-driven one,
                   else the last
    ``samples``    number of common times at which runs are compared
    ``refine``     how often the step (tolerance, contact compliance) of each method is halved to observe its order
    ``progress``   see :func:`klapper.simulate`

    Moreau's step with θ = ½ is of second order where nothing jumps, error ∝ h²:

    >>> from klapper.comparison import compare
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import Moreau, PiecewiseExact
    >>> oscillator = LinearSystem([1.0], stiffness=[1.0], position=[1.0])
    >>> comparison = compare(oscillator, 1.0, [PiecewiseExact(), Moreau(0.1, compiled=False)], samples=10, refine=1)
    >>> round(comparison.order("moreau"), 1)
    2.0
    """
    named = _named(methods)
    require_arguments(system, until, next(iter(named.values())), None)
    for name, count, least in (("samples", samples, 2), ("refine", refine, 0)):
        if not (isinstance(count, int | np.integer) and not isinstance(count, bool) and count >= least):
            raise InvalidModel(f"{name} is {count!r}; allowed are whole numbers from {least} on.")
    times = np.linspace(system.start.time, float(until), samples + 1)[1:]
    runs: dict[str, Run] = {}
    seconds: dict[str, float] = {}
    refused: dict[str, str] = {}
    failed: dict[str, str] = {}
    for name, scheme in named.items():
        try:
            runs[name], seconds[name] = _timed(system, until, scheme, times, progress)
        except InvalidModel as error:
            refused[name] = str(error)
        except SimulationFailed as error:
            failed[name] = str(error)
    if not runs:
        told = "; ".join(f"{name}: {reason}" for name, reason in {**refused, **failed}.items())
        raise InvalidModel(f"no method gave a run to compare. {told}")
    measure = _reference(reference, runs)
    exact = runs[measure].position_at(times)
    refinements = {
        name: _refined(system, until, named[name], runs[name], seconds[name], exact, times, refine, progress)
        for name in runs
        if refine and name != measure and getattr(named[name], "refined", None) is not None
    }
    return Comparison(runs, measure, times, seconds, refused, failed, refinements)


def _named(methods: Any) -> dict[str, Scheme]:
    """Methods by name; several schemes of one kind are told apart by their settings."""
    if isinstance(methods, Mapping):
        named = dict(methods)
    elif not isinstance(methods, Iterable):
        raise InvalidModel(f"methods is {methods!r}; give a list of schemes, or schemes by name.")
    else:
        schemes = list(methods)
        kinds = [getattr(scheme, "name", repr(scheme)) for scheme in schemes]
        named = {}
        for scheme, kind in zip(schemes, kinds, strict=True):
            name = kind if kinds.count(kind) == 1 else f"{kind} {_difference(scheme, schemes)}".strip()
            named[name if name not in named else f"{name} ({len(named) + 1})"] = scheme
    for name, scheme in named.items():
        require_scheme(scheme, f"method '{name}'")
    if not named:
        raise InvalidModel("methods is empty; give at least one scheme of klapper.schemes.")
    return named


def _difference(scheme: Scheme, schemes: Sequence[Scheme]) -> str:
    """The settings in which a scheme differs from others of its kind, e.g. "step_size 0.001"."""
    if isinstance(scheme, type) or not hasattr(scheme, "settings"):
        return ""
    others = [other.settings for other in schemes if other.name == scheme.name and other is not scheme]
    own = scheme.settings
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in own.items()
        if any(other.get(key) != value for other in others)
    )


def _timed(
    system: System, until: float, scheme: Scheme, times: np.ndarray, progress: bool | None
) -> tuple[Run, float]:
    """The run with samples at the common times, and the seconds that the scheme takes without them."""
    sampled = scheme.sampled(float(times[1] - times[0]))
    run = simulate(system, until, sampled, progress=progress)
    taken = float(run.about["wall_time"])
    if sampled is not scheme or taken < _SHORT:
        alone = float(simulate(system, until, scheme, progress=False).about["wall_time"])
        taken = alone if sampled is not scheme else min(taken, alone)
    return run, taken


def _reference(given: str | None, runs: Mapping[str, Run]) -> str:
    if given is not None:
        if given not in runs:
            raise InvalidModel(f"the reference is '{given}'; methods with a run are {', '.join(runs)}.")
        return given
    for trusted in _TRUST:
        for name, run in runs.items():
            if run.about["scheme"] == trusted:
                return name
    return list(runs)[-1]


def _refined(
    system: System,
    until: float,
    scheme: Any,
    first: Run,
    seconds: float,
    exact: np.ndarray,
    times: np.ndarray,
    refine: int,
    progress: bool | None,
) -> Refinement:
    """Errors of the method itself and of its refinements by 2, 4, 8 …, as far as they finish."""
    factors, errors, taken = [1.0], [_error(first, exact, times)], [seconds]
    for halving in range(1, refine + 1):
        finer = scheme.refined(2.0**halving)
        if finer is None:
            break
        try:
            run, cost = _timed(system, until, finer, times, progress)
        except SimulationFailed:
            break
        factors.append(2.0**halving)
        errors.append(_error(run, exact, times))
        taken.append(cost)
    return Refinement(np.array(factors), np.array(errors), np.array(taken))


def _error(run: Run, exact: np.ndarray, times: np.ndarray) -> float:
    apart = np.abs(run.position_at(times) - exact).max(axis=1, initial=0.0)
    return float(np.sqrt(np.mean(apart**2)))
