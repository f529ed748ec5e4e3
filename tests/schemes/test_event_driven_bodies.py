"""Event-driven integration of rigid bodies and of contacts that depend on each other."""

import numpy as np
import pytest

from klapper.bodies import Planar, Spatial, inertia
from klapper.mechanics import Contact, LinearSystem, Ramp
from klapper.schemes import Moreau
from klapper.schemes.event_driven import EventDriven
from klapper.simulation import simulate

G = 9.81


@pytest.mark.parametrize("coefficients", [(0.3, 0.3), (0.1, 0.5)])
def test_two_feet_slip_together_when_both_limits_are_reached(coefficients: tuple[float, float]) -> None:
    """Friction of two feet on one floor is not unique; slip begins at (μ₁ + μ₂) m g/2, whatever the split before."""
    rate = 2.0
    system = LinearSystem(
        [1.0, 1.0, 0.1],
        force=Ramp([0.0, -G, 0.0], [rate, 0.0, 0.0]),
        contacts=[
            Contact(name, normal=[0.0, 1.0, side], tangents=[1.0, 0.0, 0.0], friction=mu)
            for name, side, mu in zip(("left", "right"), (-0.5, 0.5), coefficients, strict=True)
        ],
    )
    begin = 0.5 * sum(coefficients) * G / rate
    run = simulate(system, begin + 0.3, EventDriven())
    moving = int(np.argmax(run.position[:, 0] > 1e-12))
    assert run.time[moving - 1] == pytest.approx(begin, abs=1e-9)
    if coefficients[0] == coefficients[1]:
        assert run.position[-1, 0] == pytest.approx(rate * 0.3**3 / 6, abs=1e-9)
    assert "forces are not" in run.about["audit"]["contact forces"]


@pytest.mark.parametrize("gravity", [G, 9.7, 9.75, 9.8, 9.85, 9.875])
def test_sliding_block_on_two_corners_stops_and_stays(gravity: float) -> None:
    """A rigid block, lower than it is long, slides to rest: v₀²/(2 μ g), with the load on its front foot.

    At rest its velocity is zero, not round-off, whatever the numbers.
    """
    model = Planar(gravity=(0.0, -gravity))
    block = model.body(
        "block", mass=1.0, inertia=inertia.rectangle(1.0, 0.6, 0.2), at=(0.0, 0.1), velocity=(1.0, 0.0)
    )
    floor = model.wall("floor", normal=(0.0, 1.0))
    for name, corner in zip(("back", "front"), block.corners(0.6, 0.2)[:2], strict=True):
        model.contact(corner, floor, friction=0.2, name=name)
    run = simulate(model.build(), 1.0, EventDriven())
    assert run.position[-1, 0] == pytest.approx(1.0 / (2 * 0.2 * gravity), abs=1e-9)
    assert np.all(run.velocity[-1] == 0.0)
    load = run.samples.impulse[1, :, 0] / run.samples.impulse[1, :, 0].sum()
    assert load[1] - load[0] == pytest.approx(2 * 0.2 * 0.1 / 0.6, abs=1e-9)


def test_a_top_in_space_agrees_with_time_stepping() -> None:
    """Sliding in space with quaternions: a spinning top on its spherical foot; energy books close to 1e-12."""
    from klapper.gallery._tippe_top import Top

    system = Top().system(0.1, 180.0)
    run = simulate(system, 0.05, EventDriven(1e-9))
    errors = []
    for h in (1e-4, 5e-5):
        stepped = simulate(system, 0.05, Moreau(h, compiled=False))
        errors.append(np.abs(stepped.position[-1] - run.position[-1]).max())
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 1e-4
    assert np.abs(run.samples.energy[:, 6]).max() < 1e-11
    assert np.abs(np.linalg.norm(run.position[:, 3:7], axis=1) - 1.0).max() < 1e-14


@pytest.mark.slow
def test_a_thrown_box_comes_to_rest() -> None:
    """Eight corners, restitution and friction in space: every series of impacts ends, and the box lies still."""
    model = Spatial(gravity=(0.0, 0.0, -G))
    box = model.body(
        "box",
        mass=1.0,
        inertia=inertia.box(1.0, 0.2, 0.3, 0.4),
        at=(0.0, 0.0, 0.6),
        velocity=(0.5, 0.0, 0.0),
        spin=(1.0, 2.0, 0.5),
    )
    floor = model.wall("floor", normal=(0.0, 0.0, 1.0))
    for i, corner in enumerate(box.corners(0.2, 0.3, 0.4)):
        model.contact(corner, floor, friction=0.4, restitution=0.2, name=f"corner {i + 1}")
    run = simulate(model.build(), 1.5, EventDriven(1e-9))
    assert np.nanmin(run.samples.gap) > -1e-9
    assert np.all(np.abs(run.velocity[-1]) < 1e-12)
    assert min(abs(run.position[-1, 2] - half) for half in (0.1, 0.15, 0.2)) < 1e-9
    energy = run.samples.energy
    assert energy[-1, 4] + energy[-1, 5] == pytest.approx(
        energy[0, 0] + energy[0, 1] - energy[-1, 1], rel=1e-9
    )
