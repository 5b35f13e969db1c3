"""Trees of topics and estimators with merged topics."""

from functools import cache
from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.base import clone

from skdp.datasets import make_segmented_corpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._words_of_topics import make_topic_tree

CORPUS = make_segmented_corpus(30, n_components=4, n_features=40, random_state=0).data
MODELS = {
    "lda": GibbsLDA(6),
    "hdp": HDPTopicModel(initial_components=6),
    "segmented": SegmentedTopicModel(6),
    "open": SegmentedTopicModel("auto", initial_components=6),
    "sequential": SequentialLDA(6),
    "adaptive": AdaptiveTopicModel(6),
    "open, adaptive": AdaptiveTopicModel("auto", initial_components=6),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@cache
def fitted(name, **params):
    short = {"max_iter": 12, "transform_max_iter": 20, "random_state": 0}
    return clone(MODELS[name]).set_params(**short, **params).fit(CORPUS)


def log_likelihood(counts):
    """Return sum_kw c_kw log(c_kw / c_k), by loops."""
    return sum(c * log(c / sum(row)) for row in counts for c in row if c > 0)


def merge_by_hand(counts):
    """Return the sets of topics after each merge that loses least, and the losses."""
    groups, losses = [frozenset([k]) for k in range(len(counts))], []
    found = []
    while len(groups) > 1:
        best = None
        for a, b in combinations(groups, 2):
            before = [counts[list(group)].sum(axis=0) for group in (a, b)]
            loss = log_likelihood(before) - log_likelihood([before[0] + before[1]])
            if best is None or loss < best[0]:
                best = loss, a, b
        losses.append(best[0])
        groups = [group for group in groups if group not in best[1:]] + [best[1] | best[2]]
        found.append(set(groups))
    return found, losses


@pytest.mark.parametrize("share", [0.6, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_merges_are_those_by_hand(seed, share):
    """Topics have a share of the words; some of them, or all, have every word."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3.0, (6, 9)) * (rng.random((6, 9)) < share) + 0.0
    counts[:, 0] = rng.poisson(2.0, 6) * (share == 1.0)
    counts[:, 1] = 1.0
    tokens = counts.sum(axis=1)
    pseudo_counts = rng.uniform(0.1, 2.0, counts.shape)
    smooth = counts + pseudo_counts
    tree = make_topic_tree(smooth / smooth.sum(axis=1, keepdims=True), tokens, pseudo_counts)
    expected, losses = merge_by_hand(counts)
    for n, groups in zip(range(5, 0, -1), expected, strict=True):
        labels = tree.labels(n)
        assert {frozenset(np.flatnonzero(labels == k)) for k in range(n)} == groups
        sizes = np.bincount(labels, weights=tokens)
        assert all(a >= b for a, b in pairwise(sizes))
    assert_allclose(tree.losses, np.array(losses) / tokens.sum(), atol=1e-12)
    assert_array_equal(tree.labels(6), np.argsort(np.argsort(-tokens, kind="stable")))


def test_equal_topics_go_first_without_loss():
    topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 0.0, 0.0]])
    tree = make_topic_tree(topics, np.array([10.0, 20.0, 5.0]), np.zeros((3, 4)))
    assert tree.merges[0].tolist() == [0, 2]
    assert tree.losses[0] == pytest.approx(0.0, abs=1e-12)
    entropy = -(15 * log(15 / 35) + 20 * log(20 / 35)) / 35
    assert tree.losses[1] == pytest.approx(entropy)
    assert tree.labels(2).tolist() == [1, 0, 1]


def test_linkage_is_that_of_scipy():
    rng = np.random.default_rng(0)
    topics, tokens = rng.dirichlet(np.full(20, 0.2), 12), rng.uniform(1.0, 100.0, 12)
    tree = make_topic_tree(topics, tokens, np.full((12, 20), 0.1))
    assert is_valid_linkage(tree.linkage)
    for n in (1, 3, 7, 12):
        ours, theirs = tree.labels(n), fcluster(tree.linkage, n, "maxclust")
        assert len(set(zip(ours, theirs, strict=True))) == n


@pytest.mark.parametrize("topics", [np.full((3, 4), 0.25), np.ones((2, 1)), np.ones((1, 1))])
def test_flat_topics(topics):
    tree = make_topic_tree(topics, np.arange(len(topics)) + 1.0, np.full(topics.shape, 0.1))
    assert_allclose(tree.losses, 0.0, atol=1e-12)
    assert tree.labels(1).tolist() == [0] * len(topics)


GIVEN = np.array([[0.6, 0.4], [0.9, 0.1], [0.5, 0.5]])


def test_given_words_are_compared_as_they_are():
    corpus = np.random.default_rng(0).multinomial(30, [0.7, 0.3], 60)
    model = GibbsLDA(3, fixed_components=GIVEN, max_iter=10, random_state=0).fit(corpus)
    tokens = model._topic_tokens
    _, losses = merge_by_hand(GIVEN * tokens[:, np.newaxis])
    tree = model.topic_tree()
    assert tree.merges[0].tolist() == [0, 2]
    assert_allclose(tree.losses, np.array(losses) / tokens.sum(), atol=1e-12)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"seed_words": {2: [0, 1], 4: [3]}, "seed_weight": 30},
        {"fixed_components": np.full((1, 40), 1 / 40), "seed_words": {1: [2]}, "seed_weight": 9},
        {"topic_word_discount": 0.3},
        {"topic_word_discount": 0.3, "topic_word_base": "shared"},
    ],
    ids=["plain", "seeds", "fixed", "pitman-yor", "shared-base"],
)
def test_words_are_compared_without_the_prior(params):
    """Topics are made of known counts and of the prior, as in one sample."""
    short = {"max_iter": 12, "random_state": 0}
    model = clone(MODELS["lda"]).set_params(**short, **params).fit(CORPUS)
    rng = np.random.default_rng(0)
    counts = rng.poisson(4.0, model.components_.shape) + 0.0
    prior = np.full(counts.shape, model.topic_word_prior_)
    if "topic_word_discount" in params:
        prior = model.topic_word_concentration_ * model.topic_word_base_ + np.zeros(counts.shape)
    for topic, words in params.get("seed_words", {}).items():
        prior[topic, words] += params["seed_weight"]
    smooth = counts + prior
    model.components_ = smooth / smooth.sum(axis=1, keepdims=True)
    if "fixed_components" in params:
        model.components_[0] = 1 / 40
        counts[0] = counts[0].mean()
    model._topic_tokens = counts.sum(axis=1)
    expected, losses = merge_by_hand(counts)
    tree = model.set_params(fixed_components=None, seed_words=None).topic_tree()
    assert_allclose(tree.losses, np.array(losses) / counts.sum(), rtol=1e-9)
    assert frozenset(tree.merges[0].tolist()) in expected[0]


@pytest.mark.parametrize("name", MODELS)
def test_views(name):
    """Shares are sums, topics are means weighted by tokens, and the rest of the tree is left."""
    fine = fitted(name)
    coarse, tree = fine.reduce_topics(3), fine.topic_tree()
    labels = tree.labels(3)
    for attribute in ("doc_topic_", "segment_topic_", "doc_topic_prior_"):
        values = getattr(fine, attribute)
        expected = [values[..., labels == k].sum(axis=-1) for k in range(3)]
        assert_allclose(getattr(coarse, attribute), np.stack(expected, axis=-1))
    for k in range(3):
        mixed = fine._topic_tokens[labels == k] @ fine.components_[labels == k]
        assert_allclose(coarse.components_[k], mixed / mixed.sum())
    assert_allclose(sum(row.n_tokens for row in coarse.summary()), len(CORPUS.tokens))
    n_topics = len(fine.components_)  # all topics only change places
    order = np.argsort(tree.labels(n_topics))
    assert_allclose(fine.reduce_topics(n_topics).components_, fine.components_[order])
    rest = coarse.topic_tree()
    assert_array_equal(rest.losses, tree.losses[-2:])
    assert_array_equal(rest.labels(2)[labels], tree.labels(2))
    assert_array_equal(coarse.reduce_topics(2).topic_tree().losses, tree.losses[-1:])
    shares = coarse.transform(CORPUS)
    assert shares.shape == (len(CORPUS), 3)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert len(coarse.get_feature_names_out()) == 3
    assert coarse.score(CORPUS) < 0.0
    assert np.isfinite(coarse.log_likelihood(CORPUS, n_particles=2)).all()


@pytest.mark.parametrize("name", ["lda", "hdp", "adaptive"])
def test_views_do_not_change_the_model(name):
    """Nor does a fit of the view continue its chain."""
    fine = fitted(name, warm_start=True)
    before = fine.components_.copy(), fine.transform(CORPUS)
    coarse = fine.reduce_topics(1)
    assert coarse.get_params() == fine.get_params()
    refit = coarse.fit(CORPUS)
    assert_array_equal(refit.components_, fitted(name).components_)
    assert len(refit.topic_tree().sizes) == len(refit.components_)
    assert_array_equal(fine.components_, before[0])
    assert_array_equal(fine.transform(CORPUS), before[1])


def test_numbers_of_the_view():
    fine = fitted("hdp")
    coarse = fine.reduce_topics(2)
    assert coarse.n_components_ == 2
    assert coarse.weights_.sum() == pytest.approx(fine.weights_.sum())
    assert coarse.n_effective_components_ < fine.n_effective_components_
    for name in ("n_components_distribution_", "initial_components_"):
        assert not hasattr(coarse, name)
