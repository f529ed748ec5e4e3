"""A picture: what a model looks like, as plain data that goes with its run wherever that is stored.

    x(t) = c_b(q) + R_b(q) X                of points that are fixed to a rigid body b
    x(t) = X + A q(t)                       of points of a linear structure
    x(t) = q(t)                             of the nodes of a mesh

X are the ``points`` of a part. A picture knows nothing of forces; only meshes keep their law, so that stresses can be
found again from positions.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from klapper.results.errors import ResultsError

FORMAT = 1
Kind = Literal["ball", "polygon", "line", "dots", "spring", "wall", "mesh"]
KINDS = ("ball", "polygon", "line", "dots", "spring", "wall", "mesh")
_TYPES = {"f": "<f8", "i": "<i4"}
_MOST_BYTES = 2**31


@dataclass(frozen=True, eq=False)
class Part:
    """Something that is seen.

    ``kind``    "ball" (one point, ``radius``; negative: hollow), "polygon", "line", "dots", "spring" (two points),
                "wall" (one point and a ``normal``), "mesh" (cells of an ``element``)
    ``points``  (n, 3) [m] X, see above; a picture that is scaled has them in shares of the largest displacement
    ``cells``   (p, c) numbers of the points of each polygon, line or cell, −1 where one has fewer
    ``body``    (n,) body to which each point is fixed, −1 for the ground; empty if it moves otherwise
    ``rows``    (3 n, k) A as three arrays (row, column, value), for parts of linear structures; else empty
    ``first``   number of the first coordinate of a mesh; −1 if it is none
    ``normal``  (3,) of a wall, into the free space
    ``shift``   (t, 3) [m] given displacement at the ``time`` of the picture, empty if there is none
    ``shifted`` number of the only point that the displacement moves, −1 for all
    ``law``     of a mesh: name and constants, empty if unknown
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
        points = np.asarray(self.points, dtype=float).reshape(-1, 3)
        cells = np.arange(len(points))[None] if not np.size(self.cells) else np.asarray(self.cells, dtype=int)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "cells", np.atleast_2d(cells))
        object.__setattr__(self, "body", np.asarray(self.body, dtype=int).ravel())
        object.__setattr__(self, "normal", np.asarray(self.normal, dtype=float).ravel())
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
            raise ResultsError(f"{what} is of the kind '{self.kind}': allowed are {', '.join(KINDS)}.")
        if not count or not np.all(np.isfinite(self.points)):
            raise ResultsError(f"{what} has no points, or points that are not finite.")
        if self.cells.size and (self.cells.max() >= count or self.cells.min() < -1):
            raise ResultsError(f"{what} has cells of points that it does not have.")
        if len(self.body) not in (0, count) or np.any(self.body < -1):
            raise ResultsError(f"{what} fixes {len(self.body)} of {count} points to bodies.")
        if (len(self.body) > 0) + self.linear + (self.first >= 0) != 1:
            raise ResultsError(f"{what} does not say in one way how it moves.")
        if self.linear and (len(set(map(len, self.rows))) > 1 or not _within(self.rows[0], 3 * count)):
            raise ResultsError(f"{what} has rows for points that it does not have.")
        if self.linear and np.any(self.rows[1] < 0):
            raise ResultsError(f"{what} has rows for coordinates that do not exist.")
        if self.kind in ("wall", "ball") and count != 1:
            raise ResultsError(f"{what} has {count} points; a {self.kind} has one.")
        if self.kind == "wall" and (len(self.normal) != 3 or not np.linalg.norm(self.normal) > 0.0):
            raise ResultsError(f"{what} is a wall without a normal.")
        if not np.isfinite(self.radius) or not np.all(np.isfinite(self.shift)):
            raise ResultsError(f"{what} has a size or a motion that is not finite.")


@dataclass(frozen=True, eq=False)
class Picture:
    """All parts of a model.

    ``dimension``  2 in the plane, 3 in space
    ``parts``      what is seen
    ``place``      (nb, 3) numbers of the coordinates that are the centres of the bodies, −1 where there is none
    ``turn``       (nb, 4) numbers of the angle (first column) in the plane or of the quaternion in space, −1 without
    ``time``       (t,) [s] of the given displacements
    ``scaled``     whether points are in shares of the largest displacement: models without a size
    ``caption``    one sentence that says what is seen
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
        object.__setattr__(self, "place", np.asarray(self.place, dtype=int).reshape(-1, 3))
        object.__setattr__(self, "turn", np.asarray(self.turn, dtype=int).reshape(-1, 4))
        object.__setattr__(self, "time", np.asarray(self.time, dtype=float).ravel())
        numbered = np.all(self.place >= -1) and np.all(self.turn >= -1) and len(self.place) == len(self.turn)
        if self.dimension not in (2, 3) or not self.parts or not numbered:
            raise ResultsError("the picture of the run is incomplete: it needs 2 or 3 dimensions and parts.")
        for part in self.parts:
            if len(part.shift) not in (0, len(self.time)):
                raise ResultsError(
                    f"part '{part.name}' of the picture moves at other times than the picture."
                )
            if np.any(part.body >= len(self.place)):
                raise ResultsError(f"part '{part.name}' of the picture is fixed to a body that is not there.")

    @property
    def highest(self) -> int:
        """Number of the last coordinate that is needed, −1 if none is."""
        ends = [int(self.place.max(initial=-1)), int(self.turn.max(initial=-1))]
        ends += [int(part.rows[1].max(initial=-1)) for part in self.parts if part.linear]
        ends += [part.first + self.dimension * len(part.points) - 1 for part in self.parts if part.first >= 0]
        return max(ends)

    def as_plain(self) -> dict[str, Any]:
        """In the types of JSON."""
        content = {each.name: _written(getattr(self, each.name)) for each in fields(self)}
        content["parts"] = [_plain_part(part) for part in self.parts]
        return {"format": FORMAT, **content}


def read_picture(content: Any) -> Picture:
    """The picture that was stored as plain data; :class:`ResultsError` if it is none."""
    try:
        newer = content["format"] > FORMAT
    except (TypeError, KeyError) as error:
        raise ResultsError("the picture of the run is damaged: it has no format.") from error
    if newer:
        raise ResultsError("the picture of the run was written by a newer klapper: upgrade klapper.")
    try:
        parts = [Part(**{key: _read(value) for key, value in part.items()}) for part in content["parts"]]
        given = {key: _read(value) for key, value in content.items() if key not in ("format", "parts")}
        return Picture(parts=parts, **given)
    except ResultsError:
        raise
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError, zlib.error) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ResultsError(f"the picture of the run is damaged ({reason}).") from error


def _within(numbers: np.ndarray, end: int) -> bool:
    return not numbers.size or bool(0 <= numbers.min() <= numbers.max() < end)


def _plain_part(part: Part) -> dict[str, Any]:
    """What differs from the usual."""
    kept: dict[str, Any] = {"name": part.name, "kind": part.kind}
    for each in fields(part)[2:]:
        value = getattr(part, each.name)
        if isinstance(value, tuple):
            kept[each.name] = [_written(array) for array in value]
        elif np.size(value) and value != each.default if not isinstance(value, np.ndarray) else value.size:
            kept[each.name] = _written(value)
    if not part.law:
        kept.pop("law", None)
    return kept


def _written(value: Any) -> Any:
    """An array as compressed text, anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    kind = "f" if value.dtype.kind == "f" else "i"
    data = zlib.compress(np.ascontiguousarray(value, dtype=_TYPES[kind]).tobytes(), 6)
    return {"kind": kind, "shape": list(value.shape), "zlib": b64encode(data).decode()}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(entry) for entry in value]
    if not isinstance(value, Mapping) or "zlib" not in value:
        return value
    shape = tuple(int(size) for size in value["shape"])
    dtype = np.dtype(_TYPES[value["kind"]])
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if not 0 <= size <= _MOST_BYTES:
        raise ValueError(f"an array has the shape {shape}")
    unpack = zlib.decompressobj()
    data = unpack.decompress(b64decode(value["zlib"], validate=True), size + 1)
    if len(data) != size:
        raise ValueError("an array is not as long as it says")
    return np.frombuffer(data, dtype).reshape(shape).astype(float if value["kind"] == "f" else int)
