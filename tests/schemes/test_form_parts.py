"""Parts of a step are compiled for models that need them, once, and are found by their addresses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmarks.dynamics.users_models import block_on_belt, double_pendulum, slider_crank

from klapper.mechanics import Constraint, Contact, LinearSystem
from klapper.mechanics.kernels import linear
from klapper.mechanics.system import System
from klapper.schemes import Moreau
from klapper.schemes.form_kernels import compiling
from klapper.schemes.form_kernels.calls import FORM, PLACES
from klapper.schemes.form_stretch import FormStretch

STEP = 1e-3
OF_JOINTS = {"given_joints", "prepare_joints", "hold_joints"}
OF_BOTH = {"hold_response", "joint_impulses"}


def loop(system: System, **options: bool) -> FormStretch:
    scheme = Moreau(STEP)
    given = {"projects": False, "clears": False, "keeps_lasting": True} | options
    return FormStretch(
        system, system.compiled_form(), STEP, scheme.theta, scheme.tolerance, level="velocity", **given
    )


def ball() -> System:
    floor = Contact("floor", normal=[1.0], restitution=0.5)
    return LinearSystem([1.0], force=[-9.81], position=[0.01], contacts=[floor])


def held_masses() -> System:
    """Three masses, the first of which is held, the last over a stop."""
    stop = Contact("stop", normal=[0.0, 0.0, -1.0], gap=1e-3)
    return LinearSystem(
        np.ones(3),
        stiffness=[100.0, 200.0, 300.0],
        contacts=[stop],
        constraints=[Constraint("base", direction=[1.0, 0.0, 0.0])],
    )


@pytest.mark.parametrize(
    ("build", "needed"),
    [
        (ball, {"step", "constant_responses"}),
        (held_masses, {"step", "constant_responses"} | OF_JOINTS | OF_BOTH),
        (double_pendulum, {"step", "lasting", "difference_curvatures", "difference_powers"}),
        (slider_crank, {"step"} | OF_JOINTS),
        (block_on_belt, {"step", "lasting", "solve_smooth", "solve_rough"}),
    ],
)
def test_a_model_compiles_the_parts_that_it_uses(build: Callable[[], System], needed: set[str]) -> None:
    assert loop(build())._parts == needed


def test_functions_that_a_model_cannot_use_have_no_address() -> None:
    given = loop(ball())._model.call
    known = {name for name in FORM if given[PLACES[name]] != 0}
    assert known == {"mass", "force", "gaps", "directions", "laws", "potential", "powers"}


def test_a_missing_part_is_an_error_and_not_a_crash() -> None:
    system = ball()
    one = loop(system)
    one._model.call[PLACES["gaps"]] = 0
    with pytest.raises(RuntimeError, match="'gaps' was not compiled"):
        one.run(Moreau(STEP).init(system), 10, 1)


def test_what_compiled_code_alone_calls_gets_no_machine_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLAPPER_CACHE", str(tmp_path))  # nothing is known
    twice = compiling.bare(lambda x: 2.0 * x)
    thrice = compiling.inner(lambda x: x + twice(x))
    called = compiling.outer(lambda x: thrice(x) + twice(x))
    assert called(1.5) == 7.5
    for function in (twice, thrice):
        made = next(iter(function.overloads.values()))
        assert not made.library.codegen._engine.is_symbol_defined(made.fndesc.llvm_func_name)
    made = next(iter(called.overloads.values()))
    assert made.library.codegen._engine.is_symbol_defined(made.fndesc.llvm_func_name)


@pytest.mark.parametrize("seed", range(8))
def test_tangents_of_linear_systems_are_their_matrices(seed: int) -> None:
    """K + N and D + G from their entries, at places that not both of them have, beside the matrices of numpy."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 14))

    def matrix(sign: float) -> np.ndarray:
        filled = draw.standard_normal((n, n)) * (draw.random((n, n)) < 0.3)
        return filled + sign * filled.T

    stiffness, damping, gyroscopic, circulatory = matrix(1.0), matrix(1.0), matrix(-1.0), matrix(-1.0)
    system = LinearSystem(
        np.ones(n), stiffness=stiffness, damping=damping, gyroscopic=gyroscopic, circulatory=circulatory
    )
    form = system.compiled_form()
    row, column = form.tangent_entries
    by_position, by_velocity = np.empty(row.size), np.empty(row.size)
    q, v = draw.standard_normal((2, n))
    found = np.zeros((2, n, n))
    if row.size:
        linear.tangents(form.index, form.data, 0.0, q, v, by_position, by_velocity)
        np.add.at(found[0], (row, column), by_position)
        np.add.at(found[1], (row, column), by_velocity)
    np.testing.assert_array_equal(found, -np.array([stiffness + circulatory, damping + gyroscopic]))
    force, powers = np.empty(n), np.empty(2)
    linear.force(form.index, form.data, 0.0, q, v, force)
    np.testing.assert_allclose(
        force, -(stiffness + circulatory) @ q - (damping + gyroscopic) @ v, rtol=1e-13, atol=1e-13
    )
    linear.powers(form.index, form.data, 0.0, q, v, powers)
    np.testing.assert_allclose(powers, [-v @ circulatory @ q, v @ damping @ v], rtol=1e-12, atol=1e-12)
    assert linear.potential(form.index, form.data, q) == pytest.approx(0.5 * q @ stiffness @ q, abs=1e-12)
