"""Runs on disk: bit for bit, whole or absent, and never wrong numbers from a damaged file."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.results import Layout, Loaded, ResultsError, Run, Samples, read
from klapper.results.files import read_part, write_part

from .motions import bouncing_ball, logged_by_number, run_of_states
from .test_samples import same

quick = settings(max_examples=25)
names = st.lists(st.text(max_size=8), unique=True, max_size=3).map(tuple)
plain_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def random_run(layout: Layout, count: int, by_number: bool, seed: int, about: dict[str, Any]) -> Run:
    """Arbitrary bits in every array, among them nan, infinities and negative zeros."""
    rng = np.random.default_rng(seed)

    def bits(*shape: int) -> np.ndarray:
        return rng.integers(0, 2**64, shape, dtype=np.uint64).view(np.float64)

    m, d = len(layout.contacts), 1 + layout.tangential
    log = None
    if by_number:
        start = np.r_[0, np.cumsum(rng.integers(0, 3, count))]
        k = start[-1]
        log = Loaded(start, rng.integers(0, 99, k), bits(k), bits(k, d), rng.integers(0, 4, k))
    samples = Samples(
        step=rng.integers(-(2**62), 2**62, count),
        time=np.sort(rng.standard_normal(count)),
        position=bits(count, len(layout.coordinates)),
        velocity=bits(count, len(layout.velocities)),
        gap=bits(count, m),
        impulse=bits(count, m, d),
        state=rng.integers(0, 4, (count, m)),
        constraint_impulse=bits(count, len(layout.constraints)),
        energy=bits(count, 7),
        residual=bits(count),
        loaded=log,
    )
    return Run(layout, samples, about)


@quick
@given(
    data=st.tuples(names, names, names, st.integers(0, 2), names),
    count=st.integers(0, 20),
    by_number=st.booleans(),
    seed=st.integers(0, 2**32),
    about=st.dictionaries(st.text(max_size=6), plain_data, max_size=4),
)
def test_a_saved_run_comes_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, data: tuple, count: int, by_number: bool, seed: int, about: dict
) -> None:
    coordinates, velocities, contacts, tangential, constraints = data
    layout = Layout(coordinates, velocities, () if by_number else contacts, tangential, constraints)
    run = random_run(layout, count, by_number, seed, about)
    file = run.save(tmp_path_factory.mktemp("run") / "run.h5")
    back = read(file)
    assert back.layout == run.layout
    assert back.about == run.about
    assert same(back.samples, run.samples)


@quick
@given(
    st.dictionaries(
        st.text(max_size=6),
        st.booleans()
        | st.integers(-(2**200), 2**200)
        | st.floats(allow_nan=False)
        | st.text(st.characters(), max_size=9)
        | st.sampled_from(["float64", "int64", "int8", "bool", "complex128", "float32", "uint64"]).flatmap(
            lambda kind: st.lists(st.integers(0, 3), max_size=3).map(
                lambda shape: np.random.default_rng(5).integers(0, 2, shape).astype(kind)
            )
        )
        | st.sampled_from([np.float64(-0.0), np.int8(3), np.bool_(True)]),
        max_size=6,
    )
)
def test_a_snapshot_comes_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, snapshot: dict[str, Any]
) -> None:
    file = tmp_path_factory.mktemp("part") / "part.h5"
    run = bouncing_ball(count=3)
    samples = run.samples
    write_part(file, {"part": 1}, samples, snapshot)
    origin, back, found, _ = read_part(file, run.layout)
    assert origin == {"part": 1}
    assert same(back, samples)
    assert list(found) == list(snapshot)
    for name, value in snapshot.items():
        assert type(found[name]) is type(value), name
        if isinstance(value, np.ndarray | np.generic):
            assert found[name].dtype == value.dtype
            assert np.shape(found[name]) == np.shape(value)
            assert found[name].tobytes() == value.tobytes()
        else:
            assert repr(found[name]) == repr(value)


def test_a_snapshot_refuses_what_would_not_come_back(tmp_path: Path) -> None:
    samples = bouncing_ball(count=3).samples
    for value, message in [
        ({1: 2}, "'q' of a snapshot is a dict"),
        (None, "'q' of a snapshot is a NoneType"),
        (np.array(["a"]), "'q' of a snapshot has type <U1"),
        (np.array([object()]), "'q' of a snapshot has type object"),
    ]:
        with pytest.raises(ResultsError, match=message):
            write_part(tmp_path / "part.h5", {}, samples, {"q": value})
    assert list(tmp_path.iterdir()) == []


def test_random_generators_can_be_stored(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    state = generator.bit_generator.state["state"]
    write_part(tmp_path / "part.h5", {}, bouncing_ball(count=3).samples, state)
    assert (
        read_part(tmp_path / "part.h5", bouncing_ball(count=3).layout)[2] == state
    )  # two whole numbers of 128 bits


def test_the_file_is_ordinary_hdf5_with_units(tmp_path: Path) -> None:
    run = bouncing_ball()
    file = run.save(tmp_path / "deep" / "run.h5")
    with h5py.File(file) as stored:
        np.testing.assert_array_equal(stored["samples/position"][()], run.position)
        assert stored["samples/impulse"].attrs["units"] == "N s"
        assert "since the previous sample" in stored["samples/impulse"].attrs["description"]
        assert stored["samples/time"].compression == "gzip"
        assert b'"ball y"' in bytes(stored["layout"][()])
    assert os.listdir(tmp_path / "deep") == ["run.h5"]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    one, other = bouncing_ball().save(tmp_path / "a.h5"), bouncing_ball().save(tmp_path / "b.h5")
    assert one.read_bytes() == other.read_bytes()


def test_long_runs_are_compressed(tmp_path: Path) -> None:
    run = run_of_states(np.zeros((20000, 4), dtype=int))
    file = run.save(tmp_path / "run.h5")
    arrays = [getattr(run.samples, name).nbytes for name in Samples.__dataclass_fields__ if name != "loaded"]
    assert file.stat().st_size < 0.5 * sum(arrays)  # all but the random gaps are regular
    assert same(read(file).samples, run.samples)


def test_many_names_and_long_audits_fit(tmp_path: Path) -> None:
    count = 5000
    layout = Layout(tuple(f"a rather long name of coordinate {k}" for k in range(count)), ())
    run = random_run(layout, 2, False, 1, {"audit": ["x" * 1000] * 300})
    back = read(run.save(tmp_path / "run.h5"))
    assert back.layout == layout
    assert back.about == run.about


@pytest.mark.parametrize("by_number", [False, True])
def test_a_damaged_file_is_refused_wherever_the_damage_is(tmp_path: Path, by_number: bool) -> None:
    run = run_of_states(np.random.default_rng(0).integers(0, 4, (30, 3)))
    file = (logged_by_number(run) if by_number else run).save(tmp_path / "run.h5")
    whole = file.read_bytes()
    rng = np.random.default_rng(8)
    damaged = [
        whole[:length] for length in (1, 17, 100, 511, 512, 513, 2000, len(whole) // 2, len(whole) - 1)
    ]
    damaged += [whole + b"\0", whole.replace(b"blake2b", b"blake3b", 1)]
    for position in [30, 60, 400, 512, 520, *rng.integers(512, len(whole), 60)]:
        changed = bytearray(whole)
        changed[position] ^= 1 << rng.integers(8)
        damaged.append(bytes(changed))
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(ResultsError, match=r"is damaged|is no run of klapper|is not a run") as caught:
            read(file)
        assert "\n" not in str(caught.value)
    file.write_bytes(whole)
    assert len(read(file)) == 30


def sealed(content: bytes, title: bytes) -> bytes:
    """A file with a valid seal around any content."""
    seal = b"bytes %d\nblake2b %s\nHDF5 begins at byte 512\n" % (
        len(content),
        hashlib.blake2b(content).hexdigest().encode(),
    )
    return (title + seal).ljust(512, b"\0") + content


def test_foreign_and_newer_files_are_told(tmp_path: Path) -> None:
    file = tmp_path / "run.h5"
    with pytest.raises(ResultsError, match=r"run\.h5 does not exist\."):
        read(file)
    file.write_bytes(b"")
    with pytest.raises(ResultsError, match=r"run\.h5 is empty\."):
        read(file)
    file.write_text("time;x;y\n" * 100)
    with pytest.raises(ResultsError, match=r"is no run of klapper\."):
        read(file)
    with h5py.File(file, "w") as foreign:
        foreign["x"] = 1.0
    with pytest.raises(ResultsError, match="is an HDF5 file, but no run of klapper"):
        read(file)
    whole = bouncing_ball(count=3).save(tmp_path / "good.h5").read_bytes()
    file.write_bytes(whole.replace(b"format 1\n", b"format 7\n", 1))
    with pytest.raises(ResultsError, match=r"was written by a newer klapper \(format 7, .* upgrade klapper"):
        read(file)
    write_part(file, {}, bouncing_ball(count=3).samples, {})
    with pytest.raises(ResultsError, match="is a part of klapper, not a run"):
        read(file)
    file.write_bytes(sealed(foreign_image(tmp_path), b"klapper run, format 1\n"))
    with pytest.raises(ResultsError, match="does not hold what a run of klapper holds"):
        read(file)
    file.unlink()
    with pytest.raises(ResultsError, match="holds no run"):
        read(tmp_path)


def foreign_image(folder: Path) -> bytes:
    with h5py.File(folder / "foreign.h5", "w", userblock_size=512) as foreign:
        foreign["x"] = 1.0
    return (folder / "foreign.h5").read_bytes()[512:]


def test_a_failing_save_leaves_what_was_there(tmp_path: Path) -> None:
    """On a disk with too little room, told in one sentence by the process that ran out of it."""
    file = bouncing_ball(count=3).save(tmp_path / "run.h5")
    before = file.read_bytes()
    code = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from results.motions import bouncing_ball
from klapper.results import ResultsError
run = bouncing_ball(count=20001)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    run.save({str(file)!r})
except ResultsError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{file} cannot be written: File too large.\n"
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.h5"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ResultsError, match=r"run\.h5 cannot be written: (Not a directory|File exists)\."):
        bouncing_ball(count=3).save(tmp_path / "taken" / "run.h5")
