"""Simple branch points of a curve F(x) = 0: where another curve crosses it, and which way that one goes.

There F_x (N, N + 1) loses one rank. With its null space spanned by the tangent t and φ, and its left null vector ψ,
a direction α t + β φ is a tangent of a curve through the point if

    ψᵀ F_xx (α t + β φ)² = 0

One solution is β = 0, the curve itself; the other is (α, β) = (−c, 2 b) with b = ψᵀF_xx t φ, c = ψᵀF_xx φ φ. At the
point itself Newton's method loses its digits; therefore it is interpolated from points at some distance on both
sides. Keller 1977; Doedel 1981.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.optimize import brentq

from klapper.algebra.corrector import Corrector, CurvePoint, StepRefused, bordered
from klapper.algebra.span import Span

_NODES = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
_DISTANCE = 0.12  # of the nodes, in parts of the step
_POWERS = (
    4  # of inverse iteration, each of which reduces the other singular vectors by the square of their ratio
)
_SPACING = 1e-4  # of differences of the Jacobian, in scaled unknowns


@dataclass(frozen=True, eq=False)
class BranchPoint:
    """``share`` of the step at which it lies, the ``point``, the unit tangent ``other`` (N + 1,) of the curve that
    crosses (None if that is not determined), and the estimated ``accuracy`` of the point."""

    share: float
    point: CurvePoint
    other: np.ndarray | None
    accuracy: float


def locate_branch_point(span: Span) -> BranchPoint:
    """The branch point between two points of a curve."""
    corrector, share = span.corrector, _rough(span)
    nodes = share + _DISTANCE * _NODES
    try:
        points = [span.point(s) for s in nodes]
    except StepRefused:
        points = []
    if not points:
        point = span.before if share < 0.5 else span.after
        return BranchPoint(share, point, None, np.inf)
    signed = np.array([smallest_signed(point) for point in points])
    place = _zero(nodes, signed, share)
    y, coarse = (
        _interpolated(nodes[k], np.array([p.y for p in points])[k], place)
        for k in (slice(None), slice(1, -1))
    )
    tangent = _interpolated(nodes, np.array([p.tangent for p in points]), place)
    tangent /= np.linalg.norm(tangent)
    jacobian = corrector.evaluate(y)[1]
    point = CurvePoint(y, tangent, jacobian, 0.0, 0, 0.0)
    accuracy = max(float(np.linalg.norm(y - coarse)), corrector.tolerance)
    return BranchPoint(place, point, _other_tangent(corrector, y, tangent, jacobian), accuracy)


def between_nodes(span: Span, value: Callable[[CurvePoint], float]) -> tuple[float, CurvePoint, float]:
    """Where a function changes its sign between two points, if the curve cannot be computed there: by interpolation of
    points on both sides. Share of the way, the point and its estimated error; the first point if even that fails."""
    before, ends = span.before, (value(span.before), value(span.after))
    rough = ends[0] / (ends[0] - ends[1])
    shares, points = [], []
    for share in rough + _DISTANCE * _NODES:
        try:
            points.append(span.point(share))
            shares.append(share)
        except StepRefused:
            continue
    values = np.array([value(point) for point in points])
    if len(points) < 4 or not (values[0] > 0.0 > values[-1]):
        return 0.0, before, np.inf
    nodes, ys = np.array(shares), np.array([point.y for point in points])
    place = float(brentq(lambda s: float(_interpolated(nodes, values, s)), nodes[0], nodes[-1], xtol=1e-15))
    y, coarse = _interpolated(nodes, ys, place), _interpolated(nodes[1:-1], ys[1:-1], place)
    tangent = _interpolated(nodes, np.array([point.tangent for point in points]), place)
    point = CurvePoint(y, tangent / np.linalg.norm(tangent), before.jacobian, before.orientation, 0, 0.0)
    return place, point, float(np.linalg.norm(y - coarse))


def smallest_signed(point: CurvePoint) -> float:
    """Smallest singular value of [F_y ; tᵀ] with the sign of the determinant, smooth through a branch point; of a
    large sparse matrix B another function with the same zeros, ± 1/|B⁻¹ r| for a fixed r."""
    if sparse.issparse(point.jacobian):
        right = np.random.default_rng(0).standard_normal(len(point.y))
        return point.orientation / float(np.linalg.norm(bordered(point.jacobian, point.tangent).solve(right)))
    values = np.linalg.svd(np.vstack([point.jacobian, point.tangent]), compute_uv=False)
    return point.orientation * float(values[-1])


def _rough(span: Span) -> float:
    """The share at which the determinant changes sign, to a few digits."""
    low, high = 0.0, 1.0
    ends = smallest_signed(span.before), smallest_signed(span.after)
    share = ends[0] / (ends[0] - ends[1])
    for _ in range(6):
        try:
            value = smallest_signed(span.point(share))
        except StepRefused:
            return share
        if value * ends[0] > 0.0:
            low, ends = share, (value, ends[1])
        else:
            high, ends = share, (ends[0], value)
        guess = low + (high - low) * ends[0] / (ends[0] - ends[1])
        if abs(guess - share) < 0.1 * _DISTANCE:
            return guess
        share = guess
    return share


def _zero(nodes: np.ndarray, values: np.ndarray, near: float) -> float:
    """Zero of the polynomial through the values between the inner nodes."""
    inner = nodes[2], nodes[3]
    if values[2] * values[3] >= 0.0:
        return near
    return float(brentq(lambda s: float(_interpolated(nodes, values, s)), *inner, xtol=1e-15))


def _interpolated(nodes: np.ndarray, values: np.ndarray, at: float) -> np.ndarray:
    """Lagrange's polynomial through values (k, …) at one place."""
    total = np.zeros(values.shape[1:])
    for i, node in enumerate(nodes):
        others = np.delete(nodes, i)
        total = total + np.prod((at - others) / (node - others)) * values[i]
    return total


def _other_tangent(
    corrector: Corrector, y: np.ndarray, tangent: np.ndarray, jacobian: Any
) -> np.ndarray | None:
    try:
        phi, psi = _null_vectors(jacobian, tangent)
    except StepRefused:
        return None
    psi = psi[:-1]
    phi = phi - (phi @ tangent) * tangent
    phi /= np.linalg.norm(phi)

    def second(along: np.ndarray) -> np.ndarray:
        """ψᵀ F_yy along (N + 1,)."""
        ahead, behind = (corrector.evaluate(y + sign * _SPACING * along)[1] for sign in (1.0, -1.0))
        return psi @ (ahead - behind) / (2.0 * _SPACING)

    try:
        mixed, pure = second(tangent) @ phi, second(phi) @ phi
    except StepRefused:
        return None
    if max(abs(mixed), abs(pure)) == 0.0 or abs(mixed) < 1e-8 * abs(pure):
        return None
    other = -pure * tangent + 2.0 * mixed * phi
    return other / np.linalg.norm(other)


def _null_vectors(jacobian: Any, tangent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right and left singular vectors of [F_y ; tᵀ] with its smallest singular value."""
    if not sparse.issparse(jacobian):
        left, _, right = np.linalg.svd(np.vstack([jacobian, tangent]))
        return right[-1], left[:, -1]
    solver, phi = bordered(jacobian, tangent), np.random.default_rng(0).standard_normal(len(tangent))
    for _ in range(_POWERS):
        psi = solver.transposed(phi)
        psi /= np.linalg.norm(psi)
        phi = solver.solve(psi)
        phi /= np.linalg.norm(phi)
    return phi, psi
