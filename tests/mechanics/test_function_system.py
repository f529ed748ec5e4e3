"""Systems from functions: derivatives by differences against analytic ones, the power balance, what is refused."""

import numpy as np
import pytest

from klapper.mechanics import (
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    InvalidModel,
)

G, L = 9.81, 0.8


def pendulum_force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A driven pendulum with quadratic air drag, in angle and a slider's position."""
    return np.array(
        [
            -G / L * np.sin(q[0]) - 0.3 * v[0] * abs(v[0]) + 0.2 * np.sin(3 * t) * q[1],
            -4.0 * q[1] ** 3 + v[0] * v[1],
        ]
    )


def pendulum_tangents(t: float, q: np.ndarray, v: np.ndarray):
    by_position = np.array([[-G / L * np.cos(q[0]), 0.2 * np.sin(3 * t)], [0.0, -12.0 * q[1] ** 2]])
    by_velocity = np.array([[-0.6 * abs(v[0]), 0.0], [v[1], v[0]]])
    by_time = np.array([0.6 * np.cos(3 * t) * q[1], 0.0])
    return by_position, by_velocity, by_time


@pytest.mark.parametrize("seed", range(8))
def test_difference_tangents_match_the_analytic_ones(seed: int) -> None:
    """C1, for G_q, G_v and G_t."""
    rng = np.random.default_rng(seed)
    t, q, v = rng.uniform(0, 10), rng.uniform(-3, 3, 2), rng.uniform(-5, 5, 2)
    system = FunctionSystem([0.1, 0.0], [0.0, 0.0], mass=np.eye(2), force=pendulum_force)
    found, (by_position, by_velocity, by_time) = system.tangents(t, q, v), pendulum_tangents(t, q, v)
    np.testing.assert_allclose(found.position, by_position, atol=1e-6)
    np.testing.assert_allclose(found.velocity, by_velocity, atol=1e-6)
    np.testing.assert_allclose(found.time, by_time, atol=1e-6)
    assert found.complete


def test_tangents_are_those_of_the_stiff_part_only() -> None:
    def stiff(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -1e6 * q - 10.0 * v

    system = FunctionSystem(
        [0.0, 0.0], [0.0, 0.0], mass=np.eye(2), force=lambda t, q, v: stiff(t, q, v) + np.sin(q), stiff=stiff
    )
    found = system.tangents(0.3, np.array([0.2, 0.1]), np.ones(2))
    np.testing.assert_allclose(found.position, -1e6 * np.eye(2), rtol=1e-6, atol=1e-3)
    np.testing.assert_allclose(found.velocity, -10.0 * np.eye(2), atol=1e-3)
    assert not found.complete
    nothing = FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -q, stiff=False).tangents(
        0, np.zeros(1), np.zeros(1)
    )
    assert nothing.position is None and nothing.velocity is None and not nothing.complete  # fmt: skip


def test_given_tangents_are_taken() -> None:
    system = FunctionSystem(
        [0.1, 0.0], [0.0, 0.0], mass=np.eye(2), force=pendulum_force, tangents=pendulum_tangents
    )
    t, q, v = 0.4, np.array([0.2, -0.3]), np.array([1.0, 2.0])
    found = system.tangents(t, q, v)
    np.testing.assert_array_equal(found.position, pendulum_tangents(t, q, v)[0])
    np.testing.assert_array_equal(found.time, pendulum_tangents(t, q, v)[2])
    two = FunctionSystem(
        [0.1, 0.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=pendulum_force,
        tangents=lambda t, q, v: pendulum_tangents(t, q, v)[:2],
    )
    np.testing.assert_array_equal(two.tangents(t, q, v).velocity, pendulum_tangents(t, q, v)[1])


def swinging_wall(t: float, q: np.ndarray) -> float:
    """Distance of a point from a breathing disc in the origin."""
    return float(np.hypot(*q) - 0.5 - 0.1 * np.sin(2 * t) * q[0])


def moving_system(*, normals: bool) -> FunctionSystem:
    def normal(t: float, q: np.ndarray) -> np.ndarray:
        return q / np.hypot(*q) - [0.1 * np.sin(2 * t), 0.0]

    def tangents(t: float, q: np.ndarray) -> np.ndarray:
        r = np.hypot(*q) or 1.0
        return np.array([[-q[1], q[0]]]) / r

    return FunctionSystem(
        [1.0, 0.3],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: -q,
        contacts=[
            Contact(
                "disc", gap=swinging_wall, normal=normal if normals else None, tangents=tangents, friction=0.2
            ),
            Contact("wall", normal=[0.0, 1.0], gap=Harmonic(0.2, 5.0) + 1.0),
            FrictionElement("rim", tangents=tangents, limit=1.0, tangential_rate=Harmonic(0.5, 3.0)),
        ],
        constraints=[
            Constraint("guide", offset=lambda t, q: q[0] ** 2 * q[1] - 0.3 + 0.1 * np.sin(t)),
            Constraint("rail", direction=[0.3, -1.0], offset=lambda t, q: 0.3 * q[0] - q[1]),
        ],
    )


@pytest.mark.parametrize("normals", [True, False])
@pytest.mark.parametrize("t", [0.0, 0.9, 7.3])
def test_velocities_and_accelerations_of_gaps_agree_with_differences(normals: bool, t: float) -> None:
    """C2 along a curved motion past a moving, curved obstacle."""
    system = moving_system(normals=normals)

    def q(s: float) -> np.ndarray:
        return np.array([1.2 * np.cos(0.7 * s + 0.2), 0.9 * np.sin(1.1 * s + 0.4)])

    def v(s: float) -> np.ndarray:
        return np.array([-0.84 * np.sin(0.7 * s + 0.2), 0.99 * np.cos(1.1 * s + 0.4)])

    a = np.array([-0.588 * np.cos(0.7 * t + 0.2), -1.089 * np.sin(1.1 * t + 0.4)])
    all_of_them, d = np.arange(3), 1e-4

    def velocities(s: float) -> tuple[np.ndarray, np.ndarray]:
        directions = system.directions(s, q(s), all_of_them)
        return directions.normal_velocity(v(s)), directions.tangential_velocity(v(s))

    directions = system.directions(t, q(t), all_of_them)
    normal, tangential = velocities(t)
    gap = (system.gaps(t + d, q(t + d), all_of_them) - system.gaps(t - d, q(t - d), all_of_them)) / (2 * d)
    np.testing.assert_allclose(normal[:2], gap[:2], atol=1e-6)
    b_n, b_t = system.curvature(t, q(t), v(t), all_of_them)
    ahead, behind = velocities(t + d), velocities(t - d)
    np.testing.assert_allclose(directions.normal.T @ a + b_n, (ahead[0] - behind[0]) / (2 * d), atol=1e-4)
    np.testing.assert_allclose(directions.tangential.T @ a + b_t, (ahead[1] - behind[1]) / (2 * d), atol=1e-4)
    np.testing.assert_allclose(tangential[1], 0.0)  # the frictionless wall has no tangent

    direction, rate = system.constraint_directions(t, q(t))

    def residual(s: float) -> np.ndarray:
        return system.constraint_residuals(s, q(s))

    np.testing.assert_allclose(
        direction.T @ v(t) + rate, (residual(t + d) - residual(t - d)) / (2 * d), atol=1e-6
    )
    bend = (residual(t + d) - 2 * residual(t) + residual(t - d)) / d**2
    np.testing.assert_allclose(direction.T @ a + system.constraint_curvature(t, q(t), v(t)), bend, atol=1e-4)


def test_what_neither_potential_nor_damping_explains_is_load() -> None:
    """Contract 10."""
    system = FunctionSystem(
        [0.3],
        [0.0],
        mass=[[1.0]],
        force=lambda t, q, v: -G / L * np.sin(q) - 0.4 * v + 2.0 * np.cos(t),
        potential=lambda q: -G / L * np.cos(q[0]),
        damping_power=lambda t, q, v: 0.4 * v[0] ** 2,
    )
    t, q, v = 0.6, np.array([0.8]), np.array([1.7])
    load, damping = system.powers(t, q, v)
    assert load == pytest.approx(2.0 * np.cos(0.6) * 1.7, abs=1e-7)
    assert damping == pytest.approx(0.4 * 1.7**2)
    plain = FunctionSystem([0.3], [0.0], mass=[[1.0]], force=lambda t, q, v: -q - v)
    assert plain.powers(0.0, q, v) == (pytest.approx(-1.7 * 2.5), 0.0)
    assert plain.potential(q) == 0.0


def make(**changes):
    given = {"position": [1.0], "velocity": [0.0], "mass": [[1.0]], "force": lambda t, q, v: -q} | changes
    position, velocity = given.pop("position"), given.pop("velocity")
    return FunctionSystem(position, velocity, **given)


BAD = {
    "force too long": ({"force": lambda t, q, v: np.zeros(2)}, "force"),
    "force a number": ({"force": lambda t, q, v: 1.0}, "force"),
    "mass too large": ({"mass": np.eye(2)}, "mass"),
    "mass a number": ({"mass": 2.0}, "mass"),
    "mass zero": ({"mass": [[0.0]]}, "'q1'"),
    "mass function below zero": ({"mass": lambda q: [[-1.0]]}, "'q1'"),
    "mass function nan": ({"mass": lambda q: [[np.nan]]}, "'q1'"),
    "position nan": ({"position": [np.nan], "force": lambda t, q, v: np.zeros(1)}, "'q1'"),
    "velocity nan": ({"velocity": [np.nan], "force": lambda t, q, v: np.zeros(1)}, "'q1'"),
    "names twice": (
        {"position": [1.0, 1.0], "velocity": [0.0, 0.0], "mass": np.eye(2), "coordinates": ("x", "x")},
        "'x'",
    ),
    "names too few": ({"coordinates": ()}, "position"),
    "damping without potential": ({"damping_power": lambda t, q, v: 0.0}, "potential"),
    "constraint violated": ({"constraints": [Constraint("rod", offset=lambda t, q: q[0] - 2.0)]}, "'rod'"),
    "overlap": ({"contacts": [Contact("lid", gap=lambda t, q: -q[0])]}, "'lid'"),
    "velocity of another length": (
        {"velocity": [0.0, 0.0], "force": lambda t, q, v: -q - np.eye(1) @ v},
        "velocity",
    ),
    "force nan": ({"force": lambda t, q, v: np.array([np.nan])}, "force"),
    "mass text": ({"mass": "heavy"}, "mass"),
    "position text": ({"position": ["here"]}, "position"),
    "time nan": ({"time": np.nan}, "time"),
    "force of two arguments": ({"force": lambda t, q: -q}, "force"),
    "force no function": ({"force": [1.0]}, "force"),
    "mass of no argument": ({"mass": lambda: np.eye(1)}, "mass"),
    "potential of two numbers": ({"potential": lambda q: [1.0, 2.0]}, "potential"),
    "one tangent": ({"tangents": lambda t, q, v: (np.eye(1),)}, "tangents"),
    "two constraints of one name": (
        {"constraints": [Constraint("rod", offset=lambda t, q: 0.0) for _ in range(2)]},
        "'rod'",
    ),
    "constraint not a number": ({"constraints": [Constraint("rod", offset=lambda t, q: np.nan)]}, "'rod'"),
    "constraint of a wrong direction": (
        {"constraints": [Constraint("rod", offset=lambda t, q: 0.0, direction=[1.0, 1.0])]},
        "'rod'",
    ),
    "stiff part of another length": ({"stiff": lambda t, q, v: np.zeros(3)}, "stiff"),
    "tangents of another shape": ({"tangents": lambda t, q, v: (np.eye(3), np.eye(3))}, "tangents"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_systems_are_refused_by_name_in_one_sentence(name: str) -> None:
    changes, word = BAD[name]
    with pytest.raises(InvalidModel) as caught:
        make(**changes)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mass_function_may_reuse_its_array() -> None:
    """A function may fill the same array on every call, as fast code does: two answers are still two."""
    room = np.zeros((1, 1))

    def mass(q: np.ndarray) -> np.ndarray:
        room[0, 0] = 1.0 + q[0] ** 2
        return room

    system = make(mass=mass)
    first, second = system.mass(np.array([0.0])), system.mass(np.array([2.0]))
    assert (first[0, 0], second[0, 0]) == (1.0, 5.0)


def test_a_stiff_function_may_reuse_its_array() -> None:
    """The differences are those of two answers, also when both come in the same array."""
    room = np.zeros(1)

    def stiff(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        room[:] = -7.0 * q
        return room

    found = make(force=lambda t, q, v: stiff(t, q, v) + 1.0, stiff=stiff).tangents(
        0.0, np.ones(1), np.zeros(1)
    )
    assert found.position == pytest.approx(-7.0)


def test_functions_are_asked_only_a_few_times_when_a_system_is_built() -> None:
    asked = dict.fromkeys(("force", "mass", "gap", "tangents"), 0)

    def counted(name: str, value):
        def function(*given):
            asked[name] += 1
            return value

        return function

    parts = [
        Contact(
            "lid", gap=counted("gap", 0.1), tangents=lambda t, q: counted("tangents", [1.0])(), friction=0.1
        )
    ]
    make(force=counted("force", np.zeros(1)), mass=counted("mass", np.eye(1)), contacts=parts)
    assert max(asked.values()) <= 3
    assert min(asked.values()) >= 1
