"""A study: one rule computed at many points, kept in a store, resumed by itself.

study = klapper.study("vielsack-drift", over={"A": grid(0.05, 0.95, 50), "B": grid(0.1, 5.0, 50)},
                      outputs=["drift", "motion_type"], store="drift-map")
study.run()
study.figure.map("A", "B", "drift").savefig("drift.png")
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klapper.studies.batch import Answer, Batch, Task
from klapper.studies.checking import RESERVED, Options, accepted, bare, require_consistent
from klapper.studies.crew import Crew, crew_of
from klapper.studies.design import Design, design_of
from klapper.studies.errors import StudyError
from klapper.studies.identity import chained, keys_of
from klapper.studies.refine import Bracket, Refine, bisected, first_brackets
from klapper.studies.runner import Runner, line_for
from klapper.studies.store import (
    Content,
    Store,
    content_of,
    described,
    open_reader,
    read_points,
    require_same,
    sound,
)
from klapper.studies.target import Target, target_of
from klapper.studies.work import Independent, Line, Lines, Work

if TYPE_CHECKING:
    import numpy as np
    import xarray

    from klapper.studies.figures import Figures


def study(
    target: Any,
    *,
    over: Design | Mapping[str, Sequence[Any]],
    outputs: Sequence[str],
    store: str | Path,
    fixed: Mapping[str, Any] | None = None,
    replicates: int = 1,
    seed: int = 0,
    refine: Refine | None = None,
    continue_along: str | None = None,
    vectorised: bool = False,
    code: str | None = None,
    units: Mapping[str, str] | None = None,
) -> Study:
    r"""Describe a study; nothing is computed yet.

    ``target``          name of an example of the gallery, a scenario file (.toml), or a function that returns numbers
                        by name
    ``over``            values of the parameters that vary: axes to combine, or a design (``listed``, ``sobol``,
                        ``latin_hypercube``)
    ``outputs``         which numbers of the result to keep
    ``store``           folder of the results; points that are there already are not computed again
    ``fixed``           values of other parameters that differ from the shipped ones
    ``replicates``      repetitions of each point with independent random numbers, all derived from ``seed``
    ``refine``          bisect the boundaries between regimes on a grid
    ``continue_along``  axis along which every point starts from the state of its neighbour, in the order of its values
    ``vectorised``      the function takes arrays (k,) and returns arrays (k,)
    ``code``            your own version of the code, to keep points when code changes that does not matter
    ``units``           of parameters and outputs of a function, for labels and datasets; an example has its own

    A mass thrown up with v under 10 m/s² is at v − 5 m after a second:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from klapper.studies import study
    >>> model = 'model = { kind = "linear", mass = [1.0], force = [-10.0], velocity = [0.0] }'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "throw.toml")
    ...     _ = file.write_text(model + '\nscheme = { kind = "event-driven" }\nrun = { until = 1.0 }')
    ...     over = {"model.velocity.1": [6.0, 8.0]}
    ...     throws = study(file, over=over, outputs=["position.1.end"], store=Path(folder, "throws"))
    ...     throws.run(workers=1).table()["position.1.end"].round(9)
    array([1., 3.])
    """
    return Study.described(
        target_of(target, outputs, vectorised=vectorised),
        design_of(over),
        tuple(outputs),
        Path(store),
        dict(fixed or {}),
        Options(replicates, seed, refine, continue_along, code, dict(units or {})),
    )


@dataclass(frozen=True)
class Points:
    """Points with their keys; columns are those of the design."""

    columns: Mapping[str, Sequence[Any]]
    replicates: Sequence[int]
    keys: Sequence[bytes]


@dataclass(frozen=True)
class Study:
    """A described study; see :func:`study`.

    ``target``, ``design``, ``outputs``  what is computed, where, and what is kept of it
    ``store``                            folder of the results
    ``constants``                        values of all parameters that do not vary
    ``options``                          replicates, refinement and the like

    >>> from klapper.studies import study
    >>> bounces = study("bouncing-ball", over={"restitution": [0.5, 0.6]}, outputs=["impacts"], store="bounces")
    >>> bounces.design.columns["restitution"], bounces.constants["gravity"]  # m/s², as the example has it
    ([0.5, 0.6], 9.81)
    """

    target: Target
    design: Design
    outputs: tuple[str, ...]
    store: Path
    constants: Mapping[str, Any]
    options: Options

    @classmethod
    def described(
        cls,
        target: Target,
        design: Design,
        outputs: tuple[str, ...],
        store: Path,
        fixed: Mapping[str, Any],
        options: Options,
    ) -> Study:
        """The study, if everything in its description is allowed."""
        if not outputs:
            raise StudyError("the study has no outputs: name at least one number of the result.")
        if len(set(outputs)) < len(outputs):
            raise StudyError(f"the outputs {', '.join(outputs)} name one number twice.")
        for name in {*outputs, *design.columns} & {*RESERVED}:
            raise StudyError(
                f"'{name}' cannot be varied or kept: {', '.join(RESERVED)} are columns that a study makes itself."
            )
        for name in {*fixed} & {*design.columns}:
            raise StudyError(f"{name} is fixed and varied: give it once.")
        fixed = {name: target.accept(name, bare(value)) for name, value in fixed.items()}
        design = accepted(target, design)
        for name in target.required:
            if name not in fixed and name not in design.columns:
                raise StudyError(f"{target.name} needs {name}: vary it in `over`, or give it in `fixed`.")
        defaults = {name: value for name, value in target.defaults.items() if name != target.random}
        constants = {name: v for name, v in (defaults | fixed).items() if name not in design.columns}
        for name in {*outputs} & {*design.columns, *constants}:
            raise StudyError(
                f"the output {name} is a parameter of {target.name}, which is kept anyway: leave it out."
            )
        require_consistent(target, design, outputs, options)
        return cls(target, design, outputs, store, constants, options)

    def run(
        self,
        *,
        workers: int | None = None,
        cluster: str | None = None,
        progress: bool | None = None,
        retry_failed: bool = False,
    ) -> Study:
        """Compute what is missing in the store, and return the study.

        ``workers`` processes of this machine, as many as it has cores if nothing is said; 1 computes in this process.
        ``cluster`` is the address of a Dask scheduler instead. ``progress`` shows a line with rate and time left; it is
        shown on a terminal if nothing is said. Points that failed are computed again if ``retry_failed``.
        """
        from klapper.results.errors import ResultsError

        needs_script = getattr(getattr(self.target, "function", None), "__module__", "") == "__main__"
        try:
            with (
                Store(self.store, self._content, {**self.target.units, **self.options.units}) as store,
                crew_of(workers, cluster, needs_script=needs_script) as crew,
            ):
                self._ensure(store, crew, self._base, progress, retry_failed)
                if self.options.refine is not None:
                    self._boundaries(store, crew, progress, retry_failed)
        except ResultsError as error:
            raise StudyError(str(error)) from error
        return self

    def table(self) -> dict[str, np.ndarray]:
        """Columns (n,) by name, in the order of the points: varied parameters, replicate, outputs, status, error.

        ``status`` is "done", "failed" or "missing". ``pandas.DataFrame(study.table())`` is a data frame. Points of
        refinement follow those of the grid.
        """
        from klapper.studies.tables import table

        with self._reader() as base:
            kinds = {name: kind for name, (kind, _) in described(base).items()}
            names = ("status", "error", "seconds", *self.outputs)
            parts = [self._base, *self._refined_points(base)]
            rows = [read_points(base, self._content, names, part.keys) for part in parts]
            return table(parts, [row for part in rows for row in part], self.outputs, kinds)

    def dataset(self) -> xarray.Dataset:
        """The grid (or list) of points as an xarray dataset, with units; without points of refinement."""
        from klapper.studies.tables import dataset

        with self._reader() as base:
            about = described(base)
            rows = read_points(base, self._content, ("status", *self.outputs), self._base.keys)
            return dataset(self, self._base, rows, about)

    def boundaries(self) -> dict[str, np.ndarray]:
        """The refined boundaries, columns (m,): position by parameter, axis, width, regimes below and above."""
        from klapper.studies.tables import boundary_table

        return boundary_table(list(self.design.axes), self._known_brackets())

    def counts(self) -> dict[str, int]:
        """Points of the grid or list that are done, failed and missing."""
        with self._reader() as base:
            rows = read_points(base, self._content, ("status",), self._base.keys)
        states = ["missing" if row is None else row[0] for row in rows]
        return {state: states.count(state) for state in ("done", "failed", "missing")}

    def units(self) -> dict[str, str]:
        """Units of parameters and outputs that have one."""
        with self._reader() as base:
            return {name: unit for name, (_, unit) in described(base).items() if unit}

    @property
    def figure(self) -> Figures:
        """Figures of the results."""
        from klapper.studies.figures import Figures

        return Figures(self)

    @cached_property
    def code(self) -> str:
        return self.options.code or self.target.code

    @property
    def _content(self) -> Content:
        names = sorted({*self.design.columns, *self.constants})
        return Content(self.target.name, tuple(names), self.outputs)

    @cached_property
    def _base(self) -> Points:
        return self._points(self.design.columns)

    def _points(self, columns: Mapping[str, Sequence[Any]]) -> Points:
        """Points of these columns with all their replicates."""
        count, times = len(next(iter(columns.values()))), self.options.replicates
        head = f"{self.target.name}\n{self.code}"
        if self.target.random is not None:
            head += f"\nseed {self.options.seed}"
        columns = {
            name: [value for value in column for _ in range(times)] for name, column in columns.items()
        }
        replicates = list(range(times)) * count
        numbered = {**columns, "\nreplicate": replicates}
        keys = keys_of(head, numbered, self.constants)
        if self.options.continue_along is not None:
            for line in _lines(self.design, self.options.continue_along):
                for number, key in zip(line, chained([keys[k] for k in line]), strict=True):
                    keys[number] = key
        return Points(columns, replicates, keys)

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        with sound(self.store), closing(open_reader(self.store)) as base:
            require_same(self.store, content_of(base, self.store), self._content)
            yield base

    def _ensure(
        self, store: Store, crew: Crew, points: Points, progress: bool | None, retry_failed: bool
    ) -> None:
        """Compute the points that the store does not have."""
        there = store.keys(failed=not retry_failed)
        missing = [k for k, key in enumerate(points.keys) if key not in there]
        if not missing:
            return
        names = self._content.parameters
        constant = {name: _storable(value) for name, value in self.constants.items()}

        def keep(batch: Batch, answer: Answer) -> None:
            varied = {name: [_storable(v) for v in column] for name, column in batch.columns.items()}
            columns = [varied.get(name) or [constant[name]] * len(answer.rows) for name in names]
            rows = zip(batch.numbers, batch.replicates, zip(*columns, strict=True), answer.rows, strict=True)
            kept = [(points.keys[k], replicate, values, row) for k, replicate, values, row in rows]
            store.keep(self.code, kept, answer.kinds, answer.units)

        along = self.options.continue_along
        vouched = "" if self.options.code else self.code
        task = Task(
            self.target, self.constants, self.outputs, self.options.seed, vouched, continued=along is not None
        )
        with line_for(progress, len(missing)) as line:
            Runner(crew, task, self._work(store, points, missing, there), keep, line).run()

    def _work(self, store: Store, points: Points, missing: list[int], there: set[bytes]) -> Work:
        if self.options.continue_along is None:
            return Independent(points.columns, points.replicates, missing)
        states = store.states(points.keys)
        known = {
            k: json.loads(states.get(key) or "null") for k, key in enumerate(points.keys) if key in there
        }
        lines = [Line(deque(line)) for line in _lines(self.design, self.options.continue_along)]
        return Lines(points.columns, lines, known)

    def _boundaries(self, store: Store, crew: Crew, progress: bool | None, retry_failed: bool) -> None:
        def compute(columns: Mapping[str, Sequence[Any]]) -> list[Any]:
            points = self._points(columns)
            self._ensure(store, crew, points, progress, retry_failed)
            return self._regimes(store.read((self._refine.on,), points.keys))

        values = self._regimes(store.read((self._refine.on,), self._base.keys))
        bisected(first_brackets(self._refine, self.design, values), self._refine.accuracy, compute)

    @property
    def _refine(self) -> Refine:
        if self.options.refine is None:
            raise StudyError("the study has no boundaries: describe it with `refine`.")
        return self.options.refine

    def _known_brackets(self) -> list[Bracket]:
        """Boundaries as far as the store knows them."""
        with self._reader() as base:

            def stored(columns: Mapping[str, Sequence[Any]]) -> list[Any]:
                return self._regimes(
                    read_points(base, self._content, (self._refine.on,), self._points(columns).keys)
                )

            values = stored(self.design.columns)
            return bisected(first_brackets(self._refine, self.design, values), self._refine.accuracy, stored)

    def _refined_points(self, base: Any) -> list[Points]:
        """The points of refinement, round by round, as far as the store has what leads to them."""
        if self.options.refine is None:
            return []
        rounds: list[Points] = []

        def stored(columns: Mapping[str, Sequence[Any]]) -> list[Any]:
            rounds.append(self._points(columns))
            return self._regimes(read_points(base, self._content, (self._refine.on,), rounds[-1].keys))

        values = stored(self.design.columns)
        bisected(first_brackets(self._refine, self.design, values), self._refine.accuracy, stored)
        return rounds[1:]

    @staticmethod
    def _regimes(rows: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        return [None if row is None else row[0] for row in rows]


def _lines(design: Design, along: str) -> list[list[int]]:
    """Numbers of the points of each line along an axis of the grid."""
    step = 1
    names = list(design.axes)
    for name in names[names.index(along) + 1 :]:
        step *= len(design.axes[name])
    length = len(design.axes[along])
    starts = [k for k in range(len(design)) if (k // step) % length == 0]
    return [[start + step * k for k in range(length)] for start in starts]


def _storable(value: Any) -> Any:
    """A parameter as the store keeps it."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, int | float | str):
        return value
    return json.dumps(list(value)) if isinstance(value, list | tuple) else repr(value)
