"""Boundaries between regimes by bisection: a coarse grid first, then only the points that narrow a boundary down.

Between neighbours of the grid along one axis with different regimes, the middle is computed, and again, until the
boundary is known to the accuracy: log₂(spacing/accuracy) points per boundary instead of spacing/accuracy. A third
regime met in between gives two boundaries. A regime is the value of a text or truth output, or the sign of a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from klapper.studies.design import Design
from klapper.studies.errors import StudyError


@dataclass(frozen=True)
class Refine:
    r"""Bisect changes of the output ``on`` along one or several axes of the grid, each to ``accuracy``.

    ``along`` names the axes; ``accuracy`` is in the unit of the axis.

    A mass thrown up with v under 10 m/s² is at v − 5 m after a second: the sign of its height changes at 5 m/s.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from klapper.studies import Refine, study
    >>> model = 'model = { kind = "linear", mass = [1.0], force = [-10.0], velocity = [0.0] }'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "throw.toml")
    ...     _ = file.write_text(model + '\nscheme = { kind = "event-driven" }\nrun = { until = 1.0 }')
    ...     throws = study(file, over={"model.velocity.1": [0.1, 8.1]}, outputs=["position.1.end"],
    ...                    store=Path(folder, "map"), refine=Refine("position.1.end", "model.velocity.1", 1.0))
    ...     throws.run(workers=1).boundaries()["model.velocity.1"].round(9)  # between 4.1 and 5.1 m/s
    array([4.6])
    """

    on: str
    along: str | Sequence[str]
    accuracy: float

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.along,) if isinstance(self.along, str) else tuple(self.along)


@dataclass(frozen=True)
class Bracket:
    """Two points that differ in one parameter, and their regimes."""

    axis: str
    others: tuple[tuple[str, Any], ...]
    low: float
    high: float
    below: Any
    above: Any

    @property
    def middle(self) -> float:
        return 0.5 * (self.low + self.high)

    @property
    def width(self) -> float:
        """Distance of the bounds, 0 if no number lies between them: then no accuracy asks for more."""
        return self.high - self.low if self.low < self.middle < self.high else 0.0

    def point(self, value: float) -> dict[str, Any]:
        return {**dict(self.others), self.axis: value}


def regime_of(value: Any) -> Any:
    """The regime of an output: texts and truth values as they are, numbers by their sign, None if there is none."""
    if isinstance(value, bool | str) or value is None:
        return value
    return None if value != value else int(value > 0.0) - int(value < 0.0)


def require_refinable(refine: Refine, design: Design, outputs: Sequence[str]) -> None:
    if not design.axes:
        raise StudyError("only a grid can be refined: give `over` as axes.")
    if refine.on not in outputs:
        raise StudyError(f"refine is on '{refine.on}', which is none of the outputs {', '.join(outputs)}.")
    if not refine.accuracy > 0.0:
        raise StudyError(f"the accuracy of refine is {refine.accuracy:g}: give a number above 0.")
    for axis in refine.axes:
        if axis not in design.axes:
            raise StudyError(f"refine is along '{axis}', which is none of the axes {', '.join(design.axes)}.")
        values = design.axes[axis]
        if not all(type(value) is float for value in values) or sorted(set(values)) != list(values):
            raise StudyError(
                f"refine is along {axis}, whose values must be rising numbers (with a decimal point)."
            )


def first_brackets(refine: Refine, design: Design, values: Sequence[Any]) -> list[Bracket]:
    """Neighbours on the grid with different regimes; ``values`` of the output in the order of the points."""
    names = list(design.axes)
    shape = [len(axis) for axis in design.axes.values()]
    found = []
    for axis in refine.axes:
        place = names.index(axis)
        step = 1
        for length in shape[place + 1 :]:
            step *= length
        for k in range(len(design) - step):
            if (k // step) % shape[place] == shape[place] - 1:
                continue
            others = tuple((name, design.columns[name][k]) for name in names if name != axis)
            low, high = design.columns[axis][k], design.columns[axis][k + step]
            found += _bracket(axis, others, low, high, values[k], values[k + step])
    return found


def bisected(
    brackets: Sequence[Bracket],
    accuracy: float,
    compute: Callable[[Mapping[str, Sequence[Any]]], Sequence[Any]],
) -> list[Bracket]:
    """Narrow all brackets down, one round of middles after the other; ``compute`` gives the outputs of points."""
    narrow: list[Bracket] = []
    wide = list(brackets)
    while wide:
        narrow += [bracket for bracket in wide if bracket.width <= accuracy]
        wide = [bracket for bracket in wide if bracket.width > accuracy]
        if not wide:
            break
        points = [bracket.point(bracket.middle) for bracket in wide]
        middles = compute({name: [point[name] for point in points] for name in points[0]})
        halves = []
        for bracket, value in zip(wide, middles, strict=True):
            regime, middle = regime_of(value), bracket.middle
            halves += _bracket(bracket.axis, bracket.others, bracket.low, middle, bracket.below, regime)
            halves += _bracket(bracket.axis, bracket.others, middle, bracket.high, regime, bracket.above)
        wide = halves
    return narrow


def _bracket(axis: str, others: Any, low: float, high: float, below: Any, above: Any) -> list[Bracket]:
    """The bracket, if both regimes are known and differ."""
    below, above = regime_of(below), regime_of(above)
    differ = below is not None and above is not None and below != above
    return [Bracket(axis, others, low, high, below, above)] if differ else []
