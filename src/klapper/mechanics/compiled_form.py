"""How a system is computed in compiled code: functions with fixed signatures, and the plain arrays that they read.

    system.compiled_form()  →  CompiledForm  →  one stepping kernel, one phase kernel

Functions hold no data of their own, so that those of library models are compiled once for all models of their kind.
They take ``index`` (int64) and ``data`` (float64) first, which hold everything about the model, packed by
:class:`Tables`, and write into arrays that they are given. The signatures are in
:mod:`klapper.mechanics.kernels.signatures`.

Given motions and loads (signals) are the one thing in ``data`` that changes: whoever calls the functions at a time t
calls ``bring(index, data, t)`` first, which puts the values, rates and accelerations of all signals at t in their
places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klapper.mechanics.courses import Pulse, Sweep, Tabulated
from klapper.mechanics.exponential_friction import ExponentialFriction
from klapper.mechanics.friction import Anisotropic, Coulomb, Friction, SpeedDependent, Stribeck
from klapper.mechanics.signals import Constant, FunctionOfTime, Harmonic, Ramp, Signal, Sum

CONSTANT, HARMONIC, RAMP, FUNCTION, SWEEP, WAVE, PIECES = range(7)
"""Kinds of terms of a signal."""
COULOMB, STRIBECK, EXPONENTIAL, OWN_FRICTION = 0, 1, 2, 3
"""Kinds of friction laws."""
LAW_WIDTH = 5
"""Numbers of a friction law in ``data``."""


class NotCompiled(Exception):
    """A model has a part that compiled code cannot take; the text says which and why."""


class Tables:
    """Packs the arrays of a model into one of integers and one of numbers.

    ``index[0]`` is the number of signals, ``index[1]`` the place in ``index`` where their table begins, ``index[2:4]``
    number and place of friction laws; what a model reads itself begins at ``index[HEADER]``, in the order in which it
    was put in.

    >>> tables = Tables()
    >>> place = tables.numbers([1.0, 2.0])
    >>> wall = tables.signal(Harmonic(2.0, 3.0))
    >>> tables.integers([place, wall])
    4
    >>> index, data = tables.packed()
    >>> index[:2].tolist(), index[4:6].tolist(), data[place : place + 2].tolist()
    ([1, 6], [0, 2], [1.0, 2.0])
    """

    HEADER = 4

    def __init__(self) -> None:
        self._index: list[np.ndarray] = []
        self._data: list[np.ndarray] = []
        self._indices, self._numbers = self.HEADER, 0
        self._signals: list[tuple[int, int, list[tuple[int, int, int]]]] = []
        self._given: list[Signal] = []
        self.functions: list[FunctionOfTime] = []
        self._laws: list[tuple[int, int]] = []
        self.friction_functions: list[Callable[[float], float]] = []

    def integers(self, given: Any) -> int:
        """Put integers, flattened, into ``index``; returns where they begin."""
        values = np.ascontiguousarray(given, dtype=np.int64).ravel()
        place, self._indices = self._indices, self._indices + values.size
        self._index.append(values)
        return place

    def numbers(self, given: Any) -> int:
        """Put numbers, flattened, into ``data``; returns where they begin."""
        values = np.array(given, dtype=float).ravel()
        place, self._numbers = self._numbers, self._numbers + values.size
        self._data.append(values)
        return place

    def signal(self, given: Signal) -> int:
        """Put a signal of k components in; returns where, in ``data``, its value (k,), rate and acceleration are."""
        size = int(np.prod(given.shape, dtype=int))
        if given.constant:  # it stands in its place already
            return self.numbers(np.concatenate([np.ravel(given.value(0.0)), np.zeros(2 * size)]))
        place = self.numbers(
            np.concatenate([given.value(0.0), given.rate(0.0), given.acceleration(0.0)], axis=None)
        )
        terms = [self._term(part, size) for part in _summands(given)]
        self._signals.append((size, place, terms))
        self._given.append(given)
        return place

    def _term(self, part: Signal, size: int) -> tuple[int, int, int]:
        """Kind, place of the parameters in ``data``, and number of the function of a summand."""
        if type(part) is Constant:  # a subclass may say something else
            return CONSTANT, self.numbers(part.amount), -1
        if type(part) is Harmonic:
            amplitude = np.ravel(part.amplitude)
            return HARMONIC, self.numbers(np.append(amplitude, [part.angular_frequency, part.phase])), -1
        if type(part) is Ramp:
            return RAMP, self.numbers(np.concatenate([part.start, part.speed], axis=None)), -1
        if type(part) is Sweep:
            numbers = [
                part.start_frequency,
                part.end_frequency,
                part.start,
                part.duration,
                part.logarithm,
                part.phase,
            ]
            return SWEEP, self.numbers(np.append(part.amplitude, numbers)), -1
        if type(part) is Pulse:
            numbers = [part.start, part.start + part.duration, *part.wave]
            return WAVE, self.numbers(np.append(part.amplitude, numbers)), -1
        if type(part) is Tabulated:
            return (
                PIECES,
                self.numbers(np.concatenate([[len(part.times)], part.times, part.pieces], axis=None)),
                -1,
            )
        if type(part) is FunctionOfTime:
            self.functions.append(part)
            return FUNCTION, self.numbers(np.zeros(3 * size + 2)), len(self.functions) - 1
        raise NotCompiled(f"a signal of the class {type(part).__name__} is not known to compiled code")

    def friction(self, law: Friction) -> int:
        """Put a friction law in; returns its number."""
        if type(law) in (Coulomb, Anisotropic):
            kind, numbers = COULOMB, [law.coefficient(0.0)]
        elif type(law) is Stribeck:
            kind, numbers = STRIBECK, [law.static, law.dynamic, law.speed, law.exponent]
        elif type(law) is ExponentialFriction:
            kind, numbers = EXPONENTIAL, [law.static, law.dynamic, law.speed, law.exponent, law.viscous]
        elif type(law) is SpeedDependent:
            kind, numbers = OWN_FRICTION, [float(len(self.friction_functions))]
            self.friction_functions.append(law.function)
        else:
            raise NotCompiled(f"friction of the class {type(law).__name__} is not known to compiled code")
        self._laws.append((kind, self.numbers(numbers + [0.0] * (LAW_WIDTH - len(numbers)))))
        return len(self._laws) - 1

    def amend(self, place: int, given: Any) -> None:
        """Write other numbers over those at a place of ``data``."""
        values = np.ascontiguousarray(given, dtype=float).ravel()
        begin = 0
        for part in self._data:
            if begin <= place and place + values.size <= begin + part.size:
                part[place - begin : place - begin + values.size] = values
                return
            begin += part.size
        raise ValueError(f"nothing of {values.size} numbers was put in at {place}.")

    @property
    def law_places(self) -> list[tuple[int, int]]:
        """Kind of every friction law, and where its numbers are in ``data``."""
        return list(self._laws)

    @property
    def given_signals(self) -> list[tuple[Signal, int]]:
        """Every signal, and where in ``data`` its value, rate and acceleration are."""
        return [(given, place) for given, (_, place, _) in zip(self._given, self._signals, strict=True)]

    @property
    def moving(self) -> bool:
        """Whether anything is given that changes over time."""
        return bool(self._signals)

    @property
    def own_functions(self) -> bool:
        """Whether there are Python functions of time or of the sliding speed to be compiled."""
        return bool(self.functions or self.friction_functions)

    def function_places(self) -> list[tuple[int, int, int]]:
        """Of every function of time: its number, where its value, rate, acceleration go, and its components."""
        return [
            (number, place, size)
            for size, _, terms in self._signals
            for kind, place, number in terms
            if kind == FUNCTION
        ]

    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """``index`` and ``data``, with the tables of signals and friction laws at the end of ``index``."""
        signals: list[int] = []
        for size, place, terms in self._signals:
            signals += [size, place, len(terms)]
            for term in terms:
                signals += term
        laws = [entry for law in self._laws for entry in law]
        head = [len(self._signals), self._indices, len(self._laws), self._indices + len(signals)]
        index = np.concatenate([np.array(head), *self._index, np.array(signals + laws)]).astype(np.int64)
        return index, np.concatenate([*self._data, np.zeros(1)])


def _summands(given: Signal) -> list[Signal]:
    if isinstance(given, Sum):
        return [part for each in given.parts for part in _summands(each)]
    return [given]


@dataclass(frozen=True, eq=False)
class CompiledForm:
    """A system for compiled code: functions, and what of them is constant and can be exploited.

    Every function takes ``(index, data, …)`` and writes into its last arguments, see
    :mod:`klapper.mechanics.kernels.signatures`; None where the system keeps what the contract of
    :class:`~klapper.mechanics.system.System` says without an override.

    ``index``, ``data``         as :class:`Tables` packs them
    ``positions``, ``velocities``  nq, nv
    ``bring``                   puts given motions at a time into ``data``; None: nothing is given over time
    ``mass``                    entries of M at the places ``mass_entries`` (2, e): rows, columns; repeated ones add up
    ``constant_mass``           whether M is the same for all q
    ``force``                   f (nv,)
    ``tangents``                entries of G_q and G_v at the places ``tangent_entries`` (2, e); None: there are none,
                                or they are differences of
    ``stiff``                   the part of the force that is taken implicitly, on all places (n, n)
    ``constant_tangents``       whether they are the same at all times, positions and velocities
    ``by_position``, ``by_velocity``  whether G_q and G_v may differ from zero
    ``complete``                whether no other part of the force depends on v
    ``advance``                 None: q + u
    ``contacts``, ``tangential``  m and d
    ``near``, ``most_near``     contacts to look at, at most so many; None: all
    ``gaps``, ``directions``    of given contacts, in rows with ``contact_width`` entries
    ``laws``                    has normal, ε, μ, limit, μ₂/μ₁ of given contacts (k, 5) at given sliding speeds
    ``constant_friction``       whether μ never depends on the speed
    ``shares``                  sparse (m, m): friction limits from normal forces of other contacts; None: none
    ``compliance``              C (m, m) [m/N], or None
    ``straight``                whether the contact directions never change (a_N and a_T may)
    ``curvature``               b_N, b_T (k, 1 + d) of given contacts; None: differences of ``directions``
    ``constraints``             p
    ``residuals``, ``constraint_directions``, ``constraint_curvature``  of all; rows have ``constraint_width`` entries
    ``affine_constraints``      whether J_B never changes
    ``potential``               V
    ``powers``                  loads and dampers (2,); None: v · f + ½ vᵀ Ṁ v, less what ``potential`` and ``damping``
                                take where there is a potential
    ``damping``                 power [W] of dampers; None: none
    """

    index: np.ndarray
    data: np.ndarray
    positions: int
    velocities: int
    mass: Any
    mass_entries: np.ndarray
    force: Any
    constant_mass: bool = True
    bring: Any = None
    tangents: Any = None
    tangent_entries: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), dtype=np.int64))
    stiff: Any = None
    constant_tangents: bool = False
    by_position: bool = False
    by_velocity: bool = False
    complete: bool = False
    advance: Any = None
    contacts: int = 0
    tangential: int = 0
    near: Any = None
    most_near: int = 0
    gaps: Any = None
    directions: Any = None
    contact_width: int = 0
    laws: Any = None
    constant_friction: bool = True
    shares: Any = None
    compliance: np.ndarray | None = None
    straight: bool = False
    curvature: Any = None
    constraints: int = 0
    residuals: Any = None
    constraint_directions: Any = None
    constraint_width: int = 0
    affine_constraints: bool = False
    constraint_curvature: Any = None
    potential: Any = None
    powers: Any = None
    damping: Any = None
    notes: Sequence[str] = ()
