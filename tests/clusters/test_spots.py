from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from indexer.clusters.spots import LabelBox, label_spots

LOW, HIGH = np.zeros(2), np.array([1000.0, 600.0])
NONE = np.zeros((0, 2))


def overlap(one: LabelBox, at: np.ndarray, other: LabelBox, there: np.ndarray) -> bool:
    room = np.array([one.width + other.width, one.height + other.height]) / 2
    return bool((np.abs(at - there) < room - 1e-6).all())


def test_a_label_alone_stands_at_its_point() -> None:
    assert label_spots([LabelBox(500, 300, 100, 20)], NONE, LOW, HIGH).tolist() == [[500, 300]]


def test_a_label_goes_off_the_dots_that_it_would_cover() -> None:
    dots = np.random.default_rng(0).uniform((470, 285), (530, 315), (40, 2))
    (spot,) = label_spots([LabelBox(500, 300, 80, 20)], dots, LOW, HIGH)
    assert not (np.abs(dots - spot) <= (40, 10)).all(axis=1).any()
    assert np.hypot(*(spot - (500, 300))) < 120


def test_no_labels_are_no_spots() -> None:
    assert label_spots([], NONE, LOW, HIGH).shape == (0, 2)


def test_a_label_wider_than_the_frame_stays_at_its_point() -> None:
    assert label_spots([LabelBox(500, 300, 5000, 20)], NONE, LOW, HIGH).tolist() == [[500, 300]]


@given(st.lists(st.tuples(st.floats(300, 700), st.floats(200, 400)), min_size=1, max_size=6))
def test_labels_stay_in_the_frame_and_off_each_other(points: list[tuple[float, float]]) -> None:
    boxes = [LabelBox(x, y, 120, 20) for x, y in points]
    spots = label_spots(boxes, NONE, LOW, HIGH)
    for place, (box, spot) in enumerate(zip(boxes, spots, strict=True)):
        half = np.array([box.width, box.height]) / 2
        assert ((spot - half >= LOW) & (spot + half <= HIGH)).all()
        assert not any(overlap(box, spot, boxes[other], spots[other]) for other in range(place))
