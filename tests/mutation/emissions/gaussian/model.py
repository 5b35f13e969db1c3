"""Wrong patches: gaussian, model."""

from mutation.mutation import Mutation

GAUSSIAN_MODEL = "emissions/_gaussian/_model.py"
PREDICTIVES = "tests/exact/emissions/test_predictives.py"

MUTATIONS = [
    Mutation(
        "predictive-draws-without-tails",
        GAUSSIAN_MODEL,
        "noise /= np.maximum(roots, kernels.SMALLEST_ROOT)",
        "noise /= 1.0",
        "Samples of a stored state are t distributed, as its densities say.",
        f"{PREDICTIVES}::test_draws_follow_the_density[full]",
    ),
]
