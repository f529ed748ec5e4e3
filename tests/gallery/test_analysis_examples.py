"""Mode coupling, validity limit and pipe with other parameters than the shipped ones, and what they are built of."""

from __future__ import annotations

import numpy as np
import pytest

from klapper.gallery._pipe import Dimensionless, Hose
from klapper.gallery._pipe_spans import PipeSpans
from klapper.gallery.catalogue import find
from klapper.gallery.example import ParameterError


def passed(name: str, **given: object) -> dict[str, object]:
    """The numbers of an example whose checks all pass."""
    outcome = find(name).run(**given)
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return dict(outcome.numbers)


def test_the_undamped_mass_of_hoffmann_flutters_from_three_quarters_on() -> None:
    """k₁ = (2/3)(2 − √3) k, k₂ = (2/3)(2 + √3) k, k₃ = (4/3) k: s² = −(k/m)(2 ± √(1 − 4μ/3))."""
    k = 1e4
    springs = {"k1": 2 / 3 * (2 - 3**0.5) * k, "k2": 2 / 3 * (2 + 3**0.5) * k, "k3": 4 / 3 * k}
    numbers = passed("mode-coupling", mu=0.9, damping_x=0.0, damping_y=0.0, **springs)
    assert numbers["critical_mu"] == pytest.approx(0.75, abs=1e-9)
    assert numbers["growth_rate"] == pytest.approx(
        np.sqrt(k) * np.sqrt(-2 + 1j * np.sqrt(0.2)).real, rel=1e-9
    )


def test_below_the_limit_the_disturbance_dies_away() -> None:
    numbers = passed("mode-coupling", mu=0.5)
    assert numbers["verdict"] == "stable"
    assert numbers["growth_rate"] < 0.0


def test_springs_that_never_flutter_are_refused() -> None:
    with pytest.raises(ParameterError, match="must be above 0"):
        find("mode-coupling").run(k1=2e4, k2=1e3)


def test_the_stop_closes_first_where_the_left_end_moves_most() -> None:
    numbers = passed("validity-limit", frequency=40.0)
    assert (numbers["contact"], numbers["change"]) == ("stop", "closes")
    assert numbers["changed_above"] == ["stop"]


def test_a_beam_that_tips_off_its_supports_is_refused() -> None:
    with pytest.raises(ParameterError, match="does not rest"):
        find("validity-limit").run(supports=(0.1, 0.3), stop_place=1.0)


def test_a_pipe_between_pinned_ends_rests_beyond_its_critical_flow() -> None:
    numbers = passed("pipe", ends="pinned", supports=(1.0, 2.5), range_to=3.0, flow=30.0)
    assert numbers["critical_kind"] == "end of the state"
    assert numbers["critical_flow"] > 2.5 * numbers["unit_flow"]
    assert numbers["states"] > 1
    assert numbers["unsupported_critical_flow"] == pytest.approx(numbers["unit_flow"], rel=1e-5)


def test_a_pipe_between_pinned_ends_alone_buckles_at_the_closed_form() -> None:
    """Nothing is added by supports at ends that are held."""
    given = {"ends": "pinned", "supports": (0.0, 4.0), "flow": 5.0, "range_to": 1.2}
    numbers = passed("pipe", EI=400.0, mass_fluid=2.5, **given)
    assert numbers["critical_flow"] == pytest.approx(np.pi / 4.0 * np.sqrt(400.0 / 2.5), rel=1e-5)
    assert len(numbers["contact_forces"]) == 0


def test_elements_are_fine_enough_beyond_the_critical_flow() -> None:
    """60 m/s, four times U_c, where a half-wave is a quarter of the pipe: forces against the solution span by span."""
    hose = Hose(4.0, 500.0, 1.0, 1.5, 0.5, 9.81, True, (1.3, 2.6), 62.0)
    held = hose.closed(60.0)
    found = hose.state(60.0).forces[[hose.names.index(name) for name in held], 0]
    np.testing.assert_allclose(found, hose.exact(held).support_forces(60.0), rtol=3e-4)


def spans(**changes: object) -> PipeSpans:
    given = {"length": 4.0, "stiffness": 500.0, "mass": 2.5, "fluid": 1.5, "damping": 0.0, "weight": 24.0}
    return PipeSpans(**{**given, "free": False, "supports": (2.0,), **changes})


@pytest.mark.parametrize("flow", [0.0, 8.0, 20.0])
def test_the_middle_support_of_a_compressed_beam_carries_what_timoshenko_says(flow: float) -> None:
    """5/8 of the weight, times the amplification of a line load over that of a single one."""
    u = 2.0 * flow * np.sqrt(1.5 / 500.0)
    line = 12 * (2 / np.cos(u) - 2 - u**2) / (5 * u**4) if u else 1.0
    single = 3 * (np.tan(u) - u) / u**3 if u else 1.0
    assert spans().support_forces(flow)[0] == pytest.approx(5 / 8 * 24.0 * 4.0 * line / single, rel=1e-9)


@pytest.mark.parametrize(("supports", "half_waves"), [((), 1), ((2.0,), 2)])
def test_pinned_spans_buckle_in_half_waves(supports: tuple[float, ...], half_waves: int) -> None:
    expected = half_waves * np.pi / 4.0 * np.sqrt(500.0 / 1.5)
    assert spans(supports=supports).buckling_flow(0.99 * expected) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.8])
def test_elements_and_spans_agree_on_the_flutter_of_a_cantilever(beta: float) -> None:
    found = Dimensionless(True).critical(beta)
    pipe = PipeSpans(1.0, 1.0, 1.0, beta, 0.0, 0.0, True, ())
    from klapper.analysis import stability

    frequency = stability(*Dimensionless(True).matrices(beta, found * (1 + 1e-9))).angular_frequency
    exact = pipe.flutter_flow(found / np.sqrt(beta), frequency) * np.sqrt(beta)
    assert found == pytest.approx(exact, rel=1e-3)


def test_a_flow_beyond_the_end_of_the_state_is_refused() -> None:
    with pytest.raises(ParameterError, match="ends at"):
        find("pipe").run(supports=(2.0,), flow=45.0, range_to=3.2)
