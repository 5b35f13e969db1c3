"""SequentialLDA against enumeration of all its states (see exact/oracles/segmented.py)."""

from dataclasses import replace

import pytest
from exact.topics.table_models import (
    CHAINS,
    CHAINS_WITH_RANDOM_CONCENTRATION,
    FOLD_IN_CHAINS,
    SLOW_CHAINS,
    cases,
    check_completion,
    check_documents_without_tokens,
    check_posterior,
    check_states,
    check_states_with_learned_priors,
    check_trajectories_differ,
    check_transform,
    every_sampler,
    mostly_one_sampler,
    of_model,
)

CASES = of_model(CHAINS, "sequential")
RANDOM_CONCENTRATION = of_model(CHAINS_WITH_RANDOM_CONCENTRATION, "sequential")
FOLD_IN = of_model(FOLD_IN_CHAINS, "sequential")


@cases(CASES, SLOW_CHAINS)
@every_sampler
def test_posterior(sampler, case):
    check_posterior(CASES[case], sampler)


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
