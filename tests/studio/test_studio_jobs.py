"""Runs that the studio starts: progress, time left, log, cancel; the same numbers as on the command line."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.results import read
from klapper.scenario import read_scenario, starter
from klapper.studio.errors import StudioError
from klapper.studio.jobs import Job, Jobs

SCRIPT = """
import json, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
print("begun", *sys.argv[1:], flush=True)
def tell(share):
    told = {"progress": {"share": share, "now": f"{share} s", "facts": "step 1"}}
    print(json.dumps(told), file=sys.stderr, flush=True)
try:
    tell(0.0)
    time.sleep(0.3)
    tell(0.25)
    time.sleep(float(sys.argv[-1]) if sys.argv[-1].isdigit() else 60)
except KeyboardInterrupt:
    print("kept", flush=True)
    sys.exit(130)
"""

ENDLESS = (
    starter("bodies")
    .replace("step_size = 0.002", "step_size = 1e-5")
    .replace("until = 1.0", "until = 50.0\nevery = 1")
)


@pytest.fixture
def jobs(tmp_path: Path) -> Any:
    """Jobs whose processes are of a script that computes nothing."""
    made = Jobs(tmp_path, command=(sys.executable, "-c", SCRIPT), at_once=2)
    yield made
    made.close(patience=5.0)


def test_progress_and_log_are_told_apart(jobs: Jobs, until: Callable[..., Any]) -> None:
    job = jobs.start("my.toml", "out")
    until(lambda: job.share == 0.25)
    told = job.told(10)
    assert told["log"] == ["begun run ./my.toml --out=./out"]
    assert (told["state"], told["now"], told["facts"]) == ("running", "0.25 s", "step 1")
    jobs.cancel(job.number)
    until(lambda: job.ended)
    assert job.state == "interrupted"
    assert job.told(10)["log"][-1] == "kept"


def test_the_time_left_is_what_the_speed_promises() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        job = Job(1, "my.toml", "out", process)
        assert job.left is None
        now = time.monotonic()
        job.history.extend([(now - 30.0, 0.2), (now, 0.5)])
        assert job.left == pytest.approx(0.5 * 30.0 / 0.3, abs=2.0)
        job.history.append((now, 0.2))
        assert job.left is None  # no progress, no promise
    finally:
        process.communicate(b"\n")


@pytest.mark.parametrize(
    "line", ['{"progress": 3}', '{"progress": {"share": NaN}}', '{"progress', '{"progress": {}}']
)
def test_what_only_looks_like_progress_is_a_line_of_the_log(line: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    job = Job(1, "my.toml", "out", process)
    job.hear(line)
    assert list(job.log) == [line] and job.share is None


def test_two_runs_do_not_share_a_folder_and_too_many_are_refused(jobs: Jobs) -> None:
    jobs.start("my.toml", "out")
    with pytest.raises(StudioError, match="is being written into 'out'"):
        jobs.start("my.toml", "out")
    jobs.start("my.toml", "out-2")
    with pytest.raises(StudioError, match="2 runs are under way: wait for one, or cancel one"):
        jobs.start("my.toml", "out-3")


def test_one_that_does_not_listen_can_be_ended_at_once(tmp_path: Path, until: Callable[..., Any]) -> None:
    deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('deaf', flush=1); time.sleep(60)"
    jobs = Jobs(tmp_path, command=(sys.executable, "-c", deaf))
    job = jobs.start("my.toml", "out")
    until(lambda: list(job.log) == ["deaf"])
    jobs.cancel(job.number)
    time.sleep(0.2)
    assert job.state == "cancelling"
    jobs.cancel(job.number, at_once=True)
    until(lambda: job.ended)
    assert job.state == "interrupted"


def test_a_run_that_is_not_there_is_told(studio: Any) -> None:
    for number in ("1", "x", "", "99999999999999999999", "-1"):
        answer = studio.get("job", number=number)
        assert answer.status == 404 and answer.sentence
    for number in (1, None, "1", 1.5, True, [1]):
        assert studio.post("cancel", {"number": number}).status == 404


def test_a_scenario_with_a_mistake_is_refused_by_the_run(studio: Any, until: Callable[..., Any]) -> None:
    text = starter("linear").replace("until = 2.0", "until = -2.0")
    (studio.folder / "my.toml").write_text(text, encoding="utf-8")
    number = studio.post("start", {"path": "my.toml", "out": "my-1"}).json["number"]
    job = until(lambda: (told := studio.get("job", number=str(number)).json)["state"] != "running" and told)
    assert job["state"] == "refused"
    assert "run.until is -2.0; allowed are times after 0 s." in job["log"][-1]


def test_nothing_in_the_folder_is_executed_and_no_name_is_an_option(
    studio: Any, until: Callable[..., Any]
) -> None:
    trap = "from pathlib import Path\nPath('caught').touch()\n"
    for name in ("typer.py", "tomllib.py", "klapper.py", "numpy.py", "sitecustomize.py"):
        (studio.folder / name).write_text(trap, encoding="utf-8")
    text = starter("linear").replace("until = 2.0", "until = -2.0")
    (studio.folder / "--export=x.toml").write_text(text, encoding="utf-8")
    number = studio.post("start", {"path": "--export=x.toml", "out": "--debug"}).json["number"]
    job = until(lambda: (told := studio.get("job", number=str(number)).json)["state"] != "running" and told)
    assert job["state"] == "refused" and "run.until is -2.0" in job["log"][-1]
    assert not (studio.folder / "caught").exists()


@pytest.mark.slow
def test_a_run_is_that_of_the_command_line(studio: Any, until: Callable[..., Any]) -> None:
    (studio.folder / "my.toml").write_text(starter("linear"), encoding="utf-8")
    number = studio.post("start", {"path": "my.toml", "out": "my-1"}).json["number"]
    job = until(lambda: (told := studio.get("job", number=str(number)).json)["state"] != "running" and told)
    assert job["state"] == "complete", job["log"]
    assert job["stored"] and "finished:" in job["run_log"]
    there = read_scenario(studio.folder / "my.toml").simulate(progress=False)
    np.testing.assert_array_equal(read(studio.folder / "my-1").position, there.position)
    again = studio.post("start", {"path": "my.toml", "out": "my.toml"})
    assert again.status == 400 and "give the name of a folder" in again.sentence


@pytest.mark.slow
def test_a_cancelled_run_keeps_what_there_is_and_goes_on(studio: Any, until: Callable[..., Any]) -> None:
    (studio.folder / "my.toml").write_text(ENDLESS, encoding="utf-8")
    ends = []
    for _ in range(2):
        number = str(studio.post("start", {"path": "my.toml", "out": "my-1"}).json["number"])
        least = ends[-1] / 50.0 if ends else 0.0
        until(lambda n=number, s=least: (studio.get("job", number=n).json["share"] or 0.0) > s)
        listed = studio.get("list").json["jobs"][0]
        assert listed["state"] == "running" and listed["facts"].startswith("step ")
        studio.post("cancel", {"number": int(number)})
        job = until(lambda n=number: (t := studio.get("job", number=n).json)["state"] != "cancelling" and t)
        assert job["state"] == "interrupted", job["log"]
        run = read(studio.folder / "my-1")
        assert run.about["status"] == "interrupted" and len(run) > 1
        ends.append(float(run.time[-1]))
    assert ends[1] > ends[0]
    assert "resumed after" in job["run_log"]
    glance = studio.get("glance", path="my-1").json
    assert glance["verdict"] == "warned" and glance["sentence"].startswith("The run was interrupted at")
    page = studio.page(studio.get("run", path="my-1").json["pages"][0]["address"])
    assert page.status == 200 and b"The run was interrupted" in page.body


@pytest.mark.slow
def test_closing_the_studio_interrupts_what_runs(tmp_path: Path, until: Callable[..., Any]) -> None:
    (tmp_path / "my.toml").write_text(ENDLESS, encoding="utf-8")
    jobs = Jobs(tmp_path)
    job = jobs.start("my.toml", "my-1")
    until(lambda: job.share)
    jobs.close()
    assert job.state == "interrupted"
    assert len(read(tmp_path / "my-1")) > 1


def test_a_run_is_cancelled_also_where_a_shell_ignores_ctrl_c(
    tmp_path: Path, until: Callable[..., Any]
) -> None:
    """A studio in the background of a shell hands on that SIGINT is ignored; its runs listen all the same."""
    (tmp_path / "endless.toml").write_text(ENDLESS, encoding="utf-8")
    ignoring = (
        "import os, sys, signal as s; s.signal(s.SIGINT, s.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    made = Jobs(tmp_path, command=(sys.executable, "-c", ignoring, sys.executable, "-m", "klapper.cli"))
    job = made.start("endless.toml", "out")
    until(lambda: (job.share or 0.0) > 0.0)
    made.cancel(job.number)
    until(lambda: job.ended)
    assert job.state == "interrupted"
    made.close()
