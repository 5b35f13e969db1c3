"""Sweeps of latent Dirichlet allocation: counts that agree, lists, and draws of many topics.

Few topics are in tests/exact/topics/test_gibbs_lda.py.
"""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skdp._numeric._numba import as_readonly
from skdp._numeric._simd import LANES, padded
from skdp.topics._kernels._counts import WordCounts
from skdp.topics._kernels._lda import (
    counts_of_lists,
    empty_dense_scratch,
    empty_sparse_scratch,
    find_sum,
    list_words,
    locate,
    sum_listed,
    sum_product,
    sweep_nodes,
    sweep_nodes_sparse,
)

every_kernel = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])


def stream(*seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


class Chain:
    """Nodes of words, their topics, and all that a sweep needs."""

    def __init__(self, nodes, n_words, topics, *, alpha, gamma=0.3, sparse=False, phi=None, seed=0):
        self.tokens = as_readonly(np.array([w for node in nodes for w in node], dtype=np.int32))
        self.node_ptr = as_readonly(np.cumsum([0, *map(len, nodes)]))
        self.topics = np.array(topics, dtype=np.int32)
        self.n_words, self.alpha, self.gamma = n_words, np.array(alpha, dtype=float), gamma
        self.n_topics = len(alpha)
        self.sparse, self.phi, self.rng = sparse, phi, stream(seed)
        self.reset()

    def reset(self):
        """Make the counts from the topics."""
        seated = self.topics >= 0
        self.totals = np.zeros(padded(self.n_topics))
        counts = np.zeros((self.n_words, padded(self.n_topics)), dtype=np.float32)
        if self.phi is not None:
            counts[:, : self.n_topics] = self.phi.T
        else:
            np.add.at(counts, (self.tokens[seated], self.topics[seated]), 1)
            np.add.at(self.totals, self.topics[seated], 1)
        self.counts = counts
        if self.sparse:
            self.lists = list_words(self.tokens, self.topics, self.n_words, self.n_topics)
            self.scratch = empty_sparse_scratch(self.n_topics)
        else:
            self.words = WordCounts(counts, self.totals, self.phi is not None)
            self.scratch = empty_dense_scratch(self.n_topics)

    def sweep(self, first=0, last=None):
        last = len(self.node_ptr) - 1 if last is None else last
        corpus = (first, last, self.node_ptr, self.tokens, self.topics)
        if self.sparse:
            sweep_nodes_sparse(
                *corpus, self.lists, self.totals, self.alpha, self.gamma, self.scratch, self.rng
            )
            counts_of_lists(self.lists, self.counts)
        else:
            sweep_nodes(*corpus, self.words, self.alpha, self.gamma, self.scratch, None, self.rng)

    def assert_consistent(self):
        seated = self.topics >= 0
        counts = np.zeros_like(self.counts)
        np.add.at(counts, (self.tokens[seated], self.topics[seated]), 1)
        assert_array_equal(self.counts, counts)
        assert_array_equal(self.totals, counts.sum(axis=0))
        if self.sparse:
            scratch = self.scratch
            at_rest = self.alpha / (self.n_words * self.gamma + self.totals[: self.n_topics])
            assert_allclose(scratch.base, self.alpha, rtol=1e-12)
            assert_allclose(scratch.factor[: self.n_topics], at_rest, rtol=1e-6)
            assert not scratch.factor[self.n_topics :].any()
            groups = np.add.reduceat(scratch.factor.astype(float), np.arange(0, self.n_topics, 32))
            assert_allclose(scratch.group_sums, groups, rtol=1e-9)
            row_ends = self.lists.row_ptr[:-1] + self.lists.lengths
            entries = np.arange(len(self.lists.ids))
            row_of = np.repeat(np.arange(self.n_words), np.diff(self.lists.row_ptr))
            used = entries < row_ends[row_of]
            assert np.all(self.lists.values[used] > 0)
            assert np.all(self.lists.values[~used] == 0)
            assert np.all(self.lists.ids[~used] == self.n_topics)


def make_chain(n_topics, lengths, n_words=9, *, seated=True, seed=0, **options):
    rng = np.random.default_rng(seed)
    nodes = [rng.integers(0, n_words, n) for n in lengths]
    n = sum(lengths)
    topics = rng.integers(0, n_topics, n) if seated else np.full(n, -1)
    alpha = rng.gamma(2.0, 0.3, n_topics) + 0.01
    return Chain(nodes, n_words, topics, alpha=alpha, seed=seed, **options)


@every_kernel
@pytest.mark.parametrize("n_topics", [1, 2, 15, 16, 17, 40, 100])
def test_counts_stay_consistent(n_topics, sparse):
    chain = make_chain(n_topics, [0, 40, 0, 0, 1, 2, 130, 0], sparse=sparse)
    for _ in range(5):
        chain.sweep()
        assert np.all((chain.topics >= 0) & (chain.topics < n_topics))
        chain.assert_consistent()


@every_kernel
def test_nodes_out_of_range_stay_as_they_are(sparse):
    """Those in range get a topic; the same stream draws the same ones."""
    chains = [make_chain(30, [20, 0, 20, 20], seated=False, sparse=sparse) for _ in range(2)]
    for chain in chains:
        chain.sweep(1, 3)
        assert np.all((chain.topics >= 0) == np.repeat([False, True, False], 20))
        chain.assert_consistent()
        chain.sweep()
        assert np.all(chain.topics >= 0)
        chain.assert_consistent()
    assert_array_equal(*(chain.topics for chain in chains))


@pytest.mark.slow
@every_kernel
def test_draws_of_many_topics(sparse):
    """By a chi-square test: a right kernel fails for one seed in a million; this one is fixed."""
    chain = make_chain(40, [300, 6, 20], n_words=3, sparse=sparse)
    topics, i = chain.topics.copy(), 300  # the first word of the second node
    others = np.arange(len(topics)) != i
    of_node = others & np.repeat([False, True, False], [300, 6, 20])
    of_word = others & (chain.tokens == chain.tokens[i])
    in_node, in_word, in_all = (
        np.bincount(topics[some], minlength=40) for some in (of_node, of_word, others)
    )
    expected = (chain.alpha + in_node) * (in_word + chain.gamma) / (in_all + 3 * chain.gamma)
    draws = []
    for _ in range(10_000):
        chain.topics[:] = topics
        chain.reset()
        chain.sweep(1, 2)
        draws.append(chain.topics[i])
    p, n = 10_000 * expected / expected.sum(), np.bincount(draws, minlength=40)
    assert p.min() > 10.0
    assert stats.chisquare(n, p).pvalue > 1e-6


def test_fixed_topics():
    """They do not change, and nodes are independent."""
    phi = np.random.default_rng(5).dirichlet(np.full(9, 0.5), 20).astype(np.float32)
    chain, other = (make_chain(20, [0, 30, 5], phi=phi, gamma=0.0, seated=False) for _ in range(2))
    chain.sweep()
    other.sweep(0, 2)
    other.sweep(2, 3)
    assert_array_equal(chain.topics, other.topics)
    assert np.all((chain.topics >= 0) & (chain.topics < 20))
    assert_array_equal(chain.counts[:, :20], phi.T)
    assert not chain.totals.any()


@every_kernel
def test_weights_near_zero(sparse):
    """Every word has all its weight in one topic: nothing else can be drawn."""
    nodes = [[0, 1, 2, 3] * 5, [3, 3, 1]]
    topics = [w for node in nodes for w in node]
    chain = Chain(nodes, 4, topics, alpha=np.full(4, 1e-3), gamma=1e-12, sparse=sparse)
    for _ in range(3):
        chain.sweep()
        assert_array_equal(chain.topics, topics)
        chain.assert_consistent()


@numba.njit
def sums_of_product(matrix, row, offset, factor, sums, sums_row):
    return sum_product(matrix, row, offset, factor, sums, sums_row)


@numba.njit
def sums_of_list(ids, values, begin, n, factor, sums, sums_row):
    return sum_listed(ids, values, begin, n, factor, sums, sums_row)


@numba.njit
def find(sums, sums_row, n, target):
    return find_sum(sums, sums_row, n, np.float32(target))


@numba.njit
def position(ids, begin, n, k):
    return locate(ids, begin, n, k)


def lane_order(n):
    """Return the entries in the order of the lanes."""
    return np.arange(n).reshape(-1, LANES).T.ravel()


@pytest.mark.parametrize("n", [16, 48, 160])
def test_sums_and_search(n):
    rng = np.random.default_rng(n)
    matrix = rng.integers(0, 5, (3, n)).astype(np.float32)
    factor = rng.integers(0, 3, n).astype(np.float32)  # whole numbers: sums are exact
    sums = np.zeros((2, LANES + n), dtype=np.float32)
    total = sums_of_product(matrix, 2, np.float32(1.0), factor, sums, 1)
    weights = (matrix[2] + 1.0) * factor
    assert total == weights.sum()
    assert not sums[0].any()

    ids = rng.permutation(n).astype(np.int32)
    listed = np.zeros_like(sums)
    values = (matrix[2] + 1.0)[ids]
    assert sums_of_list(ids, values, 0, n, factor, listed, 0) == total
    assert sums_of_list(ids, values, n - 16, 16, factor, listed, 1) == weights[ids[-16:]].sum()

    for row, sum_row, weight in ((1, sums, weights), (0, listed, weights[ids])):
        order = lane_order(n)
        wanted = np.repeat(order, weight[order].astype(int))
        drawn = [find(sum_row, row, n, target) for target in range(int(total))]
        assert_array_equal(drawn, wanted)
        assert find(sum_row, row, n, total + 1.0) == n - 1
        assert find(sum_row, row, n, -1.0) == 0


def test_locate():
    ids = np.arange(48, dtype=np.int32)[::-1].copy()
    assert [position(ids, 0, 48, k) for k in (47, 0, 17, 48)] == [0, 47, 30, -1]
    assert [position(ids, 16, 16, k) for k in (31, 16, 15, 32)] == [16, 31, -1, -1]
    assert position(ids, 16, 0, 31) == -1
