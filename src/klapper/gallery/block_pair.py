"""Two blocks with dry friction: nine candidate states, one that is possible.

Two blocks rest side by side and touch at A; a force pushes each of them to the left. Each friction force
has a given limit ρ. Every block may start to the left (L), to the right (R) or hold (H), and contact A may
stay closed or open:

    m₁ a₁ = F₁ + R₁ + λ,   m₂ a₂ = F₂ + R₂ − λ
    0 ≤ λ ⟂ a₁ − a₂ ≥ 0,   |R_i| ≤ ρ_i,   R_i = −ρ_i sgn a_i if a_i ≠ 0

All quantities are positive to the left. One call finds the accelerations; the checks try every state by
hand."""

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHIPPED = {"force_1": 0.5, "force_2": 2.0, "limit_1": 1.0, "limit_2": 1.0, "mass_1": 1.0, "mass_2": 1.0}
SENSE = {"L": 1.0, "H": 0.0, "R": -1.0}


@example("block-pair", source="Waltersberger (2007), Example 1.1d")
def block_pair(
    *,
    force_1: Annotated[float, Parameter("force on the left block, to the left", unit="N")] = SHIPPED[
        "force_1"
    ],
    force_2: Annotated[float, Parameter("force on the right block, to the left", unit="N")] = SHIPPED[
        "force_2"
    ],
    limit_1: Annotated[
        float, Parameter("friction limit of the left block", unit="N", at_least=0.0)
    ] = SHIPPED["limit_1"],
    limit_2: Annotated[
        float, Parameter("friction limit of the right block", unit="N", at_least=0.0)
    ] = SHIPPED["limit_2"],
    mass_1: Annotated[float, Parameter("mass of the left block", unit="kg", above=0.0)] = SHIPPED["mass_1"],
    mass_2: Annotated[float, Parameter("mass of the right block", unit="kg", above=0.0)] = SHIPPED["mass_2"],
) -> Outcome:
    from klapper.complementarity import FrictionalContact, solve, uniqueness
    from klapper.gallery._audit import audit

    force, mass, limit = (
        np.array([force_1, force_2]),
        np.array([mass_1, mass_2]),
        np.array([limit_1, limit_2]),
    )
    directions = np.array([[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])  # columns: contact A, friction 1, friction 2
    problem = FrictionalContact.from_parts(
        directions.T @ (directions / mass[:, None]),
        directions.T @ (force / mass),
        normal=[0],
        tangential=[1, 2],
        limit=limit,
        normal_names=["A"],
        tangential_names=["block 1", "block 2"],
    )
    solution = solve(problem)
    answer = uniqueness(solution)
    size = float(np.abs(force).max() + limit.max()) or 1.0
    fast = size / mass.min()
    acceleration = np.where(np.abs(solution.y[1:]) > 1e-12 * fast, solution.y[1:], 0.0)
    cases = try_all(force, limit, mass)
    possible = [case for case in cases if case.possible]

    checks = [
        Check(
            "accelerations",
            value=acceleration,
            expected=possible[0].acceleration,
            tolerance=1e-9 * fast,
            source="all 18 states by hand",
        ),
        Check(
            "bounds of the contact force",
            value=[answer.lower[0], answer.upper[0]],
            expected=[min(case.contact[0] for case in possible), max(case.contact[1] for case in possible)],
            tolerance=1e-7 * size,
            source="all 18 states by hand",
        ),
        Check(
            "all possible states have the same accelerations",
            value=np.ptp([case.acceleration for case in possible], axis=0),
            expected=0.0,
            tolerance=1e-9 * fast,
            source="given friction limits: the accelerations minimise a convex function",
        ),
    ]
    given = {"force_1": force_1, "force_2": force_2, "limit_1": limit_1, "limit_2": limit_2}
    if given | {"mass_1": mass_1, "mass_2": mass_2} == SHIPPED:
        checks.append(
            Check(
                "the state of the thesis",
                value=[case.name for case in possible],
                expected=["LL closed"],
                source="Waltersberger Ex. 1.1d: only left, left is consistent",
            )
        )
    return Outcome(
        numbers={
            "acceleration_1": acceleration[0],
            "acceleration_2": acceleration[1],
            "contact_force": solution.x[0],
            "contact_force_min": answer.lower[0],
            "contact_force_max": answer.upper[0],
            "friction_1": solution.x[1],
            "friction_2": solution.x[2],
            "possible_states": [case.name for case in possible],
        },
        units={
            "acceleration_1": "m/s²",
            "acceleration_2": "m/s²",
            "contact_force": "N",
            "contact_force_min": "N",
            "contact_force_max": "N",
            "friction_1": "N",
            "friction_2": "N",
        },
        checks=checks,
        audit=audit(solution, answer),
        figures={
            "states": partial(_draw, force=force, acceleration=acceleration, forces=solution.x, cases=cases)
        },
    )


@dataclass(frozen=True)
class Case:
    """One state: what both blocks do, whether A is closed, and the ``objection`` against it (empty:
    possible).

    ``acceleration`` of both blocks, ``contact`` the least and greatest force at A.
    """

    blocks: str
    closed: bool
    acceleration: tuple[float, float]
    contact: tuple[float, float]
    objection: str

    @property
    def possible(self) -> bool:
        return not self.objection

    @property
    def name(self) -> str:
        return f"{self.blocks} {'closed' if self.closed else 'open'}"


def try_all(force: np.ndarray, limit: np.ndarray, mass: np.ndarray) -> list[Case]:
    """Every combination of L, H, R for both blocks and of A open or closed, judged by hand."""
    tiny = 1e-12 * float(np.abs(force).max() + limit.max())
    return [
        (_closed if closed else _open)(first + second, force, limit, mass, tiny)
        for first, second, closed in product("LHR", "LHR", (False, True))
    ]


def _open(blocks: str, force: np.ndarray, limit: np.ndarray, mass: np.ndarray, tiny: float) -> Case:
    sense = np.array([SENSE[block] for block in blocks])
    push = np.where(sense == 0, 0.0, force - sense * limit)  # m a of a sliding block, zero of a holding one
    first, second = (push / mass).tolist()
    if np.any((sense == 0) & (np.abs(force) > limit + tiny)):
        objection = "friction cannot hold"
    elif np.any((sense != 0) & (sense * push <= tiny)):
        objection = "does not move that way"
    elif first < second - tiny / mass.min():
        objection = "blocks penetrate"
    else:
        objection = ""
    return Case(blocks, False, (first, second), (0.0, 0.0), objection)


def _closed(blocks: str, force: np.ndarray, limit: np.ndarray, mass: np.ndarray, tiny: float) -> Case:
    sense = np.array([SENSE[block] for block in blocks])
    push = float((force - sense * limit).sum()) if sense.all() else 0.0
    together = push / float(mass.sum())
    # λ = m₁ a − F₁ − R₁ = F₂ + R₂ − m₂ a with the least and greatest friction R (2, 2)
    friction = np.where(sense == 0, limit * [[-1.0], [1.0]], -sense * limit)
    low = max(mass[0] * together - force[0] - friction[1, 0], force[1] + friction[0, 1] - mass[1] * together)
    high = min(mass[0] * together - force[0] - friction[0, 0], force[1] + friction[1, 1] - mass[1] * together)
    if sense[0] != sense[1]:
        objection = "cannot stay closed"
    elif sense.any() and sense[0] * push <= tiny:
        objection = "does not move that way"
    elif low > high + tiny:
        objection = "friction cannot hold"
    elif high < -tiny:
        objection = "A would have to pull"
    else:
        objection = ""
    return Case(blocks, True, (together, together), (max(low, 0.0), max(high, 0.0)), objection)


def _draw(
    figure: "Figure", *, force: np.ndarray, acceleration: np.ndarray, forces: np.ndarray, cases: list[Case]
) -> None:
    """Forces on both blocks (left), and what speaks against each of the nine states (right)."""
    figure.set_size_inches(10.4, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.15])
    possible = [case.contact for case in cases if case.possible]
    bounds = min(low for low, _ in possible), max(high for _, high in possible)
    _draw_blocks(left, force, acceleration, forces, bounds)
    _draw_cases(right, cases)


def _draw_blocks(
    axes: "Axes",
    force: np.ndarray,
    acceleration: np.ndarray,
    forces: np.ndarray,
    bounds: tuple[float, float],
) -> None:
    from klapper.gallery._sketch import BLUE, BODY, DARK, GREEN, ORANGE, arrow, bare, wall

    contact, friction = forces[0], forces[1:]
    least, greatest = bounds
    range_of_contact = (
        f"{contact:.3g}" if greatest - least < 1e-6 * (1 + contact) else f"{least:.3g} … {greatest:.3g}"
    )
    scale = 1.3 / (np.abs(np.concatenate([force, forces])).max() or 1.0)
    wall(axes, (-2.6, 0.0), (2.6, 0.0), (0.0, -0.22))
    for k, x in enumerate((-1.0, 1.0)):
        axes.fill(
            x + np.array([-0.8, 0.8, 0.8, -0.8]), [0, 0, 1.3, 1.3], facecolor=BODY, edgecolor=DARK, zorder=3
        )
        axes.text(x, 0.72, str(k + 1), ha="center", va="center", fontsize=13, zorder=4)
        arrow(axes, (x, 1.8), (-force[k] * scale, 0.0), BLUE)
        axes.text(x, 1.95, f"F = {force[k]:.3g} N", color=BLUE, ha="center")
        arrow(axes, (x, 0.12), (-friction[k] * scale, 0.0), ORANGE)
        axes.text(x, -0.5, f"friction {abs(friction[k]):.3g} N", color=ORANGE, ha="center", va="center")
        axes.text(x, 2.45, f"a = {acceleration[k]:.3g} m/s²", color=DARK, ha="center")
    arrow(axes, (-0.2, 0.95), (-contact * scale, 0.0), GREEN)
    arrow(axes, (0.2, 0.95), (contact * scale, 0.0), GREEN)
    axes.text(0.0, 1.4, f"A: {range_of_contact} N", color=GREEN, ha="center")
    axes.set_title("the solution (accelerations to the left)")
    bare(axes, (-2.7, 2.7), (-0.75, 2.75))


def _draw_cases(axes: "Axes", cases: list[Case]) -> None:
    words = {"L": "left", "H": "hold", "R": "right"}
    by_name = {case.name: case for case in cases}
    for row, first in enumerate("LHR"):
        for column, second in enumerate("LHR"):
            both = [by_name[f"{first}{second} {kind}"] for kind in ("closed", "open")]
            good = any(case.possible for case in both)
            square = [column, column + 1, column + 1, column], [-row, -row, -row - 1, -row - 1]
            axes.fill(*square, facecolor="#CDEBDD" if good else "#F4F4F4", edgecolor="white", linewidth=3)
            for case, y in zip(both, (0.32, 0.68), strict=True):
                state = "A closed:" if case.closed else "A open:"
                axes.text(
                    column + 0.5,
                    -row - y,
                    f"{state}\n{case.objection or 'possible'}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="#00664B" if case.possible else "#666666",
                    weight="bold" if case.possible else "normal",
                )
    axes.set_xticks([0.5, 1.5, 2.5], [words[state] for state in "LHR"])
    axes.set_yticks([-0.5, -1.5, -2.5], [words[state] for state in "LHR"])
    axes.set(xlim=(0, 3), ylim=(-3, 0), xlabel="block 2 starts to", ylabel="block 1 starts to")
    axes.set_title("what speaks against each state")
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
