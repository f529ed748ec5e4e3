"""Every set against what a closed convex set must do, by sampling and by independent optimisers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from klapper.convex import (
    Ball,
    Box,
    Disc,
    GeneratedCone,
    Orthant,
    Polyhedron,
    RegularPolygon,
    SecondOrderCone,
)

from .catalogue import SETS, draw, members, metrics

every_set = pytest.mark.parametrize("convex_set", SETS.values(), ids=SETS.keys())
CONES = {name: convex_set for name, convex_set in SETS.items() if convex_set.is_cone}
every_cone = pytest.mark.parametrize("cone", CONES.values(), ids=CONES.keys())
POLYHEDRAL = {name: convex_set for name, convex_set in SETS.items() if convex_set.facets() is not None}
every_polyhedral = pytest.mark.parametrize("convex_set", POLYHEDRAL.values(), ids=POLYHEDRAL.keys())


@every_set
def test_projection_is_idempotent_and_lands_in_the_set(convex_set):
    nearest = convex_set.project(draw(convex_set.dimension, 60))
    assert np.allclose(convex_set.project(nearest), nearest, rtol=0.0, atol=1e-12)
    assert np.all(convex_set.contains(nearest))
    assert np.allclose(convex_set.distance(nearest), 0.0, atol=1e-12)
    assert np.all(convex_set.indicator(nearest) == 0.0)


@every_set
def test_projection_does_not_expand(convex_set):
    first, second = draw(convex_set.dimension, 80, seed=3), draw(convex_set.dimension, 80, seed=4)
    before = np.linalg.norm(first - second, axis=1)
    after = np.linalg.norm(convex_set.project(first) - convex_set.project(second), axis=1)
    assert np.all(after <= before * (1.0 + 1e-12))


@every_set
def test_projection_fulfils_the_variational_inequality(convex_set):
    points, others = draw(convex_set.dimension, 60, seed=5), members(convex_set)
    nearest = convex_set.project(points)
    # (z - x)·(c - x) ≤ 0 for all members c (A.55), (A.96)
    work = np.einsum("ki,kji->kj", points - nearest, others[None] - nearest[:, None])
    assert work.max() <= 1e-10


@every_set
def test_metric_projection_fulfils_its_variational_inequality(convex_set):
    others = members(convex_set)
    for metric in metrics(convex_set.dimension):
        points = draw(convex_set.dimension, 8, seed=6)
        nearest = convex_set.project(points, metric=metric)
        pull = (points - nearest) @ metric
        work = np.einsum("ki,kji->kj", pull, others[None] - nearest[:, None])
        assert np.all(convex_set.contains(nearest, 1e-9))
        assert work.max() <= 1e-8 * np.linalg.norm(metric, 2)


@every_set
def test_unit_metric_gives_the_euclidean_projection(convex_set):
    points = draw(convex_set.dimension, 15, seed=7)
    for scale in (1.0, 1e-6, 1e6):
        found = convex_set.project(points, metric=scale * np.eye(convex_set.dimension))
        assert np.allclose(found, convex_set.project(points), atol=1e-10)


@every_set
def test_stack_of_points_equals_point_by_point(convex_set):
    points = draw(convex_set.dimension, 6, seed=8).reshape(2, 3, convex_set.dimension)
    directions = draw(convex_set.dimension, 6, seed=9).reshape(2, 3, convex_set.dimension)
    metric = metrics(convex_set.dimension)[1]
    nearest = convex_set.project(points)
    pairs = {
        "project": (nearest, [convex_set.project(z) for row in points for z in row]),
        "metric": (
            convex_set.project(points, metric),
            [convex_set.project(z, metric) for row in points for z in row],
        ),
        "support": (convex_set.support(points), [convex_set.support(z) for row in points for z in row]),
        "contains": (convex_set.contains(points), [convex_set.contains(z) for row in points for z in row]),
        "distance": (convex_set.distance(points), [convex_set.distance(z) for row in points for z in row]),
    }
    for method in ("in_tangent_cone", "in_normal_cone", "normal_cone_residual"):
        ask = getattr(convex_set, method)
        flat = zip(nearest.reshape(6, -1), directions.reshape(6, -1), strict=True)
        pairs[method] = (ask(nearest, directions), [ask(x, y) for x, y in flat])
    for name, (stacked, single) in pairs.items():
        assert np.allclose(np.asarray(stacked).reshape(np.shape(single)), single, atol=1e-12), name


@every_set
@pytest.mark.parametrize("beta", [0.01, 1.0, 100.0])
def test_a_normal_moves_a_point_to_where_the_projection_returns_it(convex_set, beta):
    """y ∈ N_C(x) ⇔ x = prox_C(x + βy) (A.97): left by its definition on members, right by projecting."""
    points = draw(convex_set.dimension, 40, seed=10)
    nearest = convex_set.project(points)
    rng = np.random.default_rng(11)
    bent = (points - nearest) + rng.normal(size=points.shape)
    others = members(convex_set, count=400, spread=5.0)
    for directions in (points - nearest, bent):
        work = np.einsum("ki,kji->kj", directions, others[None] - nearest[:, None]).max(axis=1)
        fixed = np.linalg.norm(nearest - convex_set.project(nearest + beta * directions), axis=1)
        inside = convex_set.in_normal_cone(nearest, directions)
        assert np.all(fixed[inside] <= 1e-9 * (1.0 + beta))
        assert np.all(work[inside] <= 1e-8)
        assert np.all(fixed[~inside] > 1e-9)
        assert not np.any(inside[work > 1e-6])
    assert np.all(convex_set.in_normal_cone(nearest, points - nearest))


@every_set
def test_tangents_and_normals_are_polar(convex_set):
    points = draw(convex_set.dimension, 25, seed=12)
    nearest = convex_set.project(points)
    others = members(convex_set, count=40)
    tangents = others[None] - nearest[:, None]
    stacked = np.broadcast_to(nearest[:, None], tangents.shape)
    there = np.linalg.norm(tangents, axis=-1) > 1e-6  # a difference of equal members has no direction
    assert np.all(convex_set.in_tangent_cone(stacked, tangents)[there])
    assert np.einsum("ki,kji->kj", points - nearest, tangents).max() <= 1e-10
    # and the converse: every direction is tangent, or has positive work with some normal
    directions = draw(convex_set.dimension, 25, seed=13)
    answers = convex_set.in_tangent_cone(nearest, directions)
    step = 1e-7 * directions
    leaving = np.linalg.norm(nearest + step - convex_set.project(nearest + step), axis=1)
    leaving /= np.linalg.norm(step, axis=1)
    assert np.all(leaving[answers] <= 1e-5)
    assert np.all(leaving[~answers] >= 1e-5)


@every_set
def test_outside_the_set_both_cones_are_empty(convex_set):
    points = draw(convex_set.dimension, 30, seed=14, spread=6.0)
    outside = points[~np.asarray(convex_set.contains(points))]
    zero = np.zeros(convex_set.dimension)
    for point in outside:
        assert not convex_set.in_normal_cone(point, zero)
        assert not convex_set.in_tangent_cone(point, zero)


@every_set
def test_support_bounds_all_members_and_is_attained(convex_set):
    directions = draw(convex_set.dimension, 40, seed=15)
    value = convex_set.support(directions)
    reached = directions @ members(convex_set, count=400, spread=10.0).T
    assert np.all(reached <= value[:, None] + 1e-9)
    # projecting far along y reaches the supremum, or runs away where there is none
    far = 1e6 * directions
    attained = np.sum(directions * convex_set.project(far), axis=1)
    finite = np.isfinite(value)
    assert np.allclose(attained[finite], value[finite], atol=1e-4)
    assert np.all(attained[~finite] > 1e2)


@every_set
def test_support_is_sublinear(convex_set):
    first, second = draw(convex_set.dimension, 40, seed=16), draw(convex_set.dimension, 40, seed=17)
    one, two, both = (convex_set.support(y) for y in (first, second, first + second))
    finite = np.isfinite(one) & np.isfinite(two)
    assert np.all(both[finite] <= (one + two)[finite] + 1e-9)
    assert np.allclose(convex_set.support(2.5 * first[np.isfinite(one)]), 2.5 * one[np.isfinite(one)])


@every_cone
def test_conjugate_of_the_indicator_of_a_cone_is_the_indicator_of_its_polar(cone):
    directions = np.vstack(
        [draw(cone.dimension, 60, seed=18), cone.polar().project(draw(cone.dimension, 60, 19))]
    )
    assert np.array_equal(cone.support(directions), cone.polar().indicator(directions))  # (A.88)


@every_cone
def test_projections_on_cone_and_polar_are_orthogonal_and_add_up(cone):
    points = draw(cone.dimension, 40, seed=20)
    along, across = cone.project(points), cone.polar().project(points)
    assert np.allclose(along + across, points, atol=1e-10)
    assert np.allclose(np.sum(along * across, axis=1), 0.0, atol=1e-9)


@every_cone
def test_polar_of_the_polar_is_the_cone(cone):
    points = draw(cone.dimension, 40, seed=21)
    assert np.allclose(cone.polar().polar().project(points), cone.project(points), atol=1e-10)


@pytest.mark.parametrize(
    "convex_set",
    [Ball(2.5, 3), Disc(0.3), RegularPolygon(1.4, 8), RegularPolygon(0.7, 6, 0.2), RegularPolygon(0.5, 2)],
    ids=str,
)
def test_the_polar_holds_the_directions_of_support_one_at_most(convex_set):
    """y ∈ C° ⇔ σ_C(y) ≤ 1."""
    directions = draw(convex_set.dimension, 200, seed=22, spread=1.0)
    value = convex_set.support(directions)
    clear = np.abs(value - 1.0) > 1e-6
    assert np.array_equal(convex_set.polar().contains(directions)[clear], (value <= 1.0)[clear])


def brute_force(normals, offsets, point, metric):
    """Nearest point of a polyhedron by trying every set of active constraints."""
    best, best_cost = None, np.inf
    dimension, count = normals.shape
    for size in range(min(dimension, count) + 1):
        for chosen in combinations(range(count), size):
            held = normals[:, list(chosen)]
            matrix = np.block([[metric, -held], [held.T, np.zeros((size, size))]])
            right = np.concatenate([metric @ point, -offsets[list(chosen)]])
            if np.linalg.matrix_rank(matrix) < len(matrix):
                continue
            candidate = np.linalg.solve(matrix, right)[:dimension]
            cost = (candidate - point) @ metric @ (candidate - point)
            if np.all(normals.T @ candidate + offsets >= -1e-9) and cost < best_cost:
                best, best_cost = candidate, cost
    return best


FEW_FACETS = {
    name: convex_set for name, convex_set in POLYHEDRAL.items() if convex_set.facets()[1].size <= 12
}


@pytest.mark.parametrize("convex_set", FEW_FACETS.values(), ids=FEW_FACETS.keys())
def test_metric_projection_on_flat_sides_equals_enumeration(convex_set):
    normals, offsets = convex_set.facets()
    for metric in metrics(convex_set.dimension)[:2]:
        for point in draw(convex_set.dimension, 4, seed=23):
            expected = brute_force(normals, offsets, point, metric)
            assert np.allclose(convex_set.project(point, metric), expected, atol=1e-8)


@every_polyhedral
def test_facets_describe_the_set(convex_set):
    normals, offsets = convex_set.facets()
    points = draw(convex_set.dimension, 100, seed=24, spread=1.0)
    slack = (points @ normals + offsets).min(axis=1, initial=np.inf)
    clear = np.abs(slack) > 1e-6
    assert np.array_equal(np.asarray(convex_set.contains(points))[clear], (slack >= 0.0)[clear])


@pytest.mark.parametrize("aperture", [1e-3, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("dimension", [2, 3, 6])
def test_metric_projection_on_the_cone_equals_a_general_optimiser(aperture, dimension):
    cone = SecondOrderCone(aperture, dimension)
    for metric in metrics(dimension)[:2]:
        for point in draw(dimension, 4, seed=25, spread=1.0):
            found = minimize(
                lambda x, z=point, g=metric: 0.5 * (x - z) @ g @ (x - z),
                cone.project(point) + np.eye(dimension)[0],
                jac=lambda x, z=point, g=metric: g @ (x - z),
                constraints=[
                    {"type": "ineq", "fun": lambda x: (aperture * x[0]) ** 2 - x[1:] @ x[1:]},
                    {"type": "ineq", "fun": lambda x: x[0]},
                ],
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            ).x
            own = cone.project(point, metric)
            # the apex has no gradient, so the optimiser may stop short of the optimum but never below it
            cost = [0.5 * (x - point) @ metric @ (x - point) for x in (own, found)]
            assert cone.contains(own, 1e-9)
            if cone.contains(found, 1e-9):  # SLSQP may end outside the cone, where it is cheaper
                assert cost[0] <= cost[1] + 1e-7 * max(1.0, cost[1])
            if np.linalg.norm(own) > 1e-3 and cone.contains(found, 1e-6):
                assert cost[1] <= cost[0] * (1.0 + 1e-3) + 1e-6


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_metric_projection_on_the_ball_equals_a_general_optimiser(dimension):
    ball = Ball(0.7, dimension)
    for metric in metrics(dimension):
        for point in draw(dimension, 4, seed=26):
            found = minimize(
                lambda x, z=point, g=metric: 0.5 * (x - z) @ g @ (x - z) / np.linalg.norm(g),
                ball.project(point),
                jac=lambda x, z=point, g=metric: g @ (x - z) / np.linalg.norm(g),
                constraints=[{"type": "ineq", "fun": lambda x: 0.49 - x @ x, "jac": lambda x: -2.0 * x}],
                method="SLSQP",
                options={"ftol": 1e-15, "maxiter": 500},
            ).x
            assert np.allclose(ball.project(point, metric), found, atol=2e-4)


def test_a_tangential_point_is_projected_on_the_cone_by_the_closed_form():
    """z tangential: the multiplier sits at its pole, closed form n = μ|t|/(1 + μ²) for the unit metric."""
    found = SecondOrderCone(0.5).project([0.0, 3.0, 4.0], metric=np.eye(3))
    assert np.allclose(found, [2.0, 0.6, 0.8], atol=1e-14)


def test_metric_projection_is_the_plastic_impact():
    """Two masses under g' = v2 - v1 ≥ 0: the nearest velocity in kinetic metric conserves momentum."""
    mass = np.diag([3.0, 1.0])
    after = Polyhedron([[-1.0], [1.0]], [0.0]).project([1.0, 0.0], metric=mass)
    assert np.allclose(after, [0.75, 0.75], atol=1e-14)


def test_the_cones_of_the_orthant_are_those_of_its_zero_entries():
    """(A.60): N = {λ ≤ 0, λᵀx = 0}, T = {v : x_i = 0 ⇒ v_i ≥ 0}."""
    orthant, rng = Orthant(3), np.random.default_rng(27)
    for _ in range(300):
        point = np.maximum(rng.normal(size=3), 0.0)
        direction = rng.normal(size=3) * rng.integers(0, 2, size=3)
        assert orthant.in_normal_cone(point, direction) == bool(
            np.all(direction <= 0.0) and np.all(direction * point == 0.0)
        )
        assert orthant.in_tangent_cone(point, direction) == bool(np.all(direction[point == 0.0] >= 0.0))


def test_normal_cone_of_a_polyhedron_is_generated_by_its_active_normals():
    """(A.58), without any constraint qualification: the third facet repeats the first."""
    normals = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    corner = Polyhedron(normals, np.zeros(3))
    generated = GeneratedCone(-normals)
    for direction in draw(2, 100, seed=28):
        assert corner.in_normal_cone([0.0, 0.0], direction) == generated.contains(direction)


@pytest.mark.parametrize(("radius", "sides"), [(0.0, 4), (0.0, 2), (1.0, 2)])
def test_a_polygon_without_area_projects_on_its_line(radius, sides):
    polygon = RegularPolygon(radius, sides)
    assert polygon.project([5.0, -0.0]).tolist() == [radius, 0.0]
    assert polygon.project([-5.0, 0.0]).tolist() == [-radius, 0.0]
    assert polygon.contains([0.0, 0.0])


@pytest.mark.parametrize("sides", [4, 6, 8, 16, 64])
def test_polygon_friction_stays_within_its_error_bounds(sides):
    """The force that dissipates most points to a vertex: angle ≤ π/r, power ≥ cos(π/r) of the disc's."""
    polygon, disc = RegularPolygon(3.0, sides), Disc(3.0)
    angles = np.append(np.linspace(0.0, 2.0 * np.pi, 997), np.pi / sides)
    sliding = np.column_stack([np.cos(angles), np.sin(angles)])
    force = polygon.vertices[np.argmin(sliding @ polygon.vertices.T, axis=1)]
    deviation = np.arccos(np.clip(-np.sum(force * sliding, axis=1) / 3.0, -1.0, 1.0))
    assert deviation.max() <= np.pi / sides + 1e-7
    assert deviation.max() == pytest.approx(np.pi / sides, rel=1e-6)
    share = polygon.support(-sliding) / disc.support(-sliding)
    assert share.min() == pytest.approx(np.cos(np.pi / sides), rel=1e-12)
    assert share.max() <= 1.0 + 1e-14


def test_polygon_directions_span_the_polygon():
    """(3.61)-(3.63): λ = Bβ with β ≥ 0, 1ᵀβ ≤ R fills exactly the polygon."""
    polygon, rng = RegularPolygon(2.0, 8), np.random.default_rng(30)
    weights = rng.dirichlet(np.ones(8), size=200) * rng.uniform(0.0, 2.0, size=(200, 1))
    assert np.all(polygon.contains(weights @ polygon.directions.T))
    assert np.allclose(polygon.directions[:, :4], -polygon.directions[:, 4:], atol=1e-15)


def test_segment_is_exact_for_planar_sliding():
    segment, disc = RegularPolygon(1.5, 2), Disc(1.5)
    assert (
        segment.support([[2.0, 0.0], [-0.3, 0.0]]).tolist()
        == disc.support([[2.0, 0.0], [-0.3, 0.0]]).tolist()
    )


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e8])
def test_tolerances_follow_the_scale_of_the_data(scale):
    disc = Disc(3.0 * scale)
    on_the_rim = np.array([1.8, 2.4]) * scale
    assert disc.contains(on_the_rim) and not disc.contains(1.00001 * on_the_rim)
    assert disc.in_normal_cone(on_the_rim, [3.0, 4.0])
    assert not disc.in_normal_cone(on_the_rim, [3.0, 4.001])
    assert not disc.in_normal_cone(0.9999 * on_the_rim, [3.0, 4.0])
    assert disc.in_tangent_cone(on_the_rim, [-4.0, 3.0]) and not disc.in_tangent_cone(
        on_the_rim, [-4.0, 3.01]
    )
    cone = SecondOrderCone(0.5)
    assert cone.contains(np.array([10.0, 3.0, 4.0]) * scale)
    assert not cone.contains(np.array([10.0, 3.0, 4.001]) * scale)


def test_the_residual_vanishes_exactly_on_the_unilateral_law():
    """Seiwald (3.5), (2.6): λ - prox_{R+}(λ - r g) = 0 exactly on the corner law."""
    for force in np.linspace(-1.0, 2.0, 13):
        for gap in np.linspace(-1.0, 2.0, 13):
            on_the_graph = force >= 0.0 and gap >= 0.0 and force * gap == 0.0
            residual = Orthant(1).normal_cone_residual([force], [-0.5 * gap])
            assert (residual < 1e-14) == on_the_graph


def test_the_residual_vanishes_exactly_on_the_friction_law():
    """Seiwald (3.7), (2.8) with r_T = 0.5, μ0 = 0.1, λ_N = 3 N."""
    interval = Box([-0.3], [0.3])
    for force in (-0.5, -0.3, -0.1, 0.0, 0.3, 0.4):
        for velocity in (-1.0, -0.2, 0.0, 0.7):
            sliding = velocity != 0.0 and force == -0.3 * np.sign(velocity)
            sticking = velocity == 0.0 and abs(force) <= 0.3
            residual = interval.normal_cone_residual([force], [-0.5 * velocity])
            assert (residual < 1e-14) == (sliding or sticking)


reals = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0.0 or abs(x) > 1e-6)


@settings(max_examples=60)
@given(st.lists(reals, min_size=3, max_size=3), st.floats(0.05, 20.0), st.integers(0, 10**6))
def test_any_metric_projection_on_the_cone_is_optimal(point, aperture, seed):
    half = np.random.default_rng(seed).normal(size=(3, 3))
    metric = half @ half.T + 0.01 * np.eye(3)
    cone, z = SecondOrderCone(aperture), np.array(point)
    x = cone.project(z, metric)
    force = metric @ (x - z) / np.linalg.norm(metric, 2)
    scale = max(np.linalg.norm(z), 1e-300)
    assert cone.distance(x) <= 1e-9 * scale
    assert cone.dual().distance(force) <= 1e-7 * scale
    assert abs(force @ x) <= 1e-7 * scale**2


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(0, 12), st.integers(0, 10**6))
def test_random_polyhedra_are_projected_on_or_found_empty(dimension, count, seed):
    rng = np.random.default_rng(seed)
    normals = rng.integers(-2, 3, size=(dimension, count)).astype(float)  # many parallel and repeated facets
    normals = normals[:, normals.any(axis=0)]
    witness = rng.integers(-2, 3, size=dimension).astype(float)
    polyhedron = Polyhedron(normals, rng.integers(0, 3, size=normals.shape[1]) - normals.T @ witness)
    assert polyhedron.contains(witness)
    points = 5.0 * rng.normal(size=(3, dimension))
    nearest = polyhedron.project(points)
    assert np.all(polyhedron.contains(nearest))
    assert np.all(polyhedron.in_normal_cone(nearest, points - nearest))
    assert np.all(np.sum((points - nearest) * (witness - nearest), axis=1) <= 1e-9)


def test_generated_cones_in_stretched_metrics_are_never_called_empty():
    """Facets of the polar that meet at the apex at small angles leave round-off, not a contradiction."""
    rng = np.random.default_rng(31)
    for _ in range(1500):
        dimension, count = int(rng.integers(2, 7)), int(rng.integers(1, 15))
        turn = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
        metric = (turn * np.geomspace(1.0, 1e7, dimension)) @ turn.T
        cone = GeneratedCone(rng.normal(size=(dimension, count)))
        cone.project(rng.normal(size=dimension), 0.5 * (metric + metric.T))
