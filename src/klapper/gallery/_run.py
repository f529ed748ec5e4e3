"""What examples with a motion have in common: the choice of scheme, the audit, the ledger check, the usual figures.

    run = simulate(system, until, scheme_named(scheme, step))
    return Outcome(
        numbers={...},
        checks=[..., ledger_check(run)],
        audit=run_audit(run),
        figures={"motion": ..., **run_figures(run)},
    )

A parameter ``scheme: Annotated[SchemeName, Parameter("time-stepping method")] = "moreau"`` names the method. Import
this module inside the function of the example where it needs more than ``SchemeName``.
"""

from typing import TYPE_CHECKING, Any, Literal

from klapper.gallery.check import Check

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from klapper.results import Run
    from klapper.schemes import Scheme

SchemeName = Literal["moreau"]


def scheme_named(name: SchemeName, step: float, *, theta: float = 0.5, impact: Any = None) -> "Scheme":
    """The scheme with the step [s]; ``theta`` and the ``impact`` law where it knows them."""
    from klapper.schemes import Moreau

    return {"moreau": Moreau}[name](step, theta=theta, impact=impact)


def ledger_check(run: "Run") -> Check:
    """That energy in, energy stored and energy lost balance at every sample of the run."""
    ledger = run.ledger
    return Check(
        "energy ledger",
        value=ledger.closing_error,
        expected=0.0,
        tolerance=max(1e-9 * ledger.scale, ledger.round_off),
        source="balance of energy; the tolerance is 1e-9 of the energy turned over, or round-off",
    )


def run_audit(run: "Run") -> dict[str, Any]:
    """How the motion was computed, what the loop found, and the publications behind it."""
    settings = ", ".join(f"{key} {_short(value)}" for key, value in run.about["settings"].items())
    return {
        "scheme": f"{run.about['scheme']} ({settings})",
        "steps": run.about["steps"],
        "findings": run.about["audit"],
        "energy at the end (J)": {name: value for name, value in run.ledger.balance.items() if value},
        "publications": dict(line.split(": ", 1) for line in run.citation().splitlines()),
    }


def run_figures(run: "Run", *names: str) -> "dict[str, Callable[[Figure], Any]]":
    """Contact forces and impulses, states of the contacts, and where the energy is; or only those of the given names.

    The names are "contact-forces", "contact-states" and "energy".
    """
    figures: dict[str, Callable[[Figure], Any]] = {"energy": run.plot.ledger}
    if run.layout.contacts:
        figures = {"contact-forces": run.plot.forces, "contact-states": run.plot.states, **figures}
    return {name: figures[name] for name in names or figures}


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
