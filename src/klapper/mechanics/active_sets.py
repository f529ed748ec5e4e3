"""Which contacts take part on which level.

A_N3 = {i | g ≤ 0},  A_N2 = {i ∈ A_N3 | ġ ≤ 0},  A_N1 = {i ∈ A_N2 | g̈ ≤ 0}    Waltersberger (3.17)-(3.19)
A_T2 = {i ∈ A_N3 | v_T = 0},  A_T1 = {i ∈ A_T2 | v̇_T = 0}                     (4.42), (4.51)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.mechanics.system import System


@dataclass(frozen=True)
class Tolerances:
    """What counts as zero: a gap [m], a velocity [m/s], an acceleration [m/s²].

    >>> Tolerances(gap=1e-6).gap, Tolerances().velocity  # a micrometre counts as touching, no velocity as rest
    (1e-06, 0.0)
    """

    gap: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


@dataclass(frozen=True, eq=False)
class ActiveSets:
    """Which contacts take part: their numbers as integers (k,) in rising order.

    ``closed``          A_N3: g ≤ 0
    ``not_separating``  A_N2: of these, ġ ≤ 0
    ``staying``         A_N1: of these, g̈ ≤ 0; None where accelerations were not given
    ``not_sliding``     A_T2: closed and v_T = 0
    ``sticking``        A_T1: of these, v̇_T = 0; None where accelerations were not given

    A ball that touches the floor and moves up is closed, but separates:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> ball = LinearSystem([1.0], velocity=[2.0], contacts=[Contact("floor", normal=[1.0])])
    >>> found = active_sets(ball, 0.0, ball.start.position, ball.start.velocity)
    >>> found.closed.tolist(), found.not_separating.tolist(), found.staying
    ([0], [], None)
    """

    closed: np.ndarray
    not_separating: np.ndarray
    staying: np.ndarray | None
    not_sliding: np.ndarray
    sticking: np.ndarray | None


def active_sets(
    system: System,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    acceleration: np.ndarray | None = None,
    tolerances: Tolerances = Tolerances(),  # noqa: B008 - frozen
) -> ActiveSets:
    """The contacts of a ``system`` that take part: A_N3, A_N2, A_N1, A_T2, A_T1 of a state.

    The state is ``q`` (nq,) [m, rad], ``v`` (nv,) [m/s, rad/s] at the time ``t`` [s].
    The last of each need the ``acceleration`` v̇ (nv,) [m/s², rad/s²]; ``tolerances`` say what counts as zero.

    A ball that rests on the floor and is pulled up leaves it, Waltersberger (3.19):

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> ball = LinearSystem([1.0], contacts=[Contact("floor", normal=[1.0])])
    >>> rest = ball.start.position, ball.start.velocity
    >>> [active_sets(ball, 0.0, *rest, np.array([a])).staying.tolist() for a in (-9.81, 5.0)]
    [[0], []]
    """
    near = system.near(t, q)
    gaps = system.gaps(t, q, near)
    closed = near[np.isnan(gaps) | (gaps <= tolerances.gap)]
    directions = system.directions(t, q, closed)
    has_normal = system.contacts.laws(closed).normal
    approach = directions.normal_velocity(v) <= tolerances.velocity
    d = system.contacts.tangential
    slip = np.linalg.norm(directions.tangential_velocity(v).reshape(len(closed), d), axis=1)
    still = slip <= tolerances.velocity
    touching = has_normal & approach
    staying = sticking = None
    if acceleration is not None:
        b_n, b_t = system.curvature(t, q, v, closed)
        lifting = directions.normal.T @ acceleration + b_n
        staying = closed[touching & (lifting <= tolerances.acceleration)]
        change = (directions.tangential.T @ acceleration + b_t).reshape(len(closed), d)
        sticking = closed[still & (np.linalg.norm(change, axis=1) <= tolerances.acceleration)]
    return ActiveSets(closed[has_normal], closed[touching], staying, closed[still], sticking)
