"""A mass on a rough incline that is shaken along its slope: exact stationary motions and drift.

    ξ'' = A + B sin τ − ρ,   A = tan α / μ,   B = a Ω² / (μ g cos α),   τ = Ω t      Vielsack (8)-(14)

with the contact force ρ of Coulomb's law, or of a law that smears its stick: a spring (20), a damper (24), both (27),
or (2/π) arctan(ξ'/ε) for everything. All quantities are dimensionless, ξ = Ω² (x − y)/(μ g cos α). Every phase of the
first four is known in closed form and phases are joined at roots located to round-off: there is no time step. The
arctan law is integrated numerically.

P. Vielsack, Regularisierung des Haftzustandes bei Coulombscher Reibung, ZAMM 76 (1996) 439-446.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.mechanics.errors import InvalidModel

if TYPE_CHECKING:
    from klapper.analysis.kernels.shaken_model import Model

REGULARISATIONS = ("none", "spring", "damper", "both", "arctan")
MOTION_TYPES = {
    "I": "rest",
    "II": "accelerating in one direction",
    "III": "one direction, with a pause",
    "IV": "both directions, with two pauses",
    "V": "both directions, with one pause",
    "VI": "both directions, without a pause",
}
PERIOD = 2.0 * pi
_TYPE_NAMES = np.array(["", *MOTION_TYPES])
_CHUNK = 256
_PHASES = 1024  # logged phases of a period


@dataclass(frozen=True)
class StationaryMotion:
    """Stationary motions; every field has the shape of the broadcast arguments.

    ``drift``        Δv, mean of ξ' over a period (15); infinite if |A| > 1, nan if |A| = 1 and B > 0 (start decides)
    ``motion_type``  I to VI of the motion under Coulomb's law at the same A and B
    ``force_jump``   largest |Δρ| (16) at the end of a slip
    ``phases``       slips and sticks met in one period from τ = 0; for the arctan law: steps of the integration
    ``periods``      periods until the motion was stationary, those skipped in closed form included
    ``residual``     distance between the velocities (and stretches, as velocity) that should repeat themselves
    ``cycle``        periods after which the motion repeats itself: 1, seldom more with a spring; 0 if it accelerates or
                     was not found to, and the drift is then a mean over 840 periods
    """

    drift: Any
    motion_type: Any
    force_jump: Any
    phases: Any
    periods: Any
    residual: Any
    cycle: Any


@dataclass(frozen=True)
class History:
    """A motion over time: arrays (n,), with both limits at every switch, so that ``time`` has equal neighbours there.

    ``time`` τ, ``position`` ξ, ``velocity`` ξ', ``force`` ρ; ``phase`` +1 and −1 for slip forwards and backwards, 0 for
    stick (with the arctan law: |ξ'| < ε). ``switches`` (k,) are the instants at which a phase begins.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    force: np.ndarray
    phase: np.ndarray
    switches: np.ndarray


def stationary_drift(
    A: Any,
    B: Any,
    eps: Any = 0.0,
    regularisation: str = "none",
    *,
    eps_damper: Any = None,
    velocity: Any = 0.0,
    phase: Any = 0.0,
    most_periods: int = 2000,
    threads: int | None = None,
) -> StationaryMotion:
    """Drift and type of the stationary motion for all points of the broadcast arguments, on all cores.

    ``A`` and ``B`` ≥ 0 as above; ``eps`` in (0, 1) is ε of the ``regularisation``, one of "none", "spring", "damper",
    "both", "arctan" ("none" does not use it); "both" takes another ``eps_damper`` ε_d if it is given. The motion starts
    with ``velocity`` ξ' at τ = ``phase``. The drift does not depend on the start, except with "both": its spring
    forgets its stretch at the end of a slip, and for large ε a few points have two stationary motions, or one that
    repeats itself after two or three periods only.

    >>> round(float(stationary_drift(0.9, 0.11).drift), 10)
    0.000663345
    >>> str(stationary_drift(0.5, 1.6).motion_type)
    'V'
    """
    from klapper.analysis.kernels.shaken_incline import stationary_many

    kind, points, shape = _points(A, B, eps, regularisation, eps_damper, velocity, phase)
    if most_periods < 1:
        raise InvalidModel(f"most_periods is {most_periods}; at least 1 period is needed.")
    count = len(points)
    drift, jump, residual = np.empty(count), np.empty(count), np.empty(count)
    types, counts = np.empty(count, dtype=np.int64), np.empty((count, 3), dtype=np.int64)

    def chunk(first: int) -> None:
        last = min(first + _CHUNK, count)
        stationary_many(points, kind, first, last, most_periods, drift, types, jump, residual, counts)

    workers = threads or os.cpu_count() or 1
    if workers == 1 or count <= _CHUNK:
        for first in range(0, count, _CHUNK):
            chunk(first)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(chunk, range(0, count, _CHUNK)))
    fields = drift, _TYPE_NAMES[types], jump, counts[:, 1], counts[:, 0], residual, counts[:, 2]
    return StationaryMotion(*(field.reshape(shape)[()] for field in fields))


def history(
    A: float,
    B: float,
    eps: float = 0.0,
    regularisation: str = "none",
    *,
    periods: int = 1,
    samples: int = 400,
    eps_damper: float | None = None,
    start: tuple[float, float] | None = None,
) -> History:
    """The motion over ``periods`` with ``samples`` a period: the stationary one from τ = 0, or that from a start.

    ``start`` is the velocity and the phase τ in [0, 2π) with which the motion begins.
    """
    from klapper.analysis.kernels.shaken_incline import stationary
    from klapper.analysis.kernels.shaken_model import ARCTAN, Model
    from klapper.analysis.kernels.shaken_period import state_of

    if periods < 1 or samples < 2:
        raise InvalidModel(f"periods is {periods} and samples is {samples}; at least 1 and 2 are needed.")
    velocity, begin = start or (0.0, 0.0)
    kind, points, shape = _points(A, B, eps, regularisation, eps_damper, velocity, begin)
    if shape:
        raise InvalidModel(f"history takes one motion at a time, not arrays of the shape {shape}.")
    pull, shaking, stiffness, damping, velocity, begin = map(float, points[0])
    model = Model(pull, shaking, kind, stiffness, damping)
    if start is None:
        if abs(pull) >= 1.0 and abs(pull) + shaking > 1.0:
            raise InvalidModel(
                f"A is {pull:g}: a motion that accelerates has no stationary state; give a start."
            )
        state = stationary(model, velocity, begin, 2000).state
    else:
        state = state_of(model, begin, velocity, 0.0)
    sample = _sample_smooth if kind == ARCTAN else _sample_phases
    pieces, switches, position = [], [], 0.0
    for number in range(periods):
        rows, begins, state, distance = sample(model, begin, state, samples)
        pieces.append(rows + np.array([number * PERIOD, position, 0.0, 0.0, 0.0]))
        switches.append(begins + number * PERIOD)
        position, begin = position + distance, 0.0
    time, place, speed, force, label = np.concatenate(pieces).T
    return History(time, place, speed, force, label.astype(int), np.concatenate(switches))


def _points(
    A: Any, B: Any, eps: Any, regularisation: str, eps_damper: Any, velocity: Any, phase: Any
) -> tuple[int, np.ndarray, tuple[int, ...]]:
    """Number of the model, points (k, 6) for the kernel, and the shape of the broadcast arguments."""
    if regularisation not in REGULARISATIONS:
        raise InvalidModel(
            f"regularisation is '{regularisation}'; it is one of {', '.join(REGULARISATIONS)}."
        )
    if eps_damper is not None and regularisation != "both":
        raise InvalidModel(f"eps_damper is for 'both' only, not for '{regularisation}': give eps.")
    given = {"A": A, "B": B, "velocity": velocity, "phase": phase}
    used = regularisation != "none"
    given["eps"] = eps if used else 0.5
    given["eps_damper"] = eps if eps_damper is None else eps_damper
    if not used:
        given["eps_damper"] = 0.5
    arrays = {name: np.asarray(value, dtype=float) for name, value in given.items()}
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise InvalidModel(f"{name} contains a number that is not finite.")
    if np.any(arrays["B"] < 0.0):
        raise InvalidModel(f"B is {arrays['B'].min():g}; it is an amplitude of at least 0.")
    for name in ("eps", "eps_damper"):
        if np.any((arrays[name] <= 0.0) | (arrays[name] >= 1.0)):
            wrong = arrays[name][(arrays[name] <= 0.0) | (arrays[name] >= 1.0)].flat[0]
            raise InvalidModel(f"{name} is {wrong:g}; '{regularisation}' needs a number between 0 and 1.")
    pull, shaking, speed, begin, spring, damper = np.broadcast_arrays(*arrays.values())
    nothing = np.zeros(pull.shape)
    stiffness = 1.0 / spring if regularisation in ("spring", "both") else nothing
    damping = nothing if regularisation in ("none", "spring") else 1.0 / damper
    columns = pull, shaking, stiffness, damping, speed, np.mod(begin, PERIOD)
    points = np.ascontiguousarray(np.stack([column.ravel() for column in columns], axis=1))
    return REGULARISATIONS.index(regularisation), points, pull.shape


def _grid(start: float, end: float, samples: int) -> np.ndarray:
    """``start``, the multiples of 2π/samples between, ``end``."""
    spacing = PERIOD / samples
    inner = spacing * np.arange(int(start / spacing), int(end / spacing) + 2)
    return np.concatenate([[start], inner[(inner > start) & (inner < end)], [end]])


def _sample_phases(model: Model, begin: float, state: Any, samples: int) -> tuple[Any, ...]:
    """Rows (n, 5) of a period, the instants at which its phases begin, state and position at its end."""
    from klapper.analysis.kernels.shaken_incline import sample_phase
    from klapper.analysis.kernels.shaken_period import Log, pass_period

    capacity = _PHASES
    while True:
        numbers = [np.empty(capacity) for _ in range(4)]
        log = Log(numbers[0], np.empty(capacity, dtype=np.int64), *numbers[1:])
        passage = pass_period(model, begin, state, log)
        if passage.phases <= capacity:
            break
        capacity = passage.phases
    rows = []
    for now in range(passage.phases):
        end = PERIOD if now + 1 == passage.phases else float(log.time[now + 1])
        times = _grid(float(log.time[now]), end, samples)
        x, v, force = np.empty((3, len(times)))
        sample_phase(model, log, now, times, x, v, force)
        rows.append(np.column_stack([times, x, v, force, np.full(len(times), log.phase[now])]))
    return np.concatenate(rows), log.time[1 : passage.phases].copy(), passage.state, passage.distance


def _sample_smooth(model: Model, begin: float, state: Any, samples: int) -> tuple[Any, ...]:
    """As :func:`_sample_phases`, for the arctan law."""
    from klapper.analysis.kernels.shaken_incline import sample_smooth
    from klapper.analysis.kernels.shaken_period import State

    times = _grid(begin, PERIOD, samples)
    x, v, force = np.empty((3, len(times)))
    v_end, distance, _ = sample_smooth(model, begin, state.v, times, x, v, force)
    phase = np.where(np.abs(v) * model.damping < 1.0, 0.0, np.sign(v))
    switches = times[1:][np.diff(phase) != 0.0]
    return np.column_stack([times, x, v, force, phase]), switches, State(0, v_end, 0.0), distance
