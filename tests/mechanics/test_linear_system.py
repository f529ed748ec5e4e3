"""Linear systems: the numbered contract of a system, item by item, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st

from klapper.mechanics import (
    Constraint,
    Contact,
    FrictionElement,
    FunctionOfTime,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Ramp,
)
from klapper.mechanics.system import check_start, difference_tangents


def random_system(seed: int, n: int = 5, *, forcing: bool = True) -> LinearSystem:
    """Everything a linear system can have: damping, gyroscopic and circulatory parts, moving walls and belts."""
    rng = np.random.default_rng(seed)

    def symmetric() -> np.ndarray:
        a = rng.standard_normal((n, n))
        return a @ a.T + 0.1 * np.eye(n)

    def skew() -> np.ndarray:
        a = rng.standard_normal((n, n))
        return a - a.T

    return LinearSystem(
        symmetric(),
        damping=symmetric(),
        gyroscopic=skew(),
        stiffness=symmetric(),
        circulatory=skew(),
        force=Harmonic(rng.standard_normal(n), 3.0, 0.3) if forcing else rng.standard_normal(n),
        contacts=[
            Contact("wall", normal=rng.standard_normal(n), gap=Harmonic(0.3, 2.0) + 5.0),
            Contact(
                "belt",
                normal=rng.standard_normal(n),
                tangents=rng.standard_normal((2, n)),
                gap=Ramp(4.0, -0.2),
                friction=0.3,
                tangential_rate=Harmonic([0.3, 0.1], 4.0),
            ),
            FrictionElement(
                "brake", tangents=rng.standard_normal(n), limit=1.0, tangential_rate=Ramp(0.0, 0.5)
            ),
        ],
        constraints=[
            Constraint(
                "rod", direction=rng.standard_normal(n), offset=FunctionOfTime(lambda t: 0.2 * np.sin(t))
            )
        ],
    )


def motion(rng: np.random.Generator, n: int):
    """A smooth motion q(t) with its derivatives."""
    a, w, p = rng.standard_normal(n), rng.uniform(0.5, 3.0, n), rng.uniform(0, 6, n)
    return (
        lambda t: a * np.sin(w * t + p),
        lambda t: a * w * np.cos(w * t + p),
        lambda t: -a * w**2 * np.sin(w * t + p),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("forcing", [True, False])
def test_the_power_of_the_force_is_load_less_damping_less_what_is_stored(seed: int, forcing: bool) -> None:
    """Contract 10: v · f = −dV/dt + load − damping, with dV/dt by differences along the motion."""
    system, rng = random_system(seed, forcing=forcing), np.random.default_rng(seed)
    t, q, v, d = 0.7, rng.standard_normal(5), rng.standard_normal(5), 1e-5
    stored = (system.potential(q + d * v) - system.potential(q - d * v)) / (2 * d)
    load, damping = system.powers(t, q, v)
    assert v @ system.force(t, q, v) == pytest.approx(-stored + load - damping, abs=1e-8)
    assert damping == pytest.approx(v @ system.damping @ v)
    circulation = -v @ (system.circulatory @ q)
    applied = v @ system.load.value(t) if forcing else 0.0  # a constant load has a potential
    assert load == pytest.approx(circulation + applied)


def test_gyroscopic_forces_have_no_power() -> None:
    system = LinearSystem([1.0, 2.0], gyroscopic=[[0.0, 3.0], [-3.0, 0.0]])
    v = np.array([0.3, -1.2])
    assert v @ system.force(0.0, np.zeros(2), v) == pytest.approx(0.0, abs=1e-15)
    assert system.powers(0.0, np.zeros(2), v) == (0.0, 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_tangents_are_the_derivatives_of_the_force(seed: int) -> None:
    system, rng = random_system(seed, forcing=False), np.random.default_rng(seed)
    t, q, v = 0.2, rng.standard_normal(5), rng.standard_normal(5)
    given, found = system.tangents(t, q, v), difference_tangents(system.force, system.advance, t, q, v)
    np.testing.assert_allclose(given.position, found.position, atol=1e-6)
    np.testing.assert_allclose(given.velocity, found.velocity, atol=1e-6)
    assert given.complete


@pytest.mark.parametrize("seed", range(4))
def test_velocities_and_accelerations_of_gaps_agree_with_differences(seed: int) -> None:
    """C2 along a motion, with moving wall and belt: ġ = J_Nᵀ v + a_N, g̈ = J_Nᵀ v̇ + b_N, v̇_T = J_Tᵀ v̇ + b_T."""
    system, rng = random_system(seed), np.random.default_rng(seed)
    q, v, a = motion(rng, 5)
    all_of_them, t, d = np.arange(3), 0.8, 1e-4

    def gap(time: float) -> np.ndarray:
        return system.gaps(time, q(time), all_of_them)

    def velocities(time: float) -> tuple[np.ndarray, np.ndarray]:
        directions = system.directions(time, q(time), all_of_them)
        return directions.normal_velocity(v(time)), directions.tangential_velocity(v(time))

    directions = system.directions(t, q(t), all_of_them)
    b_n, b_t = system.curvature(t, q(t), v(t), all_of_them)
    normal, _ = velocities(t)
    slope = (gap(t + d) - gap(t - d)) / (2 * d)
    np.testing.assert_allclose(normal[:2], slope[:2], atol=1e-6)
    assert np.isnan(gap(t)[2])  # a friction element has no gap
    assert normal[2] == 0.0
    change = [
        (after - before) / (2 * d) for after, before in zip(velocities(t + d), velocities(t - d), strict=True)
    ]
    np.testing.assert_allclose(directions.normal.T @ a(t) + b_n, change[0], atol=1e-6)
    np.testing.assert_allclose(directions.tangential.T @ a(t) + b_t, change[1], atol=1e-6)
    # the same from the general formula by differences
    by_difference = super(LinearSystem, system).curvature(t, q(t), v(t), all_of_them)
    np.testing.assert_allclose(b_n, by_difference[0], atol=1e-6)
    np.testing.assert_allclose(b_t, by_difference[1], atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_velocities_and_accelerations_of_constraints_agree_with_differences(seed: int) -> None:
    system, rng = random_system(seed), np.random.default_rng(seed)
    q, v, a = motion(rng, 5)
    t, d = 0.8, 1e-4
    direction, rate = system.constraint_directions(t, q(t))
    slope = (system.constraint_residuals(t + d, q(t + d)) - system.constraint_residuals(t - d, q(t - d))) / (
        2 * d
    )
    np.testing.assert_allclose(direction.T @ v(t) + rate, slope, atol=1e-6)
    bend = (
        system.constraint_residuals(t + d, q(t + d))
        - 2 * system.constraint_residuals(t, q(t))
        + system.constraint_residuals(t - d, q(t - d))
    ) / d**2
    bent = direction.T @ a(t) + system.constraint_curvature(t, q(t), v(t))
    np.testing.assert_allclose(bent, bend, atol=1e-5)


@pytest.mark.parametrize("form", ["dense", "sparse", "diagonal"])
def test_dense_sparse_and_diagonal_say_the_same(form: str) -> None:
    """A chain of 20 masses: the answers do not depend on how its matrices were given."""
    n = 20
    mass, stiffness = np.linspace(1.0, 2.0, n), 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    given = {
        "dense": (np.diag(mass), stiffness),
        "sparse": (sparse.diags_array(mass).tocsc(), sparse.csr_array(stiffness)),
        "diagonal": (mass, stiffness),
    }[form]
    q = np.sin(np.arange(n))
    system = LinearSystem(
        given[0], stiffness=given[1], position=q, contacts=[Contact("c", normal=np.eye(n)[3], gap=9.0)]
    )
    np.testing.assert_allclose(system.force(0.0, q, q), -stiffness @ q, rtol=1e-13)
    np.testing.assert_allclose(system.mass(q) @ q, mass * q, rtol=1e-13)
    assert system.potential(q) == pytest.approx(0.5 * q @ stiffness @ q)
    assert system.gaps(0.0, q, np.array([0]))[0] == pytest.approx(9.0 + q[3])


def test_answers_for_a_choice_of_contacts_are_rows_of_the_answer_for_all() -> None:
    system, q = random_system(3), np.linspace(-1, 1, 5)
    full = system.directions(0.3, q, np.arange(3))
    some = system.directions(0.3, q, np.array([0, 2]))
    np.testing.assert_array_equal(some.normal, full.normal[:, [0, 2]])
    np.testing.assert_array_equal(some.tangential, full.tangential[:, [0, 1, 4, 5]])
    np.testing.assert_array_equal(some.tangential_rate, full.tangential_rate[[0, 1, 4, 5]])
    np.testing.assert_array_equal(system.gaps(0.3, q, np.array([1])), system.gaps(0.3, q, np.arange(3))[[1]])


def test_calls_leave_the_system_and_their_arguments_alone() -> None:
    """Contract 11."""
    system, q, v = random_system(1), np.linspace(-1, 1, 5), np.linspace(2, 1, 5)
    kept_q, kept_v = q.copy(), v.copy()
    first = system.force(0.4, q, v)
    first_copy = first.copy()
    first[:] = 99.0
    np.testing.assert_array_equal(system.force(0.4, q, v), first_copy)
    system.gaps(0.4, q, np.arange(3))[:] = 99.0
    system.curvature(0.4, q, v, np.arange(3))[0][:] = 99.0
    np.testing.assert_array_equal(system.force(0.4, q, v), first_copy)
    np.testing.assert_array_equal(q, kept_q)
    np.testing.assert_array_equal(v, kept_v)


def test_start_is_a_copy() -> None:
    position = np.zeros(2)
    system = LinearSystem([1.0, 1.0], position=position)
    position[0] = 5.0
    assert system.start.position[0] == 0.0


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_any_positive_definite_mass_is_taken_and_an_indefinite_one_refused(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n))
    mass = a @ a.T + 1e-3 * np.eye(n)
    LinearSystem(mass)
    values, vectors = np.linalg.eigh(mass)
    values[0] = -values[-1] * 1e-3
    spoiled = (vectors * values) @ vectors.T
    with pytest.raises(InvalidModel):
        LinearSystem(0.5 * (spoiled + spoiled.T))


SKEW, ONES = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.ones((2, 2))
BAD = {
    "mass of no matrix": (lambda: LinearSystem(5.0), "mass"),
    "mass not square": (lambda: LinearSystem(np.ones((2, 3))), "mass"),
    "mass zero": (lambda: LinearSystem([1.0, 0.0]), "'q2'"),
    "mass below zero": (lambda: LinearSystem([1.0, -2.0], coordinates=("x", "y")), "'y'"),
    "mass nan": (lambda: LinearSystem([1.0, np.nan]), "mass"),
    "mass not symmetric": (lambda: LinearSystem([[1.0, 0.5], [0.0, 1.0]]), "mass"),
    "mass singular": (lambda: LinearSystem(ONES), "mass"),
    "mass indefinite, sparse": (
        lambda: LinearSystem(sparse.csr_array(np.kron(np.eye(800), [[1.0, 2.0], [2.0, 1.0]]))),
        "mass",
    ),
    "stiffness of another size": (lambda: LinearSystem([1.0, 1.0], stiffness=np.eye(3)), "stiffness"),
    "stiffness not symmetric": (
        lambda: LinearSystem([1.0, 1.0], stiffness=[[1.0, 1.0], [0.0, 1.0]]),
        "circulatory",
    ),
    "stiffness infinite": (lambda: LinearSystem([1.0, 1.0], stiffness=[1.0, np.inf]), "stiffness"),
    "damping not symmetric": (lambda: LinearSystem([1.0, 1.0], damping=SKEW), "gyroscopic"),
    "gyroscopic not skew": (lambda: LinearSystem([1.0, 1.0], gyroscopic=ONES), "gyroscopic"),
    "circulatory not skew": (lambda: LinearSystem([1.0, 1.0], circulatory=np.eye(2)), "circulatory"),
    "force too long": (lambda: LinearSystem([1.0, 1.0], force=[1.0, 2.0, 3.0]), "force"),
    "force nan": (lambda: LinearSystem([1.0, 1.0], force=[1.0, np.nan]), "nan"),
    "force function too long": (lambda: LinearSystem([1.0, 1.0], force=lambda t: np.ones(3)), "force"),
    "position too short": (lambda: LinearSystem([1.0, 1.0], position=[1.0]), "position"),
    "position nan": (lambda: LinearSystem([1.0, 1.0], position=[0.0, np.nan]), "'q2'"),
    "velocity infinite": (lambda: LinearSystem([1.0, 1.0], velocity=[np.inf, 0.0]), "'q1'"),
    "names too few": (lambda: LinearSystem([1.0, 1.0], coordinates=("x",)), "coordinates"),
    "names twice": (lambda: LinearSystem([1.0, 1.0], coordinates=("x", "x")), "'x'"),
    "compliance of another size": (
        lambda: LinearSystem([1.0], contacts=[Contact("c", normal=[1.0])], compliance=np.eye(2)),
        "compliance",
    ),
    "compliance not symmetric": (
        lambda: LinearSystem(
            [1.0, 1.0],
            contacts=[Contact("c", normal=[1.0, 0]), Contact("d", normal=[0, 1.0])],
            compliance=[[1.0, 1.0], [0.0, 1.0]],
        ),
        "compliance",
    ),
    "mass none": (lambda: LinearSystem(None), "mass"),
    "mass text": (lambda: LinearSystem("heavy"), "mass"),
    "mass ragged": (lambda: LinearSystem([[1.0], [1.0, 2.0]]), "mass"),
    "mass empty": (lambda: LinearSystem([]), "mass"),
    "stiffness text": (lambda: LinearSystem([1.0], stiffness="soft"), "stiffness"),
    "position text": (lambda: LinearSystem([1.0], position=["here"]), "position"),
    "time nan": (lambda: LinearSystem([1.0], time=np.nan), "time"),
    "compliance nan": (
        lambda: LinearSystem([1.0], contacts=[Contact("c", normal=[1.0])], compliance=[[np.nan]]),
        "compliance",
    ),
    "compliance below zero": (
        lambda: LinearSystem([1.0], contacts=[Contact("c", normal=[1.0])], compliance=[[-1.0]]),
        "compliance",
    ),
    "compliance of a friction element": (
        lambda: LinearSystem(
            [1.0, 1.0],
            contacts=[Contact("c", normal=[1.0, 0]), FrictionElement("e", tangents=[0, 1.0], limit=1.0)],
            compliance=np.diag([1e-3, 1e-3]),
        ),
        "'e'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_systems_are_refused_by_name_in_one_sentence(name: str) -> None:
    make, word = BAD[name]
    with pytest.raises(InvalidModel) as caught:
        make()
    text = str(caught.value)
    assert word in text
    assert "\n" not in text
    assert len(text) < 250


def test_small_penetration_is_accepted_when_asked_for() -> None:
    parts = [Contact("c", normal=[1.0], gap=-1e-6)]
    with pytest.raises(InvalidModel):
        LinearSystem([1.0], contacts=parts)
    system = LinearSystem([1.0], contacts=parts, penetration=1e-5)
    with pytest.raises(InvalidModel):
        check_start(system)
