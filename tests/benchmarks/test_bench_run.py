import io
import platform
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import problems, run, sides, tables

ANSWERING = """
import sys
import numpy as np
np.savez(sys.argv[2], version="1.2.3", task=np.load(sys.argv[1])["task"])
"""


def _script(folder: Path, text: str) -> sides.Side:
    path = folder / "side.py"
    path.write_text(text)
    return sides.Side("side", (sys.executable, str(path)))


def test_a_side_answers_by_files(tmp_path: Path) -> None:
    side = _script(tmp_path, ANSWERING)
    assert side.version() == "1.2.3"
    assert str(side.ask("something", values=np.arange(3))["task"]) == "something"


def test_a_missing_interpreter_and_a_failing_side_say_why(tmp_path: Path) -> None:
    with pytest.raises(sides.SideFailed, match="interpreter not found"):
        sides.siconos(str(tmp_path / "python")).version()
    with pytest.raises(sides.SideFailed, match="No module named 'no_such_peer'"):
        _script(tmp_path, "import no_such_peer").version()
    with pytest.raises(sides.SideFailed, match="not finished within"):
        _script(tmp_path, "import time; time.sleep(60)").ask("version", timeout=0.2)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("klapper", "quantecon"):
        monkeypatch.setattr(sides, name, lambda name=name: sides.Side(name, (str(tmp_path / "none"),)))


@pytest.mark.usefixtures("nobody")
def test_missing_peers_are_named_in_one_line_each(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=200)
    bench = run.find_sides(str(tmp_path / "python"), quick=True, console=console)
    assert (bench.klapper, bench.siconos, bench.quantecon) == (None, None, None)
    printed = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert printed == [
        f"{name} not found, left out: interpreter not found" for name in ("klapper", "Siconos", "quantecon")
    ]


@pytest.mark.usefixtures("nobody")
def test_the_bench_goes_on_without_peers_and_the_page_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "benchmarks.md"
    run.main(
        ["--quick", "--only", "lcp", "--siconos-python", str(tmp_path / "python"), "--output", str(page)]
    )
    text = page.read_text(encoding="utf-8")
    assert "- Siconos: not found, left out" in text
    assert "| chain | 3 | 200 | – | – | – | – | ≤ 0.5 | open | – | –, –, – |" in text
    assert "Siconos not found, left out" in capsys.readouterr().out
    assert str(tmp_path) not in text


def test_the_page_names_the_machine_but_not_the_computer() -> None:
    bench = run.Bench(None, None, None, {"Siconos": "4.4.0"}, True, Console())
    facts = run.machine(bench)
    assert facts["numpy"] == np.__version__
    assert facts["Siconos"] == "4.4.0"
    assert facts["quantecon"] == "not found, left out"
    assert platform.node() not in " ".join(facts.values())


def test_an_unsolved_problem_is_counted_even_if_the_side_claims_it_solved() -> None:
    batch = problems.random_positive_definite(np.random.default_rng(0), 4, 3)
    answer = {"x": np.zeros((4, 3)), "solved": np.ones(4, bool)}
    assert run._unsolved(batch, answer) == "4"


def test_a_tolerance_that_is_not_reached_is_missed() -> None:
    assert run._friction_verdict(None, 1.0) == "missed"
    assert run._friction_verdict(1.0, None) == "open"
    assert run._friction_verdict(0.9, 1.0) == "met"
    assert run._friction_verdict(1.1, 1.0) == "missed"


def test_table_prints_as_markdown_and_refuses_a_short_row() -> None:
    table = tables.Table("T", ("a", "b"))
    table.add("x", "1")
    assert table.markdown() == "## T\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n"
    with pytest.raises(ValueError, match="1 cells for the 2 columns"):
        table.add("x")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(3.1e-7, "0.31 µs"), (1.5e-5, "15 µs"), (0.00123, "1.23 ms"), (2.0, "2 s"), (None, "–")],
)
def test_durations_choose_their_unit(seconds: float | None, shown: str) -> None:
    assert tables.duration(seconds) == shown


def test_a_solver_without_an_answer_keeps_its_row_and_is_missed() -> None:
    """The side named klapper is there but fails: the table must not hide it."""
    console = Console(file=io.StringIO(), width=200)
    failing = sides.Side("klapper", (sys.executable, "-c", "raise RuntimeError('gave up')"))
    bench = run.Bench(failing, None, None, {"klapper": "0"}, True, console)
    times, states = tables.Table("t", ("",) * 10), tables.Table("s", ("",) * 7)
    run._friction_rows(bench, problems.sphere_pile(np.random.default_rng(0), 20), 3, times, states)
    assert len(times.rows) == len(run.FRICTION_SOLVERS) * len(run.FRICTION_TOLERANCES)
    assert {row[4] for row in times.rows} == {"no answer"}
    assert {row[-1] for row in times.rows} == {"missed", "–"}  # only the first solver has a target
    assert "klapper newton: no answer, RuntimeError: gave up" in console.file.getvalue()  # type: ignore[attr-defined]
    assert states.rows == []
