"""Wrong patches: binary factors, part."""

from mutation.mutation import Mutation

PART = "emissions/_binary_factors/_part.py"
WEIGHTS = "tests/exact/emissions/test_factor_weights.py"

MUTATIONS = [
    Mutation(
        "factors-weights-in-the-unit-of-the-data",
        PART,
        "scaled = self.weights / self.prior.scales",
        "scaled = self.weights / 1.0",
        "The density of weights must not depend on the unit of the data.",
        f"{WEIGHTS}::test_log_evidence",
    ),
    Mutation(
        "factors-background-without-its-mean",
        PART,
        "weights[:1] + self.prior.middles",
        "weights[:1] + 0.0 * self.prior.middles",
        "Weights are those of the observations as they are.",
        "tests/unit/emissions/test_binary_factors.py::test_units_and_origins",
    ),
    Mutation(
        "factors-rate-of-noise-for-nothing",
        PART,
        "scaled = (self.prior.rates * self.precisions)[~self.probit]",
        "scaled = self.precisions[~self.probit]",
        "The prior of the noise has a rate.",
        f"{WEIGHTS}::test_log_evidence",
    ),
]
