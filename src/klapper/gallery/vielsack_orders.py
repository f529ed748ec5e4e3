"""Shaken incline: how fast the smeared stick approaches the true one, and what it costs.

During a stick that begins at τ₀ after a slip in direction s, with Δρ = s − A − B sin τ₀ and θ = τ − τ₀,

    spring            ξ' = −√ε Δρ sin(θ/√ε) + O(ε)                      Vielsack (21)
    damper            ξ' = ε (A + B sin τ) + O(ε²) behind the layer      (25)
                      ρ  = A + B sin τ + Δρ e^(−θ/ε) + O(ε)
    spring + damper   ξ' = ε {B/2 [cos τ + sin τ − (sin τ₀ + cos τ₀) e^(−θ)] + Δρ (e^(−θ/ε) − e^(−θ))} + O(ε²)     (30)

(30) is printed without the factor ε of Δρ, and the second term of (21) with sin instead of cos τ. The arctan law has no
closed form: its error is shown beside the steps that integrators need for a period.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._vielsack import COLOURS, LAWS, NAMES, PERIOD, Incline
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.analysis.shaken_incline import History

EXPECTED = {
    "spring_amplitude": 0.5,
    "spring": 1.0,
    "damper": 2.0,
    "damper_layer": 1.0,
    "both_size": 1.0,
    "both": 2.0,
}
MEANING = {
    "spring_amplitude": "spring: largest velocity",
    "spring": "spring: remainder of (21)",
    "damper": "damper: remainder of (25)",
    "damper_layer": "damper: remainder of the force",
    "both_size": "both: largest velocity",
    "both": "both: remainder of (30)",
}
EPSILONS = np.geomspace(1e-3, 1e-5, 9)
DRIFTS = np.geomspace(1e-1, 1e-4, 10)


@example("vielsack-orders", source="Vielsack, ZAMM 76 (1996) 439-446, (21), (25), (30), section 7")
def vielsack_orders(
    *,
    A: Annotated[float, Parameter("pull of gravity tan α/μ", above=0.0, below=1.0)] = 0.6,
    B: Annotated[float, Parameter("shaking a Ω²/(μ g cos α)", above=0.0)] = 0.8,
) -> Outcome:
    from klapper.analysis.shaken_incline import stationary_drift

    if str(stationary_drift(A, B).motion_type) != "III":
        raise ParameterError(
            f"A = {A:g} and B = {B:g} must give one slip and one pause, type III: 1 − A < B < 1 + A."
        )
    sizes = _sizes(A, B)
    orders = {name: _slope(EPSILONS, values) for name, values in sizes.items()}
    exact = float(stationary_drift(A, B).drift)
    errors = {law: np.abs(stationary_drift(A, B, DRIFTS, law).drift - exact) for law in LAWS[1:]}
    steps = stationary_drift(A, B, DRIFTS, "arctan").phases
    return Outcome(
        numbers={
            **{f"order_{name}": order for name, order in orders.items()},
            "order_arctan_drift": _slope(DRIFTS[-4:], errors["arctan"][-4:]),
            "eps": DRIFTS,
            **{f"drift_error_{law}": values for law, values in errors.items()},
            "arctan_steps_per_period": steps,
        },
        checks=[
            Check(
                f"order in ε, {MEANING[name]}",
                value=orders[name],
                expected=EXPECTED[name],
                tolerance=0.05,
                source="Vielsack (21), (25), (30); slope over two decades",
            )
            for name in EXPECTED
        ],
        audit={
            "arctan law": "Taylor series of order 24; explicit steps shrink like ε, the rate of the stick is 2/(π ε)",
            "ε of the orders": f"{EPSILONS[-1]:g} to {EPSILONS[0]:g}",
        },
        figures={
            "orders": partial(_draw_orders, sizes=sizes),
            "drift-errors": partial(_draw_errors, errors=errors),
            "arctan-steps": partial(_draw_steps, A=A, B=B, steps=steps),
        },
    )


def _sizes(A: float, B: float) -> dict[str, np.ndarray]:
    """Velocities of the stick and what is left of them without the leading terms, for every ε."""
    rows = []
    for eps in map(float, EPSILONS):
        spring, damper, both = (_stick(A, B, eps, law) for law in ("spring", "damper", "both"))
        rows.append((*_spring(eps, *spring), *_damper(A, B, eps, *damper), *_both(B, eps, *both)))
    return dict(zip(EXPECTED, np.array(rows).T, strict=True))


def _stick(A: float, B: float, eps: float, law: str) -> tuple["History", np.ndarray, float, float]:
    """A stationary history, which of its samples belong to the first pause, its begin τ₀, and Δρ."""
    from klapper.analysis.shaken_incline import history

    run = history(A, B, eps, law, periods=2, samples=int(max(4000, 60.0 / np.sqrt(eps))))
    switch = np.flatnonzero((run.phase[1:] == 0) & (run.phase[:-1] != 0)) + 1
    ends = np.append(np.flatnonzero((run.phase[1:] != 0) & (run.phase[:-1] == 0)), len(run.time) - 1)
    lengths = np.array([run.time[ends[ends >= begin][0]] - run.time[begin] for begin in switch])
    begin = int(switch[np.argmax(lengths)])
    end = int(ends[ends >= begin][0])
    inside = np.zeros(len(run.time), dtype=bool)
    inside[begin : end + 1] = True
    start = float(run.time[begin])
    return run, inside, start, float(run.phase[begin - 1] - Incline(A, B).load(start))


def _spring(eps: float, run: "History", inside: np.ndarray, start: float, jump: float) -> tuple[float, float]:
    theta, velocity = run.time[inside] - start, run.velocity[inside]
    leading = -np.sqrt(eps) * jump * np.sin(theta / np.sqrt(eps))  # Vielsack (21)
    return float(np.abs(velocity).max()), float(np.abs(velocity - leading).max())


def _damper(
    A: float, B: float, eps: float, run: "History", inside: np.ndarray, start: float, jump: float
) -> tuple[float, float]:
    time, load = run.time[inside], A + B * np.sin(run.time[inside])
    behind = time - start > 3.0 * eps * np.log(1.0 / eps)
    remainder = run.velocity[inside] - eps * load  # Vielsack (25)
    layer = run.force[inside] - load - jump * np.exp(-(time - start) / eps)
    return float(np.abs(remainder[behind]).max()), float(np.abs(layer).max())


def _both(
    B: float, eps: float, run: "History", inside: np.ndarray, start: float, jump: float
) -> tuple[float, float]:
    time, velocity = run.time[inside], run.velocity[inside]
    slow = np.exp(-(time - start))
    wave = np.cos(time) + np.sin(time) - (np.sin(start) + np.cos(start)) * slow
    leading = eps * (
        0.5 * B * wave + jump * (np.exp(-(time - start) / eps) - slow)
    )  # Vielsack (30), corrected
    return float(np.abs(velocity).max()), float(np.abs(velocity - leading).max())


def _slope(eps: np.ndarray, values: np.ndarray) -> float:
    return float(np.polyfit(np.log(eps), np.log(values), 1)[0])


def _draw_orders(figure: "Figure", *, sizes: dict[str, np.ndarray]) -> None:
    """Velocities of the stick and remainders of the asymptotic formulas over ε, with lines of the expected order."""
    figure.set_size_inches(6.6, 4.6)
    axes = figure.subplots()
    for name, values in sizes.items():
        colour = COLOURS[name.split("_")[0]]
        filled = "none" if name in ("spring_amplitude", "damper_layer", "both_size") else "full"
        axes.loglog(EPSILONS, values, "o", color=colour, fillstyle=filled, label=MEANING[name])
        axes.loglog(
            EPSILONS, values[-1] * (EPSILONS / EPSILONS[-1]) ** EXPECTED[name], color=colour, linewidth=0.9
        )
    axes.set(xlabel="ε", ylabel="velocity ξ' or force ρ")
    _legend(axes)


def _draw_errors(figure: "Figure", *, errors: dict[str, np.ndarray]) -> None:
    """Error of the drift over ε."""
    axes = figure.subplots()
    for law, values in errors.items():
        axes.loglog(DRIFTS, values, "o-", color=COLOURS[law], linewidth=1.2, markersize=4, label=NAMES[law])
    axes.set(xlabel="ε", ylabel="error of the drift")
    _legend(axes)


def _draw_steps(figure: "Figure", *, A: float, B: float, steps: np.ndarray) -> None:
    """Steps for a stationary period of the arctan law: explicit methods pay for the stick, implicit ones hardly."""
    axes = figure.subplots()
    axes.loglog(DRIFTS, steps, "o-", label="Taylor, order 24, to round-off")
    shown = DRIFTS[::3]
    for method, mark in (("DOP853", "s-"), ("Radau", "d-")):
        counts = [_integrator_steps(A, B, float(eps), method) for eps in shown]
        axes.loglog(shown, counts, mark, linewidth=1.2, markersize=5, label=f"{method}, tolerance 1e-8")
    axes.set(xlabel="ε", ylabel="steps per period")
    _legend(axes)


def _integrator_steps(A: float, B: float, eps: float, method: str) -> int:
    """Steps of an integrator of scipy for one stationary period."""
    from scipy.integrate import solve_ivp

    from klapper.analysis.shaken_incline import history

    begin = float(history(A, B, eps, "arctan", samples=2).velocity[0])
    incline = Incline(A, B, eps, "arctan")
    solution = solve_ivp(
        lambda t, v: [incline.load(t) - incline.force(v[0], 0.0)],
        (0.0, PERIOD),
        [begin],
        method=method,
        rtol=1e-8,
        atol=1e-8 * eps,
    )
    return len(solution.t) - 1


def _legend(axes: "Axes") -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
