"""Event-driven integration of rigid contacts against regularised ones at equal error, over the number of modes.

One turn of the clattering rotor of Example 5.14, from a moment of its settled motion at which the joint is open. The
error is the distance to the rigid motion in closed form between events (`PiecewiseExact`). Regularised contacts have
two errors, that of the integrator and that of the law

    λ_N = max(0, −c g − d ġ) for g < 0, else 0                                            Waltersberger (4.80)

so both the law and the tolerance are varied, and what counts is the cheapest run within an error. There are two
families of laws: strong dampers, multiples of those of Example 5.15 with d/c = 40 s, by an implicit integrator; and
springs with critical damping of the most mobile contact, by an explicit one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.page import Section, body
from benchmarks.sides import Answer
from benchmarks.structures.clattering_rotor import SPEED, dense
from benchmarks.structures.side import ask, clocked, serve
from benchmarks.tables import Table, duration
from klapper.gallery._rotor import ALUMINIUM
from klapper.gallery._rotor_clatter import settled
from klapper.mechanics import CompliantNormal, LinearSystem
from klapper.results import Run
from klapper.schemes import EventDriven, PiecewiseExact, Regularised
from klapper.schemes.base import Scheme
from klapper.simulation import SimulationFailed, simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLES = 20  # per turn, at which motions are compared
SETTLING, STEPS_PER_TURN = 20.0, 1000  # s and steps of time stepping before
PRINTED = (1e3, 4e4)  # c [N/m], d [N s/m] of Example 5.15
PRINTED_TOLERANCE = 1e-5
COMPLIANT_TOLERANCES = (
    1e-3,
    PRINTED_TOLERANCE,
)  # finer ones cost more and gain nothing against the error of the law
TARGETS = (1e-5, 1e-6, 1e-7, 1e-8)  # m
RIGID, COMPLIANT = "event-driven", "regularised"
FAMILIES = ("event-driven", "dampers", "springs")
PATIENCE = 2.0  # s beyond which a run is not repeated


def section(*, quick: bool) -> Section:
    if quick:
        request = {"modes": [4, 6], "multiples": [1.0, 1e2], "springs": [1e6], "tolerances": [1e-3, 1e-5]}
    else:
        request = {
            "modes": [4, 6, 8, 10, 12, 16], "multiples": 10.0 ** np.arange(7), "springs": 10.0 ** np.arange(4, 9),
            "tolerances": [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8],
        }  # fmt: skip
    found = ask("equal_error", **request, contacts=9, repeats=1 if quick else 3, timeout=7200.0)
    return Section(
        words(found),
        partial(draw, found=found),
        "Cost of event-driven and regularised integration",
        (11.0, 3.8),
    )


def measure(
    modes: np.ndarray,
    contacts: int,
    multiples: np.ndarray,
    springs: np.ndarray,
    tolerances: np.ndarray,
    repeats: int,
) -> dict[str, Any]:
    """One entry per run (k,): ``run_modes``, ``family``, ``tolerance``, ``stiffness`` [N/m], ``error`` [m] (nan without
    an answer), ``seconds`` on the processor; and per number of modes ``impacts``, ``opening`` [m] of the joint."""
    rows: list[tuple[Any, ...]] = []
    impacts, opening = [], []
    for count in modes.tolist():
        system = open_joint(count, contacts)
        until, sample = system.start.time + 1.0 / SPEED, 1.0 / (SPEED * SAMPLES)
        reference = simulate(system, until, PiecewiseExact(sample=sample), progress=False)
        impacts.append(len(reference.impacts().time))
        opening.append(reference.gap.max())
        for family, tolerance, stiffness, scheme in candidates(
            system, multiples, springs, tolerances, sample
        ):
            run, seconds = _timed(system, until, scheme, repeats)
            error = np.nan if run is None else distance(system, run, reference)
            rows.append((count, family, tolerance, stiffness, error, seconds))
    names = ("run_modes", "family", "tolerance", "stiffness", "error", "seconds")
    columns = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    return {"modes": modes, "contacts": contacts, "impacts": impacts, "opening": opening, **columns}


def open_joint(modes: int, contacts: int) -> LinearSystem:
    """The settled rotor at the moment of its last turn at which its smallest gap is largest."""
    model = ALUMINIUM.model(modes)
    run = settled(model, SPEED, contacts, SETTLING, STEPS_PER_TURN).run
    last = np.arange(len(run) - STEPS_PER_TURN, len(run))
    k = last[np.argmax(run.gap[last].min(axis=1))]
    return model.system(
        SPEED, model.contacts(contacts), time=run.time[k], position=run.position[k], velocity=run.velocity[k]
    )


def candidates(
    system: LinearSystem, multiples: np.ndarray, springs: np.ndarray, tolerances: np.ndarray, sample: float
) -> list[tuple[str, float, float, Scheme]]:
    """Family, tolerance, stiffness and scheme of every run."""
    found: list[tuple[str, float, float, Scheme]] = []
    for tolerance in tolerances.tolist():
        for method in ("rk45", "dop853"):
            found.append((RIGID, tolerance, np.inf, EventDriven(tolerance, method=method, sample=sample)))
    directions = dense(system.normal_directions)
    mobility = np.einsum("ij,ij->j", directions, np.linalg.solve(dense(system.mass_matrix), directions))
    laws = [("dampers", "radau", PRINTED[0] * factor, PRINTED[1] * factor) for factor in multiples.tolist()]
    laws += [("springs", "dop853", c, 2.0 * np.sqrt(c / mobility.max())) for c in springs.tolist()]
    for family, method, stiffness, damping in laws:
        for tolerance in COMPLIANT_TOLERANCES:
            law = CompliantNormal(stiffness, damping)
            scheme = Regularised(law, method=method, tolerance=tolerance, sample=sample)  # type: ignore[arg-type]
            found.append((family, tolerance, stiffness, scheme))
    return found


def distance(system: LinearSystem, run: Run, reference: Run) -> float:
    """Root mean square of the difference of all gaps at the sampled times [m]."""
    start = system.start.time
    times = np.linspace(start, start + 1.0 / SPEED, SAMPLES + 1)[1:]
    apart = (run.position_at(times) - reference.position_at(times)) @ dense(system.normal_directions)
    return float(np.sqrt(np.mean(apart**2)))


def _timed(system: LinearSystem, until: float, scheme: Scheme, repeats: int) -> tuple[Run | None, float]:
    """The run and the best of its times on the processor; None if it was not finished."""
    runs: list[Run] = []
    times: list[float] = []
    try:
        while len(times) < repeats and (not times or times[-1] <= PATIENCE):
            times.append(clocked(lambda: runs.append(simulate(system, until, scheme, progress=False))))
    except SimulationFailed:
        return None, np.nan
    return runs[0], min(times)


def cheapest(found: Answer, modes: int, kind: str, error: float) -> float:
    """Seconds of the cheapest run within an error [m]; nan if there is none."""
    rigid = found["family"] == RIGID
    chosen = (found["run_modes"] == modes) & (rigid if kind == RIGID else ~rigid) & (found["error"] <= error)
    return float(found["seconds"][chosen].min(initial=np.inf)) if chosen.any() else float("nan")


def printed(found: Answer, modes: int) -> tuple[float, float]:
    """Ratio of times and error [m] with the law and the tolerance of Example 5.15 for both."""
    same = (found["run_modes"] == modes) & (found["tolerance"] == PRINTED_TOLERANCE)
    law = same & (found["family"] == "dampers") & (found["stiffness"] == PRINTED[0])
    rigid = same & (found["family"] == RIGID)
    if not law.any():
        return float("nan"), float("nan")
    return float(found["seconds"][law][0] / found["seconds"][rigid].min()), float(found["error"][law][0])


def words(found: Answer) -> str:
    made = Table(
        "",
        ("modes", "impacts", f"{RIGID} to {TARGETS[1]:.0e} m", f"{COMPLIANT} to {TARGETS[1]:.0e} m",
         *(f"ratio at {error:.0e} m" for error in TARGETS), "ratio as printed", "its error / m"),
    )  # fmt: skip
    for modes, impacts in zip(found["modes"].tolist(), found["impacts"].tolist(), strict=True):
        times = {
            kind: [cheapest(found, modes, kind, error) for error in TARGETS] for kind in (RIGID, COMPLIANT)
        }
        ratios = [_number(two / one) for one, two in zip(times[RIGID], times[COMPLIANT], strict=True)]
        ratio, error = printed(found, modes)
        made.add(
            str(modes), str(impacts), _time(times[RIGID][1]), _time(times[COMPLIANT][1]), *ratios, _number(ratio),
            "–" if np.isnan(error) else f"{error:.1e}",
        )  # fmt: skip
    failed = int(np.isnan(found["error"]).sum())
    without = (
        "" if failed == 0 else f" {failed} of {found['error'].size} runs gave no motion and do not count."
    )
    return (
        f"{body(made)}\nRatios are {COMPLIANT} over {RIGID}, each by its cheapest run within the error; a dash says "
        f"that no run came so close. The gaps reach {1e3 * found['opening'].max():.0f} mm.{without}"
    )


def _time(seconds: float) -> str:
    return "–" if np.isnan(seconds) else duration(seconds)


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"


def draw(figure: Figure, *, found: Answer) -> None:
    """As in Fig. 5.52 the cost over the number of modes, and all runs with few and with most modes."""
    first, *others = figure.subplots(1, 3)
    modes = found["modes"].tolist()
    few = modes[min(1, len(modes) - 1)]
    unit = cheapest(found, few, RIGID, TARGETS[1])
    for kind, colour, mark in ((RIGID, "C0", "o"), (COMPLIANT, "C1", "s")):
        for error, style in ((TARGETS[0], ":"), (TARGETS[1], "-"), (TARGETS[3], "--")):
            times = [cheapest(found, count, kind, error) / unit for count in modes]
            label = f"{kind}, {error:.0e} m"
            first.semilogy(modes, times, mark + style, color=colour, markersize=4, label=label)
    first.set(xlabel="modes", ylabel=f"time, unit: {RIGID}, {few} modes, {TARGETS[1]:.0e} m")
    first.set_xticks(modes)
    first.set_ylim(top=20.0 * first.get_ylim()[1])
    first.legend(frameon=False, fontsize=7, loc="upper left")
    for axes, count in zip(others, (few, modes[-1]), strict=True):
        here = found["run_modes"] == count
        for family, colour, mark in zip(FAMILIES, ("C0", "C1", "C2"), ("o", "s", "^"), strict=True):
            chosen = here & (found["family"] == family) & np.isfinite(found["error"])
            axes.loglog(
                found["error"][chosen], found["seconds"][chosen], mark, color=colour, markersize=4,
                label=family if family == RIGID else f"{COMPLIANT}, {family}",
            )  # fmt: skip
        axes.set(xlabel="rms error of the gaps / m", title=f"{count} modes")
        axes.set_ylim(top=6.0 * axes.get_ylim()[1])
        axes.grid(True, alpha=0.3)
    others[0].set_ylabel("time on the processor / s")
    others[0].legend(frameon=False, fontsize=7, loc="upper left")


if __name__ == "__main__":
    serve(measure)
