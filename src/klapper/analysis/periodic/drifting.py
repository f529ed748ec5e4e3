"""Coordinates in which a motion may go on: nothing depends on them, and the motion repeats but for them.

A sleeve runs down its pole, a block creeps along a shaken floor:

    x(t + T) = x(t) + d,      d_j ≠ 0 only in such coordinates

Where on its way the motion is then says nothing. It is taken to be at 0 at the first switch, which replaces the
equation that the coordinate returns. A shift along it is a neighbour that stays one: a multiplier 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System

_SHIFTS = (1.0, -0.37, 11.3)  # m, rad: at which a system must answer as at the start


def drifting_numbers(system: System, names: Sequence[str]) -> tuple[int, ...]:
    """Numbers of the coordinates with these names; refuses those on which something depends."""
    if isinstance(names, str):
        raise InvalidModel(f"drifting is '{names}'; give a list of names of coordinates, [{names!r}].")
    numbers = []
    for name in names:
        if name not in system.coordinates:
            known = ", ".join(system.coordinates)
            raise InvalidModel(f"drifting names '{name}', which is no coordinate; there are {known}.")
        j = system.coordinates.index(name)
        if any(_differs(system, j, shift) for shift in _SHIFTS):
            raise InvalidModel(
                f"'{name}' is to drift, but the system is not the same at all its values; leave it out of drifting."
            )
        numbers.append(j)
    return tuple(sorted(set(numbers)))


def _differs(system: System, j: int, shift: float) -> bool:
    q = system.start.position
    moved = q.copy()
    moved[j] += shift
    here, there = _answers(system, q), _answers(system, moved)
    return any(
        not np.allclose(there[name], here[name], rtol=1e-9, atol=1e-12 * np.abs(here[name]).max(initial=0.0))
        for name in here
    )


def _answers(system: System, q: np.ndarray) -> dict[str, np.ndarray]:
    """What a system says at the start with another position."""
    time, v = system.start.time, system.start.velocity
    which = np.arange(system.contacts.count)
    given = system.directions(time, q, which)
    return {
        "mass": dense(system.mass(q)),
        "force": system.force(time, q, v),
        "gaps": np.nan_to_num(system.gaps(time, q, which)),
        "normals": dense(given.normal),
        "tangents": dense(given.tangential),
        "rates": np.concatenate([given.normal_rate, given.tangential_rate]),
        "constraints": system.constraint_residuals(time, q),
    }
