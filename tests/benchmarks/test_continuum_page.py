"""The page of the benchmarks of bodies at large strains, and the common problem that its programs solve."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.continuum import klapper_side, long_step, problem, programs, run
from benchmarks.continuum.programs import Found
from benchmarks.page import Section
from rich.console import Console

from klapper.continuum import Continuum


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Measurements that only say their names."""
    asked: list[str] = []

    def fake(name: str) -> Any:
        def section(*, quick: bool, peers_python: str, largest: int) -> Section:
            asked.append(name)
            return Section(f"words of {name}", lambda figure: figure.subplots().plot([0.0, 1.0]), "a line")

        return section

    monkeypatch.setattr(run, "MEASUREMENTS", {name: fake(name) for name in run.MEASUREMENTS})
    return asked


def test_the_page_has_marks_for_every_measurement() -> None:
    text = run.PAGE.read_text(encoding="utf-8")
    for name in ("machine", *run.MEASUREMENTS):
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- /{name} -->") == 1


def test_what_is_found_replaces_the_text_between_its_marks(
    tmp_path: Path, console: Console, measured: list[str]
) -> None:
    output = tmp_path / "page.md"
    for _ in range(2):
        run.write("python", quick=False, console=console, output=output, only=["assembly"])
    text = output.read_text(encoding="utf-8")
    assert (
        text.count("words of assembly\n\n![a line](images/continuum_assembly.png)\n<!-- /assembly -->") == 1
    )
    assert (tmp_path / "images" / "continuum_assembly.png").stat().st_size > 0


def test_quick_measurements_leave_the_manual_alone(console: Console, measured: list[str]) -> None:
    before = run.PAGE.read_bytes()
    run.write("python", quick=True, console=console, output=run.PAGE)
    assert run.PAGE.read_bytes() == before
    assert measured == list(run.MEASUREMENTS)


def test_grid_order_undoes_any_numbering() -> None:
    line = np.linspace(0.0, 1.0, 4)
    grid = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)[:, ::-1]
    shuffled = np.random.default_rng(0).permutation(grid)
    np.testing.assert_array_equal(shuffled[problem.grid_order(shuffled, 3)], grid)


def test_programs_that_disagree_make_no_page() -> None:
    reference = {"force": np.array([1.0, -2.0])}
    close = Found({"force": np.array([1.0, -2.0 + 1e-12])})
    assert programs.difference(close, reference, "force") == pytest.approx(5e-13, rel=1e-3)
    with pytest.raises(AssertionError, match="force differs by"):
        programs.difference(Found({"force": np.array([1.0, -1.9])}), reference, "force")


def test_the_loop_of_the_peers_makes_the_step_of_the_scheme() -> None:
    """Newton's method over f, K and dense solutions, as the other programs run it, beside klapper's own scheme."""
    solid = klapper_side._block(2, 4)
    body, places = Continuum([solid]), solid.mesh.nodes
    change, _ = problem.newton_midpoint(
        body.mass_matrix,
        lambda u: (
            -body.force(0.0, places.ravel() + u, 0.0 * u),
            body.stiffness(places.ravel() + u),
        ),
        lambda matrix, right: np.linalg.solve(matrix.toarray(), right),
        np.zeros(places.size),
        problem.velocity(places).ravel(),
    )
    found = klapper_side.step(2, 4)["change"]
    expected = change.reshape(places.shape)[problem.grid_order(places, 4)]
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("support", [False, True])
def test_long_steps_keep_energy_and_supports(support: bool) -> None:
    limit = float(klapper_side.limit(3, 2)["limit"])
    found = klapper_side.step(3, 2, step_size=20.0 * limit, forces="discrete", support=support)
    assert found["energy"] < 1e-10
    still = np.abs(found["change"].reshape(3, 3, 3, 3)[:, :, 0]).max() < 1e-12  # x runs fastest
    assert still == support


def test_the_words_of_long_steps_tell_time_memory_and_failures() -> None:
    answer = {"seconds": 2.0, "rounds": 4, "grown": 1e8, "peak": 3e8, "energy": 1e-15}
    found = {
        ("klapper", 3, n, 2.0, False): Found({**answer, "seconds": float(n), "peak": 1e4 * 3 * (n + 1) ** 3})
        for n in (14, 20, 31)
    }
    found["klapper, pypardiso", 2, 70, 20.0, True] = Found(None, "not installed")
    text = long_step.words(found)
    assert "| 3D | 98304 | – | 2 | BiCGSTAB | 4 | 31 s |" in text
    assert "PARDISO | – | not installed |" in text
    assert "largest memory by 10.0 kB for each" in text
