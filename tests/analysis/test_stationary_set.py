"""Sets of stationary states with friction: intervals, polygons, ellipses in closed form; extreme points and ranges."""

import numpy as np
import pytest

from klapper.analysis import minimal_coordinates, stationary_set
from klapper.analysis.contact_state import ContactState
from klapper.analysis.polytope import Disc, Polytope
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FrictionElement,
    InvalidModel,
    LinearSystem,
    Stribeck,
)


def table(name: str, size: int, along: int, normal: int, friction: object, **more: object) -> Contact:
    rows = np.eye(size)
    return Contact(name, normal=rows[normal], tangents=rows[along], friction=friction, **more)


def test_a_mass_on_a_rough_table_may_stay_in_an_interval() -> None:
    """|k x − f| ≤ μ N."""
    system = LinearSystem(
        [1.0, 1.0], stiffness=[50.0, 0.0], force=[2.0, -20.0], contacts=[table("t", 2, 0, 1, 0.3)]
    )
    found = stationary_set(system)
    assert found.range([1.0, 0.0]) == pytest.approx((-0.08, 0.16))
    low, high = found.force_range
    assert low[0] == pytest.approx([20.0, -6.0])
    assert high[0] == pytest.approx([20.0, 6.0])
    left, right = sorted(found.vertices, key=lambda state: state.position[0])
    assert (left.position[0], right.position[0]) == pytest.approx((-0.08, 0.16))
    assert left.states.tolist() == right.states.tolist() == [SLIP]
    assert max(left.residual, right.residual) <= 1e-10
    assert left.isolated is False
    assert found.extreme([1.0, 0.0]).position == pytest.approx(right.position)


def test_extreme_states_go_on_to_contact_states() -> None:
    """At its limit the mass is about to slide; its friction then follows the normal force, and x is free."""
    system = LinearSystem(
        [1.0, 1.0], stiffness=[50.0, 0.0], force=[2.0, -20.0], contacts=[table("t", 2, 0, 1, 0.3)]
    )
    state = ContactState.at(stationary_set(system).extreme([1.0, 0.0]))
    assert state.sliding.tolist() == [0]
    assert minimal_coordinates(state).size == 1


def test_two_masses_have_a_parallelogram() -> None:
    """q = K⁻¹ (f + ρ), |ρ_i| ≤ μ_i N_i: its corners are the images of the corners of a rectangle."""
    stiffness = np.zeros((4, 4))
    stiffness[:2, :2] = [[300.0, -100.0], [-100.0, 200.0]]
    contacts = [table("a", 4, 0, 2, 0.3), table("b", 4, 1, 3, 0.2)]
    system = LinearSystem(np.ones(4), stiffness=stiffness, force=[1.0, 2.0, -10.0, -20.0], contacts=contacts)
    found = stationary_set(system)
    corners = [
        np.linalg.solve(stiffness[:2, :2], [1.0 + a, 2.0 + b]) for a in (-3.0, 3.0) for b in (-4.0, 4.0)
    ]
    reached = np.array([state.position[:2] for state in found.vertices])
    assert sorted(map(tuple, reached.round(9))) == sorted(map(tuple, np.round(corners, 9)))
    assert found.pieces[0].dimension == 2
    low, high = found.position_range
    assert low[:2] == pytest.approx(np.min(corners, axis=0))
    assert high[:2] == pytest.approx(np.max(corners, axis=0))


def test_a_friction_disc_gives_an_ellipse() -> None:
    """Support function d · K⁻¹ f + μ N |K⁻¹ d| in every direction d."""
    disc = Contact("disc", normal=[0.0, 0.0, 1.0], tangents=np.eye(3)[:2], friction=0.5)
    stiffness, load = np.array([100.0, 25.0]), np.array([1.0, 2.0])
    system = LinearSystem(np.ones(3), stiffness=[*stiffness, 0.0], force=[*load, -10.0], contacts=[disc])
    found = stationary_set(system)
    for angle in np.linspace(0.0, np.pi, 5):
        d = np.array([np.cos(angle), np.sin(angle)])
        centre, reach = d @ (load / stiffness), 5.0 * np.linalg.norm(d / stiffness)
        assert found.range([*d, 0.0]) == pytest.approx((centre - reach, centre + reach), rel=1e-8)
        extreme = found.extreme([*d, 0.0])
        assert extreme.position[:2] @ d == pytest.approx(centre + reach, rel=1e-8)
        assert extreme.residual <= 1e-9
    assert found.force_range[1][0] == pytest.approx([10.0, 5.0, 5.0], rel=1e-8)
    with pytest.raises(InvalidModel, match="no corners"):
        _ = found.vertices


def test_an_anisotropic_contact_gives_an_ellipse_of_forces() -> None:
    contact = Contact("sled", normal=[0.0, 0.0, 1.0], tangents=np.eye(3)[:2], friction=Anisotropic(0.2, 0.6))
    system = LinearSystem(
        np.ones(3), stiffness=[10.0, 10.0, 0.0], force=[0.0, 0.0, -10.0], contacts=[contact]
    )
    found = stationary_set(system)
    d = np.array([0.6, 0.8])
    assert found.range([*d, 0.0])[1] == pytest.approx(
        np.linalg.norm([2.0 * d[0], 6.0 * d[1]]) / 10.0, rel=1e-8
    )
    assert found.force_range[1][0, 1:] == pytest.approx([2.0, 6.0], rel=1e-8)


def test_friction_elements_hold_by_their_limit_and_their_shares() -> None:
    """limit 2 N and 0.3 of 10 N hold a spring of 50 N/m within ±0.1 m."""
    stop = Contact("stop", normal=[0.0, 1.0])
    patch = FrictionElement("patch", [1.0, 0.0], limit=2.0, shares={"stop": 0.3})
    system = LinearSystem([1.0, 1.0], stiffness=[50.0, 0.0], force=[0.0, -10.0], contacts=[stop, patch])
    found = stationary_set(system)
    assert found.range([1.0, 0.0]) == pytest.approx((-0.1, 0.1))
    assert sorted(state.forces[1, 1] for state in found.vertices) == pytest.approx([-5.0, 5.0])


def test_friction_on_a_slanted_wall_changes_the_normal_force() -> None:
    """A ladder of no length: spring k along x, wall of direction (1, 1)/√2 with friction: both forces vary."""
    wall = Contact("wall", normal=[-0.6, 0.8], tangents=[0.8, 0.6], friction=0.5)
    system = LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -8.0], contacts=[wall])
    found = stationary_set(system)
    ends = []
    for share in (
        -0.5,
        0.5,
    ):  # λ_N (0.8 + 0.6 share) = 8, k x = λ_N (−0.6 + 0.8 share) on the wall 0.8 y = 0.6 x
        normal = 8.0 / (0.8 + 0.6 * share)
        ends.append((normal * (-0.6 + 0.8 * share) / 100.0, normal))
    assert sorted(found.range([1.0, 0.0])) == pytest.approx(sorted(x for x, _ in ends))
    low, high = found.force_range
    assert [low[0, 0], high[0, 0]] == pytest.approx(sorted(n for _, n in ends))


def test_beyond_buckling_the_set_has_a_piece_on_the_floor_and_a_free_point() -> None:
    """Negative stiffness across: pressed onto the floor with friction, or free at f/k; the free state is one point."""
    floor = table("floor", 2, 0, 1, 0.5, gap=0.01)
    system = LinearSystem([1.0, 1.0], stiffness=[100.0, -50.0], force=[0.0, 0.1], contacts=[floor])
    found = stationary_set(system)
    assert [piece.closed for piece in found.pieces] == [("floor",), ()]
    assert [piece.dimension for piece in found.pieces] == [1, 0]
    pressed, free = found.pieces
    assert pressed.force_range[1][0, 0] == pytest.approx(0.4)  # λ = −k g₀ − f
    assert pressed.range([1.0, 0.0]) == pytest.approx((-0.002, 0.002))
    assert free.position_range[0] == pytest.approx([0.0, -0.002])
    assert "all open: one state" in str(found)
    only = stationary_set(system, closed=["floor"])
    assert len(only) == 1
    assert only.range([0.0, 1.0]) == pytest.approx((-0.01, -0.01))


def test_belts_slide_while_others_rest() -> None:
    """One block is dragged by its belt with μ N = 4 N, the other one holds on its table."""
    stiffness = np.zeros((4, 4))
    stiffness[:2, :2] = [[200.0, -100.0], [-100.0, 200.0]]
    contacts = [table("belt", 4, 0, 2, 0.4, tangential_rate=-1.0), table("table", 4, 1, 3, 0.3)]
    system = LinearSystem(np.ones(4), stiffness=stiffness, force=[0.0, 0.0, -10.0, -10.0], contacts=contacts)
    found = stationary_set(system)
    ends = [np.linalg.solve(stiffness[:2, :2], [4.0, hold]) for hold in (-3.0, 3.0)]
    assert found.range([0.0, 1.0, 0.0, 0.0]) == pytest.approx((ends[0][1], ends[1][1]))
    low, high = found.force_range
    assert low[0] == pytest.approx([10.0, 4.0])
    assert high[0] == pytest.approx([10.0, 4.0])
    assert {tuple(state.states.tolist()) for state in found.vertices} == {(SLIP, SLIP)}


def test_friction_that_falls_with_speed_is_taken_at_rest() -> None:
    law = Stribeck(static=0.4, dynamic=0.2, speed=0.1)
    system = LinearSystem(
        [1.0, 1.0], stiffness=[10.0, 0.0], force=[0.0, -5.0], contacts=[table("t", 2, 0, 1, law)]
    )
    assert stationary_set(system).range([1.0, 0.0]) == pytest.approx((-0.2, 0.2))


def test_forces_that_contacts_share_have_bounds_and_a_guide_takes_the_upper_one() -> None:
    """Two tables share the load in any way: friction is that of the sum, and each force has bounds."""
    contacts = [table("one", 2, 0, 1, 0.2), table("two", 2, 0, 1, 0.2)]
    slide = Constraint("guide", [0.0, 1.0])
    free = LinearSystem([1.0, 1.0], stiffness=[40.0, 0.0], force=[0.0, -10.0], contacts=contacts)
    found = stationary_set(free)
    assert found.range([1.0, 0.0]) == pytest.approx((-0.05, 0.05))
    low, high = found.force_range
    assert low[:, 0] == pytest.approx(0.0, abs=1e-9)
    assert high[:, 0] == pytest.approx(10.0)
    guided = LinearSystem(
        [1.0, 1.0], stiffness=[40.0, 0.0], force=[1.0, -10.0], contacts=contacts[:1], constraints=[slide]
    )
    assert (
        stationary_set(guided).force_range[1][0, 0] == np.inf
    )  # guide and table may press against each other


def test_a_block_that_friction_does_not_hold_has_no_stationary_state() -> None:
    slope = LinearSystem([1.0, 1.0], force=[6.0, -10.0], contacts=[table("slope", 2, 0, 1, 0.5)])
    found = stationary_set(slope)
    assert len(found) == 0
    assert "No stationary state" in str(found)
    with pytest.raises(InvalidModel, match="friction does not hold it"):
        found.range([1.0, 0.0])


def test_a_block_on_a_slope_may_be_anywhere() -> None:
    slope = LinearSystem([1.0, 1.0], force=[4.0, -10.0], contacts=[table("slope", 2, 0, 1, 0.5)])
    found = stationary_set(slope)
    assert found.range([1.0, 0.0]) == (-np.inf, np.inf)
    assert found.range([0.0, 1.0]) == pytest.approx((0.0, 0.0))
    assert found.force_range[0][0] == pytest.approx([10.0, -4.0])
    with pytest.raises(InvalidModel, match="not bounded"):
        _ = found.vertices
    with pytest.raises(InvalidModel, match="no bound in this direction"):
        found.extreme([1.0, 0.0])


def test_without_friction_there_are_single_states() -> None:
    stop = Contact("stop", 0.02, [1.0])
    found = stationary_set(LinearSystem([1.0], stiffness=[-125.0], force=[-5.0], contacts=[stop]))
    assert sorted(float(state.position[0]) for state in found.vertices) == pytest.approx([-0.02, 0.04])
    assert {int(state.states[0]) for state in found.vertices} == {OPEN, SLIP}


def test_a_state_inside_the_set_sticks() -> None:
    contacts = [table("a", 4, 0, 2, 0.3), table("b", 4, 1, 3, 0.2)]
    system = LinearSystem(
        np.ones(4), stiffness=[50.0, 80.0, 0.0, 0.0], force=[2.0, -1.0, -10.0, -20.0], contacts=contacts
    )
    (piece,) = stationary_set(system).pieces
    assert piece.inside.states.tolist() == [STICK, STICK]
    assert np.all(np.abs(piece.inside.forces[:, 1]) < 0.9 * np.array([3.0, 4.0]))
    assert piece.inside.residual <= 1e-10
    assert minimal_coordinates(piece.inside).size == 0


def test_polytopes_have_their_vertices_dimension_and_range() -> None:
    """A cube cut by a plane, a flat square in space, and a disc cut by a line."""
    cube = (np.vstack([np.eye(3), -np.eye(3)]), np.ones(6))
    nothing = (np.zeros((0, 3)), np.zeros(0))
    assert len(Polytope(nothing, cube).vertices) == 8
    cut = (np.vstack([cube[0], -np.ones(3)]), np.append(cube[1], 2.0))
    assert len(Polytope(nothing, cut).vertices) == 10
    flat = (np.vstack([cube[0], [0, 0, 1.0], [0, 0, -1.0]]), np.append(cube[1], [-0.5, 0.5]))
    square = Polytope(nothing, flat)
    assert square.dimension == 2
    assert len(square.vertices) == 4
    assert square.vertices[:, 2] == pytest.approx(0.5)
    assert Polytope((np.eye(3), np.array([2.0, 0.0, 0.0])), cube).point is None
    rim = Disc(np.eye(2), np.zeros(2), 2.0)
    half = Polytope((np.zeros((0, 2)), np.zeros(0)), (np.array([[-1.0, 0.0]]), np.array([1.0])), [rim])
    assert half.range(np.array([1.0, 0.0])) == pytest.approx((-2.0, 1.0))
    assert half.range(np.array([0.0, 1.0]))[1] == pytest.approx(2.0, rel=1e-8)
    assert half.range(np.array([1.0, 1.0]))[1] == pytest.approx(1.0 + np.sqrt(3.0), rel=1e-8)


def test_too_many_contacts_need_a_choice() -> None:
    many = [
        Contact(f"stop {i}", 1.0, row)
        for i, row in enumerate(np.random.default_rng(0).standard_normal((21, 5)))
    ]
    system = LinearSystem(np.ones(5), stiffness=np.ones(5), contacts=many)
    with pytest.raises(InvalidModel, match="Say which ones are closed"):
        stationary_set(system)
    assert len(stationary_set(system, closed=[])) == 1
