"""Numbers of first topics where the number of topics is inferred."""

import numpy as np
import pytest

from skdp.data import SegmentedCorpus
from skdp.topics import AdaptiveTopicModel, HDPTopicModel, SegmentedTopicModel
from skdp.topics._shared import _first_number
from skdp.topics._shared._first_number import first_number_of_topics


def corpus_of(n_segments):
    return SegmentedCorpus.from_documents([[[0]] * n_segments], 10)


class TestFirstNumber:
    @pytest.mark.parametrize(
        ("n_segments", "expected"),
        [(1, 20), (62, 20), (63, 21), (189, 63), (899, 299), (900, 300), (5000, 300)],
    )
    def test_grows_with_the_segments(self, n_segments, expected):
        assert first_number_of_topics("auto", corpus_of(n_segments), 1e3) == expected

    @pytest.mark.parametrize(
        ("size", "expected"), [(2.0**30 / 299.5, 299), (2.0**30 / 50, 50), (2.0**30, 20)]
    )
    def test_few_where_they_are_large(self, size, expected):
        assert first_number_of_topics("auto", corpus_of(900), size) == expected

    def test_a_number_is_taken_as_it_is(self):
        assert first_number_of_topics(10**6, corpus_of(5), 2.0**30) == 10**6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        HDPTopicModel(initial_components="auto"),
        SegmentedTopicModel("auto"),
        AdaptiveTopicModel("auto"),
    ],
    ids=repr,
)
class TestInFits:
    CORPUS = SegmentedCorpus.from_documents(
        np.random.default_rng(0).integers(0, 50, (30, 4, 5)).tolist(), 50
    )

    def first_numbers(self, model, monkeypatch, **params):
        """Return the number of topics of the first state, and after it the bytes of a topic."""
        seen = []

        def spy(*args):
            seen.append((first(*args), args[2]))
            return seen[-1][0]

        first = _first_number.first_number_of_topics
        for place in ("_hdp_topic_model", "_tables._base"):
            monkeypatch.setattr(f"skdp.topics.{place}.first_number_of_topics", spy)
        model.set_params(max_iter=1, random_state=0, **params).fit(self.CORPUS)
        return set(seen)

    def test_of_the_corpus(self, model, monkeypatch):
        rows = 50 + 121
        assert self.first_numbers(model, monkeypatch) == {(40, 12.0 * rows)}

    def test_of_all_chains(self, model, monkeypatch):
        rows = 50 + 121
        assert self.first_numbers(model, monkeypatch, n_chains=3) == {(40, 36.0 * rows)}

    def test_same_as_the_number(self, model):
        """The default is a start like any other."""
        params = {"max_iter": 5, "random_state": 0, "n_chains": 1}
        default = model.set_params(**params, initial_components="auto").fit(self.CORPUS)
        joint = default.trace_["log_joint"]
        given = model.set_params(initial_components=40).fit(self.CORPUS)
        np.testing.assert_array_equal(given.trace_["log_joint"], joint)
        fewer = model.set_params(initial_components=39).fit(self.CORPUS)
        assert not np.array_equal(fewer.trace_["log_joint"], joint)
