"""Which of the possible friction forces the prox iteration finds: start value and factors decide.

A block on two feet rests under a push F. Every pair with λ_TA + λ_TB = −F within the friction limits is possible. One
sweep of the iteration moves both forces by their factors times the same sliding velocity and cuts them off,

    T ← clip(T − R 1 v(T)),    R = diag(r_A, r_B)

so while v keeps its sign the iterates stay on T = clip(T₀ + R 1 α), and the end of that path is

    T = argmin Σ (T_i − T_i0)²/r_i    over the possible pairs:

the possible pair nearest to the start, measured with 1/r. From zero with equal r that is the smallest λᵀλ; r in the
ratio of contact stiffnesses gives the split of springs. A start beyond the limits is cut off, and the limits are those
of the normal forces so far: a force that an early round cuts off has lost its memory, and the rule need not hold for it
(`mu=0.5`, `push=30`). While the block slides there is nothing to choose.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._block import Height, Mass, Mu, Width, make_block
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    from klapper.bodies import FootedBlock
    from klapper.schemes import NestedProx
    from klapper.schemes.nested_iteration import IterationLog

PRINTED = {"push": 2.0, "start": (-500.0, 500.0), "step": 1e-4}
FAN = 7  # starts along each side of the grid of the map
SETTLED = 100  # steps after which forces are read


@example("prox-start", source="Seiwald (2014), 5.2.2, Fig. 5.4; open question of chapter 6")
def prox_start(
    *,
    push: Annotated[float, Parameter("force to the right at the upper corner", unit="N", at_least=0.0)] = 2.0,
    start: Annotated[tuple[float, float], Parameter("T_A,T_B from which every step iterates", unit="N")] = (
        -500.0,
        500.0,
    ),
    weights: Annotated[
        tuple[float, float], Parameter("factors of r at A and B in the second map", above=0.0, at_most=1.0)
    ] = (1.0, 0.25),
    mu: Mu = 0.1,
    mass: Mass = 16.0,
    width: Width = 0.2,
    height: Height = 0.1,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 1e-4,
    velocity: Annotated[float, Parameter("speed of the sliding block", unit="m/s", above=0.0)] = 0.2,
) -> Outcome:
    block = make_block(width, height, mass, mu)
    if push >= block.slip_force:
        raise ParameterError(f"push is {push} N; the block slides from {block.slip_force:g} N on. Give less.")
    stop = velocity / (mu * block.gravity)
    if SETTLED * step > 0.9 * stop:
        raise ParameterError(
            f"step is {step} s; a block with {velocity} m/s stops after {stop:.3g} s, {SETTLED} steps must be shorter."
        )
    limit = mu * block.normal_forces(push, -push)
    resting = {
        name: _forces(block, push, step, given) for name, given in (("zero", (0.0, 0.0)), ("given", start))
    }
    sliding = [_forces(block, push, step, given, velocity) for given in ((0.0, 0.0), start)]
    logs = {name: _log(block, push, step, given) for name, given in (("zero", (0.0, 0.0)), ("given", start))}
    maps = [_map(block, push, step, factors) for factors in ((1.0, 1.0), weights)]
    off = np.concatenate([each.distance for each in maps])
    free = np.concatenate([each.never_cut for each in maps])
    kept = _never_cut(block, push, step, np.array([start]), (1.0, 1.0))[0]
    checks = [
        Check(
            "friction from zero",
            value=resting["zero"][:, 1],
            expected=block.smallest_friction(push),
            tolerance=2e-3,
            source="smallest λᵀλ of the possible pairs",
        ),
        _start_check(resting["given"][:, 1], push, limit, start, kept=bool(kept)),
        Check(
            "friction sums",
            value=[float(force[:, 1].sum()) for force in resting.values()],
            expected=-push,
            tolerance=2e-3,
            source="balance of forces",
        ),
        Check(
            "sliding: influence of the start",
            value=float(np.abs(sliding[0] - sliding[1]).max()),
            at_most=1e-3,
            source="5.2.2: no dependence",
        ),
        Check(
            "selected pairs of starts that are never cut off",
            value=float(off[free].max(initial=0.0)),
            at_most=1e-4,
            source="nearest possible pairs in the metric 1/r",
        ),
    ]
    if {"push": push, "start": start, "step": step} == PRINTED and block == make_block(0.2, 0.1, 16.0, 0.1):
        checks += [
            Check(
                "(5.5)",
                value=_listed(resting["zero"]),
                expected=[-1.0, 77.48, -1.0, 79.48],
                tolerance=1e-3,
                source="printed",
            ),
            Check(
                "(5.7)",
                value=_listed(resting["given"]),
                expected=[-7.75, 77.48, 5.75, 79.48],
                tolerance=1e-2,
                source="printed",
            ),
        ]
    return Outcome(
        numbers={
            "forces_from_zero": _listed(resting["zero"]),
            "forces_from_start": _listed(resting["given"]),
            "forces_sliding": _listed(sliding[0]),
            "influence_while_sliding": float(np.abs(sliding[0] - sliding[1]).max()),
            "rounds": [int(log.round[-1]) for log in logs.values()],
            "first_round_from_zero": logs["zero"].of("tangential", 1)[:, 1, 1] / step,
            "first_round_from_start": logs["given"].of("tangential", 1)[:, 1, 1] / step,
            "starts": len(off),
            "starts_never_cut": int(np.count_nonzero(free)),
            "starts_off_the_rule": int(np.count_nonzero(off > 1e-3)),
            "farthest_off_the_rule": float(off.max()),
        },
        units={
            "forces_from_zero": "N (λ_TA, λ_NA, λ_TB, λ_NB)",
            "forces_from_start": "N (λ_TA, λ_NA, λ_TB, λ_NB)",
            "forces_sliding": "N (λ_TA, λ_NA, λ_TB, λ_NB)",
            "influence_while_sliding": "N (largest difference by both starts)",
            "rounds": "of the first step, from zero and from the start",
            "first_round_from_zero": "N (λ_TB after each iteration)",
            "first_round_from_start": "N (λ_TB after each iteration)",
            "starts": "of both maps",
            "starts_never_cut": "whose forces stay within all limits of all rounds",
            "starts_off_the_rule": "which an early round cut off",
            "farthest_off_the_rule": "N",
        },
        checks=checks,
        audit={
            "uniqueness": f"at rest only λ_TA + λ_TB is determined: λ_TA from {max(-limit[0], -push - limit[1]):.4g} N "
            f"to {min(limit[0], -push + limit[1]):.4g} N; the motion is unique",
        },
        figures={
            "selection": partial(_draw_maps, push=push, limit=limit, maps=maps),
            "first-round": partial(_draw_first_round, logs=logs, step=step),
            "rounds": partial(_draw_rounds, logs=logs, step=step),
        },
    )


def _scheme(step: float, start: Any, **options: Any) -> "NestedProx":
    from klapper.schemes import NestedProx

    given = None if not np.any(start) else tuple((0.0, float(tangential)) for tangential in start)
    return NestedProx(step, start=given, **{"max_rounds": 200, **options})


def _forces(
    block: "FootedBlock", push: float, step: float, start: tuple[float, float], velocity: float = 0.0
) -> np.ndarray:
    """Normal and tangential forces (2, 2) [N] of A and B after a while."""
    from klapper.bodies import rigid_block
    from klapper.simulation import simulate

    system = rigid_block(block, load=(push, 0.0, 0.0), velocity=(velocity, 0.0, 0.0))
    run = simulate(system, SETTLED * step, _scheme(step, start), progress=False)
    return run.force[-1]


def _log(block: "FootedBlock", push: float, step: float, start: tuple[float, float]) -> "IterationLog":
    from klapper.bodies import rigid_block

    system, scheme = rigid_block(block, load=(push, 0.0, 0.0)), _scheme(step, start)
    return scheme.iterations(system, scheme.init(system))


@dataclass(frozen=True, eq=False)
class Map:
    """What the iteration finds from many starts.

    ``starts``, ``found``, ``nearest``  (k, 2) [N]: begin, end, and the possible pair nearest to the begin in 1/r
    ``never_cut``                       (k,) whether no limit of any round can have cut the forces off
    """

    weights: tuple[float, float]
    starts: np.ndarray
    found: np.ndarray
    nearest: np.ndarray
    never_cut: np.ndarray

    @property
    def distance(self) -> np.ndarray:
        """(k,) [N] of the found from the nearest pairs."""
        return np.abs(self.found - self.nearest).max(axis=1)


def _map(block: "FootedBlock", push: float, step: float, weights: tuple[float, float]) -> Map:
    from klapper.complementarity.selection.two_contacts import water_filling

    limit = np.array(block.friction) * block.normal_forces(push, -push)
    starts = _grid(limit)
    found = np.array([_selected(block, push, step, point, weights) for point in starts])
    nearest = np.array(
        [water_filling(-push, -limit, limit, start=point, stiffness=weights) for point in starts]
    )
    return Map(weights, starts, found, nearest, _never_cut(block, push, step, starts, weights))


def _never_cut(
    block: "FootedBlock", push: float, step: float, starts: np.ndarray, weights: tuple[float, float]
) -> np.ndarray:
    """Whether (k,) the forces from each start (k, 2) [N] stay within all limits of all rounds."""
    from klapper.bodies import rigid_block
    from klapper.schemes.nested_iteration import Counter
    from klapper.schemes.nested_step import NestedStep

    mu = np.array(block.friction)
    scheme, system = _scheme(step, (0.0, 0.0), weights=weights), rigid_block(block, load=(push, 0.0, 0.0))
    prepared = NestedStep(scheme, system, scheme.init(system), Counter())
    sweep = float(prepared.factor[:, 1].sum() * (prepared.columns.T @ prepared.response)[1, 1])  # Σ r_i G_T
    total = starts.sum(axis=1)
    straight = starts - (total + push)[:, None] * np.array(weights) / sum(weights)
    beyond = straight + max(sweep - 1.0, 0.0) * (straight - starts)
    tightest = mu * np.minimum(block.normal_forces(push, total), block.normal_forces(push, -push))
    return np.asarray(np.all((np.abs(starts) < tightest) & (np.abs(beyond) < tightest), axis=1))


def _start_check(
    found: np.ndarray, push: float, limit: np.ndarray, start: tuple[float, float], *, kept: bool
) -> Check:
    """The nearest possible pair, if the start is never cut off; else a possible one."""
    from klapper.complementarity.selection.two_contacts import water_filling

    if kept:
        return Check(
            "friction from the given start",
            value=found,
            expected=water_filling(-push, -limit, limit, start=np.array(start)),
            tolerance=1e-2,
            source="nearest possible pair to the start, which is never cut off",
        )
    return Check(
        "friction from the given start over its limits",
        value=np.abs(found) / limit,
        at_most=1.0 + 1e-4,
        source="Coulomb's law; early rounds cut the start off, so that any possible pair may be found",
    )


def _selected(
    block: "FootedBlock", push: float, step: float, start: np.ndarray, weights: tuple[float, float]
) -> np.ndarray:
    """λ_TA, λ_TB (2,) [N] of one step with tight tolerances."""
    from klapper.bodies import rigid_block

    system = rigid_block(block, load=(push, 0.0, 0.0))
    scheme = _scheme(step, start, weights=weights, force_tolerance=1e-7, max_iterations=5000, max_rounds=200)
    stretch = scheme.stretch(system)
    assert stretch is not None
    after, _, why = stretch.run(scheme.init(system), 1, 1)
    if why:
        raise ParameterError(f"weights {weights} do not converge: {why}.")
    friction = np.zeros(2)
    friction[after.contact] = after.impulse[:, 1] / step
    return friction


def _grid(limit: np.ndarray) -> np.ndarray:
    """Starts (k, 2) within the friction limits."""
    lines = [np.linspace(-0.95 * bound, 0.95 * bound, FAN) for bound in limit]
    return np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, 2)


def _listed(forces: np.ndarray) -> list[float]:
    """λ_TA, λ_NA, λ_TB, λ_NB from rows (normal, tangential)."""
    return [float(value) for value in forces[:, ::-1].ravel()]


def _draw_maps(figure: "Figure", *, push: float, limit: np.ndarray, maps: list[Map]) -> None:
    """Starts of the iteration (dots) and the pairs of friction forces that it finds (circles) on the line of the
    possible ones, for two ratios of the factors. The rectangle holds the friction limits. Every start moves along
    (r_A, r_B) until a limit stops it."""
    figure.set_size_inches(9.6, 5.3)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, each in zip(panels, maps, strict=True):
        axes.add_patch(_rectangle(limit))
        line = np.array([max(-limit[0], -push - limit[1]), min(limit[0], -push + limit[1])])
        axes.plot(line, -push - line, color="C2", linewidth=3.0, label="possible pairs", zorder=3)
        for begin, end in zip(each.starts, each.found, strict=True):
            arrow = {"arrowstyle": "->", "color": "0.7", "lw": 0.8}
            axes.annotate("", xy=tuple(end), xytext=tuple(begin), arrowprops=arrow)
        axes.plot(*each.starts.T, ".", color="0.4", markersize=5, label="starts")
        kept = each.distance <= 1e-3
        axes.plot(
            *each.found[kept].T,
            "o",
            markerfacecolor="none",
            color="C1",
            markersize=6,
            label="found",
            zorder=4,
        )
        if not np.all(kept):
            axes.plot(
                *each.found[~kept].T, "X", color="C3", markersize=8, label="found, cut off early", zorder=5
            )
        origin = np.argmin(np.abs(each.starts).sum(axis=1))
        axes.plot(*each.found[origin], "*", color="C0", markersize=15, label="from zero", zorder=5)
        title = f"$r_A : r_B$ = {each.weights[0]:g} : {each.weights[1]:g}"
        axes.set(xlabel=r"$\lambda_{TA}$ / N", aspect="equal", title=title)
    panels[0].set_ylabel(r"$\lambda_{TB}$ / N")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)


def _rectangle(limit: np.ndarray) -> "Rectangle":
    from matplotlib.patches import Rectangle

    return Rectangle(
        (-limit[0], -limit[1]),
        2 * limit[0],
        2 * limit[1],
        facecolor="#F4F4F4",
        edgecolor="0.6",
        linestyle="--",
        zorder=0,
    )


def _draw_first_round(figure: "Figure", *, logs: "dict[str, IterationLog]", step: float) -> None:
    """Friction of both feet after each tangential iteration of the first round, Fig. 5.4."""
    figure.set_size_inches(8.4, 3.8)
    for axes, (name, log) in zip(figure.subplots(1, 2), logs.items(), strict=True):
        history = log.of("tangential", 1)[:, :, 1] / step
        number = np.arange(1, len(history) + 1)
        axes.plot(number, history[:, 0], "o-", label=r"$\lambda_{TA}$")
        axes.plot(number, history[:, 1], "s--", label=r"$\lambda_{TB}$")
        title = "start at zero" if name == "zero" else "given start"
        axes.set(xlabel="tangential iteration of round 1", ylabel="friction / N", title=title)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend()


def _draw_rounds(figure: "Figure", *, logs: "dict[str, IterationLog]", step: float) -> None:
    """Every iterate of the first step in the plane of the friction forces, round by round (colour)."""
    figure.set_size_inches(9.0, 4.2)
    for axes, (name, log) in zip(figure.subplots(1, 2), logs.items(), strict=True):
        _draw_path(axes, log, step)
        title = "start at zero" if name == "zero" else "given start, cut off"
        axes.set(xlabel=r"$\lambda_{TA}$ / N", ylabel=r"$\lambda_{TB}$ / N", title=title)


def _draw_path(axes: "Axes", log: "IterationLog", step: float) -> None:
    tangential = np.array([level == "tangential" for level in log.level])
    points, rounds = log.impulse[tangential][:, :, 1] / step, log.round[tangential]
    axes.plot(*points.T, color="0.8", linewidth=0.9, zorder=1)
    marks = axes.scatter(points[:, 0], points[:, 1], c=rounds, s=26, zorder=2)
    axes.plot(*points[-1], "x", color="C1", markersize=10, markeredgewidth=2, zorder=3, label="end")
    axes.figure.colorbar(marks, ax=axes, label="round")
    axes.legend()
