"""Every shipped example runs with its shipped parameters, passes its checks, and can be stored and drawn.

No step of Moreau's scheme in it is done by the general code, but for examples that are listed with the reason.
"""

from pathlib import Path
from typing import Any

import pytest
from tests.gallery.general_steps import reasons_noted, require_listed

from klapper.gallery import examples
from klapper.gallery.example import Example
from klapper.report.figures import draw
from klapper.report.folder import store
from klapper.report.record import read

LONG = {
    "bearing",
    "block-halves",
    "block-methods",
    "compliant-wedge",
    "delaminated-modes",
    "domain-decomposition",
    "forced-delamination",
    "friction-damped-beam",
    "hyperbola-masses",
    "impact-oscillator",
    "many-footed-block",
    "pipe",
    "rotor-friction",
    "rotor-methods",
    "settling-spheres",
    "slider-crank",
    "stick-slip-cycle",
    "tied-bearing",
    "wedge-stability",
}


def shipped() -> list[Any]:
    """Every example; those that take more than six seconds are left to the long tests."""
    return [
        pytest.param(example, id=example.name, marks=[pytest.mark.slow] if example.name in LONG else [])
        for example in examples()
    ]


@pytest.mark.parametrize("example", shipped())
def test_an_example_passes_its_checks_and_is_stored_whole(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = reasons_noted(monkeypatch)
    outcome = example.run()
    require_listed(example.name, reasons)
    failed = [check.as_json() for check in outcome.checks if not check.passed]
    assert outcome.checks
    assert not failed
    record = example.record({}, outcome)
    store(tmp_path, record, example.introduction({}, outcome), draw(outcome.figures))
    assert read(tmp_path) == record
