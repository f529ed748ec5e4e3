"""The examples in the docstrings of the room."""

import doctest
import importlib
import pkgutil

import pytest

import klapper.reduction

MODULES = [module.name for module in pkgutil.iter_modules(klapper.reduction.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"klapper.reduction.{name}")
    assert doctest.testmod(module).failed == 0
