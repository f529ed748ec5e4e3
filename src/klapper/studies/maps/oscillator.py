"""Bifurcation diagrams of an oscillator against a stop: speeds of its impacts over the frequency of the force.

    ẍ + 2 ζ ω₀ ẋ + ω₀² x = (F/m) cos ωt,   x ≤ g,   ⁺ẋ = −ε ⁻ẋ  at  x = g

One speed: one impact per period (Peterka 1974, in closed form in the gallery); two: the period has doubled; many:
chaos. Each point starts from the state in which its neighbour ended, so that going up and down shows hysteresis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.results import Run

_SAME = 1e-4  # of the largest speed: impacts that differ by less are the same


def impacts(
    angular_frequency: float,
    gap: float = 0.5,
    restitution: float = 0.9,
    damping: float = 0.02,
    settle: int = 200,
    keep: int = 24,
    start: Any = None,
) -> dict[str, Any]:
    """Speeds of the impacts [m/s] in ``keep`` periods of the force, of ``angular_frequency`` [rad/s], after ``settle``.

    ``speeds``       one entry for each impact, [0] if there is none: the motion stays off the stop
    ``distinct``     how many different speeds, ``per_period`` impacts per period of the force
    ``state``        displacement [m] and velocity [m/s] at the end, from which a neighbour starts

    Mass, stiffness and amplitude of the force are 1.
    """
    from klapper.analysis import bifurcation_diagram
    from klapper.gallery._single_impact import Oscillator
    from klapper.mechanics import State

    def speeds(run: Run) -> np.ndarray:
        return np.asarray(run.impacts().impulse[:, 0] / (1.0 + restitution))

    oscillator = Oscillator(angular_frequency, gap, restitution, damping, 1.0, 1.0, 1.0)
    system = oscillator.system()
    begin = system.start if start is None else State(system.start.time, *np.array(start)[:, None])
    diagram = bifurcation_diagram(
        lambda _: system,
        [angular_frequency],
        settle=settle,
        keep=keep,
        start=begin,
        quantity=speeds,
        progress=False,
    )
    seen, last = diagram.seen[0], diagram.last[0]
    return {
        "speeds": seen.tolist() or [0.0],
        "distinct": _distinct(seen),
        "per_period": len(seen) / keep,
        "state": [float(last.position[0]), float(last.velocity[0])],
    }


def _distinct(speeds: np.ndarray) -> int:
    if not len(speeds):
        return 0
    rises = np.diff(np.sort(speeds)) > _SAME * speeds.max()
    return 1 + int(np.count_nonzero(rises))
