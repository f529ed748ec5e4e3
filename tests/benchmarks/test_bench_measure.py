import numpy as np
import pytest
from scipy import sparse

from benchmarks import measure, problems


def _batch(matrix: list[list[float]], offset: list[float]) -> problems.LinearBatch:
    return problems.LinearBatch("by hand", np.array([matrix]), np.array([offset]))


def test_linear_residual_vanishes_at_the_solution_only() -> None:
    # [2 1; 1 2] x + (-5, -6): both active, x = (4/3, 7/3)
    batch = _batch([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    exact = np.array([[4.0 / 3.0, 7.0 / 3.0]])
    assert measure.linear_residuals(batch, exact)[0] < 1e-15
    assert measure.linear_residuals(batch, exact + np.array([[1e-4, 0.0]]))[0] > 1e-5
    assert measure.linear_residuals(batch, np.array([[np.nan, 0.0]]))[0] == np.inf


def test_linear_residual_sees_a_negative_unknown_and_a_negative_slack() -> None:
    batch = _batch([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0])
    assert measure.linear_residuals(batch, np.array([[0.0, 1.0]]))[0] == 0.0
    assert measure.linear_residuals(batch, np.array([[-1.0, 1.0]]))[0] == 1.0
    assert measure.linear_residuals(batch, np.array([[0.0, 0.0]]))[0] == 1.0


def _three_contacts() -> tuple[sparse.bsr_array, np.ndarray, np.ndarray, np.ndarray]:
    """W = I, μ = 0.5: one contact sticks, one slips, one opens; the forces follow by hand."""
    offset = np.array([-2.0, 0.6, -0.8, -1.0, 3.0, 4.0, 1.0, 5.0, 0.0])
    forces = np.array([2.0, -0.6, 0.8, 1.0, -0.3, -0.4, 0.0, 0.0, 0.0])
    return sparse.bsr_array(np.eye(9), blocksize=(3, 3)), offset, np.full(3, 0.5), forces


def test_friction_residual_vanishes_for_stick_slip_and_open_contacts() -> None:
    delassus, offset, friction, forces = _three_contacts()
    assert measure.friction_residual(delassus, offset, friction, forces) < 1e-15


@pytest.mark.parametrize("component", range(9))
def test_friction_residual_sees_every_component(component: int) -> None:
    delassus, offset, friction, forces = _three_contacts()
    forces[component] += 1e-3
    assert measure.friction_residual(delassus, offset, friction, forces) > 1e-5


def test_friction_residual_of_no_answer_is_infinite() -> None:
    delassus, offset, friction, forces = _three_contacts()
    assert measure.friction_residual(delassus, offset, friction, np.full_like(forces, np.nan)) == np.inf


def test_contact_states_are_shares_of_all_contacts() -> None:
    delassus, offset, friction, forces = _three_contacts()
    pile = problems.SpherePile(delassus, offset, friction, sparse.csr_array((9, 6)), 1)
    states = measure.contact_states(pile, forces)
    assert (states.open, states.stick, states.slip) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_projection_on_the_cone_is_the_nearest_point() -> None:
    """p = P_K(z) is characterised by p ∈ K, z − p ∈ K°, p ⊥ z − p."""
    generator = np.random.default_rng(0)
    points, friction = generator.standard_normal((200, 3)), generator.uniform(0.1, 1.0, 200)
    projected = measure.project_on_cone(points, friction)
    rest = points - projected
    assert np.all(np.linalg.norm(projected[:, 1:], axis=1) <= friction * projected[:, 0] + 1e-14)
    assert np.all(friction * np.linalg.norm(rest[:, 1:], axis=1) <= -rest[:, 0] + 1e-14)
    np.testing.assert_allclose(np.einsum("ij,ij->i", projected, rest), 0.0, atol=1e-14)


def test_peak_memory_sees_a_large_array() -> None:
    size = 64 * 2**20
    peak = measure.peak_memory(lambda: np.ones(size // 8).sum())
    assert 0.8 * size < peak < 1.5 * size


def test_the_growth_exponent_of_a_power_is_the_power() -> None:
    sizes = np.array([1.0, 10.0, 100.0])
    assert measure.growth_exponent(sizes, 3.0 * sizes) == pytest.approx(1.0)
    assert measure.growth_exponent(sizes, 3.0 * sizes**2) == pytest.approx(2.0)


def test_a_time_lost_in_noise_has_no_growth_exponent() -> None:
    """A cost is the difference of two measured times and may come out below zero on a busy machine."""
    assert np.isnan(measure.growth_exponent(np.array([5.0, 10.0]), np.array([-1.9e-5, 4.5e-6])))
