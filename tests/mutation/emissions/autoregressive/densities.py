"""Wrong patches: autoregressive, densities of steps with missing columns."""

from mutation.mutation import Mutation

DENSITIES = "emissions/_autoregressive/_densities.py"
ESTIMATES = "tests/exact/sequence/hmm/test_gap_filter.py::test_unbiased_estimates"

MUTATIONS = [
    Mutation(
        "gaps-columns-apart",
        DENSITIES,
        'np.einsum("mhs,ms->mh", pattern.slopes[states], away)',
        '0.0 * np.einsum("mhs,ms->mh", pattern.slopes[states], away)',
        "Observed columns tell of the missing ones.",
        f"{ESTIMATES}[columns-none]",
    ),
    Mutation(
        "gaps-freedoms-of-all-columns",
        DENSITIES,
        "gammaln(0.5 * (freedoms + n_seen))",
        "gammaln(0.5 * (freedoms + scales.shape[1]))",
        "A density of some columns has the constants of these.",
        f"{ESTIMATES}[columns-none]",
    ),
    Mutation(
        "gaps-certain-coefficients",
        DENSITIES,
        "1.0 + (leverages**2).sum(axis=1))",
        "1.0 + 0.0 * leverages.sum(axis=1))",
        "Coefficients are uncertain.",
        f"{ESTIMATES}[one value-none]",
    ),
]
