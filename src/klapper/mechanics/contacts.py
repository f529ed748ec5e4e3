"""Contacts and constraints as a user names them.

    one-sided     g(t, q) ≥ 0,  v_N = J_Nᵀ v + a_N,  v_T = J_Tᵀ v + a_T            Waltersberger (3.15), (3.44)
    friction      |λ_T| ≤ limit + Σ_j μ_j λ_Nj                                     (3.74)
    two-sided     Φ(t, q) = 0

A direction that does not change is given as an array; then the gap is normal · q + gap(t). Otherwise the gap is a
function of time and position, and what is not given of its derivatives is formed by differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klapper.mechanics.arguments import finite, naming, number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.friction import Coulomb, as_friction
from klapper.mechanics.invariants import Invariants
from klapper.mechanics.signals import Signal, as_signal


@dataclass(frozen=True, eq=False)
class Contact:
    """A one-sided contact, with or without friction: 0 ≤ λ_N ⟂ g ≥ 0, ‖λ_T‖ ≤ limit + μ λ_N.

    ``name``             by which reports and other parts know it; differs from contact to contact
    ``gap``              offset g₀ [m], a number or a signal, of the gap normal · q + g₀(t); or a function g(t, q)
    ``normal``           ∂g/∂q (n,): an array; for a gap function also a function of (t, q), or None: differences
    ``tangents``         one or two tangential directions (d, n): an array, or a function of (t, q)
    ``tangential_rate``  given part a_T (d,) [m/s] of the sliding velocity, e.g. minus the speed of a belt
    ``friction``         coefficient, a law of :mod:`klapper.mechanics.friction`, or a function μ(speed)
    ``restitution``      ε in [0, 1]
    ``limit``            given part of the friction limit [N], independent of the normal force

    A stop 0.01 m to the right of the first mass, and a pendulum of 2 m whose end must stay above a floor:

    >>> Contact("stop", normal=[-1.0, 0.0], gap=0.01, restitution=0.5).affine
    True
    >>> floor = Contact("floor", gap=lambda t, q: 3.0 - 2.0 * np.cos(q[0]))
    >>> float(floor.gap(0.0, np.zeros(1)))
    1.0
    """

    name: str
    gap: Any = 0.0
    normal: Any = None
    tangents: Any = None
    tangential_rate: Any = 0.0
    friction: Any = 0.0
    restitution: float = 0.0
    limit: float = 0.0

    def __post_init__(self) -> None:
        with naming(self.called):
            object.__setattr__(self, "friction", as_friction(self.friction))
            number(self.restitution, "restitution", "numbers from 0 to 1", at_least=0.0, at_most=1.0)
            _limit(self.limit)
            for name, value in _value_and_direction("gap", self.gap, "normal", self.normal).items():
                object.__setattr__(self, name, value)
            if self.tangents is not None:
                object.__setattr__(self, "tangents", _tangents(self.tangents))
            elif self.rough:
                raise InvalidModel("friction needs tangents, one direction in the plane or two in space.")
            object.__setattr__(self, "tangential_rate", as_signal(self.tangential_rate, "tangential_rate"))

    @property
    def called(self) -> str:
        return f"contact '{self.name}'"

    @property
    def affine(self) -> bool:
        """Whether the gap is normal · q + g₀(t)."""
        return isinstance(self.gap, Signal) or not callable(self.gap)

    @property
    def straight(self) -> bool:
        """Whether none of its directions changes."""
        return self.affine and not callable(self.tangents)

    @property
    def has_friction(self) -> bool:
        return not (isinstance(self.friction, Coulomb) and self.friction.mu == 0.0)

    @property
    def rough(self) -> bool:
        """Whether it can carry a tangential force."""
        return self.has_friction or self.limit > 0.0


@dataclass(frozen=True, eq=False)
class FrictionElement:
    """Friction without a gap of its own: a preloaded joint, or a friction patch of an averaged contact.

    ``limit``   given friction limit [N]
    ``shares``  μ_j by contact name: the patch's limit is limit + Σ_j μ_j λ_Nj, Waltersberger (3.74)

    ``tangents``, ``tangential_rate``  as in :class:`Contact`

    A bolted joint that slips at 20 N, and a patch that takes half its friction from each of two contacts:

    >>> FrictionElement("joint", tangents=[1.0, -1.0], limit=20.0).tangents.tolist()
    [[1.0, -1.0]]
    >>> sorted(FrictionElement("patch", tangents=[1.0, 0.0], shares={"left": 0.3, "right": 0.3}).shares)
    ['left', 'right']
    """

    name: str
    tangents: Any
    limit: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    tangential_rate: Any = 0.0
    rough = True

    def __post_init__(self) -> None:
        with naming(self.called):
            _limit(self.limit)
            for contact, share in self.shares.items():
                number(share, f"the share of '{contact}'", "numbers from 0 on", at_least=0.0)
            if self.limit == 0.0 and not any(self.shares.values()):
                raise InvalidModel(
                    "it can carry no force; give a limit, or shares of contacts that press it."
                )
            object.__setattr__(self, "tangents", _tangents(self.tangents))
            object.__setattr__(self, "tangential_rate", as_signal(self.tangential_rate, "tangential_rate"))

    @property
    def called(self) -> str:
        return f"friction element '{self.name}'"

    @property
    def straight(self) -> bool:
        """Whether none of its directions changes."""
        return not callable(self.tangents)


@dataclass(frozen=True, eq=False)
class Constraint:
    """A two-sided constraint Φ(t, q) = 0.

    ``name``       of the constraint in results and messages
    ``offset``     φ₀, a number or a signal, of Φ = direction · q + φ₀(t); or a function Φ(t, q)
    ``direction``  ∂Φ/∂q (n,): an array; for a function Φ also a function of (t, q), or None: differences
    ``invariants`` the same Φ, not of t, by :class:`klapper.mechanics.Invariants`: energy-momentum steps keep momenta
    ``loss``       D [unit of Φ per s]: over an energy-momentum step with discrete gradients the force λ ∂Φ/∂q takes
                   λ D [W], numerical in the ledger; no other scheme sees it                  Hesch (3.60), (3.61)

    A link that holds two points 0.5 m apart, q₂ − q₁ − 0.5 = 0, and a pendulum of 2 m in the plane:

    >>> Constraint("link", direction=[-1.0, 1.0], offset=-0.5).affine
    True
    >>> pendulum = Constraint("rod", offset=lambda t, q: np.hypot(*q) - 2.0)
    >>> float(pendulum.offset(0.0, np.array([0.0, -2.0])))
    0.0
    """

    name: str
    direction: Any = None
    offset: Any = 0.0
    invariants: Invariants | None = field(default=None, kw_only=True)
    loss: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        with naming(self.called):
            if not isinstance(self.invariants, Invariants | None):
                raise InvalidModel(f"invariants is {self.invariants!r}; allowed are Invariants or None.")
            number(self.loss, "loss", "finite numbers, in units of the constraint per s")
            parts = _value_and_direction("offset", self.offset, "direction", self.direction)
            for name, value in parts.items():
                object.__setattr__(self, name, value)
            if self.affine and (self.loss or self.invariants is not None):
                raise InvalidModel("invariants and loss need a function Φ(t, q) as offset.")

    @property
    def called(self) -> str:
        return f"constraint '{self.name}'"

    @property
    def affine(self) -> bool:
        """Whether the residual is direction · q + offset(t)."""
        return isinstance(self.offset, Signal) or not callable(self.offset)

    @property
    def straight(self) -> bool:
        """Whether its direction does not change."""
        return self.affine


def unused_restitution(contacts: Any, rebound: str) -> str:
    """What is to be said where a method does not use the restitution of the ``contacts`` of a system.

    ``rebound``  what decides on the speed after an impact instead

    Empty if no contact has a restitution.
    """
    restitution = contacts.laws(np.arange(contacts.count)).restitution
    if not np.any(restitution > 0.0):
        return ""
    given = f"{restitution.max():g} at '{contacts.name(int(np.argmax(restitution)))}'"
    return f"the restitution of the model, e.g. {given}, is not used: rebound follows from {rebound}"


def rate_of(part: Contact | FrictionElement, tangential: int, time: Any) -> np.ndarray:
    """a_T (…, d) [m/s] of a contact at the given time or times."""
    values = part.tangential_rate.value(time)
    if part.tangential_rate.shape == ():
        full = np.zeros((*np.shape(time), tangential))
        full[..., :1] = values[..., None]
        return full
    return values


def _value_and_direction(value_name: str, value: Any, direction_name: str, direction: Any) -> dict[str, Any]:
    """A gap or residual and its derivative: a signal and an array (n,), or a function of (t, q) and either or None."""
    offset = isinstance(value, Signal) or not callable(value)
    if offset and (direction is None or callable(direction)):
        raise InvalidModel(
            f"{value_name} does not depend on q, so {direction_name} must be an array (n,); or give {value_name} as a "
            f"function of (t, q)."
        )
    if direction is not None and not callable(direction):
        direction = finite(direction, direction_name)
        if direction.ndim != 1 or not np.any(direction):
            raise InvalidModel(f"{direction_name} has shape {direction.shape}; expected (n,), not all zero.")
    return {value_name: as_signal(value, value_name) if offset else value, direction_name: direction}


def _tangents(given: Any) -> Any:
    """One or two directions as rows (d, n), or the function that gives them."""
    if callable(given):
        return given
    rows = tangent_rows(given)
    if not np.any(rows):
        raise InvalidModel(
            "tangents are all zero; give one or two directions, or leave them and the friction out."
        )
    return rows


def tangent_rows(given: Any) -> np.ndarray:
    """One or two tangential directions as rows (d, n)."""
    rows = np.atleast_2d(finite(given, "tangents"))
    if rows.ndim != 2 or len(rows) > 2:
        raise InvalidModel(f"tangents have shape {rows.shape}; expected (1, n) or (2, n).")
    return rows


def _limit(given: Any) -> None:
    number(given, "limit", "numbers from 0 on, in N", at_least=0.0)
