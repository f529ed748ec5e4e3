"""Arc length: exact paths of trusses with snap-through and snap-back, limit and bifurcation points."""

from typing import Literal

import numpy as np
import pytest

from klapper.analysis import NoStaticState, follow_load, static_state
from klapper.continuum import (
    Cable,
    Continuum,
    LineMesh,
    NodeForce,
    Pressure,
    SaintVenantKirchhoff,
    Solid,
    Support,
    Traction,
    block,
    circle,
)
from klapper.mechanics import FunctionSystem, InvalidModel, Ramp

EA = 1000.0  # [N]


def truss(height: float) -> Continuum:
    """Two bars from (∓1, 0) to an apex that is pressed down."""
    bars = LineMesh([[-1.0, 0.0], [0.0, height], [1.0, 0.0]], [[0, 1], [1, 2]])
    body = Cable("truss", bars, young=EA, area=1.0, density=1.0)
    return Continuum([body], loads=[NodeForce("truss", 1, (0.0, -1.0))], supports=[Support("truss", [0, 2])])


def exact(height: float, down: np.ndarray) -> np.ndarray:
    """P = EA (h − w)(2 h w − w²)/L³ of the apex moved down by w."""
    return EA * (height - down) * (2.0 * height * down - down**2) / np.hypot(1.0, height) ** 3


@pytest.mark.parametrize("arc", ["spherical", "cylindrical"])
def test_a_shallow_truss_snaps_through_between_its_closed_form_limits(
    arc: Literal["spherical", "cylindrical"],
) -> None:
    h = 0.3
    path = follow_load(truss(h), step=2.0, end=None, stop=lambda s: s.position[3] < -1.3 * h, arc=arc)
    down = h - path.positions[:, 3]
    np.testing.assert_allclose(path.factors, exact(h, down), atol=1e-8)
    assert np.all(np.diff(down) > 0.0)
    assert np.any(np.diff(path.factors) < 0.0)
    assert [point.kind for point in path.critical] == ["limit", "limit"]
    most = 2.0 / np.sqrt(27.0) * EA * h**3 / np.hypot(1.0, h) ** 3
    np.testing.assert_allclose([point.factor for point in path.critical], [most, -most], rtol=1e-8)
    turning = [h - point.state.position[3] for point in path.critical]
    np.testing.assert_allclose(turning, h * (1.0 + np.array([-1.0, 1.0]) / np.sqrt(3.0)), rtol=1e-6)
    mode = path.critical[0].mode
    np.testing.assert_allclose(mode, [0, 0, 0, 1, 0, 0], atol=1e-6)


def test_a_steep_truss_bifurcates_before_its_limit() -> None:
    """It gives way sideways where E = −b²/L²: 2 h w − w² = 2 b², with h > √2 b."""
    h = 2.0
    path = follow_load(truss(h), step=20.0, end=None, stop=lambda s: s.position[3] < 0.5)
    first, second = path.critical
    assert (first.kind, second.kind) == ("bifurcation", "limit")
    down = h - np.sqrt(h**2 - 2.0)
    assert h - first.state.position[3] == pytest.approx(down, rel=1e-6)
    assert first.factor == pytest.approx(exact(h, down), rel=1e-6)
    np.testing.assert_allclose(first.mode, [0, 0, 1, 0, 0, 0], atol=1e-4)  # x³ ~ 1e-14 at a pitchfork
    assert second.factor == pytest.approx(2.0 / np.sqrt(27.0) * EA * h**3 / np.hypot(1.0, h) ** 3, rel=1e-8)
    assert path.critical[0].after < path.critical[1].after


def test_a_truss_loaded_through_a_soft_bar_snaps_back() -> None:
    """The loaded end moves back while the apex snaps: P over the apex as before, N = EA₂ ½ (λ² − 1) λ in the bar."""
    h, length, soft = 0.3, 2.0, 60.0
    mesh = LineMesh([[-1.0, 0.0], [0.0, h], [1.0, 0.0], [0.0, h + length]], [[0, 1], [1, 2], [1, 3]])

    body = Cable("truss", mesh, young=1.0, area=[EA, EA, soft], density=1.0)
    world = Continuum(
        [body],
        loads=[NodeForce("truss", 3, (0.0, -1.0))],
        supports=[Support("truss", [0, 2]), Support("truss", [1, 3], [0])],
    )
    path = follow_load(world, step=1.0, end=None, stop=lambda s: s.position[3] < -1.1 * h)
    apex, end = path.positions[:, 3], path.positions[:, 7]
    np.testing.assert_allclose(path.factors, exact(h, h - apex), atol=1e-8)
    stretch = (end - apex) / length
    np.testing.assert_allclose(-path.factors, soft * 0.5 * (stretch**2 - 1.0) * stretch, atol=1e-8)
    down = h + length - end
    back = np.diff(down) < 0.0
    assert back.any()
    assert not back[0]
    assert not back[-1]
    assert [point.kind for point in path.critical] == ["limit", "limit"]


def test_paths_end_at_the_wanted_factor_and_begin_at_a_given_state() -> None:
    world = truss(0.3)
    begin = static_state(world, factor=4.0)
    path = follow_load(world, step=-1.0, end=-5.0, first=begin)
    assert path.states[0] is begin
    assert path.factors[-1] == -5.0
    np.testing.assert_allclose(path.factors, exact(0.3, 0.3 - path.positions[:, 3]), atol=1e-8)
    assert not path.critical


def test_a_following_pressure_and_moved_supports_have_their_factor() -> None:
    """λ = √(1 + 2 s p R cos(π/n)/EA) of an inflated polygon at every s; a bar is pulled by s u."""
    ring = Cable("ring", circle(1.0, 12), young=80.0, area=1.0, density=1.0)
    world = Continuum(
        [ring],
        loads=[Pressure("ring", "inner", 60.0)],
        supports=[Support("ring", [0, 6], [1]), Support("ring", [3], [0])],
        position={"ring": 1.05 * ring.mesh.nodes},
    )
    path = follow_load(world, step=0.1, end=1.0, first=static_state(world, factor=0.1))
    radius = np.linalg.norm(path.positions.reshape(-1, 12, 2), axis=2)
    wanted = np.sqrt(1.0 + 2.0 * path.factors * 60.0 * np.cos(np.pi / 12) / 80.0)
    np.testing.assert_allclose(radius, np.repeat(wanted[:, None], 12, axis=1), rtol=1e-9)
    assert np.all(np.diff(path.factors) > 0.0)
    bar = Solid("bar", block((1.0, 0.5), (2, 1)), SaintVenantKirchhoff(100.0, 0.0), density=1.0)
    pulled = Continuum(
        [bar],
        supports=[Support("bar", "left"), Support("bar", "right", displacement=Ramp((0.0, 0.0), (0.5, 0.0)))],
    )
    course = follow_load(pulled, step=0.2, end=1.0, time=1.0)
    ends = course.positions.reshape(len(course.states), -1, 2)[:, :, 0].max(axis=1)
    np.testing.assert_allclose(ends, 1.0 + 0.5 * course.factors, rtol=1e-9)


def test_solids_pass_their_limit_too() -> None:
    """St. Venant-Kirchhoff without sideways strain bears E/√27 at most, at a stretch of 1/√3; 234 coordinates."""
    body = Solid("block", block((1.0, 1.0), (12, 8)), SaintVenantKirchhoff(1000.0, 0.0), density=1.0)
    world = Continuum(
        [body],
        loads=[Traction("block", "top", (0.0, -100.0))],
        supports=[
            Support("block", "bottom", [1]),
            Support("block", "left", [0]),
            Support("block", "right", [0]),
        ],
    )
    path = follow_load(world, step=0.3, end=None, stop=lambda s: s.position.reshape(-1, 2)[:, 1].max() < 0.5)
    stretch = np.array([world.positions(q, "block")[:, 1].max() for q in path.positions])
    np.testing.assert_allclose(path.factors, -10.0 * 0.5 * (stretch**2 - 1.0) * stretch, atol=1e-8)
    limits = [point for point in path.critical if point.kind == "limit"]
    assert limits[0].factor == pytest.approx(10.0 / np.sqrt(27.0), rel=1e-8)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"step": 0.0}, InvalidModel, "step is 0"),
        ({"arc": "square"}, InvalidModel, "arc is 'square'"),
        ({"end": None}, InvalidModel, "neither end nor stop"),
        ({"largest": 0.5}, InvalidModel, "largest is 0.5"),
        ({"step": 0.5, "end": 8.0, "most": 3}, NoStaticState, "3 steps do not suffice"),
    ],
)
def test_bad_requests_are_refused(given: dict, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words):
        follow_load(truss(0.3), **given)


def test_mechanisms_have_no_path() -> None:
    """Two bars in a row have no stiffness across."""
    row = LineMesh([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [[0, 1], [1, 2]])
    body = Cable("row", row, young=EA, area=1.0, density=1.0)
    world = Continuum([body], loads=[NodeForce("row", 1, (0.0, -1.0))], supports=[Support("row", [0, 2])])
    with pytest.raises(NoStaticState, match="no regular state of rest to begin with"):
        follow_load(world)


@pytest.mark.parametrize("arc", ["spherical", "cylindrical"])
@pytest.mark.parametrize("first", [0.05, 0.07, 0.1, 0.2, 0.5])
def test_a_limit_point_may_be_hit_exactly(arc: Literal["spherical", "cylindrical"], first: float) -> None:
    """2 s = 2 q − q²: the load turns at q = 1, s = 1/2, where the only stiffness there is vanishes."""
    spring = FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: 2.0 - 2.0 * q + q * q)
    path = follow_load(spring, step=first, end=None, stop=lambda state: state.position[0] > 1.5, arc=arc)
    assert path.factors == pytest.approx(path.positions[:, 0] - 0.5 * path.positions[:, 0] ** 2, abs=1e-10)
    (point,) = path.critical
    assert (point.kind, point.mode.tolist()) == ("limit", [1.0])
    assert (point.factor, point.state.position[0]) == (
        pytest.approx(0.5, abs=1e-14),
        pytest.approx(1.0, abs=1e-7),
    )
