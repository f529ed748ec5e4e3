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
from klapper.schemes.form_kernels.solver_signatures import SOLVE_ROUGH
from klapper.schemes.kernels.addresses import (
    called_at,
)
from klapper.schemes.kernels.phase_packing import BASE_POTENTIAL
from klapper.schemes.kernels.phase_parts import (
    bring_of,
    derivative_of,
    force_of,
    gaps_of,
    held_of,
    laws_of,
    mass_of,
    potential_of,
)
from klapper.schemes.kernels.phase_rows import (
    take_bias,
    take_mass,
    take_mobility,
    take_rows,
)

DONE, LEFT, NO_ROOM, NO_PARTS = 0, 1, 2, 3
"""All steps done; the general code has to do the next one; no room for its samples; a part of the loop that it needs is
not compiled yet."""

DECIDED, IMPACTS, STALLED, EVENTS, CONTACTS, MEMORY_HEAD = range(6)
SIZE_AT, SINCE_AT, CLOCK_HEAD = range(3)
"""What the memory of a run begins with, among integers and among numbers."""

(UNTIL, TOLERANCE, SLIP_SPEED, SHORTEST, SAMPLE, LARGEST, BEGIN, APART, LOOSE_SINCE, OPTIONS) = range(10)
(COUNT, STEPS, ROWS_DONE, BY_LAW, LOOKING, INSIDE, ALLOWED, PIECES, STEP_NUMBER) = range(9)
(MISSING, LOOSE_STEPS, COUNTERS) = range(9, 12)
"""``counters``: steps wanted; steps and rows done; whether impacts belong to a law; whether to look into phases, and to
give samples inside (1), or samples so far apart as ``options`` say (2), how many at most; steps of the integrator in a
phase; number of the step at hand; the part that is not compiled yet; steps in which forces were
not unique, the first of them at ``LOOSE_SINCE``."""

SPACED = 2
"""Of ``INSIDE``: samples inside are as far apart as in a run that has as many as it may have."""

(PACK_PART, DIRECTIONS_PART, SOLVE_FEW_PART, TOUCHED_PART, JUMP_PART, DECIDE_PART, REST_PART) = range(7)
(RUN_PHASE_PART, LOOK_PART, ROUGH_PART, DEPENDENT_PART, PARTS, HELD_PARTS) = range(7, 13)
"""Parts of the loop, by their places in ``parts``; those of phases with forces stand in ``held_at``."""


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
SOLVE_DEPENDENT = boolean(_WHOLE, _TABLE, _NUMBER, int64, int64, _TABLE, _NUMBER, _NUMBER)
TOUCHED = boolean(LOOP, int64, float64, _NUMBER, _NUMBER)
JUMP = int64(LOOP, int64, float64, _NUMBER, _NUMBER)
DECIDE = int64(*(LOOP, float64, _NUMBER, _NUMBER, _KINDS, int64, _WHOLE, _WHOLE, _WHOLE, _TABLE, _NUMBER))
REST = float64(LOOP, float64, _NUMBER, _NUMBER, boolean)
RUN_PHASE = types.UniTuple(int64, 2)(
    *(_WHOLE, _NUMBER, _WHOLE, _WHOLE, _NUMBER, _NUMBER, _NUMBER, _NUMBER, _TABLE, _NUMBER, _FLAG)
)
LOOK = int64(LOOP, _WHOLE, _TABLE, float64)
PART_SIGNATURES = (
    *(PACK, DIRECTIONS_OF, SOLVE_FEW, TOUCHED, JUMP, DECIDE, REST, RUN_PHASE, LOOK),
    *(SOLVE_ROUGH, SOLVE_DEPENDENT),
)
(pack_at, directions_at, solve_few_at, touched_at, jump_at, decide_at, rest_at, run_phase_at, look_at) = (
    called_at(signature, place) for place, signature in enumerate(PART_SIGNATURES[:ROUGH_PART])
)
dependent_at = called_at(SOLVE_DEPENDENT, DEPENDENT_PART)
"""Parts of the loop by their addresses in ``parts``: code that is called directly is made again for each of its
callers, and theirs."""


@bare
def lacks(g: Loop, which: int) -> bool:
    """Whether a part of the loop is not compiled yet: then the call ends and asks for it."""
    if g.parts[which] == 0:
        g.counters[MISSING] = which
        return True
    return False


@bare
def gaps_at(g: Loop, t: float, q: np.ndarray, out: np.ndarray) -> None:
    """Of all contacts."""
    if g.every.size:
        bring_of(g.free_at)(g.indices, g.data, t)
        gaps_of(g.free_at)(g.indices, g.data, t, q, g.every, out)


@bare
def force_at(g: Loop, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    bring_of(g.free_at)(g.indices, g.data, t)
    force_of(g.free_at)(g.indices, g.data, t, q, v, out)


@bare
def laws_at(g: Loop, which: np.ndarray, speed: np.ndarray, out: np.ndarray) -> None:
    laws_of(g.free_at)(g.indices, g.data, which, speed, out)


@bare
def energies_at(g: Loop, q: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """Kinetic and potential energy [J]; the entries of the mass stand behind them."""
    entries, kinetic = out[2:], 0.0
    mass_of(g.free_at)(g.indices, g.data, q, entries)
    for e in range(entries.size):
        kinetic += 0.5 * v[g.places[0, e]] * entries[e] * v[g.places[1, e]]
    out[0], out[1] = kinetic, 0.0
    if g.base[BASE_POTENTIAL]:
        out[1] = potential_of(g.free_at)(g.indices, g.data, q)


@inner
def slope_at(g: Loop, at: np.ndarray, t: float, y: np.ndarray, out: np.ndarray) -> int:
    """ẏ in the phase at hand, and whether it is fine; forces (r,) stand among its entries."""
    return derivative_of(at)((g.indices, g.data, at), g.ints, g.floats, t, y, out)  # type: ignore[no-any-return]


@inner
def without_drift(g: Loop, at: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, size: np.ndarray) -> bool:
    """Remove drift in place in the phase at hand."""
    return held_of(at)((g.indices, g.data, at), g.ints, g.floats, t, q, v, size)  # type: ignore[no-any-return]


@part
def take_directions(
    g: Loop, ints: np.ndarray, floats: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, bias: bool
) -> bool:
    """M, D, its rates and, if asked for, its bias; M⁻¹ D and Dᵀ M⁻¹ D of a packed phase."""
    form = (g.indices, g.data, g.free_at)
    bring_of(g.free_at)(g.indices, g.data, t)
    if not take_mass(form, ints, floats, q):
        return False
    if bias:
        take_bias(form, ints, floats, t, q, v)
    take_rows(form, ints, floats, t, q)
    take_mobility(ints, floats)
    return True


@bare
def solved_few(
    g: Loop,
    matrix: np.ndarray,
    velocity: np.ndarray,
    m: int,
    d: int,
    friction: np.ndarray,
    limit: np.ndarray,
    slides: bool,
    x: np.ndarray,
) -> bool:
    """As ``solve_few``, which a single normal force does not need; where that has no clear answer, the forces of
    contacts that depend on each other."""
    if m == 1 and x.size == 1:
        if not matrix[0, 0] > 0.0 or velocity[0] == 0.0:
            return False
        x[0] = -velocity[0] / matrix[0, 0] if velocity[0] < 0.0 else 0.0
        return True
    if x.size == 0:
        return True
    if lacks(g, SOLVE_FEW_PART):
        return False
    if solve_few_at(g.parts)(matrix, velocity, m, d, friction, limit, x):
        return True
    if slides or lacks(g, ROUGH_PART) or lacks(g, DEPENDENT_PART):
        return False
    return dependent_at(g.parts)(g.parts, matrix, velocity, m, d, friction, limit, x)  # type: ignore[no-any-return]
