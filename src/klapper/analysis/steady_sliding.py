"""Steady sliding on compliant contacts: the motion in which all forces balance.

    f + J_N λ_N + J_T λ_T = 0

in all coordinates that do not go on anyway, by Newton's method over :mod:`klapper.analysis.sliding_forces`. It begins
where linear springs of the right size carry the load, and on the way springs may pull.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from klapper.analysis.sliding_forces import SlidingForces
from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class SteadySliding:
    """Steady sliding of a system with m contacts.

    ``position``         (nq,) [m, rad], ``velocity`` (nv,) [m/s, rad/s]
    ``contacts``         names (m,)
    ``gap``              (m,) [m], negative where pressed; not a number for friction elements
    ``normal_force``     λ_N (m,) [N]
    ``friction_force``   λ_T (m, d) [N]
    ``acceleration``     (nv,) [m/s², rad/s²]: zero but for the free coordinates
    ``residual``         largest unbalanced force of the others, relative

    A belt drags a block of 10 N (μ = 0.5) against a spring of 100 N/m; the belt gives way by 10 N / 10⁴ N/m:

    >>> from klapper.analysis import sliding_stability
    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> belt = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-2.0, friction=0.5)
    >>> block = LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -10.0], contacts=[belt])
    >>> sliding = sliding_stability(block, CompliantNormal(1e4)).sliding
    >>> sliding.position.round(9), sliding.normal_force.round(6), sliding.friction_force[0].round(6)
    (array([ 0.05 , -0.001]), array([10.]), array([5.]))
    """

    position: np.ndarray
    velocity: np.ndarray
    contacts: tuple[str, ...]
    gap: np.ndarray
    normal_force: np.ndarray
    friction_force: np.ndarray
    acceleration: np.ndarray
    residual: float

    def __str__(self) -> str:
        width = max((len(name) for name in self.contacts), default=0)
        lines = [f"Steady sliding, residual {self.residual:.1e}"]
        for name, gap, normal, friction in zip(
            self.contacts, self.gap, self.normal_force, self.friction_force, strict=True
        ):
            force = ", ".join(f"{part:.6g}" for part in friction)
            lines.append(
                f"  {name:<{width}}  gap {gap:.6g} m, presses with {normal:.6g} N, friction {force} N"
            )
        return "\n".join(lines)


def steady_sliding(forces: SlidingForces, tolerance: float) -> SteadySliding:
    """The steady motion in the sense in which the contacts slide, to a ``tolerance`` relative to the forces."""
    q = _position(forces, tolerance)
    directions = forces.directions(q)
    normal, tangential = forces.contact_forces(q, directions)
    total = forces.total(q, directions)
    acceleration = np.linalg.solve(dense(forces.system.mass(q)), total)
    acceleration[forces.held] = 0.0
    return SteadySliding(
        q,
        forces.velocity,
        tuple(forces.system.contacts.name(int(i)) for i in forces.which),
        forces.system.gaps(forces.time, q, forces.which),
        normal,
        tangential,
        acceleration,
        forces.relative(q, total),
    )


def _position(forces: SlidingForces, tolerance: float) -> np.ndarray:
    """Newton's method from a position in which linear springs of the right size carry the load."""
    q, pressing = _pressed_position(forces)
    smooth = replace(forces, pulling=pressing)
    for _ in range(_ROUNDS):
        total = smooth.total(q, smooth.directions(q))
        if smooth.relative(q, total) <= tolerance:
            break
        ahead = _damped_step(smooth, q, total)
        if ahead is None:
            break
        q = ahead
    _require_balance(forces, q, tolerance)
    return q


def _require_balance(forces: SlidingForces, q: np.ndarray, tolerance: float) -> None:
    directions = forces.directions(q)
    left = forces.relative(q, forces.total(q, directions))
    if left > max(tolerance, 1e-9):
        raise InvalidModel(
            f"no steady sliding was found: {left:.2g} of the force stays unbalanced. Perhaps a contact lifts "
            f"off in steady sliding; start from another position."
        )
    if forces.has_normal.any() and not np.any(forces.normal_force(q, directions) > 0.0):
        raise InvalidModel("the forces balance without any contact: nothing presses, so nothing slides.")


def _damped_step(forces: SlidingForces, q: np.ndarray, total: np.ndarray) -> np.ndarray | None:
    """The position after a step of Newton's method that lowers the unbalanced force, or None if none does."""
    size = np.linalg.norm(total[forces.held])
    change = np.zeros(len(forces.velocity))
    slopes = forces.matrices(q)[1][np.ix_(forces.held, forces.held)]
    change[forces.held] = np.linalg.lstsq(slopes, total[forces.held], rcond=1e-14)[0]
    for halving in range(20):
        ahead = forces.system.advance(q, 0.5**halving * change)
        if np.linalg.norm(forces.total(ahead, forces.directions(ahead))[forces.held]) < size:
            return ahead
    return None


def _pressed_position(forces: SlidingForces) -> tuple[np.ndarray, np.ndarray]:
    """A position in which the contacts are about as pressed as the load demands, and which of them press (m,).

    The springs also pull and have the secant stiffness of their law at the load; those that pull are left out one
    after the other."""
    q, directions = forces.start, forces.directions(forces.start)
    load = forces.system.force(forces.time, q, forces.velocity)
    size = np.abs(load[forces.held]).max(initial=0.0) or 1.0
    pressing = forces.has_normal.copy()
    secant = np.broadcast_to(forces.law.stiffness * size ** (1.0 - 1.0 / forces.law.exponent), pressing.shape)
    pushes, normal = forces.pushes(directions), dense(directions.normal)
    given = forces.total(q, directions) - pushes @ forces.normal_force(q, directions)
    gap = np.where(forces.has_normal, forces.system.gaps(forces.time, q, forces.which), 0.0)
    by_position, _ = forces.force_tangents(q)
    change = np.zeros(len(forces.velocity))
    for _ in range(len(pressing) + 1):
        springs = pushes * np.where(pressing, secant, 0.0)
        matrix = (springs @ normal.T - by_position)[np.ix_(forces.held, forces.held)]
        right = (given - springs @ gap)[forces.held]
        change[forces.held] = np.linalg.lstsq(matrix, right, rcond=1e-14)[0]
        after = gap + normal.T @ change
        if not np.any(pulls := pressing & (after > 0.0)):
            break
        pressing[np.argmax(np.where(pulls, after, -np.inf))] = False
    missing = np.abs(matrix @ change[forces.held] - right).max(initial=0.0)
    if isinstance(forces.system, LinearSystem) and missing > 1e-6 * np.abs(right).max(initial=0.0):
        names = [forces.system.contacts.name(int(i)) for i in np.flatnonzero(forces.has_normal & ~pressing)]
        raise InvalidModel(
            f"there is no steady sliding: to balance the forces {' and '.join(names) or 'a contact'} would have to "
            f"pull. Lower the friction, or change the load."
        )
    return forces.system.advance(q, change), pressing
