"""A delaminated shaft whose loose lamina is held by bands, and the diagrams of its states of rest over speed."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis import StationaryBranch, StationaryState
    from klapper.mechanics import Contact, FrictionElement, LinearSystem
    from klapper.structures.delaminated_beam import DelaminatedModel

BANDS = (0.35, 0.5, 0.65)  # places of the bands along the joint


@dataclass(frozen=True, eq=False)
class BandagedRotor:
    """A delaminated shaft whose lamina is held by bands; forces in N, lengths in m."""

    model: "DelaminatedModel"
    joints: int
    band_force: float
    clearance: float

    @cached_property
    def contacts(self) -> "list[Contact | FrictionElement]":
        from klapper.mechanics import Contact

        rims = [
            Contact(f"rim {i + 1}", gap=self.clearance, normal=-row)
            for i, row in enumerate(self.model.gap_rows(BANDS))
        ]
        return [*self.model.contacts(self.joints), *rims]

    @cached_property
    def pressing(self) -> np.ndarray:
        """Load (n,) [N] of the bands."""
        return -self.band_force * self.model.gap_rows(BANDS).sum(axis=0)

    def at(self, speed: float) -> "LinearSystem":
        """The equations at ``speed`` [Hz], without gravity."""
        return self.model.system(speed, self.contacts, gravity=(0.0, 0.0), force=self.pressing)

    @property
    def names(self) -> list[str]:
        return [contact.name for contact in self.contacts]

    def growth(self, speed: float, state: "StationaryState") -> float:
        """Largest real part [1/s] of small motions that keep the loaded contacts closed."""
        from klapper.analysis import minimal_coordinates

        kept = [self.contacts[i] for i in state.loaded]
        system = self.model.system(speed, kept, gravity=(0.0, 0.0), position=state.position)
        return float(minimal_coordinates(system, closed=[one.name for one in kept]).eigenvalues()[0].real)

    def loaded(self, state: "StationaryState") -> str:
        """Names of the contacts that carry load."""
        return ", ".join(self.names[i] for i in state.loaded) or "none"

    def middle(self, branch: "StationaryBranch") -> np.ndarray:
        """Opening in the middle of the joint [m] along a branch."""
        return branch.position @ self.model.gap_rows([0.5])[0]


def draw_branch(
    figure: "Figure", *, rotor: BandagedRotor, branch: "StationaryBranch", critical: float
) -> None:
    """Opening in the middle of the joint over the speed: the branch followed from standstill (blue; dashed where a
    stiffness is negative in spite of the contacts), all states by enumeration (circles), and the range in which the
    problem is convex (shaded). Arrows: jumps at the folds, when the speed is raised or lowered further."""
    from klapper.analysis import stationary_states
    from klapper.gallery._sketch import BLUE, DARK, GREY, ORANGE

    figure.set_size_inches(7.2, 4.6)
    axes = figure.subplots()
    top = float(branch.parameter.max())
    _shade_convex(axes, critical, top)
    middle = 1e3 * rotor.middle(branch)
    for part, style in _runs(branch):
        axes.plot(branch.parameter[part], middle[part], style, color=BLUE, linewidth=1.8, zorder=3)
    row = rotor.model.gap_rows([0.5])[0]
    folds = branch.folds
    between = np.linspace(folds.min(), folds.max(), 6)[1:-1] if len(folds) > 1 else np.zeros(0)
    for speed in np.union1d(np.linspace(0.0, top, 23), between):
        for state in stationary_states(rotor.at(float(speed))):
            opening = 1e3 * float(state.position @ row)
            axes.plot(speed, opening, "o", color=ORANGE, markersize=5, fillstyle="none", zorder=4)
    axes.plot([], [], "-", color=BLUE, label="branch from standstill")
    if np.any(branch.negative > 0):
        axes.plot([], [], "--", color=BLUE, label="the same, unstable")
    axes.plot([], [], "o", color=ORANGE, fillstyle="none", label="every state")
    axes.axhline(1e3 * rotor.clearance, color=GREY, linewidth=1.0, linestyle=":")
    axes.annotate(
        "rim",
        (0.0, 1e3 * rotor.clearance),
        (4, -3),
        textcoords="offset points",
        va="top",
        color=GREY,
        fontsize=10,
    )
    reach = 1.15 * max(1e3 * rotor.clearance, float(np.quantile(np.abs(middle), 0.98)))
    for fold in folds:
        place = int(np.argmin(np.abs(branch.parameter - fold)))
        axes.plot(fold, middle[place], "s", color=DARK, markersize=5, zorder=5)
        axes.annotate(
            f"fold {fold:.2f} Hz",
            (fold, middle[place]),
            (8, 6) if middle[place] < 0.5 * reach else (-8, -14),
            textcoords="offset points",
            ha="left" if middle[place] < 0.5 * reach else "right",
            color=DARK,
            fontsize=10,
        )
        _draw_jump(axes, rotor, branch, place, middle[place])
    axes.set(xlabel="speed / Hz", ylabel="opening in the middle of the joint / mm", xlim=(0.0, top))
    axes.set_ylim(min(-0.05 * reach, 1.05 * max(float(middle.min()), -reach)), reach)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, 0.86))


def _draw_jump(
    axes: "Axes", rotor: BandagedRotor, branch: "StationaryBranch", fold: int, opening: float
) -> None:
    """An arrow from a fold to the only stable state a little beyond it."""
    from klapper.analysis import stationary_states
    from klapper.gallery._sketch import GREY, arrow

    speed = float(branch.parameter[fold])
    ahead = np.sign(speed - branch.parameter[max(fold - 3, 0)])
    beyond = stationary_states(rotor.at(speed * (1 + 1e-3 * ahead)))
    stable = [state for state in beyond if state.negative == 0]
    if len(stable) == 1:
        there = 1e3 * float(stable[0].position @ rotor.model.gap_rows([0.5])[0])
        inset = 0.06 * (there - opening)
        arrow(axes, (speed, opening + inset), (0.0, there - opening - 2 * inset), GREY, width=1.4, front=2)


def draw_forces(
    figure: "Figure", *, rotor: BandagedRotor, branch: "StationaryBranch", critical: float
) -> None:
    """Contact forces along the branch: points of the joint, numbered along it, press the lamina away from the shaft
    (top), rims catch it (bottom). Contacts that lie symmetric carry the same. Shaded: convex range."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, YELLOW

    figure.set_size_inches(7.2, 5.4)
    upper, lower = figure.subplots(2, 1, sharex=True)
    top = float(branch.parameter.max())
    forces = branch.forces[:, :, 0]
    colours = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, DARK, GREY)
    for axes, first, last in ((upper, 0, rotor.joints), (lower, rotor.joints, len(rotor.names))):
        _shade_convex(axes, critical, top)
        for (label, values), colour in zip(
            _curves(rotor.names, forces, first, last), colours * 3, strict=False
        ):
            for part, style in _runs(branch):
                axes.plot(branch.parameter[part], values[part], style, color=colour, linewidth=1.6)
            axes.plot([], [], color=colour, label=label)
        axes.set_ylabel("contact force / N")
        axes.set_ylim(0.0, 1.2 * axes.get_ylim()[1])
    for axes, loc, x in ((upper, "upper right", 1.0), (lower, "upper left", 0.0)):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc=loc, bbox_to_anchor=(x, 0.88))
    lower.set(xlabel="speed / Hz", xlim=(0.0, top))


def _curves(names: list[str], forces: np.ndarray, first: int, last: int) -> list[tuple[str, np.ndarray]]:
    """Forces of the contacts that ever carry load, contacts with the same force named together."""
    curves: list[tuple[list[str], np.ndarray]] = []
    size = forces.max(initial=0.0)
    for i in range(first, last):
        if not np.any(forces[:, i] > 0.0):
            continue
        twin = next(
            (one for one, values in curves if np.abs(values - forces[:, i]).max() <= 1e-6 * size), None
        )
        if twin is None:
            curves.append(([names[i]], forces[:, i]))
        else:
            twin.append(names[i].split()[-1])
    return [(" and ".join(part), np.where(_carrying(values), values, np.nan)) for part, values in curves]


def _carrying(force: np.ndarray) -> np.ndarray:
    """Where a contact carries load, and the neighbouring points."""
    positive = force > 0.0
    beside = np.zeros_like(positive)
    beside[:-1] |= positive[1:]
    beside[1:] |= positive[:-1]
    return positive | beside


def draw_shapes(
    figure: "Figure", *, rotor: BandagedRotor, states: "tuple[StationaryState, ...]", speed: float
) -> None:
    """Opening along the joint in every state at the reported speed; dots: contacts that carry load. The lamina
    cannot pass the shaft (below) or the rims (bars)."""
    from klapper.gallery._sketch import BLUE, DARK, GREEN, ORANGE, PURPLE, wall

    figure.set_size_inches(7.2, 3.8)
    axes = figure.subplots()
    places = np.linspace(0.0, 1.0, 201)
    rows = rotor.model.gap_rows(places)
    length = 1e3 * rotor.model.beam.delamination
    for place in BANDS:
        wide = 0.012 * length
        axes.plot(
            [place * length - wide, place * length + wide],
            [1e3 * rotor.clearance] * 2,
            color=DARK,
            linewidth=4.0,
            solid_capstyle="butt",
        )
    for state, colour in zip(states, (BLUE, ORANGE, GREEN, PURPLE) * 8, strict=False):
        stiff = "" if not state.negative else ", unstable"
        label = f"held by {rotor.loaded(state)}{stiff}" if len(state.loaded) else f"without contact{stiff}"
        axes.plot(places * length, 1e3 * rows @ state.position, color=colour, linewidth=1.8, label=label)
        for i in state.loaded:
            joint = i < rotor.joints
            place = (i + 1) / (rotor.joints + 1) if joint else BANDS[i - rotor.joints]
            axes.plot(place * length, 0.0 if joint else 1e3 * rotor.clearance, "o", color=colour, zorder=5)
    reach = axes.get_ylim()[1]
    wall(axes, (0.0, 0.0), (length, 0.0), (0.0, -0.08 * reach))
    axes.set(xlabel="place along the joint / mm", ylabel=f"opening at {speed:g} Hz / mm", xlim=(0.0, length))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2 if len(states) < 4 else 3)


def _shade_convex(axes: "Axes", critical: float, top: float) -> None:
    from klapper.gallery._rotor import CLATTERING

    end = min(critical, top)
    axes.axvspan(0.0, end, color=CLATTERING, alpha=0.55, zorder=0, linewidth=0)
    axes.text(
        0.5 * end,
        0.97,
        "convex: one state",
        transform=axes.get_xaxis_transform(),
        ha="center",
        va="top",
        fontsize=10,
        color="#35607F",
    )
    if critical < top:
        axes.text(
            0.5 * (end + top),
            0.97,
            "not convex",
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="top",
            fontsize=10,
            color="#555555",
        )


def _runs(branch: "StationaryBranch") -> list[tuple[slice, str]]:
    """Stretches of a branch with a line style: solid, or dashed where a stiffness is negative."""
    joined = branch.number[1:] == branch.number[:-1]
    dashed = branch.negative[1:] > 0  # a point where contacts change belongs to what leads to it
    breaks = np.flatnonzero((joined[1:] != joined[:-1]) | (dashed[1:] != dashed[:-1])) + 1
    ends = [0, *breaks.tolist(), len(joined)]
    return [
        (slice(first, last + 1), "--" if dashed[first] else "-")
        for first, last in pairwise(ends)
        if joined[first]
    ]
