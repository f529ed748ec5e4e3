"""Delaminated rotor: where a loose lamina rests while the shaft turns, up to and beyond its critical speed.

A thin lamina on the outside of a shaft has come loose over the length L₂. Three soft bands press it onto the shaft with
a force P each; the rim of a band catches it if it comes off by the clearance c. In the frame that turns with the shaft

    (K_el − Ω² K_c) q = Ω² f_c − P Σ w + J λ,   0 ≤ λ ⟂ Jᵀ q + g₀ ≥ 0                                     (1), (3)

with w the opening at the bands. Contacts are points of the joint, and the rims. Below the first critical speed, that of
the lamina alone, the state of rest is unique: a convex program. Beyond it K_el − Ω² K_c is not positive definite, but
the bands still hold the lamina: the state followed from standstill goes on, until its last contact opens and the branch
folds back. Between the two folds three states exist at one speed: on the shaft, on the rims, and one between that is
unstable. A run-up jumps to the rims at the upper fold, a run-down back at the lower one.

The paper has no numbers; the shaft is that of Example 5.13 of Waltersberger (2007), with a thinner lamina.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._rotor import (
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
)
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis import Equilibrium, StationaryBranch
    from klapper.mechanics import Contact, FrictionElement, LinearSystem
    from klapper.structures.delaminated_beam import DelaminatedModel

BANDS = (0.35, 0.5, 0.65)  # places of the bands along the joint
MOST_JOINTS = 10  # with the rims, contacts of which all combinations are tried


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

    def growth(self, speed: float, state: "Equilibrium") -> float:
        """Largest real part [1/s] of small motions that keep the loaded contacts closed."""
        from klapper.analysis import minimal_coordinates

        kept = [self.contacts[i] for i in state.loaded]
        system = self.model.system(speed, kept, gravity=(0.0, 0.0), position=state.position)
        return float(minimal_coordinates(system, closed=[one.name for one in kept]).eigenvalues()[0].real)

    def loaded(self, state: "Equilibrium") -> str:
        """Names of the contacts that carry load."""
        return ", ".join(self.names[i] for i in state.loaded) or "none"


@example(
    "stationary-rotor",
    source="Waltersberger & Wauer, PAMM (2005), (1)–(3); shaft of Waltersberger (2007), 5.3.4",
)
def stationary_rotor(
    *,
    speed: Annotated[float, Parameter("speed at which the state is reported", unit="Hz", above=0.0)] = 17.2,
    speed_to: Annotated[
        float, Parameter("speed up to which the branch is followed", unit="Hz", above=0.0)
    ] = 22.0,
    band_force: Annotated[
        float, Parameter("P, force of each of the three bands", unit="N", at_least=0.0)
    ] = 0.5,
    clearance: Annotated[
        float, Parameter("c, opening at which the rim of a band catches the lamina", unit="m", above=0.0)
    ] = 3e-3,
    L: Length = 1.0,
    L2: Split = 0.6,
    a: Height = 0.01,
    b: Width = 0.01,
    h: Depth = 0.001,
    E: Young = 210e9,
    rho: Density = 7500.0,
    damping_ext: Drag = 0.0,
    alpha2: Alpha2 = 1e-5,
    modes: Modes = 20,
    joints: Annotated[
        int, Parameter("points of the joint at which it may touch", at_least=1, at_most=MOST_JOINTS)
    ] = 7,
    steps: Annotated[int, Parameter("steps along the branch", at_least=10, at_most=2000)] = 120,
) -> Outcome:
    from klapper.analysis import follow_stationary, stationary_states
    from klapper.analysis.rotor import critical_speeds

    if speed >= speed_to:
        raise ParameterError(f"speed must be below speed_to = {speed_to:g} Hz, not {speed:g}.")
    shaft = Shaft(L, L2, a, b, h, E, rho, damping_ext, alpha2)
    rotor = BandagedRotor(shaft.model(modes), joints, band_force, clearance)
    critical = float(critical_speeds(rotor.model.rotor)[0])
    branch = follow_stationary(rotor.at, 0.0, speed_to, steps=steps)
    raised = follow_stationary(rotor.at, 0.0, speed, steps=steps, at_fold="jump")
    reached = raised.parameter[-1] == speed
    states = stationary_states(rotor.at(speed))
    growth = [rotor.growth(speed, state) for state in states]
    numbers: dict[str, Any] = {
        "contacts": rotor.names,
        "contact_forces": raised.forces[-1, :, 0] if reached else [],
        "gaps": raised.gaps[-1] if reached else [],
        "residual": float(max(branch.residual.max(), raised.residual.max())),
        "branch": _words(rotor, raised, critical, speed),
        "critical_speed": critical,
        "folds": branch.folds,
        "events": [str(event) for event in branch.events],
        "states": [rotor.loaded(state) for state in states],
        "growth_of_states": growth,
        "speeds": branch.parameter,
        "middle_gap": _middle(rotor, branch),
    }
    return Outcome(
        numbers=numbers,
        units={
            "contact_forces": "N",
            "gaps": "m",
            "critical_speed": "Hz",
            "folds": "Hz",
            "growth_of_states": "1/s (largest real part of small motions that keep the contacts)",
            "speeds": "Hz",
            "middle_gap": "m",
        },
        checks=[
            *_verified(branch, raised, critical, speed_to, damped=damping_ext > 0.0),
            *_convex(rotor, branch, critical, shaft),
            *_compared(rotor, branch, states, growth, speed),
        ],
        audit={
            "solver": "exchange of contacts along the speed, located to round-off; Lemke where the branch is lost",
            "residuals": {"worst along the branch": numbers["residual"]},
            "uniqueness": f"one state below {critical:.6g} Hz, where the problem is convex; {len(states)} state(s) at "
            f"{speed:g} Hz, by trying all combinations of contacts",
        },
        figures={
            "branch": partial(_draw_branch, rotor=rotor, branch=branch, critical=critical),
            "forces": partial(_draw_forces, rotor=rotor, branch=branch, critical=critical),
            "shapes": partial(_draw_shapes, rotor=rotor, states=states, speed=speed),
        },
    )


def _middle(rotor: BandagedRotor, branch: "StationaryBranch") -> np.ndarray:
    """Opening in the middle of the joint [m] along a branch."""
    return branch.position @ rotor.model.gap_rows([0.5])[0]


def _words(rotor: BandagedRotor, raised: "StationaryBranch", critical: float, speed: float) -> str:
    """What happens if the speed is raised from standstill to ``speed`` [Hz]."""
    if raised.parameter[-1] != speed:
        return f"no state was found beyond {raised.parameter[-1]:.6g} Hz: {raised.events[-1].name}"
    range_ = "convex range, the only state" if speed < critical else "non-convex range"
    jumps = int(raised.number[-1])
    after = "without a jump" if jumps == 0 else f"after {jumps} jump(s)"
    return f"reached from standstill {after}; {range_}; held by {_held_by(rotor, raised, -1)}"


def _verified(
    branch: "StationaryBranch", raised: "StationaryBranch", critical: float, speed_to: float, *, damped: bool
) -> list[Check]:
    checks = [
        Check(
            "largest residual of all states",
            value=float(max(branch.residual.max(), raised.residual.max())),
            expected=0.0,
            tolerance=1e-10,
            source="equations and contact laws, Waltersberger & Wauer (1)–(3)",
        )
    ]
    met = branch.named("critical")
    if len(met) and critical < speed_to and not damped:
        checks.append(
            Check(
                "critical speed met on the branch",
                value=float(met[0]),
                expected=critical,
                tolerance=1e-8 * critical,
                source="eigenvalues of K_el, K_c",
            )
        )
    return checks


def _convex(rotor: BandagedRotor, branch: "StationaryBranch", critical: float, shaft: Shaft) -> list[Check]:
    """Below the critical speed: the quadratic program of another program."""
    if shaft.drag > 0.0:
        return []
    below = np.flatnonzero((branch.parameter < 0.97 * critical) & (branch.number == 0))
    chosen = below[np.linspace(0, len(below) - 1, 5).astype(int)]
    least = np.array([_least_energy(rotor.at(float(branch.parameter[k]))) for k in chosen])
    return [
        Check(
            "difference from the position of least energy, relative, at five speeds of the convex range",
            value=np.abs(branch.position[chosen] - least).max(axis=1) / np.abs(least).max(),
            expected=0.0,
            tolerance=1e-10,
            source="least-distance program by non-negative least squares (scipy)",
        )
    ]


def _least_energy(system: "LinearSystem") -> np.ndarray:
    """min ½ qᵀK q − fᵀq subject to Jᵀq + g₀ ≥ 0: u = R q − R⁻ᵀf of least length, K = RᵀR. Lawson & Hanson, 23."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    from klapper.mechanics.eigenmodes import as_dense

    root = np.linalg.cholesky(as_dense(system.position_matrix)).T
    lift = solve_triangular(root, np.asarray(system.load.value(0.0)), trans="T")
    rows = solve_triangular(root, as_dense(system.normal_directions), trans="T").T
    least = -system.gap_offsets(0.0) - rows @ lift
    unit = np.abs(least).max() / np.linalg.norm(rows, axis=1).max()
    tall = np.vstack([rows.T, least / unit])
    weights = nnls(tall, np.append(np.zeros(len(lift)), 1.0))[0]
    rest = tall @ weights - np.append(np.zeros(len(lift)), 1.0)
    return solve_triangular(root, lift - rest[:-1] / rest[-1] * unit)


def _compared(
    rotor: BandagedRotor,
    branch: "StationaryBranch",
    states: "tuple[Equilibrium, ...]",
    growth: list[float],
    speed: float,
) -> list[Check]:
    """The branch against all states by enumeration, and the folds against the free state."""
    checks = []
    if branch.number[-1] == 0 and branch.parameter[-1] > speed:
        checks.append(
            Check(
                "contacts that hold the branch where it passes this speed, against those of all states",
                value=sorted(_held_by(rotor, branch, k + 1) for k in _passes(branch, speed)),
                expected=sorted(rotor.loaded(state) for state in states),
                source="every combination of closed contacts tried",
            )
        )
    for fold in branch.folds[:2]:
        free = _free_state(rotor, float(fold))
        gaps = rotor.at(float(fold)).gaps(0.0, free, np.arange(len(rotor.names)))
        checks.append(
            Check(
                f"smallest gap of the state without contact at the fold at {fold:.6g} Hz",
                value=float(gaps.min()),
                expected=0.0,
                tolerance=1e-9 * float(np.abs(gaps).max()),
                source="(K_el − Ω² K_c)⁻¹ (Ω² f_c − P Σ w)",
            )
        )
    odd = [rate for state, rate in zip(states, growth, strict=True) if (state.negative or 0) % 2]
    if odd:
        checks.append(
            Check(
                "growth of states with an odd number of negative stiffnesses",
                value=odd,
                at_least=1e-9,
                source="determinant criterion, Waltersberger (5.168)",
            )
        )
    return checks


def _passes(branch: "StationaryBranch", speed: float) -> np.ndarray:
    """Numbers of the points after which the branch passes a speed."""
    above = branch.parameter > speed
    return np.flatnonzero((above[1:] != above[:-1]) & (branch.number[1:] == branch.number[:-1]))


def _held_by(rotor: BandagedRotor, branch: "StationaryBranch", point: int) -> str:
    return ", ".join(rotor.names[i] for i in np.flatnonzero(branch.closed[point])) or "none"


def _free_state(rotor: BandagedRotor, speed: float) -> np.ndarray:
    """Position (n,) [m] without contact."""
    turning = rotor.model.rotor
    load = (2 * np.pi * speed) ** 2 * turning.unbalance + 2 * np.pi * speed * turning.drag + rotor.pressing
    stiffness = turning.static_stiffness(speed) + 2 * np.pi * speed * turning.circulatory
    return np.linalg.solve(stiffness, load)


def _draw_branch(
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
    middle = 1e3 * _middle(rotor, branch)
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


def _draw_forces(
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


def _draw_shapes(
    figure: "Figure", *, rotor: BandagedRotor, states: "tuple[Equilibrium, ...]", speed: float
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
