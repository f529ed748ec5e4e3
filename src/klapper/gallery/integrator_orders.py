"""Integrator orders: how fast the error of each integrator falls with its step.

A soft bar is held at one end, bent and let go: large rotations, large strains, and a motion

    M q̈ = −∂V/∂q

that a Runge–Kutta method of order 8 with error control gives to many digits. Errors of the end position are of the
order h², and of the order accuracy^⅔ where the step follows a wanted accuracy, because its error in a step is h³.
Projection of the energy afterwards is said to cost one order (Hesch 2.4.1): its corrections are of the order h³ in a
step, as the errors are, except where velocity and force are nearly at right angles; so between 1 and 2 is expected, and
2 is seen here.

Steps are shortened a little so that a whole number of them makes the duration. The order is that of the smallest step
and its half; how much it differs from that of the next larger steps says how near it is to its limit.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum
    from klapper.schemes import Scheme

YOUNG, POISSON, DENSITY = 1e3, 0.3, 1000.0
SIZES, CELLS = (1.0, 0.2), (3, 1)
MARKS = {
    "o": "#0072B2",
    "s": "#D55E00",
    "D": "#009E73",
    "^": "#CC79A7",
    "v": "#E69F00",
    "*": "#56B4E9",
    "P": "#222222",
    "x": "#777777",
}


@example("integrator-orders", source="theory of each method; reference by Runge–Kutta steps of order 8")
def integrator_orders(
    *,
    steps: Annotated[tuple[float, ...], Parameter("time steps", unit="s", above=0.0)] = (0.02, 0.01, 0.005),
    accuracies: Annotated[
        tuple[float, ...], Parameter("wanted accuracies of an adaptive step", unit="m", above=0.0)
    ] = (1e-5, 1e-6, 1e-7),
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.2,
    bend: Annotated[float, Parameter("deflection of the end at the start", unit="m", above=0.0)] = 0.2,
) -> Outcome:
    from klapper.schemes import stable_step
    from klapper.simulation import simulate

    world = bent_bar(bend)
    sizes = _dividing([*steps, 0.5 * min(steps)], until)
    wanted = sorted({*accuracies, 0.5 * min(accuracies)}, reverse=True)
    limit = stable_step(world)
    if sizes[0] > limit:
        raise ParameterError(
            f"steps must be at most {limit:.3g} s, above which central differences are not stable, "
            f"not {sizes[0]:.3g} s."
        )
    exact = reference(world, until)

    def error(scheme: "Scheme") -> float:
        return float(np.abs(simulate(world, until, scheme).position[-1] - exact).max())

    errors = {name: [error(scheme(h)) for h in sizes] for name, (scheme, _) in _integrators().items()}
    adaptive = [error(_adaptive(0.5 * until, accuracy)) for accuracy in wanted]
    orders = {name: _slopes(sizes, values) for name, values in errors.items()}
    adaptive_order = _slope(wanted, adaptive)
    return Outcome(
        numbers={
            "steps": sizes,
            "errors": errors,
            "orders": {name: slopes[-1] for name, slopes in orders.items()},
            "adaptive_errors": adaptive,
            "adaptive_order": adaptive_order,
        },
        units={
            "steps": "s (the given ones, so that they divide the duration, and half the smallest)",
            "errors": "m",
            "adaptive_errors": "m",
            "adaptive_order": "(error ~ accuracy^order)",
        },
        checks=[
            *(_check(name, orders[name], order) for name, (_, order) in _integrators().items()),
            Check(
                "adaptive step: power of the accuracy",
                value=adaptive_order,
                expected=2.0 / 3.0,
                tolerance=0.15 + _spread(wanted, adaptive),
                source="error h³ in a step, h² over the run; how much it differs between accuracies",
            ),
        ],
        audit={
            "reference": "DOP853 of scipy with relative tolerance 1e-11",
            "largest displacement of the reference (m)": float(np.abs(exact - world.start.position).max()),
        },
        figures={
            "orders": partial(_draw, steps=sizes, errors=errors, orders=orders),
            "adaptive": partial(_draw_adaptive, accuracies=wanted, errors=adaptive),
        },
    )


def bent_bar(bend: float) -> "Continuum":
    """A neo-Hookean bar, held at its left end, bent to a parabola and at rest; lumped mass."""
    from klapper.continuum import Continuum, NeoHooke, Solid, Support, block

    solid = Solid("bar", block(SIZES, CELLS), NeoHooke(YOUNG, POISSON), density=DENSITY)
    nodes = solid.mesh.nodes
    shape = nodes + np.column_stack([np.zeros(len(nodes)), bend * nodes[:, 0] ** 2])
    return Continuum(
        [solid], supports=[Support("bar", "left")], position={"bar": shape}, lumped=True, name="bent bar"
    )


def reference(world: "Continuum", until: float) -> np.ndarray:
    """Position (n,) [m] at the end, by another integrator over the coordinates that are free."""
    from scipy.integrate import solve_ivp

    held = np.unique(world.constraint_directions(0.0, world.start.position)[0].nonzero()[0])
    free = np.setdiff1d(np.arange(world.size), held)
    mass = world.mass_matrix.diagonal()[free]

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        q = world.start.position.copy()
        q[free] = state[: len(free)]
        return np.concatenate([state[len(free) :], world.force(t, q, np.zeros(world.size))[free] / mass])

    start = np.concatenate([world.start.position[free], np.zeros(len(free))])
    found = solve_ivp(rate, (0.0, until), start, method="DOP853", rtol=1e-11, atol=1e-13)
    end = world.start.position.copy()
    end[free] = found.y[: len(free), -1]
    return np.asarray(end)


def _integrators() -> dict[str, tuple[Callable[[float], Any], float]]:
    """Schemes by the step [s], with their order."""
    from klapper.schemes import CentralDifference, EnergyMomentum, GeneralisedAlpha, Moreau, Newmark

    return {
        "energy-momentum": (EnergyMomentum, 2.0),
        "midpoint": (partial(EnergyMomentum, forces="midpoint"), 2.0),
        "projected": (partial(EnergyMomentum, forces="projected"), 1.0),
        "newmark": (Newmark, 2.0),
        "generalised-alpha": (partial(GeneralisedAlpha, spectral_radius=0.8), 2.0),
        "central-difference": (CentralDifference, 2.0),
        "moreau": (Moreau, 2.0),
        "implicit Euler": (partial(Moreau, theta=1.0), 1.0),
    }


def _adaptive(largest: float, accuracy: float) -> "Scheme":
    from klapper.schemes import EnergyMomentum

    return EnergyMomentum(largest, accuracy=accuracy)


def _dividing(steps: list[float], until: float) -> list[float]:
    """The steps [s], falling and each once, shortened so that a whole number of them makes the duration."""
    counts = sorted({max(int(np.ceil(until / step - 1e-9)), 1) for step in steps})
    return [until / count for count in counts]


def _slopes(sizes: list[float], errors: list[float]) -> list[float]:
    """Powers of the sizes that the errors follow, from each size to the next."""
    return [float(each) for each in np.diff(np.log(errors)) / np.diff(np.log(sizes))]


def _slope(sizes: list[float], errors: list[float]) -> float:
    """Power of the sizes that the errors follow, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def _spread(sizes: list[float], errors: list[float]) -> float:
    """How far the powers between neighbouring sizes are from their mean."""
    return float(np.std(_slopes(sizes, errors)))


def _check(name: str, slopes: list[float], expected: float) -> Check:
    """The order from the two smallest steps. It comes nearer to the limit as the step falls, about as far as it came
    from the pair of steps before."""
    drift = abs(slopes[-1] - slopes[-2]) if len(slopes) > 1 else 0.5 * expected
    if name == "projected":
        return Check(
            f"order of {name}",
            value=slopes[-1],
            at_least=0.75 - drift,
            source="at least first order, Hesch 2.4.1; change of the order from step to step",
        )
    return Check(
        f"order of {name}",
        value=slopes[-1],
        expected=expected,
        tolerance=0.1 + drift,
        source="theory of the method; change of the order from step to step",
    )


def _draw(
    figure: "Figure", *, steps: list[float], errors: dict[str, list[float]], orders: dict[str, list[float]]
) -> None:
    """Error of the end position over the step; grey: slopes 1 and 2."""
    figure.set_size_inches(6.8, 4.2)
    axes = figure.subplots()
    for (name, values), (mark, colour) in zip(errors.items(), MARKS.items(), strict=True):
        axes.loglog(
            steps,
            values,
            marker=mark,
            color=colour,
            markersize=5,
            linewidth=1.2,
            label=f"{name}: {orders[name][-1]:.2f}",
        )
    ends = np.array([min(steps), max(steps)])
    for order, top in ((1, max(max(v) for v in errors.values())), (2, min(max(v) for v in errors.values()))):
        axes.loglog(ends, top * (ends / ends[1]) ** order, ":", color="#888888", linewidth=1.2)
    axes.set(xlabel="step / s", ylabel="error of the end position / m")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="observed order", fontsize=8)


def _draw_adaptive(figure: "Figure", *, accuracies: list[float], errors: list[float]) -> None:
    """Error of the end position over the accuracy wanted of a step; grey: the power ⅔."""
    axes = figure.subplots()
    axes.loglog(accuracies, errors, "o-", color="#0072B2")
    ends = np.array([min(accuracies), max(accuracies)])
    axes.loglog(
        ends, 1.5 * max(errors) * (ends / ends[1]) ** (2.0 / 3.0), ":", color="#888888", linewidth=1.2
    )
    axes.set(xlabel="accuracy wanted of a step / m", ylabel="error of the end position / m")
