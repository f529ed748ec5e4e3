"""Parts of a picture belong to bodies that are there."""

import pytest

from klapper.mechanics import InvalidModel
from klapper.mechanics.picture import Part, Picture


@pytest.mark.parametrize(("body", "there"), [(-1, True), (0, True), (1, True), (2, False), (3, False)])
def test_a_part_is_fixed_to_the_ground_or_to_one_of_the_bodies(body: int, there: bool) -> None:
    part = Part("rod", "line", [[0.0, 0.0], [1.0, 0.0]], body=body)
    if there:
        assert Picture(2, [part], turn=[0, 1]).parts == (part,)
    else:
        with pytest.raises(
            InvalidModel, match="part 'rod' of the picture is fixed to a body that is not there"
        ):
            Picture(2, [part], turn=[0, 1])


@pytest.mark.parametrize(
    "wrong",
    [{"radius": float("nan")}, {"radius": float("inf")}, {"shift": [[0.0, float("nan"), 0.0]]}],
    ids=str,
)
def test_sizes_and_motions_are_finite(wrong) -> None:
    with pytest.raises(
        InvalidModel, match="part 'ball' of the picture has a size or a motion that is not finite"
    ):
        Part("ball", "ball", [[0.0, 0.0]], **({"radius": 0.1, "body": 0} | wrong))


BY_ROWS = ([0, 3], [0, 0], [1.0, 1.0])


@pytest.mark.parametrize("way", [{"body": 0}, {"rows": BY_ROWS}, {"first": 0}], ids=["body", "rows", "first"])
def test_a_part_moves_in_one_way(way) -> None:
    part = Part("rod", "line", [[0.0, 0.0], [1.0, 0.0]], **way)
    assert part.linear == ("rows" in way)


@pytest.mark.parametrize(
    "ways",
    [{}, {"body": 0, "first": 0}, {"body": 0, "rows": BY_ROWS}, {"rows": BY_ROWS, "first": 0}],
    ids=str,
)
def test_a_part_that_moves_in_no_way_or_in_two_is_refused(ways) -> None:
    with pytest.raises(InvalidModel, match="does not say in one way how it moves"):
        Part("rod", "line", [[0.0, 0.0], [1.0, 0.0]], **ways)
