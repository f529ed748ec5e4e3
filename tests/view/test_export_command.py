"""``klapper export`` writes what other programs show, or says in one sentence why not."""

from pathlib import Path

from typer.testing import CliRunner

from klapper.cli import app
from view.models import turned_box


def test_a_stored_run_is_exported(tmp_path: Path) -> None:
    file = turned_box().save(tmp_path / "run.h5")
    run = CliRunner().invoke(
        app, ["export", str(file), "--gltf", str(tmp_path / "run.glb"), "--vtk", str(tmp_path / "vtk")]
    )
    assert run.exit_code == 0, run.output
    assert (tmp_path / "run.glb").exists()
    assert (tmp_path / "vtk" / "run.pvd").exists()
    for words, sentence in [
        (["export", str(file)], "Say what to write"),
        (["export", str(file), "--gltf", str(tmp_path / "run.gltf")], "let it end in .glb"),
        (["export", str(tmp_path / "none.h5"), "--vtk", str(tmp_path / "vtk")], "does not exist"),
    ]:
        refused = CliRunner().invoke(app, words)
        assert refused.exit_code == 2
        assert sentence in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_the_help_names_the_extra_that_a_picture_needs() -> None:
    shown = CliRunner().invoke(app, ["export", "--help"], env={"COLUMNS": "200"}).output
    assert "needs the extra `view`." in shown
