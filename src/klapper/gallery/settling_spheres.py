"""Settling spheres: hundreds of them fall into a box and come to rest, carried by floor and walls.

Equal spheres start as a loose, slightly disordered lattice, fall, collide without restitution, rub on each other, and
jam. Any two of them, and each with the floor and the four walls, may touch; contacts are found by search, and all
impulses of a step are solved for together,

    M (v⁺ − v⁻) = h f + J Λ,   0 ≤ Λ_N ⟂ v_N⁺ ≥ 0,   |Λ_T| ≤ μ Λ_N

The heap at rest has forces that spread over two orders of magnitude and form chains. Floor and walls together carry the
weight. How much of it the walls carry by friction is not unique: Janssen (1895) lets all their friction act upwards, a
heap that jams while it settles uses only a part of it, and may even be pressed down by its walls.
"""

from dataclasses import replace
from functools import partial
from math import pi, sqrt
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._run import SteppingName
from klapper.gallery._settling_spheres import Heap, Settled
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.gallery._view import View

SAMPLES = 400
KEPLER = pi / sqrt(18.0)  # largest density of equal spheres


@example("settling-spheres", source="Janssen (1895); Hales (2005); scheme of Moreau (1988)")
def settling_spheres(
    *,
    count: Annotated[int, Parameter("number of spheres", at_least=1, at_most=2000)] = 250,
    radius: Annotated[float, Parameter("radius of the spheres", unit="m", above=0.0)] = 0.05,
    density: Annotated[float, Parameter("density of the spheres", unit="kg/m³", above=0.0)] = 2500.0,
    width: Annotated[float, Parameter("inner width of the square box", unit="m", above=0.0)] = 0.56,
    mu: Annotated[float, Parameter("friction coefficient between spheres", at_least=0.0, at_most=0.5)] = 0.3,
    wall_mu: Annotated[
        float, Parameter("friction coefficient of floor and walls", at_least=0.0, at_most=0.5)
    ] = 0.3,
    gravity: Annotated[float, Parameter("acceleration of gravity", unit="m/s²", above=0.0)] = 9.81,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 5e-4,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 2.0,
    tolerance: Annotated[
        float, Parameter("allowed relative residual of the contact problems", above=0.0, at_most=1e-3)
    ] = 1e-4,
    seed: Annotated[int, Parameter("of the random numbers that disturb the lattice", at_least=0)] = 1,
    scheme: Annotated[SteppingName, Parameter("time-stepping method")] = "moreau",
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    heap = Heap(count, radius, density, width, mu, wall_mu, gravity, seed)
    _require(heap, step)
    settled = _settle(heap, step, until, tolerance, scheme)
    run, forces = settled.run, settled.wall_forces
    _, _, on_wall = settled.partners
    return Outcome(
        numbers={
            "contacts": len(on_wall),
            "contacts_with_walls": np.count_nonzero(on_wall),
            "coordination_number": settled.coordination,
            "bulk_packing_fraction": settled.bulk_fraction,
            "height_of_heap": settled.top,
            "largest_penetration": settled.penetration / radius,
            "kinetic_energy": run.ledger.kinetic[-1],
            "kinetic_energy_part": settled.kinetic_part,
            "floor_share": forces[0, 2] / heap.weight,
            "wall_share": forces[1:, 2].sum() / heap.weight,
            "wall_friction_used": settled.friction_used,
            "mean_force": settled.forces.mean() if len(on_wall) else None,
            "largest_force": settled.forces.max() if len(on_wall) else None,
            "weight": heap.weight,
            "time": run.time[-1],
        },
        units={
            "contacts": "(loaded at the end)",
            "coordination_number": "(mean number of loaded contacts of a sphere)",
            "bulk_packing_fraction": "(a diameter away from walls, floor and surface)",
            "height_of_heap": "m",
            "largest_penetration": "radii",
            "kinetic_energy": "J (at the end)",
            "kinetic_energy_part": "of the largest one",
            "floor_share": "of the weight",
            "wall_share": "of the weight (by friction; not unique)",
            "wall_friction_used": "of the largest possible upward force of the walls (Janssen: 1)",
            "mean_force": "N (normal)",
            "largest_force": "N (normal)",
            "weight": "N",
            "time": "s",
        },
        checks=[*_checks(settled, tolerance), ledger_check(run)],
        audit=run_audit(run),
        figures={
            "heap": partial(_draw_heap, settled=settled),
            "kinetic-energy": partial(_draw_kinetic, settled=settled),
            "force-distribution": partial(_draw_distribution, settled=settled),
            **run_figures(run, "energy"),
        },
    )


def _require(heap: Heap, step: float) -> None:
    if heap.width < 2.02 * heap.radius:
        raise ParameterError(
            f"width must be at least {2.02 * heap.radius:.4g} m for spheres of radius {heap.radius:g} m, not "
            f"{heap.width:g}."
        )
    longest = 0.1 * heap.radius / heap.fall_speed
    if step > longest:
        raise ParameterError(
            f"step must be at most {longest:.3g} s, in which a sphere falls by less than a tenth of its radius, not "
            f"{step:g}."
        )


def _settle(heap: Heap, step: float, until: float, tolerance: float, scheme: SteppingName) -> Settled:
    """Run to ``until`` or a little longer, with some 400 samples, the last one step after the one before."""
    from klapper.gallery._run import scheme_named
    from klapper.simulation import simulate

    steps = max(round(until / step), 2)
    every = -(-steps // SAMPLES)
    steps = -(-(steps - 1) // every) * every + 1
    system = heap.system()
    method: Any = scheme_named(scheme, step)
    run = simulate(system, steps * step, replace(method, tolerance=tolerance), every=every)
    return Settled(heap, system, run, step)


def _checks(settled: Settled, tolerance: float) -> list[Check]:
    heap, run, h = settled.heap, settled.run, settled.step
    carried = settled.wall_forces.sum(axis=0)
    energy = run.ledger.kinetic + run.ledger.potential
    risen = energy - np.minimum.accumulate(energy)
    fastest = float(np.linalg.norm(settled.velocities, axis=2).max())
    fastest += heap.gravity * float(np.diff(run.time).max())
    small = heap.radius - 0.5 * settled.penetration
    checks = [
        Check(
            "forces of floor and walls minus weight and inertia",
            value=carried - settled.momentum_rate - (0.0, 0.0, heap.weight),
            expected=0.0,
            tolerance=1e-8 * (heap.weight + np.abs(settled.wall_forces).sum()),
            source="balance of momentum of all spheres in the last step",
        ),
        Check(
            "tangential forces beyond μ times normal forces",
            value=_beyond_friction(settled),
            expected=0.0,
            tolerance=1e-9,
            source="Coulomb's law, in units of the largest force",
        ),
        Check(
            "largest rise of energy",
            value=risen.max(),
            at_least=0.0,
            at_most=_possible_rise(settled, tolerance),
            source="contacts take energy; what the weight does in a step, and the tolerance of the laws",
        ),
        Check(
            "largest penetration",
            value=settled.penetration,
            at_least=0.0,
            at_most=4.0 * h * fastest,
            source="way of two spheres towards each other in a step before they are seen and in one after",
        ),
        Check(
            "packing fraction of the box up to the highest sphere",
            value=heap.count * 4.0 / 3.0 * pi * max(small, 0.0) ** 3 / (heap.width**2 * settled.top),
            at_least=0.0,
            at_most=KEPLER,
            source="Hales (2005): no packing of equal spheres is denser than π/√18; overlap taken off the radius",
        ),
    ]
    changes = np.abs(settled.velocities[-1, :, 2] - settled.velocities[-2, :, 2])
    restless = float(changes.mean()) / (heap.gravity * h)
    if restless < 0.05:
        checks.append(
            Check(
                "part of the weight that floor and walls carry",
                value=carried[2] / heap.weight,
                expected=1.0,
                tolerance=restless + 1e-8,
                source="equilibrium; tolerance: mean change of velocity in the last step, in units of g h",
            )
        )
    return checks


def _beyond_friction(settled: Settled) -> float:
    impulse = settled.loaded[1]
    if not len(impulse):
        return 0.0
    mu = np.where(settled.partners[2], settled.heap.wall_mu, settled.heap.mu)
    excess = np.linalg.norm(impulse[:, 1:], axis=1) - mu * impulse[:, 0]
    return float(max(excess.max() / impulse[:, 0].max(), 0.0))


def _possible_rise(settled: Settled, tolerance: float) -> float:
    """[J]: h² m g²/8 in a step for the weight, as for the tumbling box, and the power of the contact forces on the
    velocities by which their laws may be missed."""
    heap, run = settled.heap, settled.run
    by_weight = settled.step * heap.gravity * heap.weight / 8.0
    by_tolerance = tolerance * heap.fall_speed * (heap.weight + float(settled.forces.sum()))
    return float(run.time[-1]) * (by_weight + by_tolerance) + run.ledger.round_off


def _draw_heap(figure: "Figure", *, settled: Settled) -> None:
    """The heap at the end. Left: coloured by the height at which a sphere started, dark below. Right: the normal
    forces between centres and to the walls, the wider the larger."""
    from matplotlib import colormaps

    from klapper.gallery._view import View

    figure.set_size_inches(7.6, 4.4)
    heap, view = settled.heap, View(-68.0, 14.0)
    left, right = figure.subplots(1, 2)
    begin = heap.starts[:, 2]
    shade = colormaps["cividis"](0.08 + 0.84 * (begin - begin.min()) / max(np.ptp(begin), 1e-300))
    _draw_box(left, view, settled)
    _draw_spheres(left, view, settled, shade)
    _draw_box(right, view, settled)
    _draw_chains(right, view, settled)
    for axes in (left, right):
        axes.set_aspect("equal")
        axes.set_axis_off()
    _draw_scale(left, view, settled)


def _draw_box(axes: "Axes", view: "View", settled: Settled) -> None:
    """Floor and the two walls behind the heap."""
    w, z = settled.heap.width, 1.08 * settled.top
    floor = [(0, 0, 0), (w, 0, 0), (w, w, 0), (0, w, 0)]
    left, back = [(0, 0, 0), (0, w, 0), (0, w, z), (0, 0, z)], [(0, w, 0), (w, w, 0), (w, w, z), (0, w, z)]
    for face, colour in ((floor, "#EDEDED"), (left, "#F6F6F6"), (back, "#F9F9F9")):
        axes.fill(*view.flat(face).T, facecolor=colour, edgecolor="#BBBBBB", linewidth=0.8, zorder=0)


def _draw_spheres(axes: "Axes", view: "View", settled: Settled, colours: np.ndarray) -> None:
    """Circles from the back to the front, each with a spot of light."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    r, centres = settled.heap.radius, settled.centres[-1]
    patches, faces, edges = [], [], []
    for i in np.argsort(view.depth(centres)):
        x, y = view.flat(centres[i])
        colour = colours[i, :3]
        patches += [Circle((x, y), r), Circle((x - 0.28 * r, y + 0.32 * r), 0.38 * r)]
        faces += [tuple(colour), tuple(0.55 * colour + 0.45)]
        edges += ["#333333", "none"]
    axes.add_collection(PatchCollection(patches, facecolor=faces, edgecolor=edges, linewidth=0.5, zorder=2))


def _draw_chains(axes: "Axes", view: "View", settled: Settled) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle

    r, centres = settled.heap.radius, settled.centres[-1]
    circles = [Circle(tuple(place), r) for place in view.flat(centres)]
    axes.add_collection(
        PatchCollection(circles, facecolor="none", edgecolor="#D8D8D8", linewidth=0.4, zorder=1)
    )
    forces = settled.forces
    if not len(forces):
        return
    order = np.argsort(forces)
    part = forces[order] / forces.max()
    lines = view.flat(_branches(settled)[order])
    axes.add_collection(
        LineCollection(
            list(lines),
            linewidths=0.2 + 5.0 * part,
            colors=colormaps["cividis_r"](0.25 + 0.75 * np.sqrt(part)),
            capstyle="round",
            zorder=3,
        )
    )


def _branches(settled: Settled) -> np.ndarray:
    """Both ends (k, 2, 3) [m] of the loaded contacts: centres of the spheres, or the foot on a wall."""
    ball, other, on_wall = settled.partners
    centres, w = settled.centres[-1], settled.heap.width
    ends = np.stack([centres[ball], centres[ball]], axis=1)
    ends[~on_wall, 1] = centres[other[~on_wall]]
    for wall, (axis, value) in enumerate(((2, 0.0), (0, 0.0), (0, w), (1, 0.0), (1, w))):
        ends[on_wall & (other == wall), 1, axis] = value
    return ends


def _draw_scale(axes: "Axes", view: "View", settled: Settled) -> None:
    """A bar as long as the box is wide."""
    w = settled.heap.width
    begin, end = view.flat([(0, -0.12 * w, 0), (w, -0.12 * w, 0)])
    axes.plot(*np.array([begin, end]).T, color="#444444", linewidth=1.0, marker="|", markersize=6)
    x, y = 0.5 * (begin + end)
    axes.text(x, y - 0.04 * w, f"{w:g} m", ha="center", va="top", color="#444444", fontsize=10)


def _draw_kinetic(figure: "Figure", *, settled: Settled) -> None:
    """Kinetic energy of all spheres over time."""
    axes = figure.subplots()
    kinetic = np.where(settled.run.ledger.kinetic > 0.0, settled.run.ledger.kinetic, np.nan)
    axes.semilogy(settled.run.time, kinetic, linewidth=1.4)
    axes.set(xlabel="time / s", ylabel="kinetic energy / J", xlim=(0.0, settled.run.time[-1]))


def _draw_distribution(figure: "Figure", *, settled: Settled) -> None:
    """How often normal forces of each size occur at the end (bars), beside an exponential distribution (dashed)."""
    axes = figure.subplots()
    forces = settled.forces
    if len(forces):
        ratio = forces / forces.mean()
        axes.hist(ratio, bins=30, density=True, color="#56B4E9", edgecolor="white", linewidth=0.6)
        size = np.linspace(0.0, ratio.max(), 200)
        axes.plot(size, np.exp(-size), "--", color="#333333", linewidth=1.2)
        axes.set_yscale("log")
    axes.set(xlabel="normal force / mean normal force", ylabel="probability density")
