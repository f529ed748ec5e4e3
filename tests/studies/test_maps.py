"""Maps of known systems against their closed forms and against other methods."""

from pathlib import Path

import numpy as np
import pytest

import klapper
from klapper.studies import Refine, grid
from klapper.studies.maps.rotor import clatter, natural_frequencies, shaft
from klapper.studies.maps.vielsack import drift
from klapper.studies.maps.wedge import squeal

NAMES = {
    ("I", "III"): "rest",
    ("III", "IV"): "reversal",
    ("IV", "V"): "second_pause",
    ("III", "V"): "first_reversal",
    ("V", "VI"): "no_pause",
}


def test_regimes_of_the_shaken_incline_end_where_vielsack_says(tmp_path: Path) -> None:
    """Every boundary found by bisection is one of Vielsack's Fig. 2, whose equations know nothing of a simulation."""
    from klapper.analysis.shaken_boundaries import type_boundaries

    study = klapper.study(
        drift,
        over={"A": grid(0.05, 0.95, 19), "B": grid(0.02, 4.02, 41)},
        outputs=["motion_type", "drift"],
        store=tmp_path / "s",
        refine=Refine("motion_type", along="B", accuracy=1e-4),
        vectorised=True,
    ).run(workers=1)
    found = study.boundaries()
    known = type_boundaries(found["A"])
    pairs = list(zip(found["below"], found["above"], strict=True))
    assert {*pairs} == {*NAMES}
    expected = np.array([getattr(known, NAMES[pair])[k] for k, pair in enumerate(pairs)])
    assert np.all(np.abs(found["B"] - expected) <= 0.5e-4 * (1.0 + 1e-9))
    rests = known.rest[np.unique(found["A"], return_index=True)[1]]
    assert np.count_nonzero([pair == ("I", "III") for pair in pairs]) == len(rests) == 19


@pytest.mark.parametrize(("law", "order"), [("spring", 1.0), ("damper", 1.0), ("both", 1.0)])
def test_the_drift_error_of_a_regularisation_falls_with_epsilon(
    tmp_path: Path, law: str, order: float
) -> None:
    """Errors of first order in ε at A = 0.9, B = 0.11 (the percentages of Vielsack's first table fall tenfold)."""
    study = klapper.study(
        drift,
        over={"eps": [1e-4, 1e-3]},
        fixed={"A": 0.9, "B": 0.11, "regularisation": law},
        outputs=["relative_error"],
        store=tmp_path / "s",
        vectorised=True,
    ).run(workers=1)
    small, large = study.table()["relative_error"]
    assert np.log10(abs(large / small)) == pytest.approx(order, abs=0.15)
    printed = {"spring": 0.11, "damper": 1.4, "both": 0.005}[law]
    digit = {"spring": 0.005, "damper": 0.05, "both": 0.0005}[law]
    assert abs(large) == pytest.approx(printed, abs=digit)


def test_the_error_of_regularisations_falls_with_epsilon_and_is_least_with_both(tmp_path: Path) -> None:
    """All laws at once: exact where nothing is smeared, of first order in ε with a damper; "both" is the best of all.

    Vielsack's tables: 11 % (spring), 140 % (damper), 0.5 % (both) at A = 0.9, B = 0.11, ε = 10⁻³.
    """
    laws = ["none", "spring", "damper", "both", "arctan"]
    study = klapper.study(
        drift,
        over={"A": grid(0.3, 0.9, 4), "B": grid(1.1, 3.5, 7), "eps": [1e-4, 1e-3], "regularisation": laws},
        outputs=["relative_error", "drift_error", "motion_type"],
        store=tmp_path / "s",
        vectorised=True,
    ).run(workers=1)
    error = np.abs(study.dataset().relative_error)
    assert np.all(error.sel(regularisation="none") == 0.0)
    for law in ("damper", "both"):
        order = np.log10(error.sel(regularisation=law, eps=1e-3) / error.sel(regularisation=law, eps=1e-4))
        assert float(order.median()) == pytest.approx(1.0, abs=0.15), law
    mean = error.sel(eps=1e-3).mean(("A", "B"))
    assert float(mean.sel(regularisation="both")) == float(mean.drop_sel(regularisation="none").min())
    figure = study.figure.map("A", "B", "relative_error", by="regularisation", at={"eps": 1e-3}, log=True)
    assert len(figure.axes) >= len(laws)
    with pytest.raises(klapper.studies.StudyError, match=r"eps = 0\.5 is not on the grid"):
        study.figure.map("A", "B", "relative_error", by="regularisation", at={"eps": 0.5})
    with pytest.raises(klapper.studies.StudyError, match="needs a panel for each value"):
        study.figure.map("A", "B", "relative_error", by="regularisation")


def test_the_squeal_map_of_the_wedge_ends_at_cot_alpha(tmp_path: Path) -> None:
    study = klapper.study(
        squeal,
        over={"alpha": grid(0.6, 1.3, 4), "mu": grid(0.05, 2.05, 6)},
        outputs=["verdict", "growth"],
        store=tmp_path / "s",
        refine=Refine("verdict", along="mu", accuracy=1e-5),
    ).run(workers=1)
    found = study.boundaries()
    closed = {
        ("stable", "flutter"): lambda a: 1.0 / np.tan(a),
        ("flutter", "climbs"): lambda a: 1.0 / np.tan(a / 2),
    }
    pairs = list(zip(found["below"], found["above"], strict=True))
    assert ("stable", "flutter") in pairs
    for pair, alpha, mu in zip(pairs, found["alpha"], found["mu"], strict=True):
        assert mu == pytest.approx(closed[pair](alpha), abs=1e-5)


def test_the_clatter_map_ends_where_the_bands_do(tmp_path: Path) -> None:
    """Bisected points against the root finder of the analysis, which refines bands of one rotor."""
    from klapper.analysis.rotor import clatter_bands
    from klapper.studies.maps.rotor import PLACES, model

    study = klapper.study(
        clatter,
        over={"split": [1.2], "speed": grid(3.0, 8.0, 11)},
        outputs=["regime", "margin"],
        store=tmp_path / "s",
        refine=Refine("regime", along="speed", accuracy=1e-4),
    ).run(workers=1)
    found = study.boundaries()
    made = model(1.2)
    bands = clatter_bands(made.rotor, made.gap_rows(PLACES), 3.0, 8.0)
    edges = [
        edge
        for band in bands
        for edge, closed in zip((band.low, band.high), band.closed, strict=True)
        if closed
    ]
    assert len(found["speed"]) == len(edges) > 0
    assert found["speed"] == pytest.approx(edges, abs=1e-4)


@pytest.mark.parametrize("speed", [3.0, 7.0])
def test_marching_in_time_touches_where_the_map_says(speed: float) -> None:
    """From the steady motion of the open joint where there is one, else from its opening at rest."""
    from klapper.analysis.rotor import centrifugal_deflection, gravity_response
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate
    from klapper.studies.maps.rotor import model

    clatters = clatter(speed, 0.9, 1.2)["regime"] == "clatters"
    made = model(0.9, 1.2)
    shaken = gravity_response(made.rotor, [speed])[0] * (not clatters)
    system = made.system(
        speed,
        made.contacts(19),
        position=centrifugal_deflection(made.rotor, [speed])[0] + shaken.real,
        velocity=np.real(2j * np.pi * speed * shaken),
    )
    run = simulate(system, 10.0 / speed, Moreau(1e-3 / speed), every=1)
    assert bool(np.any(run.impulse[:, :, 0] > 0.0)) == clatters


def test_both_regimes_are_among_the_marched_motions() -> None:
    assert {clatter(speed, 0.9, 1.2)["regime"] for speed in (3.0, 7.0)} == {"open", "clatters"}


def test_the_map_over_speed_length_and_position_is_its_own_mirror_image(tmp_path: Path) -> None:
    """A delamination about c and one about L − c are the same shaft from two sides: same regimes and margins."""
    study = klapper.study(
        clatter,
        over={
            "split": [0.4, 1.2],
            "centre": [1.1, 1.5, 1.9],
            "speed": [2.0, 4.0, 5.3, 8.0, 10.6, 14.0, 18.0],
        },
        outputs=["regime", "margin", "growth", "opening"],
        store=tmp_path / "s",
    ).run(workers=1)
    found = study.dataset()
    left, right = found.sel(centre=1.1), found.sel(centre=1.9)
    assert np.array_equal(left.regime, right.regime)
    assert np.allclose(left.growth, right.growth, rtol=1e-6, atol=1e-6)
    assert np.allclose(left.margin, right.margin, rtol=1e-5, atol=1e-9)
    assert {"open", "clatters", "unstable"} <= {*study.table()["regime"].tolist()}
    assert not np.allclose(left.margin, found.sel(centre=1.5).margin, rtol=1e-3)  # the position matters
    panels = study.figure.map("speed", "split", "regime", by="centre").axes
    assert [panel.get_title(loc="left") for panel in panels] == [f"centre = {c}" for c in (1.1, 1.5, 1.9)]


def test_regimes_need_modes_that_breathe(tmp_path: Path) -> None:
    """Convergence with the number of modes: 24 and 36 agree; 12 end below the first frequency of a short lamina.

    A clamped lamina of thickness h vibrates with 22.373/(2π ℓ²) √(E h²/12ρ); without that mode its joint cannot open.
    """
    from klapper.studies.maps.rotor import model

    study = klapper.study(
        clatter,
        over={"split": [0.2, 1.2], "modes": [12, 24, 36], "speed": grid(4.0, 16.0, 5)},
        fixed={"centre": 1.2},
        outputs=["regime", "opening"],
        store=tmp_path / "s",
    ).run(workers=1)
    found = study.dataset()
    assert np.array_equal(found.regime.sel(modes=24), found.regime.sel(modes=36))
    breathing = 22.373 / (2.0 * np.pi * 0.2**2) * np.sqrt(69e9 * 0.009**2 / (12.0 * 2800.0))
    assert model(0.2, 1.2, 12).frequencies[-1] < breathing < model(0.2, 1.2, 24).frequencies[-1]
    short, long = (found.sel(split=split) for split in (0.2, 1.2))
    few, more, most = (short.opening.sel(modes=modes) for modes in (12, 24, 36))
    assert np.all(few < 0.01 * more)
    assert np.all(np.abs(most - more) < 0.1 * (more - few))
    assert np.array_equal(long.regime.sel(modes=12), long.regime.sel(modes=24))


@pytest.mark.slow
def test_a_rocking_beam_converges_with_its_modes(tmp_path: Path) -> None:
    """Example 5.7: first rise of the left end, of another program, to its printed digits (implicit Euler, 20 µs)."""
    printed = {3: 6.95e-3, 6: 7.22e-3, 10: 7.32e-3, 15: 7.37e-3}
    study = klapper.study(
        "rocking-beam",
        over={"modes": list(printed)},
        fixed={"until": 0.3},
        outputs=["first_max_A"],
        store=tmp_path / "s",
    ).run(workers=1)
    assert study.table()["first_max_A"] == pytest.approx(list(printed.values()), abs=1e-5)


def test_natural_frequencies_converge_with_fourth_order(tmp_path: Path) -> None:
    """Cubic beam elements, Strang and Fix: errors of a frequency fall with the fourth power of the element's length."""
    study = klapper.study(
        natural_frequencies,
        over={"elements": [2, 4, 8]},
        fixed={"split": 1.2},
        outputs=["f1", "f2", "f3"],
        store=tmp_path / "s",
    ).run(workers=1)
    exact = shaft(1.2).frequencies(3, plane="1-3")
    table = study.table()
    errors = np.array([table[f"f{k + 1}"] - exact[k] for k in range(3)])
    assert np.all(errors > 0.0)  # Rayleigh: from above
    assert np.log2(errors[:, 1] / errors[:, 2]) == pytest.approx(4.0, abs=0.3)
