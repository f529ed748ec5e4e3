import io
from pathlib import Path
from typing import Any

import pytest
from benchmarks.page import Section, write
from benchmarks.structures import run
from rich.console import Console

from benchmarks import run as everything


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def _line(figure: Any) -> None:
    figure.subplots().plot([0.0, 1.0], [0.0, 1.0])


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Measurements that only say what they were asked."""
    asked: list[dict[str, Any]] = []

    def fake(name: str) -> Any:
        def section(**request: Any) -> Section:
            asked.append({"name": name, **request})
            return Section(f"words of {name}", _line if name == "speeds" else None, "a line", (2.0, 2.0))

        return section

    monkeypatch.setattr(run, "MEASUREMENTS", {name: fake(name) for name in run.MEASUREMENTS})
    return asked


def test_the_page_has_marks_for_every_measurement() -> None:
    text = run.PAGE.read_text(encoding="utf-8")
    for name in ("machine", *run.MEASUREMENTS):
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- /{name} -->") == 1


def test_what_is_found_replaces_the_text_between_its_marks(
    tmp_path: Path, console: Console, measured: list[dict[str, Any]]
) -> None:
    output = tmp_path / "page.md"
    for _ in range(2):
        run.write("python", quick=False, console=console, output=output, only=["speeds", "steady_state"])
    text = output.read_text(encoding="utf-8")
    assert text.count("words of speeds") == text.count("words of steady_state") == 1
    assert (
        "<!-- speeds -->\nwords of speeds\n\n![a line](images/structures_speeds.png)\n<!-- /speeds -->"
        in text
    )
    assert (tmp_path / "images" / "structures_speeds.png").stat().st_size > 0
    assert "- numpy: " in text
    assert measured[:2] == [
        {"name": "speeds", "quick": False},
        {"name": "steady_state", "quick": False, "siconos_python": "python"},
    ]


def test_quick_measurements_leave_the_manual_alone(console: Console, measured: list[dict[str, Any]]) -> None:
    before = run.PAGE.read_bytes()
    run.write("python", quick=True, console=console, output=run.PAGE)
    assert run.PAGE.read_bytes() == before
    assert [each["name"] for each in measured] == list(run.MEASUREMENTS)


def test_a_page_without_marks_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.md"
    bare.write_text("nothing here", encoding="utf-8")
    with pytest.raises(ValueError, match=r"bare\.md has no marks <!-- speeds -->"):
        write(bare, "speeds", Section("words"), pictures="structures")


def test_the_bench_runs_structures_alone(tmp_path: Path, measured: list[dict[str, Any]]) -> None:
    everything.main(["--quick", "--only", "structures", "--output", str(tmp_path / "benchmarks.md")])
    assert [each["name"] for each in measured] == list(run.MEASUREMENTS)
    assert "words of step_cost" in (tmp_path / "benchmarks_structures.md").read_text(encoding="utf-8")
    assert not (tmp_path / "benchmarks.md").exists()
