"""Validity limit: up to which force the linear vibration of a beam on one-sided supports is true.

A beam lies on supports that only push, under its weight; a stop hangs above it with a little play. A harmonic force
shakes it. As long as every support stays loaded and the stop is not reached, the motion is linear about the state of
rest,

    M q̈ + D q̇ + K q = f₀ + r Re(F e^{iωt}) + J_A λ,   Bᵀ J_A = 0,
    (Bᵀ K B + i ω Bᵀ D B − ω² Bᵀ M B) ẑ = F Bᵀ r                             Waltersberger & Wauer (9), (10), corrected

with the columns of B spanning the motions that keep the contacts. The force at which the amplitude of a contact force
reaches its static value, or that of a gap the static gap, ends that: the linear answer beyond it is drawn dashed. A
simulation with contact confirms it, 1 % below and 1 % above."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._validity_limit import ABOVE, BELOW, FAR, LONGEST, PERIODS, STEPS, Shaken
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis import FrequencyResponse

ELEMENTS = 14  # at least; every support and the force are at the end of one


@example("validity-limit", source="Waltersberger & Wauer, PAMM 5 (2005), (5)-(10)")
def validity_limit(
    *,
    frequency: Annotated[float, Parameter("of the force", unit="Hz", above=0.0)] = 80.0,
    force: Annotated[float, Parameter("given amplitude of the force", unit="N", above=0.0)] = 5.0,
    force_place: Annotated[float, Parameter("place of the force", unit="m", at_least=0.0)] = 1.0,
    length: Annotated[float, Parameter("length of the beam", unit="m", above=0.0)] = 2.0,
    supports: Annotated[tuple[float, ...], Parameter("places of the supports", unit="m", at_least=0.0)] = (
        0.15,
        0.75,
        1.3,
        1.85,
    ),
    stop_place: Annotated[float, Parameter("place of the stop above the beam", unit="m", at_least=0.0)] = 0.0,
    stop_gap: Annotated[
        float, Parameter("its distance from the undeformed beam", unit="m", above=0.0)
    ] = 1e-4,
    height: Annotated[float, Parameter("height of the beam", unit="m", above=0.0)] = 0.008,
    width: Annotated[float, Parameter("width of the beam", unit="m", above=0.0)] = 0.03,
    young: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 210e9,
    density: Annotated[float, Parameter("density", unit="kg/m³", above=0.0)] = 7850.0,
    damping_ext: Annotated[float, Parameter("external damping", unit="N s/m²", at_least=0.0)] = 20.0,
    alpha2: Annotated[float, Parameter("material damping α₂ K", unit="s", at_least=0.0)] = 2e-5,
    frequency_to: Annotated[
        float, Parameter("highest frequency of the figures", unit="Hz", above=0.0)
    ] = 220.0,
) -> Outcome:
    from klapper.analysis.stationary_state import NoStationaryState
    from klapper.mechanics import InvalidModel
    from klapper.structures import Beam, Material, Section

    places = tuple(sorted(set(supports)))
    if len(places) < 2 or max(*places, force_place, stop_place) > length:
        raise ParameterError(
            f"supports (two or more), force_place and stop_place must lie on the beam, from 0 to {length:g} m."
        )
    ends = np.unique(
        np.round(
            np.concatenate([np.linspace(0.0, length, ELEMENTS + 1), places, [force_place, stop_place]]), 9
        )
    )
    beam = Beam(
        length,
        Material(young, density),
        Section.rectangle(height, width),
        elements=ends,
        theory="euler-bernoulli",
    )
    beam = beam.with_external_damping(damping_ext).with_rayleigh(stiffness=alpha2).with_gravity()
    shaken = Shaken(beam, places, stop_place, stop_gap, force_place, force, frequency)
    try:
        shaken.rest  # noqa: B018
    except (InvalidModel, NoStationaryState) as error:
        raise ParameterError(f"the beam does not rest on these supports: {error}") from error
    answer = shaken.answer(np.linspace(frequency_to / 400, frequency_to, 400))
    lowest = int(np.argmin(answer.limit.factor))
    return Outcome(
        numbers={
            "amplitude": shaken.limit,
            "contact": shaken.contact,
            "change": str(shaken.here.limit.change[0]),
            "holds": bool(shaken.here.valid[0]),
            "deflection": float(np.abs(shaken.here.along(shaken.row))[0]) * shaken.limit / force,
            "contact_forces": shaken.rest.forces[:-1, 0],
            "stop_opening": shaken.rest.gaps[-1],
            "lowest_amplitude": answer.limit.factor[lowest] * force,
            "lowest_frequency": answer.frequencies[lowest],
            "lowest_contact": str(answer.limit.contact[lowest]),
            "changed_below": shaken.changed(BELOW),
            "changed_above": shaken.changed(ABOVE),
        },
        units={
            "amplitude": "N (of the force, at which the linear vibration ends)",
            "deflection": "m (amplitude at the force, at the limit)",
            "contact_forces": "N (of the supports at rest)",
            "stop_opening": "m (at rest)",
            "lowest_amplitude": "N (limit at the worst frequency of the figure)",
            "lowest_frequency": "Hz",
            "changed_below": "contacts that leave their state in the simulation at 99 % of the limit",
            "changed_above": "at 101 %",
        },
        checks=_checks(shaken),
        audit={
            "state of rest": str(shaken.rest).splitlines()[0],
            "simulation": f"midpoint steps, {STEPS} per period, begun on the linear vibration",
            "uniqueness": "forces of the supports are unique: they do not depend on each other"
            if not shaken.here.shared
            else f"forces of {', '.join(shaken.here.shared)} are not unique; the limit is on the safe side",
        },
        figures={
            "response": partial(_draw_response, shaken=shaken, answer=answer),
            "simulation": partial(_draw_simulation, shaken=shaken),
            "beam": partial(_draw_beam, shaken=shaken),
        },
    )


def _checks(shaken: Shaken) -> list[Check]:
    checks = [
        Check(
            "forces of the supports at rest over the weight",
            value=float(shaken.rest.forces[:, 0] @ np.r_[np.ones(len(shaken.supports)), -1.0])
            / _weight(shaken),
            expected=1.0,
            tolerance=1e-9,
            source="balance of forces",
        ),
        Check(
            "contacts that leave their state 1 % below the limit",
            value=shaken.changed(BELOW),
            expected=[],
            source="simulation with contact",
        ),
        Check(
            "the named contact leaves its state 1 % above the limit",
            value=shaken.contact in shaken.changed(ABOVE),
            expected=True,
            source="simulation with contact",
        ),
        Check(
            "what is left of the static force or gap of that contact, 1 % below the limit",
            value=float(shaken.margin(BELOW).min()),
            expected=1.0 - BELOW,
            tolerance=1e-3,
            source="simulation with contact; the linear answer",
        ),
    ]
    if shaken.settling <= LONGEST:
        exact = complex(shaken.here.along(shaken.row)[0]) * 0.3 * shaken.limit / shaken.force
        checks.append(
            Check(
                "distance of the amplitude after a long integration from rest, at 0.3 of the limit",
                value=abs(shaken.settled_amplitude(0.3) - exact) / abs(exact),
                expected=0.0,
                tolerance=1e-3,
                source=f"midpoint steps with contact over {shaken.settling} periods",
            )
        )
    return checks


def _weight(shaken: Shaken) -> float:
    """[N], of the whole beam."""
    beam = shaken.beam
    return 9.81 * beam.material.density * beam.section.area * beam.length


def _draw_response(figure: "Figure", *, shaken: Shaken, answer: "FrequencyResponse") -> None:
    """Above: amplitude of the deflection under the given force. Solid: the linear answer holds; dashed on grey: it does
    not, because a contact leaves its state. Below: the force at which the first contact does, over the given force,
    coloured by contact; the circle is the frequency that is simulated."""
    figure.set_size_inches(7.4, 5.6)
    rows = {f"at the force, {shaken.at:g} m": shaken.row, "at the left end": shaken.beam.row(0.0)}
    answer.plot(figure, rows=rows)
    lower = figure.axes[1]
    lower.plot(
        shaken.frequency,
        shaken.limit / shaken.force,
        "o",
        markersize=7,
        markerfacecolor="white",
        markeredgecolor="#333333",
        markeredgewidth=1.6,
        zorder=6,
    )


def _draw_simulation(figure: "Figure", *, shaken: Shaken) -> None:
    """The contact that reaches its limit first, in simulations with contact 1 % below, 1 % above and far above the
    limit; right, the moments around the first minimum. Dashed: the linear answer, which pulls or penetrates."""
    from klapper.gallery._sketch import BLUE, GREEN, ORANGE

    figure.set_size_inches(9.2, 5.2)
    (upper, near_force), (lower, near_gap) = figure.subplots(2, 2, sharex="col", width_ratios=(3, 2))
    rest, number, answer = shaken.rest, shaken.number, shaken.here
    way = np.linspace(0.0, PERIODS, 1200)
    wave = np.exp(1j * (2 * np.pi * way + answer.safe_phase(0)))
    for part, colour in zip((FAR, ABOVE, BELOW), (ORANGE, GREEN, BLUE), strict=True):
        run, factor = shaken.runs[part], part * answer.limit.factor[0]
        time = run.time * shaken.frequency
        force = _smoothed(run.impulse[1:, number, 0] * STEPS * shaken.frequency)
        gap = 1e6 * run.gap[:, number]
        linear = rest.forces[number, 0] + np.real(factor * answer.forces[0, number, 0] * wave)
        opening = 1e6 * (rest.gaps[number] + np.real(factor * answer.gaps[0, number] * wave))
        for axes in (upper, near_force):
            axes.plot(time[1:], force, color=colour, linewidth=1.4, label=f"{100 * part:.0f} % of the limit")
            axes.plot(way, linear, color=colour, linestyle="--", linewidth=0.9)
        for axes in (lower, near_gap):
            axes.plot(time, gap, color=colour, linewidth=1.4)
            if shaken.closes:
                axes.plot(way, opening, color=colour, linestyle="--", linewidth=0.9)
    size = float(rest.forces[number, 0]) or 1.0
    least = way[np.argmin((linear if not shaken.closes else opening)[: len(way) // PERIODS])]
    near_force.set_xlim(least - 0.09, least + 0.16)
    if not shaken.closes:
        upper.set_ylim(-0.6 * size, 3.0 * size)
        near_force.set_ylim(-0.04 * size, 0.16 * size)
        near_gap.set_ylim(*_around_zero(shaken, least))
    else:
        near_gap.set_ylim(-0.04 * 1e6 * rest.gaps[number], 0.16 * 1e6 * rest.gaps[number])
    for axes in (upper, lower, near_force, near_gap):
        axes.axhline(0.0, color="#333333", linewidth=0.9)
    upper.set(ylabel=f"force of {shaken.contact} / N", xlim=(0.0, PERIODS))
    lower.set(xlabel="time / period of the force", ylabel=f"gap of {shaken.contact} / µm")
    near_gap.set(xlabel="time / period of the force")
    handles, _ = upper.get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside upper left", ncols=3, frameon=False)


def _around_zero(shaken: Shaken, least: float) -> tuple[float, float]:
    """Limits [µm] that show the first gap just above the limit."""
    run = shaken.runs[ABOVE]
    near = np.abs(run.time * shaken.frequency - least) < 0.2
    largest = max(1e6 * float(run.gap[near, shaken.number].max()), 1e-3)
    return -0.3 * largest, 2.0 * largest


def _smoothed(force: np.ndarray, width: int = 9) -> np.ndarray:
    """Mean over a few steps: after an impact single steps carry high modes."""
    wide = np.pad(force, width // 2, mode="edge")
    return np.convolve(wide, np.ones(width) / width, mode="valid")


def _draw_beam(figure: "Figure", *, shaken: Shaken) -> None:
    """State of rest with the forces of the supports, and below the linear vibration at its limit: shapes over one
    period. Triangles are supports and the stop; red is the one that leaves its state first."""
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(7.4, 4.6)
    still, moving = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    x = np.linspace(0.0, shaken.beam.length, 300)
    rows = shaken.beam.rows(x)
    still.plot(x, 1e6 * rows @ shaken.rest.position, color=BLUE, linewidth=2.0)
    for place, force in zip(shaken.supports, shaken.rest.forces[:, 0], strict=False):
        still.annotate(
            f"{force:.3g} N",
            (place, 0.0),
            (0, -22),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=DARK,
        )
    still.set(ylabel="rest: deflection / µm")
    amplitude = rows @ shaken.here.position[0] * shaken.here.limit.factor[0]
    for phase in np.linspace(0.0, 2 * np.pi, 12, endpoint=False):
        shape = 1e6 * (rows @ shaken.rest.position + np.real(amplitude * np.exp(1j * phase)))
        moving.plot(x, shape, color=GREY, linewidth=0.9, alpha=0.7)
    moving.plot(x, 1e6 * rows @ shaken.rest.position, color=BLUE, linewidth=1.4)
    moving.axvline(shaken.at, color=ORANGE, linestyle=":", linewidth=1.2)
    moving.annotate(
        f"force {shaken.limit:.4g} N", (shaken.at, 0.97), (4, 0), xycoords=("data", "axes fraction"),
        textcoords="offset points", color=ORANGE, va="top",
    )  # fmt: skip
    moving.set(
        xlabel="x / m", ylabel=f"at the limit, {shaken.frequency:g} Hz / µm", xlim=(0.0, shaken.beam.length)
    )
    for axes in (still, moving):
        _draw_contacts(axes, shaken)
    moving.annotate(
        f"{shaken.contact} {shaken.here.limit.change[0]}",
        (0.995, 0.03),
        xycoords="axes fraction",
        ha="right",
        va="bottom",
        color=ORANGE,
    )


def _draw_contacts(axes: "Axes", shaken: Shaken) -> None:
    from klapper.gallery._sketch import DARK, ORANGE

    for i, place in enumerate(shaken.supports):
        limiting = shaken.number == i
        axes.plot(
            place, 0.0, marker=6, markersize=11, color=ORANGE if limiting else DARK, clip_on=False, zorder=6
        )
    limiting = shaken.number == len(shaken.supports)
    axes.plot(
        shaken.stop,
        1e6 * shaken.play,
        marker=7,
        markersize=11,
        color=ORANGE if limiting else DARK,
        clip_on=False,
        zorder=6,
    )
    axes.margins(y=0.25)
