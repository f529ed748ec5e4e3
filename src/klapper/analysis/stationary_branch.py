"""A branch of stationary states over speed, load or flow velocity.

    K(s) q = f(s) + F λ,   0 ≤ J_Nᵀ q + g₀(s) ⟂ λ ≥ 0                                 Waltersberger & Wauer (3)

Below the first critical speed there is one state; above it there may be several or none. The state at the start is
followed with s as the homotopy parameter, through changes of contact, folds and critical speeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from klapper.analysis.stationary_event import StationaryEvent
from klapper.analysis.stationary_path import StationaryPath
from klapper.analysis.stationary_problem import StationaryProblem
from klapper.analysis.stationary_state import StationaryState
from klapper.counting import counted
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.shown import Shown

_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class StationaryBranch(Shown):
    """Verified states along a parameter: k points of a system with n coordinates, m contacts, p constraints.

    ``family``      parameter → system
    ``parameter``   (k,) in its unit, in the order of the branch
    ``position``    (k, n) [m]
    ``forces``      (k, m, 1 + d) [N], normal and tangential
    ``gaps``        (k, m) [m], not a number for friction elements
    ``constraint``  (k, p) [N]
    ``closed``      (k, m): the contacts that hold the branch; others that touch carry nothing
    ``residual``    (k,), dimensionless, of the equations and the contact laws
    ``convex``      (k,): whether the problem is convex, so that there is no other state
    ``negative``    (k,): number of directions with negative stiffness while the closed contacts stay closed
    ``number``      (k,): counts up where the branch was lost and another one taken
    ``events``      in the order met
    ``finished``    False if it was interrupted
    ``time``        [s] at which changing loads were frozen

    Rotation takes stiffness away, k = 100 − s²; under 0.36 N a gap of 0.01 m closes at s = 8 rad/s, where k = 36 N/m:

    >>> from klapper.analysis import follow_stationary
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> stop = Contact("stop", normal=[1.0], gap=0.01)
    >>> turning = lambda speed: LinearSystem([1.0], stiffness=[100.0 - speed**2], force=[-0.36], contacts=[stop])
    >>> branch = follow_stationary(turning, 0.0, 9.0, steps=5)
    >>> branch.named("closes").round(9), branch.position[-1].round(9)
    (array([8.]), array([-0.01]))
    """

    family: Callable[[float], LinearSystem]
    contacts: tuple[str, ...]
    parameter: np.ndarray
    position: np.ndarray
    forces: np.ndarray
    gaps: np.ndarray
    constraint: np.ndarray
    closed: np.ndarray
    residual: np.ndarray
    convex: np.ndarray
    negative: np.ndarray
    number: np.ndarray
    events: tuple[StationaryEvent, ...]
    finished: bool
    time: float | None = None

    def __len__(self) -> int:
        return len(self.parameter)

    @property
    def ended(self) -> str:
        """Why the branch ended, in a sentence."""
        last = self.events[-1]
        return last.name or f"the parameter has reached {last.parameter:.8g}"

    @cached_property
    def folds(self) -> np.ndarray:
        """Parameters at which the branch turns back."""
        return self.named("fold")

    def named(self, kind: str) -> np.ndarray:
        """Parameters of all events of one kind."""
        return np.array([event.parameter for event in self.events if event.kind == kind])

    def state(self, point: int) -> StationaryState:
        """The state at a point, by number."""
        problem = StationaryProblem.of(self.family(float(self.parameter[point])), self.time)
        return problem.stationary_state(
            self.position[point],
            self.forces[point, problem.contacts, 0],
            convex=bool(self.convex[point]),
            negative=int(self.negative[point]),
        )

    def __str__(self) -> str:
        head = (
            f"{counted(len(self), 'state')} on {counted(self.number[-1] + 1, 'branch', 'branches')} from "
            f"{self.parameter[0]:.6g}, largest residual "
            f"{self.residual.max():.1e}"
        )
        shown = [f"  {event}" for event in self.events[:_SHOWN]]
        hidden = len(self.events) - len(shown)
        return "\n".join([head, *shown, *([f"  … and {hidden} more events"] if hidden else [])])


def follow_stationary(
    family: Callable[[float], LinearSystem],
    start: float,
    end: float,
    *,
    steps: int = 200,
    first: StationaryState | None = None,
    at_fold: Literal["turn", "jump"] = "turn",
    time: float | None = None,
    progress: bool | None = None,
) -> StationaryBranch:
    r"""Follow a stationary state of ``family(s)`` from s = ``start`` to ``end``.

    ``family``    a parameter (speed, load factor, flow velocity) → the system, always with the same coordinates and
                  contacts; it may depend on s in any smooth way
    ``steps``     least number of steps between start and end; they become shorter where states change fast; changes of
                  contact lie between them and are located to round-off
    ``first``     the state to start from; None: the only one, if the problem at ``start`` is convex
    ``at_fold``   "turn": follow the branch back, at most to ``start``; "jump": leave it there, as a machine does whose
                  speed is raised further, and look for another state
    ``time``      [s] at which loads and gaps that change with time are frozen; None: they must be constant
    ``progress``  show a progress line; None: if errors go to a terminal

    Every point is verified to 1e-10. Where forces or gaps grow without bound, or nothing continues the branch, it is
    lost, and Lemke's method, started from its last closed contacts, looks for another one. Ctrl-C ends the branch early
    and keeps what there is. Friction as in :func:`stationary_state`.

    A mass is pressed onto a stop by 5 N while its stiffness is taken away by rotation; the stop holds it through the
    critical speed of 10 rad/s:

    >>> from klapper.analysis import follow_stationary
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> stop = Contact("stop", 0.02, [1.0])
    >>> turning = lambda speed: LinearSystem([1.0], stiffness=[100.0 - speed**2], force=[-5.0], contacts=[stop])
    >>> branch = follow_stationary(turning, 0.0, 20.0, steps=30)
    >>> print(*branch.events, sep="\n")
    10: critical: the stiffness without contacts is singular; beyond it the problem is not convex
    20: end
    >>> branch.forces[-1, 0, 0].round(9).item()
    11.0
    """
    low, high = number(start, "start"), number(end, "end")
    if low == high:
        raise InvalidModel(f"start and end are both {low:g}; they must differ.")
    if not callable(family):
        raise InvalidModel(
            f"family is {family!r}; give a function of the parameter that returns a LinearSystem."
        )
    count = number(steps, "steps", "whole numbers from 1 on", at_least=1.0)
    if at_fold not in ("turn", "jump"):
        raise InvalidModel(f"at_fold is {at_fold!r}; allowed are 'turn' and 'jump'.")
    path = StationaryPath(family, low, high, steps=int(count), jump=at_fold == "jump", time=time)
    finished = path.follow(first, progress)
    points = path.points
    return StationaryBranch(
        family,
        path.family.contacts,
        np.array([point.parameter for point in points]),
        np.array([point.state.position for point in points]),
        np.array([point.state.forces for point in points]),
        np.array([point.state.gaps for point in points]),
        np.array([point.state.constraint for point in points]),
        np.array([point.closed for point in points]),
        np.array([point.state.residual for point in points]),
        np.array([point.state.convex for point in points]),
        np.array([point.state.negative for point in points]),
        np.array([point.number for point in points]),
        path.events,
        finished,
        time,
    )
