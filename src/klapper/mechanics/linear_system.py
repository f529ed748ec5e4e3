"""Structures and chains with constant matrices and constant contact directions.

    M q̈ + (D + G) q̇ + (K + N) q = f(t) + J_N λ_N + J_T λ_T + J_B λ_B             Waltersberger (5.114)
    g = J_Nᵀ q + g₀(t) ≥ 0,   v_T = J_Tᵀ q̇ + a_T(t),   J_Bᵀ q + φ₀(t) = 0

M, D, K symmetric; G (gyroscopic) and N (circulatory) skew. Because nothing but time changes, schemes factorise once
and run the whole loop compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.counting import counted
from klapper.mechanics.arguments import finite, number, numbers
from klapper.mechanics.compiled_form import CompiledForm
from klapper.mechanics.contact_table import ContactList, constraint_list
from klapper.mechanics.contacts import Constraint, Contact, FrictionElement, rate_of
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.mass_row import masses_in_a_row
from klapper.mechanics.picture import Drawn, Picture, drawable, drawn
from klapper.mechanics.signals import Constant, Signal, as_signal, breaks_of
from klapper.mechanics.system import (
    Directions,
    ForceTangents,
    Matrix,
    State,
    System,
    check_start,
    check_state,
    positive_definite,
)

_SPARSE_BELOW = 0.25  # share of entries below which products with a sparse matrix are the faster ones


class LinearSystem(System):
    """A linear structure with one-sided contacts, friction and two-sided constraints.

    M q̈ + (D + G) q̇ + (K + N) q = f(t) + J_N λ_N + J_T λ_T + J_B λ_B                          Waltersberger (5.114)

    ``mass``, ``damping``, ``stiffness``    symmetric (n, n), dense or sparse, or the diagonal (n,) [kg, N s/m, N/m]
    ``gyroscopic``, ``circulatory``         skew (n, n) [N s/m, N/m]
    ``force``                               (n,) [N]: an array, a :class:`~klapper.mechanics.Signal`, or a function of t
    ``contacts``                            :class:`Contact` with a ``normal`` array, :class:`FrictionElement`
    ``constraints``                         :class:`Constraint` with a ``direction`` array
    ``position``, ``velocity``              start (n,) [m, m/s] at the ``time`` [s], zero if not given
    ``coordinates``, ``name``               names of the coordinates (n,), and of the system
    ``compliance``                          C (m, m) [m/N]: contact flexibility of condensed coordinates, (5.67)
    ``penetration``                         largest penetration [m] that is accepted at the start
    ``picture``                             what it looks like: a :class:`Picture`, or a function of the time ``until``
                                            [s] that draws one or answers None; not given: masses in a row

    >>> bouncer = LinearSystem([1.0], force=[-9.81], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
    >>> bouncer.gaps(0.0, bouncer.start.position, np.array([0]))
    array([1.])
    """

    affine_gaps = affine_constraints = True

    def __init__(
        self,
        mass: Any,
        *,
        damping: Any = None,
        gyroscopic: Any = None,
        stiffness: Any = None,
        circulatory: Any = None,
        force: Any = None,
        contacts: Sequence[Contact | FrictionElement] = (),
        constraints: Sequence[Constraint] = (),
        position: Any = None,
        velocity: Any = None,
        time: float = 0.0,
        coordinates: Sequence[str] | None = None,
        compliance: Any = None,
        penetration: float = 1e-9,
        name: str = "linear system",
        picture: Drawn | None = None,
    ) -> None:
        self.name, self._picture = name, drawable(picture)
        self.mass_matrix = _matrix(mass, "mass", None, 1)
        n = self.mass_matrix.shape[0]
        self.damping = _matrix(damping, "damping", n, 1)
        self.gyroscopic = _matrix(gyroscopic, "gyroscopic", n, -1)
        self.stiffness = _matrix(stiffness, "stiffness", n, 1)
        self.circulatory = _matrix(circulatory, "circulatory", n, -1)
        self.load = _load(force, n)
        self.coordinates = (
            tuple(coordinates) if coordinates is not None else tuple(f"q{i + 1}" for i in range(n))
        )
        if len(self.coordinates) != n:
            raise InvalidModel(f"coordinates names {len(self.coordinates)} of {counted(n, 'coordinate')}.")
        self.velocities = self.coordinates
        t, q = number(time, "time"), _start(position, "position", n)
        self.start = State(t, q, _start(velocity, "velocity", n))
        check_state(self)
        self.contacts = ContactList(contacts, t, q)
        self.constraint_parts = constraint_list(constraints, t, q)
        for part in (*self.contacts.parts, *self.constraint_parts):
            if not part.straight:
                raise InvalidModel(
                    f"{part.called} has directions that change; a linear system needs arrays. Use FunctionSystem."
                )
        self.constraints = tuple(part.name for part in self.constraint_parts)
        self.compliance = None if compliance is None else _compliance(compliance, self.contacts)
        check_start(self, penetration=penetration)

    @cached_property
    def normal_directions(self) -> Any:
        """J_N (n, m), a column of zeros for a friction element; sparse where that pays."""
        return _columns([_normal_or_zero(part, self.size) for part in self.contacts.parts], self.size)

    @cached_property
    def tangential_directions(self) -> Any:
        """J_T (n, m d), contact by contact."""
        d = self.contacts.tangential
        columns: list[np.ndarray] = []
        for part in self.contacts.parts:
            full = np.zeros((d, self.size))
            if part.tangents is not None:
                full[: len(part.tangents)] = part.tangents
            columns.extend(full)
        return _columns(columns, self.size)

    @cached_property
    def constraint_matrix(self) -> Any:
        """J_B (n, p)."""
        return _columns([part.direction for part in self.constraint_parts], self.size)

    @property
    def size(self) -> int:
        return self.mass_matrix.shape[0]

    @cached_property
    def rate_matrix(self) -> Matrix | None:
        """D + G (n, n)."""
        return _total(self.damping, self.gyroscopic)

    @cached_property
    def position_matrix(self) -> Matrix | None:
        """K + N (n, n)."""
        return _total(self.stiffness, self.circulatory)

    def mass(self, q: np.ndarray) -> Matrix:
        return self.mass_matrix

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        total = self.load.value(t)
        if self.rate_matrix is not None:
            total = total - self.rate_matrix @ v
        if self.position_matrix is not None:
            total = total - self.position_matrix @ q
        return total

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        return self._tangents

    @cached_property
    def _tangents(self) -> ForceTangents:
        return ForceTangents(
            None if self.position_matrix is None else -self.position_matrix,
            None if self.rate_matrix is None else -self.rate_matrix,
            complete=True,
        )

    def gaps(self, t: float, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        return (self.normal_directions.T @ q)[which] + self.gap_offsets(t)[which]

    def gap_offsets(self, time: Any) -> np.ndarray:
        """g₀ (…, m) [m] at the given time or times; not a number for friction elements."""
        values = np.empty((*np.shape(time), self.contacts.count))
        values[...] = self._resting_gaps
        for i, gap in self._moving_gaps:
            values[..., i] = gap.value(time)
        return values

    def gap_rates(self, time: Any) -> np.ndarray:
        """a_N (…, m) [m/s] at the given time or times."""
        values = np.zeros((*np.shape(time), self.contacts.count))
        for i, gap in self._moving_gaps:
            values[..., i] = gap.rate(time)
        return values

    def gap_accelerations(self, time: Any) -> np.ndarray:
        """∂²g/∂t² (…, m) [m/s²] at the given time or times."""
        values = np.zeros((*np.shape(time), self.contacts.count))
        for i, gap in self._moving_gaps:
            values[..., i] = gap.acceleration(time)
        return values

    def tangential_rates(self, time: Any) -> np.ndarray:
        """a_T (…, m d) [m/s] at the given time or times."""
        d = self.contacts.tangential
        values = np.empty((*np.shape(time), self.contacts.count * d))
        values[...] = self._steady_rates
        for i, part in self._unsteady:
            values[..., i * d : (i + 1) * d] = rate_of(part, d, time)
        return values

    @cached_property
    def _resting_gaps(self) -> np.ndarray:
        """g₀ (m,) of contacts whose stop does not move, not a number for all others."""
        gaps = [part.gap if isinstance(part, Contact) else None for part in self.contacts.parts]
        return np.array(
            [float(gap.value(0.0)) if gap is not None and gap.constant else np.nan for gap in gaps],
            dtype=float,
        )

    @cached_property
    def _moving_gaps(self) -> list[tuple[int, Signal]]:
        parts = enumerate(self.contacts.parts)
        return [(i, part.gap) for i, part in parts if isinstance(part, Contact) and not part.gap.constant]

    @cached_property
    def breaks(self) -> np.ndarray:
        moving = [gap for _, gap in self._moving_gaps] + [part.tangential_rate for _, part in self._unsteady]
        return breaks_of([self.load, *moving, *[part.offset for part in self.constraint_parts]])

    @cached_property
    def _steady_rates(self) -> np.ndarray:
        """a_T (m d,) of contacts whose belt runs steadily, zero for all others."""
        d = self.contacts.tangential
        rates = np.zeros((self.contacts.count, d))
        for i, part in enumerate(self.contacts.parts):
            if part.tangential_rate.constant:
                rates[i] = rate_of(part, d, self.start.time)
        return rates.ravel()

    @cached_property
    def _unsteady(self) -> list[tuple[int, Contact | FrictionElement]]:
        return [(i, part) for i, part in enumerate(self.contacts.parts) if not part.tangential_rate.constant]

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> Directions:
        d = self.contacts.tangential
        rows = (which[:, None] * d + np.arange(d)).ravel()
        return Directions(
            self.normal_directions[:, which],
            self.gap_rates(t)[which],
            self.tangential_directions[:, rows],
            self.tangential_rates(t)[rows],
        )

    def curvature(
        self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        d = self.contacts.tangential
        normal = np.zeros(self.contacts.count)
        tangential = np.zeros((self.contacts.count, d))
        for i, gap in self._moving_gaps:
            normal[i] = gap.acceleration(t)
        for i, part in self._unsteady:
            rate = part.tangential_rate.rate(t)
            tangential[i, : max(rate.size, 1) if d else 0] = rate
        return normal[which], tangential[which].ravel()

    def constraint_residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        offset = [float(part.offset.value(t)) for part in self.constraint_parts]
        return self.constraint_matrix.T @ q + np.array(offset, dtype=float)

    def constraint_directions(self, t: float, q: np.ndarray) -> tuple[Matrix, np.ndarray]:
        rates = [float(part.offset.rate(t)) for part in self.constraint_parts]
        return self.constraint_matrix, np.array(rates, dtype=float)

    def constraint_curvature(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([float(part.offset.acceleration(t)) for part in self.constraint_parts], dtype=float)

    def potential(self, q: np.ndarray) -> float:
        elastic = 0.0 if self.stiffness is None else 0.5 * float(q @ (self.stiffness @ q))
        return elastic - float(self._dead_load @ q)

    def powers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        load = float(v @ (self.load.value(t) - self._dead_load))
        if self.circulatory is not None:
            load -= float(v @ (self.circulatory @ q))
        return load, 0.0 if self.damping is None else float(v @ (self.damping @ v))

    def compiled_form(self) -> CompiledForm:
        from klapper.mechanics.linear_tables import linear_form

        return linear_form(self)

    def picture(self, until: float = 0.0) -> Picture | None:
        return self._row if self._picture is None else drawn(self._picture, until)

    @cached_property
    def _row(self) -> Picture | None:
        return masses_in_a_row(self)

    @cached_property
    def _dead_load(self) -> np.ndarray:
        """The load if it never changes (weight): it has a potential."""
        return self.load.value(self.start.time) if self.load.constant else np.zeros(self.size)

    def __repr__(self) -> str:
        return f"LinearSystem({counted(self.size, 'coordinate')}, {counted(self.contacts.count, 'contact')})"


def _matrix(given: Any, name: str, size: int | None, symmetry: int) -> Any:
    """A checked matrix, sparse if mostly empty; None for a missing or zero one (but the mass)."""
    if given is None and size is not None:
        return None
    matrix = sparse.csr_array(given, dtype=float) if sparse.issparse(given) else numbers(given, name)
    if matrix.ndim == 1:
        matrix = sparse.diags_array(matrix).tocsr() if matrix.size > 8 else np.diag(matrix)
    if (
        matrix.ndim != 2
        or 0 in matrix.shape
        or matrix.shape[0] != matrix.shape[1]
        or (size is not None and matrix.shape[0] != size)
    ):
        expected = "(n, n) or the diagonal (n,)" if size is None else f"({size}, {size})"
        raise InvalidModel(f"{name} has shape {matrix.shape}, expected {expected}.")
    entries = matrix.data if sparse.issparse(matrix) else matrix
    if not np.all(np.isfinite(entries)):
        raise InvalidModel(f"{name} has entries that are not finite.")
    size_of_entries = np.abs(entries).max(initial=0.0)
    if abs(matrix - symmetry * matrix.T).max() > 1e-9 * size_of_entries:
        kind, other = ("symmetric", "gyroscopic" if name == "damping" else "circulatory")
        if symmetry < 0:
            kind, other = ("skew", "damping" if name == "gyroscopic" else "stiffness")
        where = "" if name == "mass" else f" Put the other part into {other}."
        raise InvalidModel(f"{name} is not {kind}.{where}")
    if size is not None and size_of_entries == 0.0:
        return None
    return _compact(matrix)


def _compact(matrix: Any) -> Any:
    """Sparse where that pays, else dense."""
    size = matrix.shape[0] * matrix.shape[1]
    filled = matrix.nnz if sparse.issparse(matrix) else np.count_nonzero(matrix)
    if matrix.shape[0] > 8 and filled < _SPARSE_BELOW * size:
        return sparse.csr_array(matrix)
    return matrix.toarray() if sparse.issparse(matrix) else np.ascontiguousarray(matrix)


def _columns(columns: list[np.ndarray], size: int) -> Any:
    return _compact(np.array(columns, dtype=float).reshape(len(columns), size).T)


def _normal_or_zero(part: Contact | FrictionElement, size: int) -> np.ndarray:
    return part.normal if isinstance(part, Contact) else np.zeros(size)


def _total(symmetric: Any, skew: Any) -> Any:
    if symmetric is None or skew is None:
        return skew if symmetric is None else symmetric
    return symmetric + skew


def _load(given: Any, n: int) -> Signal:
    load = Constant(np.zeros(n)) if given is None else as_signal(given, "force")
    if load.shape != (n,):
        raise InvalidModel(f"force has shape {load.shape}, expected ({n},).")
    return load


def _start(given: Any, name: str, n: int) -> np.ndarray:
    values = np.zeros(n) if given is None else numbers(given, name)
    if values.shape != (n,):
        raise InvalidModel(f"{name} has shape {values.shape}, expected ({n},).")
    return values


def _compliance(given: Any, contacts: ContactList) -> np.ndarray:
    matrix = finite(given, "compliance", (contacts.count, contacts.count))
    largest = np.abs(matrix).max(initial=0.0)
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * largest:
        raise InvalidModel("compliance is not symmetric.")
    if largest > 0.0 and not positive_definite(matrix + 1e-9 * largest * np.eye(contacts.count)):
        raise InvalidModel(
            "compliance is not positive semidefinite: some contact force would press the gap open."
        )
    for part, row in zip(contacts.parts, matrix, strict=True):
        if isinstance(part, FrictionElement) and np.any(row):
            raise InvalidModel(f"{part.called} has no gap, so its row and column of compliance must be zero.")
    return matrix
