"""Curves of responses over frequency: folds, corners, families of systems, interruption, figures."""

from math import pi, sqrt
from typing import Any

import matplotlib
import numpy as np
import pytest
from harmonic_models import chain, impact_oscillator, oscillator, pad
from scipy.optimize import brentq

from klapper.analysis import HarmonicCurve, follow_harmonic, harmonic_response
from klapper.analysis.harmonic.newton import newton
from klapper.mechanics import (
    Contact,
    FrictionElement,
    FunctionOfTime,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Stribeck,
)
from klapper.progress import Silent

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def hardening() -> HarmonicCurve:
    """An oscillator whose resonance leans to higher frequencies, because it hits a stop."""
    return follow_harmonic(impact_oscillator(1.0, 0.4, 0.1, force=0.1), 0.12, 0.4, harmonics=5)


def linear_amplitude(hertz: float) -> float:
    omega = 2.0 * pi * hertz
    return float(0.1 / abs(1.0 - omega**2 + 0.1j * omega))


def test_the_curve_leaves_the_linear_one_where_the_mass_reaches_the_stop(hardening: HarmonicCurve) -> None:
    frequencies, amplitudes = hardening.frequencies, hardening.amplitude("x")
    rises, falls = (
        brentq(lambda f: linear_amplitude(f) - 0.4, *ends) for ends in ((0.1, 0.159), (0.16, 0.4))
    )
    touching = hardening.shares("stop")[:, 1] > 0.0
    assert frequencies[touching][0] == pytest.approx(rises, abs=2e-3)
    free = amplitudes[~touching]
    assert free == pytest.approx([linear_amplitude(f) for f in frequencies[~touching]], rel=1e-5)
    assert hardening.curve.end == "high"
    upper, lower = hardening.folds
    assert lower.frequency == pytest.approx(falls, rel=1e-4)
    highest = frequencies[touching].max()  # of the points beside the fold
    assert highest <= upper.frequency < (1.0 + 1e-4) * highest


def test_between_its_folds_the_curve_has_three_responses_at_one_frequency(hardening: HarmonicCurve) -> None:
    """Between the folds the curve passes three times; each response solves the equations by itself."""
    upper, lower = hardening.folds
    middle = 0.5 * (upper.frequency + lower.frequency)
    before, after = hardening.frequencies[:-1] < middle, hardening.frequencies[1:] < middle
    places = np.flatnonzero(before != after)
    assert len(places) == 3
    system = impact_oscillator(1.0, 0.4, 0.1, force=0.1)
    found = [harmonic_response(system, middle, harmonics=5, start=hardening[int(i)]) for i in places]
    amplitudes = [one.amplitude("x") for one in found]
    assert amplitudes[0] > 1.05 * amplitudes[1] > 1.1 * amplitudes[2]
    assert amplitudes[2] == pytest.approx(linear_amplitude(middle), rel=1e-5)
    for i, amplitude in zip(places, amplitudes, strict=True):
        ends = sorted(hardening[int(j)].amplitude("x") for j in (i, i + 1))
        assert 0.99 * ends[0] < amplitude < 1.01 * ends[1]


def test_every_point_of_the_curve_solves_the_balance() -> None:
    curve = follow_harmonic(pad(0.5), 0.12, 0.2, harmonics=5)
    assert curve.curve.end == "high"
    for i in (0, len(curve) // 2, len(curve) - 1):
        one = curve[i]
        left = curve.balance.residual(one.unknowns, one.omega)
        assert np.linalg.norm(left) < 1e-6 * np.linalg.norm(one.unknowns)
        assert one.residual.balance < 1e-12
    middle = sqrt(0.12 * 0.2)  # where the flexibility of what is left out is taken
    near = curve[int(np.argmin(np.abs(curve.frequencies - middle)))]
    unknowns = newton(curve.balance, 2.0 * pi * middle, near.contact_amplitudes)
    alone = harmonic_response(pad(0.5), middle, harmonics=5)
    assert unknowns == pytest.approx(alone.unknowns, abs=1e-9)
    assert curve.peak("along").amplitude("along") == curve.amplitude("along").max()
    assert curve.harmonic_amplitudes("along").shape == (len(curve), 6)


def test_a_family_that_plays_one_course_is_one_system() -> None:
    whole = follow_harmonic(oscillator(1.0, 0.6, 0.05), 0.2, 0.3, harmonics=5)
    family = follow_harmonic(lambda f: oscillator(2.0 * pi * f, 0.6, 0.05), 0.2, 0.3, harmonics=5)
    assert family.frequencies == pytest.approx(whole.frequencies, rel=1e-6)
    assert family.amplitude("x") == pytest.approx(whole.amplitude("x"), rel=1e-6)


def test_a_rotor_with_unbalance_slides_on_a_circle() -> None:
    """Isotropic, with gyroscopic coupling: forward whirl of radius r, friction R against it.

    (k − ω² m + ω g) r and (c ω r + R) are the parts of the unbalance u ω² along and across the radius.
    """
    unbalance, limit, damping, gyroscopic = 0.5, 0.3, 0.05, 0.2

    def rotor(hertz: float) -> LinearSystem:
        omega = 2.0 * pi * hertz
        force = unbalance * omega**2
        turning = Harmonic([force, 0.0], omega) + Harmonic([0.0, force], omega, -pi / 2)
        return LinearSystem(
            [1.0, 1.0],
            stiffness=[1.0, 1.0],
            damping=[damping] * 2,
            gyroscopic=[[0.0, gyroscopic], [-gyroscopic, 0.0]],
            force=turning,
            contacts=[FrictionElement("seal", tangents=np.eye(2), limit=limit)],
        )

    def radius(hertz: float) -> float:
        omega = 2.0 * pi * hertz
        along = 1.0 - omega**2 + omega * gyroscopic
        return float(
            brentq(
                lambda r: np.hypot(along * r, damping * omega * r + limit) - unbalance * omega**2, 0.0, 1e3
            )
        )

    curve = follow_harmonic(rotor, 0.15, 0.25, harmonics=2)
    wanted = [radius(f) for f in curve.frequencies]
    assert curve.amplitude("q1") == pytest.approx(wanted, rel=1e-5)
    assert curve.curve.end == "high"


class _Stopped(Silent):
    def count(self, done: int) -> None:
        if done == 7:
            raise KeyboardInterrupt


def test_interrupted_it_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klapper.analysis.harmonic.follow.tally_for", lambda *_: _Stopped())
    curve = follow_harmonic(oscillator(1.0, 0.6, 0.05), 0.2, 0.3, harmonics=3)
    assert curve.curve.end == "interrupted"
    assert len(curve) >= 6
    assert curve[-1].residual.balance < 1e-12


def test_the_curve_ends_after_the_allowed_number_of_responses() -> None:
    curve = follow_harmonic(oscillator(1.0, 0.6, 0.05), 0.3, 0.2, harmonics=3, most=9)
    assert len(curve) == 9
    assert curve.curve.end == "most"
    assert np.all(np.diff(curve.frequencies) < 0.0)
    assert "9 responses from 0.3 Hz" in str(curve)


def test_figures_have_labels_and_units(hardening: HarmonicCurve) -> None:
    for figure in (hardening.plot(), hardening.plot("x"), hardening[len(hardening) // 2].plot()):
        labels = [axes.get_ylabel() + axes.get_xlabel() for axes in figure.axes]
        assert any("/ m" in label for label in labels)
        assert any("/ Hz" in label or "/ s" in label for label in labels)
    assert "Hz, 5 harmonics" in str(hardening[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: harmonic_response(oscillator(1.0, 0.1), harmonics=0), "harmonics is 0"),
        (lambda: harmonic_response(oscillator(1.0, 0.1), order=1.5), "order is 1.5"),
        (lambda: harmonic_response(oscillator(1.0, 0.1), -1.0), "frequency is -1.0"),
        (lambda: harmonic_response(oscillator(1.0, 0.1), harmonics=9, samples=18), "need more than 18"),
        (lambda: harmonic_response(oscillator(1.0, 0.1), tail=0.0), "tail is 0.0"),
        (lambda: harmonic_response(lambda f: oscillator(f, 0.1)), "give the frequency"),
        (lambda: harmonic_response(object()), "takes a LinearSystem"),
        (lambda: harmonic_response(LinearSystem([1.0], stiffness=[1.0])), "needs a forcing"),
        (lambda: harmonic_response(unread()), "give the period"),
        (lambda: harmonic_response(stribeck()), "do not depend on the sliding speed"),
        (
            lambda: harmonic_response(LinearSystem([1.0], stiffness=[4.0], force=Harmonic([1.0], 2.0))),
            "resonance",
        ),
        (lambda: harmonic_response(oscillator(1.5, 0.1)).displacement("y"), "'y'"),
        (lambda: harmonic_response(oscillator(1.5, 0.1)).displacement([1.0, 2.0]), "the row has shape"),
        (lambda: harmonic_response(oscillator(1.5, 0.1)).displacement("x", samples=9), "samples is 9"),
        (lambda: follow_harmonic(chain(), 0.1, 0.2), "no contacts"),
        (lambda: follow_harmonic(oscillator(1.0, 0.1), 0.1, 0.1), "give a range"),
        (
            lambda: harmonic_response(pad(1.0), start=harmonic_response(oscillator(1.5, 0.1), harmonics=2)),
            "same contacts",
        ),
        (
            lambda: harmonic_response(
                oscillator(1.5, 0.1),
                order=3,
                start=harmonic_response(oscillator(1.5, 0.1), harmonics=2, order=2),
            ),
            "does not divide",
        ),
    ],
)
def test_refusals_say_what_to_do(call: Any, words: str) -> None:
    with pytest.raises((InvalidModel, LookupError, ValueError), match=words):
        call()


def unread() -> LinearSystem:
    """A force whose period cannot be read off."""
    return LinearSystem([1.0], stiffness=[1.0], force=FunctionOfTime(lambda t: np.array([np.sin(t)])))


def stribeck() -> LinearSystem:
    law = Stribeck(0.5, 0.3, 0.1)
    ground = Contact("g", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=law)
    return LinearSystem([1.0, 1.0], stiffness=[1.0, 1.0], force=Harmonic([1.0, 0.0], 1.0), contacts=[ground])


def test_with_given_friction_limits_the_response_is_unique() -> None:
    """The frequency never turns back: friction with given limits is a monotone law."""
    curve = follow_harmonic(oscillator(1.0, 0.9, 0.05), 0.1, 0.35, harmonics=7)
    assert curve.curve.end == "high"
    assert np.all(np.diff(curve.frequencies) > 0.0)
    assert curve.folds == ()
