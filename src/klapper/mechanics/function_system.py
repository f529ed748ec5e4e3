"""Systems from plain functions of the user, with differences for every derivative that is not given.

M(q) q̈ = f(t, q, q̇) + contacts + constraints,   q̇ = v
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from klapper.counting import counted
from klapper.mechanics.arguments import answer, finite, number, numbers
from klapper.mechanics.compiled_form import CompiledForm, NotCompiled
from klapper.mechanics.contact_table import ContactList, constraint_list
from klapper.mechanics.contacts import Constraint, Contact, FrictionElement, rate_of
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.picture import Drawn, Picture, drawable, drawn
from klapper.mechanics.system import (
    Directions,
    ForceTangents,
    Matrix,
    State,
    System,
    check_start,
    check_state,
    difference_step,
    difference_tangents,
    mass_power,
)

_DIFFERENCE = 6.0e-6
_COMPILED = (
    *("mass", "force", "tangents", "advance", "rate", "near", "gaps", "directions", "curvature"),
    *("constraint_residuals", "constraint_directions", "constraint_curvature", "potential", "powers"),
)
"""Methods that the compiled form stands for."""


class FunctionSystem(System):
    """A system from functions, M(q) v' = f(t, q, v) + J_N λ_N + J_T λ_T + J_B λ_B, q' = v.

    ``position``, ``velocity``  start (n,) [m, rad] and [m/s, rad/s] at the ``time`` [s]
    ``mass``                    M (n, n) [kg, kg m²], or a function of q
    ``force``                   function (t, q, v) → (n,) [N]: everything but M v' and contacts, so with the gyroscopic
                                terms, and with those that a mass M(q) brings (they do no work as loads)
    ``stiff``                   what to take implicitly: None for all of ``force``, False for nothing, or a function
                                (t, q, v) → (n,) that is the stiff part of ``force``
    ``tangents``                function (t, q, v) → (G_q, G_v) or (G_q, G_v, G_t) of the stiff part; None: differences
    ``potential``               function q → V [J] of the conservative part of ``force``
    ``damping_power``           function (t, q, v) → power [W] ≥ 0 that damping takes; needs ``potential``
    ``contacts``, ``constraints``  with functions or arrays for gaps and directions
    ``coordinates``, ``name``   names of the coordinates (n,), and of the system
    ``penetration``             largest penetration [m] that is accepted at the start
    ``picture``                 what it looks like: a :class:`Picture`, or a function of the time ``until`` [s] that
                                draws it; None: nothing is seen

    ``compiled_form()`` compiles the functions: they may read numbers, arrays, tuples and functions from outside and
    must change nothing there.

    >>> pendulum = FunctionSystem([0.1], [0.0], mass=[[1.0]], force=lambda t, q, v: -9.81 * np.sin(q))
    >>> float(pendulum.tangents(0.0, np.zeros(1), np.zeros(1)).position[0, 0].round(6))
    -9.81
    """

    def __init__(
        self,
        position: Any,
        velocity: Any,
        *,
        mass: Any,
        force: Callable[[float, np.ndarray, np.ndarray], Any],
        stiff: Callable[[float, np.ndarray, np.ndarray], Any] | bool | None = None,
        tangents: Callable[[float, np.ndarray, np.ndarray], tuple[Any, ...]] | None = None,
        potential: Callable[[np.ndarray], float] | None = None,
        damping_power: Callable[[float, np.ndarray, np.ndarray], float] | None = None,
        contacts: Sequence[Contact | FrictionElement] = (),
        constraints: Sequence[Constraint] = (),
        time: float = 0.0,
        coordinates: Sequence[str] | None = None,
        penetration: float = 1e-9,
        name: str = "system of functions",
        picture: Drawn | None = None,
    ) -> None:
        self.name, self._picture = name, drawable(picture)
        t, q = number(time, "time"), numbers(position, "position")
        self.start = State(t, q, numbers(velocity, "velocity"))
        self.coordinates = (
            tuple(coordinates) if coordinates is not None else tuple(f"q{i + 1}" for i in range(q.size))
        )
        self.velocities = self.coordinates
        check_state(self)
        self._mass = mass if callable(mass) else numbers(mass, "mass")
        self._force, self._stiff, self._tangents = force, stiff, tangents
        self._potential, self._damping_power = potential, damping_power
        if damping_power is not None and potential is None:
            raise InvalidModel(
                "damping_power is given without potential; give both, so that the rest is load."
            )
        self._check_functions()
        self.contacts = ContactList(contacts, t, q)
        self.constraint_parts = constraint_list(constraints, t, q)
        self.constraints = tuple(part.name for part in self.constraint_parts)
        self.affine_gaps = all(_straight(part) for part in self.contacts.parts)
        self.affine_constraints = all(part.affine for part in self.constraint_parts)
        check_start(self, penetration=penetration)

    def mass(self, q: np.ndarray) -> Matrix:
        return numbers(self._mass(q), "mass") if callable(self._mass) else self._mass

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return numbers(self._force(t, q, v), "force")

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        if self._tangents is not None:
            parts = [np.array(part, dtype=float) for part in self._tangents(t, q, v)]
            time = parts[2] if len(parts) > 2 else None
            return ForceTangents(parts[0], parts[1], time, complete=self._stiff is None)
        if self._stiff is False:
            return ForceTangents(None, None)
        if callable(self._stiff):
            part = difference_tangents(self._stiff, self.advance, t, q, v)
            return ForceTangents(part.position, part.velocity, part.time)
        return difference_tangents(self.force, self.advance, t, q, v)

    def gaps(self, t: float, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.array([_gap(self.contacts.parts[i], t, q) for i in which], dtype=float)

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> Directions:
        n, d = q.size, self.contacts.tangential
        normal, rate = np.zeros((n, len(which))), np.zeros(len(which))
        tangential, tangential_rate = np.zeros((n, len(which), d)), np.zeros((len(which), d))
        for k, i in enumerate(which):
            part = self.contacts.parts[i]
            if isinstance(part, Contact):
                normal[:, k], rate[k] = _gradient(part.gap, part.normal, part.affine, t, q)
            tangents = part.tangents(t, q) if callable(part.tangents) else part.tangents
            if tangents is not None:
                rows = np.atleast_2d(np.asarray(tangents, dtype=float))
                tangential[:, k, : len(rows)] = rows.T
                tangential_rate[k] = rate_of(part, d, t)
        return Directions(normal, rate, tangential.reshape(n, -1), tangential_rate.ravel())

    def constraint_residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        return np.array([_residual(part, t, q) for part in self.constraint_parts], dtype=float)

    def constraint_directions(self, t: float, q: np.ndarray) -> tuple[Matrix, np.ndarray]:
        directions, rates = np.zeros((q.size, len(self.constraints))), np.zeros(len(self.constraints))
        for k, part in enumerate(self.constraint_parts):
            directions[:, k], rates[k] = _gradient(part.offset, part.direction, part.affine, t, q)
        return directions, rates

    def potential(self, q: np.ndarray) -> float:
        return 0.0 if self._potential is None else float(self._potential(q))

    def powers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        total = float(v @ self.force(t, q, v)) + mass_power(self, t, q, v)
        if self._potential is None:
            return total, 0.0
        damping = 0.0 if self._damping_power is None else float(self._damping_power(t, q, v))
        stored = float(_slope(lambda s: self.potential(q + s * v), difference_step(t, q, v)))
        return total + stored + damping, damping

    def picture(self, until: float = 0.0) -> Picture | None:
        return drawn(self._picture, until)

    def compiled_form(self) -> CompiledForm:
        for name in _COMPILED:
            if name in vars(self) or getattr(type(self), name) is not getattr(FunctionSystem, name):
                raise NotCompiled(f"{type(self).__name__} has a method '{name}' of its own")
        from klapper.mechanics.function_form import Given, function_form

        given = Given(
            self._mass, self._force, self._stiff, self._tangents, self._potential, self._damping_power
        )
        return function_form(self, given)

    def _check_functions(self) -> None:
        """Ask every function once, at the start, and refuse answers of another shape."""
        t, q, v = self.start.time, self.start.position, self.start.velocity
        n = q.size
        finite(answer(self._force, "force", t=t, q=q, v=v), "force", (n,))
        if callable(self._mass):
            answer(self._mass, "mass", q=q)
        if self._stiff is not None and self._stiff is not False:
            finite(answer(self._stiff, "stiff", t=t, q=q, v=v), "stiff", (n,))
        if self._tangents is not None:
            parts = answer(self._tangents, "tangents", t=t, q=q, v=v)
            if not isinstance(parts, tuple | list | np.ndarray) or len(parts) not in (2, 3):
                raise InvalidModel("tangents must return (G_q, G_v) or (G_q, G_v, G_t).")
            for part, name, shape in zip(parts, ("G_q", "G_v", "G_t"), ((n, n), (n, n), (n,)), strict=False):
                finite(part, f"{name} of tangents", shape)
        if self._potential is not None:
            number(answer(self._potential, "potential", q=q), "potential at the start")
        if self._damping_power is not None:
            number(answer(self._damping_power, "damping_power", t=t, q=q, v=v), "damping_power at the start")

    def __repr__(self) -> str:
        return (
            f"FunctionSystem({counted(len(self.coordinates), 'coordinate')}, "
            f"{counted(self.contacts.count, 'contact')})"
        )


def _gap(part: Contact | FrictionElement, t: float, q: np.ndarray) -> float:
    if not isinstance(part, Contact):
        return np.nan
    return float(part.normal @ q + part.gap.value(t)) if part.affine else float(part.gap(t, q))


def _residual(part: Constraint, t: float, q: np.ndarray) -> float:
    return float(part.direction @ q + part.offset.value(t)) if part.affine else float(part.offset(t, q))


def _straight(part: Contact | FrictionElement) -> bool:
    """Whether the normal is known not to change: it is an array, or there is none."""
    return not isinstance(part, Contact) or (part.normal is not None and not callable(part.normal))


def _gradient(value: Any, direction: Any, affine: bool, t: float, q: np.ndarray) -> tuple[np.ndarray, float]:
    """∂/∂q (n,) and ∂/∂t of a gap or residual."""
    if affine:
        return direction, float(value.rate(t))
    rate = _slope(lambda s: float(value(t + s, q)), _DIFFERENCE * max(abs(t), 1.0))
    if direction is not None:
        return (np.array(direction(t, q), dtype=float) if callable(direction) else direction), rate
    gradient = np.empty(q.size)
    for j in range(q.size):
        unit = np.zeros(q.size)
        unit[j] = 1.0
        d = _DIFFERENCE * max(abs(q[j]), 1.0)
        gradient[j] = (float(value(t, q + d * unit)) - float(value(t, q - d * unit))) / (2 * d)
    return gradient, rate


def _slope(function: Callable[[float], float], d: float) -> float:
    return (function(d) - function(-d)) / (2 * d)
