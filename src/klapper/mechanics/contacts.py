"""Contacts and constraints as a user names them, and the table of laws that a scheme reads.

    one-sided     g(t, q) ≥ 0,  v_N = J_Nᵀ v + a_N,  v_T = J_Tᵀ v + a_T            Waltersberger (3.15), (3.44)
    friction      |λ_T| ≤ limit + Σ_j μ_j λ_Nj                                     (3.74)
    two-sided     Φ(t, q) = 0

A direction that does not change is given as an array; then the gap is normal · q + gap(t). Otherwise the gap is a
function of time and position, and what is not given of its derivatives is formed by differences.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.friction import Coulomb, Friction, as_friction
from klapper.mechanics.signals import Constant, Signal, as_signal

GapFunction = Callable[[float, np.ndarray], float]
DirectionFunction = Callable[[float, np.ndarray], Any]


@dataclass(frozen=True, eq=False)
class Contact:
    """A one-sided contact, with or without friction.

    ``gap``              offset g₀ [m], a number or a signal, of the gap normal · q + g₀(t); or a function g(t, q)
    ``normal``           ∂g/∂q (n,): an array, or with a function for the gap a function of (t, q); None: differences
    ``tangents``         one or two tangential directions (d, n): an array, or a function of (t, q)
    ``tangential_rate``  given part a_T (d,) [m/s] of the sliding velocity, e.g. minus the speed of a belt
    ``friction``         coefficient, a law of :mod:`klapper.mechanics.friction`, or a function μ(speed)
    ``restitution``      ε in [0, 1]
    ``limit``            given part of the friction limit [N], independent of the normal force

    >>> Contact("stop", normal=[-1.0, 0.0], gap=0.01, restitution=0.5).affine
    True
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
        where = f"contact '{self.name}'"
        object.__setattr__(self, "friction", _named(where, as_friction, self.friction))
        if not 0.0 <= self.restitution <= 1.0:
            raise InvalidModel(
                f"{where}: restitution is {self.restitution}; allowed are numbers from 0 to 1."
            )
        _require_limit(where, self.limit)
        if self.affine:
            if self.normal is None:
                raise InvalidModel(
                    f"{where}: the gap is an offset, so the normal direction (n,) is needed; or give the gap as a "
                    f"function of (t, q)."
                )
            object.__setattr__(self, "gap", _named(where, as_signal, self.gap))
            object.__setattr__(self, "normal", _vector(where, "normal", self.normal))
        if self.tangents is not None and not callable(self.tangents):
            object.__setattr__(self, "tangents", _rows(where, "tangents", self.tangents))
        object.__setattr__(self, "tangential_rate", _named(where, as_signal, self.tangential_rate))
        if self.tangents is None and (self.has_friction or self.limit > 0.0):
            raise InvalidModel(
                f"{where}: friction needs tangents, one direction in the plane or two in space."
            )

    @property
    def affine(self) -> bool:
        """Whether the gap is normal · q + g₀(t)."""
        return isinstance(self.gap, Signal) or not callable(self.gap)

    @property
    def has_friction(self) -> bool:
        return not (isinstance(self.friction, Coulomb) and self.friction.mu == 0.0)


@dataclass(frozen=True, eq=False)
class FrictionElement:
    """Friction without a gap of its own: a preloaded joint, or a friction patch of an averaged contact.

    ``limit``   given friction limit [N]
    ``shares``  μ_j by contact name: the patch's limit is limit + Σ_j μ_j λ_Nj, Waltersberger (3.74)
    """

    name: str
    tangents: Any
    limit: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    tangential_rate: Any = 0.0

    def __post_init__(self) -> None:
        where = f"friction element '{self.name}'"
        _require_limit(where, self.limit)
        for contact, share in self.shares.items():
            if not (np.isfinite(share) and share >= 0.0):
                raise InvalidModel(
                    f"{where}: the share of '{contact}' is {share}; allowed are numbers from 0 on."
                )
        if self.limit == 0.0 and not any(self.shares.values()):
            raise InvalidModel(
                f"{where} can carry no force: give a limit, or shares of contacts that press it."
            )
        if not callable(self.tangents):
            object.__setattr__(self, "tangents", _rows(where, "tangents", self.tangents))
        object.__setattr__(self, "tangential_rate", _named(where, as_signal, self.tangential_rate))


@dataclass(frozen=True, eq=False)
class Constraint:
    """A two-sided constraint Φ(t, q) = 0.

    ``direction``  ∂Φ/∂q (n,): with it Φ = direction · q + offset(t)
    ``offset``     a number or a signal; or, with ``direction`` None or a function of (t, q), a function Φ(t, q)
    """

    name: str
    direction: Any = None
    offset: Any = 0.0

    def __post_init__(self) -> None:
        where = f"constraint '{self.name}'"
        if self.affine:
            if self.direction is None:
                raise InvalidModel(
                    f"{where}: give the direction (n,), or the residual as a function of (t, q) in offset."
                )
            object.__setattr__(self, "offset", _named(where, as_signal, self.offset))
            object.__setattr__(self, "direction", _vector(where, "direction", self.direction))

    @property
    def affine(self) -> bool:
        return isinstance(self.offset, Signal) or not callable(self.offset)


@dataclass(frozen=True)
class Laws:
    """The laws of k contacts at one moment, row by row.

    ``normal``       whether there is a normal direction (k,); False for friction elements
    ``restitution``  ε (k,)
    ``friction``     μ (k,), or a matrix (k, k) when friction limits depend on other contacts' normal forces
    ``limit``        given part of the friction limits (k,) [N]
    ``ratio``        μ₂/μ₁ (k,) of anisotropic contacts, 1 for all others
    """

    normal: np.ndarray
    restitution: np.ndarray
    friction: Any
    limit: np.ndarray
    ratio: np.ndarray


class ContactTable(Protocol):
    """All possible contacts of a system, numbered from 0 to ``count`` − 1."""

    @property
    def count(self) -> int: ...

    @property
    def tangential(self) -> int:
        """Number of tangential directions of every contact: 0, 1 or 2."""
        ...

    @property
    def constant(self) -> bool:
        """Whether no friction coefficient depends on the sliding speed."""
        ...

    def name(self, contact: int) -> str: ...

    def laws(self, which: np.ndarray, speed: np.ndarray | None = None) -> Laws:
        """Laws of the contacts ``which`` (k,) at the sliding speeds (k,) [m/s] reached so far."""
        ...


class ContactList:
    """The table of a system whose contacts are listed one by one."""

    def __init__(self, parts: Sequence[Contact | FrictionElement], size: int) -> None:
        self.parts = tuple(parts)
        names = [part.name for part in self.parts]
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise InvalidModel(f"two contacts are called '{repeated}'; names must differ.")
        self.names = tuple(names)
        self.tangential = self._tangential(size)
        for part in self.parts:
            self._check(part, size)
        self._coupling = self._shares()

    @property
    def count(self) -> int:
        return len(self.parts)

    def name(self, contact: int) -> str:
        return self.names[contact]

    @cached_property
    def has_normal(self) -> np.ndarray:
        return np.array([isinstance(part, Contact) for part in self.parts], dtype=bool)

    @cached_property
    def constant(self) -> bool:
        return all(law.constant for law in self._friction)

    @cached_property
    def affine(self) -> bool:
        """Whether every direction is constant and every gap is affine in q."""
        return all(
            not callable(part.tangents) and (not isinstance(part, Contact) or part.affine)
            for part in self.parts
        )

    @cached_property
    def _friction(self) -> tuple[Friction, ...]:
        return tuple(part.friction if isinstance(part, Contact) else Coulomb(0.0) for part in self.parts)

    @cached_property
    def _restitution(self) -> np.ndarray:
        return np.array([part.restitution if isinstance(part, Contact) else 0.0 for part in self.parts])

    @cached_property
    def _limit(self) -> np.ndarray:
        return np.array([part.limit for part in self.parts], dtype=float)

    @cached_property
    def _ratio(self) -> np.ndarray:
        return np.array([law.ratio for law in self._friction], dtype=float)

    @cached_property
    def _coefficient_at_rest(self) -> np.ndarray:
        return np.array([law.coefficient(0.0) for law in self._friction], dtype=float)

    def laws(self, which: np.ndarray, speed: np.ndarray | None = None) -> Laws:
        coefficient = self._coefficient_at_rest[which]
        if not self.constant and speed is not None:
            coefficient = np.array(
                [self._friction[i].coefficient(s) for i, s in zip(which, speed, strict=True)], dtype=float
            )
        friction: Any = coefficient
        if self._coupling is not None:
            friction = (sparse.diags_array(coefficient) + self._coupling[which][:, which]).tocsr()
        return Laws(
            self.has_normal[which], self._restitution[which], friction, self._limit[which], self._ratio[which]
        )

    def _tangential(self, size: int) -> int:
        found = 0
        for part in self.parts:
            tangents = part.tangents
            if callable(tangents):
                probe = np.atleast_2d(np.asarray(tangents(0.0, np.zeros(size)), dtype=float))
                found = max(found, probe.shape[0])
            elif tangents is not None:
                found = max(found, len(tangents))
        if found > 2:
            raise InvalidModel(f"a contact has {found} tangential directions; allowed are one or two.")
        return found

    def _check(self, part: Contact | FrictionElement, size: int) -> None:
        where = f"contact '{part.name}'"
        if isinstance(part, Contact) and part.affine and part.normal.shape != (size,):
            raise InvalidModel(f"{where}: normal has {part.normal.size} entries, expected {size}.")
        if isinstance(part, Contact) and part.affine and part.gap.shape != ():
            raise InvalidModel(f"{where}: gap has shape {part.gap.shape}, expected one number.")
        if part.tangents is not None and not callable(part.tangents) and part.tangents.shape[1] != size:
            raise InvalidModel(
                f"{where}: tangents have {part.tangents.shape[1]} entries each, expected {size}."
            )
        if part.tangential_rate.shape not in ((), (self.tangential,)):
            raise InvalidModel(
                f"{where}: tangential_rate has shape {part.tangential_rate.shape}, expected one number or "
                f"({self.tangential},)."
            )

    def _shares(self) -> Any:
        """μ of friction elements over other contacts' normal forces, or None if there is none."""
        rows, columns, values = [], [], []
        for row, part in enumerate(self.parts):
            if isinstance(part, FrictionElement):
                for contact, share in part.shares.items():
                    rows.append(row)
                    columns.append(self.number(contact, f"friction element '{part.name}' has a share of"))
                    values.append(share)
        if not rows:
            return None
        return sparse.csr_array((values, (rows, columns)), shape=(self.count, self.count))

    def number(self, name: str, what: str = "there is no contact") -> int:
        if name in self.names:
            return self.names.index(name)
        near = difflib.get_close_matches(name, self.names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InvalidModel(f"{what} '{name}'; contacts are {', '.join(self.names) or 'none'}.{hint}")


def rate_of(part: Contact | FrictionElement, tangential: int, time: Any) -> np.ndarray:
    """a_T (…, d) [m/s] of a contact at the given time or times."""
    values = part.tangential_rate.value(time)
    if part.tangential_rate.shape == ():
        full = np.zeros((*np.shape(time), tangential))
        full[..., :1] = values[..., None]
        return full
    return values


def _named(where: str, convert: Callable[[Any], Any], given: Any) -> Any:
    try:
        return convert(given)
    except InvalidModel as error:
        raise InvalidModel(f"{where}: {error}") from None


def _vector(where: str, name: str, given: Any) -> np.ndarray:
    values = _named(where, Constant, given).amount
    if values.ndim != 1 or not np.any(values):
        raise InvalidModel(f"{where}: {name} has shape {values.shape}; expected (n,), not all zero.")
    return values


def _rows(where: str, name: str, given: Any) -> np.ndarray:
    values = np.atleast_2d(_named(where, Constant, given).amount)
    if values.ndim != 2 or values.shape[0] not in (1, 2):
        raise InvalidModel(f"{where}: {name} has shape {values.shape}; expected (1, n) or (2, n).")
    return values


def _require_limit(where: str, limit: float) -> None:
    if not (np.isfinite(limit) and limit >= 0.0):
        raise InvalidModel(f"{where}: limit is {limit}; allowed are numbers from 0 on, in N.")
