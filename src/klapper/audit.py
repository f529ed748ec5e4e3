"""The audit of a run: what it kept and what it leaves open, from its samples and its model alone.

    T + V + damping + friction + impact + numerical − loads = its value at the start

must hold for every sample, or the run has failed. Told besides: how deep contacts penetrate, where they gave energy,
whether momenta were kept, and whether forces are determined: at the end, where most contacts were loaded, and by
contact state. :func:`klapper.simulate.simulate` writes it into ``run.about["audit"]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.conservation import conservation
from klapper.mechanics.determinacy import force_determinacy
from klapper.mechanics.force_audit import forces_by_state, summary
from klapper.mechanics.momenta import has_momenta
from klapper.mechanics.system import System
from klapper.results import Run
from klapper.results.conservation import Conservation
from klapper.results.energy_gains import energy_gains
from klapper.results.ledger import TRUSTED
from klapper.schemes.base import Scheme


@dataclass(frozen=True, eq=False)
class Audit:
    """``findings`` in words and numbers, by what they are about.

    ``conservation``  what the run kept of energy and momenta; None where nothing of the kind is known
    ``failure``       what makes the run a failed one; empty if the ledger closes
    """

    findings: dict[str, Any]
    conservation: Conservation | None
    failure: str


def audit(run: Run, system: System, scheme: Scheme) -> Audit:
    """Judge a ``run`` of ``system`` by ``scheme``."""
    ledger = run.ledger
    missing, closed = float(np.abs(ledger.residual).max()), ledger.closes(TRUSTED)
    findings: dict[str, Any] = {
        "ledger residual": missing,
        "ledger": ledger.closing,
    }
    if run.layout.contacts:
        findings["largest penetration"] = float(-np.nanmin(run.samples.gap, initial=0.0)) + 0.0
    if len(run.layout.contacts) == system.contacts.count:
        findings |= _open_forces(run, system, scheme)
        findings |= _unused_restitution(system, scheme)
    else:
        findings["contacts"] = (
            f"of {system.contacts.count} possible ones those are kept that were loaded in the step before each sample"
        )
    findings |= energy_gains(run)
    kept = conservation(run, system) if scheme.inertia and has_momenta(system) else None
    if kept is not None:
        findings["conservation"] = kept.verdicts
    failure = (
        f"The energy ledger does not close: {missing:.2e} J of {ledger.scale:.2e} J. The step equations were not met; "
        f"use a smaller step or tolerance, and report this."
    )
    return Audit(findings, kept, "" if closed else failure)


def _unused_restitution(system: System, scheme: Scheme) -> dict[str, Any]:
    """What is told where the model asks for a rebound that the scheme does not know."""
    restitution = system.contacts.laws(np.arange(system.contacts.count)).restitution
    if not scheme.rebound or not np.any(restitution > 0.0):
        return {}
    given = f"{restitution.max():g} at '{system.contacts.name(int(np.argmax(restitution)))}'"
    follows = f"rebound follows from {scheme.rebound}"
    return {"restitution": f"the restitution of the model, e.g. {given}, is not used: {follows}"}


def _open_forces(run: Run, system: System, scheme: Scheme) -> dict[str, Any]:
    """Whether forces of contacts and constraints are determined, in words."""
    samples, layout = run.samples, run.layout
    if not (layout.contacts or layout.constraints):
        return {}
    loaded = np.count_nonzero(np.any(samples.impulse != 0.0, axis=2), axis=1)
    found: dict[str, Any] = {}
    for moment, k in (
        ("at the end", len(samples) - 1),
        ("with most contacts loaded", int(np.argmax(loaded))),
    ):
        verdict = force_determinacy(
            system,
            float(samples.time[k]),
            samples.position[k],
            samples.velocity[k],
            np.arange(len(layout.contacts)),
            samples.impulse[k],
            samples.state[k],
        )
        if verdict is not None and verdict.changes:
            found[f"forces {moment}"] = f"{verdict} ({samples.time[k]:.6g} s)"
    if scheme.compliant_contacts or system.singular_mass:
        return found  # forces follow from deformations
    return found | summary(
        forces_by_state(
            system,
            layout.contacts,
            samples.time,
            samples.position,
            samples.velocity,
            samples.impulse,
            samples.state,
            samples.constraint_impulse,
        )
    )
