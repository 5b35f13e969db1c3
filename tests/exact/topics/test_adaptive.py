"""AdaptiveTopicModel against enumeration of all its states (see exact/oracles/segmented.py)."""

from dataclasses import replace

import numpy as np
import pytest
from exact.topics.table_models import (
    CHAINS,
    CHAINS_WITH_RANDOM_CONCENTRATION,
    FOLD_IN_CHAINS,
    SLOW_CHAINS,
    assert_posterior,
    cases,
    check_completion,
    check_documents_without_tokens,
    check_posterior,
    check_states,
    check_states_with_learned_priors,
    check_trajectories_differ,
    check_transform,
    estimators,
    every_sampler,
    kept_sweeps,
    mixing_weights,
    mostly_one_sampler,
    of_model,
    posterior_of,
    run,
)

CASES = of_model(CHAINS, "adaptive")
RANDOM_CONCENTRATION = of_model(CHAINS_WITH_RANDOM_CONCENTRATION, "adaptive")
FOLD_IN = of_model(FOLD_IN_CHAINS, "adaptive")


@cases(CASES, SLOW_CHAINS)
@every_sampler
def test_posterior(sampler, case):
    check_posterior(CASES[case], sampler)


@pytest.mark.slow
@every_sampler
def test_posterior_of_long_segments(sampler):
    """400,000 sweeps: words that come and go without a table change little of what others see."""
    check_posterior(CASES["long segments"], sampler, n_sweeps=400_000)


@cases(CASES, SLOW_CHAINS)
def test_samplers_take_different_trajectories(case):
    check_trajectories_differ(CASES[case])


@cases(CASES)
@every_sampler
def test_state_is_consistent_and_knows_its_joint(sampler, case):
    check_states(CASES[case], sampler=sampler)


@every_sampler
def test_log_joint_of_estimated_hyper_parameters(sampler):
    problem = replace(CASES["trailing empty"], concentration=None)
    check_states_with_learned_priors(problem, sampler)


@cases(RANDOM_CONCENTRATION, ["two documents", "empty segment"])
@mostly_one_sampler
def test_random_concentration(sampler, case):
    check_posterior(RANDOM_CONCENTRATION[case], sampler)


@cases(FOLD_IN, ["large concentration", "large discount"])
@every_sampler
def test_transform(sampler, case):
    check_transform(FOLD_IN[case], sampler, n_iter=1000)


@cases(FOLD_IN, ["large discount", "large concentration"])
@every_sampler
def test_completion(sampler, case):
    check_completion(FOLD_IN[case], sampler, n_iter=1000)


@pytest.mark.parametrize("case", ["small concentration", "random concentration"])
def test_documents_without_tokens_have_the_prior_mean(case):
    check_documents_without_tokens(FOLD_IN[case])


# --- the weight of the document -------------------------------------------------------------


@every_sampler
def test_segment_mixing_is_the_mean_over_kept_sweeps(sampler):
    problem = replace(CASES["trailing empty"], mixing=(0.3, 2.0))
    sweeps, fitted = kept_sweeps(problem, sampler=sampler)
    expected = mixing_weights(problem, sweeps).mean(axis=0)
    assert fitted.segment_mixing_.shape == (5,)
    np.testing.assert_allclose(fitted.segment_mixing_, expected, rtol=1e-6)
    assert np.all(fitted.segment_mixing_[[0, 3]] == 1.0)  # first segments have no other parent


def test_segment_mixing_says_where_topics_come_from():
    """The third segment takes the first one's topic up again: its tables order from the document.

    A posterior mean that differs from that of the prior, .5, by much more than the error of the
    runs of `test_posterior`.
    """
    weights = posterior_of(CASES["alternating"]).weight_of_document
    assert weights[2] > 0.52


def test_given_topics_have_no_segment_mixing():
    assert not hasattr(estimators(FOLD_IN["small concentration"])[0], "segment_mixing_")


@pytest.mark.parametrize(
    ("mixing", "limit"),
    [
        ((1e8, 1.0), "segmented"),
        pytest.param((1.0, 1e8), "sequential", marks=pytest.mark.slow),
    ],
)
@mostly_one_sampler
def test_limits_of_the_mixing_prior(sampler, mixing, limit):
    problem = replace(CASES["three segments"], mixing=mixing)
    expected = posterior_of(replace(problem, model=limit))
    sweeps = run(problem, sampler=sampler)
    # The joint differs by the probability, 1 up to 1e-7, that every table orders as in the limit.
    assert_posterior(sweeps, expected)
