"""Facts that relate SequentialLDA and AdaptiveTopicModel to other models."""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from exact.oracles.segmented import Problem, enumerate_lda, fold_in
from exact.topics.table_models import (
    CHAINS,
    PHI,
    assert_posterior,
    check_states,
    corpus,
    estimators,
    every_sampler,
    mostly_one_sampler,
    posterior_of,
    run,
)

every_chain = pytest.mark.parametrize("model_name", ["sequential", "adaptive"])


@every_chain
@mostly_one_sampler
def test_documents_of_one_segment_have_the_posterior_of_the_segmented_model(sampler, model_name):
    segmented = Problem(
        [[[0, 0, 1, 0]], [[1, 1, 0]]],
        alpha=(1.2, 0.3), gamma=0.4, n_features=2, discount=0.5, concentration=1.0,
        mixing=(0.3, 2.0),
    )  # fmt: skip
    problem = replace(segmented, model=model_name)
    assert_posterior(run(problem, sampler=sampler), posterior_of(segmented), identified=True)
    check_states(segmented, n_sweeps=5, sampler=sampler)
    check_states(problem, sampler=sampler)


@pytest.mark.slow
@every_sampler
@every_chain
@pytest.mark.parametrize(
    "limit", [{"concentration": 1e8}, {"discount": 0.99999999}], ids=["concentration", "discount"]
)
def test_limits_give_lda(limit, model_name, sampler):
    """When every word opens a table, and every table one of its parent, segments are one bag."""
    problem = replace(CHAINS["large discount"], model=model_name, **limit)
    topics = run(problem, sampler=sampler).topics
    same = topics[:, :, None] == topics[:, None, :]
    assert_means(same, enumerate_lda(problem), "P(z_i = z_j)")


@every_sampler
@every_chain
def test_order_of_segments_and_empty_ones(model_name, sampler):
    """Trailing empty segments change nothing; leading or middle ones and another order do."""
    first, second, third, empty = [0, 0], [3, 1], [0], []
    changed = [
        [third, second, first],
        [second, first, third],
        [empty, first, second, third],
        [first, empty, second, third],
    ]
    problem = Problem(
        [[first, second, third], [first, second, third, empty], *changed],
        alpha=(0.3, 0.9), phi=PHI[:2], discount=0.5, concentration=0.5, mixing=(0.5, 3.0),
        model=model_name,
    )  # fmt: skip
    expected = fold_in(problem)
    plain, trailing, *others = [posterior.mu[0] for posterior in expected]
    np.testing.assert_allclose(trailing, plain, rtol=1e-12)
    for mu in others:
        assert np.abs(mu - plain).max() > 1e-3
    found = estimators(problem, n_iter=800, sampler=sampler)
    draws = np.array([estimator.transform(corpus(problem)) for estimator in found])
    assert_means(draws, np.array([x.mu[0] for x in expected]), "E[mu]", resolution=1e-6)
    draws = np.array([estimator.transform_segments(corpus(problem)) for estimator in found])
    nu = np.concatenate([posterior.nu for posterior in expected])
    assert_means(draws, nu, "E[nu]", resolution=1e-6)
