"""Forced delaminated beam: at its first frequency the joint opens and closes in every period.

A harmonic force shakes the middle of the intact part of a beam whose laminae have different thickness. Every mode opens
the joint somewhere and pushes the laminae into each other elsewhere, so contact acts in every cycle:

    M q̈ + D q̇ + K q = r F cos ωt + J λ,   0 ≤ λ ⟂ J q ≥ 0,   J q = u₁₂ − u₁₃        Waltersberger (5.150)–(5.155)

Impacts without restitution take much of what little damping leaves, and the motion settles soon to one with the period
of the force. Midpoint steps are used, because implicit Euler steps of 0.05 ms would damp three times as much as the
beam does. With eight modes a velocity jump that no continuum has shows in the phase portrait (Fig. 5.37).

How far the joint opens depends on how its contact is discretised. With fewer points of contact than modes (7 are
shipped) the motion repeats, and shorter steps change little: 11 modes open by 2.661, 2.620, 2.619, 2.619 mm with 900,
1800, 3600, 7200 steps per period, and by 2.619 mm where all impacts are located (`PiecewiseExact`). With more points
small impacts follow each other closely: the motion takes two periods with 9, with 11 and more it does not repeat, and
the opening falls with their number, to 2.45 mm with 39. Steps of 1/900 of a period do not see that and give 2.66 mm
with any number of points. ``scatter`` says how well periods repeat.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._forced_delamination import BLOCK, SETTLED, TRANSIENT, Shaken
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = (900, 1800, 3600)  # per period, in the figure of the discretisation
POINTS = (7, 13, 39)  # of contact, in the same


@example("forced-delamination", source="Waltersberger (2007), Example 5.10, Figs. 5.31-5.37")
def forced_delamination(
    *,
    modes: Annotated[
        tuple[int, ...], Parameter("numbers of modes to be compared; numbers are of the last", at_least=1)
    ] = (8, 9, 10, 11),
    L: Annotated[float, Parameter("length of the beam", unit="m", above=0.0)] = 1.0,
    L2: Annotated[float, Parameter("length of the delamination, centred", unit="m", above=0.0)] = 0.6,
    a: Annotated[float, Parameter("height, in the direction of opening", unit="m", above=0.0)] = 0.01,
    b: Annotated[float, Parameter("width", unit="m", above=0.0)] = 0.02,
    h: Annotated[float, Parameter("thickness of the lower lamina", unit="m", above=0.0)] = 0.0075,
    E: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 210e9,
    rho: Annotated[float, Parameter("density", unit="kg/m³", above=0.0)] = 7500.0,
    damping_ext: Annotated[
        float, Parameter("external damping of every segment", unit="N s/m²", at_least=0.0)
    ] = 0.5,
    alpha2: Annotated[float, Parameter("material damping α₂ K", unit="s", at_least=0.0)] = 0.0,
    force: Annotated[float, Parameter("amplitude in the middle of segment 1", unit="N", above=0.0)] = 10.0,
    frequency: Annotated[float, Parameter("of the force", unit="Hz", above=0.0)] = 22.8,
    contacts: Annotated[int, Parameter("points of contact in the joint", at_least=1)] = 7,
    steps: Annotated[int, Parameter("time steps per period", at_least=100)] = 3600,
    patience: Annotated[
        int, Parameter("periods after which the search for a steady state ends", at_least=BLOCK)
    ] = 400,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures
    from klapper.mechanics import InvalidModel
    from klapper.structures.delaminated_beam import DelaminatedBeam

    try:
        beam = DelaminatedBeam(L, L2, a, b, h, E, rho)
    except InvalidModel as error:
        raise ParameterError(f"L2 and h must fit into the beam: {error}") from error
    motions = [
        Shaken(beam, count, contacts, damping_ext, alpha2, force, frequency, steps, patience)
        for count in modes
    ]
    best = motions[-1]
    shipped = (beam, damping_ext, alpha2, force, frequency) == (
        DelaminatedBeam(1.0, 0.6, 0.01, 0.02, 0.0075, 210e9, 7500.0), 0.5, 0.0, 10.0, 22.8
    )  # fmt: skip
    displacement, velocity = best.amplitudes
    return Outcome(
        numbers={
            "max_gap": best.max_gap,
            "period_ratio": best.order,
            "motion": best.attractor.kind,
            "scatter": best.scatter,
            "least_gap": best.cycles.min(),
            "tip_displacement": displacement,
            "tip_velocity": velocity,
            "frequencies": best.model.frequencies,
            "max_gaps": [each.max_gap for each in motions],
            "scatters": [each.scatter for each in motions],
            "gap_differences": [_distance(each, best) for each in motions],
            "loaded_share": float(np.mean(np.any(best.record.impulse[1:, :, 0] > 0.0, axis=1))),
            "settled_after": best.attractor.time * frequency,
        },
        units={
            "max_gap": "m (middle of the joint, mean of the periods)",
            "period_ratio": "period of the motion over that of the force",
            "scatter": "rms distance of periods from their mean, of the range of the gap",
            "least_gap": "m (middle of the joint)",
            "tip_displacement": "m (amplitude, end of segment 1)",
            "tip_velocity": "m/s (amplitude, end of segment 1)",
            "frequencies": "Hz",
            "max_gaps": "m (by number of modes)",
            "scatters": "by number of modes",
            "gap_differences": "largest distance of mean periods from that of the last, of its maximum",
            "loaded_share": "of all steps: some contact carries",
            "settled_after": "periods of the force",
        },
        checks=[*_checks(best), *(_printed_checks(best) if shipped else []), ledger_check(best.record)],
        audit=run_audit(best.record),
        figures={
            "gap": partial(_draw_gap, motions=motions),
            "phase": partial(_draw_phase, motions=(motions[0], best)),
            "joint": partial(_draw_joint, motion=best),
            "settling": partial(_draw_settling, motion=best),
            "discretisation": partial(_draw_discretisation, motion=best),
            **run_figures(best.record, "energy"),
        },
    )


def _distance(motion: Shaken, other: Shaken) -> float:
    return float(np.abs(motion.mean_cycle - other.mean_cycle).max() / other.mean_cycle.max())


def _checks(motion: Shaken) -> list[Check]:
    """Signs, penetration and, where it has settled, the balance of energy over the recorded periods."""
    run, h = motion.record, motion.period / motion.steps
    approach = np.abs(run.velocity @ motion.system.normal_directions).max()
    checks = [
        Check("least impulse", value=run.impulse[:, :, 0].min(), at_least=0.0, source="contacts do not pull"),
        Check(
            "least gap in the joint",
            value=run.gap.min(),
            at_least=-h * approach,
            source="contacts are seen up to a step late at the speed of impact",
        ),
    ]
    if motion.attractor.kind == "periodic":
        ledger = run.ledger
        work = ledger.loads[-1] - ledger.loads[0]
        stored = np.diff((ledger.kinetic + ledger.potential)[[0, -1]])[0]
        checks.append(
            Check(
                "energy stored over work, in the recorded periods",
                value=stored / work,
                expected=0.0,
                tolerance=SETTLED,
                source="a steady motion loses what the force puts in",
            )
        )
    return checks


def _printed_checks(motion: Shaken) -> list[Check]:
    return [
        Check(
            "first natural frequency",
            value=motion.model.frequencies[0],
            expected=22.8,
            tolerance=0.05,
            source="Waltersberger, Example 5.10",
        ),
        Check(
            "largest gap in the middle of the joint",
            value=motion.max_gap,
            expected=2.66e-3,
            tolerance=0.03 * 2.66e-3,
            source="independent program: 11 modes, 39 points, steps of 0.05 ms",
        ),
        Check(
            "period of the motion over that of the force",
            value=motion.order,
            expected=1.0,
            tolerance=0.0,
            source="Waltersberger Fig. 5.33",
        ),
        Check(
            "least gap in the middle of each period over the largest",
            value=motion.cycles.min(axis=1) / motion.max_gap,
            at_most=0.02,
            source="Waltersberger Fig. 5.33: the joint closes in every period",
        ),
    ]


def _draw_gap(figure: "Figure", *, motions: list[Shaken]) -> None:
    """Gap in the middle of the joint, mean of the recorded periods, by number of modes; below, the distance from the
    last."""
    from klapper.results.drawing import colours

    figure.set_size_inches(7.2, 4.6)
    gap, apart = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    best = motions[-1]
    time = np.arange(1, best.steps + 1) / best.steps
    for motion, color in zip(motions, colours(len(motions)), strict=True):
        gap.plot(time, 1e3 * motion.mean_cycle, color=color, label=f"{motion.modes} modes")
        if motion is not best:
            apart.plot(time, 1e3 * (motion.mean_cycle - best.mean_cycle), color=color)
    gap.set(ylabel="gap / mm", xlim=(0.0, 1.0))
    apart.set(xlabel="time / period of the force", ylabel=f"less that of {best.modes} / mm")
    gap.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderaxespad=0.3)


def _draw_phase(figure: "Figure", *, motions: tuple[Shaken, Shaken]) -> None:
    """Phase portraits of the end of segment 1 over three periods, with the fewest and the most modes, by short steps;
    below, around the largest velocity jump of the fewest. The sizes of the jumps are means of the periods."""
    from klapper.gallery._sketch import BLUE

    figure.set_size_inches(8.4, 6.6)
    panels = figure.subplots(2, 2)
    centre = (0.0, 0.0)
    for column, motion in enumerate(motions):
        last = slice(-3 * motion.steps, None)
        x = 1e3 * (motion.record.position[last] @ motion.tip)
        v = motion.record.velocity[last] @ motion.tip
        if column == 0:
            place = np.argmax(np.abs(np.diff(v)))
            centre = (float(x[place]), float(0.5 * (v[place] + v[place + 1])))
        for row, zoom in ((0, 0.0), (1, 0.08)):
            axes = panels[row, column]
            axes.plot(x, v, color=BLUE, linewidth=0.8)
            axes.set(xlabel="displacement / mm")
            if zoom:
                axes.set_xlim(centre[0] + zoom * np.ptp(x) * np.array([-1, 1]))
                axes.set_ylim(centre[1] + zoom * np.ptp(v) * np.array([-1, 1]))
        panels[0, column].set_title(f"{motion.modes} modes, jump {motion.jump:.2g} m/s", fontsize=10)
    for row in (0, 1):
        panels[row, 0].set_ylabel("velocity / (m/s)")


def _draw_joint(figure: "Figure", *, motion: Shaken) -> None:
    """Opening of the whole joint over one period; dots, where contacts carry."""
    figure.set_size_inches(7.2, 4.2)
    axes = figure.subplots()
    n, places = motion.steps, np.linspace(0.0, 1.0, 101)
    chosen = slice(-n, None, max(n // 300, 1))
    time = (motion.record.time[chosen] - motion.record.time[-n]) / motion.period
    field = 1e3 * motion.record.position[chosen] @ motion.model.gap_rows(places).T
    picture = axes.pcolormesh(time, places, field.T, shading="nearest", cmap="viridis", rasterized=True)
    impulse = motion.record.impulse[-n:, :, 0]
    step, contact = np.nonzero(impulse > 0.0)
    points = np.arange(1, motion.contacts + 1) / (motion.contacts + 1)
    axes.plot(step / n, points[contact], ".", color="#D55E00", markersize=1.5)
    axes.set(
        xlabel="time / period of the force", ylabel="place in the joint ξ", xlim=(0.0, 1.0), ylim=(0.0, 1.0)
    )
    axes.grid(False)
    figure.colorbar(picture, ax=axes, label="gap / mm")


def _draw_settling(figure: "Figure", *, motion: Shaken) -> None:
    """Largest gap in the middle of the joint in every period, from rest on, by long steps; dotted, the mean of the
    recorded periods by the steps of the example."""
    from klapper.gallery._sketch import BLUE, GREY

    figure.set_size_inches(7.2, 3.4)
    axes = figure.subplots()
    run = motion.transient
    number = np.minimum((run.time[1:] * motion.frequency - 1e-9).astype(int), TRANSIENT - 1)
    largest = np.zeros(TRANSIENT)
    np.maximum.at(largest, number, run.position[1:] @ motion.middle)
    axes.plot(np.arange(1, TRANSIENT + 1), 1e3 * largest, ".-", color=BLUE, linewidth=0.8)
    axes.axhline(1e3 * motion.max_gap, color=GREY, linestyle=":", linewidth=1.0)
    axes.set(xlabel="period of the force", ylabel="largest gap / mm", xlim=(0, TRANSIENT))
    axes.set_ylim(bottom=0.0)


def _draw_discretisation(figure: "Figure", *, motion: Shaken) -> None:
    """Largest gap in the middle of the joint, mean and spread of the recorded periods: over the steps per period with
    the points of contact of the example and with many, and over the number of points with its steps and with long
    ones."""
    from klapper.gallery._sketch import BLUE, ORANGE

    figure.set_size_inches(8.4, 3.8)
    panels = figure.subplots(1, 2, sharey=True)
    steps, points = sorted({*STEPS, motion.steps}), sorted({*POINTS, motion.contacts})
    known = {(motion.contacts, motion.steps): motion}

    def at(contacts: int, count: int) -> Shaken:
        other = replace(motion, contacts=contacts, steps=count, patience=2 * BLOCK)
        return known.setdefault((contacts, count), other)

    for number, color in ((motion.contacts, BLUE), (POINTS[-1], ORANGE)):
        _spread(panels[0], steps, [at(number, count) for count in steps], color, f"{number} points")
    for count, color in ((motion.steps, BLUE), (STEPS[0], ORANGE)):
        _spread(panels[1], points, [at(number, count) for number in points], color, f"{count} steps")
    panels[0].set(xlabel="time steps per period", ylabel="largest gap / mm")
    panels[1].set(xlabel="points of contact")
    for axes, places in zip(panels, (steps, points), strict=True):
        axes.set_xscale("log")
        axes.set_xticks(places, [str(place) for place in places])
        axes.minorticks_off()
        axes.legend(loc="lower left")


def _spread(axes: "Axes", places: list[int], motions: list[Shaken], color: str, label: str) -> None:
    largest = [1e3 * each.cycles.max(axis=1) for each in motions]
    means, deviations = ([part(x) for x in largest] for part in (np.mean, np.std))
    axes.errorbar(places, means, yerr=deviations, fmt="o-", color=color, capsize=3, label=label)
