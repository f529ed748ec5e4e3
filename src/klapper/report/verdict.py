"""A run judged in words: is it whole, were its equations met, do its books close, are its forces the only ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from klapper.results.ledger import EXACT, TRUSTED
from klapper.results.tables import number

if TYPE_CHECKING:
    from klapper.results import Run

LARGE_RESIDUAL = 1e-6
_TOLD = {
    "contact residual",
    "ledger residual",
    "ledger",
    "penetration",
    "energy gain",
    "contact states",
    "undetermined forces",
}


@dataclass(frozen=True)
class Verdict:
    """``kind`` colours the box, ``sentence`` heads it, ``lines`` say why, ``warnings`` what to be careful about."""

    kind: Literal["passed", "warned", "failed", "none"]
    sentence: str
    lines: dict[str, Any]
    warnings: tuple[str, ...]


def verdict(run: Run) -> Verdict:
    """What can be said of a run from its samples and its audit."""
    status = str(run.about.get("status", ""))
    warnings = tuple(_warnings(run, status))
    end = f" at {run.time[-1]:.6g} s" if len(run) else ""
    if not len(run):
        kind, sentence = "none", "The run has no samples."
    elif status == "failed":
        kind, sentence = "failed", f"The run failed{end}; what was computed until then is shown."
    elif status == "interrupted":
        kind, sentence = "warned", f"The run was interrupted{end}; what was computed until then is shown."
    elif not run.ledger.closes(TRUSTED):
        kind, sentence = "failed", "The energy ledger does not close, so the motion cannot be trusted."
    elif not status:
        kind, sentence = "none", "It is not noted whether the run reached its end."
    elif warnings:
        kind, sentence = (
            "warned",
            "The run is complete, with a warning."
            if len(warnings) == 1
            else (f"The run is complete, with {len(warnings)} warnings."),
        )
    else:
        kind, sentence = "passed", "The run is complete and its books close."
    return Verdict(kind, sentence, _lines(run), warnings)  # type: ignore[arg-type]


def _lines(run: Run) -> dict[str, Any]:
    audit = run.about.get("audit")
    audit = audit if isinstance(audit, dict) else {"audit": audit} if audit else {}
    residual = float(np.max(run.samples.residual, initial=0.0))
    lines: dict[str, Any] = {
        "contact problems": f"met to {number(residual)} at most, relative, computed from the problems themselves",
        "energy": run.ledger.verdict,
        "uniqueness": _uniqueness(run, audit),
    }
    rest = {name: entry for name, entry in audit.items() if name not in _TOLD}
    if isinstance(rest.get("largest penetration"), int | float):
        rest["largest penetration"] = f"{number(rest['largest penetration'])} m"
    return lines | rest


def _uniqueness(run: Run, audit: dict[str, Any]) -> Any:
    """Whether forces are the only ones possible, as far as the loop looked."""
    known = str(audit["contact states"]) if "contact states" in audit else ""
    if audit.get("undetermined forces"):
        return {"not unique": known, **_as_dict(audit["undetermined forces"])}
    if known:
        return f"contact states: {known}"
    if not run.layout.contacts and not run.layout.constraints and run.samples.loaded is None:
        return "no contacts and no constraints, so there are no forces to ask about"
    return "not looked at in this run"


def _warnings(run: Run, status: str) -> list[str]:
    audit = run.about.get("audit")
    audit = audit if isinstance(audit, dict) else {}
    found = [str(run.about["message"])] if run.about.get("message") else []
    if len(run) and not run.ledger.closes(EXACT) and status != "failed":
        found.append(run.ledger.verdict)
    residual = float(np.max(run.samples.residual, initial=0.0))
    if not residual <= LARGE_RESIDUAL:
        found.append(f"A contact problem was met only to {number(residual)}; use a smaller tolerance.")
    if audit.get("penetration"):
        found.append(f"Penetration: {audit['penetration']}.")
    if audit.get("energy gain"):
        found.append(f"Energy gain: {audit['energy gain']}.")
    if audit.get("undetermined forces"):
        found.append("Some contact forces are not unique: other forces belong to the same motion.")
    if not np.all(np.isfinite(run.position)):
        found.append("Some positions are not finite.")
    return found


def _as_dict(entry: Any) -> dict[str, Any]:
    return entry if isinstance(entry, dict) else {"forces": entry}
