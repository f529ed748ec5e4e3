"""Snap-through of a two-bar truss, followed by arc length: the load rises, falls, turns and rises again.

Two bars of span 2 b and height h carry a load P at their apex. Moved down by w they press back with

    P = EA (h − w)(2 h w − w²)/L³,   L² = b² + h²                                              von Mises (1923)

which has its limits ± 2 EA h³/(√27 L³) at w = h (1 ∓ 1/√3). A load that rises past the first one throws the apex over
to the other side; arc length follows every state between. A truss with h > √2 b gives way sideways before, at
2 h w − w² = 2 b²: a bifurcation, which the path passes and reports. If the load comes through a soft bar its end even
moves back while the apex snaps, so that no rising displacement passes either.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.analysis import LoadPath
    from klapper.continuum import Continuum

Arc = Literal["spherical", "cylindrical"]
BEYOND = 1.2  # heights below the supports at which the path ends: it is past both limits and loaded again


@dataclass(frozen=True)
class Truss:
    """Two bars and, if its stiffness is not zero, an upright bar through which they are loaded."""

    span: float
    height: float
    stiffness: float
    post: float
    post_length: float

    @property
    def length(self) -> float:
        """L [m] of a bar."""
        return float(np.hypot(self.span, self.height))

    @property
    def limit(self) -> float:
        """The largest load [N] before the apex snaps."""
        return 2.0 / np.sqrt(27.0) * self.stiffness * (self.height / self.length) ** 3

    @property
    def sideways(self) -> float | None:
        """How far down [m] the apex is when it gives way sideways; None if it never does."""
        room = self.height**2 - 2.0 * self.span**2
        return self.height - float(np.sqrt(room)) if room > 0.0 and not self.post else None

    def load(self, down: np.ndarray) -> np.ndarray:
        """P [N] of an apex moved down [m]."""
        h = self.height
        return self.stiffness * (h - down) * (2.0 * h * down - down**2) / self.length**3

    def pressed(self, force: np.ndarray) -> np.ndarray:
        """Stretch of the upright bar under a force [N]: the root near 1 of EA₂ ½ (λ² − 1) λ = −P."""
        from scipy.optimize import brentq

        def stretch(p: float) -> float:
            return brentq(
                lambda s: self.post * 0.5 * (s * s - 1.0) * s + p, 1 / np.sqrt(3.0), 3.0, xtol=1e-15
            )

        return np.array([stretch(float(p)) for p in np.atleast_1d(force)])

    @cached_property
    def world(self) -> "Continuum":
        from klapper.continuum import Cable, Continuum, LineMesh, NodeForce, Support

        b, h = self.span, self.height
        nodes, bars, areas = [(-b, 0.0), (0.0, h), (b, 0.0)], [(0, 1), (1, 2)], [1.0, 1.0]
        supports = [Support("truss", [0, 2])]
        if self.post:
            nodes.append((0.0, h + self.post_length))
            bars.append((1, 3))
            areas.append(self.post / self.stiffness)
            supports.append(Support("truss", [1, 3], [0]))
        mesh = LineMesh(np.array(nodes), np.array(bars))
        body = Cable("truss", mesh, young=self.stiffness, area=areas, density=1.0)
        loads = [NodeForce("truss", len(nodes) - 1 if self.post else 1, (0.0, -self.limit))]
        return Continuum([body], loads=loads, supports=supports)

    def followed(self, arc: Arc, step: float) -> "Snap":
        from klapper.analysis import follow_load

        path = follow_load(
            self.world,
            step=step,
            end=None,
            stop=lambda state: state.position[3] < -BEYOND * self.height,
            arc=arc,
            largest=2.0,
        )
        return Snap(self, path)


@dataclass(frozen=True, eq=False)
class Snap:
    """A followed path."""

    truss: Truss
    path: "LoadPath"

    @property
    def down(self) -> np.ndarray:
        """How far the apex moved down (k,) [m]."""
        return self.truss.height - self.path.positions[:, 3]

    @property
    def end_down(self) -> np.ndarray:
        """How far the loaded end moved down (k,) [m]."""
        if not self.truss.post:
            return self.down
        return self.truss.height + self.truss.post_length - self.path.positions[:, 7]

    @property
    def load(self) -> np.ndarray:
        """(k,) [N]."""
        return self.truss.limit * self.path.factors


@example(
    "snap-through", source="von Mises (1923), two-bar truss; Riks (1979), Crisfield (1981) for the arc length"
)
def snap_through(
    *,
    height: Annotated[float, Parameter("height of the apex above the supports", unit="m", above=0.0)] = 0.3,
    span: Annotated[float, Parameter("half the distance of the supports", unit="m", above=0.0)] = 1.0,
    stiffness: Annotated[float, Parameter("axial stiffness EA of a bar", unit="N", above=0.0)] = 1000.0,
    post: Annotated[
        float, Parameter("axial stiffness of the soft bar, in limit loads of the truss", at_least=10.0)
    ] = 10.0,
    post_length: Annotated[float, Parameter("length of the soft bar", unit="m", above=0.0)] = 2.0,
    arc: Annotated[Arc, Parameter("spherical or cylindrical arc length")] = "spherical",
    step: Annotated[
        float, Parameter("first step of the load, over the limit load", above=0.0, below=1.0)
    ] = 0.1,
) -> Outcome:
    plain = Truss(span, height, stiffness, 0.0, post_length)
    soft = Truss(span, height, stiffness, post * plain.limit, post_length)
    if post_length < 3.0 * height:
        raise ParameterError(
            f"post_length must be at least {3 * height:g} m, three heights, not {post_length:g}."
        )
    direct, through = plain.followed(arc, step), soft.followed(arc, step)
    limits = [point for point in direct.path.critical if point.kind == "limit"]
    back = np.diff(through.end_down) < 0.0
    return Outcome(
        numbers={
            "limit_load": plain.limit * limits[0].factor,
            "exact_limit_load": plain.limit,
            "limit_displacement": height - limits[0].state.position[3],
            "critical_points": [point.kind for point in direct.path.critical],
            "critical_loads": [plain.limit * point.factor for point in direct.path.critical],
            "states": len(direct.path.states),
            "end_moves_back_by": through.end_down[:-1][back][0] - through.end_down[1:][back][-1]
            if back.any()
            else 0.0,
        },
        units={
            "limit_load": "N",
            "exact_limit_load": "N",
            "limit_displacement": "m",
            "critical_loads": "N",
            "end_moves_back_by": "m, loaded through the soft bar",
        },
        checks=_checks(direct, through),
        audit={
            "method": f"{arc} arc length, bordered Newton's method",
            "largest residual": max(each.path.residuals.max() for each in (direct, through)),
            "uniqueness": "three states at every load between the limits; the path passes all of them",
        },
        figures={
            "paths": partial(_draw_paths, direct=direct, through=through),
            "shapes": partial(_draw_shapes, through=through),
        },
    )


def _checks(direct: Snap, through: Snap) -> list[Check]:
    truss = direct.truss
    limits = [point for point in direct.path.critical if point.kind == "limit"]
    checks = [
        Check(
            "load over that of the exact path, largest error of all states",
            value=np.abs(direct.load - truss.load(direct.down)).max() / truss.limit,
            expected=0.0,
            tolerance=1e-8,
            source="closed form P(w)",
        ),
        Check(
            "limit loads over the exact one",
            value=[point.factor for point in limits],
            expected=[1.0, -1.0],
            tolerance=1e-8,
            source="2 EA h³/(√27 L³)",
        ),
        Check(
            "displacements at the limits, over the height",
            value=[1.0 - point.state.position[3] / truss.height for point in limits],
            expected=1.0 + np.array([-1.0, 1.0]) / np.sqrt(3.0),
            tolerance=1e-5,
            source="1 ∓ 1/√3",
        ),
        Check(
            "load through the soft bar over that of the exact path",
            value=np.abs(through.load - truss.load(through.down)).max() / truss.limit,
            expected=0.0,
            tolerance=1e-8,
            source="closed form P(w)",
        ),
        Check(
            "displacement of its end, largest error of all states over the height",
            value=np.abs(
                through.end_down
                - through.down
                - through.truss.post_length * (1.0 - through.truss.pressed(through.load))
            ).max()
            / truss.height,
            expected=0.0,
            tolerance=1e-7,
            source="closed form of a bar, EA ½ (λ² − 1) λ = −P",
        ),
    ]
    crossings = [point for point in direct.path.critical if point.kind == "bifurcation"]
    sideways = truss.sideways
    if sideways is None:
        checks.append(Check("bifurcations", value=len(crossings), expected=0, source="h < √2 b"))
    else:
        checks.append(
            Check(
                "displacement at the first bifurcation, over the height",
                value=(truss.height - crossings[0].state.position[3]) / truss.height,
                expected=sideways / truss.height,
                tolerance=1e-5,
                source="2 h w − w² = 2 b²",
            )
        )
    return checks


def _draw_paths(figure: "Figure", *, direct: Snap, through: Snap) -> None:
    """Load over the displacement of the loaded end: states found by arc length on the exact path; the arrow is the jump
    of a load that only rises (left). Through a soft bar the end moves back (right)."""
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(9.0, 4.0)
    left, right = figure.subplots(1, 2, sharey=True)
    truss = direct.truss
    down = np.linspace(0.0, direct.down.max(), 300)
    left.plot(down, truss.load(down), color=BLUE, label="exact")
    left.plot(direct.down, direct.load, "o", color=ORANGE, markersize=4, label="arc length")
    jump = truss.height * (1.0 - 1.0 / np.sqrt(3.0)), truss.height * (1.0 + 2.0 / np.sqrt(3.0))
    if direct.down.max() > jump[1]:
        left.annotate(
            "", (jump[1], truss.limit), (jump[0], truss.limit),
            arrowprops={"arrowstyle": "->", "color": GREY, "linestyle": "--"},
        )  # fmt: skip
    for point in direct.path.critical:
        mark = "D" if point.kind == "limit" else "s"
        place = truss.height - point.state.position[3], truss.limit * point.factor
        left.plot(*place, mark, color=DARK, markersize=6)
        left.annotate(
            f"{point.kind} {place[1]:+.4g} N",
            place,
            (0, 9 if place[1] > 0 else -16),
            textcoords="offset points",
            ha="center",
            color=DARK,
        )
    left.set(xlabel="displacement of the apex / m", ylabel="load / N")
    left.margins(y=0.14)
    left.legend(loc="lower left")
    own = truss.load(down)
    inside = own < 0.999 * through.truss.post / np.sqrt(27.0)
    own, apex = own[inside], down[inside]
    end = apex + through.truss.post_length * (1.0 - through.truss.pressed(own))
    right.plot(end, own, color=BLUE)
    right.plot(through.end_down, through.load, "o", color=ORANGE, markersize=4)
    right.set(xlabel="displacement of the end of the soft bar / m")


def _draw_shapes(figure: "Figure", *, through: Snap) -> None:
    """The truss and the soft bar through which it is loaded: unloaded, at the first limit, flat, at the second
    limit, and loaded again; arrows are the load."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE, arrow, bare

    figure.set_size_inches(9.6, 3.0)
    axes = figure.subplots()
    truss, path = through.truss, through.path
    first, second = (point.state for point in path.critical if point.kind == "limit")
    flat = path.states[int(np.argmin(np.abs(through.down - truss.height)))]
    width = 2.0 * truss.span + 0.5 * truss.post_length
    longest = 0.4 * truss.post_length / np.abs(path.factors).max()
    for panel, state in enumerate((path.states[0], first, flat, second, path.states[-1])):
        q = state.position.reshape(-1, 2) + np.array([panel * width, 0.0])
        axes.plot(*q[[0, 2]].T, "^", color=DARK, markersize=9)
        axes.plot(*q[[0, 1, 2]].T, "-o", color=BLUE, markersize=4)
        axes.plot(*q[[1, 3]].T, "-o", color=GREEN, markersize=4)
        push = longest * state.factor
        if abs(state.factor) > 0.2:
            arrow(axes, q[3] + np.array([0.0, max(push, 0.0)]), (0.0, -push), ORANGE)
        below = (panel * width, -1.45 * truss.height - 0.1 * truss.post_length)
        axes.annotate(f"{truss.limit * state.factor:.3g} N", below, ha="center", va="top", color=DARK)
    top = truss.height + 1.15 * truss.post_length
    bare(axes, (-0.6 * width, 4.6 * width), (-1.45 * truss.height - 0.3 * truss.post_length, top))
