"""Analyses of a model: stability, coexisting states, attractors, closed-form motions over maps of parameters."""

from klapper.analysis.attractor import (
    Attractor,
    Section,
    Stroboscope,
    Trajectory,
    advancing,
    extrema,
    find_attractor,
    order_of_period,
)
from klapper.analysis.coexistence import Branch, Coexistence, coexistence
from klapper.analysis.linear_stability import (
    Stability,
    StabilityMap,
    critical_value,
    stability,
    stability_map,
)
from klapper.analysis.mode_convergence import ModeConvergence, mode_convergence
from klapper.analysis.sliding_stability import SlidingEquilibrium, SlidingStability, sliding_stability

__all__ = [
    "Attractor",
    "Branch",
    "Coexistence",
    "ModeConvergence",
    "Section",
    "SlidingEquilibrium",
    "SlidingStability",
    "Stability",
    "StabilityMap",
    "Stroboscope",
    "Trajectory",
    "advancing",
    "coexistence",
    "critical_value",
    "extrema",
    "find_attractor",
    "mode_convergence",
    "order_of_period",
    "sliding_stability",
    "stability",
    "stability_map",
]
