"""Delaminated beam: natural frequencies in the plane of opening, by functions and by finite elements.

Four Euler–Bernoulli segments, the middle two above each other. Each has the shapes sin, cos, sinh, cosh; supports and
transitions at the tips leave a homogeneous system, whose roots are found by counting so that none is missed:

    A(ω) c = 0                                                                         Waltersberger (5.147)–(5.149)
    u₃₂ = u₃₁ + h/2 u₁₁',   u₃₃ = u₃₁ − (a − h)/2 u₁₁'                                 (5.143)–(5.146)

The second line couples bending and stretching: a tip that turns moves the laminae lengthwise. Without it
(``coupling=false``) the first frequency is far too low. In the middle of the height both laminae are alike; then there
are modes that only open the joint, those of a clamped lamina, with the rest of the beam standing still.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import pi, sqrt
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.structures.delaminated_beam import DelaminatedBeam, DelaminatedModel

Method = Literal["semi-analytical", "fe"]

CLAMPED = (4.730040744862704, 7.853204624095838, 10.995607838001671, 14.137165491257464)  # cos x cosh x = 1
AGREEMENT = 5e-4  # between functions and elements
LENGTHS = np.linspace(0.025, 0.9, 36)  # L₂/L in the figure
PRINTED_LENGTHS = np.array([0.1, 0.2, 0.4, 0.6])  # L₂/L, Figs. 5.27 and 5.28


@dataclass(frozen=True, eq=False)
class Modes:
    """The beam and its lowest modes in the plane 1-3, by one of the methods."""

    beam: "DelaminatedBeam"
    count: int
    method: Method

    @cached_property
    def model(self) -> "DelaminatedModel":
        return self.beam.model(self.count, plane="1-3", method=self.method)

    @property
    def frequencies(self) -> np.ndarray:
        return self.model.frequencies

    @cached_property
    def other(self) -> np.ndarray:
        """Frequencies by the other method [Hz]; none where it cannot do it."""
        return _frequencies(
            self.beam, self.count, "fe" if self.method == "semi-analytical" else "semi-analytical"
        )

    @cached_property
    def by_length(self) -> dict[Method, np.ndarray]:
        """Frequencies (4, count) [Hz] of the printed lengths of the delamination by both methods; none as above."""
        methods: tuple[Method, Method] = ("semi-analytical", "fe")
        beams = [replace(self.beam, delamination=share * self.beam.length) for share in PRINTED_LENGTHS]
        rows = {each: [_frequencies(beam, self.count, each) for beam in beams] for each in methods}
        return {
            each: np.array([row[: min(map(len, found))] for row in found]) for each, found in rows.items()
        }

    @cached_property
    def openings(self) -> np.ndarray:
        """Largest opening of the joint of each mode over its largest deflection."""
        return np.abs(self.model.gap_rows(PLACES)).max(axis=0) / self.deflections(1, 2, 3, 4)

    @cached_property
    def outside(self) -> np.ndarray:
        """Largest deflection of the intact parts over that of the laminae, mode by mode."""
        return self.deflections(1, 4) / self.deflections(2, 3)

    def deflections(self, *segments: int) -> np.ndarray:
        rows = [np.abs(self.model.rows(segment, PLACES, 1)).max(axis=0) for segment in segments]
        return np.max(rows, axis=0)


PLACES = np.linspace(0.0, 1.0, 101)


def _frequencies(beam: "DelaminatedBeam", count: int, method: Method) -> np.ndarray:
    """(count,) [Hz]; none where the method cannot do it."""
    from klapper.mechanics import InvalidModel

    try:
        return beam.frequencies(count, plane="1-3", method=method)
    except InvalidModel:
        return np.zeros(0)


def intact(beam: "DelaminatedBeam", count: int) -> np.ndarray:
    """Frequencies (count,) [Hz] of the same beam without delamination, bending and stretching, in closed form."""
    k = np.arange(1, count + 1)
    radius = beam.height / sqrt(12)
    sound = sqrt(beam.young / beam.density)
    bending = (k * pi / beam.length) ** 2 * radius * sound / (2 * pi)
    stretching = k * sound / (2 * beam.length)
    return np.sort(np.concatenate([bending, stretching]))[:count]


def opening_modes(beam: "DelaminatedBeam") -> np.ndarray:
    """Frequencies [Hz] of a lamina of half the height, clamped at both tips."""
    radius, sound = 0.5 * beam.height / sqrt(12), sqrt(beam.young / beam.density)
    return (np.array(CLAMPED) / beam.delamination) ** 2 * radius * sound / (2 * pi)


@example("delaminated-modes", source="Waltersberger (2007), Example 5.9, Figs. 5.27-5.32")
def delaminated_modes(
    *,
    L: Annotated[float, Parameter("length of the beam", unit="m", above=0.0)] = 1.0,
    L2: Annotated[float, Parameter("length of the delamination, centred", unit="m", above=0.0)] = 0.2,
    a: Annotated[float, Parameter("height, in the direction of opening", unit="m", above=0.0)] = 0.01,
    b: Annotated[float, Parameter("width", unit="m", above=0.0)] = 0.02,
    h: Annotated[float, Parameter("thickness of the lower lamina", unit="m", above=0.0)] = 0.005,
    E: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 210e9,
    rho: Annotated[float, Parameter("density", unit="kg/m³", above=0.0)] = 7500.0,
    coupling: Annotated[bool, Parameter("whether turning tips move the laminae lengthwise")] = True,
    method: Annotated[
        Method, Parameter("functions found by counting, or finite elements")
    ] = "semi-analytical",
    count: Annotated[int, Parameter("number of frequencies", at_least=1, at_most=40)] = 11,
) -> Outcome:
    from klapper.mechanics import InvalidModel
    from klapper.structures.delaminated_beam import DelaminatedBeam

    try:
        beam = DelaminatedBeam(L, L2, a, b, h, E, rho, coupling=coupling)
    except InvalidModel as error:
        raise ParameterError(f"L2 and h must fit into the beam: {error}") from error
    modes = Modes(beam, count, method)
    try:
        compared = len(modes.other) == len(modes.frequencies)
    except InvalidModel as error:
        raise ParameterError(f"L2 cannot be {L2:g} m with method {method}: {error}") from error
    whole = intact(beam, count)
    loose = _first(beam, coupling=False)
    return Outcome(
        numbers={
            "frequencies": modes.frequencies,
            "other_method": modes.other,
            "largest_difference": np.abs(modes.other / modes.frequencies - 1.0).max()
            if compared
            else float("nan"),
            "intact": whole,
            "drop_of_first": 1.0 - modes.frequencies[0] / whole[0],
            "first_without_coupling": loose,
            "openings": modes.openings,
            "opening_modes": opening_modes(beam) if _alike(beam) else [],
            "lengths": PRINTED_LENGTHS * L,
            "frequencies_by_length": modes.by_length["semi-analytical"],
            "elements_by_length": modes.by_length["fe"],
        },
        units={
            "frequencies": "Hz",
            "other_method": "Hz; none where the delamination is too short for finite elements",
            "largest_difference": "of the frequencies by both methods, relative",
            "intact": "Hz (closed form)",
            "drop_of_first": "relative to the intact beam",
            "first_without_coupling": "Hz",
            "openings": "largest opening over largest deflection of each mode",
            "opening_modes": "Hz (clamped lamina, closed form)",
            "lengths": "m (delaminations of the table)",
            "frequencies_by_length": "Hz (rows: lengths; functions)",
            "elements_by_length": "Hz (rows: lengths; finite elements)",
        },
        checks=_checks(modes, whole, loose),
        audit={
            "found by": method,
            "compared with": f"{'the other method, and ' if compared else ''}the number of roots by counting",
        },
        figures={
            "shapes": partial(_draw_shapes, modes=modes),
            "lengths": partial(_draw_lengths, modes=modes),
            "coupling": partial(_draw_coupling, beam=beam),
        },
    )


def _alike(beam: "DelaminatedBeam") -> bool:
    return abs(beam.depth - 0.5 * beam.height) < 1e-9 * beam.height


def _first(beam: "DelaminatedBeam", *, coupling: bool) -> float:
    return float(replace(beam, coupling=coupling).frequencies(1, plane="1-3")[0])


def _miscounted(modes: Modes) -> int:
    """How many frequencies are missed below, or found in excess of, the number of roots up to each of them."""
    wrong = 0
    for k, f in enumerate(modes.frequencies):
        below, up_to = (modes.beam.count_below(f * (1 + d), plane="1-3") for d in (-AGREEMENT, AGREEMENT))
        wrong += max(below - k, 0) + max(k + 1 - up_to, 0)
    return wrong


def _checks(modes: Modes, whole: np.ndarray, loose: float) -> list[Check]:
    beam, found = modes.beam, modes.frequencies
    checks = [
        Check(
            "frequencies missed or in excess",
            value=_miscounted(modes),
            expected=0,
            source="number of roots by the count of Wittrick and Williams",
        )
    ]
    if len(modes.other):
        checks.append(
            Check(
                "frequencies by the other method",
                value=found,
                expected=modes.other,
                tolerance=AGREEMENT * modes.other,
                source="finite elements share nothing with the functions but the data",
            )
        )
    functions, elements = modes.by_length["semi-analytical"], modes.by_length["fe"]
    if functions.shape == elements.shape:
        checks.append(
            Check(
                "frequencies by functions and by elements, all printed lengths",
                value=functions,
                expected=elements,
                tolerance=AGREEMENT * elements,
                source="Waltersberger Figs. 5.27, 5.28: delaminations of 0.1, 0.2, 0.4 and 0.6 of the length",
            )
        )
    if beam.coupling:
        checks += [
            Check(
                "frequencies over those of the intact beam",
                value=found / whole,
                at_most=1.0 + AGREEMENT,
                source="a cut takes constraints away, which raises no frequency",
            ),
            Check(
                "first frequency without coupling over that with",
                value=loose / found[0],
                at_most=1.0,
                source="Waltersberger: without (5.143)-(5.146) frequencies are too low",
            ),
        ]
    if _alike(beam):
        checks += _opening_checks(modes)
    return checks


def _opening_checks(modes: Modes) -> list[Check]:
    """For laminae that are alike: modes that open the joint stand still outside it, with known frequencies."""
    expected = opening_modes(modes.beam)
    expected = expected[expected < modes.frequencies[-1] * (1 - AGREEMENT)]
    if not len(expected):
        return []
    which = [int(np.argmin(np.abs(modes.frequencies / f - 1.0))) for f in expected]
    twin = [np.sum(np.abs(modes.frequencies / modes.frequencies[i] - 1) < 1e-3) > 1 for i in which]
    still = [modes.outside[i] for i, double in zip(which, twin, strict=True) if not double]
    checks = [
        Check(
            "frequencies of opening modes",
            value=modes.frequencies[which],
            expected=expected,
            tolerance=AGREEMENT * expected,
            source="clamped lamina of half the height, closed form",
        )
    ]
    if still:
        checks.append(
            Check(
                "opening modes: deflection outside the joint over that inside",
                value=still,
                expected=0.0,
                tolerance=1e-6,
                source="symmetry",
            )
        )
    return checks


def _draw_shapes(figure: "Figure", *, modes: Modes) -> None:
    """Mode shapes in the plane of opening: intact parts dark, upper lamina blue, lower lamina orange. Laminae that
    cross say that the mode alone cannot vibrate."""
    columns = min(4, modes.count)
    rows = -(-modes.count // columns)
    figure.set_size_inches(10.0, 1.5 * rows + 0.3)
    panels = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)).ravel()
    for number, axes in enumerate(panels):
        if number >= modes.count:
            axes.set_axis_off()
            continue
        _draw_shape(axes, modes, number)
        axes.set_title(f"{number + 1}: {modes.frequencies[number]:.5g} Hz", fontsize=9)
        axes.set(yticks=[], xlim=(0.0, modes.beam.length), ylim=(-1.25, 1.25))
        axes.tick_params(labelbottom=number + columns >= modes.count)
    figure.supxlabel("x / m", fontsize=9)


def _draw_shape(axes: "Axes", modes: Modes, number: int) -> None:
    from klapper.gallery._sketch import BLUE, DARK, ORANGE

    scale = modes.deflections(1, 2, 3, 4)[number]
    sign = np.sign(modes.model.rows(1, [0.5], 1)[0, number]) if modes.outside[number] > 1e-6 else 1.0
    begin = 0.0
    for segment, color in ((1, DARK), (3, ORANGE), (2, BLUE), (4, DARK)):
        length = modes.beam.segments[segment - 1].length
        values = modes.model.rows(segment, PLACES, 1)[:, number] / scale * (sign or 1.0)
        axes.plot(begin + length * PLACES, values, color=color, linewidth=1.4 if segment != 2 else 1.1)
        begin += length if segment in (1, 2) else 0.0


def _draw_lengths(figure: "Figure", *, modes: Modes) -> None:
    """Frequencies over the length of the delamination: functions (lines) and finite elements (circles)."""
    from klapper.results.drawing import colours

    figure.set_size_inches(7.6, 4.6)
    axes = figure.subplots()
    beam, count = modes.beam, min(modes.count, 8)
    lines = [
        replace(beam, delamination=share * beam.length).frequencies(count, plane="1-3") for share in LENGTHS
    ]
    for values, color in zip(np.transpose(lines), colours(count), strict=True):
        axes.plot(LENGTHS, values, color=color)
    if modes.by_length["fe"].size:
        axes.plot(PRINTED_LENGTHS, modes.by_length["fe"][:, :count], "o", color="#333333", ms=4)
    axes.axvline(beam.delamination / beam.length, color="#888888", linewidth=0.9, linestyle=":")
    axes.set(xlabel="length of the delamination / length of the beam", ylabel="frequency / Hz")
    axes.set(yscale="log", xlim=(0.0, 0.92))


def _draw_coupling(figure: "Figure", *, beam: "DelaminatedBeam") -> None:
    """The first two frequencies with and without (dashed) the coupling of bending and stretching at the tips, relative
    to the intact beam. In the middle of the height the second does not know of it."""
    from klapper.gallery._sketch import BLUE, ORANGE

    figure.set_size_inches(6.6, 4.0)
    axes = figure.subplots()
    for coupling, line in ((True, "-"), (False, "--")):
        beams = [replace(beam, delamination=s * beam.length, coupling=coupling) for s in LENGTHS]
        values = np.array([each.frequencies(2, plane="1-3") for each in beams]) / intact(beam, 2)
        for number, color in enumerate((BLUE, ORANGE)):
            text = f"mode {number + 1}{'' if coupling else ', without coupling'}"
            axes.plot(LENGTHS, values[:, number], line, color=color, label=text)
    axes.set(
        xlabel="length of the delamination / length of the beam", ylabel="frequency / that of the intact beam"
    )
    axes.set(xlim=(0.0, 0.92), ylim=(0.0, 1.05))
    axes.legend(loc="lower left")
