"""Drawing trees from a grammar."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp.grammar._chart._sample import draw_sentences
from skdp.grammar._chart._weights import RuleWeights


def weights_of(root, emission, binary, n_preterminals=None):
    with np.errstate(divide="ignore"):
        return RuleWeights(*(np.log(part) for part in (root, emission, binary)), n_preterminals)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_grammar_with_one_tree():
    """P0 -> 0, P1 -> 2, C0 -> P0 C1, C1 -> P1 P0."""
    emission = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    binary = np.zeros((2, 4, 4))
    binary[0, 0, 3] = binary[1, 1, 0] = 1.0
    weights = weights_of([0.0, 0.0, 1.0, 0.0], emission, binary, 2)
    sentences, trees = draw_sentences(weights, 3, 10, rng())
    for sentence in sentences:
        assert_array_equal(sentence, [0, 2, 0])
    assert sentences.n_features == 3
    assert_array_equal(trees.node_ptr, [0, 5, 10, 15])
    assert_array_equal(trees.symbols[:5], [2, 0, 3, 1, 0])
    assert_array_equal(trees.lengths[:5], [3, 1, 2, 1, 1])


def test_rules_of_probability_zero_are_not_drawn():
    """The last words and rules among them, where rounding could lead."""
    emission = np.array([[0.1] * 6 + [0.4, 0.0]])
    weights = weights_of([1.0], emission * 0.9999, np.array([[[0.0001]]]))
    sentences, _ = draw_sentences(weights, 3000, 3, rng())
    assert sentences.tokens.max() == 6


def test_lengths():
    """No sentence is longer than the limit; lengths equal those of the nodes."""
    weights = weights_of([1.0], np.array([[0.45]]), np.array([[[0.55]]]))
    sentences, trees = draw_sentences(weights, 200, 5, rng())
    lengths = np.diff(sentences.ptr)
    assert lengths.max() == 5
    assert lengths.min() == 1
    assert_array_equal(trees.lengths[trees.node_ptr[:-1]], lengths)
    assert_array_equal(np.diff(trees.node_ptr), 2 * lengths - 1)


def test_trees_without_end():
    weights = weights_of([1.0], np.array([[1e-12]]), np.array([[[1.0]]]))
    with pytest.raises(ValueError, match="max_length=7"):
        draw_sentences(weights, 1, 7, rng())


def test_seeds():
    weights = weights_of([1.0], np.array([[0.3, 0.3]]), np.array([[[0.4]]]))
    first, same, other = (draw_sentences(weights, 50, 30, rng(s))[0].tokens for s in (1, 1, 2))
    assert_array_equal(first, same)
    assert not np.array_equal(first, other)
