"""Damage identification: length and place of a delamination from a noisy signal of its gap, with confidence intervals.

    min Σ (g_measured − g(t; ℓ, c))² over (ℓ, c),   cov = s² (Jᵀ J)⁻¹,   s² = Σ r²/(m − 2),   ± t₀.₉₇₅(m − 2) √cov_kk

The signal is the opening at some places of the joint over one turn of the shaft at several speeds. It is simulated by
marching in time with contacts in the joint; the prediction is the closed solution of the open joint, Waltersberger
(5.114), (5.163), valid while no contact closes. A delamination left of the middle cannot be
told from its mirror image, so that the left half is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from klapper.studies.errors import StudyError
from klapper.studies.maps.rotor import LENGTH, model

SPEEDS = (6.0, 8.0, 12.0, 14.0)  # Hz, below and above the critical ones
SENSORS = (0.25, 0.5, 0.75)  # places in the joint
_STEPS = 1000  # time steps per turn
_CONTACTS = 9
_MODES = 12  # enough for joints of 0.4 m and more


@dataclass(frozen=True)
class Signals:
    """Gaps (speeds, sensors, samples) [m] over one turn, from a multiple of its period on; ``speeds`` (k,) [Hz]."""

    speeds: np.ndarray
    gaps: np.ndarray


@dataclass(frozen=True)
class Damage:
    """Length and centre (2,) [m], their covariance (2, 2) [m²], their interval of 95 % (2, 2) [m], noise s [m]."""

    estimate: np.ndarray
    covariance: np.ndarray
    interval: np.ndarray
    noise: float

    def covers(self, length: float, centre: float) -> np.ndarray:
        """Whether the intervals contain these values (2,)."""
        true = np.array([length, centre])
        return (self.interval[:, 0] <= true) & (true <= self.interval[:, 1])

    def distance(self, length: float, centre: float) -> float:
        """(p̂ − p)ᵀ cov⁻¹ (p̂ − p), which is χ² with two degrees of freedom if the covariance is right."""
        off = self.estimate - np.array([length, centre])
        return float(off @ np.linalg.solve(self.covariance, off))


def predicted(length: float, centre: float, speeds: Sequence[float], samples: int) -> np.ndarray:
    """Gaps (speeds, sensors, samples) [m] of an open joint over one turn. (5.114), (5.163)"""
    from klapper.analysis.rotor import gravity_response

    made = model(float(length), float(centre), _MODES)
    rows = made.gap_rows(SENSORS)
    turn = np.exp(2j * np.pi * np.arange(samples) / samples)
    steady = np.stack([_opened(made.rotor, speed) for speed in speeds]) @ rows.T
    shaken = gravity_response(made.rotor, speeds, rows)
    return steady[..., None] + np.real(shaken[..., None] * turn)


def simulated(
    length: float,
    centre: float,
    *,
    noise: float,
    generator: np.random.Generator,
    speeds: Sequence[float] = SPEEDS,
    samples: int = 50,
    turns: int = 20,
) -> Signals:
    """Gaps of the turn after so many ``turns``, with normal ``noise`` [m] added; ``samples`` divide 1000."""
    gaps = np.stack([_late_turn(length, centre, speed, turns)[:, :: _STEPS // samples] for speed in speeds])
    return Signals(np.asarray(speeds, dtype=float), gaps + noise * generator.standard_normal(gaps.shape))


def identify(signals: Signals, *, start: tuple[float, float] = (0.8, 1.2)) -> Damage:
    """Least squares over length and centre [m], from ``start``, with intervals of 95 %."""
    from scipy.optimize import least_squares
    from scipy.stats import t

    samples = signals.gaps.shape[-1]
    scale = float(np.abs(signals.gaps).max())

    def residual(guess: np.ndarray) -> np.ndarray:
        return (
            predicted(guess[0], guess[1], signals.speeds.tolist(), samples) - signals.gaps
        ).ravel() / scale

    found = least_squares(
        residual,
        start,
        jac="3-point",
        bounds=([0.1, 0.75], [1.45, 0.5 * LENGTH]),
        x_scale=(0.1, 0.1),
        diff_step=1e-3,
    )
    freedom = signals.gaps.size - 2
    variance = 2.0 * found.cost / freedom
    covariance = variance * np.linalg.inv(found.jac.T @ found.jac)
    half = t.ppf(0.975, freedom) * np.sqrt(np.diag(covariance))
    interval = np.stack([found.x - half, found.x + half], axis=1)
    return Damage(found.x, covariance, interval, scale * float(np.sqrt(variance)))


def recovered(length: float, centre: float, noise: float, generator: np.random.Generator) -> dict[str, Any]:
    """One identification, for a study with replicates: estimates, half widths of the intervals, what they cover."""
    damage = identify(simulated(length, centre, noise=noise, generator=generator))
    half = 0.5 * (damage.interval[:, 1] - damage.interval[:, 0])
    inside = damage.covers(length, centre)
    return {
        "length_found": float(damage.estimate[0]),
        "centre_found": float(damage.estimate[1]),
        "length_half_width": float(half[0]),
        "centre_half_width": float(half[1]),
        "covered": bool(inside.all()),
        "distance": damage.distance(length, centre),
        "noise_found": damage.noise,
    }


def _opened(rotor: Any, speed: float) -> np.ndarray:
    """Rest (n,) in the turning frame under centrifugal forces and drag: the constant part of (5.114)."""
    omega = 2.0 * np.pi * speed
    stiffness = rotor.stiffness - omega**2 * rotor.centrifugal + omega * rotor.circulatory
    return np.asarray(np.linalg.solve(stiffness, omega**2 * rotor.unbalance + omega * rotor.drag))


@lru_cache(maxsize=64)
def _late_turn(length: float, centre: float, speed: float, turns: int) -> np.ndarray:
    """Gaps (sensors, steps) [m] over one turn after ``turns``, by marching in time with contacts in the joint.

    The motion starts near the steady one, since the shaft is hardly damped. Kept, since replicates share it.
    """
    from klapper.analysis.rotor import gravity_response
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate

    made = model(length, centre, _MODES)
    shaken = gravity_response(made.rotor, [speed])[0]
    position = _opened(made.rotor, speed) + shaken.real
    velocity = np.real(2j * np.pi * speed * shaken)
    system = made.system(speed, made.contacts(_CONTACTS), position=position, velocity=velocity)
    run = simulate(system, (turns + 1) / speed, Moreau(1.0 / (speed * _STEPS)), every=1)
    if np.any(run.impulse[:, :, 0] > 0.0):
        raise StudyError(
            f"a joint of {length:g} m about {centre:g} m closes at {speed:g} Hz: the prediction is for open ones."
        )
    turn = run.position[turns * _STEPS : (turns + 1) * _STEPS]
    return np.asarray(turn @ made.gap_rows(SENSORS).T).T
