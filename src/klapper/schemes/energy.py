"""The energy ledger of one θ-step, every entry from its own terms.

With v_m = (v + v⁺)/2 and the impulse P of the applied forces, M (v⁺ − v) = P + J Λ gives

    ½ v⁺ᵀ M v⁺ − ½ vᵀ M v = v_m · P + Σ Λ · Jᵀ v_m,        Jᵀ v_m = ½ (v⁺_rel + v⁻_rel) − a
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klapper.mechanics.ledger import Increment

if TYPE_CHECKING:
    from klapper.schemes.moreau import _OneStep


def step_energy(
    step: _OneStep, impulse: np.ndarray, bilateral: np.ndarray, q_after: np.ndarray, v_after: np.ndarray
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
    impact = -float(impulse[:, 0] @ normal)
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
    numerical -= _changing_mass(step, q_after, v_after)
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


def _changing_mass(step: _OneStep, q_after: np.ndarray, v_after: np.ndarray) -> float:
    """Kinetic energy that the change of the mass matrix over the step adds."""
    system = step.system
    before, after = system.mass(step.before.position), system.mass(q_after)
    if before is step.mass and after is step.mass:
        return 0.0
    v_before = step.before.velocity  # before a jump, if there was one
    gained = v_after @ ((after - step.mass) @ v_after) - v_before @ ((before - step.mass) @ v_before)
    return 0.5 * float(gained)
