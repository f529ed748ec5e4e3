"""Impacts without friction or without speed: closed forms of what little happens."""

import numpy as np
import pytest

from klapper.mechanics.impact import Energetic, ImpactProblem, Newton
from klapper.mechanics.impact.energetic import Collision


def leaning_rod(before, **given) -> ImpactProblem:
    """A slender rod, 1 kg and 1 m, at 50° to the floor: its lower end is pushed aside when it is pushed up."""
    c, s = 0.5 * np.cos(np.deg2rad(50)), 0.5 * np.sin(np.deg2rad(50))
    return ImpactProblem(
        [1.0, 1.0, 1 / 12], before, [[0.0], [1.0], [-c]], tangential=[[1.0], [0.0], [s]], **given
    )


@pytest.mark.parametrize("slip", [0.0, 0.4])
def test_a_smooth_floor_turns_a_leaning_rod_by_its_normal_impulse_alone(slip: float) -> None:
    """Λ_N = (1 + e) v/W_NN, and v_T changes by W_TN Λ_N also where the end did not slip before."""
    problem = leaning_rod([slip, -1.0, 0.0], friction=0.0, restitution=0.7)
    (w_nn, w_nt), _ = problem.delassus
    impulse = 1.7 / w_nn
    result = Energetic().resolve(problem)
    assert result.normal_velocity == pytest.approx([0.7])
    assert result.tangential_velocity.ravel() == pytest.approx([slip + w_nt * impulse])
    collision = Collision(problem.delassus, friction=0.0, restitution=0.7)
    pieces = [piece for _, piece in collision.pieces(np.array([-1.0, slip]), 1e-12)]
    assert np.sum(pieces, axis=0) == pytest.approx([impulse, 0.0])


@pytest.mark.parametrize("tolerance", [0.0, 1e-9])
@pytest.mark.parametrize(("speed", "collisions"), [(0.0, 0), (2.0, 1)])
def test_an_impact_ends_when_nothing_approaches(speed: float, collisions: int, tolerance: float) -> None:
    ball = ImpactProblem([1.0], [-speed], [[1.0]], restitution=0.0)
    result = Energetic(least_approach=tolerance).resolve(ball)
    assert result.after.tolist() == [0.0]
    assert result.finished and len(result.order) == collisions


@pytest.mark.parametrize("limit", [None, np.zeros(2)])
def test_a_smooth_contact_adds_no_unknown_friction(limit) -> None:
    """Two contacts of a mass in the plane, of which only the second is rough: N_1, N_2 and T_2."""
    problem = ImpactProblem(
        [1.0, 1.0],
        [1.0, -1.0],
        [[0.0, 1.0], [1.0, 0.0]],
        tangential=[[1.0, 0.0], [0.0, 1.0]],
        friction=[0.0, 0.3],
    )
    _, rows = Newton()._contact_problem(
        problem, problem.delassus, problem.contact_velocity(problem.before), None, limit
    )
    assert rows.tolist() == [0, 1, 3]
