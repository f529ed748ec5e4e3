import itertools
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from benchmarks.dynamics import accuracy, exchange, models
from benchmarks.sides import ROOT, Side, SideFailed
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.spatial.distance import pdist

SICONOS = "/usr/bin/python3"


def _side(program: str, interpreter: str = sys.executable) -> Side:
    return Side(program, (interpreter, "-m", f"benchmarks.dynamics.{program.lower()}_dynamics"))


def _has_siconos() -> bool:
    if shutil.which(SICONOS) is None:
        return False
    return subprocess.run([SICONOS, "-c", "import siconos.kernel"], capture_output=True).returncode == 0


needs_siconos = pytest.mark.skipif(not _has_siconos(), reason="Siconos is not installed")
needs_exudyn = pytest.mark.skipif(find_spec("exudyn") is None, reason="Exudyn is not installed")
needs_mujoco = pytest.mark.skipif(find_spec("mujoco") is None, reason="MuJoCo is not installed")


@pytest.mark.parametrize("quick", [False, True])
def test_every_case_survives_its_way_as_text(quick: bool) -> None:
    for model in models.cases(quick=quick).values():
        assert models.from_text(models.to_text(model)) == model
        assert model.steps == pytest.approx(model.until / model.step)


def test_ball_height_follows_the_integrated_flight() -> None:
    """Flights integrated numerically, velocity reversed with ε at each event."""
    ball = models.BouncingBall()
    landing = lambda t, y: y[0]  # noqa: E731
    landing.terminal, landing.direction = True, -1.0  # type: ignore[attr-defined]
    start, state, bounces = 0.0, [ball.height, 0.0], 0
    while bounces < 5:
        flight = solve_ivp(
            lambda t, y: [y[1], -ball.gravity], (start, start + 2.0), state, events=landing, rtol=1e-10,
            atol=1e-12, dense_output=True,
        )  # fmt: skip
        for t in np.linspace(start, flight.t[-1], 7):
            assert ball.exact_height(t) == pytest.approx(flight.sol(t)[0], abs=1e-7)
        bounces += 1
        assert ball.bounce_time(bounces) == pytest.approx(flight.t[-1], abs=1e-7)
        start, state = flight.t[-1], [0.0, -ball.restitution * flight.y[1, -1]]
        assert ball.apex(bounces) == pytest.approx(state[1] ** 2 / (2.0 * ball.gravity), rel=1e-6)
    assert ball.exact_height(9.0 * ball.fall_time + 1e-6) == 0.0


def test_chain_energy_is_that_of_free_oscillators() -> None:
    """Without contact every mass oscillates about the rest of its spring: the energy stays."""
    chain = models.MassChain()
    rest, rate = chain.forces() / chain.stiffness, np.sqrt(chain.stiffness / chain.mass)
    amplitude, speed = chain.positions() - rest, chain.velocities()
    energies = []
    for t in np.linspace(0.0, 1.0, 9):
        q = rest + amplitude * np.cos(rate * t) + speed / rate * np.sin(rate * t)
        v = -amplitude * rate * np.sin(rate * t) + speed * np.cos(rate * t)
        energies.append(chain.energy(q, v))
    np.testing.assert_allclose(energies, energies[0], rtol=1e-12)


def test_chain_starts_open_and_rests_pressed_together() -> None:
    chain = models.MassChain()
    gaps = np.diff(chain.positions())
    assert gaps.min() >= 0.0
    assert gaps.max() <= chain.largest_gap
    np.testing.assert_array_equal(chain.positions(), models.MassChain().positions())
    # all displacements equal: contact i carries what the springs on its left push to the right
    contact_forces = np.cumsum(chain.forces())[:-1]
    assert contact_forces.min() > 0.0
    assert chain.forces().sum() == pytest.approx(0.0, abs=1e-12)


def test_block_slides_only_above_the_friction_angle() -> None:
    limit = np.degrees(np.arctan(0.5))
    assert models.InclinedBlock(angle_deg=limit - 1e-6).exact_displacement(10.0) == 0.0
    block = models.InclinedBlock(angle_deg=30.0)
    weight = block.gravity_vector()
    assert np.linalg.norm(weight) == pytest.approx(block.gravity)
    assert -weight[0] == pytest.approx(block.gravity * np.cos(np.radians(30.0)))
    pull = np.linalg.norm(weight[1:]) + block.friction * weight[0]
    assert block.exact_displacement(2.0) == pytest.approx(0.5 * pull * 4.0)


def test_bar_frequencies_are_those_of_a_lumped_free_row() -> None:
    """ω_k = 2 c n/L sin(k π / 2n), the closed form of n equal springs with half masses at both ends."""
    bar = models.ImpactingBar(elements=12)
    squares = eigh(bar.stiffness_matrix(), np.diag(bar.node_masses()), eigvals_only=True)
    mode = np.arange(13)
    exact = 2.0 * bar.wave_speed * 12.0 / bar.length * np.sin(mode * np.pi / 24.0)
    np.testing.assert_allclose(np.sqrt(np.abs(squares)), exact, atol=1e-3 * exact[1])


def test_bar_exact_impulse_reverses_the_momentum() -> None:
    bar = models.ImpactingBar()
    momentum = bar.density * bar.area * bar.length * bar.speed
    assert bar.contact_force * bar.contact_duration == pytest.approx(2.0 * momentum)
    assert bar.node_masses().sum() * bar.speed == pytest.approx(momentum)


def test_spheres_start_apart_and_inside_the_box() -> None:
    spheres = models.SettlingSpheres(per_edge=4)
    centres = spheres.centres()
    assert len(centres) == spheres.spheres == 64
    assert pdist(centres).min() > 2.0 * spheres.radius
    planes = spheres.planes()
    distance = centres @ planes[:, :3].T + planes[:, 3]
    assert distance.min() > spheres.radius
    deepest = max(2.0 * spheres.radius - pdist(centres).min(), spheres.radius - distance.min())
    assert accuracy.greatest_overlap(spheres, centres) == pytest.approx(deepest, abs=1e-15)


def test_greatest_overlap_finds_a_pair_and_a_wall() -> None:
    spheres = models.SettlingSpheres(per_edge=3)
    centres = spheres.centres()
    pair = centres.copy()
    pair[20] = pair[3] + np.array([0.0, 0.06, 0.07])
    expected = max(2.0 * spheres.radius - pdist(pair).min(), accuracy.greatest_overlap(spheres, centres))
    assert accuracy.greatest_overlap(spheres, pair) == pytest.approx(expected, abs=1e-15)
    wall = centres.copy()
    wall[:, 0] += spheres.width - spheres.radius + 2e-3 - wall[:, 0].max()
    assert accuracy.greatest_overlap(spheres, wall) == pytest.approx(2e-3)


def test_exact_ball_is_judged_without_error() -> None:
    ball = models.BouncingBall()
    time = ball.step * np.arange(1, ball.steps + 1)
    height = np.array([ball.exact_height(t) for t in time])
    judged = accuracy.judge(ball, {"time": time, "position": height})
    # the apex lies between two samples: g (h/2)²/2 at most
    assert abs(judged["third_apex"] - ball.apex(3)) <= ball.gravity * ball.step**2 / 8.0 + 1e-15
    assert judged["largest_error"] == 0.0
    assert judged["penetration"] <= 0.0
    lower = accuracy.judge(ball, {"time": time, "position": 0.9 * height})
    assert lower["energy_error"] == pytest.approx(-0.1, abs=1e-5)


def test_creeping_block_is_judged_by_its_creep() -> None:
    block = models.InclinedBlock(until=1.0)
    time = block.step * np.arange(1, block.steps + 1)
    place = np.zeros((time.size, 3))
    place[:, 1], place[:, 2] = 3e-3 * time, 4e-3 * time
    judged = accuracy.judge(
        block, {"time": time, "position": place, "velocity": np.full((time.size, 3), 1.0)}
    )
    assert judged["creep_speed"] == pytest.approx(5e-3)
    assert judged["displacement_error"] == pytest.approx(5e-3)
    assert judged["speed"] == pytest.approx(np.sqrt(2.0))


def test_exact_bar_is_judged_with_ones() -> None:
    bar = models.ImpactingBar()
    time = bar.step * np.arange(1, bar.steps + 1)
    nodes = bar.elements + 1
    trajectory = {
        "time": time,
        "position": np.zeros(time.size),
        "force": np.where(time <= bar.contact_duration * (1.0 + 1e-9), bar.contact_force, 0.0),
        "final_position": np.full(nodes, 0.1),
        "final_velocity": np.full(nodes, bar.speed),
    }
    judged = accuracy.judge(bar, trajectory)
    assert judged.pop("penetration") == 0.0
    assert judged == pytest.approx(dict.fromkeys(judged, 1.0))


def test_difference_compares_at_common_times_only() -> None:
    block = models.InclinedBlock()
    coarse = {"time": block.step * np.array([10.0, 20.0, 30.0]), "position": np.zeros((3, 3))}
    fine = {"time": block.step * np.arange(1.0, 31.0), "position": np.zeros((30, 3))}
    fine["position"][19, 1], fine["position"][20, 1] = 2e-5, 7.0
    assert accuracy.difference(block, coarse, fine) == 2e-5
    with pytest.raises(ValueError, match="no sample time in common"):
        accuracy.difference(block, coarse, {"time": np.array([1e3]), "position": np.zeros((1, 3))})


FAKE = """
import numpy as np
from benchmarks.dynamics.exchange import NotModelled, Run, serve
def run(model, repeats):
    if model.kind != "inclined block":
        raise NotModelled(f"no {model.kind} here")
    time = model.step * np.arange(1, 11)
    still = np.zeros((10, 3))
    return [Run(f"{repeats} repeats", 10, 2.5, {"time": time, "position": still, "velocity": still}, {"sweeps": 3.0})]
serve("0.1", run)
"""


def test_a_program_answers_with_plain_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "side.py"
    script.write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    side = Side("Fake", (sys.executable, str(script)))
    assert side.version() == "0.1"
    (result,) = exchange.ask(side, "a block", models.InclinedBlock(), repeats=4, folder=tmp_path)
    assert (result["program"], result["model"], result["settings"]) == ("Fake", "inclined block", "4 repeats")
    assert result["seconds_per_step"] == 0.25
    assert result["facts"] == {"sweeps": 3.0}
    assert result["accuracy"]["displacement"] == 0.0
    np.testing.assert_array_equal(exchange.load(result)["position"], np.zeros((10, 3)))
    with pytest.raises(SideFailed, match=r"^no bouncing ball here$"):
        exchange.ask(side, "a ball", models.BouncingBall(), repeats=1, folder=tmp_path)


def _moreau_jean(
    mass: np.ndarray, stiffness: np.ndarray, force: np.ndarray, opening: np.ndarray, restitution: float,
    theta: float, step: float, steps: int, position: np.ndarray, velocity: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The scheme of `models`, every subset of the contacts tried until one is complementary."""
    effective = mass + (theta * step) ** 2 * stiffness
    places, impulses = [], []
    for _ in range(steps):
        free = velocity + step * np.linalg.solve(
            effective, force - stiffness @ (position + theta * step * velocity)
        )
        approach = opening @ velocity
        near = np.flatnonzero(opening @ position + (1.0 - theta) * step * approach <= models.ROUND_OFF)
        impulse = np.zeros(len(opening))
        subsets = itertools.chain.from_iterable(itertools.combinations(near, k) for k in range(near.size + 1))
        for subset in map(list, subsets):
            impulse[:] = 0.0
            if subset:
                rows = opening[subset]
                need = -(rows @ free + restitution * approach[subset])
                impulse[subset] = np.linalg.solve(rows @ np.linalg.solve(effective, rows.T), need)
            after = free + np.linalg.solve(effective, opening.T @ impulse)
            leave = opening[near] @ after + restitution * approach[near]
            if impulse.min(initial=0.0) >= 0.0 and leave.min(initial=0.0) >= -1e-12:
                break
        else:
            raise AssertionError("no subset of the contacts is complementary")
        position = position + step * ((1.0 - theta) * velocity + theta * after)
        velocity = after
        places.append(position)
        impulses.append(impulse.copy())
    return np.array(places), np.array(impulses)


@needs_siconos
def test_siconos_steps_the_chain_as_written_in_the_models(tmp_path: Path) -> None:
    chain = models.MassChain(masses=6, until=0.5, largest_gap=5e-4, agitation=0.02)
    (result,) = exchange.ask(_side("Siconos", SICONOS), "chain", chain, repeats=1, folder=tmp_path)
    places, impulses = _moreau_jean(
        chain.mass * np.eye(6), chain.stiffness * np.eye(6), chain.forces(), np.diff(np.eye(6), axis=0),
        chain.restitution, chain.theta, chain.step, chain.steps, chain.positions(), chain.velocities(),
    )  # fmt: skip
    assert (impulses > 0.0).sum() > 100
    np.testing.assert_allclose(exchange.load(result)["position"], places[9::10], atol=1e-13)


@needs_siconos
@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_siconos_steps_the_bar_as_written_in_the_models(theta: float, tmp_path: Path) -> None:
    bar = models.ImpactingBar(elements=8, theta=theta)
    (result,) = exchange.ask(_side("Siconos", SICONOS), "bar", bar, repeats=1, folder=tmp_path)
    places, impulses = _moreau_jean(
        np.diag(bar.node_masses()), bar.stiffness_matrix(), np.zeros(9), np.eye(9)[:1], bar.restitution,
        theta, bar.step, bar.steps, np.zeros(9), np.full(9, -bar.speed),
    )  # fmt: skip
    trajectory = exchange.load(result)
    np.testing.assert_allclose(trajectory["position"], places[:, 0], atol=1e-12 * bar.length)
    np.testing.assert_allclose(trajectory["force"], impulses[:, 0] / bar.step, atol=1e-6 * bar.contact_force)


@needs_siconos
def test_siconos_holds_the_block_and_lets_it_slide(tmp_path: Path) -> None:
    for angle, tolerance in ((25.0, 1e-15), (30.0, 1e-12)):
        block = models.InclinedBlock(angle_deg=angle, until=1.0)
        (result,) = exchange.ask(_side("Siconos", SICONOS), "block", block, repeats=1, folder=tmp_path)
        assert abs(result["accuracy"]["displacement_error"]) < tolerance


@needs_siconos
def test_siconos_spheres_keep_out_of_each_other(tmp_path: Path) -> None:
    """One step with the speed of the fall through the box is the deepest that contacts can be missed."""
    spheres = models.SettlingSpheres(per_edge=3, until=0.3)
    (result,) = exchange.ask(_side("Siconos", SICONOS), "spheres", spheres, repeats=1, folder=tmp_path)
    fastest = np.sqrt(2.0 * spheres.gravity * spheres.width)
    assert result["accuracy"]["penetration"] < fastest * spheres.step
    assert result["accuracy"]["contacts"] >= 27


@needs_exudyn
def test_exudyn_creeps_with_the_speed_of_its_regularised_law(tmp_path: Path) -> None:
    """μ N v/v_z = m g sin α below the zone speed v_z: v = v_z tan α/μ."""
    block = models.InclinedBlock(until=0.2)
    (result,) = exchange.ask(_side("Exudyn"), "block", block, repeats=1, folder=tmp_path)
    exact = 1e-3 * np.tan(np.radians(25.0)) / block.friction
    assert result["accuracy"]["speed"] == pytest.approx(exact, rel=1e-3)


@needs_exudyn
def test_exudyn_ball_returns_with_its_restitution(tmp_path: Path) -> None:
    ball = models.BouncingBall(step=1e-4, until=3.0)
    (result,) = exchange.ask(_side("Exudyn"), "ball", ball, repeats=1, folder=tmp_path)
    assert abs(result["accuracy"]["energy_error"]) < 0.01  # the contact lasts 2 ms of 451 ms


@needs_mujoco
def test_mujoco_creep_falls_with_the_impedance_ratio(tmp_path: Path) -> None:
    block = models.InclinedBlock(until=2.0)
    plain, stiff = exchange.ask(_side("MuJoCo"), "block", block, repeats=1, folder=tmp_path)
    assert plain["accuracy"]["speed"] > 1e-3
    assert plain["accuracy"]["speed"] / stiff["accuracy"]["speed"] == pytest.approx(100.0, rel=0.05)


@needs_mujoco
@pytest.mark.parametrize("restitution", [0.3, 0.8, 0.95])
def test_damping_ratio_returns_the_restitution(restitution: float) -> None:
    """A unit mass hits a spring and damper that only push, integrated numerically."""
    from benchmarks.dynamics.mujoco_dynamics import damping_ratio

    ratio = damping_ratio(restitution)
    release = lambda t, y: -y[0] - 2.0 * ratio * y[1] if t > 0.1 else 1.0  # noqa: E731
    release.terminal = True  # type: ignore[attr-defined]
    contact = solve_ivp(
        lambda t, y: [y[1], -y[0] - 2.0 * ratio * y[1]], (0.0, 10.0), [0.0, -1.0], events=release, rtol=1e-10,
        atol=1e-12, max_step=0.01,
    )  # fmt: skip
    assert contact.y[1, -1] == pytest.approx(restitution, rel=1e-6)
