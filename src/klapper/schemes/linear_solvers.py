"""Which compiled solver the loop for linear systems calls, by its address: only what is called is compiled.

A single contact without friction needs none. The first of the solvers is taken until it finds no answer.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from klapper.mechanics.kernels.signatures import Pointer

NOTHING, SMOOTH, STUBBORN, AFRESH, SINGLE, ROUGH = (
    "nothing",
    "smooth",
    "stubborn",
    "afresh",
    "single",
    "rough",
)


def solvers(contacts: int, *, rough: bool, symmetric: bool, elements: bool) -> tuple[str, ...]:
    """Names of solvers for so many contacts, ``rough`` with friction, ``elements`` if some have friction only.

    >>> solvers(1, rough=False, symmetric=True, elements=False), solvers(3, rough=True, symmetric=True, elements=False)
    (('nothing',), ('rough',))
    """
    if rough:
        return (SINGLE,) if contacts == 1 and not elements else (ROUGH,)
    if contacts <= 1:
        return (NOTHING,)
    return (SMOOTH, STUBBORN) if symmetric else (AFRESH,)


@cache
def address(name: str) -> Pointer:
    """The solver of this name, compiled."""
    from klapper.schemes.kernels.linear_contacts import SOLVE

    return Pointer(_function(name), SOLVE)


def _function(name: str) -> Any:
    if name in (STUBBORN, AFRESH):
        from klapper.schemes.kernels import linear_afresh

        return linear_afresh.solve_stubborn if name == STUBBORN else linear_afresh.solve_afresh
    if name == ROUGH:
        from klapper.schemes.kernels.linear_rough import solve_rough

        return solve_rough
    if name == SINGLE:
        from klapper.schemes.kernels.linear_single import solve_single

        return solve_single
    from klapper.schemes.kernels import linear_contacts

    return linear_contacts.solve_smooth if name == SMOOTH else linear_contacts.solve_nothing
