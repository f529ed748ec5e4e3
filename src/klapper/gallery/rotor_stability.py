"""Delaminated rotor: which speeds it survives, and how far centrifugal forces open it.

A shaft with a delamination turns at Ω. Seen from the shaft, small motions obey

    M q̈ + (Ω G + D_in + D_a) q̇ + (K_el − Ω² K_c + Ω P) q = Ω² f_c                  (5.114)

and grow where an eigenvalue has a positive real part, (5.167). Where an odd number of critical speeds lies below Ω, no
gyroscopic force can help, (5.168); material damping alone never can (Thomson and Tait). The laminae lie on
both sides of the axis, so that centrifugal forces pull them apart, (5.161).

The shipped values are those of Example 5.13. `L2=0.1` with `speed_to=226` is Example 5.12; `L2=0`, `damping_ext=0` is
the intact shaft of Example 5.11; Example 5.14 is shipped as `rotor-clatter`.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from klapper.gallery._rotor import (
    ALUMINIUM,
    Alpha2,
    Density,
    Depth,
    Drag,
    Height,
    Length,
    Modes,
    Shaft,
    SpeedFrom,
    SpeedRange,
    SpeedTo,
    Width,
    Young,
    draw_campbell,
    draw_deflection,
    draw_growth,
    limits,
)
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from klapper.structures.delaminated_beam import DelaminatedModel

STEEL = {"length": 1.0, "height": 0.01, "width": 0.01, "depth": 0.0075, "young": 210e9, "density": 7500.0}
SHORT = Shaft(**STEEL, split=0.1, drag=1.0, alpha2=0.0)  # Example 5.12
LONG = Shaft(**STEEL, split=0.6, drag=1.0, alpha2=0.0)  # Example 5.13
MATERIAL_DAMPING = 1e-5  # s, for the theorem of Thomson and Tait if the shaft has none


@example(
    "rotor-stability", source="Waltersberger (2007), Examples 5.11-5.14, Figs. 5.38, 5.39, 5.42, 5.44, 5.45"
)
def rotor_stability(
    *,
    L: Length = 1.0,
    L2: Annotated[
        float, Parameter("L₂, length of the delamination in the middle; 0: none", unit="m", at_least=0.0)
    ] = 0.6,
    a: Height = 0.01,
    b: Width = 0.01,
    h: Depth = 0.0075,
    E: Young = 210e9,
    rho: Density = 7500.0,
    damping_ext: Drag = 1.0,
    alpha2: Alpha2 = 0.0,
    modes: Modes = 16,
    speed_from: SpeedFrom = 1.0,
    speed_to: SpeedTo = 70.0,
) -> Outcome:
    from klapper.analysis.rotor import centrifugal_deflection

    shaft = Shaft(L, L2, a, b, h, E, rho, damping_ext, alpha2)
    model = shaft.model(modes) if L2 > 0.0 else None
    span = SpeedRange(shaft.intact_rotor(modes) if model is None else model.rotor, speed_from, speed_to)
    numbers = {
        "unstable_bands": limits(span.unstable),
        "critical_speeds": span.critical,
        "largest_growth": [band.largest for band in span.unstable],
        "kinds": [_kind(span, band.low, band.high) for band in span.unstable],
    }
    units = {
        "unstable_bands": "Hz",
        "critical_speeds": "Hz",
        "largest_growth": "1/s (largest sampled in each band)",
    }
    figures = {"growth": partial(draw_growth, span=span), "campbell": partial(draw_campbell, span=span)}
    checks = [*_criteria(span), *(_intact(shaft, span) if model is None else _elements(shaft, model, span))]
    if model is not None:
        slow = 1e-3 * model.frequencies[0]
        numbers["opening_per_squared_speed"] = float(
            centrifugal_deflection(model.rotor, [slow], model.gap_rows([0.5]))[0, 0] / slow**2
        )
        units["opening_per_squared_speed"] = "m/Hz² (middle of the joint, slow rotation)"
        figures["deflection"] = partial(draw_deflection, span=span, model=model)
        checks += _printed(shaft, span)
    return Outcome(
        numbers=numbers,
        units=units,
        checks=checks,
        audit={
            "method": "sine modes, closed form"
            if model is None
            else "natural modes found by counting, (5.108)–(5.129)",
            "limits of the bands": "bracketed to 1e-6 Hz between sampled speeds, critical speeds and middles of them",
            "uniqueness": "linear: one motion for every start",
        },
        figures=figures,
    )


def _kind(span: SpeedRange, low: float, high: float) -> str:
    """What grows in the middle of a band."""
    from klapper.analysis.rotor import eigenvalues

    fastest = eigenvalues(span.rotor, [0.5 * (low + high)])[0, 0]
    return "divergence" if abs(fastest.imag) <= 1e-6 * abs(fastest) else "flutter"


def _criteria(span: SpeedRange) -> list[Check]:
    """The determinant criterion and the theorem of Thomson and Tait, at speeds between the critical ones."""
    from klapper.analysis.rotor import determinant_parity, growth, thomson_tait

    speeds = np.linspace(max(span.low, 1e-2 * span.high), span.high, 201)
    distance = np.abs(speeds[:, None] - np.append(span.critical, np.inf)).min(axis=1)
    speeds = speeds[distance > 1e-4 * speeds]
    odd = determinant_parity(span.rotor, speeds).unstable
    material = float(np.max(np.diag(span.rotor.internal_damping) / np.diag(span.rotor.stiffness)))
    theorem = thomson_tait(span.without_external_damping(material or MATERIAL_DAMPING), speeds)
    return [
        Check(
            "speeds that are stable without external damping in spite of an odd number of critical speeds below",
            value=int(np.count_nonzero(growth(span.without_external_damping(), speeds[odd]) <= 0.0))
            if odd.any()
            else 0,
            expected=0,
            source="determinant criterion (5.168)",
        ),
        Check(
            "without external damping, but with material damping, unstable exactly above the first critical speed",
            value=bool(theorem.applies and theorem.holds),
            expected=True,
            source="theorem of Thomson and Tait",
        ),
    ]


def _elements(shaft: Shaft, model: "DelaminatedModel", span: SpeedRange) -> list[Check]:
    """The same by finite elements, unless the delamination is too short for them."""
    from klapper.analysis.rotor import centrifugal_deflection

    try:
        other = shaft.model(model.size, "fe")
    except ParameterError:
        return []
    beside = SpeedRange(other.rotor, span.low, span.high)
    slow = np.array([0.5e-2, 1e-2]) * model.frequencies[0]
    opening, opening_fe = (
        centrifugal_deflection(each.rotor, slow, each.gap_rows([0.5]))[:, 0] for each in (model, other)
    )
    ends = _closed_limits(span)
    return [
        Check(
            "critical speeds by finite elements",
            value=span.critical,
            expected=beside.critical,
            tolerance=5e-4 * span.critical,
            source="Hermite elements with coupled tips",
        ),
        Check(
            "limits of the bands by finite elements",
            value=ends,
            expected=_closed_limits(beside) if ends else [],
            tolerance=[1e-3 * end for end in ends],
            source="Hermite elements with coupled tips",
        ),
        Check(
            "opening by slow rotation over that by finite elements",
            value=opening / opening_fe,
            expected=1.0,
            tolerance=1e-2,
            source="Hermite elements with coupled tips",
        ),
        Check(
            "opening at twice the speed over the opening, slow rotation",
            value=opening[1] / opening[0],
            expected=4.0,
            tolerance=1e-2,
            source="centrifugal forces grow with the squared speed",
        ),
    ]


def _closed_limits(span: SpeedRange) -> list[float]:
    """Limits of the bands that are not those of the range."""
    return [
        end
        for band in span.unstable
        for end, closed in zip((band.low, band.high), band.closed, strict=True)
        if closed
    ]


def _intact(shaft: Shaft, span: SpeedRange) -> list[Check]:
    """Sine modes turn in pairs: a polynomial of degree four for each."""
    from klapper.analysis.rotor import growth

    waves = [int(name.split()[2]) for name in span.rotor.coordinates]
    pairs = [wave for wave in sorted(set(waves)) if waves.count(wave) == 2]
    speeds = np.linspace(max(span.low, 1e-2 * span.high), span.high, 97)
    known = (
        np.array([max(_pair_growth(shaft, wave, speed) for wave in pairs) for speed in speeds])
        if pairs
        else None
    )
    expected = np.sort(shaft.sine_frequencies.ravel())
    count = len(span.critical)
    low = np.searchsorted(expected, span.low)
    checks = (
        [
            Check(
                "critical speeds",
                value=span.critical,
                expected=expected[low : low + count],
                tolerance=1e-9 * span.high,
                source="closed form (kπ/L)² √(EI/ρA)",
            )
        ]
        if count
        else []
    )
    if known is not None and len(pairs) == len(set(waves)):
        checks.append(
            Check(
                "largest real part",
                value=growth(span.rotor, speeds),
                expected=known,
                tolerance=1e-6 * 2 * np.pi * span.high,
                source="polynomial of degree four of each pair of modes; double roots move by the root of round-off",
            )
        )
    checks.append(
        Check(
            "unbalance of the intact shaft",
            value=float(np.abs(span.rotor.unbalance).max()),
            expected=0.0,
            tolerance=0.0,
            source="its axis is the axis of rotation",
        )
    )
    if shaft.height == shaft.width and shaft.drag == shaft.alpha2 == 0.0:
        checks.append(
            Check("number of unstable bands", value=len(span.unstable), expected=0, source="Example 5.11")
        )
    return checks


def _pair_growth(shaft: Shaft, wave: int, speed: float) -> float:
    """Largest real part [1/s] of λ of one pair of sine modes of the intact shaft."""
    first, second = (2 * np.pi * shaft.sine_frequencies[wave - 1]) ** 2
    omega, drag = 2 * np.pi * speed, shaft.drag / shaft.line_mass
    one = np.array([1.0, drag + shaft.alpha2 * first, first - omega**2])
    two = np.array([1.0, drag + shaft.alpha2 * second, second - omega**2])
    across = omega * np.array([2.0, drag])
    return float(np.roots(np.polyadd(np.polymul(one, two), np.polymul(across, across))).real.max())


def _printed(shaft: Shaft, span: SpeedRange) -> list[Check]:
    """Numbers of the thesis, for its parameters and ranges that hold them."""
    checks: list[Check] = []
    if span.rotor.size < 6:
        return checks
    ends = np.array(limits(span.unstable)).reshape(-1, 2)
    if shaft == SHORT and span.low < 90.0 and 100.0 < span.high <= 226.0:
        checks.append(
            Check(
                "number of unstable bands, thesis",
                value=len(ends),
                expected=1,
                source="Fig. 5.38: only between paired critical speeds; external damping closes the others",
            )
        )
    if shaft == LONG and span.low < 20.0 and span.high > 44.0:
        checks += [
            Check(
                "third critical speed, thesis",
                value=float(span.critical[2]),
                expected=43.1,
                tolerance=0.1,
                source="Example 5.13",
            ),
            Check(
                "onset of instability above the first critical speeds, thesis 38 Hz",
                value=float(ends[(ends[:, 0] > 25.0), 0][0]),
                at_least=35.0,
                at_most=40.0,
                source="Example 5.13; read from Fig. 5.42",
            ),
        ]
    if shaft == ALUMINIUM and span.low < 9.0 and span.high > 18.0:
        checks.append(
            Check(
                "onset of instability above the first critical speeds, thesis",
                value=float(ends[(ends[:, 0] > 12.0), 0][0]),
                expected=16.5,
                tolerance=0.5,
                source="Example 5.14; read from Fig. 5.44",
            )
        )
    return checks
