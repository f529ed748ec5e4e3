"""Static loads and contact forces on reduced systems against the full ones (B22)."""

import numpy as np
import pytest
import scipy.sparse as sparse
from bars import bar
from hypothesis import given, settings, strategies as st

from klapper.complementarity import LinearComplementarity, solve
from klapper.mechanics import Constraint, Contact, FrictionElement, Harmonic, LinearSystem
from klapper.reduction import attachment, craig_bampton, massless_boundary, modal, quasi_static
from klapper.structures import Beam, Material, Section

STATIC = {
    "quasi-static": lambda system: quasi_static(system, 4),
    "attachment": lambda system: attachment(system, 4),
    "Craig–Bampton": lambda system: craig_bampton(system, 4),
    "massless boundary": lambda system: massless_boundary(system),
    "massless boundary, 4 modes": lambda system: massless_boundary(system, 4),
}


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def at_rest(system):
    """Coordinates and contact forces of static equilibrium with one-sided contacts."""
    stiffness, normal = dense(system.stiffness), dense(system.normal_directions)
    free = np.linalg.solve(stiffness, system.load.value(0.0))
    by_force = np.linalg.solve(stiffness, normal)
    flexibility = normal.T @ by_force + (0.0 if system.compliance is None else system.compliance)
    force = solve(LinearComplementarity(flexibility, normal.T @ free + system.gap_offsets(0.0))).x
    return free + by_force @ force, force


def recovered(reduced, position, force):
    full = reduced.basis @ position
    if reduced.by_force is not None:
        full = full + reduced.by_force @ force
    return full if reduced.by_load is None else full + reduced.by_load.value(0.0)


def clamped_beam():
    """A clamped beam that sags on three stops under its weight and a force between them."""
    steel = Material(young=210e9, density=7500.0, shear=81e9)
    section = Section(area=4e-4, second_moment=0.02**4 / 12, shear_area=4e-4 / 1.2)
    beam = Beam(1.0, steel, section, elements=12, degree=3, supports={0.0: "clamped"}).with_gravity(9.81)
    beam = beam.with_load(-200.0, beam.row(0.7))
    places = (0.4, 0.63, 0.9)
    return beam.system([Contact(f"{x} m", normal=beam.row(x), gap=2e-4) for x in places])


@pytest.mark.parametrize("name", STATIC)
@pytest.mark.parametrize("model", [clamped_beam, lambda: bar(60, force=1.0, stop=0.1)])
def test_a_structure_at_rest_on_its_stops_is_reduced_exactly(name, model):
    system = model()
    position, force = at_rest(system)
    assert np.count_nonzero(force) > 0
    reduced = STATIC[name](system)
    small, pressed = at_rest(reduced.system)
    np.testing.assert_allclose(pressed, force, rtol=1e-8, atol=1e-8 * force.max())
    np.testing.assert_allclose(
        recovered(reduced, small, pressed), position, rtol=0, atol=1e-8 * np.abs(position).max()
    )
    np.testing.assert_allclose(reduced.error.contact, 0.0, atol=1e-8)
    assert reduced.error.load < 1e-8


def test_modes_alone_are_too_stiff_and_say_so():
    """Static flexibility of the end of the bar that k modes leave out: 1 − Σ 8/(π (2i − 1))², i ≤ k."""
    reduced = modal(bar(400), 6)
    lost = 1.0 - np.sum(8.0 / (np.pi * (2 * np.arange(1, 7) - 1)) ** 2)
    assert reduced.error.contact[0] == pytest.approx(lost, rel=1e-3)
    assert f"{100 * reduced.error.contact[0]:.3g} %" in str(reduced)


LOST = {
    "modal": (lambda system: modal(system, 4), 4, 7 / 4),
    "quasi-static, 5 static modes": (lambda system: quasi_static(system, 4, static_modes=5), 9, 7 / 4),
    "quasi-static": (lambda system: quasi_static(system, 4), np.inf, 7 / 4),
    "attachment": (lambda system: attachment(system, 4), np.inf, 7 / 4),
    "Craig–Bampton": (lambda system: craig_bampton(system, 4), np.inf, 4 / 2),
    "massless boundary": (lambda system: massless_boundary(system), np.inf, np.inf),
    "massless boundary, 4 modes": (lambda system: massless_boundary(system, 4), np.inf, 7 / 4),
}


@pytest.mark.parametrize("name", LOST)
def test_the_error_of_every_reduction_is_the_closed_form(name):
    """Modes √2 sin ωx, ω = (2i − 1)π/2, of a held bar carry 2 sin² ωx/ω² of its static flexibility x; with its end
    held, too, its frequencies are i/2 instead of (2i − 1)/4."""
    reduce, carried, highest = LOST[name]
    error = reduce(bar(400, force=1.0)).error

    def lost(x: float) -> float:
        if np.isinf(carried):
            return 0.0
        omega = (np.arange(carried) + 0.5) * np.pi
        return 1.0 - np.sum(2 * np.sin(omega * x) ** 2 / omega**2) / x

    assert error.contact[0] == pytest.approx(lost(1.0), rel=2e-3, abs=1e-9)
    assert error.load == pytest.approx(lost(201 / 400), rel=2e-3, abs=1e-9)
    assert error.highest == pytest.approx(highest, rel=1e-3)


def test_the_weight_of_a_free_structure_deforms_nothing():
    """Inertia carries all of it, so that no reduction loses any of its work."""
    system = bar(30, held=False)
    system = LinearSystem(
        system.mass_matrix,
        stiffness=system.stiffness,
        force=system.mass_matrix @ np.ones(31),
        contacts=system.contacts.parts,
    )
    for reduce in (modal, quasi_static, attachment, craig_bampton, massless_boundary):
        assert reduce(system, 3).error.load == 0.0


@pytest.mark.parametrize("reduce", [attachment, craig_bampton])
def test_loads_get_static_shapes_unless_not_wanted(reduce):
    system = bar(40, force=1.0)
    with_shape, without = reduce(system, 4), reduce(system, 4, loads=False)
    assert with_shape.system.size == without.system.size + 1
    assert with_shape.error.load < 1e-8 < 1e-3 < without.error.load


def test_every_pattern_of_a_load_gets_one_shape():
    """Two harmonics of one phase each, a constant, a function of time along one pattern."""
    n = 30
    first, second, third = np.eye(n)[[5, 12, 20]]
    base = bar(n)
    load = Harmonic(first, 3.0) + Harmonic(second, 3.0, 0.5) + third
    for force, count in ((load, 3), (load + Harmonic(first, 7.0), 3), (lambda t: third * np.sin(t), 1)):
        system = LinearSystem(
            base.mass_matrix, stiffness=base.stiffness, force=force, contacts=base.contacts.parts
        )
        assert attachment(system, 4).system.size == 4 + 1 + count


def test_static_parts_follow_loads_that_change():
    """Below resonance by a factor of 1e4 the motion is static at all times: recovered fields are K⁻¹ f(t)."""
    n, times = 30, np.array([0.0, 0.3, 1.1])
    base = bar(n)
    pattern = np.eye(n)[11]
    for force in (Harmonic(pattern, 2.0), lambda t: pattern * np.cos(2.0 * t)):
        system = LinearSystem(
            base.mass_matrix, stiffness=base.stiffness, force=force, contacts=base.contacts.parts
        )
        reduced = quasi_static(system, 3)
        y = np.linalg.solve(dense(reduced.system.stiffness), reduced.system.load.value(times).T)
        full = np.linalg.solve(base.stiffness.toarray(), system.load.value(times).T)
        np.testing.assert_allclose(reduced.basis @ y + reduced.by_load.value(times).T, full, atol=1e-9)
        gap = reduced.system.normal_directions.T @ y + reduced.system.gap_offsets(times).T
        np.testing.assert_allclose(gap[0], 1e-3 - full[-1], atol=1e-9)


def test_static_modes_converge_to_residual_flexibility():
    exact = quasi_static(bar(50), 4).system.compliance[0, 0]
    some = [quasi_static(bar(50), 4, static_modes=k).system.compliance[0, 0] for k in (5, 20, 46)]
    assert exact - some[0] > exact - some[1] > 0.0
    assert some[2] == pytest.approx(exact, rel=1e-9)


def test_a_free_structure_responds_with_inertia_relief():
    """A force on the end of a free bar of unit data: u(end) = 1/3 relative to the centre of mass, closed form."""
    elements = 200
    reduced = quasi_static(bar(elements, held=False), 3)
    total = reduced.system.compliance[0, 0]
    j = dense(reduced.system.normal_directions)[:, 0]
    total += np.sum(j[1:] ** 2 / np.diag(dense(reduced.system.stiffness))[1:])
    assert total == pytest.approx(1.0 / 3.0, rel=1e-5)


def test_friction_directions_get_attachment_shapes():
    n = 40
    base = bar(n)
    system = LinearSystem(
        base.mass_matrix,
        stiffness=base.stiffness,
        contacts=[FrictionElement("joint", tangents=np.eye(n)[[17]], limit=0.05)],
    )
    assert modal(system, 4).error.contact[0] > 1e-2
    assert attachment(system, 4).error.contact[0] < 1e-10
    assert craig_bampton(system, 4).error.contact[0] < 1e-10


def test_constraints_hold_and_carry_the_static_reaction():
    """A free bar tied to a support, pulled in its middle: the whole load goes into the support."""
    n = 31
    free = bar(30, held=False)
    system = LinearSystem(
        free.mass_matrix,
        stiffness=free.stiffness,
        force=2.0 * np.eye(n)[15],
        contacts=[Contact("stop", normal=-np.eye(n)[-1], gap=1.0)],
        constraints=[Constraint("wall", np.eye(n)[0], 0.0), Constraint("again", 3.0 * np.eye(n)[0], 0.0)],
    )
    held = bar(30, force=2.0)
    expected = np.append(0.0, np.linalg.solve(held.stiffness.toarray(), 2.0 * np.eye(30)[14]))
    for reduce in (quasi_static, attachment, craig_bampton):
        reduced = reduce(system, 4)
        direction = dense(reduced.system.constraint_matrix)[:, :1]
        k = np.asarray(dense(reduced.system.stiffness))
        saddle = np.block([[k, -direction], [direction.T, np.zeros((1, 1))]])
        answer = np.linalg.solve(saddle, np.append(reduced.system.load.value(0.0), 0.0))
        assert answer[-1] == pytest.approx(-2.0, rel=1e-9)
        shape = recovered(reduced, answer[:-1], np.zeros(1))
        np.testing.assert_allclose(shape, expected, atol=1e-9)
        assert reduced.error.contact[0] < 1e-8


@settings(max_examples=30)
@given(st.integers(3, 12), st.integers(0, 2**31))
def test_compliance_of_truncated_modes_is_positive_semidefinite(n, seed):
    random = np.random.default_rng(seed)
    root = random.standard_normal((n, n))
    system = LinearSystem(
        random.uniform(0.5, 2.0, n),
        stiffness=root @ root.T + 0.1 * np.eye(n),
        contacts=[Contact(f"c{i}", normal=random.standard_normal(n), gap=1.0) for i in range(3)],
    )
    reduced = quasi_static(system, 2).system
    assert np.linalg.eigvalsh(reduced.compliance).min() > -1e-12
    seen = dense(reduced.normal_directions)
    total = reduced.compliance + seen.T @ np.linalg.solve(dense(reduced.stiffness), seen)
    normal = dense(system.normal_directions)
    np.testing.assert_allclose(
        total, normal.T @ np.linalg.solve(system.stiffness, normal), rtol=1e-8, atol=1e-10
    )
