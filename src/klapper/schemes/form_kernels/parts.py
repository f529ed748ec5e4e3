"""The parts of a step by their addresses: which ones a model needs, and for which types they are compiled.

Each is compiled once on a machine, when a model first needs it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numba import boolean, float64, int64, types, void

from klapper.mechanics.compiled_form import CompiledForm
from klapper.mechanics.kernels.signatures import FUNCTION_TYPES, Pointer, pointer
from klapper.schemes.form_kernels import by_reference as groups
from klapper.schemes.form_kernels.calls import FORM, PLACES
from klapper.schemes.form_kernels.contacts import Contacts
from klapper.schemes.form_kernels.inverse import Inverse
from klapper.schemes.form_kernels.joints import Joints
from klapper.schemes.form_kernels.model import Model, Scheme
from klapper.schemes.form_kernels.room import Kept, Room, State
from klapper.schemes.form_kernels.solver_signatures import SOLVE_NARROW, SOLVE_ROUGH

_WHOLE, _NUMBERS, _TABLE, _FLAGS = int64[::1], float64[::1], float64[:, ::1], boolean[::1]
_ARRAYS = {
    **dict.fromkeys(("call", "index", "mass_row", "mass_column", "tangent_row", "tangent_column"), _WHOLE),
    **dict.fromkeys(
        ("share_start", "share_of", "entry_row", "entry_column", "rank", "held", "counts"), _WHOLE
    ),
    **dict.fromkeys(("near", "number", "kept", "order", "pivots", "places", "kind", "ready"), _WHOLE),
    **dict.fromkeys(("compliance", "held_impulse", "rates", "law", "scale", "impulse", "given"), _TABLE),
    **dict.fromkeys(("curved", "earlier", "reach", "gram", "dense", "lower", "normal", "factors"), _TABLE),
    **dict.fromkeys(("response", "delassus"), _TABLE),
    **dict.fromkeys(("lasts", "loaded", "soft"), _FLAGS),
}
"""Arrays of groups that are no vectors of numbers, by their names."""
_OF_CONTACTS = {"columns": int64[:, ::1], "rows": float64[:, :, ::1], "row": int64[:, ::1]}
_OF_JOINTS = {"columns": int64[:, ::1], "rows": _TABLE, "rates": _NUMBERS}
_OF_ROOM = {"state": types.int8[::1], "given": _NUMBERS}
_VALUES = {"int": int64, "float": float64, "bool": boolean}


def _fields(described: Any, own: dict[str, Any]) -> list[tuple[str, Any]]:
    kinds = {**_ARRAYS, **own}
    values = {name: _VALUES.get(kind.__forward_arg__) for name, kind in described.__annotations__.items()}
    return [(name, value or kinds.get(name, _NUMBERS)) for name, value in values.items()]


MODEL = groups.ModelType(_fields(Model, {}))
CONTACTS = groups.ContactsType(_fields(Contacts, _OF_CONTACTS))
ROOM = groups.RoomType(_fields(Room, _OF_ROOM))
JOINTS = groups.JointsType(_fields(Joints, _OF_JOINTS))
INVERSE = groups.InverseType(_fields(Inverse, {}))
STATE = groups.StateType(_fields(State, {}))
KEPT = groups.KeptType(_fields(Kept, {}))
SCHEME = types.NamedTuple([kind for _, kind in _fields(Scheme, {})], Scheme)

_PHASE = (MODEL, SCHEME, INVERSE, JOINTS, CONTACTS, ROOM)
_ENDED = types.Tuple((int64, float64))
_SOLVED = (
    MODEL,
    SCHEME,
    KEPT,
    INVERSE,
    JOINTS,
    CONTACTS,
    ROOM,
    int64,
    int64,
    boolean,
    float64,
    float64,
    STATE,
)
_PARTS: dict[str, tuple[str, Any]] = {
    "step": (
        "step",
        types.Tuple((int64, int64, float64))(
            *(MODEL, SCHEME, KEPT, INVERSE, JOINTS, INVERSE, JOINTS, CONTACTS, ROOM),
            *(float64, float64, float64, boolean, STATE),
        ),
    ),
    "lasting": (
        "contacts",
        void(
            *(MODEL, float64, float64, _NUMBERS, _NUMBERS, int64, CONTACTS, _NUMBERS, _WHOLE, int64),
            *(float64, float64),
        ),
    ),
    "difference_curvatures": ("contacts", void(MODEL, float64, _NUMBERS, _NUMBERS, _WHOLE, _TABLE)),
    "difference_tangents": ("step", void(MODEL, float64, _NUMBERS, _NUMBERS, ROOM)),
    "difference_powers": ("ledger", void(MODEL, float64, _NUMBERS, _NUMBERS, ROOM)),
    "solve_smooth": ("smooth", float64(_TABLE, _NUMBERS, _NUMBERS, _NUMBERS, _WHOLE)),
    "solve_rough": ("rough", SOLVE_ROUGH),
    "solve_narrow": ("narrow", SOLVE_NARROW),
    "solve_elsewhere": ("impulses", float64(*_SOLVED, int64, int64)),
    "narrow": ("impulses", _ENDED(*_PHASE, int64, int64, float64, float64, STATE)),
    "project": ("projection", boolean(MODEL, SCHEME, INVERSE, JOINTS, CONTACTS, int64, ROOM, float64)),
    "constant_responses": ("loop", void(MODEL, INVERSE, JOINTS, ROOM, _WHOLE, float64, KEPT)),
    "given_joints": ("step", void(MODEL, JOINTS, ROOM, float64, float64, float64, _NUMBERS)),
    "prepare_joints": ("joints", boolean(JOINTS, INVERSE, float64)),
    "hold_joints": ("step", boolean(JOINTS, ROOM)),
    "hold_response": ("joints", void(JOINTS, _NUMBERS, _NUMBERS, _NUMBERS)),
    "joint_impulses": ("impulses", void(MODEL, INVERSE, JOINTS, CONTACTS, ROOM, int64, _NUMBERS)),
}
"""File of each part, and the types for which it is compiled."""


def signature_of(name: str) -> Any:
    """The types of a function of a form or of a part of a step."""
    return FUNCTION_TYPES[name] if name in FUNCTION_TYPES else _PARTS[name][1]


@cache
def part(name: str) -> Pointer:
    """A part of a step, compiled."""
    file, kinds = _PARTS[name]
    return Pointer(getattr(import_module(f"klapper.schemes.form_kernels.{file}"), name), kinds)


def addresses(form: CompiledForm, needed: set[str]) -> tuple[np.ndarray, list[Pointer]]:
    """``Model.call`` for a form and the parts that it needs, and the functions, whose code lives as long as these."""
    unused = set[str]() if form.contacts else {"gaps", "directions", "laws", "near"}
    unused |= set() if "lasting" in needed else {"curvature"}
    unused |= set() if form.constraints else {"residuals", "constraint_directions", "constraint_curvature"}
    offered = (name for name in FORM if name not in unused and getattr(form, name) is not None)
    found = {name: pointer(getattr(form, name), name) for name in offered}
    found |= {name: part(name) for name in needed}
    places = np.zeros(len(PLACES), dtype=np.int64)
    for name, function in found.items():
        places[PLACES[name]] = function.native
    return places, list(found.values())
