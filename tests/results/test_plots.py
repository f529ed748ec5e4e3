"""Figures of runs: what is drawn, labels with units, long series without lost extremes."""

import io
import itertools
from typing import Any

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from klapper.contact_states import IMPACT
from klapper.results import Layout, ResultsError, Run, Samples
from klapper.results.thinning import thinned, thinned_curve, thinned_together

from .motions import bouncing_ball, braked_block, driven_oscillator, logged_by_number, run_of_states

quick = settings(max_examples=60)
KINDS = ["positions", "velocities", "gaps", "forces", "states", "ledger"]


def drawn(figure: Any) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=40)
    return content.getvalue()


@quick
@given(st.integers(0, 3000), st.integers(10, 200), st.integers(0, 99), st.booleans())
def test_thinning_keeps_all_extremes_of_all_stretches(count: int, limit: int, seed: int, holes: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(count)
    if holes:
        values[rng.random(count) < 0.3] = np.nan
    places = thinned(values, limit)
    assert len(places) <= max(limit, 0)
    assert np.all(np.diff(places) > 0)
    if count and not np.isnan(values).all():
        assert np.nanmin(values[places]) == np.nanmin(values)
        assert np.nanmax(values[places]) == np.nanmax(values)
    if count:
        assert places[0] == 0
        assert places[-1] == count - 1
    gaps = np.diff(places)
    assert not count or gaps.max(initial=0) <= 4 * (
        count / max(limit - 2, 1) + 1
    )  # every stretch is represented


@quick
@given(st.integers(0, 5000), st.integers(1, 7), st.integers(0, 9))
def test_thinned_columns_keep_their_extremes_and_curves_their_order(
    count: int, columns: int, seed: int
) -> None:
    values = np.random.default_rng(seed).standard_normal((count, columns))
    places = thinned_together(values, 500)
    assert len(places) <= 500
    if count:
        np.testing.assert_array_equal(values[places].max(axis=0), values.max(axis=0))
        x, y = values[:, 0], values[:, -1]
        points = thinned_curve(x, y, 300)
        assert len(points) <= 300
        assert np.all(np.diff(points) > 0)
        assert count == 0 or points[-1] == count - 1


def test_a_repeated_orbit_is_thinned_to_its_shape() -> None:
    angle = np.linspace(0.0, 2000.0, 100_000)
    points = thinned_curve(np.cos(angle), np.sin(angle), 5000)
    assert 1000 < len(points) <= 5000
    turned = np.sort(angle[points] % (2 * np.pi))
    assert np.diff(turned).max() < 0.1  # no part of the circle is missing


def test_a_thinned_curve_is_the_same_line() -> None:
    """A spiral of 40 turns: all of its points lie on the drawn line, as nearly as a figure shows."""
    time = np.linspace(0.0, 1.0, 200_001)
    x, y = (np.exp(-time) * wave(80 * np.pi * time) for wave in (np.cos, np.sin))
    points = thinned_curve(x, y)
    assert len(points) <= 5000 and points[0] == 0 and points[-1] == len(x) - 1
    curve = np.column_stack([x, y])
    for first, last in itertools.pairwise(points):
        along = curve[last] - curve[first]
        off = curve[first:last] - curve[first]
        assert np.abs(along[0] * off[:, 1] - along[1] * off[:, 0]).max() / np.hypot(*along) < 2e-3 * np.ptp(x)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [bouncing_ball, braked_block])
def test_each_figure_is_labelled_with_units(kind: str, make: Any) -> None:
    figure = getattr(make().plot, kind)()
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert figure.axes[-1 if kind == "ledger" else 0].get_xlabel() == "time / s" or kind == "forces"
    if kind != "states":
        assert all(" / " in label for label in labels)
    assert drawn(figure)[:4] == b"\x89PNG"


def test_figures_are_drawn_onto_what_is_given() -> None:
    run = braked_block()
    figure = Figure(layout="constrained", figsize=(9, 4))
    left, right = figure.subplots(1, 2)
    assert run.plot.positions(left, names=["block x"]) is figure
    assert run.plot.forces(right) is figure
    assert run.plot.ledger(right) is figure
    assert len(left.lines) == 1
    np.testing.assert_array_equal(left.lines[0].get_ydata(), run.coordinate("block x"))
    assert tuple(figure.get_size_inches()) == (9, 4)
    for kind in KINDS:
        empty = Figure(layout="constrained")
        assert getattr(run.plot, kind)(empty) is empty
        assert empty.axes
    whole = Figure(layout="constrained")
    upper, lower = whole.subfigures(2, 1)
    run.plot.gaps(upper)
    run.plot.states(lower)
    assert drawn(whole)


def test_the_docstring_of_a_figure_is_its_caption() -> None:
    from klapper.report.figures import draw

    run = bouncing_ball()
    (picture,) = draw({"gaps": run.plot.gaps})  # type: ignore[dict-item]
    assert picture.caption == "Gaps of the contacts over time."


def test_forces_are_lines_and_impulses_are_stems_on_a_second_scale() -> None:
    run = bouncing_ball(restitution=0.5)
    figure = run.plot.forces()
    lines, stems = figure.axes
    assert lines.get_ylabel() == "normal force / N"
    assert stems.get_ylabel() == "impulse / N s"
    tops = np.array([segment[1] for segment in stems.collections[0].get_segments()])
    impacts = run.impacts()
    np.testing.assert_allclose(tops, np.column_stack([impacts.time, impacts.impulse[:, 0]]))
    np.testing.assert_array_equal(lines.lines[0].get_ydata(), run.force[:, 0, 0])
    for axes in (lines, stems):
        low, high = axes.get_ylim()
        assert low <= 0.0 < high
    zero = [-axes.get_ylim()[0] / np.ptp(axes.get_ylim()) for axes in (lines, stems)]
    assert zero[0] == pytest.approx(zero[1])


def test_friction_has_a_panel_of_its_own() -> None:
    figure = braked_block().plot.forces()
    assert [axes.get_ylabel() for axes in figure.axes] == ["normal force / N", "tangential force / N"]
    assert figure.axes[1].lines[0].get_ydata()[1] == pytest.approx(-0.3 * 3.0 * 9.81)


def test_state_bars_cover_the_time_in_each_state() -> None:
    run = braked_block(until=1.0)
    (axes,) = run.plot.states().axes
    widths: dict[Any, float] = {}
    for bars in axes.collections:
        if isinstance(bars, PolyCollection):
            colour = matplotlib.colors.to_hex(bars.get_facecolor()[0])
            boxes = [path.get_extents() for path in bars.get_paths()]
            widths[colour] = widths.get(colour, 0.0) + sum(box.width for box in boxes)
    stop = 2.0 / (0.3 * 9.81)
    assert widths["#e69f00"] == pytest.approx(stop, abs=1 / 400)
    assert widths["#0072b2"] == pytest.approx(1.0 - stop, abs=1 / 400)


def test_the_sum_of_the_ledger_meets_its_line() -> None:
    run = driven_oscillator()
    upper, lower = run.plot.ledger().axes
    (line,) = upper.lines
    top = np.max([band.get_datalim(upper.transData).y1 for band in upper.collections])
    assert top == pytest.approx(np.max(line.get_ydata()), rel=1e-6)
    np.testing.assert_allclose(line.get_ydata(), run.ledger.loads, atol=1e-12)
    assert lower.get_ylabel() == "error / J"


def test_a_long_run_is_drawn_with_few_points_and_all_its_impacts() -> None:
    run = bouncing_ball(count=200_001, restitution=0.9, until=6.0)
    (axes,) = run.plot.positions().axes
    values = axes.lines[0].get_ydata()
    assert len(values) <= 5000
    assert values.max() == run.position.max()
    assert values.min() == run.position.min()
    (axes,) = run.plot.states().axes
    ticks = [bars for bars in axes.collections if not isinstance(bars, PolyCollection)]
    assert len(ticks[0].get_segments()) == np.count_nonzero(run.state == IMPACT)
    assert len(run.plot.phase("ball y").axes[0].lines[0].get_xdata()) <= 5000


def test_many_contacts_and_contacts_by_number_are_drawn() -> None:
    run = run_of_states(np.random.default_rng(0).integers(0, 4, (60, 12)), tangential=2)
    for asked in (run, logged_by_number(run)):
        for kind in ("gaps", "forces", "states"):
            assert drawn(getattr(asked.plot, kind)())
            assert getattr(asked.plot, kind)(contacts=[3, 7]).axes
    numbered = logged_by_number(run)
    (axes,) = numbered.plot.states().axes
    most = np.count_nonzero(run.state, axis=1).max()
    assert max(band.get_datalim(axes.transData).y1 for band in axes.collections) == most
    forces, impulses = numbered.plot.forces().axes
    pressed = np.where(run.state == IMPACT, 0.0, run.impulse[:, :, 0]).sum(axis=1)
    np.testing.assert_allclose(forces.lines[0].get_ydata()[1:], pressed[1:] / 0.5, atol=1e-12)
    np.testing.assert_array_equal(numbered.plot.gaps().axes[0].lines[-1].get_ydata().shape, (60,))
    assert impulses.get_ylabel() == "impulse / N s"


def test_short_and_empty_runs_are_drawn() -> None:
    layout = Layout(("x",), ("x",), ("c",), 1)
    single = run_of_states(np.array([[1]]))
    for run in (Run(layout, Samples.empty(layout)), Run(layout, single.samples)):
        for kind in KINDS:
            assert drawn(getattr(run.plot, kind)())
        assert drawn(run.plot.phase("x"))


def test_what_cannot_be_drawn_is_told() -> None:
    with pytest.raises(ResultsError, match="no contacts to draw"):
        driven_oscillator().plot.gaps()
    with pytest.raises(ResultsError, match="There is no coordinate 'bal y'"):
        bouncing_ball().plot.phase("bal y")
    with pytest.raises(ResultsError, match="There is no velocity 'u'"):
        bouncing_ball().plot.velocities(names=["u"])
    layout = Layout((), ())
    with pytest.raises(ResultsError, match="There is no position to draw"):
        Run(layout, Samples.empty(layout)).plot.positions()
