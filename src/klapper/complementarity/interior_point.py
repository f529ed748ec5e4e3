"""Interior-point method for contact with friction: Newton along a path of smooth laws.

    λ_N v_N = ε                                      Signorini, rounded off
    ρ s + λ_T·v_T = ε,   ρ v_T + s λ_T = 0           Coulomb, rounded off: v_T = −ε λ_T / (ρ² − |λ_T|²)
    v = W λ + b,   ρ = limit + μ λ_N,   v_B = 0

with λ_N, v_N > 0, |λ_T| < ρ and |v_T| < s. At ε = 0 these are the laws of contact, with s = |v_T|. Each iteration is a
step of Mehrotra's kind on all of them at once: one factorisation of W + blocks, a predictor to ε = 0, a corrector with
its second-order terms, and as long a step as stays inside. Redundant contacts do not disturb it, since the blocks keep
the matrix regular. With friction the path is no convex one: it may turn back, or friction turn quickly along it. The
method then stops, and sweeps or semismooth Newton steps go on from the best point.
Acary, Armand, Nguyen and Shpakovych, "Second order cone programming for frictional contact mechanics using interior
point algorithm", Optimization Methods and Software 39 (2024), go a similar way with the De Saxcé form of the law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse.linalg import LinearOperator, splu

from klapper.complementarity.admm import spring_weights
from klapper.complementarity.checking import Matrix
from klapper.complementarity.errors import ComplementarityError, IterationLimit
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.gauss_seidel import GaussSeidel
from klapper.complementarity.newton import SemismoothNewton
from klapper.complementarity.solver import Answer, solver
from klapper.counting import counted

_INSIDE = 0.99  # part of the way to the boundary that a step goes
_SHORT = 0.1  # steps below it are too short: back to the middle of the cone
_CENTRED = 0.8  # part of ε that such a step aims at
_DENSE = 400  # rows up to which sparse data are treated as dense
_FILLED = 0.1  # share of entries from which on they are, too
_STALLED = 12  # iterations within which the residual or ε must have halved
_FINEST = 1e-15  # ε of rounding, where friction is a difference of terms of size one
_POLISH_SWEEPS, _POLISH = 1000, 30  # sweeps, then Newton steps from where it stopped
_NEAR = 1e-5  # residual above which they are left to the caller
_MORE = 3  # steps beyond the tolerance, while each makes the residual ten times smaller


@solver
@dataclass(frozen=True)
class InteriorPoint:
    """Interior-point Newton method for contacts with exact friction discs.

    ``max_iterations``  Newton steps, each with one factorisation

    Mostly ten to thirty iterations lead to round-off, also where contacts are redundant and forces are not unique, and
    Gauss–Seidel creeps. The start is not used. Sparse data stay sparse.

    A block of 1 kg, pressed by 1 N s and pushed by 0.8 N s, of which μ = 0.5 takes 0.5 N s:

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> InteriorPoint().attempt(block, None, 1e-9).x.round(9).tolist()
    [1.0, -0.5, 0.0]
    """

    max_iterations: int = 100
    name = "interior-point"

    def obstacle(self, problem: Any) -> str:
        if not isinstance(problem, FrictionalContact):
            return f"The interior-point method solves contact problems; this is a {problem.kind}."
        if problem.polygon is not None:
            return 'The interior-point method treats the exact friction disc, not a polygon; use "lemke".'
        if isinstance(problem.delassus, LinearOperator):
            return (
                "The interior-point method factorises the Delassus matrix, but this one is known only as an operator; "
                'use "prox".'
            )
        return ""

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        if not problem.free_velocity.any():
            return Answer(np.zeros(problem.size), 0)
        best, least, iterations = follow_path(problem, tolerance, self.max_iterations)
        if least <= tolerance:
            return Answer(best, iterations)
        for method in (
            ()
            if least > _NEAR
            else (
                GaussSeidel(max_sweeps=_POLISH_SWEEPS),
                SemismoothNewton(max_iterations=_POLISH, starts=1),
            )
        ):
            try:
                polished = method.attempt(problem, best, tolerance)
            except ComplementarityError:
                continue
            if problem.residuals(polished.x).worst <= tolerance:
                return Answer(polished.x, iterations + polished.iterations)
        raise IterationLimit(
            f"Interior point: residual {least:.1e} after {counted(iterations, 'iteration')}, wanted {tolerance:.1e}. "
            f'The path of smooth laws may turn back with large friction; try "gauss-seidel", "newton" or "admm", or '
            f"allow a larger tolerance.",
            closest=best,
        )


def follow_path(
    problem: FrictionalContact, tolerance: float, max_iterations: int
) -> tuple[np.ndarray, float, int]:
    """The best forces (n,) on the way, their residual and the number of iterations."""
    path = _Path(problem)
    best, least, smallest, mark = path.forces(), np.inf, np.inf, np.inf
    since, beyond, iterations = 0, 0, 0
    while iterations < max_iterations and since <= _STALLED and path.advance():
        iterations += 1
        since += 1
        forces = path.forces()
        with np.errstate(all="ignore"):
            residual = problem.residuals(forces).worst
        done = least <= tolerance
        beyond += done
        if done and not residual < 0.1 * least:
            break
        if residual < least:
            best, least = forces, residual
        if beyond == _MORE or path.gap < _FINEST:
            break
        if path.gap < 0.5 * smallest or least < 0.5 * mark:
            smallest, mark, since = min(path.gap, smallest), least, 0
    return best, least, iterations


class _Path:
    """A point inside the laws in units in which W has the diagonal 1 and the largest load is 1."""

    def __init__(self, problem: FrictionalContact) -> None:
        holding = problem.holding
        kept = np.ones(problem.size, dtype=bool)
        kept[problem.tangential[~holding]] = False
        place = np.cumsum(kept) - 1
        self.size, self.rows = problem.size, np.flatnonzero(kept)
        self.normal = place[problem.normal]
        self.tangential = place[problem.tangential[holding]]
        free = np.zeros(len(self.rows), dtype=bool)
        free[place[problem.bilateral]] = True
        self.bilateral = np.flatnonzero(free)
        root = 1.0 / np.sqrt(spring_weights(problem)[self.rows])
        load = root * problem.free_velocity[self.rows]
        self.unit = float(np.abs(load).max(initial=0.0)) or 1.0
        self.root = root
        self.load = load / self.unit
        self.matrix = _scaled(problem.delassus, self.rows, root)
        weight = root[self.tangential[:, 0]] if len(self.tangential) else np.empty(0)
        friction = problem.friction[np.flatnonzero(holding)] if len(holding) else problem.friction
        self.friction = sparse.csr_array(
            sparse.diags_array(1.0 / weight) @ friction @ sparse.diags_array(root[self.normal])
            if len(weight)
            else sparse.csr_array((0, len(self.normal)))
        )
        self.limit = problem.limit[holding] / (weight * self.unit)
        self._places()
        self.force = np.zeros(len(self.rows))
        self.velocity = np.zeros(len(self.rows))
        self.force[self.normal] = self.velocity[self.normal] = 1.0
        self.radius = self.limit + self.friction @ self.force[self.normal]
        self.slip = 1.0 / self.radius
        self.count = len(self.normal) + len(self.tangential)

    def _places(self) -> None:
        """Rows and columns of the entries that the laws add to W."""
        patches, k = self.tangential.shape
        owner = np.repeat(np.arange(patches), np.diff(self.friction.indptr))
        self.owner = owner
        blocks = self.tangential
        rows = [self.normal, np.repeat(blocks, k, axis=1).ravel(), blocks[owner].ravel()]
        columns = [
            self.normal,
            np.tile(blocks, (1, k)).ravel(),
            np.repeat(self.normal[self.friction.indices], k),
        ]
        self.entries = np.concatenate(rows), np.concatenate(columns)

    def forces(self) -> np.ndarray:
        """Forces (n,) of the problem, in its units."""
        forces = np.zeros(self.size)
        forces[self.rows] = self.force * self.root * self.unit
        return forces

    @property
    def gap(self) -> float:
        """The mean of ε over all laws."""
        normal, friction, _ = self._products()
        return float(normal.sum() + friction.sum()) / max(self.count, 1)

    def _products(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """λ_N v_N, ρ s + λ_T·v_T and ρ v_T + s λ_T."""
        f, v = self.force[self.tangential], self.velocity[self.tangential]
        radius, slip = self.radius, self.slip
        return (
            self.force[self.normal] * self.velocity[self.normal],
            radius * slip + np.sum(f * v, axis=1),
            radius[:, None] * v + slip[:, None] * f,
        )

    def advance(self) -> bool:
        """One predictor and corrector step; False if arithmetic allows none."""
        with np.errstate(all="ignore"):
            try:
                newton = _Newton(self)
            except (np.linalg.LinAlgError, RuntimeError, ValueError):
                return False
            normal, friction, turned = self._products()
            gap = (normal.sum() + friction.sum()) / max(self.count, 1)
            move = newton.move(-normal, -friction, -turned)
            reach = min(1.0, self._reach(move))
            aim: float = _CENTRED
            second: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
            if reach > _SHORT:
                left = self._gap_after(move, reach) / gap if gap > 0.0 else 0.0
                aim, second = float(np.clip(left, 0.0, 1.0)) ** 3, self._second_order(move)
            move = newton.move(
                aim * gap - normal - second[0], aim * gap - friction - second[1], -turned - second[2]
            )
            reach = min(1.0, _INSIDE * self._reach(move))
            if reach < _SHORT:
                move = newton.move(_CENTRED * gap - normal, _CENTRED * gap - friction, -turned)
                reach = min(1.0, _INSIDE * self._reach(move))
            return self._go(move, reach)

    def _go(self, move: _Move, reach: float) -> bool:
        if not (reach > 0.0 and np.all(np.isfinite(move.force)) and np.all(np.isfinite(move.velocity))):
            return False
        self.force = self.force + reach * move.force
        self.velocity = self.velocity + reach * move.velocity
        self.slip = self.slip + reach * move.slip
        self.radius = self.limit + self.friction @ self.force[self.normal]
        return True

    def _reach(self, move: _Move) -> float:
        """How much of the move stays inside all laws."""
        normal, tangential = self.normal, self.tangential
        return min(
            _until_zero(self.force[normal], move.force[normal]),
            _until_zero(self.velocity[normal], move.velocity[normal]),
            _until_cone(self.radius, self.force[tangential], move.radius, move.force[tangential]),
            _until_cone(self.slip, self.velocity[tangential], move.slip, move.velocity[tangential]),
        )

    def _gap_after(self, move: _Move, reach: float) -> float:
        force, velocity = self.force + reach * move.force, self.velocity + reach * move.velocity
        radius, slip = self.radius + reach * move.radius, self.slip + reach * move.slip
        total = force[self.normal] @ velocity[self.normal] + radius @ slip
        total += np.sum(force[self.tangential] * velocity[self.tangential])
        return float(total) / max(self.count, 1)

    def _second_order(self, move: _Move) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        f, v = move.force[self.tangential], move.velocity[self.tangential]
        return (
            move.force[self.normal] * move.velocity[self.normal],
            move.radius * move.slip + np.sum(f * v, axis=1),
            move.radius[:, None] * v + move.slip[:, None] * f,
        )


@dataclass(frozen=True)
class _Move:
    """Changes of λ, v (rows,), ρ and s (patches,)."""

    force: np.ndarray
    velocity: np.ndarray
    radius: np.ndarray
    slip: np.ndarray


class _Newton:
    """The laws and v = W λ + b, linearised at a point: dv = g − D dλ and (W + D) dλ = g + (v − W λ − b)."""

    def __init__(self, path: _Path) -> None:
        self.path = path
        normal, tangential = path.normal, path.tangential
        f, v = path.force[tangential], path.velocity[tangential]
        radius, slip = path.radius[:, None], path.slip[:, None]
        unit = np.eye(tangential.shape[1])
        inner = radius[:, :, None] * unit - f[:, :, None] * f[:, None, :] / radius[:, :, None]
        self.inverse = np.linalg.inv(inner)
        turn = self.inverse @ (slip[:, :, None] * unit - f[:, :, None] * v[:, None, :] / radius[:, :, None])
        pressed = np.einsum("pij,pj->pi", self.inverse, v - f * slip / radius)
        self.press = path.velocity[normal] / path.force[normal]
        shares = pressed[path.owner] * path.friction.data[:, None]
        values = np.concatenate([self.press, turn.ravel(), shares.ravel()])
        self.blocks = sparse.csr_array((values, path.entries), shape=path.matrix.shape)
        self.solve = _factorised(path.matrix, values, path.entries, self.blocks)
        self.apart = path.velocity - path.matrix @ path.force - path.load

    def move(self, normal: np.ndarray, friction: np.ndarray, turned: np.ndarray) -> _Move:
        """The move that changes λ_N v_N, ρ s + λ_T·v_T and ρ v_T + s λ_T by the given amounts."""
        path, tangential = self.path, self.path.tangential
        f, v = path.force[tangential], path.velocity[tangential]
        given = np.zeros(len(path.rows))
        given[path.normal] = normal / path.force[path.normal]
        given[tangential] = np.einsum(
            "pij,pj->pi", self.inverse, turned - f * (friction / path.radius)[:, None]
        )
        force = self.solve(given + self.apart)
        velocity = given - self.blocks @ force
        velocity[path.bilateral] = -path.velocity[path.bilateral]
        radius = path.friction @ force[path.normal]
        slip = (
            friction - path.slip * radius - np.sum(f * velocity[tangential] + v * force[tangential], axis=1)
        )
        return _Move(force, velocity, radius, slip / path.radius)


def _scaled(matrix: Matrix, rows: np.ndarray, root: np.ndarray) -> Matrix:
    """root W root of the kept rows; sparse data that are small or full become dense."""
    kept = matrix if len(rows) == matrix.shape[0] else matrix[rows][:, rows]
    if sparse.issparse(kept):
        scaled = sparse.csr_array(sparse.diags_array(root) @ kept @ sparse.diags_array(root))
        full = len(rows) <= _DENSE or scaled.nnz > _FILLED * len(rows) ** 2
        return scaled.toarray() if full else scaled
    return np.asarray(root[:, None] * kept * root)


def _factorised(
    matrix: Matrix, values: np.ndarray, entries: tuple[np.ndarray, np.ndarray], blocks: sparse.csr_array
) -> Callable[[np.ndarray], np.ndarray]:
    """(W + D)⁻¹ as a function of the load (rows,)."""
    if sparse.issparse(matrix):
        answer = splu(sparse.csc_array(matrix + blocks))
        return lambda load: np.asarray(answer.solve(load))
    summed = matrix.copy()
    summed[entries] += values
    factors, pivots, singular = dgetrf(summed, overwrite_a=True)
    if singular:
        raise np.linalg.LinAlgError("singular")
    return lambda load: np.asarray(dgetrs(factors, pivots, load)[0])


def _until_zero(value: np.ndarray, change: np.ndarray) -> float:
    """The largest t with value + t change ≥ 0."""
    falling = change < 0.0
    return float((-value[falling] / change[falling]).min(initial=np.inf))


def _until_cone(top: np.ndarray, base: np.ndarray, rise: np.ndarray, drift: np.ndarray) -> float:
    """The largest t with |base + t drift| ≤ top + t rise, for patches (s,) and (s, k): the first root of a square."""
    a = rise**2 - np.sum(drift**2, axis=1)
    b = top * rise - np.sum(base * drift, axis=1)
    c = (top - np.linalg.norm(base, axis=1)) * (top + np.linalg.norm(base, axis=1))
    square = b * b - a * c
    larger = -(b + np.copysign(np.sqrt(np.maximum(square, 0.0)), b))
    roots = np.concatenate([larger / a, c / larger])
    real = np.isfinite(roots) & (roots > 0.0) & np.tile(square >= 0.0, 2)
    return min(float(roots[real].min(initial=np.inf)), _until_zero(top, rise))
