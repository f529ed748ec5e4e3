"""Sweeps, pulses, tables and moving bases: against closed forms, differences, other coordinates and scipy."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import klapper as kl
from klapper.mechanics import InvalidModel, Signal
from klapper.mechanics.compiled_form import Tables
from klapper.mechanics.kernels.given import bring
from klapper.schemes import Ordinary
from klapper.structures import Member

STEEL, SECTION = kl.Material(210e9, 7850.0, 81e9), kl.Section.rectangle(0.01, 0.02)


def random_course(rng: np.random.Generator, n: int) -> Signal:
    """A signal of n numbers of any kind, with a random start and size."""
    amplitude, start = rng.normal(size=n), rng.uniform(0.0, 1.0)
    kind = rng.integers(6)
    if kind < 2:
        f0, f1 = rng.uniform(0.5, 20.0, 2)
        spacing = "linear" if kind else "logarithmic"
        return kl.Sweep(amplitude, f0, f1, rng.uniform(0.2, 2.0), start, spacing, rng.normal())
    if kind < 4:
        return kl.Pulse(amplitude, rng.uniform(0.1, 1.0), start, "half-sine" if kind == 2 else "haversine")
    times = np.cumsum(rng.uniform(0.05, 0.4, 8))
    return kl.Tabulated(times, rng.normal(size=(8, n)), "linear" if kind == 4 else "cubic")


@pytest.mark.parametrize("seed", range(30))
def test_rates_are_derivatives_and_compiled_code_says_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    signal = random_course(rng, 3)
    t, h = rng.uniform(-0.5, 3.0, 40), 1e-6
    t = t[np.abs(t[:, None] - signal.breaks).min(axis=1) > 1e-3]
    for course, rate in (("value", "rate"), ("rate", "acceleration")):
        change = (getattr(signal, course)(t + h) - getattr(signal, course)(t - h)) / (2 * h)
        given = getattr(signal, rate)(t)
        assert change == pytest.approx(given, abs=1e-6 * (np.abs(given).max() + 1.0))
    tables = Tables()
    whole = signal + kl.Harmonic(rng.normal(size=3), frequency=2.0)
    place = tables.signal(whole)
    index, data = tables.packed()
    for time in [*t, *signal.breaks]:
        bring(index, data, time)
        expected = np.concatenate([whole.value(time), whole.rate(time), whole.acceleration(time)])
        same = 3 if time in signal.breaks else 9  # a rate or acceleration that jumps there is either one
        near = pytest.approx(expected[:same], abs=1e-11 * (1.0 + np.abs(expected).max()))
        assert data[place : place + same] == near


@pytest.mark.parametrize("seed", range(12))
def test_signals_go_through_matrices_and_take_factors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    signal, matrix, t = random_course(rng, 3), rng.normal(size=(2, 3)), rng.uniform(0.0, 3.0, 5)
    assert type(signal.mapped(matrix)) is type(-signal) is type(signal)
    number = signal.mapped(np.array([1.0, 0.0, 0.0]))
    for course in ("value", "rate", "acceleration"):
        given = getattr(signal, course)(t)
        assert getattr(signal.mapped(matrix), course)(t) == pytest.approx(given @ matrix.T)
        assert getattr(2.0 * signal - signal, course)(t) == pytest.approx(given)
        assert getattr(number * [1.0, -2.0], course)(t) == pytest.approx(given[:, :1] * [1.0, -2.0])


def test_a_sweep_passes_its_frequencies_and_counts_its_turns() -> None:
    linear = kl.Sweep(1.0, 5.0, 25.0, 4.0)
    assert linear.frequency([-1.0, 0.0, 2.0, 4.0, 9.0]).tolist() == [5.0, 5.0, 15.0, 25.0, 25.0]
    zeros = np.flatnonzero(np.diff(np.sign(linear.value(np.linspace(0.0, 4.0, 400_001)))))
    assert len(zeros) == 2 * 60  # 15 Hz on average for 4 s
    octaves = kl.Sweep(1.0, 2.0, 32.0, 4.0, spacing="logarithmic")
    assert octaves.frequency([0.0, 1.0, 2.0, 3.0, 4.0]) == pytest.approx([2.0, 4.0, 8.0, 16.0, 32.0])


@pytest.mark.parametrize(
    "scheme",
    [kl.EventDriven(), kl.EventDriven(method="radau"), Ordinary()],
    ids=["dop853", "radau", "ordinary"],
)
def test_no_integrator_steps_over_a_short_pulse(scheme: object) -> None:
    """A free mass at rest is pushed for 1 ms after 100 s: m Δv = 2/π F T."""
    mass = kl.LinearSystem([2.0], force=kl.Pulse([500.0], 1e-3, start=100.0))
    run = kl.simulate(mass, 200.0, scheme)
    assert run.velocity[-1, 0] == pytest.approx(2.0 / np.pi * 500.0 * 1e-3 / 2.0, rel=1e-6)


def test_a_shaken_oscillator_hits_its_stop_when_scipy_says() -> None:
    """Base acceleration from a table, in coordinates relative to the base, until the first impact."""
    table = kl.Tabulated(np.linspace(0.0, 2.0, 41), np.random.default_rng(4).normal(size=41))
    k, c, gap = 400.0, 0.8, 0.004
    stop = kl.Contact("stop", normal=[-1.0], gap=gap, restitution=0.5)
    load = kl.base_load([1.0], [1.0], acceleration=table)
    system = kl.LinearSystem([1.0], stiffness=[k], damping=[c], force=load, contacts=[stop])
    run = kl.simulate(system, 2.0, kl.EventDriven())

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -k * y[0] - c * y[1] - float(np.interp(t, table.times, table.values))]

    def reached(t: float, y: np.ndarray) -> float:
        return y[0] - gap

    peer = solve_ivp(rate, (0.0, 2.0), [0.0, 0.0], events=reached, rtol=1e-11, atol=1e-14, max_step=0.002)
    assert run.impacts().time[0] == pytest.approx(peer.t_events[0][0], abs=1e-8)


def beam_of(supports: dict[float, str] | None) -> kl.Beam:
    beam = kl.Beam(1.0, STEEL, SECTION, elements=5, supports=supports)
    return beam.with_mass(beam.row(1.0), 0.3)


def test_a_beam_on_a_moving_base_moves_as_one_whose_clamp_is_moved() -> None:
    motion = 0.002 + kl.Harmonic(-0.002, frequency=3.0)
    clamped, free = beam_of({0.0: "clamped"}), beam_of(None)
    local = clamped.with_base_motion(displacement=motion).system()
    clamp = kl.Constraint("clamp", direction=free.row(0.0), offset=-motion)
    angle = kl.Constraint("angle", direction=free.row(0.0, "rotation"))
    world = free.system(constraints=[clamp, angle])
    errors = []
    for h in (4e-5, 2e-5):
        ours, theirs = (kl.simulate(system, 0.2, kl.Moreau(h)) for system in (local, world))
        tip = ours.position @ clamped.row(1.0) + motion.value(ours.time)
        errors.append(np.abs(tip - theirs.position @ free.row(1.0)).max())
    assert errors[1] < 2e-7 and errors[1] < 0.6 * errors[0]  # of the order of the scheme


def test_a_base_carries_as_gravity_pulls_and_attached_masses_come_along() -> None:
    """With 9.81 m/s² upwards a structure bends as under its weight, whichever way the base is described."""
    beam = kl.Beam(1.0, STEEL, SECTION, elements=5, supports={0.0: "clamped", 0.7: "pinned"})
    member = Member("A", "B", STEEL, SECTION, elements=4)
    frame = kl.Frame({"A": (0, 0), "B": (1, 0.4)}, {"arm": member}, supports={"A": "clamped"})
    for structure, tip in ((beam, beam.row(1.0)), (frame, frame.row("B", "y"))):
        lifted = structure.with_base_motion(acceleration=9.81).load.value(0.0)
        assert lifted == pytest.approx(structure.with_gravity(9.81).load.value(0.0), rel=1e-12, abs=1e-12)
        heavy = structure.with_mass(tip, 2.0).with_base_motion(acceleration=9.81).load.value(0.0)
        assert heavy - lifted == pytest.approx(-2.0 * 9.81 * tip, abs=1e-9)


def test_fixed_nodes_of_an_imported_structure_move_with_the_base() -> None:
    """A consistent mass couples the fixed node: M r of all nodes, not only of the free ones."""
    mass, stiffness = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[3.0, -3.0], [-3.0, 3.0]])
    rod = kl.ImportedStructure(mass, stiffness, dofs=[(1, 2), (2, 2)], units="kg, m, s", fixed=[1])
    assert rod.with_base_motion(acceleration=1.0, direction="y").load.value(0.0).tolist() == [-3.0]
    assert rod.with_base_motion(acceleration=1.0, direction="x").load.value(0.0).tolist() == [0.0]


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_columns_come_from_files_of_every_separator(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(
        f"# shaker\nt{mark}a{mark}b\n0{mark}1.5{mark}2\n\n0.5{mark}-1{mark}3e0\n", encoding="utf-8"
    )
    assert kl.Tabulated.from_csv(file, "b", time="t", factor=2.0).values.tolist() == [4.0, 6.0]
    assert kl.Tabulated.from_csv(file, 1).values.tolist() == [1.5, -1.0]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("t,a\n0,1\n1,2\n", "acc", "columns 't', 'a'; 'acc' is none of them"),
        ("0,1\n1,2\n", 2, "2 columns without names; 2 is none of them"),
        ("t,a\n0,1\n1,fast\n", 1, "line 3 has 'fast' in column 1; a number is required"),
        ("t,a\n\n0,1\n1\n", 1, "line 4 has nothing in column 1"),
        ("t,a\n0,1\n0,2\n", 1, "2 rising times or more"),
        ("t,a\n0,1\n1,nan\n", 1, "'nan'"),
        ("", 1, "no rows of numbers"),
    ],
)
def test_a_file_that_holds_no_table_is_refused_in_one_sentence(
    tmp_path: Path, text: str, column: str | int, words: str
) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidModel, match=words):
        kl.Tabulated.from_csv(file, column)


def test_what_cannot_be_a_course_is_refused() -> None:
    table = kl.Tabulated([0.0, 1.0], [0.0, 1.0])
    for make, words in (
        (lambda: kl.Harmonic(1.0), "either angular_frequency .* or frequency .*; none was given"),
        (lambda: kl.Harmonic(1.0, 2.0, frequency=3.0), "both was given"),
        (lambda: kl.Sweep(1.0, 0.0, 3.0, 1.0), "start_frequency is 0.0"),
        (lambda: kl.Pulse(1.0, 0.0), "duration is 0.0"),
        (
            lambda: kl.Pulse(1.0, 1.0, form="square"),
            "form is 'square'; it must be one of 'half-sine', 'haversine'",
        ),
        (lambda: kl.Tabulated([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], "cubic"), "a cubic table needs 4"),
        (lambda: kl.base_load([1.0], [1.0]), "none was given"),
        (lambda: kl.base_load([1.0], [1.0], displacement=table), "interpolation='cubic'"),
        (lambda: kl.base_load([1.0, 2.0], [1.0], acceleration=table), "direction has shape"),
        (lambda: kl.Pulse([1.0, 2.0], 1.0) * [1.0, 2.0], "takes a signal of one number"),
    ):
        with pytest.raises(InvalidModel, match=words):
            make()
