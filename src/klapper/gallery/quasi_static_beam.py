"""Rocking beam, high modes without inertia: what a step size does where contacts are springs.

Quasi-static reduction keeps a few modes and lets all others follow the contact forces at once. Its contacts become
compliant, and the complementarity is one of positions:

    ÿ₁ + D y₁' + Ω₁² y₁ = J₁ λ + f₁,   0 ≤ J₁ᵀ y₁ + C λ + a ⟂ λ ≥ 0                Waltersberger (5.65)–(5.67)

Four modes then do better than six with modal reduction (Fig. 5.25). But a blow on a spring without mass loses nothing;
only implicit steps take energy, and less the smaller they are. So the motion depends on the step, and there is a best
one. The table compares both reductions with 15 modes and short steps, over the first rock.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._beam_on_stop import BeamOnStop, Reduction, Rock, SectionReading
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example
from klapper.gallery.rocking_beam import SHIPPED, scheme_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REFERENCE_MODES, REFERENCE_STEP = 15, 2e-5
TIMES = 500  # at which motions are compared


@dataclass(frozen=True, eq=False)
class Study:
    """Distances in m, by reduction (in the order of ``modes``) and step."""

    times: np.ndarray
    reference: Rock
    rocks: dict[tuple[Reduction, int, float], Rock]

    def distance(self, rock: Rock) -> float:
        """Root of the mean over time of the squared distances of A and B [m]."""
        apart = rock.heights_at(self.times) - self.reference.heights_at(self.times)
        return float(np.sqrt(np.mean(np.sum(apart**2, axis=1))))

    def table(self, reduction: Reduction, modes: tuple[int, ...], steps: tuple[float, ...]) -> np.ndarray:
        return np.array([[self.distance(self.rocks[reduction, m, h]) for h in steps] for m in modes])


@example("quasi-static-beam", source="Waltersberger (2007), Example 5.8, Fig. 5.25")
def quasi_static_beam(
    *,
    modes: Annotated[tuple[int, ...], Parameter("modes kept by quasi-static reduction", at_least=2)] = (3, 4),
    modal: Annotated[tuple[int, ...], Parameter("modes kept by modal reduction", at_least=2)] = (3, 6),
    steps: Annotated[tuple[float, ...], Parameter("time steps", unit="s", above=0.0)] = (1e-4, 4e-4, 1e-3),
    contacts: Annotated[int, Parameter("points of the stop, the first at A, the last at B", at_least=2)] = 25,
    section: Annotated[SectionReading, Parameter("A and I as printed, or those of one square")] = "printed",
    alpha2: Annotated[float, Parameter("damping α₂ K", unit="s", at_least=0.0)] = SHIPPED.alpha2,
) -> Outcome:
    from dataclasses import replace

    from klapper.gallery._run import run_audit

    model = replace(SHIPPED, section=section, alpha2=alpha2)
    longest = 0.05 * model.rigid.touch
    if max(steps) > longest:
        raise ParameterError(
            f"steps must be at most {longest:.4g} s, a twentieth of the first fall, not {max(steps):g}."
        )
    study = _study(model, modes, modal, steps, contacts)
    static, plain = study.table("quasi-static", modes, steps), study.table("modal", modal, steps)
    rocks = [study.rocks["quasi-static", m, h] for m in modes for h in steps]
    last = study.rocks["quasi-static", modes[-1], min(steps)]
    return Outcome(
        numbers={
            "distances_quasi_static": static,
            "distances_modal": plain,
            "first_max_A": [[study.rocks["quasi-static", m, h].first[1] for h in steps] for m in modes],
            "reference_first_max_A": study.reference.first[1],
            "min_gap": min(rock.gaps.min() for rock in rocks),
            "lost_flexibility": float(np.nanmax(last.reduced.error.contact)),
        },
        units={
            "distances_quasi_static": "m (rows: modes, columns: steps)",
            "distances_modal": "m (rows: modes, columns: steps)",
            "first_max_A": "m (quasi-static; rows: modes, columns: steps)",
            "reference_first_max_A": f"m (modal, {REFERENCE_MODES} modes, step {REFERENCE_STEP:g} s)",
            "min_gap": "m (quasi-static)",
            "lost_flexibility": "largest share of a contact's static flexibility (quasi-static)",
        },
        checks=_checks(study, modes, modal, steps),
        audit={"reduction": str(last.reduced.error), **run_audit(last.run)},
        figures={
            "motion": partial(_draw_motion, study=study, modes=modes, step=_best(static, steps)),
            "steps": partial(_draw_steps, study=study, modes=modes, modal=modal, steps=steps),
        },
    )


def _study(
    model: BeamOnStop, modes: tuple[int, ...], modal: tuple[int, ...], steps: tuple[float, ...], contacts: int
) -> Study:
    until = model.rigid.next_touch
    reference = Rock.of(
        model,
        model.reduced("modal", REFERENCE_MODES, contacts),
        until,
        scheme_of("moreau", REFERENCE_STEP, until),
    )
    rocks: dict[tuple[Reduction, int, float], Rock] = {}
    kinds: tuple[tuple[Reduction, tuple[int, ...]], ...] = (("quasi-static", modes), ("modal", modal))
    for kind, counts in kinds:
        for count in counts:
            reduced = model.reduced(kind, count, contacts)
            for step in steps:
                scheme = scheme_of("moreau", step, until, reduction=kind)
                rocks[kind, count, step] = Rock.of(model, reduced, until, scheme)
    end = min(rock.time[-1] for rock in (reference, *rocks.values()))
    return Study(np.linspace(0.0, end, TIMES + 1), reference, rocks)


def _best(distances: np.ndarray, steps: tuple[float, ...]) -> float:
    """The step with the least distance of the richest reduction."""
    return steps[int(np.argmin(distances[-1]))]


def _checks(
    study: Study, modes: tuple[int, ...], modal: tuple[int, ...], steps: tuple[float, ...]
) -> list[Check]:
    model, static = (
        study.reference.model,
        [rock for key, rock in study.rocks.items() if key[0] == "quasi-static"],
    )
    checks = [
        Check(
            "least gap",
            value=min(rock.gaps.min() for rock in static),
            at_least=-1e-12,
            source="complementarity on position level (5.66)",
        ),
        Check(
            "lost flexibility of the contacts",
            value=max(float(np.nanmax(rock.reduced.error.contact)) for rock in static),
            expected=0.0,
            tolerance=1e-8,
            source="modes that follow statically keep all of it",
        ),
        *(_energy_check(rock) for rock in static[:1]),
    ]
    if model == SHIPPED and 4 in modes and 6 in modal and 1e-4 in steps:
        four, six = (
            study.distance(study.rocks[key]) for key in (("quasi-static", 4, 1e-4), ("modal", 6, 1e-4))
        )
        checks.append(
            Check(
                "distance of 4 modes, quasi-static, over that of 6, modal, step 1e-4 s",
                value=four / six,
                at_most=1.0,
                source="Waltersberger, Example 5.8",
            )
        )
    return checks


def _energy_check(rock: Rock) -> Check:
    from klapper.gallery._run import ledger_check

    return ledger_check(rock.run)


def _draw_motion(figure: "Figure", *, study: Study, modes: tuple[int, ...], step: float) -> None:
    """Height of A and B by quasi-static reduction at the best of the steps, beside the reference (dashed)."""
    from klapper.results.drawing import colours

    figure.set_size_inches(7.2, 3.8)
    axes = figure.subplots()
    for count, color in zip(modes, colours(len(modes)), strict=True):
        heights = 1e3 * study.rocks["quasi-static", count, step].heights_at(study.times)
        axes.plot(study.times, heights[:, 0], color=color, label=f"{count} modes, step {step:g} s")
        axes.plot(study.times, heights[:, 1], color=color)
    heights = 1e3 * study.reference.heights_at(study.times)
    axes.plot(
        study.times,
        heights[:, 0],
        "--",
        color="#333333",
        linewidth=1.0,
        label=f"{REFERENCE_MODES} modes, modal",
    )
    axes.plot(study.times, heights[:, 1], "--", color="#333333", linewidth=1.0)
    axes.set(xlabel="time / s", ylabel="height of A and B / mm", xlim=(0.0, study.times[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)


def _draw_steps(
    figure: "Figure",
    *,
    study: Study,
    modes: tuple[int, ...],
    modal: tuple[int, ...],
    steps: tuple[float, ...],
) -> None:
    """Left: distance from the reference over the step, quasi-static (lines) and modal (dashed). Right: the first
    maximum of A, which grows as steps lose less; dotted, the reference."""
    from klapper.gallery._sketch import GREY
    from klapper.results.drawing import colours

    figure.set_size_inches(9.6, 3.9)
    apart, highest = figure.subplots(1, 2)
    order = np.argsort(steps)
    h = np.array(steps)[order]
    hues = dict(zip(sorted({*modes, *modal}), colours(len({*modes, *modal})), strict=True))
    for kind, counts, line in (("quasi-static", modes, "o-"), ("modal", modal, "s--")):
        for count in counts:
            rocks = [study.rocks[kind, count, steps[i]] for i in order]  # type: ignore[index]
            text = f"{count} modes, {kind}"
            apart.loglog(
                h, [1e3 * study.distance(rock) for rock in rocks], line, color=hues[count], label=text
            )
            highest.semilogx(h, [1e3 * rock.first[1] for rock in rocks], line, color=hues[count])
    highest.axhline(1e3 * study.reference.first[1], color=GREY, linestyle=":", linewidth=1.0)
    apart.set(xlabel="time step / s", ylabel="rms distance / mm")
    highest.set(xlabel="time step / s", ylabel="first maximum of A / mm")
    apart.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3, fontsize=9)
