"""Two-sided constraints: regular, redundant, contradicting."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact, NoSolution, bilateral_forces, solve

A, B, MASS, INERTIA, PULL = 0.2, 0.1, 16.0, 1 / 15, 2.0


def block_with_two_feet():
    """Seiwald's one-body block at q₃ = 0, pulled: Delassus matrix, free accelerations; rows T_A, N_A, T_B, N_B."""
    directions = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [B / 2, -A / 2, B / 2, A / 2]]).T
    flexibility = directions / np.array([MASS, MASS, INERTIA])
    return flexibility @ directions.T, flexibility @ np.array([PULL, -MASS * 9.81, 0.0])


def test_delassus_matrix_has_the_printed_entries():
    """(C.7) with Table 5.1."""
    delassus, _ = block_with_two_feet()
    assert delassus[0] == pytest.approx([0.1, -0.075, 0.1, 0.075])
    assert delassus[1] == pytest.approx([-0.075, 0.2125, -0.075, -0.0875])
    assert np.linalg.eigvalsh(delassus) == pytest.approx([0.0, 0.0918861, 0.125, 0.4081139], abs=1e-7)


def test_undetermined_friction_is_shared_equally():
    """Seiwald C12: the pseudo-inverse gives both feet −F/2, while the accelerations vanish."""
    delassus, free = block_with_two_feet()
    forces = bilateral_forces(delassus, free)
    assert forces[[0, 2]] == pytest.approx([-PULL / 2, -PULL / 2])
    assert np.abs(delassus @ forces + free).max() < 1e-10


def test_independent_constraints_have_one_answer():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 8))
    delassus, free = root @ root.T, rng.standard_normal(5)
    assert bilateral_forces(delassus, free) == pytest.approx(np.linalg.solve(delassus, -free))
    contact = FrictionalContact.from_parts(delassus, free, bilateral=np.arange(5))
    assert solve(contact).x == pytest.approx(np.linalg.solve(delassus, -free))


def test_a_duplicated_constraint_leaves_the_motion_unchanged():
    """C18: the same row twice; accelerations as with one of them, two-sided and one-sided."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((3, 4))
    doubled = np.vstack([rows, rows[1]])
    load = rng.standard_normal(4)
    once = load + rows.T @ bilateral_forces(rows @ rows.T, rows @ load)
    twice = load + doubled.T @ bilateral_forces(doubled @ doubled.T, doubled @ load)
    assert twice == pytest.approx(once)
    contact = FrictionalContact(rows @ rows.T, rows @ load, dimension=1)
    redundant = FrictionalContact(doubled @ doubled.T, doubled @ load, dimension=1)
    assert load + doubled.T @ solve(redundant).x == pytest.approx(load + rows.T @ solve(contact).x, abs=1e-9)


def test_what_rests_needs_no_forces():
    """Also where constraints repeat each other: nothing remains, and nothing is contradicted."""
    assert bilateral_forces(np.ones((2, 2)), [0.0, 0.0]).tolist() == [0.0, 0.0]


def test_contradicting_constraints_are_told():
    with pytest.raises(NoSolution, match="contradict each other"):
        bilateral_forces(np.ones((2, 2)), [1.0, 2.0])
