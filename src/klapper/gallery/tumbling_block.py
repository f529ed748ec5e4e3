"""Tumbling block: steps up to a hundred times longer than an explicit scheme could do.

An elastic block flies and spins. Its fastest vibrations decide how long the steps of an explicit scheme may be,

    h < 2/ω_max

although they take no part in the motion. With discrete gradients of the elastic energy

    2/h M (q₁ − q₀) − 2 M v₀ + h ∇̄V(q₀, q₁) = 0                                    Hesch (2.145), (2.192)

energy, momentum and angular momentum are kept at any step, so that nothing can blow up; the rotation itself is right to
second order. The number of steps is the same for every length of the step.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._elastic_flight import Material
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DENSITY, POISSON, SIZES = 1000.0, 0.3, (1.0, 0.4)
VELOCITY = (2.0, 1.0)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")


@example("tumbling-block", source="conservation laws; Hesch 2.4")
def tumbling_block(
    *,
    material: Annotated[Material, Parameter("hyperelastic law")] = "neo-hooke",
    factors: Annotated[
        tuple[float, ...], Parameter("steps in units of the limit of an explicit scheme", above=0.0)
    ] = (0.5, 10.0, 100.0),
    steps: Annotated[int, Parameter("number of steps", at_least=1)] = 150,
    spin: Annotated[float, Parameter("angular velocity at the start", unit="rad/s", above=0.0)] = 6.0,
    young: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 1e7,
    cells: Annotated[tuple[int, int], Parameter("cells along and across", at_least=1)] = (3, 1),
) -> Outcome:
    from klapper.continuum import Continuum, Solid, block, rigid_velocity
    from klapper.gallery._elastic_flight import flight_scheme, kept_checks, law_named
    from klapper.gallery._run import ledger_check, run_audit
    from klapper.schemes import stable_step
    from klapper.simulation import SimulationFailed, simulate

    solid = Solid("block", block(SIZES, cells), law_named(material, young, POISSON), density=DENSITY)
    world = Continuum(
        [solid], velocity={"block": rigid_velocity(solid, VELOCITY, spin)}, name="tumbling block"
    )
    explicit = Continuum([solid], lumped=True)
    limit = stable_step(explicit)
    longest = max(factors) * limit * abs(spin)
    if longest > 2.0:
        raise ParameterError(
            f"the longest step is a rotation by {longest:.2g} rad; allowed are up to 2: use smaller factors, a slower "
            f"spin or a stiffer block."
        )
    try:
        runs = [
            simulate(world, steps * factor * limit, flight_scheme("energy-momentum", factor * limit))
            for factor in factors
        ]
    except SimulationFailed as error:
        raise ParameterError(f"factors {factors} are too large here: {error}") from error
    reports = [run.conservation for run in runs]
    drifts = {
        name: [report[name].since_start / report[name].size for report in reports]
        for name in reports[0].quantities
    }
    turns = [_turned(run.position) for run in runs]
    named = [f"{factor:g} × limit" for factor in factors]
    return Outcome(
        numbers={
            "explicit_limit": limit,
            "energy_drift": drifts["energy"],
            "momentum_drift": drifts["momentum"],
            "angular_momentum_drift": drifts["angular momentum"],
            "newton_iterations": [run.statistics.newton_iterations / steps for run in runs],
            "turns": [turn[-1] / (2.0 * np.pi) for turn in turns],
        },
        units={
            "explicit_limit": "s",
            "energy_drift": "of the energy turned over",
            "momentum_drift": "of the sum of its terms",
            "angular_momentum_drift": "of the sum of its terms",
            "newton_iterations": "per step",
        },
        checks=[
            *(
                _named(check, name)
                for report, name in zip(reports, named, strict=True)
                for check in kept_checks("energy-momentum", report, steps)
            ),
            *(_named(ledger_check(run), name) for run, name in zip(runs, named, strict=True)),
            _centre_check(runs, world),
            _turn_check(turns, np.array(factors) * limit, steps, spin, young),
        ],
        audit={name: run_audit(run) for run, name in zip(runs, named, strict=True)},
        figures={
            "conservation": partial(_draw_drifts, runs=runs, world=world, names=named),
            "rotation": partial(_draw_turns, runs=runs, turns=turns, names=named, spin=spin),
        },
    )


def _named(check: Check, name: str) -> Check:
    from dataclasses import replace

    return replace(check, name=f"{check.name}, {name}")


def _centre_check(runs: list[Any], world: Any) -> Check:
    """The centre of mass flies along a line, with every step."""
    share = world.bodies[0].volume_load()
    share = share / share.sum()
    off = 0.0
    for run in runs:
        centre = share @ run.position.reshape(len(run), -1, 2)
        straight = centre[0] + run.time[:, None] * np.array(VELOCITY)
        off = max(off, float(np.abs(centre - straight).max() / (1.0 + run.time[-1])))
    return Check(
        "distance of the centre from its line, over the length of the flight",
        value=off,
        expected=0.0,
        tolerance=1e-9,
        source="uniform motion of the centre of mass",
    )


def _turn_check(turns: list[np.ndarray], step: np.ndarray, steps: int, spin: float, young: float) -> Check:
    """Turns of a rigid block: with chords Δq = h (v₀ + v₁)/2 a step turns it by θ, tan(θ/2) = ω h/2.

    The strain of a spinning bar is ρ ω² r²/(2 E) in its middle, twice that while it springs out, and its moment of
    inertia grows by twice the strain.
    """
    exact = steps * np.arctan(0.5 * spin * step) / np.pi
    slower = 2.0 * DENSITY * spin**2 * 0.25 * (SIZES[0] ** 2 + SIZES[1] ** 2) / young
    return Check(
        "turns",
        value=[turn[-1] / (2.0 * np.pi) for turn in turns],
        expected=exact,
        tolerance=slower * exact,
        source="rigid block with the same steps, in closed form; the block widens by its spin",
    )


def _turned(position: np.ndarray) -> np.ndarray:
    """Angle (s,) [rad] through which the block has turned, from the best rotation of its nodes."""
    places = position.reshape(len(position), -1, 2)
    arm = places - places.mean(axis=1, keepdims=True)
    first = arm[0]
    cosine = np.einsum("snd,nd->s", arm, first)
    sine = np.einsum("sn,n->s", arm[:, :, 1], first[:, 0]) - np.einsum("sn,n->s", arm[:, :, 0], first[:, 1])
    return np.asarray(np.unwrap(np.arctan2(sine, cosine)))


def _draw_drifts(figure: "Figure", *, runs: list[Any], world: Any, names: list[str]) -> None:
    """Change of energy, momentum and angular momentum since the start, in units of the sizes of their terms."""
    from klapper.gallery._elastic_flight import relative_changes

    figure.set_size_inches(6.4, 4.8)
    axes = figure.subplots(3, 1, sharex=True)
    for run, name, colour in zip(runs, names, COLOURS * len(names), strict=False):
        for part, (quantity, each) in zip(axes, relative_changes(run, world).items(), strict=True):
            change = np.abs(each).max(axis=1)
            part.semilogy(
                run.samples.step[1:], np.maximum(change[1:], 1e-18), color=colour, linewidth=1.0, label=name
            )
            part.set(ylabel=f"{quantity}\n(relative)", ylim=(1e-18, 1e-8))
    axes[-1].set_xlabel("number of the step")
    axes[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)


def _draw_turns(
    figure: "Figure", *, runs: list[Any], turns: list[np.ndarray], names: list[str], spin: float
) -> None:
    """Mean angular velocity since the start over that of the start. It falls short where a step is a large part of a
    turn, and because the spinning block widens."""
    axes = figure.subplots()
    for run, turn, name, colour in zip(runs, turns, names, COLOURS * len(names), strict=False):
        axes.plot(run.samples.step[1:], turn[1:] / (spin * run.time[1:]), color=colour, label=name)
    axes.set(xlabel="number of the step", ylabel="mean angular velocity / that of the start")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)
