"""The contacts of a system as a numbered table, and the laws that a scheme reads from it, row by row.

    0 ≤ v_N⁺ + ε v_N⁻ ⟂ λ_N ≥ 0,   |λ_T,i| ≤ limit_i + Σ_j μ_ij λ_N,j              Waltersberger (3.74), (4.12)

What was said of each contact is checked here against the position of the start: shapes, names, shares.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity.dense import dense
from klapper.mechanics.arguments import answer, finite, naming, number
from klapper.mechanics.contacts import Constraint, Contact, FrictionElement, tangent_rows
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.friction import Coulomb, Friction
from klapper.mechanics.signals import Signal


@dataclass(frozen=True)
class ContactLaws:
    """The laws of k contacts at one moment, row by row.

    ``normal``       whether there is a normal direction (k,); False for friction elements
    ``restitution``  ε (k,), dimensionless
    ``friction``     μ (k,), dimensionless; a matrix (k, k) when friction limits depend on other contacts' normal forces
    ``limit``        given part of the friction limits (k,) [N]
    ``ratio``        μ₂/μ₁ (k,) of anisotropic contacts, 1 for all others

    >>> sides = ("left", "right")
    >>> feet = [Contact(side, normal=[1.0], tangents=[1.0], friction=0.3, restitution=0.5) for side in sides]
    >>> laws = ContactList(feet, 0.0, np.zeros(1)).laws(np.array([0, 1]))
    >>> laws.friction.tolist(), laws.restitution.tolist(), laws.normal.tolist()
    ([0.3, 0.3], [0.5, 0.5], [True, True])
    """

    normal: np.ndarray
    restitution: np.ndarray
    friction: Any
    limit: np.ndarray
    ratio: np.ndarray

    @property
    def coupled(self) -> bool:
        """Whether friction limits depend on other contacts' normal forces."""
        return np.ndim(self.friction) == 2

    @property
    def friction_matrix(self) -> np.ndarray:
        """μ (k, k): friction limits from the normal forces of all."""
        return dense(self.friction) if self.coupled else np.diag(np.asarray(self.friction, dtype=float))

    @property
    def own_friction(self) -> np.ndarray:
        """μ (k,) of every contact with its own normal force."""
        return np.asarray(self.friction.diagonal() if self.coupled else self.friction, dtype=float)

    @property
    def rough(self) -> np.ndarray:
        """Which contacts (k,) can carry a tangential force."""
        friction = np.asarray(self.friction.sum(axis=1)).ravel() if self.coupled else self.friction
        return (friction > 0.0) | (self.limit > 0.0)

    def friction_from(self, normal: np.ndarray) -> np.ndarray:
        """μ λ_N (k,): what normal forces (k,) [N] or impulses add to the friction limits."""
        return np.asarray(self.friction @ normal if self.coupled else self.friction * normal)


class ContactTable(Protocol):
    """All possible contacts of a system, numbered from 0 to ``count`` − 1.

    The usual one is a :class:`ContactList`; models with very many contacts keep arrays in place of a list.

    >>> table: ContactTable = ContactList([Contact("floor", normal=[1.0])], 0.0, np.zeros(1))
    >>> table.count, table.tangential, table.constant, table.name(0)
    (1, 0, True, 'floor')
    """

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

    def laws(self, which: np.ndarray, speed: np.ndarray | None = None) -> ContactLaws:
        """Laws of the contacts ``which`` (k,) at the sliding speeds (k,) [m/s] reached so far."""
        ...


class ContactList:
    """The table of a system whose contacts are listed one by one.

    ``parts`` are :class:`Contact` and :class:`FrictionElement`, numbered in their order; ``time`` [s] and ``position``
    (n,) are those of the start: there the functions among the contacts are asked once.

    >>> walls = [Contact("left", normal=[1.0]), Contact("right", normal=[-1.0], gap=0.1)]
    >>> contacts = ContactList(walls, 0.0, np.zeros(1))
    >>> contacts.names, contacts.number("right"), contacts.affine
    (('left', 'right'), 1, True)
    """

    def __init__(self, parts: Sequence[Contact | FrictionElement], time: float, position: np.ndarray) -> None:
        self.parts = _listed(parts, (Contact, FrictionElement), "contacts")
        self.names = tuple(part.name for part in self.parts)
        self._numbers = {name: i for i, name in enumerate(self.names)}
        self.tangential = max((_tangential(part, time, position) for part in self.parts), default=0)
        for part in self.parts:
            self._check(part, time, position)
        self.coupling = self._shares()
        """μ (m, m) of friction elements over normal forces of contacts, sparse; None if there are no shares."""

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
        return all(part.straight for part in self.parts)

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

    def laws(self, which: np.ndarray, speed: np.ndarray | None = None) -> ContactLaws:
        coefficient = self._coefficient_at_rest[which]
        if not self.constant and speed is not None:
            coefficient = np.array(
                [self._friction[i].coefficient(s) for i, s in zip(which, speed, strict=True)], dtype=float
            )
        friction: Any = coefficient
        if self.coupling is not None:
            friction = (sparse.diags_array(coefficient) + self.coupling[which][:, which]).tocsr()
        return ContactLaws(
            self.has_normal[which], self._restitution[which], friction, self._limit[which], self._ratio[which]
        )

    def _check(self, part: Contact | FrictionElement, time: float, position: np.ndarray) -> None:
        with naming(part.called):
            if isinstance(part, Contact):
                _require_fit("gap", part.gap, "normal", part.normal, time, position)
            if part.tangential_rate.shape not in ((), (self.tangential,)):
                raise InvalidModel(
                    f"tangential_rate has shape {part.tangential_rate.shape}, expected one number or "
                    f"({self.tangential},)."
                )

    def _shares(self) -> Any:
        """μ of friction elements over other contacts' normal forces, or None if there is none."""
        rows, columns, values = [], [], []
        for row, part in enumerate(self.parts):
            if isinstance(part, FrictionElement):
                for contact, share in part.shares.items():
                    column = self.number(contact, f"{part.called} has a share of")
                    if not isinstance(self.parts[column], Contact):
                        raise InvalidModel(
                            f"{part.called} has a share of '{contact}', which has no normal force; name a Contact."
                        )
                    rows.append(row)
                    columns.append(column)
                    values.append(share)
        if not rows:
            return None
        return sparse.csr_array((values, (rows, columns)), shape=(self.count, self.count))

    def number(self, name: str, what: str = "there is no contact") -> int:
        if name in self._numbers:
            return self._numbers[name]
        near = difflib.get_close_matches(name, self.names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InvalidModel(f"{what} '{name}'; contacts are {', '.join(self.names) or 'none'}.{hint}")


def constraint_list(parts: Sequence[Constraint], time: float, position: np.ndarray) -> tuple[Constraint, ...]:
    """The constraints of a system, checked at the start like the contacts of :class:`ContactList`."""
    listed = _listed(parts, (Constraint,), "constraints")
    for part in listed:
        with naming(part.called):
            _require_fit("offset", part.offset, "direction", part.direction, time, position)
    return listed


def _listed(parts: Any, kinds: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    """The parts as a tuple, all of these kinds and of different names."""
    allowed = " or ".join(kind.__name__ for kind in kinds)
    if not isinstance(parts, Iterable):
        raise InvalidModel(f"{what} is one {type(parts).__name__}; expected a list of {allowed}.")
    listed: tuple[Any, ...] = tuple(parts)
    seen: set[str] = set()
    for part in listed:
        if not isinstance(part, kinds):
            name = getattr(part, "called", repr(part))
            raise InvalidModel(f"{name} is among the {what}; there only {allowed} is allowed.")
        if part.name in seen:
            raise InvalidModel(f"two {what} are called '{part.name}'; names must differ.")
        seen.add(part.name)
    return listed


def _require_fit(
    value_name: str, value: Any, direction_name: str, direction: Any, time: float, position: np.ndarray
) -> None:
    """Refuse a gap or residual that is not one number, or whose direction does not have the shape of the position."""
    if isinstance(value, Signal):
        if value.shape != ():
            raise InvalidModel(f"{value_name} has shape {value.shape}, expected one number.")
    else:
        number(answer(value, value_name, t=time, q=position), f"{value_name} at the start")
    if direction is not None:
        row = answer(direction, direction_name, t=time, q=position) if callable(direction) else direction
        finite(row, direction_name, position.shape)


def _tangential(part: Contact | FrictionElement, time: float, position: np.ndarray) -> int:
    """Number of tangential directions (d, n) of a contact, which must fit the position (n,) and its friction."""
    if part.tangents is None:
        return 0
    with naming(part.called):
        given = part.tangents
        rows = tangent_rows(answer(given, "tangents", t=time, q=position) if callable(given) else given)
        finite(rows, "tangents", (len(rows), *position.shape))
        if len(rows) == 1 and isinstance(part, Contact) and part.friction.ratio != 1.0:
            raise InvalidModel("friction has two coefficients, but tangents only one direction; give two.")
        return len(rows)
