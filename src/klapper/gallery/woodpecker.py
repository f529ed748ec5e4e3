"""Woodpecker toy: a limit cycle made of impacts, jamming and sliding.

A sleeve runs with play on a pole and carries a woodpecker on a spring. Tilted, the sleeve jams; the bird swings and
frees it, falls a little, hits the pole with its beak and tilts the sleeve again. With the height y of the sleeve and
the angles φ_M of the sleeve and φ_S of the bird, for small angles,

    M q̈ + K q = f + J_N λ_N + J_T λ_T,                   q = (y, φ_M, φ_S)
    g_1 = l_M + l_G − l_S − r_0 − h_S φ_S                beak on the pole, with restitution
    g_2, g_3 = r_M − r_0 ± h_M φ_M                       lower and upper edge of the sleeve, plastic impacts

Pfeiffer 1984; data of Glocker 1995 as used by Leine, Glocker and van Campen 2001. Friction acts at all three contacts;
there is no restitution along the pole. The published start leads to a cycle of one swing. Another start, such as
start = −0.4, 0, 0, leads the same toy to another cycle, of two unequal swings.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.counting import counted
from klapper.gallery._woodpecker import START, Cycles, Toy
from klapper.gallery._woodpecker_figures import (
    draw_cycle,
    draw_forces,
    draw_motion,
    draw_phases,
    draw_sections,
    draw_states,
    scene,
)
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from klapper.results import Run


@example("woodpecker", source="Pfeiffer (1984); data of Glocker (1995); Leine, Glocker, van Campen (2001)")
def woodpecker(
    *,
    sleeve_mass: Annotated[float, Parameter("mass of the sleeve", unit="kg", above=0.0)] = 0.0003,
    sleeve_inertia: Annotated[float, Parameter("inertia of the sleeve", unit="kg m²", above=0.0)] = 5.0e-9,
    bird_mass: Annotated[float, Parameter("mass of the bird", unit="kg", above=0.0)] = 0.0045,
    bird_inertia: Annotated[float, Parameter("inertia of the bird", unit="kg m²", above=0.0)] = 7.0e-7,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N m/rad", above=0.0)] = 0.0056,
    pole_radius: Annotated[float, Parameter("radius of the pole", unit="m", above=0.0)] = 0.0025,
    sleeve_radius: Annotated[float, Parameter("inner radius of the sleeve", unit="m", above=0.0)] = 0.0031,
    sleeve_half_height: Annotated[
        float, Parameter("half the height of the sleeve", unit="m", above=0.0)
    ] = 0.0058,
    spring_arm: Annotated[float, Parameter("distance of sleeve and spring", unit="m", above=0.0)] = 0.010,
    bird_arm: Annotated[float, Parameter("distance of spring and bird", unit="m", above=0.0)] = 0.015,
    beak_height: Annotated[
        float, Parameter("height of the beak above the bird's centre", unit="m", above=0.0)
    ] = 0.02,
    beak_arm: Annotated[
        float, Parameter("distance of the beak from the bird's centre", unit="m", above=0.0)
    ] = 0.0201,
    friction: Annotated[float, Parameter("friction coefficient of all contacts", at_least=0.0)] = 0.3,
    restitution: Annotated[float, Parameter("restitution of the beak", at_least=0.0, at_most=1.0)] = 0.5,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    start: Annotated[
        tuple[float, float, float],
        Parameter(
            "φ_S, φ̇_S and ẏ at the start, where the sleeve is on its lower edge", unit="rad, rad/s, m/s"
        ),
    ] = START,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-5,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 3.0,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    toy = Toy(
        sleeve_mass, sleeve_inertia, bird_mass, bird_inertia, stiffness, pole_radius, sleeve_radius,
        sleeve_half_height, spring_arm, bird_arm, beak_height, beak_arm, friction, restitution, gravity,
    )  # fmt: skip
    _require_play(toy, start[0])
    run = simulate(toy.system(*start), until, Moreau(step))
    cycles = Cycles(run, toy.hanging)
    at_printed = Cycles(run, START[0])
    numbers, units = _numbers(run, cycles, at_printed)
    shown = _last_cycles(run, cycles)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=[
            *_checks(toy, run, step),
            *_cycle_checks(
                toy, run, cycles, at_printed, shipped=toy == Toy() and start == START and step <= 2e-5
            ),
            ledger_check(run),
        ],
        audit={
            "tangential restitution": "none: friction along the pole follows Coulomb's law in impacts, too",
            "limit cycle": _verdict(cycles),
            **run_audit(run),
        },
        figures={
            "cycle": partial(draw_cycle, toy=toy, run=shown[0]),
            "motion": partial(draw_motion, run=shown[1]),
            "phase-portraits": partial(draw_phases, run=run, last=shown[0]),
            "sections": partial(draw_sections, cycles=at_printed),
            "contact-states": partial(draw_states, run=shown[0]),
            "contact-forces": partial(draw_forces, run=shown[0]),
            "energy": run_figures(run)["energy"],
        },
        scenes={"run": partial(scene, toy, run)},
    )


def _require_play(toy: Toy, bird_angle: float) -> None:
    """Refuse a toy that does not fit on its pole."""
    if toy.r_M <= toy.r_0:
        raise ParameterError(
            f"sleeve_radius must be above pole_radius, {toy.r_0:g} m, not {toy.r_M:g} m: the sleeve needs play."
        )
    reach = toy.gaps_at_zero[0]
    if reach - toy.h_S * bird_angle < 0.0:
        raise ParameterError(
            f"start has the bird at {bird_angle:g} rad, where its beak is in the pole; it touches at "
            f"{reach / toy.h_S:.4g} rad. Start below that, or change spring_arm, bird_arm or beak_arm."
        )


def _numbers(run: "Run", cycles: Cycles, at_printed: Cycles) -> tuple[dict[str, Any], dict[str, str]]:
    from klapper.contact_states import IMPACT, STICK

    end, descent = float(run.time[-1]), float(run.coordinate("y")[0] - run.coordinate("y")[-1])
    numbers: dict[str, Any] = {"descent": descent, "mean_speed": descent / end, "settled": cycles.settled}
    units = {"descent": "m", "mean_speed": "m/s"}
    if cycles.settled:
        first, last = cycles.sample[cycles.averaged][[0, -1]]
        state, ledger = run.state[first:last], run.ledger
        begins = np.cumsum(np.diff((run.state[:, 0] == IMPACT).astype(int), prepend=0) > 0)
        numbers |= {
            "swings_per_period": cycles.swings,
            "period": cycles.per_period(cycles.time),
            "frequency": 1.0 / cycles.per_period(cycles.time),
            "descent_per_period": 0.0 - cycles.per_period(cycles.position[:, 0]),
            "beak_impacts_per_period": cycles.per_period(begins[cycles.sample]),
            "share_of_time_jammed": float(np.mean(np.any(state[:, 1:] == STICK, axis=1))),
            "friction_loss_per_period": cycles.per_period(ledger.friction[cycles.sample]),
            "impact_loss_per_period": cycles.per_period(ledger.impact[cycles.sample]),
        }
        units |= {
            "period": "s",
            "frequency": "Hz",
            "descent_per_period": "m",
            "friction_loss_per_period": "J",
            "impact_loss_per_period": "J",
        }
    if at_printed.settled:
        speeds, rates = at_printed.speeds.T
        numbers |= {"speeds_at_section": speeds, "bird_rates_at_section": rates}
        units |= {
            "speeds_at_section": "m/s (at φ_S = −0.2788)",
            "bird_rates_at_section": "rad/s (at φ_S = −0.2788)",
        }
    return numbers, units


def _verdict(cycles: Cycles) -> str:
    if cycles.settled:
        return (
            f"reached: it repeats after {counted(cycles.swings, 'swing')}, with speeds at a section that change by "
            f"{cycles.change(cycles.swings):.1%} of the greatest"
        )
    if len(cycles) < 5:
        return f"not judged: {len(cycles)} swings are too few"
    return f"not reached: from swing to swing the speeds at a section change by {cycles.change(1):.1%} of the greatest"


def _checks(toy: Toy, run: "Run", step: float) -> list[Check]:
    """The equations of every step and its contact laws, from the stored samples alone."""
    q, v, impulse = run.position, run.velocity, run.impulse
    fastest = float(np.abs(v @ toy.normals.T).max())
    checks = [
        Check(
            "deepest penetration",
            value=max(-float(run.gap.min()), 0.0),
            at_least=0.0,
            at_most=step * fastest + 1e-12,
            source="a contact is seen at most one step too late: step times the greatest normal speed",
        )
    ]
    if run.about["settings"]["every"] != 1:
        return checks
    momentum = (v[1:] - v[:-1]) @ toy.mass
    force = toy.weight - 0.5 * (q[1:] + q[:-1]) @ toy.stiffness
    pushed = impulse[1:, :, 0] @ toy.normals + impulse[1:, :, 1] @ toy.tangents
    size = np.abs(momentum).max(axis=0) + step * np.abs(force).max(axis=0)
    normal, tangential = impulse[1:, :, 0], impulse[1:, :, 1]
    approach = v @ toy.normals.T
    rebound = approach[1:] + toy.restitutions * approach[:-1]
    slip = v[1:] @ toy.tangents.T
    largest, fast = max(float(normal.max()), 1e-300), max(float(np.abs(slip).max()), 1e-300)
    return [
        *checks,
        Check(
            "equations of motion",
            value=float((np.abs(momentum - step * force - pushed) / size).max()),
            expected=0.0,
            tolerance=1e-9,
            source="M (v⁺ − v) = h (f − K (q + q⁺)/2) + J_N Λ_N + J_T Λ_T in every step",
        ),
        Check(
            "impact law",
            value=float(np.abs(np.where(normal > 1e-9 * largest, rebound, 0.0)).max()),
            expected=0.0,
            tolerance=1e-7 * max(fastest, 1e-300),
            source="v_N⁺ = −ε v_N⁻ wherever a contact transfers an impulse",
        ),
        Check(
            "friction cone",
            value=float((np.abs(tangential) - toy.mu * normal).max()) / largest,
            at_most=1e-9,
            source="|Λ_T| ≤ μ Λ_N",
        ),
        Check(
            "friction opposes sliding",
            value=float(np.abs(tangential * slip + toy.mu * normal * np.abs(slip)).max()) / (largest * fast),
            expected=0.0,
            tolerance=1e-7,
            source="Λ_T v_T = −μ Λ_N |v_T|",
        ),
    ]


def _cycle_checks(toy: Toy, run: "Run", cycles: Cycles, at_printed: Cycles, *, shipped: bool) -> list[Check]:
    """What holds on the limit cycle, if it has been reached; ``shipped``: whether it must be the published one."""
    if not cycles.settled:
        return []
    ends = cycles.sample[cycles.averaged]
    stored = run.ledger.kinetic[ends] + 0.5 * np.einsum(
        "ki,ij,kj->k", run.position[ends], toy.stiffness, run.position[ends]
    )
    lost = run.ledger.friction[ends] + run.ledger.impact[ends] + run.ledger.numerical[ends]
    fallen = -(run.position[ends] @ toy.weight)
    checks = [
        Check(
            "energy over the last periods",
            value=float(lost[-1] - lost[0]),
            expected=float(fallen[0] - fallen[-1]),
            tolerance=abs(float(stored[-1] - stored[0])) + 1e-9 * run.ledger.scale,
            source="friction and impacts take what the weight gives; the tolerance is what the toy itself stores",
        )
    ]
    if shipped and at_printed.swings == 1:
        speed, rate = at_printed.speeds[0]
        checks.append(
            Check(
                "state on the limit cycle",
                value=[speed, rate],
                expected=[START[2], START[1]],
                tolerance=[0.01 * abs(START[2]), 0.01 * abs(START[1])],
                source="ẏ and φ̇_S at φ_S = −0.2788 of the published simulations, by time stepping, so to 1 %",
            )
        )
    return checks


def _last_cycles(run: "Run", cycles: Cycles) -> tuple["Run", "Run"]:
    """The last period and the last swings, at least three; without cycles the last sixth and half of the run."""
    from klapper.results import Run

    ends, swings = [*cycles.sample], cycles.swings
    if not cycles.settled:
        ends, swings = [len(run) * k // 6 for k in (3, 4, 5, 6)], 1
    return tuple(  # type: ignore[return-value]
        Run(run.layout, run.samples[int(ends[-1 - n]) : int(ends[-1])], run.about)
        for n in (swings, max(swings, 3))
    )
