"""Both paths of Moreau's scheme on every model of the gallery: general code and compiled loop, step by step."""

from __future__ import annotations

import importlib
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.gallery.general_steps import GENERAL, require_listed
from tests.schemes.both_paths import SOLVED, agree

from klapper.gallery import examples, find
from klapper.gallery.example import Example
from klapper.mechanics.compiled_form import NotCompiled
from klapper.mechanics.system import System
from klapper.results import Run
from klapper.schemes import Moreau
from klapper.schemes.base import Scheme, Snapshot
from klapper.schemes.work import Work

QUICK = {
    "belt-oscillator": 1,
    "block-stack": 1,
    "bouncing-ball": 1,
    "double-hinged-pendulum": 1,
    "impacting-bar": 5,
    "many-footed-block": 1,
    "newtons-cradle": 1,
    "painleve-rod": 2,
    "rocking-block": 1,
    "rotor-friction": 2,
    "slider-crank": 1,
    "tippe-top": 1,
    "tumbling-box": 2,
}
"""Examples of all kinds of model and loop that begin at once, and how many models they have at least."""

OTHERS = {
    "boundary-layer",
    "compliant-wedge",
    "coupled-sliders",
    "forced-delamination",
    "friction-damped-beam",
    "friction-oscillator",
    "impact-oscillator",
    "incline",
    "mode-coupling",
    "quasi-static-beam",
    "rocking-beam",
    "rotor-clatter",
    "rotor-methods",
    "settling-spheres",
    "two-masses-belt",
    "validity-limit",
    "woodpecker",
}
"""More examples that begin runs, beside those of the list of general steps."""

GIVEN: dict[str, dict[str, Any]] = {"settling-spheres": {"count": 20, "width": 0.22, "tolerance": 1e-9}}
"""Shipped heaps are solved to 1e-4, and two answers agree to that only; a small one is solved to round-off in time."""

MOST_RUNS = 12  # of an example; those that begin more repeat one model with other numbers
PLACES, LOOK, APART = 6, 4, 300  # places in a motion, steps compared at each, most steps between two


class Enough(BaseException):
    """Ends an example: a name that none catches."""


@dataclass(frozen=True)
class Begun:
    """A run that an example begins."""

    system: System
    scheme: Scheme
    until: float

    def moreau(self) -> Moreau:
        """The scheme of the example; of a model that another one integrates there, Moreau's in about as many steps."""
        if isinstance(self.scheme, Moreau):
            return self.scheme
        step = getattr(self.scheme, "step_size", None) or 1e-3 * (self.until - self.system.start.time)
        if self.system.compliance is not None:
            return Moreau(step, theta=1.0, level="position")
        return Moreau(step)


def begun(example: Example, monkeypatch: pytest.MonkeyPatch) -> list[Begun]:
    """Runs that an example begins, under Moreau where it offers that. Each run is cut short after a few steps.

    Examples may end in any error then, since they expect their whole motion.
    """
    found: list[Begun] = []
    loop = importlib.import_module("klapper.simulation")
    whole = loop._simulated

    def cut_short(system: System, until: float, scheme: Scheme, *given: Any, **options: Any) -> Run:
        found.append(Begun(system, scheme, float(until)))
        if len(found) == MOST_RUNS:
            raise Enough
        start, step = system.start.time, getattr(scheme, "step_size", None)
        soon = start + (3.0 * step if step else 0.01 * (until - start))
        return whole(system, min(until, soon), scheme, *given, **options)

    offers = any(each.name == "scheme" and "moreau" in each.choices for each in example.arguments)
    given = ({"scheme": "moreau"} if offers else {}) | GIVEN.get(example.name, {})
    with monkeypatch.context() as patch, warnings.catch_warnings(), suppress(Enough, Exception):
        warnings.simplefilter("ignore")
        patch.setattr(loop, "_simulated", cut_short)
        example.run(**given)
    return different(found)


def different(found: list[Begun]) -> list[Begun]:
    """One run of each size of model and each scheme with its settings."""
    kinds: dict[Any, Begun] = {}
    for run in found:
        model = run.system
        size = (type(model), model.contacts.count, len(model.velocities), len(model.constraints))
        kinds.setdefault((*size, run.scheme.name, repr(run.scheme.settings)), run)
    return list(kinds.values())


@dataclass
class Tally:
    """What a comparison found: steps that both paths did, and why others were left to the general code."""

    both: int = 0
    reasons: tuple[str, ...] = ()

    def leave(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons += (reason,)


def compare(run: Begun, tally: Tally) -> None:
    """Some steps at each of several places of a motion, before its contacts change where they do.

    Both paths begin each step in the same state. A rule that selects one of many answers is left away, after it was
    noted; two exact answers may differ then.
    """
    scheme, system = run.moreau(), run.system
    ruled = scheme.selection is not None
    try:
        scheme.stretch(system)
    except NotCompiled as reason:
        tally.leave(str(reason))
        if not ruled:
            return
    scheme = replace(scheme, selection=None)
    loop, work, snapshot = scheme.stretch(system), Work(), scheme.init(system)
    assert loop is not None
    h = scheme.step_size
    speed = speed_of(system, snapshot, h)
    apart = int(min((run.until - system.start.time) / h / PLACES, APART)) - LOOK
    for _ in range(PLACES):
        for _ in range(LOOK):
            step = scheme.step(system, snapshot, work=work)
            ended, samples, why = loop.run(snapshot, 1, 1)
            speed = max(speed, speed_of(system, step.after, h))
            if why:
                tally.leave(why)
            else:
                tally.both += 1
                try:
                    agree(system, step.after, ended, samples, h, speed)
                except AssertionError:
                    if not ruled or max(step.residual, samples["residual"][0]) > SOLVED:
                        raise
            snapshot = replace(step.after, step=snapshot.step + 1)
        if apart > 0:
            ended, samples, why = loop.run(snapshot, apart, 1)
            states = samples["state"] if samples else np.zeros((0, 0))
            changed = np.flatnonzero((states[1:] != states[:-1]).any(axis=1))
            if len(changed) and changed[0] > 1:
                ended, samples, why = loop.run(snapshot, int(changed[0]) - 1, 1)
            if samples:
                speed = max(speed, float(np.abs(samples["velocity"]).max(initial=0.0)))
            if why:
                tally.leave(why)
            snapshot = ended


def speed_of(system: System, snapshot: Snapshot, h: float) -> float:
    """The largest velocity, or that which forces cause in one step of ``h`` [s]."""
    mass = np.abs(system.mass(snapshot.position).diagonal())
    force = system.force(snapshot.time, snapshot.position, snapshot.velocity)
    gained = np.divide(h * force, mass, out=np.zeros_like(mass), where=mass > 0.0)
    return float(np.abs([*snapshot.velocity, *gained]).max())


@pytest.mark.parametrize("name", QUICK)
def test_both_paths_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = begun(find(name), monkeypatch)
    assert len(runs) >= QUICK[name]
    require_agreement(name, runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "example", [each for each in examples() if each.name not in QUICK], ids=lambda e: e.name
)
def test_both_paths_agree_on_every_other_example(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples that begin no run have no model to compare."""
    runs = begun(example, monkeypatch)
    known = example.name in OTHERS | GENERAL.keys()
    assert bool(runs) == known, f"{len(runs)} runs begun: OTHERS names the examples that begin any"
    require_agreement(example.name, runs)


def require_agreement(name: str, runs: list[Begun]) -> None:
    tally = Tally()
    for run in runs:
        compare(run, tally)
    require_listed(name, tally.reasons)
    if name in GENERAL:
        assert tally.reasons, "all steps are compiled: take the example off the list"
    else:
        assert tally.both == PLACES * LOOK * len(runs)


def test_the_list_names_examples() -> None:
    assert {*GENERAL, *QUICK, *OTHERS, *GIVEN} <= {each.name for each in examples()}
