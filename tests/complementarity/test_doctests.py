"""The examples in the docstrings do what they say."""

import doctest
import importlib
import pkgutil

import pytest

import klapper.complementarity

MODULES = [
    module.name
    for module in pkgutil.iter_modules(klapper.complementarity.__path__, "klapper.complementarity.")
    if not module.ispkg
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
