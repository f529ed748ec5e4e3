"""Friction in the joint of the clattering rotor: how much it takes, and that it may be left out.

While the laminae of `rotor-clatter` touch, they slide on each other. Friction acts on patches of the joint, whose
sliding velocity is the mean over the patch and whose normal force is the sum of the contacts that lie on it:

    v_T = mean of (u̇₂₂ − u̇₂₃, u̇₃₂ − u̇₃₃),   |λ_T| ≤ μ Σ λ_N                        (3.43), (5.156)

The thesis leaves friction out because the laminae hardly slide, and takes the sliding of their axes. The surfaces,
which touch, slide in addition as the laminae turn (`slip=surface`). The start is the settled motion without friction.
Friction takes about one percent of what a turn loses: 4.7, 3.0, 2.8, 3.0 mJ with 400, 800, 1600, 3200 steps per turn.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery._rotor import (
    ALUMINIUM,
    Alpha2,
    Density,
    Depth,
    Drag,
    Height,
    Length,
    Modes,
    Shaft,
    Split,
    Width,
    Young,
    legend,
)
from klapper.gallery._rotor_clatter import require_stable, settled
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.mechanics import Contact, FrictionElement
    from klapper.results import Run

SETTLING = 30.0  # s without friction before
SOLVED = 1e-5  # of the largest normal impulse: 1e-9 of the solver, whose residuals may count forces up to 1e4 times


@dataclass(frozen=True, eq=False)
class Rubbing:
    """A run with friction in its joint: patches come after the contacts of the ``joint``."""

    run: "Run"
    joint: "list[Contact]"
    patches: "list[FrictionElement]"

    @property
    def sliding(self) -> np.ndarray:
        """Sliding velocity (s, patches, 2) [m/s], across and along the shaft."""
        return np.einsum(
            "sn,pdn->spd", self.run.velocity, np.array([patch.tangents for patch in self.patches])
        )

    @property
    def friction_impulse(self) -> np.ndarray:
        """(s, patches, 2) [N s] of each step."""
        return self.run.impulse[:, len(self.joint) :, 1:]

    @property
    def limit(self) -> np.ndarray:
        """Largest friction impulse (s, patches) [N s] of each step: μ times the normal impulses on the patch."""
        shares = [[patch.shares.get(contact.name, 0.0) for contact in self.joint] for patch in self.patches]
        return self.run.impulse[:, : len(self.joint), 0] @ np.array(shares).T

    @property
    def touching(self) -> np.ndarray:
        """Whether any patch is pressed (s,)."""
        return np.any(self.limit > 0.0, axis=1)

    @property
    def work(self) -> np.ndarray:
        """Energy lost by friction (s,) [J] since the start, from impulses and the mean velocity of each step."""
        mean = 0.5 * (self.sliding[1:] + self.sliding[:-1])
        return np.append(0.0, np.cumsum(-np.sum(self.friction_impulse[1:] * mean, axis=(1, 2))))


@example("rotor-friction", source="Waltersberger (2007), section 5.3.2 and Example 5.14, with friction")
def rotor_friction(
    *,
    L: Length = 3.0,
    L2: Split = 1.6,
    a: Height = 0.045,
    b: Width = 0.04,
    h: Depth = 0.036,
    E: Young = 69e9,
    rho: Density = 2800.0,
    damping_ext: Drag = 1.0,
    alpha2: Alpha2 = 1e-5,
    modes: Modes = 10,
    speed: Annotated[float, Parameter("speed", unit="Hz", above=0.0)] = 5.2,
    mu: Annotated[float, Parameter("friction coefficient", above=0.0)] = 0.3,
    slip: Annotated[
        Literal["surface", "axis"], Parameter("what slides: surfaces or axes of the laminae")
    ] = "surface",
    contacts: Annotated[int, Parameter("points of contact along the joint", at_least=1, at_most=39)] = 9,
    patches: Annotated[int, Parameter("patches of friction along the joint", at_least=1, at_most=39)] = 3,
    turns: Annotated[int, Parameter("turns with friction", at_least=1, at_most=100)] = 2,
    steps: Annotated[int, Parameter("time steps per turn", at_least=50, at_most=100000)] = 800,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures
    from klapper.mechanics import Contact, FrictionElement
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate

    shaft = Shaft(L, L2, a, b, h, E, rho, damping_ext, alpha2)
    model = shaft.model(modes)
    require_stable(model, speed)
    time, position, velocity = settled(model, speed, contacts, SETTLING, steps).run.final
    start = {"position": position, "velocity": velocity, "time": time, "penetration": shaft.height}
    scheme, until = Moreau(1.0 / (speed * steps)), time + turns / speed
    smooth = simulate(model.system(speed, model.contacts(contacts), **start), until, scheme)
    parts = model.contacts(contacts, friction=mu, patches=patches, slip=slip)
    rough = Rubbing(
        simulate(model.system(speed, parts, **start), until, scheme),
        [part for part in parts if isinstance(part, Contact)],
        [part for part in parts if isinstance(part, FrictionElement)],
    )
    ledger, row = rough.run.ledger, model.gap_rows([0.5])[0]
    gaps = [run.position @ row for run in (smooth, rough.run)]
    sliding = np.linalg.norm(rough.sliding, axis=2)[rough.touching]
    excess = np.linalg.norm(rough.friction_impulse, axis=2) - rough.limit
    along = np.sum(
        rough.friction_impulse * rough.sliding, axis=2
    )  # at the end of each step, to which the law applies
    pressed = max(float(rough.limit.max()) / mu, 1e-300)
    return Outcome(
        numbers={
            "max_gap": float(gaps[1].max()),
            "max_gap_without_friction": float(gaps[0].max()),
            "largest_change_of_the_gap": float(np.abs(gaps[1] - gaps[0]).max()),
            "friction_per_turn": float(ledger.friction[-1] / turns),
            "impact_per_turn": float(ledger.impact[-1] / turns),
            "damping_per_turn": float(ledger.damping[-1] / turns),
            "impact_per_turn_without_friction": float(smooth.ledger.impact[-1] / turns),
            "largest_sliding": float(sliding.max(initial=0.0)),
            "sticking_share": _sticking(rough),
        },
        units={
            "max_gap": "m (middle of the joint)",
            "max_gap_without_friction": "m",
            "largest_change_of_the_gap": "m",
            "friction_per_turn": "J",
            "impact_per_turn": "J",
            "damping_per_turn": "J",
            "impact_per_turn_without_friction": "J",
            "largest_sliding": "m/s (mean of a patch, while the laminae touch)",
            "sticking_share": "of the time in which patches are pressed",
        },
        checks=[
            Check(
                "friction beyond its limit, over the largest normal impulse",
                value=float(excess.max() / pressed),
                at_most=SOLVED,
                source="Coulomb's law on every patch",
            ),
            Check(
                "energy lost by friction",
                value=rough.work[-1],
                expected=float(ledger.friction[-1]),
                tolerance=1e-9 * ledger.scale,
                source="impulses times mean sliding velocities of all steps",
            ),
            Check(
                "friction along the sliding velocity, over the largest normal impulse and velocity",
                value=float(along.max() / (pressed * max(np.abs(rough.sliding).max(), 1e-300))),
                at_most=SOLVED,
                source="friction opposes sliding",
            ),
            *_claim(shaft, mu, turns, gaps),
            ledger_check(rough.run),
        ],
        audit=run_audit(rough.run),
        figures={
            "gap": partial(_draw_gap, run=rough.run, gaps=gaps, speed=speed),
            "sliding": partial(_draw_sliding, rough=rough, speed=speed),
            **run_figures(rough.run, "energy"),
        },
    )


def _sticking(rough: Rubbing) -> float:
    """Share of the pressed patches that stick."""
    from klapper.contact_states import STICK

    pressed = rough.limit > 0.0
    sticks = rough.run.state[:, len(rough.joint) :] == STICK
    return float(np.sum(pressed & sticks)) / max(float(np.sum(pressed)), 1.0)


def _claim(shaft: Shaft, mu: float, turns: int, gaps: list[np.ndarray]) -> list[Check]:
    """The thesis leaves friction out; for its shaft and the first turns that is seen to be right."""
    if shaft != ALUMINIUM or mu > 0.5 or turns > 5:
        return []
    return [
        Check(
            "change of the largest gap by friction, relative",
            value=float(gaps[1].max() / gaps[0].max() - 1.0),
            expected=0.0,
            tolerance=0.02,
            source="section 5.3.2: friction may be neglected",
        )
    ]


def _draw_gap(figure: "Figure", *, run: "Run", gaps: list[np.ndarray], speed: float) -> None:
    """Gap in the middle of the joint with and without friction, and the difference."""
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    figure.set_size_inches(6.6, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    turns = speed * (run.time - run.time[0])
    upper.plot(turns, 1e3 * gaps[0], color=BLUE, label="without friction")
    upper.plot(turns, 1e3 * gaps[1], "--", color=ORANGE, label="with friction")
    lower.plot(turns, 1e3 * (gaps[1] - gaps[0]), color=DARK, linewidth=1.2)
    upper.set_ylabel("gap / mm")
    lower.set(xlabel="turns", ylabel="difference / mm", xlim=(turns[0], turns[-1]))
    legend(upper)


def _draw_sliding(figure: "Figure", *, rough: Rubbing, speed: float) -> None:
    """Sliding velocity of every patch across and along the shaft, and its friction force, over the first turn; shaded:
    the laminae touch. Patches at equal distance from the middle slide along the shaft in opposite senses."""
    figure.set_size_inches(6.6, 6.8)
    panels = figure.subplots(3, 1, sharex=True)
    turns = speed * (rough.run.time - rough.run.time[0])
    shown = turns <= 1.0 + 1e-9
    step = float(rough.run.time[1] - rough.run.time[0])
    for axes in panels:
        axes.fill_between(
            turns[shown],
            0.0,
            1.0,
            where=rough.touching[shown],
            step="pre",
            color="#E2E2E2",
            linewidth=0,
            transform=axes.get_xaxis_transform(),
        )
    force = np.linalg.norm(rough.friction_impulse, axis=2) / step
    for number, patch in enumerate(rough.patches):
        look = {"linewidth": 1.3, "linestyle": ("-", "--", "-.", ":")[number % 4], "label": patch.name}
        for axes, values in zip(
            panels, (*(1e3 * rough.sliding[:, number, k] for k in (0, 1)), force[:, number]), strict=True
        ):
            axes.plot(turns[shown], values[shown], **look)
    for axes, title in zip(
        panels, ("across / (mm/s)", "along / (mm/s)", "friction of a step / N"), strict=True
    ):
        axes.set_ylabel(title)
    panels[-1].set(xlabel="turns", xlim=(0.0, 1.0))
    legend(panels[0])
