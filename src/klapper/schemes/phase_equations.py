"""The equations of motion while every contact keeps its mode.

    M v̇ = f + (J_N + R) λ_N + J_T λ_T + J_B λ_B                                   Waltersberger (4.52), (4.58)
    J_Nᵀ v̇ + b_N = 0  pressed contacts,   J_Tᵀ v̇ + b_T = 0  sticking patches,   J_Bᵀ v̇ + b_B = 0
    λ_T = −(limit + μ λ_N) v_T/|v_T|  sliding patches, which R stands for          (4.49)

With D = (J_N, J_T, J_B) of all force rows, the forces are T x + λ₀, where x are those of the held rows h, and

    (Dᵀ M⁻¹ D)_h T x = −(Dᵀ M⁻¹ (f + D λ₀) + b)_h.

Where the held rows depend on each other, v̇ is unique and x is the solution nearest to given forces, (4.60)-(4.62).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import System
from klapper.schemes.mobility import Inverse, natural_units, rank
from klapper.schemes.phase_modes import SLIDING, STICKING, Modes

RANK = 1e-9  # singular values below this share of the largest belong to forces that are not unique


@dataclass(frozen=True, eq=False)
class Rows:
    """Directions of all force rows at one moment, in the order pressed normals, friction patches, constraints.

    ``columns``  D (n, r); ``rates`` (r,) [m/s] given parts of Dᵀ v; ``bias`` b (r,) [m/s²] given parts of Dᵀ v̇
    """

    columns: np.ndarray
    rates: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True, eq=False)
class Instant:
    """Acceleration (nv,) [m/s²], forces (r,) [N], sliding velocities (s, d) [m/s] and wall rates (r,) [m/s]."""

    acceleration: np.ndarray
    forces: np.ndarray
    slip: np.ndarray
    rates: np.ndarray


class PhaseEquations:
    """Motion of a system in fixed modes, for any system.

    Friction of an anisotropic contact is taken in scaled directions, see :mod:`klapper.mechanics.friction`; ``scale``
    (s, d) leads back. ``normal`` (m,) and ``patch`` (s,) are places in ``modes.contact``.
    """

    def __init__(self, system: System, modes: Modes) -> None:
        self.system, self.modes = system, modes
        self.d = system.contacts.tangential
        self.normal = np.flatnonzero(modes.pressed)
        self.patch = np.flatnonzero(modes.rough)
        self.which = modes.contact
        self.laws = system.contacts.laws(self.which, np.zeros(len(self.which)))
        m, s, p = len(self.normal), len(self.patch), len(system.constraints)
        self.size = m + s * self.d + p
        self.patch_rows = (m + np.arange(s * self.d)).reshape(s, self.d)
        grip = modes.grip[self.patch]
        self.sticking = np.flatnonzero(grip == STICKING)
        self.sliding = np.flatnonzero(grip != STICKING)
        self.following = grip == SLIDING  # patches whose sense follows their velocity
        self.held = np.concatenate(
            [np.arange(m), self.patch_rows[self.sticking].ravel(), m + s * self.d + np.arange(p)]
        ).astype(int)
        self.placed = np.concatenate([np.arange(m), m + s * self.d + np.arange(p)]).astype(int)
        self.scale = np.ones((s, self.d))
        if self.d == 2:
            self.scale[:, 1] = self.laws.ratio[self.patch]
        self.limit = self.laws.limit[self.patch]
        self.sense = modes.sense[self.patch]
        self.changing = not system.contacts.constant and len(self.sliding) > 0
        self.at_rest = self.coefficients(self.laws)

    def coefficients(self, laws: ContactLaws) -> np.ndarray:
        """μ (s, m): friction limits of the patches from the normal forces of the pressed contacts."""
        if laws.coupled:
            return laws.friction.tocsr()[self.patch][:, self.normal].toarray()
        return np.where(
            self.patch[:, None] == self.normal[None, :], np.asarray(laws.friction)[self.patch, None], 0.0
        )

    def rows(self, t: float, q: np.ndarray, v: np.ndarray) -> Rows:
        """D, its rates and b at a state."""
        system, d = self.system, self.d
        directions = system.directions(t, q, self.which)
        b_n, b_t = system.curvature(t, q, v, self.which) if len(self.which) else (np.zeros(0), np.zeros(0))
        bilateral, bilateral_rate = system.constraint_directions(t, q)
        b_b = system.constraint_curvature(t, q, v) if system.constraints else np.zeros(0)
        of_patch = (self.patch[:, None] * d + np.arange(d)).ravel()
        scale = self.scale.ravel()
        return Rows(
            np.hstack(
                [
                    dense(directions.normal)[:, self.normal],
                    dense(directions.tangential)[:, of_patch] * scale,
                    dense(bilateral),
                ]
            ),
            np.concatenate(
                [
                    directions.normal_rate[self.normal],
                    directions.tangential_rate[of_patch] * scale,
                    bilateral_rate,
                ]
            ),
            np.concatenate([b_n[self.normal], b_t[of_patch] * scale, b_b]),
        )

    def inverse(self, q: np.ndarray) -> Inverse:
        return Inverse(self.system.mass(q))

    def slip_of(self, rows: Rows, v: np.ndarray) -> np.ndarray:
        """Scaled sliding velocities (s, d) [m/s]."""
        of = slice(len(self.normal), self.size - len(self.system.constraints))
        return (rows.columns[:, of].T @ v + rows.rates[of]).reshape(len(self.patch), self.d)

    def senses(self, slip: np.ndarray) -> np.ndarray:
        """Unit vectors (s, d) of sliding; beyond a stop they go on as if the motion had been straight.

        A velocity that has turned round to within 45° of the opposite of its sense at the start of the step counts as
        having passed through zero, so that the equations stay smooth where the search for the stop looks.
        """
        sense = self.sense
        if not self.following.any():
            return sense
        speed = np.linalg.norm(slip, axis=-1, keepdims=True)
        along = np.sum(slip * sense, axis=-1, keepdims=True)
        turned = np.where(along < -0.7071 * speed, -slip, slip)
        unit = np.where(speed > 0.0, turned / np.where(speed > 0.0, speed, 1.0), sense)
        return np.where(self.following[:, None], unit, sense)

    def friction_at(self, slip: np.ndarray) -> np.ndarray:
        """μ (s, m) at sliding velocities (s, d), sticking patches at rest."""
        if not self.changing:
            return self.at_rest
        speed = np.zeros(len(self.which))
        true = np.divide(slip, self.scale, out=np.zeros_like(slip), where=self.scale > 0.0)
        speed[self.patch[self.sliding]] = np.linalg.norm(true[self.sliding], axis=1)
        return self.coefficients(self.system.contacts.laws(self.which, speed))

    def distribution(self, senses: np.ndarray, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T (r, u) and λ₀ (r,): all forces from those of the held rows."""
        matrix, given = np.zeros((self.size, len(self.held))), np.zeros(self.size)
        matrix[self.held, np.arange(len(self.held))] = 1.0
        for i in self.sliding:
            at = self.patch_rows[i]
            matrix[at, : len(self.normal)] = -np.outer(senses[i], friction[i])  # Waltersberger (4.49)
            given[at] = -self.limit[i] * senses[i]
        return matrix, given

    def instant(self, t: float, q: np.ndarray, v: np.ndarray) -> Instant:
        """Acceleration and forces at a state, (4.58)."""
        rows, inverse = self.rows(t, q, v), self.inverse(q)
        free = inverse(self.system.force(t, q, v))
        if self.size == 0:
            return Instant(free, np.zeros(0), np.zeros((0, self.d)), rows.rates)
        response = inverse(rows.columns)
        mobility = rows.columns.T @ response
        slip = self.slip_of(rows, v)
        matrix, given = self.distribution(self.senses(slip), self.friction_at(slip))
        pushed = rows.columns.T @ free + rows.bias + mobility @ given
        unknown = self.solve_held(mobility[self.held] @ matrix, -pushed[self.held], mobility.diagonal())
        forces = matrix @ unknown + given
        return Instant(free + response @ forces, forces, slip, rows.rates)

    def solve_held(self, matrix: np.ndarray, right: np.ndarray, mobility: np.ndarray) -> np.ndarray:
        """x (u,), if it is not unique that nearest to the reference forces."""
        if right.size == 0:
            return right
        if right.size == 1 and matrix[0, 0] != 0.0:
            return right / matrix[0]
        if self.determined is None:
            self.determined = rank(matrix, mobility[self.held], RANK) == right.size
        if self.determined:
            return np.linalg.solve(matrix, right)
        unit = natural_units(mobility[self.held])
        near = self.modes.reference[self.held]
        scaled = matrix / np.outer(unit, unit)
        return near + np.linalg.lstsq(scaled, (right - matrix @ near) / unit, rcond=RANK)[0] / unit

    determined: bool | None = None
    """Whether the held rows determine their forces; found at the first evaluation."""

    def turning_rate(self, t: float, q: np.ndarray, v: np.ndarray, ahead: float) -> float:
        """How fast [1/s] friction turns the slowest sliding velocity in space into its final direction: ρ W_T/|v_T|.

        Patches whose sliding would stop within ``ahead`` [s] do not count.
        """
        if not self.following.any():
            return 0.0
        now, rows = self.instant(t, q, v), self.rows(t, q, v)
        response = np.asarray(self.inverse(q)(rows.columns))
        fastest = 0.0
        for patch in np.flatnonzero(self.following):
            at = self.patch_rows[patch]
            speed = float(np.linalg.norm(now.slip[patch]))
            change = rows.columns[:, at].T @ now.acceleration + rows.bias[at]
            if speed == 0.0 or speed**2 + ahead * float(change @ now.slip[patch]) < 0.5 * speed**2:
                continue
            mobility = float(np.einsum("nd,nd->d", rows.columns[:, at], response[:, at]).max())
            fastest = max(fastest, float(np.linalg.norm(now.forces[at])) * mobility / speed)
        return fastest

    def many(self, times: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Forces (k, r) [N] at states (k, nq), (k, nv)."""
        found = [self.instant(float(t), x, y).forces for t, x, y in zip(times, q, v, strict=True)]
        return np.array(found).reshape(len(times), self.size)

    def slips(self, times: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Scaled sliding velocities (k, s, d) [m/s] at states (k, nq), (k, nv)."""
        found = np.zeros((len(times), len(self.patch), self.d))
        if len(self.patch) == 0:
            return found
        contact = self.which[self.patch]
        for i, (t, x, y) in enumerate(zip(times, q, v, strict=True)):
            slip = self.system.directions(float(t), x, contact).tangential_velocity(y)
            found[i] = slip.reshape(self.scale.shape) * self.scale
        return found

    def gaps(self, times: np.ndarray, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Gaps (k, w) [m] of the contacts ``which`` at positions (k, nq)."""
        found = [self.system.gaps(float(t), x, which) for t, x in zip(times, q, strict=True)]
        return np.array(found).reshape(len(times), len(which))

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        """ẏ of y = (q, v, impulses, loads, damping, friction), (4.59) with the integrals of the ledger."""
        system = self.system
        nq, nv = len(system.coordinates), len(system.velocities)
        q, v = y[:nq], y[nq : nq + nv]
        now = self.instant(t, q, v)
        load, damping = system.powers(t, q, v)
        friction = -float(now.forces[self.patch_rows].ravel() @ now.slip.ravel())
        walls = -float(now.forces @ now.rates)
        return np.concatenate(
            [system.rate(q, v), now.acceleration, now.forces, [load + walls, damping, friction]]
        )
