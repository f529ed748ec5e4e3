"""The page on studies, followed word by word."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "studies.md"


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def test_the_page_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "guide"}
    for snippet in snippets("python"):
        exec(compile(snippet, PAGE.name, "exec"), namespace)
    assert (tmp_path / "regimes.png").stat().st_size > 10_000
    assert (tmp_path / "drift-map" / "study.sqlite").exists()


def test_a_study_from_description_to_figure_takes_less_than_thirty_lines() -> None:
    assert "savefig" in snippets("python")[0]
    assert snippets("python")[0].count("\n") < 30


def test_the_file_of_the_page_describes_a_study(tmp_path: Path) -> None:
    from klapper.studies.file import read_study

    path = tmp_path / "study.toml"
    path.write_text(snippets("toml")[0], encoding="utf-8")
    study, wishes = read_study(path)
    assert len(study.design) == 12
    assert [wish.kind for wish in wishes] == ["map"]


def test_the_other_file_of_the_page_draws_panels(tmp_path: Path) -> None:
    from klapper.studies.file import read_study

    path = tmp_path / "study.toml"
    small = snippets("toml")[1].replace("count = 22", "count = 2").replace("count = 121", "count = 3")
    path.write_text(small, encoding="utf-8")
    study, wishes = read_study(path)
    assert study.run(workers=1).counts() == {"done": 24, "failed": 0, "missing": 0}
    from matplotlib.figure import Figure

    figure = Figure()
    wishes[0].draw(study, figure)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [f"centre / m = {centre}" for centre in (0.9, 1.1, 1.3, 1.5)]


def test_the_maps_of_the_page_are_all_there_are() -> None:
    from klapper.studies.maps import MAPS

    text = PAGE.read_text(encoding="utf-8")
    for name, shipped in MAPS.items():
        assert f"| `{name}` | `klapper.studies.maps.{shipped.module}.{shipped.name}` |" in text
        assert shipped.function.__name__ == shipped.name
    for image in re.findall(r"\(images/(studies_\w+\.png)\)", text):
        assert (PAGE.parent / "images" / image).stat().st_size > 10_000


def test_the_schema_of_the_page_is_that_of_the_store(tmp_path: Path) -> None:
    import sqlite3

    import study_targets

    import klapper

    klapper.study(study_targets.square, over={"x": [1.0]}, outputs=["value"], store=tmp_path).run(workers=1)
    base = sqlite3.connect(tmp_path / "study.sqlite")
    text = PAGE.read_text(encoding="utf-8")
    for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
        assert f"| `{table}` |" in text
        for row in base.execute(f"PRAGMA table_info({table})"):
            assert row[1] in ("x", "y", "value") or f"`{row[1]}`" in text, row[1]
    base.close()
