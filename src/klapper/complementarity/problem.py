"""Complementarity problems as plain data.

Linear:     find x with  0 ≤ x ⟂ A x + b ≥ 0
Mixed:      the same, but some x are free and their rows are equations
Nonlinear:  F(x) in place of A x + b                               Waltersberger Def. B.1

A problem knows its data and how well a given point satisfies them (``residuals``); it does not know any solver.
The contract every problem keeps:

1. ``size`` is the number of unknowns, ``names`` one name for each of them.
2. ``image(x)`` is the quantity complementary to x: A x + b, a velocity, a gap.
3. ``residuals(x)`` uses the data and x only.
4. ``kind`` names the problem in messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from klapper.complementarity.checking import Matrix, as_names, as_square_matrix, as_vector
from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.residuals import AMPLIFICATION, Residuals
from klapper.counting import counted


class Problem(Protocol):
    """What every complementarity problem offers; the contract is in the module's docstring.

    ``kind``   what it is, in words; ``size`` number of unknowns n, ``names`` theirs
    ``image``  y (n,) of a point x (n,); ``residuals`` how far it is from a solution, :class:`Residuals`

    >>> from klapper.complementarity import LinearComplementarity
    >>> problem = LinearComplementarity([[2.0]], [-4.0])  # 0 ≤ x ⟂ 2 x − 4 ≥ 0
    >>> problem.kind, problem.image([3.0]).tolist(), problem.residuals([2.0]).worst
    ('linear complementarity problem', [2.0], 0.0)
    """

    kind: str

    @property
    def size(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def image(self, x: np.ndarray) -> np.ndarray: ...

    def residuals(self, x: np.ndarray) -> Residuals: ...


class _Linear:
    """What linear and mixed problems share: the affine map A x + b."""

    __slots__ = ("_names", "matrix", "offset")

    def __init__(self, matrix: Any, offset: Any, names: Sequence[str] | None) -> None:
        self.matrix: Matrix = as_square_matrix(matrix, "matrix")
        self.offset: np.ndarray = as_vector(offset, "offset", self.matrix.shape[0])
        self._names = None if names is None else as_names(names, self.offset.size, "")

    @property
    def size(self) -> int:
        return self.offset.size

    @property
    def names(self) -> tuple[str, ...]:
        return self._names or as_names(None, self.size, "x")

    def image(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return self.matrix @ x + self.offset


class LinearComplementarity(_Linear):
    """Find x with 0 ≤ x ⟂ A x + b ≥ 0.

    ``matrix`` is A (n, n), dense or sparse; ``offset`` is b (n,). In contact mechanics x are normal forces [N] or
    impulses [N s], A [1/kg] the Delassus matrix and A x + b the normal accelerations [m/s²] or velocities [m/s].
    ``names`` (n,) of the unknowns appear in messages.

    >>> problem = LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])
    >>> problem.residuals(np.array([0.5, 0.0])).worst
    0.0
    """

    __slots__ = ()
    kind = "linear complementarity problem"

    def __init__(self, matrix: Any, offset: Any, *, names: Sequence[str] | None = None) -> None:
        super().__init__(matrix, offset, names)

    def residuals(self, x: np.ndarray) -> Residuals:
        return linear_residuals(self.matrix, self.offset, x, np.zeros(self.size, dtype=bool))

    def __repr__(self) -> str:
        return f"LinearComplementarity({counted(self.size, 'unknown')})"


class MixedComplementarity(_Linear):
    """Find x with A x + b = y, where y_i = 0 for free i and 0 ≤ x_i ⟂ y_i ≥ 0 for all others.

    ``matrix`` A (n, n), dense or sparse, ``offset`` b (n,), ``names`` (n,) of the unknowns in messages; ``free`` is a
    boolean mask (n,), an array of indices, or the number of leading free unknowns. With velocities [m/s] free and
    impulses [N s] not, this is the form in which the equations of motion and the contact laws stand side by side,
    Waltersberger (3.97).

    >>> problem = MixedComplementarity([[1.0, -1.0], [1.0, 0.0]], [1.0, 0.0], free=1)   # m v = m v⁻ + λ, 0 ≤ v ⟂ λ ≥ 0
    >>> problem.residuals(np.array([0.0, 1.0])).worst
    0.0
    """

    __slots__ = ("free",)
    kind = "mixed linear complementarity problem"

    def __init__(self, matrix: Any, offset: Any, *, free: Any, names: Sequence[str] | None = None) -> None:
        super().__init__(matrix, offset, names)
        self.free: np.ndarray = as_mask(free, self.offset.size)

    def residuals(self, x: np.ndarray) -> Residuals:
        return linear_residuals(self.matrix, self.offset, x, self.free)

    def __repr__(self) -> str:
        return f"MixedComplementarity({counted(self.size, 'unknown')}, {int(self.free.sum())} free)"


class NonlinearComplementarity:
    """Find x with F(x)_i = 0 for free i and 0 ≤ x_i ⟂ F(x)_i ≥ 0 for all others.

    ``function(x)`` returns F (n,), ``jacobian(x)`` its derivative (n, n), dense or sparse; ``size`` is n; ``free``
    is a boolean mask (n,), an array of indices, or the number of leading free unknowns. ``scale`` (n,) holds the
    typical magnitude of each row of F and makes the residuals dimensionless, ``unknown_scale`` (n,) that of x;
    ``names`` (n,) of the unknowns appear in messages.

    >>> spring = NonlinearComplementarity(lambda x: x**3 - 8.0, lambda x: np.diag(3 * x**2), 1)
    >>> spring.residuals(np.array([2.0])).worst
    0.0
    """

    __slots__ = ("_names", "free", "function", "jacobian", "scale", "size", "unknown_scale")
    kind = "nonlinear complementarity problem"

    def __init__(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        jacobian: Callable[[np.ndarray], Matrix],
        size: int,
        *,
        free: Any = (),
        scale: Any = 1.0,
        unknown_scale: Any = 1.0,
        names: Sequence[str] | None = None,
    ) -> None:
        self.function = function
        self.jacobian = jacobian
        self.size = int(size)
        self.free: np.ndarray = as_mask(free, self.size)
        self.scale: np.ndarray = as_vector(scale, "scale", self.size)
        self.unknown_scale: np.ndarray = as_vector(unknown_scale, "unknown_scale", self.size)
        for argument, value in (("scale", self.scale), ("unknown_scale", self.unknown_scale)):
            if np.any(value <= 0):
                raise InvalidProblem(
                    f"the least entry of {argument} is {value.min()}; allowed are numbers above 0."
                )
        self._names = None if names is None else as_names(names, self.size, "")

    @property
    def names(self) -> tuple[str, ...]:
        return self._names or as_names(None, self.size, "x")

    def image(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(x), dtype=float)

    def residuals(self, x: np.ndarray) -> Residuals:
        y = self.image(x) / self.scale
        return scaled_residuals(x / self.unknown_scale, y, self.free)

    def __repr__(self) -> str:
        return f"NonlinearComplementarity({counted(self.size, 'unknown')}, {int(self.free.sum())} free)"


def as_mask(free: Any, size: int) -> np.ndarray:
    """A boolean mask (size,) from a mask, an index array or the number of leading free unknowns."""
    mask = np.zeros(size, dtype=bool)
    chosen = np.asarray(free)
    if chosen.dtype == bool:
        if chosen.shape != (size,):
            raise InvalidProblem(f"free has shape {chosen.shape}, expected ({size},).")
        return chosen.copy()
    chosen = chosen.astype(int)
    limit = size if chosen.ndim == 0 else size - 1
    if chosen.size and (chosen.min() < 0 or chosen.max() > limit):
        raise InvalidProblem(
            f"free names unknown {int(chosen.max())}, but there are only {counted(size, 'unknown')}."
        )
    if chosen.ndim == 0:
        mask[: int(chosen)] = True
    else:
        mask[chosen] = True
    return mask


def linear_residuals(matrix: Matrix, offset: np.ndarray, x: np.ndarray, free: np.ndarray) -> Residuals:
    """Residuals of a linear problem that do not depend on the units of its rows and columns.

    Row i is measured against the terms it is made of, s_i = |b_i| + Σ_j |A_ij||x_j|; unknown j against the change
    of x_j that would alter some row by its whole scale. The natural residual min(x_j / X_j, y_i / s_i) is then the
    relative change of the data that makes x an exact solution. Forces far above the load must not hide a violation (an
    unsolvable problem has "solutions at infinity"), so s_i counts at most as ``AMPLIFICATION`` times the load.
    """
    if not sparse.issparse(matrix):
        from klapper.complementarity.kernels.linear import pair_residuals

        return Residuals(*pair_residuals(matrix, offset, np.ascontiguousarray(x, dtype=float), free))
    if offset.size == 0:
        return Residuals()
    magnitude = abs(matrix)
    row_scale = np.minimum(np.abs(offset) + magnitude @ np.abs(x), AMPLIFICATION * load_scale(matrix, offset))
    weight = np.divide(1.0, row_scale, out=np.zeros_like(row_scale), where=row_scale > 0)
    influence = (magnitude.multiply(weight[:, None])).max(axis=0).toarray().ravel()
    influence = np.where((influence == 0) & (x != 0), 1.0 / np.where(x == 0, 1.0, np.abs(x)), influence)
    return scaled_residuals(x * influence, (matrix @ x + offset) * weight, free)


def load_scale(matrix: Matrix, offset: np.ndarray) -> np.ndarray:
    """Size of the load (n,) in the unit of each row; infinite if there is no load, so that it never limits."""
    if not offset.any():
        return np.full(offset.size, np.inf)
    if sparse.issparse(matrix):
        return component_maxima(coupled_parts(matrix), np.abs(offset))
    row, _, beta = equilibration(matrix, offset)
    with np.errstate(over="ignore", under="ignore"):
        return np.abs(row * (beta * offset)).max() / row / beta


def coupled_parts(pattern: Matrix) -> np.ndarray:
    """Number of the part (n,) that each unknown belongs to; parts are not coupled by any entry."""
    return connected_components(sparse.csr_array(pattern), directed=False)[1]


def component_maxima(part: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The largest value (n,) within the part of each unknown; infinite where a part has none above zero."""
    largest = np.zeros(part.max(initial=-1) + 1)
    np.maximum.at(largest, part, values)
    return np.where(largest > 0, largest, np.inf)[part]


def equilibration(matrix: np.ndarray, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Row and column scales, and a scale of the offset, that balance the entries of (A | b) around one."""
    from klapper.complementarity.kernels.scaling import equilibrate

    row, column = np.empty(len(matrix)), np.empty(len(matrix))
    beta = equilibrate(np.ascontiguousarray(matrix), offset, row, column)
    return row, column, beta


def scaled_residuals(x: np.ndarray, y: np.ndarray, free: np.ndarray) -> Residuals:
    """Residuals of a pair (x, y) that is already dimensionless."""
    bound = ~free
    equation = np.abs(y[free]).max(initial=0.0)
    x, y = x[bound], y[bound]
    pair = np.abs(np.minimum(x, y)).max(initial=0.0)
    violated = abs(np.minimum(x, y).min(initial=0.0))
    return Residuals(
        complementarity=float((np.minimum(np.abs(x), 1.0) * np.minimum(np.abs(y), 1.0)).max(initial=0.0)),
        natural_map=float(max(pair, equation)),
        feasibility=float(max(violated, equation)),
    )
