"""The examples in the docstrings of the analyses of stability, coexistence and attractors."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "attractor",
        "coexistence",
        "frequency_response",
        "linear_stability",
        "minimal_coordinates",
        "sliding_stability",
        "stability_map",
    ],
)
def test_doctests(name: str) -> None:
    module = importlib.import_module(f"klapper.analysis.{name}")
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
