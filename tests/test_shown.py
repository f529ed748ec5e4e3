"""What results show of themselves in consoles and notebooks."""

import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import klapper as kl
from klapper.results import Run
from klapper.shown import drawing

PNG = b"\x89PNG\r\n"


class Tags(HTMLParser):
    """Every tag that is opened is closed, and what a card holds."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def oscillator(name: str = "oscillator") -> kl.LinearSystem:
    stop = kl.Contact(f"stop of {name}", normal=[-1.0], gap=0.3, restitution=0.5)
    force = kl.Harmonic([1.0], frequency=0.2)
    return kl.LinearSystem([1.0], damping=[0.2], stiffness=[1.0], force=force, contacts=[stop], name=name)


@pytest.fixture(scope="module")
def run() -> Run:
    return kl.simulate(oscillator(), 10.0, kl.Moreau(1e-2))


def shown() -> list[Any]:
    system = oscillator()
    run = kl.simulate(system, 10.0, kl.Moreau(1e-2))
    return [
        system,
        run,
        run.ledger,
        kl.compare(system, 2.0, [kl.Moreau(1e-2), kl.EventDriven()]),
        kl.solve(kl.LinearComplementarity([[2.0]], [-4.0])),
        kl.follow_harmonic(system, 0.05, 0.06, harmonics=3),
        kl.bifurcation_diagram(
            lambda w: kl.LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=kl.Harmonic([1.0], w)),
            [1.0, 2.0],
            settle=5,
            keep=3,
        ),
    ]


def test_everything_has_a_short_text_and_a_card() -> None:
    pictured = 0
    for thing in shown():
        assert len(repr(thing)) < 160 and "\n" not in repr(thing), type(thing)
        card = Tags(thing._repr_html_())
        assert card.open == [] and {"div", "p", "strong"} <= set(card.seen)
        pictured += "img" in card.seen
    assert pictured >= 2  # a run and a comparison


def test_a_figure_shows_itself_and_survives_pickling(run: Run) -> None:
    figure = run.plot.positions()
    assert figure._repr_png_().startswith(PNG)
    assert pickle.loads(pickle.dumps(figure))._repr_png_().startswith(PNG)
    assert drawing(figsize=(2.0, 1.0)).get_size_inches().tolist() == [2.0, 1.0]


def test_names_from_files_do_not_become_tags() -> None:
    hostile = oscillator("<script>alert(1)</script>")
    for html in (hostile._repr_html_(), kl.simulate(hostile, 0.1, kl.Moreau(1e-2))._repr_html_()):
        assert "<script" not in html and "&lt;script&gt;" in html


def test_a_run_becomes_a_table(run: Run) -> None:
    pandas = pytest.importorskip("pandas")
    table = run.to_pandas()
    assert isinstance(table, pandas.DataFrame) and table.index.name == "time [s]"
    assert table["position q1"].to_numpy() == pytest.approx(run.position[:, 0])
    assert np.array_equal(table.index, run.time)


def test_a_diagram_is_plotted_with_its_axes_named() -> None:
    diagram = shown()[-1]
    axes = diagram.plot(parameter="Ω / rad/s", quantity="x / m").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Ω / rad/s", "x / m")
    assert sum(len(line.get_xdata()) for line in axes.lines) == 2 * 3
