"""The parts of the loop from event to event by their addresses, each compiled once, when it is first needed."""

from __future__ import annotations

from functools import cache

import numpy as np

from klapper.mechanics.kernels.signatures import Pointer
from klapper.schemes.kernels import event_room as room
from klapper.schemes.kernels.phase_parts import quietly


@cache
def event_parts() -> tuple[Pointer, ...]:
    """In the order in which ``event_room`` takes them."""
    from klapper.schemes.kernels.event_contacts import solve_few
    from klapper.schemes.kernels.event_decision import decide
    from klapper.schemes.kernels.event_run import jump, look_inside, rest, touched
    from klapper.schemes.kernels.phase_packing import pack
    from klapper.schemes.kernels.phase_run import run_phase

    with quietly():
        return (
            Pointer(pack, room.PACK),
            Pointer(room.take_directions, room.DIRECTIONS_OF),
            Pointer(solve_few, room.SOLVE_FEW),
            Pointer(touched, room.TOUCHED),
            Pointer(jump, room.JUMP),
            Pointer(decide, room.DECIDE),
            Pointer(rest, room.REST),
            Pointer(run_phase, room.RUN_PHASE),
            Pointer(look_inside, room.LOOK),
        )


def addresses() -> np.ndarray:
    """(9,)"""
    return np.array([part.__wrapper_address__() for part in event_parts()], dtype=np.int64)
