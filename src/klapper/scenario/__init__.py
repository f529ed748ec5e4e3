"""Runs described in one TOML file each: read, checked, built and written.

    scenario = read_scenario("my.toml")
    run = scenario.simulate()

The tables of a kind are declared once; validation, the JSON :func:`schema` and the :func:`starter` come from them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klapper.scenario.errors import ScenarioError
    from klapper.scenario.json_schema import schema
    from klapper.scenario.kinds import KINDS
    from klapper.scenario.scenario import Scenario, parse_scenario, read_scenario
    from klapper.scenario.writing import example_scenario, starter

__all__ = [
    "KINDS",
    "Scenario",
    "ScenarioError",
    "example_scenario",
    "parse_scenario",
    "read_scenario",
    "schema",
    "starter",
]

_HOME = {
    "KINDS": "kinds",
    "ScenarioError": "errors",
    "schema": "json_schema",
    "example_scenario": "writing",
    "starter": "writing",
}


def __getattr__(name: str) -> Any:  # the command line needs the error only
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'scenario')}"), name)
