"""Slider-crank with play: the slider rattles in its guide, and what smaller steps change.

Crank, rod and slider are three bodies on hinges; the slider is held between the walls of its guide by nothing but four
corners that may touch, with friction and restitution. Until a corner touches, the motion is that of the two links,

    M(θ₁, θ₂) θ̈ = h(θ, θ̇),      g = d/2 ∓ (l₁ sin θ₁ + l₂ sin θ₂ ± a sin θ₃) − b cos θ₃ ≥ 0

which is integrated on its own to high accuracy as a comparison; afterwards impacts follow. The run is repeated with
double, fourfold, … steps: the table shows the results beside their penetration, opening of hinges, energy and impacts.
With the data of the publication, the two corners of a side hit together and the slider never tilts; started with
slider_angle = 0.005 it rattles corner by corner.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._slider_crank import Mechanism, Row
from klapper.gallery._slider_crank_figures import draw_mechanism, draw_refinement, draw_slider, draw_speed
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from klapper.bodies import RigidSystem
    from klapper.results import Run

LARGEST_TURN = 0.5  # rad of the crank per step, at the start
TRUSTED = 0.05  # change by halving the step, as a share of the crank's length, up to which it tells the error


@example("slider-crank", source="Flores, Leine, Glocker, Multibody Syst. Dyn. 23 (2010) 165–190")
def slider_crank(
    *,
    crank_length: Annotated[float, Parameter("length of the crank", unit="m", above=0.0)] = 0.153,
    rod_length: Annotated[float, Parameter("length of the rod", unit="m", above=0.0)] = 0.306,
    slider_size: Annotated[
        tuple[float, float], Parameter("length and height of the slider", unit="m", above=0.0)
    ] = (0.1, 0.05),
    guide: Annotated[float, Parameter("height of the guide", unit="m", above=0.0)] = 0.052,
    masses: Annotated[
        tuple[float, float, float], Parameter("masses of crank, rod, slider", unit="kg", above=0.0)
    ] = (0.038, 0.038, 0.076),
    inertias: Annotated[
        tuple[float, float, float], Parameter("their moments of inertia", unit="kg m²", above=0.0)
    ] = (7.4e-5, 5.9e-4, 2.7e-6),
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", at_least=0.0)] = 9.81,
    speed: Annotated[float, Parameter("speed of the crank at the start", unit="rad/s")] = 150.0,
    slider_angle: Annotated[float, Parameter("angle of the slider at the start", unit="rad")] = 0.0,
    restitution: Annotated[float, Parameter("restitution of the corners", at_least=0.0, at_most=1.0)] = 0.4,
    friction: Annotated[float, Parameter("friction coefficient of the corners", at_least=0.0)] = 0.01,
    step: Annotated[float, Parameter("smallest time step", unit="s", above=0.0)] = 5e-5,
    refinements: Annotated[
        int, Parameter("number of steps in the table, each half the one before", at_least=2, at_most=8)
    ] = 4,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.08,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    mechanism = Mechanism(
        (crank_length, rod_length), 0.5 * slider_size[0], 0.5 * slider_size[1], guide, masses, inertias, gravity,
        speed, slider_angle, restitution, friction,
    )  # fmt: skip
    _require(mechanism, step * 2.0 ** (refinements - 1))
    rows = _refine(mechanism, step, refinements, until)
    finest = rows[-1].run
    numbers, units = _numbers(mechanism, rows)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=[*_free_checks(mechanism, rows), *_bounds(mechanism, rows), ledger_check(finest)],
        audit={"smallest step": run_audit(finest)},
        figures={
            "mechanism": partial(draw_mechanism, mechanism=mechanism, run=finest),
            "slider": partial(draw_slider, mechanism=mechanism, run=finest),
            "crank-speed": partial(draw_speed, mechanism=mechanism, run=finest),
            "refinement": partial(draw_refinement, rows=rows),
            **run_figures(finest),
        },
    )


def _require(mechanism: Mechanism, largest_step: float) -> None:
    """Refuse what cannot turn or does not fit."""
    if mechanism.lengths[1] <= mechanism.lengths[0]:
        raise ParameterError(
            f"rod_length must be above crank_length, {mechanism.lengths[0]:g} m, not {mechanism.lengths[1]:g} m: the "
            f"crank could not turn."
        )
    if mechanism.play <= 0.0 or mechanism.reach >= 0.5 * mechanism.guide:
        raise ParameterError(
            f"guide must be above {2.0 * max(mechanism.reach, mechanism.b):.6g} m, what the slider takes at the start, "
            f"not {mechanism.guide:g} m."
        )
    if largest_step * abs(mechanism.speed) > LARGEST_TURN:
        raise ParameterError(
            f"the largest step, {largest_step:g} s, turns the crank by {largest_step * abs(mechanism.speed):.2g} rad; "
            f"allowed is {LARGEST_TURN:g} rad. Choose a smaller step or fewer refinements."
        )


def _refine(mechanism: Mechanism, step: float, refinements: int, until: float) -> list[Row]:
    """Runs to the same end with ever smaller steps."""
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    system = mechanism.system()
    coarsest = step * 2.0 ** (refinements - 1)
    end = coarsest * np.ceil(until / coarsest - 1e-9)
    rows = []
    for k in reversed(range(refinements)):
        h = step * 2.0**k
        run = simulate(system, end, Moreau(h), every=1)
        rows.append(Row(h, run, *_opening(system, run)))
    return rows


def _opening(system: "RigidSystem", run: "Run") -> tuple[float, float]:
    """By how much [m] and how fast [m/s] the hinges opened at most."""
    depth = speed = 0.0
    for t, q, v in zip(run.time, run.position, run.velocity, strict=True):
        direction, _ = system.constraint_directions(t, q)
        depth = max(depth, float(np.abs(system.constraint_residuals(t, q)).max()))
        speed = max(speed, float(np.abs(direction.T @ v).max()))
    return depth, speed


def _numbers(mechanism: Mechanism, rows: list[Row]) -> tuple[dict[str, Any], dict[str, str]]:
    finest = rows[-1].run
    end = float(finest.time[-1])
    last = np.array([row.place(end) for row in rows])
    numbers: dict[str, Any] = {
        "time": end,
        "crank_angle": last[-1, 0],
        "crank_speed": float(finest.speed("crank angle")[-1]),
        "slider_x": last[-1, 1],
        "slider_y": last[-1, 2],
        "slider_angle": float(finest.coordinate("slider angle")[-1]),
        "largest_slider_angle": float(np.abs(finest.coordinate("slider angle")).max()),
        "energy_lost_in_impacts": float(finest.ledger.impact[-1]),
        "energy_lost_in_friction": float(finest.ledger.friction[-1]),
        "table_step": [row.step for row in rows],
        "table_crank_angle": last[:, 0],
        "table_slider_x": last[:, 1],
        "table_penetration": [row.penetration for row in rows],
        "table_hinge_opening": [row.opening for row in rows],
        "table_numerical_loss": [float(row.run.ledger.numerical[-1]) for row in rows],
        "table_ledger_residual": [row.run.ledger.closing_error for row in rows],
        "table_impacts": [row.impacts for row in rows],
    }
    units = {
        "time": "s",
        "crank_angle": "rad",
        "crank_speed": "rad/s",
        "slider_x": "m",
        "slider_y": "m",
        "slider_angle": "rad",
        "largest_slider_angle": "rad",
        "energy_lost_in_impacts": "J",
        "energy_lost_in_friction": "J",
        "table_step": "s",
        "table_crank_angle": "rad (at the end)",
        "table_slider_x": "m (at the end)",
        "table_penetration": "m",
        "table_hinge_opening": "m",
        "table_numerical_loss": "J",
        "table_ledger_residual": "J",
    }
    free = _free_errors(mechanism, rows)
    if free is not None:
        _, errors = free
        crank = np.maximum(errors[:, 0], 1e-300)
        numbers |= {"table_free_error": errors[:, 0], "free_order": np.log2(crank[:-1] / crank[1:])}
        units["table_free_error"] = "rad (crank, just before the first impact)"
    return numbers, units


def _free_errors(mechanism: Mechanism, rows: list[Row]) -> tuple[float, np.ndarray] | None:
    """A time before any contact, and the errors (n, 3) there of the crank's angle and the slider's place."""
    coarsest = rows[0].step
    exact = mechanism.free_motion(float(rows[-1].run.time[-1]))
    touched = [row.first_impact for row in rows if row.first_impact is not None]
    before = min([float(exact.t[-1]), *touched]) - coarsest
    time = coarsest * np.floor(before / coarsest + 1e-9)
    if time < 2.0 * coarsest:
        return None
    angle = exact.sol(time)[:2]
    expected = np.array([angle[0], *mechanism.slider_place(angle)])
    return float(time), np.abs(np.array([row.place(time) for row in rows]) - expected)


def _free_checks(mechanism: Mechanism, rows: list[Row]) -> list[Check]:
    """Until the first impact, against the equations of the two links."""
    free = _free_errors(mechanism, rows)
    if free is None:
        return []
    time, errors = free
    lengths = np.array([mechanism.lengths[0], 1.0, 1.0])  # by which the angle of the crank is a way
    changed = float((lengths * np.abs(rows[-2].place(time) - rows[-1].place(time))).max())
    checks = []
    if changed <= TRUSTED * mechanism.lengths[0]:
        checks.append(
            Check(
                "free motion",
                value=lengths * errors[-1],
                expected=0.0,
                tolerance=2.0 * changed + 1e-9 * mechanism.lengths[1],
                source="angles of the links by an ODE solver; within twice what the last refinement changed",
            )
        )
    exact = mechanism.free_motion(float(rows[-1].run.time[-1]))
    first, coarser = rows[-1].first_impact, rows[-2].first_impact
    if len(exact.t_events[0]) and first is not None and coarser is not None:
        checks.append(
            Check(
                "first impact",
                value=first,
                expected=float(exact.t_events[0][0]),
                tolerance=2.0 * abs(first - coarser) + 2.0 * rows[-2].step,
                source="zero of the gap by an ODE solver; within twice what the last refinement changed",
            )
        )
    return checks


def _bounds(mechanism: Mechanism, rows: list[Row]) -> list[Check]:
    """What any step must keep to: gaps, hinges and ledger."""
    corner = float(np.hypot(mechanism.a, mechanism.b))
    depths, openings, speeds, scale = [], [], [], 0.0
    for row in rows:
        run, end = row.run, float(row.run.time[-1])
        spin = np.abs(run.speed("slider angle")).max()
        fastest = np.abs(run.speed("slider y")).max() + corner * spin
        depths.append(row.penetration / (row.step * (fastest + end * corner * spin**2) + 1e-12))
        turns = pull = 0.0
        for name, length in zip(("crank", "rod"), mechanism.lengths, strict=True):
            speed = run.speed(f"{name} angle")
            fast, changed = np.abs(speed).max(), np.abs(np.diff(speed)).sum()
            turns += 0.25 * length * fast * (changed + end * fast**2)
            pull += length * fast**2
        openings.append(row.opening / (row.step**2 * turns + 1e-9 * mechanism.lengths[1]))
        speeds.append(row.opening_speed / (row.step * pull + 1e-9))
        scale = max(scale, run.ledger.closing_error / max(run.ledger.scale, 1e-300))
    return [
        Check(
            "penetration over its bound",
            value=depths,
            at_least=0.0,
            at_most=1.0,
            source="step times the greatest speed of a corner and, while it touches, its centripetal acceleration",
        ),
        Check(
            "opening of the hinges over its bound",
            value=openings,
            at_least=0.0,
            at_most=1.0,
            source="square of the step times ¼ Σ l ω (change of ω + duration ω²) of both links",
        ),
        Check(
            "opening speed of the hinges over its bound",
            value=speeds,
            at_least=0.0,
            at_most=1.0,
            source="step times the centripetal accelerations l₁ ω₁² + l₂ ω₂²",
        ),
        Check(
            "energy ledgers of all steps",
            value=scale,
            expected=0.0,
            tolerance=1e-9,
            source="balance of energy, as a share of the energy turned over",
        ),
    ]
