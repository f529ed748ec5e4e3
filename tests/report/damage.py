"""Damage by chance: to bytes, to JSON and to arrays."""

import random
from typing import Any

import numpy as np

VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2**70,
    1e308,
    "nan",
    "",
    "x" * 300,
    "a\nb",
    "\x00",
    [],
    [[]],
    {},
    [None],
    {"a": []},
    "é",
]


def damaged_bytes(content: bytes, chance: random.Random) -> bytes:
    """Cut, flipped, overwritten, doubled, emptied or replaced."""
    data = bytearray(content)
    place = chance.randrange(len(data) + 1)
    match chance.randrange(8):
        case 0:
            return bytes(data[:place])
        case 1:
            return bytes(data[place:])
        case 2:
            for _ in range(chance.choice([1, 1, 3, 50])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            return bytes(data)
        case 3:
            data[place : place + 64] = bytes(len(data[place : place + 64]))
            return bytes(data)
        case 4:
            return bytes(data[:place] + data)
        case 5:
            return chance.randbytes(chance.choice([0, 1, 7, 600, 5000]))
        case 6:
            head = chance.randrange(600)
            return chance.randbytes(head) + bytes(data[head:])
        case _:
            return chance.choice(
                [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"klapper run, format 9\n", b"\x89HDF\r\n\x1a\n"]
            )


def damaged_content(content: Any, chance: random.Random) -> Any:
    """JSON with a value anywhere exchanged, renamed, doubled or taken out."""
    if isinstance(content, dict) and content and chance.random() < 0.9:
        name = chance.choice(list(content))
        changed = {key: value for key, value in content.items() if key != name}
        if chance.random() < 0.2:
            return changed
        key = name + "x" if chance.random() < 0.1 else name
        return changed | {key: damaged_content(content[name], chance)}
    if isinstance(content, list) and content and chance.random() < 0.8:
        place = chance.randrange(len(content))
        changed = [*content]
        changed[place : place + 1] = chance.choice(
            [[], [content[place]] * 2, [damaged_content(content[place], chance)]]
        )
        return changed
    return chance.choice(VALUES)


def damaged_array(array: np.ndarray, chance: random.Random) -> Any:
    """Another shape, type or value."""
    match chance.randrange(8):
        case 0:
            return array[: chance.randrange(len(array) + 1)] if array.ndim else np.zeros(3)
        case 1:
            return np.concatenate([array, array]) if array.ndim else np.zeros((2, 2))
        case 2:
            return array.reshape(-1)
        case 3:
            return (
                array.astype(chance.choice(["S3", "int8", "complex128", "bool"]))
                if array.dtype.kind != "S"
                else 1
            )
        case 4:
            return np.full(array.shape, chance.choice([np.nan, np.inf, -1, 2**40]))
        case 5:
            return array[..., None]
        case 6:
            return np.bytes_(b"text")
        case _:
            return np.zeros(0)
