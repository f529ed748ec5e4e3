"""Displacements of a motion in harmonics: by coordinate, by row of the system, by place of a reduced structure.

A place of a reduced structure is (reduced, place), with a name or row of the full system:

    u = r · (V q + F λ_N + u_given)

with the static parts that the reduction adds, where it has them (:class:`klapper.reduction.Reduced`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.analysis.harmonic.courses import spread
from klapper.analysis.harmonic.fourier import amplitudes_of
from klapper.mechanics.errors import InvalidModel
from klapper.reduction import Reduced
from klapper.results.errors import place

if TYPE_CHECKING:
    from klapper.analysis.harmonic.response import HarmonicResponse


def amplitudes_at(response: HarmonicResponse, what: Any) -> np.ndarray:
    """Harmonics (K + 1,) of a displacement."""
    if is_place(what):
        return _of_reduced(response, *what)
    return response.amplitudes @ _row(what, response.system.coordinates, "system")


def is_place(what: Any) -> bool:
    """Whether this is (reduced, place)."""
    return isinstance(what, tuple) and len(what) == 2 and isinstance(what[0], Reduced)


def labelled(what: Any) -> Mapping[str, Any]:
    """Several outputs by the names that they shall have: given so, or one of them, or a list."""
    if isinstance(what, Mapping):
        return what
    if isinstance(what, str) or is_place(what) or np.ndim(_numbers(what)) == 1:
        return {_label(what): what}
    return {_label(one, number): one for number, one in enumerate(what, start=1)}


def _label(what: Any, number: int | None = None) -> str:
    if isinstance(what, str):
        return what
    if is_place(what) and isinstance(what[1], str):
        return what[1]
    return "row" if number is None else f"row {number}"


def _numbers(what: Any) -> Any:
    """What is given as an array of numbers, or None."""
    try:
        return np.asarray(what, dtype=float)
    except (TypeError, ValueError):
        return None


def _row(what: Any, coordinates: tuple[str, ...], of: str) -> np.ndarray:
    size = len(coordinates)
    if isinstance(what, str):
        row = np.zeros(size)
        row[place(what, coordinates, "coordinate")] = 1.0
        return row
    row = _numbers(what)
    if row is None or row.shape != (size,):
        given = f"has shape {row.shape}" if row is not None else f"is {what!r}"
        raise InvalidModel(
            f"the row {given}; give the name of a coordinate of the {of}, a row ({size},) of it, or (reduced, place) "
            f"with a name or row of the system that was reduced."
        )
    return row


def _of_reduced(response: HarmonicResponse, reduced: Reduced, where: Any) -> np.ndarray:
    if reduced.system.size != response.system.size:
        raise InvalidModel(
            f"the reduced structure has {reduced.system.size} coordinates, the system of the response "
            f"{response.system.size}; give the reduction that has made this system."
        )
    row = _row(where, reduced.full.coordinates, "full system")
    found = response.amplitudes @ np.asarray(reduced.basis.T @ row).ravel()
    if reduced.by_force is not None:
        shapes = reduced.by_force.T @ row
        for column, forces in zip(
            response.balance.directions.columns, response.contact_amplitudes.T, strict=True
        ):
            if column.is_normal:
                found = found + shapes[column.contact] * forces
    if reduced.by_load is not None:
        samples = response.balance.grid.samples
        times = response.played.period * np.arange(samples) / samples
        given = reduced.by_load.mapped(row[None]).value(times)[:, 0]
        found = found + spread(amplitudes_of(given, response.harmonics), response.order)
    return found
