"""Every key of a scenario has its own unit on the pages of a study, not that of the table it stands in."""

import pytest

from klapper.scenario import KINDS, parse_scenario
from klapper.studies.scenario_keys import paths, unit_at

LINEAR = """
[model]
kind = "linear"
mass = [1.0, 2.0]
force = {force}

[[contact]]
name = "stop"
normal = [1.0, 0.0]
gap = 0.1

[scheme]
kind = "moreau"
step_size = 1e-3

[run]
until = 1.0
"""


@pytest.mark.parametrize(
    ("force", "units"),
    [
        (
            '{ kind = "harmonic", amplitude = [1.0, 0.0], angular_frequency = 188.5, phase = 0.1 }',
            {"kind": "", "amplitude": "N", "angular_frequency": "rad/s", "phase": "rad"},
        ),
        (
            '{ kind = "ramp", start = [1.0, 0.0], speed = [2.0, 0.0] }',
            {"kind": "", "start": "N", "speed": "N/s"},
        ),
        ('{ kind = "constant", amount = [1.0, 0.0] }', {"kind": "", "amount": "N"}),
    ],
)
def test_a_course_over_time_has_units_by_key(force: str, units: dict[str, str]) -> None:
    content = parse_scenario(LINEAR.replace("{force}", force)).content
    found = {name: unit_at(KINDS["linear"].table, path, content) for name, path in paths(content).items()}
    assert {name: found[f"model.force.{name}"] for name in units} == units
    assert found["contact.1.gap"] == "m" and found["scheme.step_size"] == "s" and found["model.mass"] == "kg"
    assert found["model.kind"] == found["contact.1.name"] == ""


def test_entries_of_a_list_of_courses_have_units_by_key() -> None:
    swings = '{ kind = "harmonic", amplitude = [1.0, 0.0], frequency = 3.0 }'
    force = f'[{swings}, {{ kind = "constant", amount = [0.0, 1.0] }}]'
    content = parse_scenario(LINEAR.replace("{force}", force)).content
    found = {name: unit_at(KINDS["linear"].table, path, content) for name, path in paths(content).items()}
    assert found["model.force.1.amplitude"] == found["model.force.2.amount"] == "N"
    assert found["model.force.1.frequency"] == "Hz"
