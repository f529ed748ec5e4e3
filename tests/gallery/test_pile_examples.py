"""Boxes, stacks and heaps: free flight by another integrator, limits of statics, other parameters, refused ones."""

from math import atan, degrees, pi, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from klapper.gallery import find
from klapper.gallery._block_stack import Motion, Stack, Toppling
from klapper.gallery._settling_spheres import Heap
from klapper.gallery._tumbling_box import Box, Start
from klapper.gallery._view import View
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError
from klapper.gallery.tumbling_box import _possible_gain, _throw
from klapper.report.figures import draw
from klapper.schemes import Moreau
from klapper.simulation import simulate

OTHER_PARAMETERS: list[tuple[str, dict[str, Any]]] = [
    ("tumbling-box", {"restitution": 0.0, "step": 5e-4}),
    ("tumbling-box", {"restitution": 0.9, "mu": 0.0, "step": 5e-4, "until": 1.0}),
    ("tumbling-box", {"restitution": 1.0, "mu": 1.0, "until": 0.8}),
    ("tumbling-box", {"sizes": (0.2, 0.2, 0.2), "mu": 0.8, "step": 5e-4}),
    ("tumbling-box", {"sizes": (1.0, 0.05, 0.05), "spin": (30.0, 3.0, 0.0), "until": 0.4, "step": 5e-5}),
    ("tumbling-box", {"velocity": (0.0, 0.0, 0.0), "spin": (0.0, 0.0, 0.0), "height": 0.0, "step": 1e-3}),
    ("tumbling-box", {"turn": (0.0, 0.0, 0.0), "spin": (0.0, 0.0, 20.0), "height": 0.0, "until": 0.5}),
    ("tumbling-box", {"velocity": (0.0, 2.0, 5.0), "until": 0.1}),
    ("tumbling-box", {"sizes": (3e-3, 2e-3, 1e-3), "mass": 2e-5, "height": 0.01, "step": 2e-6, "until": 0.1}),
    ("tumbling-box", {"gravity": 1.6, "mass": 300.0, "sizes": (2.0, 3.0, 4.0), "step": 2e-3, "until": 5.0}),
    ("block-stack", {"count": 1, "until": 0.05}),
    ("block-stack", {"count": 1, "tilt_deg": 40.0, "mu": 0.5, "until": 0.1}),
    ("block-stack", {"mu": 0.0, "until": 0.05}),
    ("block-stack", {"mu": 0.0, "tilt_deg": -3.0, "until": 0.1}),
    ("block-stack", {"overhang": 1.0, "until": 0.02}),
    ("block-stack", {"overhang": 1.9, "until": 0.3}),
    ("block-stack", {"overhang": 0.6, "tilt_deg": -20.0, "count": 12, "until": 0.05}),
    ("block-stack", {"width": 2e-3, "height": 1e-3, "mass": 1e-6, "step": 1e-4, "until": 0.01}),
    ("block-stack", {"tilt_deg": degrees(atan(0.5)), "mu": 0.5, "overhang": 0.0, "count": 2, "until": 0.05}),
    ("settling-spheres", {"count": 2, "width": 0.102, "until": 1.0}),
    ("settling-spheres", {"count": 9, "until": 0.05}),
    ("settling-spheres", {"count": 42, "width": 0.45, "until": 1.0}),
    ("settling-spheres", {"count": 43, "width": 0.45, "mu": 0.5, "wall_mu": 0.0, "until": 1.0, "seed": 7}),
    ("settling-spheres", {"count": 100, "radius": 2e-3, "width": 0.02, "step": 1e-4, "until": 0.4}),
]


def run(name: str, **given: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


def check_names(outcome: Outcome) -> set[str]:
    return {check.name for check in outcome.checks}


@pytest.mark.parametrize(("name", "given"), OTHER_PARAMETERS)
def test_checks_hold_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    run(name, **given)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("tumbling-box", {"until": 0.05, "mu": 0.0}),
        ("tumbling-box", {"velocity": (0.0, 0.0, 0.0), "spin": (0.0, 0.0, 0.0), "until": 0.3, "step": 1e-3}),
        ("block-stack", {"count": 1, "tilt_deg": 10.0, "until": 0.02}),
        ("block-stack", {"overhang": 1.3, "count": 3, "until": 0.2}),
        ("settling-spheres", {"count": 1, "until": 0.01}),
        ("settling-spheres", {"count": 10, "until": 0.5}),
    ],
)
def test_figures_can_be_drawn_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    assert all(picture.png for picture in draw(run(name, **given).figures))


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("tumbling-box", {"step": 0.1}, "step must be at most"),
        ("tumbling-box", {"sizes": (1.0, 0.0, 1.0)}, "above 0"),
        ("settling-spheres", {"step": 0.1}, "step must be at most"),
        ("settling-spheres", {"width": 0.1}, "width must be at least 0.101 m"),
        ("block-stack", {"overhang": 2.0}, "at most 1.9"),
    ],
)
def test_impossible_parameters_are_refused(name: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find(name).run(**given)


BOX = Box((0.3, 0.2, 0.1), 1.0, 0.4, 0.3, 9.81)


def test_a_box_slides_after_it_tumbled_and_rests_for_good() -> None:
    numbers = run("tumbling-box").numbers
    assert numbers["rest_time"] < 1.2
    assert numbers["creep_after_rest"] == 0.0
    assert not np.any(numbers["final_velocity"])
    assert numbers["face_below"] in ("+z", "-z")
    assert abs(numbers["final_position"][2] - 0.05) < 1e-4


@pytest.mark.parametrize("spin", [(1.0, 9.0, 2.0), (12.0, 0.3, 0.0)])
def test_a_box_in_flight_touches_when_eulers_equations_say_so(spin: tuple[float, float, float]) -> None:
    """With quaternions and Euler's equations integrated by another method to 1e-10."""
    start, step = Start(0.25, (0.3, 0.4, 0.2), (3.0, 0.5, 0.0), spin), 1e-4
    throw = _throw(BOX, start, step, 0.4, "moreau")
    begin = throw.run.position[0]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        w, x, omega, velocity = y[3], y[4:7], y[7:10], y[10:]
        turn = 0.5 * np.array([-x @ omega, *(w * omega + np.cross(x, omega))])
        faster = np.cross(BOX.moments * omega, omega) / BOX.moments
        return np.concatenate((velocity, turn, faster, (0.0, 0.0, -9.81)))

    def lowest(t: float, y: np.ndarray) -> float:
        rotation = Rotation.from_quat([*y[4:7], y[3]]).as_matrix()
        return float(y[2] + BOX.corners(rotation)[:, 2].min())

    lowest.terminal = True  # type: ignore[attr-defined]
    first = np.concatenate((begin, spin, start.velocity))
    found = solve_ivp(rates, (0.0, 0.4), first, events=lowest, rtol=1e-10, atol=1e-12)
    assert found.status == 1
    touched = throw.run.time[throw.flight]  # end of the first step with an impulse
    assert found.t[-1] <= touched <= found.t[-1] + 2.0 * step


def test_the_bound_of_the_energy_of_a_box_is_small_and_falls_with_the_step() -> None:
    """A bound that any run would meet says nothing."""
    box = Box((0.3, 0.2, 0.1), 1.0, 0.4, 0.0, 9.81)
    start = Start(0.25, (0.3, 0.4, 0.2), (3.0, 0.5, 0.0), (1.0, 9.0, 2.0))
    coarse, fine = (_throw(box, start, step, 1.0, "moreau") for step in (1e-3, 1e-4))
    assert _possible_gain(coarse) < 0.01 * coarse.run.ledger.scale
    assert _possible_gain(fine) < 0.11 * _possible_gain(coarse)


def test_a_tall_box_has_no_stopping_distance() -> None:
    """With μ c > a friction tips it over."""
    outcome = run("tumbling-box", sizes=(0.1, 0.1, 0.3), mu=0.5, step=5e-4, until=0.3)
    assert outcome.numbers["stopping_distance"] is None
    assert "slide" not in outcome.figures


@pytest.mark.parametrize("velocity", [(2.0, 0.0, 0.0), (0.5, -1.5, 0.0)])
@pytest.mark.parametrize("mu", [0.05, 0.9])
def test_a_box_slides_as_far_as_friction_and_speed_say(
    velocity: tuple[float, float, float], mu: float
) -> None:
    found = run("tumbling-box", velocity=velocity, mu=mu, until=0.05).numbers["stopping_distance"]
    assert found == pytest.approx((velocity[0] ** 2 + velocity[1] ** 2) / (2 * mu * 9.81), rel=1e-5)


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        ({"overhang": 0.99}, True),
        ({"overhang": 1.01}, False),
        ({"overhang": 0.0, "tilt_deg": degrees(atan(0.99 * 0.2 / 0.3)), "mu": 1.0}, True),
        ({"overhang": 0.0, "tilt_deg": degrees(atan(1.01 * 0.2 / 0.3)), "mu": 1.0}, False),
        ({"overhang": 0.0, "tilt_deg": -degrees(atan(1.01 * 0.2 / 0.3)), "mu": 1.0}, False),
        ({"overhang": 0.0, "tilt_deg": degrees(atan(0.29)), "mu": 0.3}, True),
        ({"overhang": 0.0, "tilt_deg": degrees(atan(0.31)), "mu": 0.3}, False),
    ],
)
def test_a_stack_stands_up_to_its_limits(given: dict[str, Any], stands: bool) -> None:
    """Six blocks of 0.2 m × 0.05 m: harmonic overhang, width over height as tangent, friction."""
    outcome = run("block-stack", until=0.1, **given)
    assert outcome.numbers["stands"] is stands
    assert "the stack stands" in check_names(outcome)
    assert outcome.numbers["stands_by_statics"] is stands


def test_four_blocks_reach_eleven_twelfths_of_a_width() -> None:
    """1/2 + 1/4 + 1/6 of a block, the known answer to the puzzle."""
    outcome = run("block-stack", count=4, overhang=1.0 - 1e-5, until=0.05)
    assert outcome.numbers["overhang_length"] == pytest.approx(11 / 12 * 0.2, rel=2e-5)
    assert outcome.numbers["stands"]
    assert outcome.numbers["displacement"] < 1e-13


def test_forces_of_a_standing_stack_are_not_unique_and_the_audit_says_so() -> None:
    outcome = run("block-stack", until=0.02)
    assert outcome.numbers["free_forces"] == 6
    assert "not unique" in outcome.audit["uniqueness"]


def test_a_tower_topples_like_one_block_to_first_order() -> None:
    errors = []
    for step in (2e-3, 5e-4):
        outcome = run(
            "block-stack", count=3, height=0.1, overhang=0.0, tilt_deg=37.0, mu=1.2, step=step, until=0.25
        )
        (check,) = (c for c in outcome.checks if c.name.startswith("turn of the stack"))
        errors.append(np.abs(check.value - check.expected).max())
        assert check.expected > 0.03
    assert errors[1] < 0.5 * errors[0]


def test_a_chimney_breaks_where_its_joints_cannot_hold() -> None:
    """A uniform rod that falls about its foot bends most at a third of its length (known from falling chimneys): of a
    tall tower of flat blocks the lower joints give way first, long before it lies on the ground."""
    stack = Stack(30, 0.2, 0.1, 0.0, atan(0.2 / 3.0 * 1.02), 2.0, 1.0, 9.81)
    toppling = Toppling.of(stack)
    assert toppling is not None
    angles, speeds = toppling.turned(np.linspace(0.0, 4.0, 400))
    holds = [toppling.holds(angle, speed) for angle, speed in zip(angles, speeds, strict=True)]
    assert holds[0] and not holds[-1]
    assert 0.02 < angles[holds.index(False)] < 1.0


def test_a_falling_stack_is_not_followed_beyond_the_faces() -> None:
    stack = Stack(3, 0.2, 0.05, 1.5, 0.0, 0.1, 1.0, 9.81)
    system = stack.system()
    motion = Motion(stack, system, simulate(system, 0.4, Moreau(2e-3, tolerance=1e-7)), 2e-3)
    outcome = run("block-stack", count=3, overhang=1.5, mu=0.1, step=2e-3, until=0.4)
    assert 0 < motion.end < len(motion.run) - 1
    assert outcome.numbers["followed_until"] == motion.run.time[motion.end]


def test_one_sphere_lies_on_the_floor() -> None:
    numbers = run("settling-spheres", count=1, until=0.5).numbers
    assert numbers["contacts"] == numbers["contacts_with_walls"] == 1
    assert numbers["floor_share"] == pytest.approx(1.0, rel=1e-9)
    assert numbers["largest_force"] == pytest.approx(2500.0 * 4 / 3 * pi * 0.05**3 * 9.81, rel=1e-9)


def test_smooth_walls_carry_nothing_and_smooth_heaps_have_few_contacts() -> None:
    """Without friction forces are unique, so there are at most as many of them as equations: three per sphere."""
    numbers = run("settling-spheres", count=80, mu=0.0, wall_mu=0.0, width=0.45, until=2.0).numbers
    assert numbers["wall_share"] == 0.0
    assert numbers["floor_share"] == pytest.approx(1.0, abs=0.01)
    assert numbers["contacts"] <= 3 * 80
    assert numbers["kinetic_energy_part"] < 1e-4


def test_floor_and_rough_walls_carry_the_weight_together() -> None:
    numbers = run("settling-spheres", count=120, width=0.34, until=1.5).numbers
    assert abs(numbers["wall_share"]) > 0.01
    assert abs(numbers["wall_friction_used"]) < 1.0
    assert numbers["floor_share"] + numbers["wall_share"] == pytest.approx(1.0, abs=0.01)
    assert 3.0 < numbers["coordination_number"] < 6.0
    assert numbers["largest_penetration"] < 0.05


def test_spheres_start_apart_and_inside() -> None:
    for width in (0.102, 0.3, 0.56, 1.0):
        heap = Heap(150, 0.05, 2500.0, width, 0.3, 0.3, 9.81, 3)
        centres = heap.starts
        apart = np.linalg.norm(centres[:, None] - centres, axis=2) + 10.0 * np.eye(150)
        assert apart.min() > 0.1
        assert np.all(centres >= 0.05 - 1e-15) and np.all(centres[:, :2] <= width - 0.05 + 1e-15)
        assert heap.fall_speed == pytest.approx(sqrt(2 * 9.81 * centres[:, 2].max()))


def test_a_view_keeps_lengths_across_and_looks_from_above() -> None:
    view = View(-50.0, 30.0)
    np.testing.assert_allclose(view.directions @ view.directions.T, np.eye(3), atol=1e-15)
    assert view.flat((0.0, 0.0, 1.0))[1] > 0.0
    assert view.depth((0.0, 0.0, 1.0)) == pytest.approx(0.5)
    assert np.linalg.det(view.directions) == pytest.approx(1.0)
