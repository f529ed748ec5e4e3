"""Compiled functions that are called by their addresses, so that each is compiled once and by itself.

    force_of = called_at(FORCE, 2)        in compiled code: force_of(at)(index, data, t, q, v, out)

Code that is called directly is compiled again as a part of each of its callers, and of theirs; calls of numba's own
function types bring a branch for functions of the interpreter along at every call, which takes longer to compile than
what is called. Addresses are whole numbers and cost nothing to hand over.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import register_default
from numba.core.datamodel.models import PrimitiveModel
from numba.core.imputils import lower_builtin
from numba.core.typing import Signature
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


class Called(types.Callable):  # type: ignore[misc]
    """An address of a function of a signature."""

    def __init__(self, given: Signature) -> None:
        self.given = given
        super().__init__(f"called{given}")

    @property
    def key(self) -> Any:
        return self.given

    def get_call_type(self, context: Any, arguments: Any, names: Any) -> Any:
        if names or len(arguments) != len(self.given.args):
            raise TypeError(f"{len(arguments)} arguments given to a function of {self.given}.")
        return Signature(self.given.return_type, self.given.args, recvr=self)

    def get_call_signatures(self) -> Any:
        return [self.given], False

    def get_impl_key(self, signature: Any) -> Any:
        return Called


@register_default(Called)
class _Address(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, cgutils.intp_t)


@lower_builtin(Called, types.VarArg(types.Any))
def _call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """A plain call of the wrapper for C, which raises nothing."""
    kind = context.get_value_type(types.FunctionType(signature.args[0].given).ftype)
    return builder.call(builder.inttoptr(arguments[0], kind), arguments[1:])


@cache
def called(signature: Signature) -> Called:
    return Called(signature)


def called_at(signature: Signature, place: int) -> Any:
    """What gives compiled code the function of a signature whose address stands at a place among addresses."""
    kind = called(signature)

    @intrinsic
    def given_addresses(typing: Any, addresses: Any) -> Any:
        def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            first = make_array(types.int64[::1])(context, builder, arguments[0]).data
            return builder.load(builder.gep(first, [cgutils.intp_t(place)]))

        return kind(types.int64[::1]), build

    return given_addresses
