"""Selection rules inside the schemes: other forces, the same motion; and motions that follow the choice."""

import numpy as np
import pytest

from klapper.bodies import Spatial
from klapper.complementarity.selection import (
    Compliant,
    Extreme,
    ExtremeMotion,
    LargestMargin,
    MaximumDissipation,
    MinimumNorm,
    NearPrevious,
    ProxIteration,
    PseudoInverse,
    QualityFunctional,
)
from klapper.mechanics import Contact, InvalidModel, LinearSystem, Ramp
from klapper.schemes import EventDriven, Moreau, PiecewiseExact
from klapper.simulation import simulate

WEIGHT = 16.0 * 9.81
EXACT_RULES = (
    MinimumNorm(),
    Compliant({"A": 3.0}),
    NearPrevious(),
    Extreme("A tangential", "min"),
    LargestMargin(),
    ProxIteration(start={"A tangential": -3.0, "B tangential": 2.0}),
    PseudoInverse("redistribute"),
    QualityFunctional(3),
)


def block(
    push, friction=(0.1, 0.1), places=(-0.1, 0.1), speed: float = 0.0, fall: float = 0.0
) -> LinearSystem:
    """Seiwald's block on feet (x, y, angle) under a push [N], or with ``push`` "ramp" one that grows by 250 N/s."""
    ramp = Ramp([0.0, -WEIGHT, 0.0], [250.0, 0.0, -0.05 * 250.0])
    load = ramp if push == "ramp" else [push, -WEIGHT, -0.05 * push]
    return LinearSystem(
        [16.0, 16.0, 1 / 15],
        force=load,
        coordinates=("x", "y", "angle"),
        velocity=[speed, -fall, 0.0],
        contacts=[
            Contact(name, normal=[0.0, 1.0, x], tangents=[1.0, 0.0, 0.05], friction=mu)
            for name, x, mu in zip("ABCDEF", places, friction, strict=False)
        ],
    )


def last_forces(run) -> np.ndarray:
    return run.samples.impulse[-1] / (run.time[-1] - run.time[-2])


def schemes(rule):
    return (
        Moreau(1e-3, selection=rule),
        EventDriven(sample=2e-3, selection=rule),
        PiecewiseExact(sample=2e-3, selection=rule),
    )


@pytest.mark.parametrize("number", [0, 1, 2], ids=["moreau", "event-driven", "exact"])
@pytest.mark.parametrize("rule", EXACT_RULES, ids=lambda rule: rule.name)
def test_the_motion_is_that_of_the_scheme_without_a_rule(rule, number) -> None:
    """A block that slides, stops and sticks under 10 N."""
    plain = simulate(block(10.0, speed=0.01), 0.05, schemes(None)[number])
    chosen = simulate(block(10.0, speed=0.01), 0.05, schemes(rule)[number])
    assert chosen.position[-1] == pytest.approx(plain.position[-1], abs=1e-12)
    assert chosen.velocity[-1] == pytest.approx(plain.velocity[-1], abs=1e-12)
    forces = last_forces(chosen)
    assert forces[:, 0] == pytest.approx([73.48, 83.48], abs=1e-7)
    assert forces[:, 1].sum() == pytest.approx(-10.0, abs=1e-7)
    assert np.all(np.abs(forces[:, 1]) <= 0.1 * forces[:, 0] + 1e-9)
    assert chosen.ledger.closes(1e-9)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (MinimumNorm(), (-5.0, -5.0)),
        (Compliant({"A tangential": 3.0}), (-2.5, -7.5)),
        (Extreme("A tangential", "min"), (-7.348, -2.652)),
        (LargestMargin(), (-4.5, -5.5)),
        (PseudoInverse(), (-5.0, -5.0)),
        (ProxIteration(start={"A tangential": -3.0, "B tangential": 2.0}), (-7.348, -2.652)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_forces_are_those_of_the_rule_in_every_scheme(rule, expected) -> None:
    """Normal forces (156.96 ∓ 10)/2 N, friction sum −10 N, limits 7.348 and 8.348 N."""
    for scheme in schemes(rule):
        run = simulate(block(10.0), 0.02, scheme)
        assert last_forces(run)[:, 1] == pytest.approx(expected, abs=1e-7), scheme.name


@pytest.mark.parametrize(
    ("rule", "rate"),
    [
        (ExtremeMotion(0, "max"), 2.769),
        (ExtremeMotion(0, "min"), 0.2875),
        (Extreme("B normal", "max"), 0.2875),
        (QualityFunctional(3), 0.2875),
        (MaximumDissipation(), 0.2875),
    ],
    ids=["fastest", "slowest", "most on the middle foot", "least acceleration", "most power"],
)
def test_where_the_motion_is_open_it_follows_the_rule(rule, rate) -> None:
    """Spec 17.3, three feet: the acceleration of two feet in closed form, by all schemes, and the audit says so."""
    for scheme in schemes(rule):
        run = simulate(block(60.0, (0.1, 0.5, 0.1), (-0.1, 0.0, 0.1), speed=0.1), 0.02, scheme)
        assert (run.velocity[-1, 0] - 0.1) / run.time[-1] == pytest.approx(rate, abs=1e-8), scheme.name
        assert rule.name in run.about["audit"]["motion by selection"]
        assert run.ledger.closes(1e-9)


def test_schemes_agree_on_the_motion_of_a_rule() -> None:
    """The smallest of all forces of the sliding state, by its own closed form: a line of forces nearest to zero."""
    line = np.array([59.556, 0.0, 97.404]) - np.array([0.0, 99.26, 57.7])
    weight = 1.0 + np.array([0.1, 0.5, 0.1]) ** 2  # friction follows its normal force and counts, too
    corner = np.array([0.0, 99.26, 57.7])
    share = -(weight * line) @ corner / ((weight * line) @ line)
    rate = (60.0 - np.array([0.1, 0.5, 0.1]) @ (corner + share * line)) / 16.0
    for scheme in schemes(MinimumNorm()):
        run = simulate(block(60.0, (0.1, 0.5, 0.1), (-0.1, 0.0, 0.1), speed=0.1), 0.02, scheme)
        assert (run.velocity[-1, 0] - 0.1) / run.time[-1] == pytest.approx(rate, abs=1e-8), scheme.name


def test_clipping_changes_the_motion_and_redistribution_does_not() -> None:
    """Seiwald 5.2.2: between F = 14.27 and 15.70 N the clipped pseudo-inverse lets the block slip, others hold it."""
    plain, clipped, handed_on = (
        simulate(block("ramp"), 0.0615, Moreau(1e-4, selection=rule))
        for rule in (MinimumNorm(), PseudoInverse("clip"), PseudoInverse("redistribute"))
    )
    assert plain.position[-1, 0] == 0.0
    assert handed_on.position[-1, 0] == 0.0
    assert clipped.position[-1, 0] > 1e-10
    assert "these forces change the motion" in clipped.about["audit"]["force selection"]
    first = np.flatnonzero(np.abs(clipped.velocity[:, 0]) > 0.0)[0]
    assert clipped.time[first] == pytest.approx(57.08e-3, abs=2e-4)  # F/2 = μ λ_NA at 14.2691 N


def test_impulses_of_an_impact_are_chosen_as_well() -> None:
    """The block lands flat with both feet while it moves sideways slowly: friction impulses share −m v."""
    for rule, share in ((MinimumNorm(), 0.5), (Compliant({"A tangential": 3.0}), 0.25)):
        for scheme in (Moreau(1e-4, selection=rule), EventDriven(sample=1e-3, selection=rule)):
            run = simulate(block(0.0, (0.5, 0.5), speed=0.02, fall=1.0), 2e-3, scheme)
            hit = int(np.argmax(run.samples.impulse[:, 0, 0]))
            friction = run.samples.impulse[hit, :, 1]
            assert friction.sum() == pytest.approx(-16.0 * 0.02, rel=1e-6)
            assert friction[0] / friction.sum() == pytest.approx(share, abs=1e-3), scheme.name
            assert np.abs(run.velocity[-1]).max() <= 1e-12


def table(friction, push, velocity=(0.0, 0.0, 0.0)):
    """A table on four legs in space."""
    model = Spatial(gravity=(0.0, 0.0, -9.81), name="table")
    body = model.body("table", mass=10.0, inertia=(1.7, 1.7, 1.7), at=(0.0, 0.0, 0.7), velocity=velocity)
    floor = model.wall("floor", normal=(0.0, 0.0, 1.0))
    for name, x, y, mu in zip("ABCD", (0.5, -0.5, -0.5, 0.5), (0.5, 0.5, -0.5, -0.5), friction, strict=True):
        model.contact(body.point(x, y, -0.7), floor, friction=mu, name=name)
    model.force(body, (*push, 0.0))
    return model.build()


@pytest.mark.parametrize(
    "rule", [MinimumNorm(), LargestMargin(), Extreme("A normal", "max")], ids=lambda r: r.name
)
def test_in_space_the_motion_stays_and_the_forces_follow_the_rule(rule) -> None:
    plain = simulate(table((0.3,) * 4, (12.0, 5.0)), 0.02, Moreau(1e-3))
    chosen = simulate(table((0.3,) * 4, (12.0, 5.0)), 0.02, Moreau(1e-3, selection=rule))
    assert chosen.position[-1] == pytest.approx(plain.position[-1], abs=1e-12)
    if isinstance(rule, MinimumNorm):
        middle = 9.81 * 2.5 + np.array([1, -1, -1, 1]) * 12.0 * 0.35 + np.array([1, 1, -1, -1]) * 5.0 * 0.35
        assert last_forces(chosen)[:, 0] == pytest.approx(middle, abs=1e-7)
        assert np.linalg.norm(last_forces(chosen)[:, 1:], axis=1) == pytest.approx(
            np.full(4, 13.0 / 4), abs=1e-7
        )


def test_in_space_unequal_friction_opens_the_motion() -> None:
    """Sliding along x on legs with μ = 0.1 at one diagonal and 0.5 at the other: all on one, or all on the other."""
    rates = {}
    for end in ("min", "max"):
        system = table((0.1, 0.5, 0.1, 0.5), (0.0, 0.0), velocity=(0.5, 0.0, 0.0))
        run = simulate(system, 0.004, Moreau(1e-3, selection=ExtremeMotion(0, end)))
        rates[end] = (run.velocity[-1, 0] - 0.5) / run.time[-1]
        assert "motion by selection" in run.about["audit"]
    middle = simulate(
        table((0.1, 0.5, 0.1, 0.5), (0.0, 0.0), velocity=(0.5, 0.0, 0.0)),
        0.004,
        Moreau(1e-3, selection=MinimumNorm()),
    )
    rate = (middle.velocity[-1, 0] - 0.5) / middle.time[-1]
    assert rates["min"] < rate < rates["max"] < 0.0
    assert rates["min"] >= -0.5 * 9.81 and rates["max"] <= -0.1 * 9.81


def test_settings_name_the_rule_and_wrong_ones_are_refused() -> None:
    assert Moreau(1e-3, selection=MinimumNorm()).settings["selection"] == "MinimumNorm()"
    assert "selection" not in Moreau(1e-3).settings
    assert EventDriven(selection=MinimumNorm()).settings["selection"] == "MinimumNorm()"
    for make in (lambda: Moreau(1e-3, selection="norm"), lambda: EventDriven(selection=MinimumNorm)):
        with pytest.raises(InvalidModel, match="allowed are None"):
            make()


def test_a_run_with_a_rule_takes_the_general_path() -> None:
    run = simulate(block(2.0), 0.01, Moreau(1e-3, selection=MinimumNorm()))
    assert run.about["audit"]["path"] == "general"
