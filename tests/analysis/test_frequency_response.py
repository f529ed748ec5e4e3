"""Vibrations about contact states against closed forms, time integration, and simulations around their limits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

from analysis.states_of_rest import dense, rest_of
from klapper.analysis import FrequencyResponse, frequency_response
from klapper.analysis.validity_limit import slip_factor
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FrictionElement,
    Harmonic,
    InvalidModel,
    LinearSystem,
)
from klapper.schemes import EventDriven, Moreau
from klapper.simulation import simulate

G = 9.81


def chain(contacts: list[Contact], *, damping: float = 0.3, force: object = None) -> LinearSystem:
    """Three masses on springs; weight on all of them."""
    stiffness = 400.0 * np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    return LinearSystem(
        [1.0, 2.0, 1.5],
        stiffness=stiffness,
        damping=damping * stiffness / 100.0,
        force=-G * np.array([1.0, 2.0, 1.5]) if force is None else force,
        contacts=contacts,
    )


def states_left(answer: FrequencyResponse, index: int, factor: float, *, periods: float = 1.25) -> set[int]:
    """Contacts that are in another state than at rest at some time of a nonsmooth simulation from the vibration on."""
    system = answer.driven(index, factor=factor)
    period = 1.0 / answer.frequencies[index]
    run = simulate(system, periods * period, EventDriven(1e-11, sample=period / 50), progress=False)
    return {
        contact
        for contact in range(system.contacts.count)
        if np.any(run.state[1:, contact] != answer.rest.states[contact])
    }


def assert_confirmed(answer: FrequencyResponse, index: int, contact: str, change: str) -> None:
    """The simulation keeps all states 1 % below the limit, and the named contact leaves its own 1 % above."""
    limit = answer.limit
    assert (limit.contact[index], limit.change[index]) == (contact, change)
    assert states_left(answer, index, 0.99 * limit.factor[index]) == set()
    left = states_left(answer, index, 1.01 * limit.factor[index])
    assert answer.rest.system.contacts.number(contact) in left


def test_the_response_of_one_free_mass_is_the_closed_form() -> None:
    mass, damping, stiffness = 2.0, 3.0, 500.0
    system = LinearSystem([mass], damping=[damping], stiffness=[stiffness])
    frequencies = np.linspace(0.1, 6.0, 30)
    omega = 2 * np.pi * frequencies
    answer = frequency_response(rest_of(system), [5.0], frequencies)
    exact = 5.0 / (stiffness - mass * omega**2 + 1j * omega * damping)
    np.testing.assert_allclose(answer.position[:, 0], exact, rtol=1e-12)
    assert answer.valid.all()
    assert np.all(answer.limit.contact == "")


def test_amplitudes_satisfy_the_equations_of_motion_with_all_kinds_of_contacts() -> None:
    rng = np.random.default_rng(8)
    n = 8
    root, elastic, skew = rng.normal(size=(3, n, n))
    contacts = [
        Contact("shut", normal=rng.normal(size=n)),
        Contact("open", normal=rng.normal(size=n), gap=50.0),
        Contact("rough", normal=rng.normal(size=n), tangents=rng.normal(size=(2, n)), friction=0.5),
        Contact(
            "belt",
            normal=rng.normal(size=n),
            tangents=rng.normal(size=(2, n)),
            friction=Anisotropic(0.2, 0.4),
            tangential_rate=[1.0, 0.5],
        ),
        FrictionElement("joint", tangents=rng.normal(size=n), limit=1.0),
    ]
    system = LinearSystem(
        root @ root.T + n * np.eye(n),
        stiffness=40.0 * (elastic @ elastic.T + np.eye(n)),
        gyroscopic=skew - skew.T,
        damping=0.3 * np.eye(n),
        contacts=contacts,
        constraints=[Constraint("hinge", direction=rng.normal(size=n))],
        force=rng.normal(size=n),
    )
    squares = np.array([0.2, 0.4]) ** 2
    belt = np.array([1.0, 0.5])
    push = -squares * belt / np.sqrt(squares @ belt**2)
    rest = rest_of(system, ["shut", "rough", "belt"], ["rough"], {"belt": push})
    rest.states[4] = STICK
    load = rng.normal(size=n) + 1j * rng.normal(size=n)
    answer = frequency_response(rest, load, [0.2, 0.7])
    for k, omega in enumerate(2 * np.pi * answer.frequencies):
        q, forces = answer.position[k], answer.forces[k]
        assert np.abs(dense(system.constraint_matrix).T @ q).max() < 1e-12
        assert np.abs(dense(system.normal_directions).T @ q)[[0, 2, 3]].max() < 1e-12
        assert np.abs(dense(system.tangential_directions).T @ q)[[4, 5, 8]].max() < 1e-12
        np.testing.assert_allclose(answer.gaps[k, 1], contacts[1].normal @ q, atol=1e-14)
        total = (
            system.position_matrix @ q
            + 1j * omega * system.rate_matrix @ q
            - omega**2 * system.mass_matrix @ q
        )
        pushed = (
            dense(system.normal_directions) @ forces[:, 0]
            + dense(system.tangential_directions) @ forces[:, 1:].ravel()
            + dense(system.constraint_matrix) @ answer.constraint[k]
        )
        np.testing.assert_allclose(total - pushed, load, atol=1e-10)
        velocity = 1j * omega * (contacts[3].tangents @ q)
        step = 1e-6
        change = sum(
            part * (friction(belt + step * e) - friction(belt - step * e)) / (2 * step)
            for part, e in zip(velocity, np.eye(2), strict=True)
        )
        expected = forces[3, 0] * push + rest.forces[3, 0] * change
        np.testing.assert_allclose(forces[3, 1:], expected, rtol=1e-6)


def friction(v: np.ndarray) -> np.ndarray:
    squares = np.array([0.2, 0.4]) ** 2
    return -squares * v / np.sqrt(squares @ v**2)


def test_the_response_is_what_a_long_integration_ends_in() -> None:
    """Midpoint steps from rest until the transient is gone, contacts and all."""
    stops = [Contact("floor", normal=[0.0, 1.0, 0.0]), Contact("stop", normal=[-1.0, 0.0, 0.0], gap=0.2)]
    rest = rest_of(chain(stops), ["floor"])
    load = np.array([2.0, 1.0, -3.0])
    answer = frequency_response(rest, load, [2.4])
    assert answer.valid.all()
    omega = 2 * np.pi * 2.4
    shaken = chain(stops, force=Harmonic(load, omega) + rest.system.load)
    started = LinearSystem(
        shaken.mass_matrix,
        stiffness=shaken.stiffness,
        damping=shaken.damping,
        force=shaken.load,
        contacts=stops,
        position=rest.position,
    )
    period, steps = 1 / 2.4, 800
    run = simulate(started, 30 * period, Moreau(period / steps, theta=0.5), progress=False)
    wave = np.exp(-1j * omega * run.time[-steps:])
    moved = 2.0 * np.mean((run.position[-steps:] - rest.position) * wave[:, None], axis=0)
    force = run.impulse[-steps:, 0, 0] / (period / steps)
    size = np.abs(answer.position[0]).max()
    np.testing.assert_allclose(moved, answer.position[0], atol=1e-3 * size)
    middle = wave * np.exp(0.5j * omega * period / steps)
    pulsed = 2.0 * np.mean((force - rest.forces[0, 0]) * middle)
    assert abs(pulsed - answer.forces[0, 0, 0]) < 1e-3 * abs(answer.forces[0, 0, 0])


def test_large_sparse_systems_give_the_same_without_a_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    module = importlib.import_module("klapper.analysis.frequency_response")
    n = 60
    stiffness = 1e3 * sparse.diags_array(
        [-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]
    )
    eye = np.eye(n)
    contacts = [
        Contact("floor", normal=eye[20]),
        Contact("twice", normal=2 * eye[20]),
        Contact("belt", normal=eye[40], tangents=eye[41], friction=0.3, tangential_rate=1.0),
    ]
    system = LinearSystem(
        np.ones(n), stiffness=stiffness, damping=0.01 * stiffness, force=-np.ones(n), contacts=contacts
    )
    rest = rest_of(system, ["floor", "twice", "belt"], sliding={"belt": [-0.3]})
    frequencies = np.linspace(0.2, 3.0, 7)
    first = frequency_response(rest, eye[5], frequencies)
    monkeypatch.setattr(module, "_DENSE", 10)
    second = frequency_response(rest, eye[5], frequencies)
    assert second.stability is None
    assert first.shared == second.shared == ("floor", "twice")
    for name in ("position", "forces"):
        size = np.abs(getattr(first, name)).max()
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=1e-10 * size)
    np.testing.assert_allclose(first.limit.factor, second.limit.factor, rtol=1e-9)


@pytest.mark.parametrize("frequency", [1.3, 4.1])
def test_lift_off_is_confirmed_by_simulation(frequency: float) -> None:
    answer = frequency_response(
        rest_of(chain([Contact("floor", normal=[0.0, 1.0, 0.0])]), ["floor"]), [1.0, 0.5, 0.0], [frequency]
    )
    expected = answer.rest.forces[0, 0] / abs(answer.forces[0, 0, 0])
    assert answer.limit.factor[0] == pytest.approx(expected)
    assert_confirmed(answer, 0, "floor", "lifts off")


def test_closing_is_confirmed_by_simulation() -> None:
    contacts = [
        Contact("floor", normal=[0.0, 1.0, 0.0]),
        Contact("ceiling", normal=[0.0, 0.0, -1.0], gap=0.02, restitution=0.5),
    ]
    answer = frequency_response(rest_of(chain(contacts), ["floor"]), [0.0, 0.0, 1.0], [4.0])
    assert_confirmed(answer, 0, "ceiling", "closes")


def block_on_floor(friction: float, lean: float) -> LinearSystem:
    """A block (x, y) that sticks on a rough floor under weight and a steady push, with a second mass on a spring."""
    floor = Contact("floor", normal=[0.0, 1.0, 0.0], tangents=[1.0, 0.0, 0.0], friction=friction)
    spring = 300.0 * np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]])
    return LinearSystem(
        [1.0, 1.0, 0.5],
        stiffness=spring,
        damping=0.02 * spring,
        force=[lean, -G, 0.0],
        contacts=[floor],
    )


@pytest.mark.parametrize("phase", [0.0, 1.0, 2.5])
def test_slip_under_a_normal_force_that_swings_too_is_confirmed_by_simulation(phase: float) -> None:
    """Tangential and normal force out of phase: the sum of amplitudes would be wrong."""
    load = np.array([0.0, 3.0 * np.exp(1j * phase), 1.0])
    answer = frequency_response(rest_of(block_on_floor(0.4, 1.2), ["floor"], ["floor"]), load, [3.0])
    assert_confirmed(answer, 0, "floor", "slips")


def test_slip_in_space_is_confirmed_by_simulation() -> None:
    """A mass on an anisotropic floor, pushed around on an ellipse while its weight swings."""
    floor = Contact(
        "floor",
        normal=[0.0, 0.0, 1.0],
        tangents=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        friction=Anisotropic(0.5, 0.3),
    )
    system = LinearSystem([1.0, 1.0, 1.0], force=[0.8, -0.5, -G], contacts=[floor])
    load = np.array([1.0, 0.7 * np.exp(1.2j), 2.0 * np.exp(0.4j)])
    answer = frequency_response(rest_of(system, ["floor"], ["floor"]), load, [2.0])
    assert_confirmed(answer, 0, "floor", "slips")


def test_a_sliding_contact_that_comes_to_rest_is_confirmed_by_simulation() -> None:
    belt = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-0.3, friction=0.3)
    system = LinearSystem(
        [1.0, 1.0], stiffness=[90.0, 0.0], damping=[0.5, 0.0], force=[0.0, -G], contacts=[belt]
    )
    answer = frequency_response(rest_of(system, ["belt"], sliding={"belt": [0.3]}), [1.0, 0.0], [1.1])
    velocity = abs(2j * np.pi * 1.1 * answer.position[0, 0])
    assert answer.limit.factor[0] == pytest.approx(0.3 / velocity)
    assert_confirmed(answer, 0, "belt", "sticks")


def test_a_friction_element_slips_at_its_limit() -> None:
    joint = FrictionElement("joint", tangents=[1.0, 0.0], limit=2.0)
    spring = 50.0 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    system = LinearSystem([1.0, 1.0], stiffness=spring, damping=0.01 * spring, contacts=[joint])
    rest = rest_of(system)
    rest.states[0] = STICK
    answer = frequency_response(rest, [0.0, 1.0], [0.4])
    assert answer.limit.factor[0] == pytest.approx(2.0 / abs(answer.forces[0, 0, 1]))
    assert_confirmed(answer, 0, "joint", "slips")


def brute_slip(tangential: np.ndarray, limit: float, moved: np.ndarray, swings: complex) -> float:
    """Smallest factor over many times of one period, from the quadratic equation of each."""
    wave = np.exp(1j * np.linspace(0.0, 2 * np.pi, 40001))
    t, r = np.real(np.outer(wave, moved)), np.real(wave * swings)
    a = np.sum(t * t, axis=1) - r**2
    b = 2 * (t @ tangential - limit * r)
    c = tangential @ tangential - limit**2
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
    candidates = np.concatenate([(-b + root) / (2 * a), (-b - root) / (2 * a)])
    reached = limit + np.concatenate([r, r]) * candidates
    return float(candidates[(candidates > 0.0) & (reached >= -1e-9)].min())


def test_the_slip_limit_in_space_is_the_smallest_of_all_times() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        limit = rng.uniform(0.5, 2.0)
        tangential = rng.normal(size=2)
        tangential *= rng.uniform(0.0, 0.999) * limit / np.linalg.norm(tangential)
        moved, swings = rng.normal(size=2) + 1j * rng.normal(size=2), rng.normal() + 1j * rng.normal()
        found = slip_factor(tangential[None], np.array([limit]), moved[None, None], np.array([[swings]]))[
            0, 0
        ]
        assert found == pytest.approx(brute_slip(tangential, limit, moved, swings), rel=1e-6)


@pytest.mark.parametrize(
    ("tangential", "moved", "swings", "expected"),
    [
        ([0.0, 0.0], [1.0, 1j], 0.0, 2.0),  # a force that turns: radius 1 of 2
        ([1.0, 0.0], [1.0, 1j], 0.0, 1.0),  # about a centre halfway out
        ([0.0, 0.0], [0.0, 0.0], 1.0, 2.0),  # only the normal force: lift-off
        ([0.0, 0.0], [3.0, 4.0], 0.0, 0.4),  # along one line
        ([1.2, 1.6], [1.0, 0.0], 0.0, 0.0),  # at the limit already
    ],
)
def test_slip_limits_are_the_closed_forms(
    tangential: list[float], moved: list[complex], swings: float, expected: float
) -> None:
    found = slip_factor(
        np.array([tangential]),
        np.array([2.0]),
        np.array([[moved]], dtype=complex),
        np.array([[swings]], dtype=complex),
    )
    assert found[0, 0] == pytest.approx(expected, abs=1e-12)


def test_contacts_that_share_a_load_have_the_limit_of_one() -> None:
    """Twice the same support: each carries half, and both lift off together."""
    twins = [Contact("one", normal=[0.0, 1.0, 0.0]), Contact("other", normal=[0.0, 1.0, 0.0])]
    both = frequency_response(rest_of(chain(twins), ["one", "other"]), [1.0, 0.0, 0.0], [1.5])
    alone = frequency_response(rest_of(chain(twins[:1]), ["one"]), [1.0, 0.0, 0.0], [1.5])
    assert both.shared == ("one", "other")
    np.testing.assert_allclose(both.position, alone.position, rtol=1e-10)
    np.testing.assert_allclose(both.forces[0, :, 0], 0.5 * alone.forces[0, 0, 0], rtol=1e-10)
    np.testing.assert_allclose(both.limit.factors[0], alone.limit.factor[0], rtol=1e-10)
    assert "not unique" in str(both)


def test_what_the_vibration_does_not_reach_has_no_limit() -> None:
    """A contact that only touches stops the linear theory at once, unless nothing moves there."""
    contacts = [Contact("floor", normal=[0.0, 1.0]), Contact("touching", normal=[-1.0, 0.0])]
    system = LinearSystem([1.0, 1.0], stiffness=[10.0, 10.0], force=[0.0, -5.0], contacts=contacts)
    rest = rest_of(system, ["floor"])
    assert rest.states.tolist() == [SLIP, OPEN]
    moved, still = (frequency_response(rest, load, [1.0]) for load in ([1.0, 0.0], [0.0, 1.0]))
    assert (moved.limit.factor[0], moved.limit.contact[0]) == (0.0, "touching")
    assert still.limit.factors[0, 1] == np.inf
    assert still.limit.factor[0] == pytest.approx(5.0)


def test_the_load_that_exceeds_the_limit_is_marked() -> None:
    rest = rest_of(chain([Contact("floor", normal=[0.0, 1.0, 0.0])]), ["floor"])
    frequencies = np.linspace(0.5, 8.0, 60)
    answer = frequency_response(rest, [30.0, 0.0, 0.0], frequencies)
    assert 0 < answer.valid.sum() < 60
    exceeded = np.abs(answer.forces[:, 0, 0]) > rest.forces[0, 0]
    assert np.array_equal(answer.valid, ~exceeded)
    assert str(answer).count(" no  floor lifts off") == exceeded.sum()
    figure = answer.plot(rows={"first mass": [1.0, 0.0, 0.0]})
    solid, dashed = figure.axes[0].get_lines()[:2]
    assert np.array_equal(np.isfinite(solid.get_ydata()), answer.valid)
    assert np.all(np.isfinite(dashed.get_ydata()[~answer.valid]))
    assert dashed.get_linestyle() != "-"


def test_what_a_contact_holds_is_not_drawn_as_round_off() -> None:
    answer = frequency_response(
        rest_of(chain([Contact("floor", normal=[0.0, 1.0, 0.0])]), ["floor"]), [0.1, 0.0, 0.0], [1.0, 2.0]
    )
    assert answer.valid.all()
    moved, held = answer.plot(rows={"first": [1.0, 0.0, 0.0], "second": [0.0, 1.0, 0.0]}).axes[0].get_lines()
    assert (moved.get_label(), held.get_label()) == ("first", "second (at rest)")
    np.testing.assert_allclose(moved.get_ydata(), np.abs(answer.position[:, 0]))
    assert np.isnan(held.get_ydata()).all()


def test_nothing_holds_about_an_unstable_rest_or_in_resonance() -> None:
    falling = LinearSystem([1.0], stiffness=[-4.0])
    answer = frequency_response(rest_of(falling), [1.0], [1.0])
    assert not answer.valid.any()
    assert "unstable (divergence)" in str(answer)
    undamped = LinearSystem([1.0], stiffness=[4.0], contacts=[Contact("far", normal=[1.0], gap=1.0)])
    resonance = frequency_response(rest_of(undamped), [1.0], [2.0 / (2 * np.pi)])
    assert resonance.limit.factor[0] < 1e-12
    assert not resonance.valid.any()


def test_a_load_may_change_with_frequency() -> None:
    """Unbalance, m e ω²."""
    system = LinearSystem([1.0], stiffness=[30.0], damping=[0.1])
    frequencies = np.array([0.3, 0.9])
    load = (2 * np.pi * frequencies[:, None]) ** 2
    answer = frequency_response(rest_of(system), load, frequencies)
    for k in range(2):
        alone = frequency_response(rest_of(system), load[k], frequencies[k : k + 1])
        np.testing.assert_allclose(answer.position[k], alone.position[0])


@pytest.mark.parametrize(
    ("rest", "load", "frequencies", "message"),
    [
        (3, [1.0], [1.0], "rest is a int"),
        (None, [1.0, 2.0], [1.0], r"load has shape \(2,\); expected \(1,\)"),
        (None, [np.nan], [1.0], "expected finite"),
        (None, [1.0], [0.0, 1.0], "above 0"),
    ],
)
def test_wrong_rests_loads_and_frequencies_are_refused_in_one_sentence(
    rest: object, load: object, frequencies: object, message: str
) -> None:
    given = rest_of(LinearSystem([1.0], stiffness=[1.0])) if rest is None else rest
    with pytest.raises(InvalidModel, match=message):
        frequency_response(given, load, frequencies)
