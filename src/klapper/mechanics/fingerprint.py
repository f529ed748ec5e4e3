"""What tells one system from another: the numbers it answers with, so that only the same run is resumed.

Functions of a model cannot be compared; M, f, V, g, J and the laws are therefore asked near the start, at several times
and speeds. Options, such as those of a scheme, are written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.system import System


def plain_answers(system: System, until: float, most: int) -> Iterator[np.ndarray]:
    """The answers of a system as arrays, from its start to the time ``until`` [s], for up to ``most`` contacts."""
    for answer in _answers(system, until, most):
        yield from _plain(answer)


def options_of(thing: Any) -> dict[str, Any]:
    """What a data class is made of, by name; nothing for other things."""
    if not is_dataclass(thing):
        return {}
    return {field.name: getattr(thing, field.name) for field in fields(thing) if field.init}


def written_out(options: Any) -> str:
    """A text that is the same for the same options in every process, and another one for all others.

    Data classes are written with all that they are made of, arrays with all numbers, functions and things that
    do not describe themselves by their names.
    """
    if is_dataclass(options):
        return f"{type(options).__qualname__}({written_out(options_of(options))})"
    if isinstance(options, Mapping):
        return "{" + ", ".join(f"{key!r}: {written_out(value)}" for key, value in options.items()) + "}"
    if isinstance(options, list | tuple):
        return "[" + ", ".join(map(written_out, options)) + "]"
    if isinstance(options, np.ndarray):
        return f"{options.shape} {options.tolist()}"
    if type(options).__repr__ is object.__repr__:  # would tell where it lies in memory
        return type(options).__qualname__
    return str(getattr(options, "__qualname__", None) or repr(options))


def _answers(system: System, until: float, most: int) -> Iterator[Any]:
    """What tells one system from another: its quantities near the start, at several times and speeds."""
    t, q, v = system.start.time, system.start.position, system.start.velocity
    which = system.near(t, q)[:most]
    aside = system.advance(q, np.full(len(v), 1e-3))
    yield from (
        t,
        q,
        v,
        which,
        system.mass(q),
        system.mass(aside),
        system.potential(q),
        system.potential(aside),
    )
    compliance = system.compliance
    yield np.zeros(0) if compliance is None else compliance
    for speed in (0.0, 0.01, 0.3, 10.0):
        laws = system.contacts.laws(which, np.full(len(which), speed))
        yield from (laws.normal, laws.restitution, laws.friction, laws.limit, laws.ratio)
    for share in (0.0, 0.0719, 0.2837, 0.6431, 1.0):
        now = t + share * (until - t)
        for place, motion in ((q, v), (aside, v + 1e-3)):
            directions = system.directions(now, place, which)
            yield from (system.force(now, place, motion), system.gaps(now, place, which))
            yield from (directions.normal, directions.normal_rate)
            yield from (directions.tangential, directions.tangential_rate)
            yield system.constraint_residuals(now, place)
            yield from system.constraint_directions(now, place)


def _plain(answer: Any) -> Iterator[np.ndarray]:
    """Arrays that tell a matrix; sparse ones by their entries, so that large ones stay small."""
    if not sparse.issparse(answer):
        yield np.asarray(answer, dtype=float)
        return
    rows = sparse.csr_array(answer)
    rows.sum_duplicates()
    yield from (np.array(rows.shape), rows.indptr, rows.indices, rows.data)
