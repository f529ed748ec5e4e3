"""Delamination identified from a noisy signal: the truth lies in the interval, as often as the interval promises."""

from pathlib import Path

import numpy as np
import pytest

import klapper
from klapper.studies.maps.identification import (
    SPEEDS,
    Damage,
    Signals,
    identify,
    predicted,
    recovered,
    simulated,
)

NOISE = 2e-6  # m


def test_marching_in_time_agrees_with_the_prediction() -> None:
    signals = simulated(0.9, 1.2, noise=0.0, generator=np.random.default_rng(0))
    known = predicted(0.9, 1.2, SPEEDS, signals.gaps.shape[-1])
    assert np.abs(signals.gaps - known).max() < 1e-5 * np.abs(known).max()


@pytest.fixture(scope="module")
def identified() -> tuple[Signals, Damage]:
    signals = simulated(0.9, 1.2, noise=NOISE, generator=np.random.default_rng(11))
    return signals, identify(signals)


def test_length_and_centre_are_recovered_within_their_interval(identified: tuple[Signals, Damage]) -> None:
    signals, damage = identified
    assert damage.covers(0.9, 1.2).all()
    assert damage.noise == pytest.approx(
        NOISE, rel=4.0 / np.sqrt(2.0 * signals.gaps.size)
    )  # four standard errors
    assert np.all(np.diff(damage.interval, axis=1)[:, 0] < [1e-3, 0.05])


def test_the_covariance_is_that_of_the_linearised_problem(identified: tuple[Signals, Damage]) -> None:
    """s² (JᵀJ)⁻¹ with J by differences of the prediction, at twice the step."""
    damage = identified[1]
    length, centre = damage.estimate
    columns = []
    for step in (np.array([2e-3, 0.0]), np.array([0.0, 2e-3])):
        ahead, back = (predicted(length + s * step[0], centre + s * step[1], SPEEDS, 50) for s in (1.0, -1.0))
        columns.append((ahead - back).ravel() / 4e-3)
    jacobian = np.stack(columns, axis=1)
    expected = damage.noise**2 * np.linalg.inv(jacobian.T @ jacobian)
    assert np.diag(damage.covariance) == pytest.approx(np.diag(expected), rel=1e-2)


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_promised(tmp_path: Path) -> None:
    """Both intervals of 95 %: at least 90 % of all cases (Bonferroni); 24 replicates, three standard errors below.

    The distances to the truth, measured by the covariances, are χ² with two degrees of freedom each: their sum has the
    mean 48 and the variance 96, so that intervals which are too wide would show, too.
    """
    study = klapper.study(
        recovered,
        over={"length": [0.9]},
        fixed={"centre": 1.2, "noise": NOISE},
        outputs=["covered", "distance", "noise_found"],
        store=tmp_path / "s",
        replicates=24,
        seed=1,
        code="t",
    ).run(workers=2)
    table = study.table()
    assert set(table["status"]) == {"done"}
    assert table["covered"].mean() >= 0.9 - 3.0 * np.sqrt(0.9 * 0.1 / 24)
    assert table["distance"].sum() == pytest.approx(48.0, abs=3.0 * np.sqrt(96.0))
    assert table["noise_found"] == pytest.approx(NOISE, rel=4.0 / np.sqrt(2.0 * 600))
