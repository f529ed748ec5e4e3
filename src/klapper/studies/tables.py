"""Results of a study as columns and as an xarray dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.errors import ResultsError
from klapper.studies.refine import Bracket

if TYPE_CHECKING:
    import xarray

    from klapper.studies.study import Points, Study


def table(
    parts: Sequence[Points],
    rows: Sequence[tuple[Any, ...] | None],
    outputs: Sequence[str],
    kinds: Mapping[str, str],
) -> dict[str, np.ndarray]:
    """Columns (n,) of points and of their rows (status, error, seconds, outputs …)."""
    columns = {
        name: _parameter([value for part in parts for value in part.columns[name]])
        for name in parts[0].columns
    }
    columns["replicate"] = np.array([number for part in parts for number in part.replicates])
    for k, name in enumerate(outputs, 3):
        columns[name] = output_column([None if row is None else row[k] for row in rows], kinds.get(name, ""))
    columns["status"] = np.array(["missing" if row is None else row[0] for row in rows])
    columns["error"] = np.array(["" if row is None else row[1] for row in rows])
    columns["seconds"] = np.array([np.nan if row is None else row[2] for row in rows])
    return columns


def output_column(values: Sequence[Any], kind: str) -> np.ndarray:
    """Numbers (nan where there is none), texts ("" where there is none), truth values or lists (objects)."""
    if kind == "text":
        return np.array(["" if value is None else value for value in values])
    if kind == "list":
        column = np.empty(len(values), dtype=object)
        column[:] = [None if value is None else json.loads(value) for value in values]
        return column
    if kind == "truth" and None not in values:
        return np.array(values, dtype=bool)
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def dataset(
    study: Study,
    points: Points,
    rows: Sequence[tuple[Any, ...] | None],
    about: Mapping[str, tuple[str, str]],
) -> xarray.Dataset:
    """Outputs over the axes of the grid, or over "point"; "replicate" is the last dimension if there are several."""
    try:
        import xarray
    except ImportError:
        raise ResultsError(
            "xarray is not installed: install it with `pip install 'klapper[xarray]'`."
        ) from None
    axes, times = study.design.axes, study.options.replicates
    dimensions = list(axes) if axes else ["point"]
    shape = [len(axis) for axis in axes.values()] if axes else [len(study.design)]
    if times > 1:
        dimensions, shape = [*dimensions, "replicate"], [*shape, times]
    variables: dict[str, Any] = {}
    for k, name in enumerate(study.outputs, 1):
        kind, unit = about[name]
        column = output_column([None if row is None else row[k] for row in rows], kind)
        variables[name] = (dimensions, column.reshape(shape), {"units": unit} if unit else {})
    status = np.array(["missing" if row is None else row[0] for row in rows])
    variables["status"] = (dimensions, status.reshape(shape))
    coordinates: dict[str, Any] = {}
    for name, axis in (axes or study.design.columns).items():
        unit = about[name][1]
        where = name if axes else "point"
        coordinates[name] = (where, _parameter(list(axis)), {"units": unit} if unit else {})
    return xarray.Dataset(variables, coordinates, attrs={"target": study.target.name, "code": study.code})


def boundary_table(axes: Sequence[str], brackets: Sequence[Bracket]) -> dict[str, np.ndarray]:
    """Boundaries by columns: the position in every parameter, the axis of bisection, width, regimes on both sides."""
    places = [bracket.point(bracket.middle) for bracket in brackets]
    columns = {name: np.array([place[name] for place in places]) for name in axes}
    columns["along"] = np.array([bracket.axis for bracket in brackets])
    columns["width"] = np.array([bracket.high - bracket.low for bracket in brackets])
    columns["below"] = np.array([bracket.below for bracket in brackets])
    columns["above"] = np.array([bracket.above for bracket in brackets])
    return columns


def _parameter(values: list[Any]) -> np.ndarray:
    """Values of a parameter; lists as objects."""
    if any(isinstance(value, list | tuple) for value in values):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.array(values)
