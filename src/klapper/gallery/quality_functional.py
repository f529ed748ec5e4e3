"""Friction by the smallest acceleration: three functionals, their optimum over (μ_A, μ_B), and how fast they converge.

With both feet of a block on the ground the friction sum S = μ_A λ_NA + μ_B λ_NB decides the accelerations, and

    z = k S² + 2 w S + c

is one of q̈ᵀq̈ (ansatz 1), q̈ᵀMMq̈ (2) and (m ẍ)² (3). Its optimum S = −w/k is a line in the plane of (μ_A, μ_B). If the
line meets the rectangle of Coulomb's law, the point with the smallest λ_TA² + λ_TB² on it is taken, else the corner
nearest to it. In a time step the normal forces depend on S again, so rounds of both are needed:

    S ← (β S − α F)/(α + β),   contraction β/(α + β),   α, β: 1/m², b²/4θ² (1);  1, b²/4 (2);  1, 0 (3)

Ansatz 1 does converge, but so slowly that 20 rounds are not enough.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from klapper.gallery._block import Height, Mass, Mu, Width, make_block
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from klapper.bodies import FootedBlock
    from klapper.complementarity.selection.two_contacts import Minimum, Quality

NORMALS = ((0.0, 5.0), (5.0, 0.0), (5.0, 5.0))
PRINTED = {"load": (0.5, -7.0, 0.0), "push": 10.0}
STEP = 1e-4  # s
ROUNDS = 20  # allowed in the thesis


@example("quality-functional", source="Seiwald (2014), 4.3.3, 5.2.2, Figs. 4.2-4.8, 5.5, Tables C.1-C.4")
def quality_functional(
    *,
    load: Annotated[
        tuple[float, float, float],
        Parameter("h of the demonstration, with m = 1 kg, θ = 1 kg m²", unit="N, N, N m"),
    ] = (0.5, -7.0, 0.0),
    push: Annotated[float, Parameter("force on the standing block", unit="N", above=0.0)] = 10.0,
    mu: Mu = 0.1,
    mass: Mass = 16.0,
    width: Width = 0.2,
    height: Height = 0.1,
) -> Outcome:
    from klapper.complementarity.selection.two_contacts import (
        block_quality,
        constrained_minimum,
        optimum,
        quadric,
        water_filling,
    )

    block = make_block(width, height, mass, mu)
    assert block.inertia is not None
    if push >= block.slip_force:
        raise ParameterError(f"push is {push} N; the block slides from {block.slip_force:g} N on. Give less.")
    unit = {"mass": 1.0, "inertia": 1.0, "width": width, "height": height, "force": load}
    shown = [block_quality(1, normal=normal, **unit) for normal in NORMALS]  # type: ignore[arg-type]
    best = [optimum(quality, normal) for quality, normal in zip(shown, NORMALS, strict=True)]
    d = quadric(shown[2], NORMALS[2]).half_width
    normal = block.normal_forces(push, -push)
    force = (push, -block.weight, -0.5 * height * push)
    standing = block_quality(
        3, mass=mass, inertia=block.inertia, width=width, height=height, force=force, normal=normal
    )
    found = constrained_minimum(standing, normal, block.friction)
    limit = mu * normal
    predicted = _contractions(block)
    sums = [_rounds(block, push, ansatz) for ansatz in (1, 2, 3)]
    rounds = [len(each) for each in sums]
    failure = _twenty_rounds(block, push)
    checks = [
        Check(
            "z by (4.14) and by k, w, c",
            value=_direct(load, width, height, (0.3, -0.7)),
            expected=[float(q.value(0.3 * n[0] - 0.7 * n[1])) for q, n in zip(shown, NORMALS, strict=True)],
            tolerance=1e-9 * (1.0 + float(np.abs(load).max()) ** 2),
            source="accelerations from M, h and W",
        ),
        Check(
            "friction of the standing block",
            value=list(found.force),
            expected=water_filling(-push, -limit, limit),
            tolerance=1e-12 * push,
            source="water filling",
        ),
        Check(
            "z of its minimum",
            value=found.z,
            expected=0.0,
            tolerance=1e-9 * push**2,
            source="the block does not move",
        ),
        Check(
            "contraction of the rounds, ansatz 1 and 2",
            value=[_measured(sums[0], push), _measured(sums[1], push)],
            expected=predicted[:2],
            tolerance=2e-3,
            source="β/(α + β)",
        ),
        Check(
            "friction sums after all rounds",
            value=[each[-1] for each in sums],
            expected=-push,
            tolerance=5.0 * 1e-4 / (1.0 - np.array(predicted)) + 1e-3,
            source="balance of forces; the tolerance is that of the forces over one minus the contraction",
        ),
    ]
    if {"load": load, "push": push} == PRINTED and (mu, mass, width, height) == (0.1, 16.0, 0.2, 0.1):
        checks += _printed(shown, best, d, found, rounds, failure)
    slope, at_zero = -normal[0] / normal[1], standing.best_sum / normal[1]
    return Outcome(
        numbers={
            "k": [quality.k for quality in shown],
            "w": [quality.w for quality in shown],
            "c": [quality.c for quality in shown],
            "optimum": [list(point.mu) for point in best],
            "z_optimum": [point.z for point in best],
            "half_width": d,
            "case": found.case,
            "mu_minimum": list(found.mu),
            "optimum_line": [slope, at_zero],
            "rounds": rounds,
            "contraction": predicted,
            "twenty_rounds_of_ansatz_1": failure or "enough",
        },
        units={
            "k": "SI (λ_N = (0, 5), (5, 0), (5, 5) N)",
            "optimum": "(μ_A, μ_B), nan where any will do",
            "z_optimum": "SI",
            "half_width": "d of the normal form, both normal forces 5 N",
            "case": "of Tables C.1-C.4, standing block, ansatz 3",
            "optimum_line": "μ_B = first · μ_A + second",
            "rounds": "of ansatz 1, 2, 3 to 1e-4 N",
            "contraction": "per round",
        },
        checks=checks,
        audit={
            "uniqueness": "z determines the friction sum only; the smallest λ_TA² + λ_TB² determines the split"
        },
        figures={
            "surfaces": partial(_draw_surfaces, shown=shown, best=best),
            "minimum": partial(_draw_minimum, quality=standing, normal=normal, mu=mu, found=found, push=push),
            "cases": partial(_draw_cases, mu=mu),
            "rounds": partial(_draw_rounds, sums=sums, predicted=predicted, push=push),
        },
    )


def _contractions(block: "FootedBlock") -> list[float]:
    assert block.inertia is not None
    lever = 0.25 * block.height**2
    pairs = ((1.0 / block.mass**2, lever / block.inertia**2), (1.0, lever), (1.0, 0.0))
    return [beta / (alpha + beta) for alpha, beta in pairs]


def _rounds(block: "FootedBlock", push: float, ansatz: int) -> list[float]:
    """Friction sums S [N] after each round of the first step."""
    from klapper.bodies import rigid_block
    from klapper.schemes import NestedProx

    system = rigid_block(block, load=(push, 0.0, 0.0))
    scheme = NestedProx(STEP, friction=f"functional-{ansatz}", max_rounds=20_000)
    chosen = scheme.iterations(system, scheme.init(system)).of(f"functional-{ansatz}")
    return [float(total) / STEP for total in chosen[:, :, 1].sum(axis=1)]


def _measured(sums: list[float], push: float) -> float:
    """Mean contraction of S + F over the first rounds, as long as it is far from the tolerance."""
    error = np.abs(np.array(sums) + push)
    many = max(int(np.count_nonzero(error > 100 * 1e-4)) - 1, 1)
    return float((error[many] / error[0]) ** (1.0 / many))


def _twenty_rounds(block: "FootedBlock", push: float) -> str:
    """What the scheme says to ansatz 1 with the rounds of the thesis; empty if they suffice."""
    from klapper.bodies import rigid_block
    from klapper.schemes import NestedProx, StepFailed

    system = rigid_block(block, load=(push, 0.0, 0.0))
    scheme = NestedProx(STEP, friction="functional-1", max_rounds=ROUNDS)
    try:
        scheme.step(system, scheme.init(system))
    except StepFailed as error:
        return str(error).split(". ")[0] + "."
    return ""


def _direct(load: Any, width: float, height: float, mu: tuple[float, float]) -> list[float]:
    """z = |M⁻¹ (h + W λ)|² with m = 1, θ = 1 for the normal forces of the demonstration."""
    w = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [height / 2, -width / 2, height / 2, width / 2]])
    found = []
    for a, b in NORMALS:
        acceleration = np.asarray(load) + w @ [mu[0] * a, a, mu[1] * b, b]
        found.append(float(acceleration @ acceleration))
    return found


def _printed(
    shown: "list[Quality]", best: "list[Any]", d: float, found: "Minimum", rounds: list[int], failure: str
) -> list[Check]:
    """E4, E7, E8 with the parameters of the thesis."""
    return [
        Check(
            "w",
            value=[quality.w for quality in shown],
            expected=[0.525, 0.475, 0.5],
            tolerance=1e-9,
            source="Table 4.2",
        ),
        Check(
            "c",
            value=[quality.c for quality in shown],
            expected=[4.5, 4.5, 9.25],
            tolerance=1e-9,
            source="Table 4.2",
        ),
        Check(
            "optimum",
            value=[best[0].mu[1], best[1].mu[0], sum(best[2].mu)],
            expected=[-0.1047382, -0.0947631, -0.0997506],
            tolerance=5e-8,
            source="Figs. 4.2-4.5",
        ),
        Check(
            "z of the optimum",
            value=[point.z for point in best],
            expected=[4.225062, 4.274938, 9.000623],
            tolerance=5e-7,
            source="Figs. 4.2-4.5",
        ),
        Check("d of the normal form", value=d, expected=0.1412449, tolerance=5e-8, source="(4.33)"),
        Check(
            "minimum at 10 N",
            value=list(found.mu),
            expected=[-0.0680457, -0.0598946],
            tolerance=5e-8,
            source="Fig. 5.5",
        ),
        Check("its case", value=found.case, expected="4d-i", source="5.3: only this case while sticking"),
        Check("rounds", value=rounds, expected=[895, 4, 3], source="trial computation of the specification"),
        Check(
            "ansatz 1 with 20 rounds", value=bool(failure), expected=True, source="5.2.2: does not converge"
        ),
    ]


def _draw_surfaces(figure: "Figure", *, shown: "list[Quality]", best: "list[Any]") -> None:
    """z of ansatz 1 over the friction coefficients, for three pairs of normal forces; numbers in SI units. Broad white
    line: the optimum."""
    figure.set_size_inches(10.4, 3.8)
    mu = np.linspace(-0.5, 0.5, 201)
    a, b = np.meshgrid(mu, mu)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, quality, normal in zip(panels, shown, NORMALS, strict=True):
        z = quality.value(normal[0] * a + normal[1] * b)
        lowest = float(z.min())
        levels = lowest + (float(z.max()) - lowest) * np.linspace(0.0, 1.0, 9) ** 2
        axes.contourf(a, b, z, levels=levels, cmap="cividis")
        lines = axes.contour(a, b, z, levels=levels[2:-1:2], colors="w", linewidths=0.5)
        axes.clabel(lines, fmt="%.3g", fontsize=8)
        _line(axes, normal, quality.best_sum, color="white", linewidth=2.2)
        axes.set(
            xlabel=r"$\mu_A$",
            aspect="equal",
            xlim=(-0.5, 0.5),
            ylim=(-0.5, 0.5),
            title=f"$\\lambda_{{NA}}$ = {normal[0]:g} N, $\\lambda_{{NB}}$ = {normal[1]:g} N",
        )
        axes.grid(False)
    panels[0].set_ylabel(r"$\mu_B$")


def _line(axes: "Axes", normal: Any, total: float, **style: Any) -> None:
    """The line λ_NA μ_A + λ_NB μ_B = total."""
    if normal[1] > 0.0:
        axes.axline((0.0, total / normal[1]), slope=-normal[0] / normal[1], **style)
    else:
        axes.axvline(total / normal[0], **style)


def _draw_minimum(
    figure: "Figure", *, quality: "Quality", normal: np.ndarray, mu: float, found: "Minimum", push: float
) -> None:
    """Plane of the friction coefficients of the standing block, ansatz 3 (Fig. 5.5). Rectangle: Coulomb's law; line:
    optimum, z = 0; circles: equal λ_TA² + λ_TB², seen in these coordinates; star: the chosen point."""
    figure.set_size_inches(6.4, 5.4)
    axes = figure.subplots()
    reach = 1.5 * mu
    grid = np.linspace(-reach, reach, 241)
    a, b = np.meshgrid(grid, grid)
    filled = axes.contourf(
        a, b, quality.value(normal[0] * a + normal[1] * b), levels=20, cmap="Blues", alpha=0.8
    )
    rings = np.hypot(normal[0] * a, normal[1] * b)
    axes.contour(
        a, b, rings, levels=np.hypot(*found.force) * np.array([0.5, 1.0, 1.5]), colors="0.5", linewidths=0.8
    )
    axes.add_patch(_square(mu))
    _line(
        axes, normal, quality.best_sum, color="C1", linewidth=2.2, label=f"optimum: friction sum −{push:g} N"
    )
    axes.plot(
        *found.mu, "*", color="C1", markeredgecolor="k", markersize=17, label=f"minimum, case {found.case}"
    )
    axes.set(xlabel=r"$\mu_A$", ylabel=r"$\mu_B$", aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.colorbar(filled, ax=axes, label="$z = (m\\ddot x)^2$ / N²", shrink=0.85)


def _square(mu: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(
        (-mu, -mu), 2 * mu, 2 * mu, facecolor="none", edgecolor="k", linestyle="--", linewidth=1.3
    )


def _draw_cases(figure: "Figure", *, mu: float) -> None:
    """Lines of the optimum (grey) and the chosen points (dots of the same colour) in three cases: only B loaded and A
    sliding to the left (2c), only A loaded and both sticking (3d), both loaded and sticking (4d). Black: what Coulomb's
    law admits."""
    from klapper.complementarity.selection.two_contacts import Quality, constrained_minimum

    figure.set_size_inches(10.4, 3.9)
    cases = (
        ("2c", (0.0, 5.0), (-1.0, 0.0)),
        ("3d", (5.0, 0.0), (0.0, 0.0)),
        ("4d", (3.0, 5.0), (0.0, 0.0)),
    )
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (name, normal, slip) in zip(panels, cases, strict=True):
        if slip[0]:
            axes.plot([mu, mu], [-mu, mu], color="k", linewidth=2.2)
        else:
            axes.add_patch(_square(mu))
        for number, share in enumerate((-1.3, -0.8, 0.3, 0.7)):
            total = share * mu * sum(normal)
            chosen = constrained_minimum(Quality(1.0, -total, total**2), normal, (mu, mu), slip)
            colour = f"C{number}"
            _line(axes, normal, total, color=colour, linewidth=1.2, alpha=0.7)
            axes.plot(*chosen.mu, "o", color=colour, markersize=9, markeredgecolor="k")
        axes.set(
            xlabel=r"$\mu_A$",
            aspect="equal",
            xlim=(-1.7 * mu, 1.7 * mu),
            ylim=(-1.7 * mu, 1.7 * mu),
            title=f"case {name}, $\\lambda_N$ = ({normal[0]:g}, {normal[1]:g}) N",
        )
    panels[0].set_ylabel(r"$\mu_B$")


def _draw_rounds(figure: "Figure", *, sums: list[list[float]], predicted: list[float], push: float) -> None:
    """Distance of the friction sum from its end over the rounds of the first step. Dashed: the contraction β/(α + β);
    grey: the 20 rounds that the thesis allows."""
    axes = figure.subplots()
    axes.axvspan(0.8, ROUNDS, color="0.93", zorder=0)
    for ansatz, (each, factor) in enumerate(zip(sums, predicted, strict=True), start=1):
        error = np.maximum(np.abs(np.array(each) + push), 1e-6)
        number = np.arange(1, len(error) + 1)
        colour = f"C{ansatz - 1}"
        axes.loglog(number, error, "-" if len(error) > 50 else "o-", color=colour, label=f"ansatz {ansatz}")
        if factor > 0.0:
            axes.loglog(number, np.maximum(error[0] * factor ** (number - 1.0), 1e-6), "k--", linewidth=1.0)
    axes.set(xlabel="round", ylabel="|S + F| / N")
    axes.legend()
