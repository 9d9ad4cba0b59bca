"""Colours of points by what their files say."""

import base64

import numpy as np
import pytest

from tear3d import Cloud
from tear3d.report.tints import NOTHING, choices

POINTS = np.random.default_rng(0).normal(size=(6, 3))


def cloud(suffix=".ply", **attributes):
    return Cloud(POINTS, {name: np.asarray(values) for name, values in attributes.items()}, format=suffix)


def colours_of(tint, rows=slice(None)):
    """As the page will draw them."""
    told = tint.packed(rows)
    raw = np.frombuffer(base64.b64decode(told["bytes"]), np.uint8)
    return [told["palette"][k] for k in raw] if told["palette"] else raw.reshape(-1, 3).tolist()


def test_only_what_a_cloud_has_is_offered():
    assert choices([Cloud(POINTS)]) == []
    zeros = cloud(
        ".las", intensity=np.zeros(6), classification=np.zeros(6, np.uint8), colors=np.zeros((6, 3), np.uint16)
    )
    assert choices([zeros]) == []
    both = choices([cloud(intensity=np.arange(6.0)), cloud(classification=np.arange(6))])
    assert [one.name for one in both] == ["classification", "intensity"]
    assert [tint is None for tint in both[0].tints] == [True, False]
    assert "keep their own colour" in both[0].legend


@pytest.mark.parametrize(
    ("colours", "shown"),
    [
        (np.full((6, 3), 7, np.uint8), 7),
        (np.full((6, 3), 7 * 257, np.uint16), 7),
        (np.full((6, 3), 200, np.uint16), 200),  # bytes in fields of 16 bits
        (np.full((6, 3), 7 / 255), 7),
    ],
)
def test_true_colours_of_every_kind(colours, shown):
    (one,) = choices([cloud(colors=colours)])
    assert colours_of(one.tints[0], [0, 3]) == [[shown] * 3] * 2


def test_intensity_goes_from_weak_to_strong_on_one_scale_for_all_files():
    values = np.arange(6.0)
    (one,) = choices([cloud(intensity=values), cloud(intensity=[*(values[:5] + 6), np.nan])])
    first, second = (colours_of(tint) for tint in one.tints)
    assert first[0] == "#440154"
    assert second[4] == "#fde725"
    assert second[5] == NOTHING
    assert len({*first, *second}) == 12
    assert "no number" in one.legend
    assert "0.2 and less" in one.legend
    assert "9.8 and more" in one.legend
    (same,) = choices([cloud(intensity=np.full(6, 5.0))])
    assert len(set(colours_of(same.tints[0]))) == 1
    assert "</i> 5" in same.legend


def test_each_class_has_its_colour_and_count_in_the_legend():
    classes = np.array([2, 2, 6, 9, 2, 77], np.uint8)
    (one,) = choices([cloud(".las", classification=classes)])
    drawn = colours_of(one.tints[0])
    assert drawn[0] == drawn[1] == drawn[4]
    assert len(set(drawn)) == 4
    for told, colour in (
        ("class 2, ground: 3", drawn[0]),
        ("class 6, building: 1", drawn[2]),
        ("class 77: 1", drawn[5]),
    ):
        assert f'background:{colour}"></i>{told}<' in one.legend
    (plain,) = choices([cloud(".ply", classification=classes)])
    assert "class 2: 3<" in plain.legend


def test_many_classes_share_a_colour_for_the_rest():
    points = np.zeros((60, 3))
    classes = np.concatenate([np.arange(1, 31), np.arange(1, 31)[:24], np.full(6, 30)])
    (one,) = choices([Cloud(points, {"classification": classes})])
    drawn = np.array(colours_of(one.tints[0]))
    rest = drawn == NOTHING
    assert "others: " in one.legend
    assert 0 < rest.sum() < 12
    assert not rest[classes == 30].any()
