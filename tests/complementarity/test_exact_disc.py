"""The smooth form (4.22)-(4.27) of the friction disc against Alart–Curnier, closed forms and polygons."""

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.exact_disc import (
    exact_disc_forces,
    exact_disc_motion,
    exact_disc_problem,
    exact_disc_start,
)
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.newton import SemismoothNewton
from klapper.complementarity.problem import LinearComplementarity

TOLERANCE = 1e-9


def solved(problem, start=None):
    answer = SemismoothNewton().attempt(problem, start, TOLERANCE)
    assert problem.residuals(answer.x).worst <= TOLERANCE
    return answer.x


def random_model(generator, contacts, motions, *, approach=2.0):
    """Unit masses, random directions J, and a motion that presses every contact on average."""
    directions = generator.standard_normal((motions, 3 * contacts))
    motion = generator.standard_normal(motions) - approach * directions[:, ::3].mean(axis=1)
    return directions, motion


def contact_of(directions, motion, friction, **options):
    return FrictionalContact(directions.T @ directions, directions.T @ motion, friction, **options)


def polygon_forces(contact, vertices):
    """Forces of a single contact with a friction polygon, by the linear problem (4.17)-(4.20)."""
    angle = 2 * np.pi * np.arange(vertices) / vertices
    spread = np.zeros((3, 1 + vertices))
    spread[0, 0] = 1.0
    spread[1:, 1:] = np.cos(angle), np.sin(angle)
    friction = contact.friction.toarray()[0, 0]
    matrix = np.zeros((vertices + 2, vertices + 2))
    matrix[:-1, :-1] = spread.T @ contact.delassus @ spread
    matrix[1:-1, -1] = 1.0
    matrix[-1, 0], matrix[-1, 1:-1] = friction, -1.0
    offset = np.append(spread.T @ contact.free_velocity, 0.0)
    return spread @ solved(LinearComplementarity(matrix, offset))[:-1]


class TestConversion:
    @pytest.mark.parametrize("kind", ["contact", "parts", "motion"])
    def test_jacobian_is_the_derivative(self, kind):
        generator = np.random.default_rng(0)
        directions, motion = random_model(generator, 3, 8)
        contact = contact_of(directions, motion, 0.5)
        if kind == "parts":
            contact = FrictionalContact.from_parts(
                contact.delassus,
                contact.free_velocity,
                normal=[8, 0],
                tangential=[[1, 2], [4, 3], [6, 5]],
                bilateral=[7],
                friction=generator.random((3, 2)),
                limit=[0.1, 0.2, 0.0],
            )
        problem = exact_disc_problem(contact)
        if kind == "motion":
            problem = exact_disc_motion(contact, np.eye(8), directions, motion)
        x = generator.standard_normal(problem.size)
        steps = 1e-6 * np.eye(problem.size)
        numeric = np.array([(problem.function(x + h) - problem.function(x - h)) / 2e-6 for h in steps]).T
        assert np.allclose(problem.jacobian(x), numeric, atol=1e-6)
        assert len(problem.names) == problem.size

    def test_sparse_contact_has_sparse_jacobian(self):
        generator = np.random.default_rng(1)
        directions, motion = random_model(generator, 3, 8)
        contact = contact_of(directions, motion, 0.5)
        thin = FrictionalContact(sparse.csr_array(contact.delassus), contact.free_velocity, 0.5)
        dense_problem, thin_problem = exact_disc_problem(contact), exact_disc_problem(thin)
        x = generator.standard_normal(dense_problem.size)
        assert sparse.issparse(thin_problem.jacobian(x))
        assert np.allclose(thin_problem.jacobian(x).toarray(), dense_problem.jacobian(x))
        forces = exact_disc_forces(thin, solved(thin_problem))
        assert thin.residuals(forces).worst <= 1e-8

    def test_the_start_made_from_a_solution_is_a_solution(self):
        generator = np.random.default_rng(2)
        for _ in range(20):
            contact = contact_of(*random_model(generator, 3, 12), 0.4)
            forces = solved(contact)
            start = exact_disc_start(contact, forces)
            assert exact_disc_problem(contact).residuals(start).worst <= 1e-9
            assert np.array_equal(exact_disc_forces(contact, start), forces)

    def test_polygons_operators_and_shapes_that_do_not_fit_are_refused(self):
        contact = FrictionalContact(np.eye(3), [-1.0, 0.2, 0.0], friction=0.5, polygon=8)
        with pytest.raises(InvalidProblem, match="polygon"):
            exact_disc_problem(contact)
        operator = FrictionalContact(aslinearoperator(np.eye(3)), [-1.0, 0.2, 0.0], friction=0.5)
        with pytest.raises(InvalidProblem, match="exact_disc_motion"):
            exact_disc_problem(operator)
        contact = FrictionalContact(np.eye(3), [-1.0, 0.2, 0.0], friction=0.5)
        with pytest.raises(InvalidProblem, match="directions has shape"):
            exact_disc_motion(contact, np.eye(2), np.eye(3), np.zeros(2))


class TestSolutions:
    @pytest.mark.parametrize("contacts", [1, 2, 4])
    def test_velocities_are_those_of_alart_and_curnier_and_z_is_the_sliding_speed(self, contacts):
        """Same velocities to 1e-8, and z = |v_T| at every loaded contact (small friction: unique)."""
        generator = np.random.default_rng(contacts)
        for _ in range(10):
            contact = contact_of(*random_model(generator, contacts, 8 * contacts), 0.2)
            x = solved(exact_disc_problem(contact))
            forces, speed = exact_disc_forces(contact, x), x[contact.size :]
            unit = np.abs(contact.free_velocity).max()
            assert np.allclose(contact.image(forces), contact.image(solved(contact)), atol=1e-8 * unit)
            loaded = forces[contact.normal] > 1e-6
            sliding = np.linalg.norm(contact.image(forces)[contact.tangential], axis=1)
            assert np.allclose(speed[loaded], sliding[loaded], atol=1e-7 * unit)

    def test_motion_form_equals_eliminated_form(self):
        generator = np.random.default_rng(5)
        for sparsely in (False, True):
            directions, motion = random_model(generator, 2, 9)
            mass = np.diag(generator.uniform(0.5, 2.0, 9))
            delassus = directions.T @ np.linalg.solve(mass, directions)
            contact = FrictionalContact(delassus, directions.T @ motion, 0.3)
            operator = FrictionalContact(aslinearoperator(delassus), directions.T @ motion, 0.3)
            inertia = sparse.csr_array(mass) if sparsely else mass
            x = solved(exact_disc_motion(operator, inertia, directions, motion))
            forces = exact_disc_forces(contact, x)
            assert np.allclose(forces, solved(contact), atol=1e-7)
            assert np.allclose(mass @ (x[:9] - motion), directions @ forces, atol=1e-8)

    def test_take_off_stick_and_slip_are_the_closed_forms(self):
        slip = FrictionalContact(0.5 * np.eye(3), [-1.0, 3.0, -4.0], friction=0.3)
        assert np.allclose(solved(exact_disc_problem(slip)), [2.0, -0.36, 0.48, 4.7], atol=1e-8)
        stick = FrictionalContact(0.5 * np.eye(3), [-1.0, 0.1, -0.2], friction=0.3)
        assert np.allclose(solved(exact_disc_problem(stick)), [2.0, -0.2, 0.4, 0.0], atol=1e-8)
        away = FrictionalContact(0.5 * np.eye(3), [1.0, 0.1, -0.2], friction=0.3)
        assert np.allclose(exact_disc_forces(away, solved(exact_disc_problem(away))), 0.0, atol=1e-8)

    def test_a_given_limit_acts_without_a_normal_contact(self):
        patch = FrictionalContact.from_parts(np.eye(2), [3.0, 4.0], tangential=[[0, 1]], limit=[0.5])
        assert np.allclose(solved(exact_disc_problem(patch)), [-0.3, -0.4, 4.5], atol=1e-8)

    def test_units_do_not_matter(self):
        generator = np.random.default_rng(6)
        contact = contact_of(*random_model(generator, 2, 12), 0.3)
        forces = solved(contact)
        for unit in (1e-9, 1e9):
            scaled = FrictionalContact(contact.delassus / unit, contact.free_velocity, 0.3)
            answer = exact_disc_forces(scaled, solved(exact_disc_problem(scaled)))
            assert np.allclose(answer, unit * forces, atol=1e-6 * unit * np.abs(forces).max())


class TestPolygonLimit:
    @pytest.mark.parametrize("vertices", [4, 8, 16, 64])
    def test_polygon_tends_to_the_disc(self, vertices):
        """Sliding on an isotropic base: direction off by at most π/r, dissipation by at most 1 − cos(π/r)."""
        for angle in np.linspace(0.0, 2 * np.pi, 11):
            velocity = np.array([-1.0, 5.0 * np.cos(angle), 5.0 * np.sin(angle)])
            contact = FrictionalContact(np.eye(3), velocity, friction=0.3)
            exact = exact_disc_forces(contact, solved(exact_disc_problem(contact)))
            inscribed = polygon_forces(contact, vertices)
            limit = 0.3 * exact[0]
            cosine = inscribed[1:] @ exact[1:] / np.linalg.norm(inscribed[1:]) / np.linalg.norm(exact[1:])
            assert np.arccos(min(cosine, 1.0)) <= np.pi / vertices + 1e-7
            loss = limit - np.linalg.norm(inscribed[1:])
            assert -1e-9 <= loss <= (1 - np.cos(np.pi / vertices)) * limit + 1e-9

    def test_error_falls_with_the_number_of_vertices(self):
        """On an anisotropic base the forces of the polygon tend to those of the disc like 1/r."""
        contact = FrictionalContact(
            np.array([[1.0, 0.2, 0.1], [0.2, 1.0, 0.0], [0.1, 0.0, 1.5]]), [-1.0, 2.0, 1.0], friction=0.3
        )
        exact = exact_disc_forces(contact, solved(exact_disc_problem(contact)))
        for vertices in (8, 16, 64, 256):
            difference = polygon_forces(contact, vertices) - exact
            assert np.linalg.norm(difference) <= 2 * 0.3 * exact[0] * np.pi / vertices
