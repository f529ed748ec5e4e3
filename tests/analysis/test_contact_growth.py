"""Growth of large motions with contact: closed forms of one mass, eigenvalues of a joint that stays closed."""

import numpy as np
import pytest

from klapper.analysis import contact_growth
from klapper.gallery._rotor import ALUMINIUM
from klapper.gallery._rotor_clatter import closed_growth
from klapper.mechanics import Contact, FrictionElement, InvalidModel, LinearSystem


@pytest.mark.parametrize(("damping", "restitution"), [(-0.4, 0.9), (0.3, 1.0), (-2.0, 0.5)])
def test_a_mass_at_a_stop_grows_by_damping_and_impacts(damping: float, restitution: float) -> None:
    """Every half period of ω = √(ω₀² − δ²): e^(δ π/ω) by damping, ε by the impact; gap and load do not matter."""
    omega0, delta = 20.0, -0.5 * damping
    omega = np.sqrt(omega0**2 - delta**2)
    stop = Contact("stop", normal=[1.0], gap=0.2, restitution=restitution)
    system = LinearSystem([1.0], damping=[damping], stiffness=[omega0**2], force=[3.0], contacts=[stop])
    found = contact_growth(system, step_size=2e-4, until=20.0, starts=1)
    expected = delta + np.log(restitution) * omega / np.pi
    assert found.linear == pytest.approx(delta, abs=1e-9)
    assert found.rate == pytest.approx(expected, abs=max(4.0 * found.error, 0.02))
    assert found.verdict == ("grows without bound" if expected > 0.0 else "stays bounded")


def test_one_sided_stiffness_is_not_that_of_either_side() -> None:
    """Two masses, one unstable without contact; the other one holds it on one side only: half of the time."""
    stop = Contact("stop", normal=[1.0, -1.0], gap=0.1)
    system = LinearSystem(
        [1.0, 1.0], damping=[-0.2, 1.2], stiffness=[100.0, 100.0], contacts=[stop],
    )  # fmt: skip
    found = contact_growth(system, step_size=1e-3, until=40.0)
    closed = -(-0.2 + 1.2) / 2 / 2  # both masses together
    assert found.linear == pytest.approx(0.1, abs=1e-9)
    assert closed < found.rate < found.linear


def test_friction_of_given_limits_does_not_matter_and_friction_that_follows_the_force_does() -> None:
    """A mass pressed on a rough wall by a load only: for large motions there is no load."""
    pad = FrictionElement("pad", tangents=[[1.0, 0.0]], limit=5.0)
    floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)
    system = LinearSystem(
        [1.0, 1.0], damping=[-0.1, 0.2], stiffness=[50.0, 0.0], force=[0.0, -10.0], contacts=[pad, floor]
    )
    found = contact_growth(system, step_size=1e-3, until=20.0, starts=1)
    assert found.rate == pytest.approx(0.05, abs=5e-3)


def test_a_shaft_whose_joint_stays_closed_between_its_critical_speeds_grows() -> None:
    """10.9 Hz: stable without contact; eigenvalues of the closed shaft give the rate, another method."""
    model = ALUMINIUM.model(6)
    found = contact_growth(
        model.system(10.9, model.contacts(3)), step_size=1 / (10.9 * 400), until=10.0, starts=1
    )
    assert found.linear < 0.0
    assert found.verdict == "grows without bound"
    assert found.rate == pytest.approx(closed_growth(model, 10.9, 3), rel=2e-3)


def test_an_unstable_base_system_may_grow_faster_with_contact() -> None:
    """The text says that contact slows growth; at 10.5 Hz the closed shaft grows faster than the open one."""
    model = ALUMINIUM.model(6)
    found = contact_growth(
        model.system(10.5, model.contacts(3)), step_size=1 / (10.5 * 400), until=10.0, starts=4
    )
    assert found.linear > 0.0
    assert found.rate > 1.2 * found.linear
    assert found.rate == pytest.approx(closed_growth(model, 10.5, 3), rel=2e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: contact_growth(3.0, step_size=1e-3, until=1.0), "is no linear system"),
        (lambda: contact_growth(LinearSystem([1.0]), step_size=1e-3, until=1.0), "has no one-sided contacts"),
        (lambda: contact_growth(LinearSystem([1.0]), step_size=0.0, until=1.0), "step_size is 0"),
        (lambda: contact_growth(LinearSystem([1.0]), step_size=1e-3, until=1.0, starts=0), "starts is 0"),
    ],
)
def test_bad_input_is_refused(call, words) -> None:
    with pytest.raises(InvalidModel, match=words):
        call()
