"""Arrays of trees: the rules that they use, and trees made of them."""

import numpy as np
from numpy.testing import assert_array_equal

from skdp.data import TokenSequences
from skdp.grammar import ParseTree
from skdp.grammar._chart._engine import TreeArrays
from skdp.grammar._induction._trees import count_rules, make_trees

# (S1 (S0 4) (S2 (S0 1) (S0 4))), a sentence without a parse, (S2 3)
SENTENCES = TokenSequences.from_sequences([[4, 1, 4], [0, 2], [3]], 5)
WORDS = [str(i) for i in range(7)]
TREES = TreeArrays(
    np.array([1, 0, 2, 0, 0, 2], np.int32),
    np.array([3, 1, 2, 1, 1, 1], np.int32),
    np.array([0, 5, 5, 6]),
)


def test_counts():
    counts = count_rules(TREES, SENTENCES, ((3,), (3, 5), (3, 3, 3)), 0)
    assert_array_equal(counts.root, [0, 1, 1])
    emission, binary = np.zeros((3, 5)), np.zeros((3, 3, 3))
    emission[0, 4], emission[0, 1], emission[2, 3] = 2, 1, 1
    binary[1, 0, 2] = binary[2, 0, 0] = 1
    assert_array_equal(counts.emission, emission)
    assert_array_equal(counts.binary, binary)


def test_counts_of_a_partition():
    """Symbol 0 emits, 1 and 2 branch."""
    trees = TreeArrays(TREES.symbols[:5], TREES.lengths[:5], np.array([0, 5]))
    counts = count_rules(trees, SENTENCES[:1], ((3,), (1, 5), (2, 3, 3)), 1)
    assert counts.binary[0, 0, 2] == counts.binary[1, 0, 0] == 1
    assert counts.binary.sum() == 2
    assert counts.emission.sum() == 3


def test_counts_of_nothing():
    trees = TreeArrays(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(4, int))
    counts = count_rules(trees, SENTENCES, ((3,), (3, 5), (3, 3, 3)), 0)
    assert not any(part.any() for part in counts)


def test_trees():
    made = make_trees(TREES, SENTENCES, ["A", "B", "C"], WORDS, "X")
    assert made == [
        ParseTree("B", [ParseTree("A", ["4"]),
                        ParseTree("C", [ParseTree("A", ["1"]), ParseTree("A", ["4"])])]),
        ParseTree("X", ["0", "2"]),
        ParseTree("C", ["3"]),
    ]  # fmt: skip


def test_a_deep_tree():
    """One of 3,000 levels, made without recursion."""
    n = 3000
    symbols = np.zeros(2 * n - 1, np.int32)
    lengths = np.ones(2 * n - 1, np.int32)
    lengths[0:-1:2] = np.arange(n, 1, -1)  # right-branching
    sentence = TokenSequences.from_sequences([np.arange(n) % 7], 7)
    trees = TreeArrays(symbols, lengths, np.array([0, 2 * n - 1]))
    (tree,) = make_trees(trees, sentence, ["S"], WORDS, "X")
    words = []
    while isinstance(tree.children[-1], ParseTree):
        words.append(tree.children[0].children[0])
        tree = tree.children[1]
    assert [*words, tree.children[0]] == [str(i % 7) for i in range(n)]
