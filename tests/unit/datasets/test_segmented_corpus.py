"""make_segmented_corpus.

Every test of a distribution is seeded and asks for |z| < 5 of a mean; a correct generator fails
one such comparison with probability 6e-7, all of them in this file with less than 1e-4.
"""

import numpy as np
import pytest

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus

NO_WORDS = 1e-9
PDPS = [(0.0, 0.3), (0.0, 20.0), (0.05, 3.0), (0.5, 0.01), (0.5, 2.0), (0.5, 40.0), (0.95, 1.0)]


def z_scores(draws, expected):
    errors = draws - expected
    return errors.mean(axis=0) / (errors.std(axis=0) / np.sqrt(len(errors)))


def moment(base, n, discount, concentration):
    """Return E[nu^n], nu the share of a category with share `base`: n customers, all its dish."""
    by_tables = {0: 1.0}
    for i in range(n):
        seated = {}
        for tables, p in by_tables.items():
            opening = (concentration + discount * tables) * base if i else concentration * base
            seated[tables + 1] = seated.get(tables + 1, 0) + p * opening / (concentration + i)
            sharing = (i - discount * tables) / (concentration + i)
            seated[tables] = seated.get(tables, 0) + p * sharing
        by_tables = seated
    return sum(by_tables.values())


def draw_shares(model, n_segments, discount, concentration, base=None, seed=0, **params):
    prior = 0.7 if base is None else 1e14 * np.asarray(base)
    return make_segmented_corpus(
        2500,
        n_components=3,
        n_features=2,
        n_segments=n_segments,
        segment_length=NO_WORDS,
        model=model,
        doc_topic_prior=prior,
        discount=discount,
        concentration=concentration,
        random_state=seed,
        **params,
    )


@pytest.mark.parametrize(("discount", "concentration"), PDPS)
def test_pdp_moments(discount, concentration):
    base = np.array([0.6, 0.3, 0.1])
    nu = draw_shares("segmented", 1, discount, concentration, base).segment_topic
    np.testing.assert_allclose(nu.sum(axis=1), 1.0)
    for n in range(1, 6):
        expected = [moment(h, n, discount, concentration) for h in base]
        assert np.abs(z_scores(nu**n, expected)).max() < 5
    pairs = (concentration + discount) / (concentration + 1) * np.outer(base, base)
    for i, k in [(0, 1), (0, 2), (1, 2)]:
        assert abs(z_scores(nu[:, i] * nu[:, k], pairs[i, k])) < 5


@pytest.mark.parametrize("model", ["segmented", "sequential", "adaptive"])
@pytest.mark.parametrize(("discount", "concentration"), [(0.0, 5.0), (0.4, 5.0)])
def test_segments_vary_around_their_base(model, discount, concentration):
    truth = draw_shares(model, 3, discount, concentration, seed=1, mixing_prior=(2.0, 1.0))
    nu = truth.segment_topic.reshape(-1, 3, 3)
    rho = truth.segment_mixing.reshape(-1, 3, 1)
    mu = truth.doc_topic[:, None]
    assert np.abs(z_scores(truth.doc_topic, 1 / 3)).max() < 5
    np.testing.assert_array_equal(rho[:, 0], 1.0)
    if model == "adaptive":
        assert np.abs(z_scores(rho[:, 1:], 2 / 3)).max() < 5
        assert np.abs(z_scores(rho[:, 1:] ** 2, 2 * 3 / (3 * 4))).max() < 5
    else:
        np.testing.assert_array_equal(rho[:, 1:], float(model == "segmented"))
    previous = np.concatenate([mu, nu[:, :-1]], axis=1)
    base = rho * mu + (1 - rho) * previous
    assert np.abs(z_scores(nu - base, 0.0)).max() < 5
    variance = (1 - discount) / (1 + concentration) * base * (1 - base)
    assert np.abs(z_scores((nu - base) ** 2 - variance, 0.0)).max() < 5
    # Given the base, the previous segment has no influence.
    assert np.abs(z_scores((nu - base)[:, 1:] * (previous - mu)[:, 1:], 0.0)).max() < 5


@pytest.mark.parametrize("concentration", [1e-6, 1e-3])
@pytest.mark.parametrize("discount", [0.0, 0.3])
def test_tiny_parameters_do_not_underflow(discount, concentration):
    truth = make_segmented_corpus(
        20,
        n_segments=20,
        model="sequential",
        doc_topic_prior=1e-5,
        topic_word_prior=1e-5,
        discount=discount,
        concentration=concentration,
        random_state=0,
    )
    for shares in (truth.components, truth.doc_topic, truth.segment_topic):
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_tokens_follow_topics_and_topics_follow_shares():
    truth = make_segmented_corpus(
        200,
        n_components=3,
        n_features=4,
        n_segments=4,
        segment_length=25,
        topic_word_prior=1.0,
        random_state=2,
    )
    data = truth.data
    segments = np.repeat(np.arange(len(truth.segment_topic)), np.diff(data.segment_ptr))
    shares = truth.segment_topic[segments]
    assert np.abs(z_scores(np.eye(3)[truth.topics] - shares, 0.0)).max() < 5
    for k in range(3):
        words = np.eye(4)[data.tokens[truth.topics == k]]
        assert np.abs(z_scores(words, truth.components[k])).max() < 5
    lengths = np.diff(data.segment_ptr)
    assert abs(z_scores(lengths, 25.0)) < 5
    assert abs(z_scores((lengths - 25.0) ** 2, 25.0)) < 5


def test_topic_word_prior():
    phi = make_segmented_corpus(
        1, n_components=4000, n_features=3, topic_word_prior=0.5, random_state=0
    ).components
    assert np.abs(z_scores(phi, 1 / 3)).max() < 5
    assert np.abs(z_scores(phi**2, 0.5 * 1.5 / (1.5 * 2.5))).max() < 5


def test_shapes():
    truth = make_segmented_corpus(
        3, n_components=4, n_features=7, n_segments=[2, 0, 3], segment_length=5, random_state=0
    )
    assert isinstance(truth.data, SegmentedCorpus)
    assert truth.data.shape == (3, 7)
    assert [len(document) for document in truth.data] == [2, 0, 3]
    assert truth.components.shape == (4, 7)
    assert truth.doc_topic.shape == (3, 4)
    assert truth.segment_topic.shape == (5, 4)
    assert truth.segment_mixing.shape == (5,)
    assert truth.topics.shape == truth.data.tokens.shape
    assert truth.topics.dtype == np.int32


def test_range_of_segments():
    truth = make_segmented_corpus(100, n_segments=(2, 4), segment_length=1, random_state=0)
    assert {len(document) for document in truth.data} == {2, 3, 4}


def test_given_components():
    components = [[2, 2, 0, 0], [0, 0, 1, 3]]
    truth = make_segmented_corpus(5, components=components, random_state=0)
    np.testing.assert_array_equal(truth.components, [[0.5, 0.5, 0, 0], [0, 0, 0.25, 0.75]])
    assert truth.data.n_features == 4
    np.testing.assert_array_equal(truth.data.tokens >= 2, truth.topics == 1)


@pytest.mark.parametrize("discount", [0.0, 0.5])
def test_random_state(discount):
    def draw(random_state):
        return make_segmented_corpus(
            3, model="adaptive", discount=discount, random_state=random_state
        )

    first, second = draw(7), draw(7)
    assert first.data == second.data
    for name in ("components", "doc_topic", "segment_topic", "segment_mixing", "topics"):
        np.testing.assert_array_equal(first[name], second[name])
    assert draw(8).data != first.data
    for make in (np.random.RandomState, np.random.default_rng):
        shared = make(7)
        third = draw(shared)
        assert third.data == draw(make(7)).data
        assert third.data != draw(shared).data


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_documents", 0),
        ("n_documents", 2.0),
        ("n_components", 0),
        ("n_features", 0),
        ("n_segments", -1),
        ("n_segments", 1.5),
        ("n_segments", (3, 2)),
        ("n_segments", (1, 2, 3)),
        ("n_segments", [1, 2, 3]),
        ("n_segments", [1, -2]),
        ("n_segments", "many"),
        ("segment_length", 0.0),
        ("segment_length", "long"),
        ("model", "bag"),
        ("doc_topic_prior", 0.0),
        ("doc_topic_prior", [1.0, 1.0]),
        ("doc_topic_prior", [1.0, 1.0, 1.0, 1.0, np.nan]),
        ("doc_topic_prior", "auto"),
        ("topic_word_prior", -1.0),
        ("discount", 1.0),
        ("discount", -0.1),
        ("discount", 1e-9),
        ("concentration", 0.0),
        ("concentration", np.inf),
        ("mixing_prior", 1.0),
        ("mixing_prior", (1.0, 0.0)),
        ("components", [[0.5, -0.5]]),
        ("components", [[0.0, 0.0]]),
        ("components", [[np.nan, 1.0]]),
        ("components", [1.0, 2.0]),
        ("random_state", -1),
    ],
)
def test_invalid_arguments(name, value):
    arguments = {"n_documents": 2, name: value}
    match = "Expected 2D array" if value == [1.0, 2.0] else name
    with pytest.raises(ValueError, match=match):
        make_segmented_corpus(**arguments)
