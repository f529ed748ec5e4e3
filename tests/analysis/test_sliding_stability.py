"""Steady sliding and their stability: the compliant wedge, belts, friction in space, turning directions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.analysis.linear_stability import critical_value
from klapper.analysis.sliding_stability import SlidingStability, sliding_stability
from klapper.mechanics import Constraint, Contact, FunctionSystem, InvalidModel, LinearSystem
from klapper.mechanics.compliance import CompliantNormal


def wedge(
    mu: float, alpha: float, *, mass: float = 1.0, radius: float = 0.1, force: float = 9.81
) -> LinearSystem:
    s, c = np.sin(alpha), np.cos(alpha)
    return LinearSystem(
        [mass, mass, mass * radius**2 / 2],
        force=[-force * np.cos(alpha / 2), -force * np.sin(alpha / 2), 2.0],
        contacts=[
            Contact("wall 1", normal=[0.0, 1.0, 0.0], tangents=[1.0, 0.0, radius], friction=mu),
            Contact("wall 2", normal=[s, -c, 0.0], tangents=[c, s, -radius], friction=mu),
        ],
    )


def turning(
    mu: float, alpha: float, stiffness: float = 1e5, sense: float = 1.0, **rest: float
) -> SlidingStability:
    return sliding_stability(wedge(mu, alpha, **rest), CompliantNormal(stiffness), velocity=[0.0, 0.0, sense])


@given(
    st.floats(0.05, 3.0),
    st.floats(0.3, 1.4),
    st.floats(3.0, 8.0),
    st.floats(0.1, 20.0),
    st.sampled_from([-1.0, 1.0]),
)
@settings(max_examples=40)
def test_eigenvalues_of_the_wedge_are_the_closed_form(
    mu: float, alpha: float, decade: float, mass: float, sense: float
) -> None:
    mu = min(mu, 0.95 / np.tan(alpha / 2))
    below = np.cos(alpha) ** 2 - (mu * np.sin(alpha)) ** 2
    stiffness = 10.0**decade
    judged = turning(mu, alpha, stiffness, sense, mass=mass)
    expected = -stiffness / mass * (1 + np.array([1, -1, 1, -1]) * np.sqrt(complex(below)))
    found = judged.eigenvalues[:4] ** 2
    tolerance = 1e-10 if abs(below) > 1e-3 else 1e-6
    worst = [np.abs(found - value).min() for value in expected]
    assert max(worst) <= tolerance * stiffness / mass
    assert (judged.zeros, judged.free_motions) == (2, 1)
    if abs(below) > 1e-6:
        assert judged.verdict == ("stable" if below > 0 else "flutter")


def test_the_stiffness_matrix_of_the_wedge_is_the_corrected_print() -> None:
    """(5.29) with its two misprints corrected, for a counter-clockwise disc."""
    mu, alpha, r, c = 0.7, 0.6, 0.1, 1e5
    s, k = np.sin(alpha), np.cos(alpha)
    expected = c * np.array(
        [
            [s * (s + mu * k), -(s * k + mu + mu * k**2), 0.0],
            [s * (-k + mu * s), 1 + k**2 - mu * s * k, 0.0],
            [-r * mu * s, r * mu * (k - 1), 0.0],
        ]
    )
    assert turning(mu, alpha, c).stiffness == pytest.approx(expected, abs=1e-9 * c)


@pytest.mark.parametrize("alpha", [np.pi / 6, np.pi / 4, np.pi / 3])
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e8])
def test_the_wedge_flutters_where_friction_exceeds_the_cotangent_of_its_angle(
    alpha: float, stiffness: float
) -> None:
    border = critical_value(lambda mu: turning(mu, alpha, stiffness), 0.1, 0.9 / np.tan(alpha / 2))
    assert border == pytest.approx(1 / np.tan(alpha), rel=1e-10)


def test_the_wedge_has_the_printed_frequencies_growth_and_gaps() -> None:
    stable, flutter = turning(0.95, np.pi / 4), turning(1.05, np.pi / 4)
    assert np.unique(np.abs(stable.eigenvalues.imag).round(1)) == pytest.approx([0.0, 279.1, 349.4])
    assert (flutter.growth, flutter.angular_frequency) == pytest.approx((35.57, 318.2), abs=0.05)
    assert stable.sliding.gap == pytest.approx([-4.086e-5, -9.388e-5], abs=5e-9)
    assert flutter.sliding.normal_force == pytest.approx([3.44485, 8.74767], abs=5e-6)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_loads_do_not_depend_on_the_law(exponent: float) -> None:
    law = CompliantNormal(np.array([1e5, 3e5]), exponent=exponent)
    judged = sliding_stability(wedge(0.5, 0.8), law, velocity=[0.0, 0.0, 1.0])
    linear = turning(0.5, 0.8).sliding
    assert judged.sliding.normal_force == pytest.approx(linear.normal_force, rel=1e-11)
    pressed = linear.normal_force ** (1 / exponent) / law.stiffness
    assert judged.sliding.gap == pytest.approx(-pressed, rel=1e-10)
    assert judged.sliding.residual < 1e-12


def test_damping_of_the_walls_is_distributed_like_their_stiffness() -> None:
    judged = sliding_stability(wedge(0.95, np.pi / 4), CompliantNormal(1e5, 0.5), velocity=[0.0, 0.0, -1.0])
    assert judged.damping == pytest.approx(0.5e-5 * judged.stiffness, abs=1e-12)
    rates = np.unique(judged.eigenvalues.real.round(9))
    assert rates == pytest.approx(
        [-0.5 * (1 + root) / 2 for root in (0.2207940217, -0.2207940217)] + [0.0], abs=1e-8
    )


def test_a_block_on_a_belt_grows_by_the_slope_of_falling_friction() -> None:
    """m s² + N μ'(v) s + k = 0 for a block on a belt of speed v."""
    mass, stiffness, normal, speed = 2.0, 800.0, 30.0, 0.4
    static, dynamic, delta = 0.6, 0.3, 2.5

    def mu(v: float) -> float:
        return dynamic + (static - dynamic) / (1 + delta * v)

    belt = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-speed, friction=mu)
    block = LinearSystem([mass, mass], stiffness=[stiffness, 0.0], force=[0.0, -normal], contacts=[belt])
    judged = sliding_stability(block, CompliantNormal(1e6))
    slope = -(static - dynamic) * delta / (1 + delta * speed) ** 2
    assert judged.growth == pytest.approx(-normal * slope / (2 * mass), rel=1e-8)
    assert judged.verdict == "flutter"
    assert judged.sliding.position[0] == pytest.approx(mu(speed) * normal / stiffness, rel=1e-10)


def test_sliding_brakes_motion_across() -> None:
    """A block that is dragged with speed v feels μ N / v across its way, and nothing along it."""
    mu, normal, speed, mass = 0.4, 50.0, 0.8, 3.0
    floor = Contact("floor", normal=[0.0, 0.0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=mu)
    block = LinearSystem([mass] * 3, force=[0.0, 0.0, -normal], contacts=[floor])
    judged = sliding_stability(block, CompliantNormal(1e5), velocity=[speed, 0.0, 0.0])
    expected = np.diag([0.0, mu * normal / speed, 0.0])
    assert judged.damping == pytest.approx(expected, abs=1e-9)
    assert judged.sliding.acceleration == pytest.approx([-mu * normal / mass, 0.0, 0.0])
    assert judged.zeros == 3


def test_stiffness_with_turning_directions_is_that_of_differences() -> None:
    """A point on a rough turning ring of radius 1: all derivatives against differences of the whole force."""
    stiffness, mu, speed = 2e3, 0.3, 5.0
    load = np.array([2.0, -20.0])

    def gap(t: float, q: np.ndarray) -> float:
        return float(np.hypot(*q) - 1.0)

    def normal(t: float, q: np.ndarray) -> np.ndarray:
        return q / np.hypot(*q)

    def tangent(t: float, q: np.ndarray) -> np.ndarray:
        return np.array([q[1], -q[0]])[None] / np.hypot(*q)

    ring = Contact("ring", gap, normal, tangent, friction=mu, tangential_rate=-speed)

    def spring(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return load - np.array([120.0, 0.0]) * q

    system = FunctionSystem([0.0, 1.0], [0.0, 0.0], mass=np.eye(2), force=spring, contacts=[ring])

    def force(q: np.ndarray) -> np.ndarray:
        pressed = stiffness * max(1.0 - np.hypot(*q), 0.0)
        n = q / np.hypot(*q)
        return spring(0.0, q, q) + pressed * (n + mu * np.array([n[1], -n[0]]))

    judged = sliding_stability(system, CompliantNormal(stiffness))
    where = judged.sliding.position
    assert force(where) == pytest.approx([0.0, 0.0], abs=1e-9)
    d = 1e-5
    differences = [(force(where + d * e) - force(where - d * e)) / (2 * d) for e in np.eye(2)]
    assert judged.stiffness == pytest.approx(-np.array(differences).T, rel=1e-6, abs=1e-6)


def test_the_text_names_gaps_forces_and_zero_eigenvalues() -> None:
    text = str(turning(1.05, np.pi / 4))
    assert "'" not in text
    assert "wall 2  gap -8.74767e-05 m, presses with 8.74767 N" in text
    assert "2 zero eigenvalues (1 free motions)" in text


def build(**given: Any) -> LinearSystem:
    floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    return LinearSystem([1.0, 1.0], force=[0.0, -1.0], **{"contacts": [floor], **given})


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (build(), {}, "'floor' does not slide in the steady motion"),
        (build(contacts=[]), {}, "no contacts that could slide"),
        (build(constraints=[Constraint("rail", [1.0, 0.0])]), {}, "two-sided constraints"),
        (build(), {"velocity": [1.0]}, "velocity is .* expected 2 finite numbers"),
        (build(), {"velocity": [1.0, 0.0], "free": ["q9"]}, "free names 'q9'; coordinates are q1, q2"),
        (build(), {"velocity": [1.0, 0.0], "free": []}, "no steady sliding"),
        (wedge(2.6, np.pi / 4), {"velocity": [0.0, 0.0, -1.0]}, "wall 2 would have to pull"),
    ],
)
def test_motions_without_steady_sliding_are_refused_in_one_sentence(
    system: LinearSystem, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidModel, match=message):
        sliding_stability(system, CompliantNormal(1e5), **options)


def test_forces_of_springs_may_cancel_where_no_contact_acts() -> None:
    """Without friction the coupled springs alone balance x: nothing but their round-off is left there."""
    stiffness = np.array([[20000.0025, 9999.99966763], [9999.99966763, 6666.6675]])
    belt = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=0.5)
    block = LinearSystem([1.0, 1.0], stiffness=stiffness, force=[0.0, -50.0], contacts=[belt])
    judged = sliding_stability(block, CompliantNormal(13333.33))
    expected = np.linalg.solve(stiffness + np.diag([0.0, 13333.33]), [0.0, -50.0])
    np.testing.assert_allclose(judged.sliding.position, expected, rtol=1e-12)
