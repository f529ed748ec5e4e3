"""Plugin of pytest for ``tools.mutation``: which functions of the package each test file enters, and how long it takes.

Written as JSON to the file that the environment variable ``ENTERED`` names.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

_entered: dict[str, set[CodeType]] = defaultdict(set)
_seconds: dict[str, float] = defaultdict(float)
_failed: set[str] = set()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    file = item.nodeid.partition("::")[0]
    codes, begin = _entered[file], time.perf_counter()

    def enter(frame: FrameType, event: str, argument: Any) -> None:
        codes.add(frame.f_code)

    sys.settrace(enter)
    yield
    sys.settrace(None)
    _seconds[file] += time.perf_counter() - begin


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    found = {"entered": {file: _places(codes) for file, codes in _entered.items()}, "seconds": _seconds}
    Path(os.environ["ENTERED"]).write_text(json.dumps({**found, "failed": sorted(_failed)}), encoding="utf-8")


def _places(codes: set[CodeType]) -> list[str]:
    """``klapper/room/file.py:line`` of the first line of every function of the package."""
    split = ((code.co_filename.partition("/src/"), code.co_firstlineno) for code in codes)
    return sorted({f"{below}:{line}" for (_, _, below), line in split if below.startswith("klapper/")})
