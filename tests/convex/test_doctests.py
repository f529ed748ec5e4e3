"""The examples in the docstrings run, every public name has one, and the room loads without scipy."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import klapper.convex

MODULES = [module.name for module in pkgutil.iter_modules(klapper.convex.__path__, "klapper.convex.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_the_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(
    "name", sorted(set(klapper.convex.__all__) - {"ConvexSet", "ConvexFunction", "Qualification"})
)
def test_every_public_name_has_an_example(name):
    assert ">>>" in getattr(klapper.convex, name).__doc__


def test_public_names_exist_and_are_sorted():
    assert list(klapper.convex.__all__) == sorted(klapper.convex.__all__)
    assert all(hasattr(klapper.convex, name) for name in klapper.convex.__all__)


def test_import_does_not_load_scipy():
    script = "import sys, klapper.convex; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_manual_page_runs():
    page = Path(__file__).parents[2] / "docs" / "convex.md"
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0
