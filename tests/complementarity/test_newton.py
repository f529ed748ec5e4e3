"""Semismooth Newton against enumeration, closed forms, eliminations by hand and convex programs."""

import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import lsq_linear, nnls
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity.alart_curnier import AlartCurnier
from klapper.complementarity.errors import IterationLimit
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.newton import SemismoothNewton
from klapper.complementarity.problem import (
    LinearComplementarity,
    MixedComplementarity,
    NonlinearComplementarity,
)
from klapper.complementarity.semismooth import damped_newton

TOLERANCE = 1e-9


def solved(problem, start=None):
    """The answer of SemismoothNewton, which must satisfy the problem by the problem's own measure."""
    assert SemismoothNewton().obstacle(problem) == ""
    answer = SemismoothNewton().attempt(problem, start, TOLERANCE)
    assert problem.residuals(answer.x).worst <= TOLERANCE
    return answer


def positive_definite(generator, size):
    root = generator.standard_normal((size, size))
    return root @ root.T + 1e-2 * np.eye(size)


def random_contact(generator, contacts, motions, friction, *, dimension=3):
    """Contacts on bodies with ``motions`` degrees of freedom: W = Jᵀ M⁻¹ J, b = Jᵀ v."""
    directions = generator.standard_normal((motions, dimension * contacts))
    mass = generator.uniform(0.5, 2.0, motions)
    delassus = directions.T @ (directions / mass[:, None])
    velocity = directions.T @ generator.standard_normal(motions)
    return FrictionalContact(delassus, velocity, friction, dimension=dimension)


def enumerated(matrix, offset):
    """All x with 0 ≤ x ⟂ A x + b ≥ 0 found by trying every active set."""
    found = []
    for active in product((False, True), repeat=len(offset)):
        active = np.array(active)
        x = np.zeros(len(offset))
        x[active] = np.linalg.solve(matrix[np.ix_(active, active)], -offset[active])
        if x.min() >= -1e-12 and (matrix @ x + offset).min() >= -1e-12:
            found.append(x)
    return found


def frictional_impact(generator, contacts, motions, vertices, friction):
    """M, J, v⁻ and the blocks of Waltersberger (3.97) for a plastic impact with polygonal friction."""
    normal = generator.standard_normal((motions, contacts))
    plane = generator.standard_normal((contacts, motions, 2))
    angle = 2 * np.pi * np.arange(vertices) / vertices
    corners = np.hstack([axes @ np.array([np.cos(angle), np.sin(angle)]) for axes in plane])
    mass = positive_definite(generator, motions)
    collect = np.kron(np.eye(contacts), np.ones((vertices, 1)))
    directions = np.hstack([normal, corners])
    before = generator.standard_normal(motions)
    forces = directions.shape[1]
    coupling = np.vstack([np.zeros((contacts, contacts)), collect])
    cone = np.hstack([friction * np.eye(contacts), -collect.T])
    mixed = np.block(
        [
            [mass, -directions, np.zeros((motions, contacts))],
            [directions.T, np.zeros((forces, forces)), coupling],
            [np.zeros((contacts, motions)), cone, np.zeros((contacts, contacts))],
        ]
    )
    load = np.concatenate([-mass @ before, np.zeros(forces + contacts)])
    delassus = directions.T @ np.linalg.solve(mass, directions)
    reduced = np.block([[delassus, coupling], [cone, np.zeros((contacts, contacts))]])
    reduced_load = np.concatenate([directions.T @ before, np.zeros(contacts)])
    return mass, directions, before, (mixed, load), (reduced, reduced_load)


class TestLinear:
    @pytest.mark.parametrize("size", [1, 2, 5, 20, 50, 150])
    def test_positive_definite_equals_least_squares(self, size):
        generator = np.random.default_rng(size)
        for _ in range(3):
            matrix, offset = positive_definite(generator, size), generator.standard_normal(size)
            root = np.linalg.cholesky(matrix)  # min ½xᵀAx + bᵀx, x ≥ 0  ⇔  min |Lᵀx + L⁻¹b|
            expected, _ = nnls(root.T, -np.linalg.solve(root, offset))
            answer = solved(LinearComplementarity(matrix, offset))
            assert np.allclose(answer.x, expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max()))
            assert answer.iterations <= 15

    @pytest.mark.parametrize("size", [1, 3, 6])
    def test_nonsymmetric_p_matrix_equals_enumeration(self, size):
        generator = np.random.default_rng(size)
        for _ in range(20):
            skew = generator.standard_normal((size, size))
            matrix = positive_definite(generator, size) + 3 * (skew - skew.T)
            offset = generator.standard_normal(size)
            (expected,) = enumerated(matrix, offset)
            assert np.allclose(solved(LinearComplementarity(matrix, offset)).x, expected, atol=1e-9)

    @pytest.mark.parametrize("size", [4, 30])
    def test_pairs_that_both_vanish_are_solved(self, size):
        generator = np.random.default_rng(size)
        for _ in range(20):
            matrix = positive_definite(generator, size)
            x = np.maximum(generator.standard_normal(size), 0)
            y = np.maximum(generator.standard_normal(size), 0) * (x == 0)
            x[0] = y[0] = 0.0
            answer = solved(LinearComplementarity(matrix, y - matrix @ x))
            assert np.allclose(answer.x, x, atol=1e-8 * np.linalg.cond(matrix) ** 0.5)

    def test_motion_is_unique_where_forces_are_not(self):
        generator = np.random.default_rng(0)
        for _ in range(50):
            root = generator.standard_normal((12, 4))
            offset = root @ generator.standard_normal(
                4
            )  # 0 ≤ x ⟂ Bᵀ-velocities: v = B(Bᵀx + c) always solvable
            x = solved(LinearComplementarity(root @ root.T, offset)).x
            other = solved(LinearComplementarity(root @ root.T, offset), np.full(12, 3.0)).x
            assert np.allclose(root.T @ x, root.T @ other, atol=1e-6)  # motion unique, forces not

    def test_sparse_equals_dense(self):
        generator = np.random.default_rng(1)
        size = 400
        matrix = sparse.diags_array(
            [-np.ones(size - 1), 2.1 * np.ones(size), -np.ones(size - 1)], offsets=[-1, 0, 1]
        )
        offset = generator.standard_normal(size)
        thin = solved(LinearComplementarity(matrix, offset)).x
        assert np.allclose(thin, solved(LinearComplementarity(matrix.toarray(), offset)).x, atol=1e-12)

    def test_a_membrane_over_an_obstacle_is_solved_with_a_sparse_matrix(self):
        """Membrane over an obstacle, 10 000 unknowns: the matrix stays sparse."""
        side = 100
        string = sparse.diags_array(
            [-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1]
        )
        matrix = sparse.kron(string, sparse.eye_array(side)) + sparse.kron(sparse.eye_array(side), string)
        place = np.linspace(-1, 1, side)
        offset = 0.01 - 0.05 * np.exp(-20 * (place[:, None] ** 2 + place**2)).ravel()
        answer = solved(LinearComplementarity(sparse.csr_array(matrix), offset))
        assert 0 < np.count_nonzero(answer.x > 1e-9) < side**2

    @pytest.mark.parametrize("decades", [3, 9])
    def test_units_of_rows_and_columns_do_not_matter(self, decades):
        generator = np.random.default_rng(decades)
        for _ in range(20):
            size = 12
            skew = generator.standard_normal((size, size))
            matrix, offset = (
                positive_definite(generator, size) + skew - skew.T,
                generator.standard_normal(size),
            )
            x = solved(LinearComplementarity(matrix, offset)).x
            row, column = 10 ** generator.uniform(-decades, decades, (2, size))
            scaled = LinearComplementarity(row[:, None] * matrix * column, row * offset)
            assert np.allclose(solved(scaled).x * column, x, rtol=1e-7, atol=1e-9 * np.abs(x).max())

    def test_polish_reaches_round_off(self):
        generator = np.random.default_rng(2)
        for _ in range(20):
            problem = LinearComplementarity(positive_definite(generator, 20), generator.standard_normal(20))
            assert problem.residuals(solved(problem).x).worst < 1e-13

    def test_unsolvable_problem_is_reported(self):
        contradiction = LinearComplementarity([[0.0, -1.0], [1.0, 0.0]], [-1.0, -1.0])  # −x₂ ≥ 1 with x₂ ≥ 0
        with pytest.raises(IterationLimit, match=r"Newton: residual .* iterations, wanted 1e-09; "):
            SemismoothNewton().attempt(contradiction, None, TOLERANCE)

    def test_bad_start_does_not_mislead(self):
        matrix, offset = positive_definite(np.random.default_rng(3), 10), -np.ones(10)
        expected = solved(LinearComplementarity(matrix, offset)).x
        for start in (np.full(10, 1e12), np.full(10, -1e6), np.full(10, np.nan), np.zeros(3)):
            assert np.allclose(solved(LinearComplementarity(matrix, offset), start).x, expected)


class TestMixed:
    def test_equals_elimination_by_hand(self):
        generator = np.random.default_rng(4)
        for _ in range(20):
            matrix, offset = positive_definite(generator, 9), generator.standard_normal(9)
            x = solved(MixedComplementarity(matrix, offset, free=4)).x
            solve = np.linalg.solve(matrix[:4, :4], np.column_stack([matrix[:4, 4:], offset[:4]]))
            reduced = LinearComplementarity(
                matrix[4:, 4:] - matrix[4:, :4] @ solve[:, :-1], offset[4:] - matrix[4:, :4] @ solve[:, -1]
            )
            assert np.allclose(x[4:], solved(reduced).x, atol=1e-10)
            assert np.allclose(x[:4], -solve[:, -1] - solve[:, :-1] @ x[4:], atol=1e-10)

    def test_free_unknowns_may_stand_anywhere(self):
        generator = np.random.default_rng(5)
        matrix, offset = positive_definite(generator, 6), generator.standard_normal(6)
        order = generator.permutation(6)
        free = np.array([True, True, False, False, False, False])
        x = solved(MixedComplementarity(matrix, offset, free=free)).x
        shuffled = MixedComplementarity(matrix[np.ix_(order, order)], offset[order], free=free[order])
        assert np.allclose(solved(shuffled).x, x[order], atol=1e-10)

    @pytest.mark.parametrize("contacts", [1, 2, 3])
    def test_frictional_impact_equals_its_reduction(self, contacts):
        """(3.97) and the linear problem without v give the same velocity after the impact."""
        generator = np.random.default_rng(contacts)
        for _ in range(5):
            mass, directions, before, mixed, reduced = frictional_impact(generator, contacts, 7, 6, 0.3)
            kept = solved(MixedComplementarity(*mixed, free=7)).x[:7]
            forces = solved(LinearComplementarity(*reduced)).x[: directions.shape[1]]
            after = before + np.linalg.solve(mass, directions @ forces)
            assert np.allclose(kept, after, atol=1e-9)
            assert after @ mass @ after <= before @ mass @ before + 1e-12

    def test_sparse_equals_dense(self):
        generator = np.random.default_rng(6)
        _, _, _, (matrix, load), _ = frictional_impact(generator, 2, 6, 4, 0.4)
        thin = solved(MixedComplementarity(sparse.csr_array(matrix), load, free=6)).x
        assert np.allclose(thin[:6], solved(MixedComplementarity(matrix, load, free=6)).x[:6], atol=1e-9)


class TestNonlinear:
    def test_the_problem_of_kojima_and_shindo_has_its_known_solutions(self):
        """Four unknowns, two solutions known in closed form: (√6/2, 0, 0, 1/2) and (1, 0, 3, 0)."""

        def function(x):
            a, b, c, d = x
            return np.array(
                [
                    3 * a**2 + 2 * a * b + 2 * b**2 + c + 3 * d - 6,
                    2 * a**2 + a + b**2 + 10 * c + 2 * d - 2,
                    3 * a**2 + a * b + 2 * b**2 + 2 * c + 9 * d - 9,
                    a**2 + 3 * b**2 + 2 * c + 3 * d - 3,
                ]
            )

        def jacobian(x):
            a, b = x[:2]
            return np.array(
                [
                    [6 * a + 2 * b, 2 * a + 4 * b, 1, 3],
                    [4 * a + 1, 2 * b, 10, 2],
                    [6 * a + b, a + 4 * b, 2, 9],
                    [2 * a, 6 * b, 2, 3],
                ]
            )

        known = np.array([[np.sqrt(6) / 2, 0, 0, 0.5], [1, 0, 3, 0]])
        for start in (None, np.ones(4), np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])):
            x = solved(NonlinearComplementarity(function, jacobian, 4), start).x
            assert np.abs(known - x).max(axis=1).min() < 1e-8

    def test_convergence_is_quadratic(self):
        """Close to a regular solution each residual is at most a constant times the last one squared."""
        delassus = np.array([[1.0, 0.4, -0.3], [0.4, 1.0, 0.6], [-0.3, 0.6, 2.0]])
        contact = FrictionalContact(delassus, [-1.0, 0.5, 0.8], friction=0.6)
        mapping = AlartCurnier(contact)

        def measure(x):
            return float(np.abs(mapping.value(x)).max())

        history = np.array(damped_newton(mapping, np.array([1.0, 0.5, 0.4]), measure, 1e-14, 20).history)
        asymptotic = [(a, b) for a, b in pairwise(history) if 1e-7 < a < 0.5]
        assert len(asymptotic) >= 2
        assert all(b <= 5 * a**2 for a, b in asymptotic)
        assert len(history) <= 9

    def test_a_failure_comes_with_advice(self):
        without_zero = NonlinearComplementarity(lambda x: x**2 + 1.0, lambda x: np.diag(2 * x), 1, free=1)
        with pytest.raises(IterationLimit, match="give a start near the solution"):
            SemismoothNewton().attempt(without_zero, None, TOLERANCE)


class TestContact:
    def test_a_contact_that_opens_has_no_force(self):
        contact = FrictionalContact(np.eye(3), [0.5, 1.0, -2.0], friction=0.7)
        assert np.array_equal(solved(contact).x, np.zeros(3))

    def test_a_sticking_contact_is_brought_to_rest(self):
        contact = FrictionalContact(np.diag([2.0, 1.0, 1.0]), [-1.0, 0.1, -0.05], friction=0.5)
        assert np.allclose(solved(contact).x, [0.5, -0.1, 0.05], atol=1e-14)

    @pytest.mark.parametrize("angle", [0.3, 17 * np.pi / 180, 2.0, -1.1])
    def test_sliding_friction_is_exactly_opposite(self, angle):
        direction = np.array([np.cos(angle), np.sin(angle)])
        velocity = np.concatenate([[-1.0], 3.0 * direction])
        x = solved(FrictionalContact(0.5 * np.eye(3), velocity, friction=0.3)).x
        assert np.allclose(x[0], 2.0, atol=1e-14)
        assert np.allclose(x[1:], -0.3 * 2.0 * direction, atol=1e-13)

    def test_planar_contact_equals_enumeration(self):
        """Planar friction is a linear problem in (λ_N, λ₊, λ₋, z) with few active sets."""
        generator = np.random.default_rng(7)
        for _ in range(30):
            contact = random_contact(generator, 1, 3, 0.4, dimension=2)
            w, b = contact.delassus, contact.free_velocity
            matrix = np.array(
                [
                    [w[0, 0], w[0, 1], -w[0, 1], 0.0],
                    [w[1, 0], w[1, 1], -w[1, 1], 1.0],
                    [-w[1, 0], -w[1, 1], w[1, 1], 1.0],
                    [0.4, -1.0, -1.0, 0.0],
                ]
            )
            found = []
            for active in product((False, True), repeat=4):
                index = np.flatnonzero(active)
                block = matrix[np.ix_(index, index)]
                if np.linalg.matrix_rank(block) < len(index):
                    continue
                z, offset = np.zeros(4), np.array([b[0], b[1], -b[1], 0.0])
                z[index] = np.linalg.solve(block, -offset[index])
                if min(z.min(), (matrix @ z + offset).min()) >= -1e-12:
                    found.append([z[0], z[1] - z[2]])
            x = solved(contact).x
            assert np.abs(np.array(found) - x).max(axis=1).min() < 1e-10

    def test_frictionless_equals_linear_problem(self):
        generator = np.random.default_rng(8)
        for _ in range(20):
            contact = random_contact(generator, 6, 8, 0.0, dimension=1)
            expected = solved(LinearComplementarity(contact.delassus, contact.free_velocity)).x
            assert np.allclose(solved(contact).x, expected, atol=1e-10)

    def test_given_limits_planar_equals_box_program(self):
        """Friction elements with given limits minimise a strictly convex function, Waltersberger (4.95)."""
        generator = np.random.default_rng(9)
        for _ in range(10):
            root = generator.standard_normal((8, 5))
            delassus, velocity = root.T @ root, generator.standard_normal(5)
            limit = generator.uniform(0.1, 1.0, 5)
            contact = FrictionalContact.from_parts(delassus, velocity, tangential=np.arange(5), limit=limit)
            upper = np.linalg.cholesky(delassus).T
            box = lsq_linear(
                upper, -np.linalg.solve(upper.T, velocity), (-limit, limit), method="bvls", tol=1e-14
            )
            assert np.allclose(solved(contact).x, box.x, atol=1e-9)

    def test_given_limits_minimise_the_dissipation_function(self):
        """argmin Σ ρ_i |J_iᵀ y + b_i| − yᵀ f + ½ yᵀ M y: one minimum, reached from every start."""
        generator = np.random.default_rng(10)
        mass, push = positive_definite(generator, 6) + np.eye(6), generator.standard_normal(6)
        directions, drift = generator.standard_normal((6, 8)), generator.standard_normal(8)
        limit = generator.uniform(0.1, 1.0, 4)
        contact = FrictionalContact.from_parts(
            directions.T @ np.linalg.solve(mass, directions),
            directions.T @ np.linalg.solve(mass, push) + drift,
            tangential=np.arange(8).reshape(4, 2),
            limit=limit,
        )

        def function(y):
            slide = (directions.T @ y + drift).reshape(4, 2)
            return limit @ np.linalg.norm(slide, axis=1) - y @ push + 0.5 * y @ mass @ y

        answers = []
        for start in (None, np.ones(8), 100 * generator.standard_normal(8)):
            answers.append(np.linalg.solve(mass, push + directions @ solved(contact, start).x))
        assert np.allclose(answers, answers[0], atol=1e-9)
        least = function(answers[0])
        for step in generator.standard_normal((200, 6)):
            assert function(answers[0] + 1e-3 * step) >= least

    def test_bilateral_rows_equal_elimination(self):
        """A two-sided constraint removed by hand leaves the same contact forces."""
        generator = np.random.default_rng(11)
        for _ in range(10):
            directions = generator.standard_normal((9, 8))
            delassus, velocity = directions.T @ directions, generator.standard_normal(8)
            whole = FrictionalContact.from_parts(
                delassus, velocity, bilateral=[6, 7], normal=[0, 3], tangential=[[1, 2], [4, 5]], friction=0.3
            )
            ties, rest = slice(6, 8), slice(0, 6)
            inner = np.linalg.inv(delassus[ties, ties])
            reduced = FrictionalContact(
                delassus[rest, rest] - delassus[rest, ties] @ inner @ delassus[ties, rest],
                velocity[rest] - delassus[rest, ties] @ inner @ velocity[ties],
                friction=0.3,
            )
            x = solved(whole).x
            assert np.allclose(x[rest], solved(reduced).x, atol=1e-8)
            assert np.allclose(whole.image(x)[ties], 0.0, atol=1e-10)

    def test_friction_matrix_shares_the_normal_force(self):
        """Two patches that share one normal contact half and half."""
        contact = FrictionalContact.from_parts(
            np.eye(5),
            [-2.0, 5.0, 0.0, 0.0, 5.0],
            normal=[0],
            tangential=[[1, 2], [3, 4]],
            friction=[[0.25], [0.15]],
            limit=[0.0, 0.1],
        )
        assert np.allclose(solved(contact).x, [2.0, -0.5, 0.0, 0.0, -0.4], atol=1e-13)

    @pytest.mark.parametrize("dimension", [1, 2, 3])
    def test_sparse_equals_dense(self, dimension):
        generator = np.random.default_rng(12)
        contact = random_contact(generator, 6, 40, 0.4 if dimension > 1 else 0.0, dimension=dimension)
        thin = FrictionalContact(
            sparse.csr_array(contact.delassus),
            contact.free_velocity,
            0.4 if dimension > 1 else 0.0,
            dimension=dimension,
        )
        assert np.allclose(solved(thin).x, solved(contact).x, atol=1e-10)

    def test_kernel_and_general_path_agree(self):
        generator = np.random.default_rng(13)
        for _ in range(10):
            contact = random_contact(generator, 4, 20, 0.5)
            mapping = AlartCurnier(contact)

            def measure(x, contact=contact, unit=mapping.force_unit):
                return contact.residuals(x * unit).worst

            path = damped_newton(mapping, np.zeros(contact.size), measure, 1e-13, 50)
            assert np.allclose(path.x * mapping.force_unit, solved(contact).x, atol=1e-10)

    def test_derivative_is_the_derivative(self):
        generator = np.random.default_rng(14)
        contact = random_contact(generator, 4, 9, 0.8)
        mapping = AlartCurnier(contact)
        for _ in range(20):
            x = generator.standard_normal(contact.size)
            steps = 1e-6 * np.eye(contact.size)
            numeric = np.array([(mapping.value(x + h) - mapping.value(x - h)) / 2e-6 for h in steps]).T
            assert np.allclose(mapping.derivative(x), numeric, atol=1e-5)

    @pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e9])
    def test_units_of_force_and_velocity_do_not_matter(self, unit):
        generator = np.random.default_rng(15)
        for _ in range(10):
            contact = random_contact(generator, 4, 20, 0.5)
            x = solved(contact).x
            faster = FrictionalContact(contact.delassus, unit * contact.free_velocity, 0.5)
            softer = FrictionalContact(unit * contact.delassus, contact.free_velocity, 0.5)
            assert np.allclose(solved(faster).x, unit * x, rtol=1e-8, atol=1e-10 * unit)
            assert np.allclose(solved(softer).x, x / unit, rtol=1e-8, atol=1e-10 / unit)

    @pytest.mark.parametrize("size", [1, 5, 20, 60])
    def test_few_iterations_suffice_whatever_the_size(self, size):
        generator = np.random.default_rng(size)
        for _ in range(5):
            assert solved(random_contact(generator, size, 8 * size, 0.4)).iterations <= 15

    @pytest.mark.parametrize("friction", [0.0, 0.2])
    def test_redundant_legs_leave_forces_open_but_not_the_motion_without_friction(self, friction):
        """Redundant legs leave the forces open; without friction the motion is unique nevertheless."""
        corners = np.array([[x, y, -1.0] for x in (-1, 1) for y in (-1, 1)])
        axes = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
        directions = np.array([[*axis, *np.cross(corner, axis)] for corner in corners for axis in axes]).T
        generator = np.random.default_rng(16)
        for _ in range(20):
            velocity = directions.T @ (generator.standard_normal(6) - [0, 0, 2, 0, 0, 0])
            contact = FrictionalContact(directions.T @ directions, velocity, friction)
            motions = [directions @ solved(contact, start).x for start in (None, generator.random(12))]
            assert friction > 0 or np.allclose(*motions, atol=1e-7)

    def test_thousand_random_problems_are_solved(self):
        generator = np.random.default_rng(17)
        unsolved = 0
        for case in range(1000):
            contacts = int(generator.integers(1, 7))
            motions = int(generator.integers(3, 3 * contacts + 6))
            dimension = 2 + case % 2
            contact = random_contact(
                generator, contacts, motions, generator.uniform(0.1, 1.0), dimension=dimension
            )
            try:
                answer = SemismoothNewton().attempt(contact, None, TOLERANCE)
            except IterationLimit:
                unsolved += 1
                continue
            assert contact.residuals(answer.x).worst <= TOLERANCE
        assert unsolved <= 2

    def test_thousands_of_sparse_contacts_are_solved(self):
        """A row of 2000 blocks, each resting on the ground and touching its neighbours."""
        blocks = 2000
        generator = np.random.default_rng(18)
        resting = sparse.eye_array(3 * blocks)
        rows = np.arange(blocks - 1)
        pushing = sparse.lil_array((3 * blocks, 3 * (blocks - 1)))
        pushing[3 * rows + 1, 3 * rows] = -1.0
        pushing[3 * rows + 4, 3 * rows] = 1.0
        pushing[3 * rows, 3 * rows + 1] = -1.0
        pushing[3 * rows + 3, 3 * rows + 1] = 1.0
        pushing[3 * rows + 2, 3 * rows + 2] = -1.0
        pushing[3 * rows + 5, 3 * rows + 2] = 1.0
        directions = sparse.csr_array(sparse.hstack([resting, pushing]))
        delassus = directions.T @ directions
        delassus = delassus + sparse.diags_array(0.1 * delassus.diagonal())
        velocity = directions.T @ generator.standard_normal(3 * blocks)
        contact = FrictionalContact(delassus, velocity, 0.5)
        answer = solved(contact)
        assert answer.iterations <= 30
        assert set(np.unique(contact.states(answer.x))) == {0, 1, 2}

    def test_what_it_cannot_treat_is_told_with_what_can(self):
        contact = FrictionalContact(np.eye(3), [-1.0, 0.2, 0.0], friction=0.5, polygon=8)
        assert "lemke" in SemismoothNewton().obstacle(contact)
        operator = FrictionalContact(aslinearoperator(np.eye(3)), [-1.0, 0.2, 0.0], friction=0.5)
        assert "prox" in SemismoothNewton().obstacle(operator)
        assert "str" in SemismoothNewton().obstacle("a block on a plane")

    def test_unstoppable_approach_is_reported(self):
        """An immovable pair that approaches: no force changes its velocity."""
        contact = FrictionalContact(np.diag([0.0, 1.0, 1.0]), [-1.0, 0.5, 0.0], friction=0.5)
        with pytest.raises(IterationLimit, match=r"Newton: residual .*, wanted 1e-09; the contact forces"):
            SemismoothNewton().attempt(contact, None, TOLERANCE)


def test_structurally_singular_newton_matrices_are_recognised():
    """SuperLU overwrites memory on such matrices; thousands of them in a process of their own must leave it alive."""
    program = """
import numpy as np
import scipy.sparse as sparse
from klapper.complementarity.newton_directions import _solve_sparse
generator = np.random.default_rng(1)
singular = 0
for _ in range(3000):
    n = int(generator.integers(2, 40))
    matrix = sparse.random_array((n, n), density=generator.uniform(0.05, 0.5), random_state=generator, format="csc")
    singular += _solve_sparse(matrix, np.ones(n)) is None
print(singular)
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) > 500
