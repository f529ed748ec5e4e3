"""Regularised contact against closed forms, conservation laws, published numbers and rigid limits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from klapper.bodies import Spatial
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Stribeck,
)
from klapper.mechanics.compliance import ApproachDamper, BoundaryLayer, CompliantNormal, restitution
from klapper.mechanics.smooth_friction import ArctanFriction, PowerFriction, SaturatedFriction, StickElement
from klapper.results.penetration import penetration_statistics
from klapper.schemes.contact_modes import STICKING
from klapper.schemes.regularised import Regularised
from klapper.schemes.regularised_step import RegularisedMemory
from klapper.schemes.work import Work
from klapper.simulation import simulate

GRAVITY = 9.81


def falling_mass(**laws):
    return LinearSystem(
        [1.0], position=[0.5], velocity=[-1.0], contacts=[Contact("floor", normal=[1.0], **laws)]
    )


def block(velocity=0.0, pull=0.0, *, friction=0.3, belt=0.0, weight=GRAVITY):
    return LinearSystem(
        [1.0, 1.0],
        force=[pull, -weight],
        velocity=[velocity, 0.0],
        contacts=[
            Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=friction, tangential_rate=-belt)
        ],
    )


def wedged_disc(friction, load, *, spin=-50.0, moment=-2.0):
    """Waltersberger Ex. 5.6, rotation counter-clockwise positive, clockwise moment."""
    a, r = np.pi / 4.0, 0.1
    force = [-load * np.cos(a / 2.0), -load * np.sin(a / 2.0), moment]
    return LinearSystem(
        [1.0, 1.0, 0.005],
        force=force,
        position=[r * (1.0 + np.cos(a)) / np.sin(a), r, 0.0],
        velocity=[0.0, 0.0, spin],
        contacts=[
            Contact("leg 1", normal=[0.0, 1.0, 0.0], gap=-r, tangents=[1.0, 0.0, r], friction=friction),
            Contact(
                "leg 2",
                normal=[np.sin(a), -np.cos(a), 0.0],
                gap=-r,
                tangents=[np.cos(a), np.sin(a), -r],
                friction=friction,
            ),
        ],
    )


def run_of(system, until, scheme, **options):
    return simulate(system, until, scheme, progress=False, **options)


def numerical_share(run):
    return abs(run.samples.energy[-1, -1]) / run.ledger.scale


@pytest.mark.parametrize("law", [CompliantNormal, BoundaryLayer])
@pytest.mark.parametrize(
    ("damping", "method"),
    [(0.2, "dop853"), (0.5, "dop853"), (1.0, "dop853"), (0.2, "rk45"), (1.0, "rk45"), (0.5, "radau")],
)
def test_rebound_is_the_restitution_of_the_damping_ratio(law, damping, method):
    run = run_of(falling_mass(), 5.0, Regularised(law(1.0, damping), method=method))
    assert run.velocity[-1, 0] == pytest.approx(restitution(damping / 2.0), abs=1e-8)
    assert run.impulse[:, 0, 0].sum() == pytest.approx(1.0 + restitution(damping / 2.0), abs=1e-7)
    assert numerical_share(run) < 1e-6


def test_a_free_layer_creeps_back_with_the_time_constant_of_its_damper():
    system, scheme = falling_mass(), Regularised(BoundaryLayer(1.0, 0.5))
    snapshot, layers = scheme.init(system), []
    while snapshot.time < 7.0:
        step = scheme.step(system, snapshot, 7.0)
        snapshot = step.after
        modes = RegularisedMemory.read(snapshot.memory, system).modes
        if snapshot.velocity[0] > 0.0 and len(modes.closed) == 0:
            layers.append((snapshot.time, modes.layer[0]))
    (t_1, s_1), (t_2, s_2) = layers[0], layers[-1]
    assert t_2 - t_1 > 3.0
    assert s_2 / s_1 == pytest.approx(np.exp(-(t_2 - t_1) / 0.5), rel=1e-5)


@pytest.mark.parametrize(
    ("exponent", "expected"), [(1.0, (-0.1303, 0.1502, 0.9800)), (1.5, (-0.0710, 0.0764, 0.9945))]
)
def test_three_balls_part_as_their_exponent_says(exponent, expected):
    row = LinearSystem(
        [1.0, 1.0, 1.0],
        velocity=[1.0, 0.0, 0.0],
        position=[0.0, 0.1, 0.1],
        contacts=[Contact("first", normal=[-1.0, 1.0, 0.0]), Contact("second", normal=[0.0, -1.0, 1.0])],
    )
    run = run_of(row, 0.5, Regularised(CompliantNormal(1e4, 0.0, exponent)))
    assert run.velocity[-1] == pytest.approx(expected, abs=6e-5)
    assert run.velocity[-1].sum() == pytest.approx(1.0, abs=1e-8)
    assert numerical_share(run) < 1e-6
    assert run.samples.energy[-1, 5] == 0.0  # springs without dampers take nothing


def test_an_approach_damper_penetrates_less_the_stronger_it_is():
    drop = LinearSystem([1.0], force=[-GRAVITY], position=[0.1], contacts=[Contact("floor", normal=[1.0])])
    fall = np.sqrt(0.2 / GRAVITY)
    for damping in (1e2, 1e3):
        run = run_of(drop, 0.5, Regularised(ApproachDamper(damping)))
        terminal, lag = GRAVITY / damping, 1.0 / damping
        rest = 0.5 - fall
        sunk = terminal * rest + (GRAVITY * fall - terminal) * lag * (1.0 - np.exp(-rest / lag))
        assert run.gap[-1, 0] == pytest.approx(-sunk, rel=1e-6)


@pytest.mark.parametrize(("damping", "tolerance"), [(4e7, 1e-3), (4e9, 1e-5)])
def test_strong_dampers_let_go_when_the_load_turns(damping, tolerance):
    """A pressed mass does not move: λ = k q − F(t) ends with 20 N cos 7t = k q ≈ −k Λ/d, close to t = 3π/14."""
    stiffness, until = 100.0, 0.75
    mass = LinearSystem(
        [1.0],
        stiffness=[[stiffness]],
        force=Harmonic([20.0], 7.0),
        position=[0.05],
        contacts=[Contact("stop", normal=[1.0])],
    )
    law = CompliantNormal(damping / 40.0, damping)
    run = simulate(mass, until, Regularised(law, method="radau", tolerance=tolerance, sample=0.05))
    pressed = run.impulse[:, 0, 0] > 0.0
    sunk = run.impulse[:, 0, 0].sum() / damping
    assert run.time[pressed].max() == pytest.approx(
        3.0 * np.pi / 14.0, abs=2.0 * stiffness * sunk / (20.0 * 7.0)
    )
    natural = np.sqrt(stiffness)
    turn = 7.0 * (until - 3.0 * np.pi / 14.0)
    lifted = 20.0 / (stiffness - 49.0) * (np.sin(turn) - 0.7 * np.sin(turn * natural / 7.0))
    assert run.position[-1, 0] == pytest.approx(lifted, rel=10.0 * tolerance)


def test_the_deepest_penetration_falls_with_the_root_of_the_stiffness():
    deepest = []
    for stiffness in (1e3, 1e5, 1e7):
        run = run_of(falling_mass(), 1.0, Regularised(CompliantNormal(stiffness), tolerance=1e-11))
        assert run.velocity[-1, 0] == pytest.approx(1.0, abs=1e-7)
        statistics = penetration_statistics(run)["floor"]
        deepest.append(statistics.deepest)
        assert statistics.closings == 1
        assert statistics.share == pytest.approx(np.pi / np.sqrt(stiffness), rel=1e-4)
        assert statistics.mean == pytest.approx(2.0 / np.pi * deepest[-1], rel=1e-3)
    assert deepest == pytest.approx([1e3**-0.5, 1e5**-0.5, 1e7**-0.5], rel=1e-4)


def test_a_contact_that_opens_and_closes_within_one_step_is_found():
    """The wall flicks past the mass much faster than the integrator steps."""
    wall = LinearSystem(
        [1.0],
        position=[1.0],
        contacts=[Contact("wall", normal=[1.0], gap=Harmonic(1.0 + 1e-6, 2.0 * np.pi, 0.0))],
    )
    run = run_of(wall, 1.0, Regularised(CompliantNormal(1e-3, 0.0)))
    assert np.any(run.state[:, 0] != OPEN)
    t = np.linspace(0.0, 1.0, 200001)
    depth = np.maximum(-(1.0 + (1.0 + 1e-6) * np.sin(2.0 * np.pi * t)), 0.0)
    assert run.impulse[:, 0, 0].sum() == pytest.approx(1e-3 * np.trapezoid(depth, t), rel=1e-4)


@pytest.mark.parametrize("load", [GRAVITY, 10.0 * GRAVITY])
def test_the_wedged_disc_settles_at_the_published_penetrations(load):
    """Ex. 5.6, μ = 0.95, C31; more damping than the thesis' reaches the same equilibrium sooner."""
    scheme = Regularised(CompliantNormal(1e5, 200.0), tolerance=1e-9)
    run = run_of(wedged_disc(0.95, load, spin=-1000.0), 0.25, scheme)
    expected = np.array([9.38820e-5, 4.08605e-5]) * load / GRAVITY  # clockwise: leg 1 carries more
    assert -run.gap[-1] == pytest.approx(expected, rel=2e-5)
    assert np.all(run.state[-1] == SLIP)
    assert numerical_share(run) < 1e-6


def test_the_wedged_disc_scales_with_the_load():
    scheme = Regularised(CompliantNormal(1e5, 0.5), tolerance=1e-11, sample=0.01)
    discs = (wedged_disc(0.95, f * GRAVITY, spin=-50.0 * f, moment=-2.0 * f) for f in (1.0, 10.0))
    one, ten = (run_of(disc, 0.05, scheme) for disc in discs)
    at = np.linspace(0.0, 0.05, 6)
    gaps = [run.gap[[int(np.argmin(np.abs(run.time - t))) for t in at]] for run in (one, ten)]
    assert gaps[1] == pytest.approx(10.0 * gaps[0], abs=1e-6 * np.abs(gaps[1]).max())


def test_the_supercritical_disc_has_the_published_extrema_in_its_first_half_second():
    """Ex. 5.6, μ = 1.05 from touching at rest: extrema that are reproducible to four digits."""
    run = run_of(wedged_disc(1.05, GRAVITY), 0.5, Regularised(CompliantNormal(1e5, 0.5), tolerance=1e-9))
    time, first = np.unique(run.time, return_index=True)
    highest = []
    for gap in run.gap[first].T:
        spline = CubicSpline(time, gap)
        highest.append(float(spline(spline.derivative().roots(extrapolate=False)).max()))
    statistics = penetration_statistics(run)
    assert statistics["leg 1"].deepest == pytest.approx(3.879e-4, rel=1e-3)
    assert statistics["leg 2"].deepest == pytest.approx(1.008e-4, rel=1e-3)
    assert highest == pytest.approx([7.990e-4, 3.479e-5], rel=1e-3)
    assert min(contact.closings for contact in statistics.contacts) >= 10
    assert numerical_share(run) < 1e-6


def test_the_mixed_acceleration_is_unique_along_the_motion():
    system = wedged_disc(0.95, GRAVITY, spin=-0.5)
    scheme = Regularised(CompliantNormal(1e5, 50.0))
    snapshot = scheme.init(system)
    rng, seen = np.random.default_rng(4), 0
    while snapshot.time < 0.03:
        snapshot = scheme.step(system, snapshot, 0.03).after
        modes = RegularisedMemory.read(snapshot.memory, system).modes
        closed = modes.closed
        if len(closed) < 2 or snapshot.step % 2:
            continue
        resting = modes.copy()
        resting.tangential[closed] = STICKING
        t, q = snapshot.time, snapshot.position
        switches = scheme.switches(system, Work())
        v = switches.held(t, q, snapshot.velocity, closed)
        decision = switches.decision(resting, closed, t, q, v)
        assert decision.problem.convex
        for _ in range(3):
            start = rng.uniform(-20.0, 20.0, decision.problem.contact_problem.size)
            again = decision.problem.solve(start=start, tolerance=1e-11)
            assert again.acceleration == pytest.approx(decision.acceleration, abs=1e-6)
        seen += 1
    assert seen >= 3


VIELSACK = {  # drift of A = 0.9, B = 0.11 relative to Coulomb's, in per cent, and periods until it is stationary
    (0.01, "spring"): (109.0, 0.5, 7),
    (0.01, "damper"): (1357.0, 0.5, 2),
    (0.01, "spring and damper"): (5.5, 0.05, 2),
    (0.001, "spring"): (11.0, 0.05, 3),
    (0.001, "damper"): (136.0, 0.5, 2),
    (0.001, "spring and damper"): (0.52, 0.005, 2),
}


def shaken_mass():
    return LinearSystem(
        [1.0],
        force=lambda t: np.array([0.9 + 0.11 * np.sin(t)]),
        contacts=[FrictionElement("slope", tangents=[1.0], limit=1.0)],
    )


def drift(scheme, periods):
    run = run_of(shaken_mass(), 2.0 * np.pi * periods, replace(scheme, sample=2.0 * np.pi))
    last = int(np.argmin(np.abs(run.time - 2.0 * np.pi * (periods - 1))))
    return (run.position[-1, 0] - run.position[last, 0]) / (2.0 * np.pi), run


def test_set_valued_friction_has_the_drift_of_coulomb():
    found, run = drift(Regularised(CompliantNormal(1.0), tolerance=1e-10), 2)
    assert found == pytest.approx(6.633450e-4, rel=1e-6)
    assert numerical_share(run) < 1e-8


@pytest.mark.parametrize(("eps", "kind"), list(VIELSACK))
def test_stick_elements_have_the_drift_of_vielsack(eps, kind):
    expected, tolerance, periods = VIELSACK[eps, kind]
    element = StickElement("spring" in kind and 1.0 / eps, "damper" in kind and 1.0 / eps)
    assert element.kind == kind
    method = "radau" if eps == 0.001 and "damper" in kind else "dop853"
    scheme = Regularised(CompliantNormal(1.0), element, method=method, tolerance=1e-7)
    found, run = drift(scheme, periods)
    assert 100.0 * (found / 6.633450e-4 - 1.0) == pytest.approx(expected, abs=tolerance)
    assert numerical_share(run) < 1e-6


def test_a_sliding_block_stops_where_coulomb_says():
    normal = CompliantNormal(1e6, 1000.0)
    run = run_of(block(velocity=1.0), 0.4, Regularised(normal))
    assert run.position[-1, 0] == pytest.approx(1.0 / (2.0 * 0.3 * GRAVITY), rel=1e-4)
    assert run.velocity[-1, 0] == 0.0
    assert run.state[-1, 0] == STICK
    assert run.samples.energy[-1, 4] == pytest.approx(0.5, rel=1e-4)  # friction took the kinetic energy


def test_smooth_friction_creeps_on_a_slope_and_set_valued_friction_does_not():
    on_slope = block(pull=0.15 * GRAVITY)
    normal = CompliantNormal(1e5, 600.0)
    stuck = run_of(on_slope, 0.2, Regularised(normal))
    assert stuck.velocity[-1, 0] == 0.0
    for law, creep in (
        (SaturatedFriction(1e-3), 0.5e-3),  # half of the limit
        (ArctanFriction(1e-3), 1e-3),
        (StickElement(damping=0.3 * GRAVITY / 1e-3), 0.5e-3),
    ):
        crept = run_of(on_slope, 0.2, Regularised(normal, law, tolerance=1e-6))
        assert crept.velocity[-1, 0] == pytest.approx(creep, rel=1e-3)
    held = run_of(on_slope, 0.2, Regularised(normal, StickElement(1e4, 100.0), tolerance=1e-6))
    assert abs(held.velocity[-1, 0]) < 1e-6


def test_power_friction_creeps_with_the_power_of_the_load():
    scheme = Regularised(CompliantNormal(1e5, 600.0), PowerFriction(8.0), method="radau", tolerance=1e-6)
    run = run_of(block(pull=0.15 * GRAVITY), 0.2, scheme)
    assert run.velocity[-1, 0] == pytest.approx(0.5**8.0, rel=1e-3)


@pytest.mark.parametrize("friction", ["set-valued", StickElement(1e5, 1e3), StickElement(0.0, 1e4)])
def test_friction_in_space_opposes_sliding(friction):
    start = np.array([0.8, 0.6, 0.0])
    puck = LinearSystem(
        [1.0, 1.0, 1.0],
        force=[0.0, 0.0, -GRAVITY],
        velocity=start,
        position=[0.0, 0.0, -GRAVITY / 1e5],
        penetration=1.0,
        contacts=[
            Contact("floor", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=0.5),
        ],
    )
    run = run_of(puck, 0.25, Regularised(CompliantNormal(1e5, 10.0), friction, tolerance=1e-6))
    assert run.position[-1, :2] == pytest.approx(start[:2] / (2.0 * 0.5 * GRAVITY), rel=1e-3)
    assert np.linalg.norm(run.velocity[-1]) < 1e-3


def test_an_anisotropic_contact_slides_by_the_maximum_of_dissipation():
    """Along the directions of its ellipse a puck feels either coefficient."""
    for direction, mu in ((0, 0.4), (1, 0.2)):
        velocity = np.zeros(3)
        velocity[direction] = 1.0
        puck = LinearSystem(
            [1.0, 1.0, 1.0],
            force=[0.0, 0.0, -GRAVITY],
            velocity=velocity,
            position=[0.0, 0.0, -GRAVITY / 1e5],
            penetration=1.0,
            contacts=[
                Contact(
                    "floor",
                    normal=[0, 0, 1.0],
                    tangents=[[1.0, 0, 0], [0, 1.0, 0]],
                    friction=Anisotropic(0.4, 0.2),
                )
            ],
        )
        run = run_of(puck, 0.6, Regularised(CompliantNormal(1e5, 10.0), tolerance=1e-6))
        assert run.position[-1, direction] == pytest.approx(1.0 / (2.0 * mu * GRAVITY), rel=1e-4)


def test_a_mass_on_a_belt_sticks_and_slips_with_the_period_of_the_closed_form():
    """Constant friction: sticking from x₁ to x₂ = F/c at the belt's speed, then half a free swing about F/c."""
    stiffness, limit, belt = 100.0, 10.0, 0.5
    oscillator = LinearSystem(
        [1.0],
        stiffness=[stiffness],
        velocity=[belt],
        contacts=[FrictionElement("belt", tangents=[1.0], limit=limit, tangential_rate=-belt)],
    )
    run = run_of(oscillator, 1.0, Regularised(CompliantNormal(1.0), tolerance=1e-10))
    t = run.time[-1] - limit / stiffness / belt
    assert run.position[-1, 0] == pytest.approx(0.1 + belt / 10.0 * np.sin(10.0 * t), abs=1e-8)
    assert run.state[1, 0] == STICK and run.state[-1, 0] == SLIP
    energy = run.samples.energy
    assert energy[-1, 2] == pytest.approx(
        limit * belt * t + 0.5 * 0.1 * limit, rel=1e-6
    )  # what the belt puts in
    assert numerical_share(run) < 1e-8


@pytest.mark.parametrize(
    "friction", ["set-valued", StickElement(1e5), StickElement(1e5, 1e3), SaturatedFriction(1e-3)]
)
def test_falling_friction_under_compliant_contact_closes_the_ledger(friction):
    belt = LinearSystem(
        [1.0, 1.0],
        stiffness=[100.0, 0.0],
        force=[0.0, -20.0],
        contacts=[
            Contact(
                "belt",
                normal=[0, 1.0],
                tangents=[1.0, 0],
                tangential_rate=-0.5,
                friction=Stribeck(0.5, 0.2, 0.1),
            )
        ],
    )
    run = run_of(belt, 0.25, Regularised(CompliantNormal(1e5, 300.0), friction))
    assert numerical_share(run) < 1e-6
    assert run.ledger.closes(1e-12)
    assert STICK in run.state[:, 0] and SLIP in run.state[:, 0]


def test_a_patch_shares_the_normal_force_of_its_contact():
    patch = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -GRAVITY],
        velocity=[1.0, 0.0],
        position=[0.0, -GRAVITY / 1e5],
        penetration=1.0,
        contacts=[
            Contact("floor", normal=[0.0, 1.0]),
            FrictionElement("patch", tangents=[1.0, 0.0], limit=0.5, shares={"floor": 0.2}),
        ],
    )
    run = run_of(patch, 0.5, Regularised(CompliantNormal(1e5, 10.0)))
    assert run.position[-1, 0] == pytest.approx(1.0 / (2.0 * (0.5 + 0.2 * GRAVITY)), rel=1e-6)


def test_two_sided_constraints_hold_and_the_pendulum_rebounds():
    pendulum = FunctionSystem(
        [1.0, 0.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -GRAVITY]),
        stiff=False,
        potential=lambda q: GRAVITY * q[1],
        constraints=[Constraint("rod", offset=lambda t, q: q @ q - 1.0, direction=lambda t, q: 2.0 * q)],
        contacts=[Contact("wall", gap=lambda t, q: q[0], normal=[1.0, 0.0])],
    )
    run = run_of(pendulum, 0.9, Regularised(CompliantNormal(1e5, 2.0 * 0.25 * np.sqrt(1e5))))
    assert np.abs(np.sum(run.position**2, axis=1) - 1.0).max() < 1e-13
    before, after = -run.velocity[:, 0].min(), run.velocity[:, 0].max()
    assert before == pytest.approx(np.sqrt(2.0 * GRAVITY), rel=1e-4)
    assert after / before == pytest.approx(restitution(0.25), rel=1e-3)
    assert numerical_share(run) < 1e-6


@pytest.mark.parametrize("friction", ["set-valued", StickElement(1e4, 50.0)])
def test_a_box_in_space_bounces_and_keeps_its_books(friction):
    model = Spatial(gravity=(0.0, 0.0, -GRAVITY))
    box = model.body(
        "box",
        mass=1.0,
        inertia=(0.01, 0.02, 0.025),
        at=(0.0, 0.0, 0.2),
        orientation=(0.98, 0.1, 0.15, 0.05),
        velocity=(0.5, 0.0, 0.0),
        spin=(1.0, 2.0, 0.5),
    )
    floor = model.wall("floor", normal=(0.0, 0.0, 1.0))
    for number, corner in enumerate(box.corners(0.3, 0.2, 0.1), start=1):
        model.contact(corner, floor, friction=0.4, name=f"corner {number}")
    run = run_of(model.build(), 0.35, Regularised(CompliantNormal(1e5, 60.0), friction, tolerance=1e-8))
    assert np.abs(np.linalg.norm(run.position[:, 3:7], axis=1) - 1.0).max() < 1e-7
    momentum = run.impulse[:, :, 0].sum() - GRAVITY * 0.35
    assert run.velocity[-1, 2] == pytest.approx(momentum, abs=1e-6)
    assert sum(contact.closings for contact in penetration_statistics(run).contacts) >= 2
    assert numerical_share(run) < 1e-6


def test_a_run_cut_anywhere_goes_on_bit_for_bit():
    system = block(velocity=1.0)
    scheme = Regularised(CompliantNormal(1e4, 50.0), StickElement(1e4, 10.0), tolerance=1e-6)
    snapshot = scheme.init(system)
    for _ in range(20):
        snapshot = scheme.step(system, snapshot, 0.5).after
    assert snapshot.time < 0.25
    fresh = Regularised(CompliantNormal(1e4, 50.0), StickElement(1e4, 10.0), tolerance=1e-6)
    copied = replace(snapshot, memory=snapshot.memory.copy(), position=snapshot.position.copy())
    while snapshot.time < 0.5:
        snapshot, copied = scheme.step(system, snapshot, 0.5).after, fresh.step(system, copied, 0.5).after
        for name in ("time", "position", "velocity", "impulse", "sums", "memory"):
            assert np.array_equal(getattr(snapshot, name), getattr(copied, name))


def test_steps_end_at_samples_and_costs_are_told():
    scheme = Regularised(CompliantNormal(1.0, 0.2), sample=0.3)
    run = run_of(falling_mass(restitution=0.5), 1.5, scheme)
    for k in range(6):
        assert np.min(np.abs(run.time - 0.3 * k)) < 1e-14
    audit = run.about["audit"]
    assert "right-hand sides" in audit["cost"]
    assert "is not used" in audit["restitution"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"normal": 1e5}, "CompliantNormal"),
        ({"normal": CompliantNormal(1e5), "friction": "coulomb"}, "set-valued"),
        ({"normal": CompliantNormal(1e5), "method": "lsoda"}, "radau"),
        ({"normal": CompliantNormal(1e5), "tolerance": 0.0}, "tolerance"),
        ({"normal": CompliantNormal(1e5), "sample": -1.0}, "sample"),
    ],
)
def test_wrong_options_are_refused(options, said):
    with pytest.raises(InvalidModel, match=said):
        Regularised(**options)


def test_laws_that_do_not_fit_the_contacts_are_refused():
    with pytest.raises(InvalidModel, match="stiffness of the normal law has shape"):
        Regularised(CompliantNormal([1e5, 1e5, 1e5])).init(falling_mass())
