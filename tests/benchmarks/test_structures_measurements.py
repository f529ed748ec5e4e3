"""Small sizes of the benchmarks of structures: both sides say the same; no time decides."""

import shutil
import subprocess
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.sides import Side
from benchmarks.structures import (
    equal_error,
    klapper_rotor,
    reduction_scale,
    speeds,
    steady_state,
    step_cost,
)
from benchmarks.structures.clattering_rotor import STEPS_PER_TURN, ClatteringRotor, shipped

from klapper.schemes import Moreau
from klapper.simulation import simulate

SICONOS = "/usr/bin/python3"


def _has_siconos() -> bool:
    if shutil.which(SICONOS) is None or shutil.which("g++") is None:
        return False
    return subprocess.run([SICONOS, "-c", "import siconos.kernel"], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def shutting() -> ClatteringRotor:
    """Thrown into contact at once."""
    rotor = shipped(6, 9)
    return replace(rotor, start_velocity=-0.2 * rotor.middle / np.linalg.norm(rotor.middle) ** 2)


@pytest.fixture(scope="module")
def ours(shutting: ClatteringRotor) -> dict[str, Any]:
    answer = klapper_rotor.measure(2 * STEPS_PER_TURN, 1, 1, **shutting.arrays())
    return {"version": "0", **{name: np.asarray(value) for name, value in answer.items()}}


def test_compiled_and_general_path_step_the_rotor_alike(ours: dict[str, Any]) -> None:
    assert (str(ours["compiled_path"]), str(ours["general_path"])) == ("compiled", "general")
    assert ours["touching"] > 0.0
    assert ours["paths_apart"] < 1e-12
    assert ours["gap"].shape == (2 * STEPS_PER_TURN,)


@pytest.mark.skipif(not _has_siconos(), reason="Siconos or g++ is not installed")
def test_siconos_steps_the_same_rotor(shutting: ClatteringRotor, ours: dict[str, Any]) -> None:
    side = Side("Siconos", (SICONOS, "-m", "benchmarks.structures.siconos_rotor"))
    theirs = side.ask("rotor", **shutting.arrays(), steps=2 * STEPS_PER_TURN, repeats=1)
    found = steady_state.Settling(shutting, 2 * STEPS_PER_TURN, ours, theirs)
    assert found.apart.max() < 1e-10
    said = steady_state.words(found)
    assert "Between klapper and Siconos the gap in the middle differs by at most" in said


def test_without_siconos_one_sentence_says_so(
    ours: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(steady_state, "ask", lambda *_, **__: ours)
    found = steady_state.measure(str(tmp_path / "python"), turns=2, repeats=1, general_turns=1)
    said = steady_state.words(found)
    assert said.endswith("Siconos is left out: interpreter not found.")
    assert "| than Siconos, over the whole motion | – | ≥ 5 | open |" in said
    _drawn(steady_state.draw, found)


@pytest.fixture(scope="module")
def methods() -> dict[str, Any]:
    return equal_error.measure(
        np.array([4]), 3, np.array([1e2, 1e3]), np.array([1e6]), np.array([1e-3, 1e-5, 1e-7]), 1
    )


def test_event_driven_errors_fall_with_the_tolerance(methods: dict[str, Any]) -> None:
    rigid = methods["family"] == "event-driven"
    assert np.all(methods["error"][rigid] <= 10.0 * methods["tolerance"][rigid] * methods["opening"][0])


def test_regularised_contacts_come_as_close_as_their_dampers_are_strong(methods: dict[str, Any]) -> None:
    """The contacts sink with the speed λ/d, so their error is of first order in 1/d."""
    fine = (methods["family"] == "dampers") & (methods["tolerance"] == 1e-5)
    weak, strong = (float(methods["error"][fine & (methods["stiffness"] == c)][0]) for c in (1e5, 1e6))
    assert weak / strong == pytest.approx(10.0, rel=0.1)


def test_equal_error_takes_the_cheapest_run_that_is_close_enough() -> None:
    found = {
        "modes": np.array([4]),
        "impacts": np.array([2]),
        "opening": np.array([0.01]),
        "run_modes": np.full(5, 4),
        "family": np.array(["event-driven", "event-driven", "dampers", "dampers", "springs"]),
        "tolerance": np.array([1e-3, 1e-5, 1e-5, 1e-5, 1e-5]),
        "stiffness": np.array([np.inf, np.inf, 1e3, 1e9, 1e6]),
        "error": np.array([5e-6, 5e-9, 5e-6, 5e-7, np.nan]),
        "seconds": np.array([1.0, 2.0, 3.0, 8.0, 0.1]),
    }
    said = equal_error.words(found)
    assert "| 4 | 2 | 2 s | 8 s | 3.0 | 4.0 | – | – | 1.5 | 5.0e-06 |" in said
    assert "1 of 5 runs gave no motion" in said
    _drawn(equal_error.draw, found)


def test_growth_over_speeds_is_that_of_the_plain_loop() -> None:
    found = speeds.measure(np.array([6, 8]), 8, 12, 5, 1)
    assert np.all(found["apart"] <= speeds.AGREEMENT * found["largest"])
    assert found["speeds"].tolist() == [5, 12]
    assert "| delamination off the middle | 8 | 12 |" in speeds.words(found)
    _drawn(speeds.draw, found)


def test_growth_that_differs_from_the_plain_loop_gives_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    right = speeds.growth
    monkeypatch.setattr(speeds, "growth", lambda rotor, places: right(rotor, places) + 1.0)
    with pytest.raises(AssertionError, match="growth differs"):
        speeds.measure(np.array([6]), 6, 3, 3, 1)


@pytest.mark.parametrize("model", step_cost.MODELS)
def test_reduced_models_step_alike_compiled_and_not(model: str) -> None:
    system, scheme = step_cost._reduced(model, 8, 5)
    until = 150 * scheme.step_size
    runs = [
        simulate(system, until, path, every=1, progress=False)
        for path in (scheme, Moreau(scheme.step_size, theta=scheme.theta, level=scheme.level, compiled=False))
    ]
    assert [run.about["audit"]["path"] for run in runs] == ["compiled", "general"]
    largest = np.abs(runs[1].position).max()
    np.testing.assert_allclose(runs[0].position, runs[1].position, rtol=0.0, atol=1e-10 * largest)


def test_costs_of_steps_come_with_their_limits() -> None:
    found = step_cost.measure(np.array([4, 8]), np.array([5, 10]), 8, 5, 1, 60, 1)
    assert found["modes_cost"].shape == found["contacts_limit"].shape == (3, 2)
    assert "| plates, modal | 8 | 10 |" in step_cost.words(found)
    _drawn(step_cost.draw, found)


def test_the_products_of_the_limit_are_products() -> None:
    random = np.random.default_rng(1)
    tall, square, x = random.normal(size=(7, 3)), random.normal(size=(2, 3, 3)), random.normal(size=3)
    out = np.zeros(7)
    step_cost.products(tall, square[:0], x, out, 4)
    np.testing.assert_allclose(out, tall @ x, atol=1e-14)
    step_cost.products(tall, square, x, out, 1)
    np.testing.assert_allclose(out[:3], square[1] @ x, atol=1e-14)


def test_large_structures_are_imported_reduced_and_stepped() -> None:
    answers = {
        name: reduction_scale.measure(np.array([24, 19]), np.array([4, 3]), 12, 100, name)
        for name in reduction_scale.TARGETED
    }
    for found in answers.values():
        assert (found["unknowns"], found["contacts"], found["path"]) == (2 * 24 * 19, 12, "compiled")
        assert found["frequencies"] < 1e-8
        assert found["ledger"] < 1e-9
    assert answers["quasi-static"]["lost"] < 1e-9 < answers["modal"]["lost"]
    assert "| peak memory |" in reduction_scale.words(answers)


def _drawn(draw: Any, found: Any) -> None:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    draw(figure, found=found)
    assert all(axes.get_xlabel() for axes in figure.axes if axes.axison)
