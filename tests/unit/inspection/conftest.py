import matplotlib
import pytest

from skdp.datasets import make_segmented_corpus
from skdp.topics import SegmentedTopicModel

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="package")
def corpus():
    return make_segmented_corpus(
        4, n_components=3, n_features=8, n_segments=[3, 5, 1, 0], segment_length=12, random_state=0
    ).data


@pytest.fixture(scope="package")
def model(corpus):
    estimator = SegmentedTopicModel(
        n_components=3, max_iter=20, transform_max_iter=20, thin=2, n_chains=2, random_state=0
    )
    return estimator.fit(corpus)
