"""Python functions of users in compiled code.

    force (t, q, v)  →  code without state + captured numbers  →  one numba function for all numbers

Numbers and arrays that a function captures (cells, globals, defaults) go into the ``data`` of the form, so that a study
over them compiles once; whole numbers, words and flags are constants of the machine code. Both are read when a form
is made. A function that changes anything but its own variables, or reads what may change without notice (lists,
objects), is refused: it would be right once and stale later.

Machine code is kept in a folder of the user, named by the code, the constants and the versions of all that took part.
"""

from __future__ import annotations

import builtins
import cmath
import contextlib
import dis
import functools
import hashlib
import importlib.metadata
import inspect
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import ir
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from klapper.machine_code import MachineCode, quiet, without_machine_code
from klapper.mechanics.compiled_form import NotCompiled
from klapper.mechanics.kernels.captured import Captured, WithCaptured

_MODULES = (np, np.linalg, math, cmath, operator)
_SAME = 1e-10
"""Of the largest answer: a million rounding units, as some functions cancel digits; other formulas differ by more."""
_BUILTINS = frozenset(
    {
        "abs",
        "bool",
        "complex",
        "divmod",
        "enumerate",
        "float",
        "int",
        "len",
        "list",
        "max",
        "min",
        "pow",
        "range",
    }
    | {"reversed", "round", "slice", "sum", "tuple", "zip"}
)
_KINDS_OF_CODE = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
"""Flags of code that say what it does; a profiler that runs changes others, and the code would be compiled again."""
_IN_PLACE = "it changes an argument or a captured array in place"
_FORBIDDEN = {
    "IMPORT_NAME": "it imports {0}",
    "STORE_GLOBAL": "it writes to the global variable {0}",
    "DELETE_GLOBAL": "it deletes the global variable {0}",
    "STORE_ATTR": "it changes the attribute {0} of an object",
    "DELETE_ATTR": "it deletes the attribute {0} of an object",
    "YIELD_VALUE": "it is a generator",
    "PUSH_EXC_INFO": "it uses try or with",
    "LOAD_BUILD_CLASS": "it defines a class",
    "LOAD_NAME": "it was made by exec",
}


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function of a user that can stand in compiled functions.

    ``inlined``  the same for numba: functions that call it take its text over; the same object for all that differ
                 in ``numbers`` only
    ``numbers``  captured numbers, which go into ``data``
    """

    inlined: Any
    numbers: np.ndarray


def user_function(given: Any, called: str, arguments: int) -> UserFunction:
    """A function of so many arguments, looked through; raises :class:`NotCompiled` with the reason.

    ``called`` is how messages name it, e.g. "force".

    >>> rate = 3.0
    >>> user_function(lambda t: rate * t, "load", 1).numbers.tolist()
    [3.0]
    >>> seen = {}
    >>> try:
    ...     user_function(lambda t: seen[t], "load", 1)
    ... except NotCompiled as reason:
    ...     print(reason)
    load: it reads 'seen', a dict, which may change; a tuple or an array can be compiled
    """
    return user_functions([(given, called, arguments)])[0]


def user_functions(
    given: Sequence[tuple[Any, str, int]], numbers: Sequence[float] = ()
) -> list[UserFunction]:
    """Functions that read captured numbers from one place, after the given ``numbers``."""
    rebuilt, made = _Rebuilt(numbers), []
    for function, called, arguments in given:
        try:
            made.append(inlined(rebuilt.entry(function, arguments)))
        except NotCompiled as reason:
            raise NotCompiled(f"{called}: {reason}") from None
    return [UserFunction(function, rebuilt.numbers()) for function in made]


def compiled(function: Callable[..., Any], signature: Any, called: str) -> Any:
    """A numba function of a function that may call ``UserFunction.inlined`` and :func:`part` from its cells.

    It must have variables ``data`` and ``captured`` if it does: captured numbers are read from ``data[captured:]``.
    Where it would raise, what it has not written is left as it was, and a number that it returns is nan. Raises
    :class:`NotCompiled` with the reason where numba cannot compile it.
    """
    key = digest(function, _text(signature))
    found = _compiled.get(key)
    if found is None:
        found = _compiled[key] = _compile(function, signature, key)
    if isinstance(found, str):
        raise NotCompiled(f"{called}: {found}")
    return found


_text = functools.lru_cache(maxsize=256)(str)


def part(function: Callable[..., Any]) -> Any:
    """A numba function that compiled ones can call from their cells, with captured numbers as in :func:`compiled`."""
    return _marked(function, _parts, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_options(function))


def _options(function: Callable[..., Any]) -> dict[str, Any]:
    return {
        "error_model": "numpy",
        "boundscheck": "captured" in function.__code__.co_varnames,  # has code of a user
        "pipeline_class": WithCaptured,
    }


def inlined(function: Callable[..., Any]) -> Any:
    """A numba function whose text is taken over by those that call it."""
    return _marked(function, _inlinable, inline="always")


def _marked(function: Callable[..., Any], known: dict[str, Any], **options: Any) -> Any:
    key = digest(function)
    if key not in known:
        known[key] = numba.njit(**options)(_named(function, key))
        known[key].klapper_digest = key
    return known[key]


def _named(function: Callable[..., Any], key: str) -> Callable[..., Any]:
    """A copy whose name tells its code: machine code of many processes is found by the name."""
    cells = function.__closure__  # type: ignore[attr-defined]
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, cells)
    copy.__qualname__ = f"{function.__name__}_{key}"
    return copy


_compiled: dict[str, Any] = {}
_inlinable: dict[str, Any] = {}
_parts: dict[str, Any] = {}
compilations: list[str] = []
"""Names of the functions that this process compiled; those from disk are not among them."""


def _compile(function: Callable[..., Any], signature: Any, key: str) -> Any:
    """A numba function, or the reason why there is none."""
    known = without_machine_code(key)
    if known is not None:
        return known
    made = numba.njit(**_options(function))(_named(function, key))
    made._cache = MachineCode(key)
    try:
        with quiet():
            made.compile(signature)
    except NotCompiled as error:
        reason = str(error)
    except NumbaError as error:
        reason = _reason(error)
    except Exception as error:  # numba itself fails on some code, e.g. array += number where it may not write
        reason = f"numba cannot compile it ({type(error).__name__})"
        if "has no attribute 'args'" in str(error):
            reason = _IN_PLACE
    else:
        reason = ""
        if not made.stats.cache_hits:
            compilations.append(function.__name__)
            reason = _truncated(made)
        if not reason:
            return made
    return without_machine_code(key, reason)


def _truncated(made: Any) -> str:
    """Why a compiled function may differ from Python's: numba cuts numbers that are put into a list of whole ones."""
    for overload in made.overloads.values():
        annotation = overload.type_annotation
        if isinstance(annotation, str):  # part of the package, from disk
            continue
        for block in annotation.blocks.values():
            for statement in block.find_insts((ir.SetItem, ir.StaticSetItem)):
                into = annotation.typemap[statement.target.name]
                item = annotation.typemap[statement.value.name]
                whole = isinstance(into, numba.types.List) and isinstance(into.dtype, numba.types.Integer)
                if whole and isinstance(item, numba.types.Float):
                    return "it puts numbers into a list of whole numbers; begin it with 0.0"
    inside = (cell.cell_contents for cell in made.py_func.__closure__ or ())
    parts = (_truncated(part) for part in inside if isinstance(part, Dispatcher))
    return next((reason for reason in parts if reason), "")


def _reason(error: Exception) -> str:
    """One sentence of a message of numba."""
    text = "".join(part for part in str(error).replace("\x1b", "\0").split("\0"))
    for code in ("[1m", "[0m", "[31m", "[34m", "[35m", "[36m", "[37m", "[22m", "[39m"):
        text = text.replace(code, "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(
        "readonly" in line and ("setitem" in line or "inplace" in line or "iadd" in line) for line in lines
    ) or ("Cannot modify readonly array" in text):
        return _IN_PLACE
    marks = (
        "Unknown attribute",
        "No implementation of function",
        "Use of unsupported",
        "Cannot unify",
        "Unsupported",
    )
    telling = next(
        (line for mark in marks for line in lines if mark in line), lines[1] if len(lines) > 1 else ""
    )
    signature = next((line[4:] for line in lines if line.startswith(">>> ")), "")
    if "No implementation of function" in telling and signature:
        telling = f"there is no {signature}"
    return f"numba cannot compile it: {telling[:160].rstrip(' .:')}"


@dataclass(frozen=True)
class _Open:
    """An argument that is not known before the call."""

    name: str


class _Rebuilt:
    """Functions of a user with what they capture replaced: numbers by places in ``data``, functions by inlined ones."""

    def __init__(self, before: Sequence[float] = ()) -> None:
        self._numbers = [np.array(before, dtype=float)]
        self._size = len(before)
        self._open: list[Any] = []

    def numbers(self) -> np.ndarray:
        return np.concatenate(self._numbers)

    def entry(self, given: Any, arguments: int) -> Callable[..., Any]:
        """The function that is called with so many positional arguments, all others being captured."""
        before: list[Any] = []
        named: dict[str, Any] = {}
        while isinstance(given, functools.partial):
            before, named = [*given.args, *before], {**given.keywords, **named}
            given = given.func
        function = self._plain(given)
        rebuilt = self.function(function)
        signature = inspect.signature(function, follow_wrapped=False)
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
            raise NotCompiled("it takes any number of arguments")
        open_ = [_Open(f"x{k}") for k in range(arguments)]
        try:
            bound = signature.bind(*before, *open_, **named)
        except TypeError as error:
            raise NotCompiled(f"it cannot be called: {error}") from None
        bound.apply_defaults()
        if all(isinstance(value, _Open) for value in bound.arguments.values()):
            return rebuilt
        scope: dict[str, Any] = {"__name__": __name__, "function": inlined(rebuilt)}
        call = []
        for name, value in bound.arguments.items():
            if isinstance(value, _Open):
                word = value.name
            else:
                word = f"given_{name}"
                scope[word] = self.value(value, name)
            call.append(word)
        names = ", ".join(each.name for each in open_)
        exec(
            compile(f"def called({names}):\n    return function({', '.join(call)})\n", "<klapper>", "exec"),
            scope,
        )
        made: Callable[..., Any] = scope["called"]
        return made

    @staticmethod
    def _plain(given: Any) -> types.FunctionType:
        if isinstance(given, Dispatcher):
            given = given.py_func
        if isinstance(given, types.MethodType):
            raise NotCompiled(
                f"it is a method of an object, '{type(given.__self__).__name__}', which may change; write a function"
            )
        if not isinstance(given, types.FunctionType):
            raise NotCompiled(f"it is no plain function but of the class '{type(given).__name__}'")
        return given

    def function(self, function: types.FunctionType) -> types.FunctionType:
        """The same function with everything that it captures replaced."""
        if function in self._open:
            raise NotCompiled(f"'{function.__name__}' calls itself")
        self._open.append(function)
        code = function.__code__
        _refuse_effects(code, code.co_freevars)
        scope: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
        for name in _global_names(code):
            if name in function.__globals__:
                scope[name] = self.value(function.__globals__[name], name)
            elif not hasattr(builtins, name):
                raise NotCompiled(f"it reads '{name}', which is not defined")
            elif name not in _BUILTINS and not _is_exception(getattr(builtins, name)):
                raise NotCompiled(f"it uses {name}, which compiled code does not have")
        cells = []
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                raise NotCompiled(f"it reads '{name}', which is not defined") from None
            cells.append(types.CellType(self.value(content, name)))
        self._open.pop()
        by_place = (
            code.co_argcount + code.co_kwonlyargcount
        )  # numba inlines no arguments that are given by name only
        code = code.replace(co_argcount=by_place, co_kwonlyargcount=0)
        rebuilt = types.FunctionType(code, scope, function.__name__, None, tuple(cells))
        rebuilt.__qualname__ = function.__qualname__
        return rebuilt

    def value(self, value: Any, name: str) -> Any:
        """What stands for a captured value in compiled code."""
        if isinstance(value, float):  # also numpy's
            return self._number(np.array(float(value)))
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if isinstance(value, types.ModuleType):
            if any(value is module for module in _MODULES):
                return value
            raise NotCompiled(
                f"it reads the module '{name}', whose values may change; only numpy and math are known"
            )
        if isinstance(value, Dispatcher | types.FunctionType) and not _is_numpy(value):
            plain = self._plain(value)
            if plain.__defaults__ or plain.__kwdefaults__:
                raise NotCompiled(f"it calls '{name}', which has default arguments")
            return inlined(self.function(plain))
        if _is_constant(value) or _is_numpy(value):
            return value
        if isinstance(value, list | dict | set | bytearray):
            kind = type(value).__name__
            raise NotCompiled(
                f"it reads '{name}', a {kind}, which may change; a tuple or an array can be compiled"
            )
        raise NotCompiled(f"it reads '{name}' of the class '{type(value).__name__}', which may change")

    def _array(self, value: np.ndarray, name: str) -> Any:
        if type(value) is not np.ndarray or value.dtype.kind not in "biufc":
            raise NotCompiled(
                f"it reads '{name}', an array of {value.dtype} of the class '{type(value).__name__}'"
            )
        if value.dtype == np.float64:
            return self._number(value)
        frozen = value.copy()
        frozen.flags.writeable = False
        return frozen

    def _number(self, value: np.ndarray) -> Captured:
        place, self._size = self._size, self._size + value.size
        self._numbers.append(np.ravel(value))
        return Captured(place, value.shape)


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return type(value) is tuple and all(_is_constant(part) or type(part) is float for part in value)
    return (
        value is None or type(value) in (bool, int, complex, str) or isinstance(value, np.number | np.bool_)
    )


def _is_exception(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _is_numpy(value: Any) -> bool:
    """Whether it is a function or type of numpy or math, all of which keep nothing; not of numpy.random."""
    if isinstance(value, np.ufunc):
        return True
    if isinstance(value, type):
        return issubclass(value, np.generic) or value in (float, int, bool, complex)
    module = str(getattr(value, "__module__", "") or "")
    return callable(value) and module.split(".")[0] in ("numpy", "math") and "random" not in module


@functools.lru_cache(maxsize=4096)
def _refuse_effects(code: types.CodeType, outside: tuple[str, ...]) -> None:
    """Refuse code that does more than compute from its arguments, and what captured functions may do likewise."""
    waits = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    if code.co_flags & waits and code.co_name != "<genexpr>":
        raise NotCompiled("it is a generator")
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in outside:
            raise NotCompiled(f"it writes to '{instruction.argval}', which lives outside it")
        if name in _FORBIDDEN and not (name == "YIELD_VALUE" and code.co_name == "<genexpr>"):
            raise NotCompiled(_FORBIDDEN[name].format(f"'{instruction.argval}'"))
        if name in ("LOAD_ATTR", "LOAD_METHOD") and instruction.argval == "random":
            raise NotCompiled("it draws random numbers")
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            _refuse_effects(part, tuple(name for name in part.co_freevars if name in outside))


@functools.lru_cache(maxsize=4096)
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """Names of globals and builtins that code reads, in order."""
    names = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    inside = (_global_names(part) for part in code.co_consts if isinstance(part, types.CodeType))
    return tuple(sorted(names.union(*inside)))


def digest(function: Callable[..., Any], more: str = "") -> str:
    """A name for the code of a function with all constants that it reads, and for what compiles it."""
    found = hashlib.sha256()
    for text in (_versions(), more, *_told(function)):
        found.update(text.encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    return found.hexdigest()[:40]


def _told(value: Any) -> Iterator[str]:
    """Texts that are the same for the same code and constants in every process, and differ for all others."""
    if isinstance(value, Dispatcher):
        known = getattr(value, "klapper_digest", None)
        if known is None and not _is_own(value.py_func):
            known = digest(value.py_func)
        yield f"compiled {value.py_func.__module__}.{value.py_func.__qualname__} {known}"
    elif isinstance(value, types.FunctionType) and (
        _is_numpy(value) or (_is_own(value) and not value.__closure__)
    ):
        yield f"function {value.__module__}.{value.__qualname__}"
        if _is_own(value):
            yield from _told(value.__code__)
    elif isinstance(value, types.FunctionType):
        yield from _told(value.__code__)
        for cell in value.__closure__ or ():
            yield from _told(cell.cell_contents)
        for name in _global_names(value.__code__):
            if name in value.__globals__:
                yield name
                yield from _told(value.__globals__[name])
    elif isinstance(value, types.CodeType):
        yield _told_code(value)
    elif isinstance(value, tuple):
        yield f"tuple {len(value)}"
        for part in value:
            yield from _told(part)
    elif isinstance(value, frozenset):
        yield f"set {sorted(' '.join(_told(part)) for part in value)}"
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, types.ModuleType):
        yield f"module {value.__name__}"
    elif isinstance(value, float):
        yield f"{type(value).__name__} {float(value).hex()}"
    elif isinstance(value, complex):
        yield f"{type(value).__name__} {value.real.hex()} {value.imag.hex()}"
    elif isinstance(value, type) or callable(value):
        yield f"{type(value).__name__} {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
    else:
        yield f"{type(value).__name__} {value!r}"


@functools.lru_cache(maxsize=4096)
def _told_code(code: types.CodeType) -> str:
    told = [
        f"code {code.co_name} {code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}",
        f"{code.co_cellvars} {code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount}",
        f"{code.co_flags & _KINDS_OF_CODE} {code.co_exceptiontable.hex()} {len(code.co_consts)}",
    ]
    told += [text for part in code.co_consts for text in _told(part)]
    return hashlib.sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()


def _is_own(function: Any) -> bool:
    """Whether it is written in a module of the package, all of which are in :func:`_versions`."""
    name = str(function.__module__)
    return name.startswith("klapper.mechanics.") and function.__globals__ is vars(sys.modules[name])


@functools.cache
def _versions() -> str:
    """Versions of all that turns functions into machine code, with this package by its files."""
    import platform

    import llvmlite

    own = hashlib.sha256()
    here = Path(__file__).parent
    for path in sorted([*here.glob("kernels/*.py"), here / "user_functions.py", here / "compiled_form.py"]):
        own.update(path.read_bytes())
    versions = (platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__)
    return " ".join((*versions, importlib.metadata.version("klapper"), own.hexdigest()))


@contextlib.contextmanager
def unwarned() -> Iterator[None]:
    """Without warnings of functions that are asked outside their range."""
    with quiet(), np.errstate(all="ignore"):
        yield


def answered(function: Callable[..., Any], *arguments: Any) -> np.ndarray | None:
    """What a Python function answers, as numbers; None where it raises. Within :func:`unwarned`, it may overflow."""
    try:
        return np.array(function(*arguments), dtype=float)
    except Exception:
        return None


def require_same(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], called: str) -> None:
    """Refuse a compiled function whose answers (k,) at some states are not those of Python's, but for rounding."""
    if not expected:
        return
    same = [each.shape for each in found] == [each.shape for each in expected]
    if same:
        answers, general = (np.concatenate(each, axis=None) for each in (found, expected))
        with np.errstate(invalid="ignore"):
            size = np.abs(general).max(where=np.isfinite(general), initial=0.0)
            near = np.abs(answers - general) <= _SAME * size
        same = bool(np.all(near | (answers == general) | (np.isnan(answers) & np.isnan(general))))
    if not same:
        raise NotCompiled(f"{called}: its compiled answer differs from Python's")
