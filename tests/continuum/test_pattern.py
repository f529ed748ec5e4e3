"""Assembly: the same sums as a list of entries, whatever the groups and however many elements."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.continuum import block
from klapper.continuum.kernels.places import add_matrices
from klapper.continuum.pattern import Pattern, _turns


def coordinates(cells: np.ndarray, d: int) -> np.ndarray:
    return (cells[:, :, None] * d + np.arange(d)).reshape(len(cells), -1)


@pytest.mark.parametrize("numbering", ["in rows", "at random"])
def test_matrices_and_vectors_are_sums_over_elements(numbering: str) -> None:
    mesh, rng = block((1.0, 1.0), (70, 60)), np.random.default_rng(0)
    cells = mesh.cells if numbering == "in rows" else rng.permutation(mesh.cells)
    size = mesh.nodes.size
    places = [coordinates(cells, 2), rng.choice(size, (5, 3), replace=False)]
    pattern = Pattern.of(size, places)
    matrices = [rng.standard_normal((*place.shape, place.shape[1])) for place in places]
    vectors = [rng.standard_normal(place.shape) for place in places]
    expected, total = sparse.coo_array((size, size)).tocsr(), np.zeros(size)
    for place, matrix, vector in zip(places, matrices, vectors, strict=True):
        rows = np.repeat(place, place.shape[1], axis=1).ravel()
        columns = np.tile(place, (1, place.shape[1])).ravel()
        expected = expected + sparse.coo_array((matrix.ravel(), (rows, columns)), (size, size)).tocsr()
        np.add.at(total, place.ravel(), vector.ravel())
    found = pattern.matrix(matrices)
    assert found.has_canonical_format
    assert found.nnz == expected.nnz
    assert abs(found - expected).max() < 1e-13
    np.testing.assert_allclose(pattern.vector(vectors), total, atol=1e-13)


def test_batches_of_one_turn_have_no_coordinate_in_common() -> None:
    mesh = block((1.0, 1.0, 1.0), (20, 20, 20), element="hex8")
    turns = _turns(3 * mesh.cells, 3 * len(mesh.nodes))
    assert len(turns) > 1
    for turn in turns:
        touched = [np.unique(mesh.cells[begin:end]) for begin, end in turn]
        assert len(np.unique(np.concatenate(touched))) == sum(map(len, touched))
    covered = np.concatenate([np.arange(begin, end) for turn in turns for begin, end in turn])
    np.testing.assert_array_equal(np.sort(covered), np.arange(len(mesh.cells)))


def test_the_number_of_threads_does_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, rng = block((1.0, 1.0), (70, 60)), np.random.default_rng(1)
    pattern = Pattern.of(mesh.nodes.size, [coordinates(mesh.cells, 2)])
    matrices = rng.standard_normal((len(mesh.cells), 8, 8))
    shared_by_threads = pattern.matrix([matrices])
    alone = np.zeros(len(pattern.indices))
    slots = pattern._slots[0, 2]
    for turn in slots.turns:
        add_matrices(0, len(turn), turn, matrices, slots.first, alone)
    assert np.array_equal(shared_by_threads.data, alone)
