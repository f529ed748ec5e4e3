"""Every shipped example runs with its shipped parameters, passes its checks, and can be stored and drawn."""

from pathlib import Path

import pytest

from klapper.gallery import examples
from klapper.gallery.example import Example
from klapper.report.figures import draw
from klapper.report.folder import store
from klapper.report.record import read


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_shipped_example(example: Example, tmp_path: Path) -> None:
    outcome = example.run()
    failed = [check.as_json() for check in outcome.checks if not check.passed]
    assert outcome.checks
    assert not failed
    record = example.record({}, outcome)
    store(tmp_path, record, example.introduction({}, outcome), draw(outcome.figures))
    assert read(tmp_path) == record
