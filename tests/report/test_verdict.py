"""A run is judged by what is in it: nothing bad is passed over."""

import numpy as np

from klapper.report.verdict import verdict
from klapper.results import Run, Samples
from results.motions import bouncing_ball


def with_about(run: Run, **about: object) -> Run:
    return Run(run.layout, run.samples, {**run.about, **about})


def with_samples(run: Run, **arrays: np.ndarray) -> Run:
    fields = {name: getattr(run.samples, name) for name in Samples.__dataclass_fields__}
    return Run(run.layout, Samples(**(fields | arrays)), run.about)


def test_a_good_run_passes() -> None:
    judged = verdict(bouncing_ball())
    assert judged.kind == "passed"
    assert judged.warnings == ()
    assert judged.lines["motion"] == "unique"


def test_an_interrupted_and_a_failed_run_say_so_first() -> None:
    judged = verdict(with_about(bouncing_ball(), status="interrupted", message="interrupted at 3 s"))
    assert (judged.kind, judged.warnings) == ("warned", ("interrupted at 3 s",))
    assert "interrupted at 3 s" in judged.sentence
    judged = verdict(with_about(bouncing_ball(), status="failed", message="No solution."))
    assert (judged.kind, judged.warnings) == ("failed", ("No solution.",))


def test_open_books_fail_whatever_the_status_says() -> None:
    run = bouncing_ball()
    energy = run.samples.energy.copy()
    energy[100:, 0] += 1e-3
    judged = verdict(with_samples(run, energy=energy))
    assert judged.kind == "failed"
    assert "does not close" in judged.warnings[0]


def test_a_bad_residual_is_a_warning() -> None:
    for bad in (1e-3, np.nan):
        run = bouncing_ball()
        residual = run.samples.residual.copy()
        residual[7] = bad
        judged = verdict(with_samples(run, residual=residual))
        assert judged.kind == "warned"
        assert "was met only to" in judged.warnings[0]


def test_undetermined_forces_and_energy_gains_are_warnings_and_told() -> None:
    audit = {
        "contact states": "forces determined in 2 of 3 looked at",
        "undetermined forces": {"stick, stick": "between 0 N and 5 N"},
        "energy gain": "contacts gave energy in 1 sample",
        "path": "compiled",
    }
    judged = verdict(with_about(bouncing_ball(), audit=audit))
    assert judged.kind == "warned"
    assert len(judged.warnings) == 2
    assert judged.lines["uniqueness"]["stick, stick"] == "between 0 N and 5 N"
    assert judged.lines["path"] == "compiled"


def test_what_is_not_known_is_not_praised() -> None:
    run = bouncing_ball()
    assert verdict(Run(run.layout, run.samples)).kind == "none"
    assert verdict(Run(run.layout, run.samples[:0], run.about)).kind == "none"
