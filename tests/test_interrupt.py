"""Ctrl-C keeps what there is, at whichever moment it comes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klapper.bodies import Planar
from klapper.results import read
from klapper.schemes import EventDriven
from klapper.simulate import _Loop, simulate


def ball() -> Any:
    model = Planar(gravity=(0.0, -9.81), name="ball")
    model.contact(
        model.body("ball", mass=1.0, inertia=0.01, at=(0.0, 1.0)).point((0.0, 0.0)),
        model.wall("floor", normal=(0.0, 1.0)),
        restitution=0.5,
    )
    return model.build()


@pytest.mark.parametrize("samples", [1, 3, 7])
def test_an_interrupt_while_a_sample_is_noted_loses_that_sample_only(
    samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulate(ball(), until=1.0, scheme=EventDriven(), progress=False)
    asked, original = iter(range(10**6)), _Loop._energy

    def energy(loop: _Loop) -> np.ndarray:
        if next(asked) == samples:
            raise KeyboardInterrupt
        return original(loop)

    monkeypatch.setattr(_Loop, "_energy", energy)
    kept = simulate(ball(), until=1.0, scheme=EventDriven(), store=tmp_path / "run", progress=False)
    assert kept.about["status"] == "interrupted"
    assert read(tmp_path / "run").samples.step[-1] == samples - 1
    monkeypatch.setattr(_Loop, "_energy", original)
    resumed = simulate(ball(), until=1.0, scheme=EventDriven(), store=tmp_path / "run", progress=False)
    np.testing.assert_array_equal(resumed.position, whole.position)
