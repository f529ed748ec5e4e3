"""One file per method: one step of it, never a loop."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klapper.schemes.base import (
        SCHEMES,
        Scheme,
        Snapshot,
        Step,
        StepFailed,
        Stretch,
    )
    from klapper.schemes.central_difference import CentralDifference
    from klapper.schemes.constraint_springs import AugmentedLagrange, Penalty
    from klapper.schemes.contact_rounds import HardContact
    from klapper.schemes.energy_momentum import EnergyMomentum, Multipliers
    from klapper.schemes.event_driven import EventDriven
    from klapper.schemes.friction_strategies import (
        FrictionStrategy,
        FunctionalFriction,
        PseudoInverseFriction,
    )
    from klapper.schemes.generalised_alpha import GeneralisedAlpha
    from klapper.schemes.leapfrog import Leapfrog
    from klapper.schemes.longest_step import stable_step
    from klapper.schemes.moreau import Moreau
    from klapper.schemes.nested_prox import NestedProx
    from klapper.schemes.newmark import Newmark
    from klapper.schemes.newton import NewtonIteration
    from klapper.schemes.ordinary import Ordinary
    from klapper.schemes.penalty_contact import PenaltyContact
    from klapper.schemes.piecewise_exact import PiecewiseExact
    from klapper.schemes.quasi_static import QuasiStatic
    from klapper.schemes.regularisation_advice import RegularisationAdvice, propose_regularisation
    from klapper.schemes.regularised import Regularised
    from klapper.schemes.work import Work

_PLACES = {
    "AugmentedLagrange": "constraint_springs",
    "CentralDifference": "central_difference",
    "EnergyMomentum": "energy_momentum",
    "EventDriven": "event_driven",
    "FrictionStrategy": "friction_strategies",
    "FunctionalFriction": "friction_strategies",
    "GeneralisedAlpha": "generalised_alpha",
    "HardContact": "contact_rounds",
    "Leapfrog": "leapfrog",
    "Moreau": "moreau",
    "Multipliers": "energy_momentum",
    "NestedProx": "nested_prox",
    "Newmark": "newmark",
    "NewtonIteration": "newton",
    "Ordinary": "ordinary",
    "Penalty": "constraint_springs",
    "PenaltyContact": "penalty_contact",
    "PiecewiseExact": "piecewise_exact",
    "PseudoInverseFriction": "friction_strategies",
    "QuasiStatic": "quasi_static",
    "RegularisationAdvice": "regularisation_advice",
    "Regularised": "regularised",
    "SCHEMES": "base",
    "Scheme": "base",
    "Snapshot": "base",
    "Step": "base",
    "StepFailed": "base",
    "Stretch": "base",
    "Work": "work",
    "propose_regularisation": "regularisation_advice",
    "stable_step": "longest_step",
}

__all__ = [
    "SCHEMES",
    "AugmentedLagrange",
    "CentralDifference",
    "EnergyMomentum",
    "EventDriven",
    "FrictionStrategy",
    "FunctionalFriction",
    "GeneralisedAlpha",
    "HardContact",
    "Leapfrog",
    "Moreau",
    "Multipliers",
    "NestedProx",
    "Newmark",
    "NewtonIteration",
    "Ordinary",
    "Penalty",
    "PenaltyContact",
    "PiecewiseExact",
    "PseudoInverseFriction",
    "QuasiStatic",
    "RegularisationAdvice",
    "Regularised",
    "Scheme",
    "Snapshot",
    "Step",
    "StepFailed",
    "Stretch",
    "Work",
    "propose_regularisation",
    "stable_step",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"klapper.schemes has no '{name}'; it has {', '.join(__all__)}.")
    if name == "SCHEMES":  # each file lists its own
        for place in sorted(set(_PLACES.values())):
            import_module(f"klapper.schemes.{place}")
    found = globals()[name] = getattr(import_module(f"klapper.schemes.{_PLACES[name]}"), name)
    if name == "SCHEMES":
        for word in sorted(found):  # the same order whatever was loaded before
            found[word] = found.pop(word)
    return found
