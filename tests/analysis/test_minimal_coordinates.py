"""Minimal coordinates against the constrained pencil, closed forms, and forces differentiated by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import linear_sum_assignment

from analysis.states_of_rest import dense, rest_of
from klapper.analysis import minimal_coordinates, stability
from klapper.analysis.contact_state import ContactState
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FrictionElement,
    InvalidModel,
    LinearSystem,
    SpeedDependent,
)


def pencil_eigenvalues(
    system: LinearSystem, held: np.ndarray, push: np.ndarray, extra_damping: np.ndarray | None = None
) -> np.ndarray:
    """Finite eigenvalues of M s² q + D s q + K q = push λ, heldᵀ q = 0, as a singular pencil s E − A."""
    n, h = held.shape
    zero, one = np.zeros((n, n)), np.eye(n)
    stiffness = zero if system.position_matrix is None else dense(system.position_matrix)
    rates = zero if system.rate_matrix is None else dense(system.rate_matrix)
    if extra_damping is not None:
        rates = rates + extra_damping
    scale = np.abs(stiffness).max()
    a = np.block(
        [
            [zero, one, np.zeros((n, h))],
            [-stiffness, -rates, scale * push],
            [scale * held.T, np.zeros((h, n + h))],
        ]
    )
    e = scipy.linalg.block_diag(one, dense(system.mass_matrix), np.zeros((h, h)))
    values = scipy.linalg.eig(a, e, right=False)
    count = 2 * (n - np.linalg.matrix_rank(held))
    finite = values[np.isfinite(values)]
    return finite[np.argsort(np.abs(finite))][:count]


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Largest distance of paired eigenvalues, relative to the largest of them."""
    assert one.shape == other.shape
    apart = np.abs(one[:, None] - other)
    rows, columns = linear_sum_assignment(apart)
    return float(apart[rows, columns].max() / np.abs(other).max())


def matrices(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Random symmetric and skew matrices."""
    root, elastic, skew, other, loss = rng.normal(size=(5, n, n))
    return {
        "mass": root @ root.T + n * np.eye(n),
        "stiffness": 50.0 * (elastic @ elastic.T + np.eye(n)),
        "gyroscopic": skew - skew.T,
        "circulatory": 3.0 * (other - other.T),
        "damping": 0.1 * loss @ loss.T,
    }


@pytest.mark.parametrize("seed", range(4))
def test_eigenvalues_are_the_finite_ones_of_the_constrained_pencil(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 9
    contacts = [Contact(f"stop {i}", normal=rng.normal(size=n), gap=0.1 * (i > 1)) for i in range(4)]
    contacts.append(
        Contact("rough", normal=rng.normal(size=n), tangents=rng.normal(size=(2, n)), friction=0.5)
    )
    contacts.append(FrictionElement("joint", tangents=rng.normal(size=n), limit=3.0))
    system = LinearSystem(
        **matrices(rng, n), contacts=contacts, constraints=[Constraint("hinge", direction=rng.normal(size=n))]
    )
    reduced = minimal_coordinates(system, closed=["stop 0", "stop 1", "rough"])
    held = np.hstack(
        [
            dense(system.constraint_matrix),
            dense(system.normal_directions)[:, [0, 1, 4]],
            dense(system.tangential_directions)[:, [8, 9, 10]],
        ]
    )
    assert reduced.size == n - 7
    assert reduced.opens == ("stop 2", "stop 3")
    assert distance(reduced.eigenvalues(), pencil_eigenvalues(system, held, held)) < 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_eigenvalues_with_sliding_friction_are_those_of_the_unsymmetric_pencil(seed: int) -> None:
    rng = np.random.default_rng(10 + seed)
    n, mu = 7, (0.4, 0.2)
    belts = [
        Contact(
            f"belt {i}",
            normal=rng.normal(size=n),
            tangents=rng.normal(size=n),
            tangential_rate=rate,
            friction=mu[i],
        )
        for i, rate in enumerate((-2.0, 1.0))
    ]
    system = LinearSystem(**matrices(rng, n), contacts=belts)
    held = dense(system.normal_directions)
    push = held - dense(system.tangential_directions) * np.array([-mu[0], mu[1]])
    reduced = minimal_coordinates(system, closed=["belt 0", "belt 1"])
    assert distance(reduced.eigenvalues(), pencil_eigenvalues(system, held, push)) < 1e-8
    assert np.abs(reduced.projection.T @ push).max() < 1e-12
    np.testing.assert_allclose(reduced.mass, reduced.mass.T, atol=1e-12)
    np.testing.assert_allclose(
        reduced.mass, reduced.projection.T @ dense(system.mass_matrix) @ reduced.basis, atol=1e-10
    )


def test_friction_that_turns_with_the_sliding_velocity_damps() -> None:
    """An anisotropic contact over a belt that runs askew; the damping of its friction by differences of the force."""
    rng = np.random.default_rng(5)
    n, law, belt = 6, Anisotropic(0.3, 0.6), np.array([1.5, -0.7])
    contact = Contact(
        "belt",
        normal=rng.normal(size=n),
        tangents=rng.normal(size=(2, n)),
        tangential_rate=belt,
        friction=law,
    )
    system = LinearSystem(**matrices(rng, n), contacts=[contact], force=-60.0 * contact.normal)

    def friction(v: np.ndarray) -> np.ndarray:
        """Force over normal force, on the ellipse (λ₁/μ₁)² + (λ₂/μ₂)² = λ_N², of greatest dissipation."""
        squares = np.array([0.3, 0.6]) ** 2
        return -squares * v / np.sqrt(squares @ v**2)

    rest = rest_of(system, ["belt"], sliding={"belt": friction(belt)})
    load = rest.forces[0, 0]
    assert load > 0.0
    tangents = dense(system.tangential_directions)
    step = 1e-5
    slope = np.array(
        [(friction(belt + step * e) - friction(belt - step * e)) / (2 * step) for e in np.eye(2)]
    ).T
    damping = -load * tangents @ slope @ tangents.T
    held = dense(system.normal_directions)
    push = held + (tangents @ friction(belt))[:, None]
    values = minimal_coordinates(rest).eigenvalues()
    assert distance(values, pencil_eigenvalues(system, held, push, damping)) < 1e-8


def test_falling_friction_drives_a_block_on_a_belt() -> None:
    """m ẍ + N μ'(v) ẋ + k x = 0: growth −N μ'/2m."""
    mass, stiffness, load, speed, slope = 2.0, 800.0, 30.0, 0.5, -0.3
    belt = Contact(
        "belt",
        normal=[0.0, 1.0],
        tangents=[1.0, 0.0],
        tangential_rate=-speed,
        friction=SpeedDependent(lambda v: 0.6 + slope * v),
    )
    block = LinearSystem([mass, mass], stiffness=[stiffness, 0.0], force=[0.0, -load], contacts=[belt])
    judged = minimal_coordinates(rest_of(block, ["belt"], sliding={"belt": [0.6 + slope * speed]})).stability
    growth = -load * slope / (2 * mass)
    assert judged.verdict == "flutter"
    assert judged.growth == pytest.approx(growth, rel=1e-8)
    assert judged.angular_frequency == pytest.approx(np.sqrt(stiffness / mass - growth**2), rel=1e-8)


def test_stick_and_slip_of_one_contact_differ_by_one_coordinate() -> None:
    contact = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    system = LinearSystem([1.0, 1.0], stiffness=[9.0, 0.0], force=[1.0, -10.0], contacts=[contact])
    assert minimal_coordinates(system, closed=["floor"]).size == 0
    pushed = rest_of(system, ["floor"], sliding={"floor": [0.5]})
    assert minimal_coordinates(pushed).eigenvalues() == pytest.approx([3j, -3j], abs=1e-12)


def test_dual_vectors_open_their_own_contact_and_no_other() -> None:
    rng = np.random.default_rng(2)
    n = 6
    contacts = [Contact(f"stop {i}", normal=rng.normal(size=n), gap=0.1 * i) for i in range(4)]
    reduced = minimal_coordinates(LinearSystem(**matrices(rng, n), contacts=contacts), closed=["stop 0"])
    rates = dense(reduced.system.normal_directions).T @ reduced.basis
    expected = np.zeros((4, reduced.size))
    expected[1:, -3:] = np.eye(3)
    np.testing.assert_allclose(rates, expected, atol=1e-12)
    assert reduced.names == ("free 1", "free 2", *(f"opening of stop {i}" for i in (1, 2, 3)))


def test_dependent_directions_are_left_out_and_named() -> None:
    """A stiff table of three coordinates on four legs, one more leg open beside."""
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    legs = [Contact(f"leg {i}", normal=[1.0, x, y]) for i, (x, y) in enumerate(corners)]
    springs = {
        "mass": [[4.0, 0.2, 0.1], [0.2, 1.0, 0.0], [0.1, 0.0, 2.0]],
        "stiffness": np.diag([3.0, 2.0, 5.0]),
    }
    table = LinearSystem(**springs, contacts=[*legs, Contact("tip", normal=[1.0, 2.0, 0.5], gap=0.1)])
    standing = minimal_coordinates(table, closed=["leg 0", "leg 1", "leg 2", "leg 3"])
    assert standing.size == 0
    assert len(standing.dependent) == 1
    assert standing.held.undetermined == ("leg 0", "leg 1", "leg 2", "leg 3")
    assert standing.follows == ("tip",)
    one, both = (minimal_coordinates(table, closed=names) for names in (["leg 0"], ["leg 0", "leg 1"]))
    held = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, -1.0]]).T
    assert distance(one.eigenvalues(), pencil_eigenvalues(table, held[:, :1], held[:, :1])) < 1e-8
    assert distance(both.eigenvalues(), pencil_eigenvalues(table, held, held)) < 1e-8
    doubled = LinearSystem(**springs, contacts=[legs[0], Contact("same", normal=[2.0, 2.0, 2.0])])
    twice = minimal_coordinates(doubled, closed=["leg 0", "same"])
    assert distance(twice.eigenvalues(), one.eigenvalues()) < 1e-12
    assert len(twice.dependent) == 1
    assert twice.held.undetermined == ("leg 0", "same")


def test_smallest_forces_do_what_the_independent_ones_do() -> None:
    doubled = LinearSystem(
        [1.0, 2.0], contacts=[Contact("a", normal=[1.0, 0.0]), Contact("b", normal=[3.0, 0.0])]
    )
    held = minimal_coordinates(doubled, closed=["a", "b"]).held
    forces = held.distribution @ np.array([1.0])
    np.testing.assert_allclose(held.state.held @ forces, held.directions @ np.array([1.0]))
    assert forces[1] == pytest.approx(3.0 * forces[0])


def test_positions_and_rates_lead_back_to_the_same_coordinates() -> None:
    rng = np.random.default_rng(3)
    n = 6
    contacts = [Contact(f"stop {i}", normal=rng.normal(size=n), gap=0.1 * i) for i in range(3)]
    system = LinearSystem(**matrices(rng, n), contacts=contacts)
    reduced = minimal_coordinates(system, closed=["stop 1", "stop 0"])
    z = rng.normal(size=(2, reduced.size))
    positions = reduced.position(z)
    assert (
        np.abs(dense(system.normal_directions).T[:2] @ positions.T + np.array([[0.0], [0.1]])).max() < 1e-12
    )
    np.testing.assert_allclose(reduced.coordinates_of(positions), z, atol=1e-12)
    np.testing.assert_allclose(reduced.rates_of(z @ reduced.basis.T), z, atol=1e-12)


def test_reactions_balance_the_equation_of_motion() -> None:
    rng = np.random.default_rng(4)
    n = 5
    belt = Contact(
        "belt", normal=rng.normal(size=n), tangents=rng.normal(size=n), tangential_rate=1.0, friction=0.3
    )
    system = LinearSystem(**matrices(rng, n), contacts=[belt])
    reduced = minimal_coordinates(system, closed=["belt"])
    judged = reduced.stability
    s, q = judged.eigenvalues[0], reduced.basis @ judged.modes[:, 0]
    unbalanced = s**2 * system.mass_matrix @ q + s * system.rate_matrix @ q + system.position_matrix @ q
    force = reduced.reaction @ unbalanced
    np.testing.assert_allclose(reduced.held.forces @ force, unbalanced, atol=1e-9 * np.abs(unbalanced).max())


def test_a_free_pendulum_chain_keeps_its_zero_eigenvalues() -> None:
    """Two masses coupled by a spring, a stop closed on neither: one free motion."""
    coupled = LinearSystem(
        [1.0, 3.0],
        stiffness=[[5.0, -5.0], [-5.0, 5.0]],
        contacts=[Contact("stop", normal=[1.0, 0.0], gap=1.0)],
    )
    judged = minimal_coordinates(coupled).stability
    assert judged.zeros == 2
    assert judged.angular_frequency == pytest.approx(np.sqrt(5.0 * 4.0 / 3.0), rel=1e-12)
    expected = stability(coupled.mass_matrix, None, coupled.stiffness).eigenvalues
    assert distance(judged.eigenvalues, expected) < 1e-12


FLOOR = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
BELT = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5, tangential_rate=1.0)


@pytest.mark.parametrize(
    ("contacts", "options", "message"),
    [
        ([FLOOR], {"closed": ["flor"]}, "Did you mean 'floor'"),
        ([FLOOR], {"closed": [3]}, "there is no contact 3"),
        ([FLOOR], {"closed": ["floor"], "sticking": []}, "neither sticks nor slides"),
        ([BELT], {"closed": ["belt"], "sticking": ["belt"]}, "its belt moves"),
        ([FLOOR], {"sticking": ["floor"]}, "cannot stick: it is not closed"),
        (
            [Contact("low", normal=[0.0, 1.0]), Contact("high", normal=[0.0, -1.0], gap=1.0)],
            {"closed": ["low", "high"]},
            "cannot be closed together",
        ),
    ],
)
def test_wrong_choices_of_contacts_are_refused_in_one_sentence(
    contacts: list[Contact], options: dict[str, object], message: str
) -> None:
    system = LinearSystem([1.0, 1.0], contacts=contacts)
    with pytest.raises(InvalidModel, match=message):
        minimal_coordinates(system, **options)


def test_friction_that_takes_the_normal_force_out_is_refused() -> None:
    """A rod whose tip accelerates along its own friction: J_Nᵀ M⁻¹ (J_N − μ J_T) = 0."""
    rod = Contact("tip", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=2.0, tangential_rate=1.0)
    system = LinearSystem([[1.0, -0.4], [-0.4, 0.8]], contacts=[rod])
    mobility = np.linalg.inv(system.mass_matrix)[1]
    assert mobility @ [-2.0, 1.0] == pytest.approx(0.2 / 0.64)
    balanced = LinearSystem([[1.0, -0.5], [-0.5, 0.8]], contacts=[rod])
    assert np.linalg.inv(balanced.mass_matrix)[1] @ [-2.0, 1.0] == pytest.approx(0.0, abs=1e-15)
    minimal_coordinates(system, closed=["tip"])
    with pytest.raises(InvalidModel, match="Painlevé"):
        minimal_coordinates(balanced, closed=["tip"])


def test_shared_loads_under_sliding_friction_are_refused() -> None:
    """Two contacts press the same direction with different friction: the motion depends on how they share."""
    twins = [
        Contact(f"belt {i}", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=mu, tangential_rate=1.0)
        for i, mu in enumerate((0.1, 0.3))
    ]
    with pytest.raises(InvalidModel, match="share their load"):
        minimal_coordinates(LinearSystem([1.0, 1.0], contacts=twins), closed=["belt 0", "belt 1"])


def test_stationary_states_bring_their_own_state() -> None:
    system = LinearSystem([1.0, 1.0], force=[0.0, -1.0], contacts=[FLOOR])
    rest = rest_of(system, ["floor"], ["floor"])
    assert minimal_coordinates(rest).size == 0
    assert minimal_coordinates(ContactState.at(rest)).size == 0
    with pytest.raises(InvalidModel, match="has them already"):
        minimal_coordinates(rest, closed=["floor"])
    with pytest.raises(InvalidModel, match="has no contact state"):
        minimal_coordinates(3)
