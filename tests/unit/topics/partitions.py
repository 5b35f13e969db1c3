"""A small corpus in partitions, models of it, and fits that are stopped."""

import gc

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import SegmentedTopicModel
from skdp.topics._shared._partition import _REPLICAS
from skdp.topics._tables._sampler import DistributedTableSampler

RNG = np.random.default_rng(0)
CORPUS = SegmentedCorpus.from_documents(
    [
        [RNG.integers(0, 12, RNG.integers(0, 9)) for _ in range(RNG.integers(1, 5))]
        for _ in range(24)
    ],
    n_features=12,
)
CORPUS = CORPUS.with_parts([range(2, len(document), 2) for document in CORPUS])
FITTED = (
    "components_", "doc_topic_", "doc_topic_prior_", "topic_word_prior_", "discount_",
    "concentration_", "mixing_prior_", "segment_topic_", "segment_mixing_",
    "document_topic_prior_", "segment_topic_prior_",
)  # fmt: skip


def make(cls=SegmentedTopicModel, **params):
    return cls(**{"n_components": 3, "max_iter": 12, "thin": 2, "random_state": 0, **params})


def split(n):
    return PartitionedCorpus.from_corpus(CORPUS, n)


def assert_same(found, expected):
    for name in FITTED:
        if hasattr(expected, name):
            assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.trace_ == expected.trace_
    assert_allclose(found._topic_tokens, expected._topic_tokens, rtol=1e-12)


def interrupt_at(monkeypatch, n_sweeps, stop, sampler=DistributedTableSampler):
    """Call a function before the n-th sweep, or before each of several; return what counts them."""
    moments = [n_sweeps] if isinstance(n_sweeps, int) else n_sweeps
    sweep, done = sampler.sweep, []

    def interrupted(self):
        done.append(1)
        if len(done) in moments:
            stop()
        sweep(self)

    monkeypatch.setattr(sampler, "sweep", interrupted)
    return done


def assert_nothing_is_left():
    """Assert that no chain has counts in this process."""
    if _REPLICAS:
        gc.collect()  # tracebacks of errors are cycles
    assert not _REPLICAS
