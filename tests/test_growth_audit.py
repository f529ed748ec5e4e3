"""The audit names motions that grow exponentially, and no others."""

import pytest

from klapper.mechanics import Contact, Harmonic, LinearSystem
from klapper.schemes import Moreau, PiecewiseExact
from klapper.simulation import simulate


@pytest.mark.parametrize("scheme", [Moreau(1e-3), PiecewiseExact()], ids=str)
def test_a_growing_motion_is_named_with_its_rate(scheme) -> None:
    """Negative damping of −2 δ m: e^(δ t) with δ = 1.5 1/s, with a stop on one side."""
    stop = Contact("stop", normal=[1.0], gap=1.0, restitution=1.0)
    system = LinearSystem([1.0], damping=[-3.0], stiffness=[900.0], position=[0.1], contacts=[stop])
    words = simulate(system, 12.0, scheme).about["audit"]["growth"]
    assert "grows without a bound in sight" in words
    assert float(words.split(" 1/s")[0].split()[-1]) == pytest.approx(1.5, rel=0.15)


@pytest.mark.parametrize(
    "system",
    [
        LinearSystem([1.0], force=[9.81], velocity=[1.0]),
        LinearSystem([1.0], stiffness=[4.0], force=Harmonic([1.0], 2.0)),
        LinearSystem([1.0], stiffness=[100.0], position=[1.0]),
        LinearSystem(
            [1.0], force=[-9.81], position=[20.0], contacts=[Contact("floor", normal=[1.0], restitution=0.8)]
        ),
    ],
    ids=["a fall", "resonance", "an oscillation", "a ball"],
)
def test_other_motions_are_not(system) -> None:
    """Powers of time, resonance and bounded motions, at several lengths of the run."""
    for until in (0.5, 4.0, 40.0):
        assert "growth" not in simulate(system, until, Moreau(1e-3)).about["audit"]


def test_growth_that_has_ended_is_not_named() -> None:
    """A slow exponential load that stops growing: the motion grew, and does not at the end."""
    system = LinearSystem([1.0], damping=[2.0], stiffness=[1.0], force=[1.0], position=[1e-6])
    assert "growth" not in simulate(system, 60.0, Moreau(1e-2)).about["audit"]
