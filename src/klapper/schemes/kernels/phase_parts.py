"""The parts of a compiled phase by their addresses, so that each is compiled once and not into every other."""

from __future__ import annotations

from functools import cache

from numba import boolean, float64, int64, types

from klapper.mechanics.kernels.signatures import FUNCTION_TYPES, Pointer
from klapper.schemes.kernels.phase_rows import derivative
from klapper.schemes.kernels.phase_search import first_event, functions_at, take_noise
from klapper.schemes.kernels.phase_steps import step, without_drift

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


@cache
def parts() -> tuple[Pointer, ...]:
    """``derivative``, ``functions_at``, ``step``, ``first_event``, ``take_noise`` and ``without_drift``."""
    return (
        Pointer(derivative, _DERIVATIVE),
        Pointer(functions_at, _FUNCTIONS),
        Pointer(step, _STEP),
        Pointer(first_event, _EVENT),
        Pointer(take_noise, _NOISE),
        Pointer(without_drift, _HELD),
    )
