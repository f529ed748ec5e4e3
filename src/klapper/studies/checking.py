"""What a description of a study must fulfil before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from klapper.studies.design import Design
from klapper.studies.errors import StudyError
from klapper.studies.refine import Refine, require_refinable
from klapper.studies.target import Target

RESERVED = ("replicate", "status", "error", "seconds")  # columns of every table of results


@dataclass(frozen=True)
class Options:
    """What :func:`study` takes beside target, points, outputs and store."""

    replicates: int = 1
    seed: int = 0
    refine: Refine | None = None
    continue_along: str | None = None
    code: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)


def accepted(target: Target, design: Design) -> Design:
    """The design with every value checked by the target."""
    checked: dict[str, dict[Any, Any]] = {}
    for name, column in design.columns.items():
        if name == target.random:
            raise StudyError(f"{name} is set by the study: give `replicates` and `seed` of the study.")
        given = [bare(value) for value in (design.axes.get(name) or column)]
        checked[name] = {_hashable(value): target.accept(name, value) for value in given}
    columns = {name: [checked[name][_hashable(bare(v))] for v in c] for name, c in design.columns.items()}
    axes = {name: [checked[name][_hashable(bare(v))] for v in axis] for name, axis in design.axes.items()}
    for name, axis in axes.items():
        if len({_hashable(value) for value in axis}) < len(axis):
            raise StudyError(f"the axis {name} has a value twice: give every value once.")
    return Design(columns, axes)


def require_consistent(target: Target, design: Design, outputs: Sequence[str], options: Options) -> None:
    if options.replicates < 1:
        raise StudyError(f"replicates is {options.replicates}: give at least 1.")
    if options.replicates > 1 and target.random is None:
        raise StudyError(
            f"{target.name} takes no randomness: replicates need a parameter `generator` or `seed`."
        )
    for name in options.units:
        if name not in design.columns and name not in outputs:
            raise StudyError(f"units has '{name}', which is neither varied nor an output.")
    if options.refine is not None:
        require_refinable(options.refine, design, outputs)
        if options.replicates > 1 or options.continue_along is not None:
            raise StudyError("refine goes neither with replicates nor with continue_along: choose one.")
    along = options.continue_along
    if along is None:
        return
    if along not in design.axes:
        raise StudyError(f"continue_along is '{along}', which is none of the axes {', '.join(design.axes)}.")
    if not target.continues:
        raise StudyError(
            f"{target.name} takes no state: continue_along needs a function with a parameter `start`."
        )
    if options.replicates > 1 or target.random is not None:
        raise StudyError("continue_along does not go with random numbers: choose one.")


def bare(value: Any) -> Any:
    """Numpy's numbers and arrays in Python's types."""
    return value.tolist() if hasattr(value, "tolist") else value


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
