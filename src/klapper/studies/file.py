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
    tolerance = 1e-4

    [[figure]]
    kind = "map"
    x = "A"
    y = "B"
    value = "drift"

With ``[sample]`` (``kind = "sobol"`` or ``"latin-hypercube"``, ``count``, ``seed``) the entries of ``over`` are ranges
``{ from = …, to = … }``; with ``kind = "list"`` they are columns of equal length. Every error names the key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from klapper.studies.design import Design, grid, latin_hypercube, listed, sobol
from klapper.studies.errors import StudyError
from klapper.studies.refine import Refine
from klapper.studies.study import Study, study

_FIGURES = {
    "map": ("x", "y", "value", "log"),
    "slices": ("x", "value", "by"),
    "bifurcation": ("x", "value"),
    "parallel": ("colour", "names"),
    "boundaries": ("x", "y"),
}
_OPTIONAL = {"log", "by", "names"}
_SAMPLES = {"sobol": sobol, "latin-hypercube": latin_hypercube}


@dataclass(frozen=True)
class FigureWish:
    """A figure that the file asks for: its name, kind and arguments."""

    name: str
    kind: str
    arguments: Mapping[str, Any]

    def draw(self, described: Study, onto: Any) -> None:
        getattr(described.figure, self.kind)(**self.arguments, onto=onto)


def read_study(path: Path) -> tuple[Study, list[FigureWish]]:
    """The study and the figures described in a file; its store is relative to the file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError(f"{path} does not exist.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is no TOML: {error}.") from error
    known = (
        "example",
        "outputs",
        "store",
        "over",
        "fixed",
        "sample",
        "refine",
        "replicates",
        "seed",
        "figure",
    )
    _require_keys(content, known, ("example", "outputs", "over"), "the study")
    described = study(
        _typed(content, "example", str, "the name of an example"),
        over=_design(content),
        outputs=_names(content, "outputs"),
        store=path.parent / _typed(content, "store", str, "the name of a folder", path.stem),
        fixed=_typed(content, "fixed", dict, "a table of parameters", {}),
        replicates=_typed(content, "replicates", int, "a whole number", 1),
        seed=_typed(content, "seed", int, "a whole number", 0),
        refine=_refine(content),
    )
    return described, [
        _wish(k, entry) for k, entry in enumerate(_typed(content, "figure", list, "tables", []), 1)
    ]


def _design(content: Mapping[str, Any]) -> Design | Mapping[str, Sequence[Any]]:
    over = _typed(content, "over", dict, "a table of parameters")
    if "sample" not in content:
        return {name: _axis(name, given) for name, given in over.items()}
    sample = _typed(content, "sample", dict, "a table")
    _require_keys(sample, ("kind", "count", "seed"), ("kind",), "sample")
    kind = _typed(sample, "kind", str, "a text")
    if kind == "list":
        return listed(over)
    if kind not in _SAMPLES:
        raise StudyError(f"sample.kind is '{kind}': give one of {', '.join([*_SAMPLES, 'list'])}.")
    ranges = {name: _range(name, given) for name, given in over.items()}
    count = _typed(sample, "count", int, "a whole number")
    return _SAMPLES[kind](ranges, count, seed=_typed(sample, "seed", int, "a whole number", 0))


def _axis(name: str, given: Any) -> Sequence[Any]:
    if isinstance(given, list):
        return given
    if not isinstance(given, dict):
        raise StudyError(f"over.{name} is {given!r}: give a list, or {{ from = …, to = …, count = … }}.")
    _require_keys(given, ("from", "to", "count", "log"), ("from", "to", "count"), f"over.{name}")
    low, high = _range(name, {key: given[key] for key in ("from", "to")})
    count = _typed(given, "count", int, "a whole number")
    return grid(low, high, count, log=_typed(given, "log", bool, "true or false", False))


def _range(name: str, given: Any) -> tuple[float, float]:
    if not isinstance(given, dict):
        raise StudyError(f"over.{name} is {given!r}: a sample needs a range {{ from = …, to = … }}.")
    _require_keys(given, ("from", "to"), ("from", "to"), f"over.{name}")
    ends = [given[key] for key in ("from", "to")]
    if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        raise StudyError(f"over.{name} is from {ends[0]!r} to {ends[1]!r}: give two numbers.")
    return float(ends[0]), float(ends[1])


def _refine(content: Mapping[str, Any]) -> Refine | None:
    if "refine" not in content:
        return None
    given = _typed(content, "refine", dict, "a table")
    _require_keys(given, ("on", "along", "tolerance"), ("on", "along", "tolerance"), "refine")
    along = (
        _names(given, "along") if isinstance(given["along"], list) else _typed(given, "along", str, "an axis")
    )
    return Refine(
        _typed(given, "on", str, "an output"), along, float(_typed(given, "tolerance", float, "a number"))
    )


def _wish(number: int, given: Any) -> FigureWish:
    where = f"figure {number}"
    if not isinstance(given, dict) or given.get("kind") not in _FIGURES:
        shown = given.get("kind") if isinstance(given, dict) else given
        raise StudyError(f"the kind of {where} is {shown!r}: give one of {', '.join(_FIGURES)}.")
    allowed = _FIGURES[given["kind"]]
    needed = tuple(key for key in allowed if key not in _OPTIONAL)
    _require_keys(given, ("kind", *allowed), needed, where)
    arguments = {key: value for key, value in given.items() if key != "kind"}
    return FigureWish(f"{given['kind']}-{number}", given["kind"], arguments)


def _require_keys(given: Mapping[str, Any], known: Sequence[str], needed: Sequence[str], where: str) -> None:
    for key in given:
        if key not in known:
            nearest = get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f" (did you mean '{nearest[0]}'?)" if nearest else ""
            raise StudyError(f"{where} has no key '{key}'{hint}; keys are {', '.join(known)}.")
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
        raise StudyError(f"{key} is {value!r}: give {words}.")
    return value


def _names(given: Mapping[str, Any], key: str) -> list[str]:
    value = given[key]
    if not isinstance(value, list) or not value or not all(isinstance(entry, str) for entry in value):
        raise StudyError(f"{key} is {value!r}: give a list of names.")
    return value
