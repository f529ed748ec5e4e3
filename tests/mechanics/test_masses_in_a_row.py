"""The picture of coordinates as masses in a row: what is drawn is what the matrices say."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.mechanics import LinearSystem
from klapper.mechanics.mass_row import masses_in_a_row


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("stiffness", "springs"),
    [
        ([[3, -1, 0], [-1, 2, -1], [0, -1, 1]], {"spring 1", "spring 1–2", "spring 2–3"}),
        ([[1, 0, -1], [0, 2, 0], [-1, 0, 1]], {"spring 1–3", "spring 2"}),
    ],
    ids=["chain that is held at its first mass", "two that are coupled and one that is held"],
)
def test_springs_are_drawn_where_masses_are_coupled_or_held(form, stiffness, springs) -> None:
    picture = masses_in_a_row(LinearSystem([1.0] * 3, stiffness=form(1e4 * np.array(stiffness))))
    assert {part.name for part in picture.parts if part.kind == "spring"} == springs


def test_a_name_tells_which_coordinates_move_one_mass() -> None:
    """Up alone is a mass of its own, also at the begin; up after sideways of the same thing moves the same mass."""
    names = ["height", "left x", "left y", "right x", "right y", "y"]
    picture = masses_in_a_row(LinearSystem([1.0] * 6, coordinates=names))
    moved = {part.name: part.rows for part in picture.parts if part.kind == "polygon"}
    assert moved.keys() == {"height", "left x", "right x", "y"}
    axes = {name: sorted(set(zip(rows[1], rows[0] % 3, strict=True))) for name, rows in moved.items()}
    assert axes == {
        "height": [(0, 1)],
        "left x": [(1, 0), (2, 1)],
        "right x": [(3, 0), (4, 1)],
        "y": [(5, 1)],
    }
