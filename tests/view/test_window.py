"""A window on a run, drawn without a screen."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from klapper.results import ResultsError
from klapper.view import show
from klapper.view.pieces import pieces
from klapper.view.window import grid_of, update
from view.models import stretched_cube, turned_block


def test_a_stressed_cube_is_seen_in_colours(tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    plotter = show(stretched_cube(), screenshot=str(tmp_path / "cube.png"))
    plotter.close()
    pixels = np.asarray(Image.open(tmp_path / "cube.png").convert("RGB")).reshape(-1, 3)
    assert len(np.unique(pixels, axis=0)) > 50
    yellow = np.all(np.abs(pixels - np.array([253, 231, 37])) < 60, axis=1)
    assert yellow.mean() > 0.02  # the largest stress is everywhere


def test_a_grid_moves_from_frame_to_frame() -> None:
    pytest.importorskip("pyvista")
    run = stretched_cube(1.2)
    (piece,) = pieces(run, run.time)
    grid = grid_of(piece, 0)
    assert grid.volume == pytest.approx(1.0)
    update(piece, grid, 1)
    assert grid.volume == pytest.approx(1.2)
    np.testing.assert_allclose(grid.cell_data["von Mises stress"], 1.2 * 1000.0 * (1.2**2 - 1) / 2)


def test_a_time_outside_the_run_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    with pytest.raises(ResultsError, match=r"time is 3.0; the run has 0 s to 1 s"):
        show(turned_block(), time=3.0, screenshot=str(tmp_path / "none.png"))


def test_without_pyvista_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(ResultsError, match=r"pip install 'klapper\[view\]'"):
        show(turned_block())
