"""A study as a report page: what was varied, what came out, its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from klapper.report.record import About, Record, plain
from klapper.studies.file import FigureWish
from klapper.studies.study import Study


def write_report(described: Study, wishes: Sequence[FigureWish], out: Path) -> Path:
    """Write report.html, result.json and the figures into ``out``; the path of the page."""
    from klapper.report.figures import draw
    from klapper.report.folder import store

    drawings = {wish.name: _drawing(wish, described) for wish in wishes}
    about = About(
        title=f"Study of {described.target.name}",
        parameter_units=dict(described.target.units),
        number_units=described.units(),
    )
    return store(out, record_of(described), about, draw(drawings))


def record_of(described: Study) -> Record:
    """Numbers of a study: how many points, and the range of every output that is a number."""
    columns = described.table()
    numbers: dict[str, Any] = dict(described.counts())
    for name in described.outputs:
        finite = _finite(columns[name])
        if len(finite):
            numbers |= {f"{name}_least": float(finite.min()), f"{name}_largest": float(finite.max())}
    varied = {name: _span(column) for name, column in described.design.columns.items()}
    errors = sorted({str(error) for error in columns["error"] if error})
    return Record(
        example=described.target.name,
        parameters=plain({**described.constants, **varied}, "parameters"),
        numbers=numbers,
        checks=[],
        audit={"code": described.code, "store": str(described.store), "errors": errors[:10] or "none"},
    )


def _drawing(wish: FigureWish, described: Study) -> Callable[[Any], None]:
    """The figure as a function of a canvas; its docstring is the caption."""

    def draw(figure: Any) -> None:
        wish.draw(described, figure)

    draw.__doc__ = wish.caption
    return draw


def _finite(column: Any) -> Any:
    import numpy as np

    return column[np.isfinite(column)] if column.dtype.kind in "fiu" else column[:0]


def _span(column: Sequence[Any]) -> str:
    """The values of a parameter in words."""
    distinct = sorted(set(column), key=str) if all(isinstance(v, str) for v in column) else column
    if all(isinstance(value, int | float) for value in distinct):
        return f"{min(column):g} to {max(column):g}, {len(set(column))} values"
    return ", ".join(map(str, list(distinct)[:6]))
