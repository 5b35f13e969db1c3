"""SectionedTopicModel: sections in X, parameters by level, and attributes."""

import pickle

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
FLAT = SegmentedCorpus.from_documents([[p for s in doc for p in s] for doc in DOCUMENTS], 5)
FEW = {"max_iter": 12, "thin": 2, "random_state": 0}


def make(**params):
    return SectionedTopicModel(3, **{**FEW, **params})


def test_lists_and_corpora_are_equal():
    corpus = SegmentedCorpus.from_documents(DOCUMENTS)
    divided = FLAT.with_parts([[2], [1, 3], [], []])
    first = make().fit(DOCUMENTS)
    for X in (corpus, divided):
        model = make().fit(X)
        assert_array_equal(model.segment_topic_, first.segment_topic_)
        assert_array_equal(model.transform_sections(X), first.transform_sections(DOCUMENTS))


def test_shapes_and_sums():
    model = make(n_chains=2).fit(DOCUMENTS)
    for shares, n in (
        (model.doc_topic_, 4), (model.section_topic_, 6), (model.segment_topic_, 10),
        (model.transform(DOCUMENTS), 4), (model.transform_sections(DOCUMENTS), 6),
        (model.transform_segments(DOCUMENTS), 10),
    ):  # fmt: skip
        assert shares.shape == (n, 3)
        assert_allclose(shares.sum(axis=1), 1.0)
    assert model.concentration_.shape == model.discount_.shape == (2,)
    assert {"section_concentration", "paragraph_concentration"} <= set(model.trace_)


def test_sections_matter():
    """Half of a paragraph's words are predicted by the other paragraphs of its section."""
    phi = np.array([[1.0, 0.0], [0.0, 1.0]])
    model = SectionedTopicModel.from_topics(
        phi, doc_topic_prior=1.0, concentration=(2.0, 1.0), discount=0.0, random_state=0,
        transform_max_iter=2000,
    )  # fmt: skip
    paragraphs = [[0] * 6, [], [1] * 6, []]
    near = [[paragraphs[:2], paragraphs[2:]]]
    far = [[[paragraphs[0], paragraphs[3]], [paragraphs[2], paragraphs[1]]]]
    shares = model.transform_segments(near)
    assert shares[1, 0] > 0.6 > 0.4 > shares[3, 0]
    assert_allclose(model.transform_sections(near)[:, 0], shares[[1, 3], 0], atol=0.01)
    assert_allclose(model.transform_sections(far)[:, 0], shares[[1, 3], 0], atol=0.05)
    without = model.transform_segments([near[0][0] + near[0][1]])
    assert abs(without[1, 0] - 0.5) < 0.05


def test_parts_of_documents_do_not_depend_on_others():
    model = make().fit(DOCUMENTS)
    X = SegmentedCorpus.from_documents(DOCUMENTS)
    assert_allclose(model.transform_sections(X[1:2]), model.transform_sections(X)[2:5])


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


@pytest.mark.parametrize(
    "params",
    [
        {"concentration": (1.0, 2.0, 3.0)},
        {"concentration": (1.0, "other")},
        {"concentration": (1.0, 0.0)},
        {"concentration": "other"},
        {"concentration": None},
        {"concentration": True},
        {"concentration": [[1.0, 2.0]]},
        {"concentration": np.ones((2, 2))},
        {"concentration": np.nan},
        {"discount": 1.0},
        {"discount": (-0.1, 0.5)},
        {"discount": ()},
    ],
)
def test_wrong_values(params):
    (name,) = params
    model = make(**params)
    with pytest.raises(ValueError, match=f"{name} must be a number in .*of sections and"):
        model.fit(DOCUMENTS)
    assert not hasattr(model, "components_")


@pytest.mark.parametrize("params", [{}, {"concentration": (1.0, "auto")}])
def test_given_topics_need_numbers(params):
    with pytest.raises(ValueError, match="concentration must be given as numbers"):
        SectionedTopicModel.from_topics(np.eye(2), doc_topic_prior=1.0, **params)


def test_labels_are_refused():
    with pytest.raises(ValueError, match="sets of topics, which are no input for this Sectioned"):
        make().fit(DOCUMENTS, [{0}, {1}, None, None])


def test_coarse_view_and_pickle():
    model = make().fit(DOCUMENTS)
    view = model.reduce_topics(2)
    assert view.section_topic_.shape == (6, 2)
    assert view.transform_sections(DOCUMENTS).shape == (6, 2)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform_sections(DOCUMENTS), model.transform_sections(DOCUMENTS))


@pytest.mark.parametrize("init", ["random", "lda", np.full((3, 5), 0.2)], ids=str)
def test_first_states(init):
    model = make(init=init).fit(DOCUMENTS)
    assert model.components_.shape == (3, 5)


def test_states():
    """Tables of the levels fit each other in every state that a chain yields."""
    corpus = SegmentedCorpus.from_documents(DOCUMENTS)
    for state in make(discount="auto").iter_sweeps(corpus):
        customers = np.add.reduceat(state.paragraph_tables, corpus.part_ptr[:-1])
        assert (state.section_tables <= customers).all()
        assert_array_equal(state.section_tables > 0, customers > 0)
        assert state.concentration.shape == state.discount.shape == (2,)
        assert not state.section_tables.flags.writeable
