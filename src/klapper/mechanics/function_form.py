"""The compiled form of a system of functions: tables of its contacts, and its functions compiled.

What is an array goes into ``data``; functions of the user are compiled by :mod:`klapper.mechanics.user_functions` and
compared with Python's at the start and near it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from klapper.mechanics.compiled_form import CompiledForm, Tables
from klapper.mechanics.contacts import Contact, FrictionElement
from klapper.mechanics.kernels import functions as kernels
from klapper.mechanics.kernels.signatures import FUNCTION_TYPES
from klapper.mechanics.user_functions import (
    answered,
    compiled,
    inlined,
    require_same,
    unwarned,
    user_function,
)
from klapper.mechanics.user_signals import compile_signals

if TYPE_CHECKING:
    from klapper.mechanics.function_system import FunctionSystem

_SPREADS = (0.0, 1e-3, 0.1, 1.0)
"""Reach of the states where compiled functions are compared with Python's, relative to the size of the state and 1."""


class Given(NamedTuple):
    """What the user gave of a :class:`FunctionSystem`, beside contacts and constraints."""

    mass: Any
    force: Any
    stiff: Any
    tangents: Any
    potential: Any
    damping_power: Any


def function_form(system: FunctionSystem, given: Given) -> CompiledForm:
    """The compiled form of a system; :class:`NotCompiled` names the function that cannot be compiled, and why."""
    form = _Form(system, given).made()
    _compare(system, given, form)
    return form


class _Form:
    def __init__(self, system: FunctionSystem, given: Given) -> None:
        self.system, self.given, self.n = system, given, len(system.coordinates)
        self.tables = Tables()
        self.head = [0] * kernels.HEAD
        self.tables.integers(self.head)
        self.parts: dict[str, Any] = {}

    def made(self) -> CompiledForm:
        system, n = self.system, self.n
        self.dynamics()
        self.contacts()
        self.constraints()
        signals = compile_signals(self.tables)
        if system.contacts.count:
            self.parts["laws"] = kernels.given_laws
            if self.tables.friction_functions:
                self.add("laws", kernels.laws_of(signals.coefficient), "friction")
        self.note("SIZE", n)
        self.note("CONTACTS", system.contacts.count)
        index, data = self.tables.packed()
        index[Tables.HEADER : Tables.HEADER + kernels.HEAD] = self.head
        places = np.array(np.divmod(np.arange(n * n), n), dtype=np.int64)
        given = self.given
        return CompiledForm(
            index,
            data,
            n,
            n,
            mass_entries=places,
            constant_mass=not callable(given.mass),
            bring=signals.bring,
            tangent_entries=places if given.tangents is not None else np.zeros((2, 0), dtype=np.int64),
            by_position=given.stiff is not False or given.tangents is not None,
            by_velocity=given.stiff is not False or given.tangents is not None,
            complete=given.stiff is None,
            contacts=system.contacts.count,
            tangential=system.contacts.tangential,
            contact_width=n if system.contacts.count else 0,
            constant_friction=system.contacts.constant,
            shares=system.contacts.coupling,
            straight=all(each.straight for each in system.contacts.parts),
            constraints=len(system.constraints),
            constraint_width=n if system.constraints else 0,
            affine_constraints=system.affine_constraints,
            **self.parts,
        )

    def note(self, place: str, value: int) -> None:
        self.head[getattr(kernels, place) - Tables.HEADER] = value

    def add(self, kind: str, function: Callable[..., Any], called: str) -> None:
        self.parts[kind] = compiled(function, FUNCTION_TYPES[kind], called)

    def user(self, given: Any, called: str, arguments: int, place: str) -> Any:
        """A function of the user's that stands alone; its captured numbers are noted at the place."""
        function = user_function(given, called, arguments)
        self.note(place, self.tables.numbers(function.numbers))
        return function.inlined

    def dynamics(self) -> None:
        given = self.given
        if callable(given.mass):
            self.add("mass", kernels.mass_of(self.user(given.mass, "mass", 1, "MASS")), "mass")
        else:
            self.note("CONSTANT_MASS", self.tables.numbers(given.mass))
            self.parts["mass"] = kernels.constant_mass
        force = self.user(given.force, "force", 3, "FORCE")
        self.add("force", kernels.force_of(force, kernels.FORCE), "force")
        if given.tangents is not None:
            tangents = self.user(given.tangents, "tangents", 3, "TANGENTS")
            self.add("tangents", kernels.tangents_of(tangents), "tangents")
        elif given.stiff is None:
            self.parts["stiff"] = self.parts["force"]
        elif given.stiff is not False:
            stiff = self.user(given.stiff, "stiff", 3, "STIFF")
            self.add("stiff", kernels.force_of(stiff, kernels.STIFF), "stiff")
        if given.potential is not None:
            potential = self.user(given.potential, "potential", 1, "POTENTIAL")
            self.add("potential", kernels.potential_of(potential), "potential")
        if given.damping_power is not None:
            damping = self.user(given.damping_power, "damping_power", 3, "DAMPING")
            self.add("damping", kernels.damping_of(damping), "damping_power")

    def contacts(self) -> None:
        contacts = self.system.contacts
        if not contacts.count:
            return
        values, gradients, tangents = (
            _Chosen(kernels.number_of),
            _Chosen(kernels.row_of),
            _Chosen(kernels.rows_of),
        )
        rows, laws = [], []
        for contact in contacts.parts:
            rows.append(
                [
                    *self.value(contact, "gap", "normal", values, gradients),
                    *self.tangents(contact, tangents),
                    *self.rate(contact),
                    int(isinstance(contact, Contact)),
                    self.tables.friction(contact.friction) if isinstance(contact, Contact) else -1,
                ]
            )
            laws.append(self.law(contact))
        self.note("ROWS", self.tables.integers(rows))
        self.note("LAWS", self.tables.numbers(laws))
        value, normal, tangent = values.inlined(2), gradients.inlined(3), tangents.inlined(3)
        gradient = None if value is None else inlined(kernels.gradient_of(value))
        self.parts["gaps"] = kernels.affine_gaps
        self.parts["directions"] = kernels.given_directions
        if value is not None:
            self.add("gaps", kernels.gaps_of(value), _joined(values))
        if value is not None or tangent is not None:
            directions = kernels.directions_of(gradient, normal, tangent)
            self.add("directions", directions, _joined(values, gradients, tangents))

    def constraints(self) -> None:
        constraints = self.system.constraint_parts
        if not constraints:
            return
        values, gradients = _Chosen(kernels.number_of), _Chosen(kernels.row_of)
        rows = [self.value(each, "offset", "direction", values, gradients) for each in constraints]
        self.note("CONSTRAINTS", self.tables.integers(rows))
        value, direction = values.inlined(2), gradients.inlined(3)
        self.parts["residuals"] = kernels.affine_residuals
        self.parts["constraint_directions"] = kernels.given_constraint_directions
        if value is not None:
            self.add("residuals", kernels.residuals_of(value), _joined(values))
            directions = kernels.constraint_directions_of(inlined(kernels.gradient_of(value)), direction)
            self.add("constraint_directions", directions, _joined(values, gradients))

    def value(
        self, given: Any, name: str, gradient_name: str, values: _Chosen, gradients: _Chosen
    ) -> list[int]:
        """Kind and place of the gap or residual of a contact or constraint, then of its gradient."""
        if isinstance(given, FrictionElement):
            return [kernels.NONE, 0, kernels.ARRAY, 0]
        value, gradient = getattr(given, name), getattr(given, gradient_name)
        if given.affine:
            return [kernels.AFFINE, self.tables.signal(value), kernels.ARRAY, self.tables.numbers(gradient)]
        found = values.add(value, f"{name} of {given.called}", self.tables)
        if gradient is None:
            return [*found, kernels.DIFFERENCES, 0]
        if callable(gradient):
            return [*found, *gradients.add(gradient, f"{gradient_name} of {given.called}", self.tables)]
        return [*found, kernels.ARRAY, self.tables.numbers(gradient)]

    def tangents(self, contact: Contact | FrictionElement, chosen: _Chosen) -> list[int]:
        if contact.tangents is None:
            return [kernels.NONE, 0]
        if callable(contact.tangents):
            return chosen.add(contact.tangents, f"tangents of {contact.called}", self.tables)
        rows = np.zeros((self.system.contacts.tangential, self.n))
        rows[: len(contact.tangents)] = contact.tangents
        return [kernels.ARRAY, self.tables.numbers(rows)]

    def rate(self, contact: Contact | FrictionElement) -> list[int]:
        """Place of the given sliding velocity, and how many components it has."""
        if contact.tangents is None:
            return [0, 0]
        return [
            self.tables.signal(contact.tangential_rate),
            int(np.prod(contact.tangential_rate.shape, dtype=int)),
        ]

    @staticmethod
    def law(contact: Contact | FrictionElement) -> list[float]:
        """ε, limit, μ₂/μ₁"""
        if isinstance(contact, Contact):
            return [contact.restitution, contact.limit, contact.friction.ratio]
        return [0.0, contact.limit, 1.0]


class _Chosen:
    """Functions of several contacts or constraints, each once for all that only differ in captured numbers."""

    def __init__(self, factory: Callable[..., Callable[..., Any]]) -> None:
        self._factory = factory
        self._functions: list[Any] = []
        self.names: list[str] = []

    def add(self, given: Any, called: str, tables: Tables) -> list[int]:
        """Kind, and place of the captured numbers."""
        function = user_function(given, called, 2)
        made = inlined(self._factory(function.inlined))
        if made not in self._functions:
            self._functions.append(made)
            self.names.append(called)
        return [kernels.FUNCTION + self._functions.index(made), tables.numbers(function.numbers)]

    def inlined(self, arguments: int) -> Any:
        """(kind, …): the function of that kind; None if there is none."""
        return inlined(kernels.one_of(tuple(self._functions), arguments)) if self._functions else None


def _joined(*chosen: _Chosen) -> str:
    return " or ".join(name for each in chosen for name in each.names)


def _compare(system: FunctionSystem, given: Given, form: CompiledForm) -> None:
    """Refuse a form that says something else than the functions of the user at the start and near it."""
    at = _Asked(form)
    asked: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [("force", at.force, system.force)]
    if callable(given.mass):
        asked.append(("mass", lambda t, q, v: at.mass(q), lambda t, q, v: system.mass(q)))
    if given.tangents is not None:
        asked.append(
            ("tangents", at.tangents, lambda t, q, v: np.array(given.tangents(t, q, v)[:2], dtype=float))
        )
    elif callable(given.stiff):
        asked.append(("stiff", at.stiff, given.stiff))
    if given.potential is not None:
        asked.append(("potential", lambda t, q, v: at.potential(q), lambda t, q, v: system.potential(q)))
    if given.damping_power is not None:
        asked.append(("damping_power", at.damping, given.damping_power))
    for k, contact in enumerate(system.contacts.parts):
        which = np.array([k])
        if isinstance(contact, Contact) and not contact.affine:
            asked.append((f"gap of {contact.called}", partial(at.gap, which), partial(_gap, system, which)))
            if callable(contact.normal):
                asked.append(
                    (
                        f"normal of {contact.called}",
                        partial(at.normal, which),
                        _ignoring_speed(contact.normal),
                    )
                )
        if callable(contact.tangents):
            tangents = partial(_tangents, system, contact.tangents)
            asked.append((f"tangents of {contact.called}", partial(at.tangential, which), tangents))
    for k, constraint in enumerate(system.constraint_parts):
        if not constraint.affine:
            asked.append(
                (
                    f"offset of {constraint.called}",
                    partial(at.residual, k),
                    _ignoring_speed(constraint.offset),
                )
            )
            if callable(constraint.direction):
                direction = _ignoring_speed(constraint.direction)
                asked.append(
                    (f"direction of {constraint.called}", partial(at.constraint_direction, k), direction)
                )
    states = list(_states(system))
    with unwarned():
        for called, compiled_function, general in asked:
            answers = [(answered(general, *_copies(state)), state) for state in states]
            known = [(answer, state) for answer, state in answers if answer is not None]
            found = [np.array(compiled_function(*_copies(state))) for _, state in known]
            require_same(found, [answer for answer, _ in known], called)


class _Asked:
    """The functions of a form as functions that return new arrays."""

    def __init__(self, form: CompiledForm) -> None:
        self._form, self._n, self._d = form, form.velocities, form.tangential

    def _filled(self, kind: str, *arguments: Any, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
        out = [np.full(shape, np.nan) for shape in shapes]
        with suppress(Exception):  # what it would raise; what is not written stays nan
            getattr(self._form, kind)(self._form.index, self._form.data, *arguments, *out)
        return out

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._filled("force", t, q, v, shapes=[(self._n,)])[0]

    def stiff(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._filled("stiff", t, q, v, shapes=[(self._n,)])[0]

    def mass(self, q: np.ndarray) -> np.ndarray:
        return self._filled("mass", q, shapes=[(self._n**2,)])[0].reshape(self._n, self._n)

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        parts = self._filled("tangents", t, q, v, shapes=[(self._n**2,), (self._n**2,)])
        return np.array(parts).reshape(2, self._n, self._n)

    def potential(self, q: np.ndarray) -> float:
        return self._number("potential", q)

    def damping(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        return self._number("damping", t, q, v)

    def _number(self, kind: str, *arguments: Any) -> float:
        with suppress(Exception):
            return float(getattr(self._form, kind)(self._form.index, self._form.data, *arguments))
        return np.nan

    def gap(self, which: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._filled("gaps", t, q, which, shapes=[(1,)])[0]

    def _rows(self, which: np.ndarray, t: float, q: np.ndarray) -> np.ndarray:
        columns = np.zeros((1, self._n), dtype=np.int64)
        shapes = [(1, 1 + self._d, self._n), (1, 1 + self._d)]
        return self._filled("directions", t, q, which, columns, shapes=shapes)[0][0]

    def normal(self, which: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._rows(which, t, q)[0]

    def tangential(self, which: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._rows(which, t, q)[1:]

    def residual(self, k: int, t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(self._filled("residuals", t, q, shapes=[(self._form.constraints,)])[0][k])

    def constraint_direction(self, k: int, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        p = self._form.constraints
        columns = np.zeros((p, self._n), dtype=np.int64)
        rows: np.ndarray = self._filled("constraint_directions", t, q, columns, shapes=[(p, self._n), (p,)])[
            0
        ][k]
        return rows


def _gap(system: FunctionSystem, which: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return system.gaps(t, q, which)


def _tangents(
    system: FunctionSystem, function: Callable[..., Any], t: float, q: np.ndarray, v: np.ndarray
) -> np.ndarray:
    rows = np.atleast_2d(np.asarray(function(t, q), dtype=float))
    return np.concatenate([rows, np.zeros((system.contacts.tangential - len(rows), q.size))])


def _ignoring_speed(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda t, q, v: function(t, q)


def _copies(state: tuple[float, np.ndarray, np.ndarray]) -> tuple[float, np.ndarray, np.ndarray]:
    return state[0], state[1].copy(), state[2].copy()


def _states(system: FunctionSystem) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """States at the start, near it and farther, the same for the same system."""
    draw = np.random.default_rng(20)
    start = system.start
    for spread in _SPREADS:
        q, v = (
            value + spread * np.maximum(np.abs(value), 1.0) * draw.uniform(-1.0, 1.0, value.size)
            for value in (start.position, start.velocity)
        )
        yield start.time + spread * float(draw.random()), q, v
