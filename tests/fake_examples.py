"""Examples for the tests of the machinery only; :func:`register` puts them on the shelf."""

from functools import partial
from typing import Annotated, Any, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example


def register() -> dict[str, Any]:
    """Register the fakes and return the decorated functions by name."""

    @example("fake-lever", source="Archimedes, On the equilibrium of planes")
    def lever(
        *,
        weight: Annotated[float, Parameter("weight on the short arm", unit="N", above=0.0)] = 100.0,
        arms: Annotated[tuple[float, float], Parameter("both arms", unit="m", above=0.0)] = (0.5, 2.0),
        positions: Annotated[tuple[float, ...], Parameter("places", unit="m", at_least=0.0)] = (0.5, 1.0),
        turns: Annotated[int, Parameter("number of turns", at_least=1, at_most=9)] = 1,
        pivot: Annotated[Literal["rigid", "loose"], Parameter("kind of pivot")] = "rigid",
        modes: Annotated[str, Parameter("contact modes", pattern="[AB]+")] = "AAB",
        wrong: Annotated[bool, Parameter("compute a wrong force")] = False,
    ) -> Outcome:
        """Lever <&>: one force balances another.

        The moments about the pivot vanish, with `F` the force & <b>not bold</b>:

            F l_2 = W l_1

        Nothing else is shown.
        """
        if arms[0] > arms[1]:
            raise ParameterError("the first of arms must be the shorter one.")
        force = weight * arms[0] / arms[1] * (1.5 if wrong else 1.0)

        def draw(figure: Any) -> None:
            """Force at every place <of> the long arm."""
            axes = figure.subplots()
            axes.plot([1, 2], [force, force / 2])
            axes.set(xlabel="place / m", ylabel="force / N")

        def draw_again(figure: Any, *, note: str) -> None:
            """The same again."""
            figure.subplots().set_title(note)

        return Outcome(
            numbers={
                "force": force,
                "moments": np.array([[force * arms[1]], [weight * arms[0]]]),
                "modes": modes,
                "loose": np.bool_(pivot == "loose"),
                "unbounded": np.inf,
                "turns": np.int64(turns),
                "history": np.linspace(0.0, force, 50),
            },
            units={"force": "N", "moments": "N m"},
            checks=[
                Check(
                    "force <F>",
                    value=np.float64(force),
                    expected=weight * arms[0] / arms[1],
                    tolerance=1e-9,
                    source="law of the lever",
                ),
                Check("modes", value=modes, expected=modes, source="given"),
                Check("force below weight", value=force, at_most=weight, source="l_1 < l_2"),
            ],
            audit={
                "solver": "by hand <b>",
                "residuals": {"moment": 0.0, "nested": {"deep": [1.0, 2.0]}},
                "uniqueness": "the force is unique",
                "events": [{"time": 0.0, "what": "start"}, {"time": 1.0, "what": "end"}],
            },
            figures={"force": draw, "again": partial(draw_again, note="[N] $x$")},
        )

    @example("fake-crash", source="nobody")
    def crash() -> Outcome:
        """Crash: an error nobody expected."""
        print("before the crash")
        raise RuntimeError("something\nbroke.")

    @example("fake-talk", source="nobody")
    def talk() -> Outcome:
        """Talk: an example that prints."""
        print("chatter")
        return Outcome(numbers={"one": 1})

    return {"lever": lever, "crash": crash, "talk": talk}
