"""Heaps to tight tolerances: residuals from the problem alone, and the sparse systems of Newton's method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.complementarity import FrictionalContact
from klapper.mechanics.rigid_form import RigidForm
from klapper.schemes.base import TOUCHING, Snapshot
from klapper.schemes.kernels.rigid_blocks import (
    assemble,
    complete,
    factorise,
    incomplete,
    pattern_of,
    solve_blocks,
)
from klapper.schemes.rigid_stretch import RigidStretch
from schemes.rigid_forms import G, heap

STEP = 1e-3


def problem_of(model: RigidForm, start: Snapshot, mu: float) -> tuple[FrictionalContact, np.ndarray]:
    """The contact problem of a step of spheres of which none was in contact before, and the numbers of its contacts."""
    n = len(model.mass)
    q, v = start.position.reshape(n, 7), start.velocity.reshape(n, 6)
    place, radius = q[:, :3] + 0.5 * STEP * v[:, :3], model.ball_radius
    rows: list[tuple[int, int, int, np.ndarray]] = []  # number, body, partner or −1, normal
    for a in range(n):
        for b in range(a + 1, n):
            between = place[a] - place[b]
            distance = float(np.linalg.norm(between))
            if distance - radius[a] - radius[b] <= TOUCHING:
                rows.append((a * n + b, a, b, between / distance))
    for p, (point, normal) in enumerate(zip(model.plane_point, model.plane_normal, strict=True)):
        gaps = (place - point) @ normal - radius
        rows += [(n * n + p * n + int(a), int(a), -1, normal) for a in np.flatnonzero(gaps <= TOUCHING)]
    jacobian = sparse.lil_array((3 * len(rows), 6 * n))
    for i, (_, a, b, normal) in enumerate(rows):
        axis = np.eye(3)[int(np.argmin(np.abs(normal) + 0.1 * np.arange(3)))]
        first = np.cross(axis, normal) / np.linalg.norm(np.cross(axis, normal))
        for c, direction in enumerate((normal, first, np.cross(normal, first))):
            jacobian[3 * i + c, 6 * a : 6 * a + 6] = np.append(
                direction, np.cross(-radius[a] * normal, direction)
            )
            if b >= 0:
                jacobian[3 * i + c, 6 * b : 6 * b + 6] = -np.append(
                    direction, np.cross(radius[b] * normal, direction)
                )
    inverse = np.repeat(1.0 / model.mass, 6).reshape(n, 6)
    inverse[:, 3:] = 1.0 / model.inertia
    free = v.copy()  # spheres: no gyroscopic moment; their axes are still those of the world
    free[:, 2] -= STEP * G
    jacobian = sparse.csr_array(jacobian)
    delassus = jacobian @ sparse.diags_array(inverse.ravel()) @ jacobian.T
    numbers = np.array([row[0] for row in rows])
    return FrictionalContact(delassus, jacobian @ free.ravel(), friction=mu), numbers


def settled(across: int, layers: int, seed: int, mu: float, steps: int) -> tuple[RigidForm, Snapshot]:
    """A heap on its way to rest, in axes turned so that all bodies stand upright, and forgetful of its contacts."""
    model, start, _ = heap(across, layers, seed=seed, mu=mu)
    after, _, why = RigidStretch(model, 0.5, STEP, 1e-3).run(start, steps, steps)
    assert why == ""
    n = len(model.mass)
    position, velocity = after.position.reshape(n, 7).copy(), after.velocity.reshape(n, 6).copy()
    position[:, 3:], velocity[:, 3:] = (1.0, 0.0, 0.0, 0.0), 0.0
    return model, replace(
        start, position=position.ravel(), velocity=velocity.ravel(), contact=np.zeros(0, np.int64)
    )


@pytest.mark.parametrize("mu", [0.1, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_from_no_forces_solves_the_problem_made_from_the_positions(seed: int, mu: float) -> None:
    model, start = settled(4, 4, seed, mu, 500)
    after, _, why = RigidStretch(model, 0.5, STEP, 1e-9).run(start, 1, 1)
    assert why == ""
    problem, numbers = problem_of(model, start, mu)
    assert len(numbers) > 100
    forces = np.zeros((len(numbers), 3))
    forces[np.searchsorted(numbers, after.contact)] = after.impulse
    assert np.all(np.diff(numbers) > 0)
    assert np.all(np.isin(after.contact, numbers))
    assert problem.residuals(forces.ravel()).worst <= 1e-8  # another scale of velocities than the loop's


def test_wedged_rough_heap_is_solved_in_few_sweeps() -> None:
    """Sweeps alone end above the tolerance in six of these steps, also after 5000, and in one at 5e-4 after 20 000."""
    model, start, _ = heap(6, 6, seed=2, mu=0.8)
    before, _, why = RigidStretch(model, 0.5, STEP, 1e-4).run(start, 100, 100)
    assert why == ""
    _, samples, why = RigidStretch(model, 0.5, STEP, 1e-8, max_sweeps=1300).run(before, 60, 1)
    assert why == ""
    assert samples["residual"].max() <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_a_heap_of_a_thousand_at_rest_keeps_to_1e_8(mu: float) -> None:
    model, start, _ = heap(10, 10, seed=1, mu=mu)
    before, _, why = RigidStretch(model, 0.5, STEP, 1e-4).run(start, 1000, 1000)
    assert why == ""
    after, samples, why = RigidStretch(model, 0.5, STEP, 1e-8).run(before, 100, 1)
    assert why == ""
    assert samples["residual"].max() <= 1e-8
    assert len(after.contact) > 2000


class TestBlocks:
    @pytest.mark.parametrize("seed", range(5))
    def test_both_factors_solve_what_a_dense_matrix_solves(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        bodies, count = 12, 30
        link = np.zeros((count, 3), np.int64)
        link[:, 1] = rng.integers(0, bodies, count)
        link[:, 2] = (link[:, 1] + rng.integers(1, bodies + 1, count)) % (
            bodies + 1
        )  # the last is the ground
        link[link[:, 1] == bodies, 1] = 0
        link[link[:, 1] == link[:, 2], 2] = bodies
        lever, slope = rng.normal(size=(count, 2, 3, 6)), rng.normal(size=(count, 3, 3))
        slope = 2.0 * np.eye(3) + 0.3 * slope  # neither symmetric nor singular
        lever[link[:, 2] == bodies, 1] = 0.0
        pattern = pattern_of(link, count, bodies)
        blocks = np.empty((len(pattern.column), 6, 6))
        assemble(pattern, lever, slope, blocks)
        dense = np.eye(6 * bodies)
        for i in range(count):
            row = np.zeros((3, 6 * (bodies + 1)))
            for side in range(2):
                b = link[i, 1 + side]
                row[:, 6 * b : 6 * b + 6] += lever[i, side]
            row = row[:, : 6 * bodies]
            dense += row.T @ slope[i] @ row
        right = rng.normal(size=(bodies, 6))
        expected = np.linalg.solve(dense, right.ravel()).reshape(bodies, 6)
        for factor, most in ((complete(pattern), 1), (incomplete(pattern), 60)):
            x = np.empty_like(right)
            factorise(blocks, factor)
            assert 0 < solve_blocks(pattern, blocks, factor, right, 1e-9, most, x) <= most
            assert x == pytest.approx(expected, rel=1e-6, abs=1e-8)

    def test_too_few_iterations_are_told(self) -> None:
        link = np.array([[0, 0, 1], [1, 1, 2], [2, 2, 3], [3, 0, 3]], dtype=np.int64)
        lever, slope = np.random.default_rng(0).normal(size=(4, 2, 3, 6)), 1e3 * np.tile(np.eye(3), (4, 1, 1))
        pattern = pattern_of(link, 4, 4)
        blocks, x = np.empty((len(pattern.column), 6, 6)), np.empty((4, 6))
        assemble(pattern, lever, slope, blocks)
        factor = incomplete(pattern)
        factorise(blocks, factor)
        assert solve_blocks(pattern, blocks, factor, np.ones((4, 6)), 1e-12, 1, x) == -1
