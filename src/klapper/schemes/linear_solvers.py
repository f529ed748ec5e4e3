"""Which compiled solvers the loop for linear systems calls, by address: only those that are called are compiled.

One contact without friction needs none. Else the first of a row is taken, the next one where it finds no answer: what
is rarely needed takes longest to compile.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from klapper.mechanics.kernels.signatures import Pointer

_SOLVERS = {
    "nothing": ("linear_contacts", "solve_nothing"),
    "smooth": ("linear_contacts", "solve_smooth"),
    "smooth or dependent": ("linear_pivoting", "solve_smooth_or_dependent"),
    "dependent": ("linear_pivoting", "solve_dependent"),
    "stubborn": ("linear_afresh", "solve_stubborn"),
    "unsymmetric": ("linear_unsymmetric", "solve_unsymmetric"),
    "afresh": ("linear_afresh", "solve_afresh"),
    "single": ("linear_single", "solve_single"),
    "rough": ("linear_rough", "solve_rough"),
}
"""Files in ``klapper.schemes.kernels`` and functions in them."""


def solvers(
    contacts: int, *, rough: bool, elements: bool, symmetric: bool, symmetric_delassus: bool
) -> tuple[str, ...]:
    """Names of solvers for so many contacts, in their order.

    ``rough``, ``elements``   whether there is friction, and whether some contacts have friction only
    ``symmetric``, ``symmetric_delassus``   whether M̂ is symmetric, and whether the Delassus matrix is to round-off
    """
    if rough:
        return ("single",) if contacts == 1 and not elements else ("rough",)
    if contacts <= 1:
        return ("nothing",)
    if symmetric:
        return "smooth", "smooth or dependent", "stubborn"
    return ("dependent" if symmetric_delassus else "unsymmetric"), "afresh"


@cache
def address(name: str) -> Pointer:
    """The solver of this name, compiled."""
    from klapper.schemes.kernels.linear_contacts import SOLVE

    file, function = _SOLVERS[name]
    return Pointer(getattr(import_module(f"klapper.schemes.kernels.{file}"), function), SOLVE)
