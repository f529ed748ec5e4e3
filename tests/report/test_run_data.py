"""What the page holds are the numbers of the run, and no extreme is lost."""

import numpy as np
import pytest

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.report import Scene, Shape
from klapper.report.run_data import MOST, run_data, scene_data
from klapper.report.run_page import run_page
from klapper.results import Layout, Run, Samples
from report.page_reader import Page, line_of
from results.motions import (
    GRAVITY,
    bouncing_ball,
    braked_block,
    driven_oscillator,
    logged_by_number,
    run_of_states,
)

SINGLE = 2.0**-24  # relative rounding of the numbers in the page


def near(value: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(value, expected, rtol=SINGLE, atol=1e-45, equal_nan=True)


def test_a_short_run_comes_back_sample_by_sample() -> None:
    run = braked_block()
    data = Page(run_page(run)).data
    np.testing.assert_array_equal(data["time"], run.time)
    for i, name in enumerate(run.layout.coordinates):
        assert data["position"][i]["name"] == data["velocity"][i]["name"] == name
        near(line_of(data, data["position"][i])[1], run.position[:, i])
        near(line_of(data, data["velocity"][i])[1], run.velocity[:, i])
    (floor,) = data["contacts"]
    near(floor["gap"]["value"], run.gap[:, 0])
    near(floor["force"][0]["value"], run.force[:, 0, 0])
    near(floor["force"][1]["value"], run.force[:, 0, 1])
    np.testing.assert_array_equal(floor["state"], run.state[:, 0])
    parts = {part["name"]: part["value"] for part in data["energy"]["parts"]}
    near(parts["friction"], run.ledger.friction)
    near(parts["kinetic"], run.ledger.kinetic)


def test_stretches_and_impacts_are_those_of_the_motion() -> None:
    block = Page(run_page(braked_block())).data["contacts"][0]
    stop = 2.0 / (0.3 * GRAVITY)
    assert block["code"].tolist() == [SLIP, STICK]
    assert block["edges"][1] == pytest.approx(stop, abs=1 / 400)
    ball = Page(run_page(bouncing_ball(mass=2.0, restitution=0.8))).data["contacts"][0]
    fall = np.sqrt(2 / GRAVITY)
    hits = fall * (1 + 2 * np.cumsum(np.r_[0.0, 0.8 ** np.arange(1, 6)]))
    np.testing.assert_allclose(ball["hit_time"], hits, atol=3 / 600)
    np.testing.assert_allclose(
        ball["hit_impulse"][0], 2 * 1.8 * GRAVITY * fall * 0.8 ** np.arange(6), rtol=1e-6
    )


def test_the_stacked_energies_reach_their_goal() -> None:
    for run in (bouncing_ball(), braked_block()):
        energy = Page(run_page(run)).data["energy"]
        total = sum(part["value"].astype(float) for part in energy["parts"])
        np.testing.assert_allclose(total, energy["target"], rtol=1e-6)


@pytest.fixture(scope="module")
def spiky() -> Run:
    """A hundred thousand samples of noise, with one needle that must not be lost."""
    rng = np.random.default_rng(3)
    run = run_of_states(rng.integers(0, 3, (100_000, 2)), tangential=1)
    fields = {name: getattr(run.samples, name) for name in Samples.__dataclass_fields__}
    position = rng.standard_normal((100_000, 2))
    position[61_234, 0], position[4_321, 1] = 77.0, -55.0
    energy = np.zeros((100_000, 7))
    energy[33_333, 0] = 9.0
    fields |= {"position": position, "velocity": position[::-1], "energy": energy}
    return Run(Layout(("a", "b"), ("a", "b"), ("c", "d"), 1), Samples(**fields))


def test_long_runs_are_thinned_and_keep_their_extremes(spiky: Run) -> None:
    data = Page(run_page(spiky)).data
    assert data["kept"] == len(data["time"]) < 100_000
    for i in range(2):
        for kind in ("position", "velocity"):
            time, value = line_of(data, data[kind][i])
            full = getattr(spiky, kind)[:, i]
            assert len(value) <= MOST
            near(value, full[np.searchsorted(spiky.time, time)])
            near(np.array([value.min(), value.max()]), np.array([full.min(), full.max()]))
            for low, high in ((0, 40_000), (40_000, 70_000)):  # not only on the whole
                window = slice(*np.searchsorted(time, spiky.time[[low, high]]))
                assert value[window].max() >= np.sort(full[low:high])[-3]
    curve = data["phase"][0]
    assert curve["x"].max() == 77.0
    energy = data["energy"]
    assert energy["parts"][1]["value"].max() == 9.0


def test_contacts_by_number_are_those_with_the_largest_impulse() -> None:
    state = np.full((20, 60), STICK)
    run = logged_by_number(run_of_states(state, tangential=0))
    total = np.bincount(run.samples.loaded.contact, run.samples.loaded.impulse[:, 0])
    data = Page(run_page(run)).data
    assert [int(contact["name"]) for contact in data["contacts"]] == sorted(np.argsort(-total)[:40])


def test_closed_contacts_without_friction_have_one_state() -> None:
    state = np.array([OPEN, STICK, SLIP, SLIP, IMPACT, OPEN])[:, None]
    contact = Page(run_page(run_of_states(state, tangential=0))).data["contacts"][0]
    assert contact["code"].tolist() == [STICK, IMPACT, OPEN]
    assert Page(run_page(run_of_states(state))).data["contacts"][0]["code"].tolist() == [
        STICK,
        SLIP,
        IMPACT,
        OPEN,
    ]


def test_a_scene_comes_back_within_half_a_level() -> None:
    rng = np.random.default_rng(0)
    rest = 100.0 * rng.random((6, 2))
    moved = rest + 1e-6 * rng.standard_normal((5, 6, 2))
    cells = np.array([[0, 1, 2, -1], [2, 3, 4, 5]])
    value = 1e9 * rng.random((5, 2))
    scene = Scene(np.linspace(0, 1, 5), [Shape("mesh", moved, cells=cells, value=value, rest=rest)])
    data = Page(run_page(bouncing_ball(count=11), scene=scene)).data["scene"]
    shape = data["shapes"][0]

    def dequantised(part: dict) -> np.ndarray:
        return part["low"] + part["step"] * part["levels"]

    shift = moved - rest
    np.testing.assert_allclose(dequantised(shape["points"]), shift, atol=np.ptp(shift) / 65535)
    np.testing.assert_allclose(dequantised(shape["value"]), value, atol=np.ptp(value) / 65535)
    near(shape["rest"], rest)
    assert shape["cells"].tolist() == [[0, 1, 2, 2**32 - 1], [2, 3, 4, 5]]
    assert scene_data(scene)["exaggeration"] == 1.0


def test_numbers_beyond_single_precision_are_infinite_and_not_an_error() -> None:
    run = bouncing_ball(count=11)
    fields = {name: getattr(run.samples, name) for name in Samples.__dataclass_fields__}
    huge = Run(run.layout, Samples(**(fields | {"velocity": 1e60 * run.velocity})))
    assert np.isinf(Page(run_page(huge)).data["velocity"][0]["value"][1])
    assert run_data(huge, None)["scene"] is None


def test_the_low_end_of_a_long_spectrum_is_kept_line_by_line() -> None:
    long = driven_oscillator(until=200.0, count=200_001)
    (spectrum,) = Page(run_page(long)).data["spectrum"]
    near_line = spectrum["frequency"][np.argmax(spectrum["amplitude"])]
    assert near_line == pytest.approx(1.5 / (2 * np.pi), abs=1 / 200)  # the frequency of the load
    assert spectrum["relevant"] < 10.0
    low = spectrum["frequency"][spectrum["frequency"] <= spectrum["relevant"]]
    np.testing.assert_allclose(np.diff(low), 1 / 200, rtol=1e-3)
    assert spectrum["frequency"][-1] == pytest.approx(500.0, rel=1e-3)
