"""Friction discs in the coordinates of a set of forces, and Newton's method where they are active.

‖P t + p‖ ≤ rᵀt + ρ
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_NEWTON = 12
_SHARPENED = 1e-13


@dataclass(frozen=True, eq=False)
class Discs:
    """s friction discs ‖P t + p‖ ≤ rᵀt + ρ: P (s, 2, k), p (s, 2), r (s, k), ρ (s,)."""

    rows: np.ndarray
    centre: np.ndarray
    slope: np.ndarray
    radius: np.ndarray

    @classmethod
    def none(cls, dimension: int) -> Discs:
        return cls(np.zeros((0, 2, dimension)), np.zeros((0, 2)), np.zeros((0, dimension)), np.zeros(0))

    def felt(self, dimension: int, noise: float) -> Discs:
        """Those that some t (``dimension``,) feels by more than ``noise``."""
        if len(self.radius) == 0:
            return Discs.none(dimension)
        size = np.maximum(np.linalg.norm(self.rows, axis=(1, 2)), np.linalg.norm(self.slope, axis=1))
        kept = size > noise
        return Discs(self.rows[kept], self.centre[kept], self.slope[kept], self.radius[kept])

    def moved(self, start: np.ndarray, basis: np.ndarray) -> Discs:
        """The same discs in s, where t = start + basis s."""
        return Discs(
            self.rows @ basis,
            self.centre + self.rows @ start,
            self.slope @ basis,
            self.radius + self.slope @ start,
        )

    def excess(self, t: np.ndarray) -> np.ndarray:
        """‖P t + p‖ − rᵀt − ρ (s,)."""
        return np.linalg.norm(self.rows @ t + self.centre, axis=1) - self.slope @ t - self.radius


def sharpened(
    hessian: np.ndarray,
    gradient: np.ndarray,
    rows: np.ndarray,
    offsets: np.ndarray,
    discs: Discs,
    t: np.ndarray,
    multipliers: np.ndarray,
    by_disc: np.ndarray,
) -> np.ndarray:
    """Newton's method on H t + g = Gᵀμ + Σ ν ∇c with the active rows and discs as equations, from a t close by.

    A disc at its tip, where a friction limit vanishes, gives three linear equations.
    """
    scale = float(np.abs(gradient).max(initial=0.0)) + float(np.abs(hessian @ t).max(initial=0.0)) or 1.0
    reach = np.linalg.norm(discs.rows @ t + discs.centre, axis=1)
    active, presses = multipliers > 1e-7 * scale, by_disc > 1e-7 * scale
    tip, bent = presses & (reach <= 1e-6), presses & (reach > 1e-6)
    k, disc_rows, slope = len(t), discs.rows[bent], discs.slope[bent]
    held = np.vstack(
        [rows[active], *(np.vstack([p, r]) for p, r in zip(discs.rows[tip], discs.slope[tip], strict=True))]
    )
    level = np.concatenate(
        [
            offsets[active],
            *(np.append(c, r) for c, r in zip(discs.centre[tip], discs.radius[tip], strict=True)),
        ]
    )
    linear = len(held)
    unknown = np.concatenate([t, np.zeros(linear), by_disc[bent]])
    for _ in range(_NEWTON):
        now, nu = unknown[:k], unknown[k + linear :]
        force = disc_rows @ now + discs.centre[bent]
        length = np.linalg.norm(force, axis=1)
        if np.any(length == 0.0):
            return t
        along = force / length[:, None]
        pull = np.einsum("sd,sdk->sk", along, disc_rows)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        turn = np.einsum("sd,sdk->sk", across, disc_rows)
        curved = hessian + np.einsum("s,si,sj->ij", nu / length, turn, turn)
        normals = np.vstack([held, slope - pull])
        residual = np.concatenate(
            [
                hessian @ now + gradient - normals.T @ unknown[k:],
                held @ now + level,
                slope @ now + discs.radius[bent] - length,
            ]
        )
        if np.abs(residual).max() <= _SHARPENED * scale:
            break
        matrix = np.zeros((len(unknown), len(unknown)))
        matrix[:k, :k], matrix[:k, k:], matrix[k:, :k] = curved, -normals.T, normals
        unknown = unknown - np.linalg.lstsq(matrix, residual, rcond=None)[0]
    fresh, found = unknown[:k], unknown[k:]
    a = int(active.sum())
    at_tips = found[a:linear].reshape(-1, 3)
    pushes = np.concatenate(
        [found[:a], found[linear:], at_tips[:, 2] - np.linalg.norm(at_tips[:, :2], axis=1)]
    )
    below = min(
        float((rows @ fresh + offsets).min(initial=0.0)), -float(discs.excess(fresh).max(initial=0.0))
    )
    better = np.abs(fresh - t).max() <= 1e-4 and pushes.min(initial=0.0) >= -1e-7 * scale and below >= -1e-12
    return fresh if better else t
