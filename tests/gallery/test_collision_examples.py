"""Rings that collide, bearings and tied bodies: what each scheme keeps, friction, press fits in closed form."""

from typing import Any

import numpy as np
import pytest

from klapper.continuum import annulus
from klapper.gallery import find
from klapper.gallery._bearing import Bearing, fit_pressure, solid
from klapper.gallery._interfaces import interface_named
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError

DRIFTS = ("energy_drift", "momentum_drift", "angular_momentum_drift")
SMALL = 1e-9
"""Relative change over a run below which a quantity is kept: ten tolerances of Newton's method, as checked per run."""

# Hesch 3.3 as a matrix: energy, momentum, angular momentum. Central differences keep J here: see docs/reproduction.md.
MATRIX: list[tuple[dict[str, Any], tuple[bool | None, bool, bool]]] = [
    ({"energy_option": "consistent"}, (True, True, True)),
    ({"energy_option": "gradient"}, (True, True, True)),
    ({"energy_option": "momentum-update"}, (None, True, True)),
    ({"energy_option": "none"}, (False, True, True)),
    ({"scheme": "midpoint-penalty"}, (False, True, True)),
    ({"scheme": "newmark", "penalty": 10.0}, (False, True, False)),
    ({"scheme": "central-difference", "penalty": 50.0, "step": 0.005}, (False, True, True)),
]

# Steps of whole collisions where 0.1 s is too large, or nearly so, for Newton's method.
SMALLER: dict[tuple[str, str], dict[str, float]] = {
    ("nts", "newmark"): {"step": 0.05},
    ("mortar", "newmark"): {"step": 0.05},
}


def _what(given: dict[str, Any]) -> str:
    return str(given.get("scheme") or given["energy_option"])


def run(name: str, **given: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


def drifts(outcome: Outcome) -> np.ndarray:
    return np.array([outcome.numbers[name] for name in DRIFTS])


def assert_kept(outcome: Outcome, expected: tuple[bool | None, bool, bool]) -> None:
    for value, kept, name in zip(drifts(outcome), expected, DRIFTS, strict=True):
        if kept is not None:
            assert (value <= SMALL) == kept, f"{name} is {value}"


class TestRings:
    @pytest.mark.parametrize(
        ("given", "kept"),
        MATRIX,
        ids=lambda each: "-".join(map(str, dict(each).values())) if isinstance(each, dict) else "",
    )
    def test_a_scheme_keeps_what_the_table_says(
        self, given: dict[str, Any], kept: tuple[bool | None, bool, bool]
    ) -> None:
        outcome = run("ring-collision", **{"until": 1.2, **given})
        assert_kept(outcome, kept)
        assert outcome.numbers["contact_begins"] < 1.0
        hard = given.get("scheme", "energy-momentum") == "energy-momentum"
        assert (outcome.numbers["max_penetration"] <= 1e-6) == hard

    @pytest.mark.slow
    @pytest.mark.parametrize("interface", ["nts", "mortar"])
    @pytest.mark.parametrize(("given", "kept"), MATRIX)
    def test_a_scheme_keeps_what_the_table_says_until_the_rings_part(
        self, interface: str, given: dict[str, Any], kept: tuple[bool | None, bool, bool]
    ) -> None:
        outcome = run(
            "ring-collision", interface=interface, **given, **SMALLER.get((interface, _what(given)), {})
        )
        assert_kept(outcome, kept)
        assert outcome.numbers["contact_ends"] < 9.0
        if given.get("scheme", "energy-momentum") == "energy-momentum":
            assert outcome.numbers["max_penetration"] <= 3e-7  # tolerance of 1e-9, of 300 m

    @pytest.mark.slow
    @pytest.mark.parametrize("interface", ["nts", "mortar"])
    @pytest.mark.parametrize(("step", "until"), [(0.01, 3.0), (1.0, 14.0)])
    @pytest.mark.parametrize("option", ["consistent", "gradient", "momentum-update"])
    @pytest.mark.parametrize("mu", [0.0, 0.3])
    def test_energy_and_momenta_stay_whatever_the_step(
        self, interface: str, step: float, until: float, option: str, mu: float
    ) -> None:
        """Hesch 6.3 and, with friction and by mortars, what the thesis leaves open."""
        outcome = run(
            "ring-collision", interface=interface, step=step, until=until, energy_option=option, mu=mu
        )
        assert_kept(outcome, (True, True, True))  # all roots of the momentum update are real here
        assert "energy not projected" not in str(outcome.audit["findings"])
        assert outcome.numbers["max_penetration"] <= 3e-7  # tolerance of 1e-9, of 300 m

    @pytest.mark.slow
    def test_what_closing_gaps_take_falls_with_the_step(self) -> None:
        lost = [
            run("ring-collision", energy_option="none", step=step, until=3.0).numbers["energy_drift"]
            for step in (0.1, 0.02)
        ]
        assert lost[1] < 0.6 * lost[0]

    def test_momentum_update_says_where_it_found_no_root(self) -> None:
        outcome = run("ring-collision", energy_option="momentum-update", until=1.0)
        missed = "energy not projected" in str(outcome.audit["findings"])
        assert (outcome.numbers["energy_drift"] <= SMALL) != missed

    def test_rings_that_overlap_are_refused(self) -> None:
        with pytest.raises(ParameterError, match="start apart"):
            find("ring-collision").run(distance=150.0)

    def test_springs_have_no_friction(self) -> None:
        with pytest.raises(ParameterError, match="friction"):
            find("ring-collision").run(scheme="newmark", mu=0.2)


class TestFriction:
    def test_energy_falls_by_the_work_of_friction_and_spin_is_handed_over(self) -> None:
        smooth, rough = (run("ring-collision", until=2.0, spin=0.1, mu=mu) for mu in (0.0, 0.3))
        assert rough.numbers["friction_work"] > 1.0
        assert smooth.numbers["friction_work"] == 0.0
        assert_kept(rough, (True, True, True))
        given = [outcome.numbers["spin_two"] for outcome in (smooth, rough)]
        # surfaces that touch move against each other like gears: the second ring is turned clockwise by the first
        assert given[1] < given[0]

    @pytest.mark.slow
    @pytest.mark.parametrize("interface", ["nts", "mortar"])
    def test_with_friction_everything_is_kept_until_the_rings_part(self, interface: str) -> None:
        outcome = run("ring-collision", interface=interface, mu=0.3)
        assert_kept(outcome, (True, True, True))
        assert outcome.numbers["friction_work"] > 0.0
        assert outcome.numbers["contact_ends"] < 9.0


class TestBearing:
    def test_press_fit_of_matching_meshes_approaches_lame(self) -> None:
        """Pressure and energy of two thick rings with an interference δ, plane strain: p = δ/(b (C₁ + C₂))."""
        pressure, energy = lame((50.0, 80.1), (80.0, 100.0))
        errors = []
        for around in (32, 64):
            bodies = [
                solid("shaft", annulus(50.0, 80.1, (around // 8, around))),
                solid("shell", annulus(80.0, 100.0, (around // 8, around))),
            ]
            face = interface_named("mortar", secondary=("shaft", "outer"), primary=("shell", "inner"))
            fit = Bearing(bodies, face)
            world, found = fit.pressed()
            mean = fit_pressure(fit, world, found).mean()
            errors.append([mean / pressure - 1.0, world.elastic_energy(found.position[-1]) / energy - 1.0])
        assert np.abs(errors[1]).max() < 0.01  # linear theory: strains are of the order of 1e-3
        assert np.all(np.abs(errors[1]) < 0.5 * np.abs(errors[0]) + 2e-3)

    @pytest.mark.slow
    def test_nodes_on_segments_jam_where_mortars_run_smoothly(self) -> None:
        found = {
            (interface, step): run("bearing", interface=interface, step=step).numbers["oscillation"]
            for interface, step in (("mortar", 2e-3), ("nts", 2e-3), ("nts", 5e-4))
        }
        assert found["mortar", 2e-3] < 0.5 * found["nts", 2e-3]
        assert found["nts", 5e-4] == pytest.approx(found["nts", 2e-3], rel=0.3)  # not an error of the step

    @pytest.mark.slow
    def test_springs_keep_angular_momentum_with_the_midpoint_rule_only(self) -> None:
        """Hesch 6.1: the midpoint rule keeps J with springs, Newmark does not; neither keeps the bodies' energy."""
        middle = run("bearing", scheme="midpoint-penalty", penalty=1e4, until=0.15)
        newmark = run("bearing", scheme="newmark", penalty=1e3, until=0.15)
        assert_kept(middle, (False, True, True))
        assert_kept(newmark, (False, True, False))

    @pytest.mark.slow
    def test_friction_brakes_the_bearing(self) -> None:
        short = {"ramp": 0.02, "until": 0.03, "always_active": False}
        smooth, rough = (run("bearing", mu=mu, **short).numbers for mu in (0.0, 0.1))
        assert rough["friction_work"] > 0.0
        assert rough["kinetic_energy"] < smooth["kinetic_energy"]

    def test_what_may_pull_has_no_friction(self) -> None:
        with pytest.raises(ParameterError, match="always_active"):
            find("bearing").run(mu=0.1)

    def test_the_free_phase_must_be_there(self) -> None:
        with pytest.raises(ParameterError, match="free phase"):
            find("bearing").run(until=0.1)


@pytest.mark.slow
def test_all_ways_to_decompose_a_bearing_keep_everything() -> None:
    """Hesch 6.2; the shipped parameters are the fourth combination."""
    found = {
        (tie, contact): run("domain-decomposition", tie=tie, contact=contact).numbers["oscillation"]
        for tie in ("nts", "mortar")
        for contact in ("nts", "mortar")
    }
    assert found["mortar", "mortar"] < found["mortar", "nts"]


@pytest.mark.parametrize("tie", ["nts", "mortar"])
def test_ties_keep_angular_momentum_only_if_the_meshes_are_fitted(tie: str) -> None:
    outcome = run("tied-bearing", tie=tie, until=0.05)
    assert_kept(outcome, (True, True, True))
    assert outcome.numbers["unfitted_angular_momentum_drift"] > 100.0 * SMALL


def lame(shaft: tuple[float, float], shell: tuple[float, float]) -> tuple[float, float]:
    """Pressure [N/m²] and energy [J/m] of a press fit in plane strain, the shell clamped outside.

    u(r) = A r + B/r in each ring: no stress inside, u = 0 outside, one pressure and the interference between them.
    """
    from klapper.gallery._bearing import POISSON, YOUNG

    shear = 0.5 * YOUNG / (1.0 + POISSON)
    bulk = shear / (1.0 - 2.0 * POISSON)  # σ_r = 2 (bulk A − shear B/r²)
    a, b, c, d = *shaft, *shell
    matrix = np.array(
        [
            [bulk, -shear / a**2, 0.0, 0.0],
            [0.0, 0.0, d, 1.0 / d],
            [bulk, -shear / b**2, -bulk, shear / c**2],
            [b, 1.0 / b, -c, -1.0 / c],
        ]
    )
    _, _, outer, outer_inverse = np.linalg.solve(matrix, [0.0, 0.0, 0.0, c - b])
    pressure = -2.0 * (bulk * outer - shear * outer_inverse / c**2)
    return float(pressure), float(np.pi * pressure * 0.5 * (b + c) * (b - c))
