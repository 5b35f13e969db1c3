"""Table models with an inferred number of topics find those that made the words."""

import numpy as np
import pytest

from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

TRUTH = make_segmented_corpus(
    100, n_components=8, n_features=200, segment_length=30.0, topic_word_prior=0.05, random_state=0
)


@pytest.mark.parametrize("model", [SegmentedTopicModel, AdaptiveTopicModel])
@pytest.mark.parametrize(("initial_components", "max_iter"), [(20, 600), (60, 1000)])
def test_finds_the_topics(model, initial_components, max_iter):
    """A few small ones may be added: eight to twelve in all, with three seeds each. What there is
    too much at first goes slowly: 60 need more sweeps than 20."""
    estimator = model(
        "auto", initial_components=initial_components, max_iter=max_iter, random_state=0
    ).fit(TRUTH.data)
    assert 8 <= estimator.n_components_ <= 14
    overlap = np.sqrt(TRUTH.components) @ np.sqrt(estimator.components_).T
    assert overlap.max(axis=1).min() > 0.95
    assert len(set(overlap.argmax(axis=1))) == 8
    given = model(8, max_iter=300, random_state=0).fit(TRUTH.data)
    assert estimator.perplexity(TRUTH.data) < 1.01 * given.perplexity(TRUTH.data)
