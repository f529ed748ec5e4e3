"""Figures of the pipe on one-sided supports."""

from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.gallery._pipe import Dimensionless, Hose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 4  # oscillations without flow, up to whose frequency eigenvalues are drawn
PUBLISHED = {0.2: 5.6, 0.5: 9.3, 0.8: 13.5}  # β: critical U L √(M_f/EI) of a cantilever, read from the curve


def draw_branch(figure: "Figure", *, hose: Hose, flow: float) -> None:
    """State of rest over the flow: forces of the supports and gaps where they have opened. Lines: finite elements,
    dashed where the state is unstable; circles: solution span by span. The star is the given flow."""
    from klapper.gallery._sketch import DARK, GREY
    from klapper.results.drawing import colours

    figure.set_size_inches(7.4, 5.4)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    branch = hose.branch
    kept = slice(0, hose.points)
    u = branch.parameter[kept]
    stable = u <= (hose.critical if np.isfinite(hose.critical) else np.inf)
    state = hose.state(flow)
    for i, (name, colour) in enumerate(zip(hose.names, colours(len(hose.names)), strict=True)):
        force, gap = branch.forces[kept, i, 0], 1e3 * branch.gaps[kept, i]
        for axes, values in ((upper, force), (lower, gap)):
            axes.plot(
                u, np.where(stable, values, np.nan), color=colour, label=f"{name}, {hose.supports[i]:g} m"
            )
            axes.plot(u, values, color=colour, linewidth=1.1, linestyle="--")
        places = np.linspace(0.02, 0.98, 15) * u[-1]
        known = [_exact_force(hose, name, speed) for speed in places]
        upper.plot(
            places, known, "o", markersize=4.5, markerfacecolor="white", color=colour, linestyle="none"
        )
        upper.plot(
            flow, state.forces[i, 0], "*", markersize=13, color=colour, markeredgecolor="white", zorder=6
        )
    for axes in (upper, lower):
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        for at, _, _ in hose.changes:
            axes.axvline(at, color=DARK, linewidth=0.9, linestyle=":")
        if np.isfinite(hose.critical):
            axes.axvline(hose.critical, color="#D55E00", linewidth=1.3)
    for at, kind, name in hose.changes:
        _note(upper, at, f"{name} {kind}", DARK)
    if np.isfinite(hose.critical):
        _note(upper, hose.critical, hose.kind, "#D55E00")
    handles, _ = upper.get_legend_handles_labels()
    upper.set(ylabel="force of the support / N")
    lower.set(xlabel="flow velocity U / (m/s)", ylabel="gap / mm", xlim=(0.0, hose.highest))
    figure.legend(handles=handles, loc="outside upper left", ncols=4, frameon=False)
    _second_scale(upper, hose)


def _second_scale(axes: "Axes", hose: Hose) -> None:
    unit = hose.unit
    scale = axes.secondary_xaxis(
        "top", functions=(lambda x: np.divide(x, unit), lambda x: np.multiply(x, unit))
    )
    scale.set_xlabel("$U\\,/\\,U_c$")


def _note(axes: "Axes", at: float, text: str, colour: str) -> None:
    axes.annotate(
        text,
        (at, 0.98),
        (-4, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        rotation=90,
        ha="right",
        va="top",
        color=colour,
        fontsize=9,
    )


def _exact_force(hose: Hose, name: str, flow: float) -> float:
    names = hose.closed(flow)
    return float(hose.exact(names).support_forces(flow)[names.index(name)]) if name in names else 0.0


def draw_eigenvalues(figure: "Figure", *, hose: Hose, flow: float) -> None:
    """Small motions that keep the loaded supports: frequencies and growth of the slowest ones over the flow. Where a
    support opens the pipe becomes another one, and its eigenvalues jump. Red: they grow, the state is unstable."""
    from klapper.gallery._sketch import BLUE, DARK, GREY

    figure.set_size_inches(7.4, 5.4)
    upper, lower = figure.subplots(2, 1, sharex=True)
    flows = np.linspace(0.0, hose.end * (1 - 1e-9), 241)
    values = [_slow(hose, speed) for speed in flows]
    speeds = np.concatenate([np.full(len(each), speed) for speed, each in zip(flows, values, strict=True)])
    found = np.concatenate(values)
    upper.plot(speeds, found.imag / (2 * np.pi), ".", markersize=2.5, color=BLUE)
    lower.plot(speeds, found.real, ".", markersize=2.5, color=BLUE)
    unstable = found.real > 1e-9
    upper.plot(speeds[unstable], found.imag[unstable] / (2 * np.pi), ".", markersize=3.5, color="#D55E00")
    lower.plot(speeds[unstable], found.real[unstable], ".", markersize=3.5, color="#D55E00")
    lower.axhline(0.0, color=GREY, linewidth=0.9)
    for axes in (upper, lower):
        for at, _, _ in hose.changes:
            axes.axvline(at, color=DARK, linewidth=0.9, linestyle=":")
        axes.axvline(flow, color=GREY, linewidth=0.9, linestyle="--")
    for at, kind, name in hose.changes:
        _note(upper, at, f"{name} {kind}", DARK)
    _note(upper, flow, "given flow", GREY)
    upper.set(ylabel="frequency / Hz")
    least = float(np.percentile(found.real, 2))
    lower.set(xlabel="flow velocity U / (m/s)", ylabel="growth / (1/s)", xlim=(0.0, hose.highest))
    lower.set_ylim(1.1 * least, max(1.2 * float(found.real.max()), -0.25 * least))
    _second_scale(upper, hose)


def _slow(hose: Hose, flow: float) -> np.ndarray:
    """Eigenvalues (k,) with frequencies from zero up to one fixed by the pipe without flow."""
    rest = np.sort(np.abs(hose.judged(0.0).eigenvalues.imag))[::2]
    values = hose.judged(flow).eigenvalues
    return values[(values.imag >= 0.0) & (values.imag <= 1.15 * rest[min(SHOWN, len(rest)) - 1])]


def draw_shapes(figure: "Figure", *, hose: Hose, flow: float) -> None:
    """Above: the pipe at rest for some flows. Below: the motion that begins to grow at the critical flow, over one
    period. Triangles are supports, dark if loaded."""
    from klapper.gallery._sketch import BLUE, DARK, GREY

    figure.set_size_inches(7.4, 5.0)
    rest, moving = figure.subplots(2, 1, sharex=True)
    x = np.linspace(0.0, hose.length, 300)
    rows = hose.pipe.rows(x)
    branch = hose.branch
    last = hose.critical if np.isfinite(hose.critical) else hose.end
    near = [
        int(np.argmin(np.abs(branch.parameter[: hose.points] - speed))) for speed in np.linspace(0.0, last, 6)
    ]
    for point, hue in zip(near, _hues(len(near)), strict=True):
        rest.plot(
            x, 1e3 * rows @ branch.position[point], color=hue, label=f"{branch.parameter[point]:.3g} m/s"
        )
    rest.set(ylabel="deflection at rest / mm")
    rest.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=6, borderaxespad=0.3, fontsize=8)
    at = hose.critical if hose.kind in ("flutter", "divergence") else flow
    mode = _growing_mode(hose, at)
    shape = rows @ mode
    for phase in np.linspace(0.0, 2 * np.pi, 16, endpoint=False):
        moving.plot(
            x, np.real(shape * np.exp(1j * phase)) / np.abs(shape).max(), color=GREY, linewidth=0.8, alpha=0.8
        )
    for sign in (1.0, -1.0):
        moving.plot(x, sign * np.abs(shape) / np.abs(shape).max(), color=BLUE, linewidth=1.3)
    word = f"{hose.kind} at {at:.4g} m/s" if at == hose.critical else f"least damped at {at:.4g} m/s"
    moving.set(xlabel="x / m", ylabel=f"{word}\n(no scale)", xlim=(0.0, hose.length))
    closed = hose.closed(at)
    for axes, names in ((rest, hose.closed(0.0)), (moving, closed)):
        for name, place in zip(hose.names, hose.supports, strict=True):
            axes.plot(
                place, 0.0, marker=6, markersize=11, color=DARK if name in names else "#BBBBBB", zorder=6
            )


def _hues(count: int) -> Any:
    import matplotlib

    return matplotlib.colormaps["viridis"](np.linspace(0.0, 0.88, count))


def _growing_mode(hose: Hose, flow: float) -> np.ndarray:
    """q̂ (n,) complex of the fastest growing small motion."""
    from klapper.analysis.minimal_coordinates import minimal_coordinates

    reduced = minimal_coordinates(hose.system(flow), closed=hose.closed(flow))
    return reduced.basis @ reduced.stability.modes[:, 0]


def draw_map(figure: "Figure", *, bare: Dimensionless) -> None:
    """The pipe with the same ends, but without supports and damping: growth over the share of fluid in the mass and the
    flow; white is stable. Line: traced border; circles: characteristic determinant; squares: published curve."""
    from klapper.gallery._sketch import DARK

    figure.set_size_inches(6.8, 4.8)
    axes = figure.subplots()
    chart = bare.chart
    chart.plot(
        axes,
        x_name="β = $M_f/(m + M_f)$",
        y_name="$u = U L \\sqrt{M_f/EI}$",
        unit="$\\sqrt{EI/(m + M_f)}\\,/L^2$",
    )
    if bare.free:
        known = np.linspace(0.1, 0.9, 9)
        exact = [_exact_cantilever(beta, bare.critical(beta)) for beta in known]
        axes.plot(known, exact, "o", markersize=5, markerfacecolor="white", color=DARK, linestyle="none",
                  label="determinant")  # fmt: skip
        axes.plot(list(PUBLISHED), list(PUBLISHED.values()), "s", markersize=6, color="#0072B2", linestyle="none",
                  label="Gregory & Païdoussis")  # fmt: skip
    else:
        axes.axhline(np.pi, color=DARK, linestyle=":", linewidth=1.4, label="u = π")
    if (legend := axes.get_legend()) is not None:
        legend.remove()
    figure.legend(loc="outside upper left", frameon=False, ncols=3)


def _exact_cantilever(beta: float, near: float) -> float:
    from klapper.analysis.linear_stability import stability
    from klapper.gallery._pipe_spans import PipeSpans

    frequency = stability(*Dimensionless(True).matrices(beta, near * (1 + 1e-9))).angular_frequency
    spans = PipeSpans(1.0, 1.0, 1.0, beta, 0.0, 0.0, True, ())
    return spans.flutter_flow(near / np.sqrt(beta), frequency) * np.sqrt(beta)
