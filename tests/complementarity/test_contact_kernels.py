"""The compiled contact kernels: one contact solved exactly, the problem's own residuals, acceleration."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from numba import njit

from klapper.complementarity import FrictionalContact, LinearComplementarity
from klapper.complementarity.gauss_seidel import contact_blocks, linear_columns
from klapper.complementarity.kernels import contact_linear, contact_prox, contact_sweep
from klapper.complementarity.kernels.contact_acceleration import accelerate, new_history
from klapper.complementarity.kernels.contact_friction import dissipation_bound, project_on_disc
from klapper.complementarity.kernels.contact_local import eigen_2x2, solve_contact
from klapper.complementarity.kernels.contact_polygon import solve_polygon_contact
from klapper.complementarity.prox import contact_laws, linear_laws, rows_of
from klapper.convex import RegularPolygon

COUNT = 100_000


@njit
def solve_all(w: np.ndarray, q: np.ndarray, mu: np.ndarray, limit: np.ndarray, force: np.ndarray) -> None:
    for k in range(len(q)):
        n, a, b = w[k, 0, 0], w[k, 0, 1], w[k, 0, 2]
        c, d, e = w[k, 1, 1], w[k, 1, 2], w[k, 2, 2]
        schur = eigen_2x2(c - a * a / n, d - a * b / n, e - b * b / n, c + e)
        tangent = eigen_2x2(c, d, e, c + e)
        answer = solve_contact((q[k, 0], q[k, 1], q[k, 2]), (n, a, b), schur, tangent, mu[k], limit[k], 0.0)
        force[k] = answer[:3]


@njit
def solve_all_polygons(
    w: np.ndarray, q: np.ndarray, mu: np.ndarray, limit: np.ndarray, force: np.ndarray, vertices: int
) -> None:
    for k in range(len(q)):
        force[k] = solve_polygon_contact(
            (q[k, 0], q[k, 1], q[k, 2]),
            (w[k, 0, 0], w[k, 0, 1], w[k, 0, 2]),
            (w[k, 1, 1], w[k, 1, 2], w[k, 2, 2]),
            mu[k],
            limit[k],
            vertices,
        )


def residual(
    w: np.ndarray, q: np.ndarray, mu: np.ndarray, limit: np.ndarray, force: np.ndarray, polygon: int = 0
) -> np.ndarray:
    """Natural residual of each contact (k,), in units of the velocity terms it is made of."""
    scale = (np.abs(q) + np.einsum("kij,kj->ki", np.abs(w), np.abs(force))).max(axis=1)
    velocity = (np.einsum("kij,kj->ki", w, force) + q) / scale[:, None]
    normal = force[:, 0] * w[:, 0, 0] / scale
    weight = np.maximum(w[:, 1, 1], w[:, 2, 2]) / scale
    tangential = force[:, 1:] * weight[:, None]
    radius = (limit + mu * force[:, 0]) * weight
    target = tangential - velocity[:, 1:]
    if polygon:
        unit = np.where(radius > 0.0, radius, 1.0)[:, None]
        nearest = RegularPolygon(1.0, polygon).project(target / unit) * radius[:, None]
    else:
        length = np.linalg.norm(target, axis=1)
        nearest = target * np.where(length > radius, radius / np.maximum(length, 1e-300), 1.0)[:, None]
    sliding = np.linalg.norm(tangential - nearest, axis=1)
    return np.maximum(np.abs(np.minimum(normal, velocity[:, 0])), sliding)


def random_contacts(family: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((COUNT, 3, 3))
    mu, limit = rng.uniform(0.0, 1.0, COUNT), np.zeros(COUNT)
    if family == "stretched":
        factor *= 10.0 ** rng.uniform(-1.5, 1.5, (COUNT, 1, 3))
    elif family == "rank two":
        factor[:, :, 2] = 0.0
    elif family == "large friction":
        mu = 10.0 ** rng.uniform(-2.0, 3.0, COUNT)
    elif family == "given limit":
        limit = rng.uniform(0.0, 2.0, COUNT) * (rng.random(COUNT) < 0.8)
        mu *= rng.random(COUNT) < 0.8
    elif family == "isotropic":
        factor = np.broadcast_to(np.eye(3), (COUNT, 3, 3)) * rng.uniform(0.5, 2.0, (COUNT, 1, 1))
    return factor @ factor.transpose(0, 2, 1), rng.standard_normal((COUNT, 3)), mu, limit


@pytest.mark.parametrize(
    "family", ["plain", "stretched", "rank two", "large friction", "given limit", "isotropic"]
)
def test_one_contact_is_solved_to_round_off(family: str) -> None:
    """10⁵ random contacts of each family, none unsolved."""
    w, q, mu, limit = random_contacts(family, 1)
    force = np.empty_like(q)
    solve_all(w, q, mu, limit, force)
    assert np.all(force[:, 0] >= 0.0)
    assert residual(w, q, mu, limit, force).max() <= 1e-12


@pytest.mark.parametrize("vertices", [4, 8, 12])
@pytest.mark.parametrize("family", ["plain", "given limit"])
def test_one_contact_with_a_polygon_is_solved_to_round_off(vertices: int, family: str) -> None:
    w, q, mu, limit = (array[:5000] for array in random_contacts(family, 2))
    force = np.empty_like(q)
    solve_all_polygons(w, q, 0.5 * mu, limit, force, vertices)
    assert residual(w, q, 0.5 * mu, limit, force, vertices).max() <= 1e-12


@pytest.mark.parametrize("vertices", [4, 6, 10])
def test_polygon_projection_and_support_are_those_of_the_convex_set(vertices: int) -> None:
    rng = np.random.default_rng(3)
    polygon = RegularPolygon(radius=1.7, sides=vertices)
    for point in rng.standard_normal((200, 2)) * 2.0:
        assert np.allclose(project_on_disc(*point, 1.7, vertices), polygon.project(point), atol=1e-14)
        assert np.isclose(dissipation_bound(*point, 1.7, vertices), polygon.support(-point), rtol=1e-13)


def test_disc_projection_is_nearest_idempotent_and_non_expansive() -> None:
    rng = np.random.default_rng(4)
    points = rng.standard_normal((500, 2)) * 3.0
    images = np.array([project_on_disc(*point, 1.5, 0) for point in points])
    assert np.linalg.norm(images, axis=1).max() <= 1.5 * (1 + 1e-15)
    again = np.array([project_on_disc(*point, 1.5, 0) for point in images])
    assert np.allclose(again, images, atol=1e-15)
    between = np.linalg.norm(images[1:] - images[:-1], axis=1)
    assert np.all(between <= np.linalg.norm(points[1:] - points[:-1], axis=1) + 1e-14)


def mixed_problem(polygon: int | None) -> FrictionalContact:
    """Two normals, a patch that both load, a patch with a given limit, one constraint, in scattered rows."""
    rng = np.random.default_rng(5)
    factor = rng.standard_normal((7, 9))
    return FrictionalContact.from_parts(
        factor @ factor.T,
        rng.standard_normal(7),
        normal=[4, 1],
        tangential=[[0, 6], [5, 2]],
        friction=[[0.3, 0.2], [0.0, 0.0]],
        limit=[0.0, 0.4],
        bilateral=[3],
        polygon=polygon,
    )


@pytest.mark.parametrize("polygon", [None, 6])
def test_kernel_residuals_are_those_of_the_problem(polygon: int | None) -> None:
    problem = mixed_problem(polygon)
    rows, blocks = contact_blocks(problem)
    laws = contact_laws(problem)
    rng = np.random.default_rng(6)
    for _ in range(50):
        x = rng.standard_normal(7)
        expected = problem.residuals(x).worst
        force = np.where(rows.ravel() >= 0, x[rows.ravel()], 0.0)
        velocity = np.empty_like(force)
        scale = contact_sweep.refresh(blocks, force, velocity)
        assert contact_sweep.residual(blocks, force, velocity, scale) == pytest.approx(expected, rel=1e-12)
        velocity, scale = np.empty(7), np.empty(7)
        found = contact_prox.measure(problem.delassus, problem.free_velocity, laws, x, velocity, scale)
        # plain Python takes the matrix as an operator, whose velocity scale is |b| + |W x|
        assert np.allclose(velocity, problem.image(x))
        assert found > 0.0


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_linear_kernel_residuals_are_those_of_the_problem(storage) -> None:
    rng = np.random.default_rng(7)
    matrix = rng.standard_normal((6, 6)) * 10.0 ** rng.uniform(-3, 3, (6, 1))
    problem = LinearComplementarity(storage(matrix), rng.standard_normal(6))
    columns = linear_columns(problem)
    for _ in range(50):
        x = rng.standard_normal(6)
        y, scale = np.empty(6), np.empty(6)
        contact_linear.refresh(columns, x, y, scale)
        expected = problem.residuals(x).worst
        assert contact_linear.residual(columns, x, y, scale) == pytest.approx(expected, rel=1e-12)
        assert np.allclose(y, problem.image(x), rtol=1e-13, atol=1e-13 * np.abs(scale).max())


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_compiled_and_plain_prox_agree(storage) -> None:
    problem = LinearComplementarity(storage([[2.0, 1.0], [1.0, 2.0]]), [-1.0, -3.0])
    force = np.zeros(2)
    factor = np.full(2, 0.5)
    iterations, residual, restarts = contact_prox.compiled_fixed_point(
        rows_of(problem.matrix),
        problem.offset,
        linear_laws(problem),
        contact_prox.ALL,
        force,
        factor,
        1.0 / factor,
        0.5,
        0,
        1e-12,
        1000,
        3,
    )
    assert residual <= 1e-12
    assert restarts == 0
    assert 1 < iterations < 100
    assert np.allclose(force, [0.0, 1.5], atol=1e-11)


def test_acceleration_solves_a_linear_iteration_in_as_many_steps_as_it_has_modes() -> None:
    rng = np.random.default_rng(8)
    basis = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    contraction = basis @ np.diag([0.99, 0.9, 0.5, 0.99, 0.9, 0.5]) @ basis.T
    shift = rng.standard_normal(6)
    exact = np.linalg.solve(np.eye(6) - contraction, shift)
    x, velocity = np.zeros(6), np.zeros(6)
    history = new_history(5, 6)
    for _ in range(5):
        origin = x.copy()
        x = contraction @ x + shift
        velocity = 2.0 * x
        accelerate(history, origin, x, velocity, np.ones(6))
    assert np.allclose(x, exact, rtol=1e-6)
    assert np.allclose(velocity, 2.0 * x)
