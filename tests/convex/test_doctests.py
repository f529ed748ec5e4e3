"""The public names are sorted, the room loads without scipy, and its manual page runs."""

import doctest
import subprocess
import sys
from pathlib import Path

import klapper.convex


def test_public_names_exist_and_are_sorted():
    assert list(klapper.convex.__all__) == sorted(klapper.convex.__all__)
    assert all(hasattr(klapper.convex, name) for name in klapper.convex.__all__)


def test_import_does_not_load_scipy():
    script = "import sys, klapper.convex; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_manual_page_runs():
    page = Path(__file__).parents[2] / "docs" / "convex.md"
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0
