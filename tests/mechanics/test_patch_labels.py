"""Patches of any shape by the numbers of their points."""

import numpy as np
import pytest

from klapper.mechanics import InvalidModel
from klapper.mechanics.areal import FrictionPatches
from klapper.mechanics.contact_area import ContactArea

STRIP = ContactArea.line(1.0, panels=4)
POINTS = len(STRIP.weights)


@pytest.mark.parametrize(
    "labels",
    [
        np.where(np.arange(POINTS) == 2, -1, np.arange(POINTS) % 2),  # one point in no patch
        np.zeros(POINTS),
        np.zeros(POINTS + 1, dtype=int),
    ],
    ids=["negative", "not whole", "too many"],
)
def test_labels_that_number_no_patch_are_refused(labels) -> None:
    with pytest.raises(InvalidModel, match="expected one whole number from 0 on for each"):
        FrictionPatches.labelled(STRIP, labels)


def test_interlaced_patches_share_the_area() -> None:
    labels = (STRIP.points[:, 0] % 0.5 > 0.25).astype(int)
    patches = FrictionPatches.labelled(STRIP, labels)
    assert patches.measures == pytest.approx([0.5, 0.5])
    assert patches.average(STRIP.points[:, 0]) == pytest.approx([0.375, 0.625])
