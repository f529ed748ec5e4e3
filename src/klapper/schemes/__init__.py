"""One file per method: one step of it, never a loop."""

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
from klapper.schemes.friction_strategies import FunctionalFriction, PseudoInverseFriction
from klapper.schemes.generalised_alpha import GeneralisedAlpha
from klapper.schemes.leapfrog import Leapfrog
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
from klapper.schemes.stable_step import stable_step
from klapper.schemes.work import Work

__all__ = [
    "SCHEMES",
    "AugmentedLagrange",
    "CentralDifference",
    "EnergyMomentum",
    "EventDriven",
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
