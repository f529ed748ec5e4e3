"""A run as an xarray dataset: labelled dimensions, units as attributes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.contact_states import STATE_NAMES
from klapper.results.errors import ResultsError
from klapper.results.histories import histories
from klapper.results.samples import ENERGY, LOADED_MEANING, MEANING

if TYPE_CHECKING:
    import pandas
    import xarray

    from klapper.results.run import Run

_DIMENSIONS = {
    "step": (),
    "position": ("coordinate",),
    "velocity": ("component",),
    "gap": ("contact",),
    "impulse": ("contact", "direction"),
    "state": ("contact",),
    "constraint_impulse": ("constraint",),
    "energy": ("entry",),
    "residual": (),
}


def frame(run: Run) -> pandas.DataFrame:
    """The histories over time, a column for each number, with the titles of :meth:`Run.export`."""
    try:
        import pandas
    except ImportError:
        raise ResultsError("pandas is not installed: install it with `pip install pandas`.") from None
    columns = histories(run)
    time = columns.pop("time [s]")
    return pandas.DataFrame(columns, index=pandas.Index(time, name="time [s]"))


def dataset(run: Run) -> xarray.Dataset:
    """The samples over time, coordinate, component (of the velocity), contact, direction, constraint and entry.

    A log of loaded contacts is in variables ``loaded_…`` over the dimension ``loaded``; ``loaded_sample`` is the place
    in time of each entry.
    """
    try:
        import xarray
    except ImportError:
        raise ResultsError(
            "xarray is not installed: install it with `pip install 'klapper[xarray]'`."
        ) from None
    samples, layout = run.samples, run.layout
    variables: dict[str, Any] = {
        name: (("time", *dimensions), getattr(samples, name), _attributes(*MEANING[name]))
        for name, dimensions in _DIMENSIONS.items()
    }
    variables["force"] = (
        ("time", "contact", "direction"),
        run.force,
        _attributes(
            "N", "mean contact force since the previous sample; nan where the contact was hit since then"
        ),
    )
    flags = {
        "flag_values": np.arange(len(STATE_NAMES), dtype=np.int8),
        "flag_meanings": " ".join(STATE_NAMES),
    }
    variables["state"][2].update(flags)
    if samples.loaded is not None:
        logged = {name: meaning for name, meaning in LOADED_MEANING.items() if name != "start"}
        for name, meaning in logged.items():
            directions = ("direction",) if name == "impulse" else ()
            values = getattr(samples.loaded, name)
            variables[f"loaded_{name}"] = (("loaded", *directions), values, _attributes(*meaning))
        variables["loaded_sample"] = (("loaded",), samples.loaded.sample, _attributes("1", "place in time"))
        variables["loaded_state"][2].update(flags)
    coordinates = {
        "time": (("time",), samples.time, _attributes(*MEANING["time"])),
        "coordinate": list(layout.coordinates),
        "component": list(layout.velocities),
        "contact": list(layout.contacts),
        "direction": list(layout.directions),
        "constraint": list(layout.constraints),
        "entry": list(ENERGY),
    }
    return xarray.Dataset(variables, coordinates, attrs=_global_attributes(run))


def _attributes(unit: str, meaning: str) -> dict[str, Any]:
    return {"units": unit, "long_name": meaning}


def _global_attributes(run: Run) -> dict[str, str]:
    """What is known about the run, as texts, which every file format can store."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in run.about.items()}
