"""Latent Dirichlet co-clustering: topics of documents and of segments, and their labels."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import SegmentedCorpus
from skdp.topics import LatentDirichletCoClustering
from skdp.topics._lda._ldcc import CoClusterAverages

RNG = np.random.default_rng(0)
KINDS = RNG.random((20, 6)) < np.tile([[0.1], [0.9]], (10, 1))
"""Two kinds of segments: the first prevails in every other document."""

CORPUS = SegmentedCorpus.from_documents(
    [
        [RNG.integers(*((0, 6) if kind else (3, 12)), size=15) for kind in document]
        for document in KINDS
    ],
    12,
)


def quick(**params):
    params = {"n_components": 3, "n_document_topics": 2, "max_iter": 6, **params}
    return LatentDirichletCoClustering(**{"random_state": 0, **params})


@pytest.mark.parametrize(
    "given", [0.5, [0.5, 0.5, 0.5], np.full((2, 3), 0.5), [[0.2, 0.7, 0.1], [0.5, 0.1, 3.0]]]
)
def test_one_number_or_row_stands_for_all(given):
    rows = np.broadcast_to(given, (2, 3)).copy()
    expected, model = (quick(segment_topic_prior=prior).fit(CORPUS) for prior in (rows, given))
    assert_allclose(model.segment_topic_prior_, rows)
    assert_array_equal(model.components_, expected.components_)


def test_a_document_topic_without_segments_keeps_its_row():
    state = next(quick(n_document_topics=30).iter_sweeps([[[0, 1], [2]], [[1]]]))
    unused = np.setdiff1d(np.arange(30), state.segment_clusters)
    assert np.all(state.segment_topic_prior[unused] == 0.1)


class Moving:
    """A chain whose labels trade places, and nothing else moves."""

    topics_trade_places = clusters_trade_places = True
    seeded = np.arange(0)

    def __init__(self):
        self.topic_axes = {"segment_topic": 1, "segment_topic_prior": 1}
        self.cluster_axes = {"doc_topic": 1, "segment_topic_prior": 0}
        rng = np.random.default_rng(0)
        self.phi = rng.dirichlet(np.full(20, 0.1), 3)
        self.rows = rng.dirichlet(np.full(3, 0.3), 4) * rng.gamma(2.0, size=(4, 1))
        self.of_documents = rng.dirichlet(np.ones(4), 5)
        self.of_segments = rng.dirichlet(np.ones(3), 6)
        self.topics, self.clusters = np.arange(3), np.arange(4)

    def components(self):
        return self.phi[self.topics]

    def parts(self):
        return {
            "doc_topic": self.of_documents[:, self.clusters],
            "segment_topic": self.of_segments[:, self.topics],
            "segment_topic_prior": self.rows[np.ix_(self.clusters, self.topics)],
        }

    @property
    def segment_topic_prior(self):
        return self.parts()["segment_topic_prior"]

    def empty_sums(self):
        return {name: np.zeros(value.shape) for name, value in self.parts().items()}

    def add_to(self, sums):
        for name, value in self.parts().items():
            sums[name] += value


def test_means_follow_the_labels_of_both_kinds():
    chain, averages = Moving(), CoClusterAverages()
    for topics in permutations(range(3)):
        for clusters in permutations(range(4)):
            chain.topics, chain.clusters = np.array(topics), np.array(clusters)
            averages.add(chain)
    means = averages.means(in_place=False)
    assert_allclose(means["components_"], chain.components())
    for name, value in chain.parts().items():
        assert_allclose(means[f"{name}_"], value)


@pytest.mark.parametrize(
    ("prior", "topics", "clusters"),
    [
        ({}, True, True),
        ({"document_topic_prior": "auto-symmetric"}, True, True),
        ({"document_topic_prior": 0.5}, True, True),
        ({"document_topic_prior": [0.5, 0.7]}, True, False),
        ({"segment_topic_prior": 0.5}, True, False),
        ({"segment_topic_prior": [0.5, 0.2, 0.2]}, False, False),
        ({"segment_topic_prior": [[0.5] * 3, [0.2] * 3]}, True, False),
    ],
)
def test_given_priors_tell_labels_apart(prior, topics, clusters):
    sampler = next(quick(**prior).iter_sweeps(CORPUS))._sampler
    assert sampler.topics_trade_places == topics
    assert sampler.clusters_trade_places == clusters
