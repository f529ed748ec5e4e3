"""The programs that are compared: klapper, klapper with pypardiso, and the peers, each in a process of its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.sides import ROOT, Answer, Side, SideFailed

PEERS = {
    "NGSolve": "ngsolve_peer.py",
    "Kratos": "kratos_peer.py",
    "felupe": "felupe_peer.py",
    "scikit-fem": "skfem_peer.py",
}
AGREEMENT = 1e-9  # of the largest entry, or there is no page


def klapper() -> Side:
    return Side("klapper", (sys.executable, "-m", "benchmarks.continuum.klapper_side"))


def klapper_with_pardiso(peers_python: str) -> Side:
    command = ("env", "PYTHONPATH=src", peers_python, "-m", "benchmarks.continuum.klapper_side")
    return Side("klapper, pypardiso", command)


def peers(peers_python: str) -> list[Side]:
    folder = ROOT / "benchmarks" / "continuum"
    return [Side(name, (peers_python, str(folder / script))) for name, script in PEERS.items()]


@dataclass(frozen=True)
class Found:
    """What a side answered, or why it did not."""

    answer: Answer | None
    why: str = ""

    def number(self, key: str) -> float | None:
        return None if self.answer is None or key not in self.answer else float(self.answer[key])


def asked(side: Side, task: str, *, timeout: float, **request: Any) -> Found:
    try:
        return Found(side.ask(task, timeout=timeout, **request))
    except SideFailed as error:
        return Found(None, str(error))


def difference(found: Found, reference: Answer, key: str) -> float | None:
    """Largest difference to the reference in units of its largest entry; more than agreed upon is an error."""
    if found.answer is None:
        return None
    apart = float(np.abs(found.answer[key] - reference[key]).max() / np.abs(reference[key]).max())
    if not apart <= AGREEMENT:
        raise AssertionError(f"{key} differs by {apart:.1e} of its largest entry between two programs")
    return apart


def unknowns(dimension: int, n: int) -> int:
    return dimension * (n + 1) ** dimension


def up_to(largest: int, sizes: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """Sizes n by dimension with no more than so many unknowns."""
    return {d: tuple(n for n in each if unknowns(d, n) <= largest) for d, each in sizes.items()}
