"""What happens on a branch of stationary states, by name."""

from __future__ import annotations

from dataclasses import dataclass

from klapper.complementarity.basis_path import PathKind


@dataclass(frozen=True)
class StationaryEvent:
    """Something on a branch at ``parameter``, in the unit of the parameter, by its ``kind``.

    "closes", "opens"      the contact ``name`` closes or opens
    "loads", "unloads"     it takes or loses its force while it stays closed: another contact carries for it
    "fold"                 the branch turns back
    "critical"             the stiffness without contacts is singular
    "branching"            other states branch off: so is the stiffness with the closed contacts, but the state stays
                           bounded, or several ways lead on where contacts change
    "unbounded"            the state grows without bound
    "lost", "resumed"      nothing continues the branch; another one was found
    "end"                  why, in ``name``

    >>> from klapper.analysis import StationaryEvent
    >>> print(StationaryEvent("closes", 8.0, "stop"))
    8: 'stop' closes
    """

    kind: PathKind
    parameter: float
    name: str = ""

    def __str__(self) -> str:
        more = f": {self.name}" if self.name else ""
        words = {
            "closes": f"'{self.name}' closes",
            "opens": f"'{self.name}' opens",
            "loads": f"'{self.name}' takes load",
            "unloads": f"'{self.name}' loses its load, but stays closed",
            "fold": f"fold: the branch turns back where '{self.name}' changes",
            "critical": f"critical: the stiffness without contacts is singular; {self.name}",
            "branching": f"branching{more}",
            "unbounded": f"positions and forces grow without bound{more}",
            "lost": f"the branch is lost{more}",
            "resumed": f"another branch{more}",
            "end": f"end{more}",
        }
        return f"{self.parameter:.6g}: {words[self.kind]}"
