"""Thousands of damaged scenario files: each one is refused in one sentence or accepted, quickly, and stays as it is."""

import random
import tomllib
from pathlib import Path

import pytest

from klapper.scenario import KINDS, ScenarioError, parse_scenario, read_scenario, starter
from klapper.scenario.writing import written

WORDS = [
    "nan", "inf", "-1", "0", "1e400", "9" * 5000, "[]", "{}", "[[]]", '""', '"ground"', "true", "1979-05-27", "'''",
    '"""', "]", "[", "}", "=", ".", "#", "\n", "\x00", "\x7f", "é", "\U0001f600", '"\\u0000"', "0x10", "[[contact]]",
    "[model]", "kind", "../../etc/passwd", '"../x.mtx"', "a.b.c", "[" * 300, "{a=" * 200, "-", "_", "1_0", "friction",
]  # fmt: skip
VALUES = [
    *(
        None,
        -1,
        0,
        10**400,
        1e308,
        float("nan"),
        float("inf"),
        True,
        "",
        "x" * 300,
        "a\nb",
        [],
        [[]],
        {},
        [{}],
    ),
    *(
        {"kind": "moreau"},
        {"kind": []},
        [1, "a"],
        [[1.0], [1.0, 2.0]],
        {"a": {"b": {"c": 1}}},
        "../secret.mtx",
        "/",
    ),
]


def broken_text(text: str, chance: random.Random) -> str:
    """Characters, words and lines taken out, put in, doubled or exchanged."""
    for _ in range(chance.randint(1, 4)):
        lines = text.split("\n")
        place, other = chance.randrange(len(text) + 1), chance.randrange(len(lines))
        match chance.randrange(6):
            case 0:
                text = text[:place] + text[place + chance.randint(1, 8) :]
            case 1:
                text = text[:place] + chance.choice(WORDS) + text[place:]
            case 2:
                text = "\n".join([*lines[:other], *lines[other + 1 :]])
            case 3:
                text = "\n".join([*lines[:other], lines[chance.randrange(len(lines))], *lines[other:]])
            case 4:
                text = text[:place]
            case 5:
                key, equals, _ = lines[other].partition(" = ")
                lines[other] = key + equals + chance.choice(WORDS)
                text = "\n".join(lines)
    return text


def broken_content(content: object, chance: random.Random) -> object:
    """One value anywhere in the tables exchanged, renamed or taken out; the text remains TOML."""
    if isinstance(content, dict) and content and chance.random() < 0.85:
        name = chance.choice(list(content))
        changed = {key: entry for key, entry in content.items() if key != name}
        if chance.random() < 0.15:
            return changed
        key = name[:-1] + "x" if chance.random() < 0.1 else name
        return changed | {key: broken_content(content[name], chance)}
    if isinstance(content, list) and content and chance.random() < 0.7:
        place = chance.randrange(len(content))
        return [*content[:place], broken_content(content[place], chance), *content[place + 1 :]]
    return chance.choice(VALUES)


def told(text: str, folder: Path) -> str:
    """What is said about a text, checked to be one sentence; empty if it is accepted."""
    try:
        parse_scenario(text, folder, "my.toml")
        sentence = ""
    except ScenarioError as error:
        sentence = str(error)
        assert sentence.startswith("my.toml"), sentence
        assert sentence.endswith("."), sentence
        assert sentence.isprintable(), sentence
        assert len(sentence) < 1000, sentence
        assert "Traceback" not in sentence
    return sentence


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_texts_are_told_in_one_sentence(kind: str, tmp_path: Path) -> None:
    whole, chance, folder = starter(kind), random.Random(kind), tmp_path
    refused = sum(bool(told(broken_text(whole, chance), folder)) for _ in range(400))
    assert refused > 100


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_values_are_told_in_one_sentence(kind: str, tmp_path: Path) -> None:
    whole, chance, folder = dict(KINDS[kind].starter), random.Random(kind), tmp_path
    refused = 0
    for _ in range(400):
        changed = broken_content(whole, chance)
        text = (
            "\n".join(f"{key} = {written(value)}" for key, value in changed.items() if value is not None)
            if isinstance(changed, dict)
            else ""
        )
        refused += bool(told(text.replace("None", '"none"'), folder))
    assert refused > 100


def test_noise_is_told_in_one_sentence(tmp_path: Path) -> None:
    chance, folder = random.Random(7), tmp_path
    for _ in range(600):
        assert told("".join(chance.choice(WORDS) for _ in range(chance.randint(1, 30))), folder)


def test_damaged_files_stay_as_they_are(tmp_path: Path) -> None:
    chance = random.Random(3)
    whole = starter("bodies").encode()
    file = tmp_path / "my.toml"
    for _ in range(200):
        place = chance.randrange(len(whole))
        content = whole[:place] + chance.randbytes(chance.randint(1, 6)) + whole[place + 3 :]
        file.write_bytes(content)
        try:
            read_scenario(file)
        except ScenarioError as error:
            assert str(error).isprintable()
        assert file.read_bytes() == content
        assert list(tmp_path.iterdir()) == [file]


def test_deep_nesting_and_long_files_are_refused(tmp_path: Path) -> None:
    deep = "a = " + "[" * 100_000
    assert "nested more than 20 levels deep" in told(deep, tmp_path)
    long = tmp_path / "long.toml"
    long.write_text("# " + "x" * 1_000_001)
    with pytest.raises(ScenarioError, match="larger than 1 MB"):
        read_scenario(long)


@pytest.mark.parametrize("kind", KINDS)
def test_every_starter_is_toml_with_the_declared_content(kind: str) -> None:
    assert tomllib.loads(starter(kind)) == KINDS[kind].starter
