"""Wrong patches of particle filters of sequences with missing lags."""

from mutation.mutation import Mutation

FILTER = "sequence/_hmm/_gap_filter.py"
TESTS = "tests/exact/sequence/hmm/test_gap_filter.py"
ESTIMATES = f"{TESTS}::test_unbiased_estimates"

MUTATIONS = [
    Mutation(
        "particles-merged-too-early",
        FILTER,
        "        first = np.maximum(np.arange(n_steps) - self._n_lags, 0)",
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
        "                stretch.ages, later, ((0, 1), (0, 1))",
        "                stretch.ages, np.ones_like(later), ((0, 1), (0, 1))",
        "Draws of missing values know the values after them.",
        f"{TESTS}::test_draws_know_what_follows",
    ),
    Mutation(
        "particles-densities-of-any-state",
        FILTER,
        "            states = _choose(prior * densities, self._rng)",
        "            states = _choose(prior, self._rng)",
        "The observed columns tell of the state.",
        f"{ESTIMATES}[columns-none]",
    ),
]
