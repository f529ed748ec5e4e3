"""The scheme of a run: ``[scheme]`` with its kind and the options of its constructor."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from klapper.scenario.laws import FROM_ZERO, IMPACT_LAW, POSITIVE, as_impact, law_table, without_kind
from klapper.scenario.tables import Field, Table, Variants, needed
from klapper.scenario.values import Choice, Either, Number, Truth, Whole
from klapper.schemes import SCHEMES as CLASSES

_STEP = needed(POSITIVE, "step size h", "s")
_METHOD = Field(Choice(("dop853", "rk45", "radau")), "method of the smooth motion", default="dop853")
_SAMPLE = Field(POSITIVE, "time between saved samples besides the events", "s")
_ACCURACY = Field(POSITIVE, "allowed error of position per step; all steps are equal if not given", "m")
_NEWTON = Field(
    Table(
        {
            "tolerance": Field(POSITIVE, "relative residual", default=1e-10),
            "most": Field(Whole(at_least=1), "number of rounds", default=30),
            "largest": Field(POSITIVE, "cap of a correction", "m"),
            "line_search": Field(Truth(), "halve corrections that increase the residual", default=True),
            "reuse": Field(
                Number(at_least=0.0, at_most=0.5),
                "residual left up to which a derivative serves again",
                default=0.05,
            ),
        }
    ),
    "how the equations of a step are solved",
)
_HARD = Table(
    {
        "energy": Field(
            Choice(("consistent", "gradient", "momentum-update", "none")),
            "what becomes of the energy of gaps that close",
            default="consistent",
        ),
        "tolerance": Field(POSITIVE, "relative penetration and tension", default=1e-9),
        "most": Field(Whole(at_least=1), "rounds of contact states", default=60),
    }
)
_SPRINGS = Table({"stiffness": needed(POSITIVE, "spring ε of each closed contact", "N/m")})
_PENALTY_ONLY = Field(Variants({"penalty": _SPRINGS}), "how one-sided contacts act")
_PHASES = {
    "tolerance": Field(POSITIVE, "allowed error per step", "m, m/s", default=1e-10),
    "impact": IMPACT_LAW,
    "sample": _SAMPLE,
    "shortest_flight": Field(POSITIVE, "shorter flights after an impact end it", "s", default=1e-9),
    "slip_speed": Field(POSITIVE, "slower patches count as at rest", "m/s", default=1e-9),
    "largest_step": Field(POSITIVE, "largest step", "s"),
    "painleve": Field(
        Choice(("stop", "jump")), "what happens where there is no finite acceleration", default="stop"
    ),
}
_NEWMARK = {"contact": _PENALTY_ONLY, "newton": _NEWTON, "accuracy": _ACCURACY}

_DECLARED = {
    "moreau": Table(
        {
            "step_size": _STEP,
            "theta": Field(
                Number(at_least=0.5, at_most=1.0), "from ½ (midpoint) to 1 (implicit)", default=0.5
            ),
            "impact": IMPACT_LAW,
            "level": Field(Choice(("velocity", "position")), "level of the constraints", default="velocity"),
            "projection": Field(
                Truth(), "remove penetration at the end of each step; if not given, where directions turn"
            ),
            "accuracy": _ACCURACY,
            "tolerance": Field(
                Number(above=0.0, at_most=1.0), "relative residual of the contact problem", default=1e-9
            ),
        },
        "time stepping with impulses over a step: many contacts, friction, impacts",
    ),
    "event-driven": Table(_PHASES | {"method": _METHOD}, "smooth motion of high order, cut at every event"),
    "exact": Table(dict(_PHASES), "linear systems in closed form from event to event"),
    "ordinary": Table(
        _PHASES | {"method": _METHOD}, "closed contacts as two-sided constraints, for comparison"
    ),
    "regularised": Table(
        {
            "normal": needed(
                Variants(
                    {
                        "compliant": Table(
                            {
                                "stiffness": needed(POSITIVE, "c of (c |g|)^κ − d ġ", "N^(1/κ)/m"),
                                "damping": Field(FROM_ZERO, "d", "N s/m", default=0.0),
                                "exponent": Field(
                                    Number(at_least=1.0), "κ, 1 linear, 1.5 Hertz", default=1.0
                                ),
                            }
                        ),
                        "approach-damper": Table({"damping": needed(POSITIVE, "α", "N s/m")}),
                        "boundary-layer": Table(
                            {
                                "stiffness": needed(POSITIVE, "c", "N/m"),
                                "damping": needed(POSITIVE, "d", "N s/m"),
                                "tolerance": Field(FROM_ZERO, "distance of touching", "m", default=1e-12),
                            }
                        ),
                    }
                ),
                "law of the normal force",
            ),
            "friction": Field(
                Either(
                    Choice(("set-valued",)),
                    Variants(
                        {
                            "saturated": Table({"speed": needed(POSITIVE, "v_s", "m/s")}),
                            "arctan": Table({"speed": needed(POSITIVE, "v_s", "m/s")}),
                            "power": Table(
                                {
                                    "sharpness": needed(POSITIVE, "α"),
                                    "reference_speed": Field(POSITIVE, "v_r", "m/s", default=1.0),
                                    "floor": Field(POSITIVE, "linear below", "m/s", default=1e-6),
                                }
                            ),
                            "stick-element": Table(
                                {
                                    "stiffness": Field(FROM_ZERO, "c_T", "N/m", default=0.0),
                                    "damping": Field(FROM_ZERO, "d_T", "N s/m", default=0.0),
                                }
                            ),
                        }
                    ),
                ),
                "law of friction",
                default="set-valued",
            ),
            "method": _METHOD,
            "tolerance": Field(
                Number(above=0.0, at_most=0.1), "allowed relative error of a step", default=1e-8
            ),
            "absolute": Field(POSITIVE, "allowed error of a step", "m, m/s"),
            "sample": _SAMPLE,
            "slip_speed": Field(POSITIVE, "slower contacts count as at rest", "m/s", default=1e-7),
        },
        "compliant contact instead of rigid contact",
    ),
    "energy-momentum": Table(
        {
            "step_size": _STEP,
            "forces": Field(
                Choice(("discrete", "midpoint", "projected")), "forces of a step", default="discrete"
            ),
            "constraint_forces": Field(
                Choice(("discrete", "midpoint", "modified", "projected")),
                "forces of two-sided constraints",
                default="discrete",
            ),
            "enforcement": Field(
                Variants(
                    {
                        "multipliers": Table({}),
                        "penalty": Table({"stiffness": needed(POSITIVE, "spring ε", "N/m")}),
                        "augmented-lagrange": Table(
                            {
                                "stiffness": needed(POSITIVE, "spring ε", "N/m"),
                                "tolerance": Field(POSITIVE, "of the constraints", "m", default=1e-10),
                                "most": Field(Whole(at_least=1), "rounds", default=200),
                            }
                        ),
                    }
                ),
                "how two-sided constraints hold; by multipliers if not given",
            ),
            "contact": Field(
                Variants({"hard": _HARD, "penalty": _SPRINGS}),
                "how one-sided contacts act; hard if not given",
            ),
            "newton": _NEWTON,
            "accuracy": _ACCURACY,
        },
        "implicit steps that keep energy and momentum: large motion of elastic bodies",
    ),
    "quasi-static": Table(
        {
            "step_size": _STEP,
            "contact": Field(Variants({"hard": _HARD}), "how contacts are found"),
            "newton": _NEWTON,
        },
        "state of rest after state of rest, without inertia",
    ),
    "newmark": Table(
        {
            "step_size": _STEP,
            "gamma": Field(Number(at_least=0.5, at_most=1.0), "γ", default=0.5),
            "beta": Field(Number(above=0.0, at_most=1.0), "β", default=0.25),
        }
        | _NEWMARK,
        "accelerations that vary linearly within a step",
    ),
    "generalised-alpha": Table(
        {
            "step_size": _STEP,
            "spectral_radius": Field(
                Number(at_least=0.0, at_most=1.0), "factor of highest frequencies per step", default=0.8
            ),
        }
        | _NEWMARK,
        "Newmark steps that damp what the step does not resolve",
    ),
    "central-difference": Table(
        {"step_size": _STEP, "contact": _PENALTY_ONLY}, "explicit steps; needs a diagonal mass matrix"
    ),
}


def _simple(scheme: type[Any]) -> Table:
    """The table of a scheme that declares its options itself; an impact law is one of them if it takes one."""
    table = law_table(scheme)
    takes_impact = any(option.name == "impact" for option in fields(scheme))
    return Table({**table.fields, **({"impact": IMPACT_LAW} if takes_impact else {})}, table.help)


SCHEMES = Variants(
    {
        kind: _DECLARED[kind] if kind in _DECLARED else _simple(CLASSES[kind])
        for kind in dict.fromkeys((*_DECLARED, *CLASSES))
    }
)


def parts() -> dict[str, dict[str, Any]]:
    """The constructors of options that are tables with a kind, by option."""
    from klapper import mechanics, schemes

    return {
        "normal": {
            "compliant": mechanics.CompliantNormal,
            "approach-damper": mechanics.ApproachDamper,
            "boundary-layer": mechanics.BoundaryLayer,
        },
        "friction": {
            "saturated": mechanics.SaturatedFriction,
            "arctan": mechanics.ArctanFriction,
            "power": mechanics.PowerFriction,
            "stick-element": mechanics.StickElement,
        },
        "enforcement": {
            "multipliers": schemes.Multipliers,
            "penalty": schemes.Penalty,
            "augmented-lagrange": schemes.AugmentedLagrange,
        },
        "contact": {"hard": schemes.HardContact, "penalty": schemes.PenaltyContact},
    }


def build_scheme(given: dict[str, Any]) -> Any:
    from klapper.schemes import NewtonIteration

    chosen = without_kind(given)
    for name, kinds in parts().items():
        if isinstance(chosen.get(name), dict):
            chosen[name] = kinds[chosen[name]["kind"]](**without_kind(chosen[name]))
    if "impact" in chosen:
        chosen["impact"] = as_impact(chosen["impact"])
    if "newton" in chosen:
        chosen["newton"] = NewtonIteration(**chosen["newton"])
    return CLASSES[given["kind"]](**chosen)
