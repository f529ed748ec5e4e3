"""One of everything: the sets and functions that the common tests run over."""

import numpy as np

from klapper.convex import (
    Ball,
    Box,
    Dilated,
    Disc,
    GeneratedCone,
    HalfSpace,
    Indicator,
    Interval,
    Norm,
    Orthant,
    PlusQuadratic,
    Polyhedron,
    PowerNorm,
    Product,
    Quadratic,
    Raised,
    RegularPolygon,
    Scaled,
    SecondOrderCone,
    Shifted,
    SupportFunction,
    Tilted,
    Translated,
    Weighted,
    penalty,
    power_friction,
    saturated_friction,
)

INF = np.inf
SIMPLEX = Polyhedron(np.column_stack([np.eye(3), -np.ones(3)]), np.array([0.0, 0.0, 0.0, 1.0]))
WEDGE = Polyhedron(np.array([[1.0, -1.0, 0.3], [0.2, 1.0, 1.0], [0.0, 0.5, -0.4]]), np.zeros(3))

SETS = {
    "half-line": Orthant(1),
    "orthant": Orthant(4),
    "interval": Interval(-0.3, 0.7),
    "box": Box([-1.0, 0.0, 2.0], [1.0, 0.5, 2.5]),
    "box with open and fixed sides": Box([-INF, 0.4, -1.0, -INF], [1.0, 0.4, INF, INF]),
    "ball": Ball(1.3, 4),
    "disc": Disc(0.8),
    "empty disc": Disc(0.0),
    "segment": RegularPolygon(1.2, 2),
    "turned segment": RegularPolygon(1.2, 2, phase=0.4),
    "square": RegularPolygon(1.2, 4),
    "octagon": RegularPolygon(0.9, 8, phase=0.3),
    "30-gon": RegularPolygon(2.0, 30),
    "friction cone": SecondOrderCone(0.4),
    "wide cone": SecondOrderCone(3.0, 5),
    "planar cone": SecondOrderCone(0.7, 2),
    "frictionless cone": SecondOrderCone(0.0, 3),
    "dual cone": SecondOrderCone(0.4).dual(),
    "polar cone": SecondOrderCone(0.4).polar(),
    "half-space": HalfSpace([1.0, -2.0, 0.5], 0.7),
    "simplex": SIMPLEX,
    "wedge": WEDGE,
    "polar wedge": WEDGE.polar(),
    "generated cone": GeneratedCone([[1.0, 1.0, 1.0, 1.0], [0.5, -0.5, 0.0, 0.0], [0.0, 0.0, 0.5, -0.5]]),
    "translated disc": Translated(Disc(0.8), [3.0, -1.0]),
    "translated cone": Translated(SecondOrderCone(0.4), [0.3, 0.2, -0.1]),
    "translated simplex": Translated(SIMPLEX, [-1.0, 0.5, 2.0]),
    "scaled octagon": Scaled(RegularPolygon(1.0, 8), 2.5),
    "reflected simplex": Scaled(SIMPLEX, -2.0),
    "vanishing set": Scaled(Ball(1.0, 2), 0.0),
    "contact": Product((Orthant(1), Disc(0.5))),
    "two cones": Product((SecondOrderCone(0.4), SecondOrderCone(0.9, 2))),
    "polyhedral product": Product((Orthant(1), RegularPolygon(0.6, 6), Interval(-1.0, 2.0))),
}

FUNCTIONS = {
    "spring": Quadratic([[4.0]]),
    "coupled springs": Quadratic([[3.0, -1.0], [-1.0, 2.0]]),
    "norm": Norm(1.7, 3),
    "rigid wall": Indicator(Orthant(2)),
    "indicator of polygon": Indicator(RegularPolygon(1.1, 6)),
    "support of cone": SupportFunction(SecondOrderCone(0.4)),
    "support of box": SupportFunction(Box([-1.0, -0.5], [0.2, 2.0])),
    "saturated friction": saturated_friction(1.5, 4.0),
    "power friction": power_friction(1.5, 3.0),
    "steep power friction": power_friction(0.8, 12.0, reference_speed=0.5),
    "power": PowerNorm(2.0, 3.5, 0.7, 3),
    "penalty": penalty(Orthant(2), 8.0),
    "penalty on cone": penalty(SecondOrderCone(0.5), 2.0),
    "strengthened norm": PlusQuadratic(Norm(0.6, 2), 1.4),
    "tilted": Tilted(Norm(1.5, 2), [0.4, -0.2]),
    "shifted": Shifted(Quadratic([[2.0]]), [0.7]),
    "raised": Raised(Norm(1.1, 2), 0.9),
    "weighted": Weighted(Quadratic([[2.0]]), 1.6),
    "dilated": Dilated(Norm(1.1, 2), 2.0),
}


def draw(dimension: int, count: int, seed: int = 0, spread: float = 3.0) -> np.ndarray:
    """Random points, shape (count, dimension)."""
    return np.random.default_rng(seed).normal(scale=spread, size=(count, dimension))


def members(convex_set, count: int = 200, seed: int = 1, spread: float = 3.0) -> np.ndarray:
    """Members of the set, on its boundary and inside: projected points and their convex combinations."""
    boundary = convex_set.project(draw(convex_set.dimension, count, seed, spread))
    share = np.random.default_rng(seed).uniform(size=(count, 1))
    return np.vstack([boundary, share * boundary + (1.0 - share) * boundary[::-1]])


def metrics(dimension: int, count: int = 3, seed: int = 2) -> list[np.ndarray]:
    """Symmetric positive definite matrices, the last with condition number about 1e4."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(count):
        turn = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
        out.append((turn * np.geomspace(1.0, 10.0 ** (2 * k), dimension)) @ turn.T)
    return [0.5 * (matrix + matrix.T) for matrix in out]
