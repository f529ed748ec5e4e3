"""Contact with Coulomb friction, in local contact coordinates.

    v = W λ + b                         relative velocities (or accelerations) from forces (or impulses)
    0 ≤ λ_N ⟂ v_N ≥ 0                   Signorini                                  Waltersberger (3.86), (4.23)
    −v_T ∈ N_D(λ_T),  |D| = ρ           Coulomb: maximum dissipation over the disc  (3.45), (4.24)
    ρ = limit + μ λ_N                   friction limit, (3.74); ``limit`` is a given part, e.g. a bolt's preload
    v_B = 0                             two-sided constraints, λ_B free

D is the exact disc or the regular polygon with an even number of vertices on its rim (3.61)-(3.63).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.checking import Matrix, as_names, as_sparse, as_square_matrix, as_vector
from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.problem import component_maxima, coupled_parts
from klapper.complementarity.residuals import AMPLIFICATION, Residuals
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.convex import RegularPolygon
from klapper.counting import counted


class FrictionalContact:
    """A contact problem with friction for ``len(friction)`` contacts.

    ``delassus``       W (n d, n d) [1/kg], dense, sparse, or a scipy ``LinearOperator``
    ``free_velocity``  b (n d,) [m/s], the relative velocities without contact forces
    ``friction``       μ (n,) or one number
    ``dimension``      d = 3 (normal, two tangential rows per contact), 2 (normal, one tangential) or 1 (normal only)
    ``limit``          given part of the friction limit (n,) [N s], independent of λ_N
    ``polygon``        None for the exact disc, or an even number of vertices
    ``names``          one name per contact

    Rows are ordered contact by contact: normal first, then tangential. Use :meth:`from_parts` for any other layout, for
    two-sided constraints, for friction without a normal contact and for a full μ matrix.

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.2, 0.0], friction=0.5)
    >>> block.residuals(np.array([1.0, -0.2, 0.0])).worst
    0.0
    """

    kind = "frictional contact problem"

    def __init__(
        self,
        delassus: Any,
        free_velocity: Any,
        friction: Any = 0.0,
        *,
        dimension: int = 3,
        limit: Any = 0.0,
        polygon: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if dimension not in (1, 2, 3):
            raise InvalidProblem(f"dimension is {dimension}; allowed are 1, 2 and 3.")
        velocity = as_vector(free_velocity, "free_velocity")
        if velocity.size % dimension:
            raise InvalidProblem(
                f"free_velocity has {velocity.size} entries, expected a multiple of dimension = {dimension}."
            )
        rows = np.arange(velocity.size).reshape(-1, dimension)
        contacts = len(rows)
        coefficient = as_vector(friction, "friction", contacts)
        if dimension == 1 and np.any(coefficient):
            raise InvalidProblem(
                "friction is given for dimension = 1, which has no tangential rows; use 2 or 3."
            )
        names = as_names(names, contacts, "contact ")
        self._setup(
            delassus,
            velocity,
            normal=rows[:, 0],
            tangential=rows[:, 1:] if dimension > 1 else np.empty((0, 1), dtype=int),
            friction=_diagonal(coefficient) if dimension > 1 else sparse.csr_array((0, contacts)),
            limit=as_vector(limit, "limit", contacts) if dimension > 1 else np.empty(0),
            bilateral=np.empty(0, dtype=int),
            polygon=polygon,
            normal_names=names,
            tangential_names=names if dimension > 1 else (),
            bilateral_names=(),
        )

    @classmethod
    def from_parts(
        cls,
        delassus: Any,
        free_velocity: Any,
        *,
        normal: Any = (),
        tangential: Any = (),
        friction: Any = 0.0,
        limit: Any = 0.0,
        bilateral: Any = (),
        polygon: int | None = None,
        normal_names: Sequence[str] | None = None,
        tangential_names: Sequence[str] | None = None,
        bilateral_names: Sequence[str] | None = None,
    ) -> FrictionalContact:
        """A problem whose rows are named one by one.

        ``normal`` (m,), ``tangential`` (s,) or (s, 1 or 2) and ``bilateral`` (k,) hold row numbers of W; together they
        must name every row once. ``friction`` is μ: one number or (s,) when the friction patches belong to the normal
        contacts one by one (s = m), otherwise a matrix (s, m), dense or sparse. ``limit`` is (s,).
        """
        problem = cls.__new__(cls)
        velocity = as_vector(free_velocity, "free_velocity")
        normal = np.atleast_1d(np.asarray(normal, dtype=int))
        tangential = np.asarray(tangential, dtype=int)
        tangential = tangential.reshape(-1, 1) if tangential.ndim < 2 else tangential
        bilateral = np.atleast_1d(np.asarray(bilateral, dtype=int))
        patches, contacts = len(tangential), len(normal)
        if tangential.shape[1] not in (1, 2):
            raise InvalidProblem(f"tangential has shape {tangential.shape}, expected (s, 1) or (s, 2).")
        rows = np.sort(np.concatenate([normal, tangential.ravel(), bilateral]))
        if not np.array_equal(rows, np.arange(velocity.size)):
            raise InvalidProblem(
                f"normal, tangential and bilateral name {rows.size} rows, but must name each of the "
                f"{velocity.size} rows of free_velocity exactly once."
            )
        problem._setup(
            delassus,
            velocity,
            normal=normal,
            tangential=tangential,
            friction=_friction_matrix(friction, patches, contacts),
            limit=as_vector(limit, "limit", patches),
            bilateral=bilateral,
            polygon=polygon,
            normal_names=as_names(normal_names, contacts, "contact "),
            tangential_names=as_names(
                tangential_names, patches, "contact " if patches == contacts else "friction patch "
            ),
            bilateral_names=as_names(bilateral_names, len(bilateral), "constraint "),
        )
        return problem

    def _setup(
        self,
        delassus: Any,
        free_velocity: np.ndarray,
        *,
        normal: np.ndarray,
        tangential: np.ndarray,
        friction: sparse.csr_array,
        limit: np.ndarray,
        bilateral: np.ndarray,
        polygon: int | None,
        normal_names: tuple[str, ...],
        tangential_names: tuple[str, ...],
        bilateral_names: tuple[str, ...],
    ) -> None:
        self.delassus: Matrix | LinearOperator = (
            delassus if isinstance(delassus, LinearOperator) else as_square_matrix(delassus, "delassus")
        )
        if self.delassus.shape != (free_velocity.size, free_velocity.size):
            raise InvalidProblem(
                f"delassus has shape {self.delassus.shape}, expected "
                f"({free_velocity.size}, {free_velocity.size}) to fit free_velocity."
            )
        for argument, values in (("friction", friction.data), ("limit", limit)):
            if values.size and values.min() < 0:
                raise InvalidProblem(
                    f"the least entry of {argument} is {values.min()}; allowed are numbers from 0 on."
                )
        if polygon is not None and (polygon < 2 or polygon % 2 or (tangential.shape[1] == 2 and polygon < 4)):
            raise InvalidProblem(
                f"polygon is {polygon}; allowed are even numbers from 4 on (None: exact disc)."
            )
        self.free_velocity = free_velocity
        self.normal = normal
        self.tangential = tangential
        self.friction = friction
        self.limit = limit
        self.bilateral = bilateral
        self.polygon = polygon if tangential.shape[1] == 2 else None  # on a line the disc is an interval
        self.normal_names = normal_names
        self.tangential_names = tangential_names
        self.bilateral_names = bilateral_names

    @property
    def size(self) -> int:
        return self.free_velocity.size

    @cached_property
    def form(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and laws in the two arrays that compiled calls read (``kernels.contact_form``); not of operators.

        Made once, when it is first needed. Free velocities are no part of it.
        """
        from klapper.complementarity.kernels.contact_form import form_of_dense, form_of_sparse

        laws = (
            np.ascontiguousarray(self.normal, dtype=np.int64),
            np.ascontiguousarray(self.tangential, dtype=np.int64),
            np.ascontiguousarray(self.bilateral, dtype=np.int64),
            self.friction.indptr.astype(np.int64),
            self.friction.indices.astype(np.int64),
            self.friction.data,
            self.limit,
            self.polygon or 0,
        )
        matrix: Any = self.delassus
        if sparse.issparse(matrix):
            return form_of_sparse(matrix.indptr, matrix.indices, matrix.data, *laws)
        return form_of_dense(matrix, *laws)

    @cached_property
    def rough_discs(self) -> bool:
        """Whether some contact has friction, with discs or in the plane, and W is known by its entries."""
        return (
            not isinstance(self.delassus, LinearOperator)
            and self.polygon is None
            and bool(self.holding.any())
        )

    @property
    def contacts(self) -> int:
        """Number of normal contacts."""
        return len(self.normal)

    @cached_property
    def names(self) -> tuple[str, ...]:
        names = [""] * self.size
        for row, name in zip(self.normal, self.normal_names, strict=True):
            names[row] = f"{name} normal"
        directions = ("tangential",) if self.tangential.shape[1] == 1 else ("tangential 1", "tangential 2")
        for rows, name in zip(self.tangential, self.tangential_names, strict=True):
            for row, direction in zip(rows, directions, strict=True):
                names[row] = f"{name} {direction}"
        for row, name in zip(self.bilateral, self.bilateral_names, strict=True):
            names[row] = name
        return tuple(names)

    @cached_property
    def holding(self) -> np.ndarray:
        """Friction patches (s,) that can carry a force at all: a limit, or a normal contact to press them."""
        return (self.limit > 0) | (np.diff(self.friction.indptr) > 0)

    @cached_property
    def diagonal_friction(self) -> bool:
        """Whether the friction limit of patch i depends on normal contact i alone."""
        return bool(self.friction.nnz == np.count_nonzero(self.friction.diagonal()))

    @cached_property
    def interleaved(self) -> bool:
        """Whether rows are ordered contact by contact and each friction limit belongs to its own contact."""
        if len(self.bilateral) or len(self.tangential) not in (0, self.contacts):
            return False
        block = (
            np.arange(self.size).reshape(self.contacts, -1) if self.contacts else np.empty((0, 1), dtype=int)
        )
        layout = np.array_equal(block[:, 0], self.normal)
        return bool(
            layout
            and (len(self.tangential) == 0 or np.array_equal(block[:, 1:], self.tangential))
            and (len(self.tangential) == 0 or self.diagonal_friction)
        )

    def image(self, x: np.ndarray) -> np.ndarray:
        """Relative velocities v = W λ + b (size,) [m/s]."""
        return self.delassus @ x + self.free_velocity

    def friction_limits(self, x: np.ndarray) -> np.ndarray:
        """Radius ρ = limit + μ λ_N of each friction disc (s,) [N s]."""
        return np.maximum(self.limit + self.friction @ x[self.normal], 0.0)

    @cached_property
    def _magnitude(self) -> Matrix | None:
        return None if isinstance(self.delassus, LinearOperator) else abs(self.delassus)

    @cached_property
    def mobility(self) -> np.ndarray:
        """Diagonal of W (size,) [1/kg]: how far a unit force moves its own contact. Estimated for an operator."""
        if not isinstance(self.delassus, LinearOperator):
            return np.abs(self.delassus.diagonal())
        vector = np.random.default_rng(0).standard_normal(self.size)
        norm = 0.0
        for _ in range(20):
            vector = self.delassus @ vector
            norm = float(np.linalg.norm(vector))
            if norm == 0.0:
                break
            vector /= norm
        return np.full(self.size, norm)

    @cached_property
    def parts(self) -> np.ndarray | None:
        """Number of the uncoupled part (size,) each row belongs to; None if all loads are of similar size anyway."""
        load = np.abs(self.free_velocity)
        present = load[load > 0]
        if (
            isinstance(self.delassus, LinearOperator)
            or self.size <= 1 + self.tangential.shape[1]  # one contact
            or present.size == 0
            or present.max() <= 1e4 * present.min()
        ):
            return None
        return self.uncoupled

    @cached_property
    def uncoupled(self) -> np.ndarray | None:
        """Number of the part (size,) each row belongs to; neither W nor a law couples parts. None if there is one."""
        if isinstance(self.delassus, LinearOperator):
            return None
        first = self.tangential[:, 0]
        patch, normal = self.friction.nonzero()
        rows = np.concatenate([first, first[patch]])  # rows of one friction law belong together
        columns = np.concatenate([self.tangential[:, -1], self.normal[normal]])
        laws = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(self.size, self.size))
        part = coupled_parts(sparse.csr_array(self.delassus) + laws)
        return part if part.max(initial=0) > 0 else None

    def velocity_scale(self, terms: np.ndarray) -> np.ndarray:
        """The unit (size,) in which velocities are judged, from the size of the terms they are made of."""
        part = np.zeros(self.size, dtype=int) if self.parts is None else self.parts
        load = component_maxima(part, np.abs(self.free_velocity))
        unit = np.minimum(component_maxima(part, terms), AMPLIFICATION * load)
        largest = float(np.abs(self.free_velocity).max(initial=0.0))
        if largest > 0.0:
            unit = np.where(
                np.isfinite(load), unit, largest
            )  # parts without a load have no unit of their own
        return np.where(np.isfinite(unit), unit, 1.0)

    def residuals(self, x: np.ndarray) -> Residuals:
        """Residuals in units of the largest velocity term and of the force that would cause it at that contact.

        Contacts that no entry of W couples are measured each in their own unit. The velocity unit counts at most as
        ``AMPLIFICATION`` times the largest free velocity.
        """
        return self._residuals(x)[0]

    def violations(self, x: np.ndarray) -> np.ndarray:
        """The worst residual (size,) of the law that each row belongs to, in the units of :meth:`residuals`."""
        _, pair, friction = self._residuals(x)
        velocity = self.image(x)
        worst = np.abs(velocity) / self.velocity_scale(self._terms(x, velocity))  # of constraints
        worst[self.normal] = pair
        worst[self.tangential] = friction[:, None]
        return worst

    def _terms(self, x: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """The size of the terms (size,) that the velocities of x are made of."""
        free = self.free_velocity
        pushed = np.abs(velocity - free) if self._magnitude is None else self._magnitude @ np.abs(x)
        return np.asarray(np.abs(free) + pushed)

    def _residuals(self, x: np.ndarray) -> tuple[Residuals, np.ndarray, np.ndarray]:
        """The same, and the worst of each contact (m,) and friction patch (s,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._measured(x)

    def _measured(self, x: np.ndarray) -> tuple[Residuals, np.ndarray, np.ndarray]:
        velocity = self.image(x)
        scale = self.velocity_scale(self._terms(x, velocity))
        v = velocity / scale
        mobility = self.mobility
        softest = float(mobility.max(initial=0.0)) or 1.0
        unit = np.where(mobility > 0, mobility, softest) / scale
        f_n = x[self.normal] * unit[self.normal]
        equation = float(np.abs(v[self.bilateral]).max(initial=0.0))
        v_n = v[self.normal]
        pair = np.minimum(f_n, v_n)

        weight = mobility[self.tangential].max(axis=1, initial=0.0)
        weight = np.where(weight > 0, weight, softest) / scale[self.tangential[:, 0]]
        f_t = x[self.tangential] * weight[:, None]
        v_t = v[self.tangential]
        radius = self.friction_limits(x) * weight
        slip_map = np.linalg.norm(f_t - self.project_friction(f_t - v_t, radius), axis=1)
        outside = np.linalg.norm(f_t - self.project_friction(f_t, radius), axis=1)
        gap = np.abs(self.dissipation_support(v_t, radius) + np.sum(f_t * v_t, axis=1)) / np.maximum(
            radius, 1.0
        )
        product = np.minimum(np.abs(f_n), 1.0) * np.minimum(np.abs(v_n), 1.0)
        found = Residuals(
            complementarity=float(product.max(initial=0.0)),
            natural_map=float(max(np.abs(pair).max(initial=0.0), slip_map.max(initial=0.0), equation)),
            feasibility=float(max(abs(pair.min(initial=0.0)), equation)),
            cone_violation=float(outside.max(initial=0.0)),
            dissipation_gap=float(gap.max(initial=0.0)),
        )
        return found, np.maximum(np.abs(pair), product), np.maximum(slip_map, np.maximum(outside, gap))

    def project_friction(self, force: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Nearest tangential force (s, d) inside the friction disc or polygon of the given radius (s,)."""
        if self.polygon is not None:
            unit = RegularPolygon(1.0, self.polygon)
            safe = np.where(radius > 0, radius, 1.0)
            return unit.project(force / safe[:, None]) * radius[:, None]
        length = np.linalg.norm(force, axis=1)
        shrink = np.divide(radius, length, out=np.ones_like(length), where=length > radius)
        return force * shrink[:, None]

    def dissipation_support(self, sliding: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Largest power that a force in the disc or polygon can take from the sliding velocity (s, d)."""
        if self.polygon is not None:
            return radius * RegularPolygon(1.0, self.polygon).support(-sliding)
        return radius * np.linalg.norm(sliding, axis=1)

    def states(self, x: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
        """Contact states (m,): OPEN, STICK or SLIP; a closed contact without friction counts as SLIP.

        Open: no normal force. Slip: tangential velocity above ``tolerance`` times the largest velocity term.
        """
        velocity = self.image(x)
        scale = self.velocity_scale(np.abs(self.free_velocity) + np.abs(velocity - self.free_velocity))
        force = x[self.normal] * self.mobility[self.normal]
        state = np.where(force > tolerance * scale[self.normal], SLIP, OPEN)
        if len(self.tangential) == self.contacts and self.diagonal_friction:
            speed = np.linalg.norm(velocity[self.tangential], axis=1)
            sliding = speed > tolerance * scale[self.tangential[:, 0]]
            holds = self.friction_limits(x) > 0
            state[(state == SLIP) & ~sliding & holds] = STICK
        return state

    def __repr__(self) -> str:
        shape = "disc" if self.polygon is None else f"polygon of {self.polygon}"
        return f"FrictionalContact({counted(self.contacts, 'contact')}, {len(self.tangential)} with friction {shape})"


def _friction_matrix(friction: Any, patches: int, contacts: int) -> sparse.csr_array:
    if sparse.issparse(friction) or np.ndim(friction) == 2:
        matrix = as_sparse(sparse.csr_array(friction), "friction")
        if matrix.shape != (patches, contacts):
            raise InvalidProblem(f"friction has shape {matrix.shape}, expected ({patches}, {contacts}).")
        return matrix
    values = as_vector(friction, "friction", patches)
    if not np.any(values):
        return sparse.csr_array((patches, contacts))
    if patches != contacts:
        raise InvalidProblem(
            f"friction is one number per patch, but there are {patches} patches and {contacts} normal contacts; "
            f"give the matrix ({patches}, {contacts})."
        )
    return _diagonal(values)


def _diagonal(values: np.ndarray) -> sparse.csr_array:
    """A diagonal matrix without stored zeros."""
    columns = np.flatnonzero(values)
    starts = np.concatenate([[0], np.cumsum(values != 0.0)])
    return sparse.csr_array((values[columns], columns, starts), shape=(values.size, values.size))
