"""The JSON schema of scenario files, with which editors complete and check them while they are written."""

from __future__ import annotations

from typing import Any

from klapper.scenario.kinds import KINDS


def schema() -> dict[str, Any]:
    """One schema for all kinds, told apart by ``model.kind``.

    >>> from klapper.scenario import KINDS, schema
    >>> len(schema()["oneOf"]) == len(KINDS)
    True
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "klapper scenario",
        "description": "A run described in one file; SI units.",
        "oneOf": [{"title": name, **kind.table.schema} for name, kind in KINDS.items()],
    }
