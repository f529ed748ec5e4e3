"""Rocking beam: an elastic beam falls on a stop, and the end that lay must rise at the instant at which the other hits.

A free beam touches a flat stop a ≤ x ≤ b at A and is released with B in the air. When B hits, A lifts off, then B, and
so on. With few modes the contacts are more than the degrees of freedom, and only inequalities let A go:

    M q̈ + D q̇ + K q = f + J λ,   0 ≤ λ ⟂ J q ≥ 0,   q = V y                     Waltersberger (5.35), (5.42), (5.48)

An ordinary integrator, which makes closed contacts two-sided constraints and releases those that pull, stops a beam of
two or three modes dead (Fig. 5.23). Without bending the motion has a closed form: two pivots in turn, with a loss of
angular momentum at every change.

The printed section has the area of a 20 mm square and the second moment of a 10 mm one; ``section`` chooses. Methods on
position level have no impact law (quasi-static and massless-boundary reduction, see ``quasi-static-beam``).
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from klapper.gallery._beam_on_stop import COMPLIANT, BeamOnStop, Reduction, Rock, SectionReading
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.schemes import Scheme

Integrator = Literal["moreau", "event-driven", "exact", "ordinary"]

SAMPLES = 1000  # of methods that choose their steps themselves
TOLERANCE = 1e-8  # of their integrations
SHOWN = (3, 6, 10, 15)  # modes in the figure, as in Figs. 5.22 and 5.24
FEW = 3  # modes up to which the ordinary integrator does not let the shipped beam rock
SHIPPED = BeamOnStop(1.0, 210e9, 81e9, 7500.0, "printed", 1.2, 0.4, 0.6, 0.01, 0.01, 1e-4, 9.81)


@example("rocking-beam", source="Waltersberger (2007), Examples 5.7 and 5.8, Figs. 5.20-5.25")
def rocking_beam(
    *,
    modes: Annotated[int, Parameter("modes that are kept, two rigid ones among them", at_least=2)] = 10,
    reduction: Annotated[Reduction, Parameter("how the elements are reduced")] = "modal",
    step: Annotated[
        float, Parameter("time step, of other integrators the least interval of output", unit="s", above=0.0)
    ] = 2e-5,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.5,
    integrator: Annotated[Integrator, Parameter("method")] = "moreau",
    theta: Annotated[
        float, Parameter("of time stepping: 1 is implicit Euler, ½ midpoint", at_least=0.5, at_most=1.0)
    ] = 1.0,
    contacts: Annotated[int, Parameter("points of the stop, the first at A, the last at B", at_least=2)] = 25,
    section: Annotated[SectionReading, Parameter("A and I as printed, or those of one square")] = "printed",
    L: Annotated[float, Parameter("length of the beam", unit="m", above=0.0)] = SHIPPED.length,
    E: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = SHIPPED.young,
    G: Annotated[float, Parameter("shear modulus", unit="N/m²", above=0.0)] = SHIPPED.shear,
    rho: Annotated[float, Parameter("density", unit="kg/m³", above=0.0)] = SHIPPED.density,
    kappa: Annotated[
        float, Parameter("shear number, area over shear area", above=0.0)
    ] = SHIPPED.shear_number,
    a: Annotated[float, Parameter("left end A of the stop", unit="m", at_least=0.0)] = SHIPPED.start,
    b: Annotated[float, Parameter("right end B of the stop", unit="m", above=0.0)] = SHIPPED.end,
    height: Annotated[float, Parameter("height above B at the start", unit="m", above=0.0)] = SHIPPED.height,
    alpha1: Annotated[float, Parameter("damping α₁ M", unit="1/s", at_least=0.0)] = SHIPPED.alpha1,
    alpha2: Annotated[float, Parameter("damping α₂ K", unit="s", at_least=0.0)] = SHIPPED.alpha2,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = SHIPPED.gravity,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    model = BeamOnStop(L, E, G, rho, section, kappa, a, b, height, alpha1, alpha2, gravity)
    _require(model, reduction, integrator, theta, step, until)
    scheme = scheme_of(integrator, step, until, theta, reduction)
    rock = _rock(model, model.reduced(reduction, modes, contacts), until, scheme, integrator)
    rigid = _rock(*model.stiff(), model.rigid.next_touch, _rigid_scheme(scheme), integrator)
    reference = _reference(model, rock, integrator, reduction)
    when, first = rock.first
    numbers: dict[str, Any] = {
        "first_max_A": first,
        "time_of_first_max_A": when,
        "touch_time_B": rock.touch,
        "min_gap": rock.gaps.min(),
        "rigid_first_max_A": model.rigid.first_height,
        "rigid_touch_time_B": model.rigid.touch,
        "frequencies": rock.frequencies,
        "coordinates": rock.reduced.system.size,
        "lost_flexibility": float(np.nanmax(rock.reduced.error.contact)),
        "steps": rock.run.about["steps"],
    }
    units = {
        "first_max_A": "m",
        "time_of_first_max_A": "s",
        "touch_time_B": "s",
        "min_gap": "m",
        "rigid_first_max_A": "m (closed form)",
        "rigid_touch_time_B": "s (closed form)",
        "frequencies": "Hz (of the reduced beam)",
        "lost_flexibility": "largest share of a contact's static flexibility",
    }
    if reference is not None:
        numbers["located_first_max_A"] = reference.first[1]
        units["located_first_max_A"] = "m (same modes, complementarity, impacts located)"
    return Outcome(
        numbers=numbers,
        units=units,
        checks=[
            *_rigid_checks(rigid, scheme, integrator),
            *_flexible_checks(rock, reference, scheme, integrator, reduction),
            *_printed_checks(model, modes, integrator, first),
            ledger_check(rock.run),
        ],
        audit={"reduction": str(rock.reduced.error), **run_audit(rock.run)},
        figures={
            "motion": partial(_draw_motion, rock=rock),
            "shapes": partial(_draw_shapes, rock=rock),
            "modes": partial(_draw_modes, model=model, contacts=contacts, step=step, theta=theta),
            "ordinary": partial(_draw_ordinary, model=model),
            "contact-states": partial(_draw_states, rock=rock),
            **run_figures(rock.run, "energy"),
        },
    )


def scheme_of(
    integrator: Integrator, step: float, until: float, theta: float = 1.0, reduction: Reduction = "modal"
) -> "Scheme":
    """The method by its name; contacts that are compliant by reduction need time stepping on position level."""
    from klapper.gallery._run import scheme_named
    from klapper.schemes.moreau import Moreau

    if integrator == "moreau":
        return Moreau(step, theta=theta, level="position" if reduction in COMPLIANT else "velocity")
    return scheme_named(integrator, max(step, until / SAMPLES), tolerance=TOLERANCE)


def _require(
    model: BeamOnStop, reduction: Reduction, integrator: Integrator, theta: float, step: float, until: float
) -> None:
    if reduction in COMPLIANT and (integrator != "moreau" or theta != 1.0):
        raise ParameterError(
            f"integrator must be moreau with theta=1 for reduction {reduction}: its contacts are compliant and known "
            f"on position level only."
        )
    if until < model.rigid.next_touch:
        raise ParameterError(
            f"until must be at least {model.rigid.next_touch:.4g} s, when a rigid beam is back at A, not {until:g}."
        )
    if integrator == "moreau" and step > 0.05 * model.rigid.touch:
        raise ParameterError(
            f"step must be at most {0.05 * model.rigid.touch:.4g} s, a twentieth of the first fall, not {step:g}."
        )


def _rock(model: BeamOnStop, reduced: Any, until: float, scheme: "Scheme", integrator: Integrator) -> Rock:
    from klapper.mechanics import InvalidModel

    try:
        return Rock.of(model, reduced, until, scheme)
    except InvalidModel as error:
        raise ParameterError(f"integrator cannot be {integrator} here: {error}") from error


def _rigid_scheme(scheme: "Scheme") -> "Scheme":
    """The same method on velocity level."""
    return replace(scheme, level="velocity") if hasattr(scheme, "level") else scheme  # type: ignore[type-var]


def _reference(model: BeamOnStop, rock: Rock, integrator: Integrator, reduction: Reduction) -> Rock | None:
    """The same modes by a method that shares no integrator with that of the run, over the first rock.

    Shapes beyond the modes are too fast to follow each of their impacts.
    """
    if reduction != "modal":
        return None
    until = model.rigid.next_touch
    other: Integrator = "event-driven" if integrator == "exact" else "exact"
    return Rock.of(model, rock.reduced, until, scheme_of(other, until / 400, until))


def _rigid_checks(rigid: Rock, scheme: "Scheme", integrator: Integrator) -> list[Check]:
    """The beam without bending by the same method. An error of time by a step is one of the height by 2 h/t."""
    closed = rigid.model.rigid
    h = scheme.step_size if integrator == "moreau" else 0.0  # type: ignore[attr-defined]
    touch = Check(
        "rigid beam: touch of B",
        value=rigid.touch,
        expected=closed.touch,
        tolerance=h + 1e-8 * closed.touch,
        source="closed form",
    )
    if integrator == "ordinary":
        held = Check(
            "rigid beam: rise of A",
            value=rigid.first[1],
            expected=0.0,
            tolerance=1e-8 * rigid.model.height,
            source="two two-sided constraints leave two coordinates no motion",
        )
        return [touch, held]
    return [
        touch,
        Check(
            "rigid beam: first maximum of A",
            value=rigid.first[1],
            expected=closed.first_height,
            tolerance=(4 * h / closed.touch + 1e-7) * closed.first_height + 1e-8 * rigid.model.height,
            source="closed form",
        ),
    ]


def _flexible_checks(
    rock: Rock, reference: Rock | None, scheme: "Scheme", integrator: Integrator, reduction: Reduction
) -> list[Check]:
    """The run itself: gaps, and the same modes with every impact located."""
    model = rock.model
    if reduction in COMPLIANT:
        late, source = 0.0, "complementarity on position level (5.66)"
    else:
        h = scheme.step_size if integrator == "moreau" else 0.0  # type: ignore[attr-defined]
        late = 4 * h * model.rigid.tilt * model.length / model.rigid.touch
        source = "contacts are seen up to a step late, at twice the speed of the falling end at most"
    checks = [
        Check("least gap", value=rock.gaps.min(), at_least=-(late + 1e-7 * model.height), source=source)
    ]
    if reference is None:
        return checks
    checks.append(
        Check(
            "touch of B",
            value=rock.touch,
            expected=reference.touch,
            tolerance=4 * h + 1e-6 * reference.touch,
            source=f"same modes by the {reference.run.about['scheme']} method",
        )
    )
    if integrator != "ordinary":
        checks.append(
            Check(
                "first maximum of A",
                value=rock.first[1],
                expected=reference.first[1],
                tolerance=_height_error(rock, h) * reference.first[1] + 1e-8 * model.height,
                source=f"same modes by the {reference.run.about['scheme']} method",
            )
        )
    return checks


def _height_error(rock: Rock, step: float) -> float:
    """Relative error of the first maximum: of the energy that the highest mode loses in a step, or of round-off that
    the many impacts after the touch of B enlarge."""
    fastest = 2 * np.pi * rock.reduced.error.highest
    return float(min(fastest * step, 0.1) + 4 * step / rock.model.rigid.touch + 3e-3)


def _printed_checks(model: BeamOnStop, modes: int, integrator: Integrator, first: float) -> list[Check]:
    if model != SHIPPED or integrator != "ordinary" or modes > FEW:
        return []
    return [
        Check(
            "rise of A under the ordinary integrator",
            value=first,
            at_most=0.01 * model.rigid.first_height,
            source="Waltersberger Fig. 5.23: practically no rocking",
        )
    ]


def _draw_motion(figure: "Figure", *, rock: Rock) -> None:
    """Height of A and B over time; dotted, the beam without bending in closed form."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE
    from klapper.results.thinning import thinned

    figure.set_size_inches(7.2, 3.8)
    axes = figure.subplots()
    for column, (name, color) in enumerate((("A", BLUE), ("B", ORANGE))):
        heights = 1e3 * rock.heights[:, column]
        points = thinned(heights)
        axes.plot(rock.time[points], heights[points], color=color, label=name)
    times, a, b = _rigid_course(rock.model, rock.time[-1])
    for heights, text in ((a, "rigid, closed form"), (b, "")):
        axes.plot(times, 1e3 * heights, ":", color=DARK, linewidth=1.0, label=text or None)
    axes.set(xlabel="time / s", ylabel="height / mm", xlim=(0.0, rock.time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)


def _rigid_course(model: BeamOnStop, until: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and heights of A and B of the rigid beam: parabolas through its touches and maxima."""
    times: list[np.ndarray] = []
    heights: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    begun, first = 0.0, True
    for number, (duration, height) in enumerate(model.rigid.swings(12)):
        share = np.linspace(0.0, 1.0, 60)
        arc = height * (1 - share**2 if first else 4 * share * (1 - share))
        times.append(begun + duration * share)
        heights[1 - number % 2].append(arc)
        heights[number % 2].append(np.zeros(60))
        begun, first = begun + duration, False
    time = np.concatenate(times)
    shown = time <= until
    return time[shown], np.concatenate(heights[0])[shown], np.concatenate(heights[1])[shown]


def _draw_shapes(figure: "Figure", *, rock: Rock) -> None:
    """The beam at the start, when B touches, when A is highest and in between, deflection enlarged; grey, the stop."""
    from klapper.gallery._sketch import GREY
    from klapper.results.drawing import colours

    figure.set_size_inches(7.2, 3.8)
    axes = figure.subplots()
    model, when = rock.model, rock.first[0]
    touch = min(rock.touch, rock.time[-1])
    times = np.array([0.0, 0.6 * touch, touch, 0.5 * (touch + when), when])
    x = np.linspace(0.0, model.length, 201)
    shapes = rock.reduced.output(rock.run, model.beam.rows(x), times)
    for shape, time, color in zip(shapes, times, colours(len(times)), strict=True):
        axes.plot(x, 1e3 * shape, color=color, label=f"{time:.3f} s")
    low = 1e3 * min(shapes.min(), 0.0)
    axes.fill_between([model.start, model.end], 0.0, 1.2 * low - 1.0, color="#E4E4E4", linewidth=0)
    axes.plot([model.start, model.end], [0.0, 0.0], color=GREY, linewidth=1.5)
    axes.annotate("A", (model.start, 0.0), (0, -14), textcoords="offset points", ha="center")
    axes.annotate("B", (model.end, 0.0), (0, -14), textcoords="offset points", ha="center")
    axes.set(xlabel="x / m", ylabel="deflection / mm", xlim=(0.0, model.length))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=5, borderaxespad=0.3)


def _draw_states(figure: "Figure", *, rock: Rock) -> None:
    """When A and B are closed: A opens at the instant at which B is hit."""
    figure.set_size_inches(7.2, 1.8)
    rock.run.plot.states(figure, contacts=[0, len(rock.run.layout.contacts) - 1])


def _draw_modes(figure: "Figure", *, model: BeamOnStop, contacts: int, step: float, theta: float) -> None:
    """Height of A and B with 3, 6, 10 and 15 modes, and their distance from 15, over the first rock."""
    from klapper.analysis.mode_convergence import mode_convergence
    from klapper.results.drawing import colours
    from klapper.schemes.moreau import Moreau

    figure.set_size_inches(9.6, 4.4)
    motion, means = figure.subplots(1, 2, width_ratios=(2, 1))
    a, b = model.rows
    counts = sorted({*SHOWN, 4, 8})
    study = mode_convergence(
        model.system(contacts),
        counts,
        model.rigid.next_touch,
        Moreau(min(step, 0.01 * model.rigid.touch), theta=theta),
        rows={"A": a, "B": b},
        progress=False,
    )
    for count, color in zip(SHOWN, colours(len(SHOWN)), strict=True):
        line = study.counts.index(count)
        motion.plot(study.times, 1e3 * study.values["A"][line], color=color, label=f"{count} modes")
        motion.plot(study.times, 1e3 * study.values["B"][line], color=color)
    motion.set(xlabel="time / s", ylabel="height of A and B / mm", xlim=(0.0, study.times[-1]))
    motion.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderaxespad=0.3)
    rms = 1e3 * np.hypot(study.deviations["A"], study.deviations["B"])
    means.semilogy(study.counts[:-1], rms[:-1], "o-", color="#333333")
    means.set(xlabel="modes", ylabel=f"rms distance from {SHOWN[-1]} modes / mm")


def _draw_ordinary(figure: "Figure", *, model: BeamOnStop) -> None:
    """Height of A after B hits, with contacts at A and B only: two-sided constraints with release (dashed) beside
    complementarity. Right, enlarged."""
    from klapper.gallery._sketch import BLUE, ORANGE
    from klapper.simulation import SimulationFailed

    figure.set_size_inches(9.6, 3.9)
    whole, zoom = figure.subplots(1, 2, width_ratios=(2, 1))
    until = model.rigid.next_touch
    for count, color in ((FEW, BLUE), (SHOWN[-1], ORANGE)):
        reduced = model.reduced("modal", count, 2)
        for name, line in (("exact", "-"), ("ordinary", "--")):
            try:
                rock = Rock.of(model, reduced, until, scheme_of(name, until / 500, until))  # type: ignore[arg-type]
            except SimulationFailed:
                continue
            text = f"{count} modes, {'ordinary' if name == 'ordinary' else 'complementarity'}"
            for axes in (whole, zoom):
                axes.plot(rock.time, 1e3 * rock.heights[:, 0], line, color=color, linewidth=1.2, label=text)
    whole.set(xlabel="time / s", ylabel="height of A / mm", xlim=(0.0, until))
    _zoom(zoom, model)
    whole.legend(fontsize=8)


def _zoom(axes: "Axes", model: BeamOnStop) -> None:
    touch, high = model.rigid.touch, 1e3 * model.rigid.first_height
    axes.set(xlabel="time / s", xlim=(0.9 * touch, 1.25 * touch), ylim=(-0.01 * high, 0.1 * high))
