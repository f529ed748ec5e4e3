"""Fixtures for every room."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from klapper.gallery import catalogue

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The examples of ``fake_examples`` beside the shipped ones, for one test."""
    import fake_examples

    catalogue.examples()
    monkeypatch.setattr(catalogue, "_shelf", dict(catalogue._shelf))
    return fake_examples.register()
