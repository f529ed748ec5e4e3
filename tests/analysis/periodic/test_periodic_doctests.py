"""The examples in the docstrings of the analyses of periodic motions."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["curve", "flow_map", "search"])
def test_doctests(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"klapper.analysis.periodic.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
