"""What a study computes at a point: an example of the gallery, a scenario file, or a function of Python.

A :class:`Target` is anything with parameters and a rule that turns their values into named numbers:

1. ``name`` and ``code`` say which rule it is and in which version; both are part of the key of every stored point.
2. ``accept`` checks one value when the study is described, and returns it in its declared type.
3. ``evaluate`` computes a batch in a worker: one mapping per point, or the :class:`Failure` of that point.
4. It can be pickled, and carries no state from point to point.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from klapper.studies.errors import StudyError
from klapper.studies.identity import code_of_package, digest_of_source

RANDOM = ("generator", "seed")  # parameters through which a target takes its randomness
START = "start"  # parameter through which a function takes the state of its neighbour


@dataclass(frozen=True)
class Failure:
    """Why a point has no result."""

    text: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        return cls(f"{type(error).__name__}: {' '.join(str(error).split())}")


class Target(Protocol):
    """See the module's docstring. ``units`` are those of parameters; ``random`` names the parameter for randomness."""

    @property
    def name(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def defaults(self) -> Mapping[str, Any]: ...
    @property
    def required(self) -> tuple[str, ...]: ...
    @property
    def units(self) -> Mapping[str, str]: ...
    @property
    def random(self) -> str | None: ...
    @property
    def continues(self) -> bool: ...

    def accept(self, name: str, value: Any) -> Any: ...

    def evaluate(self, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> Evaluated: ...


@dataclass(frozen=True)
class Evaluated:
    """Numbers by name, or the failure, of each point of a batch; ``units`` of the numbers that have one."""

    points: list[Mapping[str, Any] | Failure]
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ExampleTarget:
    """An example of the gallery, by its name; its checks must pass, or the point fails."""

    example: str

    @property
    def name(self) -> str:
        return f"example {self.example}"

    @property
    def code(self) -> str:
        return code_of_package()

    @property
    def _entry(self) -> Any:
        from klapper.gallery import UnknownExample, find

        try:
            return find(self.example)
        except UnknownExample as error:
            raise StudyError(str(error)) from None

    @property
    def defaults(self) -> Mapping[str, Any]:
        return {argument.name: argument.default for argument in self._entry.arguments}

    @property
    def required(self) -> tuple[str, ...]:
        return ()

    @property
    def units(self) -> Mapping[str, str]:
        return {argument.name: argument.meaning.unit for argument in self._entry.arguments}

    @property
    def random(self) -> str | None:
        return "seed" if "seed" in self.defaults else None

    @property
    def continues(self) -> bool:
        return False

    def accept(self, name: str, value: Any) -> Any:
        from klapper.gallery.parameter import ParameterError, require

        try:
            return require(self._entry.arguments, name, self.example).accept(value)
        except ParameterError as error:
            raise StudyError(str(error)) from None

    def evaluate(self, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> Evaluated:
        units: dict[str, str] = {}
        points: list[Mapping[str, Any] | Failure] = []
        for values in rows_of(columns, constants):
            try:
                outcome = self._entry.run(**values)
            except Exception as error:
                points.append(Failure.of(error))
                continue
            units |= outcome.units
            wrong = [check.name for check in outcome.checks if not check.passed]
            points.append(Failure(f"checks failed: {', '.join(wrong)}") if wrong else outcome.numbers)
        return Evaluated(points, units)


@dataclass(frozen=True)
class FunctionTarget:
    """A function that returns a mapping of numbers by name.

    It must be importable by its name, since workers import it. A ``vectorised`` one takes arrays (k,) for the
    parameters that vary and returns arrays (k,). A parameter ``generator`` receives a ``numpy.random.Generator`` of its
    own for every point, ``seed`` a whole number, ``start`` the ``state`` that the neighbouring point returned.
    """

    function: Callable[..., Mapping[str, Any]]
    vectorised: bool = False

    def __post_init__(self) -> None:
        module, path = self.function.__module__, self.function.__qualname__
        found: Any = sys.modules.get(module)
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not self.function:
            raise StudyError(
                f"the function {path} of {module} cannot be imported by its name: define it at the top of a file."
            )
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if any(entry.kind in kinds for entry in self._signature.values()):
            raise StudyError(f"the function {path} takes any arguments (*): name the parameters of a study.")

    @property
    def _signature(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters

    @property
    def name(self) -> str:
        return f"function {self.function.__module__}.{self.function.__qualname__}"

    @property
    def code(self) -> str:
        return f"{code_of_package()}+{digest_of_source(inspect.getsourcefile(self.function))}"

    @property
    def defaults(self) -> Mapping[str, Any]:
        given = {name: entry.default for name, entry in self._open.items()}
        return {name: value for name, value in given.items() if value is not inspect.Parameter.empty}

    @property
    def _open(self) -> Mapping[str, inspect.Parameter]:
        """The parameters that the description sets."""
        hidden = {self.random, START}
        return {name: entry for name, entry in self._signature.items() if name not in hidden}

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name in self._open if name not in self.defaults)

    @property
    def units(self) -> Mapping[str, str]:
        return {}

    @property
    def random(self) -> str | None:
        return next((name for name in RANDOM if name in self._signature), None)

    @property
    def continues(self) -> bool:
        return START in self._signature

    def accept(self, name: str, value: Any) -> Any:
        if name not in self._open:
            raise StudyError(
                f"{self.function.__qualname__} has no parameter '{name}'; it takes {', '.join(self._open)}."
            )
        return value

    def evaluate(self, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> Evaluated:
        if self.vectorised:
            try:
                return Evaluated(self._at_once(columns, constants))
            except Exception:
                if len(next(iter(columns.values()), ())) == 1:
                    raise
                return Evaluated([self._alone(values, constants) for values in rows_of(columns, {})])
        points: list[Mapping[str, Any] | Failure] = []
        for values in rows_of(columns, constants):
            try:
                points.append(self.function(**values))
            except Exception as error:
                points.append(Failure.of(error))
        return Evaluated(points)

    def _at_once(self, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> list[Any]:
        import numpy as np

        answer = self.function(**{name: np.array(column) for name, column in columns.items()}, **constants)
        size = len(next(iter(columns.values())))
        listed = {name: np.broadcast_to(value, (size,)).tolist() for name, value in answer.items()}
        return [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]

    def _alone(self, values: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
        """One point of a batch in which some point went wrong."""
        try:
            return self._at_once({name: [value] for name, value in values.items()}, constants)[0]
        except Exception as error:
            return Failure.of(error)


def rows_of(columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of each point by name."""
    return [
        {**constants, **dict(zip(columns, row, strict=True))} for row in zip(*columns.values(), strict=True)
    ]


def target_of(given: Any, outputs: Sequence[str], *, vectorised: bool = False) -> Target:
    """The target that a user names: an example, a scenario file (.toml), a function, or a target of their own."""
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".toml")):
        from klapper.studies.scenario_target import scenario_target

        return scenario_target(Path(given), outputs)
    if isinstance(given, str):
        target = ExampleTarget(given)
        target.defaults  # noqa: B018  an unknown name is refused here
        return target
    if inspect.isfunction(given):
        return FunctionTarget(given, vectorised)
    if hasattr(given, "evaluate"):
        return given  # type: ignore[no-any-return]
    raise StudyError(
        f"{given!r} cannot be studied: give the name of an example, a scenario file (.toml), or a function."
    )
