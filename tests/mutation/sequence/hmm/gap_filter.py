"""Wrong patches of particle filters of sequences with missing lags."""

from mutation.mutation import Mutation

FILTER = "sequence/_hmm/_gap_filter.py"
TESTS = "tests/exact/sequence/hmm/test_gap_filter.py"
ESTIMATES = f"{TESTS}::test_unbiased_estimates"

MUTATIONS = [
    Mutation(
        "particles-merged-too-early",
        FILTER,
        "        first = np.maximum(np.arange(n_steps) - n_lags, 0)",
        "        first = np.maximum(np.arange(n_steps) - 1, 0)",
        "All lags must be the same.",
        f"{ESTIMATES}[first-none]",
    ),
    Mutation(
        "particles-of-equal-weights",
        FILTER,
        "            weights = np.exp(seen - largest)",
        "            weights = np.ones(len(seen))",
        "Later values weigh the draws.",
        f"{ESTIMATES}[two in a row-none]",
    ),
    Mutation(
        "particles-first-values-of-all-data",
        FILTER,
        "(mean[hidden] + slopes @ away)[:, np.newaxis]",
        "mean[hidden][:, np.newaxis]",
        "Observed first values tell of the missing ones.",
        f"{ESTIMATES}[first-none]",
    ),
    Mutation(
        "particles-without-what-follows",
        FILTER,
        "weights = np.tensordot(stretch.ages, later, ((0, 1), (0, 1)))",
        "weights = np.tensordot(stretch.ages, np.ones_like(later), ((0, 1), (0, 1)))",
        "Draws of missing values know the values after them.",
        f"{TESTS}::test_draws_know_what_follows",
    ),
    Mutation(
        "particles-forgotten-within-a-run",
        FILTER,
        "_SAME = 1e-12",
        "_SAME = 2.0",
        "Draws of later values may matter throughout a run.",
        f"{TESTS}::test_smoothing_between_gaps[near-False]",
    ),
    Mutation(
        "particles-runs-end-without-later-values",
        FILTER,
        "        if later is not None:\n            log_obs = log_obs.copy()",
        "        if False:\n            log_obs = log_obs.copy()",
        "A run before a gap is smoothed with the values after it.",
        f"{TESTS}::test_smoothing_between_gaps[near-False]",
    ),
    Mutation(
        "particles-no-change-after-a-stretch",
        FILTER,
        "            if following is not None:\n                changes[t + 1]",
        "            if following is not None and t + 1 < end:\n                changes[t + 1]",
        "The first step after a stretch may have another state.",
        f"{TESTS}::test_smoothing_between_gaps[near-False]",
    ),
    Mutation(
        "particles-densities-of-any-state",
        FILTER,
        "            chances = prior * densities\n",
        "            chances = prior\n",
        "The observed columns tell of the state.",
        f"{ESTIMATES}[last column-none]",
    ),
    Mutation(
        "particles-spread-without-weights",
        FILTER,
        "            if is_last:\n",
        "            if False:\n",
        "Values that are proposed too often weigh less.",
        f"{ESTIMATES}[one value-none]",
    ),
    Mutation(
        "particles-by-probability-before-a-change",
        FILTER,
        "            proposed = _spread(chances) if is_last else chances",
        "            proposed = chances",
        "The values after a gap can be evidence for an improbable change within it.",
        f"{TESTS}::test_a_change_at_a_gap",
    ),
    Mutation(
        "particles-steps-without-values-count",
        FILTER,
        "            carried = log_step if self._ends_gap(t) else 0.0",
        "            carried = 0.0",
        "A step at which nothing is observed has probability 1.",
        f"{TESTS}::test_a_change_at_a_gap",
    ),
]
