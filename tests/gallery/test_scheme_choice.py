"""One example by several methods: those that locate events are exact, and one that cannot apply says why."""

from typing import Any, get_args

import numpy as np
import pytest

from klapper.contact_states import OPEN, STICK
from klapper.gallery import examples, find
from klapper.gallery._run import SchemeName, impact_time, run_named, scheme_named, switching_times
from klapper.gallery.parameter import ParameterError
from klapper.mechanics import Contact, LinearSystem
from klapper.mechanics.compliance import CompliantNormal


def test_every_name_makes_its_scheme() -> None:
    made = {name: scheme_named(name, 0.01, normal=CompliantNormal(1e3)) for name in get_args(SchemeName)}
    assert {name: scheme.name for name, scheme in made.items()} == {
        "moreau": "moreau",
        "event-driven": "event-driven",
        "regularised": "regularised",
        "exact": "exact",
        "ordinary": "ordinary",
    }


def test_every_scheme_parameter_has_known_names() -> None:
    known = set(get_args(SchemeName))
    offered = [a for e in examples() for a in e.arguments if a.name == "scheme" and "moreau" in a.choices]
    assert offered
    assert all(set(argument.choices) <= known for argument in offered)


@pytest.mark.parametrize("scheme", ["event-driven", "exact"])
@pytest.mark.parametrize("restitution", [0.0, 0.8, 1.0])
def test_the_ball_bounces_at_exact_times_by_every_method_that_locates_events(
    scheme: str, restitution: float
) -> None:
    outcome = find("bouncing-ball").run(scheme=scheme, restitution=restitution, step=0.05, until=4.0)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]
    fall = np.sqrt(2.0 / 9.81)
    first = outcome.numbers["first_impact_times"][:3]
    expected = fall * np.cumsum([1.0, 2 * restitution, 2 * restitution**2])[: len(first)]
    np.testing.assert_allclose(
        first[: 1 if restitution == 0.0 else 3], expected[: 1 if restitution == 0.0 else 3], rtol=1e-12
    )


@pytest.mark.parametrize("scheme", ["event-driven", "exact", "ordinary"])
@pytest.mark.parametrize("mu", [0.2, 0.9])
def test_the_incline_passes_its_checks_by_every_method_that_locates_events(scheme: str, mu: float) -> None:
    outcome = find("incline").run(scheme=scheme, mu=mu, step=0.1, until=1.0)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]


@pytest.mark.parametrize("scheme", ["event-driven", "exact"])
def test_the_bar_passes_its_checks_by_every_method_that_locates_events(scheme: str) -> None:
    outcome = find("impacting-bar").run(scheme=scheme, elements=10)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        (
            "bouncing-ball",
            {"scheme": "ordinary"},
            "scheme cannot be ordinary here: contact 'floor' has restitution 0.8",
        ),
        (
            "bouncing-ball",
            {"scheme": "regularised"},
            "scheme cannot be regularised here: this example has no compliant",
        ),
        (
            "rocking-block",
            {"scheme": "exact"},
            "scheme cannot be exact here: 'rocking block' is a RigidSystem",
        ),
        ("settling-spheres", {"scheme": "exact"}, "scheme must be one of moreau, not exact"),
    ],
)
def test_a_method_that_cannot_apply_is_refused(name: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find(name).run(**given)


def test_a_ball_touches_after_the_time_of_its_fall() -> None:
    """A ball that drops 1 m: touches at √(2/g) and stays."""
    ball = LinearSystem(
        [1.0],
        force=[-9.81],
        position=[1.0],
        contacts=[Contact("floor", normal=[1.0])],
        coordinates=["height"],
    )
    fall = np.sqrt(2.0 / 9.81)
    for name, error in (("event-driven", 1e-12), ("moreau", 5.1e-3)):
        run = run_named(ball, 1.0, name, 0.01)  # type: ignore[arg-type]
        hit = run.impacts().time[0]
        sample = int(np.flatnonzero((run.time == hit) & (run.state[:, 0] != OPEN))[0])
        assert impact_time(run, sample, 0.01) == pytest.approx(fall, abs=error)
    run = run_named(ball, 1.0, "regularised", 0.01, normal=CompliantNormal(1e5, 600.0), method="dop853")
    times, states = switching_times(run, "floor")
    assert times[0] == pytest.approx(fall, abs=1e-9)
    assert states[0] >= STICK


def test_output_of_methods_with_own_steps_is_bounded() -> None:
    free = LinearSystem([1.0], velocity=[1.0])
    assert len(run_named(free, 1.0, "exact", 1e-6)) <= 1100
