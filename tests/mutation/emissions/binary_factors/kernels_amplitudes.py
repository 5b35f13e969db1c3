"""Wrong patches: binary factors, kernels amplitudes."""

from mutation.mutation import Mutation

AMPLITUDES = "emissions/_binary_factors/_kernels_amplitudes.py"
VECTORS = "tests/exact/emissions/test_factor_vectors.py"
WEIGHTS = "tests/exact/emissions/test_factor_weights.py"

MUTATIONS = [
    Mutation(
        "amplitudes-trace-not-halved",
        AMPLITUDES,
        "result + 0.5 * projections.variance * trace",
        "result + projections.variance * trace",
        "The amplitudes take half of what they explain off the squared residuals.",
        f"{VECTORS}::test_vectors[amplitudes]",
    ),
    Mutation(
        "amplitudes-mean-alone",
        AMPLITUDES,
        "column[a] = scale * column[a] + draw_normal(rng)",
        "column[a] = scale * column[a]",
        "Weights and variances are drawn given a draw of the amplitudes, not given their mean.",
        f"{WEIGHTS}::test_amplitudes",
    ),
]
