"""Functions of a form that a system has not: kernels ask for them by flags and never call these."""

from __future__ import annotations

import numpy as np

from klapper.mechanics.kernels.signatures import form_function


@form_function("bring")
def bring(index: np.ndarray, data: np.ndarray, t: float) -> None:
    pass


@form_function("advance")
def advance(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, displacement: np.ndarray, out: np.ndarray
) -> None:
    pass


@form_function("gaps")
def gaps(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, which: np.ndarray, out: np.ndarray
) -> None:
    pass


@form_function("directions")
def directions(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    which: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    rates: np.ndarray,
) -> None:
    pass


@form_function("laws")
def laws(index: np.ndarray, data: np.ndarray, which: np.ndarray, speed: np.ndarray, out: np.ndarray) -> None:
    pass


@form_function("curvature")
def curvature(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    which: np.ndarray,
    out: np.ndarray,
) -> None:
    pass


@form_function("residuals")
def residuals(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> None:
    pass


@form_function("constraint_directions")
def constraint_directions(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    rates: np.ndarray,
) -> None:
    pass


@form_function("constraint_curvature")
def constraint_curvature(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    pass


@form_function("potential")
def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    return 0.0


@form_function("powers")
def powers(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    pass


@form_function("damping")
def damping(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> float:
    return 0.0
