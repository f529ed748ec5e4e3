"""The door of HDF5 reads what h5py writes for klapper to the bit, and nothing from anywhere else."""

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from tools.fuzz_files import hostile
from tools.fuzz_files.damage import sealed

from klapper.doors import Unreadable
from klapper.doors.hdf5 import open_hdf5
from klapper.results import Layout, ResultsError, Run, Samples, container, read
from klapper.results.container import write_container
from klapper.results.files import _put_array, read_part, write_part
from results.motions import bouncing_ball

KINDS = ("f8", "f4", "f2", "g", ">f8", "i8", "i4", "i1", "u2", "bool", "c8", "c16", "G")


def written(file: Path, arrays: dict[str, np.ndarray], packed: bool) -> None:
    def fill(stored: h5py.File, _: bool) -> None:
        group = stored.create_group("group")
        for name, array in arrays.items():
            _put_array(group, name, array, ("m", "what it is") if packed else None, packed=packed)

    write_container(file, "part", fill)


@pytest.mark.parametrize("count", [1, 8, 9, 60, 1500])
def test_arrays_of_every_kind_come_back_as_h5py_wrote_them(count: int, tmp_path: Path) -> None:
    """Up to 8 members lie in the header of a group, more in its heap, very many in one with several levels."""
    chance, file = np.random.default_rng(count), tmp_path / "x.h5"
    arrays = {}
    for number in range(count):
        shape = tuple(int(n) for n in chance.integers(0, 5, size=chance.integers(0, 4)))
        arrays[f"array {number}"] = np.asarray(50.0 * chance.standard_normal(shape)).astype(
            KINDS[number % len(KINDS)]
        )
    for packed in (True, False):
        written(file, arrays, packed)
        with open_hdf5(file, 512) as found:
            group = found.root.group("group")
            assert group.names == sorted(arrays)
            for name, array in arrays.items():
                back = group.dataset(name).read()
                assert back.dtype == array.dtype.newbyteorder("=") and back.shape == array.shape
                np.testing.assert_array_equal(back, array)


def test_many_chunks_come_back(tmp_path: Path) -> None:
    """More than 1024 chunks are listed in pages; the last chunk of a row is not full."""
    array, file = np.random.default_rng(1).standard_normal((2501, 3)), tmp_path / "x.h5"
    for options in ({}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}):

        def fill(stored: h5py.File, _: bool, options: dict[str, Any] = options) -> None:
            stored.create_dataset("x", data=array, chunks=(2, 2), **options)

        write_container(file, "part", fill)
        with open_hdf5(file, 512) as found:
            np.testing.assert_array_equal(found.root.dataset("x").read(), array)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (hostile._external_storage, "in another file"),
        (hostile._external_link, "leads elsewhere"),
        (hostile._soft_link, "leads elsewhere"),
        (hostile._virtual, "in other datasets"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_nothing_is_read_from_elsewhere(
    make: Callable[[Path, random.Random], None], words: str, tmp_path: Path
) -> None:
    for seed in range(4):
        case = tmp_path / str(seed)
        bouncing_ball(count=41).save(case / "run.h5")
        make(case, random.Random(seed))
        with pytest.raises(ResultsError, match=words):
            read(case)


def test_shapes_are_compared_before_anything_is_read(tmp_path: Path) -> None:
    """A small file that declares 4e8 samples is refused without an array being made."""
    file = bouncing_ball(count=41).save(tmp_path / "run.h5")

    def declare(stored: h5py.File) -> None:
        for name in list(stored["samples"]):
            columns = stored["samples"][name].shape[1:]
            kind = stored["samples"][name].dtype
            del stored["samples"][name]
            chunks = (10_000, *columns) if all(columns) else None
            stored["samples"].create_dataset(name, (400_000_000, *columns), kind, chunks=chunks)

    hostile._container(tmp_path, declare)
    assert file.stat().st_size < 100_000
    with pytest.raises(ResultsError, match="does not hold what a run"):
        read(file)

    def lengthen(stored: h5py.File) -> None:
        array = stored["samples"]["position"][()]
        del stored["samples"]["position"]
        stored["samples"]["position"] = np.concatenate([array, array])

    file = bouncing_ball(count=41).save(tmp_path / "run.h5")
    hostile._container(tmp_path, lengthen)
    with pytest.raises(ResultsError, match=r"'position' has the shape \(82, 1\)"):
        read(file)


def still(count: int) -> Run:
    """A body at rest, which packs to a thousandth."""
    layout = Layout(tuple(f"x{k}" for k in range(50)), tuple(f"x{k}" for k in range(50)))
    rest = {name: np.zeros((count, *shape)) for name, shape in _shapes(layout).items()}
    return Run(layout, Samples(**rest))


def _shapes(layout: Layout) -> dict[str, tuple[int, ...]]:
    from klapper.results.samples import layout_shapes

    return layout_shapes(layout)


def test_a_motion_at_rest_is_written_so_that_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that unpacks to a thousand times its size is a trap, and not read, or a rest, and not written so."""
    run, file = still(2000), tmp_path / "run.h5"
    packed = run.save(file).stat().st_size
    assert packed < 100_000
    monkeypatch.setattr(container, "FREE", 100_000)
    with pytest.raises(ResultsError, match="read it with large=True"):
        read(file)
    assert len(read(file, large=True)) == 2000
    monkeypatch.setattr(write_container, "__kwdefaults__", {"free": 100_000})
    assert run.save(file).stat().st_size > 10 * packed
    np.testing.assert_array_equal(read(file).position, run.position)


def test_a_part_unpacks_to_a_size_that_fits_its_file(tmp_path: Path) -> None:
    run = still(2000)
    write_part(tmp_path / "part.h5", {}, run.samples, {"q": np.zeros(100_000)})
    size = (tmp_path / "part.h5").stat().st_size
    *_, taken = read_part(tmp_path / "part.h5", run.layout, allowed=float(container.EXPANSION * size))
    assert 0 < taken <= container.EXPANSION * size


def test_a_hostile_structure_never_leaves_python(tmp_path: Path) -> None:
    """Whatever the bytes say: an array or :class:`Unreadable`. The HDF5 library ends the process on some of these."""
    chance, file = random.Random(4), tmp_path / "x.h5"
    rng = np.random.default_rng(0)
    written(file, {f"x{k}": rng.standard_normal((20, 3)) for k in range(12)}, packed=True)
    whole = file.read_bytes()
    refused = 0
    for _ in range(400):
        rest = bytearray(whole[512:])
        for _ in range(chance.choice([1, 2, 4])):
            place, size = chance.randrange(len(rest)), chance.choice([1, 2, 4, 8])
            number = chance.choice([0, 1, -1, 2**31, 2**62, len(rest), chance.randrange(len(rest))])
            rest[place : place + size] = (number & (2 ** (8 * size) - 1)).to_bytes(size, "little")
        file.write_bytes(sealed(whole[:512], bytes(rest)))
        try:
            with open_hdf5(file, 512) as found:
                found.allowed = 1e6
                group = found.root.group("group")
                for name in group.names:
                    group.dataset(name).read()
        except Unreadable:
            refused += 1
    assert 80 < refused < 400


def test_the_library_of_hdf5_is_not_needed_to_read(tmp_path: Path) -> None:
    import subprocess
    import sys

    file = bouncing_ball(count=41).save(tmp_path / "run.h5")
    text = f"import sys; from klapper.results import read; read({str(file)!r}); print('h5py' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_file_of_another_version_of_the_format_is_refused(tmp_path: Path) -> None:
    image = io.BytesIO()
    with h5py.File(image, "w", libver="earliest", userblock_size=512) as stored:
        stored["x"] = 1.0
    block = b"klapper run, format 1\n"
    (tmp_path / "run.h5").write_bytes(sealed(block.ljust(512, b"\0"), image.getvalue()[512:]))
    with pytest.raises(ResultsError, match="version that klapper writes"):
        read(tmp_path / "run.h5")
