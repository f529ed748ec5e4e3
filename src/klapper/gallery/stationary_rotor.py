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

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.counting import counted
from klapper.gallery._bandaged_rotor import BandagedRotor, draw_branch, draw_forces, draw_shapes
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
    from klapper.analysis import StationaryBranch, StationaryState
    from klapper.mechanics import LinearSystem

MOST_JOINTS = 10  # with the rims, contacts of which all combinations are tried


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
        "middle_gap": rotor.middle(branch),
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
            "uniqueness": f"one state below {critical:.6g} Hz, where the problem is convex; "
            f"{counted(len(states), 'state')} at "
            f"{speed:g} Hz, by trying all combinations of contacts",
        },
        figures={
            "branch": partial(draw_branch, rotor=rotor, branch=branch, critical=critical),
            "forces": partial(draw_forces, rotor=rotor, branch=branch, critical=critical),
            "shapes": partial(draw_shapes, rotor=rotor, states=states, speed=speed),
        },
    )


def _words(rotor: BandagedRotor, raised: "StationaryBranch", critical: float, speed: float) -> str:
    """What happens if the speed is raised from standstill to ``speed`` [Hz]."""
    if raised.parameter[-1] != speed:
        return f"no state was found beyond {raised.parameter[-1]:.6g} Hz: {raised.events[-1].name}"
    range_ = "convex range, the only state" if speed < critical else "non-convex range"
    jumps = int(raised.number[-1])
    after = "without a jump" if jumps == 0 else f"after {counted(jumps, 'jump')}"
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

    from klapper.complementarity.dense import dense

    root = np.linalg.cholesky(dense(system.position_matrix)).T
    lift = solve_triangular(root, np.asarray(system.load.value(0.0)), trans="T")
    rows = solve_triangular(root, dense(system.normal_directions), trans="T").T
    least = -system.gap_offsets(0.0) - rows @ lift
    unit = np.abs(least).max() / np.linalg.norm(rows, axis=1).max()
    tall = np.vstack([rows.T, least / unit])
    weights = nnls(tall, np.append(np.zeros(len(lift)), 1.0))[0]
    rest = tall @ weights - np.append(np.zeros(len(lift)), 1.0)
    return solve_triangular(root, lift - rest[:-1] / rest[-1] * unit)


def _compared(
    rotor: BandagedRotor,
    branch: "StationaryBranch",
    states: "tuple[StationaryState, ...]",
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
