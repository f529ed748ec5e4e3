"""Steps that keep energy and momentum: bodies that fly and spin, masses on a curve, every way to hold constraints."""

import numpy as np
import pytest

from klapper.continuum import (
    Continuum,
    Gravity,
    NeoHooke,
    SaintVenantKirchhoff,
    Solid,
    Support,
    annulus,
    block,
    rigid_velocity,
)
from klapper.mechanics import Constraint, Contact, FunctionSystem, Harmonic, InvalidModel, LinearSystem
from klapper.mechanics.ledger import ENTRIES
from klapper.schemes import (
    AugmentedLagrange,
    EnergyMomentum,
    HardContact,
    Moreau,
    Multipliers,
    NewtonIteration,
    Penalty,
)
from klapper.simulation import SimulationFailed, simulate

GRAVITY, SPRING = 9.81, 5000.0


def hyperbola(stretch: float) -> FunctionSystem:
    """Two masses with a spring on y = 1/x, Hesch A.3, from the positions of the specification's surrogate."""
    start = np.array([0.2, 5.0, 0.25, 4.0])
    rest = stretch * np.linalg.norm(start[:2] - start[2:])

    def potential(q: np.ndarray) -> float:
        return GRAVITY * (q[1] + q[3]) + 0.5 * SPRING * (np.linalg.norm(q[:2] - q[2:]) - rest) ** 2

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        way = q[:2] - q[2:]
        pull = SPRING * (1.0 - rest / np.linalg.norm(way)) * way
        return np.array([-pull[0], -pull[1] - GRAVITY, pull[0], pull[1] - GRAVITY])

    return FunctionSystem(
        start,
        np.zeros(4),
        mass=np.eye(4),
        force=force,
        potential=potential,
        constraints=[
            Constraint("A", lambda t, q: np.array([1 / q[0] ** 2, 1, 0, 0]), lambda t, q: q[1] - 1 / q[0]),
            Constraint("B", lambda t, q: np.array([0, 0, 1 / q[2] ** 2, 1]), lambda t, q: q[3] - 1 / q[2]),
        ],
    )


def judged(system: FunctionSystem, scheme: EnergyMomentum, until: float = 1.0) -> tuple[float, float]:
    """Largest change of the energy [J] and largest violation of the curve [m]."""
    run = simulate(system, until, scheme)
    energy = run.samples.energy[:, 0] + run.samples.energy[:, 1]
    violation = max(np.abs(system.constraint_residuals(0.0, q)).max() for q in run.position)
    return float(np.abs(energy - energy[0]).max()), violation


def test_midpoint_constraints_lose_energy_with_the_square_of_the_step() -> None:
    system = hyperbola(1.0)
    errors = [judged(system, EnergyMomentum(h, constraint_forces="midpoint"))[0] for h in (0.01, 0.005)]
    assert errors[0] == pytest.approx(5.4e-2, rel=0.1)  # specification 7.1
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_discrete_gradients_keep_energy_and_the_curve() -> None:
    energy, violation = judged(hyperbola(1.0), EnergyMomentum(0.01))
    assert energy < 1e-8
    assert violation < 1e-11


def test_modified_constraints_keep_energy_and_leave_the_curve() -> None:
    coarse, fine = (
        judged(hyperbola(1.0), EnergyMomentum(h, constraint_forces="modified"), until=2.0)
        for h in (0.01, 0.005)
    )
    assert coarse[0] < 1e-8
    assert coarse[1] == pytest.approx(1.4e-3, rel=0.1)  # specification 7.1
    assert fine[1] < 0.5 * coarse[1]


def test_projected_constraints_keep_both() -> None:
    energy, violation = judged(hyperbola(1.0), EnergyMomentum(0.01, constraint_forces="projected"))
    assert energy < 1e-8
    assert violation < 1e-11


def test_projections_without_a_real_root_are_told() -> None:
    run = simulate(hyperbola(0.9), 1.0, EnergyMomentum(0.01, constraint_forces="projected"))
    assert "no correction of the velocities" in run.about["audit"]["energy not projected"]


@pytest.mark.parametrize(("speed", "rooted"), [(0.0, False), (1.4, False), (1.6, True)])
def test_a_contact_gives_back_no_more_than_the_kinetic_energy_along_it(speed: float, rooted: bool) -> None:
    """A mass m on a spring k, pressed into a wall by d, leaves it within one step h: v₁ = 2 d/h − v₀, and the wall did
    the work ½ m (v₁² − v₀²) + ½ k d². The update can take ½ m v₁²: enough if and only if m v₀² ≥ k d²."""
    m, k, d, h = 2.0, 450.0, 0.1, 0.05
    system = LinearSystem(
        [[m]],
        stiffness=[[k]],
        contacts=[Contact("wall", gap=-d, normal=[1.0])],
        velocity=[speed],
        penetration=d,
    )
    end = 2.0 * d / h - speed
    work, most = 0.5 * m * (end**2 - speed**2) + 0.5 * k * d**2, 0.5 * m * end**2
    assert (work <= most) == rooted
    run = simulate(system, h, EnergyMomentum(h, contact=HardContact("momentum-update")))
    energy = 0.5 * m * run.velocity[:, 0] ** 2 + 0.5 * k * run.position[:, 0] ** 2
    assert run.position[-1, 0] == pytest.approx(d, abs=1e-12)
    assert energy[-1] - energy[0] == pytest.approx(0.0 if rooted else work, abs=1e-9)
    told = run.about["audit"].get("energy not projected", "")
    assert bool(told) != rooted
    if told:
        assert told.startswith(f"at {h:.6g} s no correction of the velocities gives back {work:.3g} J")
        assert told.endswith(f"(along contact 'wall' the motion has {most:.3g} J to take them from)")


@pytest.mark.parametrize("reduction", ["null-space", "condensed"])
def test_every_reduction_gives_the_same_motion(reduction: str) -> None:
    one, other = (
        simulate(hyperbola(1.0), 0.3, EnergyMomentum(0.01, enforcement=Multipliers(how)))
        for how in ("saddle", reduction)
    )
    np.testing.assert_allclose(one.position, other.position, atol=1e-9)
    np.testing.assert_allclose(one.samples.constraint_impulse, other.samples.constraint_impulse, atol=1e-8)


def test_augmentation_tends_to_the_multipliers() -> None:
    one = simulate(hyperbola(1.0), 0.1, EnergyMomentum(0.01))
    other = simulate(hyperbola(1.0), 0.1, EnergyMomentum(0.01, enforcement=AugmentedLagrange(1e4, 1e-11)))
    np.testing.assert_allclose(one.position, other.position, atol=1e-9)
    np.testing.assert_allclose(one.samples.constraint_impulse, other.samples.constraint_impulse, atol=1e-5)


def test_a_penalty_keeps_the_energy_with_its_springs_and_violates_by_its_inverse() -> None:
    found = [
        judged(hyperbola(1.0), EnergyMomentum(0.01, enforcement=Penalty(stiffness)))
        for stiffness in (1e5, 1e6)
    ]
    assert max(energy for energy, _ in found) < 1e-8
    assert found[0][1] / found[1][1] == pytest.approx(10.0, rel=0.3)


def ring(law) -> Continuum:
    solid = Solid("ring", annulus(0.8, 1.0, (1, 16)), law, density=1000.0)
    return Continuum([solid], velocity={"ring": rigid_velocity(solid, (1.0, 0.5), 5.0)})


def drifts(world: Continuum, run) -> tuple[float, float, float]:
    """Relative changes of energy, momentum and angular momentum."""
    energy = run.samples.energy[:, 0] + run.samples.energy[:, 1]
    momentum = np.array([world.linear_momentum(v) for v in run.velocity])
    spin = np.array([world.angular_momentum(q, v) for q, v in zip(run.position, run.velocity, strict=True)])
    return tuple(float(np.abs(x - x[0]).max() / np.abs(x[0]).max()) for x in (energy, momentum, spin))


@pytest.mark.parametrize("law", [SaintVenantKirchhoff(1e5, 0.3), NeoHooke(1e5, 0.3)])
@pytest.mark.parametrize("step", [0.002, 0.05])
def test_a_flying_ring_keeps_everything_at_any_step(law, step: float) -> None:
    world = ring(law)
    assert max(drifts(world, simulate(world, 30 * step, EnergyMomentum(step)))) < 1e-12


def test_the_midpoint_rule_keeps_momentum_but_not_energy() -> None:
    world = ring(NeoHooke(1e5, 0.3))
    energy, momentum, spin = drifts(world, simulate(world, 0.6, EnergyMomentum(0.02, forces="midpoint")))
    assert max(momentum, spin) < 1e-12
    assert energy > 1e-5


def test_projected_energies_are_kept_where_they_can_be() -> None:
    world = ring(NeoHooke(1e5, 0.3))
    assert max(drifts(world, simulate(world, 0.06, EnergyMomentum(0.002, forces="projected")))) < 1e-12


@pytest.mark.parametrize(("forces", "order"), [("discrete", 2.0), ("midpoint", 2.0), ("projected", 1.0)])
def test_steps_are_of_second_order_and_with_projection_of_first(forces: str, order: float) -> None:
    """Hesch 2.4."""
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e3, 0.3), density=1000.0)
    nodes = solid.mesh.nodes
    bent = nodes + np.column_stack([np.zeros(len(nodes)), 0.2 * nodes[:, 0] ** 2])
    world = Continuum([solid], supports=[Support("bar", "left")], position={"bar": bent})
    runs = {
        h: simulate(world, 0.2, EnergyMomentum(h, forces=forces)).position[-1] for h in (0.02, 0.01, 0.00125)
    }
    errors = [np.abs(runs[h] - runs[0.00125]).max() for h in (0.02, 0.01)]
    found = np.log2(errors[0] / errors[1])
    assert found > order - 0.35
    if order == 2.0:
        assert found == pytest.approx(2.0, abs=0.3)


def test_a_moving_support_puts_work_in() -> None:
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e4, 0.3), density=100.0)
    shaken = Support("bar", "left", displacement=Harmonic((0.0, 0.02), 20.0, -np.pi / 2))
    world = Continuum([solid], supports=[shaken], loads=[Gravity((0.0, -9.81))])
    run = simulate(world, 0.5, EnergyMomentum(0.005))
    assert run.ledger.closes(1e-12)
    entries = dict(zip(ENTRIES, run.samples.energy[-1], strict=True))
    assert abs(entries["loads"]) > 1e-3
    assert abs(entries["numerical"]) < 1e-2 * abs(entries["loads"])


def test_after_letting_go_momentum_is_kept() -> None:
    solid = Solid("ring", annulus(0.8, 1.0, (1, 12)), SaintVenantKirchhoff(1e4, 0.3), density=1000.0)
    swung = rigid_velocity(solid, (0.0, 0.0), 3.0)
    swung = swung - swung[0]  # it turns about the node that is held
    world = Continuum([solid], supports=[Support("ring", [0], until=0.1)], velocity={"ring": swung})
    run = simulate(world, 0.3, EnergyMomentum(0.01))
    momentum = np.array([world.linear_momentum(v) for v in run.velocity])
    late = run.time > 0.095
    assert np.abs(momentum[~late] - momentum[0]).max() > 1e-3 * np.abs(momentum[0]).max()
    np.testing.assert_allclose(
        momentum[late], np.tile(momentum[late][0], (late.sum(), 1)), rtol=1e-11, atol=1e-8
    )
    spin = np.array(
        [world.angular_momentum(q, v) for q, v in zip(run.position[late], run.velocity[late], strict=True)]
    )
    np.testing.assert_allclose(spin, np.tile(spin[0], (late.sum(), 1)), rtol=1e-11)


def test_linear_systems_step_like_the_trapezoidal_rule() -> None:
    """For M q̈ + D q̇ + K q = f(t) Moreau with θ = ½ is the same scheme."""
    system = LinearSystem(
        [[2.0, 0.3], [0.3, 1.0]], damping=np.diag([0.1, 0.2]), stiffness=[[50.0, -10.0], [-10.0, 30.0]],
        force=Harmonic([1.0, 2.0], 4.0), position=[0.1, -0.2],
    )  # fmt: skip
    one, other = simulate(system, 1.0, EnergyMomentum(0.01)), simulate(system, 1.0, Moreau(0.01))
    np.testing.assert_allclose(one.position, other.position, atol=1e-9)


def test_what_it_cannot_treat_is_refused() -> None:
    tangents = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    floor = Contact("floor", normal=[0.0, 0.0, 1.0], gap=1.0, tangents=tangents, friction=0.1)
    with pytest.raises(InvalidModel, match=r"slide in two directions.*use Moreau"):
        simulate(LinearSystem(np.ones(3), contacts=[floor]), 1.0, EnergyMomentum(0.1))
    with pytest.raises(InvalidModel, match="forces is 'exact'; allowed are discrete, midpoint, projected"):
        EnergyMomentum(0.1, forces="exact")
    with pytest.raises(InvalidModel, match="step_size is 0"):
        EnergyMomentum(0.0)
    with pytest.raises(InvalidModel, match="leave the penalty out"):
        EnergyMomentum(0.1, constraint_forces="modified", enforcement=Penalty(1.0))
    with pytest.raises(InvalidModel, match="stiffness is -1"):
        Penalty(-1.0)


def test_a_step_that_is_not_solved_says_so_and_keeps_the_run() -> None:
    world = ring(NeoHooke(1e5, 0.3))
    with pytest.raises(SimulationFailed, match=r"was not solved.*smaller step") as failed:
        simulate(world, 1.0, EnergyMomentum(0.05, newton=NewtonIteration(most=2)))
    assert len(failed.value.run.time) >= 1
