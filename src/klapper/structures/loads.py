"""Loads on a structure: a pattern over the coordinates times a course in time, f(t) = r p(t)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klapper.mechanics import Constant, InvalidModel, Signal
from klapper.mechanics.signals import Sum, as_signal


def along(row: np.ndarray, course: Any) -> Signal:
    """The load r p(t) of a force or moment p(t) [N, N m] in the direction of a row (n,): number, signal or function."""
    signal = as_signal(course, "the load in the direction of a row")
    if signal.shape != ():
        raise InvalidModel(
            f"the load in the direction of a row has shape {signal.shape}; expected one number over time."
        )
    return signal * row


def total(loads: Sequence[Signal]) -> Signal:
    """The sum of loads of the same shape; the constant ones become one, those that are zero vanish."""
    constant = sum((load.value(0.0) for load in loads if load.constant), np.zeros(loads[0].shape))
    changing = [load for load in loads if not load.constant]
    if not changing:
        return Constant(constant)
    parts = ([Constant(constant)] if np.any(constant) else []) + changing
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))
