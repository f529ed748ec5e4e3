"""The types that numba gives to models of compiled forms, found once and not at every call.

A model is a group of some fifty values. numba asks for the type of each at every call of the stepping loop, which takes
longer than a hundred steps. The type follows from what is asked here: arrays by the type and
order of their entries and whether they may be written, numbers by their class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import typeof_impl

from klapper.schemes.form_kernels.model import Model

_KNOWN: dict[tuple[Any, ...], Any] = {}


@typeof_impl.register(Model)
def _typeof(group: Any, context: Any) -> Any:
    key = (type(group), *map(_kind, group))
    if key not in _KNOWN:
        _KNOWN[key] = types.BaseTuple.from_types([typeof_impl(each, context) for each in group], type(group))
    return _KNOWN[key]


def _kind(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    return type(value)
