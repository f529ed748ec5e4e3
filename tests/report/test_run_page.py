"""The page of a run: everything is in it, nothing from elsewhere, and names can do no harm."""

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.gallery.example import Outcome, example
from klapper.report import Scene, Shape, write_report
from klapper.report.page import page
from klapper.report.record import About, Record
from klapper.report.run_page import run_page
from klapper.results import Layout, PartStore, Run
from report.page_reader import Page
from results.motions import bouncing_ball, braked_block, driven_oscillator, logged_by_number, run_of_states

NASTY = "</script><img src=x onerror=alert(1)>&amp;\u2028'\"$title<!--"


def hostile() -> Run:
    """A ball whose every name is an attack."""
    run = bouncing_ball(count=41)
    about = {
        **dict.fromkeys(("system", "scheme", "message", "version", "status"), NASTY),
        "settings": {NASTY: NASTY},
        "audit": {NASTY: {NASTY: [NASTY]}, "undetermined forces": {NASTY: NASTY}},
    }
    layout = Layout((NASTY,), (NASTY,), (NASTY,), 0)
    return Run(layout, run.samples, about)


def test_it_tells_what_was_computed_and_how_good_it_is() -> None:
    run = bouncing_ball()
    text = Page(run_page(run, text="A ball of 2 kg.", parameters={"height": "1 m"})).text
    for part in (
        "bouncing ball",
        "A ball of 2 kg.",
        "from 0 s to 3 s",
        "6 × impact",
        "The run is complete and its books close.",
        "The ledger closes",
        "met to 1e-15",
        "Moreau, J. J. (1988)",
        "doi:10.1016/S0045-7825(98)00383-1",
        "height",
        "1 m",
        "The page holds all 601 samples.",
    ):
        assert part in text, part


def test_a_single_step_is_told_in_the_singular() -> None:
    run = bouncing_ball(count=2)
    for steps, told in ((1, "in 1 step,"), (2, "in 2 steps,")):
        text = Page(
            run_page(Run(run.layout, run.samples, run.about | {"steps": steps, "wall_time": 1.0}))
        ).text
        assert told in text


def test_it_needs_nothing_from_elsewhere_and_forbids_it() -> None:
    html = run_page(bouncing_ball())
    read = Page(html)
    assert {"link", "iframe", "object", "base", "form"}.isdisjoint(read.tags)
    assert not [entry for entry in read.attributes if entry[1] in ("src", "href", "srcset", "style")]
    assert not [entry for entry in read.attributes if entry[1].startswith("on")]
    assert not re.search(r"https?://", html)

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    rules = dict(rule.strip().split(" ", 1) for rule in read.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(read.script)
    assert rules["style-src"] == digest(read.style)
    assert "unsafe" not in read.policy


def test_hostile_names_stay_texts() -> None:
    scene = Scene([0.0, 1.0], [Shape(NASTY, np.zeros((2, 3, 2)))], caption=NASTY, labels=[(0.0, 0.0, NASTY)])
    html = run_page(hostile(), title=NASTY, text=NASTY, parameters={NASTY: NASTY}, scene=scene, name=NASTY)
    plain = Page(run_page(bouncing_ball(count=41), scene=replace(scene, caption="", labels=())))
    read = Page(html)
    assert set(read.tags) <= set(plain.tags) | {"ul", "li"}
    assert "img" not in read.tags
    assert read.tags.count("script") == 2
    assert not {"<", ">", "&", "\u2028"} & set(read.data_text)
    assert read.data["contacts"][0]["name"] == read.data["position"][0]["name"] == NASTY
    assert read.data["scene"]["labels"] == [[0.0, 0.0, NASTY]]
    assert read.text.count(NASTY) >= 10
    (file,) = [value for _, name, value in read.attributes if name == "data-file"]
    assert re.fullmatch(r"[A-Za-z0-9._-]+\.csv", file)


@pytest.mark.parametrize("by_number", [False, True])
def test_runs_of_every_shape_have_a_page(by_number: bool) -> None:
    many = run_of_states(np.random.default_rng(0).integers(0, 4, (50, 60)), tangential=2)
    run = logged_by_number(many) if by_number else many
    data = Page(run_page(run)).data
    assert len(data["contacts"]) == 40
    for count in (0, 1, 2):
        Page(run_page(Run(run.layout, run.samples[:count])))
    Page(run_page(driven_oscillator()))


def test_a_page_of_a_long_run_can_be_sent_by_mail() -> None:
    rng = np.random.default_rng(5)
    long = run_of_states(rng.integers(0, 4, (60_000, 30)), tangential=1)
    assert len(run_page(long)) < 6e6
    assert len(run_page(bouncing_ball(count=200_001))) < 1e6


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = write_report(bouncing_ball(count=11), tmp_path / "ball.html")
    assert Page(file.read_text()).data["kept"] == 11
    with pytest.raises(FileNotFoundError):
        write_report(bouncing_ball(count=11), tmp_path / "nowhere" / "ball.html")
    assert [path.name for path in tmp_path.iterdir()] == ["ball.html"]


def test_show_writes_the_page_of_a_stored_run(tmp_path: Path) -> None:
    run = bouncing_ball(count=41)
    run.save(tmp_path / "a" / "run.h5")
    result = CliRunner().invoke(app, ["show", str(tmp_path / "a"), "--page", str(tmp_path / "a.html")])
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(Page((tmp_path / "a.html").read_text()).data["time"], run.time)
    with PartStore(tmp_path / "b") as store:
        store.begin(run.layout, {"system": "half a ball"}, "x")
        store.append(run.samples[:20], {})
    result = CliRunner().invoke(app, ["show", str(tmp_path / "b"), "--page", str(tmp_path / "b.html")])
    assert "The run was interrupted at 1.425 s" in Page((tmp_path / "b.html").read_text()).text


def test_show_refuses_a_page_in_one_sentence(tmp_path: Path) -> None:
    file = bouncing_ball(count=11).save(tmp_path / "run.h5")
    (tmp_path / "result.json").write_text("{}")
    for path, page_file, words in [
        (file, tmp_path, "give a file in an existing folder"),
        (file, tmp_path / "nowhere" / "a.html", "give a file in an existing folder"),
        (tmp_path / "result.json", tmp_path / "a.html", "--page shows a run"),
        (tmp_path / "none.h5", tmp_path / "a.html", "does not exist"),
    ]:
        result = CliRunner().invoke(app, ["show", str(path), "--page", str(page_file)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert words in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "a.html").exists()


def test_the_runs_of_an_example_are_those_given_or_those_drawn() -> None:
    one, two = bouncing_ball(count=11), braked_block(count=11)
    drawn = Outcome({}, figures={"a": one.plot.ledger, "b": one.plot.gaps, "c": two.plot.ledger, "d": print})
    assert list(drawn.shown_runs()) == ["run", "run-2"]
    assert list(drawn.shown_runs().values()) == [one, two]
    assert Outcome({}, figures={"a": one.plot.ledger}, runs={"other": two}).shown_runs() == {"other": two}
    assert Outcome({}).shown_runs() == {}
    with pytest.raises(ValueError, match=r"a run cannot be called '\.\./x'"):
        Outcome({}, runs={"../x": one})


def test_an_example_writes_the_pages_of_its_runs_and_says_if_one_was_interrupted(
    tmp_path: Path, fakes: dict[str, object]
) -> None:
    scene = Scene([0.0], [Shape("ball", [[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])], caption="one picture")

    def ball(status: str) -> Outcome:
        run = bouncing_ball(count=41)
        run = Run(run.layout, run.samples, {**run.about, "status": status})
        return Outcome({}, runs={"motion": run}, scenes={"motion": lambda: scene, "other": print})

    @example("fake-whole", source="closed form")
    def whole() -> Outcome:
        """Ball."""
        return ball("complete")

    @example("fake-stopped", source="closed form")
    def stopped() -> Outcome:
        """Half a ball."""
        return ball("interrupted")

    result = CliRunner().invoke(app, ["run", "fake-whole", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert Page((tmp_path / "motion.html").read_text()).data["scene"]["caption"] == "one picture"
    assert 'href="motion.html"' in (tmp_path / "report.html").read_text()
    result = CliRunner().invoke(app, ["run", "fake-stopped"])
    assert result.exit_code == 130
    assert "The run was interrupted" in result.stderr


def test_the_page_of_an_example_leads_to_its_runs() -> None:
    read = Page(page(Record("ball", {}, {}, [], {}), About(), runs=["run", "run-2"]))
    assert [value for tag, name, value in read.attributes if name == "href"] == ["run.html", "run-2.html"]
