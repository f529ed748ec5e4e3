"""A system that answers from its compiled form: the same answers to round-off, many times as fast.

For the general code of phases and of regularised contacts, which asks a system in Python for many small arrays.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import Directions, Matrix, State, System
from klapper.schemes.compiled_phases import CompiledSystem, compiled_system
from klapper.schemes.work import Work

_COMPILED: set[str] = set()  # questions that were asked already


class QuickSystem(System):
    """What ``system`` answers, from its form; everything else is asked of the system itself."""

    def __init__(self, system: System, compiled: CompiledSystem) -> None:
        from klapper.schemes.kernels import phase_answers

        self.system, self.compiled, self._ask = system, compiled, phase_answers
        self.name, self.contacts, self.constraints = system.name, system.contacts, system.constraints
        self.coordinates, self.velocities = system.coordinates, system.velocities
        self.compliance, self.rigid_bodies = system.compliance, system.rigid_bodies
        self.affine_constraints, self.affine_gaps = system.affine_constraints, system.affine_gaps
        form = compiled.form
        self._form = compiled.index, compiled.data, np.array(compiled.addresses + [0] * 8, dtype=np.int64)
        self._mass = self._mass_at(system.start.position) if form.constant_mass else None

    @property
    def start(self) -> State:  # type: ignore[override]
        return self.system.start

    def _mass_at(self, q: np.ndarray) -> np.ndarray:
        n = len(self.velocities)
        mass = np.empty((n, n))
        self._asked("mass", _array(q), self.compiled.places, mass)
        return mass

    def _asked(self, name: str, *arguments: Any) -> None:
        function = getattr(self._ask, "ask_" + name)
        if name in _COMPILED:
            function(*self._form, *arguments)
            return
        with warnings.catch_warnings():  # numba says that functions by their address are new to it
            warnings.simplefilter("ignore")
            function(*self._form, *arguments)
        _COMPILED.add(name)

    def mass(self, q: np.ndarray) -> Matrix:
        return self._mass_at(q) if self._mass is None else self._mass

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.empty(len(self.velocities))
        self._asked("force", float(t), _array(q), _array(v), out)
        return out

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return self.system.tangents(t, q, v)

    def advance(self, q: np.ndarray, displacement: np.ndarray) -> np.ndarray:
        return self.system.advance(q, displacement)

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.system.rate(q, v)

    def near(self, t: float, q: np.ndarray) -> np.ndarray:
        return self.system.near(t, q)

    def gaps(self, t: float, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        out = np.empty(len(which))
        if out.size:
            self._asked("gaps", float(t), _array(q), _numbers(which), out)
        return out

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> Directions:
        k, d, n = len(which), self.contacts.tangential, len(self.velocities)
        rows, rates = np.zeros((k, 1 + d, n)), np.zeros((k, 1 + d))
        if k:
            width = max(self.compiled.form.contact_width, 1)
            self._asked("directions", float(t), _array(q), _numbers(which), width, rows, rates)
        tangential = rows[:, 1:].reshape(k * d, n).T
        return Directions(rows[:, 0].T, rates[:, 0], tangential, rates[:, 1:].ravel())

    def curvature(
        self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.compiled.form.curvature is None:
            return super().curvature(t, q, v, which)
        out = np.zeros((len(which), 1 + self.contacts.tangential))
        if len(which):
            self._asked("curvature", float(t), _array(q), _array(v), _numbers(which), out)
        return out[:, 0], out[:, 1:].ravel()

    def constraint_residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        out = np.zeros(len(self.constraints))
        if out.size:
            self._asked("residuals", float(t), _array(q), out)
        return out

    def constraint_directions(self, t: float, q: np.ndarray) -> tuple[Matrix, np.ndarray]:
        p = len(self.constraints)
        rows, rates = np.zeros((p, len(self.velocities))), np.zeros(p)
        if p:
            width = max(self.compiled.form.constraint_width, 1)
            self._asked("constraint_directions", float(t), _array(q), width, rows, rates)
        return rows.T, rates

    def constraint_curvature(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self.compiled.form.constraint_curvature is None:
            return super().constraint_curvature(t, q, v)
        out = np.zeros(len(self.constraints))
        if out.size:
            self._asked("constraint_curvature", float(t), _array(q), _array(v), out)
        return out

    def potential(self, q: np.ndarray) -> float:
        return self.system.potential(q)

    def powers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        if self.compiled.form.powers is None:
            return self.system.powers(t, q, v)
        out = np.empty(2)
        self._asked("powers", float(t), _array(q), _array(v), out)
        return float(out[0]), float(out[1])

    def picture(self, until: float = 0.0) -> Any:
        return self.system.picture(until)

    @property
    def singular_mass(self) -> bool:
        return self.system.singular_mass

    def carried_velocity(self, v: np.ndarray) -> np.ndarray:
        return self.system.carried_velocity(v)

    @property
    def search_margin(self) -> float:
        return self.system.search_margin

    def compiled_form(self) -> Any:
        return self.compiled.form


def quick_system(system: System, work: Work) -> System:
    """The system that answers from the form, or the system itself if it is linear or has no form."""
    if isinstance(system, LinearSystem | QuickSystem):
        return system
    compiled = compiled_system(system)
    if compiled is None:
        return system
    return work.kept("quick system", (system,), lambda: QuickSystem(system, compiled))


def _array(given: np.ndarray) -> np.ndarray:
    return np.require(given, float, ["C", "W"])  # compiled code asks for arrays that may be written to


def _numbers(given: np.ndarray) -> np.ndarray:
    return np.require(given, np.int64, ["C", "W"])
