"""Thousands of damaged files: each gives one sentence or a sound answer, none a traceback, none is lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import klapper
from klapper.scenario import KINDS, starter
from klapper.studio.errors import StudioError
from klapper.studio.glance import DAMAGED, Glances
from klapper.studio.maps import shown_study
from klapper.studio.place import Root
from klapper.studio.scenarios import Scenarios
from results.motions import bouncing_ball
from studies.study_targets import square
from studio.studio_files import record


def mutated(content: bytes, random: np.random.Generator) -> bytes:
    """Bytes changed, cut out, doubled, or the end lost."""
    broken = bytearray(content)
    for _ in range(int(random.integers(1, 4))):
        kind, place = random.integers(4), int(random.integers(max(len(broken), 1)))
        if kind == 0 and broken:
            broken[place % len(broken)] = int(random.integers(256))
        elif kind == 1:
            del broken[place : place + int(random.integers(1, 40))]
        elif kind == 2:
            broken[place:place] = broken[place : place + int(random.integers(1, 40))]
        else:
            del broken[place:]
    return bytes(broken)


def is_sentence(text: str, root: Root) -> bool:
    return text.endswith(".") and "\n" not in text and "Traceback" not in text and str(root.path) not in text


def judged(root: Root, file: Path, content: bytes, name: str) -> None:
    """The glance at an entry whose file holds ``content``."""
    file.write_bytes(content)
    told = Glances(root)._told(name)
    assert is_sentence(told["sentence"], root), told
    assert file.read_bytes() == content


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run.h5", "result.json"])
def test_damaged_runs_and_results_are_told_in_one_sentence(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    whole = (
        bouncing_ball().save(tmp_path / "whole.h5").read_bytes()
        if kind == "run.h5"
        else record(True).encode()
    )
    random = np.random.default_rng(1)
    for _ in range(1500):
        judged(Root.of(tmp_path), folder / kind, mutated(whole, random), "one")


@pytest.mark.slow
def test_damaged_scenarios_are_told_in_one_sentence(tmp_path: Path) -> None:
    scenarios = Scenarios(Root.of(tmp_path), lambda scenario: None)
    random = np.random.default_rng(2)
    texts = [starter(kind).encode() for kind in KINDS]
    for number in range(1500):
        text = mutated(texts[number % len(texts)], random).decode("utf-8", "replace")
        told = scenarios.check("my.toml", text)
        assert told["valid"] or is_sentence(told["message"], scenarios.root), told
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_damaged_studies_are_told_in_one_sentence(tmp_path: Path) -> None:
    klapper.study(
        square, over={"x": [0.0, 0.5], "y": [1.0, 2.0]}, outputs=["value"], store=tmp_path / "one"
    ).run(workers=1, progress=False)
    root, file = Root.of(tmp_path), tmp_path / "one" / "study.sqlite"
    whole = file.read_bytes()
    random = np.random.default_rng(3)
    for _ in range(700):
        content = mutated(whole, random)
        judged(root, file, content, "one")
        assert answered(lambda: shown_study(root, "one"), root)


def answered(ask: Callable[[], Any], root: Root) -> bool:
    try:
        return bool(ask())
    except (StudioError, *DAMAGED) as error:
        return is_sentence(root.told(str(error)), root)
