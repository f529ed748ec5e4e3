"""Two masses and a spring on the curve y = 1/x: what becomes of the energy when a constraint is curved.

Both masses slide down the curve under gravity, tied by a stiff spring. Constraint Φ = y − 1/x and force λ ∇Φ are met by

    midpoint           Φ(q₁) = 0, ∇Φ in the middle of the step: energy changes where the curve bends, with h²
    modified           ∇Φ in the middle, and ∇Φ · Δq = 0 in place of Φ(q₁) = 0: energy is kept, the curve is left
    momentum-update    midpoint, then velocities corrected along ∇Φ: both are kept, if a quadratic has a real root
    discrete           the discrete gradient of Φ: ∇̄Φ · Δq = Φ₁ − Φ₀, both are kept
    penalty, augmented a spring for each constraint, and one whose forces are carried over, with discrete gradients

The force of the spring is a difference quotient over its squared length, so that it never changes the energy. Two
masses, the stiffness and the step are Hesch's (A.3); positions at the start and the rest length are not printed there
and are those of a surrogate: x = 0.2 and 0.25, at rest. With a spring that is stretched at the start some velocities
cannot be corrected.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.mechanics import FunctionSystem
    from klapper.results import Run
    from klapper.schemes import EnergyMomentum

Method = Literal["midpoint", "modified", "momentum-update", "discrete", "penalty", "augmented"]

GRAVITY = 9.81
ROUNDING = 1e-11  # of the energy: a step that changes it by less keeps it
START = np.array([0.2, 5.0, 0.25, 4.0])
KEEP_ENERGY = ("modified", "momentum-update", "discrete", "penalty", "augmented")
KEEP_CURVE = ("midpoint", "momentum-update", "discrete", "augmented")
SURROGATE: Mapping[tuple[str, float], tuple[str, float, float]] = {
    ("midpoint", 1.0): ("energy drift", 5.4e-2, 0.05e-2),
    ("midpoint", 0.9): ("energy drift", 1.3e-1, 0.05e-1),
    ("modified", 1.0): ("distance from the curve", 1.4e-3, 0.05e-3),
    ("momentum-update", 0.9): ("energy drift", 7.4e-4, 0.05e-4),
}
"""Largest values with a step of 0.01 s up to 2 s by an independent program, and half a unit of their last digit."""


@example("hyperbola-masses", source="Hesch A.3, Figs. A.10-A.18; energies by an independent program")
def hyperbola_masses(
    *,
    method: Annotated[Method, Parameter("how the masses are held on the curve")] = "discrete",
    step: Annotated[float, Parameter("time step", unit="s", above=0.0, at_most=0.05)] = 0.01,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 2.0,
    stiffness: Annotated[float, Parameter("stiffness of the spring", unit="N/m", above=0.0)] = 5000.0,
    rest_length: Annotated[
        float, Parameter("length of the spring without force over that at the start", above=0.0)
    ] = 1.0,
    penalty: Annotated[
        float, Parameter("stiffness of a constraint (penalty, augmented)", unit="N/m", above=0.0)
    ] = 1e6,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit
    from klapper.simulation import simulate

    system = two_masses(stiffness, rest_length)
    run = simulate(system, until, scheme_of(method, step, penalty))
    limit = partial(in_one_coordinate_each, stiffness, rest_length, until)
    energy = run.samples.energy[:, :2].sum(axis=1)
    drift, violation = float(np.abs(energy - energy[0]).max()), float(_violation(run.position).max())
    left = int(np.count_nonzero(np.abs(np.diff(energy)) > ROUNDING * abs(energy[0])))
    return Outcome(
        numbers={
            "energy_drift": drift,
            "constraint_violation": violation,
            "steps_that_change_energy": left,
            "energy_at_start": energy[0],
            "final_position": run.position[-1],
        },
        units={
            "energy_drift": "J",
            "constraint_violation": "m",
            "energy_at_start": "J",
            "final_position": "m",
        },
        checks=[
            *_checks(method, drift, violation, left, energy[0], penalty, run),
            *_surrogate_checks(method, step, until, stiffness, rest_length, drift, violation),
            ledger_check(run),
        ],
        audit=run_audit(run),
        figures={
            "energy-split": partial(_draw_energy, run=run, method=method, limit=limit),
            "trajectories": partial(
                _draw_paths, run=run, method=method, system=system, step=step, until=until
            ),
            "methods": partial(_draw_methods, system=system, step=step, until=until, penalty=penalty),
        },
    )


def two_masses(stiffness: float, rest_length: float) -> "FunctionSystem":
    """Positions (x₁, y₁, x₂, y₂) [m] of two masses of 1 kg, with a spring whose mean force does exact work."""
    from klapper.mechanics import Constraint, FunctionSystem

    length = rest_length * float(np.linalg.norm(START[:2] - START[2:]))
    spring = _Spring(stiffness, length)

    class TwoMasses(FunctionSystem):
        def force_between(
            self, t: float, before: np.ndarray, after: np.ndarray, *, slope: bool = False, exact: bool = True
        ) -> "_Between":
            return spring.between(before, after)

        def potential_gradient(self, q: np.ndarray) -> np.ndarray:
            return -spring.force(q)

    return TwoMasses(
        START,
        np.zeros(4),
        mass=np.eye(4),
        force=lambda t, q, v: spring.force(q),
        potential=spring.potential,
        damping_power=lambda t, q, v: 0.0,
        constraints=[
            Constraint("A", lambda t, q: np.array([1 / q[0] ** 2, 1, 0, 0]), lambda t, q: q[1] - 1 / q[0]),
            Constraint("B", lambda t, q: np.array([0, 0, 1 / q[2] ** 2, 1]), lambda t, q: q[3] - 1 / q[2]),
        ],
        coordinates=["x1", "y1", "x2", "y2"],
        name="two masses on a hyperbola",
    )


class _Between:
    """Mean force (4,) [N] of a step and its derivative (4, 4)."""

    def __init__(self, force: np.ndarray, slope: np.ndarray) -> None:
        self.force, self.slope = force, slope


class _Spring:
    """A spring of the given stiffness [N/m] and length [m] between two masses of 1 kg, and their weight."""

    def __init__(self, stiffness: float, length: float) -> None:
        self.stiffness, self.length = stiffness, length
        self.weight = np.array([0.0, -GRAVITY, 0.0, -GRAVITY])

    def potential(self, q: np.ndarray) -> float:
        return float(-self.weight @ q) + self._energy(float(np.sum((q[:2] - q[2:]) ** 2)))

    def force(self, q: np.ndarray) -> np.ndarray:
        way = q[:2] - q[2:]
        pull = 2.0 * self._slope(float(way @ way)) * way
        return self.weight - np.concatenate([pull, -pull])

    def between(self, before: np.ndarray, after: np.ndarray) -> _Between:
        """ΔV/Δπ of the squared length π times ∂π/∂q in the middle.                             Hesch (3.64)"""
        way, end = 0.5 * (before + after)[:2] - 0.5 * (before + after)[2:], after[:2] - after[2:]
        first, second = float(np.sum((before[:2] - before[2:]) ** 2)), float(end @ end)
        change = second - first
        if abs(change) <= 1e-7 * first:
            quotient, turn = (
                self._slope(0.5 * (first + second)),
                0.5 * self._curvature(0.5 * (first + second)),
            )
        else:
            quotient = (self._energy(second) - self._energy(first)) / change
            turn = (self._slope(second) - quotient) / change
        block = quotient * np.eye(2) + 4.0 * turn * np.outer(way, end)
        pull = 2.0 * quotient * way
        return _Between(
            self.weight - np.concatenate([pull, -pull]), -np.block([[block, -block], [-block, block]])
        )

    def _energy(self, square: float) -> float:
        return 0.5 * self.stiffness * (np.sqrt(square) - self.length) ** 2

    def _slope(self, square: float) -> float:
        return 0.5 * self.stiffness * (1.0 - self.length / np.sqrt(square))

    def _curvature(self, square: float) -> float:
        return 0.25 * self.stiffness * self.length / square**1.5


def scheme_of(method: Method, step: float, penalty: float) -> "EnergyMomentum":
    from klapper.schemes import AugmentedLagrange, EnergyMomentum, Penalty

    if method == "penalty":
        return EnergyMomentum(step, enforcement=Penalty(penalty))
    if method == "augmented":
        return EnergyMomentum(step, enforcement=AugmentedLagrange(penalty, 1e-11))
    names: Any = {"momentum-update": "projected"}
    return EnergyMomentum(step, constraint_forces=names.get(method, method))


def in_one_coordinate_each(stiffness: float, rest_length: float, until: float) -> Any:
    """The motion by another method: x₁ and x₂ as coordinates, y = 1/x put in, with error control; function of time."""
    from scipy.integrate import solve_ivp

    spring = _Spring(stiffness, rest_length * float(np.linalg.norm(START[:2] - START[2:])))

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        x, v = state[:2], state[2:]
        force = spring.force(np.array([x[0], 1 / x[0], x[1], 1 / x[1]]))
        pushed = force[0::2] - force[1::2] / x**2
        return np.concatenate([v, (pushed + 2.0 * v**2 / x**5) / (1.0 + x**-4)])

    found = solve_ivp(
        rate,
        (0.0, until),
        [*START[0::2], 0.0, 0.0],
        rtol=1e-9,
        atol=1e-11,
        method="DOP853",
        dense_output=True,
    )
    return found.sol


def _violation(position: np.ndarray) -> np.ndarray:
    """|Φ| (s,) [m], the larger one of both masses."""
    return np.abs(position[:, 1::2] - 1.0 / position[:, 0::2]).max(axis=1)


def _checks(
    method: Method, drift: float, violation: float, left: int, start: float, penalty: float, run: "Run"
) -> list[Check]:
    checks = []
    if method in KEEP_ENERGY and (method != "momentum-update" or left == 0):
        checks.append(
            Check(
                "energy drift",
                value=drift,
                expected=0.0,
                tolerance=1e-8 * abs(start),
                source="the force of the constraint does no work over a step",
            )
        )
    if method in KEEP_CURVE:
        checks.append(
            Check(
                "distance from the curve",
                value=violation,
                expected=0.0,
                tolerance=1e-9,
                source="the constraint is met at the end of every step",
            )
        )
    if method == "penalty":
        largest = float(np.abs(run.samples.constraint_impulse).max() / np.diff(run.time).min())
        checks.append(
            Check(
                "distance from the curve",
                value=violation,
                at_least=0.0,
                at_most=4.0 * largest / penalty,
                source="force of a spring over its stiffness; the mean of both ends of a step carries the force",
            )
        )
    return checks


def _surrogate_checks(
    method: Method,
    step: float,
    until: float,
    stiffness: float,
    rest_length: float,
    drift: float,
    violation: float,
) -> list[Check]:
    """Numbers of an independent program, which hold for its parameters."""
    told = SURROGATE.get((method, rest_length))
    if told is None or (step, until, stiffness) != (0.01, 2.0, 5000.0):
        return []
    what, expected, tolerance = told
    return [
        Check(
            f"{what}, other program",
            value=drift if what == "energy drift" else violation,
            expected=expected,
            tolerance=tolerance,
            source="prototype in another program; half a unit of the last digit",
        )
    ]


def _draw_energy(figure: "Figure", *, run: "Run", method: Method, limit: Callable[[], Any]) -> None:
    """Kinetic (rising) and potential energy by the chosen method and in the limit of small steps (dashed, by another
    method in one coordinate for each mass), and by how much the sum of both differs from the start."""
    figure.set_size_inches(6.4, 4.8)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.4, 1.0))
    time, kinetic, potential = run.time, run.ledger.kinetic, run.ledger.potential
    upper.plot(time, kinetic, color="#0072B2", label=f"kinetic, {method}")
    upper.plot(time, potential, color="#D55E00", label=f"potential, {method}")
    fine = np.linspace(0.0, time[-1], 1500)
    x, v = np.split(limit()(fine), 2)
    exact = 0.5 * np.sum(v**2 * (1.0 + x**-4), axis=0)
    upper.plot(fine, exact, "--", color="#333333", linewidth=0.8, label="kinetic, limit")
    upper.plot(
        fine, kinetic[0] + potential[0] - exact, ":", color="#333333", linewidth=0.9, label="potential, limit"
    )
    upper.set(ylabel="energy / J", xlim=(0.0, time[-1]))
    upper.legend(loc="center left", ncols=1)
    lower.plot(time, kinetic + potential - kinetic[0] - potential[0], color="#555555")
    lower.set(xlabel="time / s", ylabel="change of the sum / J")
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))


def _draw_paths(
    figure: "Figure", *, run: "Run", method: Method, system: "FunctionSystem", step: float, until: float
) -> None:
    """Steps of both masses on the curve (left), and how far they are off it (right): by the modified constraint, which
    keeps the energy, the masses leave the curve for good (solid); by the chosen method dotted."""
    from klapper.simulation import simulate

    figure.set_size_inches(7.2, 3.6)
    left, right = figure.subplots(1, 2)
    modified = run if method == "modified" else simulate(system, until, scheme_of("modified", step, 1.0))
    x = np.linspace(0.18, 3.0, 400)
    left.plot(x, 1.0 / x, color="#999999", linewidth=0.9)
    for first, colour in ((0, "#0072B2"), (2, "#D55E00")):
        name = f"mass {1 + first // 2}"
        left.plot(
            run.position[:, first], run.position[:, first + 1], "o", color=colour, markersize=2.6, label=name
        )
        for motion, style in ((modified, "-"), (run, ":")):
            along, above = motion.position[:, first], motion.position[:, first + 1]
            right.plot(along, 1e3 * (above - 1.0 / along), style, color=colour, linewidth=1.4)
    left.set(xlabel="x / m", ylabel="y / m", xlim=(0.0, 3.0))
    left.legend(loc="upper right", title=method)
    right.set(xlabel="x / m", ylabel="y − 1/x / mm", xlim=(0.0, 3.0))


def _draw_methods(
    figure: "Figure", *, system: "FunctionSystem", step: float, until: float, penalty: float
) -> None:
    """Largest change of energy and largest distance from the curve by every method, with the same step; augmentation
    gives the motion of the discrete gradient."""
    from klapper.simulation import simulate

    figure.set_size_inches(7.2, 3.2)
    axes = figure.subplots(1, 2, sharey=True)
    names: tuple[Method, ...] = ("midpoint", "modified", "momentum-update", "discrete", "penalty")
    found = []
    for name in names:
        run = simulate(system, until, scheme_of(name, step, penalty))
        energy = run.samples.energy[:, :2].sum(axis=1)
        found.append((np.abs(energy - energy[0]).max(), _violation(run.position).max()))
    for part, values, label, colour in zip(
        axes,
        np.maximum(np.array(found).T, 1e-16),
        ("largest change of energy / J", "largest distance from the curve / m"),
        ("#0072B2", "#D55E00"),
        strict=True,
    ):
        part.barh(names, values, color=colour, log=True)
        part.set(xlabel=label, xlim=(1e-16, 1.0))
    axes[0].invert_yaxis()
