"""glTF 2.0 in one binary file (.glb), for Blender and browsers: bodies, beams and meshes that move.

A rigid body is a node whose translation and rotation are animated. What deforms has one morph target per frame, and the
weights of the targets are animated: Blender shows them as shape keys. Meshes that know their law carry the largest von
Mises stress that each node sees as a colour. glTF is in metres with y upwards, so models in space, whose z points
upwards, hang on a turned root.

Khronos Group, glTF 2.0 specification, sections 3.6 (buffers), 3.7 (geometry), 3.11 (animation), 4.4 (GLB).
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.mechanics.picture import Part
from klapper.results.container import write_whole
from klapper.results.errors import ResultsError
from klapper.view.colours import heat
from klapper.view.moving import Moving, moving
from klapper.view.pieces import extent, local_shape, require_exaggeration, segments, shown_times
from klapper.view.surfaces import mesh_faces, triangles, wall_corners

if TYPE_CHECKING:
    from klapper.results import Run

FRAMES = 60
_FLOAT, _UNSIGNED = 5126, 5125
_LINES, _TRIANGLES, _POINTS = 1, 4, 0
_DEPTH = 0.08  # of flat bodies, as a share of the size of the whole
_Z_UP = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]


def write_gltf(run: Run, path: str | Path, *, frames: int = FRAMES, exaggeration: float = 1.0) -> Path:
    """Write what a run looks like into a .glb file, whole or not at all; the path of the file.

    ``frames``        of the animation, over the whole run
    ``exaggeration``  factor of displacements of linear structures, dimensionless

    >>> import tempfile
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> from klapper.view import write_gltf
    >>> run = simulate(LinearSystem([1.0], velocity=[2.0]), 3.0, EventDriven())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_gltf(run, f"{folder}/run.glb", frames=4).read_bytes()[:4]
    b'glTF'
    """
    file = Path(path)
    if file.suffix != ".glb":
        raise ResultsError(f"{file} is no name of a binary glTF file: let it end in .glb.")
    times = shown_times(run, frames)
    content = _Scene(moving(run), times, require_exaggeration(exaggeration)).binary()
    write_whole(file, content)
    return file


class _Buffer:
    """Arrays one after the other, and the accessors that describe them."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, array: np.ndarray, kind: str, *, target: int | None = None, bounds: bool = False) -> int:
        """The number of the accessor of ``array``, float32 or uint32."""
        whole = array.dtype.kind in "iu"
        typed = np.ascontiguousarray(array, dtype="<u4" if whole else "<f4")
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": typed.nbytes})
        if target is not None:
            self.views[-1]["target"] = target
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _UNSIGNED if whole else _FLOAT,
            "count": len(typed),
            "type": kind,
        }
        if bounds:
            flat = typed.reshape(len(typed), -1)
            accessor["min"], accessor["max"] = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
        self.data += typed.tobytes()
        self.accessors.append(accessor)
        return len(self.accessors) - 1


class _Scene:
    """A moving picture as glTF."""

    def __init__(self, shown: Moving, times: np.ndarray, exaggeration: float) -> None:
        self.shown, self.times, self.exaggeration = shown, times, exaggeration
        self.buffer = _Buffer()
        self.meshes: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.middle, self.size = extent(shown, times, exaggeration)
        self.clock = self.buffer.add(times - times[0], "SCALAR", bounds=True)

    def binary(self) -> bytes:
        parts = self.shown.picture.parts
        body_nodes = self._bodies()
        top = sorted(set(body_nodes.values()))
        for part in parts:
            if part.kind == "wall":
                self._wall(part, body_nodes, top)
            elif len(part.body) and np.all(part.body == part.body[0]) and not len(part.shift):
                self._fixed(part, body_nodes, top)
            else:
                top.append(self._deforming(part))
        root: dict[str, Any] = {"name": self.shown.run.about.get("system") or "run", "children": top}
        if not isinstance(root["name"], str):
            root["name"] = "run"
        if self.shown.picture.dimension == 3:
            root["rotation"] = _Z_UP
        self.nodes.append(root)
        return _packed(self._content(), bytes(self.buffer.data))

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "klapper"},
            "scene": 0,
            "scenes": [{"nodes": [len(self.nodes) - 1]}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": [
                _material("body", (0.0, 0.17, 0.45, 1.0)),
                _material("scenery", (0.55, 0.55, 0.55, 1.0)),
                _material("stress", (1.0, 1.0, 1.0, 1.0)),
            ],
            "accessors": self.buffer.accessors,
            "bufferViews": self.buffer.views,
            "buffers": [{"byteLength": len(self.buffer.data)}],
        }
        if self.channels:
            content["animations"] = [{"name": "motion", "samplers": self.samplers, "channels": self.channels}]
        return content

    def _bodies(self) -> dict[int, int]:
        """A node for each body that something is fixed to, moved."""
        used = sorted({int(b) for part in self.shown.picture.parts for b in part.body if b >= 0})
        if not used:
            return {}
        position = self.shown.run.position_at(self.times)
        centre, rotation = self.shown.poses(position)
        found = {}
        for body in used:
            name = self.shown.bodies[body] or f"body {body + 1}"
            turn = quaternions(rotation[:, body])
            self.nodes.append(
                {"name": name, "translation": _exact(centre[0, body]), "rotation": _exact(turn[0])}
            )
            found[body] = len(self.nodes) - 1
            if len(self.times) > 1:
                self._animate(found[body], "translation", centre[:, body], "VEC3")
                self._animate(found[body], "rotation", turn, "VEC4")
        return found

    def _fixed(self, part: Part, body_nodes: dict[int, int], top: list[int]) -> None:
        """What is fixed to one body is a child of its node; what is fixed to the ground stands."""
        depth = _DEPTH * self.size if self.shown.picture.dimension == 2 else 0.0
        points, faces, lines = local_shape(part, self.shown.picture.dimension, depth)
        points = points * self.shown.scale
        self._place(self._node(part.name, points, faces, lines, part), int(part.body[0]), body_nodes, top)

    def _wall(self, part: Part, body_nodes: dict[int, int], top: list[int]) -> None:
        """A piece of the wall; one that is moved is a node of its own."""
        flat = self.shown.picture.dimension == 2
        body = int(part.body[0])
        middle = part.points[0] if body >= 0 else self.middle
        corners = wall_corners(part.points[0], part.normal, middle, 0.6 * self.size, 2 if flat else 3)
        if flat:
            across = np.array([0.0, 0.0, 2 * _DEPTH * self.size])
            corners = np.concatenate([corners - across, corners[::-1] + across])
        node = self._node(part.name, corners, np.arange(4)[None], np.zeros((0, 2), int), part)
        self._place(node, body, body_nodes, top)
        if len(part.shift) and len(self.times) > 1:
            away = np.column_stack(
                [np.interp(self.times, self.shown.picture.time, each) for each in part.shift.T]
            )
            self.nodes[node]["translation"] = _exact(away[0])
            self._animate(node, "translation", away, "VEC3")

    def _place(self, node: int, body: int, body_nodes: dict[int, int], top: list[int]) -> None:
        if body < 0:
            top.append(node)
        else:
            self.nodes[body_nodes[body]].setdefault("children", []).append(node)

    def _deforming(self, part: Part) -> int:
        """A node whose mesh has one morph target per frame after the first."""
        places = self.shown.places(part, self.times, self.exaggeration)
        faces = mesh_faces(part)[0] if part.kind == "mesh" else part.cells if part.kind == "polygon" else None
        lines = segments(part.cells) if part.kind in ("line", "spring") else np.zeros((0, 2), int)
        if faces is None:
            faces = np.zeros((0, 3), int)
        node = self._node(part.name, places[0], faces, lines, part, self._colours(part, places))
        moves = places[1:] - places[0]
        if len(moves) and np.any(moves):
            mesh = self.meshes[self.nodes[node]["mesh"]]
            targets = [
                {"POSITION": self.buffer.add(each, "VEC3", target=34962, bounds=True)} for each in moves
            ]
            mesh["primitives"][0]["targets"] = targets
            mesh["weights"] = [0.0] * len(targets)
            weights = np.eye(len(self.times), dtype=float)[:, 1:]
            self._animate(node, "weights", weights.reshape(-1), "SCALAR")
        return node

    def _colours(self, part: Part, places: np.ndarray) -> np.ndarray | None:
        """(n, 4) of the largest stress over all frames, mean of the cells around each node."""
        stress = self.shown.stress(part, places)
        if stress is None:
            return None
        largest = np.repeat(stress.max(axis=0)[:, None], part.cells.shape[1], axis=1).ravel()
        count = np.bincount(part.cells.ravel(), minlength=len(part.points))
        mean = np.bincount(part.cells.ravel(), largest, minlength=len(part.points)) / np.maximum(count, 1)
        top = mean.max() or 1.0
        return np.column_stack([heat(mean / top) ** 2.2, np.ones(len(mean))])  # glTF colours are linear

    def _node(
        self,
        name: str,
        points: np.ndarray,
        faces: np.ndarray,
        lines: np.ndarray,
        part: Part,
        colours: np.ndarray | None = None,
    ) -> int:
        mode, indices = _TRIANGLES, triangles(faces)[0].ravel()
        if not len(indices):
            mode, indices = (_LINES, lines.ravel()) if len(lines) else (_POINTS, np.arange(len(points)))
        attributes = {"POSITION": self.buffer.add(points, "VEC3", target=34962, bounds=True)}
        if colours is not None:
            attributes["COLOR_0"] = self.buffer.add(colours, "VEC4", target=34962)
        scenery = part.kind in ("wall", "spring") or bool(len(part.body) and np.all(part.body < 0))
        primitive = {
            "attributes": attributes,
            "indices": self.buffer.add(indices, "SCALAR", target=34963),
            "mode": mode,
            "material": 2 if colours is not None else 1 if scenery else 0,
        }
        self.meshes.append({"name": name, "primitives": [primitive]})
        self.nodes.append({"name": name, "mesh": len(self.meshes) - 1})
        return len(self.nodes) - 1

    def _animate(self, node: int, path: str, values: np.ndarray, kind: str) -> None:
        output = self.buffer.add(values, kind)
        self.samplers.append({"input": self.clock, "output": output, "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})


def quaternions(rotation: np.ndarray) -> np.ndarray:
    """(f, 4) as (x, y, z, w) of rotations (f, 3, 3), each on the side of the one before."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(rotation).as_quat()
    flips = np.where(np.sum(turn[1:] * turn[:-1], axis=1) < 0.0, -1.0, 1.0)
    turn[1:] *= np.cumprod(flips)[:, None]
    return turn


def _exact(values: np.ndarray) -> list[float]:
    """As they are in float32."""
    return np.asarray(values, dtype=np.float32).astype(float).tolist()


def _material(name: str, colour: tuple[float, float, float, float]) -> dict[str, Any]:
    surface = {"baseColorFactor": list(colour), "metallicFactor": 0.0, "roughnessFactor": 0.7}
    return {"name": name, "pbrMetallicRoughness": surface, "doubleSided": True}


def _packed(content: dict[str, Any], data: bytes) -> bytes:
    """The two chunks of a GLB file."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    length = 12 + 8 + len(text) + 8 + len(data)
    return b"".join(
        [
            struct.pack("<4sII", b"glTF", 2, length),
            struct.pack("<I4s", len(text), b"JSON"),
            text,
            struct.pack("<I4s", len(data), b"BIN\0"),
            data,
        ]
    )
