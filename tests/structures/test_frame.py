"""Frames against closed forms, against beams, and plane against space."""

import numpy as np
import pytest

from klapper.mechanics import InvalidModel
from klapper.structures import Beam, Frame, Material, Member, Section

STEEL = Material(young=210e9, density=7850.0, shear=81e9)
BOX = Section.rectangle(height=0.1, width=0.06)
STIFF = Section(area=1e6 * BOX.area, second_moment=BOX.second_moment)  # does not stretch
EI = STEEL.young * BOX.second_moment


def rotation(seed: int = 1) -> np.ndarray:
    """A proper rotation (3, 3)."""
    matrix = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return matrix * np.linalg.det(matrix)


def portal(base: str) -> Frame:
    """Columns 3 m high, beam of 4 m, all alike and without axial or shear deformation."""

    def member(start: str, end: str) -> Member:
        return Member(start, end, STEEL, STIFF, elements=1, theory="euler-bernoulli")

    return Frame(
        {"A": (0, 0), "B": (0, 3), "C": (4, 3), "D": (4, 0)},
        {"left": member("A", "B"), "top": member("B", "C"), "right": member("C", "D")},
        supports={"A": base, "D": base},
    )


def test_a_clamped_portal_sways_as_tabulated() -> None:
    """Kleinlogel: M_A = −(H h/2)(3k + 1)/(6k + 1), M_B = (H h/2) 3k/(6k + 1), k = (I_b/h_b)/(I_c/l) = h/l."""
    frame, force, height, k = portal("clamped"), 1000.0, 3.0, 0.75
    q = frame.with_point_load("B", "x", force).deflection()
    foot, corner = force * height / 2 * (3 * k + 1) / (6 * k + 1), force * height / 2 * 3 * k / (6 * k + 1)
    assert frame.row(("left", 0.0), "moment") @ q == pytest.approx(-foot, rel=1e-5)
    assert frame.row(("left", 3.0), "moment") @ q == pytest.approx(corner, rel=1e-5)
    sway = force * height**3 / (12 * EI) * (3 * k + 2) / (6 * k + 1)
    assert frame.row("B", "x") @ q == pytest.approx(sway, rel=1e-5)
    shears = [frame.row((column, 1.0), "shear") @ q for column in ("left", "right")]
    assert np.abs(shears).sum() == pytest.approx(force, rel=1e-5)


def test_a_pinned_portal_carries_sway_at_its_corners_only() -> None:
    frame, force = portal("pinned"), 1000.0
    q = frame.with_point_load("B", "x", force).deflection()
    assert frame.row(("left", 3.0), "moment") @ q == pytest.approx(force * 3.0 / 2, rel=1e-5)
    assert frame.row(("left", 0.0), "moment") @ q == pytest.approx(0.0, abs=1e-4)


def test_one_member_is_a_beam_and_a_bar() -> None:
    beam = Beam(2.0, STEEL, BOX, elements=5, supports={0.0: "clamped"})
    frame = Frame(
        {"A": (1, 1), "B": (1 + 1.2, 1 + 1.6)},
        {"arm": Member("A", "B", STEEL, BOX, elements=5)},
        supports={"A": "clamped"},
    )
    bar = np.sqrt(STEEL.young / STEEL.density) / 8.0
    bending = beam.frequencies(8)
    expected = np.sort(np.append(bending, bar))
    np.testing.assert_allclose(frame.frequencies(4), expected[:4], rtol=1e-7)
    assert np.min(np.abs(frame.frequencies(8) / bar - 1)) < 1e-8


def test_space_frame_holds_the_rotated_plane_frame() -> None:
    turn = rotation()
    joints = {"A": (0.0, 0.0), "B": (0.3, 3.0), "C": (4.0, 3.2), "D": (4.0, 0.0)}
    spatial = {name: turn @ np.array([*point, 0.0]) for name, point in joints.items()}
    across = {"left": (-3.0, 0.3), "top": (-0.2, 3.7), "right": (3.0, 0.0)}  # e₂ of the plane members

    def members(space: bool) -> dict[str, Member]:
        def member(name: str, start: str, end: str, **options) -> Member:  # type: ignore[no-untyped-def]
            up = turn @ np.array([*across[name], 0.0]) if space else None
            return Member(start, end, STEEL, BOX, elements=2, up=up, **options)

        offset = np.array([0.1, 0.05, 0.0])
        return {
            "left": member("left", "A", "B"),
            "top": member("top", "B", "C", end_release=("rotation",)),
            "right": member("right", "C", "D", start_offset=turn @ offset if space else offset[:2]),
        }

    plane = Frame(joints, members(False), supports={"A": "clamped", "D": "pinned"}).with_gravity()
    space = Frame(spatial, members(True), supports={"A": "clamped", "D": "pinned"})
    space = space.with_gravity(direction=turn @ [0.0, -1.0, 0.0])
    in_space = space.frequencies(14)
    for frequency in plane.frequencies(4):
        assert np.min(np.abs(in_space / frequency - 1)) < 1e-8
    q_plane, q_space = plane.deflection(), space.deflection()
    for place in ("B", "C", ("right", 1.0)):
        expected = plane.row(place, (0.3, -2.0)) @ q_plane
        assert space.row(place, turn @ [0.3, -2.0, 0.0]) @ q_space == pytest.approx(expected, rel=1e-8)
        assert space.row(place, turn @ [0.0, 0.0, 1.0]) @ q_space == pytest.approx(0.0, abs=1e-12)
    for force in ("normal", "shear", "moment"):
        expected = plane.row(("right", 0.7), force) @ q_plane
        assert space.row(("right", 0.7), force) @ q_space == pytest.approx(expected, rel=1e-6)


def test_free_space_frame_has_six_rigid_modes_of_its_mass() -> None:
    joints = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (1, 2, 0.5)}
    members = {
        "one": Member("A", "B", STEEL, BOX),
        "two": Member("B", "C", STEEL, BOX, start_offset=(0, 0.1, 0.2)),
    }
    frame = Frame(joints, members)
    frequencies = frame.frequencies(7)
    assert np.all(frequencies[:6] == 0.0)
    assert frequencies[6] > 1.0
    weight = frame.with_gravity(9.81).load.value(0.0)
    mass = STEEL.density * BOX.area * (frame.length("one") + frame.length("two"))
    shapes = frame.modes(6).shapes
    fall = shapes @ (shapes.T @ frame.mass @ _translation(frame, joints, (0, 0, 1)))
    assert weight @ fall == pytest.approx(-9.81 * mass, rel=1e-8)


def _translation(frame: Frame, joints: dict, direction: tuple) -> np.ndarray:  # type: ignore[type-arg]
    """The rigid mode nearest to a translation: least squares over the displacement of all joints."""
    shapes = frame.modes(6).shapes
    rows = np.array([frame.row(name, axis) for name in joints for axis in np.eye(3)])
    wanted = np.tile(direction, len(joints))
    return shapes @ np.linalg.lstsq(rows @ shapes, wanted, rcond=None)[0]


def test_a_space_cantilever_bends_and_twists_by_the_closed_forms() -> None:
    frame = Frame(
        {"A": (0, 0, 0), "B": (2, 0, 0)},
        {"arm": Member("A", "B", STEEL, BOX, theory="euler-bernoulli")},
        supports={"A": "clamped"},
    )
    lateral = STEEL.young * BOX.required("lateral_second_moment", "the test")
    up = frame.with_point_load("B", "z", 100.0).deflection()
    side = frame.with_point_load("B", "y", 100.0).deflection()
    twist = frame.with_point_load("B", "rx", 100.0).deflection()
    assert frame.row("B", "z") @ up == pytest.approx(100 * 8 / (3 * EI), rel=1e-8)
    assert frame.row("B", "ry") @ up == pytest.approx(-100 * 4 / (2 * EI), rel=1e-8)
    assert frame.row("B", "y") @ side == pytest.approx(100 * 8 / (3 * lateral), rel=1e-8)
    assert frame.row("B", "rz") @ side == pytest.approx(100 * 4 / (2 * lateral), rel=1e-8)
    stiffness = 81e9 * BOX.required("torsion_constant", "the test")
    assert frame.row("B", "rx") @ twist == pytest.approx(100 * 2 / stiffness, rel=1e-8)
    assert frame.row(("arm", 1.0), "torque") @ twist == pytest.approx(100.0, rel=1e-8)
    assert abs(frame.row(("arm", 0.0), "lateral moment") @ side) == pytest.approx(200.0, rel=1e-7)
    assert abs(frame.row(("arm", 0.5), "lateral shear") @ side) == pytest.approx(100.0, rel=1e-6)


def test_offset_turns_axial_load_into_bending() -> None:
    """A load on a joint 0.2 m beside the axis bends the cantilever by the moment P e."""
    frame = Frame(
        {"A": (0.0, 0.0), "B": (2.0, 0.2)},
        {"arm": Member("A", "B", STEEL, BOX, theory="euler-bernoulli", end_offset=(0.0, -0.2))},
        supports={"A": "clamped"},
    )
    q = frame.with_point_load("B", "x", -1000.0).deflection()
    assert frame.length("arm") == pytest.approx(2.0)
    assert frame.row(("arm", 1.0), "moment") @ q == pytest.approx(1000 * 0.2, rel=1e-8)
    assert frame.row(("arm", 2.0), "y") @ q == pytest.approx(200 * 4 / (2 * EI), rel=1e-8)
    shortening = -1000 * 2 / (STEEL.young * BOX.area)
    assert frame.row("B", "x") @ q == pytest.approx(shortening - 0.2 * 200 * 2 / EI, rel=1e-8)


def test_hinged_members_are_a_truss() -> None:
    """Two hinged bars at ±45° under a vertical load: N = P/√2, deflection P L/(E A)."""

    def bar(start: str) -> Member:
        return Member(
            start,
            "top",
            STEEL,
            BOX,
            elements=1,
            theory="euler-bernoulli",
            start_release="hinge",
            end_release="hinge",
        )

    frame = Frame(
        {"left": (-1, 0), "right": (1, 0), "top": (0, 1)},
        {"a": bar("left"), "b": bar("right")},
        supports={"left": "pinned", "right": "pinned"},
    )
    assert not any("rz" in name for name in frame.coordinates)  # nothing turns with the joints
    q = frame.with_point_load("top", "y", -1000.0).deflection()
    assert frame.row(("a", 0.5), "normal") @ q == pytest.approx(-1000 / np.sqrt(2), rel=1e-10)
    assert frame.row("top", "y") @ q == pytest.approx(
        -1000 * np.sqrt(2) / (STEEL.young * BOX.area), rel=1e-10
    )


def test_inclined_roller_pushes_across_its_plane() -> None:
    frame = Frame(
        {"A": (0, 0), "B": (2, 0)},
        {"arm": Member("A", "B", STEEL, BOX)},
        supports={"A": "pinned", "B": [(0.6, 0.8)]},
    )
    q = frame.with_line_load("arm", (0.0, -500.0)).deflection()
    assert frame.row("B", (0.6, 0.8)) @ q == pytest.approx(0.0, abs=1e-12)
    # support force R (0.6, 0.8) with 0.8 R = 500 N, so that the member is pulled by 0.6 R
    assert frame.row(("arm", 1.0), "normal") @ q == pytest.approx(500 * 0.6 / 0.8, rel=1e-8)


def test_external_damping_takes_the_power_of_all_members() -> None:
    frame = Frame(
        {"A": (0, 0), "B": (3, 0), "C": (3, 4)},
        {"one": Member("A", "B", STEEL, BOX), "two": Member("B", "C", STEEL, BOX)},
    ).with_external_damping(0.5)
    rigid = frame.modes(3).shapes
    rows = np.array([frame.row(name, axis) for name in "ABC" for axis in ("x", "y")])
    lift = rigid @ np.linalg.lstsq(rows @ rigid, np.tile([0.0, 1.0], 3), rcond=None)[0]
    assert lift @ (frame.damping @ lift) == pytest.approx(0.5 * 7.0, rel=1e-8)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Frame({"A": (0, 0)}, {"a": Member("A", "B", STEEL, BOX)}),
            "member 'a': there is no joint 'B'",
        ),
        (
            lambda: Frame({"A": (0, 0), "B": (0, 0)}, {"a": Member("A", "B", STEEL, BOX)}),
            "lie at the same place",
        ),
        (lambda: Frame({"A": (0, 0), "B": (0, 0, 1)}, {}), "joints have coordinates of shapes"),
        (lambda: Frame({"A": (0, 0), "B": (1, 0)}, {}), "at least one member"),
        (lambda: _frame(start_release="torsion"), "'torsion' cannot be released"),
        (lambda: _frame(supports={"A": "glued"}), "allowed are clamped, pinned"),
        (lambda: _frame(supports={"Z": "clamped"}), "there is no joint 'Z'"),
        (lambda: _frame().row("A", "z"), "there is no direction 'z'"),
        (lambda: _frame().row("A", "moment"), "a joint has no moment"),
        (lambda: _frame().row(("b", 0.5), "x"), "there is no member 'b'"),
        (lambda: _frame().row(("a", 0.5), "torque"), "a frame in the plane has no torque"),
        (
            lambda: Frame(
                {"A": (0, 0, 0), "B": (0, 0, 1)}, {"a": Member("A", "B", STEEL, BOX, up=(0, 0, 2))}
            ),
            "up points along the member",
        ),
        (
            lambda: Frame(
                {"A": (0, 0, 0), "B": (0, 0, 1)}, {"a": Member("A", "B", STEEL, Section(1e-3, 1e-6, 1e-3))}
            ),
            "no lateral_second_moment",
        ),
    ],
)
def test_wrong_frames_are_refused(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidModel, match=message):
        build()


def _frame(supports=None, **options) -> Frame:  # type: ignore[no-untyped-def]
    return Frame(
        {"A": (0, 0), "B": (1, 0)}, {"a": Member("A", "B", STEEL, BOX, **options)}, supports=supports
    )
