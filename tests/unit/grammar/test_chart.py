"""Charts: public sums over trees, the likeliest trees, drawn trees, and compiled kernels."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG, inside_outside
from skdp.grammar._chart._engine import viterbi
from skdp.grammar._chart._k_best import BestChartTrees, draw_sentences
from skdp.grammar._chart._paths import RuleWeights


def rng(seed=0):
    return np.random.default_rng(seed)


# Sums


def grammar():
    drawn = rng()
    shapes = {"root": 3, "rule_type": (3, 2), "emission": (3, 4), "binary": (3, 3, 3)}
    return {name: drawn.random(shape) for name, shape in shapes.items()}


def test_shapes_and_sums():
    """A sentence of n words has one root, n emissions and n - 1 binary rules."""
    found = inside_outside([[0, 1, 2, 3, 0], [3], [1, 1]], **grammar())
    assert found.log_prob.shape == (3,)
    assert found.root_counts.shape == (3,)
    assert found.root_counts.sum() == pytest.approx(3.0)
    assert_allclose(found.rule_type_counts.sum(axis=0), [8.0, 5.0])
    assert_allclose(found.emission_counts.sum(axis=1), found.rule_type_counts[:, 0])
    assert_allclose(found.emission_counts.sum(axis=0), [2.0, 3.0, 1.0, 2.0])
    assert_allclose(found.binary_counts.sum(axis=(1, 2)), found.rule_type_counts[:, 1])


def test_weights_of_rules_are_products():
    """The types' weights go to the rules, or the other way round; read-only arrays will do."""
    weights = grammar()
    whole = {
        **weights,
        "rule_type": np.ones((3, 2)),
        "emission": weights["rule_type"][:, :1] * weights["emission"],
        "binary": weights["rule_type"][:, 1, None, None] * weights["binary"],
    }
    for array in weights.values():
        array.setflags(write=False)
    found = (inside_outside([[0, 1, 2], [2, 2, 1, 0]], **each) for each in (weights, whole))
    for first, second in zip(*found, strict=True):
        assert_allclose(first, second, rtol=1e-12)


def test_forms_of_sentences():
    rows = np.array([[0, 1, 2], [3, 3, 0]])
    expected = inside_outside(rows, **grammar())
    for form in (rows.tolist(), list(rows), TokenSequences.from_sequences(rows.tolist())):
        for first, second in zip(expected, inside_outside(form, **grammar()), strict=True):
            assert_array_equal(first, second)


# The likeliest trees


def equal_weights(n_symbols, n_preterminals=None):
    n_emitting = n_preterminals or n_symbols
    n_branching = n_symbols - (n_preterminals or 0)
    shapes = n_symbols, (n_emitting, 2), (n_branching, n_symbols, n_symbols)
    return RuleWeights(*map(np.zeros, shapes), n_preterminals)


def trees_of(words, weights, k):
    found = BestChartTrees(np.array(words, dtype=np.int32), weights, k).trees()
    return [(tuple(symbols), tuple(lengths)) for symbols, lengths in found]


@pytest.mark.parametrize("n_preterminals", [None, 1])
def test_equally_good_trees(n_preterminals):
    """Each comes once, in an order that does not depend on k; the first is that of `viterbi`."""
    weights = equal_weights(2, n_preterminals)
    words = [0, 1, 1, 0]
    found = trees_of(words, weights, 10**4)
    n_shapes = 5
    assert len(set(found)) == len(found) == n_shapes * (2**7 if n_preterminals is None else 1)
    for k in (1, 2, 7, 100):
        assert trees_of(words, weights, k) == found[:k]
    _, best = viterbi(TokenSequences.from_sequences([words]), weights)
    assert found[0] == (tuple(best.symbols), tuple(best.lengths))
    weights.log_emission[:, 1] = -np.inf
    assert trees_of([0, 1], weights, 3) == []
    assert len(trees_of([0], weights, 3)) == (n_preterminals or 2)


def test_k_best_of_an_estimator():
    """In the order of sentences, empty ones too; all trees have the probability of the words."""
    sentences = [[0, 1], [1, 0, 1], [], [0, 0, 1, 1]]
    model = HDPPCFG(2, max_iter=30, tol=0.1, random_state=0).fit(sentences)
    alone = model.k_best(sentences, 4)
    assert [len(row) for row in alone] == [4, 4, 0, 4]
    assert model.set_params(n_jobs=2).k_best(sentences, 4) == alone
    model = HDPPCFG(2, inference="gibbs", max_iter=20, random_state=0).fit([[0, 1], [1, 0, 1]])
    (ranked,) = model.k_best([[1, 0, 1]], 10**4)  # averages over samples
    total = np.logaddexp.reduce([log_prob for _, log_prob in ranked])
    assert total == pytest.approx(model.score_samples([[1, 0, 1]])[0], rel=1e-10)


# Drawn trees


def weights_of(root, emission, binary, n_preterminals=None):
    with np.errstate(divide="ignore"):
        parts = [np.log(np.asarray(part)) for part in (root, emission, binary)]
    return RuleWeights(*parts, n_preterminals)


def test_a_grammar_with_one_tree():
    """P0 -> 0, P1 -> 2, C0 -> P0 C1, C1 -> P1 P0."""
    binary = np.zeros((2, 4, 4))
    binary[0, 0, 3] = binary[1, 1, 0] = 1.0
    weights = weights_of([0.0, 0.0, 1.0, 0.0], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], binary, 2)
    sentences, trees = draw_sentences(weights, 3, 10, rng())
    assert [sentence.tolist() for sentence in sentences] == [[0, 2, 0]] * 3
    assert sentences.n_features == 3
    assert_array_equal(trees.node_ptr, [0, 5, 10, 15])
    assert_array_equal(trees.symbols[:5], [2, 0, 3, 1, 0])
    assert_array_equal(trees.lengths[:5], [3, 1, 2, 1, 1])


def test_rules_of_probability_zero_are_not_drawn():
    """The last words and rules among them, where rounding could lead."""
    emission = np.array([[0.1] * 6 + [0.4, 0.0]])
    weights = weights_of([1.0], emission * 0.9999, [[[0.0001]]])
    sentences, _ = draw_sentences(weights, 3000, 3, rng())
    assert sentences.tokens.max() == 6


def test_lengths():
    """No sentence is longer than the limit; lengths equal those of the nodes."""
    weights = weights_of([1.0], [[0.45]], [[[0.55]]])
    sentences, trees = draw_sentences(weights, 200, 5, rng())
    lengths = np.diff(sentences.ptr)
    assert lengths.max() == 5
    assert lengths.min() == 1
    assert_array_equal(trees.lengths[trees.node_ptr[:-1]], lengths)
    assert_array_equal(np.diff(trees.node_ptr), 2 * lengths - 1)
    with pytest.raises(ValueError, match="max_length=7"):  # trees without end
        draw_sentences(weights_of([1.0], [[1e-12]], [[[1.0]]]), 1, 7, rng())


# Kernels

RUN = """
import numpy as np
from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG
from skdp.grammar._kernels import _extended_range, _lanes, _long

def compiled():
    modules = (_extended_range, _lanes, _long)  # the first has a sum_inside, too: lanes count
    kernels = {name: kernel for module in modules for name, kernel in vars(module).items()
               if hasattr(kernel, "signatures") and kernel.__module__ == module.__name__}
    twice = [name for name, kernel in kernels.items() if len(kernel.signatures) > 1]
    assert not twice, twice
    outer = ("sum_inside", "count_batches", "sum_long", "count_long", "find_best_tree")
    return [name for name in outer if kernels[name].signatures]

lists = [[0, 1, 2, 3], [3, 1], [0, 2, 2]]
model = HDPPCFG(3, max_iter=2, tol=1e9, random_state=0).fit(lists)
print(*compiled())
model.score(lists)
print(*compiled())
tokens = np.array([0, 1, 2, 3, 1], dtype=np.int32)
ptr = np.array([0, 4, 5])
for is_writable in (True, False):
    tokens.flags.writeable = ptr.flags.writeable = is_writable
    sentences = TokenSequences(tokens, ptr, 4)
    model.fit(sentences)
    model.score(sentences)
    model.predict(sentences)
print(*compiled())
model.score([[0, 1, 2, 3] * 50])
print(*compiled())
"""


@pytest.mark.slow
def test_no_kernel_is_compiled_in_vain_or_twice():
    """Each takes seconds."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], text=True, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["count_batches"],
        ["sum_inside", "count_batches"],
        ["sum_inside", "count_batches", "find_best_tree"],
        ["sum_inside", "count_batches", "sum_long", "find_best_tree"],
    ]
