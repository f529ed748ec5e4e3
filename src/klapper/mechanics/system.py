"""The waist: what every model offers and every method asks for.

    M(q) dv = f(t, q, v) dt + J_N dΛ_N + J_T dΛ_T + J_B dΛ_B,   q' = B(q) v        Waltersberger (3.93)
    g_i(t, q) ≥ 0,   v_N = J_Nᵀ v + a_N,   v_T = J_Tᵀ v + a_T,   Φ(t, q) = 0

A model never knows which method integrates it; a method never knows where a gap comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.compiled_form import CompiledForm, NotCompiled
from klapper.mechanics.contact_table import ContactTable
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.picture import Picture
from klapper.mechanics.rigid_form import RigidForm
from klapper.shown import Card

Matrix = Any  # ndarray or scipy sparse array

_NAMED = 12  # coordinates and contacts that a card names
_DIFFERENCE = 6.0e-6  # cube root of the rounding unit: the best spacing of central differences


@dataclass(frozen=True, eq=False)
class State:
    """A moment of a motion: ``time`` t [s], ``position`` q (nq,) [m, rad] and ``velocity`` v (nv,) [m/s, rad/s].

    >>> state = State(0.0, np.array([1.0, 0.0]), np.array([0.0, 2.0]))
    >>> state.time, state.position.tolist(), state.velocity.tolist()
    (0.0, [1.0, 0.0], [0.0, 2.0])
    """

    time: float
    position: np.ndarray
    velocity: np.ndarray


@dataclass(frozen=True, eq=False)
class ForceTangents:
    """Derivatives of the stiff part of the force: G_q = ∂f/∂q B (nv, nv), G_v = ∂f/∂v (nv, nv), G_t = ∂f/∂t (nv,).

    In ``position`` [N/m], ``velocity`` [N s/m] and ``time`` [N/s], Waltersberger (4.9)-(4.11). None stands for zero.
    ``complete`` says that no other part of the force depends on v.

    A spring of 100 N/m with a damper of 3 N s/m, f = −100 q − 3 v:

    >>> from klapper.mechanics import LinearSystem
    >>> tangents = LinearSystem([1.0], stiffness=[100.0], damping=[3.0]).tangents(0.0, np.zeros(1), np.zeros(1))
    >>> tangents.position.item(), tangents.velocity.item(), tangents.complete
    (-100.0, -3.0, True)
    """

    position: Matrix | None
    velocity: Matrix | None
    time: np.ndarray | None = None
    complete: bool = False


@dataclass(frozen=True, eq=False)
class Directions:
    """Generalised directions of k contacts, dense or sparse.

    ``normal`` J_N (nv, k), ``normal_rate`` a_N (k,) [m/s]; ``tangential`` J_T (nv, k d) contact by contact,
    ``tangential_rate`` a_T (k d,) [m/s].

    v_N = J_Nᵀ v + a_N [m/s]: a ball that moves with 2 m/s to a wall which comes with 3 m/s:

    >>> wall = Directions(np.array([[-1.0]]), np.array([-3.0]), np.zeros((1, 0)), np.zeros(0))
    >>> wall.normal_velocity(np.array([2.0])).tolist()
    [-5.0]
    """

    normal: Matrix
    normal_rate: np.ndarray
    tangential: Matrix
    tangential_rate: np.ndarray

    def normal_velocity(self, v: np.ndarray) -> np.ndarray:
        return self.normal.T @ v + self.normal_rate

    def tangential_velocity(self, v: np.ndarray) -> np.ndarray:
        return self.tangential.T @ v + self.tangential_rate


class System(Protocol):
    """A mechanical system with one- and two-sided constraints. Whoever writes one keeps this contract:

    1.  ``start`` is the state at the beginning. nq = len(``coordinates``), nv = len(``velocities``); nq may exceed nv
        (quaternions). Names are unique. SI units.
    2.  ``mass(q)`` (nv, nv) is symmetric and positive definite, dense or sparse.
    3.  ``force(t, q, v)`` (nv,) holds every force but those of contacts and constraints, gyroscopic terms included.
    4.  ``tangents(t, q, v)`` are the derivatives of that part of the force which is to be taken implicitly; None where
        nothing is stiff. Without an override: all of it, by central differences.
    5.  ``advance(q, u)`` is the position after a displacement u (nv,) in velocity coordinates, exact to second order;
        ``rate(q, v)`` is q' = B(q) v. Without an override q + u and v.
    6.  ``contacts`` is a table of all contacts that can ever exist; ``near(t, q)`` names those worth looking at now, in
        rising order, at least all with a gap below zero. Without an override: all.
    7.  ``gaps(t, q, which)`` (k,) and ``directions(t, q, which)`` for any of them; J_N = (∂g/∂q B)ᵀ, a_N = ∂g/∂t. The
        gap of a friction element is not a number.
    8.  ``curvature(t, q, v, which)`` returns b_N (k,) and b_T (k d,) of g̈ = J_Nᵀ v̇ + b_N, v̇_T = J_Tᵀ v̇ + b_T.
        Without an override: by differences.
    9.  ``constraints`` names the two-sided ones; ``constraint_residuals``, ``constraint_directions`` (J_B (nv, p) and
        a_B (p,)) and ``constraint_curvature`` b_B (p,) belong to them. Redundant constraints are allowed.
    10. Energy: v · f(t, q, v) + ½ vᵀ Ṁ v = −dV/dt + load − damping, where V = ``potential(q)`` and (load, damping) =
        ``powers(t, q, v)``: the left side is the rate of ½ vᵀ M v without contacts and constraints. The terms of the
        force by which a mass matrix that depends on q keeps this energy are no load. Without an override everything is
        load.
    11. Calls do not change the system, and the same arguments give the same bits.
    12. ``picture(until)`` is what the system looks like, with given motions up to the time ``until`` [s]. Without an
        override None: there is nothing to be seen.
    13. What is special is said: ``compliance`` (m, m) [m/N] of contacts that give way; ``affine_constraints``, whether
        J_B never changes; ``affine_gaps``, whether J_N never changes; ``rigid_bodies``, whether all parts are;
        ``singular_mass``, whether coordinates without mass follow the others by
        ``carried_velocity(v)``; ``search_margin`` [m], the gap from which on ``near`` may leave out a contact;
        ``breaks`` (k,) [s], times in rising order at which something given has a kink, so that no step of variable size
        goes over them; ``rigid_form()``, if all of it is rigid bodies with standard contacts. Without an override:
        nothing.
    14. ``compiled_form()`` is the same system for compiled code, made anew at every call from the numbers of now;
        :class:`klapper.mechanics.compiled_form.NotCompiled` with the reason if there is none. Its functions say what
        the methods above say, to round-off. Without an override there is none.
    15. Some methods ask whether a system can do more, and do without it otherwise (in brackets), so that these names
        are not in this protocol:

        ``pair(t, q, travel, start, *, corners)``                 who meets whom, for hard contacts of energy-momentum
                                                                  and quasi-static steps (``near``)
        ``force_between(t, before, after, *, slope, exact)``      mean force of an energy-momentum step (at the middle,
                                                                  corrected along M Δq)
        ``potential_gradient(q)`` (n,) [N]                        the same, projected (differences)
        ``constraint_parts``                                      the same: ``invariants`` and ``loss`` of each (none)
        ``contact_hessian(t, q, which, force)`` (n, n) [N/m]      penalty contact (differences)
        ``linear_momentum(v)``, ``angular_momentum(q, v)``        the audit (momenta are not told)
        ``resultants(q, force)``                                  the audit: their rates (by M⁻¹)
        ``load_at(t, q)``                                         static states: the load and its slope (load at start)
        ``least_volume(q)``                                       static states: above 0 in sound cells (not looked at)
        ``block_form()``                                          the nested prox scheme (no compiled loop)

    A ball of 1 kg over a floor, in as few lines as the contract allows:

    >>> from klapper.mechanics import Contact, ContactList
    >>> class Ball(System):
    ...     name, coordinates, velocities, constraints = "ball", ("height",), ("height",), ()
    ...     start = State(0.0, np.ones(1), np.zeros(1))
    ...     contacts = ContactList([Contact("floor", normal=[1.0])], 0.0, np.ones(1))
    ...     def mass(self, q):
    ...         return np.eye(1)
    ...     def force(self, t, q, v):
    ...         return np.array([-9.81])
    ...     def gaps(self, t, q, which):
    ...         return q[which]
    ...     def directions(self, t, q, which):
    ...         return Directions(np.eye(1)[:, which], np.zeros(len(which)), np.zeros((1, 0)), np.zeros(0))
    >>> ball = Ball()
    >>> ball.gaps(0.0, ball.start.position, ball.near(0.0, ball.start.position)).tolist()
    [1.0]
    >>> ball.powers(0.0, ball.start.position, np.array([-2.0]))  # all of it load: no potential is given
    (19.62, 0.0)
    """

    name: str
    start: State
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    contacts: ContactTable
    constraints: tuple[str, ...]
    compliance: Any = None
    affine_constraints: bool = False
    affine_gaps: bool = False
    rigid_bodies: bool = False

    def mass(self, q: np.ndarray) -> Matrix: ...

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray: ...

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        return difference_tangents(self.force, self.advance, t, q, v)

    def advance(self, q: np.ndarray, displacement: np.ndarray) -> np.ndarray:
        return q + displacement

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return v

    def near(self, t: float, q: np.ndarray) -> np.ndarray:
        return np.arange(self.contacts.count)

    def gaps(self, t: float, q: np.ndarray, which: np.ndarray) -> np.ndarray: ...

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> Directions: ...

    def curvature(
        self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        d = difference_step(t, q, v)
        ahead = self.directions(t + d, self.advance(q, d * v), which)
        behind = self.directions(t - d, self.advance(q, -d * v), which)
        return (
            (ahead.normal_velocity(v) - behind.normal_velocity(v)) / (2 * d),
            (ahead.tangential_velocity(v) - behind.tangential_velocity(v)) / (2 * d),
        )

    def constraint_residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        return np.zeros(0)

    def constraint_directions(self, t: float, q: np.ndarray) -> tuple[Matrix, np.ndarray]:
        return np.zeros((len(self.velocities), 0)), np.zeros(0)

    def constraint_curvature(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        d = difference_step(t, q, v)
        j_ahead, a_ahead = self.constraint_directions(t + d, self.advance(q, d * v))
        j_behind, a_behind = self.constraint_directions(t - d, self.advance(q, -d * v))
        return (j_ahead.T @ v + a_ahead - j_behind.T @ v - a_behind) / (2 * d)

    def potential(self, q: np.ndarray) -> float:
        return 0.0

    def powers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        return float(v @ self.force(t, q, v)) + mass_power(self, t, q, v), 0.0

    def picture(self, until: float = 0.0) -> Picture | None:
        return None

    @property
    def singular_mass(self) -> bool:
        return False

    def carried_velocity(self, v: np.ndarray) -> np.ndarray:
        return v

    def _repr_html_(self) -> str:
        return system_card(self).html()

    @property
    def search_margin(self) -> float:
        return np.inf

    @property
    def breaks(self) -> np.ndarray:
        return np.zeros(0)

    def rigid_form(self) -> RigidForm | None:
        return None

    def compiled_form(self) -> CompiledForm:
        raise NotCompiled(f"{type(self).__name__} offers no compiled form")


def system_card(system: System) -> Card:
    """What a notebook shows of a system: its coordinates, contacts and constraints by name."""
    table = system.contacts
    first = [table.name(i) for i in range(min(table.count, _NAMED))]
    rows = [
        ("coordinates", _names(system.coordinates, len(system.coordinates))),
        ("contacts", _names(first, table.count)),
        ("constraints", _names(system.constraints, len(system.constraints))),
        ("start", f"{system.start.time:g} s"),
    ]
    return Card(f"{system.name}: {system!r}", rows=rows)


def _names(first: Sequence[str], count: int) -> str:
    shown = ", ".join(first[:_NAMED])
    return f"{shown}, … ({count})" if count > _NAMED else shown or "none"


def difference_step(t: float, q: np.ndarray, v: np.ndarray) -> float:
    """Spacing [s] of central differences along the motion."""
    reach = 1.0 + float(np.abs(q).max(initial=0.0))
    return _DIFFERENCE * min(reach / max(float(np.abs(v).max(initial=0.0)), 1.0), 1.0)


def mass_power(system: System, t: float, q: np.ndarray, v: np.ndarray) -> float:
    """½ vᵀ Ṁ v [W]: what the change of the mass matrix along the motion adds to the rate of the kinetic energy.

    A mass slides outwards with 2 m/s on a weightless bar that turns with 3 rad/s, M = diag(1, r²) at r = 1 m:

    >>> from klapper.mechanics import FunctionSystem
    >>> bar = FunctionSystem(
    ...     [1.0, 0.0], [2.0, 3.0], mass=lambda q: np.diag([1.0, q[0] ** 2]), force=lambda t, q, v: np.zeros(2)
    ... )
    >>> round(mass_power(bar, 0.0, bar.start.position, bar.start.velocity), 6)  # r ṙ ω²
    18.0
    """
    d = difference_step(t, q, v)
    ahead, behind = system.mass(system.advance(q, d * v)), system.mass(system.advance(q, -d * v))
    return 0.0 if ahead is behind else 0.25 / d * float(v @ ((ahead - behind) @ v))


def difference_tangents(
    force: Callable[[float, np.ndarray, np.ndarray], Any],
    advance: Callable[[np.ndarray, np.ndarray], np.ndarray],
    t: float,
    q: np.ndarray,
    v: np.ndarray,
) -> ForceTangents:
    """G_q, G_v, G_t by central differences of a force (t, q, v) → (nv,)."""

    def at(time: float, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        return np.array(force(time, position, velocity), dtype=float)

    n = len(v)
    by_position, by_velocity = np.empty((n, n)), np.empty((n, n))
    lengths = _DIFFERENCE * np.maximum(np.abs(q) if len(q) == n else np.ones(n), 1.0)
    speeds = _DIFFERENCE * np.maximum(np.abs(v), 1.0)
    for j in range(n):
        u = np.zeros(n)
        u[j] = lengths[j]
        by_position[:, j] = (at(t, advance(q, u), v) - at(t, advance(q, -u), v)) / (2 * lengths[j])
        u[j] = speeds[j]
        by_velocity[:, j] = (at(t, q, v + u) - at(t, q, v - u)) / (2 * speeds[j])
    d = _DIFFERENCE * max(abs(t), 1.0)
    return ForceTangents(
        by_position, by_velocity, (at(t + d, q, v) - at(t - d, q, v)) / (2 * d), complete=True
    )


def require_system(given: Any) -> None:
    """Refuse what is no system, in one sentence."""
    if isinstance(given, type) or not hasattr(given, "start") or not hasattr(given, "contacts"):
        raise InvalidModel(
            f"system is {given!r}; allowed are a LinearSystem, a FunctionSystem, a built model of bodies, or whatever "
            f"keeps the contract of klapper.mechanics.System."
        )


def check_state(system: System) -> None:
    """Refuse a start that is not finite or does not match the coordinates, by the name of the coordinate."""
    start = system.start
    if not np.isfinite(start.time):
        raise InvalidModel(f"the start time is {start.time}; allowed are finite numbers, in s.")
    for what, names, values in (
        ("position", system.coordinates, start.position),
        ("velocity", system.velocities, start.velocity),
    ):
        if values.shape != (len(names),):
            raise InvalidModel(f"the start has a {what} of shape {values.shape}, expected ({len(names)},).")
        if not np.all(np.isfinite(values)):
            raise InvalidModel(
                f"the start {what} of '{names[int(np.argmin(np.isfinite(values)))]}' is not finite."
            )
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise InvalidModel(f"two coordinates are called '{repeated}'; names must differ.")


def check_start(system: System, *, penetration: float = 1e-9) -> None:
    """Refuse a system whose start cannot be a state of it, by the name of the part."""
    check_mass(system)
    check_geometry(system, penetration=penetration)


def check_geometry(system: System, *, penetration: float = 1e-9) -> None:
    """The same without a look at the mass, for systems whose mass is right because of what they are made of."""
    check_state(system)
    _check_gaps(system, penetration)
    residuals = system.constraint_residuals(system.start.time, system.start.position)
    if not np.all(np.abs(residuals) <= max(penetration, 1e-9)):
        worst = int(np.argmax(np.abs(residuals)))
        raise InvalidModel(
            f"constraint '{system.constraints[worst]}' is violated at the start by {residuals[worst]:.3g}; choose a "
            f"start position that satisfies it."
        )


def _check_gaps(system: System, penetration: float) -> None:
    which = system.near(system.start.time, system.start.position)
    gaps = system.gaps(system.start.time, system.start.position, which)
    unknown = np.flatnonzero(np.isnan(gaps))
    if np.any(system.contacts.laws(which[unknown]).normal):
        first = unknown[np.argmax(system.contacts.laws(which[unknown]).normal)]
        raise InvalidModel(
            f"the gap of contact '{system.contacts.name(int(which[first]))}' is not a number at the start; choose a "
            f"start position where it is defined."
        )
    if np.any(gaps < -penetration):
        worst = int(np.nanargmin(gaps))
        raise InvalidModel(
            f"contact '{system.contacts.name(int(which[worst]))}' starts with a gap of {gaps[worst]:.3g} m; "
            f"the parts overlap. Move them apart until no gap is below zero."
        )


def check_mass(system: System) -> None:
    """Refuse a mass matrix that is not symmetric and positive definite, by the name of the coordinate."""
    mass = system.mass(system.start.position)
    n = len(system.velocities)
    if mass.shape != (n, n):
        raise InvalidModel(f"the mass matrix has shape {mass.shape}, expected ({n}, {n}).")
    diagonal = mass.diagonal()
    if not np.all(diagonal > 0.0):
        worst = int(np.argmin(diagonal))
        raise InvalidModel(
            f"the mass of '{system.velocities[worst]}' is {diagonal[worst]:g}; it must be above 0. Leave massless "
            f"coordinates out, or condense them."
        )
    skew = abs(mass - mass.T).max() if n else 0.0
    if skew > 1e-10 * diagonal.max(initial=0.0):
        raise InvalidModel("the mass matrix is not symmetric.")
    if not positive_definite(mass):
        raise InvalidModel("the mass matrix is not positive definite: some motion would have no inertia.")


def positive_definite(mass: Matrix) -> bool:
    """Whether a symmetric matrix, dense or sparse, has a Cholesky factor."""
    if not sparse.issparse(mass):
        try:
            np.linalg.cholesky(mass)
        except np.linalg.LinAlgError:
            return False
        return True
    if mass.shape[0] <= 1500:
        return positive_definite(mass.toarray())
    from scipy.sparse.linalg import splu

    factors = splu(
        mass.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return bool(np.all(factors.U.diagonal() > 0.0))
