"""Wrong arguments of the analyses and of regularised contact: one sentence, and of the kind that callers catch."""

import numpy as np
import pytest

from klapper import analysis
from klapper.analysis.shaken_incline import history, stationary_drift
from klapper.mechanics import CompliantNormal, Contact, InvalidModel, LinearSystem
from klapper.schemes import Moreau, Regularised, propose_regularisation

BALL = LinearSystem([1.0], force=[-9.81], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
START = BALL.start
ADVANCE = analysis.advancing(BALL, Moreau(1e-2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: propose_regularisation(3), "system is 3"),
        (lambda: analysis.coexistence(3), "system is 3"),
        (lambda: analysis.sliding_stability(3, CompliantNormal(1e3)), "system is 3"),
        (lambda: analysis.sliding_stability(BALL, None), "law is None"),
        (lambda: analysis.advancing(LinearSystem, Moreau(1e-2)), "system is"),
        (lambda: analysis.advancing(BALL, Moreau), "scheme is"),
        (lambda: analysis.PoincareSection(3), "function of a section is 3"),
        (
            lambda: analysis.find_attractor(ADVANCE, START, section=None, block=1.0, patience=2.0),
            "section None",
        ),
        (lambda: analysis.critical_value(3, 0.0, 1.0), "judge is 3"),
        (lambda: Regularised(CompliantNormal(1e3), method=["radau"]), "method is"),
        (lambda: stationary_drift(0.9, -1.0), "B is -1"),
        (lambda: stationary_drift(np.nan, 0.1), "not finite"),
        (lambda: stationary_drift(0.9, 0.1, 0.1, "spr"), "one of none, spring, damper, both, arctan"),
        (lambda: history(0.9, 0.1, periods=0), "periods is 0"),
    ],
)
def test_what_is_wrong_is_refused_in_one_sentence(call, words):
    with pytest.raises(InvalidModel, match=words):
        call()
