"""The tables are declared once: their keys and defaults are those of the constructors, the schema says the same."""

import inspect
import json
import tomllib
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from klapper import bodies, continuum, mechanics, schemes, structures
from klapper.mechanics import FRICTION_LAWS
from klapper.mechanics.impact import IMPACT_LAWS
from klapper.mechanics.options import example_of, options_of
from klapper.scenario import KINDS, schema, starter
from klapper.scenario.bodies import PARTS as PLANAR
from klapper.scenario.continuum import PARTS as ELASTIC
from klapper.scenario.laws import IMPACT_LAW, as_friction, as_impact, law_table
from klapper.scenario.linear import PARTS as LINEAR
from klapper.scenario.schemes import SCHEMES, build_scheme, parts
from klapper.scenario.tables import Many, Named, Table, Variants
from klapper.scenario.values import Choice, Number
from klapper.scenario.writing import written


def keywords(call: Any) -> dict[str, Any]:
    return {name: entry.default for name, entry in inspect.signature(call).parameters.items()}


def hints_of(call: Any) -> dict[str, Any]:
    """Annotations of a function or constructor; those of a dataclass are written in its own and its parents' files."""
    return get_type_hints(call.__init__ if inspect.isclass(call) and not is_dataclass(call) else call)


def agree(table: Table, call: Any, *more: str) -> None:
    """Every key is a keyword with the same default; what is needed has none; ``more`` are keys of the file alone."""
    known, hints = keywords(call), hints_of(call)
    for name, field in table.fields.items():
        if name in more:
            continue
        assert name in known, name
        default = list(known[name]) if isinstance(known[name], tuple) else known[name]
        options = get_args(hints.get(name)) if get_origin(hints.get(name)) is Literal else ()
        if isinstance(field.value, Choice) and options:
            assert set(field.value.options) == set(options), name
        if field.needed:
            continue
        if field.default is not None and default is not None:
            assert field.default == default, name


def table_of(part: Any) -> Any:
    return part.table if isinstance(part, Many | Named) else part


@pytest.mark.parametrize("kind", SCHEMES.tables)
def test_options_of_schemes_are_those_of_their_constructors(kind: str) -> None:
    agree(SCHEMES.tables[kind], schemes.SCHEMES[kind])
    needed = {name for name, field in SCHEMES.tables[kind].fields.items() if field.needed}
    assert needed == {
        name
        for name, default in keywords(schemes.SCHEMES[kind]).items()
        if default is inspect.Parameter.empty
    }


@pytest.mark.parametrize(("option", "kind"), [(o, k) for o, kinds in parts().items() for k in kinds])
def test_options_of_parts_of_schemes_are_those_of_their_constructors(option: str, kind: str) -> None:
    declared = {
        name: value
        for scheme in SCHEMES.tables.values()
        if option in scheme.fields
        for value in getattr(scheme.fields[option].value, "values", [scheme.fields[option].value])
        if isinstance(value, Variants)
        for name, value in value.tables.items()
    }
    agree(declared[kind], parts()[option][kind])


BOUNDED = (-1.0, 0.0, 1e-12, 0.05, 0.1, 0.2, 0.49, 0.5, 0.6, 1.0, 1.5, 2, 1e9)


def nested_tables() -> Iterator[Any]:
    """Tables of parts of schemes with what they build, and what that needs."""
    for scheme in SCHEMES.tables.values():
        for option, kinds in parts().items():
            declared = getattr(scheme.fields.get(option), "value", None)
            for value in getattr(declared, "values", [declared]):
                for kind, table in value.tables.items() if isinstance(value, Variants) else ():
                    needed = {name: 1.0 for name, field in table.fields.items() if field.needed}
                    needed |= (
                        {"stiffness": 1.0, "damping": 1.0} if kind == "stick-element" else {}
                    )  # one of them
                    yield pytest.param(table, kinds[kind], needed, id=f"{option}-{kind}")
    yield pytest.param(
        SCHEMES.tables["newmark"].fields["newton"].value, schemes.NewtonIteration, {}, id="newton"
    )


def agree_on_bounds(table: Table, build: Any, needed: dict[str, Any]) -> None:
    """A number is allowed in a file if and only if the class allows it."""
    for name, field in table.fields.items():
        for value in BOUNDED:
            if not isinstance(field.value, Number) or not field.value.fits(value):
                continue
            try:
                build(**(needed | {name: value}))
                taken = True
            except mechanics.InvalidModel:
                taken = False
            assert fits(value, field.value.schema) == taken, (name, value)


@pytest.mark.parametrize("kind", SCHEMES.tables)
def test_bounds_of_options_of_schemes_are_those_of_their_constructors(kind: str) -> None:
    needed = {name: 1e-3 for name, field in SCHEMES.tables[kind].fields.items() if field.needed}
    needed |= {"normal": {"kind": "approach-damper", "damping": 10.0}} if "normal" in needed else {}
    agree_on_bounds(SCHEMES.tables[kind], lambda **given: build_scheme({"kind": kind, **given}), needed)


@pytest.mark.parametrize(("table", "build", "needed"), list(nested_tables()))
def test_bounds_of_parts_of_schemes_are_those_of_their_constructors(
    table: Table, build: Any, needed: dict[str, Any]
) -> None:
    agree_on_bounds(table, build, needed)


def test_bounds_are_told_in_words() -> None:
    assert Number(above=0.0, at_most=1.0).allowed == "numbers above 0 and up to 1"
    assert Number(at_least=0.5, at_most=1.0).allowed == "numbers from 0.5 to 1"
    assert Number(at_most=2.0).allowed == "numbers up to 2"


@pytest.mark.parametrize("kind", IMPACT_LAWS)
def test_every_impact_law_can_be_named_in_a_file(kind: str) -> None:
    law = IMPACT_LAWS[kind]
    needed = {name: given.option.example for name, given in options_of(law).items() if given.needed}
    agree(IMPACT_LAW.value.tables[kind], law)
    assert as_impact({"kind": kind, **needed}) == example_of(law)


@pytest.mark.parametrize("kind", FRICTION_LAWS)
def test_every_friction_law_can_be_named_in_a_file(kind: str) -> None:
    law = FRICTION_LAWS[kind]
    needed = {name: given.option.example for name, given in options_of(law).items() if given.needed}
    agree(law_table(law), law)
    assert as_friction({"kind": kind, **needed}) == example_of(law)


@pytest.mark.parametrize("name", [name for name in PLANAR if name != "shape"])
def test_tables_of_bodies_are_calls_of_planar(name: str) -> None:
    agree(table_of(PLANAR[name]), getattr(bodies.Planar, name))


@pytest.mark.parametrize("shape", ["disc", "ring", "corners", "wall"])
def test_shapes_are_calls_of_a_body(shape: str) -> None:
    agree(table_of(PLANAR["shape"]).tables[shape], getattr(bodies.body.PlanarBody, shape), "body")


def test_tables_of_the_other_models_have_the_options_of_their_constructors() -> None:
    agree(table_of(LINEAR["contact"]), mechanics.Contact)
    agree(table_of(LINEAR["friction_element"]), mechanics.FrictionElement)
    agree(table_of(LINEAR["constraint"]), mechanics.Constraint)
    agree(Table(KINDS["linear"].model), mechanics.LinearSystem, "base")
    added = ("gravity", "base", "external_damping", "rayleigh", "penetration")
    agree(Table(KINDS["beam"].model), structures.Beam, *added)
    agree(table_of(KINDS["frame"].parts["member"]), structures.Member)
    agree(table_of(KINDS["frame"].parts["material"]), structures.Material)
    agree(KINDS["rotor"].parts["contact"], structures.DelaminatedModel.contacts)
    agree(table_of(ELASTIC["support"]), continuum.Support)
    agree(table_of(ELASTIC["wall"]), continuum.Wall)
    agree(table_of(ELASTIC["tie"]), continuum.Tie)
    agree(table_of(ELASTIC["interface"]).tables["mortar"], continuum.Mortar)
    agree(table_of(ELASTIC["interface"]).tables["node-to-segment"], continuum.NodeToSegment)
    agree(table_of(ELASTIC["solid"]), continuum.Solid, "moved", "velocity", "spin")


def fits(value: Any, wanted: dict[str, Any]) -> bool:
    """A small checker of the part of JSON schema that is used, independent of the one under test."""
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
    }
    if "oneOf" in wanted and sum(fits(value, each) for each in wanted["oneOf"]) != 1:
        return False
    if "anyOf" in wanted and not any(fits(value, each) for each in wanted["anyOf"]):
        return False
    if "enum" in wanted and value not in wanted["enum"]:
        return False
    if "const" in wanted and value != wanted["const"]:
        return False
    if "type" in wanted:
        names = wanted["type"] if isinstance(wanted["type"], list) else [wanted["type"]]
        if not any(
            isinstance(value, kinds[n]) and (n == "boolean" or not isinstance(value, bool)) for n in names
        ):
            return False
    if isinstance(value, dict):
        known, more = wanted.get("properties", {}), wanted.get("additionalProperties", True)
        if any(name not in value for name in wanted.get("required", [])):
            return False
        for name, entry in value.items():
            if name in known and not fits(entry, known[name]):
                return False
            if name not in known and (more is False or (isinstance(more, dict) and not fits(entry, more))):
                return False
    if isinstance(value, list):
        if not wanted.get("minItems", 0) <= len(value) <= wanted.get("maxItems", len(value)):
            return False
        return all(fits(entry, wanted.get("items", {})) for entry in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (
            wanted.get("minimum", value) <= value <= wanted.get("maximum", value)
            and not value <= wanted.get("exclusiveMinimum", value - 1)
            and not value >= wanted.get("exclusiveMaximum", value + 1)
        )
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_accepts_starters_and_refuses_what_validation_refuses(kind: str) -> None:
    whole = json.loads(json.dumps(schema()))
    content = json.loads(json.dumps(KINDS[kind].starter))
    assert fits(content, whole)
    assert not fits(content | {"unknown": 1}, whole)
    assert not fits(content | {"model": content["model"] | {"kind": "none"}}, whole)
    assert not fits({name: part for name, part in content.items() if name != "model"}, whole)
    if kind != "example":
        assert not fits(content | {"scheme": content["scheme"] | {"step_size": -1.0, "sample": -1.0}}, whole)


@pytest.mark.parametrize("kind", KINDS)
def test_starters_mention_every_table_and_every_key_of_the_model(kind: str) -> None:
    text = starter(kind)
    for name in KINDS[kind].table.fields:
        assert f"[{name}" in text, name
    for name in KINDS[kind].model:
        assert f"{name} = " in text, name


@pytest.mark.parametrize(
    "value", [2.1e11, -1e6, 123456789.125, 1e300, 0.1, 1e-12, 5e5, 3, "a\x7fb\n\"'\\é", [True, {"a b": 1}]]
)
def test_values_are_read_as_they_were_written(value: Any) -> None:
    read = tomllib.loads(f"value = {written(value)}")["value"]
    assert read == value
    assert type(read) is type(value)
