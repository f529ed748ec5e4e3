"""Scenes are checked when they are made, and bodies are where they were put."""

import numpy as np
import pytest

from klapper.report import Scene, Shape, disc, frame_times, moved, rectangle
from klapper.report.scene import bars
from klapper.results import Run
from results.motions import bouncing_ball, braked_block


def test_a_turned_rectangle_has_its_corners_where_a_rotation_puts_them() -> None:
    angle = np.array([0.0, np.pi / 2, 0.3])
    placed = moved(rectangle(4.0, 2.0), [1.0, 2.0, 3.0], 5.0, angle)
    assert placed.shape == (3, 4, 2)
    np.testing.assert_allclose(placed[1], [[3, 3], [3, 7], [1, 7], [1, 3]], atol=1e-12)
    rotation = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    np.testing.assert_allclose(placed[2], rectangle(4.0, 2.0) @ rotation.T + [3.0, 5.0], rtol=1e-14)
    lengths = np.linalg.norm(np.diff(placed, axis=1), axis=2)
    np.testing.assert_allclose(lengths, np.tile([4.0, 2.0, 4.0], (3, 1)))


def test_a_disc_is_round() -> None:
    outline = disc(0.5)
    np.testing.assert_allclose(np.linalg.norm(outline[:-1], axis=1), 0.5)
    assert outline[-1].tolist() == [0.0, 0.0]


def test_bars_are_shares_of_the_largest_magnitude() -> None:
    run = braked_block()
    scene = bars(run, frames=11)
    assert scene is not None
    tops = scene.shapes[1].points.reshape(11, 2, 4, 2)[:, :, 2, 1]
    expected = run.position_at(frame_times(run, 11))[:, 0] / run.position[:, 0].max()
    np.testing.assert_allclose(tops[:, 0], expected)
    assert np.all(tops[:, 1] == 0.0)
    assert [text for _, _, text in scene.labels] == ["block x", "block y"]
    assert bars(Run(run.layout, run.samples[:0])) is None
    single = bars(Run(run.layout, run.samples[:1]))
    assert single is not None
    assert len(single.time) == 1


def test_what_cannot_be_drawn_is_refused_by_name() -> None:
    points = np.zeros((3, 4, 2))
    for settings, words in [
        ({"points": np.zeros((3, 4))}, "points of 'it' have the shape"),
        ({"points": np.full((3, 4, 2), np.nan)}, "not all finite"),
        ({"points": points, "kind": "cube"}, "allowed are 'polygon', 'line' and 'dots'"),
        ({"points": points, "cells": [[0, 4]]}, "point numbers from 0 to 3"),
        ({"points": points, "rest": np.zeros((3, 2))}, r"rest of 'it' has the shape \(3, 2\)"),
        ({"points": points, "value": np.zeros(3)}, r"value of 'it' has the shape \(3,\): give \(3, 1\)"),
    ]:
        with pytest.raises(ValueError, match=words):
            Shape("it", **settings)
    with pytest.raises(ValueError, match="'it' has 3 frames, but the scene has 2"):
        Scene([0.0, 1.0], [Shape("it", points)])
    with pytest.raises(ValueError, match="give rising numbers"):
        Scene([1.0, 0.0], [])
    with pytest.raises(ValueError, match="allowed are numbers above 0"):
        Scene([0.0], [], exaggeration=0.0)


def test_frames_cover_the_run() -> None:
    time = frame_times(bouncing_ball(until=3.0), 7)
    np.testing.assert_allclose(time, 0.5 * np.arange(7))
