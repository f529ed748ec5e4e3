"""What a report page shows of a run, as plain data: few enough points to be sent by mail, and no extreme lost.

Lines are thinned each by itself to its least and largest values in equal bins (:mod:`klapper.results.thinning`). The
page holds the times of all samples that any line kept; a line says with ``at`` which of them it has, or None if all.

    {"time", "position": [line], "velocity": [line], "phase": […], "spectrum": […], "contacts": […], "energy", "scene"}
    line = {"name", "at", "value"}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.contact_states import IMPACT, SLIP, STICK
from klapper.report.embedding import embedded, quantised
from klapper.report.spectrum import amplitude_spectrum
from klapper.results.drawing import stretches
from klapper.results.ledger import TITLES
from klapper.results.plots import ENERGY_COLOURS
from klapper.results.thinning import thinned, thinned_curve, thinned_together

if TYPE_CHECKING:
    from klapper.report.scene import Scene, Shape
    from klapper.results import Run
    from klapper.results.run import ContactHistory

MOST_POINTS = 160_000  # of all lines together
FEWEST, MOST = 400, 5000  # of one line
MOST_LINES, MOST_CONTACTS, MOST_HITS, MOST_FREQUENCIES = 40, 40, 1500, 2000


def run_data(run: Run, scene: Scene | None) -> dict[str, Any]:
    """The content of the page's data element."""
    positions = largest_motions(run.position)
    velocities = largest_motions(run.velocity)
    if len(run.layout.coordinates) == len(run.layout.velocities):
        velocities = positions
    histories = [run.contact(contact) for contact in shown_contacts(run)]
    lines = [run.position[:, i] for i in positions] + [run.velocity[:, i] for i in velocities]
    for history in histories:
        lines += [history.gap, *history.force.T]
    kept = _Kept(lines, len(run))
    energy = _energy_places(run, kept.limit)
    kept.add(energy)
    named = (
        [(run.layout.coordinates[i], run.position[:, i]) for i in positions],
        [(run.layout.velocities[i], run.velocity[:, i]) for i in velocities],
    )
    return {
        "time": embedded(run.time[kept.samples], "float64"),
        "kept": len(kept.samples),
        "position": [kept.line(name, values) for name, values in named[0]],
        "velocity": [kept.line(name, values) for name, values in named[1]],
        "phase": _phase(run, positions, kept),
        "spectrum": _spectrum(run, positions),
        "directions": list(run.layout.directions),
        "contacts": [_contact(history, kept, run) for history in histories],
        "energy": _energy(run, energy, kept),
        "scene": None if scene is None else scene_data(scene),
    }


def largest_motions(values: np.ndarray) -> list[int]:
    """Columns of ``values`` (s, n) that are shown: all, or those that move most."""
    if values.shape[1] <= MOST_LINES or not len(values):
        return list(range(min(values.shape[1], MOST_LINES)))
    return np.sort(np.argsort(-np.ptp(values, axis=0), kind="stable")[:MOST_LINES]).tolist()


def shown_contacts(run: Run) -> list[int]:
    """Contacts that are shown: all, or those with the largest normal impulse in all."""
    loaded = run.samples.loaded
    if loaded is None:
        numbers = np.arange(len(run.layout.contacts))
        total = run.impulse[:, :, 0].sum(axis=0)
    else:
        numbers, entry = np.unique(loaded.contact, return_inverse=True)
        total = np.bincount(entry, weights=loaded.impulse[:, 0], minlength=len(numbers))
    return np.sort(numbers[np.argsort(-total, kind="stable")[:MOST_CONTACTS]]).tolist()


class _Kept:
    """The samples that the page keeps, and lines by their places among them."""

    def __init__(self, lines: Sequence[np.ndarray], count: int) -> None:
        self.limit = int(np.clip(MOST_POINTS // max(len(lines), 1), FEWEST, MOST))
        self.whole = count <= self.limit
        self._places = [np.array([0, count - 1])] if not self.whole else [np.arange(count)]
        if not self.whole:
            self._places += [thinned(line, self.limit) for line in lines]
        self.samples = np.unique(np.concatenate(self._places))

    def add(self, places: np.ndarray) -> None:
        """Keep further samples."""
        self.samples = np.union1d(self.samples, places)

    def line(self, name: str, values: np.ndarray) -> dict[str, Any]:
        places = thinned(values, self.limit)
        return {"name": name, "at": self.at(places), "value": embedded(values[places])}

    def at(self, places: np.ndarray) -> dict[str, Any] | None:
        """Where among the kept samples these are; None if they are all of them."""
        if len(places) == len(self.samples):
            return None
        return embedded(np.searchsorted(self.samples, places), "uint32")


def _phase(run: Run, positions: list[int], kept: _Kept) -> list[dict[str, Any]]:
    """Coordinates with their velocities; without points of their own if all samples are kept."""
    speed = {name: number for number, name in enumerate(run.layout.velocities)}
    paired = len(run.layout.coordinates) == len(run.layout.velocities)
    found = []
    for i in positions:
        name = run.layout.coordinates[i]
        j = i if paired else speed.get(name)
        if j is None:
            continue
        x, y = run.position[:, i], run.velocity[:, j]
        places = thinned_curve(x, y, kept.limit)
        found.append(
            {
                "name": name,
                "velocity": run.layout.velocities[j],
                "x": embedded(x[places]),
                "y": embedded(y[places]),
            }
        )
    return found


def _spectrum(run: Run, positions: list[int]) -> list[dict[str, Any]]:
    known = [i for i in positions if np.all(np.isfinite(run.position[:, i]))]
    frequency, amplitude = amplitude_spectrum(run.time, run.position[:, known])
    if not len(frequency):
        return []
    found = []
    for column, i in enumerate(known):
        relevant = relevant_lines(amplitude[:, column])
        places = np.concatenate(
            [
                thinned(amplitude[:relevant, column], MOST_FREQUENCIES),
                relevant + thinned(amplitude[relevant:, column], MOST_FREQUENCIES // 4),
            ]
        )
        found.append(
            {
                "name": run.layout.coordinates[i],
                "relevant": float(frequency[relevant - 1]),
                "frequency": embedded(frequency[places]),
                "amplitude": embedded(amplitude[places, column]),
            }
        )
    return found


def relevant_lines(amplitude: np.ndarray) -> int:
    """How many lines of a spectrum (f,) are looked at first: twice as far as the last above a hundredth of the top."""
    tall = np.flatnonzero(amplitude > 0.01 * amplitude.max())
    return int(np.clip(2 * (tall[-1] + 1) if len(tall) else 0, min(30, len(amplitude)), len(amplitude)))


def _contact(history: ContactHistory, kept: _Kept, run: Run) -> dict[str, Any]:
    state = history.state
    if not run.layout.tangential:  # closed has one state only
        state = np.where(state == SLIP, STICK, state)
    left, right, code = stretches(history.time, state)
    hits = np.flatnonzero(history.state == IMPACT)
    hits = hits[thinned(np.linalg.norm(history.impulse[hits], axis=1), MOST_HITS)]
    names = run.layout.directions
    return {
        "name": history.name,
        "edges": embedded(np.append(left, right[-1:]), "float64"),
        "code": embedded(code, "uint8"),
        "state": embedded(state[kept.samples], "uint8"),
        "hit_time": embedded(history.time[hits], "float64"),
        "hit_impulse": [embedded(history.impulse[hits, k]) for k in range(len(names))],
        "gap": kept.line(history.name, history.gap),
        "force": [kept.line(history.name, force) for force in history.force.T],
    }


def _energy_places(run: Run, limit: int) -> np.ndarray:
    columns = np.column_stack([run.samples.energy, run.ledger.residual])
    return thinned_together(columns, max(limit, 8 * FEWEST))


def _energy(run: Run, places: np.ndarray, kept: _Kept) -> dict[str, Any]:
    """Parts that are stacked, the height that they have to reach, and by how much they miss it."""
    ledger = run.ledger
    lowest = float(np.nanmin(ledger.potential)) if len(run) else 0.0
    parts = {name: getattr(ledger, name) for name in ENERGY_COLOURS}
    parts["potential"] = ledger.potential - lowest
    seen = [name for name, part in parts.items() if np.max(np.abs(part), initial=0.0) > 1e-6 * ledger.scale]
    return {
        "at": kept.at(places),
        "lowest": lowest,
        "driven": bool(np.any(ledger.loads)),
        "parts": [
            {
                "name": name,
                "title": TITLES[name] + (" above its lowest" if name == "potential" and lowest else ""),
                "seen": name in seen,
                "value": embedded(part[places]),
            }
            for name, part in parts.items()
        ],
        "target": embedded((ledger.total[:1] - lowest + ledger.loads)[places]),
        "residual": embedded(ledger.residual[places]),
    }


def scene_data(scene: Scene) -> dict[str, Any]:
    """A scene as plain data; displacements from rest keep their own, finer scale."""
    return {
        "time": embedded(scene.time, "float64"),
        "caption": scene.caption,
        "quantity": scene.quantity,
        "exaggeration": float(scene.exaggeration),
        "equal": bool(scene.equal),
        "labels": [[float(x), float(y), str(text)] for x, y, text in scene.labels],
        "shapes": [_shape(shape) for shape in scene.shapes],
    }


def _shape(shape: Shape) -> dict[str, Any]:
    start = np.zeros(shape.points.shape[1:]) if shape.rest is None else shape.rest
    missing = np.iinfo(np.uint32).max
    return {
        "name": shape.name,
        "kind": shape.kind,
        "faint": bool(shape.faint),
        "frames": len(shape.points),
        "count": shape.points.shape[1],
        "polygons": len(shape.cells),
        "rest": None if shape.rest is None else embedded(shape.rest),
        "points": quantised(shape.points - start),
        "cells": embedded(np.where(shape.cells < 0, missing, shape.cells), "uint32"),
        "value": None if shape.value is None else quantised(shape.value),
    }
