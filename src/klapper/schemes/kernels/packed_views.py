"""Arrays that are packed into integers or numbers, as compiled code sees them.

Their place, rows and columns stand among the integers. A view is made in place and counts no references, so that it
costs nothing to compile; whoever works on it holds what it is a part of.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

_WHOLE, _NUMBERS = types.int64[::1], types.float64[::1]


def packed_integers(dimensions: int) -> Any:
    """(ints, array): an array among the integers themselves."""
    kind = types.Array(types.int64, dimensions, "C")

    @intrinsic
    def view(typing: Any, ints: Any, array: Any) -> Any:
        def build(context: Any, builder: Any, _: Any, given: Any) -> Any:
            return _viewed(context, builder, kind, given[0], given[0], given[1])

        return kind(_WHOLE, types.int64), build

    return view


def packed_numbers(dimensions: int) -> Any:
    """(floats, ints, array): an array among the numbers."""
    kind = types.Array(types.float64, dimensions, "C")

    @intrinsic
    def view(typing: Any, floats: Any, ints: Any, array: Any) -> Any:
        def build(context: Any, builder: Any, _: Any, given: Any) -> Any:
            return _viewed(context, builder, kind, *given)

        return kind(_NUMBERS, _WHOLE, types.int64), build

    return view


def _viewed(context: Any, builder: Any, kind: Any, values: Any, ints: Any, array: Any) -> Any:
    places = make_array(_WHOLE)(context, builder, ints).data
    at, rows, columns = (
        builder.load(builder.gep(places, [builder.add(array, cgutils.intp_t(k))])) for k in range(3)
    )
    size = cgutils.intp_t(8)
    flat = kind.ndim == 1
    view = make_array(kind)(context, builder)
    populate_array(
        view,
        data=builder.gep(make_array(types.Array(kind.dtype, 1, "C"))(context, builder, values).data, [at]),
        shape=[builder.mul(rows, columns)] if flat else [rows, columns],
        strides=[size] if flat else [builder.mul(columns, size), size],
        itemsize=size,
        meminfo=None,
    )
    return view._getvalue()
