"""Each starter gives the run of the same model written in Python, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper import bodies, continuum, structures
from klapper.mechanics import Constant, Contact, FrictionElement, Harmonic, LinearSystem
from klapper.scenario import KINDS, ScenarioError, read_scenario, starter
from klapper.schemes import EnergyMomentum, Moreau, PiecewiseExact
from klapper.simulation import simulate


def planar_bodies() -> tuple[Any, Any, float]:
    model = bodies.Planar((0.0, -9.81))
    ball = model.body("ball", mass=0.1, inertia=1.25e-4, at=(0.0, 0.3), spin=-20.0)
    block = model.body("block", mass=0.5, inertia=4.2e-4, at=(0.4, 0.05))
    floor = model.wall("floor", normal=(0.0, 1.0), sliding=(0.2, 0.0))
    stop = model.wall("stop", point=(0.8, 0.0), normal=(-1.0, 0.0))
    feet = block.corners(0.1, 0.1)
    model.contact(ball.disc(0.05, name="rim"), floor, friction=0.3, restitution=0.7)
    model.contact(feet, floor, friction=0.4)
    model.contact(feet, stop, restitution=0.5, name="block on stop")
    model.spring(block, model.ground.point(0.1, 0.05), stiffness=20.0, damping=0.1)
    return model.build(), Moreau(2e-3), 1.0


def linear_system() -> tuple[Any, Any, float]:
    system = LinearSystem(
        [1.0, 2.0],
        damping=[[0.4, -0.2], [-0.2, 0.2]],
        stiffness=[[300.0, -100.0], [-100.0, 100.0]],
        force=Harmonic([0.0, 3.0], 6.0),
        coordinates=["x1", "x2"],
        contacts=[
            Contact("stop", normal=[0.0, -1.0], gap=0.01, restitution=0.6),
            FrictionElement("belt", [[1.0, 0.0]], limit=1.5, tangential_rate=[-0.1]),
        ],
    )
    return system, PiecewiseExact(sample=0.01), 2.0


def imported_structure() -> tuple[Any, Any, float]:
    plate = structures.ImportedStructure(
        np.diag([1.0, 1.0, 0.5]),
        [[4e3, -2e3, 0.0], [-2e3, 4e3, -2e3], [0.0, -2e3, 2e3]],
        dofs=[(1, 2), (2, 2), (3, 2)],
        units="kg, m, s",
    )
    ground = plate.contact("ground", 3, normal=(0.0, 1.0), gap=0.01, restitution=0.5)
    loaded = plate.with_rayleigh(stiffness=1e-3).with_load(Harmonic(20.0, 25.0), plate.row(3, "y"))
    return loaded.system([ground]), Moreau(5e-4), 2.0


def beam() -> tuple[Any, Any, float]:
    steel = structures.Material(210e9, 7850.0, 81e9)
    section = structures.Section.rectangle(0.01, 0.02)
    bare = structures.Beam(1.0, steel, section, elements=4, supports={0.0: "clamped"})
    loaded = bare.with_rayleigh(stiffness=1e-4).with_load(Harmonic(5.0, 45.0), bare.row(1.0))
    return loaded.system([Contact("stop", normal=bare.row(1.0), gap=0.005)]), Moreau(1e-4, theta=0.6), 0.5


def frame() -> tuple[Any, Any, float]:
    steel = structures.Material(210e9, 7850.0, 81e9)
    square = structures.Section.rectangle(0.02, 0.02)
    bare = structures.Frame(
        {"A": (0.0, 0.0), "B": (0.0, 1.0), "C": (1.5, 1.0)},
        {
            "column": structures.Member("A", "B", steel, square, elements=2),
            "beam": structures.Member("B", "C", steel, square, elements=2),
        },
        supports={"A": "clamped"},
    )
    load = Constant(-50.0) + Harmonic(60.0, 40.0)
    loaded = bare.with_rayleigh(stiffness=5e-4).with_point_load("C", "y", load)
    stop = Contact("stop", normal=bare.row("C", "y"), tangents=[bare.row("C", "x")], friction=0.3, gap=0.002)
    return loaded.system([stop]), Moreau(1e-4, theta=0.6), 0.3


def rotor() -> tuple[Any, Any, float]:
    laminate = structures.DelaminatedBeam(1.0, 0.6, 0.01, 0.01, 0.0075, 210e9, 7500.0)
    return laminate.system(5.0, modes=8, external_damping=20.0, contacts=9), Moreau(2e-4), 0.2


def elastic_bodies() -> tuple[Any, Any, float]:
    block = continuum.Solid(
        "block", continuum.block((2.0, 0.5), (8, 2)), continuum.NeoHooke(2e5, 0.3), density=100.0
    )
    ring = continuum.Solid(
        "ring",
        continuum.annulus(0.3, 0.4, (1, 16), centre=(1.0, 0.95)),
        continuum.SaintVenantKirchhoff(1e5, 0.3),
        density=50.0,
    )
    world = continuum.Continuum(
        [block, ring],
        loads=[continuum.Gravity((0.0, -9.81))],
        supports=[continuum.Support("block", "bottom")],
        interfaces=[
            continuum.NodeToSegment(secondary=("ring", "outer"), primary=("block", "top"), friction=0.2)
        ],
        velocity={"ring": (0.5, -2.0)},
    )
    return world, EnergyMomentum(2e-3), 0.06


WRITTEN = {
    "bodies": planar_bodies,
    "linear": linear_system,
    "imported": imported_structure,
    "beam": beam,
    "frame": frame,
    "rotor": rotor,
    "continuum": elastic_bodies,
}


def test_every_kind_of_model_is_written_here() -> None:
    assert set(WRITTEN) == {name for name, kind in KINDS.items() if kind.build is not None}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_starter_gives_the_run_of_the_same_model_in_python(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(starter(kind), encoding="utf-8")
    scenario = read_scenario(file)
    run = scenario.simulate(progress=False)
    system, scheme, until = WRITTEN[kind]()
    other = simulate(system, until, scheme, every=KINDS[kind].starter["run"].get("every"), progress=False)
    assert run.layout == other.layout
    assert run.about["settings"] == other.about["settings"]
    for name in ("time", "position", "velocity", "impulse"):
        np.testing.assert_array_equal(getattr(run, name), getattr(other, name))
    assert np.count_nonzero(run.impulse) > 0
    assert run.ledger.closes(1e-7)


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ScenarioError, match=r"kind is 'rotors'; allowed are bodies, .*rotor"):
        starter("rotors")
