"""Sets of possible forces: blocks on feet and tables on legs, whose bounds are known by statics."""

import numpy as np
import pytest
from scipy.optimize import linprog

from klapper.complementarity import (
    FrictionalContact,
    InvalidProblem,
    LinearComplementarity,
    NonlinearComplementarity,
    NotApplicable,
    solve,
)
from klapper.complementarity.selection import ForceSet

GRAVITY = 9.81
CORNERS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])


def block(push: float, friction=(0.1, 0.1), places=(-0.1, 0.1), sliding: float = 0.0):
    """Contact problem of Seiwald's block with any feet, one second of forces; ``sliding`` is its velocity."""
    b, m = 0.1, 16.0
    n = len(places)
    directions = np.zeros((2 * n, 3))
    for i, x in enumerate(places):
        directions[2 * i], directions[2 * i + 1] = [0.0, 1.0, x], [1.0, 0.0, b / 2]
    flexibility = directions / np.array([m, m, 1 / 15])
    free = flexibility @ np.array([push, -m * GRAVITY, -b / 2 * push]) + directions @ np.array(
        [sliding, 0.0, 0.0]
    )
    return FrictionalContact(
        flexibility @ directions.T, free, friction, dimension=2, names=[f"{'ABCDEFGH'[i]}" for i in range(n)]
    )


def spatial_table(push=(0.0, 0.0), friction: float = 0.3, height: float = 0.7, weight: float = 100.0):
    """Directions (6, 12) of a table on four rough legs, leg by leg (normal, x, y), and its load (6,)."""
    directions = np.zeros((6, 12))
    for i, corner in enumerate(CORNERS):
        foot = np.array([*(0.5 * corner), -height])
        for j, axis in enumerate(((0, 0, 1), (1, 0, 0), (0, 1, 0))):
            directions[:3, 3 * i + j], directions[3:, 3 * i + j] = axis, np.cross(foot, axis)
    return directions, np.array([*push, -weight, 0.0, 0.0, 0.0])


def spatial_forces(push=(0.0, 0.0), friction: float = 0.3) -> ForceSet:
    directions, load = spatial_table(push)
    mass = np.array([10.2, 10.2, 10.2, 1.7, 1.7, 1.7])
    flexibility = directions.T / mass
    problem = FrictionalContact(
        flexibility @ directions, flexibility @ load, friction, dimension=3, names=["A", "B", "C", "D"]
    )
    return ForceSet.of(solve(problem))


def test_block_on_two_feet_knows_only_the_sum_of_friction() -> None:
    """Seiwald C29: null vector (1, 0, −1, 0)/√2 in (T_A, N_A, T_B, N_B), bounds by the friction limits."""
    push = 2.0
    forces = ForceSet.of(solve(block(push)))
    assert (forces.rank, forces.dimension) == (3, 1)
    assert forces.null_space[:, 0] == pytest.approx([0.0, 1.0, 0.0, -1.0], abs=1e-12)
    normal = 16.0 * GRAVITY / 2 + np.array([-1.0, 1.0]) * 0.5 * push
    assert forces.lower[[0, 2]] == pytest.approx(normal, rel=1e-9)
    assert forces.upper[[0, 2]] == pytest.approx(normal, rel=1e-9)
    assert forces.lower[1] == pytest.approx(-0.1 * normal[0])
    assert forces.upper[1] == pytest.approx(-push + 0.1 * normal[1])
    assert forces.words == ("tangential forces of A and B: only their sum is determined",)
    assert forces.motion_unique
    assert forces.determined.tolist() == [True, False, True, False]


def test_two_bodies_with_one_foot_each_have_no_null_space() -> None:
    problem = FrictionalContact(np.eye(4) + 0.1, [-1.0, 0.05, -1.0, 0.02], 0.5, dimension=2)
    forces = ForceSet.of(solve(problem))
    assert forces.dimension == 0
    assert forces.determined.all()
    assert "all 4 forces are unique" in str(forces)


@pytest.mark.parametrize("push", [(0.0, 0.0), (12.0, 5.0), (20.0, -14.0)])
def test_polygons_inside_and_outside_the_discs_enclose_the_bounds_of_four_rough_legs(push) -> None:
    """HiGHS on friction polygons with 64 sides inside and outside the discs encloses the bounds."""
    forces = spatial_forces(push)
    assert (forces.rank, forces.dimension) == (6, 6)
    assert forces.motion_unique and not forces.determined.any()
    directions, load = spatial_table(push)
    angles = 2.0 * np.pi * np.arange(64) / 64
    for outside in (False, True):
        reach = 0.3 if outside else 0.3 * np.cos(np.pi / 64)
        rows = np.zeros((4 * 64, 12))
        for i in range(4):
            rows[64 * i : 64 * (i + 1), 3 * i] = -reach
            rows[64 * i : 64 * (i + 1), 3 * i + 1 : 3 * i + 3] = np.column_stack(
                [np.cos(angles), np.sin(angles)]
            )
        bounds = [(0.0, None) if j % 3 == 0 else (None, None) for j in range(12)]
        for j in (0, 1, 2, 10):
            for sign, end in ((1.0, forces.lower), (-1.0, forces.upper)):
                objective = np.zeros(12)
                objective[j] = sign
                program = linprog(
                    objective, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=directions, b_eq=-load, bounds=bounds
                )
                slack = sign * end[j] - program.fun  # the polygon outside is larger, its least value lower
                assert slack >= -1e-8 if outside else slack <= 1e-8


def test_every_leg_of_a_table_carries_between_nothing_and_half_the_weight() -> None:
    forces = spatial_forces()
    assert forces.lower[::3] == pytest.approx(np.zeros(4), abs=1e-8)
    assert forces.upper[::3] == pytest.approx(np.full(4, 50.0), abs=1e-8)
    smooth = LinearComplementarity(
        np.column_stack([np.ones(4), CORNERS]) @ np.column_stack([np.ones(4), CORNERS]).T,
        -100.0 * np.ones(4),
        names=["A", "B", "C", "D"],
    )
    table = ForceSet.of(solve(smooth))
    assert table.upper == pytest.approx(np.full(4, 50.0))
    assert table.lower == pytest.approx(np.zeros(4), abs=1e-9)
    assert str(table).startswith("The motion is unique; 4 of 4 forces are not")


def test_sliding_on_three_feet_leaves_the_motion_open() -> None:
    """Spec 17.3: friction between 15.70 and 55.40 N, acceleration between 0.2875 and 2.769 m/s²."""
    problem = block(60.0, (0.1, 0.5, 0.1), (-0.1, 0.0, 0.1), sliding=0.5)
    solution = solve(problem)
    assert ForceSet.of(solution).dimension == 0  # unique for this motion
    forces = ForceSet.of(solution, motion="any")
    assert forces.dimension == 1
    assert not forces.motion_unique
    friction = (
        -forces.face.ranges(np.array([[0.0, 1.0] * 3]))[0],
        -forces.face.ranges(np.array([[0.0, 1.0] * 3]))[1],
    )
    assert sorted([friction[0][0], friction[1][0]]) == pytest.approx([15.696, 55.40], abs=1e-9)
    motions, members = forces.motions()
    assert len(motions) == 2
    rates = np.sort((60.0 + members[:, 1::2].sum(axis=1)) / 16.0)
    assert rates == pytest.approx([0.2875, 2.769], abs=1e-9)
    assert "depends on the choice" in str(forces)
    for member in members:
        assert problem.residuals(member).worst <= 1e-10  # each of them solves the contact problem


def test_equal_friction_on_three_feet_leaves_the_motion_unique() -> None:
    forces = ForceSet.of(solve(block(60.0, (0.1,) * 3, (-0.1, 0.0, 0.1), sliding=0.5)), motion="any")
    assert forces.dimension == 1
    assert forces.motion_unique
    assert len(forces.motions()[0]) == 1


def test_n_feet_have_the_bounds_of_pairs_of_feet() -> None:
    """Corners of {ΣN = W, Σx N = m, N ≥ 0} are pairs of feet with the resultant between them."""
    places, push = np.linspace(-0.1, 0.1, 6), 3.0
    forces = ForceSet.of(solve(block(push, (0.4,) * 6, places)))
    weight = 16.0 * GRAVITY
    centre = 0.1 * push / weight
    for i, x in enumerate(places):
        across = places[places > centre] if x < centre else places[places < centre]
        expected = weight * ((across - centre) / (across - x)).max()
        assert forces.upper[2 * i] == pytest.approx(expected, rel=1e-9)
        assert forces.lower[2 * i] == pytest.approx(0.0, abs=1e-9)
    assert forces.dimension == 2 * 6 - 3
    assert forces.words[-1] == "tangential forces of A, B, C, D, E and F: only their sum is determined"


def test_an_open_contact_carries_nothing_and_a_closed_one_without_load_may_carry() -> None:
    delassus = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    forces = ForceSet.of(
        solve(LinearComplementarity(delassus, [-1.0, -1.0, 2.0], names=["left", "right", "open"]))
    )
    assert forces.upper == pytest.approx([1.0, 1.0, 0.0])
    assert forces.determined.tolist() == [False, False, True]
    assert forces.words == ("left and right: only their sum is determined",)


def test_members_have_the_right_sum_and_keep_within_the_limits() -> None:
    forces = ForceSet.of(solve(block(2.0)))
    even = np.array([forces.forces[0], -1.0, forces.forces[2], -1.0])
    assert forces.contains(even)
    assert not forces.contains(even + np.array([0.0, 0.1, 0.0, 0.0]))  # another sum
    assert not forces.contains(even + np.array([0.0, 9.0, 0.0, -9.0]))  # beyond the limit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"directions": [[1.0, 1.0, 1.0]]}, "directions has shape"),
        ({"patches": [[0, 1, 2]]}, "patches has shape"),
        ({"normal": [0], "patches": [[0], [1]], "friction": [[0.1], [0.1]]}, "named once"),
        ({"patches": [[0], [1]], "friction": 0.1}, "friction is one number per patch"),
        ({"friction": [[1.0]]}, "friction has shape"),
        ({"patches": [[0], [1]], "limit": [1.0, -1.0]}, "limit has -1 as its smallest entry"),
        ({"normal": [0], "patches": [[1]], "friction": -0.1}, "friction has -0.1"),
        ({"patches": [[0], [1]], "sense": [1.0]}, "sense has shape"),
        ({"held": [[1.0, 1.0, 1.0]]}, "held has shape"),
        ({"keeping": [[1.0, 1.0]]}, "expected a pair"),
        ({"keeping": ([[1.0, 1.0]], [0.0, 0.0])}, "the vector of keeping"),
        ({"mass": [[1.0, 0.0], [0.0, 1.0]]}, "mass has shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message) -> None:
    arguments = {"forces": [1.0, 1.0], "directions": [[1.0, 1.0]], **change}
    with pytest.raises(InvalidProblem, match=message):
        ForceSet.from_arrays(**arguments)


@pytest.mark.parametrize(
    ("given", "message"),
    [({"motion": "some"}, "allowed are 'same' and 'any'"), ({"duration": 0.0}, "numbers above 0, in s")],
)
def test_wrong_questions_are_refused(given, message) -> None:
    with pytest.raises(InvalidProblem, match=message):
        ForceSet.of(solve(block(2.0)), **given)


def test_problems_that_have_no_forces_are_refused() -> None:
    spring = NonlinearComplementarity(lambda x: x - 1.0, lambda x: np.eye(1), 1)
    with pytest.raises(NotApplicable, match="linear and contact problems"):
        ForceSet.of(solve(spring))
