"""Folding documents in, and their likelihoods: where the work is done has no effect."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal

from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)


@pytest.mark.slow  # starts a cluster
@pytest.mark.filterwarnings("ignore")  # dask's own
def test_dask():
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    X = [[list(rng.integers(0, 9, 5)) for _ in range(3)] for _ in range(10)]
    estimators = [
        SegmentedTopicModel(2, max_iter=6, n_chains=2, random_state=0),
        SequentialLDA(2, max_iter=6, random_state=0),
        AdaptiveTopicModel(2, max_iter=6, random_state=0),
        GibbsLDA(2, max_iter=6, random_state=0),
        LatentDirichletCoClustering(2, max_iter=6, random_state=0),
    ]
    expected = [estimator.fit(X).transform(X) for estimator in estimators]
    topics = estimators[0].components_
    likely = [e for e in estimators if hasattr(e, "log_likelihood")]
    likelihoods = [estimator.log_likelihood(X, n_particles=2) for estimator in likely]
    with (
        distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None),
        parallel_config("dask"),
    ):
        assert_array_equal(estimators[0].fit(X).components_, topics)
        for estimator, shares in zip(estimators, expected, strict=True):
            assert_array_equal(estimator.transform(X), shares)
        for estimator, likelihood in zip(likely, likelihoods, strict=True):
            assert_array_equal(estimator.log_likelihood(X, n_particles=2), likelihood)
