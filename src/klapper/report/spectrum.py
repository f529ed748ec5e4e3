"""Amplitude spectra of the motion.

With Hann weights w over the s samples, the mean taken away, a coordinate x has at the frequency f the amplitude

    a(f) = 2 / Σ w_k · | Σ w_k (x_k − x̄) exp(−2π i f t_k) |

so that a sine shows its amplitude at its frequency. Samples at unequal distances are put on equal ones by straight
lines first.
"""

import numpy as np


def amplitude_spectrum(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (f,) [Hz] and amplitudes (f, n) of ``values`` (s, n) at ``time`` (s,) [s]; empty without a span."""
    count = len(time)
    if count < 8 or not time[-1] > time[0]:
        return np.zeros(0), np.zeros((0, values.shape[1]))
    span = float(time[-1] - time[0])
    even = np.linspace(time[0], time[-1], count)
    if np.max(np.abs(time - even)) > 1e-6 * span / (count - 1):
        values = np.column_stack([np.interp(even, time, column) for column in values.T])
    weight = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(count) + 0.5) / count)
    swinging = (values - values.mean(axis=0)) * weight[:, None]
    amplitude = 2.0 / weight.sum() * np.abs(np.fft.rfft(swinging, axis=0))
    return np.fft.rfftfreq(count, span / (count - 1))[1:], amplitude[1:]
