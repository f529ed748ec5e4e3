"""Modes of a structure: closed forms, dense against sparse, and frequencies of reduced systems."""

import time

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse
from bars import bar

from klapper.mechanics import Constraint, Contact, InvalidModel, LinearSystem
from klapper.mechanics.eigenmodes import lowest_modes
from klapper.reduction import attachment, craig_bampton, massless_boundary, modal, quasi_static


def modes_of(system, count):
    return lowest_modes(system.mass_matrix, system.stiffness, count)


@pytest.mark.parametrize("held", [True, False])
def test_modes_are_those_of_the_continuum(held):
    """Clamped–free bar (2i − 1)/4 Hz, free–free bar i/2 Hz, for EA = ρA = L = 1."""
    system = bar(400, held=held)
    found = modes_of(system, 5)
    expected = (2 * np.arange(1, 6) - 1) / 4.0 if held else np.arange(5) / 2.0
    np.testing.assert_allclose(found.frequencies, expected, rtol=2e-4, atol=1e-9)
    assert found.rigid == (0 if held else 1)
    np.testing.assert_allclose(found.shapes.T @ system.mass_matrix @ found.shapes, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(
        found.shapes.T @ system.stiffness @ found.shapes, np.diag(found.squares), atol=1e-6
    )


def test_sparse_and_dense_modes_agree():
    system = bar(600, held=False)
    dense = scipy.linalg.eigvalsh(system.stiffness.toarray(), system.mass_matrix.toarray())
    found = modes_of(system, 6)
    assert found.rigid == 1 and found.squares[0] == 0.0
    np.testing.assert_allclose(found.squares[1:], dense[1:6], rtol=1e-6)


@pytest.mark.parametrize("n", [40, 900])
def test_negative_stiffness_is_accepted_where_it_is_expected(n):
    """K − Ω² M has the modes of K, all squares smaller by Ω²; frequencies of negative squares are negative."""
    system = bar(n)
    plain = modes_of(system, 4)
    shift = 0.5 * (plain.squares[1] + plain.squares[2])
    turning = system.stiffness - shift * system.mass_matrix
    found = lowest_modes(system.mass_matrix, turning, 4, least=-np.inf)
    np.testing.assert_allclose(found.squares, plain.squares - shift, rtol=1e-7)
    assert np.all(np.sign(found.frequencies) == [-1, -1, 1, 1])
    with pytest.raises(InvalidModel, match="not positive semidefinite"):
        lowest_modes(system.mass_matrix, turning, 4)


@pytest.mark.parametrize("held", [True, False])
def test_modal_systems_are_exactly_diagonal(held):
    """B19, with Rayleigh damping (B18)."""
    reduced = modal(bar(60, held=held, rayleigh=(0.1, 1e-3)), 12).system
    squares = modes_of(bar(60, held=held), 12).squares
    m, k, d = (
        np.asarray(sparse.csr_array(a).todense())
        for a in (reduced.mass_matrix, reduced.stiffness, reduced.damping)
    )
    assert np.array_equal(m, np.eye(12))
    assert np.array_equal(k, np.diag(squares))
    np.testing.assert_allclose(d, np.diag(0.1 + 1e-3 * squares), rtol=1e-9, atol=1e-9)
    assert reduced.coordinates[0] == ("mode 1" if held else "rigid 1")


def test_rigid_modes_can_be_left_out():
    reduced = modal(bar(60, held=False), 3, rigid=False)
    np.testing.assert_allclose(
        np.sqrt(reduced.system.stiffness.diagonal()) / (2 * np.pi), [0.5, 1.0, 1.5], rtol=2e-3
    )
    assert reduced.system.coordinates == ("mode 1", "mode 2", "mode 3")


def test_frequencies_of_craig_bampton_converge_from_above():
    """Rayleigh–Ritz: never below those of the full structure; fixed-interface modes of a bar converge with k⁻³."""
    system = bar(60)
    full = modes_of(system, 4).frequencies
    errors = [modes_of(craig_bampton(system, k).system, 4).frequencies / full - 1.0 for k in (3, 6, 12)]
    assert np.min(errors) > -1e-12
    assert np.all(np.diff(errors, axis=0) < 0.0)
    assert np.log2(errors[1][0] / errors[2][0]) == pytest.approx(3.0, abs=0.4)


def with_closed_contact(system, count):
    """Frequencies [Hz] while the first contact holds its direction at rest."""
    normal, m, k = (
        np.asarray(sparse.csr_array(a).todense())
        for a in (system.normal_directions[:, :1], system.mass_matrix, system.stiffness)
    )
    free = scipy.linalg.null_space(normal.T)
    squares = scipy.linalg.eigvalsh(free.T @ k @ free, free.T @ m @ free)
    return np.sqrt(squares[:count]) / (2 * np.pi)


def test_attachment_shapes_give_the_frequencies_with_closed_contact_from_above():
    """What modes of the open structure alone converge to slowly: the bar held at both ends."""
    system = bar(60)
    full = with_closed_contact(system, 2)
    np.testing.assert_allclose(full, [0.5, 1.0], rtol=2e-3)
    few = [with_closed_contact(attachment(system, k).system, 2) / full - 1.0 for k in (3, 5, 7)]
    assert np.min(few) > 0.0
    assert np.all(np.diff(few, axis=0) < 0.0)
    alone = with_closed_contact(modal(system, 8).system, 2) / full - 1.0
    assert np.all(few[-1] < 1e-2 * alone)  # both have 8 coordinates


def test_craig_bampton_keeps_the_names_of_the_boundary():
    system = bar(60)
    reduced = craig_bampton(system, 8)
    assert reduced.system.coordinates[0] == system.coordinates[-1]
    named = craig_bampton(system, 8, boundary=["q10", "q60"])
    assert named.system.coordinates[:2] == ("q10", "q60")


def test_modes_hold_constraints():
    """A free bar tied at its left end has the modes of a held one, and one coordinate more for the support."""
    free = bar(40, held=False)
    n = free.size
    tied = LinearSystem(
        free.mass_matrix,
        stiffness=free.stiffness,
        contacts=free.contacts.parts,
        constraints=[Constraint("tie", np.eye(n)[0])],
    )
    reduced = modal(tied, 5)
    squares = np.asarray(reduced.system.stiffness.diagonal())
    np.testing.assert_allclose(squares[:5], modes_of(bar(40), 5).squares, rtol=1e-9)
    direction = np.asarray(sparse.csr_array(reduced.system.constraint_matrix).todense())[:, 0]
    np.testing.assert_allclose(direction, [0, 0, 0, 0, 0, 1.0], atol=1e-12)
    assert reduced.system.coordinates[-1] == "support 1"


def test_a_large_sparse_structure_stays_sparse():
    """20 000 coordinates, one contact: frequencies in closed form, no static error, within seconds."""
    n = 20_000
    off = np.full(n - 1, -1.0)
    stiffness = sparse.diags_array([off, np.full(n, 2.0), off], offsets=[-1, 0, 1]).tocsr()
    row = np.zeros(n)
    row[n // 2] = 1.0
    system = LinearSystem(np.ones(n), stiffness=stiffness, contacts=[Contact("mid", normal=row, gap=1.0)])
    began = time.perf_counter()
    reduced = quasi_static(system, 5)
    assert time.perf_counter() - began < 10.0
    expected = 2.0 * np.sin(0.5 * np.pi * np.arange(1, 6) / (n + 1))
    np.testing.assert_allclose(np.sqrt(reduced.system.stiffness.diagonal()), expected, rtol=1e-5)
    assert reduced.error.contact[0] < 1e-8
    whole = massless_boundary(system)
    assert sparse.issparse(whole.basis) and sparse.issparse(whole.system.stiffness)
    assert whole.system.size == n - 1


@pytest.mark.parametrize(
    ("reduce", "words"),
    [
        (lambda: modal(bar(10), 0), "number of modes is 0"),
        (lambda: modal(bar(10), 11), "from 1 to 10"),
        (lambda: modal(bar(10, held=False), 11, rigid=False), "more than 'bar' has"),
        (lambda: quasi_static(bar(10, restitution=0.5), 3), "has restitution"),
        (
            lambda: quasi_static(bar(10), 3, static_modes=8),
            "static_modes is 8; allowed are whole numbers from 0 to 7",
        ),
        (lambda: craig_bampton(bar(10), 3, boundary=["nose"]), "boundary names 'nose'"),
        (lambda: craig_bampton(bar(10, held=False), 3, boundary=[]), "can move freely"),
        (lambda: craig_bampton(bar(10, contacts=[]), 3), "no contacts that name a boundary"),
        (lambda: craig_bampton(bar(10), 30), "modes is 30"),
        (
            lambda: massless_boundary(
                LinearSystem([1.0], stiffness=[1.0], contacts=[Contact("c", normal=[1.0])])
            ),
            "every",
        ),
        (
            lambda: massless_boundary(bar(10, constraints=[Constraint("tie", np.eye(10)[-1])])),
            "would lose its mass",
        ),
        (lambda: modal(quasi_static(bar(10), 3).system, 2), "has been reduced before"),
        (lambda: modal(3, 2), "takes a LinearSystem"),
    ],
)
def test_what_cannot_be_reduced_is_refused_in_one_sentence(reduce, words):
    with pytest.raises(InvalidModel, match=words):
        reduce()


def test_all_rigid_modes_must_be_kept():
    two = sparse.block_diag([bar(10, held=False).stiffness] * 2).toarray()
    mass = sparse.block_diag([bar(10, held=False).mass_matrix] * 2).toarray()
    system = LinearSystem(mass, stiffness=two, contacts=[Contact("end", normal=np.eye(22)[0])])
    with pytest.raises(InvalidModel, match="mode after the 1 that are kept is rigid"):
        quasi_static(system, 1)
