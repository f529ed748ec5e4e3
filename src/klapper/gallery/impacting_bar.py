"""Impacting bar: a wave runs to the free end and back, then the bar leaves the wall.

An elastic bar flies against a rigid wall. With the speed of sound c = √(E/ρ), d'Alembert's solution gives

    contact force  ρ c A v  for the time 2 L/c,   then all of the bar returns with the speed v

No energy is lost. A finite element bar has a node of finite mass at its end, which stops at once: an impact without
restitution that takes the energy of half an element, and less the finer the mesh. What follows oscillates about the
exact force, because short waves of the mesh are too fast (consistent masses) or too slow (lumped ones and long steps).

The force with which the node stops is a mark of the step and not of the bar: its impulse is fixed, so that the force
grows without bound as steps get shorter. Where contact is held on position level the cure is to take the mass from the
node and give it to the inside (`klapper.reduction.massless_boundary`): the force then has a limit, see the figure
"boundary".
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._impacting_bar import Bar, Blow, MassMatrix, first_blow
from klapper.gallery._run import SchemeName
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.results import Run

FIELD_ROWS = 400  # times in the picture of the waves
SPIKES = (4.0, 16.0)  # of the exact force: first forces of the node whose cure is shown


@example("impacting-bar", source="d'Alembert's solution of the wave equation")
def impacting_bar(
    *,
    elements: Annotated[int, Parameter("number of finite elements", at_least=2)] = 100,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-6,
    theta: Annotated[
        float, Parameter("weight of the end of the step; above ½ waves are damped", at_least=0.5, at_most=1.0)
    ] = 0.5,
    length: Annotated[float, Parameter("length of the bar", unit="m", above=0.0)] = 1.0,
    area: Annotated[float, Parameter("cross section", unit="m²", above=0.0)] = 1e-4,
    young: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 2.1e11,
    density: Annotated[float, Parameter("density", unit="kg/m³", above=0.0)] = 7800.0,
    speed: Annotated[float, Parameter("speed before the impact", unit="m/s", above=0.0)] = 1.0,
    mass_matrix: Annotated[MassMatrix, Parameter("how elements give their mass to nodes")] = "consistent",
    scheme: Annotated[SchemeName, Parameter("method")] = "moreau",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures, run_named

    bar = Bar(length, area, young, density, speed, elements)
    if step > 0.1 * bar.crossing:
        raise ParameterError(
            f"step must be at most {0.1 * bar.crossing:.4g} s, a tenth of the time that a wave needs through the bar, "
            f"not {step:g}."
        )
    run = run_named(bar.system(mass_matrix), 3 * bar.crossing, scheme, step, theta=theta)
    impulse = run.impulse[:, 0, 0]
    loaded = np.flatnonzero(impulse > 0.0)
    released = loaded[-1]
    duration = float(run.time[released] - run.time[loaded[0] - 1])
    energy = run.ledger.kinetic + run.ledger.potential
    mass = density * area * length
    peak = np.nanmax(run.contact("wall").force[: released + 1, 0])
    blows = [first_blow(bar, mass_matrix, spike) for spike in SPIKES]
    return Outcome(
        numbers={
            "contact_duration": duration,
            "mean_force": impulse.sum() / duration,
            "peak_force": peak,
            "energy_ratio": energy[released] / energy[0],
            "rebound_ratio": impulse.sum() / (mass * speed) - 1.0,
            "impact_impulse": impulse[loaded[0]],
            "exact_duration": 2 * bar.crossing,
            "exact_force": bar.force,
            "courant_number": bar.sound * step / bar.element,
            "duration_ratio": duration / (2 * bar.crossing),
            "mean_force_ratio": impulse.sum() / duration / bar.force,
            "peak_force_ratio": peak / bar.force,
            "spike_ratios": [blow.mesh.max() / bar.force for blow in blows],
            "massless_peak_ratios": [blow.massless.max() / bar.force for blow in blows],
            "spike_steps": [blow.step for blow in blows],
        },
        units={
            "contact_duration": "s",
            "mean_force": "N",
            "peak_force": "N (largest mean of a step after the impact)",
            "energy_ratio": "kinetic and elastic energy at release over that at the start",
            "rebound_ratio": "speed of the centre after release over that before the impact",
            "impact_impulse": "N s (first step, in which the end node stops)",
            "exact_duration": "s",
            "exact_force": "N",
            "spike_ratios": "largest force over the exact one, contact on position level, by spike_steps",
            "massless_peak_ratios": "the same without mass at the end node",
            "spike_steps": "s",
        },
        checks=[
            *_checks(bar, run, theta, step),
            *_boundary_checks(bar, mass_matrix, blows),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={
            "contact-force": partial(_draw_force, bar=bar, run=run),
            "ends": partial(_draw_ends, bar=bar, run=run),
            "waves": partial(_draw_waves, bar=bar, run=run),
            "boundary": partial(_draw_boundary, bar=bar, blows=blows),
            **run_figures(run, "energy"),
        },
    )


def _checks(bar: Bar, run: "Run", theta: float, step: float) -> list[Check]:
    """The exact solution, up to the length over which mesh and step smear a front."""
    impulse = run.impulse[:, 0, 0]
    loaded = np.flatnonzero(impulse > 0.0)
    first, released = loaded[0], loaded[-1]
    duration = run.time[released] - run.time[first - 1]
    interval = float(run.time[1] - run.time[0])
    late = bar.front(step, theta) / bar.sound + interval
    energy = run.ledger.kinetic + run.ledger.potential
    lost = 0.5 * (bar.element + bar.sound * step) + 1.25 * bar.damped(step, theta)
    inside = run.time <= 2 * bar.crossing
    off = np.abs(run.position[inside] - bar.displacements(run.time[inside])).max()
    smeared = "d'Alembert; length over which mesh and step smear a front"
    return [
        Check(
            "contact is one piece", value=len(loaded), expected=int(released - first + 1), source="d'Alembert"
        ),
        Check(
            "contact duration",
            value=duration,
            expected=2 * bar.crossing,
            tolerance=late,
            source=smeared,
        ),
        Check(
            "impulse of the wall",
            value=impulse.sum(),
            expected=2 * bar.crossing * bar.force,
            tolerance=late * bar.force,
            source=smeared,
        ),
        Check(
            "mean force",
            value=impulse.sum() / duration,
            expected=bar.force,
            tolerance=late / bar.crossing * bar.force,
            source=smeared,
        ),
        Check(
            "peak force over exact force",
            value=np.nanmax(run.contact("wall").force[: released + 1, 0]) / bar.force,
            at_least=0.999,
            at_most=2.0,
            source="a drop by 2 ρ c A v arrives at the wall; an Airy front overshoots by 0.27 of it, or more",
        ),
        Check(
            "energy ratio at release",
            value=energy[released] / energy[0],
            at_least=1.0 - lost / bar.length,
            at_most=1.0 + 1e-9,
            source="half an element and half a step of the wave stop at once; θ > ½ damps the front",
        ),
        Check(
            "displacement of all nodes, largest error",
            value=off,
            expected=0.0,
            tolerance=bar.speed * late,
            source=smeared,
        ),
    ]


def _boundary_checks(bar: Bar, mass_matrix: MassMatrix, blows: list[Blow]) -> list[Check]:
    """What the mass of the end node does to the first force, and that nothing of it is left without that mass."""
    expected = [bar.felt_mass(mass_matrix, blow.step) * bar.speed / blow.step for blow in blows]
    peaks = [blow.massless.max() / bar.force for blow in blows]
    return [
        Check(
            "first force of an end node with mass, by step",
            value=[blow.mesh[0] for blow in blows],
            expected=expected,
            tolerance=[1e-8 * force for force in expected],
            source="all other nodes eliminated: a continued fraction",
        ),
        Check(
            "largest force of an end node without mass, over the exact force",
            value=peaks,
            at_most=2.0,
            source="what is loaded at once swings to twice its rest at most",
        ),
        Check(
            "largest force of an end node without mass, short over long step",
            value=peaks[1] / peaks[0],
            expected=1.0,
            tolerance=0.1,
            source="without mass at the boundary the force has a limit",
        ),
    ]


def _draw_boundary(figure: "Figure", *, bar: Bar, blows: list[Blow]) -> None:
    """Contact force after the impact, held on position level by implicit steps of two lengths: with its mass the end
    node presses the harder the shorter the step, without it the force is that of the bar."""
    from klapper.gallery._sketch import BLUE, ORANGE

    figure.set_size_inches(8.4, 3.8)
    panels = figure.subplots(1, 2, sharey=True)
    titles = {"mesh": "end node with mass", "massless": "end node without mass"}
    end = 1e6 * blows[0].time[-1]
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        for blow, color in zip(blows, (BLUE, ORANGE), strict=True):
            time = 1e6 * np.append(0.0, blow.time)
            force = getattr(blow, name) / bar.force
            axes.plot(
                time,
                np.append(force[0], force),
                drawstyle="steps-pre",
                color=color,
                linewidth=1.1,
                label=f"step {1e6 * blow.step:.3g} µs",
            )
            if name == "mesh":
                axes.annotate(
                    f"{force[0]:.3g}", (0.0, force[0]), (5, -3), textcoords="offset points", color=color
                )
        axes.axhline(1.0, color="#333333", linestyle="--", linewidth=1.1, label="exact")
        axes.set(title=title, xlabel="time / µs", xlim=(-0.04 * end, end))
        axes.set(yscale="log", ylim=(0.1, 1.5 * SPIKES[-1]), yticks=[0.1, 1.0, 10.0])
        axes.set_yticklabels(["0.1", "1", "10"])
    panels[0].set_ylabel("contact force / exact force")
    panels[1].legend()


def _draw_force(figure: "Figure", *, bar: Bar, run: "Run") -> None:
    """Contact force, mean of each step, beside d'Alembert's; the first step is an impact and has an impulse instead."""
    axes = figure.subplots()
    force, span = run.contact("wall").force[:, 0], 2 * bar.crossing
    axes.plot(1e3 * run.time, force, drawstyle="steps-pre", linewidth=1.0, label="finite elements")
    exact = [0.0, bar.force, bar.force, 0.0, 0.0]
    times = 1e3 * np.array([0.0, 0.0, span, span, run.time[-1]])
    axes.plot(times, exact, "--", color="#333333", linewidth=1.4, label="exact")
    axes.set(xlabel="time / ms", ylabel="contact force / N", xlim=(0.0, 1e3 * run.time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_ends(figure: "Figure", *, bar: Bar, run: "Run") -> None:
    """Displacement of both ends of the bar, by finite elements and exact (dashed)."""
    axes = figure.subplots()
    exact = bar.displacements(run.time)
    for node, name in ((0, "end at the wall"), (-1, "free end")):
        axes.plot(1e3 * run.time, 1e3 * run.position[:, node], label=name)
        axes.plot(1e3 * run.time, 1e3 * exact[:, node], "--", color="#333333", linewidth=1.0)
    axes.set(xlabel="time / ms", ylabel="displacement / mm", xlim=(0.0, 1e3 * run.time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)


def _draw_waves(figure: "Figure", *, bar: Bar, run: "Run") -> None:
    """Velocity of the bar over place and time: the front runs to the free end and back to the wall."""
    axes = figure.subplots()
    rows = np.unique(np.linspace(0, len(run) - 1, FIELD_ROWS).astype(int))
    columns = np.unique(np.linspace(0, bar.elements, FIELD_ROWS).astype(int))
    field = run.velocity[np.ix_(rows, columns)] / bar.speed
    picture = axes.pcolormesh(
        columns * bar.element,
        1e3 * run.time[rows],
        field,
        shading="nearest",
        cmap="RdBu_r",
        vmin=-1.3,
        vmax=1.3,
        rasterized=True,
    )
    ways = np.array([0.0, bar.length, 0.0])
    axes.plot(
        ways, 1e3 * bar.crossing * np.arange(3), "--", color="#111111", linewidth=1.0, label="exact front"
    )
    axes.set(xlabel="distance from the wall / m", ylabel="time / ms", xlim=(0.0, bar.length))
    axes.grid(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3)
    figure.colorbar(picture, ax=axes, label="velocity / speed before the impact")
