"""One file per method: one step of it, never a loop."""

from klapper.schemes.base import IMPACT, OPEN, SLIP, STICK, Scheme, Snapshot, Step, StepFailed, Stretch
from klapper.schemes.energy_momentum import AugmentedLagrange, EnergyMomentum, Multipliers, Penalty
from klapper.schemes.event_driven import EventDriven
from klapper.schemes.friction_strategies import Functional, PseudoInverse
from klapper.schemes.moreau import Moreau
from klapper.schemes.nested_prox import NestedProx
from klapper.schemes.newton import Newton
from klapper.schemes.ordinary import Ordinary
from klapper.schemes.piecewise_exact import PiecewiseExact
from klapper.schemes.regularisation_advice import RegularisationAdvice, propose_regularisation
from klapper.schemes.regularised import Regularised

__all__ = [
    "IMPACT",
    "OPEN",
    "SLIP",
    "STICK",
    "AugmentedLagrange",
    "EnergyMomentum",
    "EventDriven",
    "Functional",
    "Moreau",
    "Multipliers",
    "NestedProx",
    "Newton",
    "Ordinary",
    "Penalty",
    "PiecewiseExact",
    "PseudoInverse",
    "RegularisationAdvice",
    "Regularised",
    "Scheme",
    "Snapshot",
    "Step",
    "StepFailed",
    "Stretch",
    "propose_regularisation",
]
