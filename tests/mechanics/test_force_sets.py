"""Forces that a state of a system leaves possible, and what the audit of a run says about them."""

import numpy as np
import pytest

from klapper.bodies import Planar
from klapper.mechanics import Anisotropic, Constraint, Contact, FrictionElement, LinearSystem
from klapper.mechanics.acceleration import AccelerationProblem
from klapper.mechanics.force_audit import forces_by_state, summary
from klapper.mechanics.force_sets import closed_forces, mode_forces
from klapper.schemes import EventDriven, Moreau
from klapper.simulation import simulate

WEIGHT = 16.0 * 9.81


def block(
    push: float, friction=(0.1, 0.1), places=(-0.1, 0.1), speed: float = 0.0, **options
) -> LinearSystem:
    """Seiwald's block on feet (x, y, angle)."""
    return LinearSystem(
        [16.0, 16.0, 1 / 15],
        force=[push, -WEIGHT, -0.05 * push],
        coordinates=("x", "y", "angle"),
        velocity=[speed, 0.0, 0.0],
        contacts=[
            Contact(name, normal=[0.0, 1.0, x], tangents=[1.0, 0.0, 0.05], friction=mu)
            for name, x, mu in zip("ABCDEF", places, friction, strict=False)
        ],
        **options,
    )


def at_start(system, force, **options):
    start = system.start
    return closed_forces(
        system,
        0.0,
        start.position,
        start.velocity,
        np.arange(system.contacts.count),
        np.array(force, dtype=float),
        **options,
    )


def test_sticking_block_has_the_bounds_of_its_friction_limits() -> None:
    found = at_start(block(2.0), [[77.48, -1.0], [79.48, -1.0]]).set
    assert found.names == ("A normal", "B normal", "A tangential", "B tangential")
    assert found.lower == pytest.approx([77.48, 79.48, -7.748, -7.948])
    assert found.upper == pytest.approx([77.48, 79.48, 5.948, 5.748])
    assert found.motion_unique


def test_rows_lead_back_to_contacts() -> None:
    system = block(2.0)
    closed = at_start(system, [[77.48, -1.0], [79.48, -1.0]])
    table, joints = closed.by_contact(closed.set.forces)
    assert table == pytest.approx(np.array([[77.48, -1.0], [79.48, -1.0]]))
    assert joints.size == 0


def test_anisotropic_friction_is_bounded_by_an_ellipse() -> None:
    """Two equal contacts side by side, coefficients 0.4 and 0.1: along the second direction only a quarter."""
    system = LinearSystem(
        np.ones(3),
        force=[0.0, 0.0, -20.0],
        contacts=[
            Contact(
                name, normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=Anisotropic(0.4, 0.1)
            )
            for name in ("a", "b")
        ],
    )
    closed = at_start(system, [[10.0, 0.0, 0.0], [10.0, 0.0, 0.0]])
    forces, _ = closed.by_contact(closed.set.upper)
    assert forces[:, 0] == pytest.approx([20.0, 20.0], abs=1e-7)  # one of them may carry all
    assert forces[:, 1] == pytest.approx([4.0, 4.0], abs=1e-6)
    assert forces[:, 2] == pytest.approx([1.0, 1.0], abs=1e-6)


def test_constraints_and_friction_elements_take_part() -> None:
    system = LinearSystem(
        [1.0],
        force=[3.0],
        contacts=[FrictionElement("brake", tangents=[1.0], limit=2.0)],
        constraints=[Constraint("pin", direction=[1.0])],
    )
    found = at_start(system, [[0.0, -1.0]], constraint_force=np.array([-2.0])).set
    assert found.names == ("brake tangential", "pin")
    assert found.lower == pytest.approx([-2.0, -5.0])
    assert found.upper == pytest.approx([2.0, -1.0])
    assert found.words == ("brake tangential and pin: only their sum is determined",)


def test_contacts_that_are_open_do_not_take_part_and_idle_ones_do() -> None:
    system = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -10.0],
        contacts=[
            Contact("loaded", normal=[0.0, 1.0]),
            Contact("idle", normal=[0.0, 1.0]),
            Contact("open", normal=[0.0, 1.0], gap=0.1),
        ],
    )
    found = at_start(system, [[10.0], [0.0], [0.0]])
    assert found.contact.tolist() == [0, 1]
    assert found.set.upper == pytest.approx([10.0, 10.0])


def test_too_many_forces_are_not_looked_at() -> None:
    assert at_start(block(2.0), [[77.48, -1.0], [79.48, -1.0]], largest=3) is None


def test_decided_modes_give_both_motions_of_the_slider() -> None:
    """Spec 17.3: accelerations 0.2875 and 2.769 m/s², with different forces that both solve the problem."""
    mass = np.diag([16.0, 16.0, 1 / 15])
    problem = AccelerationProblem(
        mass,
        [60.0, -WEIGHT, -3.0],
        normal=[[0.0] * 3, [1.0] * 3, [-0.1, 0.0, 0.1]],
        tangential=[[1.0] * 3, [0.0] * 3, [0.05] * 3],
        sliding_velocity=[[0.1]] * 3,
        friction=[0.1, 0.5, 0.1],
        normal_names="ABC",
        tangential_names="ABC",
    )
    forces = mode_forces(problem.solve(), mass=mass)
    motions, members = forces.motions(np.linalg.solve(mass, forces.directions))
    rates = motions[:, 0] + 60.0 / 16.0
    assert np.sort(rates) == pytest.approx([0.2875, 2.769], abs=1e-9)
    for rate, member in zip(rates, members, strict=True):
        assert member[3:] == pytest.approx(-np.array([0.1, 0.5, 0.1]) * member[:3])
        assert mass @ [rate, 0.0, 0.0] == pytest.approx(
            [60.0, -WEIGHT, -3.0] + forces.directions @ member, abs=1e-9
        )


def test_a_patch_that_begins_to_slide_keeps_its_sense() -> None:
    """A block at rest pushed beyond its friction: forces of the mode are unique."""
    problem = AccelerationProblem(
        2.0 * np.eye(2),
        [15.0, -19.62],
        normal=[[0.0], [1.0]],
        tangential=[[1.0], [0.0]],
        sliding_velocity=[[0.0]],
        friction=0.5,
    )
    forces = mode_forces(problem.solve())
    assert forces.dimension == 0
    assert forces.forces == pytest.approx([19.62, -9.81])


def states_of(run, system):
    samples = run.samples
    return forces_by_state(
        system,
        run.layout.contacts,
        samples.time,
        samples.position,
        samples.velocity,
        samples.impulse,
        samples.state,
        samples.constraint_impulse,
    )


@pytest.mark.parametrize("scheme", [Moreau(1e-3), EventDriven(sample=1e-3)], ids=["moreau", "event-driven"])
def test_every_run_tells_what_is_undetermined_by_contact_state(scheme) -> None:
    """A block slides, stops and sticks: sliding forces are determined, sticking ones are not."""
    run = simulate(block(2.0, speed=0.02), 0.05, scheme)
    audit = run.about["audit"]
    assert audit["contact states"] == "forces determined in 1 of 2 looked at"
    ((title, text),) = audit["undetermined forces"].items()
    assert title.startswith("A, B stick")
    assert text.startswith("rank 3 of 4, forces not unique, motion unique; A tangential -7.748 … 5.948 N")
    assert text.endswith("tangential forces of A and B: only their sum is determined")


def test_the_audit_bounds_a_motion_that_depends_on_the_choice() -> None:
    run = simulate(block(60.0, (0.1, 0.5, 0.1), (-0.1, 0.0, 0.1), speed=0.1), 0.02, Moreau(1e-3))
    audit = run.about["audit"]
    assert "they change the motion" in audit["forces at the end"]
    (text,) = audit["undetermined forces"].values()
    assert "the motion depends on the choice of forces" in text
    assert "x 0.2875 … 2.769" in text
    (state,) = states_of(run, block(60.0, (0.1, 0.5, 0.1), (-0.1, 0.0, 0.1), speed=0.1))
    lower, upper = state.accelerations
    assert [lower[0], upper[0]] == pytest.approx([0.2875, 2.769], abs=1e-9)


def test_nothing_is_said_about_contacts_with_compliance() -> None:
    system = LinearSystem(
        [1.0],
        force=[-9.81],
        contacts=[Contact("a", normal=[1.0]), Contact("b", normal=[1.0])],
        compliance=np.diag([1e-6, 2e-6]),
    )
    run = simulate(system, 0.01, Moreau(1e-3, theta=1.0, level="position"))
    assert states_of(run, system) == []
    assert summary([]) == {}
    assert "undetermined forces" not in run.about["audit"]


def test_bodies_are_looked_at_like_linear_systems() -> None:
    model = Planar(gravity=(0.0, -9.81))
    body = model.body("block", mass=16.0, inertia=1 / 15, at=(0.0, 0.05))
    floor = model.wall("floor", normal=(0.0, 1.0))
    for name, x in (("A", -0.1), ("B", 0.1)):
        model.contact(body.point(x, -0.05), floor, friction=0.1, name=name)
    model.force(body.point(0.1, 0.05), (2.0, 0.0))
    audit = simulate(model.build(), 0.02, Moreau(1e-3)).about["audit"]
    (text,) = audit["undetermined forces"].values()
    assert "only their sum is determined" in text
