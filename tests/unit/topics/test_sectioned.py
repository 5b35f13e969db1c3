"""SectionedTopicModel: sections in X, parameters by level, and attributes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import SegmentedCorpus
from skdp.topics import SectionedTopicModel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

DOCUMENTS = [
    [[[0, 1, 0], [1, 1]], [[2, 3, 2], [3, 3], [2]]],
    [[[2, 3, 3]], [[1, 0], [0]], [[4]]],
    [],
    [[[4, 4, 0]]],
]
CORPUS = SegmentedCorpus.from_documents(DOCUMENTS)
FLAT = SegmentedCorpus.from_documents([[p for s in doc for p in s] for doc in DOCUMENTS], 5)


def make(**params):
    return SectionedTopicModel(3, **{"max_iter": 12, "thin": 2, "random_state": 0, **params})


def test_lists_and_corpora_are_equal():
    first = make().fit(DOCUMENTS)
    for X in (CORPUS, FLAT.with_parts([[2], [1, 3], [], []])):
        model = make().fit(X)
        assert_array_equal(model.segment_topic_, first.segment_topic_)
        assert_array_equal(model.transform_sections(X), first.transform_sections(DOCUMENTS))
    assert_allclose(first.transform_sections(CORPUS[1:2]), first.transform_sections(CORPUS)[2:5])


def test_attributes():
    model = make(n_chains=2).fit(DOCUMENTS)
    for shares in (model.section_topic_, model.transform_sections(DOCUMENTS)):
        assert shares.shape == (6, 3)
        assert_allclose(shares.sum(axis=1), 1.0)
    assert model.concentration_.shape == model.discount_.shape == (2,)
    assert {"section_concentration", "paragraph_concentration"} <= set(model.trace_)
    view = model.reduce_topics(2)
    assert view.section_topic_.shape == view.transform_sections(DOCUMENTS).shape == (6, 2)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"concentration": 3.0, "discount": 0.25}, ([3.0, 3.0], [0.25, 0.25])),
        ({"concentration": (3, np.float32(4)), "discount": [0, 0.5]}, ([3.0, 4.0], [0.0, 0.5])),
        ({"concentration": np.array([2.0, 5.0])}, ([2.0, 5.0], [0.0, 0.0])),
    ],
)
def test_given_values(params, expected):
    model = make(**params).fit(DOCUMENTS)
    assert_array_equal(model.concentration_, expected[0])
    assert_array_equal(model.discount_, expected[1])


def test_one_level_is_learned():
    model = make(concentration=("auto", 4.0), discount=(0.5, "auto")).fit(DOCUMENTS)
    assert model.concentration_[1] == 4.0 != model.concentration_[0]
    assert model.discount_[0] == 0.5 != model.discount_[1]
    assert 0.0 < model.discount_[1] < 1.0


@pytest.mark.parametrize("init", ["random", "lda", np.full((3, 5), 0.2)], ids=str)
def test_tables_of_the_levels_fit_each_other_in_every_state(init):
    for state in make(discount="auto", init=init).iter_sweeps(CORPUS):
        customers = np.add.reduceat(state.paragraph_tables, CORPUS.part_ptr[:-1])
        assert (state.section_tables <= customers).all()
        assert_array_equal(state.section_tables > 0, customers > 0)
        assert state.concentration.shape == state.discount.shape == (2,)
