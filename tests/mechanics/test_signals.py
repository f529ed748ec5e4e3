"""Given functions of time: values, derivatives, shapes, what is refused."""

import numpy as np
import pytest

from klapper.mechanics import Constant, FunctionOfTime, Harmonic, InvalidModel, Ramp, Signal
from klapper.mechanics.signals import Sum, as_signal

TIMES = np.array([-0.7, 0.0, 0.3, 1.9])
ALL = {
    "constant": Constant(2.5),
    "constant array": Constant([1.0, -2.0, 0.5]),
    "harmonic": Harmonic(1.5, 3.0, 0.4),
    "harmonic array": Harmonic([1.0, -2.0], 7.0),
    "ramp": Ramp(0.2, -1.5),
    "ramp array": Ramp([0.0, 1.0], [2.0, 0.0]),
    "function": FunctionOfTime(lambda t: np.exp(-t) * np.sin(3 * t)),
    "function array": FunctionOfTime(lambda t: [t**3, np.cos(t)]),
    "sum": Harmonic(1.0, 2.0) + Ramp(0.1, 0.3) + 4.0,
    "sum array": Harmonic([1.0, 2.0], 5.0) + np.array([0.0, 3.0]),
}


@pytest.mark.parametrize("name", ALL)
def test_derivatives_are_those_of_the_value(name: str) -> None:
    signal, d = ALL[name], 1e-4
    slope = (signal.value(TIMES + d) - signal.value(TIMES - d)) / (2 * d)
    bend = (signal.value(TIMES + d) - 2 * signal.value(TIMES) + signal.value(TIMES - d)) / d**2
    np.testing.assert_allclose(signal.rate(TIMES), slope, atol=2e-6)
    np.testing.assert_allclose(signal.acceleration(TIMES), bend, atol=2e-6)


@pytest.mark.parametrize("name", ALL)
def test_a_time_and_an_array_of_times_agree(name: str) -> None:
    signal = ALL[name]
    for ask in (signal.value, signal.rate, signal.acceleration):
        together = ask(TIMES)
        assert together.shape == (len(TIMES), *signal.shape)
        for k, time in enumerate(TIMES):
            one = ask(float(time))
            assert one.shape == signal.shape
            np.testing.assert_array_equal(one, together[k])


@pytest.mark.parametrize("name", ALL)
def test_what_is_returned_can_be_changed_without_harm(name: str) -> None:
    signal = ALL[name]
    before, rate = signal.value(TIMES).copy(), signal.rate(TIMES).copy()
    signal.value(TIMES)[...] = 99.0
    signal.rate(TIMES)[...] = 99.0
    np.testing.assert_array_equal(signal.value(TIMES), before)
    np.testing.assert_array_equal(signal.rate(TIMES), rate)


def test_harmonic_keeps_its_phase_in_long_runs() -> None:
    """A million periods later the value is the same, up to the rounding of ω t itself."""
    signal = Harmonic(1.0, 2 * np.pi * 8.0)  # period of a power of two: the times are exact
    late = 1_000_000 * 0.125
    assert abs(signal.value(late + 0.03125) - signal.value(0.03125)) < 1e-8


def test_function_takes_the_derivatives_it_is_given() -> None:
    signal = FunctionOfTime(np.sin, rate=lambda t: 7.0, acceleration=lambda t: -3.0)
    assert signal.rate(0.2) == 7.0
    assert signal.acceleration(0.2) == -3.0
    half = FunctionOfTime(np.sin, rate=np.cos)
    assert half.acceleration(0.2) == pytest.approx(-np.sin(0.2), abs=1e-9)


def test_only_constants_are_constant() -> None:
    assert Constant(1.0).constant
    assert (Constant(1.0) + 2.0).constant
    for name in ("harmonic", "ramp", "function", "sum"):
        assert not ALL[name].constant


def test_everything_that_can_be_a_signal_becomes_one() -> None:
    same = Harmonic(1.0, 2.0)
    assert as_signal(same) is same
    assert isinstance(as_signal(3), Constant)
    assert as_signal([1, 2]).shape == (2,)
    assert isinstance(as_signal(lambda t: t), FunctionOfTime)
    assert isinstance(3.0 + Harmonic(1.0, 2.0), Sum)


def test_an_array_plus_a_signal_is_a_signal() -> None:
    total = np.array([0.0, 3.0]) + Harmonic([1.0, 2.0], 5.0)
    assert isinstance(total, Signal)
    np.testing.assert_array_equal(total.value(0.0), [1.0, 5.0])


BAD = {
    "text": lambda: Constant("strong"),
    "nan": lambda: Constant([1.0, np.nan]),
    "infinite amplitude": lambda: Harmonic(np.inf, 1.0),
    "frequency nan": lambda: Harmonic(1.0, np.nan),
    "frequency text": lambda: Harmonic(1.0, "fast"),
    "phase nan": lambda: Harmonic(1.0, 1.0, np.nan),
    "ramp nan": lambda: Ramp(0.0, np.nan),
    "function nan": lambda: FunctionOfTime(lambda t: np.nan),
    "function of texts": lambda: FunctionOfTime(lambda t: "high"),
    "ramp shapes": lambda: Ramp([0.0, 1.0], [1.0, 2.0, 3.0]),
    "two frequencies": lambda: Harmonic(1.0, [1.0, 2.0]),
    "two phases": lambda: Harmonic(1.0, 1.0, [0.0, 1.0]),
    "function of two arguments": lambda: FunctionOfTime(lambda t, q: 1.0),
    "no function": lambda: FunctionOfTime(3.0),
    "rate of another shape": lambda: FunctionOfTime(np.sin, rate=lambda t: [1.0, 2.0]),
    "number as text": lambda: Constant("0.3"),
    "complex": lambda: Harmonic(1.0 + 2.0j, 1.0),
    "shapes": lambda: Harmonic([1.0, 2.0], 1.0) + 3.0,
}


@pytest.mark.parametrize("name", BAD)
def test_bad_signals_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InvalidModel) as caught:
        BAD[name]()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
