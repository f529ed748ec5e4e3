"""Which points a study computes: every combination of axes, a list, or a sample that fills a box evenly.

over = {"A": grid(0.05, 0.95, 50), "B": [1.6, 3.0]}                  100 points: every A with every B
over = listed({"A": [0.9, 0.05], "B": [0.11, 3.0]})                  2 points
over = sobol({"A": (0.05, 0.95), "B": (0.1, 5.0)}, 1024, seed=1)     evenly spread, Sobol 1967
over = latin_hypercube({"A": (0.05, 0.95), "B": (0.1, 5.0)}, 100, seed=1)    McKay, Beckman, Conover 1979
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from klapper.studies.errors import StudyError


@dataclass(frozen=True)
class Design:
    """Points by columns: ``columns[name]`` holds one value per point.

    ``axes`` has the values of each axis if the points are all their combinations (the last axis runs fastest), and is
    empty otherwise.

    >>> from klapper.studies import combined
    >>> design = combined({"A": [1.0, 2.0], "B": [0.1, 0.2]})
    >>> design.columns["A"], design.columns["B"]
    ([1.0, 1.0, 2.0, 2.0], [0.1, 0.2, 0.1, 0.2])
    """

    columns: Mapping[str, Sequence[Any]]
    axes: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def grid(low: float, high: float, count: int, *, log: bool = False) -> list[float]:
    """``count`` values from ``low`` to ``high``, evenly spaced, or with ``log`` evenly spaced in their logarithm.

    ``low`` and ``high`` in the unit of the parameter.

    >>> from klapper.studies import grid
    >>> grid(0.0, 1.0, 3)
    [0.0, 0.5, 1.0]
    """
    import numpy as np

    if count < 1:
        raise StudyError(f"a grid of {count} values is empty: give a count of at least 1.")
    if log and not (low > 0.0 and high > 0.0):
        raise StudyError(f"a logarithmic grid from {low:g} to {high:g} is impossible: give bounds above 0.")
    spaced = np.geomspace if log else np.linspace
    return [float(value) for value in spaced(low, high, count)]


def listed(columns: Mapping[str, Sequence[Any]]) -> Design:
    """The points themselves: the k-th point takes the k-th value of each of the ``columns``.

    >>> from klapper.studies import listed
    >>> listed({"A": [0.9, 0.05], "B": [0.11, 3.0]}).columns["B"]
    [0.11, 3.0]
    """
    plain = {name: _values(name, column) for name, column in columns.items()}
    lengths = {name: len(column) for name, column in plain.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise StudyError(f"a list of points needs as many values in every column, but {told}.")
    return Design(plain, {})


def combined(axes: Mapping[str, Sequence[Any]]) -> Design:
    """All combinations of the values of the axes; the last axis runs fastest.

    >>> from klapper.studies import combined
    >>> combined({"A": [1.0, 2.0], "B": [0.1, 0.2, 0.3]}).columns["B"]
    [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]
    """
    plain = {name: _values(name, axis) for name, axis in axes.items()}
    rows = list(product(*plain.values()))
    return Design({name: [row[k] for row in rows] for k, name in enumerate(plain)}, plain)


def sobol(ranges: Mapping[str, tuple[float, float]], count: int, *, seed: int = 0) -> Design:
    """``count`` points of a scrambled Sobol sequence in the box of ``ranges``; powers of two fill it best.

    ``ranges``  (low, high) by parameter, in its unit; ``seed`` of the scrambling

    >>> from klapper.studies import sobol
    >>> column = sobol({"A": (0.0, 4.0)}, 8, seed=1).columns["A"]
    >>> sorted(int(value) for value in column)  # evenly spread
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    import warnings

    from scipy.stats import qmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # counts that are no power of two are allowed
        return _scaled(ranges, qmc.Sobol(len(ranges), rng=seed).random(_count(count)))


def latin_hypercube(ranges: Mapping[str, tuple[float, float]], count: int, *, seed: int = 0) -> Design:
    """``count`` points, exactly one in each of ``count`` equal slices of every range.

    ``ranges``  (low, high) by parameter; ``seed`` of the random numbers

    >>> from klapper.studies import latin_hypercube
    >>> column = latin_hypercube({"A": (0.0, 4.0)}, 4, seed=1).columns["A"]
    >>> sorted(int(value) for value in column)  # one between 0 and 1, one between 1 and 2, …
    [0, 1, 2, 3]
    """
    from scipy.stats import qmc

    return _scaled(ranges, qmc.LatinHypercube(len(ranges), rng=seed).random(_count(count)))


def design_of(over: Design | Mapping[str, Sequence[Any]]) -> Design:
    """A design, or the combinations of the given axes."""
    design = over if isinstance(over, Design) else combined(over)
    if not len(design):
        raise StudyError("the study has no points: give at least one value for every parameter of `over`.")
    return design


def _count(count: int) -> int:
    if count < 1:
        raise StudyError(f"a sample of {count} points is empty: give a count of at least 1.")
    return count


def _scaled(ranges: Mapping[str, tuple[float, float]], unit: Any) -> Design:
    for name, (low, high) in ranges.items():
        if not low < high:
            raise StudyError(f"the range of {name} is {low:g} to {high:g}: give a lower and a higher bound.")
    columns = {
        name: [float(value) for value in low + (high - low) * unit[:, k]]
        for k, (name, (low, high)) in enumerate(ranges.items())
    }
    return Design(columns, {})


def _values(name: str, given: Any) -> list[Any]:
    """The values in Python's own types."""
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise StudyError(
            f"{name} takes the values {given!r}: give a list of values, or grid(low, high, count)."
        )
    return list(given.tolist() if hasattr(given, "tolist") else given)
