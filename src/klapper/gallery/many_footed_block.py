"""Many-footed block: how rules share a load among any number of feet.

A block on n rough feet is pushed harder and harder until it slides. It has 2 n contact forces and three equations;
while it sticks only ΣN_i, Σx_i N_i and ΣT_i are determined, so that 2 n − 3 combinations are left open, for more than
two feet among the normal forces, too. With equal friction coefficients the motion is unique: whatever the feet carry,
sliding begins at

    F = μ m g

What each foot carries before is a matter of the rule that selects the forces; equal feet on an elastic floor share as
the minimum norm does, N_i = m g/n + x_i F b/Σx², until friction limits cut it off."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.gallery._feet import FootedBlock
    from klapper.results import Run

BEYOND = 1.1  # of the slip force: where the push ends


@example("many-footed-block", source="Seiwald (2014), section 5.3, with any number of feet")
def many_footed_block(
    *,
    feet: Annotated[int, Parameter("number of feet", at_least=3, at_most=10)] = 5,
    width: Annotated[float, Parameter("distance of the outer feet", unit="m", above=0.0)] = 0.2,
    height: Annotated[float, Parameter("height of the block", unit="m", above=0.0)] = 0.1,
    mass: Annotated[float, Parameter("mass of the block", unit="kg", above=0.0)] = 16.0,
    mu: Annotated[float, Parameter("friction coefficient", above=0.0)] = 0.1,
    duration: Annotated[float, Parameter("time in which the push rises", unit="s", above=0.0)] = 0.1,
    steps: Annotated[int, Parameter("number of time steps", at_least=10, at_most=2000)] = 110,
) -> Outcome:
    from klapper.gallery._feet import FootedBlock

    block = FootedBlock(tuple(np.linspace(-0.5, 0.5, feet) * width), (mu,) * feet, mass, height)
    slip_force = mu * block.weight
    last = BEYOND * slip_force
    squares = float(np.sum(np.square(block.places)))
    if block.weight / feet <= 0.5 * width * slip_force * height / squares:
        raise ParameterError(
            "the block lifts its left foot before it slides; give less friction or a flatter block."
        )
    step = duration / steps
    runs = {
        label: _run(block, lambda t: last * t / duration, duration, step, rule)
        for label, rule in _rules(feet, slip_force / feet).items()
    }
    ways = np.array([run.position[-1, 0] for run in runs.values()])
    start = slip_force / last * duration
    rate = last / duration
    way = rate / (6.0 * mass) * (duration - start) ** 3
    half = _at(runs["minimum norm"], 0.5 * slip_force, last, duration)
    push_there = _push(runs["minimum norm"], 0.5 * slip_force, last, duration)
    shares = block.weight / feet + np.array(block.places) * push_there * height / squares
    open_rows = runs["minimum norm"].about["audit"]["undetermined forces"]
    checks = [
        Check(
            "way at the end",
            value=ways,
            expected=np.full(len(ways), way),
            tolerance=rate * step * (duration - start) ** 2 / mass,
            source="closed form: m ẍ = F − μ m g from F = μ m g on; time stepping starts within one step",
        ),
        Check(
            "the same motion by all rules",
            value=float(np.ptp(ways)),
            expected=0.0,
            tolerance=1e-11,
            source="the motion is unique",
        ),
        Check(
            "normal forces of the minimum norm at half the slip force",
            value=half[:, 0],
            expected=shares,
            tolerance=1e-7 * block.weight,
            source="closed form: equal springs under a rigid block",
        ),
        Check(
            "friction of the minimum norm at half the slip force",
            value=half[:, 1],
            expected=np.full(feet, -push_there / feet),
            tolerance=1e-7 * block.weight,
            source="closed form: equal shares, as long as no foot reaches its limit",
        ),
        Check(
            "undetermined combinations while it sticks",
            value=[text.partition(",")[0] for title, text in open_rows.items() if "stick" in title][:1],
            expected=[f"rank 3 of {2 * feet}"],
            source="2 n forces, three equations",
        ),
    ]
    return Outcome(
        numbers={
            "slip_force": slip_force,
            "way": ways[0],
            **{
                f"normal_{_key(label)}": _at(run, 0.5 * slip_force, last, duration)[:, 0]
                for label, run in runs.items()
            },
            **{
                f"friction_{_key(label)}": _at(run, 0.5 * slip_force, last, duration)[:, 1]
                for label, run in runs.items()
            },
        },
        units={
            "slip_force": "N",
            "way": "m",
            **{f"{what}_{_key(label)}": "N" for what in ("normal", "friction") for label in runs},
        },
        checks=checks,
        audit={"contact states": open_rows, "path": runs["minimum norm"].about["audit"]["path"]},
        figures={
            "friction": partial(_draw_friction, block=block, runs=runs, last=last, duration=duration),
            "normal": partial(_draw_normal, block=block, runs=runs, last=last, duration=duration),
        },
    )


def _rules(feet: int, limit: float) -> dict[str, Any]:
    """Rules by name; ``limit`` [N] is what friction can hold at a foot on average."""
    from klapper.complementarity.selection import Compliant, LargestMargin, MinimumNorm, ProxIteration

    locked_in = {"foot 1 tangential": -0.5 * limit, f"foot {feet} tangential": 0.5 * limit}
    soft = {f"foot {i + 1}": 1.0 + 3.0 * i for i in range(feet)}
    return {
        "minimum norm": MinimumNorm(),
        "softer to the right": Compliant(soft),
        "largest margin": LargestMargin(),
        "prox, started with a locked-in pair": ProxIteration(start=locked_in),
    }


def _key(label: str) -> str:
    return label.replace(", ", "_").replace(" ", "_").replace("-", "_")


def _run(block: "FootedBlock", push: Any, duration: float, step: float, rule: Any) -> "Run":
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate

    return simulate(block.system(push, 0.0), duration, Moreau(step, selection=rule))


def _forces(run: "Run") -> np.ndarray:
    """Mean forces (s, n, 2) [N] of all steps."""
    return run.samples.impulse[1:] / np.diff(run.time)[:, None, None]


def _sample(run: "Run", force: float, last: float, duration: float) -> int:
    """The step in whose middle the push is nearest to a force [N]."""
    middle = 0.5 * (run.time[1:] + run.time[:-1])
    return int(np.argmin(np.abs(last * middle / duration - force)))


def _push(run: "Run", force: float, last: float, duration: float) -> float:
    """The push [N] in the middle of that step."""
    k = _sample(run, force, last, duration)
    return last * 0.5 * float(run.time[k] + run.time[k + 1]) / duration


def _at(run: "Run", force: float, last: float, duration: float) -> np.ndarray:
    """Forces (n, 2) [N] of the feet where the push is nearest to a force [N]."""
    return _forces(run)[_sample(run, force, last, duration)]


def _draw_friction(
    figure: "Figure", *, block: "FootedBlock", runs: "dict[str, Run]", last: float, duration: float
) -> None:
    """Friction forces of the feet over the push, by rule; dotted where the block begins to slide. The sum of the
    friction forces and the motion are the same in all pictures."""
    _draw(figure, block, runs, last, duration, 1, "friction force / N")


def _draw_normal(
    figure: "Figure", *, block: "FootedBlock", runs: "dict[str, Run]", last: float, duration: float
) -> None:
    """Normal forces of the feet over the push, by rule; dotted where the block begins to slide."""
    _draw(figure, block, runs, last, duration, 0, "normal force / N")


def _draw(
    figure: "Figure",
    block: "FootedBlock",
    runs: "dict[str, Run]",
    last: float,
    duration: float,
    column: int,
    text: str,
) -> None:
    from matplotlib import colormaps

    from klapper.gallery._sketch import DARK

    figure.set_size_inches(9.0, 6.4)
    colours = colormaps["viridis"](np.linspace(0.0, 0.9, len(block.places)))
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (label, run) in zip(panels.flat, runs.items(), strict=True):
        push = last * 0.5 * (run.time[1:] + run.time[:-1]) / duration
        for i, colour in enumerate(colours):
            axes.plot(push, _forces(run)[:, i, column], color=colour, label=f"{block.names[i]}")
        axes.axvline(block.friction[0] * block.weight, color=DARK, linestyle=":", linewidth=1.0)
        axes.set_title(label)
    for axes in panels[1]:
        axes.set_xlabel("push F / N")
    for axes in panels[:, 0]:
        axes.set_ylabel(text)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(colours))
