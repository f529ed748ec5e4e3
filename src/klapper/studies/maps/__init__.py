"""Maps that ship with klapper, by the names that a study file gives them: ``map = "rotor-clatter"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from klapper.studies.errors import StudyError


@dataclass(frozen=True)
class Map:
    """A function of this folder, by ``module`` and ``name``; ``units`` of its parameters and outputs."""

    module: str
    name: str
    units: Mapping[str, str] = field(default_factory=dict)
    vectorised: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"{__name__}.{self.module}"), self.name)
        return found


_OPENED = {"split": "m", "centre": "m", "speed": "Hz"}
MAPS = {
    "shaken-incline": Map("vielsack", "drift", vectorised=True),
    "wedge-squeal": Map("wedge", "squeal", {"alpha": "rad", "stiffness": "N/m", "growth": "1/s"}),
    "rotor-clatter": Map("rotor", "clatter", {**_OPENED, "margin": "m", "opening": "m", "growth": "1/s"}),
    "rotor-frequencies": Map("rotor", "natural_frequencies", {**_OPENED, "f1": "Hz", "f2": "Hz", "f3": "Hz"}),
    "block-transition": Map(
        "block",
        "transition",
        {
            **dict.fromkeys(("step", "at_limit", "flag_first", "flag_last", "moves", "exact", "delay"), "s"),
            "force_rate": "N/s",
            "mass": "kg",
            "width": "m",
            "height": "m",
        },
    ),
    "impact-oscillator": Map(
        "oscillator", "impacts", {"angular_frequency": "rad/s", "gap": "m", "speeds": "m/s"}
    ),
    "delamination-found": Map(
        "identification",
        "recovered",
        dict.fromkeys(
            (
                "length",
                "centre",
                "noise",
                "length_found",
                "centre_found",
                "length_half_width",
                "centre_half_width",
                "noise_found",
            ),
            "m",
        ),
    ),
}


def map_named(name: str) -> Map:
    """The map of that name; :class:`StudyError` with the nearest if there is none."""
    if name in MAPS:
        return MAPS[name]
    near = get_close_matches(name, MAPS, n=1, cutoff=0.5)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    raise StudyError(f"there is no map '{name}'{hint}; maps are {', '.join(MAPS)}.")
