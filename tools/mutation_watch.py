"""Which functions of the package each test file enters, and how long it takes: for ``tools.mutation``.

``announcing`` makes a source whose functions tell when they are entered; as a plugin of pytest, this module listens and
writes what it heard as JSON to the file that the environment variable ``ENTERED`` names. This costs far less than
tracing all calls.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.mutation_sites import first_line

CALL = "_klapper_enters"
COLLECTION = "while tests are collected"
UNHEARD = (
    f"\nimport builtins\nbuiltins.__dict__.setdefault('{CALL}', set().add)\n"  # in processes of their own
)

_entered: dict[str, set[str]] = defaultdict(set)
_seconds: dict[str, float] = defaultdict(float)
_failed: set[str] = set()


def announcing(file: str, source: str) -> str:
    """The source with a call at the begin of each function that names it by its file and first line."""
    lines = source.splitlines(keepends=True)
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    for function in sorted(functions, key=lambda function: -function.lineno):
        body = function.body
        first = body[1] if len(body) > 1 and ast.get_docstring(function) is not None else body[0]
        row = first_line(first) - 1
        place = len(lines[row].encode()[: first.col_offset].decode())
        head, rest = lines[row][:place], lines[row][place:]
        gap = "\n" + head if not head.strip() else "; "
        lines[row] = f"{head}{CALL}('{file}:{first_line(function)}'){gap}{rest}"
    return "".join(lines)


def pytest_configure() -> None:
    setattr(builtins, CALL, _entered[COLLECTION].add)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    file, begin = item.nodeid.partition("::")[0], time.perf_counter()
    setattr(builtins, CALL, _entered[file].add)
    yield
    _seconds[file] += time.perf_counter() - begin


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    entered = {file: sorted(functions) for file, functions in _entered.items()}
    found = {"entered": entered, "seconds": _seconds, "failed": sorted(_failed), "time": time.time()}
    Path(os.environ["ENTERED"]).write_text(json.dumps(found), encoding="utf-8")
