"""Examples are found by their names, each in the file of its name."""

import subprocess
import sys

import pytest

from klapper.gallery import examples, find


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_a_file_carries_the_name_of_its_example(example) -> None:
    assert example.function.__module__ == f"klapper.gallery.{example.name.replace('-', '_')}"


def test_who_asks_for_one_example_imports_no_other() -> None:
    code = (
        "import sys; from klapper.gallery import find; find('bouncing-ball'); "
        "print(*(name for name in sys.modules if name.startswith('klapper.gallery.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "klapper.gallery.bouncing_ball" in loaded
    assert not {f"klapper.gallery.{each.name.replace('-', '_')}" for each in examples()} & {
        name for name in loaded if name != "klapper.gallery.bouncing_ball"
    }


def test_who_asks_for_all_examples_imports_no_command() -> None:
    code = (
        "import sys; from klapper.gallery import examples; examples(); "
        "print('klapper.gallery.figures' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "False"


@pytest.mark.parametrize("name", ["", "check", "catalogue", "figures", "_rotor", "kernels", "a.b", "os"])
def test_parts_of_the_gallery_that_are_no_examples_are_not_found(name: str) -> None:
    with pytest.raises(LookupError, match=r"There is no example .*; the nearest is "):
        find(name)
