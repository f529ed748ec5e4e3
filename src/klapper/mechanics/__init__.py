"""The waist of the package: systems, contacts, laws at contacts and at jumps, the energy ledger."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from klapper.mechanics.active_sets import ActiveSets, Tolerances, active_sets
from klapper.mechanics.areal import AveragedContact, FrictionPatches, friction_matrix
from klapper.mechanics.areal_contacts import areal_contacts
from klapper.mechanics.contact_area import ContactArea
from klapper.mechanics.contact_table import ContactLaws, ContactList, ContactTable
from klapper.mechanics.contacts import Constraint, Contact, FrictionElement
from klapper.mechanics.courses import Pulse, Sweep, Tabulated, base_load
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.exponential_friction import ExponentialFriction
from klapper.mechanics.friction import FRICTION_LAWS, Anisotropic, Coulomb, Friction, SpeedDependent, Stribeck
from klapper.mechanics.invariants import Invariants
from klapper.mechanics.signals import Constant, FunctionOfTime, Harmonic, Ramp, Signal
from klapper.mechanics.system import Directions, ForceTangents, State, System

if TYPE_CHECKING:
    from klapper.mechanics.acceleration import AccelerationProblem
    from klapper.mechanics.acceleration_solution import ModeDecision
    from klapper.mechanics.compliance import ApproachDamper, BoundaryLayer, CompliantNormal
    from klapper.mechanics.forces_at_state import PossibleForces, possible_forces
    from klapper.mechanics.function_system import FunctionSystem
    from klapper.mechanics.linear_system import LinearSystem
    from klapper.mechanics.picture import Part, Picture
    from klapper.mechanics.possible_motion import PossibleMotion
    from klapper.mechanics.smooth_friction import (
        ArctanFriction,
        PowerFriction,
        SaturatedFriction,
        StickElement,
    )

_PLACES = {
    "AccelerationProblem": "acceleration",
    "ApproachDamper": "compliance",
    "ArctanFriction": "smooth_friction",
    "BoundaryLayer": "compliance",
    "CompliantNormal": "compliance",
    "FunctionSystem": "function_system",
    "LinearSystem": "linear_system",
    "ModeDecision": "acceleration_solution",
    "Part": "picture",
    "Picture": "picture",
    "PossibleForces": "forces_at_state",
    "PowerFriction": "smooth_friction",
    "SaturatedFriction": "smooth_friction",
    "StickElement": "smooth_friction",
    "possible_forces": "forces_at_state",
    "PossibleMotion": "possible_motion",
}

__all__ = [
    "FRICTION_LAWS",
    "AccelerationProblem",
    "ActiveSets",
    "Anisotropic",
    "ApproachDamper",
    "ArctanFriction",
    "AveragedContact",
    "BoundaryLayer",
    "CompliantNormal",
    "Constant",
    "Constraint",
    "Contact",
    "ContactArea",
    "ContactLaws",
    "ContactList",
    "ContactTable",
    "Coulomb",
    "Directions",
    "ExponentialFriction",
    "ForceTangents",
    "Friction",
    "FrictionElement",
    "FrictionPatches",
    "FunctionOfTime",
    "FunctionSystem",
    "Harmonic",
    "InvalidModel",
    "Invariants",
    "LinearSystem",
    "ModeDecision",
    "Part",
    "Picture",
    "PossibleForces",
    "PossibleMotion",
    "PowerFriction",
    "Pulse",
    "Ramp",
    "SaturatedFriction",
    "Signal",
    "SpeedDependent",
    "State",
    "StickElement",
    "Stribeck",
    "Sweep",
    "System",
    "Tabulated",
    "Tolerances",
    "active_sets",
    "areal_contacts",
    "base_load",
    "friction_matrix",
    "possible_forces",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"klapper.mechanics has no '{name}'; it has {', '.join(__all__)}.")
    found = globals()[name] = getattr(import_module(f"klapper.mechanics.{_PLACES[name]}"), name)
    return found
