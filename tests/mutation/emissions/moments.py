"""Wrong patches: moments."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "moments-unit-noise-of-exact-values",
        "emissions/_moments.py",
        "np.maximum(np.where(varies, deviations, 0.0), least)",
        "np.maximum(deviations, least)",
        "Residuals that are all zero have no unit: the least deviation is relative to the values.",
        "tests/unit/emissions/test_autoregressive.py::TestDefaults::test_values_without_noise[1.0]",
    ),
]
