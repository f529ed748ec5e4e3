"""One file per time-stepping method: one step of it, never a loop."""

from klapper.schemes.base import IMPACT, OPEN, SLIP, STICK, Scheme, Snapshot, Step, StepFailed, Stretch
from klapper.schemes.moreau import Moreau

__all__ = [
    "IMPACT",
    "OPEN",
    "SLIP",
    "STICK",
    "Moreau",
    "Scheme",
    "Snapshot",
    "Step",
    "StepFailed",
    "Stretch",
]
