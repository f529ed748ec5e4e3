"""klapper: nonsmooth structural dynamics.

Structures and bodies whose parts touch, stick, slip, lift off and hit each other, computed without smearing those
events away. Rooms load when they are first used, so that ``import klapper`` stays fast.

A ball dropped from 1.25 m under 10 m/s² hits the floor after 0.5 s and leaves it with 0.6 of its speed:

>>> from klapper.mechanics import Contact, LinearSystem
>>> from klapper.schemes import EventDriven
>>> from klapper.simulate import simulate
>>> floor = Contact("floor", normal=[1.0], restitution=0.6)
>>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
>>> run = simulate(ball, 1.0, EventDriven())
>>> run.impacts().time.round(9), run.velocity[-1].round(9)
(array([0.5]), array([-2.]))
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = (
    "convex",
    "complementarity",
    "mechanics",
    "bodies",
    "structures",
    "continuum",
    "reduction",
    "schemes",
    "simulate",
    "compare",
    "conservation",
    "analysis",
    "contact_states",
    "results",
    "gallery",
    "report",
    "scenario",
    "studies",
    "studio",
    "view",
)

__all__ = ["__version__", "study", *_ROOMS]


def __getattr__(name: str) -> Any:
    if name == "study":
        return import_module(f"{__name__}.studies").study
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; rooms are {', '.join(_ROOMS)}")


def __dir__() -> list[str]:
    return sorted(__all__)
