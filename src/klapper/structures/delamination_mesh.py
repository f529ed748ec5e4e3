"""How finely a delaminated beam is divided into finite elements, and how finely it can be.

A cut raises no frequency, so the highest wanted one lies below that ω of the intact beam. With the wave numbers k of a
segment at ω, elements of the length s miss frequencies by about

    bending (cubic)     (k s)⁴/1440                stretching (linear)     (k s)²/24,

which asks for short elements. Too short ones are lost in rounding: their stiffness 12 E I/s³ is stored to ε = 2.2e-16
of its size, and a translation of the beam must cancel it in each of them. Against the stiffness E I π⁴/(2 L³) of the
first mode the error of ω₁² is at most about

    ε 24/π⁴ Σ_i (E I)_i/E I  n_i (L/s_i)³.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, pi, sqrt

import numpy as np

from klapper.mechanics import InvalidModel
from klapper.structures.delamination_segments import PLANES, Segment
from klapper.structures.delamination_spectrum import axial_number, bending_number, bending_rigidity

_ACCURACY = 1e-4  # of the frequencies
_BENT, _STRETCHED = (1440 * _ACCURACY) ** 0.25, sqrt(24 * _ACCURACY)  # largest k s
_LEAST = 4  # elements of a segment: the joint must be able to open
_ALONG = 160  # elements along the whole beam, at least
_ROUNDING = 2e-4  # largest admitted error of ω₁², a tenth of a thousandth of the frequency
_USUAL = 16  # modes, if all coordinates are kept


def fitting_elements(
    segments: Sequence[Segment], modes: int | None, planes: Sequence[str]
) -> tuple[int, ...]:
    """Numbers of elements (4,) for the ``modes`` lowest modes over the planes."""
    omega = np.array(_highest(segments, _USUAL if modes is None else modes, planes))
    whole = _length(segments)

    def count(part: Segment) -> int:
        bent = max(float(bending_number(part, bending_rigidity(part, plane), omega)) for plane in planes)
        stretched = float(axial_number(part, omega)) if "1-3" in planes else 0.0
        waves = max(bent / _BENT, stretched / _STRETCHED, _ALONG * part.length / whole)
        return max(_LEAST, ceil(waves))

    return tuple(count(part) for part in segments)


def require_resolvable(segments: Sequence[Segment], elements: Sequence[int]) -> None:
    """Refuse elements that are so short that the first frequency is lost in rounding."""
    losses = [_rounding(segments, part, n) for part, n in zip(segments, elements, strict=True)]
    if sum(losses) <= _ROUNDING:
        return
    worst = int(np.argmax(losses))
    part, given = segments[worst], elements[worst]
    most = int(given * (0.25 * _ROUNDING / losses[worst]) ** 0.25)
    advice = (
        f"give it at most {most}, ask for fewer modes, or use method 'semi-analytical'"
        if most >= _LEAST
        else "it is too short for finite elements; use method 'semi-analytical'"
    )
    raise InvalidModel(
        f"{given} finite elements of {part.length / given:.3g} m in segment {part.number} are so stiff that the first "
        f"frequency is lost in rounding; {advice}."
    )


def _rounding(segments: Sequence[Segment], part: Segment, elements: int) -> float:
    """Error of ω₁² by the rounding of one segment's stiffness, relative."""
    share = max(bending_rigidity(part, plane) / bending_rigidity(segments[0], plane) for plane in PLANES)
    slender = elements * _length(segments) / part.length
    return float(np.finfo(float).eps * 24 / pi**4 * share * elements * slender**3)


def _highest(segments: Sequence[Segment], modes: int, planes: Sequence[str]) -> float:
    """Angular frequency [rad/s] of the last of the lowest modes of the intact beam."""
    beam, length = segments[0], _length(segments)
    k = np.arange(1, modes + 1) * pi / length
    found = [k**2 * sqrt(bending_rigidity(beam, plane) / beam.line_mass) for plane in planes]
    if "1-3" in planes:
        found.append(k * sqrt(beam.axial / beam.line_mass))
    return float(np.sort(np.concatenate(found))[modes - 1])


def _length(segments: Sequence[Segment]) -> float:
    return segments[0].length + segments[1].length + segments[3].length
