"""A picture in motion: where the points of its parts are at given times of a run, and how much they are stressed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.picture import Part, Picture
from klapper.results.errors import ResultsError
from klapper.view.picture import read_picture

if TYPE_CHECKING:
    from klapper.results import Run


@dataclass(frozen=True, eq=False)
class Moving:
    """``picture`` over the ``run``."""

    run: Run
    picture: Picture

    def __post_init__(self) -> None:
        needed, there = self.picture.highest, len(self.run.layout.coordinates)
        if needed >= there:
            raise ResultsError(
                f"the picture does not belong to this run: it needs {needed + 1} coordinates, the run has {there}."
            )

    @cached_property
    def scale(self) -> float:
        """[m] that a share of a scaled picture is: the largest displacement."""
        if not self.picture.scaled:
            return 1.0
        return float(np.nanmax(np.abs(self.run.position), initial=0.0)) or 1.0

    @cached_property
    def bodies(self) -> list[str]:
        """Names of the bodies, as those of the coordinates of their centres begin; empty where none does."""
        names = self.run.layout.coordinates
        return ["" if first < 0 else names[first].rpartition(" ")[0] for first in self.picture.place[:, 0]]

    def rest(self, part: Part) -> np.ndarray:
        """(n, 3) [m] places from which displacements of a linear part are counted."""
        return self.scale * part.points

    def places(self, part: Part, times: np.ndarray, exaggeration: float = 1.0) -> np.ndarray:
        """(f, n, 3) [m] at ``times`` (f,) [s] within the run; displacements of linear parts times ``exaggeration``."""
        position = self.run.position_at(times)
        if part.first >= 0:
            return self._nodes(part, position)
        if part.linear:
            row, column, value = part.rows
            shape = (part.points.size, position.shape[1])
            moved = position @ sparse.csr_array((value, (row, column)), shape=shape).T
            return self.rest(part) + exaggeration * np.asarray(moved).reshape(len(times), -1, 3)
        centre, rotation = self.poses(position)
        world = centre[:, part.body] + np.einsum("fnij,nj->fni", rotation[:, part.body], self.rest(part))
        return self._shifted(part, world, times)

    def normals(self, part: Part, times: np.ndarray) -> np.ndarray:
        """(f, 3) of a wall."""
        _, rotation = self.poses(self.run.position_at(times))
        return rotation[:, part.body[0]] @ part.normal

    def poses(self, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centres (f, nb + 1, 3) and rotations (f, nb + 1, 3, 3) of the bodies, the ground last."""
        padded = np.column_stack([position, np.zeros(len(position))])
        place = np.vstack([self.picture.place, [[-1, -1, -1]]])
        turn = np.vstack([self.picture.turn, [[-1, -1, -1, -1]]])
        centre, quaternion = padded[:, place], padded[:, turn]
        if self.picture.dimension == 2:
            half = 0.5 * quaternion[..., 0]
            quaternion = np.zeros_like(quaternion)
            quaternion[..., 0], quaternion[..., 3] = np.cos(half), np.sin(half)
        else:
            quaternion[:, turn[:, 0] < 0, 0] = 1.0
        return centre, rotation_matrices(quaternion)

    def stress(self, part: Part, places: np.ndarray) -> np.ndarray | None:
        """(f, p) [N/m²] mean von Mises stress of the cells of a mesh at its ``places`` (f, n, 3); None if unknown."""
        solid = self._solid(part)
        if solid is None:
            return None
        d = self.picture.dimension
        return np.array([solid.von_mises(np.ascontiguousarray(x[:, :d])).mean(axis=1) for x in places])

    def _solid(self, part: Part) -> Any:
        if part.kind != "mesh":
            return None
        from klapper.continuum.picture import solid_of

        try:
            return solid_of(part, self.picture.dimension)
        except (KeyError, TypeError, ValueError) as error:
            raise ResultsError(f"the mesh '{part.name}' of the picture is damaged ({error}).") from error

    def _nodes(self, part: Part, position: np.ndarray) -> np.ndarray:
        d, count = self.picture.dimension, len(part.points)
        places = np.zeros((len(position), count, 3))
        places[..., :d] = position[:, part.first : part.first + d * count].reshape(len(position), count, d)
        return places

    def _shifted(self, part: Part, world: np.ndarray, times: np.ndarray) -> np.ndarray:
        if not len(part.shift):
            return world
        given = np.repeat(part.shift, len(times), axis=0)
        if len(part.shift) > 1:
            given = np.column_stack([np.interp(times, self.picture.time, each) for each in part.shift.T])
        chosen = slice(None) if part.shifted < 0 else [part.shifted]
        world[:, chosen] += given[:, None]
        return world


def moving(run: Run) -> Moving:
    """The run with the picture that it carries; :class:`ResultsError` if it has none."""
    stored = run.about.get("picture")
    if stored is None:
        raise ResultsError(
            "this run has no picture: its model offers none; klapper.view.with_picture(run, model) adds one."
        )
    return Moving(run, read_picture(stored))


def rotation_matrices(quaternion: np.ndarray) -> np.ndarray:
    """(…, 3, 3) of quaternions (…, 4), which need not have the length one."""
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    w, x, y, z = np.moveaxis(quaternion / np.where(length > 0.0, length, 1.0), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
