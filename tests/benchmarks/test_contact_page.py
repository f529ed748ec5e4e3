"""The page of the benchmarks of contact, and the models that its programs solve."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.contact import hertz, klapper_side, models, parts, patch, problem, run
from benchmarks.contact.programs import Found
from benchmarks.page import Section
from rich.console import Console


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Measurements that only say their names."""
    asked: list[str] = []

    def fake(name: str) -> Any:
        def section(*, quick: bool, getfem_python: str, pardiso_python: str) -> Section:
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
        run.write("python", "python", quick=False, console=console, output=output, only=["hertz"])
    text = output.read_text(encoding="utf-8")
    assert text.count("words of hertz\n\n![a line](images/contact_hertz.png)\n<!-- /hertz -->") == 1
    assert (tmp_path / "images" / "contact_hertz.png").stat().st_size > 0


def test_quick_measurements_leave_the_manual_alone(console: Console, measured: list[str]) -> None:
    before = run.PAGE.read_bytes()
    run.write("python", "python", quick=True, console=console, output=run.PAGE)
    assert run.PAGE.read_bytes() == before
    assert measured == list(run.MEASUREMENTS)


def test_a_program_that_is_not_there_is_named_in_one_cell() -> None:
    model = models.patch("mortar", (3, 2), (4, 2))
    text = patch.words({("GetFEM", "rays"): Found(None, "interpreter not found")}, model)
    assert "no answer: interpreter not found" in text


def test_klapper_passes_the_patch_test_by_the_measure_for_all_programs() -> None:
    """Mortar integrals are exact, node-to-segment forces do not belong to a uniform pressure."""
    model = models.patch("mortar", (3, 2), (4, 2))
    cells = np.array([3, 2]), np.array([4, 2])
    assert patch.deviation(model, klapper_side.patch("mortar", *cells)) < 1e-10
    assert patch.deviation(model, klapper_side.patch("nts", *cells)) > 1e-3


def test_pressure_of_two_cylinders_is_nearly_that_of_hertz() -> None:
    """Root mean square and largest value, to the order h/a of linear functions near the edge of the contact."""
    judged = hertz.Judged.of(models.cylinders("mortar-dual", 4), klapper_side.hertz("mortar-dual", 4))
    assert judged.error < 0.25
    assert judged.pressure.max() / judged.largest == pytest.approx(1.0, abs=0.25)
    assert judged.half_width == pytest.approx(models.HERTZ_RATIO * models.HERTZ_RADIUS, rel=0.25)


def test_arrays_describe_the_model() -> None:
    """Supports hold the bottom and one node of each body aside, and nodal loads carry load times width."""
    given = models.arrays(models.patch("mortar", (3, 2), (4, 2)).world)
    low, up = given["held_primary"], given["held_secondary"]
    assert np.all(given["nodes_primary"][low[low[:, 1] == 1, 0], 1] == 0.0)
    assert np.count_nonzero(low[:, 1] == 1) == 5
    assert len(up) == 1
    np.testing.assert_allclose(given["load_secondary"].sum(axis=0), [0.0, -2.0 * models.PATCH_LOAD])
    np.testing.assert_allclose(problem.guess(given), [0.0, models.PATCH_LOAD])
    assert np.all(given["nodes_secondary"][given["facets_secondary"], 1] == 1.0)


@pytest.mark.parametrize("interface", ["nts", "mortar"])
def test_search_finds_as_many_pairs_as_the_surfaces_have(interface: str) -> None:
    """Every node its segment; segments of two meshes of n and m cells are n + m less the edges that coincide."""
    n = 40
    found = klapper_side.search(interface, np.array([n]), 1)
    m = 9 * n // 10
    wanted = n + 1 if interface == "nts" else n + m - np.gcd(n, m)
    assert found["pairs"][0] == wanted


def test_parts_of_a_round_make_a_table() -> None:
    took = Found(klapper_side.parts("mortar", np.array([6, 8]), 0.3))
    text = parts.words({("mortar", 0.3): took})
    assert text.count("| mortar | 0.3 |") == 2
    sizes = [2 * ((n + 1) * (n // 2 + 1) + (n - 2) * (n // 2 + 1)) for n in (6, 8)]
    assert [row["unknowns"] for row in parts.rows(took)] == sizes
