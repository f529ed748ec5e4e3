"""What a first script loads and compiles, counted."""

import cProfile
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import types

from klapper import compiling
from klapper.mechanics import Contact, FunctionSystem, LinearSystem, user_functions
from klapper.results import Ledger, Run, Samples
from klapper.sampling import Sampler
from klapper.schemes import Moreau, linear_stretch
from klapper.schemes.form_kernels import compiling as compiling_forms
from klapper.schemes.kernels import linear, linear_form
from klapper.simulation import simulate

FIRST = """
from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate
"""
BALL = """
floor = Contact("floor", normal=[1.0], restitution=0.8)
ball = LinearSystem([1.0], force=[-9.81], position=[1.0], contacts=[floor])
run = simulate(ball, 5.0, Moreau(1e-3))
assert run.about["audit"]["path"] == "compiled"
"""
LISTEN = """
import json
from numba.core import event
class Compiled(event.Listener):
    def __init__(self): self.functions = []
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        self.functions.append(f"{function.__module__}.{function.__name__}")
    def on_end(self, event): pass
compiled = Compiled()
event.register("numba:compile", compiled)
"""


def printed(script: str, cache: Path) -> list[str]:
    """The list that a script prints in a fresh process without compiled kernels."""
    environment = os.environ | {"KLAPPER_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    return json.loads(done.stdout)


def test_names_of_a_first_script_load_little(tmp_path: Path) -> None:
    script = FIRST + "import json, sys; print(json.dumps(sorted(sys.modules)))"
    loaded = set(printed(script, tmp_path))
    assert {"klapper.mechanics.linear_system", "klapper.schemes.moreau", "klapper.simulation"} <= loaded
    late = ["optimize", "integrate", "interpolate", "special", "linalg"]
    assert loaded.isdisjoint({"numba", "matplotlib", "h5py", "rich", *(f"scipy.{name}" for name in late)})
    assert loaded.isdisjoint({"klapper.complementarity.dispatch", "klapper.schemes.event_driven"})


def test_a_bouncing_ball_compiles_what_it_calls(tmp_path: Path) -> None:
    script = LISTEN + FIRST + BALL + "print(json.dumps(compiled.functions))"
    functions = printed(script, tmp_path)
    kernels = [name for name in functions if name.startswith("klapper.")]
    assert "klapper.schemes.kernels.linear.run" in kernels
    assert not [name for name in kernels if name.startswith("klapper.complementarity")]
    assert len(kernels) <= 12
    assert len(functions) <= 40
    assert printed(script, tmp_path) == []  # they are on disk now


def test_a_run_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"ledger": 0, "total": 0, "samples": 0}

    def counted(owner: type, name: str, what: str) -> None:
        original = getattr(owner, name)

        def call(*given: object) -> object:
            counts[what] += 1
            return original(*given)

        monkeypatch.setattr(owner, name, call)

    counted(Samples, "require", "samples")
    total = Ledger.__dict__["total"]
    original, of = total.func, Ledger.of
    monkeypatch.setattr(
        total, "func", lambda ledger: counts.update(total=counts["total"] + 1) or original(ledger)
    )
    monkeypatch.setattr(
        Ledger, "of", classmethod(lambda cls, given: counts.update(ledger=counts["ledger"] + 1) or of(given))
    )
    floor = Contact("floor", normal=[1.0], restitution=0.8)
    run = simulate(LinearSystem([1.0], force=[-9.81], position=[1.0], contacts=[floor]), 1.0, Moreau(1e-3))
    assert run.ledger.closes()
    assert run.ledger.verdict
    assert counts == {"ledger": 1, "total": 1, "samples": 1}


def test_a_run_told_otherwise_keeps_samples_and_ledger() -> None:
    run = simulate(LinearSystem([1.0], force=[1.0]), 1.0, Moreau(0.1))
    other = run.told({"name": np.float64(2.0)})
    assert isinstance(other, Run)
    assert other.about == {"name": 2.0}
    assert other.samples is run.samples
    assert other.ledger is run.ledger


def test_the_next_solver_takes_what_one_does_not_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two balls that rest on each other: a solver that finds nothing, and one that finds the answer."""

    def stack() -> LinearSystem:
        contacts = [Contact("floor", normal=[1.0, 0.0]), Contact("upper", normal=[-1.0, 1.0], gap=0.1)]
        return LinearSystem([1.0, 2.0], force=[-10.0, -20.0], position=[0.0, 0.1], contacts=contacts)

    wanted = simulate(stack(), 1.0, Moreau(1e-2))
    monkeypatch.setattr(linear_stretch, "solvers", lambda *_, **__: ("nothing", "smooth"))
    found = simulate(stack(), 1.0, Moreau(1e-2))
    assert "steps by the general path" not in found.about["audit"]
    np.testing.assert_array_equal(found.position, wanted.position)
    np.testing.assert_array_equal(found.impulse, wanted.impulse)
    assert found.contact("floor").force[-1, 0] == pytest.approx(30.0, rel=1e-12)  # the weight of both


def test_long_compilations_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_MOMENT", 0.0)
    inner = numba.njit(lambda x: x + 1.0)
    outer = numba.njit(lambda x: inner(x) + inner(2.0 * x))
    told = io.StringIO()
    with compiling.compilation_told(told):
        assert outer(1.0) == 5.0
        assert outer(2.0) == 8.0
    assert told.getvalue().count("Compiling") == 1  # one line for both functions
    assert "about 0 s" in told.getvalue()
    assert re.search(r"\nCompiled in \d+ s in all\.\n$", told.getvalue())
    outer(1)  # for whole numbers: nobody listens any more
    assert told.getvalue().count("Compiling") == 1


def test_what_is_quick_or_piped_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = io.StringIO()
    with compiling.compilation_told(told), compiling.compilation_told():
        assert numba.njit(lambda x: 3.0 * x)(2.0) == 6.0
    assert told.getvalue() == ""
    assert capsys.readouterr().err == ""


def test_a_short_call_builds_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of millions of short runs each pays for what is built around its steps."""
    built = {"samples": 0, "sampler": 0, "types": 0}

    def counted(owner: Any, name: str, what: str) -> None:
        original = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            built[what] += 1
            return original(*given, **named)

        monkeypatch.setattr(owner, name, call)

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([-9.81 - 0.1 * v[0]])

    system = FunctionSystem([0.0], [1.0], mass=[[1.0]], force=force)
    simulate(system, 0.02, Moreau(1e-3))
    counted(Samples, "__post_init__", "samples")
    counted(Sampler, "__init__", "sampler")
    counted(types.BaseTuple, "from_types", "types")
    run = simulate(system, 0.02, Moreau(1e-3))
    assert run.about["audit"]["path"] == "compiled"
    assert built == {
        "samples": 3,
        "sampler": 0,
        "types": 0,
    }  # the first sample, those of the steps, all of them


def test_a_profiler_changes_no_machine_code() -> None:
    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([-9.81 - 0.2 * v[0]])

    system = FunctionSystem([0.0], [1.0], mass=[[1.0]], force=force)
    system.compiled_form()
    known = set(user_functions._compiled)
    profiler = cProfile.Profile()
    for _ in range(2):  # flags of code change when a profiler has watched it
        profiler.enable()
        system.compiled_form()
        profiler.disable()
    assert set(user_functions._compiled) == known


def test_loops_of_linear_systems_count_no_references() -> None:
    """Counting them is an atomic operation for every array of every call, and took more than half of a step."""
    without = compiling_forms.bare(lambda x: x)._compiler.pipeline_class
    called = (linear._steps, linear.sticks, linear_form.along, linear_form.form, linear_form.multiply)
    assert {function._compiler.pipeline_class for function in called} == {without}
