"""Block cut into halves that stiff springs hold together: where to start, how to step, what the springs decide.

With one foot on each half all contact forces are determined. The price is a stiff system whose start matters: relaxed
springs vibrate under the weight, the static start

    q₃ = −m₁ g a / (8 c_R)   (thesis, without horizontal springs)

is calm, and the equilibrium with all springs is at rest. Explicit midpoint steps need Δt < 2/ω and keep the energy of
free fall; implicit ones are stable for any step and lose m g² Δt²/2 in each. How the halves share a push depends on
c_T b²/4c_R only, however stiff they are: the last figure.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._block import LOW, Height, Mass, Mu, Springs, Width, make_block, make_coupling
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.bodies import Coupling, FootedBlock, Halves
    from klapper.results import Run

STARTS = ("relaxed", "static of turning springs", "static")
SETTLE = 0.02  # s after which the relaxed start is judged, as in the thesis
FALL = 10  # steps of free fall
ROUGH = 30.0  # friction coefficient with which nothing slips while shares are measured
RATIOS = (0.02, 0.1, 0.5, 2.0, 10.0)
FACTORS = (10.0, 1000.0)  # of the stiffness, so that the weight hardly turns the halves


@example("block-halves", source="Seiwald (2014), 3.2, 5.2.1, B.2, Figs. 5.1, 5.2")
def block_halves(
    *,
    mass: Mass = 16.0,
    width: Width = 0.2,
    height: Height = 0.1,
    mu: Mu = 0.1,
    springs: Springs = LOW,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-4,
    long_step: Annotated[
        float, Parameter("step beyond the stability of explicit steps", unit="s", above=0.0)
    ] = 1e-2,
    lifted: Annotated[float, Parameter("height of the free fall", unit="m", above=0.0)] = 1.0,
) -> Outcome:
    from klapper.bodies import Halves
    from klapper.gallery._run import ledger_check, run_audit

    block, coupling = make_block(width, height, mass, mu), make_coupling(springs)
    halves = Halves(block, coupling)
    if not step < halves.critical_step < long_step:
        raise ParameterError(
            f"step and long_step are {step} s and {long_step} s; the critical step of these springs, "
            f"{halves.critical_step:.3g} s, must lie between them."
        )
    starts = {start: _stand(block, coupling, start, step) for start in STARTS}
    kinetic = {start: float(run.samples.energy[:, 0].max()) for start, run in starts.items()}
    exploded, calm = _stability(block, coupling, long_step)
    falls = {name: _fall(block, coupling, lifted, step, name) for name in ("midpoint", "implicit")}
    change = {name: _energy_change(run) for name, run in falls.items()}
    shares = [_measured_shares(block, factor * springs[0]) for factor in FACTORS]
    expected = np.array(RATIOS) / (1.0 + np.array(RATIOS))
    loss = -FALL * 0.5 * mass * block.gravity**2 * step**2
    checks = [
        Check(
            "mean angle after the relaxed start",
            value=float(starts["relaxed"].position[len(starts["relaxed"]) // 2 :, 2].mean())
            / halves.sag_of_turning_springs,
            expected=1.0,
            tolerance=0.1,
            source="Fig. 5.1: approaches the static start",
        ),
        Check(
            "kinetic energy, static start of the thesis over relaxed start",
            value=kinetic["static of turning springs"] / kinetic["relaxed"],
            at_most=3.0 * (0.25 * height**2 * springs[0] / springs[1]) ** 2,
            source="the square of the part of the angle that it misses, b² c_T/4c_R",
        ),
        Check(
            "kinetic energy of the exact static start over that of the thesis",
            value=kinetic["static"] / kinetic["static of turning springs"],
            at_most=1e-4,
            source="an equilibrium stays",
        ),
        Check("explicit long steps explode", value=exploded[-1] > 1.0, expected=True, source="5.2.1"),
        Check(
            "angle by implicit long steps",
            value=[float(calm.position[:, 2].min()), float(calm.position[:, 2].max())],
            expected=halves.sag_of_turning_springs,
            tolerance=0.01 * abs(halves.sag_of_turning_springs),
            source="5.2.1: stays in its rest position",
        ),
        Check(
            "energy of free fall, explicit",
            value=change["midpoint"],
            expected=0.0,
            tolerance=1e-13 * block.weight * (lifted + height),
            source="the midpoint step is exact",
        ),
        Check(
            "energy of free fall, implicit",
            value=change["implicit"],
            expected=loss,
            tolerance=1e-5 * abs(loss),
            source="−m g² Δt²/2 in each step",
        ),
        Check(
            "share of A over c_T b²/4c_R = x, at two sizes of the stiffness",
            value=np.array(shares),
            expected=np.array([expected] * len(FACTORS)),
            tolerance=2e-3,
            source="x/(1 + x), statics of the halves",
        ),
        ledger_check(starts["relaxed"]),
    ]
    if (block, springs, step, long_step) == (make_block(0.2, 0.1, 16.0, 0.1), LOW, 1e-4, 1e-2):
        checks += _printed(starts["relaxed"], kinetic, halves)
    return Outcome(
        numbers={
            "half_inertia": halves.inertia,
            "static_angle": halves.sag_of_turning_springs,
            "static_angle_exact": halves.sag,
            "locked_in_friction": halves.locked_in_friction,
            "share_of_A": halves.share_of_a,
            "angular_frequencies": halves.angular_frequencies,
            "critical_step": halves.critical_step,
            "angle_relaxed_at_20ms": float(starts["relaxed"].position[-1, 2]),
            "max_kinetic_energy": list(kinetic.values()),
            "kinetic_energy_of_long_explicit_steps": exploded,
            "max_kinetic_energy_of_long_implicit_steps": float(calm.samples.energy[:, 0].max()),
            "energy_change_explicit": change["midpoint"],
            "energy_change_implicit": change["implicit"],
            "residual_friction_pair": starts["relaxed"].force[-1, :, 1],
            "measured_shares": shares,
        },
        units={
            "half_inertia": "kg m²",
            "static_angle": "rad (thesis)",
            "static_angle_exact": "rad (all springs)",
            "locked_in_friction": "N (λ_TA = −λ_TB at rest without a push)",
            "share_of_A": "of a push while both feet stick",
            "angular_frequencies": "rad/s (free halves)",
            "critical_step": "s",
            "angle_relaxed_at_20ms": "rad",
            "max_kinetic_energy": "J (relaxed, static of turning springs, static)",
            "kinetic_energy_of_long_explicit_steps": "J",
            "max_kinetic_energy_of_long_implicit_steps": "J",
            "energy_change_explicit": "J (free fall, 10 steps)",
            "energy_change_implicit": "J (free fall, 10 steps)",
            "residual_friction_pair": "N (A and B after the relaxed start)",
            "measured_shares": "of A, at the ratios 0.02, 0.1, 0.5, 2, 10, for each size of the stiffness",
        },
        checks=checks,
        audit=run_audit(starts["static of turning springs"]),
        figures={
            "start": partial(_draw_start, starts=starts, halves=halves),
            "steps": partial(_draw_steps, exploded=exploded, calm=calm, falls=falls, long_step=long_step),
            "shares": partial(_draw_shares, shares=shares, size=springs[0]),
        },
    )


def _printed(relaxed: "Run", kinetic: dict[str, float], halves: "Halves") -> list[Check]:
    """What Fig. 5.1 shows with the parameters of low accuracy."""
    return [
        Check(
            "angle of the relaxed start after 20 ms",
            value=float(relaxed.position[-1, 2]) / halves.sag_of_turning_springs,
            expected=1.0,
            tolerance=0.05,
            source="Fig. 5.1",
        ),
        Check(
            "the static start is much calmer",
            value=kinetic["static of turning springs"] / kinetic["relaxed"],
            at_most=1e-4,
            source="Fig. 5.1",
        ),
    ]


def _stand(block: "FootedBlock", coupling: "Coupling", start: str, step: float) -> "Run":
    from klapper.bodies import split_block
    from klapper.schemes import NestedProx
    from klapper.simulation import simulate

    return simulate(split_block(block, coupling, start=start), SETTLE, NestedProx(step), progress=False)  # type: ignore[arg-type]


def _stability(block: "FootedBlock", coupling: "Coupling", step: float) -> "tuple[list[float], Run]":
    """Kinetic energies [J] of explicit steps until they fail, and the run of implicit ones over a second."""
    from klapper.bodies import split_block
    from klapper.schemes import NestedProx
    from klapper.simulation import SimulationFailed, simulate

    system = split_block(block, coupling, start="static of turning springs")
    try:
        run = simulate(system, 5 * step, NestedProx(step), progress=False)
    except SimulationFailed as failed:
        run = failed.run
    calm = simulate(system, 100 * step, NestedProx(step, integrator="implicit"), progress=False)
    return run.samples.energy[:, 0].tolist(), calm


def _fall(block: "FootedBlock", coupling: "Coupling", lifted: float, step: float, integrator: str) -> "Run":
    from klapper.bodies import split_block
    from klapper.schemes import NestedProx
    from klapper.simulation import simulate

    system = split_block(block, coupling, start="relaxed", lifted=lifted)
    scheme = NestedProx(step, integrator=integrator)  # type: ignore[arg-type]
    return simulate(system, FALL * step, scheme, progress=False)


def _energy_change(run: "Run") -> float:
    energy = run.samples.energy[:, :2].sum(axis=1)
    return float(energy[-1] - energy[0])


@dataclass(frozen=True)
class _SmoothPush:
    """A push that grows smoothly to ``size`` [N] within ``duration`` [s]."""

    size: float
    duration: float

    def __call__(self, t: float) -> list[float]:
        return [self.size * np.sin(0.5 * np.pi * min(t / self.duration, 1.0)) ** 2, 0.0, 0.0]


def _measured_shares(block: "FootedBlock", stiffness: float) -> list[float]:
    """Part of a slow push that A takes at the ratios c_T b²/4c_R, on a floor where nothing slips."""
    from klapper.bodies import Coupling, FootedBlock, Halves, split_block
    from klapper.schemes import NestedProx
    from klapper.simulation import simulate

    rough = FootedBlock(block.width, block.height, block.mass, friction=(ROUGH, ROUGH), gravity=block.gravity)
    push, found = 0.02 * block.weight, []
    for ratio in RATIOS:
        turning = stiffness * block.height**2 / (4.0 * ratio)
        free = Halves(rough, Coupling(stiffness, turning))
        slow, fast = free.angular_frequencies[0], free.angular_frequencies[-1]
        coupling = Coupling(stiffness, turning, 0.2 * stiffness / slow, 0.2 * turning / fast)
        duration = 20.0 * np.pi / slow
        system = split_block(rough, coupling, load=_SmoothPush(push, duration))
        run = simulate(system, 1.5 * duration, NestedProx(0.2 * free.critical_step), every=10, progress=False)
        force = run.force[1:, 0, 1]
        found.append(float(force[0] - force[-1]) / push)
    return found


def _draw_start(figure: "Figure", *, starts: "dict[str, Run]", halves: "Halves") -> None:
    """Angle of the left half and kinetic energy after three starts without a push."""
    figure.set_size_inches(7.0, 5.6)
    above, below = figure.subplots(2, 1, sharex=True)
    for (name, run), width in zip(starts.items(), (1.4, 2.6, 1.4), strict=True):
        above.plot(1e3 * run.time, 1e6 * run.position[:, 2], linewidth=width, label=name)
        below.semilogy(1e3 * run.time[1:], run.samples.energy[1:, 0], linewidth=1.2)
    above.axhline(1e6 * halves.sag_of_turning_springs, color="0.5", linewidth=0.8, linestyle=":")
    above.set(ylabel="angle $q_3$ / µrad")
    above.legend(loc="upper right")
    below.set(xlabel="time / ms", ylabel="kinetic energy / J")


def _draw_steps(
    figure: "Figure", *, exploded: list[float], calm: "Run", falls: "dict[str, Run]", long_step: float
) -> None:
    """Left: kinetic energy at rest with long steps; explicit ones explode within three. Right: change of the energy in
    free fall with short steps."""
    figure.set_size_inches(9.0, 3.8)
    left, right = figure.subplots(1, 2)
    left.semilogy(np.arange(1, len(exploded)), exploded[1:], marker="o", label="explicit")
    left.semilogy(calm.samples.step[1:], calm.samples.energy[1:, 0], label="implicit")
    left.set(xlabel="step", ylabel="kinetic energy / J", title=f"at rest, steps of {1e3 * long_step:g} ms")
    left.legend(loc="center right")
    for name, run in falls.items():
        energy = run.samples.energy[:, :2].sum(axis=1)
        label = "explicit" if name == "midpoint" else name
        right.plot(1e3 * run.time, 1e6 * (energy - energy[0]), marker="o", markersize=4, label=label)
    right.set(xlabel="time / ms", ylabel="change of energy / µJ", title="free fall")
    right.legend()


def _draw_shares(figure: "Figure", *, shares: list[list[float]], size: float) -> None:
    """Part of a slow push that foot A takes while both feet stick, over the ratio of the stiffnesses. Marks: halves
    with springs of two sizes; line: statics. A stiffer block does not come nearer to one answer."""
    axes = figure.subplots()
    ratio = np.logspace(-2, 1.3, 100)
    axes.semilogx(ratio, ratio / (1.0 + ratio), color="0.4", label="x/(1 + x)")
    for factor, found, marker in zip(FACTORS, shares, "os", strict=True):
        axes.semilogx(
            RATIOS,
            found,
            marker,
            markersize=10 if marker == "o" else 5,
            label=f"$c_T$ = {factor * size:.0e} N/m",
        )
    axes.set(xlabel="$x = c_T b^2/4c_R$", ylabel="share of A", ylim=(0.0, 1.0))
    axes.legend()
