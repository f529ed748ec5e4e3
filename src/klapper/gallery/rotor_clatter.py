"""Clattering rotor: a turning laminate that gravity shuts once per turn.

Centrifugal forces hold the joint of a delaminated shaft open, gravity bends the shaft back and forth as it turns.
Where gravity is in resonance it shuts the joint, and the laminae clatter:

    g_stat(ξ) − g_dyn(ξ) < 0                                                              (5.166)

The map says at which speeds that may happen; the motion at one of them is computed with rigid contacts in the joint
until it repeats from turn to turn, with different numbers of modes: too few of them keep the middle from closing.

Growth is measured with contact, too: from 10.86 to 11.15 Hz large motions grow although the shaft without contact is
stable, because a shaft whose joint stays shut is not; at 17 and 18 Hz contact slows growth.

The text prints L₂ = 0.1 m, with which the joint opens by 0.05 µm and no range near 16.5 Hz is unstable (`L2=0.1`);
what it shows belongs to about 1.6 m, which is shipped. Its motion is at 5.5 Hz, where this model just does not touch
(`speed=5.5`); the resonance of the model is at 5.2 Hz.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._rotor import (
    ALUMINIUM,
    CLATTERING,
    PLACES,
    UNSTABLE,
    Alpha2,
    Density,
    Depth,
    Drag,
    Height,
    Length,
    Modes,
    Shaft,
    SpeedFrom,
    SpeedRange,
    SpeedTo,
    Split,
    Width,
    Young,
    draw_deflection,
    draw_growth,
    legend,
    limits,
    shade,
)
from klapper.gallery._rotor_clatter import (
    SHOWN_GROWTH,
    SHOWN_TURNS,
    Clatter,
    closed_growth,
    growth_with_contact,
    settled,
)
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis import ContactGrowth
    from klapper.analysis.rotor import Band, ClatterMap, GravityResonance
    from klapper.structures.delaminated_beam import DelaminatedModel

DRIVEN = 1e-6  # share of gravity below which a resonance is not excited


@example("rotor-clatter", source="Waltersberger (2007), Example 5.14, Figs. 5.44-5.50")
def rotor_clatter(
    *,
    L: Length = 3.0,
    L2: Split = 1.6,
    a: Height = 0.045,
    b: Width = 0.04,
    h: Depth = 0.036,
    E: Young = 69e9,
    rho: Density = 2800.0,
    damping_ext: Drag = 1.0,
    alpha2: Alpha2 = 1e-5,
    modes: Modes = 16,
    speed_from: SpeedFrom = 1.0,
    speed_to: SpeedTo = 21.0,
    speed: Annotated[float, Parameter("speed of the motion", unit="Hz", above=0.0)] = 5.2,
    compared_modes: Annotated[
        tuple[int, ...], Parameter("numbers of modes to compare with", at_least=1, at_most=200)
    ] = (6, 15),
    contacts: Annotated[int, Parameter("points of contact along the joint", at_least=1, at_most=199)] = 39,
    until: Annotated[float, Parameter("duration, long enough to settle", unit="s", above=0.0)] = 40.0,
    steps: Annotated[int, Parameter("time steps per turn", at_least=50, at_most=100000)] = 1000,
    growth_speeds: Annotated[
        tuple[float, ...], Parameter("speeds at which growth with contact is measured", unit="Hz", above=0.0)
    ] = (10.9, 17.0, 18.0),
) -> Outcome:
    from klapper.analysis.rotor import clatter_bands, clatter_map, gravity_resonances
    from klapper.gallery._rotor_film import FRAMES, draw_turn, widest_frame
    from klapper.gallery._run import ledger_check, run_audit, run_figures
    from klapper.report.film import Film

    shaft = Shaft(L, L2, a, b, h, E, rho, damping_ext, alpha2)
    model = shaft.model(modes)
    span = SpeedRange(model.rotor, speed_from, speed_to)
    rows = model.gap_rows(PLACES)
    bands = clatter_bands(model.rotor, rows, speed_from, speed_to, samples=2000)
    resonances = [
        each
        for each in gravity_resonances(model.rotor, speed_to)
        if each.speed >= speed_from and each.participation > DRIVEN
    ]
    chart = clatter_map(model.rotor, rows, _map_speeds(span, bands))
    grown = {each: growth_with_contact(model, each, contacts) for each in (*growth_speeds, speed)}
    if grown[speed].verdict == "grows without bound":
        until = min(until, SHOWN_GROWTH / grown[speed].rate)
    found = {
        count: settled(shaft.model(count), speed, contacts, until, steps)
        for count in sorted({*compared_modes, modes})
    }
    main = found[modes]
    here = clatter_map(model.rotor, rows, [speed])
    deflection, _ = main.end
    return Outcome(
        numbers={
            "clatter_bands": limits(bands),
            "resonances": [each.speed for each in resonances],
            "max_gap": float(main.run.gap.max()),
            "clatters": bool(main.touching.any()),
            "contact_share": float(main.touching[1:].mean()),
            "compared": list(found),
            "max_gaps": [float(each.middle.max()) for each in found.values()],
            "min_gaps": [float(each.middle.min()) for each in found.values()],
            "end_amplitude": float(np.abs(deflection).max()),
            "opening": float(here.opening[0].max()),
            "amplitude": float(here.amplitude[0].max()),
            "unrest": main.unrest,
            "unstable_bands": limits(span.unstable),
            "critical_speeds": span.critical,
            "pair_resonance": _pair_resonance(shaft),
            "growth_with_contact": [[each, growth.rate] for each, growth in sorted(grown.items())],
            "growth": grown[speed].verdict,
        },
        units={
            "clatter_bands": "Hz",
            "resonances": "Hz (with gravity)",
            "max_gap": "m (largest in the last turns)",
            "contact_share": "of the time",
            "compared": "modes",
            "max_gaps": "m (middle of the joint, by modes)",
            "min_gaps": "m (middle of the joint, by modes)",
            "end_amplitude": "m (end of beam 1, direction 1)",
            "opening": "m (by centrifugal forces at this speed)",
            "amplitude": "m (by gravity at this speed, without contact)",
            "unrest": "change from turn to turn, over the range of the gap",
            "unstable_bands": "Hz",
            "critical_speeds": "Hz",
            "pair_resonance": "Hz (closed form of the lowest modes of both planes)",
            "growth_with_contact": "Hz, 1/s (of large motions)",
        },
        checks=[
            *_checks(main, here, bands),
            *(_printed(span, bands, resonances, found) if shaft == ALUMINIUM else []),
            *(_printed_growth(model, grown) if shaft == ALUMINIUM and modes >= 6 else []),
            ledger_check(main.run),
        ],
        audit=run_audit(main.run),
        figures={
            "turn": Film(
                partial(draw_turn, model=model, run=main.run, speed=speed),
                FRAMES,
                still=widest_frame(model, main.run, speed),
            ),
            "growth": partial(draw_growth, span=span, with_contact=grown),
            "clatter-map": partial(_draw_map, span=span, chart=chart, bands=bands, speed=speed),
            "gravity-amplitudes": partial(_draw_amplitudes, span=span, model=model, resonances=resonances),
            "deflection": partial(draw_deflection, span=span, model=model),
            "gap": partial(_draw_gaps, found=found),
            "phase-portrait": partial(_draw_portrait, found=found),
            **run_figures(main.run, "energy"),
        },
        runs={"run": main.run},
    )


def _pair_resonance(shaft: Shaft) -> float:
    """Ω of the lowest mode of each plane, as if both had the same shape [Hz]."""
    from klapper.analysis.rotor import gravity_resonance_of_pair

    first, second = (shaft.beam.frequencies(1, plane=plane)[0] for plane in ("1-3", "2-3"))
    return float(gravity_resonance_of_pair(first, second))


def _map_speeds(span: SpeedRange, bands: "list[Band]") -> np.ndarray:
    dense = [np.linspace(band.low, band.high, 31) for band in bands]
    return np.unique(np.concatenate([span.speeds, *dense]))


def _checks(main: Clatter, here: "ClatterMap", bands: "list[Band]") -> list[Check]:
    """What holds for all parameters."""
    run, speed = main.run, main.speed
    step = float(run.time[1] - run.time[0])
    approach = float(np.abs(run.velocity @ main.model.gap_rows(PLACES).T).max())
    checks = [
        Check(
            "smallest normal impulse",
            value=float(run.impulse[:, :, 0].min()),
            at_least=0.0,
            source="laminae do not pull on each other",
        ),
        Check(
            "smallest gap",
            value=float(run.gap.min()),
            at_least=-2.0 * step * approach,
            source="time stepping closes a gap at most two steps late",
        ),
    ]
    if main.touching.any():
        return checks
    if any(speed in band for band in bands):
        return [
            *checks,
            Check("the laminae touch", value=False, expected=True, source="clatter criterion (5.166)"),
        ]
    reach = here.opening + here.amplitude
    return [
        *checks,
        Check(
            "largest gap of a motion without contact",
            value=float(run.gap.max() / reach.max()),
            expected=1.0,
            tolerance=0.01 + main.unrest,
            source="linear response g_stat + g_dyn, (5.162), (5.165)",
        ),
    ]


def _printed(
    span: SpeedRange, bands: "list[Band]", resonances: "list[GravityResonance]", found: dict[int, Clatter]
) -> list[Check]:
    """Numbers of Example 5.14, for its shaft."""
    checks = []
    if span.low < 4.5 and span.high > 14.0 and span.rotor.size >= 6:
        subcritical = [[band.low, band.high] for band in bands if 4.0 < band.low < 6.0]
        checks += [
            Check(
                "resonances with gravity, thesis",
                value=[each.speed for each in resonances[:2]],
                expected=[5.4, 13.5],
                tolerance=0.25,
                source="read from Fig. 5.46",
            ),
            Check(
                "clatter below the first critical speed",
                value=subcritical,
                expected=[[5.11, 5.47]],
                tolerance=0.05,
                source="an independent implementation of (5.161)–(5.166)",
            ),
        ]
    if {6, 15, 16} <= set(found) and found[16].speed == 5.2:
        gap = found[16].middle
        checks += [
            Check(
                "change of the gap from 15 to 16 modes, over its range",
                value=float(np.abs(found[15].middle - gap).max() / np.ptp(gap)),
                at_most=0.01,
                source="Fig. 5.48: both coincide",
            ),
            Check(
                "smallest gap in the middle with 6 modes",
                value=float(found[6].middle.min()),
                at_least=1e-4,
                source="Fig. 5.49: it does not close, because there is contact elsewhere",
            ),
            Check(
                "contact with 6 modes", value=bool(found[6].touching.any()), expected=True, source="Fig. 5.49"
            ),
            Check(
                "largest gap in the middle by modes",
                value=[float(found[count].middle.max()) for count in (6, 15, 16)],
                expected=[11.76e-3, 12.18e-3, 12.15e-3],
                tolerance=0.12e-3,
                source="an independent implementation, h = 2e-4 s; 1 %",
            ),
        ]
    return checks


def _printed_growth(model: "DelaminatedModel", grown: "dict[float, ContactGrowth]") -> list[Check]:
    """The text on the supercritical range, and a shaft that stays closed between the critical speeds of its planes."""
    checks = []
    if {17.0, 18.0} <= set(grown):
        checks.append(
            Check(
                "growth with contact at 17 and 18 Hz",
                value=[grown[each].rate for each in (17.0, 18.0)],
                expected=[1.7, 2.9],
                tolerance=0.3,
                source="another computation, 40 s; as (5.3.4): an unstable shaft grows, slower with contact",
            )
        )
    if 10.9 in grown and model.rotor.size >= 12:  # fewer modes give the joint room between its points
        checks.append(
            Check(
                "growth with contact at 10.9 Hz",
                value=grown[10.9].rate,
                expected=closed_growth(model, 10.9, 3),
                tolerance=0.01,
                source="eigenvalues of the shaft whose joint stays closed at 3 points",
            )
        )
    return checks


def _draw_map(
    figure: "Figure", *, span: SpeedRange, chart: "ClatterMap", bands: "list[Band]", speed: float
) -> None:
    """Opening by centrifugal forces minus shaking by gravity, (5.166), over place and speed and, below, in the middle
    of the joint. Where it is negative (blue) the laminae may clatter. Orange strips: unstable."""
    from klapper.gallery._sketch import BLUE, DARK

    figure.set_size_inches(6.6, 5.8)
    upper, lower = figure.subplots(2, 1, sharex=True)
    margin = 1e3 * chart.margin
    size = 1.2 * _usual(span, chart.speeds, margin)
    picture = upper.pcolormesh(
        chart.speeds,
        PLACES,
        np.clip(margin, -size, size).T,
        cmap="RdBu_r",
        vmin=-size,
        vmax=size,
        shading="nearest",
        rasterized=True,
    )
    figure.colorbar(picture, ax=upper, label="margin / mm", extend="both")
    upper.set(ylabel="place in the joint ξ", ylim=(0.0, 1.0))
    upper.grid(False)
    shade(lower, bands, CLATTERING, "clatter")
    shade(lower, span.unstable, UNSTABLE, "unstable")
    lower.axhline(0.0, color=DARK, linewidth=0.8)
    lower.plot(chart.speeds, margin[:, len(PLACES) // 2], color=BLUE, linewidth=1.5)
    lower.axvline(speed, color=DARK, linestyle=":", linewidth=1.2, label="motion shown")
    lower.set(
        xlabel="speed / Hz",
        ylabel="margin in the middle / mm",
        ylim=(-size, size),
        xlim=(span.low, span.high),
    )
    legend(lower)


def _usual(span: SpeedRange, speeds: np.ndarray, values: np.ndarray) -> float:
    """What absolute values at stable speeds do not often exceed."""
    running = np.array([not any(each in band for band in span.unstable) for each in speeds])
    return float(np.quantile(np.abs(values[running] if running.any() else values), 0.85)) or 1.0


def _draw_amplitudes(
    figure: "Figure", *, span: SpeedRange, model: "DelaminatedModel", resonances: "list[GravityResonance]"
) -> None:
    """How far gravity shakes the middles of the beams and the joint, without contact. Dashed: speeds of resonance with
    gravity, which turns backward for whoever turns with the shaft."""
    from klapper.analysis.rotor import gravity_response
    from klapper.gallery._sketch import DARK

    rows = np.array([*(model.row(part, 0.5, 1) for part in (1, 2, 3)), model.gap_rows([0.5])[0]])
    near = [each.speed * (1 + np.linspace(-0.05, 0.05, 61)) for each in resonances]
    speeds = np.unique(np.concatenate([span.speeds, *near]))
    speeds = speeds[(speeds > 0.0) & (speeds >= span.low) & (speeds <= span.high)]
    values = 1e3 * np.abs(gravity_response(model.rotor, speeds, rows))
    axes = figure.subplots()
    shade(axes, span.unstable, UNSTABLE, "unstable")
    for line, name in zip(values.T, ("beam 1", "beam 2", "beam 3", "gap"), strict=True):
        axes.semilogy(speeds, line, label=name, linewidth=1.4)
    for each in resonances:
        axes.axvline(each.speed, color=DARK, linestyle="--", linewidth=0.9)
    axes.set(xlabel="speed / Hz", ylabel="amplitude of the middle / mm", xlim=(span.low, span.high))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=5, borderaxespad=0.3, columnspacing=1.0)


def _draw_gaps(figure: "Figure", *, found: dict[int, Clatter]) -> None:
    """Gap in the middle of the joint and its velocity over the last two turns, by the number of modes. Few modes
    cannot shut the middle: the laminae touch elsewhere."""
    figure.set_size_inches(6.6, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for number, (count, each) in enumerate(found.items()):
        shown = each.turns >= SHOWN_TURNS - 2 - 1e-9
        look = {"label": f"{count} modes", "linewidth": 1.3, "linestyle": ("-", "--", "-.", ":")[number % 4]}
        upper.plot(each.turns[shown], 1e3 * each.middle[shown], **look)
        lower.plot(each.turns[shown], 1e3 * each.middle_rate[shown], **look)
    for axes in (upper, lower):
        axes.axhline(0.0, color="#444444", linewidth=0.8)
    upper.set_ylabel("gap / mm")
    lower.set(xlabel="turns", ylabel="velocity of the gap / (mm/s)", xlim=(SHOWN_TURNS - 2, SHOWN_TURNS))
    legend(upper)


def _draw_portrait(figure: "Figure", *, found: dict[int, Clatter]) -> None:
    """Phase portrait of the end of beam 1 in direction 1, by the number of modes: nearly an ellipse, with small jumps
    of the velocity where the laminae hit each other (right: a part of it)."""
    figure.set_size_inches(7.4, 3.8)
    left, right = figure.subplots(1, 2)
    for number, (count, each) in enumerate(found.items()):
        x, v = each.end
        look = {"label": f"{count} modes", "linewidth": 1.1, "linestyle": ("-", "--", "-.", ":")[number % 4]}
        for axes in (left, right):
            axes.plot(1e3 * x, 1e3 * v, **look)
    last = list(found.values())[-1]
    x, v = last.end
    closing = np.flatnonzero(np.diff(last.touching.astype(int)) > 0)
    place = int(closing[-1] if len(closing) else np.argmax(v))
    reach = 0.12 * np.array([np.ptp(x), np.ptp(v)])
    right.set_xlim(*(1e3 * (x[place] + np.array([-1, 1]) * reach[0])))
    right.set_ylim(*(1e3 * (v[place] + np.array([-1, 1]) * reach[1])))
    for axes in (left, right):
        axes.set(xlabel="displacement / mm")
    left.set_ylabel("velocity / (mm/s)")
    handles, _ = left.get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside upper left", ncols=4)
