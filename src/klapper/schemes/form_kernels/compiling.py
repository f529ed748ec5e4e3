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


@register_pass(mutates_CFG=True, analysis_only=False)
class _UncountedLowering(BaseNativeLowering):
    _name: Any = "uncounted_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lower

    def run_pass(self, state: Any) -> bool:
        with _uncounted():
            return bool(super().run_pass(state))


class _Uncounted(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_UncountedLowering if each is NativeLowering else each, name) for each, name in passes.passes
        ]
        passes.finalize()
        return [passes]


_made: Any = njit
outer: Any = _made(cache=True, error_model="numpy")
inner: Any = _made(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
bare: Any = _made(
    cache=True,
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    pipeline_class=_Uncounted,
)
apart: Any = _made(cache=True, error_model="numpy", no_cpython_wrapper=True, pipeline_class=_Uncounted)
part: Any = _made(cache=True, error_model="numpy", no_cpython_wrapper=True)
