"""How functions here are compiled: kept on disk, and without wrappers for Python where none calls them.

``outer``  called from Python
``inner``  allocates arrays
``bare``   works on arrays that it is given, and returns numbers at most: it counts no references
``part``   allocates arrays, and is called by its address
``apart``  as ``bare``, and is called by its address

Taking an array out of a group counts a reference, an atomic operation each time, which was half the time of a step.
Whoever calls a bare function holds the arrays. A bare function that allocated would never free.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from klapper.machine_code import njit


def _nothing(self: Any, builder: Any, kind: Any, value: Any) -> None:
    """No count."""


@contextmanager
def _uncounted() -> Iterator[None]:
    """Within, code is made without counts of references; numba makes code under a lock."""
    counts: Any = NRTContext
    known = counts.incref, counts.decref
    counts.incref = counts.decref = _nothing
    try:
        yield
    finally:
        counts.incref, counts.decref = known


class _Linked(JITCodeLibrary):  # type: ignore[misc]
    """A library that is only ever linked into others: it is optimised there, and no machine code is made of it here."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _LinkedLowering(BaseNativeLowering):
    _name: Any = "linked_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lower

    def run_pass(self, state: Any) -> bool:
        codegen, context = state.targetctx.codegen(), state.targetctx
        state.library = _Linked(codegen, state.func_id.func_qualname)
        context.get_executable = _without_code
        try:
            return bool(super().run_pass(state))
        finally:
            del context.get_executable


def _without_code(library: Any, fndesc: Any, env: Any) -> Any:
    """As numba's own for a function without wrappers, which nobody calls from Python."""
    return _dynfunc.make_function(
        fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "linked into others", 0, env, (library,)
    )


@register_pass(mutates_CFG=True, analysis_only=False)
class _CountedLinkedLowering(_LinkedLowering):
    _name: Any = "counted_linked_lowering"


@register_pass(mutates_CFG=True, analysis_only=False)
class _UncountedLinkedLowering(_LinkedLowering):
    _name: Any = "uncounted_linked_lowering"

    def run_pass(self, state: Any) -> bool:
        with _uncounted():
            return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class _UncountedLowering(BaseNativeLowering):
    _name: Any = "uncounted_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lower

    def run_pass(self, state: Any) -> bool:
        with _uncounted():
            return bool(super().run_pass(state))


def _with(lowering: Any) -> Any:
    """A compiler with this lowering."""

    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [
                (lowering if each is NativeLowering else each, name) for each, name in passes.passes
            ]
            passes.finalize()
            return [passes]

    Compiler.__qualname__ = f"with {lowering.__name__}"  # what machine code on disk is named by
    return Compiler


def _made(**options: Any) -> Any:
    """As ``njit``, but one machine code for all whole numbers: numba compiles one for each that stands in a call."""

    def mark(function: Any) -> Any:
        made = njit(function, **options)
        template = made.get_call_template

        def of_kinds(arguments: Any, named: Any) -> Any:
            return template(tuple(map(types.unliteral, arguments)), named)

        made.get_call_template = of_kinds
        return made

    return mark


outer: Any = _made(cache=True, error_model="numpy")
inner: Any = _made(
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    pipeline_class=_with(_CountedLinkedLowering),
)
bare: Any = _made(
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    pipeline_class=_with(_UncountedLinkedLowering),
)
apart: Any = _made(
    cache=True, error_model="numpy", no_cpython_wrapper=True, pipeline_class=_with(_UncountedLowering)
)
part: Any = _made(cache=True, error_model="numpy", no_cpython_wrapper=True)
