"""What methods ask of a system besides the protocol stands in its contract."""

import re
from pathlib import Path

import klapper
from klapper.mechanics import System

SOURCE = Path(klapper.__file__).parent


def test_the_contract_names_whatever_is_asked_for() -> None:
    asked = {
        name
        for file in SOURCE.rglob("*.py")
        for name in re.findall(
            r"(?:getattr|hasattr)\((?:self\.)?system, \"(\w+)\"", file.read_text(encoding="utf-8")
        )
    }
    assert {"pair", "load_at", "linear_momentum"} <= asked
    told = {re.match(r"\w+", name).group() for name in re.findall(r"``(\w[^`]*)``", System.__doc__)}
    assert asked <= told, f"asked for but not in the contract: {', '.join(sorted(asked - told))}"
