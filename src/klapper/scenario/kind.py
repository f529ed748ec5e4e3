"""A kind of scenario: its tables, a starter, and how the model is built from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from klapper.scenario.place import Place
from klapper.scenario.schemes import SCHEMES
from klapper.scenario.tables import Field, Many, Named, Table
from klapper.scenario.values import Choice, NewFolder, Number, Several, Text, Truth, Whole

FIGURES = ("positions", "velocities", "gaps", "forces", "states", "ledger")
RUN = Table(
    {
        "until": Field(Number(), "end of the run", "s", needed=True),
        "every": Field(Whole(at_least=1), "save every so many steps; as many as memory allows if not given"),
        "store": Field(NewFolder(), "folder for the run, its figures and its page; --out DIR comes first"),
        "page": Field(Truth(), "whether report.html is written", default=True),
        "figures": Field(Several(Choice(FIGURES)), "figures that are drawn", default=["ledger"]),
    },
    "how long, and what is kept",
)
PENETRATION = Field(
    Number(at_least=0.0), "largest penetration that is accepted at the start", "m", default=1e-9
)
TITLE = Field(Text(), "what the page is called")
Parts = dict[str, Named | Many | Table]


@dataclass(frozen=True)
class Kind:
    """``model`` are the fields of [model], ``parts`` the other tables, ``starter`` the content of a small run.

    ``build``  makes the system from the checked content; the place names what it refuses
    ``helps``  says what it is for
    """

    name: str
    helps: str
    model: Mapping[str, Field]
    parts: Parts
    starter: Mapping[str, Any]
    build: Callable[[dict[str, Any], Place], Any] | None

    @cached_property
    def table(self) -> Table:
        """The whole file."""
        head = {"kind": Field(Choice((self.name,)), "", needed=True), "title": TITLE}
        fields = {"model": Field(Table(head | dict(self.model)), self.helps, needed=True)}
        for name, part in self.parts.items():
            fields[name] = Field(part, part.help)
        if self.build is not None:
            fields["scheme"] = Field(SCHEMES, "how the motion is computed", needed=True)
            fields["run"] = Field(RUN, RUN.help, needed=True)
        return Table(fields)
