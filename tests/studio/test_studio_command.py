"""``klapper studio`` as it is typed: the address, Ctrl-C, wrong folders, and the sentence without the extra."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from klapper.cli import app


def klapper(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(("folder", "words"), [("nothing", "cannot be shown"), ("file", "is a file")])
def test_what_is_no_folder_is_refused(folder: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = klapper("studio", str(tmp_path / folder), "--no-browser")
    assert result.exit_code == 2
    assert words in result.stderr and result.stderr.count("\n") == 1


def test_a_wrong_port_is_refused(tmp_path: Path) -> None:
    result = klapper("studio", str(tmp_path), "--no-browser", "--port", "99999")
    assert result.exit_code == 2
    assert result.stderr == "Port 99999 cannot be used: it is no number of a port. Port 0 takes a free one.\n"


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_without_the_extra_it_says_what_to_install(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == package or n == "klapper.studio.app"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    result = klapper("studio", str(tmp_path), "--no-browser")
    assert result.exit_code == 2
    assert (
        result.stderr
        == "The studio needs starlette and uvicorn: install them by `pip install 'klapper[studio]'`.\n"
    )


@pytest.mark.slow
def test_it_prints_an_address_answers_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "klapper.cli", "studio", str(tmp_path), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    told = ""
    while not (address := re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", told)):
        told += process.stdout.readline()
    with urlopen(address[0], timeout=60) as answer:
        assert b"klapper" in answer.read()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert "The studio is closed" in rest
    assert (process.returncode, errors) == (0, "")
