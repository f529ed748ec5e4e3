"""The examples of the complementarity room: numbers known independently, other parameters, refused ones."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from klapper.gallery import find
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError
from klapper.report.figures import draw
from klapper.report.terminal import console, show

OTHER_PARAMETERS: list[tuple[str, dict[str, Any]]] = [
    ("two-carts", {"side": "left"}),
    ("two-carts", {"mass_1": 3.0, "mass_2": 0.2, "approach_speed": 5.0, "side": "left"}),
    ("two-carts", {"mass_1": 1e-3, "mass_2": 1e3}),
    ("block-pair", {"force_1": 0.2, "force_2": 0.9}),
    ("block-pair", {"force_1": -2.0, "force_2": 3.0, "mass_2": 4.0}),
    ("block-pair", {"force_1": 3.0, "force_2": -2.0}),
    ("block-pair", {"force_1": 0.0, "force_2": 2.0, "limit_1": 1.0, "limit_2": 1.0}),
    ("block-pair", {"force_1": 1.0, "force_2": 1.0, "limit_1": 0.0, "limit_2": 0.0}),
    ("wedge-point", {"alpha_deg": 60.0, "beta_deg": 30.0}),
    ("wedge-point", {"alpha_deg": 45.0, "beta_deg": 100.0}),
    ("wedge-point", {"alpha_deg": 60.0, "beta_deg": -45.0, "force": 20.0, "mass": 0.1}),
    ("wedge-point", {"alpha_deg": 120.0, "beta_deg": -150.0}),
    ("wedge-point", {"alpha_deg": 90.0, "beta_deg": 90.0}),
    ("four-legged-table", {"weight": 50.0, "load_x": 0.0, "load_y": 0.0}),
    ("four-legged-table", {"load_x": -0.3, "load_y": 0.45}),
    ("four-legged-table", {"load_x": 0.5, "load_y": 0.0}),
    ("four-legged-table", {"load_x": 0.7, "load_y": 0.1}),
    ("four-legged-table", {"load_x": -0.7, "load_y": -0.9, "leg_spacing": 1.2}),
    ("wedged-disc", {"mu": 0.3, "moment_ratio": 0.9}),
    ("wedged-disc", {"mu": 0.8, "moment_ratio": -3.0, "force": 100.0, "radius": 0.02, "mass": 5.0}),
    ("wedged-disc", {"mu": 0.5, "moment_ratio": 0.0}),
    ("wedged-disc", {"mu": 0.5, "moment_ratio": 1.0}),
    ("wedged-disc", {"mu": 0.8, "alpha": 2.5, "moment_ratio": 1.2}),
    ("wedged-disc", {"mu": 2.0, "alpha": 2.0, "moment_ratio": 2.0}),
    ("sliding-contact", {"free_velocity": (-1.0, 0.1, 0.2)}),
    ("sliding-contact", {"free_velocity": (0.5, 1.0, 1.0)}),
    ("sliding-contact", {"friction": 0.0}),
    ("sliding-contact", {"delassus": (1.0, 0.3, 0.1, 0.3, 2.0, 0.2, 0.1, 0.2, 3.0), "vertices": (6, 12, 64)}),
    ("rotor-stop", {"load": 40.0}),
    ("rotor-stop", {"load": 1.5, "top_speed": 350.0}),
    ("rotor-stop", {"load": 0.05}),
    ("rotor-stop", {"load": 40.0, "top_speed": 2000.0}),
    ("rotor-stop", {"stiffness": 100.0, "mass": 1.0, "gap": 0.02, "load": 5.0, "top_speed": 20.0}),
]


def run(name: str, **given: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


@pytest.mark.parametrize(("name", "given"), OTHER_PARAMETERS)
def test_checks_hold_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    assert run(name, **given).audit["uniqueness"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("two-carts", {"side": "left"}),
        ("block-pair", {"force_1": 0.0, "force_2": 0.0}),
        ("wedge-point", {"alpha_deg": 1.0, "beta_deg": -90.0}),
        ("four-legged-table", {"load_x": 2.0}),
        ("wedged-disc", {"mu": 0.3, "moment_ratio": -3.0}),
        ("wedged-disc", {"mu": 0.8, "alpha": 3.0, "moment_ratio": 0.0}),
        ("sliding-contact", {"friction": 0.0}),
        ("sliding-contact", {"free_velocity": (1.0, 0.0, 0.0)}),
        ("rotor-stop", {"load": 40.0}),
    ],
)
def test_figures_can_be_drawn_for_other_parameters(name: str, given: dict[str, Any]) -> None:
    assert all(picture.png for picture in draw(run(name, **given).figures))


@pytest.mark.parametrize(
    ("side", "impulses", "velocities"), [("right", [0, 1], [1, 0]), ("left", [1, 2], [0, 0])]
)
def test_two_carts_have_the_impulses_and_velocities_of_the_thesis(
    side: str, impulses: list[float], velocities: list[float]
) -> None:
    """Waltersberger Ex. 1.1b: λ = (0, 1) and (1, 2)."""
    numbers = run("two-carts", side=side).numbers
    assert [numbers["impulse_a"], numbers["impulse_b"]] == pytest.approx(impulses, abs=1e-12)
    assert [numbers["velocity_1_after"], numbers["velocity_2_after"]] == pytest.approx(velocities, abs=1e-12)


def test_the_block_pair_accelerates_as_in_the_thesis() -> None:
    """Waltersberger Ex. 1.1d: both blocks accelerate to the left with 0.25, the contact force is 0.75."""
    numbers = run("block-pair").numbers
    assert numbers["acceleration_1"] == pytest.approx(0.25)
    assert numbers["acceleration_2"] == pytest.approx(0.25)
    assert numbers["contact_force"] == pytest.approx(0.75)
    assert numbers["possible_states"] == ["LL closed"]


def test_blocks_that_hold_have_bounds_of_the_contact_force() -> None:
    """Both hold: 0 ≤ λ, |F₁ + λ| ≤ 1, |F₂ − λ| ≤ 1 with F = (0.2, 1.5), so 0.5 ≤ λ ≤ 0.8."""
    numbers = run("block-pair", force_1=0.2, force_2=1.5).numbers
    assert [numbers["contact_force_min"], numbers["contact_force_max"]] == pytest.approx([0.5, 0.8])


def test_block_accelerations_minimise_the_constraint_with_friction() -> None:
    """Gauss: a minimises Σ ½ m (a − F/m)² + ρ |a| under a₁ ≥ a₂."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        force, limit, mass = rng.uniform(-3, 3, 2), rng.uniform(0, 1, 2), rng.uniform(0.5, 3, 2)
        names = ("force_1", "force_2", "limit_1", "limit_2", "mass_1", "mass_2")
        values = np.concatenate([force, limit, mass]).tolist()
        numbers = run("block-pair", **dict(zip(names, values, strict=True))).numbers

        def constraint(a: np.ndarray, force: Any = force, limit: Any = limit, mass: Any = mass) -> np.ndarray:
            return (0.5 * mass * (a - force / mass) ** 2 + limit * np.abs(a)).sum(axis=-1)

        best = np.array([numbers["acceleration_1"], numbers["acceleration_2"]])
        others = best + rng.normal(0, 1, (500, 2)) * rng.choice([1e-3, 0.1, 1.0], (500, 1))
        others = others[others[:, 0] >= others[:, 1]]
        assert constraint(others).min() >= constraint(best) - 1e-12


@pytest.mark.parametrize(
    ("alpha", "beta", "forces", "bilateral"),
    [
        (30.0, 60.0, [0.5, 0.0], [-1.0, -1.7321]),
        (60.0, 30.0, [0.8660, 0.0], [0.5774, -0.5774]),
        (45.0, 100.0, [0.0, 0.0], None),
    ],
)
def test_the_wedge_point_has_the_printed_forces(
    alpha: float, beta: float, forces: Any, bilateral: Any
) -> None:
    """Waltersberger Ex. 4.2b, to the printed digits."""
    numbers = run("wedge-point", alpha_deg=alpha, beta_deg=beta).numbers
    assert numbers["forces"] == pytest.approx(forces, abs=5e-5)
    if bilateral is None:
        assert np.all(numbers["bilateral_forces"] < 0)
    else:
        assert numbers["bilateral_forces"] == pytest.approx(bilateral, abs=5e-5)


def test_centred_table_has_forces_between_nothing_and_half_the_weight() -> None:
    numbers = run("four-legged-table", load_x=0.0, load_y=0.0).numbers
    assert numbers["force_min"] == pytest.approx(np.zeros(4), abs=1e-9)
    assert numbers["force_max"] == pytest.approx(np.full(4, 50.0))
    assert numbers["verdict"] == "stands"


def test_table_tips_when_the_load_leaves_the_legs() -> None:
    numbers = run("four-legged-table", load_x=0.6, load_y=0.0).numbers
    assert numbers["verdict"] == "tips over A and D"
    assert np.all(numbers["leg_accelerations"][1:3] > 0)


@pytest.mark.parametrize(
    ("mu", "ratio", "accelerations"),
    [
        (0.3, 0.5, [0]),
        (0.3, 0.9, [0]),
        (0.3, 1.2, [28.222]),
        (0.3, 3.0, [282.218]),
        (0.5, 0.5, [0]),
        (0.5, 0.9, [0]),
        (0.5, 1.2, [0, 41.016]),
        (0.5, 3.0, [0, 410.156]),
        (0.8, 1.2, [0, 50.019]),
        (0.8, 3.0, [0, 500.191]),
    ],
)
def test_the_wedged_disc_has_all_tabulated_motions(
    mu: float, ratio: float, accelerations: list[float]
) -> None:
    """Table from an enumeration of all 2⁸ complementary bases, α = π/4, f = 9.81 N, r = 0.1 m, m = 1 kg."""
    numbers = run("wedged-disc", mu=mu, moment_ratio=ratio).numbers
    assert numbers["accelerations"] == pytest.approx(accelerations, abs=6e-4)
    assert numbers["rest_possible"] == (0 in accelerations)


def test_the_wedged_disc_has_its_critical_moment() -> None:
    assert run("wedged-disc", mu=0.3).numbers["critical_moment"] == pytest.approx(0.705544, abs=5e-7)
    assert run("wedged-disc", mu=0.5).numbers["critical_moment"] == pytest.approx(1.025391, abs=5e-7)


def test_forces_of_the_self_locking_disc_have_no_upper_bound() -> None:
    numbers = run("wedged-disc").numbers
    assert np.isinf(numbers["rest_forces_max"][[0, 2]]).all()
    assert np.isfinite(run("wedged-disc", mu=0.3, moment_ratio=0.9).numbers["rest_forces_max"]).all()


def test_a_contact_with_coupled_directions_slides_where_one_equation_says() -> None:
    """Full Delassus matrix: the sliding direction as the root of one scalar equation."""
    matrix = np.array([[1.0, 0.3, 0.1], [0.3, 2.0, 0.2], [0.1, 0.2, 3.0]])
    velocity, friction = np.array([-1.0, 2.0, 1.3]), 0.7

    def impulse(angle: float) -> np.ndarray:
        cone = np.array([1.0, -friction * np.cos(angle), -friction * np.sin(angle)])
        return -velocity[0] / (matrix[0] @ cone) * cone

    def sideways(angle: float) -> float:
        after = matrix @ impulse(angle) + velocity
        return float(after[2] * np.cos(angle) - after[1] * np.sin(angle))

    numbers = run(
        "sliding-contact",
        delassus=tuple(matrix.ravel().tolist()),
        free_velocity=tuple(velocity.tolist()),
        friction=friction,
    ).numbers
    assert numbers["impulse"] == pytest.approx(impulse(brentq(sideways, 0.0, 1.2, xtol=1e-14)), abs=1e-8)


def test_polygons_converge_to_the_disc() -> None:
    """The impulse error is at most of the order of the direction error, 2π/r times the friction limit."""
    counts = (8, 32, 128)
    numbers = run("sliding-contact", vertices=counts).numbers
    assert np.all(np.array(numbers["impulse_errors"]) <= 0.5 * 2 * np.pi / np.array(counts))


def test_rotor_keeps_to_the_stop_above_the_critical_speed() -> None:
    """λ = 5 − 0.02 (100 − Ω²) at Ω = 20: 11 N; free flight is the other solution."""
    numbers = run("rotor-stop", stiffness=100.0, mass=1.0, gap=0.02, load=5.0, top_speed=20.0).numbers
    assert numbers["critical_speed"] == pytest.approx(10.0)
    assert numbers["force_at_top_speed"] == pytest.approx(11.0)
    assert numbers["solutions_at_top_speed"] == 2
    assert numbers["fold_speed"] == pytest.approx(np.sqrt(350.0))


def test_names_of_numbers_are_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    example = find("two-carts")
    outcome = run("two-carts")
    show(example.record({}, outcome), example.introduction({}, outcome), console())
    shown = capsys.readouterr().out
    assert all(name in shown for name in outcome.numbers)


@pytest.mark.parametrize(
    ("name", "setting", "sentence"),
    [
        ("two-carts", "side=up", "side must be one of right, left, not up."),
        ("two-carts", "mass_1=0", "mass_1 must be a number above 0 (kg), not 0.0."),
        ("block-pair", "limit_1=-1", "limit_1 must be a number at least 0 (N), not -1.0."),
        (
            "wedge-point",
            "alpha_deg=0",
            "alpha_deg must be a number at least 1 and at most 179 (degrees), not 0.0.",
        ),
        ("four-legged-table", "weight=heavy", "weight must be a number above 0 (N), not heavy."),
        ("wedged-disc", "mu=-0.1", "mu must be a number above 0, not -0.1."),
        ("wedged-disc", "friction=0.5", "wedged-disc has no parameter 'friction'"),
        ("sliding-contact", "delassus=1,2", "delassus must be 3 numbers (diagonal) or 9 (rows), not 2."),
        ("sliding-contact", "delassus=1,-1,1", "delassus must be symmetric and positive definite."),
        (
            "sliding-contact",
            "vertices=4,5",
            "vertices must be whole numbers separated by commas, each at least 4 and a multiple of 2",
        ),
        ("rotor-stop", "top_speed=50", "top_speed must be at least 1.01 times the critical speed"),
    ],
)
def test_wrong_values_are_told_in_a_sentence(name: str, setting: str, sentence: str) -> None:
    example = find(name)
    with pytest.raises(ParameterError) as told:
        example.run(**example.read([setting]))
    assert str(told.value).startswith(sentence)
