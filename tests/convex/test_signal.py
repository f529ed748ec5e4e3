"""Jumps, differential measure and variation of signals whose values are known by hand (B5)."""

import numpy as np
import pytest

from klapper.convex import PiecewiseSignal

STEP = PiecewiseSignal([0.0, 1.0, 1.0, 2.0], [[0.0], [0.0], [1.0], [1.0]])
SINE = PiecewiseSignal.from_pieces([0.0, np.pi], [lambda t: np.sin(t)[:, None]], samples=2001)


def test_a_unit_step_has_one_atom_and_the_variation_one():
    assert STEP.atom(1.0).tolist() == [1.0]
    assert STEP.variation() == 1.0
    assert STEP.before(1.0).tolist() == [0.0] and STEP.after(1.0).tolist() == [1.0]
    times, heights = STEP.atoms()
    assert times.tolist() == [1.0] and heights.tolist() == [[1.0]]
    assert STEP.atom(0.7).tolist() == [0.0]


def test_measure_counts_both_ends():
    assert STEP.measure(1.0, 1.0).tolist() == [1.0]
    assert STEP.measure(0.0, 0.999).tolist() == [0.0]
    assert STEP.measure(1.0, 1.5).tolist() == [1.0]
    assert STEP.measure(1.001, 1.5).tolist() == [0.0]


def test_measure_is_additive_over_disjoint_sets():
    signal = SINE + STEP
    parts = signal.measure(0.2, 0.7) + signal.measure(0.7, 2.5) - signal.atom(0.7)
    assert np.allclose(parts, signal.measure(0.2, 2.5), atol=1e-15)


def test_variation_is_additive_with_the_smooth_part():
    """Step plus half a sine wave: 1 + 2, and the measure is the sum of both."""
    assert SINE.variation() == pytest.approx(2.0, rel=1e-6)
    total = SINE + STEP
    assert total.variation() == pytest.approx(3.0, rel=1e-6)
    assert total.atom(1.0).tolist() == [1.0]
    assert total.measure(0.5, 1.5)[0] == pytest.approx(np.sin(1.5) - np.sin(0.5) + 1.0, rel=1e-6)


def test_variation_of_a_curve_is_its_length_to_second_order():
    errors = []
    for samples in (11, 21, 41):
        circle = PiecewiseSignal.from_pieces(
            [0.0, 2.0 * np.pi], [lambda t: np.column_stack([np.cos(t), np.sin(t)])], samples=samples
        )
        errors.append(2.0 * np.pi - circle.variation())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.allclose(orders, 2.0, atol=0.02)


def test_a_signal_is_its_smooth_part_plus_its_jumps():
    signal = SINE + STEP
    smooth, jumps = signal.smooth_part(), signal.jump_part()
    assert np.allclose(smooth.values + jumps.values, signal.values, atol=1e-15)
    assert smooth.atoms()[0].size == 0
    assert jumps.variation() == pytest.approx(1.0, abs=1e-12)
    assert smooth.variation() + jumps.variation() == pytest.approx(signal.variation(), rel=1e-12)


def test_jump_in_the_plane_has_the_length_of_its_step():
    bounce = PiecewiseSignal([0.0, 0.5, 0.5, 1.0], [[1.0, -2.0], [1.0, -2.0], [4.0, 2.0], [4.0, 2.0]])
    assert bounce.variation() == 5.0


def test_integral_weighs_atoms_by_the_value_there():
    """∫ t dv = 1 · 1 for the step, ∫ t d(sin t) = [t sin t + cos t] = -2 over half a wave."""
    assert STEP.integral(lambda t: t[:, None]) == 1.0
    assert SINE.integral(lambda t: t[:, None]) == pytest.approx(-2.0, rel=1e-5)


def test_the_velocity_of_a_bouncing_ball_jumps_by_a_geometric_series():
    """Kinetic energy lost in the impacts: -½ m Σ (v⁺ + v⁻)(v⁺ - v⁻) with v⁺ = -e v⁻."""
    gravity, restitution, speed, time = 9.81, 0.8, 3.0, 0.0
    breaks, pieces = [0.0], []
    for _ in range(4):
        flight = 2.0 * speed / gravity
        pieces.append(lambda t, v=speed, t0=time: (v - gravity * (t - t0))[:, None])
        time, speed = time + flight, restitution * speed
        breaks.append(time)
    signal = PiecewiseSignal.from_pieces(breaks, pieces, samples=5)
    times, heights = signal.atoms()
    assert np.allclose(times, breaks[1:-1])
    assert np.allclose(heights[:, 0], 3.0 * restitution ** np.arange(3) * (1.0 + restitution), rtol=1e-12)
    assert signal.smooth_part().variation() == pytest.approx(gravity * time, rel=1e-12)


def test_a_signal_is_constant_beyond_its_ends_and_may_jump_at_its_start():
    started = PiecewiseSignal([0.0, 0.0, 1.0], [[0.0], [2.0], [2.0]])
    assert started.before(0.0).tolist() == [0.0] and started.after(0.0).tolist() == [2.0]
    assert started.before(-5.0).tolist() == [0.0] and started.after(9.0).tolist() == [2.0]
    assert started.measure(-1.0, 3.0).tolist() == [2.0]
    assert PiecewiseSignal([0.0], [[3.0]]).variation() == 0.0


def test_common_jumps_add_up_or_cancel():
    total = STEP + STEP
    assert total.atom(1.0).tolist() == [2.0] and total.variation() == 2.0
    cancelled = STEP + PiecewiseSignal(STEP.times, -STEP.values)
    assert cancelled.variation() == 0.0 and cancelled.atoms()[0].size == 0
