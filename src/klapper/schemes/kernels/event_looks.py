"""Samples inside a phase and statistics over time in compiled code: the cells of :mod:`klapper.sampling`.

    |x − chord| ≤ 10⁻³ R,  |Δx| ≤ R / 25                                               (for samples)
    |c₄| ≤ 10⁻⁶ R / 2                                                                   (for statistics)

The rows of ``tally`` (5, n) are those of ``klapper.results.over_time.Tally``: least, largest, sums, squares, time.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels.compiling import bare, inner
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
from klapper.schemes.kernels.event_room import Loop, gaps_at, slope_at
from klapper.schemes.kernels.phase_rows import (
    FINE,
    KNOWN,
    NORMAL,
    NQ,
    NV,
    PATCH,
    SCALE,
    SENSE,
    SIZE,
    WHICH,
    D,
    K,
    M,
    S,
    numbers,
    put,
    table,
)
from klapper.schemes.kernels.phase_run import _step_of
from klapper.schemes.kernels.phase_steps import between

_TINY = float(np.finfo(float).tiny)


@inner
def look(
    g: Loop,
    addresses: np.ndarray,
    pieces: np.ndarray,
    end: float,
) -> np.ndarray:
    """Times inside a phase at which samples are due; empty with a nan where forces cannot be computed."""
    ints, tally, contacts = g.ints, g.tally, g.every.size
    start, length = pieces[0, 0], pieces[-1, 0] + pieces[-1, 1] - pieces[0, 0]
    parts = max(math.ceil((end - start) / length * pieces.shape[0]), 1)
    part = (end - start) / parts
    width = ints[NQ] + ints[NV] + contacts * (2 if ints[D] else 1)
    edges, scale, ways = np.linspace(start, end, parts + 1), np.empty(width), np.empty(width)
    nodes = np.empty((parts, 5))
    for i in range(parts):
        _take_nodes(edges[i], edges[i + 1], nodes[i])
    values = np.empty((parts, 5, width))
    failed = np.full(1, math.nan)
    if not _take_values(g, addresses, pieces, nodes, values):
        return failed
    while True:
        count = nodes.shape[0]
        _take_scales(ints, contacts, tally, part, STRAIGHT, OF_FORCES, scale)
        _take_scales(ints, contacts, tally, part, WAY, 1.0, ways)
        smallest = 16.0 * (np.nextafter(np.abs(edges).max(), np.inf) - np.abs(edges).max())
        cuts, most, total = np.empty(count, np.int64), 1, 0
        for i in range(count):
            off, way = 0.0, 0.0
            for k in range(width):
                way = max(way, abs(values[i, 4, k] - values[i, 0, k]) / ways[k])
                for j in range(1, 4):
                    share = 0.5 * (1.0 + NODES[j])
                    chord = (1.0 - share) * values[i, 0, k] + share * values[i, 4, k]
                    off = max(off, abs(values[i, j, k] - chord) / scale[k])
            wanted = math.ceil(max(math.sqrt(off), way))
            widest = max(math.floor((edges[i + 1] - edges[i]) / smallest), 1.0)
            cuts[i] = int(max(min(wanted, min(float(MOST_PARTS), widest)), 1.0))
            most, total = max(most, cuts[i]), total + cuts[i]
        if most == 1:
            break
        fine_edges, fine_nodes = np.empty(total + 1), np.empty((total, 5))
        fine_values, at, fresh = np.empty((total, 5, width)), 0, 0
        for i in range(count):
            step = edges[i + 1] - edges[i]
            for c in range(cuts[i]):
                fine_edges[at + c] = edges[i] + step * c / cuts[i]
            fresh += cuts[i] if cuts[i] > 1 else 0
            at += cuts[i]
        fine_edges[total] = edges[count]
        new_nodes, new_values, at, last = np.empty((fresh, 5)), np.empty((fresh, 5, width)), 0, 0
        for i in range(count):
            for c in range(cuts[i] if cuts[i] > 1 else 0):
                _take_nodes(fine_edges[at + c], fine_edges[at + c + 1], new_nodes[last])
                last += 1
            at += cuts[i]
        if not _take_values(g, addresses, pieces, new_nodes, new_values):
            return failed
        at, last = 0, 0
        for i in range(count):
            for _ in range(cuts[i]):
                if cuts[i] > 1:
                    put(new_nodes[last], fine_nodes[at])
                    put(new_values[last].reshape(5 * width), fine_values[at].reshape(5 * width))
                    last += 1
                else:
                    put(nodes[i], fine_nodes[at])
                    put(values[i].reshape(5 * width), fine_values[at].reshape(5 * width))
                at += 1
        edges, nodes, values = fine_edges, fine_nodes, fine_values
    for halvings in range(MOST_HALVINGS + 1):
        _take_scales(ints, contacts, tally, part, EXACT, 1.0, scale)
        coarse, wide = np.zeros(nodes.shape[0], np.bool_), 0
        for i in range(nodes.shape[0] if halvings < MOST_HALVINGS else 0):
            for k in range(width):
                total_of = 0.0
                for j in range(5):
                    total_of += LAST[j] * values[i, j, k]
                coarse[i] = coarse[i] or abs(total_of) > scale[k]
            wide += 1 if coarse[i] else 0
        _tally(g, nodes, values, coarse)
        if wide == 0:
            break
        new_nodes, new_values, last = np.empty((2 * wide, 5)), np.empty((2 * wide, 5, width)), 0
        for i in range(nodes.shape[0]):
            if coarse[i]:
                middle = 0.5 * (nodes[i, 0] + nodes[i, 4])
                _take_nodes(nodes[i, 0], middle, new_nodes[last])
                _take_nodes(middle, nodes[i, 4], new_nodes[last + 1])
                last += 2
        if not _take_values(g, addresses, pieces, new_nodes, new_values):
            return failed
        nodes, values = new_nodes, new_values
    return edges[1:-1].copy()


@bare
def _take_nodes(begin: float, end: float, out: np.ndarray) -> None:
    for j in range(5):
        out[j] = begin + (end - begin) * (0.5 * (1.0 + NODES[j]))
    out[0], out[4] = begin, end


@inner
def _take_values(
    g: Loop, addresses: np.ndarray, pieces: np.ndarray, nodes: np.ndarray, values: np.ndarray
) -> bool:
    """Positions, velocities and forces (c, 5, w) at nodes (c, 5), which extend the ranges."""
    ints, floats, tally, contacts = g.ints, g.floats, g.tally, g.every.size
    motion, d, m = ints[NQ] + ints[NV], ints[D], ints[M]
    size = motion + ints[SIZE] + 3
    y, slope = np.empty(size), np.empty(size)
    which, normals, patches = numbers(ints, WHICH), numbers(ints, NORMAL), numbers(ints, PATCH)
    scales = table(floats, ints, SCALE)
    ints[KNOWN] = 0
    for i in range(nodes.shape[0]):
        for j in range(5):
            piece = pieces[_step_of(nodes[i, j], pieces)]
            between(nodes[i, j], piece, y)
            for k in range(values.shape[2]):
                values[i, j, k] = y[k] if k < motion else 0.0
            if ints[K]:
                take_senses(ints, floats, piece, size)
                if slope_at(g, addresses, nodes[i, j], y, slope) != FINE:
                    return False
                for a in range(m):
                    values[i, j, motion + which[normals[a]]] = slope[motion + a]
                for a in range(ints[S]):
                    at, first = motion + contacts + which[patches[a]], motion + m + a * d
                    force = slope[first] * scales[a, 0]
                    values[i, j, at] = math.hypot(force, slope[first + 1] * scales[a, 1]) if d == 2 else force
            for k in range(values.shape[2]):
                at = k if k < motion else k + contacts
                tally[0, at] = min(tally[0, at], values[i, j, k])
                tally[1, at] = max(tally[1, at], values[i, j, k])
    return True


@inner
def take_senses(ints: np.ndarray, floats: np.ndarray, piece: np.ndarray, size: int) -> None:
    """The senses of sliding in a step of the integrator."""
    sense, first = table(floats, ints, SENSE), 2 + 9 * size
    for a in range(ints[S]):
        for c in range(ints[D]):
            sense[a, c] = piece[first + a * ints[D] + c]


@bare
def _take_scales(
    ints: np.ndarray,
    contacts: int,
    tally: np.ndarray,
    part: float,
    share: float,
    of_forces: float,
    out: np.ndarray,
) -> None:
    """A share of the ranges so far (w,), with a floor for what is at rest and for round-off."""
    nq, motion, place = ints[NQ], ints[NQ] + ints[NV], 0.0
    for k in range(nq):
        place = max(place, abs(tally[0, k]), abs(tally[1, k]))
    for kind in range(3):
        first = 0 if kind == 0 else (nq if kind == 1 else motion)
        last = nq if kind == 0 else (motion if kind == 1 else out.size)
        shift = contacts if kind == 2 else 0
        widest, size = 0.0, place / part if kind == 1 else 0.0
        for k in range(first + shift, last + shift):
            widest = max(widest, tally[1, k] - tally[0, k])
            size = max(size, abs(tally[0, k]), abs(tally[1, k]))
        factor = of_forces if kind == 2 else 1.0
        noise = (FORCE_NOISE if kind == 2 else ROUND_OFF) * size
        for k in range(first, last):
            span = max(tally[1, k + shift] - tally[0, k + shift], SMALL * widest)
            out[k] = max(factor * share * span, noise, _TINY)


@inner
def _tally(g: Loop, nodes: np.ndarray, values: np.ndarray, left_out: np.ndarray) -> None:
    """Statistics of the cells that are not left out, with gaps."""
    ints, tally, contacts = g.ints, g.tally, g.every.size
    nq, motion, n = ints[NQ], ints[NQ] + ints[NV], tally.shape[1]
    cell, fine, above, below = np.empty((5, n)), np.empty(17), False, False
    for i in range(nodes.shape[0]):
        if left_out[i]:
            continue
        half = 0.5 * (nodes[i, 4] - nodes[i, 0])
        _take_cell(g, motion, nq, contacts, nodes[i], values[i], cell)
        for k in range(n):
            total, square = 0.0, 0.0
            for j in range(5):
                x = cell[j, k]
                total += WEIGHTS[j] * x
                square += WEIGHTS[j] * x**2
                if not math.isnan(x):
                    tally[0, k], tally[1, k] = min(tally[0, k], x), max(tally[1, k], x)
            tally[2, k] += half * total
            tally[3, k] += half * square
            tally[4, k] += 2.0 * half
    highest, lowest = tally[1].copy(), tally[0].copy()
    for i in range(nodes.shape[0]):
        if left_out[i]:
            continue
        _take_cell(g, motion, nq, contacts, nodes[i], values[i], cell)
        above = below = False
        for k in range(n):
            top, low = cell[0, k], cell[0, k]
            for j in range(1, 5):
                top, low = max(top, cell[j, k]), min(low, cell[j, k])
            if top > low:
                above = above or top + OVERSHOOT * (top - low) > tally[1, k]
                below = below or low - OVERSHOOT * (top - low) < tally[0, k]
        for k in range(n):
            if above:
                highest[k] = max(highest[k], _vertex(cell, k, 1.0, fine))
            if below:
                lowest[k] = min(lowest[k], -_vertex(cell, k, -1.0, fine))
    put(lowest, tally[0])
    put(highest, tally[1])


@bare
def _take_cell(
    g: Loop,
    motion: int,
    nq: int,
    contacts: int,
    nodes: np.ndarray,
    values: np.ndarray,
    cell: np.ndarray,
) -> None:
    """Signals (5, n) of a cell: the gaps stand between velocities and forces."""
    for j in range(5):
        for k in range(values.shape[1]):
            cell[j, k if k < motion else k + contacts] = values[j, k]
        gaps_at(g, nodes[j], values[j, :nq], cell[j, motion : motion + contacts])


@bare
def _vertex(cell: np.ndarray, k: int, sign: float, fine: np.ndarray) -> float:
    """The largest value of the polynomial through five values times ``sign``, −inf if none is inside."""
    best, at = -math.inf, 1
    for f in range(17):
        fine[f] = 0.0
        for j in range(5):
            fine[f] += TO_FINE[f, j] * sign * cell[j, k]
        if fine[f] > best:
            best, at = fine[f], f
    at = min(max(at, 1), 15)
    left, here, right = fine[at - 1], fine[at], fine[at + 1]
    bend = left - 2.0 * here + right
    if not (bend < 0.0 and abs(right - left) <= -2.0 * bend):
        return -math.inf
    return here - (right - left) ** 2 / (8.0 * bend)
