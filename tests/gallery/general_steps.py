"""Examples whose models, or some steps of them, the general code does under Moreau, and why. There is no other."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import pytest

from klapper.mechanics.system import System
from klapper.results import Run
from klapper.schemes.base import Scheme

SPARSE = "finite elements at large strains need sparse matrices"
SELECTED = "steps with selection="
FOOTED = "compiled for NestedProx, the scheme of its source"

GENERAL = {
    "bearing": SPARSE,
    "block-halves": FOOTED,
    "block-methods": FOOTED,
    "domain-decomposition": SPARSE,
    "hertz": SPARSE,
    "hyperbola-masses": "'_Spring', which may change",
    "inflation": SPARSE,
    "integrator-orders": SPARSE,
    "ironing": SPARSE,
    "many-footed-block": SELECTED,
    "newtons-cradle": "impacts are resolved by the law of the scheme",
    "patch-test": SPARSE,
    "prox-start": FOOTED,
    "ring-collision": SPARSE,
    "rough-table": SELECTED,
    "sliding-block": SPARSE,
    "spinning-ring": SPARSE,
    "three-footed-slider": SELECTED,
    "tied-bearing": SPARSE,
    "tumbling-block": SPARSE,
    "undetermined-block": FOOTED,
}


def require_listed(example: str, reasons: Iterable[str]) -> None:
    """Every reason why a step of an example was not compiled is the one of the list; without any it has none."""
    listed = GENERAL.get(example, "compiled in all steps")
    other = [reason for reason in reasons if listed not in reason]
    assert not other, f"{example} is {listed!r} by the list of general steps"


def reasons_noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that receives, from now on, why steps of runs under Moreau were not compiled."""
    loop, reasons = importlib.import_module("klapper.simulation"), list[str]()
    whole = loop._simulated

    def noted(system: System, until: float, scheme: Scheme, *given: Any, **options: Any) -> Run:
        run = whole(system, until, scheme, *given, **options)
        if scheme.name == "moreau":
            audit = run.about["audit"]
            reasons.extend(audit[told] for told in ("not compiled", "because") if told in audit)
        return run

    monkeypatch.setattr(loop, "_simulated", noted)
    return reasons
