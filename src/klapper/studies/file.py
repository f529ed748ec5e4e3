"""A study described in a file, for ``klapper study``: plain data (TOML), nothing in it is executed.

    example = "vielsack-drift"
    outputs = ["drift", "motion_type"]
    store = "drift-map"

    [over]
    A = { from = 0.05, to = 0.95, count = 50 }
    B = [0.5, 1.6, 3.0]

    [fixed]
    regularisation = "spring"

    [refine]
    on = "motion_type"
    along = "B"
    accuracy = 1e-4

    [[figure]]
    kind = "map"
    x = "A"
    y = "B"
    value = "drift"

Instead of ``example`` there may be ``scenario``, a scenario file, whose keys are given by their dotted names
(``contact.1.friction``), or ``map``, one of :data:`klapper.studies.maps.MAPS`.

With ``[sample]`` (``kind = "sobol"`` or ``"latin-hypercube"``, ``count``, ``seed``) the entries of ``over`` are ranges
``{ from = …, to = … }``; with ``kind = "list"`` they are columns of equal length. Every error names the key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from klapper.doors import Unreadable
from klapper.doors.toml import read_toml
from klapper.scenario.files import Folder, Refused
from klapper.scenario.place import shortened, shown
from klapper.studies.design import Design, grid, latin_hypercube, listed, sobol
from klapper.studies.errors import StudyError
from klapper.studies.maps import map_named
from klapper.studies.refine import Refine
from klapper.studies.study import Study, study

_TARGETS = {
    "example": "the name of an example",
    "scenario": "the name of a scenario file",
    "map": "the name of a map",
}
_KNOWN = (
    *_TARGETS,
    "outputs",
    "store",
    "over",
    "fixed",
    "sample",
    "refine",
    "continue_along",
    "replicates",
    "seed",
    "figure",
)
_FIGURES = {
    "map": ("x", "y", "value", "by", "at", "log"),
    "slices": ("x", "value", "by", "at", "log"),
    "bifurcation": ("x", "value", "at"),
    "parallel": ("colour", "names"),
    "boundaries": ("x", "y"),
}
_OPTIONAL = {"log", "by", "at", "names"}
MOST_VALUES = 2_000_000  # with their keys about 300 MB
_SAMPLES = {"sobol": sobol, "latin-hypercube": latin_hypercube}


@dataclass(frozen=True)
class FigureWish:
    """A figure that the file asks for: its name, kind and arguments."""

    name: str
    kind: str
    arguments: Mapping[str, Any]

    @property
    def caption(self) -> str:
        """What is seen, in a sentence."""
        given = self.arguments
        value = given.get("value", "")
        words = {
            "map": f"{value} over {given.get('x')} and {given.get('y')}.",
            "slices": f"{value} over {given.get('x')}.",
            "bifurcation": f"All {value} over {given.get('x')}.",
            "parallel": f"One line per point, coloured by {given.get('colour')}.",
            "boundaries": f"Boundaries between regimes over {given.get('x')} and {given.get('y')}.",
        }[self.kind]
        each = (
            f" One {'panel' if self.kind == 'map' else 'line'} for each {given['by']}."
            if "by" in given
            else ""
        )
        chosen = "".join(f" {name} = {entry}." for name, entry in given.get("at", {}).items())
        return words + each + chosen

    def draw(self, described: Study, onto: Any) -> None:
        getattr(described.figure, self.kind)(**self.arguments, onto=onto)


def read_study(path: Path, *, allow: Sequence[Path] = ()) -> tuple[Study, list[FigureWish]]:
    """The study and the figures described in a file; its store and its scenario are relative to the file.

    ``allow``  folders, besides that of the file, below which they may lie
    """
    try:
        content = read_toml(path)
    except FileNotFoundError:
        raise StudyError(f"{path} does not exist.") from None
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror or error}.") from None
    except Unreadable as error:
        raise StudyError(f"{path} cannot be read: {error}.") from error
    _require_one_line(content)
    _require_keys(content, _KNOWN, ("outputs", "over"), "the study")
    _require_countable(content)
    over, outputs = _design(content), _names(content, "outputs")
    store = _typed(content, "store", str, "the name of a folder", path.stem)
    folder = Folder(path.parent, tuple(allow))
    target, options = _target(content, folder)
    if "units" in options:
        varied = over.columns if isinstance(over, Design) else over
        options["units"] = {
            name: unit for name, unit in options["units"].items() if name in varied or name in outputs
        }
    described = study(
        target,
        over=over,
        outputs=outputs,
        store=_inside(folder, "store", store),
        fixed=_flat(_typed(content, "fixed", dict, "a table of parameters", {})),
        replicates=_typed(content, "replicates", int, "a whole number", 1),
        seed=_seed(content),
        refine=_refine(content),
        continue_along=_typed(content, "continue_along", str, "an axis")
        if "continue_along" in content
        else None,
        **options,
    )
    return described, [
        _wish(k, entry) for k, entry in enumerate(_typed(content, "figure", list, "tables", []), 1)
    ]


def _inside(folder: Folder, key: str, name: str) -> Path:
    """The path that a name means, in the words of the file; one that leads out of all folders is refused."""
    try:
        folder.inside(name)
    except Refused as reason:
        raise StudyError(f"{key} is '{shortened(name)}', {reason}.") from None
    return folder.root / name


def _target(content: Mapping[str, Any], folder: Folder) -> tuple[Any, dict[str, Any]]:
    """What is computed, and what the study must know of it."""
    given = [key for key in _TARGETS if key in content]
    if len(given) != 1:
        told = " and ".join(given) or "none of them"
        raise StudyError(f"the study needs one of the keys {', '.join(_TARGETS)}; it has {told}.")
    name = _typed(content, given[0], str, _TARGETS[given[0]])
    if given[0] == "example":
        return name, {}
    if given[0] == "scenario":
        return _inside(folder, "scenario", name), {}
    shipped = map_named(name)
    return shipped.function, {"vectorised": shipped.vectorised, "units": dict(shipped.units)}


def _flat(given: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Values by dotted name: TOML makes tables of keys with dots. A range is a value."""
    found: dict[str, Any] = {}
    for key, entry in given.items():
        path = f"{name}.{key}" if name else key
        if isinstance(entry, dict) and entry and not {"from", "to", "count"} & {*entry}:
            found |= _flat(entry, path)
        else:
            found[path] = entry
    return found


def _design(content: Mapping[str, Any]) -> Design | Mapping[str, Sequence[Any]]:
    over = _flat(_typed(content, "over", dict, "a table of parameters"))
    if "sample" not in content:
        return {name: _axis(name, given) for name, given in over.items()}
    sample = _typed(content, "sample", dict, "a table")
    _require_keys(sample, ("kind", "count", "seed"), ("kind",), "sample")
    kind = _typed(sample, "kind", str, "a text")
    if kind == "list":
        return listed(over)
    if kind not in _SAMPLES:
        raise StudyError(f"sample.kind is '{shortened(kind)}': give one of {', '.join([*_SAMPLES, 'list'])}.")
    ranges = {name: _range(name, given) for name, given in over.items()}
    count = _typed(sample, "count", int, "a whole number")
    return _SAMPLES[kind](ranges, count, seed=_seed(sample))


def _require_countable(content: Mapping[str, Any]) -> None:
    """Refuse more points than a file may ask for, before any of them is made."""
    over = _flat(_typed(content, "over", dict, "a table of parameters"))
    sample = content.get("sample")
    sizes = [
        given["count"] if isinstance(given, dict) else len(given)
        for given in over.values()
        if isinstance(given, list) or (isinstance(given, dict) and isinstance(given.get("count"), int))
    ]
    points = math.prod(sizes) if not isinstance(sample, dict) else sample.get("count", max(sizes, default=0))
    replicates = content.get("replicates", 1)
    if not isinstance(points, int) or not isinstance(replicates, int):
        return  # reading them reports it
    values = points * max(replicates, 1) * max(len(over), 1)
    if values > MOST_VALUES:
        raise StudyError(
            f"the study has {values:.2g} values (points times parameters), and a file may ask for {MOST_VALUES:.0g}: "
            "give fewer, or describe it in Python."
        )


def _axis(name: str, given: Any) -> Sequence[Any]:
    if isinstance(given, list):
        return given
    if not isinstance(given, dict):
        raise StudyError(f"over.{name} is {shown(given)}: give a list, or {{ from = …, to = …, count = … }}.")
    _require_keys(given, ("from", "to", "count", "log"), ("from", "to", "count"), f"over.{name}")
    low, high = _range(name, {key: given[key] for key in ("from", "to")})
    count = _typed(given, "count", int, "a whole number")
    return grid(low, high, count, log=_typed(given, "log", bool, "true or false", False))


def _range(name: str, given: Any) -> tuple[float, float]:
    if not isinstance(given, dict):
        raise StudyError(f"over.{name} is {shown(given)}: a sample needs a range {{ from = …, to = … }}.")
    _require_keys(given, ("from", "to"), ("from", "to"), f"over.{name}")
    ends = [given[key] for key in ("from", "to")]
    if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        raise StudyError(f"over.{name} is from {shown(ends[0])} to {shown(ends[1])}: give two numbers.")
    if not all(math.isfinite(end) for end in ends):
        raise StudyError(f"over.{name} is from {ends[0]!r} to {ends[1]!r}: give finite numbers.")
    return float(ends[0]), float(ends[1])


def _seed(given: Mapping[str, Any]) -> int:
    seed = int(_typed(given, "seed", int, "a whole number", 0))
    if seed < 0:
        raise StudyError(f"seed is {seed}: give a whole number from 0 on.")
    return seed


def _refine(content: Mapping[str, Any]) -> Refine | None:
    if "refine" not in content:
        return None
    given = _typed(content, "refine", dict, "a table")
    _require_keys(given, ("on", "along", "accuracy"), ("on", "along", "accuracy"), "refine")
    along = (
        _names(given, "along") if isinstance(given["along"], list) else _typed(given, "along", str, "an axis")
    )
    return Refine(
        _typed(given, "on", str, "an output"), along, float(_typed(given, "accuracy", float, "a number"))
    )


def _wish(number: int, given: Any) -> FigureWish:
    where = f"figure {number}"
    kind = given.get("kind") if isinstance(given, dict) else given
    if not isinstance(given, dict) or not isinstance(kind, str) or kind not in _FIGURES:
        raise StudyError(f"the kind of {where} is {shown(kind)}: give one of {', '.join(_FIGURES)}.")
    allowed = _FIGURES[kind]
    needed = tuple(key for key in allowed if key not in _OPTIONAL)
    _require_keys(given, ("kind", *allowed), needed, where)
    arguments = {key: value for key, value in given.items() if key != "kind"}
    if "at" in arguments:
        arguments["at"] = _flat(_typed(arguments, "at", dict, "a table of parameters"))
    return FigureWish(f"{given['kind']}-{number}", given["kind"], arguments)


def _require_one_line(content: Any) -> None:
    """Refuse names of more than one line, which are repeated in sentences and are names of nothing."""
    if isinstance(content, dict | list):
        for entry in (*content, *content.values()) if isinstance(content, dict) else content:
            _require_one_line(entry)
    elif isinstance(content, str) and len(content.splitlines()) > 1:
        raise StudyError(f"{shown(content)} has more than one line: give names of one line.")


def _require_keys(given: Mapping[str, Any], known: Sequence[str], needed: Sequence[str], where: str) -> None:
    for key in given:
        if key not in known:
            nearest = get_close_matches(key[:200], known, n=1, cutoff=0.5)
            hint = f" (did you mean '{nearest[0]}'?)" if nearest else ""
            raise StudyError(f"{where} has no key '{shortened(key)}'{hint}; keys are {', '.join(known)}.")
    for key in needed:
        if key not in given:
            raise StudyError(f"{where} needs the key '{key}'; keys are {', '.join(known)}.")


def _typed(given: Mapping[str, Any], key: str, kind: type, words: str, default: Any = None) -> Any:
    """The value of a key in its type; whole numbers stand for numbers, truth values do not."""
    if key not in given and default is not None:
        return default
    value = given.get(key)
    fits = isinstance(value, (int, float) if kind is float else kind) and (
        kind is bool or not isinstance(value, bool)
    )
    if not fits:
        raise StudyError(f"{key} is {shown(value)}: give {words}.")
    return value


def _names(given: Mapping[str, Any], key: str) -> list[str]:
    value = given[key]
    if not isinstance(value, list) or not value or not all(isinstance(entry, str) for entry in value):
        raise StudyError(f"{key} is {shown(value)}: give a list of names.")
    return value
