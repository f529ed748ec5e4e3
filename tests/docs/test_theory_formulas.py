"""Formulas of the theory pages that no other test looks at, checked with numpy alone."""

import numpy as np
import pytest


def test_implicit_euler_takes_the_energy_of_the_changes_of_a_step() -> None:
    """theory/time_stepping.md: ½ Δv·M Δv + ½ Δq·K Δq per step."""
    generator = np.random.default_rng(1)
    half = generator.normal(size=(2, 3, 3))
    mass, stiffness = (part @ part.T + np.eye(3) for part in half)
    q, v, h = generator.normal(size=3), generator.normal(size=3), 0.05
    after = np.linalg.solve(mass + h**2 * stiffness, mass @ v - h * stiffness @ q)
    moved = q + h * after

    def energy(q: np.ndarray, v: np.ndarray) -> float:
        return 0.5 * v @ mass @ v + 0.5 * q @ stiffness @ q

    taken = 0.5 * (after - v) @ mass @ (after - v) + 0.5 * (moved - q) @ stiffness @ (moved - q)
    assert energy(q, v) - energy(moved, after) == pytest.approx(taken, rel=1e-12)


def test_implicit_euler_damps_by_half_omega_h() -> None:
    """theory/time_stepping.md: a damping ratio of ω h / 2 for small ω h."""
    growth = np.abs(np.linalg.eigvals(np.linalg.inv([[1.0, -1e-3], [1e-3, 1.0]]))).max()
    assert -np.log(growth) / 1e-3 == pytest.approx(0.5e-3, rel=1e-5)


def test_a_rotor_is_in_resonance_with_gravity_at_the_printed_speed() -> None:
    """theory/rotors.md: det(−Ω² + iΩ ΩG + K_stat) vanishes at Ω² = ω₁² ω₂² / (2 (ω₁² + ω₂²))."""
    first, second = 30.0, 47.0
    speed = first * second / np.sqrt(2.0 * (first**2 + second**2))
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    gyroscopic, centrifugal = turn - turn.T, turn.T @ turn
    dynamic = (
        -(speed**2) * np.eye(2)
        + 1j * speed**2 * gyroscopic
        + np.diag([first**2, second**2])
        - speed**2 * centrifugal
    )
    assert abs(np.linalg.det(dynamic)) < 1e-9 * first**2 * second**2


def test_sliding_in_a_compliant_wedge_has_the_printed_frequencies() -> None:
    """theory/regularisation.md: ω² = c/m (1 ± √(cos²α − μ² sin²α)), from the directions of both walls."""
    angle, friction, stiffness, mass = 0.7, 0.4, 1e5, 2.0
    normals = np.array([[0.0, 1.0], [np.sin(angle), -np.cos(angle)]])
    tangents = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    signs = (-1.0, 1.0)  # sliding to opposite sides in the two contacts of a disc that turns
    matrix = sum(
        stiffness * np.outer(n + sign * friction * t, n)
        for n, t, sign in zip(normals, tangents, signs, strict=True)
    )
    found = np.sort(np.linalg.eigvals(matrix / mass).real)
    root = np.sqrt(np.cos(angle) ** 2 - friction**2 * np.sin(angle) ** 2)
    np.testing.assert_allclose(found, stiffness / mass * np.array([1.0 - root, 1.0 + root]), rtol=1e-12)


def test_the_gradient_of_the_gap_over_a_segment_is_its_normal_with_shares() -> None:
    """theory/large_strains.md: g = det(a, x − y₁)/|a|, ∇g = (n, −(1 − ξ) n, −ξ n)."""
    points = np.array([0.3, 0.8, -0.2, 0.1, 1.1, 0.4])

    def gap(points: np.ndarray) -> float:
        x, first, second = points.reshape(3, 2)
        a, d = second - first, x - first
        return (a[0] * d[1] - a[1] * d[0]) / np.hypot(*a)

    x, first, second = points.reshape(3, 2)
    a = second - first
    normal = np.array([-a[1], a[0]]) / np.hypot(*a)
    share = (x - first) @ a / (a @ a)
    expected = np.concatenate([normal, -(1.0 - share) * normal, -share * normal])
    steps = 1e-6 * np.eye(6)
    found = [(gap(points + step) - gap(points - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_polygon_of_friction_misses_direction_and_dissipation_by_what_is_said() -> None:
    """theory/complementarity.md: up to π/r in direction and 1 − cos(π/r) in dissipation."""
    vertices = 8
    corners = np.exp(2j * np.pi * np.arange(vertices) / vertices)
    directions = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 10_001))
    best = corners[np.argmax(np.real(np.outer(directions.conj(), corners)), axis=1)]
    assert np.abs(np.angle(best / directions)).max() == pytest.approx(np.pi / vertices, rel=1e-3)
    taken = np.real(directions.conj() * best)
    assert 1.0 - taken.min() == pytest.approx(1.0 - np.cos(np.pi / vertices), rel=2e-3)
