"""Which computation a stored point is: the key of a point, the version of the code, the seeds of replicates.

    key = BLAKE2b₁₂₈(target, code, parameter = value, …, replicate, predecessor)

Values enter by their shortest exact text, so that equal numbers give equal keys on every machine. The code version is a
digest of all source files of the package: a point computed by other code is another point.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

KEY_BYTES = 16


@cache
def code_of_package() -> str:
    """Version of klapper and a digest of its source files."""
    import klapper

    root = Path(klapper.__file__).parent
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return f"{klapper.__version__}+{digest.hexdigest()}"


@cache
def digest_of_source(path: str | None) -> str:
    """Digest of the file in which a function of the user lives, as it was first read; of nothing without a file."""
    return digest_of_file(Path(path)) if path is not None and Path(path).is_file() else digest_of_text("")


def digest_of_file(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()


def digest_of_text(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def keys_of(head: str, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]) -> list[bytes]:
    """The keys of all points; which parameters vary and which are constant makes no difference."""
    parts, varying = [head.replace("%", "%%")], []
    for name in sorted({*columns, *constants}):
        if name in columns:
            parts.append(f"{name}=%s")
            varying.append([_text(value) for value in columns[name]])
        else:
            parts.append(f"{name}={_text(constants[name])}".replace("%", "%%"))
    pattern = "\n".join(parts)
    blake2b = hashlib.blake2b
    return [
        blake2b((pattern % row).encode(), digest_size=KEY_BYTES).digest()
        for row in zip(*varying, strict=True)
    ]


def chained(keys: Sequence[bytes]) -> list[bytes]:
    """Keys of points that each start from the one before: what came before is part of what they are."""
    links, before = [], b""
    for key in keys:
        before = hashlib.blake2b(before + key, digest_size=KEY_BYTES).digest()
        links.append(before)
    return links


def seed_sequence(parameters: Mapping[str, Any], replicate: int, seed: int) -> Any:
    """The ``numpy.random.SeedSequence`` of a point: its own stream, whichever worker computes it and when."""
    from numpy.random import SeedSequence

    text = "\n".join(f"{name}={_text(value)}" for name, value in sorted(parameters.items()))
    digest = hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).digest()
    words = [int.from_bytes(digest[k : k + 4], "little") for k in range(0, KEY_BYTES, 4)]
    return SeedSequence(seed, spawn_key=(*words, replicate))


def _text(value: Any) -> str:
    """The shortest text from which the value can be read back exactly."""
    return repr(list(value)) if isinstance(value, list | tuple) else repr(value)
