"""A linear structure: matrices, load, and the way to a system with contacts.

    M q̈ + (D + G) q̇ + (K + N) q = f(t)                                            Waltersberger (5.35), (5.114)

What can be measured or pushed is a *row*: an array r (n,) with the displacement r · q, the velocity r · q̇ and the
generalised force r p of a force p in the same direction. Concrete structures (beam, frame, imported matrices) answer
with rows; contacts, constraints and loads are made of rows and of nothing else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse

from klapper.counting import counted
from klapper.mechanics import (
    Constant,
    Constraint,
    Contact,
    FrictionElement,
    InvalidModel,
    LinearSystem,
    Picture,
    Signal,
)
from klapper.mechanics.arguments import number
from klapper.mechanics.courses import base_acceleration
from klapper.mechanics.eigenmodes import Modes, lowest_modes
from klapper.mechanics.picture import Drawn
from klapper.mechanics.signals import as_signal
from klapper.structures.coupling import projected
from klapper.structures.loads import along, total
from klapper.structures.statics import deflection

_SYMMETRY = {"mass": 1, "stiffness": 1, "damping": 1, "gyroscopic": -1, "circulatory": -1}


class Structure:
    """Constant matrices, a load, and names of the coordinates: M q̈ + (D + G) q̇ + (K + N) q = f(t).

    Never changed: ``with_…`` return new structures.

    ``mass``, ``stiffness``           symmetric (n, n), dense or sparse; kept as sparse arrays [kg, N/m]
    ``damping``                       symmetric (n, n) or None [N s/m]
    ``gyroscopic``, ``circulatory``   skew (n, n) or None, multiply q̇ and q [N s/m, N/m]
    ``load``                          (n,) [N]: an array, a :class:`~klapper.mechanics.Signal`, or a function of t
    ``coordinates``                   n names; ``name`` of the structure

    A cart of 2 kg on a spring of 200 N/m, f = √(c/m)/2π = 10/2π Hz:

    >>> cart = Structure(mass=[[2.0]], stiffness=[[200.0]], coordinates=["x"])
    >>> cart.frequencies(1).round(6).tolist()
    [1.591549]
    """

    mass: Any
    stiffness: Any
    damping: Any
    gyroscopic: Any
    circulatory: Any
    load: Signal
    coordinates: tuple[str, ...]
    name: str
    picture: Callable[[float], Picture] | None = None  # structures with a geometry have it as a method

    def __init__(
        self,
        mass: Any,
        stiffness: Any,
        *,
        damping: Any = None,
        gyroscopic: Any = None,
        circulatory: Any = None,
        load: Any = None,
        coordinates: Sequence[str] | None = None,
        name: str = "structure",
    ) -> None:
        self.name = name
        self.mass = _matrix(mass, "mass", None)
        self.stiffness = _matrix(stiffness, "stiffness", self.size)
        for kind, given in (("damping", damping), ("gyroscopic", gyroscopic), ("circulatory", circulatory)):
            setattr(self, kind, None if given is None else _matrix(given, kind, self.size))
        self.load = self._checked_load(np.zeros(self.size) if load is None else load)
        self.coordinates = tuple(coordinates or (f"q{i + 1}" for i in range(self.size)))
        if len(self.coordinates) != self.size:
            raise InvalidModel(
                f"coordinates names {len(self.coordinates)} of {counted(self.size, 'coordinate')}."
            )

    @property
    def size(self) -> int:
        """Number n of coordinates."""
        return self.mass.shape[0]

    def with_damping(self, damping: Any) -> Self:
        """The same structure with this symmetric matrix (n, n) [N s/m] added to its damping."""
        return self._with(damping=_added(self.damping, _matrix(damping, "damping", self.size)))

    def with_rayleigh(self, *, mass: float = 0.0, stiffness: float = 0.0) -> Self:
        """D = α₁ M + α₂ K in addition, with ``mass`` α₁ [1/s] (external) and ``stiffness`` α₂ [s] (material). (5.38)"""
        first = number(mass, "mass", "numbers from 0 on, in 1/s", at_least=0.0)
        second = number(stiffness, "stiffness", "numbers from 0 on, in s", at_least=0.0)
        return self.with_damping(first * self.mass + second * self.stiffness)

    def with_mass(self, row: Any, mass: float) -> Self:
        """With a mass [kg] that moves with the row (a moment of inertia [kg m²] where the row is a rotation)."""
        amount = number(mass, "mass", "numbers from 0 on, in kg", at_least=0.0)
        return self._with(mass=_added(self.mass, amount * self._square(row)))

    def with_spring(self, row: Any, stiffness: float) -> Self:
        """With a spring [N/m, or N m] between the ground and the row."""
        amount = number(stiffness, "stiffness", "numbers from 0 on, in N/m", at_least=0.0)
        return self._with(stiffness=_added(self.stiffness, amount * self._square(row)))

    def with_dashpot(self, row: Any, damping: float) -> Self:
        """With a viscous damper [N s/m, or N m s] between the ground and the row."""
        amount = number(damping, "damping", "numbers from 0 on, in N s/m", at_least=0.0)
        return self.with_damping(amount * self._square(row))

    def with_load(self, load: Any, row: Any = None) -> Self:
        """The same structure with one more load.

        ``load`` is (n,) [N], as an array, a signal or a function of time; or, with a ``row`` (n,), one number over time
        that acts in the direction of the row: a force where the row is a displacement, a moment where it is a rotation.
        """
        whole = load if row is None else along(self.checked_row(row), load)
        return self._with(load=total([self.load, self._checked_load(whole)]))

    def with_base_motion(
        self, *, acceleration: Any = None, displacement: Any = None, direction: Any = None
    ) -> Self:
        """On a base that moves: the load −M r a(t), and positions, gaps and stops are relative to the base.

        ``acceleration``  a(t) [m/s²] of the base: a signal, such as a table of measured values, or a function of time
        ``displacement``  its place [m] instead, which must be smooth
        ``direction``     of the motion, as this structure names it; upwards if not given and there is such a thing
        """
        return self.with_load(-1.0 * base_acceleration(acceleration, displacement) * self._carried(direction))

    def _carried(self, direction: Any) -> np.ndarray:
        """M r (n,) [kg]: inertia forces on the coordinates, per acceleration, when all moves in a direction as one."""
        if direction is None:
            raise InvalidModel(f"give the direction (n,) in which the base of '{self.name}' moves.")
        return np.asarray(self.mass @ self.checked_row(direction))

    def _carried_with_supports(
        self, whole: Any, basis: Any, kept: np.ndarray, motion: np.ndarray
    ) -> np.ndarray:
        """The same from the mass matrix ``whole`` (N, N) with the supports, which move too, and the ``motion`` (N,).

        Masses that were attached later count by what moves of their own coordinates.
        """
        attached = self.mass - projected(whole, basis)
        return np.asarray(basis.T @ (whole @ motion) + attached @ motion[kept])

    def without_load(self) -> Self:
        """The same structure with no load at all."""
        return self._with(load=Constant(np.zeros(self.size)))

    def checked_row(self, row: Any) -> np.ndarray:
        """A row (n,) of this structure, refused if it has another shape."""
        values = np.asarray(row, dtype=float)
        if values.shape != (self.size,):
            raise InvalidModel(f"the row has shape {values.shape}; a row of '{self.name}' is ({self.size},).")
        return values

    def modes(self, count: int) -> Modes:
        """The lowest undamped, non-rotating modes, rigid-body modes first. (5.40)–(5.43)"""
        return lowest_modes(self.mass, self.stiffness, count)

    def frequencies(self, count: int) -> np.ndarray:
        """The lowest natural frequencies (count,) [Hz], zero for rigid-body modes."""
        return self.modes(count).frequencies

    def deflection(self, load: Any = None, *, time: float = 0.0) -> np.ndarray:
        """Static q (n,) under the structure's load at ``time`` [s], or under a given load (n,) or loads (n, k) [N]."""
        right = self.load.value(time) if load is None else np.asarray(load, dtype=float)
        return deflection(self.stiffness, right, self.coordinates)

    def system(
        self,
        contacts: Sequence[Contact | FrictionElement] = (),
        constraints: Sequence[Constraint] = (),
        *,
        position: Any = None,
        velocity: Any = None,
        time: float = 0.0,
        penetration: float = 1e-9,
        name: str | None = None,
        picture: Drawn | None = None,
    ) -> LinearSystem:
        """The equations of motion with contacts, as every scheme takes them; ``position``, ``velocity`` (n,).

        ``picture`` is as of a :class:`~klapper.mechanics.LinearSystem`; not given: what the structure looks like, where
        it has a geometry.
        """
        return LinearSystem(
            self.mass,
            stiffness=self.stiffness,
            damping=self.damping,
            gyroscopic=self.gyroscopic,
            circulatory=self.circulatory,
            force=self.load,
            contacts=contacts,
            constraints=constraints,
            position=position,
            velocity=velocity,
            time=time,
            coordinates=self.coordinates,
            penetration=penetration,
            name=name or self.name,
            picture=self.picture if picture is None else picture,
        )

    def _square(self, row: Any) -> Any:
        column = sparse.csr_array(self.checked_row(row)[:, None])
        return (column @ column.T).tocsr()

    def _with(self, **changes: Any) -> Self:
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other

    def _checked_load(self, given: Any) -> Signal:
        load = as_signal(given, "load")
        if load.shape != (self.size,):
            raise InvalidModel(f"load has shape {load.shape}, expected ({self.size},).")
        return load

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', {counted(self.size, 'coordinate')})"


def _matrix(given: Any, name: str, size: int | None) -> Any:
    """A checked sparse (n, n) matrix, symmetric or skew as its kind demands."""
    matrix = sparse.csr_array(given, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InvalidModel(f"{name} has shape {matrix.shape}, expected (n, n).")
    if size is not None and matrix.shape[0] != size:
        raise InvalidModel(f"{name} has shape {matrix.shape}, expected ({size}, {size}).")
    if not np.all(np.isfinite(matrix.data)):
        raise InvalidModel(f"{name} has entries that are not finite.")
    sign = _SYMMETRY[name]
    if abs(matrix - sign * matrix.T).max() > 1e-9 * np.abs(matrix.data).max(initial=0.0):
        raise InvalidModel(f"{name} is not {'symmetric' if sign > 0 else 'skew'}.")
    return matrix


def _added(first: Any, second: Any) -> Any:
    return second if first is None else (first + second).tocsr()
