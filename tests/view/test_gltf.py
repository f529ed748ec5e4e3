"""glTF files keep the rules of the specification and show what the run did, as read by hand and by trimesh."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from klapper.results import ResultsError
from klapper.view import write_gltf
from klapper.view.moving import moving
from view.models import ALL, bent_beam, stretched_cube, turned_block, turned_box

KINDS = {5126: "<f4", 5125: "<u4"}
SIZES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


class Glb:
    """A binary glTF file, read by the specification; rules that are broken are assertions."""

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert (kind, size % 4) == (b"JSON", 0)
        self.content: dict[str, Any] = json.loads(data[20 : 20 + size])
        rest, kind = struct.unpack_from("<I4s", data, 20 + size)
        assert (kind, rest % 4) == (b"BIN\0", 0)
        self.binary = data[28 + size : 28 + size + rest]
        assert self.content["buffers"][0]["byteLength"] <= rest < self.content["buffers"][0]["byteLength"] + 4

    def array(self, number: int) -> np.ndarray:
        accessor = self.content["accessors"][number]
        view = self.content["bufferViews"][accessor["bufferView"]]
        width = SIZES[accessor["type"]]
        assert view["byteOffset"] % 4 == 0
        assert view["byteLength"] == 4 * width * accessor["count"]
        flat = np.frombuffer(
            self.binary, KINDS[accessor["componentType"]], width * accessor["count"], view["byteOffset"]
        )
        array = flat.reshape(accessor["count"], width)
        if "min" in accessor:
            np.testing.assert_array_equal(array.min(axis=0), np.float32(accessor["min"]))
            np.testing.assert_array_equal(array.max(axis=0), np.float32(accessor["max"]))
        return array

    def node(self, name: str, **keys: Any) -> int:
        (found,) = [
            number
            for number, node in enumerate(self.content["nodes"])
            if node["name"] == name and all((key in node) == there for key, there in keys.items())
        ]
        return found

    def track(self, node: int, path: str) -> tuple[np.ndarray, np.ndarray]:
        """Times (f,) and values of an animated property."""
        (motion,) = self.content["animations"]
        (channel,) = [each for each in motion["channels"] if each["target"] == {"node": node, "path": path}]
        sampler = motion["samplers"][channel["sampler"]]
        return self.array(sampler["input"])[:, 0], self.array(sampler["output"])


@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_model_keeps_the_rules(name: str, tmp_path: Path) -> None:
    file = Glb(write_gltf(ALL[name](), tmp_path / "run.glb"))
    content = file.content
    for number in range(len(content["accessors"])):
        file.array(number)
    for mesh in content["meshes"]:
        (primitive,) = mesh["primitives"]
        places = content["accessors"][primitive["attributes"]["POSITION"]]
        assert "min" in places
        assert file.array(primitive["indices"]).max() < places["count"]
        for target in primitive.get("targets", []):
            assert content["accessors"][target["POSITION"]]["count"] == places["count"]
        assert len(mesh.get("weights", [])) == len(primitive.get("targets", []))
    children = [child for node in content["nodes"] for child in node.get("children", [])]
    assert len(children) == len(set(children)) == len(content["nodes"]) - 1  # a tree below one root
    for motion in content["animations"]:
        for sampler in motion["samplers"]:
            times = file.array(sampler["input"])[:, 0]
            assert times[0] == 0.0
            assert np.all(np.diff(times) > 0.0)
    scene = trimesh.load(tmp_path / "run.glb")
    assert len(scene.geometry) >= 1
    assert np.all(np.isfinite(scene.bounds))


def test_a_body_goes_and_turns_as_in_the_run(tmp_path: Path) -> None:
    run = turned_box()
    file = Glb(write_gltf(run, tmp_path / "run.glb"))
    node = file.node("box", children=True)
    times, places = file.track(node, "translation")
    np.testing.assert_allclose(times, run.time)
    np.testing.assert_allclose(places, run.position[:, :3], atol=1e-6)
    _, turns = file.track(node, "rotation")
    np.testing.assert_allclose(turns[-1], [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-7)  # x, y, z, w
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0, atol=1e-6)
    root = file.content["nodes"][file.content["scenes"][0]["nodes"][0]]
    np.testing.assert_allclose(root["rotation"], [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # z up becomes y up
    box = trimesh.load(tmp_path / "run.glb").geometry["box"]
    box.merge_vertices()
    assert box.is_watertight
    assert box.volume == pytest.approx(0.3 * 0.2 * 0.1)


def test_what_is_flat_gets_a_depth(tmp_path: Path) -> None:
    write_gltf(turned_block(), tmp_path / "run.glb")
    block = trimesh.load(tmp_path / "run.glb").geometry["block"]
    depth = np.ptp(block.vertices[:, 2])
    assert depth > 0.0
    assert block.is_watertight
    assert block.volume == pytest.approx(0.4 * 0.2 * depth)


def test_morph_targets_lead_through_the_frames(tmp_path: Path) -> None:
    run = bent_beam()
    shown = moving(run)
    file = Glb(write_gltf(run, tmp_path / "run.glb", exaggeration=5.0))
    node = file.node("beam", mesh=True)
    (primitive,) = file.content["meshes"][file.content["nodes"][node]["mesh"]]["primitives"]
    base = file.array(primitive["attributes"]["POSITION"])
    moves = np.array([file.array(target["POSITION"]) for target in primitive["targets"]])
    times, weights = file.track(node, "weights")
    for time, weight in zip(times, weights.reshape(len(times), -1), strict=True):
        expected = shown.places(shown.picture.parts[0], np.array([time]), 5.0)[0]
        np.testing.assert_allclose(base + np.tensordot(weight, moves, 1), expected, atol=1e-6)


def test_stress_is_a_colour_of_the_nodes(tmp_path: Path) -> None:
    file = Glb(write_gltf(stretched_cube(), tmp_path / "run.glb"))
    (mesh,) = [each for each in file.content["meshes"] if each["name"] == "cube"]
    colours = file.array(mesh["primitives"][0]["attributes"]["COLOR_0"])
    assert np.all((colours >= 0.0) & (colours <= 1.0))
    top = (np.array([253, 231, 37]) / 255) ** 2.2  # the stress is everywhere the largest
    np.testing.assert_allclose(colours[:, :3], np.tile(top, (len(colours), 1)), atol=1e-5)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"let it end in .glb"):
        write_gltf(turned_block(), tmp_path / "run.gltf")
    with pytest.raises(ResultsError, match="frames is True"):
        write_gltf(turned_block(), tmp_path / "run.glb", frames=True)
    assert not list(tmp_path.iterdir())
