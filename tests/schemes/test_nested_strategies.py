"""Strategies for dependent friction in any direction of space, terms of the functional, and strategies of users."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from klapper.bodies import FootedBlock, Planar, rigid_block
from klapper.mechanics import (
    CompliantNormal,
    Constant,
    Contact,
    InvalidModel,
    LinearSystem,
    SaturatedFriction,
)
from klapper.schemes import FunctionalFriction, NestedProx, Regularised, StepFailed
from klapper.simulation import SimulationFailed, simulate


def block_on_plane(turned: float, push: float, *, mass: float = 16.0, friction: float = 0.1):
    """A block of 0.2 m × 0.1 m pressed on a plane, and all of it turned by an angle [rad]."""
    turn = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    model = Planar(gravity=tuple(turn @ (0.0, -9.81)))
    block = model.body("block", mass=mass, inertia=1 / 15, at=tuple(turn @ (0.0, 0.05)), angle=turned)
    plane = model.wall("plane", normal=tuple(turn @ (0.0, 1.0)))
    model.contact(block.corners(0.2, 0.1), plane, friction=friction)
    model.force(block.point(0.0, 0.0), tuple(push * (turn @ (1.0, 0.0))))
    return model.build()


@pytest.mark.parametrize("friction", ["functional-2", "functional-3", "pinv", "prox"])
@pytest.mark.parametrize("turned", [0.5 * np.pi, -0.7])
def test_a_block_on_a_plane_of_any_direction_shares_alike(friction: str, turned: float) -> None:
    """5 N along the plane stick on two equal feet: 2.5 N each, whichever way the plane is turned."""
    scheme = NestedProx(1e-4, friction=friction, max_rounds=100, max_iterations=1000)
    run = simulate(block_on_plane(turned, 5.0), 0.001, scheme)
    feet = run.force[-1, :, 0] > 0.0
    assert np.count_nonzero(feet) == 2
    across = run.force[1:, feet, 1]
    np.testing.assert_allclose(across, 2.5 * np.sign(across[0, 0]), atol=0.01)
    np.testing.assert_allclose(run.velocity, 0.0, atol=1e-6)
    assert "friction law" not in run.about["audit"]


def test_three_feet_of_a_slide_that_runs_along_two_coordinates() -> None:
    """Not a block: a mass in oblique coordinates q = B x with a rough guide along x₁; −9 N are shared alike."""
    b = np.array([[1.0, 0.4, 0.0], [-0.3, 1.2, 0.1], [0.2, 0.0, 0.9]])  # x = b q
    mass = np.diag([2.0, 2.0, 0.1])
    contacts = [
        Contact(name, normal=b.T @ [0.0, 1.0, x], tangents=b.T @ [1.0, 0.0, 0.05], friction=0.6)
        for name, x in zip("ABC", (-0.1, 0.0, 0.1), strict=True)
    ]
    system = LinearSystem(b.T @ mass @ b, force=b.T @ [9.0, -40.0, -0.45 + 0.9], contacts=contacts)
    for friction in ("functional-3", FunctionalFriction(3, contact_weights=(1.0, 5.0, 0.2))):
        scheme = NestedProx(1e-4, friction=friction, max_rounds=400, max_iterations=4000)
        run = simulate(system, 0.002, scheme)
        np.testing.assert_allclose(run.force[-1, :, 1], -3.0, atol=2e-3)
        assert np.abs(run.velocity[-1]).max() <= 1e-7


@pytest.mark.parametrize("wanted", [0.0, 0.2, -0.1])
def test_a_linear_term_asks_for_an_acceleration(wanted: float) -> None:
    """16 kg under 10 N: the functional a² − 2 wanted a takes friction of wanted · 16 kg − 10 N in the first step."""
    strategy = FunctionalFriction(
        3, contact_linear=(-2.0 * wanted, -2.0 * wanted), contact_weights=(2.0, 2.0)
    )
    for compiled in (True, False):
        block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.3, 0.3)), load=Constant([10.0, 0.0, 0.0]))
        run = simulate(block, 1e-4, NestedProx(1e-4, friction=strategy, compiled=compiled))
        assert run.force[-1, :, 1].sum() == pytest.approx(16.0 * wanted - 10.0, abs=1e-3)


@pytest.mark.parametrize("height", [0.1, 0.6])
def test_both_loops_choose_alike_while_a_foot_lifts_off(height: float) -> None:
    """A push above the centre that grows until foot A carries nothing: compiled and general impulses agree, and while
    both feet press the sum is that of the motion, which the prox iteration finds without a functional."""
    found = {}
    for friction in ("functional-3", "prox"):
        for compiled in (True, False):
            block = rigid_block(
                FootedBlock(0.2, height, 16.0, friction=(0.9, 0.7)), load=Constant([120.0, 0.0, -4.0])
            )
            scheme = NestedProx(
                1e-4, friction=friction, compiled=compiled, max_rounds=500, max_iterations=2000
            )
            found[friction, compiled] = simulate(block, 0.003, scheme)
    first, second = found["functional-3", True], found["functional-3", False]
    np.testing.assert_allclose(first.force, second.force, atol=1e-6)
    np.testing.assert_allclose(first.position, found["prox", True].position, atol=1e-9)


@dataclass(frozen=True)
class Share:
    """A fixed part of what stops the body goes to the first contact."""

    part: float
    name = "share"

    def impulses(self, now):
        g, r = now.sliding_row
        total = -(r[0] / g[0]) * now.duration
        return np.array([self.part, 1.0 - self.part]) * total, f"{self.part:g}"


def test_strategies_of_users_are_accepted_and_verified() -> None:
    block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1)), load=Constant([6.0, 0.0, 0.0]))
    run = simulate(block, 0.001, NestedProx(1e-4, friction=Share(0.25)))
    np.testing.assert_allclose(run.force[-1, :, 1], [-1.5, -4.5], atol=1e-3)
    with pytest.raises(SimulationFailed, match="has no verified answer"):  # −12/6 N exceed μ N
        simulate(block, 0.001, NestedProx(1e-4, friction=Share(3.0)))


def test_a_run_with_a_strategy_of_a_user_says_where_friction_does_not_oppose_sliding() -> None:
    @dataclass(frozen=True)
    class Nothing:
        name = "nothing"

        def impulses(self, now):
            return np.zeros(len(now.pressed)), ""

    block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1)), load=Constant([6.0, 0.0, 0.0]))
    run = simulate(block, 0.001, NestedProx(1e-4, friction=Nothing()))
    assert "does not agree with the sliding velocities" in run.about["audit"]["friction law"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.zeros(2), "expected a pair"),
        ((np.zeros(3), ""), "expected 2 finite numbers"),
        ((np.array([np.nan, 0.0]), ""), "expected 2 finite numbers"),
    ],
)
def test_answers_of_another_kind_are_refused(answer, words) -> None:
    @dataclass(frozen=True)
    class Odd:
        name = "odd"

        def impulses(self, now):
            return answer

    scheme = NestedProx(1e-4, friction=Odd())
    block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1)))
    with pytest.raises((InvalidModel, StepFailed), match=words):
        scheme.step(block, scheme.init(block))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: NestedProx(1e-3, friction=Share), "friction is <class"),
        (lambda: NestedProx(1e-3, friction=object()), "objects with a name and impulses"),
        (lambda: FunctionalFriction(2, contact_weights=(1.0, 1.0)), "contact_weights belongs to ansatz 3"),
        (lambda: FunctionalFriction(3, contact_weights=(1.0, 0.0)), "contact_weights is 0"),
        (
            lambda: NestedProx(1e-3, friction=FunctionalFriction(3, contact_linear=(1.0,))).init(
                rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1)))
            ),
            "contact_linear has 1 entries",
        ),
    ],
)
def test_what_cannot_be_a_strategy_is_refused(call, words) -> None:
    with pytest.raises(InvalidModel, match=words):
        call()


def test_a_strategy_is_part_of_the_settings() -> None:
    scheme = NestedProx(1e-3, friction=Share(0.5))
    assert scheme.settings["friction"] != replace(scheme, friction=Share(0.6)).settings["friction"]


@pytest.mark.parametrize(
    ("mu", "expected"), [((0.1, 0.1), (-4.681, -5.319)), ((0.2, 0.05), (-7.788, -2.212))]
)
@pytest.mark.parametrize("compiled", [True, False])
def test_equal_utilisation_shares_as_regularised_friction_does(mu, expected, compiled: bool) -> None:
    block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=mu), load=Constant([10.0, 0.0, 0.0]))
    run = simulate(block, 0.002, NestedProx(1e-4, friction="equal-utilisation", compiled=compiled))
    np.testing.assert_allclose(run.force[-1, :, 1], expected, atol=2e-3)


def test_a_regularised_run_of_the_same_block_creeps_with_these_forces() -> None:
    """Another scheme on general bodies: friction that follows a steep slope, after its vibrations."""
    model = Planar(gravity=(0.0, -9.81))
    block = model.body("block", mass=16.0, inertia=1 / 15, at=(0.0, 0.05))
    floor = model.wall("floor", normal=(0.0, 1.0))
    for name, x, mu in (("A", -0.1, 0.2), ("B", 0.1, 0.05)):
        model.contact(block.point(x, -0.05), floor, friction=mu, name=name)
    model.force(block.point(0.1, 0.05), (10.0, 0.0))
    scheme = Regularised(CompliantNormal(1e6, 4e3), SaturatedFriction(1e-3))
    run = simulate(model.build(), 0.5, scheme)
    regularised = np.array([run.contact(name).force[-1, 1] for name in "AB"])
    assert np.abs(regularised) == pytest.approx([7.788, 2.212], abs=0.02)
