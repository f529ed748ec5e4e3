"""Kills commands at random moments, starts them again until they end, and compares them with undisturbed ones.

    python -m tools.kill_runs --seed 1 --count 60               # signals KILL, TERM and INT, of every kind
    python -m tools.kill_runs --seed 1 --count 60 --kind dask

    run     klapper run FILE --out DIR
    study   klapper study FILE --workers 2
    dask    klapper study FILE --cluster ADDRESS, where now and then a worker is killed instead
    studio  a job of the studio, cancelled, ended at once, or killed from outside

Every result is compared bit for bit. Parts are written twenty times a second instead of every 5 s, so that there is
something to go on from, and commands are forked from a process that has imported everything, so that many can be
killed; nothing else differs from the commands of users.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONGEST = 300.0  # seconds after which a command hangs
COMMAND = (
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "import klapper.simulation as s; s._PART_EVERY = 0.05; from klapper.cli import main; main()",
)
SCENARIO = """model = { kind = "linear", mass = [1.0, 2.0], stiffness = [300.0, 100.0], damping = [0.5, 0.2] }
scheme = { kind = "event-driven", sample = 0.01 }
run = { until = UNTIL, figures = ["ledger"] }

[[contact]]
name = "stop"
normal = [0.0, -1.0]
gap = 0.01
restitution = 0.6

[[friction_element]]
name = "belt"
tangents = [[1.0, 0.0]]
limit = 1.5
tangential_rate = [-0.1]
"""
STUDY = """scenario = "short.toml"
outputs = ["impacts", "position.1.end"]
store = "STORE"

[over]
"contact.1.restitution" = { from = 0.1, to = 0.9, count = 20 }
"contact.1.gap" = [0.005, 0.01, 0.02]
"""


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.kill_runs", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="kills of every kind")
    parser.add_argument("--kind", choices=KINDS, action="append", help="all kinds if not given")
    given = parser.parse_args(words)
    failed = False
    for kind in given.kind or KINDS:
        with tempfile.TemporaryDirectory(prefix="kills-") as place:
            folder = Path(place)
            (folder / "long.toml").write_text(SCENARIO.replace("UNTIL", "12.0"), encoding="utf-8")
            (folder / "short.toml").write_text(SCENARIO.replace("UNTIL", "0.6"), encoding="utf-8")
            told = KINDS[kind](folder, random.Random(f"{given.seed} {kind}"), given.count)
            counts = ", ".join(f"{count} by {name}" for name, count in sorted(told.kills.items()))
            print(
                f"{kind:<7} seed {given.seed}: {sum(told.kills.values())} kills ({counts}), {told.resumed} starts from "
                f"something; {told.same} results the same bit for bit, {len(told.wrong)} not",
                flush=True,
            )
            for wrong in told.wrong:
                print(f"    {wrong}")
            failed = failed or bool(told.wrong) or not told.same
    return int(failed)


class Told:
    """What happened: kills by name, how many found something to go on from, results that were the same or not."""

    def __init__(self) -> None:
        self.kills: Counter[str] = Counter()
        self.resumed = self.same = 0
        self.wrong: list[str] = []


def _kill_again(
    start: Callable[[int], Any],
    there: Callable[[int], bool],
    judge: Callable[[int], str],
    chance: random.Random,
    count: int,
    whole: float,
    kill: Callable[[Any], str] | None = None,
) -> Told:
    """Kill what ``start`` begins, ``count`` times in all; whatever ends by itself is judged, and another is begun."""
    told, number, left = Told(), 0, count
    while True:
        begun = there(number)
        told.resumed += begun
        began = time.monotonic()
        process = start(number)
        if left:
            moment = began + chance.uniform(0.1, 1.1) * whole
            while process.poll() is None and time.monotonic() < moment:
                time.sleep(0.005)
        if left and process.poll() is None:
            if kill is not None:
                name = kill(process)
            else:
                chosen = chance.choice(SIGNALS)
                process.send_signal(chosen)
                name = chosen.name
            told.kills[name] += 1
            left -= 1
        try:
            status = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            told.wrong.append("a command hangs")
            return told
        if status == 0:
            if not begun:  # the first command had more to load, and a busy machine may be idle now
                whole = min(whole, time.monotonic() - began)
            reason = judge(number)
            told.same += not reason
            told.wrong += [reason] if reason else []
            number += 1
            if not left:
                return told
        elif status not in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 130):
            told.wrong.append(f"a command ended with status {status}")
            return told


class Command:
    """A command of klapper in a forked process, as far as :class:`subprocess.Popen` is needed.

    ``errors``  file for what it tells on standard error
    ``before``  called in the process first, for limits
    """

    def __init__(
        self,
        folder: Path,
        *words: str,
        errors: Path | None = None,
        before: Callable[[], object] | None = None,
    ) -> None:
        import klapper.cli.commands
        import klapper.cli.scenario
        import klapper.report.run_page
        import klapper.results.plots
        import klapper.simulation
        import klapper.studies.runner

        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid:
            return
        try:
            os.setsid()
            os.chdir(folder)
            nothing = os.open(os.devnull, os.O_RDWR)
            told = (
                nothing if errors is None else os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            )
            for stream, place in enumerate((nothing, nothing, told)):
                os.dup2(place, stream)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            if before is not None:
                before()
            for each in SIGNALS[1:]:
                signal.signal(each, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            klapper.simulation._PART_EVERY = 0.05
            sys.argv = ["klapper", *words]
            klapper.cli.commands.main()
        except SystemExit as left:
            sys.stderr.flush()
            os._exit(left.code if isinstance(left.code, int) else 3)
        except KeyboardInterrupt:
            os._exit(130)
        except BaseException:
            os._exit(99)
        os._exit(98)

    def poll(self) -> int | None:
        if self.returncode is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, most: float) -> int:
        end = time.monotonic() + most
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("klapper", most)
            time.sleep(0.005)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _undisturbed(folder: Path, *words: str) -> float:
    """Seconds that the command takes."""
    began = time.monotonic()
    if Command(folder, *words).wait(LONGEST) != 0:
        raise RuntimeError(f"klapper {' '.join(words)} fails undisturbed")
    return time.monotonic() - began


def _contents(folder: Path) -> Any:
    """All of a stored run that does not depend on the time of day or the speed of the machine."""
    from klapper.results import read
    from klapper.results.samples import MEANING

    run = read(folder)
    about = {name: value for name, value in run.about.items() if name not in ("wall_time", "statistics")}
    arrays = {name: getattr(run.samples, name).tobytes() for name in MEANING}
    return run.layout, arrays, json.dumps(about, sort_keys=True)


def _runs(folder: Path, chance: random.Random, count: int) -> Told:
    whole = _undisturbed(folder, "run", "long.toml", "--out", "whole")
    expected = _contents(folder / "whole")

    def judge(number: int) -> str:
        return _difference(expected, folder / f"run-{number}")

    return _kill_again(
        lambda number: Command(folder, "run", "long.toml", "--out", f"run-{number}"),
        lambda number: any((folder / f"run-{number}").glob("part-*.h5")),
        judge,
        chance,
        count,
        whole,
    )


def _difference(expected: Any, folder: Path) -> str:
    """Where a stored run differs from the expected one, empty if nowhere."""
    parts = [file.name for file in folder.iterdir() if file.name.startswith("part-")]
    if parts:
        return f"{folder.name} is finished and has parts"
    found = _contents(folder)
    for what, one, other in zip(("layout", "samples", "about"), expected, found, strict=True):
        if one != other:
            return f"the {what} of {folder.name} differ"
    return ""


def _points(store: Path) -> Any:
    """All points of a store but their times."""
    base = sqlite3.connect(f"{(store / 'study.sqlite').as_uri()}?mode=ro", uri=True)
    try:
        columns = [row[1] for row in base.execute("PRAGMA table_info(points)")]
        kept = [name for name in columns if name not in ("seconds", "finished")]
        listed = ", ".join(f'"{name}"' for name in kept)
        whole = base.execute("PRAGMA integrity_check").fetchone()
        return whole, base.execute(f"SELECT {listed} FROM points ORDER BY key").fetchall()
    finally:
        base.close()


def _stored(store: Path) -> bool:
    if not (store / "study.sqlite").exists():
        return False
    with suppress(sqlite3.Error):
        return bool(_points(store)[1])
    return False


def _studies(folder: Path, chance: random.Random, count: int, *how: str, **more: Any) -> Told:
    def study(number: int | str) -> str:
        (folder / f"study-{number}.toml").write_text(STUDY.replace("STORE", f"s-{number}"), encoding="utf-8")
        return f"study-{number}.toml"

    whole = _undisturbed(folder, "study", study("whole"), *how)
    expected = _points(folder / "s-whole")

    def judge(number: int) -> str:
        return "" if _points(folder / f"s-{number}") == expected else f"the points of s-{number} differ"

    return _kill_again(
        lambda number: Command(folder, "study", study(number), *how),
        lambda number: _stored(folder / f"s-{number}"),
        judge,
        chance,
        count,
        whole,
        **more,
    )


def _processes(folder: Path, chance: random.Random, count: int) -> Told:
    return _studies(folder, chance, count, "--workers", "2")


CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        for line in sys.stdin:
            print(*(nanny.pid for nanny in cluster.workers.values() if nanny.pid), flush=True)
"""


@contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, Callable[[], list[int]]]]:
    """The address of a cluster in processes of its own, and what its workers are now."""
    script = folder / "cluster.py"
    script.write_text(CLUSTER, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdin is not None and process.stdout is not None
    asked, told = process.stdin, process.stdout

    def workers() -> list[int]:
        asked.write("?\n")
        asked.flush()
        return [int(word) for word in told.readline().split()]

    try:
        yield told.readline().strip(), workers
    finally:
        asked.close()
        process.wait(60)
        told.close()


def _dask(folder: Path, chance: random.Random, count: int) -> Told:
    """Signals to the command, and now and then KILL to a worker, which the cluster replaces meanwhile."""
    with _cluster(folder) as (address, workers_of):

        def kill(process: Any) -> str:
            workers = workers_of()
            if workers and chance.random() < 0.25:
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(workers), signal.SIGKILL)
                return "SIGKILL of a worker"
            chosen = chance.choice(SIGNALS)
            process.send_signal(chosen)
            return str(chosen.name)

        return _studies(folder, chance, count, "--cluster", address, kill=kill)


def _jobs(folder: Path, chance: random.Random, count: int) -> Told:
    from klapper.studio.jobs import Jobs

    whole = _undisturbed(folder, "run", "long.toml", "--out", "whole")
    expected = _contents(folder / "whole")
    jobs = Jobs(folder, command=COMMAND)
    last: list[Any] = []

    def start(number: int) -> Any:
        last[:] = [jobs.start("long.toml", f"run-{number}")]
        return last[0].process

    def kill(process: Any) -> str:
        match chance.randrange(4):
            case 0:
                jobs.cancel(last[0].number)
                return "cancelling"
            case 1:
                jobs.cancel(last[0].number, at_once=True)
                return "cancelling at once"
            case 2:
                jobs.close()
                return "closing the studio"
            case _:
                process.terminate()
                return "SIGTERM"

    return _kill_again(
        start,
        lambda number: any((folder / f"run-{number}").glob("part-*.h5")),
        lambda number: _difference(expected, folder / f"run-{number}"),
        chance,
        count,
        whole,
        kill,
    )


KINDS: dict[str, Callable[[Path, random.Random, int], Told]] = {
    "run": _runs,
    "study": _processes,
    "dask": _dask,
    "studio": _jobs,
}

if __name__ == "__main__":
    sys.exit(main())
