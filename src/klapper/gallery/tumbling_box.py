"""Tumbling box: it is thrown, rolls over its corners, slides, and lies still.

Eight corners may touch a rough floor; which of them do, and whether they stick or slip, is found by the laws

    m dv = m g dt + Σ dΛ,   I dω = −ω × I ω dt + Σ r × dΛ,     0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   |Λ_T| ≤ μ Λ_N

and a box that has come to rest stays exactly where it is: friction is no viscous force, nothing creeps. In flight the
centre follows a parabola and the angular momentum R I ω stays. A box that lies flat and slides with the speed v stops
after v²/(2 μ g), unless friction tips it over; that is a second run. With ε > 0 and μ > 0 Newton's law can give energy
to a body that hits with several corners at once: the audit says where it did.
"""

from dataclasses import replace
from functools import partial
from math import hypot
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._run import SteppingName
from klapper.gallery._tumbling_box import Box, Slide, Start, Throw
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.gallery._view import View
    from klapper.results import Run

TOLERANCE = 1e-6
"""Residual of the contact problems. Four corners that stick on a floor they meet at an angle of 1e-4 contradict each
other by some 1e-9 m/s, and forces that are not unique take very long to find out which of them has to slip."""

SHOWN = 9  # positions in the picture
FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


@example("tumbling-box", source="free flight, sliding and rest in closed form; scheme of Moreau (1988)")
def tumbling_box(
    *,
    sizes: Annotated[
        tuple[float, float, float], Parameter("length, width and height of the box", unit="m", above=0.0)
    ] = (0.3, 0.2, 0.1),
    mass: Annotated[float, Parameter("mass of the homogeneous box", unit="kg", above=0.0)] = 1.0,
    height: Annotated[
        float, Parameter("height of the lowest corner at the start", unit="m", at_least=0.0)
    ] = 0.25,
    turn: Annotated[
        tuple[float, float, float], Parameter("rotation vector of the box at the start", unit="rad")
    ] = (0.3, 0.4, 0.2),
    velocity: Annotated[
        tuple[float, float, float], Parameter("velocity of the centre at the start", unit="m/s")
    ] = (3.0, 0.5, 0.0),
    spin: Annotated[
        tuple[float, float, float],
        Parameter("angular velocity at the start, in axes of the box", unit="rad/s"),
    ] = (1.0, 9.0, 2.0),
    mu: Annotated[float, Parameter("friction coefficient of the floor", at_least=0.0)] = 0.4,
    restitution: Annotated[
        float, Parameter("normal velocity after an impact over that before", at_least=0.0, at_most=1.0)
    ] = 0.3,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 2e-4,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 1.6,
    scheme: Annotated[SteppingName, Parameter("time-stepping method")] = "moreau",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    box, start = Box(sizes, mass, mu, restitution, gravity), Start(height, turn, velocity, spin)
    throw = _throw(box, start, step, until, scheme)
    slide = Slide.of(box, velocity[:2], scheme) if Slide.possible(box, velocity[:2]) else None
    run, rest = throw.run, throw.rest
    figures: dict[str, Any] = {"path": partial(_draw_path, throw=throw)}
    figures["corners"] = partial(_draw_corners, throw=throw)
    if slide is not None:
        figures["slide"] = partial(_draw_slide, slide=slide)
    return Outcome(
        numbers={
            "final_position": run.position[-1, :3],
            "final_orientation": run.position[-1, 3:],
            "final_velocity": run.velocity[-1],
            "time": run.time[-1],
            "face_below": throw.face_below,
            "way_of_centre": throw.way,
            "rest_time": None if rest is None else run.time[rest],
            "creep_after_rest": None if rest is None else _creep(throw, rest),
            "deepest_penetration": max(-run.gap.min(), 0.0),
            "energy_lost": 1.0 - _mechanical(run)[-1] / _mechanical(run)[0],
            "stopping_distance": None if slide is None else slide.distances[-1],
            "exact_stopping_distance": None if slide is None else slide.exact,
        },
        units={
            "final_position": "m",
            "final_orientation": "(quaternion w, i, j, k)",
            "final_velocity": "m/s, rad/s",
            "time": "s",
            "face_below": "(axis of the box)",
            "way_of_centre": "m (over the floor)",
            "rest_time": "s",
            "creep_after_rest": "m",
            "deepest_penetration": "m",
            "energy_lost": "of the energy at the start (potential energy from the floor)",
            "stopping_distance": "m (second run: flat on the floor)",
            "exact_stopping_distance": "m",
        },
        checks=[
            *_flight_checks(throw, start),
            *_always(throw),
            *(_rest_checks(throw, rest) if rest is not None else []),
            *(_slide_checks(slide) if slide is not None else []),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={**figures, **run_figures(run, "contact-states", "energy")},
    )


def _throw(box: Box, start: Start, step: float, until: float, scheme: SteppingName) -> Throw:
    from scipy.spatial.transform import Rotation

    from klapper.gallery._run import scheme_named
    from klapper.simulation import simulate

    longest = 0.2 * min(box.sizes) / box.fastest(start)
    if step > longest:
        raise ParameterError(
            f"step must be at most {longest:.3g} s, in which no corner moves by more than a fifth of the smallest "
            f"side, not {step:g}."
        )
    rotation = Rotation.from_rotvec(start.turn).as_matrix()
    lowest = float(box.corners(rotation)[:, 2].min())
    system, body = box.system(
        (0.0, 0.0, start.height - lowest), start.orientation, start.velocity, start.spin
    )
    method: Any = scheme_named(scheme, step)
    run = simulate(system, until, replace(method, tolerance=TOLERANCE))
    return Throw(box, system, body, run, step)


def _mechanical(run: "Run") -> np.ndarray:
    """Kinetic and potential energy (s,) [J]."""
    return np.asarray(run.ledger.kinetic + run.ledger.potential)


def _creep(throw: Throw, rest: int) -> float:
    """Largest displacement [m] of a corner after the first sample at rest."""
    return float(np.abs(throw.corners[rest:] - throw.corners[rest]).max())


def _flight_checks(throw: Throw, start: Start) -> list[Check]:
    """Parabola and angular momentum until the floor is touched."""
    box, run = throw.box, throw.run
    time, flown = run.time[: throw.flight], run.position[: throw.flight, :3]
    parabola = flown[0] + np.outer(time, start.velocity) - 0.5 * np.outer(time**2, (0.0, 0.0, box.gravity))
    spin = run.velocity[: throw.flight, 3:]
    momentum = np.einsum("sij,sj->si", throw.rotation[: throw.flight], box.moments * spin)
    turning = float(np.linalg.norm(spin, axis=1).max())
    slender = box.moments.max() / box.moments.min()
    size = box.radius + abs(start.height) + float(np.abs(parabola).max())
    return [
        Check(
            "flight of the centre, largest error",
            value=np.abs(flown - parabola).max(),
            expected=0.0,
            tolerance=1e-11 * size,
            source="parabola; the scheme is exact under a constant force",
        ),
        Check(
            "angular momentum in flight, largest error",
            value=np.linalg.norm(momentum - momentum[0], axis=1).max(),
            expected=0.0,
            tolerance=np.linalg.norm(momentum[0])
            * (slender**2 * (turning * throw.step) ** 2 * turning * time[-1] + 1e-11),
            source="conserved; the scheme is of second order",
        ),
    ]


def _always(throw: Throw) -> list[Check]:
    run, energy = throw.run, _mechanical(throw.run)
    return [
        Check(
            "energy above that of the start",
            value=max(float(energy.max() - energy[0]), 0.0),
            at_least=0.0,
            at_most=_possible_gain(throw),
            source="contacts take energy; strict bound of what a step can give, and what Newton's law gave",
        ),
        Check(
            "deepest penetration",
            value=max(-float(run.gap.min()), 0.0),
            at_least=0.0,
            at_most=2.0 * throw.step * throw.corner_speed,
            source="way of the fastest corner in a step before it is seen and in one after",
        ),
        Check(
            "length of the quaternion",
            value=np.abs(np.linalg.norm(run.position[:, 3:], axis=1) - 1.0).max(),
            expected=0.0,
            tolerance=1e-12,
            source="a rotation has a unit quaternion",
        ),
    ]


def _possible_gain(throw: Throw) -> float:
    """Strict bound [J] for the energy above that of the start.

    With p the impulse of the floor, a step changes the energy by −p·M⁻¹p/2 − p·M⁻¹ h f/2 − (loss by sliding) if ε = 0:
    at most h² m g²/8. The moment −ω × I ω does work in flight since it is taken at the predicted middle of the step,
    h³ C³ ω⁵/I² with C the largest |ω × I ω|/ω²; and with ε > 0 also on the way that an impact adds.
    """
    box, run, h = throw.box, throw.run, throw.step
    duration, turning = run.time[-1], 1.1 * float(np.linalg.norm(run.velocity[:, 3:], axis=1).max())
    least, gyration = box.moments.min(), box.gyration
    gain = duration * h * box.mass * box.gravity**2 / 8.0
    gain += duration * h**2 * gyration**3 * turning**5 / least**2
    gain += 1e-12 * run.ledger.scale + run.ledger.round_off
    if box.restitution > 0.0:
        push = float(np.abs(run.impulse).sum())
        gain += 0.5 * h * gyration * turning**2 / least * box.radius * push
    if box.restitution > 0.0 and box.mu > 0.0:
        taken = np.diff(run.ledger.friction + run.ledger.impact)
        gain += float(-taken[taken < 0.0].sum())
    return gain


def _rest_checks(throw: Throw, rest: int) -> list[Check]:
    box, weight = throw.box, throw.box.mass * throw.box.gravity
    return [
        Check(
            "speed after the box came to rest",
            value=throw.speeds[rest:].max(),
            expected=0.0,
            tolerance=throw.no_speed,
            source="Coulomb friction holds; round-off of what the weight does in a step",
        ),
        Check(
            "displacement after the box came to rest",
            value=_creep(throw, rest),
            expected=0.0,
            tolerance=1e-12 * box.radius,
            source="no creep; round-off",
        ),
        Check(
            "force of the floor on the resting box",
            value=throw.floor_force,
            expected=[0.0, 0.0, weight],
            tolerance=1e-9 * weight,
            source="balance of forces",
        ),
    ]


def _slide_checks(slide: Slide) -> list[Check]:
    speed = hypot(*slide.velocity)
    return [
        Check(
            "stopping distance of the sliding box",
            value=slide.distances[-1],
            expected=slide.exact,
            tolerance=slide.box.mu * slide.box.gravity * slide.step**2 / 8.0 + 1e-9 * slide.exact,
            source="v²/(2 μ g); the last step may pass the standstill",
        ),
        Check(
            "speed of the sliding box at the end",
            value=np.linalg.norm(slide.run.velocity[-1] * np.repeat((1.0, slide.box.radius), 3)),
            expected=0.0,
            tolerance=1e-9 * speed,
            source="it stops after v/(μ g)",
        ),
    ]


def _draw_path(figure: "Figure", *, throw: Throw) -> None:
    """The box along its path, from light to dark, with its shadow on the floor and the way of its centre."""
    from matplotlib import colormaps
    from scipy.spatial import ConvexHull

    from klapper.gallery._view import View

    figure.set_size_inches(7.6, 3.4)
    axes, view = figure.subplots(), View()
    corners, shown = throw.corners, _moments(throw)
    low, high = corners[shown].min(axis=(0, 1)), corners[shown].max(axis=(0, 1))
    border = 0.5 * throw.box.radius
    view.floor(axes, low[:2] - border, high[:2] + border)
    for k in shown:
        outline = corners[k, ConvexHull(corners[k, :, :2]).vertices] * (1.0, 1.0, 0.0)
        axes.fill(*view.flat(outline).T, facecolor="#333333", alpha=0.16, linewidth=0.0, zorder=0.5)
    colours = colormaps["Blues"](np.linspace(0.25, 0.85, len(shown)))
    nearest = view.depth(throw.run.position[shown, :3])
    for front, number in enumerate(np.argsort(nearest)):
        k = shown[number]
        _draw_box(axes, view, corners[k], throw.run.position[k, :3], colours[number], 2.0 + front)
    path = throw.run.position[:: max(len(throw.run) // 800, 1), :3]
    axes.plot(*view.flat(path).T, color="#D55E00", linewidth=1.5, zorder=40)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _draw_box(
    axes: "Axes", view: "View", corners: np.ndarray, centre: np.ndarray, colour: Any, front: float
) -> None:
    """The faces of the box that look to the viewer."""
    from klapper.gallery._view import shade

    for face in FACES:
        middle = corners[list(face)].mean(axis=0)
        normal = (middle - centre) / np.linalg.norm(middle - centre)
        if view.depth(normal) > 0.0:
            outline = view.flat(corners[list(face)])
            axes.fill(
                *outline.T, facecolor=shade(colour, normal), edgecolor="#333333", linewidth=0.8, zorder=front
            )


def _moments(throw: Throw) -> list[int]:
    """Samples to draw: at equal distances along the path of the centre, the first and the last among them."""
    way = np.linalg.norm(np.diff(throw.run.position[:, :3], axis=0), axis=1).cumsum()
    return [
        0,
        *(np.searchsorted(way, way[-1] * part) + 1 for part in np.linspace(0, 1, SHOWN)[1:-1]),
        len(way),
    ]


def _draw_corners(figure: "Figure", *, throw: Throw) -> None:
    """Heights of the eight corners (thin) and of the centre (thick); dotted: the box lies still from here on."""
    axes = figure.subplots()
    run = throw.run
    for number in range(8):
        _line(axes, run.time, throw.corners[:, number, 2], color="#56B4E9", linewidth=0.9)
    axes.plot([], [], color="#56B4E9", linewidth=0.9, label="corners")
    _line(axes, run.time, run.position[:, 2], color="#0072B2", linewidth=2.0, label="centre")
    axes.axhline(0.0, color="#444444", linewidth=0.8)
    if throw.rest is not None:
        axes.axvline(run.time[throw.rest], color="#888888", linewidth=1.0, linestyle=":", label="rest")
    axes.set(xlabel="time / s", ylabel="height / m", xlim=(0.0, run.time[-1]))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3)


def _draw_slide(figure: "Figure", *, slide: Slide) -> None:
    """A box that lies flat and slides: speed and distance by time stepping (lines) and in closed form (dots)."""
    speed, brake = hypot(*slide.velocity), slide.box.mu * slide.box.gravity
    figure.set_size_inches(6.0, 3.2)
    left, right = figure.subplots(1, 2)
    time = np.linspace(0.0, slide.run.time[-1], 19)
    moving = np.minimum(time, speed / brake)
    _line(left, slide.run.time, np.linalg.norm(slide.run.velocity[:, :2], axis=1))
    left.plot(time, speed - brake * moving, "o", color="#333333", markersize=3.5)
    left.set(xlabel="time / s", ylabel="speed / m/s")
    _line(right, slide.run.time, slide.distances)
    right.plot(time, (speed - 0.5 * brake * moving) * moving, "o", color="#333333", markersize=3.5)
    right.set(xlabel="time / s", ylabel="distance / m")


def _line(axes: "Axes", time: np.ndarray, values: np.ndarray, **style: Any) -> None:
    from klapper.results.thinning import thinned

    points = thinned(values, 1500)
    axes.plot(time[points], values[points], **style)
