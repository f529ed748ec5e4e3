"""Large bodies in space: iteration and factors give the same step, and what cannot be iterated is factorised."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.continuum import Continuum, NeoHooke, Solid, Support, block, rigid_velocity
from klapper.schemes import EnergyMomentum, Newmark, krylov
from klapper.schemes.krylov import Iterated, inverse
from klapper.schemes.saddle_point import saddle_point
from klapper.schemes.sparse_factor import SingularMatrix, factorised
from klapper.simulation import simulate


def body(cells: int, **given) -> Continuum:
    solid = Solid(
        "cube", block((1.0, 1.0, 1.0), (cells,) * 3, element="hex8"), NeoHooke(1e6, 0.3), density=1e3
    )
    speed = rigid_velocity(solid, (1.0, 0.5, 0.2), 20.0) * (1.0 + 0.2 * solid.mesh.nodes)
    return Continuum([solid], velocity={"cube": speed}, **given)


def matrix_of_a_step(world: Continuum, h: float) -> sparse.csr_array:
    """Unsymmetric, of an energy-momentum step with large strains."""
    before = world.start.position
    after = before + 0.02 * world.start.velocity
    return (2.0 / h) * world.mass_matrix - h * world.force_between(0.0, before, after, slope=True).slope


@pytest.mark.parametrize("h", [1e-3, 1e-2, 1e-1])
def test_iteration_gives_what_factors_give(h: float, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_of_a_step(body(6), h)
    assert abs(matrix - matrix.T).max() > 1e-6 * abs(matrix).max()
    monkeypatch.setattr(krylov, "_PRODUCTS", 100.0)
    right = np.random.default_rng(0).standard_normal((matrix.shape[0], 2))
    solve = Iterated(matrix, matrix.diagonal())
    found = solve(right)
    assert solve._factors is None
    wanted = factorised(matrix)(right)
    np.testing.assert_allclose(found, wanted, atol=1e-8 * np.abs(wanted).max())
    np.testing.assert_allclose(solve(right[:, 0]), found[:, 0], rtol=0, atol=0)
    assert not np.any(solve(np.zeros(len(right))))


@pytest.mark.parametrize("size", [1e-18, 1e18])
def test_the_size_of_the_right_hand_side_does_not_matter(size: float) -> None:
    """As in the last round of Newton's method, whose residual is all rounding."""
    matrix = matrix_of_a_step(body(6), 1e-3)
    right = np.random.default_rng(0).standard_normal(matrix.shape[0])
    solve = Iterated(matrix, matrix.diagonal())
    np.testing.assert_allclose(solve(size * right), size * solve(right), rtol=1e-8)
    assert solve._factors is None


def test_large_bodies_in_space_are_iterated_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(krylov, "_LARGE", 500)
    world = body(6)
    matrix = matrix_of_a_step(world, 1e-3)
    assert isinstance(inverse(matrix), Iterated)
    plate = Solid("plate", block((1.0, 1.0), (20, 20), element="quad9"), NeoHooke(1e6, 0.3), density=1e3)
    assert not isinstance(inverse(Continuum([plate]).mass_matrix), Iterated)
    assert not isinstance(inverse(matrix.toarray()), Iterated)
    matrix = matrix.tolil()
    matrix[3, 3] = 0.0
    assert not isinstance(inverse(matrix.tocsr()), Iterated)


def test_what_does_not_converge_is_factorised(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_of_a_step(body(4), 1e-1)
    monkeypatch.setattr(krylov, "_FEW", 2)
    monkeypatch.setattr(krylov, "_MOST", 4)
    right = np.random.default_rng(1).standard_normal(matrix.shape[0])
    solve = Iterated(matrix, matrix.diagonal())
    found = solve(right)
    assert solve._factors is not None
    np.testing.assert_allclose(matrix @ found, right, atol=1e-9 * np.abs(right).max())


def test_slender_bodies_are_worth_fewer_rounds_than_compact_ones() -> None:
    """Bandwidth of a bar of one by one cells: two neighbouring sections of 4 nodes, whatever the numbering."""
    bar = Solid("bar", block((50.0, 1.0, 1.0), (50, 1, 1), element="hex8"), NeoHooke(1e6, 0.3), density=1e3)
    mass = Continuum([bar]).mass_matrix
    mixed = np.random.default_rng(2).permutation(mass.shape[0])
    for matrix in (mass, mass[mixed][:, mixed]):
        assert Iterated(matrix, matrix.diagonal())._worthwhile <= 0.1 * 612 * 24**2 / matrix.nnz
    cube = body(5).mass_matrix
    assert Iterated(cube, cube.diagonal())._worthwhile > 5


def test_iteration_goes_on_after_its_first_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_of_a_step(body(6), 1e-2)
    monkeypatch.setattr(krylov, "_FEW", 5)
    monkeypatch.setattr(krylov, "_PRODUCTS", 100.0)
    right = np.random.default_rng(1).standard_normal(matrix.shape[0])
    solve = Iterated(matrix, matrix.diagonal())
    found = solve(right)
    assert solve._factors is None
    np.testing.assert_allclose(matrix @ found, right, atol=1e-9 * np.abs(right).max())


def test_singular_matrices_are_told() -> None:
    """A free body without inertia: the load has a resultant, so that there is no solution."""
    world = body(3)
    matrix = world.stiffness(world.start.position)
    with pytest.raises(SingularMatrix):
        Iterated(matrix, matrix.diagonal())(np.ones(matrix.shape[0]))


@pytest.mark.parametrize("scheme", [EnergyMomentum(5e-3), Newmark(5e-3)])
@pytest.mark.parametrize("held", [False, True])
def test_steps_are_those_of_factors(scheme, held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    world = body(5, supports=[Support("cube", "left", [0])] if held else [])
    wanted = simulate(world, 0.02, scheme)
    used = []
    monkeypatch.setattr(krylov, "_LARGE", 500)
    iterated = Iterated._iterated

    def counted(self, right):
        used.append(len(right))
        return iterated(self, right)

    monkeypatch.setattr(Iterated, "_iterated", counted)
    found = simulate(world, 0.02, scheme)
    assert used
    assert set(used) == {648 - (36 if held else 0)}
    np.testing.assert_allclose(found.position, wanted.position, atol=1e-10)
    np.testing.assert_allclose(found.samples.constraint_impulse, wanted.samples.constraint_impulse, atol=1e-7)
    if isinstance(scheme, EnergyMomentum):
        kept = found.conservation
        assert kept["energy"].since_start < 1e-10 * kept["energy"].size
        assert held or all(kept.matrix.values())
        assert held or kept["angular momentum"].since_start < 1e-10 * kept["angular momentum"].size


@pytest.mark.parametrize("others", [0, 5])
def test_coordinates_that_are_held_one_by_one_are_put_in(others: int) -> None:
    """Against the dense solution; held coordinates and other conditions."""
    rng = np.random.default_rng(others)
    n, p = 600, 40 + others
    a = sparse.random_array((n, n), density=0.01, rng=rng) + 10.0 * sparse.eye_array(n)
    b, c = np.zeros((n, p)), np.zeros((n, p))
    places = rng.permutation(n)[:40]
    b[places, np.arange(40)], c[places, np.arange(40)] = rng.uniform(1.0, 2.0, (2, 40))
    b[:, 40:], c[:, 40:] = rng.standard_normal((2, n, others))
    for right in (rng.standard_normal(n + p), rng.standard_normal((n + p, 3))):
        found = saddle_point(a.tocsr(), sparse.csc_array(b), sparse.csc_array(c), np.ones(p, dtype=bool))(
            right
        )
        whole = np.block([[a.toarray(), b], [c.T, np.zeros((p, p))]])
        np.testing.assert_allclose(found, np.linalg.solve(whole, right), atol=1e-9)


def test_a_coordinate_held_twice_leaves_the_motion_unique() -> None:
    rng = np.random.default_rng(4)
    n = 600
    a = (sparse.random_array((n, n), density=0.01, rng=rng) + 10.0 * sparse.eye_array(n)).tocsr()
    b = sparse.csc_array(np.eye(n)[:, [3, 7, 9, 7]])
    right = rng.standard_normal(n + 4)
    right[n + 3] = right[n + 1]
    found = saddle_point(a, b, b, np.ones(4, dtype=bool))(right)
    single = saddle_point(a, b[:, :3], b[:, :3], np.ones(3, dtype=bool))(right[:-1])
    np.testing.assert_allclose(found[:n], single[:n], atol=1e-7)
    assert found[n + 1] + found[n + 3] == pytest.approx(single[n + 1], rel=1e-6)
