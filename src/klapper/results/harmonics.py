"""Harmonics of a motion under a harmonic load: what a spectrum analyser on the last periods of a run shows.

    x(t) = A₀ + Σ_k A_k cos(k ω t + φ_k),   A_k e^{iφ_k} = 2/T ∫ x e^{−ikωt} dt over whole periods

Integrals are those of the motion as the run knows it between its samples. Velocities and accelerations follow from
those of positions by parts, so that jumps count; forces are sums of impulses, so that impacts count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.errors import ResultsError

if TYPE_CHECKING:
    from klapper.results.run import Run

OF_COORDINATES = ("position", "velocity", "acceleration")
OF_CONTACTS = ("gap", "force", "friction")
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(
    4
)  # exact for cubic polynomials times the waves of fine samples
_WHOLE = 1e-9  # of the duration: what whole periods may exceed a run by


@dataclass(frozen=True, eq=False)
class Harmonics:
    """Amplitude and phase of each harmonic of one output.

    ``frequency``   of the fundamental [Hz]; ``start`` and ``end`` [s] of the whole periods that were looked at
    ``amplitude``   (K + 1,) A_k in the unit of the output; A_0 is the mean, with its sign
    ``phase``       (K + 1,) φ_k [rad] of cos(k ω t + φ_k), t in the time of the run
    ``unrest``      dimensionless change of the output over these periods, as a part of its span: 0 if it repeats; nan
                    of forces
    ``rest``        dimensionless rms of what the harmonics leave, as a part of that of the deviation from the mean; nan
                    of rates and forces
    ``name``        of the output

    >>> pure = Harmonics(2.0, 0.0, 0.5, np.array([0.1, 3.0, 0.0, 0.3]), np.zeros(4), 0.0, 0.0, "x")
    >>> round(pure.distortion, 6)
    0.1
    """

    frequency: float
    start: float
    end: float
    amplitude: np.ndarray
    phase: np.ndarray
    unrest: float
    rest: float
    name: str

    @property
    def distortion(self) -> float:
        """√(Σ_{k>1} A_k²)/A_1: zero for a pure tone, as of a linear system under a harmonic load; contacts raise it."""
        if self.amplitude[1] == 0.0:
            return np.inf if np.any(self.amplitude[2:]) else 0.0
        return float(np.linalg.norm(self.amplitude[2:]) / self.amplitude[1])

    @property
    def complex(self) -> np.ndarray:
        """A_k e^{iφ_k} (K + 1,)."""
        return np.asarray(self.amplitude * np.exp(1j * self.phase))

    def at(self, times: Any) -> np.ndarray:
        """The output (…) of the harmonics at ``times`` (…) [s]."""
        angle = 2.0 * np.pi * self.frequency * np.asarray(times, dtype=float)[..., None]
        order = np.arange(len(self.amplitude))
        return np.asarray(np.cos(angle * order + self.phase) @ self.amplitude)

    def __str__(self) -> str:
        lines = [
            f"{self.name}, {self.frequency:.6g} Hz, {self.start:.6g} … {self.end:.6g} s, distortion "
            f"{self.distortion:.3g}"
        ]
        lines += [
            f"  {k:>3}  {a:>12.5g}  {np.degrees(p):>8.2f}°"
            for k, (a, p) in enumerate(zip(self.amplitude, self.phase, strict=True))
        ]
        if self.unrest > 0.01:
            lines.append(f"  the motion does not repeat: it changes by {100 * self.unrest:.2g} % of its span")
        return "\n".join(lines)


def harmonics(
    run: Run, output: Any, frequency: float, *, count: int = 10, periods: int = 1, quantity: str | None = None
) -> Harmonics:
    """Harmonics of an ``output`` over the last ``periods`` of a run, see :meth:`klapper.results.Run.harmonics`."""
    if not (np.isfinite(frequency) and frequency > 0.0):
        raise ResultsError(f"frequency is {frequency!r}; it must be a number above 0, in Hz.")
    if count < 1 or periods < 1:
        raise ResultsError(
            f"count is {count!r} and periods {periods!r}; both must be whole numbers from 1 on."
        )
    end, length = float(run.time[-1]), periods / frequency
    start = end - length
    if start < run.time[0] - _WHOLE * end:
        raise ResultsError(
            f"The run lasts {end - run.time[0]:.6g} s, shorter than {periods} periods of {1.0 / frequency:.6g} s."
        )
    start = max(start, float(run.time[0]))
    waves = _Waves(2.0 * np.pi * frequency * np.arange(count + 1), start, end)
    if isinstance(output, str) and output not in run.layout.coordinates and output in run.layout.contacts:
        what = _allowed(quantity, OF_CONTACTS, output)
        if what != "gap":
            return _result(
                frequency, waves, _of_force(run, output, what, waves), np.nan, np.nan, f"{what} of {output}"
            )
        gap = run.contact(output).gap
        return _of_values(run, waves, lambda t: np.interp(t, run.time, gap), frequency, f"gap of {output}")
    what = _allowed(quantity, OF_COORDINATES, output)
    name, row = _row(run, output)
    if row is None:
        if what != "position":
            raise ResultsError(
                f"an array of values has no {what}; give its own values, or the name of a coordinate."
            )
        values = np.asarray(output, dtype=float)
        return _of_values(run, waves, lambda t: np.interp(t, run.time, values), frequency, "values")
    found = _of_values(run, waves, lambda t: run.position_at(t) @ row, frequency, name)
    if what == "position":
        return found
    if len(run.layout.coordinates) != len(run.layout.velocities):
        raise ResultsError(
            f"velocities of '{name}' are not the rates of the coordinates; only positions have harmonics."
        )
    ends = run.position_at(np.array([start, end])) @ row
    rate = waves.derivative(found.complex, float(ends[1] - ends[0]))
    if what == "acceleration":
        velocity = np.array([np.interp(t, run.time, run.velocity @ row) for t in (start, end)])
        rate = waves.derivative(rate, float(velocity[1] - velocity[0]))
    return _result(frequency, waves, rate, found.unrest, np.nan, f"{what} of {name}")


@dataclass(frozen=True, eq=False)
class _Waves:
    """e^{−iω_k t}, ``omega`` (K + 1,) [rad/s], from ``start`` to ``end`` [s], whole periods apart."""

    omega: np.ndarray
    start: float
    end: float

    @property
    def factor(self) -> np.ndarray:
        """2/T, and 1/T of the mean."""
        return np.where(self.omega > 0.0, 2.0, 1.0) / (self.end - self.start)

    def at(self, times: np.ndarray) -> np.ndarray:
        return np.exp(-1j * np.multiply.outer(self.omega, times))

    def derivative(self, amplitude: np.ndarray, change: float) -> np.ndarray:
        """Amplitudes of ẋ from those of x by parts: i ω X + 2/T (x(end) − x(start)) e^{−iω end}."""
        return 1j * self.omega * amplitude + self.factor * change * np.exp(-1j * self.omega * self.end)


def _of_values(
    run: Run, waves: _Waves, value: Callable[[np.ndarray], np.ndarray], frequency: float, name: str
) -> Harmonics:
    inside = run.time[(run.time > waves.start) & (run.time < waves.end)]
    edges = np.concatenate([[waves.start], inside, [waves.end]])
    half = 0.5 * np.diff(edges)
    times = (edges[:-1, None] + half[:, None] * (1.0 + _NODES)).ravel()
    weights = (half[:, None] * _WEIGHTS).ravel()
    values = value(times)
    amplitude = waves.factor * (waves.at(times) @ (weights * values))
    ends = value(edges[[0, -1]])
    span = float(np.ptp(values))
    mean = amplitude[0].real
    variance = float(weights @ (values - mean) ** 2) / (waves.end - waves.start)
    left = (
        max(0.0, 1.0 - 0.5 * float(np.sum(np.abs(amplitude[1:]) ** 2)) / variance) if variance > 0.0 else 0.0
    )
    unrest = abs(float(ends[1] - ends[0])) / span if span > 0.0 else 0.0
    return _result(frequency, waves, amplitude, unrest, float(np.sqrt(left)), name)


def _of_force(run: Run, contact: str, what: str, waves: _Waves) -> np.ndarray:
    """Amplitudes of the force: 2/T Σ Λ e^{−iωt} with the impulses in the middle of their intervals."""
    if run.samples.loaded is not None:
        raise ResultsError(
            "This run keeps loaded contacts only; forces of one contact have no harmonics there."
        )
    impulse = run.contact(contact).impulse
    column = 0 if what == "force" else 1
    if impulse.shape[1] <= column:
        raise ResultsError(f"contact '{contact}' has no friction.")
    before, after = run.time[:-1], run.time[1:]
    size = after - before
    first, last = np.maximum(before, waves.start), np.minimum(after, waves.end)
    inside = (last > first) | ((size == 0.0) & (after > waves.start) & (after <= waves.end))
    share = np.divide(last - first, size, out=np.ones(len(size)), where=size > 0.0)[inside]
    middle = 0.5 * (first + last)[inside]
    return np.asarray(waves.factor * (waves.at(middle) @ (share * impulse[1:, column][inside])))


def _row(run: Run, output: Any) -> tuple[str, np.ndarray | None]:
    """Name and row (nq,) of an output, no row if it is an array of values (s,)."""
    names = run.layout.coordinates
    if isinstance(output, str):
        if output not in names:
            known = ", ".join(f"'{name}'" for name in (*names, *run.layout.contacts)[:12])
            raise ResultsError(
                f"output is {output!r}; it must be a coordinate or a contact of the run: {known}."
            )
        return output, np.eye(len(names))[names.index(output)]
    row = np.asarray(output, dtype=float)
    if row.shape == (len(names),):
        return "row", row
    if row.shape == run.time.shape:
        return "values", None
    raise ResultsError(
        f"output has shape {row.shape}; expected a name, a row ({len(names)},) of the coordinates, or a value for each "
        f"sample ({len(run.time)},)."
    )


def _allowed(quantity: str | None, allowed: tuple[str, ...], output: Any) -> str:
    if quantity is None:
        return allowed[0]
    if quantity not in allowed:
        which = f"'{output}'" if isinstance(output, str) else "a row"
        raise ResultsError(f"quantity is {quantity!r}; {which} has {', '.join(allowed)}.")
    return quantity


def _result(
    frequency: float, waves: _Waves, amplitude: np.ndarray, unrest: float, rest: float, name: str
) -> Harmonics:
    size, phase = np.abs(amplitude), np.angle(amplitude)
    size[0], phase[0] = amplitude[0].real, 0.0
    return Harmonics(frequency, waves.start, waves.end, size, phase, unrest, rest, name)
