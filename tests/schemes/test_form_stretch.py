"""The compiled step of every model against the general one, step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.schemes.both_paths import SOLVED, agree
from tests.schemes.stepping_models import FAMILIES

from klapper.mechanics import FunctionSystem
from klapper.mechanics.compiled_form import NotCompiled
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes import Moreau
from klapper.schemes.base import StepFailed
from klapper.schemes.form_stretch import FormStretch
from klapper.schemes.work import Work
from klapper.simulation import SimulationFailed, simulate

STEP = 2e-3


def compiled(system: System, scheme: Moreau) -> FormStretch:
    return FormStretch(
        system,
        system.compiled_form(),
        scheme.step_size,
        scheme.theta,
        scheme.tolerance,
        level=scheme.level,
        projects=scheme.projects(system),
        clears=scheme.clears(system),
        keeps_lasting=scheme.projection is None,
    )


def compare(
    system: System, scheme: Moreau, steps: int, open_motion: list[int] | None = None
) -> tuple[int, int]:
    """Step by step from the general states, as far as these go; (steps, those that the kernel left).

    Steps with two motions, both of which solve the contact problem to round-off, are noted in ``open_motion``.
    """
    loop, work, snapshot, left = compiled(system, scheme), Work(), scheme.init(system), 0
    for k in range(steps):
        try:
            step = scheme.step(system, snapshot, work=work)
        except StepFailed:  # friction without an answer, as after Painlevé
            return k, left
        ended, samples, why = loop.run(snapshot, 1, 1)
        if why:
            left += 1
        else:
            try:
                speed = max(1.0, float(np.abs(step.after.velocity).max(initial=0.0)))
                agree(system, step.after, ended, samples, scheme.step_size, speed)
            except AssertionError:
                if open_motion is None or max(step.residual, samples["residual"][0]) > SOLVED:
                    raise
                open_motion.append(k)
        snapshot = replace(step.after, step=k + 1)
    return steps, left


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(8))
def test_compiled_steps_are_the_general_ones(family: str, seed: int) -> None:
    system = FAMILIES[family](np.random.default_rng(seed))
    steps, left = compare(system, Moreau(STEP, theta=(0.5, 1.0, 0.7)[seed % 3]), 30)
    assert left == 0, f"{left} of {steps} steps were left"


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_compiled_steps_of_many_models_are_the_general_ones(family: str) -> None:
    """90 models of each of six kinds.

    A box that slides and spins on four rough corners has many motions, since the torque of friction depends on how its
    weight is distributed: both paths choose alike but for a few ties.
    """
    everything = left = 0
    ties: list[int] = []
    for seed in range(100, 190):
        system = FAMILIES[family](np.random.default_rng(seed))
        scheme = Moreau(STEP, theta=(0.5, 1.0, 0.7)[seed % 3])
        done = compare(system, scheme, 60, ties if family == "spatial" else None)
        everything, left = everything + done[0], left + done[1]
    assert left == 0
    assert len(ties) <= 1e-3 * everything


def test_every_system_has_a_compiled_form_or_says_why_not() -> None:
    from klapper.bodies import FootedSystem, RigidSystem
    from klapper.continuum import Continuum
    from klapper.mechanics import LinearSystem

    without = {FootedSystem: "NestedProx", Continuum: "sparse matrices"}
    for kind in (LinearSystem, FunctionSystem, RigidSystem, *without):
        assert kind.compiled_form is not System.compiled_form
    for kind, reason in without.items():
        with pytest.raises(NotCompiled, match=reason):
            kind.compiled_form(object.__new__(kind))


def test_a_model_that_cannot_be_compiled_says_why() -> None:
    seen: list[float] = []

    def force(t, q, v):
        seen.append(t)
        return -q

    swing = FunctionSystem([1.0], [0.0], mass=[[1.0]], force=force)
    run = simulate(swing, 0.01, Moreau(1e-3))
    assert run.about["audit"]["path"] == "general"
    assert "seen" in run.about["audit"]["not compiled"]
    with pytest.raises(InvalidModel, match=r"compiled='require'.*seen"):
        simulate(swing, 0.01, Moreau(1e-3, compiled="require"))


def test_a_step_that_the_kernel_leaves_is_done_by_the_general_code_and_counted() -> None:
    """A force that is not a number in one step: the general code says where, in words of the model."""

    def force(t, q, v):
        return np.array([np.sqrt(0.0095 - t) - q[0]])

    swing = FunctionSystem([1.0], [0.0], mass=[[1.0]], force=force, stiff=False)
    with pytest.raises(SimulationFailed) as failed, np.errstate(invalid="ignore"):
        simulate(swing, 0.02, Moreau(1e-3, compiled="require"))
    assert failed.value.run.time[-1] == pytest.approx(0.009)
    assert failed.value.run.about["audit"]["path"] == "compiled"
