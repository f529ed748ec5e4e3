"""Load stepping: homogeneous states to their printed digits, the elastica, the inflated ring, moved supports."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from klapper.analysis import NoStaticState, load_path, static_state
from klapper.continuum import (
    Cable,
    Continuum,
    Gravity,
    LineMesh,
    NeoHooke,
    NodeForce,
    Pressure,
    SaintVenantKirchhoff,
    Solid,
    Support,
    Traction,
    Wall,
    block,
    circle,
)
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.mechanics import Constraint, FunctionSystem, InvalidModel, LinearSystem, Ramp
from klapper.schemes import NewtonIteration, QuasiStatic
from klapper.simulation import simulate


def crooked(element: str) -> Solid:
    """Two by three cells whose inner nodes are out of place: a state of constant stress is not trivial."""
    mesh = block((1.0, 1.5), (2, 3), element=element)
    inner = np.setdiff1d(np.arange(len(mesh.nodes)), mesh.boundary)
    corners = np.intersect1d(inner, mesh.cells[:, :4])
    nodes = mesh.nodes.copy()
    nodes[corners] += 0.04 * np.random.default_rng(1).standard_normal((len(corners), 2))
    if (
        mesh.element.corners == 4
    ):  # others stay in the middle of straight edges: cells remain parallelogram-like
        for cell in mesh.cells:
            a, b, c, d = nodes[cell[:4]]
            middles = np.array([(a + b) / 2, (b + c) / 2, (c + d) / 2, (d + a) / 2, (a + b + c + d) / 4])
            nodes[cell[4:]] = middles[: mesh.element.size - 4]
    return Solid("block", replace(mesh, nodes=nodes), SaintVenantKirchhoff(1000.0, 0.4), density=1.0)


PATCHES = [  # F11, F22, σ22, σ33, von Mises, as printed
    ("free", "dead", (1.060262, 0.902090, -94.3163, -46.3604, 81.6842)),
    ("free", "follower", (1.064566, 0.894455, -100.0, -49.9969, 86.6025)),
    ("confined", "dead", (1.0, 0.949585, -100.0, -73.9335, 26.0665)),
    ("confined", "follower", (1.0, 0.949585, -100.0, -73.9335, 26.0665)),
]


@pytest.mark.parametrize("element", [name for name in SOLIDS if ELEMENTS[name].dimension == 2])
@pytest.mark.parametrize(("sides", "load", "printed"), PATCHES, ids=lambda given: str(given)[:8])
def test_crooked_elements_give_the_printed_constant_stress(
    element: str, sides: str, load: str, printed: tuple[float, ...]
) -> None:
    """Hesch, example A.2 in plane strain, E = 1000, ν = 0.4, load 100."""
    body = crooked(element)
    supports = [Support("block", "bottom", [1])]
    if sides == "free":
        supports.append(Support("block", [0], [0]))
    else:
        supports += [Support("block", "left", [0]), Support("block", "right", [0])]
    push = Traction("block", "top", (0.0, -100.0)) if load == "dead" else Pressure("block", "top", 100.0)
    world = Continuum([body], loads=[push], supports=supports)
    state = static_state(world)
    q = world.positions(state.position, "block")
    deformed, stress = body.deformation(q), body.cauchy_stress(q)
    found = (
        deformed[..., 0, 0],
        deformed[..., 1, 1],
        stress[..., 1, 1],
        stress[..., 2, 2],
        body.von_mises(q),
    )
    digits = (1e-6, 1e-6, 1e-4, 1e-4, 1e-4)
    for values, wanted, digit in zip(found, printed, digits, strict=True):
        np.testing.assert_allclose(values, wanted, rtol=0, atol=0.51 * digit)
        assert np.ptp(values) < 1e-8 * max(abs(wanted), 1.0)
    assert state.residual < 1e-10


def elastica_tip(alpha: float) -> np.ndarray:
    """(x, y)/L of the end of a cantilever under a transverse dead force, P L²/EI = alpha, by shooting."""

    def end(moment: float) -> np.ndarray:
        rate = lambda s, z: [z[1], -alpha * np.cos(z[0]), np.cos(z[0]), np.sin(z[0])]  # noqa: E731
        return solve_ivp(rate, (0.0, 1.0), [0.0, moment, 0.0, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]

    return end(brentq(lambda moment: end(moment)[1], 0.0, 1.01 * alpha, xtol=1e-12))[2:]


def cantilever_tip(thickness: float, alpha: float) -> np.ndarray:
    young = 1e6
    mesh = block((1.0, thickness), (64, 1), element="quad9", corner=(0.0, -0.5 * thickness))
    body = Solid("beam", mesh, SaintVenantKirchhoff(young, 0.0), density=1.0)
    stress = alpha * young * thickness**2 / 12.0
    world = Continuum(
        [body], loads=[Traction("beam", "right", (0.0, stress))], supports=[Support("beam", "left")]
    )
    state = static_state(world, steps=8)
    tip = mesh.surface_nodes("right")
    middle = tip[np.argmin(np.abs(mesh.nodes[tip, 1]))]
    return world.positions(state.position, "beam")[middle]


def test_a_thin_cantilever_is_the_elastica() -> None:
    """The end differs by c h²; without this term, by the fourth power: h⁴ = 6e-6 and 4e-7."""
    thick, thin = cantilever_tip(0.05, 4.0), cantilever_tip(0.025, 4.0)
    wanted = elastica_tip(4.0)
    assert np.all(np.abs(thin - wanted) < 0.3 * np.abs(thick - wanted))
    np.testing.assert_allclose((4.0 * thin - thick) / 3.0, wanted, atol=6e-6)


def inflated(cells: int, pressure: float) -> tuple[float, float]:
    """Radius [m] of the corners, and force [N] of a ring of cable, EA = 80 N, of the radius 1 m under pressure."""
    ring = Cable("ring", circle(1.0, cells), young=2e5, area=4e-4, density=1.0)
    supports = [Support("ring", [0, cells // 2], [1]), Support("ring", [cells // 4], [0])]
    world = Continuum(
        [ring],
        loads=[Pressure("ring", "inner", pressure)],
        supports=supports,
        position={"ring": 1.05 * ring.mesh.nodes},
    )
    state = static_state(world)
    q = world.positions(state.position, "ring")
    radius, force = np.linalg.norm(q, axis=1), ring.tension(q)
    assert np.ptp(radius) < 1e-9
    assert np.ptp(force) < 1e-8
    np.testing.assert_allclose(
        state.constraint_forces, 0.0, atol=1e-9
    )  # they only hold the ring in its place
    return float(radius.mean()), float(force.mean())


def test_the_inflated_ring_bears_pressure_times_radius() -> None:
    """C07: N → p r with the second power of the length of the lines; polygons have N = p r cos(π/n) exactly."""
    errors, radii = [], []
    for cells in (16, 32, 64):
        radius, force = inflated(cells, 10.0)
        assert force == pytest.approx(10.0 * radius * np.cos(np.pi / cells), rel=1e-9)
        errors.append(abs(force - 10.0 * radius))
        radii.append(abs(radius - np.sqrt(1.0 + 2.0 * 10.0 / 80.0)))  # EA ½ (λ² − 1) λ = p R λ
    for error in (errors, radii):
        np.testing.assert_allclose(np.log2(np.array(error[:-1]) / error[1:]), 2.0, atol=0.03)


def test_moved_supports_pull_a_bar() -> None:
    """N = E A ½ (λ² − 1) λ at both ends; without sideways strain, ν = 0."""
    bar = Solid(
        "bar", block((2.0, 0.5), (4, 2)), SaintVenantKirchhoff(300.0, 0.0), density=1.0, thickness=0.1
    )
    world = Continuum(
        [bar],
        supports=[
            Support("bar", "left", [0]),
            Support("bar", [0], [1]),
            Support("bar", "right", [0], displacement=Ramp((0.0, 0.0), (0.2, 0.0))),
        ],
    )
    state = static_state(world, time=3.0, steps=2)  # λ = 1.3
    wanted = 300.0 * 0.05 * 0.5 * (1.3**2 - 1.0) * 1.3
    pulls = {
        side: sum(
            force
            for name, force in zip(world.constraints, state.constraint_forces, strict=True)
            if name.endswith(" x") and int(name.split()[1]) in bar.mesh.surface_nodes(side)
        )
        for side in ("left", "right")
    }
    assert pulls["right"] == pytest.approx(wanted, rel=1e-9)
    assert pulls["left"] == pytest.approx(-wanted, rel=1e-9)
    half = static_state(world, time=3.0, factor=0.5)
    assert world.positions(half.position, "bar")[:, 0].max() == pytest.approx(2.3)


def test_a_prescribed_apex_passes_the_limit_of_a_truss() -> None:
    """P = EA (h − w)(2 h w − w²)/L³ as the force of the support that moves the apex down to w = 2 h."""
    h, stiffness = 0.3, 1000.0
    bars = LineMesh([[-1.0, 0.0], [0.0, h], [1.0, 0.0]], [[0, 1], [1, 2]])
    world = Continuum(
        [Cable("truss", bars, young=stiffness, area=1.0, density=1.0)],
        supports=[
            Support("truss", [0, 2]),
            Support("truss", [1], displacement=Ramp((0.0, 0.0), (0.0, -2.0 * h))),
        ],
    )
    path = load_path(world, np.linspace(0.05, 1.0, 20), time=1.0)
    down = 2.0 * h * path.factors
    push = path.constraint_forces[:, world.constraints.index("truss 1 y")]
    wanted = stiffness * (h - down) * (2.0 * h * down - down**2) / np.hypot(1.0, h) ** 3
    np.testing.assert_allclose(-push, wanted, atol=1e-8)


@pytest.mark.parametrize("load", ["dead", "follower"])
def test_a_bar_in_space_without_sideways_strain_is_pressed_alike_by_dead_and_following_loads(
    load: str,
) -> None:
    """ν = 0: P = E ½ (λ² − 1) λ."""
    mesh = block((0.5, 0.5, 1.0), (2, 1, 3), element="hex8").moved((0.1, 0.2, 0.0), turn=0.4)
    body = Solid("bar", mesh, SaintVenantKirchhoff(1000.0, 0.0), density=1.0)
    push = Traction("bar", "top", (0.0, 0.0, -100.0)) if load == "dead" else Pressure("bar", "top", 100.0)
    supports = [Support("bar", "bottom", [2]), Support("bar", [0], [0, 1]), Support("bar", [2], [0])]
    world = Continuum([body], loads=[push], supports=supports)
    q = world.positions(static_state(world, steps=2).position, "bar")
    stretch = brentq(lambda s: 1000.0 * 0.5 * (s * s - 1.0) * s + 100.0, 0.7, 1.0, xtol=1e-14)
    np.testing.assert_allclose(q[mesh.surface_nodes("top"), 2], stretch, rtol=1e-9)
    np.testing.assert_allclose(q[:, :2], mesh.nodes[:, :2], atol=1e-9)


def test_steps_that_fail_are_cut() -> None:
    """A confined block of neo-Hooke is pressed to a quarter: P = μ (λ − 1/λ) + Λ ln λ/λ, with few rounds allowed."""
    law = NeoHooke(100.0, 0.3)
    stretch = 0.25
    load = law.shear * (stretch - 1.0 / stretch) + law.lame * np.log(stretch) / stretch
    body = Solid("block", block((1.0, 1.0), (2, 2)), law, density=1.0)
    supports = [
        Support("block", "left", [0]), Support("block", "right", [0]), Support("block", "bottom", [1])
    ]  # fmt: skip
    world = Continuum([body], loads=[Traction("block", "top", (0.0, load))], supports=supports)
    path = load_path(world, [1.0], newton=NewtonIteration(most=6))
    assert len(path.states) > 1
    assert path.factors[-1] == 1.0
    assert np.all(np.diff(path.factors) > 0.0)
    assert path.positions[-1].max() == pytest.approx(1.0)
    assert world.positions(path.positions[-1], "block")[:, 1].max() == pytest.approx(stretch, rel=1e-8)
    np.testing.assert_array_less(path.residuals, 1e-9)


def test_linear_systems_and_constrained_ones_have_static_states_as_well() -> None:
    """K q = f of a linear system; a bead on a circle hangs where the string points along the weight."""
    stiffness = np.array([[3.0, -1.0], [-1.0, 2.0]])
    chain = LinearSystem(np.eye(2), stiffness=stiffness, force=[1.0, -2.0])
    np.testing.assert_allclose(
        static_state(chain, steps=3).position, np.linalg.solve(stiffness, [1.0, -2.0]), atol=1e-12
    )
    string = Constraint("string", offset=lambda t, q: 0.5 * (q @ q - 1.0), direction=lambda t, q: q)
    bead = FunctionSystem(
        [0.0, -1.0],
        [0.0, 0.0],
        mass=2.0 * np.eye(2),
        force=lambda t, q, v: np.array([3.0, -4.0]),
        constraints=[string],
    )
    state = static_state(bead)
    np.testing.assert_allclose(state.position, [0.6, -0.8], atol=1e-9)
    np.testing.assert_allclose(state.constraint_forces, [-5.0], atol=1e-8)


def test_quasi_static_steps_end_in_the_same_state() -> None:
    """Another way to the same equations: loads that rise with time, one equilibrium after the other."""
    body = Solid("block", block((1.0, 0.4), (4, 2), element="tri6"), NeoHooke(1e4, 0.4), density=1.0)
    world = Continuum(
        [body],
        loads=[
            Traction("block", "right", Ramp((0.0, 0.0), (100.0, 400.0))),
            Pressure("block", "top", Ramp(0.0, 300.0)),
        ],
        supports=[Support("block", "left", displacement=Ramp((0.0, 0.0), (0.0, 0.1)))],
    )
    run = simulate(world, 1.0, QuasiStatic(0.25))
    np.testing.assert_allclose(static_state(world, time=1.0, steps=2).position, run.position[-1], atol=1e-8)


def test_loads_that_cannot_be_borne_are_told_with_what_was_found() -> None:
    """St. Venant-Kirchhoff under confined compression bears (λ + 2 μ)/√27 at most, at a stretch of 1/√3."""
    law = SaintVenantKirchhoff(1000.0, 0.0)
    body = Solid("block", block((1.0, 1.0), (1, 1)), law, density=1.0)
    most = law.pressure_wave / np.sqrt(27.0)
    world = Continuum(
        [body],
        loads=[Traction("block", "top", (0.0, -2.0 * most))],
        supports=[Support("block", "bottom", [1]), Support("block", [0], [0])],
    )
    with pytest.raises(NoStaticState, match="use follow_load") as caught:
        load_path(world, np.linspace(0.1, 1.0, 10))
    reached = caught.value.path.factors[-1]
    assert 0.4 <= reached <= 0.5


CABLE = Cable("ring", circle(1.0, 8), young=1.0, area=1.0, density=1.0)
BLOCK = Solid("block", block((1.0, 1.0), (1, 1)), NeoHooke(1.0, 0.3), density=1.0)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: static_state(3), InvalidModel, "system is 3"),
        (lambda: static_state(Continuum([BLOCK]), steps=0), InvalidModel, "steps is 0"),
        (lambda: load_path(Continuum([BLOCK]), []), InvalidModel, "at least one finite number"),
        (
            lambda: static_state(Continuum([BLOCK], walls=[Wall("block", "bottom", (0, -1), (0, 1))])),
            InvalidModel,
            "one-sided contacts",
        ),
        (
            lambda: static_state(Continuum([BLOCK], loads=[Gravity((0.0, -1.0))])),
            NoStaticState,
            "brought to a load factor of 0 but not",
        ),
        (
            lambda: static_state(Continuum([CABLE], loads=[NodeForce("ring", 0, (1.0, 0.0))])),
            NoStaticState,
            "brought to a load factor of 0 but not",
        ),
    ],
)
def test_bad_requests_are_refused(call: object, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_the_guide_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "statics.md").read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "guide"}
    for snippet in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(snippet, "statics.md", "exec"), namespace)
    assert (tmp_path / "pulled.vtu").exists()
