"""Signatures of the functions of a compiled form: ``@form_function("force")`` marks one.

index, data         the arrays of the model
t, q, v             time [s], position (nq,), velocity (nv,)
which               numbers (k,) of contacts
out, …              arrays that are filled wholly
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from numba import float64, int64, void
from numba.core import types
from numba.extending import typeof_impl

from klapper.machine_code import njit

INDEX, DATA = int64[::1], float64[::1]
TIME, VECTOR, NUMBERS = float64, float64[::1], int64[::1]
TABLE, PLACES, ROWS = float64[:, ::1], int64[:, ::1], float64[:, :, ::1]

BRING = void(INDEX, DATA, TIME)
"""(index, data, t): signals at t into ``data``."""
MASS = void(INDEX, DATA, VECTOR, VECTOR)
"""(index, data, q, out (e,))"""
FORCE = void(INDEX, DATA, TIME, VECTOR, VECTOR, VECTOR)
"""(index, data, t, q, v, out (nv,)); also of the stiff part"""
TANGENTS = void(INDEX, DATA, TIME, VECTOR, VECTOR, VECTOR, VECTOR)
"""(index, data, t, q, v, by_position (e,), by_velocity (e,))"""
ADVANCE = void(INDEX, DATA, VECTOR, VECTOR, VECTOR)
"""(index, data, q, displacement (nv,), out (nq,))"""
NEAR = int64(INDEX, DATA, TIME, VECTOR, NUMBERS)
"""(index, data, t, q, out): how many contacts are near, their rising numbers in out; −1 if out has no room."""
GAPS = void(INDEX, DATA, TIME, VECTOR, NUMBERS, VECTOR)
"""(index, data, t, q, which, out (k,)); nan for friction elements and for numbers that stand for no contact"""
DIRECTIONS = void(INDEX, DATA, TIME, VECTOR, NUMBERS, PLACES, ROWS, TABLE)
"""(index, data, t, q, which, columns (k, w), rows (k, 1 + d, w), rates (k, 1 + d)): J_N and J_T of a contact at the
same velocities ``columns``; an entry that is not needed is 0 at the column 0. Rates are a_N and a_T."""
LAWS = void(INDEX, DATA, NUMBERS, VECTOR, TABLE)
"""(index, data, which, speed (k,), out (k, 5)): has normal (1 or 0), ε, μ at the speed, limit, μ₂/μ₁"""
CURVATURE = void(INDEX, DATA, TIME, VECTOR, VECTOR, NUMBERS, TABLE)
"""(index, data, t, q, v, which, out (k, 1 + d)): b_N and b_T"""
RESIDUALS = void(INDEX, DATA, TIME, VECTOR, VECTOR)
"""(index, data, t, q, out (p,))"""
CONSTRAINT_DIRECTIONS = void(INDEX, DATA, TIME, VECTOR, PLACES, TABLE, VECTOR)
"""(index, data, t, q, columns (p, w), rows (p, w), rates (p,))"""
CONSTRAINT_CURVATURE = void(INDEX, DATA, TIME, VECTOR, VECTOR, VECTOR)
"""(index, data, t, q, v, out (p,))"""
POTENTIAL = float64(INDEX, DATA, VECTOR)
"""(index, data, q)"""
POWERS = void(INDEX, DATA, TIME, VECTOR, VECTOR, VECTOR)
"""(index, data, t, q, v, out (2,)): power of loads and power that dampers take"""
DAMPING = float64(INDEX, DATA, TIME, VECTOR, VECTOR)
"""(index, data, t, q, v): power that dampers take"""

FUNCTION_TYPES = {
    "bring": BRING,
    "mass": MASS,
    "force": FORCE,
    "stiff": FORCE,
    "tangents": TANGENTS,
    "advance": ADVANCE,
    "near": NEAR,
    "gaps": GAPS,
    "directions": DIRECTIONS,
    "laws": LAWS,
    "curvature": CURVATURE,
    "residuals": RESIDUALS,
    "constraint_directions": CONSTRAINT_DIRECTIONS,
    "constraint_curvature": CONSTRAINT_CURVATURE,
    "potential": POTENTIAL,
    "powers": POWERS,
    "damping": DAMPING,
}
"""Signature by the name of the function in a form."""


def form_function(kind: str, *, allocates: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function as a part of forms, e.g. ``@form_function("force")``: compiled when a form first needs it.

    Its machine code is kept on disk, so that a model compiles what it uses, once for a machine. A function that does
    not allocate arrays needs no counts of references, which cost more than short loops over them.
    """
    if kind not in FUNCTION_TYPES:
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(FUNCTION_TYPES)}.")

    def mark(function: Callable[..., Any]) -> Any:
        return _compiled(function, _nrt=allocates)

    return mark


def uncounted(function: Callable[..., Any]) -> Any:
    """Mark a function that others call and that neither makes nor returns arrays: it counts no references."""
    return _compiled(function, _nrt=False)


def inlined(function: Callable[..., Any]) -> Any:
    """Mark a small function that others call in their loops: it becomes a part of them. It allocates no arrays."""
    return _compiled(function, forceinline=True, _nrt=False)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    made: Any = njit
    return made(cache=True, error_model="numpy", **options)(function)


@cache
def _function_type(signature: Any) -> Any:
    return types.FunctionType(signature)


class Pointer(types.WrapperAddressProtocol):
    """A compiled function by its address, so that kernels which call it need not be compiled for it.

    ``function`` is a numba function, ``signature`` the one it is compiled for if it is not yet; ``kind`` is what numba
    takes the address for, the same object for the same signature.
    """

    def __init__(self, function: Any, signature: Any) -> None:
        self._signature, self.kind = signature, _function_type(signature)
        if signature.args not in function.overloads:
            function.compile(signature.args)
        made = function.overloads[signature.args]
        if made.signature.return_type != signature.return_type:
            raise TypeError(
                f"{function.__name__} returns {made.signature.return_type}, expected {signature.return_type}."
            )
        self._function = function  # its machine code lives as long as this
        self._address = made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name)
        self._native = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)

    def __wrapper_address__(self) -> int:
        return int(self._address)

    @property
    def native(self) -> int:
        """The address of the function itself, to be called as numba's own code calls it."""
        return int(self._native)

    def signature(self) -> Any:
        return self._signature


@typeof_impl.register(Pointer)
def _typeof(address: Any, context: Any) -> Any:
    """What numba asks for every address of every call: the same type for the same signature."""
    del context
    return address.kind


@lru_cache(maxsize=1024)
def pointer(function: Any, kind: str) -> Pointer:
    """The address of a function of a form, ``kind`` as in ``FUNCTION_TYPES``."""
    return Pointer(function, FUNCTION_TYPES[kind])
