"""An impact law applied at fixed time and place, before a step goes on. Waltersberger, Scheme 5.3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import Directions, Matrix, System


@dataclass(frozen=True, eq=False)
class Jump:
    """What an impact law did before a step.

    ``velocity`` (nv,) after it; ``impulse`` (k, 1 + d) and ``constraint`` (p,) [N s]; ``losses`` (3,) [J] by friction,
    by normal and constraint impulses, and the work of moving walls; ``treated`` (k,): contacts that the law decided
    about; ``finding``: its kind and words, or None.
    """

    velocity: np.ndarray
    impulse: np.ndarray
    constraint: np.ndarray
    losses: np.ndarray
    treated: np.ndarray
    finding: tuple[str, str] | None = None


def resolve_jump(
    law: Any,
    system: System,
    mass: Matrix,
    bilateral: tuple[Matrix, np.ndarray],
    v: np.ndarray,
    contact: np.ndarray,
    directions: Directions,
    laws: ContactLaws,
) -> Jump:
    """The jump by ``law`` of those closed contacts that do not open; nothing happens if none of them approaches.

    A law of impacts in sequence is given all closed contacts, since it chooses anew after each of them.
    """
    from klapper.mechanics.impact import Approaching, ImpactProblem

    d = system.contacts.tangential
    impulses = np.zeros((len(contact), 1 + d))
    closed = np.flatnonzero(laws.normal)
    approach = directions.normal_velocity(v)[closed]
    noise = 1e-12 * np.abs(v).max(initial=0.0)
    if not np.any(approach < -noise):
        return Jump(v, impulses, np.zeros(len(bilateral[1])), np.zeros(3), np.zeros(len(contact), dtype=bool))
    rough = bool(np.any(laws.own_friction > 0.0))
    columns = (closed[:, None] * d + np.arange(d)).ravel()
    ratio = np.ones((len(closed), d))
    if d == 2:
        ratio[:, 1] = laws.ratio[closed]
    tangential = directions.tangential[:, columns] * ratio.ravel() if rough else None
    problem = ImpactProblem(
        mass,
        v,
        directions.normal[:, closed],
        restitution=laws.restitution[closed],
        tangential=tangential,
        friction=laws.own_friction[closed] if rough else 0.0,
        normal_rate=directions.normal_rate[closed],
        tangential_rate=(directions.tangential_rate[columns] * ratio.ravel()) if rough else 0.0,
        bilateral=bilateral[0] if len(bilateral[1]) else None,
        bilateral_rate=bilateral[1] if len(bilateral[1]) else 0.0,
        dimension=max(d, 1),
        names=[system.contacts.name(int(contact[i])) for i in closed],
        coordinates=list(system.velocities),
    )
    taken = problem.approaching(noise)
    if getattr(law, "in_sequence", False):
        taken = Approaching(problem, np.arange(problem.contacts), np.arange(problem.patches))
    result = law.resolve(taken.problem)
    impulses[closed[taken.contacts], 0] = result.normal
    if rough:
        impulses[np.ix_(closed[taken.patches], np.arange(1, 1 + d))] = (
            result.tangential * ratio[taken.patches]
        )
    audit = result.audit
    losses = np.array([audit.friction.sum(), audit.normal.sum() + audit.bilateral.sum(), audit.walls])
    finding = ("energy gain", audit.words) if audit.gain > 0.0 else None
    if not getattr(result, "finished", True):
        finding = ("impacts without end", result.words)
    treated = np.zeros(len(contact), dtype=bool)
    treated[closed[taken.contacts]] = True
    return Jump(result.after, impulses, np.asarray(result.bilateral), losses, treated, finding)
