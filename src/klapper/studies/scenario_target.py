"""A scenario file as the target of a study: any of its keys by its dotted name, any number of the run as output.

    klapper.study("ball.toml", over={"contact.1.restitution": grid(0.1, 0.9, 9)}, outputs=["impacts"], store="s")

Tables in a row and entries of lists are numbered from 1 on, as in the sentences of the scenario room:
``contact.2.friction``, ``body.ball.at.2``. Keys that the file leaves out can be given, too. A point is the content of
the file, without titles and wishes for figures; comments do not matter, and the content of files that it names does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klapper.doors.toml import parse_toml
from klapper.studies.errors import StudyError
from klapper.studies.identity import code_of_package, digest_of_file, digest_of_text
from klapper.studies.run_numbers import RunNumber
from klapper.studies.scenario_keys import (
    NamedFile,
    entered,
    leaves,
    paths,
    resolved,
    skeleton,
    unit_at,
    value_at,
)
from klapper.studies.target import Evaluated, ExampleTarget, Failure, rows_of

if TYPE_CHECKING:
    from klapper.scenario import Scenario

_MOST_KEYS = 1500  # a column each in the store, which has 2000
_NO_MATTER = {("model", "title"), ("run", "store"), ("run", "page"), ("run", "figures")}


@dataclass(frozen=True)
class ScenarioTarget:
    """A scenario by the ``text`` of its file, so that workers need no file unless it names others in ``folder``."""

    file: str
    folder: str
    text: str
    outputs: tuple[str, ...]

    def __reduce__(self) -> Any:
        return _arrived, (self.file, self.folder, self.text, self.outputs)

    @property
    def name(self) -> str:
        return f"scenario {self.file}"

    @cached_property
    def code(self) -> str:
        tables = " ".join(skeleton(self._raw))
        return f"{code_of_package()}+{digest_of_text(tables)}"

    @cached_property
    def _raw(self) -> dict[str, Any]:
        content = parse_toml(self.text)
        for table, key in _NO_MATTER:
            content.get(table, {}).pop(key, None)
        return content

    @cached_property
    def _base(self) -> Scenario:
        return self._scenario(self._raw)

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The values that the file gives, by dotted name."""
        checked = dict(leaves(self._base.content))
        return {name: self._kept(value, checked[name]) for name, value in leaves(self._raw)}

    @property
    def required(self) -> tuple[str, ...]:
        return ()

    @cached_property
    def units(self) -> Mapping[str, str]:
        from klapper.scenario import KINDS

        table = KINDS[self._base.kind].table
        return {name: unit_at(table, path, self._raw) for name, path in paths(self._raw).items()}

    @property
    def random(self) -> str | None:
        return None

    @property
    def continues(self) -> bool:
        return False

    def accept(self, name: str, value: Any) -> Any:
        from klapper.scenario import ScenarioError

        content = entered(self._raw, {name: value}, {})
        try:
            checked = self._scenario(content).content
        except ScenarioError as error:
            raise StudyError(str(error)) from None
        return self._kept(value, value_at(checked, paths(content).get(name) or resolved(content, name)))

    def evaluate(self, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> Evaluated:
        wanted = [RunNumber.named(name) for name in self.outputs]
        points: list[Mapping[str, Any] | Failure] = []
        for values in rows_of(columns, constants):
            try:
                content = entered(self._raw, values, self.defaults)
                run = self._scenario(content).simulate(progress=False)
                points.append({name: each.of(run) for name, each in zip(self.outputs, wanted, strict=True)})
            except Exception as error:
                points.append(Failure.of(error))
        units = {name: each.unit for name, each in zip(self.outputs, wanted, strict=True) if each.unit}
        return Evaluated(points, units)

    def require_outputs(self) -> None:
        """Refuse outputs that a run of the file as it stands does not have."""
        system = self._base.system()
        contacts = [system.contacts.name(i) for i in range(system.contacts.count)]
        for name in self.outputs:
            RunNumber.named(name).require(system.coordinates, system.velocities, contacts)

    def _scenario(self, content: Mapping[str, Any]) -> Scenario:
        from klapper.scenario import KINDS, Scenario
        from klapper.scenario.files import Folder
        from klapper.scenario.lines import line_index
        from klapper.scenario.place import Place

        place = Place(self.file, Folder(Path(self.folder)), line_index(self.text))
        kind = KINDS[content["model"]["kind"]]
        return Scenario(kind.name, kind.table.check(dict(content), place), place, self.text)

    def _kept(self, given: Any, checked: Any) -> Any:
        """The checked value; the name of a file with the digest of what is in it."""
        if isinstance(checked, Path):
            return NamedFile(str(given), digest_of_file(checked))
        return checked


@dataclass(frozen=True)
class ScenarioOfExample:
    """A scenario file that names an example of the gallery: ``parameters.NAME`` are the parameters of the example."""

    file: str
    example: ExampleTarget
    given: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        return f"scenario {self.file}: {self.example.name}"

    @property
    def code(self) -> str:
        return self.example.code

    @property
    def defaults(self) -> Mapping[str, Any]:
        return dict(_prefixed({**self.example.defaults, **dict(self.given)}))

    @property
    def required(self) -> tuple[str, ...]:
        return ()

    @property
    def units(self) -> Mapping[str, str]:
        return dict(_prefixed(self.example.units))

    @property
    def random(self) -> str | None:
        return None

    @property
    def continues(self) -> bool:
        return False

    def accept(self, name: str, value: Any) -> Any:
        return self.example.accept(self._bare(name), value)

    def evaluate(self, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> Evaluated:
        return self.example.evaluate(
            {self._bare(name): column for name, column in columns.items()},
            {self._bare(name): value for name, value in constants.items()},
        )

    def _bare(self, name: str) -> str:
        if not name.startswith("parameters."):
            raise StudyError(f"{self.file} names an example: vary parameters.NAME of it, not '{name}'.")
        return name.removeprefix("parameters.")


def scenario_target(path: Path, outputs: Sequence[str]) -> ScenarioTarget | ScenarioOfExample:
    """The target in a file; :class:`ScenarioError` or :class:`StudyError` in a sentence if there is none."""
    from klapper.scenario import read_scenario

    scenario = read_scenario(path)
    if scenario.kind == "example":
        example = ExampleTarget(scenario.content["model"]["name"])
        given = scenario.content.get("parameters", {})
        return ScenarioOfExample(
            path.name, example, tuple((name, example.accept(name, value)) for name, value in given.items())
        )
    target = ScenarioTarget(path.name, str(path.parent.resolve()), scenario.text, tuple(outputs))
    if len(target.defaults) > _MOST_KEYS:
        raise StudyError(
            f"{path.name} has {len(target.defaults)} keys, a study takes up to {_MOST_KEYS}: put large tables into "
            "files of their own."
        )
    target.require_outputs()
    return target


@cache
def _arrived(file: str, folder: str, text: str, outputs: tuple[str, ...]) -> ScenarioTarget:
    """In a worker: one target for all batches, so that the file is checked once."""
    return ScenarioTarget(file, folder, text, outputs)


def _prefixed(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((f"parameters.{name}", value) for name, value in values.items())
