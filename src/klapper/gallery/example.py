"""Examples: ordinary functions with declared parameters that return numbers, checks, an audit and figures.

    @example("four-legged-table", source="Seiwald C29")
    def four_legged_table(
        *,
        weight: Annotated[float, Parameter("weight of the table", unit="N", above=0.0)] = 100.0,
    ) -> Outcome:
        ...

The decorated function checks its arguments, and ``klapper run four-legged-table --set weight=50`` finds it.
Its title and text are its docstring or, if it has none, the docstring of its file.
"""

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from klapper.gallery import catalogue
from klapper.gallery.check import Check
from klapper.gallery.parameter import Argument, Parameter, ParameterError, arguments, complete, require
from klapper.report.record import About, Record, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.report import Scene
    from klapper.results import Run

__all__ = ["Check", "Example", "Outcome", "Parameter", "ParameterError", "example"]

P = ParamSpec("P")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_RESERVED = {"report", "result"}


@dataclass(frozen=True)
class Outcome:
    """What an example returns.

    ``checks`` compare its numbers with what is known; ``numbers`` holds scalars, texts, truth values or arrays by name,
    ``units`` the SI units of those that have one. ``audit`` says how far the numbers can be trusted: solver, residuals,
    uniqueness in words; it may be nested. ``figures`` maps a name (letters, digits, hyphens) to a function that draws
    into an empty matplotlib ``Figure``; its docstring is the caption. Figures are drawn only when they are asked for.
    ``runs`` get a page each, to look into; without them it is the runs whose ``run.plot`` figures are among the
    figures, called "run", "run-2" …. ``scenes`` maps the name of a run to a function that gives its moving picture.

    >>> Outcome(numbers={"height": 1.0}, units={"height": "m"}).passed
    True
    """

    numbers: Mapping[str, Any]
    checks: Sequence[Check] = ()
    audit: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Callable[["Figure"], None]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, "Run"] = field(default_factory=dict)
    scenes: Mapping[str, Callable[[], "Scene | None"]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unknown := set(self.units) - set(self.numbers):
            raise ValueError(
                f"units are given for {', '.join(sorted(unknown))}, which is not among the numbers"
            )
        for kind, names in (("figure", self.figures), ("run", self.runs)):
            for name in names:
                if not _NAME.fullmatch(name) or name in _RESERVED:
                    raise ValueError(
                        f"a {kind} cannot be called '{name}': use small letters, digits and hyphens"
                    )

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def shown_runs(self) -> "dict[str, Run]":
        """The runs that get a page, by name."""
        from klapper.results.plots import Plots

        owners = [getattr(drawing, "__self__", None) for drawing in self.figures.values()]
        drawn = list({id(owner.run): owner.run for owner in owners if isinstance(owner, Plots)}.values())
        return dict(self.runs) or {"run" if k == 0 else f"run-{k + 1}": run for k, run in enumerate(drawn)}


@dataclass(frozen=True)
class Example:
    """A registered example: what the catalogue lists and the command line runs.

    ``name``       small letters and hyphens
    ``about``      its docstring; ``source`` what it is taken from
    ``arguments``  its parameters with their bounds and units
    ``function``   that returns an :class:`Outcome`

    >>> from klapper.gallery import find
    >>> ball = find("bouncing-ball")
    >>> ball.name, ball.read(["height=2.0"])
    ('bouncing-ball', {'height': 2.0})
    """

    name: str
    about: str
    source: str
    arguments: tuple[Argument, ...]
    function: Callable[..., Outcome]

    @property
    def summary(self) -> str:
        """The first line of the docstring, without its full stop."""
        return self.about.partition("\n")[0].strip().removesuffix(".")

    @property
    def text(self) -> str:
        return self.about.partition("\n")[2].strip("\n")

    def read(self, settings: Iterable[str]) -> dict[str, Any]:
        """The values of ``key=value`` settings, checked."""
        values: dict[str, Any] = {}
        for setting in settings:
            name, equals, text = setting.partition("=")
            if not equals:
                raise ParameterError(f"'{setting}' is no setting: write key=value.")
            if name in values:
                raise ParameterError(f"{name} is set twice.")
            values[name] = require(self.arguments, name, self.name).read(text)
        return values

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters: the given ones checked, the others as shipped."""
        return complete(self.arguments, dict(given), self.name)

    def run(self, **given: Any) -> Outcome:
        outcome = self.function(**self.values(given))
        if not isinstance(outcome, Outcome):
            raise TypeError(f"example '{self.name}' returned {type(outcome).__name__} instead of an Outcome")
        return outcome

    def record(self, given: Mapping[str, Any], outcome: Outcome) -> Record:
        """The plain data of a run with the given parameters, as stored and shown."""
        return Record(
            example=self.name,
            parameters=plain(self.values(given), "parameters"),
            numbers=plain(outcome.numbers, "numbers"),
            checks=[check.as_json() for check in outcome.checks],
            audit=plain(outcome.audit, "audit"),
        )

    def introduction(self, given: Mapping[str, Any], outcome: Outcome | None = None) -> About:
        """What a reader needs beside the record: title, text, units, and the command that repeats the run."""
        values = self.values(given)
        settings = [
            f"{a.name}={a.written(values[a.name])}" for a in self.arguments if values[a.name] != a.default
        ]
        words = ["klapper", "run", self.name, *(word for setting in settings for word in ("--set", setting))]
        return About(
            title=self.summary,
            text=self.text,
            source=self.source,
            meanings={a.name: a.meaning.help for a in self.arguments},
            parameter_units={a.name: a.meaning.unit for a in self.arguments},
            number_units=dict(outcome.units) if outcome else {},
            command=shlex.join(words),
        )


def example(name: str, *, source: str) -> Callable[[Callable[P, Outcome]], Callable[P, Outcome]]:
    """Register a function as the example ``name`` (small letters and hyphens) of ``source``.

    >>> example("Bouncing ball", source="Newton's law of impact")
    Traceback (most recent call last):
    ValueError: an example cannot be called 'Bouncing ball': use small letters, digits and hyphens
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"an example cannot be called '{name}': use small letters, digits and hyphens")

    def register(function: Callable[P, Outcome]) -> Callable[P, Outcome]:
        about = inspect.getdoc(function) or inspect.cleandoc(
            getattr(function, "__globals__", {}).get("__doc__") or ""
        )
        if not about:
            raise ValueError(
                f"example '{name}' needs a docstring: its first line is what `klapper list` shows"
            )
        entry = Example(name, about, source, arguments(function), function)
        catalogue.register(entry)

        @wraps(function)
        def checked(*args: P.args, **given: P.kwargs) -> Outcome:
            if args:
                raise TypeError(f"{function.__name__} takes its parameters by keyword")
            return entry.run(**given)

        return checked

    return register
