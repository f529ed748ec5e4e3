"""The histories of a run as one table with a column for every number: CSV for spreadsheets, NPZ for numpy.

    time [s], position NAME, velocity NAME, CONTACT gap [m], CONTACT impulse normal [N s], …, CONTACT state,
    constraint impulse NAME [N s], energy kinetic [J], …

Impulses are those since the previous sample. Positions and velocities are in m and m/s, or rad and rad/s for angles.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from klapper.contact_states import STATE_NAMES
from klapper.results.container import write_whole
from klapper.results.errors import ResultsError
from klapper.results.samples import ENERGY

if TYPE_CHECKING:
    from klapper.results.run import Run


def histories(run: Run) -> dict[str, np.ndarray]:
    """Every column (s,) by its title; states are words. Contacts that a run only logs while loaded are left out."""
    samples, layout = run.samples, run.layout
    columns: dict[str, np.ndarray] = {"time [s]": samples.time}
    columns |= {f"position {name}": samples.position[:, i] for i, name in enumerate(layout.coordinates)}
    columns |= {f"velocity {name}": samples.velocity[:, i] for i, name in enumerate(layout.velocities)}
    if samples.loaded is None:
        words = np.array(STATE_NAMES)
        for i, name in enumerate(layout.contacts):
            columns[f"{name} gap [m]"] = samples.gap[:, i]
            for k, direction in enumerate(layout.directions):
                columns[f"{name} impulse {direction} [N s]"] = samples.impulse[:, i, k]
            columns[f"{name} state"] = words[samples.state[:, i]]
    for i, name in enumerate(layout.constraints):
        columns[f"constraint impulse {name} [N s]"] = samples.constraint_impulse[:, i]
    columns |= {f"energy {name} [J]": samples.energy[:, i] for i, name in enumerate(ENERGY)}
    return columns


def write_histories(path: Path, run: Run) -> Path:
    """Write the histories to a .csv or .npz file, whole or not at all; the path of the file."""
    if path.suffix not in (".csv", ".npz"):
        raise ResultsError(f"Histories cannot be written to '{path.name}': let it end in .csv or .npz.")
    columns = histories(run)
    stream = io.BytesIO()
    if path.suffix == ".npz":
        np.savez_compressed(stream, **columns)  # type: ignore[arg-type]
    else:
        lines = [",".join(_quoted(title) for title in columns)]
        texts = [_texts(column) for column in columns.values()]
        lines += [",".join(row) for row in zip(*texts, strict=True)]
        stream.write(("\n".join(lines) + "\n").encode())
    write_whole(path, stream.getbuffer())
    return path


def _texts(column: np.ndarray) -> list[str]:
    """Numbers with all their digits, so that reading them gives the same bits."""
    return [str(value) for value in column.tolist()]


def _quoted(title: str) -> str:
    return '"' + title.replace('"', '""') + '"' if any(sign in title for sign in ',"\n') else title
