"""Arrays and plain data inside a page.

An array is ``{"kind": "float32", "shape": [3, 2], "base64": …}``, little-endian, which a browser turns into a
typed array without parsing numbers. Displayed values have 24 bits of mantissa (float32), times 53 (float64); places
in an animation are 16-bit shares of their range. The JSON text has no ``<``, ``>`` or ``&``, so that no name in it
can end the ``script`` element around it.
"""

import json
from base64 import b64encode
from typing import Any, Literal

import numpy as np

Kind = Literal["float64", "float32", "uint32", "uint16", "uint8"]

_LEVELS = 65535


def embedded(array: Any, kind: Kind = "float32") -> dict[str, Any]:
    """The array as plain data; values beyond float32 become infinite."""
    with np.errstate(over="ignore"):
        typed = np.ascontiguousarray(array, dtype=np.dtype(kind).newbyteorder("<"))
    return {"kind": kind, "shape": list(typed.shape), "base64": b64encode(typed.tobytes()).decode()}


def quantised(array: np.ndarray) -> dict[str, Any]:
    """Finite values as ``low + step · level`` with 16-bit levels, half a step off at most."""
    low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
    step = (high - low) / _LEVELS
    levels = np.rint((array - low) / step) if step > 0 else np.zeros(array.shape)
    return {"low": low, "step": step, "levels": embedded(levels, "uint16")}


def script_text(content: Any) -> str:
    """JSON that is safe inside a ``script`` element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
