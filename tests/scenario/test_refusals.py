"""What is wrong in a scenario file is told with file, line, key, what was given and what is allowed."""

from pathlib import Path

import pytest

from klapper.scenario import KINDS, Scenario, ScenarioError, parse_scenario, starter
from klapper.scenario.lines import line_index


def scenario(text: str, folder: Path) -> Scenario:
    return parse_scenario(text, folder, "my.toml")


def changed(kind: str, old: str, new: str) -> tuple[str, int]:
    """A starter with one line changed, and the number of that line."""
    lines = starter(kind).split("\n")
    place = next(i for i, line in enumerate(lines) if line.startswith(old))
    lines[place] = new
    return "\n".join(lines), place + 1


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        ("bodies", "mass = 0.1", "mass = -0.1", "body.ball.mass is -0.1; allowed are numbers above 0."),
        ("bodies", "mass = 0.1", "mass = true", "body.ball.mass is true; allowed are numbers above 0."),
        ("bodies", "mass = 0.1", 'mass = "heavy"', "body.ball.mass is 'heavy'; allowed are numbers above 0."),
        ("bodies", "mass = 0.1", "mass = nan", "body.ball.mass is nan; allowed are numbers above 0."),
        ("bodies", "at = [0.0, 0.3]", "at = [0.0]", "body.ball.at is [0.0]; allowed are lists of 2 numbers."),
        (
            "bodies",
            "restitution = 0.7",
            "restitution = 7",
            "contact 1.restitution is 7; allowed are numbers from 0 to 1.",
        ),
        (
            "bodies",
            "radius = 0.05",
            "raduis = 0.05",
            "shape.rim has no key 'raduis' (did you mean 'radius'?); keys are body, radius, at.",
        ),
        ("bodies", "step_size", "", "scheme needs the key 'step_size', step size h [s]: numbers above 0."),
        (
            "bodies",
            'kind = "moreau"',
            'kind = "moro"',
            "scheme.kind is 'moro' (did you mean 'moreau'?); allowed are 'moreau', 'event-driven',",
        ),
        (
            "bodies",
            'kind = "bodies"',
            'kind = "body"',
            "model.kind is 'body' (did you mean 'bodies'?); allowed are 'bodies', 'linear',",
        ),
        (
            "linear",
            "damping = ",
            "damping = [[0.4], [0.2]]",
            "row 1 of model.damping has 1 numbers; it must have 2.",
        ),
        (
            "continuum",
            'nodes = "bottom"',
            "nodes = 1.5",
            "support 1.nodes is 1.5; allowed are texts of up to 200 characters, or lists of",
        ),
        (
            "beam",
            'held = "clamped"',
            'held = "glued"',
            "support 1.held is 'glued'; allowed are 'pinned', 'clamped' and 'guided'.",
        ),
        (
            "rotor",
            "count = 9",
            "count = 9.5",
            "contact.count is 9.5; allowed are whole numbers from 1 to 1000.",
        ),
        (
            "rotor",
            "modes = 8",
            "modes = 100000000",
            "model.modes is 100000000; allowed are whole numbers from 1 to 400.",
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_line(
    kind: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    text, line = changed(kind, old, new)
    with pytest.raises(ScenarioError) as caught:
        scenario(text, tmp_path)
    told = str(caught.value)
    assert words in told
    if new:
        assert told.startswith(f"my.toml, line {line}: ")


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        (
            "bodies",
            'a = "feet"',
            'a = "feets"',
            "contact 2.a is 'feets' (did you mean 'feet'?); allowed are the names ground, ball,",
        ),
        ("bodies", "at = [0.4, 0.05]", "at = [0.4, 0.02]", "starts with a gap of -0.03 m"),
        ("bodies", "normal = [0.0, 1.0]", "normal = [0.0, 0.0]", "normal has no length"),
        ("linear", "normal = ", "normal = [1.0]", "(1,)"),
        (
            "frame",
            'material = "steel"',
            'material = "stel"',
            "member.column.material is 'stel'; allowed are the names steel.",
        ),
        (
            "frame",
            'joint = "C"',
            "at = 0.1",
            "load 1 needs either the key 'joint', or the keys 'member' and 'at'.",
        ),
        (
            "beam",
            "section = ",
            "section = { height = 0.1 }",
            "allowed are height and width, or diameter, or area",
        ),
        (
            "continuum",
            "mesh = ",
            'mesh = { kind = "block", sides = [1.0, 1.0], cells = [9000, 9000] }',
            "allowed are up to 200000 cells in all",
        ),
        ("continuum", "secondary = ", 'secondary = ["rong", "outer"]', "rong"),
    ],
)
def test_what_only_the_model_can_refuse_names_the_line(
    kind: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    text, _ = changed(kind, old, new)
    with pytest.raises(ScenarioError, match=r"^my\.toml, line \d+: ") as caught:
        scenario(text, tmp_path).system()
    assert words in str(caught.value)


def test_the_end_of_a_run_must_be_later_than_its_start(tmp_path: Path) -> None:
    text, line = changed("beam", "until = ", "until = -1.0")
    with pytest.raises(
        ScenarioError, match=rf"^my\.toml, line {line}: run\.until is -1\.0; allowed are times after 0 s"
    ):
        scenario(text, tmp_path).simulate(progress=False)


def test_a_scheme_that_does_not_fit_the_model_is_told_at_its_line(tmp_path: Path) -> None:
    text, _ = changed("beam", 'kind = "moreau"', 'kind = "newmark"')
    text = text.replace("theta = 0.6", "")
    line = text.split("\n").index(next(row for row in text.split("\n") if row.startswith("[scheme]"))) + 1
    with pytest.raises(ScenarioError, match=rf"^my\.toml, line {line}: .*PenaltyContact"):
        scenario(text, tmp_path).simulate(progress=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no table [model]"),
        ("model = 3", "there is no table [model]"),
        ("[model]", "model.kind is missing; allowed are 'bodies'"),
        ("[model]\nkind = 'bodies'\n\n[model]", "line 4: it is no TOML: Cannot declare ('model',) twice."),
        ("[model]\nkind = bodies", "line 2: it is no TOML: Invalid value."),
    ],
)
def test_what_is_no_scenario_is_told(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(text, tmp_path)
    assert words in str(caught.value)


def test_an_example_has_no_system_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="klapper run"):
        scenario(starter("example"), tmp_path).system()


def test_lines_are_found_through_arrays_strings_and_comments() -> None:
    text = '''# [model]
[model]
kind = "x" # ]
matrix = [
  [1.0, 2.0], # a row
  [3.0, 4.0],
]
text = """
[contact]
kind = 3
"""
"quoted key" = 1

[[contact]]
a.b = 1
[[contact]]
law = { kind = "x" }
  [contact.more]
  deep = 1
[[contact.many]]
x = 1
'''
    lines = line_index(text)
    expected = {
        ("model",): 2,
        ("model", "kind"): 3,
        ("model", "matrix"): 4,
        ("model", "text"): 8,
        ("model", "quoted key"): 12,
        ("contact", 0): 14,
        ("contact", 0, "a", "b"): 15,
        ("contact", 1): 16,
        ("contact", 1, "law"): 17,
        ("contact", 1, "more", "deep"): 19,
        ("contact", 1, "many", 0, "x"): 21,
    }
    assert {path: lines.get(path) for path in expected} == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_starter_has_its_line(kind: str) -> None:
    text = starter(kind)
    rows = text.split("\n")
    for path, line in line_index(text).items():
        if path and isinstance(path[-1], str):
            assert path[-1] in rows[line - 1]
