"""What the measurements of studies compute; workers import it by name."""

from __future__ import annotations

from typing import Any


def nothing(x: float) -> dict[str, Any]:
    """A point that costs nothing: what remains is the study's own work."""
    return {"value": x}


def busy(x: float, rounds: int = 9000) -> dict[str, Any]:
    """A point of about a millisecond of plain arithmetic."""
    total = 0.0
    for k in range(rounds):
        total += (x + k) % 3.0
    return {"value": total}
