import numpy as np
from hypothesis import given
from unit.data.tree_strategies import trees

from skdp.data._tree_layout import lay_out
from skdp.grammar import ParseTree


@given(trees)
def test_texts_do_not_overlap(tree):
    items = tree._flat()
    widths = np.array([len(item if isinstance(item, str) else item[0]) + 1.0 for item in items])
    layout = lay_out(items, widths)
    lefts, rights = layout.x - widths / 2, layout.x + widths / 2
    assert lefts.min() >= -1e-9
    assert rights.max() <= layout.width + 1e-9
    for depth in range(tree.height + 1):
        row = np.flatnonzero(layout.depth == depth)  # from the left to the right
        assert np.all(lefts[row[1:]] >= rights[row[:-1]] - 1e-9)


@given(trees)
def test_nodes_are_above_the_middle_of_their_children(tree):
    items = tree._flat()
    layout = lay_out(items, np.ones(len(items)))
    assert layout.parent[-1] == -1
    for i, item in enumerate(items):
        below = np.flatnonzero(layout.parent == i)
        assert len(below) == (0 if isinstance(item, str) else item[1])
        if len(below):
            assert np.all(layout.depth[below] == layout.depth[i] + 1)
            np.testing.assert_allclose(layout.x[i], (layout.x[below[0]] + layout.x[below[-1]]) / 2)


def test_a_wide_label():
    layout = lay_out(ParseTree("LONG", ["a"])._flat(), [1.0, 4.0])
    assert layout.width == 4.0
    assert layout.x.tolist() == [2.0, 2.0]
    assert layout.texts == ["a", "LONG"]
    assert layout.is_word.tolist() == [True, False]
