"""Harmonic balance against closed forms, shooting, and the conservation of energy."""

from math import acos, pi, sin, sqrt

import numpy as np
import pytest
from harmonic_models import STIFFNESS, chain, every_kind, impact_oscillator, oscillator, pad
from scipy.optimize import fsolve

from klapper.analysis import harmonic_response, periodic_motion
from klapper.analysis.harmonic.response import HarmonicResponse
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics import (
    Constant,
    Constraint,
    Contact,
    FrictionElement,
    FunctionOfTime,
    Harmonic,
    LinearSystem,
    State,
)
from klapper.schemes import Moreau
from klapper.simulation import simulate


def den_hartog(omega: float, limit: float) -> float:
    """Amplitude of a unit mass on a unit spring with dry friction under a unit force that never stops it (1931)."""
    free = 1.0 / (1.0 - omega**2)
    damped = sin(pi / omega) / (omega * (1.0 + np.cos(pi / omega)))
    return sqrt(free**2 - (limit * damped) ** 2)


def order_of(harmonics: list[int], errors: list[float]) -> float:
    """Exponent p of errors ~ (H + 1)^(−p)."""
    return -float(np.polyfit(np.log(np.array(harmonics) + 1.0), np.log(errors), 1)[0])


# Linear systems


@pytest.mark.parametrize("contacts", [[], [Contact("far", normal=[1.0, 0, 0], gap=50.0)]])
def test_without_contact_the_response_is_the_linear_one(contacts: list) -> None:
    load = Constant([0.3, 0.0, 0.0]) + Harmonic([1.0, 0.0, 0.5], 1.3, 0.4) + Harmonic([0.0, 0.2, 0.0], 2.6)
    found = harmonic_response(chain(force=load, contacts=contacts), 0.35, harmonics=4)
    omega = 2.0 * np.pi * 0.35
    forces = np.zeros((5, 3), dtype=complex)
    forces[0], forces[1], forces[2] = [0.3, 0, 0], np.exp(0.4j) * np.array([1.0, 0, 0.5]), [0, 0.2, 0]
    for k in range(5):
        z = (1.0 + 0.05j * k * omega) * STIFFNESS - (k * omega) ** 2 * np.eye(3)
        assert found.amplitudes[k] == pytest.approx(np.linalg.solve(z, forces[k]), abs=1e-13)
    assert found.residual.balance < 1e-13
    assert found.work.put_in == pytest.approx(found.work.taken, rel=1e-12)
    shown = found.displacement("q2", samples=11)
    turns = np.exp(2j * np.pi * np.multiply.outer(np.arange(11), np.arange(5)) / 11)
    direct = (turns @ found.amplitudes[:, 1]).real
    assert shown == pytest.approx(direct, abs=1e-13)


def test_contacts_that_never_open_or_slip_are_constraints() -> None:
    held = chain(constraints=[Constraint("held", direction=[0, 1.0, 0])])
    stuck = chain(contacts=[FrictionElement("f", tangents=[[0, 1.0, 0]], limit=50.0)])
    pressed = chain(
        force=Constant([0.0, -9.0, 0.0]) + Harmonic([1.0, 0.0, 0.5], 1.3),
        contacts=[Contact("n", normal=[0, 1.0, 0])],
    )
    wanted = harmonic_response(held, harmonics=3).amplitudes
    for system, state in ((stuck, STICK), (pressed, STICK)):
        found = harmonic_response(system, harmonics=3)
        assert found.amplitudes == pytest.approx(wanted, abs=1e-6)  # the least undetermined forces cost 1e-7
        assert np.all(found.state == state)


def test_a_given_course_is_played_at_every_frequency() -> None:
    wave = FunctionOfTime(lambda t: np.array([np.cos(2.0 * t) ** 3]))  # orders 1 and 3 of 2 rad/s
    system = LinearSystem([1.0], stiffness=[1.0], damping=[0.1], force=wave)
    found = harmonic_response(system, 0.3, harmonics=5, period=pi)
    omega = 2.0 * pi * 0.3
    for k, force in ((1, 0.75), (3, 0.25)):
        wanted = force / (1.0 - (k * omega) ** 2 + 0.1j * k * omega)
        assert found.amplitudes[k, 0] == pytest.approx(wanted, rel=1e-12)
    assert found.residual.load < 1e-12
    assert harmonic_response(system, 0.3, harmonics=2, period=pi).residual.load == pytest.approx(
        0.25, rel=1e-6
    )


# Friction


@pytest.mark.parametrize(("omega", "limit"), [(1.5, 0.3), (0.8, 0.3), (0.7, 0.2)])
def test_sliding_without_stops_converges_to_den_hartog_with_order_one(omega: float, limit: float) -> None:
    harmonics = [5, 9, 17, 33]
    exact = den_hartog(omega, limit)
    found = [harmonic_response(oscillator(omega, limit), harmonics=h) for h in harmonics]
    errors = [abs(one.amplitude("x") / exact - 1.0) for one in found]
    assert order_of(harmonics, errors) == pytest.approx(1.0, abs=0.1)
    assert errors[-1] < 2e-3
    assert found[-1].work.friction[0] == pytest.approx(4.0 * limit * exact, rel=2e-3)  # force times way


@pytest.mark.parametrize(("omega", "limit", "damping"), [(0.3, 0.5, 0.02), (0.5, 0.7, 0.05)])
def test_stick_and_slip_converge_to_shooting(omega: float, limit: float, damping: float) -> None:
    system = oscillator(omega, limit, damping)
    near = harmonic_response(system, harmonics=32)
    motion = periodic_motion(system, State(0.0, near.position[0], near.velocity[0]), settle=5)
    assert motion.stable
    times = np.linspace(0.0, motion.period, 400, endpoint=False)
    exact = motion.run.position_at(times)[:, 0]
    harmonics, errors, slips = [8, 16, 32, 64], [], []
    for h in harmonics:
        found = harmonic_response(system, harmonics=h)
        error = found.displacement("x", samples=400) - exact
        errors.append(float(np.linalg.norm(error) / np.linalg.norm(exact)))
        slips.append(found.shares[0, 2])
    assert 1.4 < order_of(harmonics, errors) < 2.4
    assert errors[-1] < 2e-3
    slipping = sum(phase for phase in _slips(motion))
    assert slips[-1] == pytest.approx(slipping, abs=0.02)


def _slips(motion) -> list[float]:
    """Parts of the period between the beginnings and the ends of slips."""
    run = motion.run
    moving = np.abs(run.velocity[:, 0]) > 1e-9
    steps = np.diff(run.time) / (run.time[-1] - run.time[0])
    return [float(s) for s, a, b in zip(steps, moving[:-1], moving[1:], strict=True) if a or b]


def test_what_is_assumed_beyond_the_harmonics_vanishes_with_them() -> None:
    """ε of the dynamic Lagrangian may vary by 16: a small part of the error while it slides, and ever less."""
    omega, limit = 1.5, 0.3
    exact = den_hartog(omega, limit)
    for h in (5, 9, 17, 33):
        system = oscillator(omega, limit)
        one, *others = (
            harmonic_response(system, harmonics=h, tail=t).amplitude("x") for t in (1.0, 0.25, 4.0)
        )
        assert max(abs(other - one) for other in others) < 0.06 * abs(one - exact)
    changes = []
    for h in (8, 16, 32, 64):
        system = oscillator(0.3, 0.5, 0.02)
        one, *others = (
            harmonic_response(system, harmonics=h, tail=t).displacement("x") for t in (1.0, 0.25, 4.0)
        )
        changes.append(max(np.abs(other - one).max() for other in others))
    assert order_of([8, 16, 32, 64], changes) > 0.8
    assert changes[-1] < 4e-3


def jenkins(stiffness: float, limit: float, amplitude: float) -> complex:
    """Describing function [N/m] of a spring in series with dry friction: force over displacement, first harmonic."""
    if stiffness * amplitude <= limit:
        return complex(stiffness)
    turn = acos(1.0 - 2.0 * limit / (stiffness * amplitude))
    real = stiffness / pi * (turn - 0.5 * sin(2.0 * turn))
    loss = 4.0 * limit * (amplitude - limit / stiffness)
    return real + 1j * loss / (pi * amplitude**2)


SLIDER = 1e-9  # kg: as good as none


@pytest.mark.parametrize("amplitude", [0.11, 0.2, 1.0, 5.0])
def test_one_harmonic_of_a_friction_element_on_a_spring_is_its_describing_function(amplitude: float) -> None:
    """The free end is guided; the force of one harmonic is exact, because the harmonics left out see the spring."""
    spring, limit = 10.0, 1.0
    guide = Constraint("guide", direction=[1.0, 0.0], offset=Harmonic(-amplitude, 2.0))
    system = LinearSystem(
        [1.0, SLIDER],
        stiffness=[[spring, -spring], [-spring, spring]],
        force=None,
        contacts=[FrictionElement("slider", tangents=[[0.0, 1.0]], limit=limit)],
        constraints=[guide],
        position=[amplitude, 0.0],
    )
    found = harmonic_response(system, harmonics=1)
    force = -found.contact_amplitudes[1, 0] / amplitude
    assert force == pytest.approx(jenkins(spring, limit, amplitude), rel=1e-5)
    assert found.work.guides == pytest.approx(4.0 * limit * max(amplitude - limit / spring, 0.0), abs=1e-4)


def test_an_oscillator_with_a_friction_damper_solves_its_describing_equation() -> None:
    """m ẍ + c ẋ + k x + (spring and friction) = F cos ωt with one harmonic, the complex equation solved by itself.

    The describing function takes the mass for unmoved by higher harmonics; by the second one it gives way by
    spring / (4 ω² − 1) of what the spring does.
    """
    spring, limit, omega = 0.02, 0.2, 1.005
    system = LinearSystem(
        [1.0, SLIDER],
        damping=[[0.002, 0.0], [0.0, 0.0]],
        stiffness=[[1.0 + spring, -spring], [-spring, spring]],
        force=Harmonic([0.3, 0.0], omega),
        contacts=[FrictionElement("slider", tangents=[[0.0, 1.0]], limit=limit)],
        coordinates=["x", "slider"],
    )

    def equation(parts: np.ndarray) -> list[float]:
        x = complex(*parts)
        left = (1.0 - omega**2 + 0.002j * omega + jenkins(spring, limit, abs(x))) * x - 0.3
        return [left.real, left.imag]

    wanted = complex(*fsolve(equation, [10.0, -10.0], xtol=1e-13))
    assert abs(wanted) > 1.2 * limit / spring  # it slips
    found = harmonic_response(system, harmonics=1)
    assert found.amplitudes[1, 0] == pytest.approx(wanted, rel=spring / (4.0 * omega**2 - 1.0))


def test_friction_in_a_plane_is_the_same_in_every_direction() -> None:
    """A mass between equal springs, driven on a line: turned by 30° it moves on the turned line."""

    def response(angle: float, ratio: float) -> HarmonicResponse:
        across = FrictionElement("f", tangents=np.eye(2), limit=0.3)
        drive = Harmonic([np.cos(angle), ratio * np.sin(angle)], 1.5)
        system = LinearSystem(
            [1.0, 1.0], stiffness=[1.0, 1.0], damping=[0.02] * 2, force=drive, contacts=[across]
        )
        return harmonic_response(system, harmonics=15)

    straight = response(0.0, 1.0).displacement("q1")
    turned = response(pi / 6, 1.0)
    assert turned.displacement("q1") == pytest.approx(np.cos(pi / 6) * straight, abs=1e-8)
    assert turned.displacement("q2") == pytest.approx(np.sin(pi / 6) * straight, abs=1e-8)


def test_a_circular_motion_slides_steadily() -> None:
    """Driven on a circle, a mass slides on one: friction is a force against the velocity, a steady balance."""
    omega, limit = 1.5, 0.3
    drive = Harmonic([1.0, 0.0], omega) + Harmonic([0.0, 1.0], omega, -pi / 2)
    pads = FrictionElement("f", tangents=np.eye(2), limit=limit)
    system = LinearSystem([1.0, 1.0], stiffness=[1.0, 1.0], force=drive, contacts=[pads])
    found = harmonic_response(system, harmonics=3)
    radius = sqrt(1.0 - limit**2) / (omega**2 - 1.0)  # (1 − ω²) r and R at right angles make the unit force
    path = found.position
    assert np.hypot(*path.T) == pytest.approx(np.full(len(path), radius), rel=1e-6)
    assert np.all(found.state == SLIP)
    assert found.work.load == pytest.approx(2.0 * pi * radius * limit, rel=1e-6)


def test_a_belt_that_outruns_the_mass_pulls_it_aside() -> None:
    system = LinearSystem(
        [1.0],
        stiffness=[4.0],
        damping=[0.1],
        force=Harmonic([1.0], 1.0),
        contacts=[FrictionElement("belt", tangents=[[1.0]], limit=0.8, tangential_rate=-5.0)],
    )
    found = harmonic_response(system, harmonics=3)
    assert found.amplitudes[0, 0] == pytest.approx(0.8 / 4.0, rel=1e-6)
    assert found.amplitudes[1, 0] == pytest.approx(1.0 / (3.0 + 0.1j), rel=1e-6)
    assert found.work.friction[0] == pytest.approx(0.8 * 5.0 * 2.0 * pi, rel=1e-6)
    assert found.work.put_in == pytest.approx(found.work.taken, rel=1e-12)


def test_two_pads_side_by_side_share_the_force() -> None:
    one = oscillator(0.8, 0.3)
    parts = [FrictionElement(name, tangents=[[1.0]], limit=0.15) for name in ("left", "right")]
    two = LinearSystem([1.0], stiffness=[1.0], force=Harmonic([1.0], 0.8), contacts=parts, coordinates=["x"])
    wanted, found = (harmonic_response(system, harmonics=9) for system in (one, two))
    assert found.amplitude("x") == pytest.approx(
        wanted.amplitude("x"), rel=1e-4
    )  # what is left out is stiffer
    assert found.force[:, 0, 1] == pytest.approx(found.force[:, 1, 1], abs=1e-6)


def test_friction_follows_a_normal_force_that_changes_over_the_period() -> None:
    """The pad lifts off: friction follows the normal force; the laws hold but for what missing harmonics cost."""
    rough = [harmonic_response(pad(0.2), 0.17, harmonics=h) for h in (5, 20)]
    for found in rough:
        normal, tangential = found.force[:, 0, 0], found.force[:, 0, 1]
        assert np.all(np.abs(tangential) <= 0.3 * normal + 1e-12)
        assert set(np.unique(found.state)) == {OPEN, STICK, SLIP}
        assert found.work.put_in == pytest.approx(found.work.taken, rel=1e-12)
        assert found.shares.sum() == pytest.approx(1.0)
    assert rough[1].residual.friction < 0.3 * rough[0].residual.friction
    assert rough[1].residual.penetration < 0.5 * rough[0].residual.penetration


@pytest.mark.parametrize("kind", ["friction element", "stop", "rough stop", "unsymmetric and guided"])
def test_energy_and_forces_balance_for_every_kind(kind: str) -> None:
    found = harmonic_response(every_kind()[kind], harmonics=6)
    assert found.residual.balance < 1e-12
    assert found.residual.guides < 1e-12
    assert found.work.put_in == pytest.approx(found.work.taken, rel=1e-10)
    lost = float(found.work.friction.sum())
    speed, force = found.sliding, found.force[:, :, 1:]
    in_time = -found.period * float((speed * force).sum(axis=(1, 2)).mean()) if force.size else 0.0
    assert lost == pytest.approx(in_time, abs=1e-9, rel=3e-7)  # mean friction forces are taken 1e-7 less


# Rigid stops


@pytest.mark.parametrize(("omega", "gap", "damping"), [(1.3, 0.5, 0.2), (2.5, 0.0, 0.1)])
def test_a_rigid_stop_converges_to_restitution_one_with_order_one(
    omega: float, gap: float, damping: float
) -> None:
    exact = periodic_motion(impact_oscillator(omega, gap, damping), settle=60)
    lowest = float(exact.run.position[:, 0].min())
    harmonics, errors = [7, 15, 31], []
    for h in harmonics:
        found = harmonic_response(impact_oscillator(omega, gap, damping), harmonics=h)
        errors.append(abs(found.displacement("x").min() / lowest - 1.0))
        lost = abs(found.work.normal[0])
        assert lost < 2e-3 * found.work.load
    assert order_of(harmonics, errors) == pytest.approx(1.0, abs=0.15)


def test_harmonic_balance_does_not_know_restitution() -> None:
    found = [
        harmonic_response(impact_oscillator(1.3, 0.5, 0.2, restitution=e), harmonics=7) for e in (0.0, 1.0)
    ]
    assert found[0].amplitudes == pytest.approx(found[1].amplitudes, abs=0.0)


def test_a_subharmonic_motion_hits_every_second_period() -> None:
    """Beside the motion of one period there is one of two; a run settles to it, and harmonic balance begins there."""
    system = impact_oscillator(4.2, 0.0, 0.1)
    run = simulate(system, 100 * 2.0 * pi / 4.2, Moreau(2.0 * pi / 4.2 / 400), progress=False)
    exact = periodic_motion(system, run, order=2)
    lowest = float(exact.run.position[:, 0].min())
    assert exact.period_ratio == pytest.approx(2.0)
    found = [harmonic_response(system, harmonics=h, order=2, start=run) for h in (10, 20, 40)]
    errors = [abs(one.displacement("x").min() / lowest - 1.0) for one in found]
    assert order_of([10, 20, 40], errors) == pytest.approx(1.0, abs=0.3)
    assert all(one.period == pytest.approx(exact.period) for one in found)
    one = harmonic_response(system, harmonics=10)
    again = harmonic_response(system, harmonics=10, order=2, start=one)
    assert np.abs(again.amplitudes[1::2]).max() < 1e-9
    assert again.amplitudes[::2] == pytest.approx(one.amplitudes, abs=2e-3 * np.abs(one.amplitudes).max())
