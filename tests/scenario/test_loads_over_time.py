"""Sweeps, pulses, tables and moving bases in files are those of the Python API."""

from pathlib import Path

import numpy as np
import pytest

import klapper as kl
from klapper.scenario import ScenarioError, read_scenario

FILE = """
[model]
kind = "linear"
mass = [2.0, 1.0]
stiffness = [[300.0, -100.0], [-100.0, 100.0]]
BASE

[[contact]]
name = "stop"
normal = [0.0, -1.0]
gap = 0.01

[scheme]
kind = "moreau"
step_size = 1e-3

[run]
until = 0.5
"""
TABLE = kl.Tabulated([0.0, 0.2, 0.5], [0.0, 4.0, -2.0])
COURSES = [
    ('{ kind = "harmonic", amplitude = 2.0, frequency = 3.0 }', kl.Harmonic(2.0, frequency=3.0)),
    (
        '{ kind = "sweep", amplitude = 2.0, start_frequency = 1.0, end_frequency = 9.0, duration = 0.4 }',
        kl.Sweep(2.0, 1.0, 9.0, 0.4),
    ),
    ('{ kind = "pulse", amplitude = 2.0, duration = 0.1, start = 0.2 }', kl.Pulse(2.0, 0.1, 0.2)),
    ('{ kind = "table", times = [0, 0.2, 0.5], values = [0, 2, -1], factor = 2.0 }', TABLE),
    ('{ kind = "table", file = "shaker.csv", column = "a", time = "t" }', TABLE),
    ('[{ kind = "ramp", start = 0.0, speed = 1.0 }, { kind = "constant", amount = 2.0 }]', kl.Ramp(2.0, 1.0)),
]


def scenario(folder: Path, base: str) -> Path:
    (folder / "shaker.csv").write_text("t,a\n0,0\n0.2,4\n0.5,-2\n", encoding="utf-8")
    file = folder / "shaken.toml"
    file.write_text(FILE.replace("BASE", base), encoding="utf-8")
    return file


@pytest.mark.parametrize(("words", "signal"), COURSES)
def test_a_base_in_a_file_moves_as_in_python(tmp_path: Path, words: str, signal: object) -> None:
    base = f"base = {{ direction = [1.0, 1.0], acceleration = {words} }}"
    run = read_scenario(scenario(tmp_path, base)).simulate()
    load = kl.base_load([2.0, 1.0], [1.0, 1.0], acceleration=signal)
    stop = kl.Contact("stop", normal=[0.0, -1.0], gap=0.01)
    stiffness = np.array([[300.0, -100.0], [-100.0, 100.0]])
    system = kl.LinearSystem([2.0, 1.0], stiffness=stiffness, force=load, contacts=[stop])
    assert run.position == pytest.approx(kl.simulate(system, 0.5, kl.Moreau(1e-3)).position, abs=1e-13)


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("base = { acceleration = 1.0 }", "direction"),
        ("base = { direction = [1.0, 1.0] }", "acceleration or displacement"),
        ("base = { direction = [1.0], acceleration = 1.0 }", r"direction has shape \(1,\)"),
        ('base = { direction = [1.0, 1.0], acceleration = { kind = "table" } }', "file, or times and values"),
        (
            'base = { direction = [1.0, 1.0], acceleration = { kind = "table", file = "shaker.csv", column = "b" } }',
            "'b' is none of them",
        ),
        (
            'base = { direction = [1.0, 1.0], acceleration = { kind = "harmonic", amplitude = 1.0 } }',
            "angular_frequency .* or frequency",
        ),
    ],
)
def test_a_base_that_cannot_move_is_refused_in_one_sentence(tmp_path: Path, base: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        read_scenario(scenario(tmp_path, base)).system()
