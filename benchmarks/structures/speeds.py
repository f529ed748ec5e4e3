"""Largest real part of the eigenvalues of a rotor over many speeds, beside a plain loop over scipy.

    (λ² 1 + λ (Ω G + D) + K_el − Ω² K_c + Ω P) q̂ = 0                                       Waltersberger (5.167)

A delamination in the middle leaves symmetric and antisymmetric motions uncoupled, which `klapper.analysis.rotor` finds
by itself; off the middle all modes of the rotor are coupled.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from benchmarks.measure import growth_exponent
from benchmarks.page import Section, body
from benchmarks.sides import Answer
from benchmarks.structures.side import ask, clocked, serve
from benchmarks.tables import Table, duration, verdict
from klapper.analysis.rotor import growth
from klapper.gallery._rotor import ALUMINIUM

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OFF_CENTRE = 1.3  # m, of 3 m
HIGHEST = 60.0  # Hz
ROTORS = ("delamination in the middle", "delamination off the middle")
SECONDS = 10.0  # target: "in seconds"
AGREEMENT = 1e-9  # of the largest eigenvalue


def section(*, quick: bool) -> Section:
    sizes, speeds, few = ((10, 20), 50, 20) if quick else ((25, 50, 100, 200), 1000, 50)
    main = 20 if quick else 100
    found = ask("speeds", sizes=np.array(sizes), main=main, speeds=speeds, few=few, repeats=1 if quick else 3)
    return Section(words(found), partial(draw, found=found), "Time per speed against the number of modes")


def measure(sizes: np.ndarray, main: int, speeds: int, few: int, repeats: int) -> dict[str, Any]:
    """Seconds of both ways for every rotor and size (r, s); ``main`` modes take all ``speeds``, other sizes a ``few``.

    ``ours``, ``plain`` on the processor, ``wall`` of ours; ``apart`` largest difference of the growth [1/s];
    ``largest`` |λ| [1/s]
    """
    shape = (len(ROTORS), len(sizes))
    found: dict[str, Any] = {name: np.zeros(shape) for name in ("ours", "wall", "plain", "apart", "largest")}
    found |= {"sizes": sizes, "main": main, "speeds": np.where(sizes == main, speeds, few)}
    for i, centre in enumerate((None, OFF_CENTRE)):
        for j, modes in enumerate(sizes):
            rotor = _rotor(int(modes), centre)
            places = np.linspace(0.5, HIGHEST, found["speeds"][j])
            growth(rotor, places[:2])
            taken = [_both_clocks(partial(growth, rotor, places)) for _ in range(repeats)]
            found["ours"][i, j], found["wall"][i, j] = np.min(taken, axis=0)
            values: list[np.ndarray] = []
            found["plain"][i, j] = clocked(partial(_plain_loop, rotor, places, values))
            largest = np.abs(values).max()
            apart = np.abs(growth(rotor, places) - np.real(values).max(axis=1)).max()
            if apart > AGREEMENT * largest:
                raise AssertionError(
                    f"growth differs by {apart:.1e} 1/s from the plain loop with {modes} modes"
                )
            found["apart"][i, j], found["largest"][i, j] = apart, largest
    return found


def _rotor(modes: int, centre: float | None) -> Any:
    beam = replace(ALUMINIUM.beam, centre=centre)
    return beam.model(modes, external_damping=ALUMINIUM.drag, material_damping=ALUMINIUM.alpha2).rotor


def _both_clocks(work: Any) -> tuple[float, float]:
    start = perf_counter()
    return clocked(work), perf_counter() - start


def _plain_loop(rotor: Any, speeds: np.ndarray, values: list[np.ndarray]) -> None:
    """What one would write: the matrix of first order at each speed, and all its eigenvalues."""
    n = rotor.size
    identity, damping = np.eye(n), rotor.internal_damping + rotor.external_damping
    inverse = np.linalg.inv(rotor.mass)
    for omega in 2.0 * np.pi * speeds:
        position = rotor.stiffness - omega**2 * rotor.centrifugal + omega * rotor.circulatory
        rate = omega * rotor.gyroscopic + damping
        first_order = np.block([[np.zeros((n, n)), identity], [-inverse @ position, -inverse @ rate]])
        values.append(scipy.linalg.eigvals(first_order))


def words(found: Answer) -> str:
    j = int(np.flatnonzero(found["sizes"] == found["main"])[0])
    made = Table(
        "",
        ("rotor", "modes", "speeds", "klapper, processor", "klapper, clock", "loop over scipy", "ratio", "target",
         "verdict", "largest difference / (1/s)"),
    )  # fmt: skip
    for i, name in enumerate(ROTORS):
        ours, wall, plain = (float(found[each][i, j]) for each in ("ours", "wall", "plain"))
        made.add(
            name, str(found["main"]), str(found["speeds"][j]), duration(ours), duration(wall), duration(plain),
            f"{plain / ours:.1f}", f"≤ {SECONDS:g} s", verdict(wall, SECONDS), f"{found['apart'][i, j]:.1e}",
        )  # fmt: skip
    slopes = [growth_exponent(found["sizes"], found["ours"][i] / found["speeds"]) for i in range(len(ROTORS))]
    return (
        body(made)
        + f"\nThe largest eigenvalues are {found['largest'][:, j].max():.1e} 1/s. Time per speed grows with "
        f"the power {slopes[0]:.1f} of the number of modes, off the middle {slopes[1]:.1f}."
    )


def draw(figure: Figure, *, found: Answer) -> None:
    """Time per speed of both ways over the number of modes."""
    axes = figure.subplots()
    for i, (name, mark) in enumerate(zip(ROTORS, ("o", "s"), strict=True)):
        for way, style in (("ours", "-"), ("plain", "--")):
            label = f"{'klapper' if way == 'ours' else 'loop over scipy'}, {name}"
            per_speed = 1e3 * found[way][i] / found["speeds"]
            axes.loglog(found["sizes"], per_speed, mark + style, color=f"C{i}", label=label)
    axes.set(xlabel="modes", ylabel="time on the processor per speed / ms")
    axes.set_xticks(found["sizes"], [str(size) for size in found["sizes"]])
    axes.minorticks_off()
    axes.grid(True, alpha=0.3)
    axes.legend(frameon=False)


if __name__ == "__main__":
    serve(measure)
