"""A sine shows its amplitude at its frequency."""

import numpy as np
import pytest

from klapper.report.spectrum import amplitude_spectrum


@pytest.mark.parametrize("count", [1000, 1001])
def test_sines_show_their_amplitudes_at_their_frequencies(count: int) -> None:
    time = np.arange(count) * 0.01
    whole = count * 0.01  # frequencies that fit the record have no leakage beyond the neighbours
    slow, fast = 20 / whole, 75 / whole
    values = np.column_stack(
        [5.0 + 0.3 * np.sin(2 * np.pi * slow * time), 2.0 * np.cos(2 * np.pi * fast * time)]
    )
    frequency, amplitude = amplitude_spectrum(time, values)
    for column, (expected, size) in enumerate([(slow, 0.3), (fast, 2.0)]):
        top = int(np.argmax(amplitude[:, column]))
        assert frequency[top] == pytest.approx(expected, rel=1e-9)
        assert amplitude[top, column] == pytest.approx(size, rel=1e-9)
        far = np.abs(frequency - expected) > 3 / whole
        assert amplitude[far, column].max() < 1e-9


def test_samples_at_unequal_distances_are_put_on_equal_ones() -> None:
    rng = np.random.default_rng(1)
    time = np.sort(np.r_[0.0, 10.0, 10 * rng.random(4000)])
    frequency, amplitude = amplitude_spectrum(time, np.sin(2 * np.pi * 3.0 * time)[:, None])
    top = int(np.argmax(amplitude[:, 0]))
    assert frequency[top] == pytest.approx(3.0, abs=0.1)
    assert amplitude[top, 0] == pytest.approx(1.0, abs=0.03)


def test_without_a_span_there_is_no_spectrum() -> None:
    for time in (np.zeros(0), np.zeros(20), np.arange(3.0)):
        frequency, amplitude = amplitude_spectrum(time, np.zeros((len(time), 2)))
        assert frequency.shape == (0,)
        assert amplitude.shape == (0, 2)
