"""The compiled loop for linear systems: arrays for the kernel, samples from it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.signals import Signal
from klapper.schemes.base import Snapshot
from klapper.schemes.energy import soft_contacts
from klapper.schemes.linear_solvers import address, solvers
from klapper.schemes.modal_coordinates import ModalCoordinates, decoupled

_MOST_ROWS = 1500  # of the dense Delassus matrix
_MOST_COORDINATES = 2000  # of a dense inverse
_WIDEST_BAND = 32
_SMALL = 32  # coordinates of a dense matrix that is factorised as it is
_MANY_COORDINATES = 64  # from which on modal coordinates are faster than products with full matrices
_SYMMETRIC = 1e-12  # relative: entries that differ by less are equal but for round-off
_DENSE_FROM = 0.25  # share of entries from which on directions are stored with all of them


def obstacle(system: LinearSystem) -> str:
    """Why the compiled loop cannot take the system; empty if it can."""
    if system.constraints:
        return "it has two-sided constraints"
    if not system.contacts.constant:
        return "a friction coefficient depends on the sliding speed"
    laws = system.contacts.laws(np.arange(system.contacts.count))
    if laws.coupled:
        return "friction limits depend on several contacts"
    if system.contacts.count * (1 + system.contacts.tangential) > _MOST_ROWS:
        return f"it has more than {_MOST_ROWS} contact rows"
    if np.any(laws.rough) and (system.gyroscopic is not None or system.circulatory is not None):
        return "friction meets unsymmetric matrices"
    if system.size > _MOST_COORDINATES and _bandwidth(_implicit(system, 1.0, 1.0)) > _WIDEST_BAND:
        return f"it has more than {_MOST_COORDINATES} coordinates and is not banded"
    return ""


class LinearStretch:
    """Many steps of Moreau's scheme on a linear system, in modal coordinates where its matrices are full.

    ``level``           "velocity" or "position", see :class:`klapper.schemes.Moreau`
    ``modal_from``      number of coordinates from which on modal ones are used
    """

    def __init__(
        self,
        system: LinearSystem,
        step: float,
        theta: float,
        tolerance: float,
        level: str = "velocity",
        modal_from: int = _MANY_COORDINATES,
    ) -> None:
        self.system, self.step, self.theta, self.tolerance = system, step, theta, tolerance
        self.on_position, self.modal_from = level == "position", modal_from
        self._failed = 0  # number of solvers that did not find every answer

    @cached_property
    def _laws(self) -> Any:
        return self.system.contacts.laws(np.arange(self.system.contacts.count))

    @cached_property
    def _width(self) -> int:
        return 1 + self.system.contacts.tangential if np.any(self._laws.rough) else 1

    @cached_property
    def _scale(self) -> np.ndarray:
        """Factors (w,) per contact (m, w) between impulses and the kernel's scaled ones."""
        scale = np.ones((self.system.contacts.count, self._width))
        if self._width == 3:
            scale[:, 2] = self._laws.ratio
        return scale

    @cached_property
    def _modal(self) -> ModalCoordinates | None:
        """Coordinates in which the matrices are diagonal, if there are such and it pays.

        With friction it does not: what sticks has velocities that are exactly zero, which modal ones are not.
        """
        system = self.system
        if self._width > 1 or system.size < self.modal_from or not self._symmetric:
            return None
        if _bandwidth(_implicit(system, self.step, self.theta)) <= _WIDEST_BAND:
            return None
        return decoupled(system)

    @cached_property
    def _solvers(self) -> tuple[str, ...]:
        delassus = self._form.delassus
        apart, size = abs(delassus - delassus.T), abs(delassus) + abs(delassus.T)
        return solvers(
            self.system.contacts.count,
            rough=self._width > 1,
            elements=not np.all(self._laws.normal),
            symmetric=self._symmetric,
            symmetric_delassus=bool(np.all(apart <= _SYMMETRIC * size)),
        )

    @property
    def _symmetric(self) -> bool:
        return self.system.gyroscopic is None and self.system.circulatory is None

    @cached_property
    def _load(self) -> Signal:
        return self.system.load if self._modal is None else self.system.load.mapped(self._modal.shapes.T)

    @cached_property
    def _form(self) -> Any:
        from klapper.schemes.kernels.linear_form import LinearForm

        system, laws, modal = self.system, self._laws, self._modal
        columns, seen = self._columns(), system if modal is None else modal.matrices
        implicit = _implicit(seen, self.step, self.theta)
        factors, banded = _factors(implicit)
        response = _solve(implicit, columns).T.copy()
        delassus = np.asarray(columns.T @ response.T)
        if self._symmetric:
            delassus = 0.5 * (delassus + delassus.T)
        soft, compliance = np.zeros(system.contacts.count, dtype=bool), np.zeros((0, 0))
        if system.compliance is not None:
            compliance, normal = system.compliance, slice(None, None, self._width)
            soft = soft_contacts(compliance, np.diag(delassus)[normal], self.step)
            delassus[normal, normal] += compliance / (self.theta * self.step**2)  # (5.70)
        dead = system._dead_load if modal is None else modal.shapes.T @ system._dead_load
        by_columns = _by_rows(columns.T)
        filled = len(by_columns[2]) > _DENSE_FROM * columns.size
        return LinearForm(
            *_packed(_matrices(seen), system.size),
            factors,
            *by_columns,
            np.ascontiguousarray(columns.T) if filled else np.zeros((0, 0)),
            response.reshape(columns.shape[1], system.size),
            np.ascontiguousarray(delassus),
            np.ascontiguousarray(compliance),
            np.array([laws.normal, laws.restitution, laws.friction, laws.limit, soft], dtype=float),
            dead,
            self._width,
            banded,
            self.on_position,
            self.theta,
            self.step,
        )

    def _columns(self) -> Any:
        """J (n, m w), contact by contact, dense or sparse."""
        system, w = self.system, self._width
        normal, tangential = system.normal_directions, system.tangential_directions
        normal = normal.toarray() if sparse.issparse(normal) else normal
        count = system.contacts.count
        full = np.zeros((system.size, count, w))
        full[:, :, 0] = normal
        if w > 1:
            tangential = tangential.toarray() if sparse.issparse(tangential) else tangential
            full[:, :, 1:] = tangential.reshape(system.size, count, w - 1) * self._scale[:, 1:]
        columns = full.reshape(system.size, count * w)
        return columns if self._modal is None else self._modal.shapes.T @ columns

    def run(
        self, snapshot: Snapshot, count: int, every: int, until: float = np.inf
    ) -> tuple[Snapshot, dict[str, np.ndarray], str]:
        from klapper.schemes.kernels.linear_form import Saved

        system, m, w = self.system, self.system.contacts.count, self._width
        d = system.contacts.tangential
        numbers = self._sample_numbers(snapshot.step, count, every)
        s = len(numbers)
        times = system.start.time + numbers * self.step
        saved = Saved(
            np.empty((s, system.size)),
            np.empty((s, system.size)),
            np.empty((s, m)),
            np.empty((s, m, w)),
            np.zeros((s, m), np.int8),
            np.empty((s, 7)),
            np.empty(s),
        )
        course = self._course(snapshot.step, count, times)
        while True:
            solver = address(self._solvers[self._failed])
            done, covered, last = self._attempt(solver, snapshot, course, count, every, saved)
            if covered == count or self._failed == len(self._solvers) - 1:
                break
            self._failed += 1
        finished = done == s and covered == count
        why = "" if finished else "a contact problem was not solved to the tolerance by the compiled solver"
        if done == 0:
            return snapshot, {}, why
        real = np.zeros((done, m, 1 + d))
        real[:, :, :w] = saved.impulse[:done] * self._scale
        position, velocity = saved.position[:done], saved.velocity[:done]
        if self._modal is not None:
            position, velocity = position @ self._modal.shapes.T, velocity @ self._modal.shapes.T
        samples = {
            "step": numbers[:done],
            "time": times[:done],
            "position": position,
            "velocity": velocity,
            "gap": saved.gap[:done],
            "impulse": real,
            "state": saved.state[:done],
            "constraint_impulse": np.zeros((done, 0)),
            "energy": saved.energy[:done],
            "residual": saved.residual[:done],
        }
        return self._after(snapshot, samples, last), samples, why

    def _attempt(
        self, solver: Any, snapshot: Snapshot, course: Any, count: int, every: int, saved: Any
    ) -> tuple[int, int, np.ndarray]:
        """The loop with a solver of contact problems: (samples, steps they cover, impulses (m, w) of the last step)."""
        from klapper.schemes.kernels.linear import run
        from klapper.schemes.kernels.linear_contacts import new_basis

        m, w = self.system.contacts.count, self._width
        impulse, last = np.zeros((m, w)), np.zeros((m, w))
        scale = np.where(self._scale > 0, self._scale, 1.0)
        impulse[snapshot.contact] = snapshot.impulse[:, :w] / scale[snapshot.contact]
        held = np.zeros(m, dtype=bool)
        held[snapshot.contact] = True
        into = self._modal.into if self._modal is not None else np.copy
        done, covered = run(
            self._form,
            course,
            into(snapshot.position),
            into(snapshot.velocity),
            impulse,
            held,
            np.array(snapshot.sums, dtype=float),
            snapshot.step,
            count,
            every,
            self.tolerance,
            saved,
            last,
            solver,
            *new_basis(impulse if w == 1 else impulse[:0]),
        )
        return done, covered, last

    def _after(self, before: Snapshot, samples: dict[str, np.ndarray], last: np.ndarray) -> Snapshot:
        loaded = np.flatnonzero(np.any(last != 0.0, axis=1)).astype(np.int64)
        impulse = np.zeros((len(loaded), 1 + self.system.contacts.tangential))
        impulse[:, : self._width] = (last * self._scale)[loaded]
        return replace(
            before,
            step=int(samples["step"][-1]),
            time=float(samples["time"][-1]),
            position=samples["position"][-1].copy(),
            velocity=samples["velocity"][-1].copy(),
            contact=loaded,
            impulse=impulse,
            sums=samples["energy"][-1, 2:].copy(),
        )

    @staticmethod
    def _sample_numbers(first: int, count: int, every: int) -> np.ndarray:
        numbers = np.arange(first - first % every + every, first + count + 1, every, dtype=np.int64)
        if len(numbers) == 0 or numbers[-1] != first + count:
            numbers = np.append(numbers, first + count)
        return numbers

    def _course(self, first: int, count: int, sample_times: np.ndarray) -> Any:
        from klapper.schemes.kernels.linear_form import Course

        system, h = self.system, self.step
        start = system.start.time + (first + np.arange(count)) * h
        at_force, at_contact = start + self.theta * h, start + (1.0 - self.theta) * h
        one = start[:1]
        fixed_load = self._load.constant
        gaps = [part.gap for part in system.contacts.parts if hasattr(part, "gap")]
        fixed_gaps = all(gap.constant for gap in gaps)
        fixed_rates = all(part.tangential_rate.constant for part in system.contacts.parts)
        contact_times = one if fixed_gaps else at_contact
        earlier = np.maximum(contact_times - h, system.start.time)
        turning = h * np.maximum(*(np.abs(system.gap_accelerations(t)) for t in (contact_times, earlier)))
        rates = system.tangential_rates(one if fixed_rates else at_contact)
        if self._width == 3:
            shape = rates.shape
            rates = (rates.reshape(shape[0], -1, 2) * self._scale[:, 1:]).reshape(shape)
        return Course(
            np.ascontiguousarray(self._load.value(one if fixed_load else at_force)),
            np.stack([system.gap_offsets(contact_times), system.gap_rates(contact_times), turning]),
            np.ascontiguousarray(rates),
            system.gap_offsets(one if fixed_gaps else sample_times),
        )


def _matrices(system: Any) -> tuple[Any, ...]:
    """M, D + G, K + N, D, K, N."""
    return (
        system.mass_matrix,
        system.rate_matrix,
        system.position_matrix,
        system.damping,
        system.stiffness,
        system.circulatory,
    )


def _packed(matrices: Any, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start (k, n + 1), column and value of k sparse matrices by rows; None is a matrix of zeros."""
    empty = np.zeros(size + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    parts = [empty if matrix is None else _by_rows(matrix) for matrix in matrices]
    before = np.cumsum([0, *(len(value) for _, _, value in parts[:-1])])
    return (
        np.array([start for start, _, _ in parts]) + before[:, None],
        np.concatenate([column for _, column, _ in parts]),
        np.concatenate([value for _, _, value in parts]),
    )


def _by_rows(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, column and value of a dense or sparse matrix."""
    if sparse.issparse(matrix):
        return _entries(sparse.csr_array(matrix))
    row, column = np.nonzero(matrix)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(matrix)))])
    return start.astype(np.int64), column.astype(np.int64), np.asarray(matrix[row, column], dtype=float)


def _entries(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, index and value of a compressed matrix, by rows or by columns."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(float)


def _implicit(system: Any, step: float, theta: float) -> Any:
    """M̂."""
    matrix = system.mass_matrix
    if system.rate_matrix is not None:
        matrix = matrix + (step * theta) * system.rate_matrix
    if system.position_matrix is not None:
        matrix = matrix + (step * theta) ** 2 * system.position_matrix
    return matrix


def _bandwidth(matrix: Any) -> int:
    """Number of diagonals beside the main one of a symmetric matrix, or a huge number for an unsymmetric one."""
    if abs(matrix - matrix.T).max() > 1e-13 * abs(matrix).max():
        return int(np.iinfo(np.int64).max)
    row, column = _places(matrix)
    return int(np.abs(row - column).max(initial=0))


def _places(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of a dense or sparse matrix that are not zero."""
    if not sparse.issparse(matrix):
        row, column = np.nonzero(matrix)
        return row, column
    entries = sparse.coo_array(matrix)
    return entries.row, entries.col


def _factors(matrix: Any) -> tuple[np.ndarray, bool]:
    """(band factors L D Lᵀ, True) of a narrow symmetric matrix, else (inverse, False)."""
    n, width = matrix.shape[0], _bandwidth(matrix)
    if width > min(_WIDEST_BAND, n // 3):
        dense = matrix.toarray() if sparse.issparse(matrix) else matrix
        return np.linalg.inv(dense), False
    lower = _cholesky(matrix, width)
    diagonal = lower[0].copy()
    band = lower / diagonal  # unit lower triangle by columns
    band[0] = diagonal**2
    return band, True


def _cholesky(matrix: Any, width: int) -> np.ndarray:
    """The diagonals (width + 1, n) of the lower factor of a matrix, from the main one down."""
    n = matrix.shape[0]
    if n <= _SMALL and not sparse.issparse(
        matrix
    ):  # LAPACK's banded routines take longer to call than to compute
        factor, lower = np.linalg.cholesky(matrix), np.zeros((width + 1, n))
        for below in range(width + 1):
            lower[below, : n - below] = np.diagonal(factor, -below)
        return lower
    import scipy.linalg

    entries = sparse.coo_array(matrix)
    below = entries.row >= entries.col
    upper = np.zeros((width + 1, n))
    upper[(entries.row - entries.col)[below], entries.col[below]] = entries.data[below]
    return np.asarray(scipy.linalg.cholesky_banded(upper, lower=True))


def _solve(matrix: Any, right: np.ndarray) -> np.ndarray:
    if right.shape[1] == 0:
        return np.zeros(right.shape)
    if not sparse.issparse(matrix):
        return np.linalg.solve(matrix, right)
    from scipy.sparse.linalg import splu

    return splu(matrix.tocsc()).solve(np.ascontiguousarray(right))
