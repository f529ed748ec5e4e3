"""What examples with a motion have in common: the choice of scheme, the audit, the ledger check, the usual figures.

    run = run_named(system, until, scheme, step)
    return Outcome(
        numbers={...},
        checks=[..., ledger_check(run)],
        audit=run_audit(run),
        figures={"motion": ..., **run_figures(run)},
    )

A parameter ``scheme: Annotated[SchemeName, Parameter("method")] = "moreau"`` names the method. Import
this module inside the function of the example where it needs more than ``SchemeName``.
"""

from typing import TYPE_CHECKING, Any, Literal

from klapper.gallery.check import Check
from klapper.gallery.parameter import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from matplotlib.figure import Figure

    from klapper.mechanics import System
    from klapper.results import Run
    from klapper.schemes import Scheme

SchemeName = Literal["moreau", "event-driven", "regularised", "exact", "ordinary"]
SteppingName = Literal["moreau"]
"""For examples with so many contacts that locating each event would take hours."""

MOST_SAMPLES = 1000  # of methods that choose their steps themselves, besides the events


def scheme_named(
    name: SchemeName,
    step: float,
    *,
    theta: float = 0.5,
    impact: Any = None,
    normal: Any = None,
    friction: Any = "set-valued",
    method: Any = "radau",
    tolerance: float | None = None,
    painleve: str = "stop",
) -> "Scheme":
    """The method by its name.

    ``step`` [s] is the time step of "moreau" and the interval of output of all others, which choose their steps
    themselves. ``theta`` belongs to "moreau", the ``impact`` law to the methods with rigid contacts; the laws
    ``normal`` and ``friction`` and the integration ``method`` belong to "regularised"; ``tolerance`` is that of the
    integrations with error control, if not the usual one. ``painleve`` says what "event-driven" and "exact" do where
    there is no acceleration.
    """
    if name == "moreau":
        from klapper.schemes.moreau import Moreau

        return Moreau(step, theta=theta, impact=impact)
    if name == "event-driven":
        from klapper.schemes.event_driven import EventDriven

        return EventDriven(
            1e-10 if tolerance is None else tolerance, impact=impact, sample=step, painleve=painleve
        )
    if name == "exact":
        from klapper.schemes.piecewise_exact import PiecewiseExact

        return PiecewiseExact(impact=impact, sample=step, painleve=painleve)
    if name == "ordinary":
        from klapper.schemes.ordinary import Ordinary

        return Ordinary(1e-10 if tolerance is None else tolerance, sample=step, painleve=painleve)
    from klapper.schemes.regularised import Regularised

    if normal is None:
        raise ParameterError(
            "scheme cannot be regularised here: this example has no compliant law of its contacts."
        )
    return Regularised(normal, friction, method, 1e-8 if tolerance is None else tolerance, sample=step)


def run_named(
    system: "System", until: float, name: SchemeName, step: float, *, every: int | None = None, **options: Any
) -> "Run":
    """The motion of ``system`` until the time ``until`` [s] by the method ``name``.

    ``options`` are those of :func:`scheme_named`. Methods that choose their steps themselves save samples at intervals
    of ``step`` [s], or longer ones if there would be more than 1000. A system that the method cannot treat is refused
    as a wrong parameter ``scheme``, in the method's own words.
    """
    from klapper.mechanics import InvalidModel
    from klapper.simulation import simulate

    if name != "moreau":
        step = max(step, (until - system.start.time) / MOST_SAMPLES)
    try:
        return simulate(system, until, scheme_named(name, step, **options), every=every)
    except InvalidModel as error:
        raise ParameterError(f"scheme cannot be {name} here: {error}") from error


def impact_time(run: "Run", sample: int, step: float) -> float:
    """When [s] the impact happened that a sample reports: of time stepping in the middle of the step [s]."""
    return float(run.time[sample] - (0.5 * step if run.about["scheme"] == "moreau" else 0.0))


def switching_times(run: "Run", contact: int | str) -> "tuple[np.ndarray, np.ndarray]":
    """Times (k,) [s] at which a contact changed its state, and the states (k,) into which it changed.

    Samples have the state of the interval that they end, so a change is at the beginning of the first interval with the
    new state: exact for methods that stop at events, up to a step early for time stepping.
    """
    import numpy as np

    history = run.contact(contact)
    changed = 1 + np.flatnonzero(np.diff(history.state[1:]) != 0)
    return history.time[changed], history.state[changed + 1]


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
