"""The time loop: sampling, interruption, failure, progress, stores, the audit at the end."""

import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import klapper.progress
import klapper.simulation as loop
from klapper.bodies import Planar
from klapper.contact_states import IMPACT, OPEN
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FunctionSystem,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Ramp,
    Stribeck,
)
from klapper.mechanics.impact import Sequential
from klapper.results import ResultsError, read
from klapper.schemes import Moreau, Scheme
from klapper.simulation import SimulationFailed, SimulationInterrupted, simulate

G = 9.81


def ball(e: float = 0.5, height: float = 0.2) -> LinearSystem:
    return LinearSystem(
        [1.0], force=[-G], position=[height], contacts=[Contact("floor", normal=[1.0], restitution=e)]
    )


class Trouble:
    """A force of a bouncing ball that does something at a certain call."""

    def __init__(self, when: int, what) -> None:
        self.calls, self.when, self.what = 0, when, what

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        self.calls += 1
        if self.calls == self.when:
            self.what()
        return np.array([-G])

    def system(self) -> FunctionSystem:
        return FunctionSystem(
            [0.2],
            [0.0],
            mass=[[1.0]],
            force=self,
            stiff=False,
            potential=lambda q: G * q[0],
            contacts=[Contact("floor", gap=lambda t, q: q[0], restitution=0.5)],
        )


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("every", [1, 7])
def test_control_c_keeps_what_there_is(every: int) -> None:
    undisturbed = simulate(Trouble(-1, None).system(), 1.0, Moreau(2e-3), every=every)
    run = simulate(Trouble(400, interrupt).system(), 1.0, Moreau(2e-3), every=every, on_interrupt="return")
    assert run.about["status"] == "interrupted"
    assert "interrupted at" in run.about["message"]
    assert 5 < len(run) < len(undisturbed)
    for name in ("step", "time", "position", "velocity", "impulse", "state", "energy"):
        np.testing.assert_array_equal(
            getattr(run.samples, name), getattr(undisturbed.samples, name)[: len(run)]
        )


def test_control_c_in_the_very_first_step_keeps_the_start() -> None:
    force = Trouble(-1, interrupt)
    system = force.system()
    force.when = force.calls + 1
    run = simulate(system, 1.0, Moreau(2e-3), on_interrupt="return")
    assert (run.about["status"], len(run), run.time[0]) == ("interrupted", 1, 0.0)


def test_control_c_in_a_store_can_be_resumed(tmp_path: Path) -> None:
    undisturbed = simulate(Trouble(-1, None).system(), 0.5, Moreau(2e-3))
    with pytest.raises(SimulationInterrupted) as caught:
        simulate(Trouble(300, interrupt).system(), 0.5, Moreau(2e-3), store=tmp_path / "run")
    stopped = caught.value.run
    assert stopped.about["status"] == "interrupted"
    assert read(tmp_path / "run").about["status"] == "interrupted"
    assert len(read(tmp_path / "run")) == len(stopped)
    resumed = simulate(Trouble(-1, None).system(), 0.5, Moreau(2e-3), store=tmp_path / "run")
    assert resumed.about["status"] == "complete"
    for name in ("step", "time", "position", "velocity", "gap", "impulse", "state", "energy", "residual"):
        np.testing.assert_array_equal(getattr(resumed.samples, name), getattr(undisturbed.samples, name))


def jammed() -> LinearSystem:
    """Two walls close on a mass: at 0.1 s there is no answer any more."""
    return LinearSystem(
        [1.0],
        contacts=[
            Contact("left", normal=[1.0], gap=Ramp(0.1, -1.0)),
            Contact("right", normal=[-1.0], gap=Ramp(0.1, -1.0)),
        ],
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_a_failing_step_raises_with_the_run_so_far(compiled: bool) -> None:
    with pytest.raises(SimulationFailed) as caught:
        simulate(jammed(), 1.0, Moreau(1e-2, compiled=compiled))
    run = caught.value.run
    assert run.about["status"] == "failed"
    assert run.about["message"] == str(caught.value)
    assert run.time[-1] == pytest.approx(0.1, abs=0.011)
    assert np.all(run.position == 0.0)
    assert "\n" not in str(caught.value)


def test_a_failed_run_in_a_store_can_be_looked_at_and_fails_again(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(SimulationFailed) as caught:
            simulate(jammed(), 1.0, Moreau(1e-2), store=tmp_path)
        assert read(tmp_path).time[-1] == pytest.approx(caught.value.run.time[-1])


def test_forces_that_become_nan_end_the_run() -> None:
    system = FunctionSystem(
        [1.0], [0.0], mass=[[1.0]], force=lambda t, q, v: np.array([np.nan if t > 0.5 else -q[0]])
    )
    with pytest.raises(SimulationFailed) as caught:
        simulate(system, 1.0, Moreau(1e-2))
    assert caught.value.run.time[-1] == pytest.approx(0.5, abs=0.011)
    assert np.all(np.isfinite(caught.value.run.position))


def test_an_error_in_a_user_function_keeps_the_run() -> None:
    def divide() -> None:
        raise ZeroDivisionError("division by zero")

    with pytest.raises(SimulationFailed) as caught:
        simulate(Trouble(300, divide).system(), 1.0, Moreau(2e-3))
    assert len(caught.value.run) > 5
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


class Cheat(Scheme):
    """A scheme that forgets to book the impact: the ledger must notice."""

    name = "cheat"

    def __init__(self) -> None:
        self.scheme = Moreau(1e-2, compiled=False)

    def init(self, system):
        return self.scheme.init(system)

    def step(self, system, snapshot, until, work=None):
        done = self.scheme.step(system, snapshot, until, work)
        sums = done.after.sums.copy()
        sums[3] = 0.0
        return replace(done, after=replace(done.after, sums=sums))

    def stretch(self, system):
        return None

    def steps(self, system, until):
        return self.scheme.steps(system, until)

    def stored_energy(self, system, snapshot):
        return 0.0

    settings, citations = {}, ()


def test_books_that_do_not_close_are_a_failure(tmp_path: Path) -> None:
    for _ in range(2):  # also when it was stored before
        with pytest.raises(SimulationFailed, match="ledger does not close") as caught:
            simulate(ball(), 1.0, Cheat(), store=tmp_path)
        assert caught.value.run.about["audit"]["ledger"] == "does not close"


BAD = {
    "until nan": {"until": np.nan},
    "until infinite": {"until": np.inf},
    "until before the start": {"until": -1.0},
    "until the start": {"until": 0.0},
    "every zero": {"every": 0},
    "every negative": {"every": -3},
}


@pytest.mark.parametrize("name", BAD)
def test_bad_requests_are_refused(name: str) -> None:
    with pytest.raises(InvalidModel) as caught:
        simulate(ball(), **({"until": 1.0, "scheme": Moreau(1e-2)} | BAD[name]))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"system": None}, "system"),
        ({"system": Planar()}, "system"),  # not built
        ({"scheme": "moreau"}, "scheme"),
        ({"until": "later"}, "until"),
        ({"until": np.nan}, "until"),
        ({"until": 0.0}, "until"),
        ({"every": 2.5}, "every"),
        ({"every": 0}, "every"),
        ({"every": "often"}, "every"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(changed: dict[str, Any], word: str) -> None:
    arguments = {"system": ball(), "until": 1.0, "scheme": Moreau(1e-2), "every": 1}
    with pytest.raises(InvalidModel, match=f"^{word} is ") as caught:
        simulate(**{**arguments, **changed})
    assert str(caught.value).endswith(".")


def test_a_run_may_start_at_another_time() -> None:
    late = LinearSystem([1.0], stiffness=[9.0], force=Harmonic([2.0], 3.5), position=[0.3], time=4.0)
    run = simulate(late, 5.0, Moreau(1e-3))
    assert (run.time[0], run.time[-1]) == (4.0, pytest.approx(5.0))
    early = LinearSystem([1.0], stiffness=[9.0], force=Harmonic([2.0], 3.5, 3.5 * 4.0), position=[0.3])
    np.testing.assert_allclose(run.position, simulate(early, 1.0, Moreau(1e-3)).position, atol=1e-10)


def test_samples_are_thinned_out_when_they_would_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_MEMORY", 20_000)
    run = simulate(ball(), 1.0, Moreau(1e-3))
    assert 20_000 / 8 / 30 < len(run) < 2 + 20_000 / 8 / 15
    assert run.samples.step[-1] == 1000
    gained = np.sum(run.impulse[:, 0, 0])  # nothing is lost between the samples
    assert gained == pytest.approx(run.velocity[-1, 0] - run.velocity[0, 0] + G, rel=1e-9)


def test_contacts_beyond_the_list_are_logged_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """With very many contacts only those loaded in the step of the sample are kept: with their impulse in that step."""
    n = 4
    system = LinearSystem(
        np.ones(n),
        force=np.full(n, -G),
        position=0.02 * np.arange(1.0, n + 1),
        contacts=[Contact(f"c{i}", normal=np.eye(n)[i], restitution=0.3) for i in range(n)],
    )
    for every in (1, 5):
        listed = simulate(system, 0.2, Moreau(2e-3, compiled=False), every=1)
        monkeypatch.setattr(loop, "MOST_LISTED_CONTACTS", 3)
        logged = simulate(system, 0.2, Moreau(2e-3, compiled=False), every=every)
        monkeypatch.undo()
        np.testing.assert_array_equal(logged.position, listed.position[::every])
        assert logged.about["audit"]["contacts"].startswith(
            "of 4 possible ones those are kept that were loaded"
        )
        assert "contacts" not in listed.about["audit"]
        for i in range(n):
            by_name, by_number = listed.contact(f"c{i}"), logged.contact(i)
            impulse = by_name.impulse[::every]
            np.testing.assert_allclose(by_number.impulse, impulse, atol=1e-15)
            np.testing.assert_allclose(by_number.force[1:], by_name.force[::every][1:])
            loaded = impulse[:, 0] > 0.0
            np.testing.assert_array_equal(by_number.gap[loaded], by_name.gap[::every][loaded])
            np.testing.assert_array_equal(by_number.state[loaded], by_name.state[::every][loaded])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Time, share, step, contacts and the drift of the books, on the error stream."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(klapper.progress, "_MOMENT", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    simulate(Trouble(-1, None).system(), 0.5, Moreau(2e-3))
    for word in ("step ", "contacts ", "ledger ", "%", " s"):
        assert word in screen.getvalue()
    length = len(screen.getvalue())
    simulate(Trouble(-1, None).system(), 0.5, Moreau(2e-3), progress=False)
    assert len(screen.getvalue()) == length
    assert capsys.readouterr().out == ""


def test_without_a_terminal_no_progress_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(klapper.progress, "_MOMENT", 0.0)
    simulate(Trouble(-1, None).system(), 0.2, Moreau(2e-3))
    assert capsys.readouterr() == ("", "")


def test_a_run_of_less_than_a_moment_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(klapper.progress, "_MOMENT", np.inf)
    simulate(ball(), 0.1, Moreau(2e-3), progress=True)
    assert capsys.readouterr() == ("", "")


def test_audit_tells_path_penetration_and_uniqueness() -> None:
    run = simulate(ball(0.0), 1.0, Moreau(1e-3))
    audit = run.about["audit"]
    assert audit["path"] == "compiled"
    assert audit["ledger"] == "closes"
    assert audit["forces at the end"].startswith("unique")
    assert audit["largest penetration"] == pytest.approx(-run.gap.min())
    assert audit["contact residual"] <= 1e-9
    assert (run.about["steps"], run.about["status"]) == (1000, "complete")
    assert run.about["wall_time"] > 0.0


def test_energy_gain_of_newtons_law_is_told() -> None:
    """A contact with restitution that opens and one that closes, without friction: (3.118) needs all to approach."""
    system = LinearSystem(
        [1.0, 1.0, 1.0],
        velocity=[3.0, 0.0, 1.0],
        contacts=[
            Contact("1-2", normal=[-1.0, 1.0, 0.0], restitution=0.2),
            Contact("2-3", normal=[0.0, -1.0, 1.0], restitution=1.0),
        ],
    )
    run = simulate(system, 1e-3, Moreau(1e-3, theta=1.0))
    gain = run.ledger.kinetic[-1] - run.ledger.kinetic[0]
    assert (gain > 1e-6) == ("energy gain" in run.about["audit"])
    assert run.ledger.impact[-1] == pytest.approx(-gain, abs=1e-12)


def test_a_run_without_contacts_and_without_motion_is_complete() -> None:
    run = simulate(LinearSystem([1.0, 2.0]), 1.0, Moreau(0.1))
    assert np.all(run.position == 0.0)
    assert run.about["status"] == "complete"
    assert run.state.shape == (11, 0)


def test_a_ball_that_starts_open_is_open() -> None:
    run = simulate(ball(), 0.15, Moreau(1e-3))
    assert set(run.state.ravel().tolist()) == {OPEN}
    assert np.any(simulate(ball(), 0.3, Moreau(1e-3)).state == IMPACT)


def test_a_finished_store_is_returned_at_once(tmp_path: Path) -> None:
    first = simulate(Trouble(-1, None).system(), 0.5, Moreau(2e-3), store=tmp_path)
    force = Trouble(-1, None)
    system = force.system()
    force.calls = 0
    again = simulate(system, 0.5, Moreau(2e-3), store=tmp_path)
    assert force.calls < 20  # asked for the fingerprint, not for steps
    for name in ("step", "time", "position", "velocity", "gap", "impulse", "state", "energy", "residual"):
        np.testing.assert_array_equal(getattr(again.samples, name), getattr(first.samples, name))
    assert again.about["audit"] == first.about["audit"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "lock") == ["run.h5", "run.log"]


def sliding(law) -> LinearSystem:
    return LinearSystem(
        [1.0, 1.0],
        force=[0.0, -G],
        velocity=[1.0, 0.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=law)],
    )


def on_table(omega: float) -> LinearSystem:
    return LinearSystem(
        [1.0], force=[-G], contacts=[Contact("table", normal=[1.0], gap=Harmonic(0.1, omega))]
    )


def on_belt(omega: float) -> LinearSystem:
    rate = Harmonic(0.1, omega)
    return LinearSystem(
        [1.0, 1.0],
        force=[0.0, -G],
        contacts=[
            Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.1, tangential_rate=rate)
        ],
    )


def guided(omega: float) -> LinearSystem:
    guide = Constraint("guide", direction=[1.0], offset=Harmonic(0.1, omega) + (-0.1))
    return LinearSystem([1.0], constraints=[guide])


def spatial(law) -> LinearSystem:
    return LinearSystem(
        [1.0] * 3,
        force=[0.0, 0.0, -G],
        velocity=[1.0, 1.0, 0.0],
        contacts=[Contact("floor", normal=[0, 0, 1.0], tangents=np.eye(3)[:2], friction=law)],
    )


def layered(c: float) -> LinearSystem:
    return LinearSystem([1.0], force=[-G], contacts=[Contact("layer", normal=[1.0])], compliance=[[c]])


def late_pull(size: float) -> FunctionSystem:
    return FunctionSystem(
        [1.0],
        [0.0],
        mass=[[1.0]],
        force=lambda t, q, v: -q + (size if t > 0.3 else 0.0),
        potential=lambda q: q[0] ** 2 / 2,
    )


PLAIN = Moreau(1e-2)
DIFFERENT = {
    "restitution": (ball(0.5), ball(0.6), PLAIN, PLAIN),
    "start": (ball(0.5, 0.2), ball(0.5, 0.3), PLAIN, PLAIN),
    "step": (ball(), ball(), PLAIN, Moreau(5e-3)),
    "theta": (ball(), ball(), PLAIN, Moreau(1e-2, theta=1.0)),
    "projection": (ball(), ball(), PLAIN, Moreau(1e-2, projection=True)),
    "friction": (sliding(0.3), sliding(0.2), PLAIN, PLAIN),
}
TAKEN_FOR_THE_SAME = {
    "Stribeck's dynamic coefficient": (
        sliding(Stribeck(0.4, 0.3, 0.1)),
        sliding(Stribeck(0.4, 0.1, 0.1)),
        PLAIN,
        PLAIN,
    ),
    "frequency of a table": (on_table(10.0), on_table(20.0), PLAIN, PLAIN),
    "frequency of a belt": (on_belt(10.0), on_belt(20.0), PLAIN, PLAIN),
    "frequency of a guide": (guided(10.0), guided(20.0), PLAIN, PLAIN),
    "second friction coefficient": (
        spatial(Anisotropic(0.3, 0.2)),
        spatial(Anisotropic(0.3, 0.4)),
        PLAIN,
        PLAIN,
    ),
    "compliance": (
        layered(1e-3),
        layered(1e-2),
        Moreau(1e-2, theta=1.0, level="position"),
        Moreau(1e-2, theta=1.0, level="position"),
    ),
    "limit of fast impacts": (
        ball(),
        ball(),
        Moreau(1e-2, impact=Sequential(limit=3)),
        Moreau(1e-2, impact=Sequential(limit=50)),
    ),
    "a load that comes later": (late_pull(1.0), late_pull(2.0), PLAIN, PLAIN),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_folder_of_another_run_is_refused(name: str, tmp_path: Path) -> None:
    first, second, scheme, other = DIFFERENT[name]
    kept = simulate(first, 0.5, scheme, store=tmp_path)
    with pytest.raises(ResultsError):
        simulate(second, 0.5, other, store=tmp_path)
    np.testing.assert_array_equal(read(tmp_path).position, kept.position)
    replaced = simulate(second, 0.5, other, store=tmp_path, overwrite=True)
    np.testing.assert_array_equal(read(tmp_path).position, replaced.position)


@pytest.mark.parametrize("name", TAKEN_FOR_THE_SAME)
def test_the_folder_of_a_similar_run_is_refused(name: str, tmp_path: Path) -> None:
    """Never the stored motion of another model."""
    first, second, scheme, other = TAKEN_FOR_THE_SAME[name]
    simulate(first, 0.5, scheme, store=tmp_path)
    with pytest.raises(ResultsError):
        simulate(second, 0.5, other, store=tmp_path)


def test_another_length_is_another_run(tmp_path: Path) -> None:
    simulate(ball(), 0.5, Moreau(1e-2), store=tmp_path)
    with pytest.raises(ResultsError):
        simulate(ball(), 0.6, Moreau(1e-2), store=tmp_path)
