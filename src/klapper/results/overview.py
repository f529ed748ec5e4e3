"""A run in words and tables: what ``summary`` tells and ``klapper show`` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.counting import counted
from klapper.results.events import KINDS, as_events
from klapper.results.ledger import EXACT, TRUSTED
from klapper.results.plain import plain
from klapper.results.tables import aligned, number

if TYPE_CHECKING:
    from klapper.results.run import Run

SHOWN_CONTACTS, SHOWN_EVENTS, WIDTH = 20, 6, 110


def headline(run: Run) -> str:
    """The run in one line."""
    end = f" to {run.time[-1]:g} s" if len(run) else ""
    return f"{_system(run)}: {counted(len(run), 'sample')}{end}, {_contacts(run)}, {_status(run)}"


def summary(run: Run) -> list[str]:
    """Lines with what was computed, how, and how good it is."""
    return [line for title, text in rows(run) for line in _hanging(f"{title:<9} ", text)]


def rows(run: Run) -> list[tuple[str, str]]:
    """The same as titles and texts."""
    about, layout = run.about, run.layout
    found = [("run", f"{_system(run)}, {_status(run)}")]
    if about.get("message"):
        found.append(("", str(about["message"])))
    if about.get("scheme"):
        found.append(("scheme", _named(about["scheme"], about.get("settings"))))
    steps = about.get("steps", int(run.samples.step[-1]) if len(run) else 0)
    span = f" from {run.time[0]:g} s to {run.time[-1]:g} s" if len(run) else ""
    spent = (
        f", computed in {number(about['wall_time'])} s"
        if isinstance(about.get("wall_time"), int | float)
        else ""
    )
    found.append(("time", f"{counted(len(run), 'sample')} of {counted(steps, 'step')}{span}{spent}"))
    sizes = [
        counted(len(layout.coordinates), "coordinate"),
        counted(len(layout.velocities), "velocity", "velocities"),
    ]
    sizes += [_contacts(run), counted(len(layout.constraints), "two-sided constraint")]
    found.append(("size", ", ".join(sizes)))
    counts = event_counts(run)
    found.append(
        ("events", ", ".join(f"{counts[kind]} × {kind}" for kind in KINDS if counts[kind]) or "none")
    )
    found.append(("residual", f"{number(np.max(run.samples.residual, initial=0.0))} at most, relative"))
    found.append(("ledger", run.ledger.verdict))
    if about.get("statistics"):
        found.append(("effort", str(run.statistics)))
    audit = about.get("audit")
    if isinstance(audit, dict):
        found += [("contacts", str(audit[key])) for key in ("penetration", "indentation") if audit.get(key)]
    if about.get("version"):
        found.append(("klapper", str(about["version"])))
    return found


def contact_rows(run: Run) -> Iterator[dict[str, Any]]:
    """For each contact the shares of time in each state, the number of impacts, and extreme values.

    Of contacts that are logged by number only those with the largest normal impulse are told.
    """
    interval = np.diff(run.time)
    span = interval.sum()
    over = run.over_time if run.samples.loaded is None and len(run) else None
    for contact in _told_contacts(run):
        history = run.contact(contact)
        share = {
            name: float(interval[history.state[1:] == state].sum() / span) if span > 0 else float("nan")
            for name, state in (("open", OPEN), ("stick", STICK), ("slip", SLIP), ("impact", IMPACT))
        }
        if not run.layout.tangential:
            closed = share.pop("stick") + share.pop("slip")
            share = {"open": share["open"], "closed": closed, "impact": share["impact"]}
        force, hit = history.force[:, 0], history.state == IMPACT
        yield {
            "contact": history.name,
            **share,
            "impacts": int(hit.sum()),
            "smallest_gap": _extreme(history.gap, np.min) if over is None else float(over.gap.least[contact]),
            "largest_force": _extreme(force, np.max) if over is None else float(over.force.largest[contact]),
            "largest_impulse": _extreme(history.impulse[hit, 0], np.max),
        }


def contact_table(run: Run) -> list[str]:
    """Lines of a table of the contacts."""
    rows = list(contact_rows(run))
    if not rows:
        return ["This run has no contacts."]
    shares = [name for name in rows[0] if name in ("open", "closed", "stick", "slip", "impact")]
    header = ["contact", *shares, "impacts", "smallest gap / m", "largest force / N", "largest impulse / N s"]
    cells = [
        [
            row["contact"],
            *(f"{100 * row[name]:.1f} %" for name in shares),
            str(row["impacts"]),
            *(number(row[name]) for name in ("smallest_gap", "largest_force", "largest_impulse")),
        ]
        for row in rows[:SHOWN_CONTACTS]
    ]
    more = len(rows) - len(cells)
    return [*aligned(header, cells), *([f"… and {more} more"] if more > 0 else [])]


def event_counts(run: Run) -> dict[str, int]:
    """How often each kind of event occurs."""
    counts = np.bincount(run.changes.kind, minlength=len(KINDS))
    return dict(zip(KINDS, counts.tolist(), strict=True))


def event_rows(run: Run) -> tuple[list[dict[str, Any]], int]:
    """The first and last events in the order of time, and how many are left out between them."""
    found = run.changes
    count = len(found.kind)
    chosen = np.arange(count)
    if count > 2 * SHOWN_EVENTS:
        chosen = np.r_[chosen[:SHOWN_EVENTS], chosen[-SHOWN_EVENTS:]]
    events = as_events(found.of(chosen), run.samples, run.layout)
    rows = [
        {
            "time": event.time,
            "contact": event.contact,
            "event": event.kind,
            "before": event.before,
            "after": event.after,
            "impulse": list(event.impulse),
        }
        for event in events
    ]
    return rows, count - len(chosen)


def event_table(run: Run) -> list[str]:
    """Lines of a table of the first and last events."""
    rows, left_out = event_rows(run)
    if not rows:
        return ["Nothing happened at the contacts."]
    header = ["contact", "event", "time / s", *(f"{name} impulse / N s" for name in run.layout.directions)]
    cells = [
        [row["contact"], row["event"], number(row["time"]), *map(number, row["impulse"])] for row in rows
    ]
    lines = aligned(header, cells)
    if left_out:
        lines.insert(1 + SHOWN_EVENTS, f"… {left_out} more")
    return lines


def sections(run: Run) -> dict[str, list[str]]:
    """Everything ``klapper show`` prints, by heading."""
    parts = {"Run": summary(run), "Contacts": contact_table(run), "Events": event_table(run)}
    parts["Energy"] = run.ledger.table().splitlines()
    if run.about.get("audit"):
        parts["Audit"] = _nested(run.about["audit"])
    return parts


def numbers(run: Run) -> dict[str, Any]:
    """The same as plain data."""
    events, left_out = event_rows(run)
    ledger = run.ledger
    return plain(
        {
            "about": {
                name: value for name, value in run.about.items() if name not in ("picture", "iterations")
            },
            "samples": len(run),
            "start": run.time[0] if len(run) else None,
            "end": run.time[-1] if len(run) else None,
            "coordinates": dict(zip(run.layout.coordinates, run.final[1], strict=True)) if len(run) else {},
            "velocities": dict(zip(run.layout.velocities, run.final[2], strict=True)) if len(run) else {},
            "contacts": list(contact_rows(run)),
            "events": {"counts": event_counts(run), "shown": events, "left_out": left_out},
            "residual": np.max(run.samples.residual, initial=0.0),
            "energy": ledger.balance
            | {"closing_error": ledger.closing_error, "scale": ledger.scale}
            | {"closes": ledger.closes(TRUSTED), "closes_exactly": ledger.closes(EXACT)},
        },
        "run",
    )


def as_json(run: Run) -> str:
    """The same as text."""
    return json.dumps(numbers(run), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _told_contacts(run: Run) -> list[int]:
    loaded = run.samples.loaded
    if loaded is None:
        return list(range(len(run.layout.contacts)))
    contacts, entry = np.unique(loaded.contact, return_inverse=True)
    total = np.bincount(entry, weights=loaded.impulse[:, 0], minlength=len(contacts))
    return contacts[np.argsort(-total, kind="stable")[:SHOWN_CONTACTS]].tolist()


def _contacts(run: Run) -> str:
    loaded = run.samples.loaded
    if loaded is None:
        return counted(len(run.layout.contacts), "contact")
    most = int(np.max(np.diff(loaded.start), initial=0))
    return f"{counted(len(np.unique(loaded.contact)), 'contact')} loaded, {most} at once"


def _status(run: Run) -> str:
    return str(run.about.get("status", "status unknown"))


def _system(run: Run) -> str:
    return _named(run.about.get("system") or "a system without name")


def _hanging(title: str, text: str) -> list[str]:
    """A text beside its title, folded at words."""
    return wrap(text, WIDTH, initial_indent=title, subsequent_indent=" " * len(title), break_long_words=False)


def _named(thing: Any, settings: Any = None) -> str:
    """A name with its settings, given as a text, or as a dictionary with a "name"."""
    if isinstance(thing, dict):
        rest = {key: value for key, value in thing.items() if key != "name"}
        thing, settings = thing.get("name", ""), settings or rest
    if not isinstance(settings, dict) or not settings:
        return str(thing)
    told = (f"{key}={_short(value)}" for key, value in settings.items() if value is not None)
    return f"{thing} ({', '.join(told)})".strip()


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _nested(content: Any, indent: str = "") -> list[str]:
    """Lines of nested dictionaries and lists."""
    if isinstance(content, dict):
        lines = []
        for key, value in content.items():
            deep = isinstance(value, dict | list) and any(
                isinstance(part, dict | list) for part in _parts(value)
            )
            if deep or isinstance(value, dict):
                lines += [f"{indent}{key}:", *_nested(value, indent + "  ")]
            else:
                lines.append(f"{indent}{key}: {_short(value)}")
        return lines
    if isinstance(content, list):
        return [f"{indent}{_short(value)}" for value in content]
    return [f"{indent}{_short(content)}"]


def _parts(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else list(value)


def _extreme(values: np.ndarray, pick: Any) -> float:
    known = values[~np.isnan(values)]
    return float(pick(known)) if known.size else float("nan")
