"""An impact as plain data: inertia, velocity before, directions of the closed contacts, coefficients of the laws.

    M (⁺v − ⁻v) = J_N Λ_N + J_T Λ_T + J_B Λ_B                                       Waltersberger (3.95)
    v_N = J_Nᵀ v + a_N,   v_T = J_Tᵀ v + a_T,   v_B = J_Bᵀ v + a_B

Laws see the impact in contact coordinates only: y = (v_N, v_T, v_B) and ⁺y = ⁻y + W Λ with W = Jᵀ M⁻¹ J. A contact law
takes all contacts it is given. Which ones to give is the trap of the subject: a contact that opens (⁻v_N > 0) and has
another ε than the rest can gain energy or leave the law without a solution, so pass A_N2, see
:meth:`ImpactProblem.approaching`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.complementarity import InvalidProblem
from klapper.complementarity.checking import as_names, as_sparse, as_vector, require_finite
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel

Matrix = Any  # ndarray or scipy csr_array
T = TypeVar("T")

_DENSE_ROWS = (
    400  # up to here a sparse Delassus matrix is stored dense: the compiled solvers are faster on it
)
_SYMMETRY = 1e-10


class Approaching(NamedTuple):
    """The part of an impact whose contacts do not open.

    ``problem`` holds the contacts with the numbers ``contacts`` (k,) and the friction patches with the numbers
    ``patches`` (p,) of the whole impact, in this order.

    Of two balls beside a wall each only the first comes nearer:

    >>> both = ImpactProblem([1.0, 1.0], [-1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], names=["left", "right"])
    >>> part = both.approaching()
    >>> part.contacts.tolist(), part.problem.names
    ([0], ('left',))
    """

    problem: ImpactProblem
    contacts: np.ndarray
    patches: np.ndarray


class ImpactProblem:
    """The data of one impact with m contacts, s friction patches and k two-sided constraints.

    ``mass``             M (n, n), dense or sparse, or its diagonal (n,) [kg, kg m²]
    ``before``           ⁻v (n,) [m/s, rad/s]
    ``normal``           J_N (n, m), dense or sparse
    ``restitution``      ε (Newton) or e (Poisson), one number or (m,), each in [0, 1]
    ``tangential``       J_T (n, s d), patch by patch; None without friction
    ``friction``         μ: one number or (s,) if patch i belongs to contact i, otherwise a matrix (s, m), (3.74)
    ``normal_rate``      a_N (m,) [m/s], negative for a wall that moves towards the body
    ``tangential_rate``  a_T (s, d) [m/s], e.g. minus the speed of a belt
    ``bilateral``        J_B (n, k), two-sided constraints that take part; redundant ones are allowed
    ``bilateral_rate``   a_B (k,) [m/s]
    ``dimension``        d, tangential directions per patch: 1 in the plane, 2 in space
    ``names``, ``coordinates``  names of the contacts (m,) and of the velocities (n,)

    A given friction limit (preload) has no place here: a finite force has no impulse.

    >>> row = ImpactProblem([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]], restitution=1.0)
    >>> row.normal_velocity(row.before).tolist()
    [-1.0, 0.0]
    """

    def __init__(
        self,
        mass: Any,
        before: Any,
        normal: Any,
        *,
        restitution: Any = 0.0,
        tangential: Any = None,
        friction: Any = 0.0,
        normal_rate: Any = 0.0,
        tangential_rate: Any = 0.0,
        bilateral: Any = None,
        bilateral_rate: Any = 0.0,
        dimension: int = 1,
        names: Sequence[str] | None = None,
        coordinates: Sequence[str] | None = None,
    ) -> None:
        if dimension not in (1, 2):
            raise InvalidModel(f"dimension is {dimension}; allowed are 1 (in the plane) and 2 (in space).")
        self.dimension = dimension
        self.before: np.ndarray = read_array(as_vector, before, "before")
        self.mass: Matrix = _mass(mass, self.size)
        self.normal: Matrix = _directions(normal, "normal", self.size)
        self.tangential: Matrix = _directions(tangential, "tangential", self.size)
        self.bilateral: Matrix = _directions(bilateral, "bilateral", self.size)
        if self.tangential.shape[1] % dimension:
            raise InvalidModel(
                f"tangential has {self.tangential.shape[1]} columns, expected a multiple of dimension = {dimension}."
            )
        self.restitution: np.ndarray = read_array(as_vector, restitution, "restitution", self.contacts)
        self.names: tuple[str, ...] = read_array(as_names, names, self.contacts, "contact ")
        self.coordinates: tuple[str, ...] = read_array(as_names, coordinates, self.size, "v")
        self._require_restitution()
        self._friction: sparse.csr_array | None = _friction(friction, self.patches, self.contacts)
        self.normal_rate: np.ndarray = read_array(as_vector, normal_rate, "normal_rate", self.contacts)
        self.tangential_rate = self._tangential_rate(tangential_rate)
        self.bilateral_rate: np.ndarray = read_array(
            as_vector, bilateral_rate, "bilateral_rate", self.constraints
        )
        self.response: Matrix = _solve_mass(self.mass, self.directions)
        """M⁻¹ J (n, m + s d + k): velocities per contact impulse."""

    @property
    def size(self) -> int:
        """Number of velocities n."""
        return self.before.size

    @property
    def contacts(self) -> int:
        """Number of normal contacts m."""
        return int(self.normal.shape[1])

    @property
    def patches(self) -> int:
        """Number of friction patches s."""
        return int(self.tangential.shape[1]) // self.dimension

    @property
    def constraints(self) -> int:
        """Number of two-sided constraints k."""
        return int(self.bilateral.shape[1])

    @property
    def patch_names(self) -> tuple[str, ...]:
        return (
            self.names if self.patches == self.contacts else as_names(None, self.patches, "friction patch ")
        )

    @property
    def constraint_names(self) -> tuple[str, ...]:
        return as_names(None, self.constraints, "constraint ")

    @property
    def frictionless(self) -> bool:
        return self._friction is None

    @property
    def friction(self) -> sparse.csr_array:
        """μ (s, m), (3.74)."""
        return sparse.csr_array((self.patches, self.contacts)) if self._friction is None else self._friction

    @cached_property
    def directions(self) -> Matrix:
        """J = (J_N, J_T, J_B), (n, m + s d + k)."""
        blocks = [self.normal, self.tangential, self.bilateral]
        if any(sparse.issparse(block) for block in blocks):
            return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks]))
        return self.normal if self.patches == self.constraints == 0 else np.hstack(blocks)

    @cached_property
    def rates(self) -> np.ndarray:
        """a = (a_N, a_T, a_B), (m + s d + k,) [m/s]."""
        return np.concatenate([self.normal_rate, self.tangential_rate.ravel(), self.bilateral_rate])

    @cached_property
    def delassus(self) -> Matrix:
        """W = Jᵀ M⁻¹ J (m + s d + k, …) [1/kg]; dense unless large and sparse."""
        product = self.directions.T @ self.response
        if sparse.issparse(product):
            product = product.toarray() if product.shape[0] <= _DENSE_ROWS else sparse.csr_array(product)
        return 0.5 * (product + product.T)

    def contact_velocity(self, velocity: np.ndarray) -> np.ndarray:
        """y = (v_N, v_T, v_B), (m + s d + k,) [m/s], of velocities v (n,)."""
        return self.directions.T @ velocity + self.rates

    def normal_velocity(self, velocity: np.ndarray) -> np.ndarray:
        """v_N (m,) [m/s]; negative: approach."""
        return self.normal.T @ velocity + self.normal_rate

    def tangential_velocity(self, velocity: np.ndarray) -> np.ndarray:
        """v_T (s, d) [m/s]."""
        return (self.tangential.T @ velocity).reshape(-1, self.dimension) + self.tangential_rate

    def friction_limits(self, normal: np.ndarray) -> np.ndarray:
        """μ Λ_N (s,) [N s] of normal impulses (m,)."""
        return np.zeros(self.patches) if self._friction is None else self._friction @ normal

    def kinetic_energy(self, velocity: np.ndarray) -> float:
        """½ vᵀ M v [J]."""
        inertia = self.mass * velocity if self.mass.ndim == 1 else self.mass @ velocity
        return 0.5 * float(velocity @ inertia)

    def starting_from(self, velocity: Any) -> ImpactProblem:
        """The same contacts met with other velocities ⁻v (n,)."""
        other = ImpactProblem.__new__(ImpactProblem)
        other.__dict__.update(self.__dict__)
        other.before = read_array(as_vector, velocity, "velocity", self.size)
        return other

    def approaching(self, tolerance: float = 0.0) -> Approaching:
        """The contacts with ⁻v_N ≤ ``tolerance`` [m/s]: A_N2 of (3.18), those at rest included.

        A friction patch stays if one of its contacts does; two-sided constraints stay.
        """
        contacts = np.flatnonzero(self.normal_velocity(self.before) <= tolerance)
        shares = self.friction[:, contacts]
        belongs = np.isin(np.arange(self.patches), contacts) if self.patches == self.contacts else False
        patches = np.flatnonzero((np.diff(shares.indptr) > 0) | belongs)
        return Approaching(self._part(contacts, patches), contacts, patches)

    def rows(self, contacts: np.ndarray, patches: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers of the entries of y and Λ: normal (k,), tangential (p, d) and those of all constraints."""
        tangential = self.contacts + patches[:, None] * self.dimension + np.arange(self.dimension)
        first = self.contacts + self.patches * self.dimension
        return contacts, tangential, np.arange(first, first + self.constraints)

    def _part(self, contacts: np.ndarray, patches: np.ndarray) -> ImpactProblem:
        normal, tangential, bilateral = self.rows(contacts, patches)
        columns = tangential.ravel() - self.contacts
        part = ImpactProblem.__new__(ImpactProblem)
        for name in ("dimension", "before", "mass", "bilateral", "bilateral_rate", "coordinates"):
            setattr(part, name, getattr(self, name))
        part.normal, part.tangential = self.normal[:, contacts], self.tangential[:, columns]
        part.restitution, part.normal_rate = self.restitution[contacts], self.normal_rate[contacts]
        part.tangential_rate = self.tangential_rate[patches]
        part._friction = _or_none(self.friction[:, contacts][patches])
        part.names = tuple(self.names[i] for i in contacts)
        part.response = self.response[:, np.concatenate([normal, tangential.ravel(), bilateral])]
        return part

    def _require_restitution(self) -> None:
        outside = np.flatnonzero((self.restitution < 0.0) | (self.restitution > 1.0))
        if outside.size:
            worst = int(outside[0])
            raise InvalidModel(
                f"{self.names[worst]}: restitution is {self.restitution[worst]:g}; allowed are numbers from 0 to 1."
            )

    def _tangential_rate(self, rate: Any) -> np.ndarray:
        flat = np.ravel(rate) if np.ndim(rate) else rate
        values: np.ndarray = read_array(as_vector, flat, "tangential_rate", self.patches * self.dimension)
        return values.reshape(self.patches, self.dimension)

    def __repr__(self) -> str:
        return (
            f"ImpactProblem({counted(self.size, 'velocity', 'velocities')}, "
            f"{counted(self.contacts, 'contact')}, {self.patches} friction patches)"
        )


def read_array(reader: Callable[..., T], *arguments: Any) -> T:
    """A user's array by one of the readers of the complementarity room, refused as a model."""
    try:
        return reader(*arguments)
    except InvalidProblem as error:
        raise InvalidModel(str(error)) from None


def _directions(value: Any, argument: str, size: int) -> Matrix:
    """Directions (n, columns), an own copy; none at all for None."""
    if value is None:
        return np.empty((size, 0))
    if sparse.issparse(value):
        matrix = read_array(as_sparse, value, argument)
    else:
        matrix = np.array(value, dtype=float, order="C")
        read_array(require_finite, matrix, argument)
    if matrix.ndim != 2 or matrix.shape[0] != size:
        raise InvalidModel(
            f"{argument} has shape {matrix.shape}, expected ({size}, number of columns): one column per direction."
        )
    return matrix


def _mass(value: Any, size: int) -> Matrix:
    """The diagonal (n,), or the symmetric matrix (n, n), an own copy."""
    if sparse.issparse(value):
        matrix = read_array(as_sparse, value, "mass")
        if (
            matrix.shape == (size, size)
            and (matrix - sparse.diags_array(matrix.diagonal())).count_nonzero() == 0
        ):
            matrix = matrix.diagonal()
    else:
        matrix = np.array(value, dtype=float, order="C")
        read_array(require_finite, matrix, "mass")
    if matrix.shape not in ((size,), (size, size)):
        raise InvalidModel(
            f"mass has shape {matrix.shape}, expected ({size}, {size}) or the diagonal ({size},)."
        )
    diagonal = matrix if matrix.ndim == 1 else matrix.diagonal()
    if np.any(diagonal <= 0.0):
        worst = int(np.argmin(diagonal))
        raise InvalidModel(f"the mass of velocity {worst} is {diagonal[worst]:g}; it must be above 0.")
    if matrix.ndim == 2 and abs(matrix - matrix.T).max() > _SYMMETRY * diagonal.max():
        raise InvalidModel("the mass matrix is not symmetric.")
    return matrix


def _solve_mass(mass: Matrix, right: Matrix) -> Matrix:
    """M⁻¹ times a matrix (n, r)."""
    if mass.ndim == 1:
        if sparse.issparse(right):
            return sparse.csr_array(sparse.diags_array(1.0 / mass) @ right)
        return right / mass[:, None]
    columns = right.toarray() if sparse.issparse(right) else right
    if sparse.issparse(mass):
        from scipy.sparse.linalg import splu

        factors = splu(
            mass.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        if np.any(factors.U.diagonal() <= 0.0):
            raise InvalidModel(_NOT_DEFINITE)
        return factors.solve(columns)
    try:
        return scipy.linalg.cho_solve(
            scipy.linalg.cho_factor(mass, check_finite=False), columns, check_finite=False
        )
    except np.linalg.LinAlgError:
        raise InvalidModel(_NOT_DEFINITE) from None


_NOT_DEFINITE = "the mass matrix is not positive definite: some motion would have no inertia."


def _friction(value: Any, patches: int, contacts: int) -> sparse.csr_array | None:
    """μ as a matrix (s, m) without stored zeros; None if there is no friction at all."""
    if not (sparse.issparse(value) or np.ndim(value) == 2):
        values = read_array(as_vector, value, "friction", patches)
        if patches == 0 and np.any(value):
            raise InvalidModel(
                "friction is given, but no tangential directions; give tangential, or friction = 0."
            )
        if not values.any():
            return None
        if patches != contacts:
            raise InvalidModel(
                f"friction is one number per patch, but there are {patches} patches and "
                f"{counted(contacts, 'contact')}; give "
                f"the matrix ({patches}, {contacts})."
            )
        value = sparse.diags_array(values)
    matrix = read_array(as_sparse, sparse.csr_array(value), "friction")
    if matrix.shape != (patches, contacts):
        raise InvalidModel(f"friction has shape {matrix.shape}, expected ({patches}, {contacts}).")
    if matrix.nnz and matrix.data.min() < 0.0:
        raise InvalidModel(
            f"the least entry of friction is {matrix.data.min():g}; allowed are numbers from 0 on."
        )
    return _or_none(matrix)


def _or_none(friction: sparse.csr_array) -> sparse.csr_array | None:
    friction.eliminate_zeros()
    return friction if friction.nnz else None
