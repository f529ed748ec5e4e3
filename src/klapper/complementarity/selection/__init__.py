"""Choice among contact forces that a model leaves open: the set of possible forces, and rules that pick one of them.

from klapper.complementarity.selection import ForceSet, MinimumNorm

forces = ForceSet.of(solution)                     # all forces that move the system as this solution does
print(forces)                                      # bounds, and what is determined
print(MinimumNorm().select(forces).forces)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klapper.complementarity.selection.batch import BatchSelection, select_nearest, select_quality
    from klapper.complementarity.selection.extreme import Extreme, ExtremeMotion, LargestMargin
    from klapper.complementarity.selection.force_set import ForceSet
    from klapper.complementarity.selection.friction_rules import EqualUtilisation, MaximumDissipation
    from klapper.complementarity.selection.least_squares import Compliant, MinimumNorm, NearPrevious
    from klapper.complementarity.selection.prox_iteration import ProxIteration
    from klapper.complementarity.selection.pseudo_inverse import PseudoInverse
    from klapper.complementarity.selection.quality import QualityFunctional
    from klapper.complementarity.selection.rule import Selection, SelectionRule

_PLACES = {
    "BatchSelection": "batch",
    "Compliant": "least_squares",
    "Extreme": "extreme",
    "ExtremeMotion": "extreme",
    "EqualUtilisation": "friction_rules",
    "ForceSet": "force_set",
    "LargestMargin": "extreme",
    "MaximumDissipation": "friction_rules",
    "MinimumNorm": "least_squares",
    "NearPrevious": "least_squares",
    "ProxIteration": "prox_iteration",
    "PseudoInverse": "pseudo_inverse",
    "QualityFunctional": "quality",
    "Selection": "rule",
    "SelectionRule": "rule",
    "select_nearest": "batch",
    "select_quality": "batch",
}

__all__ = [
    "BatchSelection",
    "Compliant",
    "EqualUtilisation",
    "Extreme",
    "ExtremeMotion",
    "ForceSet",
    "LargestMargin",
    "MaximumDissipation",
    "MinimumNorm",
    "NearPrevious",
    "ProxIteration",
    "PseudoInverse",
    "QualityFunctional",
    "Selection",
    "SelectionRule",
    "select_nearest",
    "select_quality",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(
            f"klapper.complementarity.selection has no '{name}'; it has {', '.join(__all__)}."
        )
    found = globals()[name] = getattr(
        import_module(f"klapper.complementarity.selection.{_PLACES[name]}"), name
    )
    return found
