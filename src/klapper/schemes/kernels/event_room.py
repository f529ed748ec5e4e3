"""What the loop from event to event works on: one group of arrays, handed on by reference, and questions to the form.

``indices`` … ``rough``     the model, see ``phase_packing``; addresses of its functions with the parts of a phase
``options``, ``counters``  numbers and whole numbers of the call; ``memory``, ``clock`` what is remembered, as integers
                          and numbers; ``state`` t, q, v; ``sums`` (5,); ``tally`` (5, signals)
``ints`` … ``meanings``   packed phases, what touches, dense output, kinds of event functions
``samples``, ``marks``    what is given back; ``last`` impulses (m, 1 + d) of the last step
the others                room to work in
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, types
from numba.experimental import structref

from klapper.schemes.form_kernels.by_reference import _Group, constructor
from klapper.schemes.form_kernels.compiling import bare, inner, part
from klapper.schemes.kernels.phase_packing import BASE_POTENTIAL
from klapper.schemes.kernels.phase_parts import (
    _bring,
    _derivative,
    _force,
    _gaps,
    _held,
    _laws,
    _mass,
    _potential,
    at_address,
    form_of,
)
from klapper.schemes.kernels.phase_rows import take_bias, take_mass, take_mobility, take_rows

DONE, LEFT, NO_ROOM, NO_PARTS = 0, 1, 2, 3
"""All steps done; the general code has to do the next one; no room for its samples; the parts for phases with forces
are not compiled yet."""

DECIDED, IMPACTS, STALLED, EVENTS, CONTACTS, MEMORY_HEAD = range(6)
SIZE_AT, SINCE_AT, CLOCK_HEAD = range(3)
"""What the memory of a run begins with, among integers and among numbers."""

(UNTIL, TOLERANCE, SLIP_SPEED, SHORTEST, SAMPLE, LARGEST, BEGIN, OPTIONS) = range(8)
(COUNT, STEPS, ROWS_DONE, BY_LAW, LOOKING, INSIDE, ALLOWED, PIECES, STEP_NUMBER, COUNTERS) = range(10)
"""``counters``: steps wanted; steps and rows done; whether impacts belong to a law; whether to look into phases, and to
give samples inside, how many at most; steps of the integrator in a phase; number of the step at hand."""


class Loop(NamedTuple):
    parts: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    free_at: np.ndarray
    held_at: np.ndarray
    base: np.ndarray
    places: np.ndarray
    inverse: np.ndarray
    laws: np.ndarray
    friction: np.ndarray
    rough: np.ndarray
    tableau: np.ndarray
    series: np.ndarray
    options: np.ndarray
    counters: np.ndarray
    memory: np.ndarray
    clock: np.ndarray
    state: np.ndarray
    sums: np.ndarray
    tally: np.ndarray
    ints: np.ndarray
    floats: np.ndarray
    touch_ints: np.ndarray
    touch_floats: np.ndarray
    output: np.ndarray
    meanings: np.ndarray
    samples: np.ndarray
    marks: np.ndarray
    last: np.ndarray
    every: np.ndarray
    gaps: np.ndarray
    touching: np.ndarray
    presses: np.ndarray
    grips: np.ndarray
    no_sense: np.ndarray
    at_rest: np.ndarray
    part: np.ndarray
    states: np.ndarray
    velocities: np.ndarray
    quiet: np.ndarray
    forces: np.ndarray
    motion: np.ndarray
    books: np.ndarray
    impulse: np.ndarray
    earlier: np.ndarray
    joints: np.ndarray
    flags: np.ndarray


@structref.register
class LoopType(_Group):
    pass


loop_by_reference: Any = constructor(Loop, LoopType)

_WHOLE, _NUMBER, _FLAG, _TABLE, _KINDS = (
    int64[::1],
    float64[::1],
    boolean[::1],
    float64[:, ::1],
    int64[:, ::1],
)
_OTHERS = {
    **dict.fromkeys(("places", "meanings", "marks"), _KINDS),
    **dict.fromkeys(
        ("inverse", "laws", "friction", "tally", "samples", "last", "no_sense", "impulse"), _TABLE
    ),
    **dict.fromkeys(("rough", "at_rest", "part", "flags"), _FLAG),
    **dict.fromkeys(
        (
            *("data", "tableau", "series", "options", "clock", "state", "sums", "floats", "touch_floats"),
            *("output", "gaps", "velocities", "quiet", "forces", "motion", "books", "earlier", "joints"),
        ),
        _NUMBER,
    ),
}
LOOP = LoopType(tuple((name, _OTHERS.get(name, _WHOLE)) for name in Loop._fields))

PACK = int64(
    *(
        _WHOLE,
        _KINDS,
        _TABLE,
        _TABLE,
        _TABLE,
        _WHOLE,
        _WHOLE,
        _WHOLE,
        _TABLE,
        float64,
        _WHOLE,
        _NUMBER,
        _KINDS,
    )
)
DIRECTIONS_OF = boolean(LOOP, _WHOLE, _NUMBER, float64, _NUMBER, _NUMBER, boolean)
SOLVE_FEW = boolean(_TABLE, _NUMBER, int64, int64, _TABLE, _NUMBER, _NUMBER)
TOUCHED = boolean(LOOP, int64, float64, _NUMBER, _NUMBER)
JUMP = int64(LOOP, int64, float64, _NUMBER, _NUMBER)
DECIDE = int64(*(LOOP, float64, _NUMBER, _NUMBER, _KINDS, int64, _WHOLE, _WHOLE, _WHOLE, _TABLE, _NUMBER))
REST = float64(LOOP, float64, _NUMBER, _NUMBER, boolean)
RUN_PHASE = types.UniTuple(int64, 2)(
    *(_WHOLE, _NUMBER, _WHOLE, _WHOLE, _NUMBER, _NUMBER, _NUMBER, _NUMBER, _TABLE, _NUMBER, _FLAG)
)
LOOK = int64(LOOP, _WHOLE, _TABLE, float64)
pack_at, directions_at, solve_few_at, touched_at, jump_at, decide_at, rest_at, run_phase_at, look_at = (
    at_address(signature)
    for signature in (PACK, DIRECTIONS_OF, SOLVE_FEW, TOUCHED, JUMP, DECIDE, REST, RUN_PHASE, LOOK)
)
"""Parts of the loop by their addresses in ``parts``, in this order: code that is called directly is made again for each
of its callers, and theirs."""


@bare
def put(values: np.ndarray, out: np.ndarray) -> None:
    for i in range(values.size):
        out[i] = values[i]


@bare
def gaps_at(g: Loop, t: float, q: np.ndarray, out: np.ndarray) -> None:
    """Of all contacts."""
    if g.every.size:
        _bring(g.free_at[0])(g.indices, g.data, t)
        _gaps(g.free_at[4])(g.indices, g.data, t, q, g.every, out)


@bare
def force_at(g: Loop, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    _bring(g.free_at[0])(g.indices, g.data, t)
    _force(g.free_at[2])(g.indices, g.data, t, q, v, out)


@bare
def laws_at(g: Loop, which: np.ndarray, speed: np.ndarray, out: np.ndarray) -> None:
    _laws(g.free_at[6])(g.indices, g.data, which, speed, out)


@bare
def energies_at(g: Loop, q: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """Kinetic and potential energy [J]; the entries of the mass stand behind them."""
    entries, kinetic = out[2:], 0.0
    _mass(g.free_at[1])(g.indices, g.data, q, entries)
    for e in range(entries.size):
        kinetic += 0.5 * v[g.places[0, e]] * entries[e] * v[g.places[1, e]]
    out[0], out[1] = kinetic, 0.0
    if g.base[BASE_POTENTIAL]:
        out[1] = _potential(g.free_at[11])(g.indices, g.data, q)


@inner
def slope_at(g: Loop, at: np.ndarray, t: float, y: np.ndarray, out: np.ndarray) -> int:
    """ẏ in the phase at hand, and whether it is fine; forces (r,) stand among its entries."""
    return _derivative(at[14])(form_of(g.indices, g.data, at), g.ints, g.floats, t, y, out)  # type: ignore[no-any-return]


@inner
def without_drift(g: Loop, at: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, size: np.ndarray) -> bool:
    """Remove drift in place in the phase at hand."""
    return _held(at[19])(form_of(g.indices, g.data, at), g.ints, g.floats, t, q, v, size)  # type: ignore[no-any-return]


@part
def take_directions(
    g: Loop, ints: np.ndarray, floats: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, bias: bool
) -> bool:
    """M, D, its rates and, if asked for, its bias; M⁻¹ D and Dᵀ M⁻¹ D of a packed phase."""
    form = form_of(g.indices, g.data, g.free_at)
    _bring(g.free_at[0])(g.indices, g.data, t)
    if not take_mass(form, ints, floats, q):
        return False
    if bias:
        take_bias(form, ints, floats, t, q, v)
    take_rows(form, ints, floats, t, q)
    take_mobility(ints, floats)
    return True
