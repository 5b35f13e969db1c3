"""Wrong patches of draws of the parameters of Gaussian clusters."""

from mutation.mutation import Mutation

DRAWS = "emissions/_gaussian/_kernels_augmented_draws.py"
MOMENTS = "tests/exact/emissions/test_cluster_draws.py"
FULL = f"{MOMENTS}::test_full_covariances"

MUTATIONS = [
    Mutation(
        "clusters-degrees-of-freedom-of-all-rows-of-the-factor",
        DRAWS,
        "draw_gamma(0.5 * (dof - (width - 1 - r)), rng)",
        "draw_gamma(0.5 * dof, rng)",
        "Bartlett: the factor's rows have fewer, the further from the last.",
        FULL,
    ),
    Mutation(
        "clusters-mean-without-its-spread",
        DRAWS,
        "offset = draw_normal(rng) * error",
        "offset = 0.0 * error",
        "Given the covariance, the mean still has a variance.",
        FULL,
    ),
]
