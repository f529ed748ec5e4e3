"""The audit of a run: what it kept and what it leaves open, from its samples and its model alone.

    T + V + damping + friction + impact + numerical − loads = its value at the start

must hold for every sample, or the run has failed. Told besides: how deep contacts penetrate, −(g + C λ) with their
compliance C, and in words if it is more than 1 % of the motion along the gap; where they gave energy, whether the
motion grows exponentially, whether momenta were kept, whether forces are determined (at the end, where most contacts
were loaded, and by contact state), and whether rest and motion are both solutions, at the start and at every
standstill. :func:`klapper.simulate` writes it into ``run.about["audit"]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.conservation import conservation
from klapper.mechanics.contacts import unused_restitution
from klapper.mechanics.momenta import has_momenta
from klapper.mechanics.system import System
from klapper.results import Run
from klapper.results.conservation import Conservation
from klapper.results.energy_gains import energy_gains
from klapper.results.exponential_growth import exponential_growth
from klapper.results.ledger import TRUSTED
from klapper.schemes.base import Scheme

if TYPE_CHECKING:
    from klapper.mechanics.acceleration import AccelerationProblem

NOTICED = 0.01
"""Of the motion along a gap: penetration beyond it is told in words. A smaller share is hardly seen in a figure of the
motion; errors of forces and of times of impact are then larger than those of the gap."""
ACCEPTED = 1e-9
"""Penetration [m] that is never told in words, as it is accepted at the start of a model."""
AT_REST = 1e-9
"""Of the fastest velocity of a run, and [m/s, rad/s]: slower ones are a standstill. Steps leave about 1e-12 of rest."""
_STANDSTILLS = 8  # that are asked, two problems of some milliseconds each
_LOOKS = 500  # at directions, over a run: enough for motion to and fro, and a moment of work


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
    missing, closed = ledger.closing_error, ledger.closes(TRUSTED)
    findings: dict[str, Any] = {
        "ledger residual": missing,
        "ledger": ledger.closing,
    }
    if run.layout.contacts or run.samples.loaded is not None:
        findings |= _penetration(run, system, scheme)
    if len(run.layout.contacts) == system.contacts.count:
        findings |= _open_forces(run, system, scheme) | _rest_or_motion(run, system, scheme)
    else:
        findings["contacts"] = (
            f"of {system.contacts.count} possible ones those are kept that were loaded in the step before each sample"
        )
    findings |= _unused_restitution(system, scheme)
    findings |= energy_gains(run) | exponential_growth(run)
    kept = conservation(run, system) if scheme.inertia and has_momenta(system) else None
    if kept is not None:
        findings["conservation"] = kept.verdicts
    failure = (
        f"The energy ledger does not close: {missing:.2e} J of {ledger.scale:.2e} J. The step equations were not met; "
        f"use a smaller step or tolerance, and report this."
    )
    return Audit(findings, kept, "" if closed else failure)


def _penetration(run: Run, system: System, scheme: Scheme) -> dict[str, Any]:
    """How deep contacts penetrate: a number, and words where it is much beside the motion along the gap."""
    samples = run.samples
    if samples.loaded is not None:
        gap, number = samples.loaded.gap, samples.loaded.contact
        deepest = float(-np.nanmin(gap, initial=0.0)) + 0.0
        motion = float(np.ptp(samples.position, axis=0).max(initial=0.0))
        if deepest <= max(NOTICED * motion, ACCEPTED):
            return {"largest penetration": deepest}
        name = system.contacts.name(int(number[np.nanargmin(gap)]))
        return {"largest penetration": deepest} | _overlap(name, deepest, motion, "motion", scheme)
    law = samples.gap + _deformation(run, system)
    found: dict[str, Any] = {"largest penetration": float(-np.nanmin(law, initial=0.0)) + 0.0}
    if system.compliance is not None:
        pressed = float(-np.nanmin(samples.gap, initial=0.0)) + 0.0
        found["indentation"] = (
            f"contacts have a compliance C: gaps are {-pressed:.3g} m at least, with C λ of the model"
        )
    depth = -np.nanmin(law, axis=0, initial=np.inf)
    candidate = np.flatnonzero(depth > ACCEPTED)
    share, worst = NOTICED, None
    for i in candidate:
        motion = _motion_along(run, system, int(i), float(depth[i]))
        if depth[i] > share * motion:
            share, worst = depth[i] / motion if motion > 0.0 else np.inf, (int(i), motion)
    if worst is None:
        return found
    deepest_at, motion = worst
    return found | _overlap(run.layout.contacts[deepest_at], float(depth[deepest_at]), motion, "gap", scheme)


def _overlap(name: str, depth: float, motion: float, of: str, scheme: Scheme) -> dict[str, str]:
    share = (
        f"{100.0 * depth / motion:.2g} % of the range {motion:.3g} m of its {of}"
        if motion > 0.0
        else "at rest"
    )
    if scheme.compliant_contacts:
        return {"indentation": f"the spring of contact '{name}' is pressed in by {depth:.3g} m, {share}"}
    advice = "use a smaller step, or a scheme that finds the time of impacts, such as EventDriven"
    return {"penetration": f"contact '{name}' overlaps by {depth:.3g} m, {share}; {advice}"}


def _motion_along(run: Run, system: System, contact: int, depth: float) -> float:
    """Range [m] of a gap; of a contact that never opens by more than it overlaps, that of the motion along it.

    Then the range of the gap is its error, and the ranges of ∫ n_i v_i dt tell what is small: how far each velocity
    moves it along its normal n. The way of a rotation that goes on follows its arm, which turns, too.
    """
    samples = run.samples
    gap = samples.gap[:, contact]
    opened = float(np.nanmax(gap) - np.nanmin(gap))
    if np.nanmax(gap) > depth:
        return opened
    looks = np.unique(np.linspace(0, len(samples) - 1, _LOOKS).astype(int))
    middle = 0.5 * (samples.velocity[1:] + samples.velocity[:-1]) * np.diff(samples.time)[:, None]
    way = np.vstack([np.zeros(middle.shape[1]), np.cumsum(middle, axis=0)])[looks]
    number = np.array([contact], dtype=np.int64)
    normals = np.array(
        [
            np.asarray(
                system.directions(float(samples.time[k]), samples.position[k], number).normal @ np.ones(1)
            ).ravel()
            for k in looks
        ]
    )
    along = np.cumsum(0.5 * (normals[1:] + normals[:-1]) * np.diff(way, axis=0), axis=0)
    return max(opened, float(np.ptp(along, axis=0).max(initial=0.0)))


def _deformation(run: Run, system: System) -> np.ndarray:
    """C λ (s, m) [m] of contacts with compliance, with the force λ of the step before each sample.

    A sample of several steps holds their mean force; there the law is taken as met, C λ = max(−g, 0).
    """
    samples, compliance = run.samples, system.compliance
    if compliance is None:
        return np.zeros(samples.gap.shape)
    steps, duration = np.diff(samples.step), np.diff(samples.time)
    single = (steps == 1) & (duration > 0.0)
    given = np.zeros(samples.gap.shape)
    force = samples.impulse[1:, :, 0][single] / duration[single, None]
    given[1:][single] = force @ np.asarray(compliance).T
    soft = np.diag(np.asarray(compliance)) > 0.0
    several = np.flatnonzero(np.concatenate([[True], ~single]))
    given[np.ix_(several, soft)] = np.maximum(-np.nan_to_num(samples.gap[np.ix_(several, soft)]), 0.0)
    return given


def _unused_restitution(system: System, scheme: Scheme) -> dict[str, Any]:
    """What is told where the model asks for a rebound that the scheme does not know."""
    told = unused_restitution(system.contacts, scheme.rebound) if scheme.rebound else ""
    return {"restitution": told} if told else {}


def _open_forces(run: Run, system: System, scheme: Scheme) -> dict[str, Any]:
    """Whether forces of contacts and constraints are determined, in words."""
    from klapper.mechanics.determinacy import force_determinacy
    from klapper.mechanics.force_audit import forces_by_state, summary

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


def _rest_or_motion(run: Run, system: System, scheme: Scheme) -> dict[str, Any]:
    """Where the system stands still although it could also move, or starts to move although it could stay, in words."""
    if (
        scheme.compliant_contacts
        or not scheme.inertia
        or system.singular_mass
        or system.compliance is not None
    ):
        return {}
    if not (system.contacts.tangential and system.contacts.count):
        return {}
    from klapper.mechanics.rest_or_motion import MOST_CONTACTS, closed_at, resting_problem, two_answers

    samples, told = run.samples, []
    asked: AccelerationProblem | None = None
    fastest = np.abs(samples.velocity).max(axis=1, initial=0.0)
    rests = fastest <= AT_REST * max(1.0, float(fastest.max(initial=0.0)))
    for k, after in _moments(rests):
        t, q = float(samples.time[after]), samples.position[k]
        loaded = np.flatnonzero(np.any(samples.impulse[k] != 0.0, axis=1))
        closed = np.union1d(closed_at(system, t, q), loaded)
        if len(closed) > MOST_CONTACTS:
            return {}
        problem = resting_problem(system, t, q, closed)
        if asked is not None and _same(asked, problem):
            continue
        asked = problem
        both = two_answers(problem)
        if both is not None:
            begins = not rests[min(max(after, k + 1), len(rests) - 1)]
            told.append(f"at {t:.6g} s {both}; this run {'starts to move' if begins else 'stays at rest'}")
    return {"rest or motion": "; ".join(told)} if told else {}


def _same(one: AccelerationProblem, other: AccelerationProblem) -> bool:
    if one.directions.shape != other.directions.shape:
        return False
    return np.allclose(one.force, other.force) and np.allclose(one.directions, other.directions)


def _moments(rests: np.ndarray) -> list[tuple[int, int]]:
    """Numbers of samples (place, time) to be asked, of samples (s,) at rest: the start, the first of every standstill,
    and the place of its last with the time of the next, under whose load it moved."""
    border = np.flatnonzero(np.diff(rests.astype(np.int8), prepend=0, append=0))
    spans = [(int(a), int(b)) for a, b in border.reshape(-1, 2) if b - a > 1 or a == 0][:_STANDSTILLS]
    return [(k, t) for a, b in spans for k, t in ((a, a), (b - 1, min(b, len(rests) - 1)))]
