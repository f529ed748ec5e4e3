"""Every friction law that files know: what the protocol promises, and a block that it brakes.

A new law joins by ``@friction_law`` over its class.
"""

import numpy as np
import pytest
from scipy.integrate import quad

from klapper.mechanics import (
    FRICTION_LAWS,
    Contact,
    ExponentialFriction,
    Friction,
    InvalidModel,
    LinearSystem,
)
from klapper.mechanics.options import example_of, options_of
from klapper.schemes import EventDriven, Moreau
from klapper.simulation import simulate

G = 9.81
LAWS = {kind: example_of(law) for kind, law in FRICTION_LAWS.items()} | {
    "coulomb": FRICTION_LAWS["coulomb"](0.3),
    "exponential with film": ExponentialFriction(0.4, 0.2, 0.1, exponent=2.0, viscous=0.3),
}
every_law = pytest.mark.parametrize("kind", LAWS)


def sliding(law: Friction, speed: float) -> LinearSystem:
    """A block of 2 kg that slides on a floor."""
    return LinearSystem(
        [2.0, 2.0, 2.0],
        force=[0.0, 0.0, -2.0 * G],
        velocity=[speed, 0.0, 0.0],
        contacts=[Contact("floor", normal=[0.0, 0.0, 1.0], tangents=np.eye(3)[:2], friction=law)],
    )


@every_law
def test_a_law_keeps_the_protocol(kind: str) -> None:
    law = LAWS[kind]
    assert isinstance(law, Friction)
    at = np.array([law.coefficient(speed) for speed in (0.0, 1e-9, 0.01, 0.1, 1.0, 100.0)])
    assert np.all(at >= 0.0)
    assert law.coefficient(-0.1) == law.coefficient(0.1)
    assert law.constant == bool(np.all(at == at[0]))
    assert at[1] == pytest.approx(at[0], abs=1e-6)  # no jump at rest: the set at rest ends where slip begins


@pytest.mark.parametrize("kind", FRICTION_LAWS)
def test_bad_options_are_refused_in_one_sentence(kind: str) -> None:
    law = FRICTION_LAWS[kind]
    good = {name: given.option.example for name, given in options_of(law).items() if given.needed}
    for name in options_of(law):
        for bad in (-1.0, np.nan, "much"):
            with pytest.raises(InvalidModel, match=rf"{name} is .*\.$"):
                law(**(good | {name: bad}))


@every_law
def test_a_block_stops_where_the_law_says(kind: str) -> None:
    """dv/dt = −μ(v) g: it stops after a way of ∫ v dv/(μ g), and friction takes ½ m v²."""
    law, speed = LAWS[kind], 0.5
    until = quad(lambda v: 1.0 / (law.coefficient(v) * G), 0.0, speed)[0]
    way = quad(lambda v: v / (law.coefficient(v) * G), 0.0, speed)[0]
    run = simulate(sliding(law, speed), 1.5 * until, EventDriven(1e-12))
    assert run.position[-1, 0] == pytest.approx(way, rel=1e-8)
    assert run.ledger.friction[-1] == pytest.approx(0.5 * 2.0 * speed**2, rel=1e-8)
    assert np.abs(run.velocity[-1]).max() < 1e-12
    step = until / 200
    stepped = simulate(sliding(law, speed), 1.5 * until, Moreau(step))
    assert stepped.position[-1, 0] == pytest.approx(way, abs=speed * step)  # first order
    assert stepped.ledger.closes(1e-9)


def test_the_film_makes_friction_rise_again() -> None:
    """Least where c v_s = (μ_s − μ_d) exp(−v/v_s): v = v_s ln((μ_s − μ_d)/(c v_s)), there μ = μ_d + c (v_s + v)."""
    law = ExponentialFriction(0.4, 0.2, 0.1, viscous=0.5)
    least = 0.1 * np.log(0.2 / 0.05)
    speeds = least + np.array([-1e-4, 0.0, 1e-4])
    left, at, right = (law.coefficient(v) for v in speeds)
    assert at < left
    assert at < right
    assert at == pytest.approx(0.2 + 0.5 * (0.1 + least))
