"""Pictures of beams, frames and delaminated beams.

x = X + A q,   A made of the rows with which a structure answers what a point does
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.picture import Part, Picture, rows_of

if TYPE_CHECKING:
    from klapper.structures.beam import Beam
    from klapper.structures.delaminated_beam import DelaminatedModel
    from klapper.structures.frame import Frame

_STATIONS = 41  # along a beam
_SLENDER = 0.2  # height over length above which a beam is shown as a line


def beam_picture(beam: Beam) -> Picture:
    """A beam in the plane in which it bends."""
    x = np.union1d(np.linspace(0.0, beam.length, _STATIONS), beam.mesh.ends)
    axis = np.column_stack([x, np.zeros((len(x), 2))])
    height = np.sqrt(12.0 * beam.section.second_moment / beam.section.area)
    motions = {1: beam.rows(x), 5: beam.rows(x, "rotation")}
    part = _ribbon(beam.name, axis, np.array([0.0, 1.0, 0.0]), height, motions)
    return Picture(2, [part], caption="The beam; its displacements can be exaggerated.")


def frame_picture(frame: Frame) -> Picture:
    """The members of a frame."""
    directions = enumerate(("x", "y", "z", "rx", "ry", "rz"))
    parts, motions = [], {i: each for i, each in directions if frame.spatial or i in (0, 1, 5)}
    for name, member in frame.members.items():
        fields = frame._fields[name]
        x = np.linspace(0.0, fields.mesh.length, _STATIONS)
        start = frame.joints[member.start] + frame._offset(name, member.start_offset)
        axis = start + x[:, None] * fields.axes[0]
        height = np.sqrt(12.0 * member.section.second_moment / member.section.area)
        rows = {i: frame.rows(name, x, direction) for i, direction in motions.items()}
        parts.append(_ribbon(name, axis, fields.axes[1], height, rows))
    caption = "The members of the frame; displacements can be exaggerated."
    return Picture(3 if frame.spatial else 2, parts, caption=caption)


def laminate_picture(model: DelaminatedModel) -> Picture:
    """The four segments of a delaminated beam, its length along x and the opening of its joint along y."""
    beam, places = model.beam, np.linspace(0.0, 1.0, _STATIONS)
    lengths = [part.length for part in beam.segments]
    starts = [0.0, lengths[0], lengths[0], lengths[0] + lengths[1]]
    parts, motions = [], {0: 3, 1: 1, 2: 2}
    for number, (start, part) in enumerate(zip(starts, beam.segments, strict=True), 1):
        x = start + part.length * places
        axis = np.column_stack([x, np.full(len(x), part.offset), np.zeros(len(x))])
        rows = {i: model.rows(number, places, direction) for i, direction in motions.items()}
        parts.append(_ribbon(f"segment {number}", axis, np.array([0.0, 1.0, 0.0]), part.thickness, rows))
    return Picture(
        2,
        parts,
        caption="The delaminated beam in the plane in which its joint opens, in the frame of the beam.",
    )


def _ribbon(
    name: str, axis: np.ndarray, up: np.ndarray, height: float, motions: Mapping[int, np.ndarray]
) -> Part:
    """A beam along ``axis`` (k, 3) as quadrangles between its lower and upper edge; a line where it is not slender.

    ``motions`` are the rows (k, n) of displacements 0, 1, 2 and of rotations 3, 4, 5 along and about the axes x, y, z.
    """
    count = len(axis)
    length = float(np.linalg.norm(axis[-1] - axis[0]))
    thin = height > _SLENDER * length
    levels = (0.0,) if thin else (-0.5 * height, 0.5 * height)
    points = np.concatenate([axis + level * up for level in levels])
    size = next(iter(motions.values())).shape[1]
    matrix = np.zeros((len(levels), count, 3, size))
    for k, level in enumerate(levels):
        for i, rows in motions.items():
            way = np.eye(3)[i] if i < 3 else level * np.cross(np.eye(3)[i - 3], up)
            matrix[k] += way[None, :, None] * rows[:, None, :]
    triples = rows_of(sparse.csr_array(matrix.reshape(-1, size)))
    if thin:
        return Part(name, "line", points, rows=triples)
    below = np.arange(count - 1)
    cells = np.column_stack([below, below + 1, count + below + 1, count + below])
    return Part(name, "polygon", points, cells, rows=triples)
