"""Conversions: the same solution on both sides, and the way back."""

import numpy as np
import pytest

from klapper.complementarity import (
    FrictionalContact,
    LinearComplementarity,
    MixedComplementarity,
    NotApplicable,
    as_linear,
    eliminate_free,
    polygonal,
    quadratic_program,
    solve,
    split_free,
)


def random_impact(seed, *, polygon=4, contacts=2):
    """Waltersberger (3.97): mass matrix, normal and polygonal directions of a random impact with friction, ε = 0."""
    rng = np.random.default_rng(seed)
    n = 5
    root = rng.standard_normal((n, n))
    mass = root @ root.T + np.eye(n)
    normal = rng.standard_normal((n, contacts))
    tangential = rng.standard_normal((n, 2 * contacts))
    return mass, normal, tangential, 0.4, rng.standard_normal(n), polygon


def assembled(mass, normal, tangential, friction, before, polygon):
    contacts = normal.shape[1]
    angles = 2 * np.pi * np.arange(polygon) / polygon
    corners = np.vstack([np.cos(angles), np.sin(angles)])
    spread = np.hstack([tangential[:, 2 * i : 2 * i + 2] @ corners for i in range(contacts)])  # J_P
    ones = np.kron(np.eye(contacts), np.ones((polygon, 1)))  # E
    n, p = len(mass), spread.shape[1]
    zero = np.zeros
    matrix = np.block(
        [
            [mass, -normal, -spread, zero((n, contacts))],
            [normal.T, zero((contacts, contacts)), zero((contacts, p)), zero((contacts, contacts))],
            [spread.T, zero((p, contacts)), zero((p, p)), ones],
            [zero((contacts, n)), friction * np.eye(contacts), -ones.T, zero((contacts, contacts))],
        ]
    )
    return MixedComplementarity(matrix, np.concatenate([-mass @ before, zero(2 * contacts + p)]), free=n)


@pytest.mark.parametrize("seed", range(20))
def test_impact_with_velocities_kept_equals_its_reduction(seed):
    """C14, B7: (3.97), its linear reduction, and the contact form give the same velocity after the impact."""
    mass, normal, tangential, friction, before, polygon = data = random_impact(seed)
    mixed = assembled(*data)
    kept = solve(mixed).x[: len(mass)]
    reduced = eliminate_free(mixed)
    again = reduced.recover(solve(reduced.problem).x)[: len(mass)]
    rows = np.empty((len(mass), 6))
    rows[:, [0, 3]] = normal
    rows[:, [1, 2, 4, 5]] = tangential
    delassus = rows.T @ np.linalg.solve(mass, rows)
    contact = FrictionalContact(delassus, rows.T @ before, friction, polygon=polygon)
    force = solve(contact).x
    assert kept == pytest.approx(again, abs=1e-10)
    assert before + np.linalg.solve(mass, rows @ force) == pytest.approx(kept, abs=1e-9)
    assert kept @ mass @ kept <= before @ mass @ before + 1e-12  # plastic impacts dissipate (C24)


def test_splitting_serves_redundant_equations():
    link = np.array([[1.0], [-1.0]])
    twice = np.hstack([link, link])
    matrix = np.block([[np.eye(2), -twice], [twice.T, np.zeros((2, 2))]])
    problem = MixedComplementarity(matrix, [-1.0, 0.0, 0.0, 0.0], free=4)
    with pytest.raises(NotApplicable, match="redundant"):
        eliminate_free(problem)
    conversion = split_free(problem)
    x = conversion.recover(solve(conversion.problem).x)
    assert x[:2] == pytest.approx([0.5, 0.5])
    assert x[2] + x[3] == pytest.approx(-0.5)
    assert conversion.recover(conversion.lift(x)) == pytest.approx(x)


@pytest.mark.parametrize("polygon", [4, 8, 16])
def test_lift_and_recover_are_inverse_for_polygons(polygon):
    rng = np.random.default_rng(polygon)
    directions = rng.standard_normal((6, 4))
    contact = FrictionalContact(directions @ directions.T, rng.standard_normal(6), 0.5, polygon=polygon)
    conversion = polygonal(contact)
    force = np.concatenate([np.array([1.0, *rng.standard_normal(2)]) for _ in range(2)])
    assert conversion.recover(conversion.lift(force)) == pytest.approx(force)


def test_lifted_solution_is_a_solution():
    rng = np.random.default_rng(4)
    directions = rng.standard_normal((6, 8))
    contact = FrictionalContact(directions @ directions.T, rng.standard_normal(6) - 1.0, 0.3, polygon=8)
    conversion = as_linear(contact)
    solution = solve(contact)
    assert conversion.problem.residuals(conversion.lift(solution.x)).worst < 1e-9


def test_the_exact_disc_is_not_linear():
    with pytest.raises(NotApplicable, match="polygon"):
        polygonal(FrictionalContact(np.eye(3), np.ones(3), 0.3))


@pytest.mark.parametrize("sides", [4, 8, 16, 32])
def test_polygonal_friction_error_is_bounded_by_half_a_corner(sides):
    """C12, B8: 17° slide on a plane, μ = 0.3: direction within 180°/r, dissipation at least cos(π/r) of the exact."""
    heading = np.deg2rad(17.0)
    slide = 5.0 * np.array([np.cos(heading), np.sin(heading)])
    contact = FrictionalContact(np.eye(3), [-1.0, *slide], 0.3, polygon=sides)
    force = solve(contact).x
    assert force[0] == pytest.approx(1.0)
    assert 0.3 * np.cos(np.pi / sides) - 1e-12 <= np.linalg.norm(force[1:]) <= 0.3 + 1e-12
    after = contact.image(force)[1:]
    off = np.arccos(np.clip(-force[1:] @ after / np.linalg.norm(force[1:]) / np.linalg.norm(after), -1, 1))
    assert off <= np.pi / sides + 1e-12
    assert -force[1:] @ after >= np.cos(np.pi / sides) * 0.3 * np.linalg.norm(after) - 1e-12


def test_frictionless_impact_is_a_projection():
    """(3.111): the velocity after the impact is the nearest admissible one in the norm of the mass matrix."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    mass, normal, before = root @ root.T + np.eye(4), rng.standard_normal((4, 3)), rng.standard_normal(4)
    restitution = 0.5
    program = quadratic_program(mass, -mass @ before, normal.T, -restitution * normal.T @ before)
    after = program.recover(solve(program.problem).x)
    linear = LinearComplementarity(
        normal.T @ np.linalg.solve(mass, normal), (1 + restitution) * normal.T @ before
    )
    assert before + np.linalg.solve(mass, normal @ solve(linear).x) == pytest.approx(after, abs=1e-9)
