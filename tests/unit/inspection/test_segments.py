import matplotlib.pyplot as plt
import numpy as np
import pytest

from skdp.inspection._segments import average_neighbors, check_parts, draw_parts, set_segment_axis


def draw(n_segments, boundaries, names, size=(6.0, 2.0)):
    _, ax = plt.subplots(figsize=size, layout="constrained")
    set_segment_axis(ax, n_segments)
    draw_parts(ax, check_parts(n_segments, boundaries, names))
    return ax


def names_of(ax):
    (axis,) = ax.child_axes
    return axis.get_xticklabels()


def test_no_parts():
    parts = check_parts(5, None, None)
    assert parts.ptr.tolist() == [0, 5]
    assert parts.boundaries.tolist() == []
    assert parts.names is None
    ax = draw(5, None, None)
    assert not ax.collections
    assert not ax.child_axes


def test_one_part():
    parts = check_parts(5, [], ["all"])
    assert parts.ptr.tolist() == [0, 5]
    assert parts.names == ["all"]


def test_lines_lie_between_segments():
    ax = draw(9, np.array([2, 7]), None)
    for lines in ax.collections:
        assert [segment[0][0] for segment in lines.get_segments()] == [2.5, 7.5]


def test_names_are_centered():
    ax = draw(9, [2, 7], ["I", "II", "III"])
    assert [text.get_text() for text in names_of(ax)] == ["I", "II", "III"]
    np.testing.assert_allclose([text.get_position()[0] for text in names_of(ax)], [1.5, 5, 8.5])
    assert {text.get_rotation() for text in names_of(ax)} == {0.0}


def test_crowded_names_stand_upright():
    names = [f"chapter {i}" for i in range(20)]
    labels = names_of(draw(40, range(2, 40, 2), names))
    assert [text.get_text() for text in labels] == names
    assert {text.get_rotation() for text in labels} == {90.0}


def test_names_of_small_parts_give_way():
    boundaries = [i + step for i in range(0, 300, 10) for step in (1, 10)][:-1]
    names = [kind + str(i) for i in range(30) for kind in ("small", "large")]
    labels = names_of(draw(300, boundaries, names))
    shown = [text.get_text() for text in labels]
    assert len(shown) < 60
    assert all(f"large{i}" in shown for i in range(30))
    boxes = [text.get_window_extent() for text in labels]
    assert not any(box.overlaps(other) for i, box in enumerate(boxes) for other in boxes[:i])


def test_parts_are_drawn_once():
    ax = draw(9, [2, 7], ["I", "II", "III"])
    n_lines = len(ax.collections)
    draw_parts(ax, check_parts(9, [2, 7], ["I", "II", "III"]))
    assert len(ax.collections) == n_lines
    assert len(ax.child_axes) == 1


def test_average_of_one_row_is_the_row():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    assert average_neighbors(shares, np.array([0, 2, 5]), 1) is shares


@pytest.mark.parametrize("width", [3, 5, 99])
def test_averages_end_at_boundaries(width):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 11)
    ptr = np.array([0, 1, 7, 11])
    found = average_neighbors(shares, ptr, width)
    for j in range(11):
        part = np.searchsorted(ptr, j, side="right")
        low = max(ptr[part - 1], j - width // 2)
        high = min(ptr[part], j + width // 2 + 1)
        np.testing.assert_allclose(found[j], shares[low:high].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "boundaries", [[0], [5], [-1], [2, 2], [3, 1], [1.5], [[1, 2]], ["a"], [True]]
)
def test_invalid_boundaries(boundaries):
    with pytest.raises(ValueError, match="boundaries must hold increasing integers"):
        check_parts(5, boundaries, None)


def test_invalid_names():
    with pytest.raises(ValueError, match="part_names must hold 2 names"):
        check_parts(5, [3], ["a"])
    with pytest.raises(ValueError, match="give both"):
        check_parts(5, None, ["a"])
