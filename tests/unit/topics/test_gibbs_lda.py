"""Latent Dirichlet allocation: documents and segments, few topics and many, and power laws."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import GibbsLDA
from skdp.topics._kernels._lda import SPARSE_FROM
from skdp.topics._lda._sampler import nodes_of_documents, tokens_of_nodes

CORPUS = make_segmented_corpus(
    20, n_components=3, n_features=30, n_segments=(1, 5), segment_length=15.0,
    topic_word_prior=0.05, random_state=0,
).data  # fmt: skip
LEVELS = ["document", "segment"]
every_level = pytest.mark.parametrize("level", LEVELS)
few_and_many = pytest.mark.parametrize("n_components", [20, SPARSE_FROM])


def quick(**params):
    return GibbsLDA(**{"n_components": 3, "max_iter": 6, "random_state": 0, **params})


def test_docstrings_of_users_are_theirs():
    class Plain(GibbsLDA):
        pass

    class Told(GibbsLDA):
        """A model.

        level
        of documents.
        """

    assert inspect.getdoc(Plain) == inspect.getdoc(GibbsLDA)
    assert inspect.getdoc(Told) == "A model.\n\nlevel\nof documents."


class TestShares:
    @few_and_many
    @every_level
    def test_of_documents_and_segments(self, n_components, level):
        """The one are means of the other, weighted by words; or the other are those of the one."""
        model = quick(n_components=n_components, level=level).fit(CORPUS)
        for documents, segments in (
            (model.doc_topic_, model.segment_topic_),
            (model.transform(CORPUS), model.transform_segments(CORPUS)),
        ):
            if level == "document":
                expected = np.repeat(documents, np.diff(CORPUS.doc_ptr), axis=0)
                assert_array_equal(segments, expected)
                continue
            lengths = np.diff(CORPUS.segment_ptr)[:, np.newaxis]
            sums = np.add.reduceat(lengths * segments, CORPUS.doc_ptr[:-1])
            assert_allclose(documents, sums / np.add.reduceat(lengths, CORPUS.doc_ptr[:-1]))
            assert np.ptp(segments[: CORPUS.doc_ptr[1]], axis=0).max() > 0.0

    @few_and_many
    @every_level
    def test_without_words_are_the_mean_of_the_prior(self, n_components, level):
        prior = np.linspace(0.1, 1.0, n_components)
        mean = prior / prior.sum()
        documents = [[[0, 1, 2], [3]], [], [[]], [[], []], [[], [29]]]
        model = quick(n_components=n_components, level=level, doc_topic_prior=prior).fit(documents)
        for shares in (model.doc_topic_, model.transform(documents)):
            assert_allclose(shares[1:4], [mean] * 3)
        for shares in (model.segment_topic_, model.transform_segments(documents)):
            assert_allclose(shares[2:5], [mean] * 3)
        if level == "segment":  # segments without words do not weigh
            assert_allclose(model.segment_topic_[5], mean)
            assert_allclose(model.doc_topic_[4], model.segment_topic_[6])
        learned = quick(n_components=n_components, level=level).fit(documents)
        mean = learned.doc_topic_prior_ / learned.doc_topic_prior_.sum()
        assert_allclose(learned.transform(documents)[1:4], [mean] * 3)


@every_level
def test_levels_share_kernels(level):
    """numba compiles again for arrays that can be written: both levels pass read-only ones."""
    for offsets in (tokens_of_nodes(CORPUS, level), nodes_of_documents(CORPUS, level)):
        assert offsets.dtype == np.int64
        assert not offsets.flags.writeable


def test_given_topics_take_no_fixed_topics():
    message = ""
    try:
        GibbsLDA.from_topics(np.eye(3), doc_topic_prior=0.1, fixed_components=np.eye(1, 3))
    except ValueError as error:
        message = str(error)
    assert message.startswith("fixed_components must be None in from_topics")


RNG = np.random.default_rng(0)
POWER_LAW = SegmentedCorpus.from_documents(
    [[RNG.zipf(1.8, 12).clip(max=20) - 1 + 20 * (d % 2) for _ in range(3)] for d in range(12)], 40
)
ATTRIBUTES = ["topic_word_discount_", "topic_word_concentration_", "topic_word_base_"]


class TestPowerLaw:
    """Topics that are Pitman-Yor processes."""

    def make(self, **params):
        learned = {"topic_word_discount": "auto", "topic_word_base": "shared"}
        return quick(**{**learned, "max_iter": 20, "thin": 2, **params})

    @pytest.mark.parametrize("base", ["uniform", "shared"])
    @every_level
    def test_attributes(self, base, level):
        model = self.make(topic_word_base=base, level=level).fit(POWER_LAW)
        assert 0.0 < model.topic_word_discount_ < 1.0
        assert model.topic_word_concentration_ > 0.0
        assert model.topic_word_base_.shape == (40,)
        assert model.topic_word_base_.sum() == pytest.approx(1.0)
        assert (np.ptp(model.topic_word_base_) > 0.01) == (base == "shared")
        if base == "uniform":
            assert model.topic_word_prior_ == pytest.approx(model.topic_word_concentration_ / 40)
        assert {"topic_word_discount", "topic_word_concentration"} <= set(model.trace_)

    def test_given_values_are_kept(self):
        given = {
            "topic_word_discount": 0.3, "topic_word_concentration": 7, "topic_word_prior": 0.5
        }  # fmt: skip
        model = self.make(**given).fit(POWER_LAW)
        assert {name: getattr(model, f"{name}_") for name in given} == pytest.approx(given)

    def test_another_fit_with_dirichlet_topics_drops_the_attributes(self):
        model = self.make().fit(POWER_LAW)
        assert all(hasattr(model, name) for name in ATTRIBUTES)
        model.set_params(topic_word_discount=0.0, topic_word_base="uniform").fit(POWER_LAW)
        assert not any(hasattr(model, name) for name in ATTRIBUTES)
