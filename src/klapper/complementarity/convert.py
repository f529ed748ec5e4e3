"""One problem written as another; each conversion is explicit and knows the way back.

    mixed → linear        by elimination of the free unknowns, A₂₂ − A₂₁ A₁₁⁻¹ A₁₂      Waltersberger App. B
    mixed → linear        by splitting them, x = x⁺ − x⁻, when A₁₁ is singular
    contact → mixed       (λ_N, β, z) with polygonal or planar friction                  (3.97), (4.17)-(4.20)
    quadratic program → mixed
The conversion to the nonlinear problem with the exact disc, (4.22)-(4.27), is in ``exact_disc.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.dense import dense
from klapper.complementarity.errors import NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import (
    LinearComplementarity,
    MixedComplementarity,
    component_maxima,
    equilibration,
)
from klapper.convex import RegularPolygon

P = TypeVar("P")

DENSE_SIZE = 120  # rows of a contact problem up to which dense matrices are faster than sparse ones


@dataclass(frozen=True)
class Conversion(Generic[P]):
    """A problem written as another, with the way back.

    ``problem``  the converted problem
    ``recover``  from its unknowns (k,) to those of the original (n,), in their units
    ``lift``     the other way, for start values: from (n,) to (k,)

    >>> ball = MixedComplementarity([[2.0, -1.0], [1.0, 0.0]], [6.0, -1.0], free=1)  # 2 kg at −3 m/s, floor at 1 m/s
    >>> conversion = eliminate_free(ball)
    >>> conversion.recover(np.array([8.0])).tolist(), conversion.lift(np.array([1.0, 8.0])).tolist()
    ([1.0, 8.0], [8.0])
    """

    problem: P
    recover: Callable[[np.ndarray], np.ndarray]
    lift: Callable[[np.ndarray], np.ndarray]


def eliminate_free(problem: MixedComplementarity) -> Conversion[LinearComplementarity]:
    """Eliminate the free unknowns with their own equations; they must determine them uniquely.

    With x₁ free the linear problem for x₂ has the matrix A₂₂ − A₂₁ A₁₁⁻¹ A₁₂ and the offset b₂ − A₂₁ A₁₁⁻¹ b₁: the
    Delassus matrix [1/kg] and the free velocity [m/s] if x₁ are velocities and x₂ impulses. Raises
    :class:`NotApplicable` if A₁₁ is singular to round-off (redundant equations): use :func:`split_free`.

    >>> ball = MixedComplementarity([[2.0, -1.0], [1.0, 0.0]], [6.0, 0.0], free=1)  # 2 kg that falls with 3 m/s
    >>> reduced = eliminate_free(ball).problem
    >>> reduced.matrix.tolist(), reduced.offset.tolist()
    ([[0.5]], [-3.0])
    """
    matrix = dense(problem.matrix)
    one, two = problem.free, ~problem.free
    a11, a12, b1 = matrix[np.ix_(one, one)], matrix[np.ix_(one, two)], problem.offset[one]
    a21, a22, b2 = matrix[np.ix_(two, one)], matrix[np.ix_(two, two)], problem.offset[two]
    scale_row, scale_column, _ = equilibration(a11, np.zeros(len(b1)))
    scaled = scale_row[:, None] * a11 * scale_column
    if one.any() and np.linalg.cond(scaled) > 1e13:
        raise NotApplicable(
            "The free unknowns are not determined by their own equations (A11 is singular): some constraints are "
            "redundant. Use split_free, or leave the choice to solve()."
        )
    round_off = 8.0 * len(b1) * np.finfo(float).eps
    factors = scipy.linalg.lu_factor(scaled, check_finite=False) if one.any() else None

    def solve_free(rhs: np.ndarray) -> np.ndarray:
        if factors is None:
            return np.zeros_like(rhs)
        solution = scipy.linalg.lu_solve(factors, (scale_row * rhs.T).T, check_finite=False)
        noise = round_off * np.abs(solution).max(axis=0)
        return (scale_column * np.where(np.abs(solution) <= noise, 0.0, solution).T).T

    schur, load = _difference(a22, a21, solve_free(a12)), _difference(b2, a21, solve_free(b1))
    if not (np.isfinite(schur).all() and np.isfinite(load).all()):
        raise NotApplicable("The elimination of the free unknowns overflows. Use split_free.")
    reduced = LinearComplementarity(
        schur,
        load,
        names=tuple(name for name, kept in zip(problem.names, two, strict=True) if kept),
    )

    def recover(x2: np.ndarray) -> np.ndarray:
        x = np.empty(problem.size)
        x[two] = x2
        x[one] = -solve_free(b1 + a12 @ x2)
        return x

    return Conversion(reduced, recover, lambda x: x[two])


def _difference(value: np.ndarray, factor: np.ndarray, other: np.ndarray) -> np.ndarray:
    """value − factor @ other, with entries that are only the round-off of their terms set to zero.

    Left in place they would couple unknowns that have nothing to do with each other, and count as pivots.
    """
    difference = value - factor @ other
    terms = np.abs(value) + np.abs(factor) @ np.abs(other)
    round_off = 8.0 * max(factor.shape[1], 1) * np.finfo(float).eps
    return np.where(np.abs(difference) <= round_off * terms, 0.0, difference)


def split_free(problem: MixedComplementarity) -> Conversion[LinearComplementarity]:
    """The mixed ``problem`` with each free unknown as x⁺ − x⁻; its equation becomes two opposite inequalities.

    Works for any A₁₁.

    >>> ball = MixedComplementarity([[2.0, -1.0], [1.0, 0.0]], [6.0, -1.0], free=1)  # unknowns v and λ
    >>> split = split_free(ball)
    >>> split.problem.names, split.recover(np.array([0.0, 8.0, 1.0])).tolist()  # v = v⁺ − v⁻ = 0 − 1
    (('x0', 'x1', 'minus x0'), [-1.0, 8.0])
    """
    matrix, one, size = problem.matrix, np.flatnonzero(problem.free), problem.size
    matrix = dense(matrix)
    upper = np.hstack([matrix, -matrix[:, one]])
    lower = -np.hstack([matrix[one], -matrix[np.ix_(one, one)]])
    names = problem.names + tuple(f"minus {problem.names[i]}" for i in one)
    split = LinearComplementarity(
        np.vstack([upper, lower]), np.concatenate([problem.offset, -problem.offset[one]]), names=names
    )

    def recover(split_x: np.ndarray) -> np.ndarray:
        x = split_x[:size].copy()
        x[one] -= split_x[size:]
        return x

    def lift(x: np.ndarray) -> np.ndarray:
        positive = x.copy()
        positive[one] = np.maximum(x[one], 0.0)
        return np.concatenate([positive, np.maximum(-x[one], 0.0)])

    return Conversion(split, recover, lift)


def polygonal(contact: FrictionalContact) -> Conversion[MixedComplementarity]:
    """Contact with planar or polygonal friction in the unknowns (λ_B, λ_N, β, z), Waltersberger (4.17)-(4.20).

    λ_T = Σ β_k e_k with β ≥ 0 and Σ β_k ≤ ρ; z is the sliding speed in the polygon's norm. Exact for planar contacts
    (β₁ − β₂); for spatial ones ``contact.polygon`` must be set. λ_B, the forces of two-sided constraints, are free.

    A block of 1 kg with μ = 0.5 that is pressed by 1 N s and pushed by 0.8 N s slides on with 0.3 m/s:

    >>> from klapper.complementarity import solve
    >>> block = polygonal(FrictionalContact(np.eye(2), [-1.0, 0.8], friction=0.5, dimension=2))
    >>> x = solve(block.problem).x  # λ_N, β₁, β₂, z
    >>> x.round(12).tolist(), block.recover(x).round(12).tolist()
    ([1.0, 0.0, 0.5, 0.3], [1.0, -0.5])
    """
    if not is_linear(contact):
        raise NotApplicable(
            "The friction disc is exact, which is not a linear problem; give polygon = an even number of vertices, "
            "or use exact_disc_problem."
        )
    normal, bilateral = contact.normal, contact.bilateral
    holding = contact.holding
    tangential, friction = contact.tangential[holding], contact.friction.toarray()[holding]
    patch_names = tuple(np.array(contact.tangential_names, dtype=object)[holding])
    line, polygon = np.array([[1.0, -1.0]]), contact.polygon
    vertices = line if polygon is None else RegularPolygon(1.0, polygon).directions
    patches, corners = len(tangential), vertices.shape[1]
    columns = len(bilateral) + len(normal) + patches * corners  # λ_B, λ_N, β
    spread = np.zeros((contact.size, columns))
    spread[bilateral, np.arange(len(bilateral))] = 1.0
    spread[normal, len(bilateral) + np.arange(len(normal))] = 1.0
    first = len(bilateral) + len(normal)
    for i, rows in enumerate(tangential):
        spread[np.ix_(rows, first + i * corners + np.arange(corners))] = vertices
    forces = spread.shape[1]
    ones = np.kron(np.eye(patches), np.ones((corners, 1)))
    matrix = np.zeros((forces + patches, forces + patches))
    matrix[:forces, :forces] = spread.T @ (dense(contact.delassus) @ spread)
    matrix[first:forces, forces:] = ones
    matrix[forces:, len(bilateral) : first] = friction
    matrix[forces:, first:forces] = -ones.T
    offset = np.concatenate([spread.T @ contact.free_velocity, contact.limit[holding]])
    labels = [f"{name} corner {k}" for name in patch_names for k in range(corners)]
    names = (
        contact.bilateral_names
        + tuple(f"{name} normal" for name in contact.normal_names)
        + tuple(labels)
        + tuple(f"{name} sliding speed" for name in patch_names)
    )
    mixed = MixedComplementarity(matrix, offset, free=len(bilateral), names=names)

    def lift(force: np.ndarray) -> np.ndarray:
        parts = np.zeros((patches, corners))
        speed = np.zeros(patches)
        velocity = contact.image(force)
        for i, rows in enumerate(tangential):
            parts[i] = _corner_weights(vertices, force[rows])
            speed[i] = max(0.0, float(np.max(-vertices.T @ velocity[rows])))
        return np.concatenate([force[bilateral], force[normal], parts.ravel(), speed])

    return Conversion(mixed, lambda x: spread @ x[:forces], lift)


def as_linear(problem: Any) -> Conversion[LinearComplementarity]:
    """Any problem that is linear in disguise as a plain one: mixed problems, planar and polygonal friction.

    Raises :class:`NotApplicable` for exact discs and nonlinear functions. A contact in the plane has four unknowns,
    λ_N, β₁, β₂ and z of :func:`polygonal`:

    >>> as_linear(FrictionalContact(np.eye(2), [-1.0, 0.8], friction=0.5, dimension=2)).problem
    LinearComplementarity(4 unknowns)
    """
    if isinstance(problem, LinearComplementarity):
        return Conversion(problem, lambda x: x, lambda x: x)
    if isinstance(problem, FrictionalContact):
        mixed = polygonal(problem)
        return _chain(mixed, as_linear(mixed.problem))
    if isinstance(problem, MixedComplementarity):
        try:
            return eliminate_free(problem)
        except NotApplicable:
            return split_free(problem)
    raise NotApplicable(f"A {problem.kind} cannot be written as a linear complementarity problem.")


def driven_parts(contact: FrictionalContact) -> Conversion[FrictionalContact]:
    """The same problem without uncoupled parts that stay without force, and with all loads scaled to one.

    A part whose contacts do not approach and whose constraints are met needs no force. Of the others none is lost
    beside another with a far larger load. Small sparse matrices become dense, which is faster.
    """
    parts = contact.parts
    if parts is not None:
        rows = np.flatnonzero(_driven(contact, parts)[parts])
        return restricted(contact, rows, component_maxima(parts, np.abs(contact.free_velocity))[rows])
    if sparse.issparse(contact.delassus) and contact.size <= DENSE_SIZE:
        small = copy(contact)
        small.delassus = contact.delassus.toarray()
        small.__dict__.pop("_magnitude", None)
        return Conversion(small, lambda x: x, lambda x: x)
    return Conversion(contact, lambda x: x, lambda x: x)


def restricted(
    contact: FrictionalContact, rows: np.ndarray, load: np.ndarray | None = None
) -> Conversion[FrictionalContact]:
    """The problem of some ``rows`` (k,), whole uncoupled parts, with forces in units of ``load`` (k,), ones if None."""
    load = np.ones(len(rows)) if load is None else load
    place = np.full(contact.size, -1)
    place[rows] = np.arange(len(rows))
    normal = np.flatnonzero(place[contact.normal] >= 0)
    patch = np.flatnonzero(place[contact.tangential[:, 0]] >= 0)
    constraint = np.flatnonzero(place[contact.bilateral] >= 0)
    matrix: Any = contact.delassus if len(rows) == contact.size else contact.delassus[rows][:, rows]
    small = sparse.issparse(matrix) and len(rows) <= DENSE_SIZE
    part = FrictionalContact.from_parts(
        matrix.toarray() if small else matrix,
        contact.free_velocity[rows] / load,
        normal=place[contact.normal[normal]],
        tangential=place[contact.tangential[patch]],
        friction=contact.friction[patch][:, normal],
        limit=contact.limit[patch] / load[place[contact.tangential[patch, 0]]],
        bilateral=place[contact.bilateral[constraint]],
        polygon=contact.polygon,
        normal_names=[contact.normal_names[i] for i in normal],
        tangential_names=[contact.tangential_names[i] for i in patch],
        bilateral_names=[contact.bilateral_names[i] for i in constraint],
    )

    def recover(x: np.ndarray) -> np.ndarray:
        forces = np.zeros(contact.size)
        forces[rows] = x * load
        return forces

    return Conversion(part, recover, lambda x: x[rows] / load)


def _driven(contact: FrictionalContact, parts: np.ndarray) -> np.ndarray:
    """Which uncoupled parts (k,) have a contact that approaches, a constraint that is not met, or slip with a limit."""
    driven = np.zeros(int(parts.max(initial=-1)) + 1, dtype=bool)
    velocity = contact.free_velocity
    slips = (contact.limit > 0.0) & np.any(velocity[contact.tangential] != 0.0, axis=1)
    driven[parts[contact.normal[velocity[contact.normal] < 0.0]]] = True
    driven[parts[contact.bilateral[velocity[contact.bilateral] != 0.0]]] = True
    driven[parts[contact.tangential[slips, 0]]] = True
    return driven


def is_linear(problem: Any) -> bool:
    """Whether :func:`as_linear` applies."""
    if isinstance(problem, FrictionalContact):
        disc = problem.tangential.shape[1] == 2 and problem.polygon is None and bool(problem.holding.any())
        return not disc and not isinstance(problem.delassus, LinearOperator)
    return isinstance(problem, LinearComplementarity | MixedComplementarity)


def _chain(first: Conversion[Any], second: Conversion[P]) -> Conversion[P]:
    return Conversion(
        second.problem, lambda x: first.recover(second.recover(x)), lambda x: second.lift(first.lift(x))
    )


def quadratic_program(
    hessian: Any, gradient: Any, constraints: Any, bounds: Any
) -> Conversion[MixedComplementarity]:
    """The optimality conditions of min ½ vᵀH v + gᵀv subject to C v ≥ d, in the unknowns (v free, multipliers ≥ 0).

    ``recover`` returns v. With H = M and g = −M v⁻ this is the frictionless impact, Waltersberger (3.111).

    ``hessian`` H (n, n), ``gradient`` g (n,), ``constraints`` C (m, n), ``bounds`` d (m,). A ball of 2 kg at −3 m/s
    meets a floor that rises with 1 m/s:

    >>> from klapper.complementarity import solve
    >>> program = quadratic_program([[2.0]], [6.0], [[1.0]], [1.0])
    >>> x = solve(program.problem).x  # v, Λ
    >>> x.round(12).tolist(), program.recover(x).round(12).tolist()
    ([1.0, 8.0], [1.0])
    """
    hessian = np.asarray(hessian, dtype=float)
    gradient = np.asarray(gradient, dtype=float)
    constraints = np.atleast_2d(np.asarray(constraints, dtype=float))
    bounds = np.asarray(bounds, dtype=float)
    count = len(bounds)
    matrix = np.block([[hessian, -constraints.T], [constraints, np.zeros((count, count))]])
    mixed = MixedComplementarity(matrix, np.concatenate([gradient, -bounds]), free=len(gradient))
    size = len(gradient)
    return Conversion(mixed, lambda x: x[:size], lambda v: np.concatenate([v, np.zeros(count)]))


def _corner_weights(vertices: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Non-negative weights of two neighbouring corners that sum up to the force."""
    weights = np.zeros(vertices.shape[1])
    if vertices.shape[0] == 1:
        weights[0 if force[0] >= 0 else 1] = abs(force[0])
        return weights
    count = vertices.shape[1]
    angle = np.arctan2(force[1], force[0]) % (2 * np.pi)
    left = int(angle // (2 * np.pi / count)) % count
    pair = [left, (left + 1) % count]
    weights[pair] = np.linalg.solve(vertices[:, pair], force)
    return np.maximum(weights, 0.0)
