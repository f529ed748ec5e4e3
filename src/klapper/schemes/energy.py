"""The energy ledger of one θ-step, every entry from its own terms.

With v_m = (v + v⁺)/2 and the impulse P of the applied forces, M (v⁺ − v) = P + J Λ gives

    ½ v⁺ᵀ M v⁺ − ½ vᵀ M v = v_m · P + Σ Λ · Jᵀ v_m,        Jᵀ v_m = ½ (v⁺_rel + v⁻_rel) − a

What contacts take is lost in impacts, except where they are compliant: there it goes into the springs, ½ λᵀ C λ with
λ = Λ/h at the end of the step, and what is missing has been lost by the implicit step, which is no loss of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klapper.mechanics.ledger import Increment

if TYPE_CHECKING:
    from klapper.mechanics.system import System
    from klapper.schemes.moreau_step import MoreauStep

_ROUND_OFF = 1e-12


def step_energy(
    step: MoreauStep, impulse: np.ndarray, bilateral: np.ndarray, q_after: np.ndarray, v_after: np.ndarray
) -> np.ndarray:
    """Increments (5,) [J] of loads, damping, friction, impact and numerical loss.

    ``impulse`` (k, 1 + d) and ``bilateral`` (p,) [N s] of the step.
    """
    system, h, theta = step.system, step.h, step.scheme.theta
    v, jump = step.v, v_after - step.v
    middle = 0.5 * (v + v_after)
    directions = step.directions
    normal = directions.normal_velocity(middle)
    tangential = directions.tangential_velocity(middle)
    soft, lasts = step.soft, step.lasting.which & ~step.soft
    impact = -float(impulse[~soft & ~lasts, 0] @ normal[~soft & ~lasts])
    friction = -float(impulse[:, 1:].ravel() @ tangential)
    walls = -float(
        impulse[:, 0] @ directions.normal_rate + impulse[:, 1:].ravel() @ directions.tangential_rate
    )
    walls -= float(bilateral @ step.bilateral_rate)
    joints = -float(bilateral @ (step.bilateral.T @ middle + step.bilateral_rate))

    applied = h * step.force  # P: the force of the step, its implicit part included
    if step.tangents.velocity is not None:
        applied = applied + h * theta * (step.tangents.velocity @ jump)
    if step.tangents.position is not None:
        applied = applied + (h * theta) ** 2 * (step.tangents.position @ jump)
    at = system.advance(step.q, theta * h * (v + theta * jump))
    load, damping = system.powers(step.t_force, at, middle)
    stored = system.potential(q_after) - system.potential(step.q)
    numerical = h * (load - damping) - stored - float(middle @ applied)
    numerical -= float(impulse[lasts, 0] @ normal[lasts])  # of directions that turn
    numerical -= _changing_mass(step, q_after, v_after)
    numerical -= float(impulse[soft, 0] @ normal[soft]) + _springs_gained(step, impulse)
    if step.joints_jump:
        impact += joints
    else:
        numerical += joints
    loss = step.jump_loss
    return np.array(
        Increment(
            loads=h * load + walls + loss[2],
            damping=h * damping,
            friction=friction + loss[0],
            impact=impact + loss[1],
            numerical=numerical,
        )
    )


def _changing_mass(step: MoreauStep, q_after: np.ndarray, v_after: np.ndarray) -> float:
    """Kinetic energy that the change of the mass matrix over the step adds."""
    system = step.system
    before, after = system.mass(step.before.position), system.mass(q_after)
    if before is step.mass and after is step.mass:
        return 0.0
    v_before = step.before.velocity  # before a jump, if there was one
    gained = v_after @ ((after - step.mass) @ v_after) - v_before @ ((before - step.mass) @ v_before)
    return 0.5 * float(gained)


def spring_energy(system: System, contact: np.ndarray, impulse: np.ndarray, duration: float) -> float:
    """½ λᵀ C λ [J] in the contact compliance after a step of a ``duration`` [s].

    ``impulse`` (k, 1 + d) [N s] of the numbers (k,) ``contact``
    """
    compliance = system.compliance
    if compliance is None or not len(contact):
        return 0.0
    force = impulse[:, 0] / duration
    return 0.5 * float(force @ compliance[np.ix_(contact, contact)] @ force)


def _springs_gained(step: MoreauStep, impulse: np.ndarray) -> float:
    before = step.before
    held = spring_energy(step.system, before.contact, before.impulse, before.memory[-1])
    return spring_energy(step.system, step.contact, impulse, step.h) - held


def soft_contacts(compliance: np.ndarray, mobility: np.ndarray, duration: float) -> np.ndarray:
    """Which contacts (m,) are compliant: C_ii is more than rounding beside h² W_ii in the problem of a step.

    ``mobility`` W_ii (m,) [1/kg], zero for friction elements
    """
    return np.diag(compliance) > _ROUND_OFF * duration**2 * mobility
