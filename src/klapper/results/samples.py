"""Saved samples of a motion, and what their columns mean.

A sample is the state at the end of a step and what happened since the sample before: the impulses of the contacts,
their states, the residuals. Energies are kept as a ledger whose entries obey, at every sample,

    kinetic + potential + damping + friction + impact + numerical − loads = its value at the start.

Stretches of samples are the unit that the time loop appends, in memory and on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from klapper.contact_states import IMPACT
from klapper.results.errors import ResultsError
from klapper.results.plain import writable

DIRECTIONS = (("normal",), ("normal", "tangential"), ("normal", "tangential 1", "tangential 2"))
ENERGY = ("kinetic", "potential", "loads", "damping", "friction", "impact", "numerical")
"""Columns of ``Samples.energy`` [J] and entries of the ledger: present energies, work put in, energies lost."""

MEANING = {
    "step": ("1", "number of the step that ended at this sample, or within which it lies; 0 is the start"),
    "time": ("s", "time"),
    "position": ("m, rad", "generalised coordinates"),
    "velocity": ("m/s, rad/s", "generalised velocities"),
    "gap": ("m", "gaps of the contacts"),
    "impulse": ("N s", "contact impulses (normal, tangential) since the previous sample"),
    "state": ("1", "contact states: 0 open, 1 stick, 2 slip, 3 an impact since the previous sample"),
    "constraint_impulse": ("N s, N m s", "impulses of the two-sided constraints since the previous sample"),
    "energy": (
        "J",
        ", ".join(ENERGY) + "; the first two are present values, the others sums since the start",
    ),
    "residual": ("1", "largest relative residual of the contact problems since the previous sample"),
}
"""Unit and meaning of each array of :class:`Samples`."""

LOADED_MEANING = {
    "start": ("1", "entries start[k]:start[k+1] belong to sample k"),
    "contact": ("1", "number of the contact"),
    "gap": ("m", "gap of the contact"),
    "impulse": ("N s", "contact impulse (normal, tangential) in the step that ended at the sample"),
    "state": ("1", "contact state in that step"),
}
"""Unit and meaning of each array of :class:`Loaded`."""

_NUMBERS: np.dtype[Any] = np.dtype(np.float64)
_WHOLE = np.dtype(np.int64)
_KINDS: dict[str, np.dtype[Any]] = {
    "step": _WHOLE,
    "state": np.dtype(np.int8),
    "start": _WHOLE,
    "contact": _WHOLE,
}
_DIMENSIONS = {"step": 1, "time": 1, "residual": 1, "impulse": 3}


@dataclass(frozen=True)
class Layout:
    """What the columns of the samples mean.

    ``coordinates``  names of the nq generalised coordinates, such as ``"ball x"``
    ``velocities``   names of the nv generalised velocities
    ``contacts``     names of the m contacts; empty if the run logs loaded contacts by number
    ``tangential``   tangential directions of each contact: 0, 1 or 2
    ``constraints``  names of the p two-sided constraints

    >>> from klapper.results import Layout
    >>> Layout(("ball x", "ball y"), ("ball x", "ball y"), contacts=("floor",), tangential=1).directions
    ('normal', 'tangential')
    """

    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    contacts: tuple[str, ...] = ()
    tangential: int = 0
    constraints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("coordinates", "velocities", "contacts", "constraints"):
            names = getattr(self, part)
            if isinstance(names, str):
                raise ResultsError(f"{part} must be a sequence of names, not the text {names[:60]!r}.")
            names = tuple(writable(str(name)) for name in names)
            if len(set(names)) < len(names):
                seen: set[str] = set()
                twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
                raise ResultsError(f"{part} must have different names, but '{twice}' occurs twice.")
            object.__setattr__(self, part, names)
        if self.tangential not in (0, 1, 2):
            raise ResultsError(f"tangential must be 0, 1 or 2 directions, not {self.tangential}.")
        object.__setattr__(self, "tangential", int(self.tangential))

    @property
    def directions(self) -> tuple[str, ...]:
        """Names of the entries of a contact impulse."""
        return DIRECTIONS[self.tangential]


@dataclass(frozen=True, eq=False)
class Loaded:
    """Contacts loaded in the step that ended at each of s samples, for systems with very many possible contacts.

    ``start``    (s+1,) entries ``start[k]:start[k+1]`` belong to sample k
    ``contact``  (k,) number of the contact; at most once per sample
    ``gap``      (k,) [m]
    ``impulse``  (k, 1+tangential) [N s]
    ``state``    (k,) one of the numbers ``OPEN``, ``STICK``, ``SLIP`` or ``IMPACT``

    Contact 7 at the first sample, contacts 7 and 9 at the second:

    >>> import numpy as np
    >>> from klapper.contact_states import STICK
    >>> from klapper.results import Loaded
    >>> gap, impulse = np.zeros(3), np.array([[0.1], [0.2], [0.3]])
    >>> loaded = Loaded(np.array([0, 1, 3]), np.array([7, 7, 9]), gap, impulse, np.full(3, STICK))
    >>> loaded.sample
    array([0, 1, 1])
    """

    start: np.ndarray
    contact: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray

    def __post_init__(self) -> None:
        for entry in fields(self):
            _freeze(self, entry.name, 2 if entry.name == "impulse" else 1)
        if self.start.size == 0 or self.start[0] != 0 or np.any(np.diff(self.start) < 0):
            raise ResultsError("start of a log of loaded contacts must begin with 0 and never fall.")
        for entry in fields(self)[1:]:
            if len(getattr(self, entry.name)) != self.start[-1]:
                raise ResultsError(
                    f"{entry.name} of a log of loaded contacts has {len(getattr(self, entry.name))} entries, but start "
                    f"ends at {self.start[-1]}."
                )

    @property
    def sample(self) -> np.ndarray:
        """(k,) the sample that each entry belongs to."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def __getitem__(self, samples: slice) -> Loaded:
        first, last, _ = samples.indices(len(self.start) - 1)
        start = self.start[first : max(first, last) + 1]
        entries = slice(start[0], start[-1])
        rest = (getattr(self, entry.name)[entries] for entry in fields(self)[1:])
        return Loaded(start - start[0], *rest)

    def at(self, samples: np.ndarray) -> Loaded:
        """The entries of the samples (k,), rising, only."""
        return Loaded.concatenate([self[k : k + 1] for k in samples.tolist()])

    @classmethod
    def concatenate(cls, logs: Sequence[Loaded]) -> Loaded:
        """One log after the other."""
        offsets = np.cumsum([0, *(log.start[-1] for log in logs)])
        starts = [log.start[:-1] + offset for log, offset in zip(logs, offsets, strict=False)]
        rest = (np.concatenate([getattr(log, entry.name) for log in logs]) for entry in fields(cls)[1:])
        return cls(np.append(np.concatenate(starts), offsets[-1]), *rest)


@dataclass(frozen=True, eq=False)
class Samples:
    """A stretch of s samples; all arrays are read-only.

    ``step``                (s,) number of the step that ended at this sample, or within which it lies, 0 is the start
    ``time``                (s,) [s]
    ``position``            (s, nq) [m, rad]
    ``velocity``            (s, nv) [m/s, rad/s]
    ``gap``                 (s, m) [m]
    ``impulse``             (s, m, 1+tangential) [N s], normal and tangential, since the previous sample
    ``state``               (s, m) one of the numbers ``OPEN``, ``STICK``, ``SLIP``, or ``IMPACT`` if an impact happened
                            since the previous sample
    ``constraint_impulse``  (s, p) [N s], since the previous sample
    ``energy``              (s, 7) [J], columns ``ENERGY``
    ``residual``            (s,) largest relative residual of the contact problems since the previous sample
    ``loaded``              log of the loaded contacts by number, or None

    >>> from klapper.results import ENERGY, Layout, Samples
    >>> empty = Samples.empty(Layout(("x", "y"), ("x", "y"), contacts=("floor",), tangential=1))
    >>> empty.position.shape, empty.impulse.shape, empty.energy.shape[1] == len(ENERGY)
    ((0, 2), (0, 1, 2), True)
    """

    step: np.ndarray
    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    constraint_impulse: np.ndarray
    energy: np.ndarray
    residual: np.ndarray
    loaded: Loaded | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in MEANING:
            _freeze(self, name, _DIMENSIONS.get(name, 2))
        count = len(self.time)
        for name in MEANING:
            if len(getattr(self, name)) != count:
                raise ResultsError(f"{name} has {len(getattr(self, name))} samples, but time has {count}.")
        if self.loaded is not None and len(self.loaded.start) != count + 1:
            raise ResultsError(
                f"The log of loaded contacts has {len(self.loaded.start) - 1} samples, but time has {len(self)}."
            )

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, samples: slice) -> Samples:
        """A stretch without gaps, such as ``samples[100:]``."""
        if not isinstance(samples, slice) or samples.step not in (None, 1):
            raise ResultsError(
                "Samples are cut into stretches: give a slice of step 1, such as samples[100:200]."
            )
        loaded = None if self.loaded is None else self.loaded[samples]
        return Samples(*(getattr(self, name)[samples] for name in MEANING), loaded=loaded)

    @classmethod
    def empty(cls, layout: Layout, *, loaded: bool = False) -> Samples:
        """No samples, in the shapes of ``layout``; with ``loaded`` they have an empty log of loaded contacts."""
        shapes = layout_shapes(layout)
        log = None
        if loaded:
            log = Loaded(
                np.zeros(1), np.zeros(0), np.zeros(0), np.zeros((0, 1 + layout.tangential)), np.zeros(0)
            )
        return cls(*(np.zeros((0, *shapes[name])) for name in MEANING), loaded=log)

    @classmethod
    def concatenate(cls, stretches: Sequence[Samples]) -> Samples:
        """One stretch after the other."""
        if not stretches:
            raise ResultsError("There are no stretches of samples to put together: give at least one.")
        if len(stretches) == 1:
            return stretches[0]
        logs = [stretch.loaded for stretch in stretches if stretch.loaded is not None]
        if logs and len(logs) < len(stretches):
            raise ResultsError(
                "Some stretches of samples log loaded contacts, others do not: use one layout."
            )
        arrays = []
        for name in MEANING:
            parts = [getattr(stretch, name) for stretch in stretches]
            if any(part.shape[1:] != parts[0].shape[1:] for part in parts):
                raise ResultsError(
                    f"{name} has different columns in the stretches of samples: use one layout."
                )
            arrays.append(np.concatenate(parts))
        return cls(*arrays, loaded=Loaded.concatenate(logs) if logs else None)

    def merged(self, ends: np.ndarray) -> Samples:
        """The samples number ``ends`` (k,), rising, with all that happened since the one before."""
        ends = np.asarray(ends, dtype=np.int64)
        begins = np.concatenate([[0], ends[:-1] + 1])
        arrays = {name: getattr(self, name)[ends] for name in MEANING}
        for name in ("impulse", "constraint_impulse"):
            arrays[name] = np.add.reduceat(getattr(self, name)[: ends[-1] + 1], begins, axis=0)
        arrays["residual"] = np.maximum.reduceat(self.residual[: ends[-1] + 1], begins)
        hit = np.logical_or.reduceat(self.state[: ends[-1] + 1] == IMPACT, begins, axis=0)
        arrays["state"] = np.where(hit, IMPACT, arrays["state"])
        return Samples(**arrays, loaded=None if self.loaded is None else self.loaded.at(ends))

    def require(self, layout: Layout) -> None:
        """Raise :class:`ResultsError` unless the columns are those of ``layout`` and time never falls."""
        for name, shape in layout_shapes(layout).items():
            given = getattr(self, name).shape[1:]
            if given != shape:
                raise ResultsError(f"{name} has columns {given}, but the layout of the run asks for {shape}.")
        if self.loaded is not None:
            if layout.contacts:
                raise ResultsError(
                    "A run logs its contacts by name or by number: leave out the contacts of the layout or loaded."
                )
            if self.loaded.impulse.shape[1] != 1 + layout.tangential:
                raise ResultsError(
                    f"impulse of the log of loaded contacts has {self.loaded.impulse.shape[1]} columns, but the layout "
                    f"of the run asks for {1 + layout.tangential}."
                )
        if not np.all(np.isfinite(self.time)):
            raise ResultsError(
                "The time of the samples is not finite everywhere: samples must have their time."
            )
        if np.any(np.diff(self.time) < 0):
            late = int(np.argmax(np.diff(self.time) < 0))
            raise ResultsError(
                f"The time of the samples falls from {self.time[late]:g} s to {self.time[late + 1]:g} s at sample "
                f"{late + 1}: samples must be in the order of time."
            )


def layout_shapes(layout: Layout) -> dict[str, tuple[int, ...]]:
    """The shape of one sample in each array of :class:`Samples`."""
    contacts = len(layout.contacts)
    return {
        "step": (),
        "time": (),
        "position": (len(layout.coordinates),),
        "velocity": (len(layout.velocities),),
        "gap": (contacts,),
        "impulse": (contacts, 1 + layout.tangential),
        "state": (contacts,),
        "constraint_impulse": (len(layout.constraints),),
        "energy": (len(ENERGY),),
        "residual": (),
    }


def _freeze(owner: Any, name: str, dimensions: int) -> None:
    """Turn a field into a read-only array of its type, without copying and without touching the caller's array."""
    given, kind = getattr(owner, name), _KINDS.get(name, _NUMBERS)
    if type(given) is np.ndarray and given.dtype == kind and given.ndim == dimensions:
        if not given.flags.writeable:
            return
        view = given.view()
    else:
        view = _converted(given, kind, name, dimensions).view()
    view.flags.writeable = False
    object.__setattr__(owner, name, view)


def _converted(given: Any, kind: np.dtype[Any], name: str, dimensions: int) -> np.ndarray:
    if np.iscomplexobj(given):
        raise ResultsError(f"{name} has complex numbers; allowed are real ones.")
    if kind.kind == "i" and not np.all(np.isfinite(given)):
        raise ResultsError(f"{name} has numbers that are not finite; allowed are whole ones.")
    array = np.asarray(given, dtype=kind)
    if array.ndim != dimensions:
        raise ResultsError(f"{name} must be an array of {dimensions} dimensions, not of shape {array.shape}.")
    return array
