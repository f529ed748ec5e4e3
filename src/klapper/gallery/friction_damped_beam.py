"""Friction-damped beam: a dry damper takes most at one level of excitation.

A cantilever is shaken at its tip. Between its ends a small slider hangs on it by a spring and rubs on the ground with
the limit R:

    M q̈ + D q̇ + K q = r F cos ωt − r_d s,    m z̈ = s + λ,    |λ| ≤ R,    s = k (r_d · q − z) + d (r_d · q̇ − ż)

Shaken gently the slider sticks, and the beam is stiffer by the spring; shaken hard it slides all the time, and the beam
is nearly free. Neither takes energy. In between lies a level at which the largest response per force is least.

The curves are found by harmonic balance on the set-valued law of friction, from one frequency to the next, with modes
of the beam as coordinates. Integration of the same system in time gives the points; shooting, exact to round-off,
judges how fast the harmonics converge.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._friction_damped_beam import DampedBeam
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis import HarmonicCurve, HarmonicResponse, PeriodicMotion

SETTLED, STEPS = 30, 1000  # periods of integration in time, and steps of one
FOLLOWED: dict[str, Any] = {"samples": 1024, "largest": 0.1}
COUNTS = (1, 3, 7, 15, 31, 63)  # harmonics whose error is shown


@example(
    "friction-damped-beam",
    source="dynamic Lagrangian harmonic balance (Nacivet et al. 2003); shooting and time integration",
)
def friction_damped_beam(
    *,
    length: Annotated[float, Parameter("length of the cantilever", unit="m", above=0.0)] = 0.5,
    thickness: Annotated[
        float, Parameter("thickness, in the direction of bending", unit="m", above=0.0)
    ] = 0.008,
    width: Annotated[float, Parameter("width", unit="m", above=0.0)] = 0.03,
    modes: Annotated[int, Parameter("modes of the beam that are kept", at_least=1, at_most=20)] = 6,
    ratio: Annotated[float, Parameter("damping ratio of the modes", above=0.0, below=0.2)] = 0.005,
    place: Annotated[
        float, Parameter("place of the damper, in parts of the length", above=0.1, at_most=1.0)
    ] = 0.6,
    stiffness: Annotated[float, Parameter("stiffness of the damper's spring", unit="N/m", above=0.0)] = 2e4,
    slider: Annotated[float, Parameter("mass of the slider", unit="kg", above=0.0)] = 2e-4,
    limit: Annotated[float, Parameter("limit of the friction force", unit="N", above=0.0)] = 5.0,
    forces: Annotated[tuple[float, ...], Parameter("amplitudes of the force", unit="N", above=0.0)] = (
        0.05,
        0.4,
        0.9,
        1.6,
        2.4,
        4.0,
        20.0,
    ),
    harmonics: Annotated[int, Parameter("harmonics that are balanced", at_least=1, at_most=40)] = 7,
) -> Outcome:
    from klapper.analysis import follow_harmonic

    if len(forces) < 2 or any(b <= a for a, b in pairwise(forces)):
        raise ParameterError(f"forces are {list(forces)} N; give at least two, in rising order.")
    model = DampedBeam(length, thickness, width, modes, ratio, place, stiffness, slider, limit)
    low, high = model.range()
    systems = [model.system(force, low) for force in forces]
    curves = [follow_harmonic(system, low, high, harmonics=harmonics, **FOLLOWED) for system in systems]
    peaks = [curve.peak(model.tip) for curve in curves]
    levels = np.array([peak.amplitude(model.tip) / force for peak, force in zip(peaks, forces, strict=True)])
    best = int(np.argmin(levels))
    points = _Points.of(model, curves[best], forces[best], peaks[best])
    exact = _shot(model, peaks[best], forces[best])
    errors = _errors(model, exact, forces[best], peaks[best].frequency, harmonics)
    work = peaks[best].work
    return Outcome(
        numbers={
            "free_frequency": model.frequency(stuck=False),
            "stuck_frequency": model.frequency(stuck=True),
            "peak_frequencies": [peak.frequency for peak in peaks],
            "peak_responses": levels,
            "best_force": forces[best],
            "best_response": levels[best],
            "reduction": max(levels[0], levels[-1]) / levels[best],
            "slipping_share": peaks[best].shares[0, 2],
            "friction_share": work.friction[0] / work.taken,
            "time_integration": points.differences,
            "shooting": errors[harmonics],
            "responses": sum(len(curve) for curve in curves),
        },
        units={
            "free_frequency": "Hz",
            "stuck_frequency": "Hz",
            "peak_frequencies": "Hz",
            "peak_responses": "m/N, at the tip, by force",
            "best_force": "N",
            "best_response": "m/N",
            "reduction": "times less than the larger of the first and the last peak",
            "slipping_share": "of the period, at the best peak",
            "friction_share": "of the energy put in",
            "time_integration": "relative difference of amplitudes, by frequency",
            "shooting": "relative difference of amplitudes at the best peak",
        },
        checks=[*_checks(model, curves, points, errors, peaks[best], forces), *_approach_checks(exact)],
        audit={
            "uniqueness": "with a given limit of friction the periodic response is unique",
            "stability": f"at the best peak stable by shooting: {exact.stable}; not judged by harmonic balance",
            "balance": f"{peaks[best].residual.balance:.1e} of the forces, in all balanced harmonics",
            "friction law": f"{100 * peaks[best].residual.friction:.2g} % of its work is missed by the series",
        },
        figures={
            "response": partial(
                _draw_responses, model=model, forces=forces, curves=curves, points=points, best=best
            ),
            "optimum": partial(_draw_optimum, model=model, forces=forces, peaks=peaks, levels=levels),
            "hysteresis": partial(_draw_hysteresis, model=model, peak=peaks[best], exact=exact),
            "convergence": partial(_draw_convergence, model=model, peak=peaks[best], errors=errors),
        },
    )


@dataclass(frozen=True)
class _Points:
    """Amplitudes [m] at some frequencies [Hz], by integration in time and by harmonic balance."""

    frequencies: np.ndarray
    integrated: np.ndarray
    balanced: np.ndarray

    @classmethod
    def of(
        cls, model: DampedBeam, curve: "HarmonicCurve", force: float, peak: "HarmonicResponse"
    ) -> "_Points":
        free, stuck = model.frequency(stuck=False), model.frequency(stuck=True)
        wanted = np.array(sorted({free, peak.frequency, stuck, 0.5 * (peak.frequency + stuck)}))
        pairs = [_integrated(model, curve, force, float(f)) for f in wanted]
        return cls(wanted, *np.array(pairs).T)

    @property
    def differences(self) -> np.ndarray:
        return np.abs(self.balanced / self.integrated - 1.0)


def _integrated(
    model: DampedBeam, curve: "HarmonicCurve", force: float, frequency: float
) -> tuple[float, float]:
    """Amplitude of the tip [m] by integration from the balanced state on, and the balanced one."""
    from klapper.analysis import harmonic_response
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    near = curve[int(np.argmin(np.abs(curve.frequencies - frequency)))]
    system = model.system(force, frequency)
    response = harmonic_response(system, harmonics=curve.balance.harmonics, start=near)
    system.start = _state(response)
    period = response.period
    run = simulate(system, SETTLED * period, Moreau(period / STEPS), progress=False)
    last = run.time > (SETTLED - 1) * period
    return float(0.5 * np.ptp(run.position[last] @ model.tip)), response.amplitude(model.tip)


def _state(response: "HarmonicResponse") -> Any:
    """The state at time 0."""
    from klapper.mechanics import State

    return State(0.0, response.position[0], response.velocity[0])


def _shot(model: DampedBeam, peak: "HarmonicResponse", force: float) -> "PeriodicMotion":
    """The exact motion at the peak, by shooting from the balanced one."""
    from klapper.analysis import NoPeriodicMotion, periodic_motion

    try:
        return periodic_motion(model.system(force, peak.frequency), _state(peak), settle=3)
    except NoPeriodicMotion as error:
        raise ParameterError(
            f"shooting finds no motion at {peak.frequency:.5g} Hz ({error}); change forces."
        ) from None


def _errors(
    model: DampedBeam, exact: "PeriodicMotion", force: float, frequency: float, harmonics: int
) -> dict[int, float]:
    """Relative error of the amplitude of the tip, by the number of harmonics."""
    from klapper.analysis import extrema, harmonic_response

    least, greatest = extrema(exact.run, lambda t, q, v: q @ model.tip)
    system = model.system(force, frequency)
    amplitudes = {
        count: harmonic_response(system, harmonics=count).amplitude(model.tip)
        for count in sorted({*COUNTS, harmonics})
    }
    return {count: abs(2.0 * amplitude / (greatest - least) - 1.0) for count, amplitude in amplitudes.items()}


def _checks(
    model: DampedBeam,
    curves: "list[HarmonicCurve]",
    points: _Points,
    errors: dict[int, float],
    peak: "HarmonicResponse",
    forces: tuple[float, ...],
) -> list[Check]:
    first = curves[0]
    sticking = np.flatnonzero(first.shares("damper")[:, 2] == 0.0)
    wanted = model.linear(first.frequencies[sticking], stuck=True)
    linear = first.amplitude(model.tip)[sticking] / forces[0] / wanted - 1.0
    harmonics = first.balance.harmonics
    return [
        Check(
            "while it sticks, the beam on a spring",
            value=float(np.abs(linear).max(initial=0.0)),
            at_most=0.02,
            source="frequency response of the whole finite-element beam; modes that are not kept are missing",
        ),
        Check(
            "harmonic balance and integration in time",
            value=points.differences,
            at_most=0.1 / (harmonics + 1) + 10.0 / STEPS,
            source="time stepping of the same system from the balanced state on",
        ),
        Check(
            "harmonic balance and shooting",
            value=errors[harmonics],
            at_most=0.1 / (harmonics + 1),
            source="periodic motion exact to round-off",
        ),
        Check(
            "energy put in is taken",
            value=peak.work.taken / peak.work.put_in,
            expected=1.0,
            tolerance=1e-9,
            source="work of the load against damping and friction",
        ),
        Check(
            "friction takes force times way",
            value=float(peak.work.friction[0]),
            at_most=4.0 * model.limit * peak.amplitude("slider") * (1.0 + 1.0 / harmonics),
            source="no more than the limit over the way of the slider, to and fro",
        ),
    ]


def _approach_checks(exact: "PeriodicMotion") -> list[Check]:
    if not exact.stable:
        return []
    reached = exact.approach()
    return [
        Check(
            "long integration ends on the motion found by shooting",
            value=reached.distance,
            at_most=1e-8,
            source=f"{reached.periods} periods, cut at every event, from a start that is off by 0.1 %",
        )
    ]


def _draw_responses(
    figure: "Figure",
    *,
    model: DampedBeam,
    forces: tuple[float, ...],
    curves: "list[HarmonicCurve]",
    points: _Points,
    best: int,
) -> None:
    """Amplitude of the tip per force over frequency, by harmonic balance; the best level is the thick line. Dashed: the
    linear beam with its slider gone (left peak) and held (right peak). Circles: integration in time. Dents lie where a
    multiple of the frequency meets a higher mode."""
    import matplotlib

    figure.set_size_inches(6.6, 4.4)
    axes = figure.subplots()
    low, high = model.range()
    fine = np.unique(
        np.concatenate(
            [np.linspace(low, high, 200)]
            + [model.frequency(stuck=stuck) * (1.0 + np.linspace(-0.02, 0.02, 81)) for stuck in (False, True)]
        )
    )
    for stuck in (False, True):
        axes.plot(fine, model.linear(fine, stuck=stuck), "--", color="#999999", linewidth=1.2)
    shades = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.92, len(forces)))
    for number, (force, curve, shade) in enumerate(zip(forces, curves, shades, strict=True)):
        width = 2.6 if number == best else 1.4
        values = curve.amplitude(model.tip) / force
        axes.plot(curve.frequencies, values, color=shade, linewidth=width, label=f"{force:g} N")
    axes.plot(points.frequencies, points.integrated / forces[best], "o", color="#D55E00", zorder=5)
    axes.set(xlabel="frequency / Hz", ylabel="tip amplitude / force / (m/N)", yscale="log", xlim=(low, high))
    axes.legend(title="force", loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_optimum(
    figure: "Figure",
    *,
    model: DampedBeam,
    forces: tuple[float, ...],
    peaks: "list[HarmonicResponse]",
    levels: np.ndarray,
) -> None:
    """Above: largest amplitude per force over the level of excitation, between those of the linear beam with its slider
    held and gone (dashed). Below: the part of the period in which the slider slips, and the part of the energy that
    friction takes, both at the peak."""
    figure.set_size_inches(6.0, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    ratio = np.array(forces) / model.limit
    upper.plot(ratio, levels, "o-", color="#0072B2")
    for stuck, name in ((True, "slider held"), (False, "slider gone")):
        near = model.frequency(stuck=stuck) * (1.0 + np.linspace(-0.02, 0.02, 401))
        level = model.linear(near, stuck=stuck).max()
        upper.axhline(level, color="#999999", linestyle="--", linewidth=1.2)
        place = {"xycoords": ("axes fraction", "data"), "ha": "center", "va": "bottom"}
        upper.annotate(name, (0.35, level), color="#555555", fontsize=9, **place)
    upper.set(ylabel="largest amplitude / force / (m/N)", xscale="log", yscale="log")
    upper.margins(y=0.12)
    lower.plot(ratio, [peak.shares[0, 2] for peak in peaks], "o-", color="#E69F00", label="slips")
    taken = [peak.work.friction[0] / peak.work.taken for peak in peaks]
    lower.plot(ratio, taken, "s-", color="#009E73", label="energy taken by friction")
    lower.set(xlabel="force / friction limit", ylabel="part", ylim=(-0.05, 1.05))
    lower.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_hysteresis(
    figure: "Figure", *, model: DampedBeam, peak: "HarmonicResponse", exact: "PeriodicMotion"
) -> None:
    """Force of the damper against the deflection of the beam there, at the best peak: sides with the slope of the
    spring where the slider sticks, flat at the limit where it slips. The area is the energy taken in a period."""
    figure.set_size_inches(6.0, 4.0)
    axes = figure.subplots()

    def force(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        apart = model.foot - np.append(np.zeros(model.modes), 1.0)
        return model.stiffness * (q @ apart) + model.damper * (v @ apart)

    run = exact.run
    q, v = run.position, run.velocity
    axes.plot(1e3 * (q @ model.foot), force(q, v), color="#333333", linewidth=1.0, label="shooting")
    q, v = (np.vstack([values, values[:1]]) for values in (peak.position, peak.velocity))
    name = f"harmonic balance, {peak.harmonics} harmonics"
    axes.plot(1e3 * (q @ model.foot), force(q, v), color="#0072B2", linewidth=2.4, alpha=0.7, label=name)
    for sign in (-1.0, 1.0):
        axes.axhline(sign * model.limit, color="#999999", linestyle=":", linewidth=1.0)
    axes.set(xlabel="deflection at the damper / mm", ylabel="force of the damper / N")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_convergence(
    figure: "Figure", *, model: DampedBeam, peak: "HarmonicResponse", errors: dict[int, float]
) -> None:
    """Error of the amplitude at the best peak against shooting, over the number of balanced harmonics. Dotted: the
    frequency of the slider on its spring; below it the harmonics that are left out see the spring alone."""
    figure.set_size_inches(5.6, 3.8)
    axes = figure.subplots()
    counts = np.array(list(errors))
    axes.loglog(counts, list(errors.values()), "o-", color="#0072B2")
    own = float(np.sqrt(model.stiffness / model.slider)) / (2.0 * np.pi * peak.frequency)
    axes.axvline(own, color="#888888", linestyle=":", linewidth=1.2)
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    least, greatest = min(errors.values()), max(errors.values())
    axes.set_ylim(
        10.0 ** np.floor(np.log10(max(least, 1e-9))), 10.0 ** np.ceil(np.log10(max(greatest, 1e-8)))
    )
    axes.set(xlabel="harmonics", ylabel="relative error of the amplitude")
