"""Squeal map of a disc that turns in a compliant wedge, over friction coefficient and opening angle.

    s²₁,₂ = −ω² (1 ± √(cos²α − μ² sin²α))        Waltersberger (5.31)

Two frequencies merge at μ = cot α and one oscillation grows beyond; from μ = cot(α/2) on the disc climbs a wall and
does not turn in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def squeal(mu: float, alpha: float, stiffness: float = 1e5, moment_ratio: float = -1.5) -> dict[str, Any]:
    """Largest growth rate [1/s] and verdict ("stable", "flutter", "climbs") for an opening angle ``alpha`` [rad].

    ``stiffness`` of each wall [N/m]; the disc has 1 kg, a radius of 0.1 m, and is pressed in with 9.81 N.
    """
    from klapper.gallery._wedged_disc import Disc
    from klapper.gallery.wedge_stability import judge

    if mu >= 1.0 / np.tan(0.5 * alpha):
        return {"growth": None, "verdict": "climbs"}
    judged = judge(Disc(mu, alpha, moment_ratio, 9.81, 0.1, 1.0), stiffness)
    return {"growth": judged.growth, "verdict": judged.verdict}
