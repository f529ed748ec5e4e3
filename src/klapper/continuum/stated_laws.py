"""Laws as plain data, so that the stresses of a stored run can be found again from its positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from klapper.continuum.laws import (
    Isotropic,
    MaterialLaw,
    MooneyRivlin,
    NeoHooke,
    SaintVenantKirchhoff,
)

_LAWS: dict[str, type[Isotropic]] = {
    each.__name__: each for each in (SaintVenantKirchhoff, NeoHooke, MooneyRivlin)
}


def stated(law: MaterialLaw) -> dict[str, Any]:
    """Name, constants and "plane" of a law; empty where only its own class knows it.

    >>> stated(NeoHooke(1e5, 0.3))
    {'name': 'NeoHooke', 'constants': {'young': 100000.0, 'poisson': 0.3}, 'plane': 'strain'}
    """
    inner = law.of_space
    name = type(inner).__name__
    if not isinstance(inner, Isotropic) or _LAWS.get(name) is not type(inner):
        return {}
    constants = {each.name: float(getattr(inner, each.name)) for each in fields(inner)}
    return {"name": name, "constants": constants, "plane": law.plane}


def law_of(statement: Mapping[str, Any]) -> Isotropic:
    """The law that was stated, without its plane."""
    return _LAWS[statement["name"]](**statement["constants"])
