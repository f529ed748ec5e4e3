"""The parts of a compiled phase by their addresses, so that each is compiled once, when it is first needed.

Addresses are whole numbers, which cost nothing to hand over; within compiled code they are functions again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int64, types
from numba.core import cgutils
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.extending import intrinsic

from klapper.machine_code import njit
from klapper.mechanics.kernels.signatures import FUNCTION_TYPES, Pointer

FORM_FUNCTIONS = (
    *("bring", "mass", "force", "advance", "gaps", "directions", "laws", "curvature", "residuals"),
    *("constraint_directions", "constraint_curvature", "potential", "powers", "damping"),
)
"""Functions of a form in their order in the tuple that kernels take."""

_INTS, _FLOATS, _TABLE, _FLAGS = int64[::1], float64[::1], float64[:, ::1], boolean[::1]
_FORM = types.Tuple((_INTS, _FLOATS, *(types.FunctionType(FUNCTION_TYPES[name]) for name in FORM_FUNCTIONS)))
_PHASE = (_FORM, _INTS, _FLOATS)
_DERIVATIVE = int64(*_PHASE, float64, _FLOATS, _FLOATS)
_FUNCTIONS = boolean(*_PHASE, _FLOATS, float64, _FLOATS, _FLOATS)
_STEP = int64(*_PHASE, types.FunctionType(_DERIVATIVE), _FLOATS, _FLOATS, _FLOATS, _FLOATS, _TABLE, _FLOATS)
_EVENT = int64(*_PHASE, types.FunctionType(_FUNCTIONS), _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLAGS, _FLOATS)
_NOISE = boolean(*_PHASE, _FLOATS, float64, _FLOATS, _FLOATS)
_HELD = boolean(*_PHASE, float64, _FLOATS, _FLOATS, _FLOATS)
_TURNING = float64(_INTS, _FLOATS, _FLOATS, _FLOATS, float64)
_RENEW = boolean(*_PHASE, float64, _FLOATS)


def at_address(signature: Any) -> Callable[[int], Any]:
    """The function of a signature at an address, for compiled code."""
    kind = types.FunctionType(signature)

    @intrinsic
    def given_address(typing: Any, address: Any) -> Any:
        def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            function = cgutils.create_struct_proxy(kind)(context, builder)
            empty = context.get_value_type(types.voidptr)
            function.c_addr = builder.inttoptr(arguments[0], empty)
            function.py_addr, function.jit_addr = empty(None), empty(None)
            return function._getvalue()

        return kind(types.int64), build

    made: Any = given_address
    return made  # type: ignore[no-any-return]


(_bring, _mass, _force, _advance, _gaps, _directions, _laws, _curvature, _residuals) = (
    at_address(FUNCTION_TYPES[name]) for name in FORM_FUNCTIONS[:9]
)
(_c_directions, _c_curvature, _potential, _powers, _damping) = (
    at_address(FUNCTION_TYPES[name]) for name in FORM_FUNCTIONS[9:]
)
_derivative, _functions, _step, _event = (at_address(s) for s in (_DERIVATIVE, _FUNCTIONS, _STEP, _EVENT))
_noise, _held, _turning, _renew = (at_address(s) for s in (_NOISE, _HELD, _TURNING, _RENEW))


@njit(cache=True, error_model="numpy")
def form_of(index: np.ndarray, data: np.ndarray, at: np.ndarray) -> Any:
    """The form as kernels take it, from the addresses of its functions."""
    return (
        index,
        data,
        _bring(at[0]),
        _mass(at[1]),
        _force(at[2]),
        _advance(at[3]),
        _gaps(at[4]),
        _directions(at[5]),
        _laws(at[6]),
        _curvature(at[7]),
        _residuals(at[8]),
        _c_directions(at[9]),
        _c_curvature(at[10]),
        _potential(at[11]),
        _powers(at[12]),
        _damping(at[13]),
    )


@njit(cache=True, error_model="numpy")
def parts_of(at: np.ndarray) -> Any:
    """``derivative``, ``functions_at``, ``step``, ``first_event``, ``take_noise``, ``without_drift``,
    ``turning_rate`` and ``renew``, from the addresses behind those of the form."""
    return (
        _derivative(at[14]),
        _functions(at[15]),
        _step(at[16]),
        _event(at[17]),
        _noise(at[18]),
        _held(at[19]),
        _turning(at[20]),
        _renew(at[21]),
    )


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
        Pointer((phase_free if free else phase_rows).derivative, _DERIVATIVE),
        Pointer((phase_free if free else phase_search).functions_at, _FUNCTIONS),
        Pointer(phase_steps.step, _STEP),
        Pointer(phase_search.first_event, _EVENT),
        Pointer((phase_free if free else phase_search).take_noise, _NOISE),
        Pointer((phase_free if free else phase_steps).without_drift, _HELD),
        Pointer((phase_free if free else phase_steps).turning_rate, _TURNING),
        Pointer((phase_free if free else phase_steps).renew, _RENEW),
    )
