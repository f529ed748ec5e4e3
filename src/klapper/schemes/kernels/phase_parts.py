"""The parts of a compiled phase by their addresses, so that each is compiled once, when it is first needed.

Addresses are whole numbers, which cost nothing to hand over; within compiled code they are functions again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba import boolean, float64, int64, types
from numba.core.errors import NumbaExperimentalFeatureWarning

from klapper.mechanics.kernels.signatures import FUNCTION_TYPES, Pointer
from klapper.schemes.kernels.addresses import called_at

FORM_FUNCTIONS = (
    *("bring", "mass", "force", "advance", "gaps", "directions", "laws", "curvature", "residuals"),
    *("constraint_directions", "constraint_curvature", "potential", "powers", "damping"),
)
"""Functions of a form in their order in the tuple that kernels take."""

INDEX, DATA, AT = range(3)
"""A form as kernels hand it on: its arrays, and the addresses of its functions with those of the parts behind them."""

_INTS, _FLOATS, _TABLE, _FLAGS = int64[::1], float64[::1], float64[:, ::1], boolean[::1]
_FORM = types.Tuple((_INTS, _FLOATS, _INTS))
_PHASE = (_FORM, _INTS, _FLOATS)
DERIVATIVE = int64(*_PHASE, float64, _FLOATS, _FLOATS)
FUNCTIONS = boolean(*_PHASE, _FLOATS, float64, _FLOATS, _FLOATS)
STEP = int64(*_PHASE, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _TABLE, _FLOATS)
EVENT = int64(*_PHASE, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLAGS, _FLOATS)
NOISE = boolean(*_PHASE, _FLOATS, float64, _FLOATS, _FLOATS)
HELD = boolean(*_PHASE, float64, _FLOATS, _FLOATS, _FLOATS)
TURNING = float64(_INTS, _FLOATS, _FLOATS, _FLOATS, float64)
RENEW = boolean(*_PHASE, float64, _FLOATS)

(bring_of, mass_of, force_of, advance_of, gaps_of, directions_of, laws_of, curvature_of, residuals_of) = (
    called_at(FUNCTION_TYPES[name], place) for place, name in enumerate(FORM_FUNCTIONS[:9])
)
(c_directions_of, c_curvature_of, potential_of, powers_of, damping_of) = (
    called_at(FUNCTION_TYPES[name], 9 + place) for place, name in enumerate(FORM_FUNCTIONS[9:])
)
"""Functions of a form by the addresses ``form[AT]``."""

(derivative_of, functions_of, step_of, event_of, noise_of, held_of, turning_of, renew_of) = (
    called_at(signature, len(FORM_FUNCTIONS) + place)
    for place, signature in enumerate((DERIVATIVE, FUNCTIONS, STEP, EVENT, NOISE, HELD, TURNING, RENEW))
)
"""Parts of a phase by the same addresses."""


@cache
def entries() -> tuple[Callable[..., Any], ...]:
    """``run_phase`` and ``states_at``, compiled."""
    from klapper.schemes.kernels.phase_run import run_phase, states_at

    packed = (_INTS, _FLOATS, _INTS, _INTS, _FLOATS)
    with quietly():
        run_phase.compile((*packed, _FLOATS, _FLOATS, _FLOATS, _TABLE, _FLOATS, _FLAGS))
        states_at.compile((_FLOATS, _TABLE, _TABLE))
    return run_phase, states_at


@cache
def entries_of_contacts() -> tuple[Callable[..., Any], ...]:
    """``reactions_at`` and ``hold``, compiled: only phases in which something is held need them."""
    from klapper.schemes.kernels.phase_run import hold, reactions_at

    packed = (_INTS, _FLOATS, _INTS, _INTS, _FLOATS)
    with quietly():
        reactions_at.compile((*packed, _FLOATS, _TABLE, _TABLE, _TABLE))
        hold.compile((*packed, _FLOATS, _TABLE, _TABLE))
    return reactions_at, hold


@contextmanager
def quietly() -> Iterator[None]:
    """Without numba's warning that functions by their address are new to it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        yield


@cache
def parts(free: bool) -> tuple[Pointer, ...]:
    """The parts for phases in which something is held or slides, or for free motion."""
    with quietly():
        return _parts(free)


def _parts(free: bool) -> tuple[Pointer, ...]:
    from klapper.schemes.kernels import phase_free, phase_rows, phase_search, phase_steps

    return (
        Pointer((phase_free if free else phase_rows).derivative, DERIVATIVE),
        Pointer((phase_free if free else phase_search).functions_at, FUNCTIONS),
        Pointer(phase_steps.step, STEP),
        Pointer(phase_search.first_event, EVENT),
        Pointer((phase_free if free else phase_search).take_noise, NOISE),
        Pointer((phase_free if free else phase_steps).without_drift, HELD),
        Pointer((phase_free if free else phase_steps).turning_rate, TURNING),
        Pointer((phase_free if free else phase_steps).renew, RENEW),
    )
