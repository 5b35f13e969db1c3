"""Wrong patches: the estimator of latent features."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "ibp-imputed-values-of-equal-samples",
        "mixture/_ibp_latent_features.py",
        "        weights = softmax([part[1] for part in parts], axis=0)\n",
        "        weights = softmax([0.0 * part[1] for part in parts], axis=0)\n",
        "Samples count by how well they fit the observed entries.",
        "tests/unit/mixture/test_latent_features.py"
        "::test_imputed_values_are_the_means_under_the_density[3.0]",
    ),
]
