"""A record as tables in a terminal."""

import sys
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from klapper.doors.text import Printed
from klapper.report.record import About, Record
from klapper.report.words import brief, deviation, expectation, verdict


def console(*, stderr: bool = False) -> Console:
    """A console that prints texts as they are; wide enough not to fold lines when it is no terminal."""
    stream: Any = Printed(sys.stderr if stderr else sys.stdout)
    made = Console(file=stream, markup=False, highlight=False, emoji=False, soft_wrap=False)
    if not made.is_terminal:
        made.width = 160
    return made


def show(record: Record, about: About, to: Console) -> None:
    """Print title, parameters, numbers, checks, audit and the verdict."""
    to.print(Text(about.title or record.example, style="bold"))
    if about.source:
        to.print(Text(f"Source: {about.source}", style="dim"))
    _section(to, "Parameters", _quantities(record.parameters, about.parameter_units, about.meanings))
    _section(to, "Numbers", _quantities(record.numbers, about.number_units, {}))
    if record.checks:
        _section(to, "Checks", _checks(record.checks))
    if record.audit:
        _section(to, "Audit", _nested(record.audit))
    to.print()
    to.print(Text(verdict(record.checks), style="bold green" if record.passed else "bold red"))


def _section(to: Console, title: str, content: RenderableType) -> None:
    to.print()
    to.print(Text(title, style="bold cyan"))
    to.print(Padding(content, (0, 0, 0, 2), expand=False))


def _quantities(values: dict[str, Any], units: Any, meanings: Any) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in values.items():
        meaning = (
            [Text(meanings[name], style="dim")] if name in meanings else []
        )  # rich cuts beside empty columns
        table.add_row(name, f"{brief(value)} {units.get(name, '')}".strip(), *meaning)
    return table


def _checks(checks: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for title in ("", "check", "value", "expected", "off by", "tolerance", "source"):
        table.add_column(title)
    for check in checks:
        mark = Text("✓", style="green") if check["passed"] else Text("✗", style="bold red")
        tolerance = "" if check["tolerance"] is None else brief(check["tolerance"])
        values = [check["name"], brief(check["value"]), expectation(check), deviation(check), tolerance]
        table.add_row(mark, *values, Text(str(check["source"]), style="dim"))
    return table


def _nested(content: dict[str, Any]) -> RenderableType:
    lines: list[RenderableType] = []
    for name, value in content.items():
        if isinstance(value, dict) and value:
            lines += [Text(name), Padding(_nested(value), (0, 0, 0, 2), expand=False)]
        elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
            lines += [Text(name), *(Text(f"  {brief(entry)}") for entry in value)]
        else:
            lines.append(Text(f"{name}: {brief(value)}"))
    return Group(*lines)
