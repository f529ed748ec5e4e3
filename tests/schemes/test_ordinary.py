"""The ordinary integrator against nonsmooth ones: rocking beam and rigid rocking, Waltersberger Example 5.7, B38."""

import numpy as np
import pytest
from rocking_beam import modes, rocking_beam

from klapper.contact_states import IMPACT
from klapper.mechanics import Constant, Contact, Harmonic, InvalidModel, LinearSystem
from klapper.results import Run
from klapper.schemes import Moreau
from klapper.schemes.event_driven import EventDriven
from klapper.schemes.ordinary import Ordinary
from klapper.simulation import simulate

PRINTED = [27.194, 74.948, 146.89, 242.74, 362.45, 505.98, 673.25, 864.17]  # Hz
TOUCH = 0.0985  # s: just after the right edge has been hit for the first time
EDGES = [0.4, 0.6]


def lift(run: Run, row: np.ndarray) -> tuple[float, float]:
    """Largest height [m] at a place after the first touch, and when [s]."""
    late = run.time > TOUCH
    height = run.position[late] @ row
    return float(height.max()), float(run.time[late][np.argmax(height)])


def test_the_free_beam_has_the_printed_frequencies() -> None:
    found, _ = modes(10)
    np.testing.assert_allclose(found[2:], PRINTED, rtol=1e-3)
    assert np.all(found[:2] < 1e-2)


def test_ordinary_integration_does_not_rock_where_nonsmooth_methods_do() -> None:
    """Three modes, contacts at both edges: w_A < 0.07 mm against 6.95 mm (implicit Euler, h = 20 µs, t = 0.172 s)."""
    system, left, _ = rocking_beam(3, EDGES)
    stuck, _ = lift(simulate(system, 0.25, Ordinary()), left)
    assert stuck < 0.07e-3
    height, when = lift(simulate(system, 0.25, EventDriven()), left)
    assert height == pytest.approx(6.95e-3, rel=0.005)
    assert when == pytest.approx(0.172, abs=0.004)
    stepped, _ = lift(simulate(system, 0.25, Moreau(1e-5)), left)
    assert stepped == pytest.approx(height, rel=0.002)


def test_ordinary_integration_rocks_with_more_modes() -> None:
    """With six modes the wave from the impact reaches the other edge and pulls it off: 7.22 mm."""
    system, left, _ = rocking_beam(6, EDGES)
    assert lift(simulate(system, 0.25, Ordinary()), left)[0] == pytest.approx(7.22e-3, rel=0.01)


def test_25_contacts_on_three_modes_move_like_the_two_edges() -> None:
    """More contacts than coordinates do not fail and give the motion of the two edges."""
    system, left, _ = rocking_beam(3, list(np.linspace(0.4, 0.6, 25)))
    run = simulate(system, 0.25, EventDriven())
    pair, _, _ = rocking_beam(3, EDGES)
    assert lift(run, left)[0] == pytest.approx(lift(simulate(pair, 0.25, EventDriven()), left)[0], rel=1e-6)
    assert run.samples.gap.min() > -1e-12


def test_a_rigid_bar_rocks_in_closed_form_until_it_ends() -> None:
    """Two modes are a rigid bar: ω⁺/ω⁻ = 0.785714, t_B = 0.0975 s, and the infinitely many rocks end at 0.813 s.

    With r = ω⁺/ω⁻ and the angle at the start θ₀ = 0.05, α = g d/(L²/12 + d²): the first fall takes √(2 θ₀/α), each rock
    after it 2 r^k √(2 θ₀/α). Sections stay plane, so their rotary inertia adds I/A to L²/12.
    """
    arm, gyration = 0.1, 1.0 / 12.0 + (0.01**4 / 12) / 0.02**2
    ratio = (gyration - arm**2) / (gyration + arm**2)
    first = np.sqrt(2 * 0.05 / (9.81 * arm / (gyration + arm**2)))
    system, left, right = rocking_beam(2, EDGES, damping=(0.0, 0.0))
    run = simulate(system, 1.0, EventDriven(sample=1e-3))
    hits = run.time[np.any(run.samples.state == IMPACT, axis=1)]
    powers = ratio ** np.arange(1, len(hits))
    expected = first * (1 + 2 * np.concatenate([[0.0], np.cumsum(powers)]))
    np.testing.assert_allclose(hits, expected, rtol=1e-9)
    assert ratio == pytest.approx(0.785714, rel=1e-4)
    assert hits[-1] == pytest.approx(0.813, abs=0.002)
    heights = [6.1735e-3, 3.8112e-3, 2.3528e-3, 1.4525e-3]
    for k, height in enumerate(heights):
        rock = (run.time >= hits[k]) & (run.time <= hits[k + 1])
        row = left if k % 2 == 0 else right
        assert (run.position[rock] @ row).max() == pytest.approx(height, rel=1e-3)
    assert "impacts accumulate" in run.about["audit"]
    assert np.abs(run.velocity[-1]).max() == 0.0


def test_the_rigid_bar_is_clamped_by_ordinary_integration() -> None:
    system, left, _ = rocking_beam(2, EDGES)
    run = simulate(system, 1.0, Ordinary())
    assert lift(run, left)[0] < 1e-12
    assert run.ledger.closes(1e-12)


def test_a_single_block_with_friction_moves_as_in_event_driven_integration() -> None:
    """One contact leaves nothing to complementarity."""
    system = LinearSystem(
        [1.0, 1.0],
        force=Harmonic([4.0, 0.0], 6.0) + Constant([0.0, -9.81]),
        velocity=[0.5, 0.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)],
    )
    ordinary, exact = simulate(system, 2.0, Ordinary()), simulate(system, 2.0, EventDriven())
    np.testing.assert_allclose(ordinary.position[-1], exact.position[-1], atol=1e-10)


def test_a_contact_is_released_when_it_pulls() -> None:
    """A mass on a table that falls away with a > g: m (g − a(t)) = 0 at a = g."""
    system = LinearSystem(
        [1.0],
        force=lambda t: np.array([-9.81 + 30.0 * t]),
        contacts=[Contact("table", normal=[1.0])],
    )
    run = simulate(system, 1.0, Ordinary())
    flight = 1.0 - 9.81 / 30.0
    assert run.position[-1, 0] == pytest.approx(30.0 * flight**3 / 6.0, abs=1e-9)


def test_restitution_and_impact_laws_are_refused() -> None:
    system = LinearSystem([1.0], position=[1.0], contacts=[Contact("floor", normal=[1.0], restitution=0.5)])
    with pytest.raises(InvalidModel, match=r"contact 'floor' has restitution 0.5.*EventDriven"):
        Ordinary().init(system)
