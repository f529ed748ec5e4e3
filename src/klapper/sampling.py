"""How densely a motion is sampled inside the steps of a method that knows it there, and its statistics over time.

A step is cut into cells. In each the motion is looked at on five Chebyshev–Lobatto nodes. A cell is cut further until

    |x − chord| ≤ 10⁻³ R,  |Δx| ≤ R / 25                                               (for samples, its edges)
    |c₄| ≤ 10⁻⁶ R / 2,  c₄ the last coefficient of the polynomial through the nodes     (for statistics)

with R the range so far of a coordinate, a velocity or a contact force (whose chord may err ten times as much).
Integrals follow by Clenshaw and Curtis, extremes from the polynomials.
"""

from __future__ import annotations

import numpy as np

from klapper.mechanics.system import System
from klapper.results.over_time import Tally, seen_forces
from klapper.results.samples import ENERGY, Layout, Samples
from klapper.schemes.base import Snapshot, Step
from klapper.schemes.inner_motion import InnerMotion
from klapper.schemes.inner_rules import (
    EXACT,
    FORCE_NOISE,
    LAST,
    MOST_HALVINGS,
    MOST_PARTS,
    NODES,
    OF_FORCES,
    OVERSHOOT,
    ROUND_OFF,
    SMALL,
    STRAIGHT,
    TO_FINE,
    WAY,
    WEIGHTS,
)

_ENTRIES = 2**20  # numbers looked at together


class Sampler:
    """Looks into steps: gives the times of samples in them, and tallies the statistics."""

    def __init__(self, system: System, layout: Layout) -> None:
        self.system, self.layout, self.tally = system, layout, Tally(layout)
        q, v, _, normal, friction = zip(self.tally.edges[:-1], self.tally.edges[1:], strict=True)
        self._kinds = [slice(0, q[1]), slice(*v), slice(v[1], v[1] + friction[1] - normal[0])]
        self._watched = np.r_[0 : v[1], normal[0] : friction[1]]  # all but the gaps, which follow positions

    def look(self, motion: InnerMotion, contact: np.ndarray) -> np.ndarray:
        """Times (k,) inside a step at which samples are due; ``contact`` (c,) are the contacts of the step."""
        edges = np.linspace(motion.start, motion.end, motion.pieces + 1)
        self._motion, self._contact = motion, contact
        found = []
        width = max(len(self.tally.least), 1)
        block = max(_ENTRIES // (5 * width), 4)
        for first in range(0, len(edges) - 1, block):
            cells = edges[first : first + block + 1]
            cells, nodes, values = self._straight(cells)
            found.append(cells[1:])
            self._take(nodes, values)
        return np.concatenate(found)[:-1]

    def step(self, before: Snapshot, step: Step) -> None:
        """Tally a step whose motion is known at its ends only, by straight lines."""
        layout, ends = self.layout, (before, step.after)
        m = len(layout.contacts)
        impulse, state = np.zeros((2, m, 1 + layout.tangential)), np.zeros((2, m), np.int8)
        if m:
            impulse[1, step.contact], state[1, step.contact] = step.impulse, step.state
        self.tally.take_samples(
            Samples(
                step=np.array([end.step for end in ends]),
                time=np.array([end.time for end in ends]),
                position=np.array([end.position for end in ends]),
                velocity=np.array([end.velocity for end in ends]),
                gap=np.array(
                    [self.system.gaps(end.time, end.position, np.arange(m)) for end in ends]
                ).reshape(2, m),
                impulse=impulse,
                state=state,
                constraint_impulse=np.zeros((2, len(layout.constraints))),
                energy=np.zeros((2, len(ENERGY))),
                residual=np.zeros(2),
            )
        )

    def _straight(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges (c + 1,) of cells in which chords are near the motion, nodes (c, 5) and values there (c, 5, n)."""
        nodes = _nodes(edges)
        values = self._values(nodes)
        while True:
            share = 0.5 * (1.0 + NODES[1:-1])[:, None]
            chord = (1.0 - share) * values[:, :1] + share * values[:, -1:]
            off = np.abs(values[:, 1:-1] - chord).max(axis=1) / self._scale(STRAIGHT, OF_FORCES)
            way = np.abs(values[:, -1] - values[:, 0]) / self._scale(WAY)
            parts = np.ceil(np.maximum(np.sqrt(off), way).max(axis=1, initial=0.0)).astype(int)
            smallest = 16.0 * np.spacing(np.abs(edges).max())
            widest = np.maximum((np.diff(edges) / smallest).astype(int), 1)
            parts = np.clip(parts, 1, np.minimum(MOST_PARTS, widest))
            if parts.max() == 1:
                return edges, nodes, values
            edges = _divided(edges, parts)
            fresh = np.repeat(parts, parts) > 1
            whole_nodes, whole_values = nodes, values
            nodes = _nodes(edges)
            values = np.empty((len(nodes), *whole_values.shape[1:]))
            values[~fresh], nodes[~fresh] = whole_values[parts == 1], whole_nodes[parts == 1]
            values[fresh] = self._values(nodes[fresh])

    def _take(self, nodes: np.ndarray, values: np.ndarray) -> None:
        """Statistics of the cells, after those are halved in which five nodes do not tell the motion."""
        for halvings in range(MOST_HALVINGS + 1):
            last = np.abs(np.einsum("j,cjn->cn", LAST, values)) / self._scale(EXACT)
            coarse = last.max(axis=1, initial=0.0) > 1.0
            if halvings == MOST_HALVINGS:
                coarse[:] = False
            if not coarse.all():
                self._add(nodes[~coarse], values[~coarse])
            if not coarse.any():
                return
            wide = nodes[coarse]
            edges = np.stack([wide[:, 0], 0.5 * (wide[:, 0] + wide[:, -1]), wide[:, -1]], axis=1)
            nodes = np.concatenate([_nodes(row) for row in edges])
            values = self._values(nodes)

    def _add(self, nodes: np.ndarray, values: np.ndarray) -> None:
        tally = self.tally
        if self.layout.contacts:
            times, moved = nodes.ravel(), self._kinds[2].start
            positions = values[:, :, self._kinds[0]].reshape(len(times), -1)
            gaps = self._motion.gaps(times, positions).reshape(*nodes.shape, -1)
            values = np.concatenate([values[:, :, :moved], gaps, values[:, :, moved:]], axis=2)
        half = 0.5 * (nodes[:, -1] - nodes[:, 0])
        tally.sums += np.einsum("c,j,cjn->n", half, WEIGHTS, values)
        tally.squares += np.einsum("c,j,cjn->n", half, WEIGHTS, values**2)
        tally.time += 2.0 * half.sum()
        tally.take_extremes(values.reshape(-1, values.shape[2]))
        tally.largest = np.fmax(tally.largest, _peaks(values, tally.largest))
        tally.least = np.fmin(tally.least, -_peaks(-values, -tally.least))

    def _values(self, nodes: np.ndarray) -> np.ndarray:
        """Positions, velocities and forces (c, 5, n), which extend the ranges."""
        times = nodes.ravel()
        parts = [*self._motion.states(times)]
        if self.layout.contacts:
            forces = np.zeros((len(times), len(self.layout.contacts), 1 + self.layout.tangential))
            if len(self._contact):
                forces[:, self._contact] = self._motion.forces(times)
            parts.append(seen_forces(forces))
        values, tally = np.hstack(parts), self.tally
        tally.least[self._watched] = np.fmin(tally.least[self._watched], values.min(axis=0))
        tally.largest[self._watched] = np.fmax(tally.largest[self._watched], values.max(axis=0))
        return values.reshape(*nodes.shape, -1)

    def _scale(self, share: float, of_forces: float = 1.0) -> np.ndarray:
        """A share of the ranges so far (n,), with a floor for what is at rest and for round-off."""
        least, largest = self.tally.least[self._watched], self.tally.largest[self._watched]
        span, scales = largest - least, np.zeros(len(self._watched))
        place = max(
            np.abs(least[self._kinds[0]]).max(initial=0.0), np.abs(largest[self._kinds[0]]).max(initial=0.0)
        )
        part = (self._motion.end - self._motion.start) / self._motion.pieces
        for kind, noise, factor in zip(
            self._kinds, (ROUND_OFF, ROUND_OFF, FORCE_NOISE), (1.0, 1.0, of_forces), strict=True
        ):
            floor = SMALL * span[kind].max(initial=0.0)
            size = max(np.abs(least[kind]).max(initial=0.0), np.abs(largest[kind]).max(initial=0.0))
            if kind is self._kinds[1]:  # velocities of what rests are the round-off of positions by a time
                size = max(size, place / part)
            scales[kind] = np.maximum(factor * share * np.maximum(span[kind], floor), noise * size)
        return np.maximum(scales, np.finfo(float).tiny)


def _nodes(edges: np.ndarray) -> np.ndarray:
    """(c, 5) nodes of the cells between edges (c + 1,); neighbours share theirs to the bit."""
    begin, end = edges[:-1, None], edges[1:, None]
    share = 0.5 * (1.0 + NODES)
    nodes = begin + (end - begin) * share
    nodes[:, 0], nodes[:, -1] = edges[:-1], edges[1:]
    return nodes


def _divided(edges: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """The edges of cells that are cut into equal parts (c,)."""
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    begin = np.repeat(edges[:-1], parts)
    inner = begin + np.repeat(np.diff(edges), parts) * number / np.repeat(parts, parts)
    return np.append(inner, edges[-1])


def _peaks(values: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Largest values (n,) of the polynomials through values (c, 5, n), −inf where none comes near ``reached`` (n,)."""
    top, low = values.max(axis=1), values.min(axis=1)
    near = np.any((top > low) & (top + OVERSHOOT * (top - low) > reached), axis=1)
    if not near.any():
        return np.full(len(reached), -np.inf)
    fine = np.einsum("fj,cjn->cfn", TO_FINE, values[near])
    at = np.clip(np.argmax(fine, axis=1), 1, TO_FINE.shape[0] - 2)[:, None]
    left, here, right = (np.take_along_axis(fine, at + k, axis=1)[:, 0] for k in (-1, 0, 1))
    bend = left - 2.0 * here + right
    inside = (bend < 0.0) & (
        np.abs(right - left) <= -2.0 * bend
    )  # between the first and the last of the three
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where(inside, here - (right - left) ** 2 / (8.0 * bend), -np.inf)
    return vertex.max(axis=0)
