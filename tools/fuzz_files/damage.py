"""Damage by chance: bytes of any file, entries of JSON and TOML, numbers of text; seals and digests fit again."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import tomllib
from pathlib import Path
from typing import Any

_BLOCK = 512  # bytes before the HDF5 part of a container
_VALUES: list[Any] = [
    None, True, -1, 0, 2**70, 10**400, 1e308, -1e-320, "nan", "", "x" * 300, "a\nb", "\0", "\ud800", [], [[]], {},
    [None], {"a": []}, "é", "../../x", "/etc/passwd",
]  # fmt: skip
_NUMBERS = [
    "0", "-1", "1e200", "-1e200", "1e-200", "1e308", "nan", "inf", "-inf", "9223372036854775807", "1e5", "100000000",
    "0x7f", "1e60", "true", '"x"', "[]", "{}", "99999999999999999999", "4294967296", "1_000", "1e59", "1e-59", "-0.0",
    "5e-324", "0.1", "-1e59", "2147483648", "1e-7", "65536", "1979-05-27", "12:00:00",
]  # fmt: skip
_SIGNS = [
    b"\xed\xa0\x80", b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"\x1b]0;x\x07", b"\r", b"\xe2\x80\xae", b"\xc2\x85", b"\n\n",
]  # fmt: skip
_NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


def damaged(file: Path, content: bytes, chance: random.Random, other: bytes = b"") -> bytes:
    """The content of a file of a case, changed; ``other`` is that of another one, of which parts may be taken."""
    if other and chance.random() < 0.08:
        return _spliced(content, other, chance)
    if file.suffix == ".h5" and chance.random() < 0.85:
        return sealed(content[:_BLOCK], _flipped(content[_BLOCK:], chance, few=True))
    if file.suffix == ".json" and chance.random() < 0.6:
        return _entries(content, chance)
    if file.suffix == ".toml" and chance.random() < 0.4:
        return written_as_toml(changed(tomllib.loads(content.decode()), chance))
    if file.suffix not in (".h5", ".npz", ".npy", ".gz", ".sqlite", ".med") and chance.random() < 0.6:
        return _text(content, chance)
    return _flipped(content, chance, few=file.suffix in (".sqlite", ".med"))


def sealed(block: bytes, rest: bytes) -> bytes:
    """A container with the seal that fits."""
    title = block.partition(b"\n")[0]
    seal = f"\nbytes {len(rest)}\nblake2b {hashlib.blake2b(rest).hexdigest()}\nHDF5 begins at byte {_BLOCK}\n"
    return (title + seal.encode()).ljust(_BLOCK, b"\0") + rest


def _spliced(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """The beginning of one file and the end of another; a container is sealed again."""
    place, start = chance.randrange(len(content) + 1), chance.randrange(len(other) + 1)
    whole = content[:place] + other[start:]
    return sealed(content[:_BLOCK], whole[_BLOCK:]) if content.startswith(b"klapper ") else whole


def _flipped(content: bytes, chance: random.Random, *, few: bool) -> bytes:
    """Cut, flipped, overwritten, doubled, or replaced."""
    data = bytearray(content)
    if not data:
        return b"x"
    place = chance.randrange(len(data))
    match chance.choice([0, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 8] if few else range(10)):
        case 0:
            return bytes(data[:place])
        case 1:
            for _ in range(chance.choice([1, 1, 3, 20])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 2:
            for _ in range(chance.choice([1, 1, 2, 5])):
                place, size = chance.randrange(len(data)), chance.choice([1, 2, 4, 8])
                number = chance.choice([0, 1, -1, 2**31, 2**62, len(data), chance.randrange(len(data))])
                data[place : place + size] = (number & (2 ** (8 * size) - 1)).to_bytes(
                    size, chance.choice(["little", "big"])
                )
        case 3:
            data[place : place + 64] = bytes(len(data[place : place + 64]))
        case 4:
            other = chance.randrange(len(data))
            size = chance.choice([4, 16, 200])
            data[place : place + size] = data[other : other + size]
        case 5:
            return bytes(data[:place] + data)
        case 6:
            return chance.randbytes(chance.choice([1, 7, 600, 5000]))
        case 7:
            return bytes(data[place:])
        case 8:  # two blocks change places
            other, size = chance.randrange(len(data)), chance.choice([1, 8, 64, 512])
            one, two = data[place : place + size], data[other : other + size]
            data[place : place + len(two)], data[other : other + len(one)] = two, one
        case _:
            return bytes(data[:place]) + chance.choice(_SIGNS) + bytes(data[place:])
    return bytes(data)


def _entries(content: bytes, chance: random.Random) -> bytes:
    """JSON with another value somewhere; the digest of a header is made anew."""
    found = json.loads(content)
    digest = found.pop("blake2b", None)
    found = changed(found, chance)
    if digest is not None and isinstance(found, dict):
        text = json.dumps(found, sort_keys=True).encode()
        found = {**found, "blake2b": hashlib.blake2b(text).hexdigest()}
    return json.dumps(found).encode()


def changed(content: Any, chance: random.Random) -> Any:
    """Plain data with another value somewhere, or with one left out, renamed or doubled."""
    if isinstance(content, dict) and content and chance.random() < 0.9:
        name = chance.choice(list(content))
        rest = {key: value for key, value in content.items() if key != name}
        if chance.random() < 0.15:
            return rest
        key = name + "x" if chance.random() < 0.1 else name
        return rest | {key: changed(content[name], chance)}
    if isinstance(content, list) and content and chance.random() < 0.8:
        place, rows = chance.randrange(len(content)), [*content]
        rows[place : place + 1] = chance.choice([[], [content[place]] * 2, [changed(content[place], chance)]])
        return rows
    return chance.choice(_VALUES)


def _text(content: bytes, chance: random.Random) -> bytes:
    """A number exchanged, a line doubled, moved or taken out."""
    numbers = list(_NUMBER.finditer(content))
    for _ in range(chance.choice([1, 1, 1, 2])):
        if numbers and chance.random() < 0.7:
            found = chance.choice(numbers)
            new = chance.choice(_NUMBERS).encode()
            content = content[: found.start()] + new + content[found.end() :]
            numbers = list(_NUMBER.finditer(content))
        else:
            lines = content.splitlines(keepends=True) or [b""]
            place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[place : place + 1] = chance.choice(
                [[], [lines[place]] * 2, [lines[other]], [lines[place] * 300]]
            )
            content = b"".join(lines)
            numbers = list(_NUMBER.finditer(content))
    return content


def written_as_toml(content: Any) -> bytes:
    """Plain data as TOML in one line for each key; what TOML does not know is written in the nearest way."""
    rows = content.items() if isinstance(content, dict) else [("x", content)]
    return "\n".join(f"{_toml(str(key))} = {_toml(value)}" for key, value in rows).encode(
        "utf-8", "surrogatepass"
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(str(key))} = {_toml(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value, default=str)
