"""The three models at the top of the documentation: as short as promised, and right."""

import numpy as np
import pytest
from doc_pages import ROOT, blocks

import klapper

BALL, BEAM, RINGS = [block.text for block in blocks(ROOT / "docs" / "index.md") if block.language == "python"]


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


@pytest.mark.parametrize(("text", "most"), [(BALL, 8), (BEAM, 12), (RINGS, 20)])
def test_the_first_lines_are_few(text: str, most: int) -> None:
    assert lines(text) <= most


def done(text: str) -> dict[str, object]:
    session: dict[str, object] = {"__name__": "first lines"}
    exec(compile(text, "docs/index.md", "exec"), session)
    return session


def test_the_ball_hits_the_floor_when_it_must() -> None:
    run = done(BALL)["run"]
    assert isinstance(run, klapper.results.Run)
    first = np.sqrt(2 * 1.0 / 9.81)
    hits = [event.time for event in run.events()][:3]
    assert hits == pytest.approx([first, first * (1 + 1.6), first * (1 + 1.6 + 1.28)], rel=1e-9)


def test_the_beam_rocks_as_high_as_its_energy_allows() -> None:
    session = done(BEAM)
    run, rocking, beam = session["run"], session["rocking"], session["beam"]
    ends = rocking.output(run, beam.rows([0.4, 0.6]))
    assert ends[0] == pytest.approx([0.0, 0.01])
    assert 0.003 < ends[:, 0].max() < 0.01  # back below what it fell from
    assert ends.min() > -1e-4
    assert run.ledger.closes


def test_the_rings_keep_energy_and_momenta() -> None:
    run = done(RINGS)["run"]
    assert run.state.any()
    assert run.conservation.matrix == {"energy": True, "momentum": True, "angular momentum": True}
