"""Rigid bodies as plain arrays, for loops that run compiled.

Every standard contact is a ball (a point is a ball of radius zero) on a body against a half-space or another ball:
point–line, disc–line, disc–disc, sphere–plane, sphere–sphere, box corners on a plane. Planar models use the same arrays
with the third position, both horizontal rotations and the second tangential direction left out.

    ball–plane   g = n · (c − p) − r             contact point c − r n
    ball–ball    g = |c_A − c_B| − r_A − r_B     n = (c_A − c_B)/|…|, contact points c_A − r_A n and c_B + r_B n

c = x + R o is the ball's centre, o its place in the body. Position is (x, y, φ) in the plane and (x, y, z, w, i, j, k)
in space, a unit quaternion that turns body into world directions; velocity is (ẋ, ẏ, φ̇) and (ẋ, ẏ, ż, ω) with ω in the
body's principal axes. Tangents: in the plane (n_y, −n_x); in space t₁ = e × n / |e × n| with e the axis of the smallest
|n_i| (the first of equals), t₂ = n × t₁.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class RigidForm(NamedTuple):
    """Bodies, balls, half-spaces and which of them may touch. Lengths in m, masses in kg.

    ``dimension``        2 or 3
    ``mass``             (nb,)
    ``inertia``          (nb, 3) principal moments [kg m²]; the plane uses the third
    ``gravity``          (3,) [m/s²]
    ``ball_body``        (ns,) number of the body, −1 for the ground
    ``ball_place``       (ns, 3) centre in the body's axes, or in the world for the ground
    ``ball_radius``      (ns,)
    ``plane_point``      (np, 3), ``plane_normal`` (np, 3) unit, pointing to where bodies may be; at rest
    ``pair_ball``        (k,) first ball of the listed contacts, which have the numbers 0 … k − 1
    ``pair_other``       (k,) second ball, or the half-space
    ``pair_with_plane``  (k,) whether the other is a half-space
    ``pair_friction``, ``pair_restitution``  (k,)
    ``group_ball``       (ng,) balls of which any two may touch, found by search; empty if there is no such group
    ``group_plane``      (gp,) half-spaces that every ball of the group may touch
    ``group_friction``, ``group_restitution``  (2,) between two balls, between ball and half-space

    Contacts of the group are numbered k + a·ng + b for the a-th and b-th ball, a < b, and k + ng² + p·ng + a for the
    p-th half-space and the a-th ball.
    """

    dimension: int
    mass: np.ndarray
    inertia: np.ndarray
    gravity: np.ndarray
    ball_body: np.ndarray
    ball_place: np.ndarray
    ball_radius: np.ndarray
    plane_point: np.ndarray
    plane_normal: np.ndarray
    pair_ball: np.ndarray
    pair_other: np.ndarray
    pair_with_plane: np.ndarray
    pair_friction: np.ndarray
    pair_restitution: np.ndarray
    group_ball: np.ndarray
    group_plane: np.ndarray
    group_friction: np.ndarray
    group_restitution: np.ndarray
