"""Two blades with an under-platform damper: a curve whose contacts change their states all along, and what is read
off it."""

import numpy as np
import pytest

from klapper.analysis import HarmonicCurve, follow_harmonic, harmonic_response
from klapper.analysis.harmonic.newton import balanced
from klapper.mechanics import Contact, Harmonic, InvalidModel
from klapper.reduction import craig_bampton, quasi_static
from klapper.schemes import Moreau
from klapper.simulation import simulate
from klapper.structures import Assembly, Beam, Material, Section, Structure

TIPS = 0.2, 0.204


def blade(length):
    steel = Material.isotropic(young=200e9, poisson=0.3, density=8000.0)
    section = Section.rectangle(height=0.006, width=0.03)
    beam = Beam(length, steel, section, elements=10, supports={0.0: "clamped"}, theory="euler-bernoulli")
    return beam.with_rayleigh(mass=1.0, stiffness=2e-6)


def blades(hertz=120.0):
    """The whole structure with its contacts, shaken at a frequency, and the row of a tip."""
    damper = Structure(0.01 * np.eye(2), np.diag([1e2, 1e2]), coordinates=["x", "y"])
    whole = Assembly({"one": blade(TIPS[0]), "two": blade(TIPS[1]), "damper": damper})
    one, two = whole.row("one", 0.06), whole.row("two", 0.06)
    x, y = whole.lifted("damper", [1.0, 0.0]), whole.lifted("damper", [0.0, 1.0])
    angle = np.radians(45)

    def contact(name, side, platform):
        n = np.array([side * np.sin(angle), -np.cos(angle)])
        t = np.array([np.cos(angle), side * np.sin(angle)])
        normal, tangent = n[0] * (x - platform) + n[1] * y, t[0] * (x - platform) + t[1] * y
        return Contact(name, normal=normal, tangents=[tangent], friction=0.3, gap=0.0)

    loaded = whole.with_load(40.0 * y).with_load(Harmonic(5.0, 2 * np.pi * hertz), whole.row("one", TIPS[0]))
    loaded = loaded.with_load(Harmonic(-5.0, 2 * np.pi * hertz), whole.row("two", TIPS[1]))
    return loaded.system([contact("left", 1, one), contact("right", -1, two)]), whole.row("one", TIPS[0])


@pytest.fixture(scope="module")
def damped() -> tuple:
    full, tip = blades()
    reduced = craig_bampton(full, 6)
    return reduced, tip, follow_harmonic(reduced.system, 100.0, 180.0, harmonics=9)


def test_the_curve_does_not_stall_where_contacts_change_their_states(damped) -> None:
    """It used to take 1000 points for the first 15 Hz."""
    reduced, tip, curve = damped
    assert curve.curve.end == "high"
    assert len(curve) <= 150
    row = tip @ reduced.basis
    amplitudes = curve.amplitude(row)
    for hertz in np.linspace(104.0, 176.0, 10):
        alone = harmonic_response(reduced.system, hertz, harmonics=9).amplitude(row)
        order = np.argsort(curve.frequencies)
        near = np.interp(hertz, curve.frequencies[order], amplitudes[order])
        assert alone == pytest.approx(near, rel=0.05)
        i = int(np.argmin(np.abs(curve.frequencies - hertz)))
        omega = 2.0 * np.pi * curve.frequencies[i]
        cold = curve.balance.forces(balanced(curve.balance, omega))
        assert cold == pytest.approx(curve[i].contact_amplitudes, abs=1e-5 * np.abs(cold).max())


@pytest.mark.slow
def test_three_points_of_the_curve_are_where_runs_settle(damped) -> None:
    """Time integration with nothing in common: 800 periods, to the accuracy of nine harmonics."""
    reduced, tip, curve = damped
    row = tip @ reduced.basis
    for hertz in (105.0, 121.0, 150.0):
        system = craig_bampton(blades(hertz)[0], 6).system
        steps = 300
        run = simulate(system, 800.0 / hertz, Moreau(1.0 / hertz / steps), progress=False)
        late = run.position[-10 * steps :] @ row
        i = int(np.argmin(np.abs(curve.frequencies - hertz)))
        first = curve[i] if abs(curve.frequencies[i] - hertz) < 1.0 else None
        there = harmonic_response(reduced.system, hertz, harmonics=9, start=first)
        assert 0.5 * np.ptp(late) == pytest.approx(there.amplitude(row), rel=0.02)


def test_a_displacement_is_a_name_a_row_or_a_place_of_the_reduced_structure(damped) -> None:
    reduced, tip, curve = damped
    row = np.asarray(tip @ reduced.basis)
    amplitudes = curve.amplitude(row)
    assert curve.amplitude((reduced, tip)) == pytest.approx(amplitudes, rel=1e-12)
    name = reduced.full.coordinates[int(np.argmax(np.abs(tip)))]
    assert curve.amplitude((reduced, name)) == pytest.approx(amplitudes / np.abs(tip).max(), rel=1e-9)
    first = reduced.system.coordinates[0]
    assert curve.amplitude(first) == pytest.approx(curve.amplitude(np.eye(len(row))[0]), rel=1e-12)
    peak = curve.peak((reduced, tip))
    assert f"row: at most {amplitudes.max():.6g} m, at {peak.frequency:.6g} Hz" in curve.summary(
        (reduced, tip)
    )
    for what, names in (
        (row, ["row"]),
        (first, [first]),
        ((reduced, name), [name]),
        ([row, first], ["row 1", first]),
        ({"tip": (reduced, tip)}, ["tip"]),
    ):
        figure = curve.plot(what)
        assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == names
    with pytest.raises(InvalidModel, match="a row"):
        curve.amplitude(np.ones(3))
    with pytest.raises(InvalidModel, match="the reduction that has made this system"):
        curve.amplitude((craig_bampton(reduced.full, 4), tip))


def test_static_parts_of_a_reduction_move_its_places() -> None:
    """Nearly all modes and the static rest of them: the same place as in the whole structure."""
    beam = blade(0.2)
    row = beam.row(0.2)
    stop = Contact("stop", normal=-row, gap=1e-4)
    full = beam.with_load(Harmonic(2.0, 2 * np.pi * 60.0), row).system([stop])
    reduced = quasi_static(full, 6)
    whole = harmonic_response(full, 60.0, harmonics=5)
    small = harmonic_response(reduced.system, 60.0, harmonics=5, period=1.0 / 60.0)
    assert small.amplitude((reduced, row)) == pytest.approx(whole.amplitude(row), rel=1e-4)


def test_the_end_of_a_curve_is_told_in_its_own_numbers(damped) -> None:
    reduced, _, curve = damped
    assert curve.ended == "the frequency has reached 180 Hz"
    few: HarmonicCurve = follow_harmonic(reduced.system, 100.0, 180.0, harmonics=3, most=7)
    assert few.ended == "7 responses were computed, the most that were allowed"
    assert len(few) == 7
