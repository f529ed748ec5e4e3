import numpy as np
import pytest

from benchmarks import problems


@pytest.mark.parametrize("family", problems.LINEAR_FAMILIES)
@pytest.mark.parametrize("size", [3, 10, 30])
def test_linear_families_are_symmetric_positive_semidefinite_and_not_trivial(family: str, size: int) -> None:
    batch = problems.LINEAR_FAMILIES[family](np.random.default_rng(0), 7, size)
    assert batch.matrices.shape == (7, size, size)
    assert batch.offsets.shape == (7, size)
    assert batch.size == size
    np.testing.assert_array_equal(batch.matrices, batch.matrices.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(batch.matrices).min() > -1e-12
    assert np.all(batch.offsets.min(axis=1) < 0.0)


def test_redundant_chain_has_the_rank_of_its_masses() -> None:
    batch = problems.redundant_chain_contact(np.random.default_rng(1), 5, 20)
    assert [np.linalg.matrix_rank(a) for a in batch.matrices] == [15] * 5
    full = problems.chain_contact(np.random.default_rng(1), 5, 20)
    assert [np.linalg.matrix_rank(a) for a in full.matrices] == [20] * 5


def test_redundant_chain_offset_is_a_velocity_of_the_masses() -> None:
    """b = Jᵀ v lies in the range of A = Jᵀ M⁻¹ J: this is what makes the problem solvable."""
    batch = problems.redundant_chain_contact(np.random.default_rng(2), 3, 12)
    for matrix, offset in zip(batch.matrices, batch.offsets, strict=True):
        solution, *_ = np.linalg.lstsq(matrix, offset, rcond=1e-10)
        np.testing.assert_allclose(matrix @ solution, offset, atol=1e-9)


@pytest.mark.parametrize("contacts", [30, 100, 400])
def test_sphere_pile_has_the_asked_contacts_and_a_semidefinite_delassus_matrix(contacts: int) -> None:
    pile = problems.sphere_pile(np.random.default_rng(3), contacts)
    assert contacts - 4 <= pile.contacts <= contacts
    assert pile.delassus.blocksize == (3, 3)
    assert pile.delassus.shape == (3 * pile.contacts,) * 2
    assert pile.offset.shape == (3 * pile.contacts,)
    assert pile.directions.shape == (3 * pile.contacts, 6 * pile.spheres)
    dense = pile.delassus.toarray()
    np.testing.assert_allclose(dense, dense.T, atol=1e-14)
    assert np.linalg.eigvalsh(dense).min() > -1e-12
    assert np.all((pile.friction >= 0.3) & (pile.friction <= 0.6))


def test_a_sphere_on_the_plane_yields_three_and_a_half_times_as_much_along_it() -> None:
    """Sphere on a plane: 1/m along the normal, 1/m + r²/(2/5 m r²) = 7/2 m⁻¹ along the tangents."""
    radius, density = 0.05, 2500.0
    pile = problems.sphere_pile(np.random.default_rng(4), 30, radius=radius, density=density)
    mass = density * 4.0 / 3.0 * np.pi * radius**3
    block = pile.delassus.toarray()[:3, :3]
    np.testing.assert_allclose(block, np.diag(np.diag(block)), atol=1e-14)
    np.testing.assert_allclose(np.diag(block) / block[0, 0], [1.0, 3.5, 3.5])
    np.testing.assert_allclose(
        block[0, 0] * mass, 1.0, rtol=0.031
    )  # the radius varies by 1 %, the mass by 3 %


def test_rigid_motion_of_the_pile_opens_no_contact_between_spheres() -> None:
    """A pile that moves as one rigid body has relative velocities at the plane only."""
    pile = problems.sphere_pile(np.random.default_rng(5), 100)
    velocity = np.tile([0.3, -0.2, 0.5, 0.0, 0.0, 0.0], pile.spheres)
    relative = (pile.directions @ velocity).reshape(-1, 3)
    on_plane = np.diff(pile.directions.tocsr().indptr.reshape(-1)[::3]) <= 18
    speed = np.linalg.norm(relative, axis=1)
    np.testing.assert_allclose(speed[~on_plane], 0.0, atol=1e-14)
    np.testing.assert_allclose(speed[on_plane], np.linalg.norm([0.3, -0.2, 0.5]), rtol=1e-12)


def test_blocks_grow_linearly_with_the_contacts() -> None:
    small, large = (problems.sphere_pile(np.random.default_rng(6), n) for n in (500, 2000))
    assert large.delassus.nnz / large.contacts < 1.3 * small.delassus.nnz / small.contacts


def test_the_same_seed_gives_the_same_pile() -> None:
    first, second = (problems.sphere_pile(np.random.default_rng(7), 60) for _ in range(2))
    np.testing.assert_array_equal(first.offset, second.offset)
    np.testing.assert_array_equal(first.delassus.data, second.delassus.data)
