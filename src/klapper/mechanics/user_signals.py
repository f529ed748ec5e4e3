"""Functions of time and of the sliding speed that users give, in the compiled forms of all systems.

    tables.signal(FunctionOfTime(…)), tables.friction(SpeedDependent(…)), …
    own = compile_signals(tables)               before tables.packed()
    CompiledForm(*tables.packed(), bring=own.bring, laws=compiled(laws_of(own.coefficient), LAWS, "laws"), …)

Derivatives that are not given are the differences that the signals themselves take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.compiled_form import OWN_FRICTION, Tables
from klapper.mechanics.kernels import given
from klapper.mechanics.kernels.functions import one_of
from klapper.mechanics.kernels.own_signals import (
    COEFFICIENTS,
    bring_of,
    coefficient_of,
    coefficients_of,
    difference_of,
    friction_of,
    motion_of,
    signal_of,
)
from klapper.mechanics.kernels.signatures import BRING
from klapper.mechanics.signals import Constant, FunctionOfTime
from klapper.mechanics.user_functions import (
    answered,
    compiled,
    inlined,
    part,
    require_same,
    unwarned,
    user_function,
    user_functions,
)


@dataclass(frozen=True, eq=False)
class OwnSignals:
    """What the tables of a model need in compiled code.

    ``bring``        for the form; None if nothing changes over time
    ``coefficient``  numba function (index, data, law, speed) → μ, for those that are compiled with it in a cell
    """

    bring: Any
    coefficient: Any


def compile_signals(tables: Tables) -> OwnSignals:
    """Compile the functions of time and of the sliding speed in the tables, and put what they capture into these.

    Raises :class:`NotCompiled` with the reason if one of them cannot be compiled.

    A wall that a function moves, 0.1 sin 3 t, at t = 2 s: value, rate and acceleration

    >>> amplitude = 0.1
    >>> tables = Tables()
    >>> place = tables.signal(FunctionOfTime(lambda t: amplitude * np.sin(3.0 * t)))
    >>> own = compile_signals(tables)
    >>> index, data = tables.packed()
    >>> own.bring(index, data, 2.0)
    >>> data[place : place + 2].round(6).tolist()
    [-0.027942, 0.288051]
    """
    signals = OwnSignals(_bring(tables), _coefficient(tables))
    _compare(tables, signals)
    return signals


def _bring(tables: Tables) -> Any:
    if not tables.functions:
        return None if all(isinstance(each, Constant) for each, _ in tables.given_signals) else given.bring
    motions: list[Any] = []
    for number, place, size in tables.function_places():
        motion, captured = _motion(tables.functions[number])
        if motion not in motions:
            motions.append(motion)
        tables.amend(place + 3 * size, [motions.index(motion), tables.numbers(captured)])
    chosen = inlined(one_of(tuple(motions), 4))
    return compiled(bring_of(chosen), BRING, "functions of time")


def _motion(signal: FunctionOfTime) -> tuple[Any, np.ndarray]:
    """A numba function (data, captured, t, out (3 k,)) and what it captures, its spacing first."""
    name = _name(signal.function)
    given = [(signal.function, f"the function of time '{name}'", 1)]
    given += [
        (each, f"{what} of the function of time '{name}'", 1)
        for what, each in (("the rate", signal.given_rate), ("the acceleration", signal.given_acceleration))
        if each is not None
    ]
    made = iter(user_functions(given, [signal.step]))
    first = next(made)
    value = part(signal_of(first.inlined))
    own_rate = signal.given_rate is not None
    rate = part(signal_of(next(made).inlined)) if own_rate else part(difference_of(value, 1.0))
    if signal.given_acceleration is not None:
        acceleration = part(signal_of(next(made).inlined))
    else:
        acceleration = part(difference_of(rate, 1.0 if own_rate else 10.0))
    return part(motion_of(value, rate, acceleration)), first.numbers


def _coefficient(tables: Tables) -> Any:
    if not tables.friction_functions:
        return given.coefficient
    laws: list[Any] = []
    places = [place for kind, place in tables.law_places if kind == OWN_FRICTION]
    for place, function in zip(places, tables.friction_functions, strict=True):
        own = user_function(function, f"the friction function '{_name(function)}'", 1)
        law = inlined(friction_of(own.inlined))
        if law not in laws:
            laws.append(law)
        tables.amend(place, [laws.index(law), tables.numbers(own.numbers)])
    return part(coefficient_of(inlined(one_of(tuple(laws), 1))))


@unwarned()
def _compare(tables: Tables, own: OwnSignals) -> None:
    """Refuse compiled functions that say something else than Python's."""
    index, data = tables.packed()
    for signal, place in tables.given_signals if tables.functions else ():
        end = place + int(np.prod(signal.shape, dtype=int))
        found, expected = [], []
        for t in (0.0, 0.37, 1.9, 12.3):
            general = answered(signal.value, t)
            if general is not None:
                own.bring(index, data, t)
                expected.append(np.ravel(general))
                found.append(data[place:end].copy())
        require_same(found, expected, "a function of time")
    if tables.friction_functions:
        speeds = np.array([0.0, 1e-3, 0.07, 0.9, 11.0])
        kinds = [kind for kind, _ in tables.law_places]
        numbers = [law for law, kind in enumerate(kinds) if kind == OWN_FRICTION]
        at = compiled(coefficients_of(own.coefficient), COEFFICIENTS, "friction functions")
        for law, function in zip(numbers, tables.friction_functions, strict=True):
            out = np.empty(speeds.size)
            at(index, data, law, speeds, out)
            answers = [answered(function, float(speed)) for speed in speeds]
            known = [k for k, each in enumerate(answers) if each is not None]
            expected = [np.array([answers[k] for k in known])]
            require_same([out[known]], expected, f"the friction function '{_name(function)}'")


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
