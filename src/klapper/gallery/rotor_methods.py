"""Rigid against compliant: one turn of the clattering rotor by both, and what it costs.

The motion of `rotor-clatter` once with rigid contacts, cut at every event, and once with compliant ones,

    λ_N = max(0, −c g − d ġ) for g < 0, else 0                                            (4.80)

both to the same tolerance, by the fastest integrator for each: an explicit one between events, an implicit one for
the stiff contact springs, which penetrate a little on purpose. The start is the settled motion of time stepping.
`modes=6,10,16` with `contacts=5` shows how the costs drift apart, and takes longer.
"""

from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._rotor import (
    ALUMINIUM,
    Alpha2,
    Density,
    Depth,
    Drag,
    Height,
    Length,
    Shaft,
    Split,
    Width,
    Young,
    legend,
)
from klapper.gallery._rotor_clatter import require_stable, settled
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.mechanics import LinearSystem
    from klapper.results import Run
    from klapper.schemes import Scheme

SAMPLES = 100  # per turn, besides events and switches
SETTLING = 20.0  # s of time stepping before


@dataclass(frozen=True, eq=False)
class Turn:
    """One turn by one method: its run, its right-hand sides, and its time on the processor [s]."""

    run: "Run"
    evaluations: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """The same turn by rigid and by compliant contacts; ``row`` (n,) is that of the gap in the middle."""

    rigid: Turn
    compliant: Turn
    row: np.ndarray
    system: "LinearSystem"

    @property
    def phases(self) -> np.ndarray:
        """Times (k,) [s] at which both are compared."""
        time = self.rigid.run.time
        return np.linspace(time[0], time[-1], 4 * SAMPLES + 1)

    @property
    def gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """Gap in the middle (k,) [m] by both."""
        one, two = (turn.run.position_at(self.phases) @ self.row for turn in (self.rigid, self.compliant))
        return one, two

    @property
    def evaluation_ratio(self) -> float:
        """Right-hand sides of compliant over those of rigid contacts."""
        return self.compliant.evaluations / self.rigid.evaluations

    @property
    def apart(self) -> float:
        """Largest distance of the gaps of all contacts [m]."""
        one, two = (turn.run.position_at(self.phases) for turn in (self.rigid, self.compliant))
        return float(np.abs((one - two) @ self.system.normal_directions).max())


@example("rotor-methods", source="Waltersberger (2007), Example 5.15, Figs. 5.51, 5.52")
def rotor_methods(
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
    speed: Annotated[float, Parameter("speed", unit="Hz", above=0.0)] = 5.2,
    modes: Annotated[tuple[int, ...], Parameter("numbers of modes", at_least=1, at_most=60)] = (6, 8, 10),
    contacts: Annotated[int, Parameter("points of contact along the joint", at_least=1, at_most=39)] = 3,
    stiffness: Annotated[float, Parameter("c of each contact", unit="N/m", above=0.0)] = 1e3,
    damping: Annotated[float, Parameter("d of each contact", unit="N s/m", at_least=0.0)] = 4e4,
    tolerance: Annotated[
        float, Parameter("allowed error of a step, of both methods", above=0.0, at_most=1e-3)
    ] = 1e-5,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit

    shaft = Shaft(L, L2, a, b, h, E, rho, damping_ext, alpha2)
    require_stable(shaft.model(max(modes)), speed)
    found: dict[int, Comparison] = {}
    refused: dict[str, str] = {}
    for count in sorted(set(modes)):
        compared = _compare(shaft, count, speed, contacts, (stiffness, damping), tolerance)
        if isinstance(compared, str):
            refused[f"{count} modes"] = compared
        else:
            found[count] = compared
    if not found:
        raise ParameterError(f"modes gave no motion to compare: {'; '.join(refused.values())}")
    pairs = list(found.values())
    richest = pairs[-1]
    penetration = [_depth(each.compliant.run, richest.system.start.time, speed) for each in pairs]
    apart = [each.apart for each in pairs]
    printed = shaft == ALUMINIUM and (speed, stiffness, damping) == (5.2, 1e3, 4e4)
    return Outcome(
        numbers={
            "modes": list(found),
            "max_gap": float(richest.gaps[0].max()),
            "distance": apart,
            "penetration": penetration,
            "rigid_penetration": [max(0.0, -float(each.rigid.run.gap[1:].min())) for each in pairs],
            "impacts": [len(each.rigid.run.impacts().time) for each in pairs],
            "evaluations_rigid": [each.rigid.evaluations for each in pairs],
            "evaluations_compliant": [each.compliant.evaluations for each in pairs],
            "evaluation_ratio": [each.evaluation_ratio for each in pairs],
            "time_ratio": [each.compliant.seconds / each.rigid.seconds for each in pairs],
            "relative_times": [
                [turn.seconds / pairs[0].rigid.seconds for turn in (each.rigid, each.compliant)]
                for each in pairs
            ],
        },
        units={
            "max_gap": "m (middle of the joint, rigid contacts)",
            "distance": "m (largest, of the gaps by both methods)",
            "penetration": "m (compliant contacts)",
            "rigid_penetration": "m",
            "evaluations_rigid": "right-hand sides",
            "evaluations_compliant": "right-hand sides",
            "evaluation_ratio": "compliant over rigid",
            "time_ratio": "compliant over rigid, processor",
            "relative_times": "(rigid, compliant), in units of the rigid run with fewest modes",
        },
        checks=[
            Check(
                "penetration of rigid contacts",
                value=[max(0.0, -float(each.rigid.run.gap[1:].min())) for each in pairs],
                at_most=tolerance,
                source="contacts are closed, to the tolerance of the method",
            ),
            *(_printed(pairs, penetration) if printed else []),
            ledger_check(richest.rigid.run),
            ledger_check(richest.compliant.run),
        ],
        audit={
            "rigid": run_audit(richest.rigid.run),
            "compliant": run_audit(richest.compliant.run),
            **({"no event-driven motion with": refused} if refused else {}),
        },
        figures={
            "gap": partial(_draw_gap, compared=richest, speed=speed),
            "cost": partial(_draw_cost, found=found),
        },
    )


def _printed(pairs: list[Comparison], penetration: list[float]) -> list[Check]:
    """What Figs. 5.51 and 5.52 say about the shaft and the law of the print."""
    return [
        Check(
            "penetration of compliant contacts",
            value=penetration,
            at_least=1e-6,
            source="Fig. 5.51: slight, on purpose",
        ),
        Check(
            "distance of both motions over the largest gap",
            value=max(each.apart / each.gaps[0].max() for each in pairs),
            at_most=0.05,
            source="Fig. 5.51: both agree but for the penetration",
        ),
        Check(
            "right-hand sides, compliant over rigid",
            value=[each.evaluation_ratio for each in pairs],
            at_least=1.0,
            source="Fig. 5.52: the event-driven method has the advantage",
        ),
    ]


def _compare(
    shaft: Shaft, modes: int, speed: float, contacts: int, law: tuple[float, float], tolerance: float
) -> "Comparison | str":
    """Both motions over one turn; the reason if the event-driven method does not get through."""
    from klapper.mechanics import CompliantNormal
    from klapper.schemes.regularised import Regularised
    from klapper.simulation import SimulationFailed

    model = shaft.model(modes)
    time, position, velocity = settled(model, speed, contacts, SETTLING, 1000).run.final
    system = model.system(
        speed,
        model.contacts(contacts),
        position=position,
        velocity=velocity,
        time=time,
        penetration=shaft.height,
    )
    until, sample = time + 1.0 / speed, 1.0 / (SAMPLES * speed)
    rigid = _counting(tolerance, sample)
    try:
        one = _timed(system, until, rigid)
    except SimulationFailed as error:
        return str(error)
    scheme = Regularised(CompliantNormal(*law), method="radau", tolerance=tolerance, sample=sample)
    two = _timed(system, until, scheme)
    return Comparison(
        Turn(one[0], sum(rigid.evaluations), one[1]),
        Turn(two[0], int(two[0].about["audit"]["cost"].split()[0]), two[1]),
        model.gap_rows([0.5])[0],
        system,
    )


def _timed(system: "LinearSystem", until: float, scheme: "Scheme") -> "tuple[Run, float]":
    """The run, and its time on the processor [s]."""
    from klapper.simulation import simulate

    began = process_time()
    run = simulate(system, until, scheme, progress=False)
    return run, process_time() - began


def _counting(tolerance: float, sample: float) -> Any:
    """The event-driven method with an explicit integrator, and a list ``evaluations`` of its right-hand sides."""
    from klapper.schemes.event_driven import EventDriven

    @dataclass(frozen=True)
    class Counting(EventDriven):
        evaluations: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

        def flow(self, *arguments: Any) -> Any:
            flow: Any = super().flow(*arguments)
            self.evaluations.append(flow.step.evaluations)
            return flow

    return Counting(tolerance, method="rk45", sample=sample)


def _depth(run: "Run", start: float, speed: float) -> float:
    """Deepest penetration [m], but for the first tenth of the turn, which begins with that of time stepping."""
    return max(0.0, -float(run.gap[run.time > start + 0.1 / speed].min()))


def _draw_gap(figure: "Figure", *, compared: Comparison, speed: float) -> None:
    """Gap in the middle of the joint over one turn by rigid and compliant contacts; below, near zero: the compliant
    ones penetrate."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    figure.set_size_inches(6.6, 5.4)
    upper, lower = figure.subplots(2, 1, sharex=True)
    turns = speed * (compared.phases - compared.phases[0])
    rigid, compliant = compared.gaps
    smallest = [
        turn.run.position_at(compared.phases) @ compared.system.normal_directions
        for turn in (compared.rigid, compared.compliant)
    ]
    upper.plot(turns, 1e3 * rigid, color=BLUE, label="event-driven, rigid")
    upper.plot(turns, 1e3 * compliant, "--", color=ORANGE, label="regularised, compliant")
    lower.plot(turns, 1e6 * smallest[0].min(axis=1), color=BLUE)
    lower.plot(turns, 1e6 * smallest[1].min(axis=1), "--", color=ORANGE)
    deepest = max(1e6 * -float(smallest[1].min()), 1.0)
    lower.set(ylim=(-1.3 * deepest, 1.3 * deepest), xlim=(0.0, 1.0))
    for axes in (upper, lower):
        axes.axhline(0.0, color=DARK, linewidth=0.8)
    upper.set_ylabel("gap in the middle / mm")
    lower.set(xlabel="turns", ylabel="smallest gap / µm")
    legend(upper)


def _draw_cost(figure: "Figure", *, found: dict[int, Comparison]) -> None:
    """Time on the processor, in units of the event-driven run with fewest modes, and right-hand sides, over the number
    of modes."""
    from klapper.gallery._sketch import BLUE, ORANGE

    figure.set_size_inches(7.0, 3.8)
    left, right = figure.subplots(1, 2)
    counts, pairs = list(found), list(found.values())
    unit = pairs[0].rigid.seconds
    for name, colour, mark in (("rigid", BLUE, "o-"), ("compliant", ORANGE, "s--")):
        turns = [getattr(each, name) for each in pairs]
        left.semilogy(counts, [turn.seconds / unit for turn in turns], mark, color=colour, label=name)
        right.semilogy(counts, [turn.evaluations for turn in turns], mark, color=colour, label=name)
    left.set(xlabel="modes", ylabel="relative time")
    right.set(xlabel="modes", ylabel="right-hand sides")
    legend(left)
