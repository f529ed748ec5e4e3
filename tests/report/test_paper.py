"""Figures for papers: vector graphics, labelled with units, the same bytes for the same drawing."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from klapper.gallery.figures import main
from klapper.report.paper import drawn, write_figure
from klapper.results import ResultsError, Run
from results.motions import bouncing_ball, braked_block, driven_oscillator, logged_by_number

PLOTS = ["positions", "velocities", "phase", "gaps", "forces", "states", "ledger"]


def wanted(plot: str, run: Run) -> dict[str, str]:
    if plot != "phase":
        return {}
    name = run.layout.coordinates[0]
    return {"name": name, "velocity": run.layout.velocities[0]}


@pytest.mark.parametrize("plot", PLOTS)
def test_every_plot_of_a_run_is_a_vector_graphic_with_units(plot: str, tmp_path: Path) -> None:
    for number, run in enumerate((bouncing_ball(restitution=0.5), braked_block())):
        drawing, options = getattr(run.plot, plot), wanted(plot, run)
        pdf = write_figure(drawing, tmp_path / f"{number}.pdf", **options).read_bytes()
        assert pdf.startswith(b"%PDF")
        assert b"/Subtype /Image" not in pdf
        assert b"/Type3" not in pdf.replace(b" ", b"")  # which journals refuse
        svg = write_figure(drawing, tmp_path / f"{number}.svg", **options).read_bytes()
        root = ElementTree.fromstring(svg)
        assert not list(root.iter("{http://www.w3.org/2000/svg}image"))
        texts = " | ".join(filter(None, root.itertext()))
        assert "time / s" in texts or plot == "phase"
        assert svg == drawn(drawing, "svg", **options)
        assert pdf == drawn(drawing, "pdf", **options)


@pytest.mark.parametrize("plot", PLOTS)
def test_every_axis_has_its_quantity_and_unit(plot: str) -> None:
    unit = re.compile(r"\S / (s|m|m or rad|m/s or rad/s|N|N s|J)$")
    runs = [bouncing_ball(restitution=0.5), braked_block(), driven_oscillator(count=301)]
    for run in (run for run in runs if run.layout.contacts or plot not in ("gaps", "forces", "states")):
        figure = Figure(layout="constrained")
        getattr(run.plot, plot)(onto=figure, **wanted(plot, run))
        shown = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        for axes in shown:
            if not (plot == "states" or axes.get_ylabel() == "loaded contacts"):
                assert unit.search(axes.get_ylabel()), axes.get_ylabel()
        assert any(unit.search(axes.get_xlabel()) for axes in shown)


def test_contacts_that_are_logged_by_number_are_counted() -> None:
    figure = Figure(layout="constrained")
    logged_by_number(bouncing_ball(count=61)).plot.states(figure)
    assert figure.axes[0].get_ylabel() == "loaded contacts"


def test_the_width_is_that_of_a_column(tmp_path: Path) -> None:
    svg = write_figure(bouncing_ball().plot.gaps, tmp_path / "gaps.svg", width=3.4).read_text(
        encoding="utf-8"
    )
    width = re.search(r'width="([\d.]+)pt"', svg)
    assert width is not None
    assert float(width[1]) == pytest.approx(72 * 3.4)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    run = bouncing_ball()
    with pytest.raises(ResultsError, match=r"allowed are \.pdf, \.svg, \.eps, \.png"):
        write_figure(run.plot.gaps, tmp_path / "gaps.jpg")
    with pytest.raises(ResultsError, match=r"from 0.5 to 100"):
        write_figure(run.plot.gaps, tmp_path / "gaps.pdf", width=0.0)
    assert not list(tmp_path.iterdir())


def test_one_command_writes_the_figures_of_the_gallery(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "out"), "four-legged-table", "disc-ring", "--format", "svg"]) == 0
    files = sorted((tmp_path / "out").rglob("*.svg"))
    assert {file.parent.name for file in files} == {"four-legged-table", "disc-ring"}
    assert f"{len(files)} figures" in capsys.readouterr().out
    assert main([str(tmp_path), "four-leged-table"]) == 2
    assert "the nearest is 'four-legged-table'" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'file'} is a file: give a folder.\n"
