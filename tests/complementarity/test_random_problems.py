"""Random problems: solvable or not, unique or not, ``solve`` and enumeration agree, nothing unverified.

Two thousand at every test, twenty thousand with the long ones.
Families: random, symmetric semidefinite, monotone, contact-like, degenerate, non-convex, infeasible, badly scaled
(1e-9 … 1e9), mixed with free unknowns, planar friction. Data are small integers (scaled where the family says so),
so that every decision, degenerate or not, has one right answer. The same problems in every run.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.complementarity import (
    FrictionalContact,
    LinearComplementarity,
    MixedComplementarity,
    NoSolution,
    enumerate_solutions,
    solve,
    uniqueness,
)

FEW, MANY = 200, 2000  # of each family


def integers(rng, shape, size=3):
    return rng.integers(-size, size + 1, shape).astype(float)


def random(rng, n):
    return LinearComplementarity(integers(rng, (n, n)), integers(rng, n))


def real_numbers(rng, n):
    return LinearComplementarity(
        rng.standard_normal((n, n)) + rng.uniform(0, 3) * np.eye(n), rng.standard_normal(n)
    )


def semidefinite(rng, n):
    root = integers(rng, (n, int(rng.integers(0, n + 1))), 2)
    return LinearComplementarity(root @ root.T, integers(rng, n))


def monotone(rng, n):
    root = integers(rng, (n, int(rng.integers(0, n + 1))), 2)
    skew = integers(rng, (n, n), 2)
    return LinearComplementarity(root @ root.T + skew - skew.T, integers(rng, n))


def contact_like(rng, n):
    """n contacts on fewer degrees of freedom: rank-deficient, consistent loads (a velocity exists)."""
    directions = integers(rng, (n, int(rng.integers(1, max(2, n)))), 2)
    mass = rng.integers(1, 5, directions.shape[1]).astype(float)
    return LinearComplementarity(
        (directions / mass) @ directions.T, directions @ integers(rng, directions.shape[1])
    )


def degenerate(rng, n):
    return LinearComplementarity(
        rng.integers(0, 2, (n, n)).astype(float), -rng.integers(0, 2, n).astype(float)
    )


def nonconvex(rng, n):
    root = integers(rng, (n, n), 2)
    return LinearComplementarity(np.diag(integers(rng, n)) - root @ root.T, integers(rng, n))


def infeasible(rng, n):
    """Often one row that no force can lift."""
    matrix, offset = integers(rng, (n, n)), integers(rng, n)
    row = int(rng.integers(n))
    matrix[row], offset[row] = -np.abs(matrix[row]), -1.0
    return LinearComplementarity(matrix, offset)


def badly_scaled(rng, n):
    plain = [random, semidefinite, monotone, degenerate][int(rng.integers(4))](rng, n)
    rows, columns = 10.0 ** rng.uniform(-9, 9, n), 10.0 ** rng.uniform(-9, 9, n)
    problem = LinearComplementarity(rows[:, None] * plain.matrix * columns, rows * plain.offset)
    return problem, 1 / columns, rows


def mixed(rng, n):
    root = integers(rng, (n, n), 2)
    matrix = root @ root.T + integers(rng, (n, n), 1)
    return MixedComplementarity(matrix, integers(rng, n), free=int(rng.integers(0, n)))


def planar_friction(rng, n):
    contacts = max(1, min(n // 2, 3))
    directions = integers(rng, (2 * contacts, int(rng.integers(1, 4))), 2)
    friction = rng.integers(0, 5, contacts) / 4.0
    return FrictionalContact(
        directions @ directions.T, directions @ integers(rng, directions.shape[1]), friction, dimension=2
    )


FAMILIES = [
    random,
    real_numbers,
    semidefinite,
    monotone,
    contact_like,
    degenerate,
    nonconvex,
    infeasible,
    badly_scaled,
    mixed,
    planar_friction,
]


def check(problem, unit=1.0, image_unit=1.0):
    """``unit`` and ``image_unit``: the sizes in which unknowns and images are to be compared."""
    unit = np.broadcast_to(unit, problem.size)
    found = enumerate_solutions(problem)
    try:
        solution = solve(problem)
    except NoSolution:
        assert not found
        return
    assert found
    assert solution.residuals.worst <= 1e-9
    report = uniqueness(solution)
    spread = (found.image_upper - found.image_lower) / image_unit
    image_scale = size_of(problem.image(np.zeros(problem.size)) / image_unit, solution.y / image_unit)
    assert (report.motion == "unique") == bool(np.all(spread <= 1e-7 * image_scale))
    scale = size_of(found.lower / unit, found.upper / unit)
    assert np.array_equal(report.forces, (found.upper - found.lower) / unit <= 1e-7 * scale)
    if report.complete:
        for ours, theirs in ((report.lower, found.lower), (report.upper, found.upper)):
            assert np.array_equal(np.isinf(ours), np.isinf(theirs))
            finite = np.isfinite(ours)
            assert np.abs((ours[finite] - theirs[finite]) / unit[finite]).max(initial=0.0) <= 1e-6 * scale


def size_of(*arrays):
    values = np.abs(np.concatenate(arrays))
    return values[np.isfinite(values)].max(initial=0.0) or 1.0


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_problem_of_a_random_family_is_decided_correctly(family, count):
    @settings(max_examples=count)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 8))
    def every_problem_is_decided_correctly(seed, n):
        made = family(np.random.default_rng(seed), n)
        check(*made) if isinstance(made, tuple) else check(made)

    every_problem_is_decided_correctly()


@settings(max_examples=500)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_problems_built_from_their_solution_are_solved(seed, n):
    """b = y − A x for chosen x ⟂ y: there is a solution whatever A is, so that no proof of the contrary is right."""
    rng = np.random.default_rng(seed)
    positive = rng.integers(0, 2, n).astype(bool)
    x, y = np.where(positive, rng.uniform(0.1, 3, n), 0.0), np.where(positive, 0.0, rng.uniform(0.1, 3, n))
    matrix = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-3, 3, n)[:, None]
    solution = solve(LinearComplementarity(matrix, y - matrix @ x))
    assert solution.residuals.worst <= 1e-9


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([None, 4, 8]), st.booleans())
def test_spatial_friction_built_from_its_solution_is_solved(seed, contacts, polygon, rank_deficient):
    """Open, sticking and sliding contacts chosen, the load computed from them; discs and polygons, redundant too."""
    rng = np.random.default_rng(seed)
    freedoms = 6 if rank_deficient else 3 * contacts + 2
    directions = rng.standard_normal((3 * contacts, freedoms))
    delassus, friction = directions @ directions.T, rng.uniform(0.1, 0.5, contacts)
    force, velocity = np.zeros((contacts, 3)), np.zeros((contacts, 3))
    for i, state in enumerate(rng.integers(0, 3, contacts)):
        heading = rng.standard_normal(2)
        heading /= np.linalg.norm(heading)
        if polygon is not None:
            angle = 2 * np.pi * rng.integers(polygon) / polygon
            heading = np.array([np.cos(angle), np.sin(angle)])  # sliding towards a corner
        if state == 0:
            velocity[i] = [rng.uniform(0.1, 1), *rng.standard_normal(2)]
        else:
            force[i, 0] = rng.uniform(0.1, 2)
            share = 1.0 if state == 2 else 0.5
            force[i, 1:] = -share * friction[i] * force[i, 0] * heading
            velocity[i, 1:] = heading if state == 2 else 0.0
    free = velocity.ravel() - delassus @ force.ravel()
    contact = FrictionalContact(delassus, free, friction, polygon=polygon)
    assert contact.residuals(force.ravel()).worst <= 1e-9
    assert solve(contact).residuals.worst <= 1e-9


def test_the_families_have_at_least_twenty_thousand_problems():
    assert MANY * len(FAMILIES) >= 20_000
