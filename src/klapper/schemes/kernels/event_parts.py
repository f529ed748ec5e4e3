"""The parts of the loop from event to event by their addresses, each compiled once, when a model first needs it."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from klapper.mechanics.kernels.signatures import Pointer
from klapper.schemes.kernels import event_room as room
from klapper.schemes.kernels.phase_parts import quietly

_FILES = {
    room.PACK_PART: "phase_packing.pack",
    room.DIRECTIONS_PART: "event_room.take_directions",
    room.SOLVE_FEW_PART: "event_contacts.solve_few",
    room.TOUCHED_PART: "event_run.touched",
    room.JUMP_PART: "event_run.jump",
    room.DECIDE_PART: "event_decision.decide",
    room.REST_PART: "event_run.rest",
    room.RUN_PHASE_PART: "phase_run.run_phase",
    room.LOOK_PART: "event_run.look_inside",
    room.ROUGH_PART: "rough.solve_rough",
    room.DEPENDENT_PART: "event_contacts.solve_dependent",
}
ALWAYS = (room.PACK_PART, room.DIRECTIONS_PART, room.TOUCHED_PART, room.RUN_PHASE_PART)
"""Parts that every run needs; of the others the loop says so."""


@cache
def _part(which: int) -> Pointer:
    module, name = _FILES[which].split(".")
    folder = "form_kernels" if which == room.ROUGH_PART else "kernels"
    function = getattr(import_module(f"klapper.schemes.{folder}.{module}"), name)
    with quietly():
        return Pointer(function, room.PART_SIGNATURES[which])


def part_address(which: int) -> int:
    """Of a part of the loop, which is compiled now if it is not yet."""
    return _part(which).__wrapper_address__()
