"""Shaken incline: Vielsack's table of drift errors, printed and computed.

Two extreme motions: A = 0.9, B = 0.11 pauses for most of the period, A = 0.05, B = 3 never does. In the first the stick
law decides everything, the second hardly sees it. Printed and computed numbers stand side by side and none is fitted:
the first table agrees to its printed digits; the printed drift 0.4 of the second belongs to A = 0.1, and its errors for
damper and for both together are larger in print than computed. Velocities as in Figs. 8 and 9.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._vielsack import COLOURS, NAMES, PERIOD, Incline, integrated_period
from klapper.gallery.example import Check, Outcome, Parameter, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASES = {"pausing": (0.9, 0.11), "sliding": (0.05, 3.0), "sliding_corrected": (0.1, 3.0)}
SMEARED = ("spring", "damper", "both")
EPSILONS = (0.01, 0.001)
PRINTED_DRIFT = {"pausing": 0.0007, "sliding": 0.4, "sliding_corrected": 0.4}
# percent, rows by ε, columns by law; Vielsack, Fig. 10
PRINTED = {
    "pausing": ((110.0, 1400.0, 6.0), (11.0, 140.0, 0.5)),
    "sliding": ((5.0, 0.7, 0.9), (2.0, 0.06, 0.08)),
    "sliding_corrected": ((5.0, 0.7, 0.9), (2.0, 0.06, 0.08)),
}


@example("vielsack-table", source="Vielsack, ZAMM 76 (1996) 439-446, Figs. 8, 9, 10")
def vielsack_table(
    *,
    eps: Annotated[float, Parameter("parameter ε of the velocities shown", above=0.0, below=1.0)] = 0.01,
) -> Outcome:
    from klapper.analysis.shaken_incline import stationary_drift

    exact = {case: float(stationary_drift(*point).drift) for case, point in CASES.items()}
    errors = {case: _errors(*point) for case, point in CASES.items()}
    numbers: dict[str, object] = {}
    for case in CASES:
        numbers |= {
            f"drift_{case}": exact[case],
            f"drift_{case}_printed": PRINTED_DRIFT[case],
            f"percent_{case}": errors[case],
            f"percent_{case}_printed": PRINTED[case],
        }
    return Outcome(
        numbers=numbers,
        units={name: "%" for name in numbers if name.startswith("percent")},
        checks=[*_printed_checks(exact, errors), *_integrated_checks(errors, exact)],
        audit={
            "rows and columns": "ε = 0.01, 0.001; spring, damper, spring and damper",
            "printed drift of the second table": "0.4 belongs to A = 0.1; A = 0.05 has half of it",
            "printed errors of the second table": "about six times the computed ones for the damper, two and a "
            "half times for both; two methods agree on the computed ones",
        },
        figures={
            "errors": partial(_draw_errors, errors=errors),
            "velocity-pausing": partial(_draw_pausing, eps=eps),
            "velocity-sliding": partial(_draw_sliding, eps=eps),
        },
    )


def _errors(A: float, B: float) -> np.ndarray:
    """Error of the drift (2, 3) in percent, rows by ε, columns by law."""
    from klapper.analysis.shaken_incline import stationary_drift

    exact = stationary_drift(A, B).drift
    columns = [stationary_drift(A, B, np.array(EPSILONS), law).drift for law in SMEARED]
    return 100.0 * (np.column_stack(columns) / exact - 1.0)


def _printed_checks(exact: dict[str, float], errors: dict[str, np.ndarray]) -> list[Check]:
    """What the print says, to its digits, where it can be confirmed."""
    return [
        Check(
            "printed drift, pausing",
            value=exact["pausing"],
            expected=0.0007,
            tolerance=0.5e-4,
            source="Vielsack, Fig. 10; one digit",
        ),
        Check(
            "printed errors, pausing",
            value=errors["pausing"],
            expected=[[110.0, 1400.0, 6.0], [11.0, 140.0, 0.5]],
            tolerance=[[5.0, 50.0, 0.5], [0.5, 5.0, 0.05]],
            source="Vielsack, Fig. 10; two digits, one in the last column",
        ),
        Check(
            "printed drift, sliding with A = 0.1",
            value=exact["sliding_corrected"],
            expected=0.4,
            tolerance=0.05,
            source="Vielsack, Fig. 10, prints A = 0.05; one digit",
        ),
        Check(
            "printed errors of the spring, sliding",
            value=errors["sliding"][:, 0],
            expected=[5.0, 2.0],
            tolerance=0.5,
            source="Vielsack, Fig. 10; one digit",
        ),
    ]


def _integrated_checks(errors: dict[str, np.ndarray], exact: dict[str, float]) -> list[Check]:
    """The same table by numerical integration of the stationary period."""
    from klapper.analysis.shaken_incline import history

    checks = []
    for case, (A, B) in CASES.items():
        table = np.empty((len(EPSILONS), len(SMEARED)))
        for row, eps in enumerate(EPSILONS):
            for column, law in enumerate(SMEARED):
                period = integrated_period(Incline(A, B, eps, law), history(A, B, eps, law))
                table[row, column] = 100.0 * (period.distance / PERIOD / exact[case] - 1.0)
        checks.append(
            Check(
                f"errors by integration, {case.replace('_', ' ')}",
                value=errors[case],
                expected=table,
                tolerance=1e-8 / exact[case],
                source="integration with switches (DOP853, 1e-12)",
            )
        )
    return checks


def _draw_errors(figure: "Figure", *, errors: dict[str, np.ndarray]) -> None:
    """Error of the drift: printed (open) and computed (full)."""
    figure.set_size_inches(7.2, 3.6)
    titles = {"pausing": "A = 0.9, B = 0.11", "sliding": "A = 0.05, B = 3"}
    for axes, case in zip(figure.subplots(1, 2, sharey=True), titles, strict=True):
        for row, (eps, side) in enumerate(zip(EPSILONS, (-0.12, 0.12), strict=True)):
            place = np.arange(len(SMEARED)) + side
            colour = ("#0072B2", "#D55E00")[row]
            axes.semilogy(place, errors[case][row], "o", color=colour, label=f"ε = {eps:g}")
            axes.semilogy(place, PRINTED[case][row], "o", color=colour, fillstyle="none", markersize=11)
        axes.set_xticks(range(len(SMEARED)), ["spring", "damper", "both"])
        axes.set(title=titles[case], xlim=(-0.5, 2.5), ylim=(3e-3, 5e3))
    figure.axes[0].set_ylabel("error of the drift / %")
    figure.axes[1].legend(loc="upper right")


def _draw_pausing(figure: "Figure", *, eps: float) -> None:
    """Velocity for A = 0.9, B = 0.11 over two periods, Coulomb's law in grey (Fig. 8)."""
    from klapper.analysis.shaken_incline import history

    figure.set_size_inches(6.2, 6.6)
    exact = history(0.9, 0.11, periods=2, samples=1000)
    laws = ("none", *SMEARED)
    for axes, law in zip(figure.subplots(len(laws), 1, sharex=True), laws, strict=True):
        run = exact if law == "none" else history(0.9, 0.11, eps, law, periods=2, samples=1000)
        if law != "none":
            axes.plot(exact.time, exact.velocity, color="#AAAAAA", linewidth=1.1)
        axes.plot(run.time, run.velocity, color=COLOURS[law], linewidth=1.5)
        axes.set_title(NAMES[law], fontsize=11)
        axes.set(ylabel="ξ'", xlim=(0.0, 2.0 * PERIOD))
    axes.set_xlabel("τ")


def _draw_sliding(figure: "Figure", *, eps: float) -> None:
    """Velocity for A = 0.05, B = 3 over two periods (Fig. 9): the laws can hardly be told apart."""
    from klapper.analysis.shaken_incline import history

    axes = figure.subplots()
    for law, style in zip(("none", *SMEARED), ("-", "--", ":", "-."), strict=True):
        run = history(0.05, 3.0, eps, law, periods=2, samples=1000)
        axes.plot(run.time, run.velocity, style, color=COLOURS[law], linewidth=1.5, label=NAMES[law])
    axes.set(xlabel="τ", ylabel="velocity ξ'", xlim=(0.0, 2.0 * PERIOD))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.3)
