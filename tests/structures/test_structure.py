"""Structures in general: modes, statics, damping, loads, supports by elimination."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st

from klapper.mechanics import Constant, Contact, Harmonic, InvalidModel
from klapper.structures import Structure
from klapper.structures.coupling import elimination, projected


def chain(masses: int, *, stiffness: float = 1.0, mass: float = 1.0, ground: float = 0.0) -> Structure:
    """Equal masses and springs in a row, free at both ends but for springs to the ground at each mass."""
    main = np.full(masses, 2.0)
    main[[0, -1]] = 1.0
    off = -np.ones(masses - 1)
    k = stiffness * sparse.diags_array([main, off, off], offsets=[0, 1, -1])
    return Structure(mass * sparse.eye_array(masses), k + ground * sparse.eye_array(masses))


def chain_frequencies(masses: int, count: int) -> np.ndarray:
    """Closed form of the free chain with unit mass and stiffness [Hz]."""
    return 2 * np.sin(np.pi * np.arange(count) / (2 * masses)) / (2 * np.pi)


@pytest.mark.parametrize("masses", [3, 60, 3000])  # dense and by Lanczos steps
def test_chain_has_its_closed_form_frequencies(masses: int) -> None:
    count = min(masses, 12)
    modes = chain(masses).modes(count)
    np.testing.assert_allclose(modes.frequencies, chain_frequencies(masses, count), rtol=1e-9, atol=0)
    assert modes.rigid == 1
    np.testing.assert_allclose(modes.angular_frequencies, 2 * np.pi * modes.frequencies)


def test_modes_are_mass_normalised_and_diagonalise() -> None:
    structure = chain(800, mass=3.0, stiffness=7.0)
    modes = structure.modes(9)
    v = modes.shapes
    np.testing.assert_allclose(v.T @ structure.mass @ v, np.eye(9), atol=1e-9)
    np.testing.assert_allclose(
        v.T @ structure.stiffness @ v, np.diag(modes.angular_frequencies**2), atol=1e-11
    )


def test_double_frequencies_are_not_missed_by_lanczos() -> None:
    one = chain(700)
    both = Structure(
        sparse.block_diag([one.mass, one.mass]), sparse.block_diag([one.stiffness, one.stiffness])
    )
    np.testing.assert_allclose(both.frequencies(12), np.repeat(chain_frequencies(700, 6), 2), rtol=1e-8)


def test_modes_do_not_depend_on_where_they_are_computed() -> None:
    small = chain(400, ground=0.01)
    k, m = small.stiffness.toarray(), small.mass.toarray()
    expected = np.sqrt(scipy.linalg.eigh(k, m, eigvals_only=True)[:5]) / (2 * np.pi)
    np.testing.assert_allclose(small.frequencies(5), expected, rtol=1e-10)


def test_modes_refuse_impossible_counts_and_unstable_structures() -> None:
    with pytest.raises(InvalidModel, match="count is 4; allowed are whole numbers from 1 to 3"):
        chain(3).modes(4)
    with pytest.raises(InvalidModel, match="not positive semidefinite"):
        Structure([[1.0]], [[-1.0]]).modes(1)


def test_rayleigh_damping_is_diagonal_in_modes() -> None:
    structure = chain(20, ground=0.3).with_rayleigh(mass=0.2, stiffness=0.05)
    modes = structure.modes(20)
    modal = modes.shapes.T @ structure.damping @ modes.shapes
    np.testing.assert_allclose(modal, np.diag(0.2 + 0.05 * modes.angular_frequencies**2), atol=1e-12)


def test_masses_springs_and_dashpots_act_on_rows() -> None:
    row = np.array([1.0, -1.0])
    structure = Structure(np.eye(2), np.zeros((2, 2)))
    structure = structure.with_mass([1.0, 0.0], 2.0).with_spring(row, 5.0).with_dashpot(row, 0.5)
    np.testing.assert_allclose(structure.mass.toarray(), np.diag([3.0, 1.0]))
    np.testing.assert_allclose(structure.stiffness.toarray(), 5.0 * np.outer(row, row))
    np.testing.assert_allclose(structure.damping.toarray(), 0.5 * np.outer(row, row))
    # two masses on a spring: ω² = k (1/m₁ + 1/m₂)
    assert structure.frequencies(2)[1] == pytest.approx(np.sqrt(5.0 * (1 / 3 + 1)) / (2 * np.pi), rel=1e-12)


def test_loads_add_up_and_keep_their_kind() -> None:
    structure = Structure(np.eye(2), np.eye(2))
    weight = structure.with_load([0.0, -3.0]).with_load([1.0, 0.0])
    assert isinstance(weight.load, Constant)
    np.testing.assert_allclose(weight.load.value(5.0), [1.0, -3.0])
    shaken = structure.with_load(Harmonic(2.0, 3.0), [0.0, 1.0])
    assert isinstance(shaken.load, Harmonic)
    ramped = weight.with_load(lambda t: 2 * t, [1.0, 1.0])
    np.testing.assert_allclose(ramped.load.value(np.array([0.0, 1.0])), [[1.0, -3.0], [3.0, -1.0]])
    assert not np.any(ramped.without_load().load.value(1.0))
    assert not np.any(structure.load.value(0.0))


def test_static_deflection_satisfies_equilibrium() -> None:
    structure = chain(50, ground=0.2)
    loads = np.random.default_rng(3).standard_normal((50, 3))
    np.testing.assert_allclose(structure.stiffness @ structure.deflection(loads), loads, atol=1e-12)
    assert structure.with_load(loads[:, 0]).deflection() == pytest.approx(structure.deflection(loads[:, 0]))


def test_free_structures_have_no_static_deflection() -> None:
    with pytest.raises(InvalidModel, match="can move without deformation"):
        chain(5).deflection(np.ones(5))


def test_system_has_the_structures_equations() -> None:
    structure = chain(10, ground=0.1).with_rayleigh(mass=0.1).with_load(np.arange(10.0))
    system = structure.system([Contact("stop", normal=np.eye(10)[0], gap=1.0)], position=np.full(10, 0.5))
    q, v = np.linspace(0, 1, 10), np.linspace(1, 2, 10)
    expected = np.arange(10.0) - structure.stiffness @ q - 0.1 * v
    np.testing.assert_allclose(system.force(0.0, q, v), expected, atol=1e-14)
    assert system.gaps(0.0, system.start.position, np.array([0])) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mass": np.eye(2), "stiffness": np.eye(3)}, r"stiffness has shape \(3, 3\), expected \(2, 2\)"),
        ({"mass": np.eye(2), "stiffness": [[1, 2], [0, 1]]}, "stiffness is not symmetric"),
        ({"mass": np.eye(2), "stiffness": np.eye(2), "gyroscopic": np.eye(2)}, "gyroscopic is not skew"),
        (
            {"mass": np.eye(2), "stiffness": np.eye(2), "load": [1.0]},
            r"load has shape \(1,\), expected \(2,\)",
        ),
        ({"mass": np.eye(2), "stiffness": np.eye(2), "coordinates": ["x"]}, "names 1 of 2"),
        ({"mass": [[np.nan]], "stiffness": [[1.0]]}, "not finite"),
    ],
)
def test_wrong_matrices_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(InvalidModel, match=message):
        Structure(**arguments)


def test_rows_of_another_structure_are_refused() -> None:
    with pytest.raises(InvalidModel, match=r"a row of 'structure' is \(2,\)"):
        Structure(np.eye(2), np.eye(2)).with_spring([1.0], 1.0)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 2))
def test_elimination_is_a_basis_of_all_admissible_positions(seed: int, count: int, repeated: int) -> None:
    random = np.random.default_rng(seed)
    constraints = random.standard_normal((count, 9)) * (random.random((count, 9)) < 0.6)
    constraints = np.vstack((constraints, constraints[:repeated] * 3.0))
    basis, kept = elimination(constraints)
    rank = np.linalg.matrix_rank(constraints)
    assert basis.shape == (9, 9 - rank)
    np.testing.assert_allclose(constraints @ basis.toarray(), 0.0, atol=1e-9)
    np.testing.assert_allclose(basis.toarray()[kept], np.eye(kept.size), atol=0)


def test_projection_keeps_energy() -> None:
    basis, _ = elimination(np.array([[1.0, -1.0, 0.0]]))
    matrix = sparse.csr_array(np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]]))
    y = np.array([0.7, -0.2])
    q = basis @ y
    assert y @ (projected(matrix, basis) @ y) == pytest.approx(q @ (matrix @ q), rel=1e-14)
