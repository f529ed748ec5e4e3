"""The books of energy-momentum steps: work of loads, damping and friction from closed forms, and nothing left over."""

import numpy as np
import pytest

from klapper.mechanics import Contact, FunctionSystem, LinearSystem
from klapper.schemes import EnergyMomentum, HardContact
from klapper.simulation import simulate


def test_the_work_of_a_load_that_depends_on_the_place_is_that_of_its_middle():
    """F = 2 − 4 q along the way: F(q̄) Δq = 2 Δq − 2 Δ(q²), which adds up to that between both ends."""
    mass = FunctionSystem([0.7], [0.3], mass=np.eye(1), force=lambda t, q, v: 2.0 - 4.0 * q)
    run = simulate(mass, 1.0, EnergyMomentum(0.1), progress=False)
    q = run.position[:, 0]
    assert run.ledger.loads[-1] == pytest.approx(
        2.0 * (q[-1] - q[0]) - 2.0 * (q[-1] ** 2 - q[0] ** 2), abs=1e-12
    )
    assert run.ledger.numerical[-1] == pytest.approx(0.0, abs=1e-12)


def test_what_a_damper_takes_that_grows_with_the_place_is_booked_at_the_middle():
    """c = 1 + q² takes h (1 + q̄²) v̄² in every step."""
    mass = FunctionSystem(
        [0.7],
        [0.3],
        mass=np.eye(1),
        force=lambda t, q, v: -4.0 * q - (1.0 + q**2) * v,
        potential=lambda q: 2.0 * float(q @ q),
        damping_power=lambda t, q, v: float((1.0 + q**2) @ v**2),
    )
    run = simulate(mass, 1.0, EnergyMomentum(0.1), progress=False)
    q = run.position[:, 0]
    middle, speed = 0.5 * (q[1:] + q[:-1]), np.diff(q) / 0.1
    assert run.ledger.damping[-1] == pytest.approx(0.1 * np.sum((1.0 + middle**2) * speed**2), abs=1e-9)
    assert run.ledger.numerical[-1] == pytest.approx(0.0, abs=1e-9)


def test_friction_takes_the_kinetic_energy_of_a_block_that_stops():
    """Nothing numerical is left: 4.5 J = μ m g s."""
    floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)
    block = LinearSystem([1.0, 1.0], force=[0.0, -10.0], velocity=[3.0, 0.0], contacts=[floor])
    run = simulate(block, 1.5, EnergyMomentum(0.01, contact=HardContact()), progress=False)
    assert run.velocity[-1, 0] == pytest.approx(0.0, abs=1e-9)
    assert run.ledger.friction[-1] == pytest.approx(4.5, abs=1e-9)
    assert run.ledger.friction[-1] == pytest.approx(3.0 * run.position[-1, 0], abs=1e-9)
    assert run.ledger.numerical[-1] == pytest.approx(0.0, abs=1e-9)
