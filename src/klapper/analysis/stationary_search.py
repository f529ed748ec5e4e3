"""Where a system with contacts rests: the one state of a convex problem, or all states of a small one.

    K q = f + J_N λ,   0 ≤ J_Nᵀ q + g₀ ⟂ λ ≥ 0                                        Waltersberger & Wauer (1)–(3)

Below the first critical speed K is positive definite and q minimises ½ qᵀK q − fᵀq over all positions without
penetration: one state, found by an active set. Beyond it there may be several states or none; those of few contacts are
enumerated, and :func:`klapper.analysis.follow_stationary` follows one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.analysis.force_range import force_range
from klapper.analysis.stationary_form import StationaryForm
from klapper.analysis.stationary_problem import StationaryProblem
from klapper.analysis.stationary_state import NoStationaryState, StationaryState
from klapper.analysis.unbalanced import moves_freely, why_none
from klapper.complementarity import (
    ComplementarityError,
    LinearComplementarity,
    NotApplicable,
    Piece,
    enumerate_solutions,
    solve,
)
from klapper.complementarity.basis_point import HeldPoint
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

TOLERANCE = 1e-10  # residual up to which a state counts as verified
_LOADED = 1e-12  # of the largest contact force: forces above it are a load
_SAME = 1e-9  # relative difference of positions up to which they are one


def stationary_state(system: LinearSystem, *, time: float | None = None) -> StationaryState:
    """The state in which a system rests, if its problem is convex: then it is the only one.

    ``time``  [s] at which loads and gaps that change are frozen; None: they must be constant

    The stiffness must be positive definite, or semidefinite, for all motions that two-sided constraints allow: a rotor
    below its first critical speed. Contacts may depend on each other; forces that are not unique then have bounds.
    Friction of contacts over moving belts takes part. Friction of contacts at rest carries nothing in this state, which
    is one of many: see :func:`stationary_set`.

    A mass of 1 kg hangs on a spring over a floor that it reaches before the spring carries it:

    >>> from klapper.analysis import stationary_state
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> mass = LinearSystem([1.0], stiffness=[100.0], force=[-9.81], contacts=[Contact("floor", 0.05, [1.0])])
    >>> rest = stationary_state(mass)
    >>> rest.position.item(), rest.forces[0, 0].round(9).item(), rest.convex
    (-0.05, 4.81, True)
    """
    problem = StationaryProblem.of(system, time)
    _require_convex(problem)
    point = _convex_solution(problem)
    return as_stationary_state(
        problem, point, convex=problem.form.convex, isolated=not moves_freely(problem, point)
    )


def stationary_states(system: LinearSystem, *, time: float | None = None) -> tuple[StationaryState, ...]:
    """All states in which a system with few contacts rests, also where the problem is not convex.

    ``time``  [s] at which loads and gaps that change are frozen; None: they must be constant

    Every combination of open and closed contacts is tried; up to about 16 contacts. States that differ in their forces
    only are one, with bounds. A state that is not ``isolated`` is one of a set of positions; its bounds are for its own
    position. Friction as in :func:`stationary_state`.

    Pressed onto a stop by a load, and turning faster than its critical speed of 10 rad/s, a mass has two:

    >>> from klapper.analysis import stationary_states
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> stop = Contact("stop", 0.02, [1.0])
    >>> turning = LinearSystem([1.0], stiffness=[100.0 - 15.0**2], force=[-5.0], contacts=[stop])
    >>> for state in stationary_states(turning):
    ...     print(state.position.round(9), state.forces[0].round(9))
    [0.04] [0.]
    [-0.02] [7.5]
    """
    problem = StationaryProblem.of(system, time)
    form = problem.form
    convex = form.convex
    states: list[StationaryState] = []
    for point, isolated in _all_points(problem):
        state = as_stationary_state(problem, point, convex=convex, isolated=isolated)
        if not any(_near(state.position, other.position) for other in states):
            states.append(state)
    return tuple(states)


def as_stationary_state(problem: StationaryProblem, point: HeldPoint, **judgement: Any) -> StationaryState:
    """A solved point as a verified state, with the bounds of forces that are not unique."""
    form = problem.form
    forces = form.physical_forces(np.maximum(point.forces, 0.0))
    state = problem.stationary_state(
        form.position(point.y), forces, negative=form.negative(point.forces > 0.0), **judgement
    )
    if not state.residual <= TOLERANCE:
        raise NoStationaryState(
            f"The state found has a residual of {state.residual:.1e}, allowed is {TOLERANCE:.0e}; the stiffness "
            f"matrix is badly conditioned. Reduce the system first (klapper.reduction)."
        )
    return force_range(state, problem)


def _require_convex(problem: StationaryProblem) -> None:
    form = problem.form
    if form.least_stiffness >= 0.0:
        return
    count = form.negative(np.zeros(len(form.gap), dtype=bool))
    what = counted(count, "direction") if count else "some direction (its circulatory part matters)"
    raise NoStationaryState(
        f"The stiffness of '{problem.system.name}' is negative in {what}, so that its states need not be unique and "
        f"may not exist: it turns above a critical speed, or is loaded beyond buckling. Ask for all stationary_states "
        f"of a small system, or follow one from a convex problem with follow_stationary."
    )


def _convex_solution(problem: StationaryProblem) -> HeldPoint:
    form, names = problem.form, problem.names
    condensed = form.condensed(names) if form.least_stiffness > 0.0 else None
    stated = form.mixed(names) if condensed is None else condensed
    try:
        return _point_of(form, stated, solve(stated, tolerance=1e-9).x)
    except ComplementarityError as error:
        raise NoStationaryState(
            f"'{problem.system.name}' has no state of rest: {why_none(problem)}"
        ) from error


def _all_points(problem: StationaryProblem) -> list[tuple[HeldPoint, bool]]:
    """All solutions, one of each piece, and whether its position is isolated."""
    form = problem.form
    condensed = form.condensed(problem.names)
    try:
        if condensed is not None:
            found = enumerate_solutions(condensed)
            if all(piece.isolated for piece in found.pieces):
                return [(_point_of(form, condensed, piece.point), True) for piece in found.pieces]
        mixed = form.mixed(problem.names)
        pieces = enumerate_solutions(mixed).pieces
    except NotApplicable:
        raise InvalidModel(
            f"the system has {len(problem.contacts)} contacts, too many to try all combinations of open and closed "
            f"ones; follow one state with follow_stationary, or take fewer contacts."
        ) from None
    moving = [piece for piece in pieces if not np.array_equal(*_ends(piece, form.size))]
    return [
        (_point_of(form, mixed, piece.point), not any(_reaches(one, piece, form.size) for one in moving))
        for piece in pieces
    ]


def _ends(piece: Piece, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest coordinates (r,) of a piece of solutions."""
    return piece.lower[:size], piece.upper[:size]


def _reaches(one: Piece, other: Piece, size: int) -> bool:
    """Whether the coordinates of a piece include the point of another one."""
    low, high = _ends(one, size)
    slack = _SAME * np.maximum(np.abs(low), np.abs(high))
    return bool(np.all((other.point[:size] >= low - slack) & (other.point[:size] <= high + slack)))


def _point_of(form: StationaryForm, stated: Any, x: np.ndarray) -> HeldPoint:
    """The point behind the unknowns of either form."""
    if isinstance(stated, LinearComplementarity):
        assert form.flexibility is not None
        y, forces = form.flexibility @ np.append(x, 1.0), x
    else:
        y, forces = x[: form.size], x[form.size :]
    return form.polished(y, forces, forces > _LOADED * np.abs(forces).max(initial=0.0))


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(
        np.abs(one - other).max(initial=0.0)
        <= _SAME * max(np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0))
    )
