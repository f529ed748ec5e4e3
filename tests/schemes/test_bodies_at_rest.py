"""An unloaded body stays at rest in every implicit scheme, although all its forces are rounding."""

import numpy as np
import pytest

from klapper.continuum import Continuum, NeoHooke, Solid, Support, block
from klapper.schemes import EnergyMomentum, GeneralisedAlpha, Newmark, QuasiStatic
from klapper.simulation import simulate


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("modulus", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("make", [EnergyMomentum, GeneralisedAlpha, Newmark, QuasiStatic])
def test_an_unloaded_block_stays_at_rest(make: type, modulus: float, held: bool) -> None:
    solid = Solid("block", block((0.3, 0.1), (6, 2)), NeoHooke(modulus, 0.3), density=1e3)
    system = Continuum([solid], supports=[Support("block", "bottom", [0, 1])] if held else [])
    run = simulate(system, 3e-3, make(1e-3), progress=False)
    assert np.abs(run.position - run.position[0]).max() < 1e-15  # rounding of 0.3 m
