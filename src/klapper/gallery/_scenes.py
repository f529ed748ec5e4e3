"""Moving pictures of models for the pages of their runs: bodies in the plane, elastic bodies, laminates.

Outcome(..., runs={"motion": run}, scenes={"motion": partial(planar_scene, system, run)})
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.report import Scene, Shape, disc, frame_times

if TYPE_CHECKING:
    from klapper.bodies import RigidSystem
    from klapper.continuum import Continuum
    from klapper.results import Run
    from klapper.structures.delaminated_beam import DelaminatedModel

ELASTIC_FRAMES = 120
_STATIONS = 40  # along a segment of a laminate


def planar_scene(
    system: "RigidSystem", run: "Run", *, outlines: Sequence[Any] = (), caption: str = ""
) -> Scene:
    """Bodies in the plane with the discs that may touch, on their walls.

    ``outlines`` are outlines (n, 2) [m] of the bodies in their own axes, in their order, None for one without.
    """
    time = frame_times(run)
    poses = [system.parts.layout.poses(q) for q in run.position_at(time)]
    balls, planes = system.parts.geometry.balls, system.parts.geometry.planes

    def placed(body: int, outline: Any) -> np.ndarray:
        local = np.column_stack([outline, np.zeros(len(outline))])
        return np.array([pose.place(np.full(len(local), body), local)[:, :2] for pose in poses])

    shapes = [Shape(f"body {k + 1}", placed(k, o)) for k, o in enumerate(outlines) if o is not None]
    for label, body, place, radius in zip(balls.labels, balls.body, balls.place, balls.radius, strict=True):
        if radius != 0.0:
            shapes.append(Shape(label, placed(body, place[:2] + disc(abs(radius))), "line"))
        elif len(outlines) == 0:
            shapes.append(Shape(label, placed(body, place[None, :2]), "dots"))
    seen = np.concatenate([shape.points.reshape(-1, 2) for shape in shapes])
    reach = 0.6 * float(np.ptp(seen, axis=0).max() or 1.0)
    middle = seen.mean(axis=0)
    walls = []
    for label, body, point, normal in zip(
        planes.labels, planes.body, planes.point, planes.normal, strict=True
    ):
        along = np.array([normal[1], -normal[0]])
        nearest = point[:2] + along * (along @ (middle - point[:2])) if body < 0 else point[:2]
        ends = nearest + reach * np.array([[-1.0], [1.0]]) * along
        walls.append(Shape(label, placed(body, ends), "line", faint=True))
    return Scene(time, [*walls, *shapes], caption=caption)


def elastic_scene(world: "Continuum", run: "Run", *, caption: str = "") -> Scene:
    """Elastic bodies in the plane, their cells coloured by the mean von Mises stress; cables as lines."""
    from klapper.continuum import Solid

    time = frame_times(run, ELASTIC_FRAMES)
    motion = run.position_at(time)
    shapes = []
    for solid in world.bodies:
        places = np.array([world.positions(q, solid.name) for q in motion])
        if not isinstance(solid, Solid):
            shapes.append(Shape(solid.name, places, "line", cells=solid.mesh.cells[:, :2]))
            continue
        corners = 4 if solid.mesh.element.name.startswith("quad") else 3
        stress = np.array([solid.von_mises(place).mean(axis=1) for place in places])
        shapes.append(Shape(solid.name, places, cells=solid.mesh.cells[:, :corners], value=stress))
    return Scene(time, shapes, caption=caption, quantity="von Mises stress / N/m²")


def laminate_scene(model: "DelaminatedModel", run: "Run", *, caption: str = "") -> Scene:
    """The four segments of a delaminated beam in the plane in which its joint opens, displacements exaggerated."""
    time = frame_times(run)
    motion = run.position_at(time)
    beam, places = model.beam, np.linspace(0.0, 1.0, _STATIONS)
    lengths = [part.length for part in beam.segments]
    starts = [0.0, lengths[0], lengths[0], lengths[0] + lengths[1]]
    shapes, largest = [], 0.0
    for number, (start, part) in enumerate(zip(starts, beam.segments, strict=True), 1):
        bent = motion @ model.rows(number, places, 1).T
        largest = max(largest, float(np.abs(bent).max()))
        x = start + part.length * places
        rest = np.concatenate(
            [
                np.column_stack([x, np.full(_STATIONS, part.offset - 0.5 * part.thickness)]),
                np.column_stack([x, np.full(_STATIONS, part.offset + 0.5 * part.thickness)])[::-1],
            ]
        )
        moving = np.repeat(rest[None], len(time), axis=0)
        moving[:, :, 1] += np.concatenate([bent, bent[:, ::-1]], axis=1)
        shapes.append(Shape(f"segment {number}", moving, rest=rest))
    factor = float(f"{beam.height / largest:.1g}") if largest > 0.0 else 1.0
    return Scene(time, shapes, caption=caption, exaggeration=max(factor, 1.0), equal=False)
