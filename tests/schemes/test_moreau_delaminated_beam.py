"""Waltersberger Ex. 5.10: a delaminated beam that clatters at its first natural frequency, 30 s to the limit cycle."""

import numpy as np
import pytest
from delaminated_beam import Beam, forced_beam, frequencies, matrices

from klapper.results import Run
from klapper.schemes import Moreau
from klapper.simulation import simulate

TABLE = {
    (0.005, 0.1): (23.994, 95.052, 215.88, 370.06, 598.43, 803.20, 1165.4, 1391.1, 1899.6, 2163.4, 2646.2),
    (0.005, 0.2): (23.991, 89.442, 213.90, 318.39, 563.24, 679.91, 714.62, 1010.1, 1328.1, 1638.9, 1874.2),
    (0.005, 0.4): (23.900, 68.506, 169.98, 178.78, 284.78, 434.57, 468.55, 634.2, 903.6, 918.5, 1127.4),
    (0.005, 0.6): (23.342, 54.446, 75.545, 134.75, 208.24, 252.91, 408.02, 408.24, 565.3, 674.9, 758.3),
    (0.0075, 0.6): (22.814, 43.082, 67.472, 113.64, 166.93, 215.83, 320.98, 344.74, 500.91, 527.62, 675.81),
    (0.0075, 0.1): (23.994, 95.579, 215.85, 377.91, 597.52, 836.59, 1145.2, 1463.2, 1463.4, 1981.2, 2258.5),
}  # Hz, by edge h and length L₂ of the delamination


@pytest.mark.parametrize("case", TABLE)
def test_the_frequencies_are_as_printed(case: tuple[float, float]) -> None:
    found, _ = frequencies(matrices(Beam(edge=case[0], length=case[1])), 11)
    printed = np.array(TABLE[case])
    last = np.array([10.0 ** -len(f"{value!r}".split(".")[1]) for value in TABLE[case]])
    np.testing.assert_array_less(np.abs(found - printed), 0.51 * last + 1e-3)


def test_a_thin_lamina_breathes_like_a_clamped_beam() -> None:
    """Mid-plane delamination: the sixth mode at L₂ = 0.2 is that of a lamina clamped at both ends, 679.9 Hz."""
    clamped = 22.3733 / (2 * np.pi * 0.2**2) * np.sqrt(210e9 * 0.005**2 / (12 * 7500.0))
    found, _ = frequencies(matrices(Beam(edge=0.005, length=0.2)), 6)
    assert found[5] == pytest.approx(clamped, rel=1e-4)


@pytest.fixture(scope="module")
def clatter() -> tuple[Run, np.ndarray, np.ndarray]:
    system, rows = forced_beam()
    run = simulate(system, 30.0, Moreau(5e-5), every=5)
    return run, run.position @ rows["middle gap"], run.position @ rows["end of beam 1"]


LAST = 2.5  # s, exactly 57 periods of 22.8 Hz and 10⁴ samples


def test_the_limit_cycle_has_the_published_amplitudes_and_closes_in_every_period(clatter) -> None:
    """B35: largest gap in the middle 2.66 mm ± 3 %, closes in every period, end of beam 1 moves by 2.23 mm."""
    run, gap, end = clatter
    assert run.about["audit"]["path"] == "compiled"
    late = run.time > 30.0 - LAST
    assert gap[late].max() == pytest.approx(2.66e-3, rel=0.03)
    period = np.floor((run.time[late] - 27.5) * 22.8 - 1e-9).astype(int)
    for k in range(57):
        cycle = gap[late][period == k]
        assert abs(cycle.min()) < 4e-5
        assert cycle.max() == pytest.approx(2.66e-3, rel=0.03)
    amplitude = 0.5 * (end[late].max() - end[late].min())
    assert amplitude == pytest.approx(2.233e-3, rel=0.03)
    assert run.about["audit"]["largest penetration"] < 5e-5


def test_the_motion_has_the_period_of_the_force(clatter) -> None:
    """Cycle by cycle: the end of beam 1 to 1 % of its amplitude, the gap to the jitter of where it closes."""
    run, gap, end = clatter
    count, before = 10_000, run.time[-10_000:] - 1 / 22.8
    np.testing.assert_allclose(np.interp(before, run.time, end), end[-count:], atol=2e-5)
    np.testing.assert_allclose(np.interp(before, run.time, gap), gap[-count:], atol=1e-4)
    assert np.sqrt(np.mean((np.interp(before, run.time, gap) - gap[-count:]) ** 2)) < 2e-5
    half = run.time[-count:] - 0.5 / 22.8
    assert np.abs(np.interp(half, run.time, end) - end[-count:]).max() > 4e-3  # not the half of it


def test_contacts_push_and_the_books_close(clatter) -> None:
    """Impulses ≥ 0; over whole cycles the work put in is lost in damping and impacts; θ = ½ loses nothing itself."""
    run, _, _ = clatter
    assert run.impulse.min() >= 0.0
    assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale
    ledger, first = run.ledger, len(run) - 1 - 10_000
    put_in = ledger.loads[-1] - ledger.loads[first]
    lost = ledger.damping[-1] - ledger.damping[first] + ledger.impact[-1] - ledger.impact[first]
    assert put_in > 0.1
    assert lost == pytest.approx(put_in, rel=2e-3)
    assert abs(ledger.numerical[-1]) <= 1e-10 * ledger.loads[-1]


def test_39_gaps_of_11_modes_have_no_unique_forces(clatter) -> None:
    run, _, _ = clatter
    assert "not unique" in run.about["audit"]["forces with most contacts loaded"]


def test_a_cycle_by_the_general_path_is_the_compiled_one(clatter) -> None:
    """From a state of the limit cycle, step by step: the same motion as compiled, to round-off."""
    run, _, _ = clatter
    k = int(np.argmax(run.gap[-2000:].min(axis=1))) + len(run) - 2000  # all gaps open
    start = {"position": run.position[k], "velocity": run.velocity[k], "time": run.time[k]}
    system, _ = forced_beam(**start, penetration=1e-4)
    until = run.time[k] + 1 / 22.8
    compiled = simulate(system, until, Moreau(5e-5))
    general = simulate(system, until, Moreau(5e-5, compiled=False))
    assert (compiled.about["audit"]["path"], general.about["audit"]["path"]) == ("compiled", "general")
    np.testing.assert_allclose(
        general.position, compiled.position, atol=1e-9 * np.abs(compiled.position).max()
    )
    np.testing.assert_allclose(
        general.velocity, compiled.velocity, atol=1e-8 * np.abs(compiled.velocity).max()
    )
    assert np.any(general.impulse > 0.0)


def test_both_paths_agree_from_rest() -> None:
    """All 39 gaps are zero at the start: what counts as closed must not depend on the last bit."""
    system, _ = forced_beam()
    compiled, general = (simulate(system, 2.5e-3, Moreau(5e-5, compiled=c)) for c in (True, False))
    np.testing.assert_allclose(
        general.position, compiled.position, atol=1e-9 * np.abs(compiled.position).max()
    )
