"""Compliant contact: the normal force is a function of gap and gap rate, not a reaction.

    λ_N = max(0, (c |g|)^κ − d ġ) if g < 0, else 0                                   Waltersberger (4.80)
    λ_N = −α min(v_N, 0) at closed contacts                                          (4.77)
    λ_N = c s + d ṡ,  ṡ = −ġ while touching, −(c/d) s otherwise                      (4.82), (4.83)
    v̇ = argmin_y ½ yᵀM y − yᵀf' + Σ ρ_i |J_Tiᵀ y + b_Ti|                              (4.95)

None of them pulls. In (4.80) the stiffness stands inside the power. The printed sign −λ_N = c s + d ṡ of (4.83) would
make every touching layer pull and is corrected here. (4.95) keeps friction set-valued under given normal loads; it
restores the uniqueness that rigid contacts lose. Smooth friction (4.79) is in ``klapper.convex.regularised``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.acceleration_solution import TOLERANCE, ModeDecision
from klapper.mechanics.errors import InvalidModel


class _EqualByNumbers:
    """Laws with the same parameters, numbers or arrays, are equal, as a copy is."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(one, two) for one, two in zip(self._numbers, other._numbers, strict=True))

    def __hash__(self) -> int:
        return hash((type(self), *(np.asarray(each).tobytes() for each in self._numbers)))

    @property
    def _numbers(self) -> list[Any]:
        return [getattr(self, each.name) for each in fields(self)]  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class CompliantNormal(_EqualByNumbers):
    """One-sided spring and damper, λ_N = max(0, (c |g|)^κ − d ġ) for g < 0. Waltersberger (4.80).

    ``stiffness`` c > 0 [N^(1/κ)/m], ``damping`` d ≥ 0 [N s/m], ``exponent`` κ ≥ 1 (1 linear, 3/2 Hertz): one number
    each or (m,). A Hertz law k |g|^1.5 has c = k^(2/3). Gaps [m] and rates [m/s] have the shape (..., m).

    >>> law = CompliantNormal(stiffness=1e5, damping=0.5)
    >>> law.force([-1e-4, -1e-4, 1e-4], [0.0, 100.0, -1.0]).round(9).tolist()  # pressed, torn off, open
    [10.0, 0.0, 0.0]
    """

    stiffness: Any
    damping: Any = 0.0
    exponent: Any = 1.0

    def __post_init__(self) -> None:
        _read(self, "stiffness", "above 0, in N^(1/κ)/m", lambda c: c > 0.0)
        _read(self, "damping", "from 0 on, in N s/m", lambda d: d >= 0.0)
        _read(self, "exponent", "from 1 on", lambda kappa: kappa >= 1.0)

    def force(self, gap: Any, gap_rate: Any) -> np.ndarray:
        """λ_N (..., m) [N]."""
        gap, rate = np.asarray(gap, dtype=float), np.asarray(gap_rate, dtype=float)
        return np.where(gap < 0.0, np.maximum(0.0, self._elastic(gap) - self.damping * rate), 0.0)

    def derivatives(self, gap: Any, gap_rate: Any) -> tuple[np.ndarray, np.ndarray]:
        """∂λ_N/∂g [N/m] and ∂λ_N/∂ġ [N s/m], each (..., m), zero where the contact does not press."""
        pressing = self.force(gap, gap_rate) > 0.0
        slope = self.exponent * self.stiffness * self._stretch(gap) ** (self.exponent - 1.0)
        return np.where(pressing, -slope, 0.0), np.where(pressing, -self.damping, 0.0)

    def potential(self, gap: Any) -> np.ndarray:
        """Elastic energy (..., m) [J], c^κ |g|^(κ+1) / (κ+1) for g < 0."""
        return self._elastic(gap) * self._stretch(gap) / (self.stiffness * (self.exponent + 1.0))

    def dissipated_power(self, gap: Any, gap_rate: Any) -> np.ndarray:
        """What the damper takes (..., m) [W]; a spring that is left behind without pressing gives its energy to it."""
        rate = np.asarray(gap_rate, dtype=float)
        return (self._elastic(gap) - self.force(gap, rate)) * rate

    def _stretch(self, gap: Any) -> np.ndarray:
        """c |g| where g < 0, else 0."""
        return self.stiffness * np.maximum(-np.asarray(gap, dtype=float), 0.0)

    def _elastic(self, gap: Any) -> np.ndarray:
        return self._stretch(gap) ** self.exponent


@dataclass(frozen=True, eq=False)
class ApproachDamper(_EqualByNumbers):
    """A one-sided damper on the approach velocity of closed contacts, λ_N = −α min(v_N, 0). Waltersberger (4.77).

    ``damping`` α > 0 [N s/m], one number or (m,). It is the gradient of ``klapper.convex.penalty(Orthant(m), α)``.

    >>> ApproachDamper(100.0).force([-0.1, 0.1, -0.1], closed=[True, True, False]).tolist()
    [10.0, 0.0, 0.0]
    """

    damping: Any

    def __post_init__(self) -> None:
        _read(self, "damping", "above 0, in N s/m", lambda alpha: alpha > 0.0)

    def force(self, normal_velocity: Any, closed: Any = True) -> np.ndarray:
        """λ_N (..., m) [N] from v_N (..., m) [m/s]; ``closed`` says which contacts are in A_N3."""
        velocity = np.asarray(normal_velocity, dtype=float)
        return np.where(closed, self.damping * np.maximum(-velocity, 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class BoundaryLayer(_EqualByNumbers):
    """A massless layer with its own thickness s: λ_N = c s + d ṡ. Waltersberger (4.82), (4.83), sign corrected.

    ``stiffness`` c > 0 [N/m], ``damping`` d > 0 [N s/m], one number each or (m,). s (m,) [m] is the compression of the
    layer, which joins the state: ṡ = ``rate(...)``. The body touches the layer while g + s ≤ 0 and the layer presses;
    then s = −g and the force is that of (4.80) with κ = 1. A free layer creeps back with the time constant d/c.
    ``tolerance`` [m] is the distance up to which both count as touching, against round-off of an integrator.

    >>> layer = BoundaryLayer(stiffness=1e5, damping=10.0)
    >>> layer.force([2e-4, 2e-4], gap=[-2e-4, 1e-3], gap_rate=[-0.1, 0.5]).tolist()
    [21.0, 0.0]
    """

    stiffness: Any
    damping: Any
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        _read(self, "stiffness", "above 0, in N/m", lambda c: c > 0.0)
        _read(self, "damping", "above 0, in N s/m (a layer without damping has no rate)", lambda d: d > 0.0)
        _read(self, "tolerance", "from 0 on, in m", lambda distance: distance >= 0.0)

    def touching(self, compression: Any, gap: Any, gap_rate: Any) -> np.ndarray:
        """Where the body touches the layer and the layer presses (..., m): g + s ≤ 0 and c s − d ġ > 0."""
        distance = np.asarray(gap, dtype=float) + np.asarray(compression, dtype=float)
        return (distance <= self.tolerance) & (self._trial(compression, gap_rate) > 0.0)

    def rate(self, compression: Any, gap: Any, gap_rate: Any) -> np.ndarray:
        """ṡ (..., m) [m/s]."""
        back = -self.stiffness / self.damping * np.asarray(compression, dtype=float)
        return np.where(self.touching(compression, gap, gap_rate), -np.asarray(gap_rate, dtype=float), back)

    def force(self, compression: Any, gap: Any, gap_rate: Any) -> np.ndarray:
        """λ_N = c s + d ṡ (..., m) [N]."""
        trial = self._trial(compression, gap_rate)
        return np.where(self.touching(compression, gap, gap_rate), trial, 0.0)

    @property
    def relaxation_time(self) -> Any:
        """d/c [s]."""
        return self.damping / self.stiffness

    def _trial(self, compression: Any, gap_rate: Any) -> np.ndarray:
        """The force if the body touches: c s − d ġ."""
        return self.stiffness * np.asarray(compression, dtype=float) - self.damping * np.asarray(
            gap_rate, dtype=float
        )


def restitution(damping_ratio: Any) -> Any:
    """Rebound speed over approach speed of a mass on (4.80) with κ = 1, without other forces.

    ``damping_ratio`` ζ = d / (2 √(c m)) ≥ 0. The mass leaves when c |g| = d ġ, after the time τ, and

        e = exp(−ζ ω τ),   ω τ = 2 arccos ζ / √(1 − ζ²)   (2 arcosh ζ / √(ζ² − 1) above one)

    >>> np.round(restitution([0.0, 0.1, 0.25, 0.5]), 6).tolist()
    [1.0, 0.744079, 0.506277, 0.298436]
    """
    ratio = np.asarray(damping_ratio, dtype=float)
    if not np.all(np.isfinite(ratio) & (ratio >= 0.0)):
        raise InvalidModel(f"damping_ratio is {damping_ratio}; allowed are finite numbers from 0 on.")
    angle = np.where(ratio <= 1.0, np.arccos(np.minimum(ratio, 1.0)), np.arccosh(np.maximum(ratio, 1.0)))
    root = np.sqrt(np.abs(1.0 - ratio)) * np.sqrt(1.0 + ratio)
    duration = np.divide(2.0 * angle, root, out=np.full_like(ratio, 2.0), where=root > 0.0)
    return np.exp(-ratio * duration)[()]


def mixed_acceleration(
    mass: Any,
    force: Any,
    *,
    tangential: Any,
    friction_limits: Any,
    sliding_velocity: Any,
    tangential_bias: Any = 0.0,
    sticking_speed: float = 0.0,
    polygon: int | None = None,
    solver: Any = "auto",
    tolerance: float = TOLERANCE,
    start: Any = None,
) -> ModeDecision:
    """The one acceleration under compliant normal forces and set-valued friction. Waltersberger (4.84)-(4.95).

    ``mass``              M (n, n) [kg]
    ``force``             f' without friction (n,) [N]: applied forces and J_N λ_N of the compliant contacts
    ``tangential``        J_T (n, s d); ``tangential_bias`` b_T (s d,) [m/s²]
    ``friction_limits``   ρ = μ λ_N (s,) [N], known because λ_N is
    ``sliding_velocity``  v_T (s, d) [m/s]; sliding patches have the force −ρ v_T/|v_T| (4.87), those at rest minimise

        ½ yᵀM y − yᵀf' + Σ ρ_i |J_Tiᵀ y + b_Ti|

    which is strictly convex: v̇ is unique, also where friction forces are not. The answer is verified.

    >>> block = mixed_acceleration([[2.0]], [15.0], tangential=[[1.0]], friction_limits=9.81, sliding_velocity=[[0.0]])
    >>> block.acceleration.round(9).tolist(), block.tangential_force.round(9).tolist()
    ([2.595], [[-9.81]])
    """
    problem = AccelerationProblem(
        mass,
        force,
        tangential=tangential,
        tangential_bias=tangential_bias,
        sliding_velocity=sliding_velocity,
        limit=friction_limits,
        sticking_speed=sticking_speed,
        polygon=polygon,
    )
    return problem.solve(solver, tolerance=tolerance, start=start)


def _read(law: Any, name: str, allowed: str, test: Any) -> None:
    """Replace a field by its float array (or number) after checking it."""
    values = np.asarray(getattr(law, name), dtype=float)
    if not (np.all(np.isfinite(values)) and np.all(test(values))):
        bad = values[~(np.isfinite(values) & test(values))].ravel()[0]
        raise InvalidModel(f"{name} is {bad:g}; allowed are finite numbers {allowed}.")
    object.__setattr__(law, name, values[()])
