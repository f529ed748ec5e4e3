"""Contacts as springs: energy, force and tangent are derivatives of each other; friction is refused."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.mechanics import Contact, FrictionElement, FunctionSystem, InvalidModel, LinearSystem
from klapper.schemes import PenaltyContact
from klapper.schemes.direction_slope import direction_slope

SPRINGS = PenaltyContact(2e3)


def bowl(gap=lambda t, q: 1.0 + 0.1 * np.sin(t) - np.hypot(q[0], q[1])) -> FunctionSystem:
    """Two points inside a circle that breathes."""
    return FunctionSystem(
        [0.3, 0.2, -0.4, 0.1],
        np.zeros(4),
        mass=np.eye(4),
        force=lambda t, q, v: -q,
        contacts=[
            Contact("first", gap=gap),
            Contact("second", gap=lambda t, q: 1.0 - np.hypot(q[2], q[3]) ** 2),
        ],
    )


OUTSIDE = np.array([0.9, 0.7, -0.8, 0.9])


def test_the_force_is_that_of_the_energy() -> None:
    system = bowl()
    force = SPRINGS.force(system, 0.3, OUTSIDE)
    for j, unit in enumerate(np.eye(4)):
        ends = [SPRINGS.energy(system, 0.3, OUTSIDE + sign * 1e-6 * unit) for sign in (1, -1)]
        assert -(ends[0] - ends[1]) / 2e-6 == pytest.approx(force[j], rel=1e-6)


def test_the_tangent_is_that_of_the_force() -> None:
    system = bowl()
    tangent = SPRINGS.tangent(system, 0.3, OUTSIDE).toarray()
    for j, unit in enumerate(np.eye(4)):
        ends = [SPRINGS.force(system, 0.3, OUTSIDE + sign * 1e-5 * unit) for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-5, tangent[:, j], atol=2e-2, rtol=1e-4)


def test_a_system_may_give_the_turning_of_its_normals() -> None:
    system = bowl()
    asked = []

    def hessian(t, q, which, weights):
        asked.append((which, weights))
        r = np.hypot(q[0], q[1])
        first = -(np.eye(2) / r - np.outer(q[:2], q[:2]) / r**3)
        return sparse.csr_array(sparse.block_diag([weights[0] * first, -2.0 * weights[1] * np.eye(2)]))

    own = SPRINGS.tangent(system, 0.3, OUTSIDE).toarray()
    system.contact_hessian = hessian
    np.testing.assert_allclose(SPRINGS.tangent(system, 0.3, OUTSIDE).toarray(), own, rtol=1e-6, atol=1e-3)
    assert np.all(asked[0][1] > 0.0)


def test_a_moving_stop_puts_in_what_the_energy_of_the_spring_gains() -> None:
    """With q held, the energy of the spring changes by what the stop puts in."""
    system = bowl()
    ends = [SPRINGS.energy(system, 0.3 + sign * 1e-6, OUTSIDE) for sign in (1, -1)]
    assert SPRINGS.power(system, 0.3, OUTSIDE) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


def test_open_contacts_do_nothing() -> None:
    system = bowl()
    start = system.start.position
    assert SPRINGS.energy(system, 0.0, start) == 0.0
    assert not np.any(SPRINGS.force(system, 0.0, start))
    assert SPRINGS.tangent(system, 0.0, start) is None
    assert SPRINGS.power(system, 0.0, start) == 0.0


def test_impulses_add_up_over_ends() -> None:
    system = bowl()
    inside, half = system.start.position, np.array([0.9, 0.7, -0.1, 0.1])
    found = SPRINGS.impulses(system, [(0.0, inside), (0.0, half), (0.0, OUTSIDE)], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(found.contact, [0, 1])
    depth = np.hypot(0.9, 0.7) - 1.0
    np.testing.assert_allclose(found.impulse[:, 0], 2e3 * np.array([0.5 * depth, 0.3 * (0.64 + 0.81 - 1.0)]))


def test_the_slope_of_turning_directions_is_their_second_derivative() -> None:
    """∂/∂q of the gradients of a quadratic and of a cubic function."""

    def directions(q):
        return np.column_stack(
            [np.array([2.0 * q[0], 2.0 * q[1], 0.0]), np.array([0.0, 0.0, 3.0 * q[2] ** 2])]
        )

    found = direction_slope(directions, np.array([0.4, -0.3, 2.0]), np.array([2.0, -1.0])).toarray()
    np.testing.assert_allclose(found, np.diag([4.0, 4.0, -12.0]), atol=1e-8)
    assert direction_slope(directions, np.ones(3), np.zeros(2)).nnz == 0


def test_friction_and_bad_stiffness_are_refused() -> None:
    rough = LinearSystem(
        np.eye(2),
        contacts=[
            Contact("smooth", normal=[0.0, 1.0]),
            Contact("rough", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3),
        ],
    )
    with pytest.raises(InvalidModel, match="contact 'rough' has friction"):
        SPRINGS.require(rough)
    joint = LinearSystem(np.eye(2), contacts=[FrictionElement("joint", [1.0, 0.0], limit=1.0)])
    with pytest.raises(InvalidModel, match="contact 'joint' has friction"):
        SPRINGS.require(joint)
    with pytest.raises(InvalidModel, match="stiffness is 0"):
        PenaltyContact(0.0)
