"""The check of the suite by broken sources: where a source is broken, and how."""

from collections import Counter
from pathlib import Path

import pytest
from tools.mutation import FARTHER, candidates, farther
from tools.mutation_sites import KERNELS_PER_ROOM, PER_FILE, ROOMS, broken, chosen, sites
from tools.mutation_watch import CALL, announcing

SOURCE = Path(__file__).parents[1] / "src"


def broken_lines(line: str) -> set[str]:
    source = line.encode()
    return {broken(source, site).decode() for site in sites("klapper/room/file.py", source)}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("y = a + b", {"y = a - b"}),
        ("y = (a) - (b)", {"y = (a) + (b)"}),
        ("y = a / b", {"y = a * b"}),
        ("y += a", {"y -= a"}),
        ("y /= a", {"y *= a"}),
        ("y = 0.5 * a", {"y = 1.0 * a", "y = 0.5 / a"}),
        ("y = 4 * a", {"y = 2 * a", "y = 4 / a"}),
        ("y = -a", {"y = a"}),
        ("y = -(a + b)", {"y = (a + b)", "y = -(a - b)"}),
        ("y = not a", {"y =  a"}),
        ("y = not (a or b)", {"y =  (a or b)", "y = not (a and b)"}),
        ("y = a < b", {"y = a <= b", "y = a > b"}),
        ("y = a >= b", {"y = a > b", "y = a <= b"}),
        ("y = a and b and c", {"y = a or b and c"}),
        ("y = max(a, b)", {"y = min(a, b)"}),
        ("y = a.minimum(b)", {"y = a.maximum(b)"}),
        ("μ_λ = 'μ'; y = μ_λ + b", {"μ_λ = 'μ'; y = μ_λ - b"}),  # positions count bytes
    ],
)
def test_a_place_is_broken_as_said(line, wrong):
    assert broken_lines(line) == wrong


@pytest.mark.parametrize(
    "line",
    [
        '"""a + b, not -c."""',
        'raise ValueError("a" if a < b else "b")',
        "assert a < b",
        "LIMIT = 2 * 3.0",
        "_ROUND_OFF: float = -1.0",
        "__all__ = [*a, *(b + c)]",
        "y: -1 = a",
        "y = f'{a + b}'",
        "y = 'a' + b",
        "y = a.sum(axis=-1)",
        "if TYPE_CHECKING and not a:\n    pass",
        "y = a ** 2 @ b == c",
    ],
)
def test_texts_errors_and_limits_stay(line):
    assert broken_lines(line) == set()


def test_a_tolerance_is_no_factor():
    assert broken_lines("y = 1e-9 * a") == {"y = 1e-9 / a"}


def test_a_site_knows_its_function():
    source = b"@decorated\ndef outer():\n    def inner():\n        return -a\n    return -b\ny = -c\n"
    assert {(site.line, site.function) for site in sites("file.py", source)} == {(4, 3), (5, 1), (6, 0)}


def test_the_choice_is_spread_and_repeatable():
    places = chosen(SOURCE, seed=3, count=70)
    assert places == chosen(SOURCE, seed=3, count=70) != chosen(SOURCE, seed=4, count=70)
    assert len(places) == 70
    rooms = Counter(site.file.split("/")[1] for site in places)
    assert rooms.keys() == set(ROOMS) and min(rooms.values()) >= 23
    assert max(Counter(site.file for site in places).values()) <= PER_FILE
    assert sum(site.in_kernel for site in places) <= KERNELS_PER_ROOM * len(ROOMS)
    for site in places:
        source = (SOURCE / site.file).read_bytes()
        assert source[site.begin : site.end].decode() == site.before


def test_the_choice_keeps_to_the_rooms_asked_for():
    places = chosen(SOURCE, seed=3, count=9, rooms=["schemes", "mechanics"])
    assert Counter(site.room for site in places) == {"schemes": 4, "mechanics": 5}


def test_every_broken_source_is_a_source():
    for seed in range(3):
        for site in chosen(SOURCE, seed=seed, count=90):
            compile(broken((SOURCE / site.file).read_bytes(), site), site.file, "exec")


def test_only_files_that_enter_the_function_are_run(tmp_path):
    folder = tmp_path / "tests" / "schemes"
    folder.mkdir(parents=True)
    names = ["test_slow.py", "test_fast.py", "test_file.py", "test_new.py", "test_elsewhere.py"]
    for name in names:
        (folder / name).touch()
    (site,) = sites("klapper/schemes/file.py", b"\ndef f():\n    return -a\n")
    files = [f"tests/schemes/{name}" for name in names]
    entered = {file: ["klapper/schemes/file.py:2"] for file in files[:3]} | {
        files[4]: ["klapper/schemes/file.py:9"]
    }
    seen = {"entered": entered, "seconds": dict(zip(files, [9.0, 1.0, 20.0, 0.0, 0.0], strict=True))}
    assert candidates(site, tmp_path, seen) == [files[2], files[3], files[1], files[0]]


def test_of_the_rooms_above_the_fastest_files_are_run(tmp_path):
    names = ["bodies/test_b.py", "gallery/deep/test_g.py", "gallery/test_long.py", "results/test_r.py"]
    for name in names:
        file = tmp_path / "tests" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (site,) = sites("klapper/schemes/file.py", b"\ndef f():\n    return -a\n")
    files = [f"tests/{name}" for name in names]
    seconds = dict(zip(files, [0.5 * FARTHER, 0.2 * FARTHER, 0.6 * FARTHER, 0.0], strict=True))
    seen = {"entered": {file: ["klapper/schemes/file.py:2"] for file in files}, "seconds": seconds}
    assert farther(site, tmp_path, seen) == [files[1], files[0]]


def test_functions_tell_when_they_are_entered():
    source = """
def f(x): return x
class A:
    @staticmethod
    def g(x):
        \"\"\"Text.\"\"\"

        @staticmethod
        def h(y):
            for k in [y]:
                return f(k)
        return h(x) + f(1)
"""
    heard: list[str] = []
    names = {CALL: heard.append}
    exec(announcing("file.py", source), names)
    assert names["A"].g(2) == 3
    assert heard == ["file.py:4", "file.py:8", "file.py:2", "file.py:2"]
    assert names["A"].g.__doc__ == "Text."
