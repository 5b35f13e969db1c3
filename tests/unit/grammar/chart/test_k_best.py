"""The likeliest trees of a sentence: ties, sentences without trees, and bad input."""

import numpy as np
import pytest

from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG
from skdp.grammar._chart._engine import viterbi
from skdp.grammar._chart._k_best import BestChartTrees
from skdp.grammar._chart._weights import RuleWeights


def equal_weights(n_symbols, n_preterminals=None):
    n_emitting = n_preterminals or n_symbols
    n_branching = n_symbols - (n_preterminals or 0)
    return RuleWeights(
        np.zeros(n_symbols), np.zeros((n_emitting, 2)),
        np.zeros((n_branching, n_symbols, n_symbols)), n_preterminals,
    )  # fmt: skip


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


def test_sentences_without_trees():
    weights = equal_weights(2)
    weights.log_emission[:, 1] = -np.inf
    assert trees_of([0, 1], weights, 3) == []
    assert len(trees_of([0], weights, 3)) == 2


def test_empty_sentences_and_bad_input():
    model = HDPPCFG(2, max_iter=30, tol=0.1, random_state=0).fit([[0, 1], [1, 0, 1]])
    empty, some = model.k_best([[], [0, 1]], 3)
    assert empty == []
    assert len(some) == 3
    for k in (0, -1, 1.5):
        with pytest.raises(ValueError, match="k must be an integer >= 1"):
            model.k_best([[0, 1]], k)


def test_gibbs_averages_over_samples():
    """All trees together have the probability of the words."""
    model = HDPPCFG(2, inference="gibbs", max_iter=20, random_state=0).fit([[0, 1], [1, 0, 1]])
    (ranked,) = model.k_best([[1, 0, 1]], 10**4)
    total = np.logaddexp.reduce([log_prob for _, log_prob in ranked])
    assert total == pytest.approx(model.score_samples([[1, 0, 1]])[0], rel=1e-10)


def test_threads_do_not_matter():
    sentences = [[0, 1], [1, 0, 1], [0, 0, 1, 1]]
    model = HDPPCFG(2, max_iter=30, tol=0.1, random_state=0).fit(sentences)
    alone = model.k_best(sentences, 4)
    assert model.set_params(n_jobs=2).k_best(sentences, 4) == alone
