"""Numbers and places of the symbols."""

import numpy as np
from numpy.testing import assert_array_equal

from skdp.grammar._induction._counts import RuleCounts
from skdp.grammar._induction._layout import GrammarLayout


def test_plain():
    layout = GrammarLayout(5, 3, None)
    assert not layout.is_partitioned
    assert layout.n_emitting == layout.n_symbols == 3
    assert layout.inventories == (slice(0, 3),)
    assert layout.branching == slice(0, 3)
    assert layout.n_rule_types == 2
    assert [tuple(block) for block in layout.blocks] == [(1, 0, 0)]
    assert layout.names == ["S0", "S1", "S2"]


def test_partitioned():
    layout = GrammarLayout(5, 3, 2)
    assert layout.is_partitioned
    assert (layout.n_emitting, layout.n_symbols) == (2, 5)
    assert layout.inventories == (slice(0, 2), slice(2, 5))
    assert layout.branching == slice(2, 5)
    assert layout.n_rule_types == 4
    assert [tuple(block) for block in layout.blocks] == [
        (0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1),
    ]  # fmt: skip
    assert layout.names == ["P0", "P1", "C0", "C1", "C2"]


def test_counts_of_nodes_and_types():
    rng = np.random.default_rng(0)
    plain = RuleCounts(rng.random(3), rng.random((3, 5)), rng.random((3, 3, 3)))
    emitted, branched = plain.emission.sum(axis=1), plain.binary.sum(axis=(1, 2))
    assert_array_equal(plain.of_nodes(GrammarLayout(5, 3, None)), emitted + branched)
    types = plain.of_rule_types(GrammarLayout(5, 3, None))
    assert_array_equal(types, np.stack([emitted, branched], axis=1))

    layout = GrammarLayout(5, 3, 2)
    counts = RuleCounts(rng.random(5), rng.random((2, 5)), rng.random((3, 5, 5)))
    nodes = counts.of_nodes(layout)
    assert_array_equal(nodes[:2], counts.emission.sum(axis=1))
    assert_array_equal(nodes[2:], counts.binary.sum(axis=(1, 2)))
    types = counts.of_rule_types(layout)
    for c in range(3):
        rules = counts.binary[c]
        quarters = [rules[:2, :2], rules[:2, 2:], rules[2:, :2], rules[2:, 2:]]
        assert_array_equal(types[c], [quarter.sum() for quarter in quarters])
