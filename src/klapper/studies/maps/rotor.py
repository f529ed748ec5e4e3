"""Maps of a delaminated rotor over speed, length and place of the delamination: stability, clatter, convergence.

    g_stat(ξ) − g_dyn(ξ) < 0        Waltersberger (5.166)

Where gravity shakes the joint harder than centrifugal forces open it, the laminae hit each other. The shaft is that of
Example 5.14: 3 m of aluminium, 45 mm by 40 mm, with a lamina of 36 mm.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.structures.delaminated_beam import DelaminatedBeam, DelaminatedModel

LENGTH = 3.0  # m
DRAG, ALPHA2 = 1.0, 1e-5  # N s/m² per beam, s
MODES = 24  # twelve have no breathing of joints shorter than about 0.4 m, whose regimes they get wrong
PLACES = np.arange(1, 20) / 20  # of the joint, at which its opening is looked at
_NEUTRAL = 1e-7  # growth up to this part of the angular speed is round-off


def shaft(split: float, centre: float | None = None) -> DelaminatedBeam:
    """The shaft with a delamination of length ``split`` [m] about ``centre`` [m], or its middle."""
    from klapper.structures.delaminated_beam import DelaminatedBeam

    return DelaminatedBeam(LENGTH, split, 0.045, 0.04, 0.036, 69e9, 2800.0, centre=centre)


@lru_cache(maxsize=256)
def model(split: float, centre: float | None = None, modes: int = MODES) -> DelaminatedModel:
    """The shaft in its lowest modes, by finite elements; kept, since neighbours on a map share it."""
    return shaft(split, centre).model(modes, method="fe", external_damping=DRAG, material_damping=ALPHA2)


def clatter(speed: float, split: float, centre: float | None = None, modes: int = MODES) -> dict[str, Any]:
    """Regime of the shaft at ``speed`` [Hz]: "unstable", "clatters" or "open"; ``margin`` [m] by which it stays open.

    ``growth`` [1/s] is that of the shaft without contact; ``opening`` [m] the largest centrifugal one. On a grid, let
    the speed be the last axis: neighbours then share a model.
    """
    from klapper.analysis.rotor import clatter_map, growth

    made = model(split, centre, modes)
    rate = float(growth(made.rotor, [speed])[0])
    chart = clatter_map(made.rotor, made.gap_rows(PLACES), [speed])
    margin = float(chart.margin.min())
    unstable = rate > _NEUTRAL * 2.0 * np.pi * speed
    regime = "unstable" if unstable else "clatters" if margin < 0.0 else "open"
    return {"regime": regime, "margin": margin, "growth": rate, "opening": float(chart.opening.max())}


def natural_frequencies(elements: int, split: float, centre: float | None = None) -> dict[str, Any]:
    """The first three natural frequencies [Hz] in the plane of opening with ``elements`` in each of the segments."""
    made = shaft(split, centre).model(6, plane="1-3", method="fe", elements=(elements,) * 4)
    return {f"f{k + 1}": float(made.frequencies[k]) for k in range(3)}
