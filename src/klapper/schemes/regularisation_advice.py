"""Parameters of regularised contact for a wished accuracy, and what they cost.

    static      δ = F/c                        impact      δ ≤ v √(m/c)                  so  c = max(F/δ, m v²/δ²)
    rebound     e(ζ) = restitution(ζ),  d = 2 ζ √(c m)                                   Waltersberger (4.80), κ = 1
    creep       |v_T| = v_s |λ_T|/ρ ≤ v_s                                                first form of Ex. 2.4
    fastest     max(√(c/m), d/m, ρ/(m_T v_s))   an explicit step is at most about three divided by it

m = 1/(J_Nᵀ M⁻¹ J_N) is the mass that a contact feels, F = m times the acceleration with which it is pressed. Both are
those of every contact alone at the start; where contacts carry each other, give the load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from klapper.complementarity.dense import dense
from klapper.mechanics.arguments import number
from klapper.mechanics.compliance import CompliantNormal, restitution
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.smooth_friction import SaturatedFriction
from klapper.mechanics.system import System, require_system
from klapper.schemes.mobility import Held, Inverse
from klapper.schemes.regularised import Regularised
from klapper.schemes.smooth_step import Method

SMALLEST_RESTITUTION = 0.01
"""Rebound that a spring with damper is given for a plastic impact: none at all would need infinite damping."""

_STABLE = 3.0  # step size times fastest rate up to which explicit methods are stable, about
_STIFF = 30.0  # ratio of decay rate and frequency from which the implicit method is cheaper


@dataclass(frozen=True, eq=False)
class RegularisationAdvice:
    """Laws for a wished accuracy, and what to expect of them.

    ``normal``, ``friction``  the laws; ``method`` the integrator
    ``penetration``           expected under ``load`` [N], ``impact_penetration`` at the approach ``speed`` [m/s]; both
                              in m
    ``creep``                 largest speed [m/s] at which what should stick creeps; 0 with set-valued friction
    ``restitution``           wished, and ``restitution_error``: how far weight changes the rebound; dimensionless
    ``angular_frequency``     √(c/m) of the fastest contact [rad/s]
    ``fastest_rate``          of all that contacts add [1/s]; ``step_limit`` [s] of explicit methods
    ``steps_per_second``      [1/s] of motion in contact, for the method advised

    A block that rests under 10 N needs c = F/δ = 10⁶ N/m for δ = 10 μm:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import propose_regularisation
    >>> block = LinearSystem([1.0], force=[-10.0], contacts=[Contact("floor", normal=[1.0])])
    >>> advice = propose_regularisation(block, penetration=1e-5)
    >>> round(float(advice.normal.stiffness)), advice.scheme().name
    (1000000, 'regularised')
    """

    normal: CompliantNormal
    friction: SaturatedFriction | str
    method: Method
    speed: float
    load: float
    penetration: float
    impact_penetration: float
    creep: float
    restitution: float
    restitution_error: float
    angular_frequency: float
    fastest_rate: float
    step_limit: float
    steps_per_second: float

    def scheme(self, **options: Any) -> Regularised:
        """The scheme with these laws; ``options`` are those of :class:`Regularised`."""
        return Regularised(self.normal, self.friction, **{"method": self.method, **options})

    def __str__(self) -> str:
        damping = np.ravel(self.normal.damping)
        spread = f"{damping.min():.4g} to {damping.max():.4g}" if np.ptp(damping) else f"{damping[0]:.4g}"
        slip = self.friction.speed if isinstance(self.friction, SaturatedFriction) else None
        rows = [
            ("stiffness", f"{float(np.max(self.normal.stiffness)):.4g}", "N/m"),
            ("damping", spread, "N s/m"),
            (
                "friction",
                "set-valued" if slip is None else f"viscous below {slip:.3g}",
                "" if slip is None else "m/s",
            ),
            ("penetration under load", f"{self.penetration:.3g}", f"m at {self.load:.3g} N"),
            ("penetration at impact", f"{self.impact_penetration:.3g}", f"m at {self.speed:.3g} m/s"),
            ("creep up to", f"{self.creep:.3g}", "m/s"),
            ("restitution", f"{self.restitution:.3g}", f"± {self.restitution_error:.1g}"),
            ("angular frequency", f"{self.angular_frequency:.3g}", "rad/s"),
            ("explicit step at most", f"{self.step_limit:.3g}", "s"),
            (f"steps ({self.method})", f"{self.steps_per_second:.2g}", "per second in contact"),
        ]
        width = max(len(row[1]) for row in rows)
        return "\n".join(f"{name:<24}{value:>{width}} {unit}".rstrip() for name, value, unit in rows)


def propose_regularisation(
    system: System,
    *,
    penetration: float = 1e-6,
    creep: float | None = 1e-6,
    restitution: float | None = None,
    speed: float | None = None,
    load: float | None = None,
) -> RegularisationAdvice:
    """Laws for :class:`Regularised` under which ``system`` penetrates and creeps no more than wished.

    ``penetration``  [m], static and at impacts
    ``creep``        [m/s]; None for set-valued friction, which does not creep
    ``restitution``  wished rebound, dimensionless; None: that of the model, at least 0.01
    ``speed``        [m/s] of the hardest impact; None: what the contacts reach from the start by their own acceleration
    ``load``         [N] on the most loaded contact; None: estimated at the start, for every contact alone

        c = max(F/δ, m v²/δ²)

    1 kg that hits with 5 m/s goes in by 1 mm if c = m v²/δ² = 2.5 · 10⁷ N/m:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import propose_regularisation
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    >>> round(float(propose_regularisation(ball, penetration=1e-3).normal.stiffness))
    25000000
    """
    require_system(system)
    number(penetration, "penetration", "numbers above 0, in m", above=0.0)
    felt = _felt_by_contacts(system)
    fastest = (
        float(felt.speed.max())
        if speed is None
        else number(speed, "speed", "numbers from 0 on", at_least=0.0)
    )
    pressed = (
        float(felt.load.max()) if load is None else number(load, "load", "numbers from 0 on", at_least=0.0)
    )
    heaviest = float(felt.mass.max())
    stiffness = max(pressed / penetration, heaviest * fastest**2 / penetration**2)
    if stiffness == 0.0:
        raise InvalidModel(
            f"no contact of '{system.name}' is loaded or approached at the start; give load [N] or speed [m/s]."
        )
    rebound = felt.restitution if restitution is None else np.full(len(felt.mass), _rebound(restitution))
    rebound = np.maximum(rebound, SMALLEST_RESTITUTION)
    ratio = np.array([damping_ratio(e) for e in rebound])
    damping = np.zeros(system.contacts.count)
    damping[felt.contact] = 2.0 * ratio * np.sqrt(stiffness * felt.mass)
    angular = np.sqrt(stiffness / felt.mass)
    decay = np.max(damping[felt.contact] / felt.mass)
    if creep is not None and np.any(felt.friction > 0.0):
        number(creep, "creep", "numbers above 0, in m/s, or None", above=0.0)
        limits = felt.friction * np.where(load is None, felt.load, pressed)
        decay = max(decay, float(np.max(limits / (felt.tangential_mass * creep))))
    rates = np.array([angular.max(), decay])
    method: Method = "radau" if decay > _STIFF * angular.max() else "dop853"
    limit = _STABLE / float(rates.max())
    smooth = creep is not None and bool(np.any(felt.friction > 0.0))
    weight = np.pi / (angular * max(fastest, 1e-300)) * felt.load / felt.mass
    return RegularisationAdvice(
        normal=CompliantNormal(stiffness, damping if np.ptp(damping) else float(damping[0])),
        friction=SaturatedFriction(float(creep)) if smooth and creep is not None else "set-valued",
        method=method,
        speed=fastest,
        load=pressed,
        penetration=pressed / stiffness,
        impact_penetration=fastest * float(np.sqrt(heaviest / stiffness)),
        creep=float(creep) if smooth and creep is not None else 0.0,
        restitution=float(rebound.max()),
        restitution_error=float(np.minimum(weight.max(), 1.0)) if fastest > 0.0 else 0.0,
        angular_frequency=float(angular.max()),
        fastest_rate=float(rates.max()),
        step_limit=limit,
        steps_per_second=float(angular.max()) if method == "radau" else 1.0 / limit,
    )


def damping_ratio(wished: float) -> float:
    """ζ of a contact of spring and damper whose rebound is ``wished`` times the approach speed.

    The inverse of ``klapper.mechanics.compliance.restitution``.

    >>> round(damping_ratio(float(restitution(0.25))), 9)
    0.25
    """
    e = number(wished, "restitution", "numbers above 0 and up to 1", above=0.0, at_most=1.0)
    if e == 1.0:
        return 0.0
    return float(
        brentq(lambda zeta: np.log(restitution(zeta)) - np.log(e), 0.0, 2.0 / np.sqrt(e), xtol=1e-14)
    )


@dataclass(frozen=True, eq=False)
class _Felt:
    """Per contact with a normal direction (k,): mass [kg], tangential mass, load [N], speed [m/s], μ, ε."""

    contact: np.ndarray
    mass: np.ndarray
    tangential_mass: np.ndarray
    load: np.ndarray
    speed: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray


def _felt_by_contacts(system: System) -> _Felt:
    t, q, v = system.start.time, system.start.position, system.start.velocity
    near = system.near(t, q)
    contact = near[system.contacts.laws(near).normal]
    if len(contact) == 0:
        raise InvalidModel(f"'{system.name}' has no contact near its start; there is nothing to regularise.")
    laws, directions = system.contacts.laws(contact), system.directions(t, q, contact)
    inverse = Inverse(system.mass(q))
    held = Held(inverse, dense(system.constraint_directions(t, q)[0]), system.constraints)
    normal, tangential = dense(directions.normal), dense(directions.tangential)
    mass = 1.0 / np.maximum(np.sum(normal * dense(held.respond(normal)), axis=0), 1e-300)
    mobility = np.sum(tangential * dense(held.respond(tangential)), axis=0)
    mobility = mobility.reshape(len(contact), -1).max(axis=1, initial=0.0)
    approach = -(normal.T @ held.respond(system.force(t, q, v)) + system.curvature(t, q, v, contact)[0])
    gap = np.maximum(system.gaps(t, q, contact), 0.0)
    now = np.maximum(-directions.normal_velocity(v), 0.0)
    return _Felt(
        contact,
        mass,
        1.0 / np.where(mobility > 0.0, mobility, 1.0),
        mass * np.maximum(approach, 0.0),
        np.sqrt(now**2 + 2.0 * np.maximum(approach, 0.0) * gap),
        laws.own_friction,
        laws.restitution,
    )


def _rebound(wished: float) -> float:
    return number(wished, "restitution", "numbers from 0 to 1", at_least=0.0, at_most=1.0)
