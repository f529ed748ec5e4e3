"""A structure seen from a frame that turns with it at constant speed Ω about direction 3.

    M q̈ + (Ω G + D_in + D_a) q̇ + (K_el − Ω² K_c + Ω P) q = Ω² f_c + Ω f_da + f_g(t)

Waltersberger (5.114) with the speed taken out of the matrices, (5.125)–(5.129).

The displacement field is turned by 90° if every pair of coordinates (1, 2) is replaced by (−2, 1): q → T q. With the
eccentricity e of the undeformed structure the absolute velocity is q̇ + Ω T (q + e), and the energy ½ vᵀ M v gives

    G = M T − Tᵀ M,   K_c = Tᵀ M T,   f_c = K_c e,   P = D_a T,   f_da = −P e.

Gravity stands still, so that the turning frame sees it turn backward,

    g_B = (g₁ cos Ωt + g₂ sin Ωt, g₂ cos Ωt − g₁ sin Ωt);

the transformation printed in (5.74) is the transposed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.counting import counted
from klapper.mechanics import (
    Constant,
    Constraint,
    Contact,
    FrictionElement,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Signal,
)
from klapper.mechanics.arguments import finite, number
from klapper.structures.structure import Structure

GRAVITY = (-9.81, 0.0)  # m/s², along directions 1 and 2 of the frame that stands still

_MATRICES = (
    "mass",
    "stiffness",
    "internal_damping",
    "external_damping",
    "gyroscopic",
    "centrifugal",
    "circulatory",
)


@dataclass(frozen=True, eq=False)
class Rotor:
    """The matrices of a structure in the frame that turns with it, the speed factored out.

    ``mass``, ``stiffness``   M, K_el symmetric (n, n), dense or sparse [kg, N/m]
    ``internal_damping``      D_in symmetric (n, n): acts on deformation rates only [N s/m]
    ``external_damping``      D_a symmetric (n, n): acts on velocities against the frame that stands still [N s/m]
    ``gyroscopic``            G skew (n, n), times Ω [kg]
    ``centrifugal``           K_c symmetric (n, n), times −Ω² [kg]
    ``circulatory``           P skew (n, n), times Ω [N s/m]
    ``unbalance``             f_c (n,), times Ω² [kg m]
    ``drag``                  f_da (n,), times Ω [N s]
    ``weight``                (n, 2): loads of unit gravity along directions 1 and 2 of the turning frame [kg]
    ``coordinates``           their names (n,); ``name`` that of the rotor

    Speeds are revolutions per second [Hz], Ω = 2π · speed.

    A disc of 2 kg on a shaft of 200 N/m loses its stiffness K − Ω² K_c at Ω = 10 rad/s:

    >>> rotor = rotating(Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"]), [[0, 1]])
    >>> abs(rotor.static_stiffness(10.0 / (2 * np.pi)).toarray()).max().round(9).item()
    0.0
    """

    mass: Any
    stiffness: Any
    internal_damping: Any
    external_damping: Any
    gyroscopic: Any
    centrifugal: Any
    circulatory: Any
    unbalance: np.ndarray
    drag: np.ndarray
    weight: np.ndarray
    coordinates: tuple[str, ...]
    name: str = "rotor"

    @property
    def size(self) -> int:
        """Number n of coordinates."""
        return self.mass.shape[0]

    def projected(self, basis: Any, coordinates: Sequence[str] | None = None) -> Rotor:
        """The rotor with q = ``basis`` y, basis (n, k): supports and couplings built in, or modes. (5.108)"""
        if basis.ndim != 2 or basis.shape[0] != self.size:
            raise InvalidModel(f"the basis has shape {basis.shape}, expected ({self.size}, k).")
        names = tuple(coordinates or (f"q{i + 1}" for i in range(basis.shape[1])))
        if len(names) != basis.shape[1]:
            raise InvalidModel(f"coordinates names {len(names)} of {counted(basis.shape[1], 'coordinate')}.")
        return replace(
            self,
            **{name: basis.T @ (getattr(self, name) @ basis) for name in _MATRICES},
            unbalance=basis.T @ self.unbalance,
            drag=basis.T @ self.drag,
            weight=basis.T @ self.weight,
            coordinates=names,
        )

    def with_material_damping(self, duration: float) -> Rotor:
        """D_in = α₂ K_el in addition, α₂ = ``duration`` [s]. (5.124)"""
        alpha = number(duration, "the material damping", "numbers from 0 on, in s", at_least=0.0)
        return replace(self, internal_damping=self.internal_damping + alpha * self.stiffness)

    def static_stiffness(self, speed: float) -> Any:
        """K_el − Ω² K_c (n, n) [N/m]. (5.161)"""
        return self.stiffness - (2 * np.pi * speed) ** 2 * self.centrifugal

    def gravity_load(self, gravity: Any = GRAVITY) -> tuple[np.ndarray, np.ndarray]:
        """f_cos, f_sin (n,) [N] of f_g(t) = f_cos cos Ωt + f_sin sin Ωt, gravity (2,) [m/s²] standing still. (5.164)"""
        first, second = finite(gravity, "gravity", (2,))
        return (
            self.weight @ np.array([first, second]),
            self.weight @ np.array([second, -first]),
        )

    def load(self, speed: float, gravity: Any = GRAVITY) -> Signal:
        """Ω² f_c + Ω f_da + f_g(t) (n,) [N]."""
        omega = _angular(speed)
        steady = omega**2 * self.unbalance + omega * self.drag
        cosine, sine = self.gravity_load(gravity)
        if omega == 0.0:
            return Constant(steady + cosine)
        if not (cosine.any() or sine.any()):
            return Constant(steady)
        return Constant(steady) + Harmonic(cosine, omega) + Harmonic(sine, omega, -np.pi / 2)

    def structure(self, speed: float, *, gravity: Any = GRAVITY) -> Structure:
        """The structure in the frame that turns at ``speed`` [Hz], with its loads."""
        omega = _angular(speed)
        return Structure(
            self.mass,
            self.static_stiffness(speed),
            damping=_or_none(self.internal_damping + self.external_damping),
            gyroscopic=_or_none(omega * self.gyroscopic),
            circulatory=_or_none(omega * self.circulatory),
            load=self.load(speed, gravity),
            coordinates=self.coordinates,
            name=self.name,
        )

    def system(
        self,
        speed: float,
        contacts: Sequence[Contact | FrictionElement] = (),
        constraints: Sequence[Constraint] = (),
        *,
        gravity: Any = GRAVITY,
        **start: Any,
    ) -> LinearSystem:
        """The equations of motion at ``speed`` [Hz]; ``start``: see :meth:`Structure.system`."""
        return self.structure(speed, gravity=gravity).system(contacts, constraints, **start)

    def __repr__(self) -> str:
        return f"Rotor('{self.name}', {counted(self.size, 'coordinate')})"


def rotating(
    structure: Structure,
    pairs: Any,
    *,
    translation: Any = None,
    eccentricity: Any = None,
    external_damping: Any = None,
) -> Rotor:
    """Any structure as a rotor.

    ``pairs``             (k, 2): numbers of coordinates that interpolate the displacements in directions 1 and 2 with
                          the same shape functions; slopes of Hermite elements, or rotations about directions 1
                          and 2 that interpolate displacements, are pairs as well
    ``translation``       (n,): coordinates of a unit displacement in direction 1, needed for gravity
    ``eccentricity``      (n,): coordinates of the distance of the undeformed structure from the axis [m]
    ``external_damping``  D_a symmetric (n, n) [N s/m] against the frame that stands still, alike in directions 1 and 2

    The structure's own damping counts as internal. Build rotors of unsupported structures and apply supports and
    couplings by :meth:`Rotor.projected`: only then are both coordinates of every pair there. Stiffness and damping of
    bearings that stand still must be alike in directions 1 and 2; else the turning frame sees them change with time.

    A disc of 2 kg with its centre 1 mm off the axis: G = 2 M T, and f_c = m e.

    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"])
    >>> rotor = rotating(disc, [[0, 1]], eccentricity=[0.001, 0.0])
    >>> rotor.gyroscopic.toarray().tolist(), rotor.unbalance.tolist()
    ([[0.0, -4.0], [4.0, 0.0]], [0.002, 0.0])
    """
    if structure.gyroscopic is not None or structure.circulatory is not None:
        raise InvalidModel(
            f"'{structure.name}' has gyroscopic or circulatory matrices; it seems to rotate already."
        )
    n = structure.size
    turn = _quarter_turn(pairs, n)
    mass = structure.mass
    damping = (
        sparse.csr_array((n, n))
        if external_damping is None
        else sparse.csr_array(external_damping, dtype=float)
    )
    if damping.shape != (n, n) or abs(damping - damping.T).max() > 1e-9 * abs(damping).max():
        raise InvalidModel(
            f"external_damping has shape {damping.shape}; expected a symmetric ({n}, {n}) matrix."
        )
    circulatory = damping @ turn
    if abs(circulatory + circulatory.T).max() > 1e-9 * abs(damping).max():
        raise InvalidModel(
            "external_damping differs between directions 1 and 2; a frame that turns would see it change with time."
        )
    away = np.zeros(n) if eccentricity is None else finite(eccentricity, "eccentricity", (n,))
    along = np.zeros(n) if translation is None else finite(translation, "translation", (n,))
    centrifugal = (turn.T @ mass @ turn).tocsr()
    return Rotor(
        mass=mass,
        stiffness=structure.stiffness,
        internal_damping=sparse.csr_array((n, n)) if structure.damping is None else structure.damping,
        external_damping=damping,
        gyroscopic=(mass @ turn - turn.T @ mass).tocsr(),
        centrifugal=centrifugal,
        circulatory=circulatory,
        unbalance=centrifugal @ away,
        drag=-(circulatory @ away),
        weight=np.column_stack([mass @ along, mass @ (turn @ along)]),
        coordinates=structure.coordinates,
        name=structure.name,
    )


def _quarter_turn(pairs: Any, size: int) -> Any:
    """T (n, n): coordinates of the displacement field turned by 90°."""
    given = np.asarray(pairs)
    if given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer):
        raise InvalidModel(
            f"pairs have shape {given.shape} and type {given.dtype}; expected whole numbers (k, 2)."
        )
    if given.size == 0 or given.min() < 0 or given.max() >= size or np.unique(given).size != given.size:
        raise InvalidModel(
            f"pairs must be different numbers of coordinates from 0 to {size - 1}, each at most once."
        )
    first, second = given.T
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
    signs = np.concatenate([-np.ones(len(given)), np.ones(len(given))])
    return sparse.csr_array((signs, (rows, columns)), shape=(size, size))  # Waltersberger (5.80)


def _or_none(matrix: Any) -> Any:
    """The matrix, or None if all its entries are zero."""
    return matrix if abs(matrix).max() > 0.0 else None


def _angular(speed: float) -> float:
    return 2 * np.pi * number(speed, "speed", "single finite numbers, in revolutions per second")
