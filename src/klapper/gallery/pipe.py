"""Pipe conveying fluid on one-sided supports: flow lifts it off, and then it flutters.

    E I w'''' + M_f U² w'' + 2 M_f U ẇ' + (m + M_f) ẅ + d ẇ = −(m + M_f) g + Σ λ_i δ(x − x_i),   0 ≤ λ_i ⟂ w(x_i) ≥ 0

A pipe lies on supports that only push. The flow acts like a compressive force M_f U²; where the jet leaves a free end
it follows the pipe. The state of rest is followed from U = 0 on: forces of supports vanish one after the other, other
states of rest appear, and at last small motions that keep the remaining contacts grow. With no support between pinned
ends that happens at

    U_c = (π/L) √(E I/M_f),

in units of which flows are given in the figures; `--set ends=pinned --set supports=0 --set flow=5` is that pipe. Every
number is compared with the solution span by span, without finite elements. `--set ends=pinned --set supports=1.3,2,2.7
--set range_to=3.2` is a pipe between pinned ends that stays at rest up to nearly three times U_c. There its state of
rest ends: the supports open, the branch turns back."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.counting import counted
from klapper.gallery._pipe import Dimensionless, Hose
from klapper.gallery._pipe_figures import PUBLISHED, draw_branch, draw_eigenvalues, draw_map, draw_shapes
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from klapper.analysis import StationaryState

READ = 0.15  # how well the published curve can be read


@example(
    "pipe",
    source="Waltersberger & Wauer, PAMM 5 (2005), section 1; Païdoussis, Fluid-Structure Interactions 1; "
    "Gregory & Païdoussis (1966)",
)
def pipe(
    *,
    length: Annotated[float, Parameter("length of the pipe", unit="m", above=0.0)] = 4.0,
    EI: Annotated[float, Parameter("bending stiffness", unit="N m²", above=0.0)] = 500.0,
    mass_pipe: Annotated[float, Parameter("mass of the empty pipe", unit="kg/m", above=0.0)] = 1.0,
    mass_fluid: Annotated[float, Parameter("mass of the fluid in it", unit="kg/m", above=0.0)] = 1.5,
    flow: Annotated[float, Parameter("flow velocity", unit="m/s", at_least=0.0)] = 35.0,
    supports: Annotated[
        tuple[float, ...],
        Parameter(
            "places of the one-sided supports; at a held end, as at 0, there is none", unit="m", at_least=0.0
        ),
    ] = (1.3, 2.6),
    ends: Annotated[
        Literal["free", "pinned"], Parameter("outlet free and inlet clamped, or both ends pinned")
    ] = "free",
    damping: Annotated[float, Parameter("external damping", unit="N s/m²", at_least=0.0)] = 0.5,
    gravity: Annotated[float, Parameter("gravity", unit="m/s²", above=0.0)] = 9.81,
    range_to: Annotated[
        float, Parameter("highest flow looked at, in units of (π/L) √(EI/M_f)", above=0.0)
    ] = 4.3,
) -> Outcome:
    places = tuple(sorted({*supports} - ({0.0} if ends == "free" else {0.0, length})))
    if max(places, default=0.0) >= length or len(places) > 8:
        raise ParameterError(f"supports must lie between 0 and {length:g} m, and be no more than 8.")
    unit = np.pi / length * np.sqrt(EI / mass_fluid)
    hose = Hose(
        length,
        EI,
        mass_pipe,
        mass_fluid,
        damping,
        gravity,
        ends == "free",
        places,
        max(range_to * unit, flow),
    )
    if flow >= hose.end and hose.ends:
        raise ParameterError(
            f"flow is {flow:g} m/s; the state of rest that begins without flow ends at {hose.end:.6g} m/s."
        )
    state, all_states = hose.state(flow), hose.states(flow)
    judged = hose.judged(flow)
    slow = judged.eigenvalues[np.argsort(np.abs(judged.eigenvalues), kind="stable")]
    bare = Dimensionless(hose.free)
    return Outcome(
        numbers={
            "critical_flow": hose.critical,
            "critical_kind": hose.kind,
            "critical_frequency": hose.critical_frequency / (2 * np.pi),
            "contact_forces": state.forces[:, 0],
            "gaps": state.gaps,
            "eigenvalues": slow[:8],
            "verdict": judged.verdict,
            "growth": judged.growth,
            "changes": [f"{name} {kind} at {at:.6g} m/s" for at, kind, name in hose.changes],
            "states": len(all_states),
            "unit_flow": hose.unit,
            "unsupported_critical_flow": bare.critical(mass_fluid / (mass_pipe + mass_fluid)) * unit / np.pi,
        },
        units={
            "critical_flow": "m/s (the state of rest becomes unstable, or ends)",
            "critical_frequency": "Hz",
            "contact_forces": "N (at this flow, from the inlet on)",
            "gaps": "m (at this flow)",
            "eigenvalues": "1/s (the slowest, at this flow)",
            "growth": "1/s (at this flow)",
            "states": "number of states of rest at this flow",
            "unit_flow": "m/s (critical flow of the simply supported pipe)",
            "unsupported_critical_flow": "m/s (with the same ends, without supports and damping)",
        },
        checks=_checks(hose, flow, state, bare),
        audit={
            "branch": str(hose.branch).splitlines()[0],
            "events": [f"{name} {kind} at {at:.6g} m/s" for at, kind, name in hose.changes],
            "uniqueness": f"{counted(len(all_states), 'state')} of rest at {flow:g} m/s; this is the one from flow 0",
            "stability": str(judged).splitlines()[0],
        },
        figures={
            **({"branch": partial(draw_branch, hose=hose, flow=flow)} if places else {}),
            "eigenvalues": partial(draw_eigenvalues, hose=hose, flow=flow),
            "shapes": partial(draw_shapes, hose=hose, flow=flow),
            "unsupported": partial(draw_map, bare=bare),
        },
    )


def _checks(hose: Hose, flow: float, state: "StationaryState", bare: Dimensionless) -> list[Check]:
    weight = (hose.mass_pipe + hose.mass_fluid) * hose.gravity * hose.length
    names = hose.closed(flow)
    carried = [state.forces[hose.names.index(name), 0] for name in names]
    checks = [
        Check(
            "critical flow of the simply supported pipe, over U_c",
            value=Dimensionless(False).critical(hose.mass_fluid / (hose.mass_pipe + hose.mass_fluid)) / np.pi,
            expected=1.0,
            tolerance=1e-5,
            source="closed form (π/L) √(EI/M_f)",
        ),
        Check(
            "largest residual along the branch",
            value=float(hose.branch.residual.max()),
            expected=0.0,
            tolerance=1e-10,
            source="equations and contact laws",
        ),
    ]
    if hose.supports:
        checks += [
            Check(
                "forces of the loaded supports over the weight",
                value=np.array(carried) / weight,
                expected=hose.exact(names).support_forces(flow) / weight,
                tolerance=2e-4,
                source="solution span by span",
            ),
            Check(
                "smallest gap",
                value=float(state.gaps.min()),
                at_least=-1e-12,
                source="supports are not penetrated",
            ),
        ]
    for at, kind, name in hose.changes:
        if kind == "opens":
            checks.append(_opening_check(hose, name, at, tuple(sorted({*hose.closed(at), name}))))
    if hose.kind in ("flutter", "divergence"):
        spans = hose.exact(hose.closed(hose.critical))
        exact = (
            spans.flutter_flow(hose.critical, hose.critical_frequency)
            if hose.kind == "flutter"
            else spans.buckling_flow(hose.critical)
        )
        checks.append(
            Check(
                f"critical flow of the pipe on its loaded supports, {hose.kind}, over U_c",
                value=hose.critical / hose.unit,
                expected=exact / hose.unit,
                tolerance=1e-3 * exact / hose.unit,
                source="characteristic determinant of all spans",
            )
        )
    elif hose.kind == "end of the state":
        checks.append(_end_check(hose))
    if hose.free:
        checks.append(
            Check(
                "critical u = U L √(M_f/EI) of the cantilever without supports, β = "
                + ", ".join(map(str, PUBLISHED)),
                value=[bare.critical(beta) for beta in PUBLISHED],
                expected=list(PUBLISHED.values()),
                tolerance=READ,
                source="Gregory & Païdoussis (1966), read from the curve",
            )
        )
    return checks


def _opening_check(hose: Hose, name: str, at: float, held: tuple[str, ...]) -> Check:
    """That the force of a support among those ``held`` vanishes where it opens."""
    exact = hose.exact(held).opening_flow(held.index(name), at)
    return Check(
        f"flow at which {name} opens, over U_c",
        value=at / hose.unit,
        expected=exact / hose.unit,
        tolerance=1e-3 * exact / hose.unit,
        source="solution span by span: its force vanishes",
    )


def _end_check(hose: Hose) -> Check:
    """What ends a state of rest: a support that opens while the branch turns back, or buckling between the supports."""
    met = {
        event.kind: event.name
        for event in hose.branch.events
        if abs(event.parameter - hose.end) <= 1e-9 * hose.end
    }
    held = hose.closed(hose.end)
    if "opens" in met:
        return _opening_check(hose, met["opens"], hose.end, held)
    exact = hose.exact(held).buckling_flow(hose.end)
    return Check(
        "flow at which the state ends, over U_c",
        value=hose.end / hose.unit,
        expected=exact / hose.unit,
        tolerance=1e-3 * exact / hose.unit,
        source="buckling between the loaded supports, characteristic determinant of all spans",
    )
