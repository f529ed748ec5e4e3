"""Pictures in the types of JSON, as they are stored with a run; arrays are compressed text."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.picture import Part, Picture

FORMAT = 1
_TYPES = {"f": "<f8", "i": "<i4"}
_MOST_BYTES = 2**31
_SHORT = 256  # bytes that are compressed in little memory, which is sooner made than used
_KEPT: WeakKeyDictionary[Picture, dict[str, Any]] = WeakKeyDictionary()


def plain_picture(picture: Picture) -> dict[str, Any]:
    """The picture in the types of JSON; not to be changed, for it is kept as long as the picture."""
    kept = _KEPT.get(picture)
    if kept is not None:
        return kept
    content = {each.name: _written(getattr(picture, each.name)) for each in fields(picture)}
    content["parts"] = [_plain_part(part) for part in picture.parts]
    _KEPT[picture] = {"format": FORMAT, **content}
    return _KEPT[picture]


def picture_from_plain(content: Any) -> Picture:
    """The picture that was stored as plain data; :class:`InvalidModel` if it is none."""
    try:
        newer = content["format"] > FORMAT
    except (TypeError, KeyError) as error:
        raise InvalidModel("the picture of the run is damaged: it has no format.") from error
    if newer:
        raise InvalidModel("the picture of the run was written by a newer klapper: upgrade klapper.")
    try:
        parts = [Part(**{key: _read(value) for key, value in part.items()}) for part in content["parts"]]
        given = {key: _read(value) for key, value in content.items() if key not in ("format", "parts")}
        return Picture(parts=parts, **given)
    except InvalidModel:
        raise
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError, zlib.error) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InvalidModel(f"the picture of the run is damaged ({reason}).") from error


def _plain_part(part: Part) -> dict[str, Any]:
    """What differs from the usual."""
    kept: dict[str, Any] = {"name": part.name, "kind": part.kind}
    for each in fields(part)[2:]:
        value = getattr(part, each.name)
        if isinstance(value, tuple):
            kept[each.name] = [_written(array) for array in value]
        elif np.size(value) and value != each.default if not isinstance(value, np.ndarray) else value.size:
            kept[each.name] = _written(value)
    if not part.law:
        kept.pop("law", None)
    return kept


def _written(value: Any) -> Any:
    """An array as compressed text, anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    kind = "f" if value.dtype.kind == "f" else "i"
    content = np.ascontiguousarray(value, dtype=_TYPES[kind]).tobytes()
    squeezed = zlib.compressobj(6, wbits=9, memLevel=1) if len(content) <= _SHORT else zlib.compressobj(6)
    data = squeezed.compress(content) + squeezed.flush()
    return {"kind": kind, "shape": list(value.shape), "zlib": b64encode(data).decode()}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(entry) for entry in value]
    if not isinstance(value, Mapping) or "zlib" not in value:
        return value
    shape = tuple(int(size) for size in value["shape"])
    dtype = np.dtype(_TYPES[value["kind"]])
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if not 0 <= size <= _MOST_BYTES:
        raise ValueError(f"an array has the shape {shape}")
    unpack = zlib.decompressobj()
    data = unpack.decompress(b64decode(value["zlib"], validate=True), size + 1)
    if len(data) != size:
        raise ValueError("an array is not as long as it says")
    return np.frombuffer(data, dtype).reshape(shape).astype(float if value["kind"] == "f" else int)
