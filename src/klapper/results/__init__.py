"""Results of a computation: motion, contact impulses apart from forces, contact states, events, energy ledger.

A :class:`Run` answers questions, draws itself and is saved and :func:`read` as HDF5; a :class:`PartStore` keeps a
running computation on disk such that it survives.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klapper.results.comparison import Comparison, Refinement
    from klapper.results.conservation import Conservation, Conserved
    from klapper.results.errors import ResultsError
    from klapper.results.events import Event, Impacts
    from klapper.results.harmonics import Harmonics
    from klapper.results.ledger import Ledger
    from klapper.results.over_time import OverTime, SignalStatistics
    from klapper.results.penetration import PenetrationStatistics, penetration_statistics
    from klapper.results.run import ContactHistory, Run
    from klapper.results.samples import ENERGY, Layout, Loaded, Samples
    from klapper.results.statistics import Statistics
    from klapper.results.store import PartStore, Resumed, read

_PLACES = {
    "Comparison": "comparison",
    "Conservation": "conservation",
    "Conserved": "conservation",
    "ContactHistory": "run",
    "ENERGY": "samples",
    "Event": "events",
    "Harmonics": "harmonics",
    "Impacts": "events",
    "Layout": "samples",
    "Ledger": "ledger",
    "Loaded": "samples",
    "OverTime": "over_time",
    "PartStore": "store",
    "PenetrationStatistics": "penetration",
    "Refinement": "comparison",
    "ResultsError": "errors",
    "Resumed": "store",
    "Run": "run",
    "Samples": "samples",
    "SignalStatistics": "over_time",
    "Statistics": "statistics",
    "penetration_statistics": "penetration",
    "read": "store",
}

__all__ = [
    "ENERGY",
    "Comparison",
    "Conservation",
    "Conserved",
    "ContactHistory",
    "Event",
    "Harmonics",
    "Impacts",
    "Layout",
    "Ledger",
    "Loaded",
    "OverTime",
    "PartStore",
    "PenetrationStatistics",
    "Refinement",
    "ResultsError",
    "Resumed",
    "Run",
    "Samples",
    "SignalStatistics",
    "Statistics",
    "penetration_statistics",
    "read",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"klapper.results has no '{name}'; it has {', '.join(__all__)}.")
    found = globals()[name] = getattr(import_module(f"klapper.results.{_PLACES[name]}"), name)
    return found
