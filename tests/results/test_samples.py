"""Layouts and stretches of samples."""

from itertools import pairwise

import numpy as np
import pytest

from klapper.results import Layout, Loaded, ResultsError, Run, Samples

from .motions import bouncing_ball, logged_by_number, run_of_states


def same(one: Samples, other: Samples) -> bool:
    """Equal bit for bit, with types and shapes."""

    def alike(a: np.ndarray, b: np.ndarray) -> bool:
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()

    names = [name for name in Samples.__dataclass_fields__ if name != "loaded"]
    if not all(alike(getattr(one, name), getattr(other, name)) for name in names):
        return False
    if one.loaded is None or other.loaded is None:
        return one.loaded is other.loaded
    logs = Loaded.__dataclass_fields__
    return all(alike(getattr(one.loaded, name), getattr(other.loaded, name)) for name in logs)


@pytest.mark.parametrize("by_number", [False, True])
@pytest.mark.parametrize("cuts", [[7], [0, 1, 2, 40], [41], [13, 13, 30]])
def test_stretches_put_together_are_the_whole(by_number: bool, cuts: list[int]) -> None:
    states = np.random.default_rng(1).integers(0, 4, (41, 5))
    run = run_of_states(states, tangential=2)
    samples = (logged_by_number(run) if by_number else run).samples
    edges = [0, *cuts, len(samples)]
    stretches = [samples[first:last] for first, last in pairwise(edges)]
    assert same(Samples.concatenate(stretches), samples)


def test_arrays_are_read_only_and_the_callers_stay_writable() -> None:
    time = np.array([0.0, 1.0])
    zeros = np.zeros((2, 0))
    samples = Samples(
        [0, 1], time, zeros, zeros, zeros, np.zeros((2, 0, 1)), zeros, zeros, np.zeros((2, 7)), [0, 0]
    )
    with pytest.raises(ValueError, match="read-only"):
        samples.time[0] = 3.0
    time[1] = 2.0
    assert samples.time[1] == 2.0  # not copied
    assert samples.step.dtype == np.int64
    assert samples.state.dtype == np.int8


def test_empty_samples_fit_their_layout() -> None:
    layout = Layout(("a", "b"), ("a",), ("c",), 2, ("d", "e", "f"))
    run = Run(layout, Samples.empty(layout))
    assert len(run) == 0
    assert run.impulse.shape == (0, 1, 3)
    assert run.force.shape == (0, 1, 3)
    assert run.events() == []
    assert run.ledger.closes(1e-9)
    assert "0 samples" in run.summary()
    with pytest.raises(ResultsError, match="no samples"):
        _ = run.final


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Layout(("x", "x"), ("v",)), "coordinates must have different names, but 'x' occurs twice."),
        (lambda: Layout("xy", ("v",)), "coordinates must be a sequence of names, not the text 'xy'."),
        (lambda: Layout(("x",), ("v",), ("c",), 3), "tangential must be 0, 1 or 2 directions, not 3."),
        (lambda: Samples.concatenate([]), "There are no stretches"),
        (lambda: bouncing_ball().samples[::2], "give a slice of step 1"),
        (lambda: bouncing_ball().samples[3], "give a slice of step 1"),
        (
            lambda: Run(Layout(("x", "y"), ("v",), ("floor",)), bouncing_ball().samples),
            r"position has columns \(1,\), but the layout of the run asks for \(2,\).",
        ),
        (
            lambda: Samples.concatenate([bouncing_ball().samples, run_of_states(np.zeros((2, 2))).samples]),
            "gap has different columns in the stretches",
        ),
        (
            lambda: run_of_states(np.zeros((3, 1)), time=np.array([0.0, 2.0, 1.0])),
            "falls from 2 s to 1 s at sample 2",
        ),
        (
            lambda: Loaded([0, 2], [4], [0.0], [[1.0]], [1]),
            "contact of a log of loaded contacts has 1 entries, but start ends at 2.",
        ),
        (lambda: Loaded([1, 2], [4], [0.0], [[1.0]], [1]), "must begin with 0 and never fall"),
    ],
)
def test_what_does_not_fit_is_told(make: object, message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        make()  # type: ignore[operator]


def test_lengths_and_dimensions_are_checked_by_name() -> None:
    samples = bouncing_ball(count=5).samples
    fields = {name: getattr(samples, name) for name in Samples.__dataclass_fields__}
    with pytest.raises(ResultsError, match="velocity has 4 samples, but time has 5"):
        Samples(**(fields | {"velocity": samples.velocity[:4]}))
    with pytest.raises(
        ResultsError, match=r"impulse must be an array of 3 dimensions, not of shape \(5, 1\)"
    ):
        Samples(**(fields | {"impulse": samples.gap}))


def test_a_run_names_its_contacts_or_numbers_them() -> None:
    run = logged_by_number(run_of_states(np.ones((3, 2), dtype=int)))
    named = run_of_states(np.ones((3, 2), dtype=int))
    both = Samples(
        **{name: getattr(named.samples, name) for name in Samples.__dataclass_fields__ if name != "loaded"},
        loaded=run.samples.loaded,
    )
    with pytest.raises(ResultsError, match="by name or by number"):
        Run(named.layout, both)
    wide = Samples(
        **{
            name: getattr(run.samples, name)
            for name in Samples.__dataclass_fields__
            if name not in ("loaded", "impulse")
        },
        impulse=np.zeros((3, 0, 3)),
        loaded=run.samples.loaded,
    )
    with pytest.raises(
        ResultsError, match="log of loaded contacts has 2 columns, but the layout of the run asks for 3"
    ):
        Run(Layout(("q",), ("v",), (), 2), wide)
    with pytest.raises(ResultsError, match="Some stretches"):
        Samples.concatenate([run.samples, named.samples])
