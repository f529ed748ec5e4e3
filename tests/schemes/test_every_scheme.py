"""Every scheme that files know: what its contract promises, and closed forms.

A new one joins by ``@registered`` over its class. A scheme that cannot treat a model refuses it by name; what it
accepts it must get right.
"""

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from klapper.mechanics import (
    CompliantNormal,
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    InvalidModel,
    LinearSystem,
)
from klapper.schemes import SCHEMES, PenaltyContact
from klapper.simulation import simulate

STEP = 1e-2
WITHOUT_INERTIA = ("quasi-static",)
ELASTIC = (
    "regularised",
    "energy-momentum",
)  # contacts keep the energy of an impact, or have springs and dampers
SPRINGS = {"contact": PenaltyContact(1e4)}  # how schemes that know no rigid contact are told to treat one
SMOOTH = {"contact", "restitution", "friction element"}
REFUSES = {  # what a scheme may refuse, and must then: all others take it and get it right
    "newmark": SMOOTH,
    "generalised-alpha": SMOOTH,
    "central-difference": SMOOTH,
    "energy-momentum": {"restitution", "friction element"},
    "ordinary": {"restitution"},
}
every_scheme = pytest.mark.parametrize("kind", SCHEMES)
every_motion = pytest.mark.parametrize("kind", [kind for kind in SCHEMES if kind not in WITHOUT_INERTIA])


def made(kind: str, step: float = STEP, **options: Any) -> Any:
    """The scheme with what it needs: a step size, or a law of the normal force."""
    known = {option.name for option in fields(SCHEMES[kind]) if option.init}
    needed = {"step_size": step, "normal": CompliantNormal(1e4)}
    return SCHEMES[kind](**{name: value for name, value in (needed | options).items() if name in known})


def taken(kind: str, what: str, system: LinearSystem, until: float, step: float) -> Any:
    """The run of a model that needs ``what``; the test ends here if the scheme is known to refuse it, and does."""
    if what in REFUSES.get(kind, ()):
        with pytest.raises(InvalidModel, match=r"\.$"):
            simulate(system, until, made(kind, step))
        pytest.skip(f"{kind} refuses a {what}")
    return simulate(system, until, made(kind, step))


def oscillator() -> LinearSystem:
    """ω = 2 rad/s, with damping 0.1: q = e^(−δt) (cos + δ/ω_d sin) from q = 1 at rest."""
    return LinearSystem([1.0], stiffness=[4.0], damping=[0.2], position=[1.0])


def displaced(t: float) -> float:
    decay, turn = 0.1, np.sqrt(4.0 - 0.01)
    return float(np.exp(-decay * t) * (np.cos(turn * t) + decay / turn * np.sin(turn * t)))


def ball(restitution: float = 0.0) -> LinearSystem:
    return LinearSystem(
        [1.0],
        force=[-10.0],
        position=[0.2],
        contacts=[Contact("floor", normal=[1.0], restitution=restitution)],
    )


@every_motion
def test_a_damped_oscillator_is_met_with_an_order_of_two_or_to_the_tolerance(kind: str) -> None:
    scheme, end = made(kind), 2.0
    errors = [
        abs(simulate(oscillator(), end, each).position[-1, 0] - displaced(end))
        for each in (scheme, scheme.refined(2.0) or scheme)
    ]
    assert errors[0] < 1e-7 or np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[0] < 1e-3


@every_scheme
def test_a_step_changes_nothing_that_it_was_given_and_repeats_itself_to_the_bit(kind: str) -> None:
    system, scheme = oscillator(), made(kind)
    snapshot = scheme.init(system)
    kept = [np.copy(getattr(snapshot, name)) for name in ("position", "velocity", "sums", "memory")]
    once, again = scheme.step(system, snapshot, 1.0).after, scheme.step(system, snapshot, 1.0).after
    for name, value in zip(("position", "velocity", "sums", "memory"), kept, strict=True):
        np.testing.assert_array_equal(getattr(snapshot, name), value)
        np.testing.assert_array_equal(getattr(once, name), getattr(again, name))
    assert once.time > snapshot.time
    assert once.step == snapshot.step + 1


@every_scheme
def test_it_describes_itself_in_plain_data_and_by_publications(kind: str) -> None:
    run = simulate(oscillator(), 0.1, made(kind))
    json.dumps(run.about["settings"])
    assert made(kind).settings.keys() <= {option.name for option in fields(SCHEMES[kind])}
    assert run.citation()
    assert run.about["scheme"] == made(kind).name


@every_motion
def test_its_books_close_with_and_without_contact(kind: str) -> None:
    options = SPRINGS if "contact" in REFUSES.get(kind, ()) else {}
    rebounds = () if "restitution" in REFUSES.get(kind, ()) else (ball(0.5),)
    for system in (oscillator(), ball(), *rebounds):
        assert simulate(system, 0.5, made(kind, 1e-3, **options)).ledger.closes(1e-9)


@every_motion
def test_a_ball_that_falls_and_stays_loses_what_it_had(kind: str) -> None:
    """0.2 m under 10 m/s²: at the floor after 0.2 s, there it rests without energy."""
    run = taken(kind, "contact", ball(), 0.6, 1e-3)
    flight = run.time <= 0.19
    np.testing.assert_allclose(run.position[flight, 0], 0.2 - 5.0 * run.time[flight] ** 2, atol=1e-3)
    if kind not in ELASTIC:
        assert run.position[-1, 0] == pytest.approx(0.0, abs=5e-3)
        assert run.velocity[-1, 0] == pytest.approx(0.0, abs=1e-6)


@every_motion
def test_a_ball_bounces_by_its_restitution(kind: str) -> None:
    """ε = ½: at 0.2 s with 2 m/s, back with 1 m/s, at the top of 0.05 m after 0.3 s. First order in the step."""
    if kind == "regularised":
        pytest.skip("springs and dampers instead of restitution")
    run = taken(kind, "restitution", ball(0.5), 0.3, 1e-4)
    assert run.position[-1, 0] == pytest.approx(0.05, abs=4e-4)
    assert run.velocity[-1, 0] == pytest.approx(0.0, abs=4e-3)


@every_motion
def test_a_brake_holds_and_slips(kind: str) -> None:
    """A limit of 3 N: a push of 2 N moves nothing, one of 5 N accelerates 1 kg with 2 m/s²."""
    for push, expected in ((2.0, 0.0), (5.0, 0.25)):
        brake = FrictionElement("brake", tangents=[1.0], limit=3.0)
        system = LinearSystem([1.0], force=[push], contacts=[brake])
        run = taken(kind, "friction element", system, 0.5, 1e-3)
        assert run.position[-1, 0] == pytest.approx(expected, abs=1.1e-3)


@every_motion
def test_restitution_is_obeyed_or_refused_or_said_not_to_be_used(kind: str) -> None:
    """At 0.2 s the ball has hit the floor with 2 m/s; with ε = 0.5 it would rise with 1 m/s."""
    options = SPRINGS if SCHEMES[kind].rebound == "the springs of the contacts" else {}
    try:
        run = simulate(ball(restitution=0.5), 0.22, made(kind, 1e-3, **options))
    except InvalidModel as refused:
        assert "restitution" in str(refused)
        return
    told = run.about["audit"].get("restitution", "")
    if not SCHEMES[kind].rebound:
        assert not told
        assert run.velocity[:, 0].max() == pytest.approx(1.0, abs=0.02)
    else:
        assert "e.g. 0.5 at 'floor', is not used" in told
        assert "restitution" not in simulate(ball(), 0.1, made(kind, 1e-3, **options)).about["audit"]


RESTING = {
    "mass": lambda: LinearSystem([1.0]),
    "spring": lambda: LinearSystem([1.0, 2.0], stiffness=[[2.0, -1.0], [-1.0, 1.0]]),
    "touching": lambda: LinearSystem([1.0], stiffness=[1.0], contacts=[Contact("floor", normal=[1.0])]),
    "tied": lambda: LinearSystem(
        [1.0, 1.0], stiffness=np.eye(2), constraints=[Constraint("tie", [1.0, -1.0])]
    ),
    "functions": lambda: FunctionSystem([0.0], [0.0], mass=np.eye(1), force=lambda t, q, v: -q),
}

NO_REST = {("quasi-static", "mass"), ("exact", "functions")}  # without stiffness, without a closed form


@every_scheme
@pytest.mark.parametrize("what", RESTING)
def test_a_system_with_nothing_to_do_stays_at_rest(kind: str, what: str) -> None:
    """No load, no velocity, no residual to compare with: no equation may fail for want of a scale."""
    system = RESTING[what]()
    options = SPRINGS if SCHEMES[kind].rebound == "the springs of the contacts" else {}
    try:
        run = simulate(system, 5 * STEP, made(kind, **options))
    except InvalidModel as refused:
        assert (kind, what) in NO_REST, refused
        return
    assert not run.position.any() and not run.velocity.any()
    assert run.ledger.closes(1e-12)
