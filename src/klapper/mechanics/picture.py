"""A picture: what a model looks like, as plain data that goes with its run wherever that is stored.

    x(t) = c_b(q) + R_b(q) X                of points that are fixed to a rigid body b
    x(t) = X + A q(t)                       of points of a linear structure
    x(t) = q(t)                             of the nodes of a mesh

X are the ``points`` of a part. A model offers its picture itself, :meth:`klapper.mechanics.System.picture`. A picture
knows nothing of forces; only meshes keep their law, so that stresses can be found again from positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel

Kind = Literal["ball", "polygon", "line", "dots", "spring", "wall", "mesh"]
KINDS = ("ball", "polygon", "line", "dots", "spring", "wall", "mesh")


@dataclass(frozen=True, eq=False)
class Part:
    """Something that is seen, and how it moves: give ``body``, ``rows`` or ``first``, one of them.

    ``name``    of the part; ``radius`` [m] of a ball
    ``kind``    "ball" (one point, ``radius``; negative: hollow), "polygon", "line", "dots", "spring" (two points),
                "wall" (one point and a ``normal``), "mesh" (cells of an ``element``)
    ``points``  (n, 3) or in the plane (n, 2) [m] X of x = c_b + R_b X, x = X + A q or x = q; a picture that is scaled
                has them in shares of the largest displacement
    ``cells``   (p, c) numbers of the points of each polygon, line or cell, −1 where one has fewer
    ``body``    (n,) body to which each point is fixed, or one number for all; −1 for the ground
    ``rows``    A (3 n, k) as three arrays (row, column, value), for parts of linear structures, see :func:`rows_of`
    ``first``   number of the first coordinate of a mesh
    ``normal``  (3,) of a wall, into the free space
    ``shift``   (t, 3) [m] given displacement at the ``time`` of the picture, empty if there is none
    ``shifted`` number of the only point that the displacement moves, −1 for all
    ``law``     of a mesh: name and constants, empty if unknown

    A rod of 2 m that hangs from the first body, with its centre there.

    >>> rod = Part("rod", "line", [[0.0, 0.0], [0.0, -2.0]], body=0)
    >>> rod.points.tolist(), rod.body.tolist()
    ([[0.0, 0.0, 0.0], [0.0, -2.0, 0.0]], [0, 0])
    """

    name: str
    kind: Kind
    points: Any
    cells: Any = ()
    body: Any = ()
    rows: Sequence[Any] = ()
    first: int = -1
    radius: float = 0.0
    normal: Any = ()
    shift: Any = ()
    shifted: int = -1
    element: str = ""
    law: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        points = _in_space(self.points, f"the points of part '{self.name}'")
        cells = np.arange(len(points))[None] if not np.size(self.cells) else np.asarray(self.cells, dtype=int)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "cells", np.atleast_2d(cells))
        body = np.asarray(self.body, dtype=int)
        object.__setattr__(self, "body", np.full(len(points), body) if body.ndim == 0 else body.ravel())
        normal = np.asarray(self.normal, dtype=float).ravel()
        object.__setattr__(self, "normal", np.append(normal, 0.0) if len(normal) == 2 else normal)
        object.__setattr__(self, "shift", np.asarray(self.shift, dtype=float).reshape(-1, 3))
        if len(self.rows):
            row, column, value = self.rows
            triple = (np.asarray(row, int), np.asarray(column, int), np.asarray(value, float))
            object.__setattr__(self, "rows", triple)
        self._check()

    @property
    def linear(self) -> bool:
        """Whether displacements from rest can be exaggerated."""
        return len(self.rows) == 3

    def _check(self) -> None:
        count = len(self.points)
        what = f"part '{self.name}' of the picture"
        if self.kind not in KINDS:
            raise InvalidModel(f"{what} is of the kind '{self.kind}': allowed are {', '.join(KINDS)}.")
        if not count or not np.all(np.isfinite(self.points)):
            raise InvalidModel(f"{what} has no points, or points that are not finite.")
        if self.cells.size and (self.cells.max() >= count or self.cells.min() < -1):
            raise InvalidModel(f"{what} has cells of points that it does not have.")
        if len(self.body) not in (0, count) or np.any(self.body < -1):
            raise InvalidModel(f"{what} fixes {len(self.body)} of {count} points to bodies.")
        if (len(self.body) > 0) + self.linear + (self.first >= 0) != 1:
            raise InvalidModel(f"{what} does not say in one way how it moves: by body, rows or first.")
        if self.linear and (len(set(map(len, self.rows))) > 1 or not _within(self.rows[0], 3 * count)):
            raise InvalidModel(f"{what} has rows for points that it does not have.")
        if self.linear and np.any(self.rows[1] < 0):
            raise InvalidModel(f"{what} has rows for coordinates that do not exist.")
        if self.kind in ("wall", "ball") and count != 1:
            raise InvalidModel(f"{what} has {count} points; a {self.kind} has one.")
        if self.kind == "wall" and (len(self.normal) != 3 or not np.linalg.norm(self.normal) > 0.0):
            raise InvalidModel(f"{what} is a wall without a normal.")
        if not np.isfinite(self.radius) or not np.all(np.isfinite(self.shift)):
            raise InvalidModel(f"{what} has a size or a motion that is not finite.")


@dataclass(frozen=True, eq=False)
class Picture:
    """What a model looks like: its parts, and the coordinates q that move its rigid bodies, x = c_b(q) + R_b(q) X.

    ``dimension``  2 in the plane, 3 in space
    ``parts``      what is seen
    ``place``      (nb, 3) numbers of the coordinates that are the centres c_b of the bodies
    ``turn``       (nb, 4) numbers of the angle (first column) in the plane or of the quaternion in space of R_b
    ``time``       (t,) [s] of the given displacements
    ``scaled``     whether points are in shares of the largest displacement: models without a size
    ``caption``    one sentence that says what is seen

    Columns of ``place`` and ``turn`` that are left out, or −1, stand for coordinates that are not there: such a centre
    stays in the origin, such a body does not turn. Here the first coordinate is the angle of a pendulum.

    >>> pendulum = Picture(2, [Part("rod", "line", [[0.0, 0.0], [0.0, -2.0]], body=0)], turn=[0])
    >>> pendulum.place.tolist(), pendulum.turn.tolist()
    ([[-1, -1, -1]], [[0, -1, -1, -1]])
    """

    dimension: int
    parts: Sequence[Part]
    place: Any = ()
    turn: Any = ()
    time: Any = ()
    scaled: bool = False
    caption: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        bodies = max(len(self.place), len(self.turn))
        object.__setattr__(self, "place", _numbered(self.place, bodies, 3, "place"))
        object.__setattr__(self, "turn", _numbered(self.turn, bodies, 4, "turn"))
        object.__setattr__(self, "time", np.asarray(self.time, dtype=float).ravel())
        if self.dimension not in (2, 3) or not self.parts:
            raise InvalidModel("the picture is incomplete: it needs 2 or 3 dimensions and parts.")
        for part in self.parts:
            if len(part.shift) not in (0, len(self.time)):
                raise InvalidModel(
                    f"part '{part.name}' of the picture moves at other times than the picture."
                )
            if np.any(part.body >= len(self.place)):
                raise InvalidModel(f"part '{part.name}' of the picture is fixed to a body that is not there.")

    @property
    def highest(self) -> int:
        """Number of the last coordinate that is needed, −1 if none is."""
        ends = [int(self.place.max(initial=-1)), int(self.turn.max(initial=-1))]
        ends += [int(part.rows[1].max(initial=-1)) for part in self.parts if part.linear]
        ends += [part.first + self.dimension * len(part.points) - 1 for part in self.parts if part.first >= 0]
        return max(ends)


Drawn = Picture | Callable[[float], Picture | None]
"""What a system may be given: a picture, or a function of the time ``until`` [s] that draws it when it is asked for."""


def rows_of(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ``rows`` of a part, from A (3 n, k), dense or sparse; what is only rounding is left out."""
    entries = sparse.coo_array(matrix)
    kept = np.abs(entries.data) > 1e-14 * np.abs(entries.data).max(initial=0.0)
    row, column = entries.coords
    return row[kept], column[kept], entries.data[kept]


def drawable(given: Any) -> Drawn | None:
    """What was given to a system as its picture, refused if it is none."""
    if given is not None and not callable(given) and not isinstance(given, Picture):
        raise InvalidModel(
            f"picture is {given!r}; allowed are a Picture, or a function of a time that draws one."
        )
    return given


def drawn(given: Drawn | None, until: float) -> Picture | None:
    """The picture that was given to a system when it was made."""
    return given(until) if callable(given) else given


def _in_space(points: Any, what: str) -> np.ndarray:
    """(n, 3) of points in the plane or in space."""
    given = np.atleast_2d(np.asarray(points, dtype=float))
    if given.ndim != 2 or given.shape[1] not in (2, 3):
        raise InvalidModel(f"{what} of the picture have the shape {given.shape}, expected (n, 2) or (n, 3).")
    return given if given.shape[1] == 3 else np.column_stack([given, np.zeros(len(given))])


def _numbered(given: Any, bodies: int, columns: int, what: str) -> np.ndarray:
    """Numbers (nb, columns) of coordinates, one row for each body, −1 where none is given."""
    numbers = np.asarray(given, dtype=int)
    numbers = numbers.reshape(len(numbers), -1) if numbers.size else np.full((bodies, columns), -1)
    if len(numbers) != bodies or numbers.shape[1] > columns or np.any(numbers < -1):
        raise InvalidModel(
            f"{what} of the picture has the shape {numbers.shape}, expected one row for each of {bodies} bodies with "
            f"up to {columns} numbers of coordinates."
        )
    return np.pad(numbers, ((0, 0), (0, columns - numbers.shape[1])), constant_values=-1)


def _within(numbers: np.ndarray, end: int) -> bool:
    return not numbers.size or bool(0 <= numbers.min() <= numbers.max() < end)
