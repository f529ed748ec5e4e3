"""Where the sequence of events changes on a branch: every name against a model in which the place is known."""

import numpy as np
import pytest
from oscillators import impact_oscillator, single
from scipy.linalg import expm
from scipy.optimize import brentq

from klapper.analysis import follow_periodic, periodic_motion
from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem


def kinds(motion):
    return [event.kind for event in motion.events]


def two_humps(height):
    """A block on a rough floor under c + A cos t + B cos 2t: humps c + B ± A, limit of friction 1."""
    pull = Harmonic([0.1], 1.0) + Harmonic([height], 2.0) + np.array([0.5])
    floor = FrictionElement("floor", tangents=[[1.0]], limit=1.0)
    return LinearSystem([1.0], force=pull, contacts=[floor], coordinates=["x"], name="block")


def pulled(height, t):
    return 0.5 + 0.1 * np.cos(t) + height * np.cos(2.0 * t)


def slipped(height, top):
    """How far the block slips about a hump: from where the pull exceeds 1 to where its velocity vanishes."""

    def velocity(t):
        rate = (0.5 - 1.0) * t + 0.1 * np.sin(t) + 0.5 * height * np.sin(2.0 * t)
        first = (0.5 - 1.0) * begin + 0.1 * np.sin(begin) + 0.5 * height * np.sin(2.0 * begin)
        return rate - first

    begin = brentq(lambda t: pulled(height, t) - 1.0, top - 0.5 * np.pi, top, xtol=1e-15)
    end = brentq(velocity, top + 0.5 * (top - begin), top + 0.5 * np.pi, xtol=1e-15)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    times = 0.5 * (end + begin) + 0.5 * (end - begin) * nodes
    return 0.5 * (end - begin) * float(weights @ velocity(times))


@pytest.mark.parametrize("start, end", [(0.55, 0.65), (0.65, 0.55)])
def test_sliding_is_added_where_the_second_hump_reaches_the_limit(start, end):
    motion = periodic_motion(two_humps(start), drifting=["x"])
    branch = follow_periodic(two_humps, start, end, first=motion, largest=0.2)
    (found,) = branch.bifurcations
    assert (found.kind, found.contact) == ("adding-sliding", "floor")
    assert found.parameter == pytest.approx(0.6, abs=1e-8)  # c + B − A = 1
    assert branch.ended == f"the parameter has reached {end}"
    for height, motion in zip(branch.parameters, branch.motions, strict=True):
        tops = [0.0] if height < 0.6 else [0.0, np.pi]
        assert sum(kind == "slips" for kind in kinds(motion)) == len(tops) or abs(height - 0.6) < 1e-3
        assert motion.drift[0] == pytest.approx(sum(slipped(height, top) for top in tops), abs=1e-9)


def on_floor(push):
    """A mass of weight 1 that a force a cos t lifts and the floor catches."""
    floor = Contact("floor", normal=[1.0])
    return LinearSystem([1.0], force=Harmonic([push], 1.0) + np.array([-1.0]), contacts=[floor])


def flight(push):
    """Times at which the force exceeds the weight and at which the mass is back."""
    begin = -np.arccos(1.0 / push)

    def height(t):
        rise = -push * (np.cos(t) - np.cos(begin)) - push * np.sin(begin) * (t - begin)
        return rise - 0.5 * (t - begin) ** 2

    return begin, brentq(height, 1e-9 - begin, 2.0 * np.pi + begin, xtol=1e-15)


@pytest.mark.parametrize("start, end", [(0.8, 1.3), (1.3, 0.8)])
def test_it_lifts_off_where_the_force_reaches_the_weight(start, end):
    branch = follow_periodic(on_floor, start, end, largest=0.2)
    (found,) = branch.bifurcations
    assert (found.kind, found.contact) == ("lift-off", "floor")
    assert found.parameter == pytest.approx(1.0, abs=1e-8)
    assert branch.ended == f"the parameter has reached {end}"
    flying = [(p, motion) for p, motion in zip(branch.parameters, branch.motions, strict=True) if p > 1.001]
    assert len(flying) > 2
    for push, motion in flying:
        begin, back = flight(push)
        times = {event.kind: event.time for event in motion.events}
        assert times["opens"] == pytest.approx(begin % (2.0 * np.pi), abs=1e-8)
        assert times["impact"] == pytest.approx(back % (2.0 * np.pi), abs=1e-8)


HIT = impact_oscillator(1.5, 0.3, 0.6, 0.05)


def grazed(friction):
    """Across the stop the impact oscillator, along it a mass on another spring with a force of its own."""
    stop = Contact(
        "stop", normal=[-1.0, 0.0], tangents=[[0.0, 1.0]], gap=0.3, restitution=0.6, friction=friction
    )
    return LinearSystem(
        [1.0, 1.0],
        stiffness=[1.0, 3.0],
        damping=[0.1, 0.2],
        force=Harmonic([1.0, 1.0], 1.5),
        contacts=[stop],
    )


def speed_along(impulse):
    """Velocity along the stop just before the impact, if friction takes this impulse there in every period."""
    time = single(HIT).phase / 1.5
    response = 1.0 / complex(3.0 - 1.5**2, 0.2 * 1.5)
    forced = float(np.real(1.5j * response * np.exp(1.5j * time)))
    period = expm(np.array([[0.0, 1.0], [-3.0, -0.2]]) * 2.0 * np.pi / 1.5)
    return forced + float(np.linalg.solve(np.eye(2) - period, period @ np.array([0.0, -impulse]))[1])


def test_impact_changes_where_friction_can_hold_the_slip():
    # slipping impacts take μ (1 + ε) u, until that is all the velocity along the stop
    normal = 1.6 * single(HIT).u
    sign = np.sign(speed_along(0.0))
    limit = brentq(lambda mu: sign * speed_along(sign * mu * normal) - mu * normal, 1e-6, 5.0, xtol=1e-14)
    branch = follow_periodic(grazed, 0.5 * limit, 1.5 * limit, largest=0.2)
    (found,) = branch.bifurcations
    assert (found.kind, found.contact) == ("impact changes", "stop")
    assert found.parameter == pytest.approx(limit, abs=1e-8)
    held = [m for mu, m in zip(branch.parameters, branch.motions, strict=True) if mu > 1.001 * limit]
    assert len(held) > 2
    for motion in held:  # what sticks in the impact does not depend on μ
        assert abs(motion.passage.entered[0][3]) < 1e-12
        assert motion.distance(held[0].start) < 1e-9


MASS = np.array([[1.0, -0.2], [-0.2, 1.0]])


def bar(shift):
    """A bar on springs whose ends hit two stops, the second one further away by ``shift``."""
    stops = [
        Contact(name, normal=-row, gap=gap, restitution=0.5)
        for name, row, gap in zip(("left", "right"), np.eye(2), (0.3, 0.3 + shift), strict=True)
    ]
    return LinearSystem(
        MASS,
        stiffness=np.diag([1.0, 1.0]),
        damping=0.3 * MASS,
        force=Harmonic([1.0, 1.0], 1.8),
        contacts=stops,
    )


def both_at_once():
    """``shift`` at which the ends arrive together, left before right: linear motion with one jump in a period.

    The distance d from the forced vibration p obeys d = Φ (G (p + d) − p), G the two impacts.
    """
    inverse = np.linalg.inv(MASS)
    hits = [np.eye(2) - 1.5 * np.outer(inverse[k], np.eye(2)[k]) / inverse[k, k] for k in range(2)]
    jump = np.eye(4)
    jump[2:, 2:] = hits[1] @ hits[0]
    rates = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse, -0.3 * np.eye(2)]])
    period = expm(rates * 2.0 * np.pi / 1.8)
    response = np.linalg.solve(np.eye(2) + 1.8j * 0.3 * MASS - 1.8**2 * MASS, np.ones(2))

    def before(time):
        wave = np.exp(1.8j * time)
        forced = np.real(np.concatenate([response * wave, 1.8j * response * wave]))
        kick = period @ ((jump - np.eye(4)) @ forced)
        return forced + np.linalg.solve(np.eye(4) - period @ jump, kick)

    times = np.linspace(0.0, 2.0 * np.pi / 1.8, 400)
    reach = np.array([before(time)[0] - 0.3 for time in times])
    found = []
    for i in np.flatnonzero(reach[:-1] * reach[1:] < 0.0):
        state = before(brentq(lambda t: before(t)[0] - 0.3, times[i], times[i + 1], xtol=1e-15))
        if state[2] > 0.0 and (hits[0] @ state[2:])[1] > 0.0:
            found.append(state[1] - 0.3)
    return found


def test_events_coincide_where_both_ends_arrive_together():
    branch = follow_periodic(bar, 0.1, -0.1, largest=0.1)
    found = branch.named("events coincide")[0]
    assert min(abs(found.parameter - shift) for shift in both_at_once()) < 1e-7
    one, two = found.motion.events
    assert one.time == pytest.approx(two.time, abs=1e-7)
    assert {one.contact, two.contact} == {"left", "right"}
    for motion in branch.motions[:-1]:  # not the last: two impacts at once are another one
        assert motion.residual < 1e-8
