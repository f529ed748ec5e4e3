"""Numbers that functions of users capture, as loads from ``data`` in compiled code; arrays that may not be written."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numba.core import cgutils, ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions
from numba.core.postproc import PostProcessor
from numba.core.untyped_passes import InlineInlinables
from numba.extending import intrinsic


@dataclass(frozen=True, eq=False)
class Captured:
    """Stands for a number or array (``shape``) in code that is not compiled yet; ``place`` among those captured."""

    place: int
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"captured {self.place} {self.shape}"

    def __bool__(self) -> bool:  # numba cuts branches by constants; this is none
        raise TypeError("a captured number is not known yet")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: self.__bool__()  # type: ignore[assignment]
    __hash__ = object.__hash__


@intrinsic
def readonly(typing: Any, array: Any) -> Any:
    """The same array; whoever writes into it is not compiled."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        context.nrt.incref(builder, signature.args[0], arguments[0])
        return arguments[0]

    return array.copy(readonly=True)(array), generate


@intrinsic
def quietly(typing: Any, function: Any, arguments: Any) -> Any:
    """A call that cannot raise: what it returns, or nan if it would raise; of a function that returns a float or nothing.

    Pointers to functions do not pass exceptions on but print them; this leaves the message to the general code.
    """
    called = typing.resolve_function_type(function, arguments.types, {})

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = function.dispatcher.get_compile_result(called)
        declared = context.declare_function(builder.module, made.fndesc)
        context.active_code_library.add_linking_library(made.library)
        parts = cgutils.unpack_tuple(builder, values[1], len(arguments.types))
        status, value = context.call_conv.call_function(builder, declared, called.return_type, called.args, parts)
        if called.return_type == types.none:
            return context.get_dummy_value()
        return builder.select(status.is_ok, value, context.get_constant(types.float64, math.nan))

    return called.return_type(function, arguments), generate


@njit
def _array(data: np.ndarray, captured: int, place: int, shape: tuple[int, ...]) -> np.ndarray:
    size = 1
    for k in range(len(shape)):
        size *= shape[k]
    return readonly(data[captured + place : captured + place + size].reshape(shape))


@register_pass(mutates_CFG=False, analysis_only=False)
class _LoadCaptured(FunctionPass):
    """Puts a load from ``data[captured + place]`` where a :class:`Captured` is read."""

    _name = "load_captured"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        loaded = False
        for block in state.func_ir.blocks.values():
            body = []
            for statement in block.body:
                value = getattr(statement, "value", None) if isinstance(statement, ir.Assign) else None
                if isinstance(value, ir.Global | ir.FreeVar) and isinstance(value.value, Captured):
                    body += _load(block.scope, statement, value.value)
                    loaded = True
                else:
                    body.append(statement)
            block.body = body
        if loaded:
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
            PostProcessor(state.func_ir).run()
        return loaded


def _load(scope: Any, statement: Any, what: Captured) -> list[Any]:
    """Statements that do ``target = data[captured + place]``, or the same for an array."""
    loc, made = statement.loc, []

    def assigned(value: Any) -> Any:
        made.append(ir.Assign(value, scope.redefine("$captured", loc), loc))
        return made[-1].target

    data, captured, place = scope.get("data"), scope.get("captured"), assigned(ir.Const(what.place, loc))
    if what.shape == ():
        at = assigned(ir.Expr.binop(operator.add, captured, place, loc))
        value = ir.Expr.getitem(data, at, loc)
    else:
        function, shape = (assigned(ir.Global(name, value, loc)) for name, value in (("array", _array), ("shape", what.shape)))
        value = ir.Expr.call(function, [data, captured, place, shape], (), loc)
    made.append(ir.Assign(value, statement.target, loc))
    return made


class WithCaptured(CompilerBase):  # type: ignore[misc]
    """Numba's way from Python to machine code, with loads of captured numbers."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_LoadCaptured, InlineInlinables)
        passes.finalize()
        return [passes]

