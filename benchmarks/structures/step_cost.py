"""Cost of a compiled step of reduced structures over their numbers of modes and contacts, beside a lower limit.

No step can do without the gaps Jᵀ q of all contacts and, where the reduced matrices are full as those of a rotor,
without K q, C v and M̂⁻¹ r. The limit is the time of these products alone in a compiled loop. Above it are the contact
problem, the energy ledger, and what it takes to see what a contact does.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.measure import growth_exponent
from benchmarks.page import Section, body
from benchmarks.sides import Answer
from benchmarks.structures import klapper_rotor
from benchmarks.structures.clattering_rotor import STEPS_PER_TURN, shipped
from benchmarks.structures.plates import imported, write_files
from benchmarks.structures.side import ask, clocked, serve, stepping_seconds
from benchmarks.tables import Table, duration
from klapper.mechanics import LinearSystem
from klapper.reduction import modal, quasi_static
from klapper.schemes import Moreau
from klapper.simulation import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = ("rotor", "plates, modal", "plates, quasi-static")
FULL = ("rotor",)  # whose reduced matrices are full
GRID = (50, 40)  # inner points of each plate
PLATE_STEP = 2e-5  # s
PAIRS = {5: (5, 1), 10: (5, 2), 20: (5, 4), 50: (10, 5), 100: (10, 10), 200: (20, 10), 500: (25, 20)}
VARIED = ("modes", "contacts")


def section(*, quick: bool) -> Section:
    request = {"modes": [8, 16], "contacts": [5, 10], "turns": 2, "steps": 300, "repeats": 1}
    if not quick:
        request = {
            "modes": [8, 16, 32, 64, 128], "contacts": [5, 10, 20, 50, 100, 200, 500], "turns": 20, "steps": 5000,
            "repeats": 3,
        }  # fmt: skip
    found = ask("step_cost", **request, fixed_modes=16, fixed_contacts=10 if quick else 20)
    return Section(
        words(found), partial(draw, found=found), "Cost of a step over modes and contacts", (9.0, 4.0)
    )


def measure(
    modes: np.ndarray,
    contacts: np.ndarray,
    fixed_modes: int,
    fixed_contacts: int,
    turns: int,
    steps: int,
    repeats: int,
) -> dict[str, Any]:
    """For both series, ``modes`` with ``fixed_contacts`` and ``contacts`` with ``fixed_modes``, and every model (r, s):
    seconds of a step on the processor, those of the limit, and how many contacts carry force on average."""
    found: dict[str, Any] = {"fixed_modes": fixed_modes, "fixed_contacts": fixed_contacts}
    series = {
        "modes": [(int(n), fixed_contacts) for n in modes],
        "contacts": [(fixed_modes, int(m)) for m in contacts],
    }
    for name, sizes in series.items():
        found[name] = np.array([size[VARIED.index(name)] for size in sizes])
        rows = np.array([[_cost(model, n, m, turns, steps, repeats) for n, m in sizes] for model in MODELS])
        for number, what in enumerate(("cost", "limit", "touching")):
            found[f"{name}_{what}"] = rows[:, :, number]
    return found


def _cost(
    model: str, modes: int, contacts: int, turns: int, steps: int, repeats: int
) -> tuple[float, float, float]:
    system, scheme = _reduced(model, modes, contacts)
    count = turns * STEPS_PER_TURN if model in FULL else steps
    seconds = stepping_seconds(system, scheme, count, repeats) / count
    run = simulate(system, system.start.time + count * scheme.step_size, scheme, every=1, progress=False)
    if run.about["audit"]["path"] != "compiled":
        raise AssertionError(
            f"{model} with {modes} modes and {contacts} contacts was not compiled throughout"
        )
    pressed = np.count_nonzero(run.impulse[1:, :, 0], axis=1).mean()
    return seconds, _limit(modes, contacts, 3 if model in FULL else 0), pressed


def _reduced(model: str, modes: int, contacts: int) -> tuple[LinearSystem, Moreau]:
    if model == "rotor":
        rotor = shipped(modes, contacts)
        return klapper_rotor.system(rotor), Moreau(rotor.step)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), GRID, PAIRS[contacts])
        full = imported(Path(folder))
    if model == "plates, modal":
        return modal(full, modes).system, Moreau(PLATE_STEP, theta=1.0)
    return quasi_static(full, modes).system, Moreau(PLATE_STEP, theta=1.0, level="position")


def _limit(modes: int, contacts: int, squares: int) -> float:
    """Seconds of one product (m, n) and of ``squares`` products (n, n)."""
    random = np.random.default_rng(0)
    tall, square = random.normal(size=(contacts, modes)), random.normal(size=(max(squares, 1), modes, modes))
    x, out = random.normal(size=modes), np.empty(max(modes, contacts))
    products(tall, square[:squares], x, out, 1)
    times = 1 + int(2e8 / (modes * (contacts + squares * modes)) / 100)
    return min(clocked(partial(products, tall, square[:squares], x, out, times)) for _ in range(5)) / times


@njit(fastmath={"reassoc", "contract", "nsz"})
def products(tall: np.ndarray, square: np.ndarray, x: np.ndarray, out: np.ndarray, times: int) -> None:
    """The products of so many steps; x changes a little so that none can be left out."""
    for k in range(times):
        x[k % x.size] = -x[k % x.size]
        for i in range(tall.shape[0]):
            total = 0.0
            for j in range(x.size):
                total += tall[i, j] * x[j]
            out[i] = total
        for s in range(square.shape[0]):
            for i in range(x.size):
                total = 0.0
                for j in range(x.size):
                    total += square[s, i, j] * x[j]
                out[i] = total


def words(found: Answer) -> str:
    """One table: every model over modes and over contacts."""
    made = Table(
        "", ("model", "modes", "contacts", "touching", "time per step", "limit", "step / limit", "slope")
    )
    for i, model in enumerate(MODELS):
        for name in VARIED:
            for k, size in enumerate(found[name]):
                sizes = {"modes": found["fixed_modes"], "contacts": found["fixed_contacts"], name: size}
                cost, limit, touching = (
                    found[f"{name}_{what}"][i, k] for what in ("cost", "limit", "touching")
                )
                last = k == len(found[name]) - 1
                made.add(
                    model, str(sizes["modes"]), str(sizes["contacts"]), f"{touching:.1f}", duration(float(cost)),
                    duration(float(limit)), f"{cost / limit:.0f}",
                    f"{slope(found, name, i):.2f} over {name}" if last else "",
                )  # fmt: skip
    return body(made) + "\nSlopes are powers of growth over the larger half of the sizes."


def slope(found: Answer, name: str, model: int) -> float:
    """Power of growth over the larger half of the sizes."""
    half = -(len(found[name]) // 2 + 1)
    return growth_exponent(found[name][half:].astype(float), found[f"{name}_cost"][model, half:])


def draw(figure: Figure, *, found: Answer) -> None:
    """Both series; limits dashed."""
    panels = figure.subplots(1, 2, sharey=True)
    for axes, name in zip(panels, VARIED, strict=True):
        for i, (model, mark) in enumerate(zip(MODELS, ("o", "s", "^"), strict=True)):
            label = f"{model}: slope {slope(found, name, i):.1f}"
            axes.loglog(found[name], 1e6 * found[f"{name}_cost"][i], mark + "-", color=f"C{i}", label=label)
            if model != MODELS[-1]:
                axes.loglog(found[name], 1e6 * found[f"{name}_limit"][i], "--", color=f"C{i}", linewidth=1.0)
        fixed = f"{found['fixed_contacts']} contacts" if name == "modes" else f"{found['fixed_modes']} modes"
        axes.set(xlabel=name, title=fixed)
        axes.set_xticks(found[name], [str(size) for size in found[name]])
        axes.minorticks_off()
        axes.grid(True, alpha=0.3)
        axes.legend(frameon=False)
    panels[0].set_ylabel("time per step / µs (dashed: limit)")


if __name__ == "__main__":
    serve(measure)
