"""Numbers that functions of users capture, as loads from ``data`` in compiled code; arrays that may not be written."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite.ir import Function, FunctionType, IRBuilder
from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.errors import ConstantInferenceError
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor
from numba.core.typed_passes import BaseNativeLowering, NativeLowering
from numba.core.untyped_passes import InlineInlinables
from numba.extending import intrinsic, overload
from numba.np.numpy_support import as_dtype

from klapper.machine_code import njit
from klapper.mechanics.compiled_form import NotCompiled


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


def _readonly(typing: Any, array: Any) -> Any:
    """The same array; whoever writes into it is not compiled."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        context.nrt.incref(builder, signature.args[0], arguments[0])
        return arguments[0]

    return array.copy(readonly=True)(array), generate


readonly: Any = intrinsic(_readonly)


@njit
def _array(data: np.ndarray, captured: int, place: int, shape: tuple[int, ...]) -> np.ndarray:
    size = 1
    for k in range(len(shape)):
        size *= shape[k]
    return readonly(data[captured + place : captured + place + size].reshape(shape))


@overload(np.array)  # type: ignore[untyped-decorator]
def _array_of(object: Any, dtype: Any = None, copy: Any = True) -> Any:
    """np.array of an array, or of a list of arrays, which numba does not have; always a copy, which may be written."""
    if isinstance(dtype, types.NoneType | types.Omitted) or dtype is None:
        wanted = object.dtype if isinstance(object, types.Array) else getattr(object.dtype, "dtype", None)
    else:
        wanted = getattr(dtype, "dtype", None)
    if wanted is None:
        return None
    number = as_dtype(wanted)
    if isinstance(object, types.Array):

        def of_array(object: Any, dtype: Any = None, copy: Any = True) -> Any:
            made = np.empty(object.shape, number)
            made[...] = object
            return made

        return of_array
    if isinstance(object, types.List) and isinstance(object.dtype, types.Array):

        def of_rows(object: Any, dtype: Any = None, copy: Any = True) -> Any:
            made = np.empty((len(object), *object[0].shape), number)
            for i in range(len(object)):
                if object[i].shape != object[0].shape:
                    raise ValueError("rows of different lengths")
                made[i] = object[i]
            return made

        return of_rows
    return None


_SAME_NUMBERS = {float: np.float64, int: np.int64, complex: np.complex128, bool: np.bool_}


_JOINING = (np.concatenate, np.hstack, np.vstack, np.stack, np.column_stack)
_NUMBERS = (types.Number, types.Boolean, types.Literal)
_OWN_LIST = re.compile(
    r"(\$|__v)\d+build_list"
)  # numba names lists without a name so, inlined ones the second way
_MOST_IN_TUPLES = 100  # numbers; numba's time for tuples grows with their length


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return np.where(condition, yes, no)


@overload(_where)  # type: ignore[untyped-decorator]
def _where_of(condition: Any, yes: Any, no: Any) -> Any:
    def of_arrays(condition: Any, yes: Any, no: Any) -> Any:
        return np.where(condition, yes, no)

    def of_numbers(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    return of_numbers if all(isinstance(each, _NUMBERS) for each in (condition, yes, no)) else of_arrays


def _listed(func_ir: Any, variable: Any) -> Any:
    """The list that is written where a variable of numba's own stands; None if the user has a name for it."""
    found = func_ir._definitions.get(variable.name, ())
    written = found[0] if len(found) == 1 and _OWN_LIST.search(variable.name) else None
    return written if isinstance(written, ir.Expr) and written.op == "build_list" and written.items else None


def _has_whole(func_ir: Any, rows: list[Any]) -> bool:
    """Whether there are whole numbers among few ones: numba has no list of a list of those and one of others."""
    cells = [func_ir._definitions.get(each.name, [None])[0] for row in rows for each in row.items]
    return len(cells) <= _MOST_IN_TUPLES and any(
        isinstance(each, ir.Const) and isinstance(each.value, int) for each in cells
    )


def _understood(func_ir: Any, scope: Any, call: Any) -> list[Any]:
    """Changes a call so that numba understands it, and returns what must be said before it.

    ``dtype=float`` is that of numpy; ``hypot(*x)`` takes as many numbers as a function of numpy has arguments; rows of
    whole and other numbers, and lists of arrays that are joined, are tuples; ``where`` of numbers is a number.
    """
    before: list[Any] = []

    def known(variable: Any) -> Any:
        try:
            return func_ir.infer_constant(variable)
        except ConstantInferenceError:
            return None

    def named(variable: Any) -> Any:
        value = known(variable)
        if not isinstance(value, type) or value not in _SAME_NUMBERS:
            return variable
        kind = _SAME_NUMBERS[value]
        before.append(
            ir.Assign(ir.Global(kind.__name__, kind, call.loc), scope.redefine("$dtype", call.loc), call.loc)
        )
        return before[-1].target

    call.args = [named(each) for each in call.args]
    call.kws = [(name, named(each)) for name, each in call.kws]
    function = known(call.func)
    if function is np.array and call.args:
        rows = _listed(func_ir, call.args[0])
        inside = [_listed(func_ir, each) for each in rows.items] if rows is not None else []
        if inside and all(each is not None for each in inside) and _has_whole(func_ir, inside):
            for each in (rows, *inside):
                each.op = "build_tuple"
    elif function in _JOINING and call.args:
        joined = _listed(func_ir, call.args[0])
        if joined is not None:
            joined.op = "build_tuple"
    elif function is np.where and len(call.args) == 3:
        before.append(
            ir.Assign(ir.Global("where", _where, call.loc), scope.redefine("$where", call.loc), call.loc)
        )
        call.func = before[-1].target
    if isinstance(function, np.ufunc) and call.vararg is not None and not call.kws:
        many = ir.Expr.exhaust_iter(call.vararg, function.nin - len(call.args), call.loc)
        before.append(ir.Assign(many, scope.redefine("$spread", call.loc), call.loc))
        call.vararg = before[-1].target
    return before


@register_pass(mutates_CFG=False, analysis_only=False)
class _LoadCaptured(FunctionPass):
    """Puts a load from ``data[captured + place]`` where a :class:`Captured` is read; see also :func:`_understood`.

    ``captured`` is the variable of that name in the innermost of the functions around, all of which are inlined here.
    """

    _name = "load_captured"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        loaded = False
        for block in state.func_ir.blocks.values():
            body = []
            for statement in block.body:
                value = getattr(statement, "value", None) if isinstance(statement, ir.Assign) else None
                if isinstance(value, ir.Expr) and value.op == "call":
                    changes = _understood(state.func_ir, block.scope, value)
                    body += changes
                    loaded = loaded or bool(changes)
                known = value.value if isinstance(value, ir.Global | ir.FreeVar) else None
                if isinstance(known, Captured):
                    body += _load(block.scope, statement, known)
                    loaded = True
                elif isinstance(known, Dispatcher) and _unnamed(known):
                    raise NotCompiled("it passes a function that it defines to another one")
                else:
                    body.append(statement)
            block.body = body
        if loaded:
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
            PostProcessor(state.func_ir).run()
        return loaded


def _unnamed(function: Any) -> bool:
    """Whether numba made it of a function inside a user's: it would be found by a name that others may have too."""
    return not hasattr(function, "klapper_digest") and "closure.<locals>" in function.py_func.__qualname__


def _load(scope: Any, statement: Any, what: Captured) -> list[Any]:
    """Statements that do ``target = data[captured + place]``, or the same for an array."""
    loc = statement.loc
    made: list[Any] = []

    def assigned(value: Any) -> Any:
        made.append(ir.Assign(value, scope.redefine("$captured", loc), loc))
        return made[-1].target

    data, captured, place = (
        scope.get("data"),
        _innermost(scope, statement),
        assigned(ir.Const(what.place, loc)),
    )
    if what.shape == ():
        at = assigned(ir.Expr.binop(operator.add, captured, place, loc))
        value = ir.Expr.getitem(data, at, loc)
    else:
        function, shape = (
            assigned(ir.Global(name, value, loc))
            for name, value in (("array", _array), ("shape", what.shape))
        )
        value = ir.Expr.call(function, [data, captured, place, shape], (), loc)
    made.append(ir.Assign(value, statement.target, loc))
    return made


def _innermost(scope: Any, statement: Any) -> Any:
    """Variables of inlined functions are called ``outer_v1_inner_v2_name``: the numbers are there only once."""
    around = [
        name
        for name in scope.localvars._con
        if (name == "captured" or name.endswith("_captured"))
        and statement.target.name.startswith(name.removesuffix("captured"))
    ]
    return scope.get(max(around, key=len))


class _QuietLower(Lower):  # type: ignore[misc]
    """Pointers to compiled functions cannot raise; numba's print the error. Here the general code tells it."""

    def create_cfunc_wrapper(self) -> None:
        """Like numba's, but silent; a number that is returned is nan after an error."""
        context, described = self.context, self.fndesc
        module = context.create_module("cfunc_wrapper")
        inside = Function(
            module,
            context.call_conv.get_function_type(described.restype, described.argtypes),
            described.llvm_func_name,
        )
        arguments = [context.get_value_type(each) for each in described.argtypes]
        outside = FunctionType(context.get_value_type(described.restype), arguments)
        wrapper = Function(module, outside, described.llvm_cfunc_wrapper_name)
        builder = IRBuilder(wrapper.append_basic_block("entry"))
        status, value = context.call_conv.call_function(
            builder, inside, described.restype, described.argtypes, wrapper.args, attrs=("noinline",)
        )
        if described.restype == types.float64:
            value = builder.select(status.is_ok, value, context.get_constant(types.float64, math.nan))
        builder.ret(value)
        self.library.add_ir_module(module)


@register_pass(mutates_CFG=True, analysis_only=False)
class _QuietLowering(BaseNativeLowering):  # type: ignore[misc]
    _name: Any = "quiet_lowering"

    @property
    def lowering_class(self) -> Any:
        return _QuietLower


class WithCaptured(CompilerBase):  # type: ignore[misc]
    """Numba's way from Python to machine code, with loads of captured numbers, and silent where it would raise."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_LoadCaptured, InlineInlinables)
        passes.passes = [
            (_QuietLowering if each is NativeLowering else each, name) for each, name in passes.passes
        ]
        passes.finalize()
        return [passes]
