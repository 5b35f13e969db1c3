"""Wrong patches: discrete, kernels clusters."""

from mutation.mutation import Mutation

COUNTS = "emissions/_discrete/_kernels_clusters.py"
PARTITIONS = "tests/exact/mixture/test_partitions.py"
GIBBS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-gibbs]"

MUTATIONS = [
    Mutation(
        "mixture-own-events-count-twice",
        COUNTS,
        "own_logs += log_rising(shape + (sums[own] - amount), amount)",
        "own_logs += log_rising(shape + sums[own], amount)",
        "The events of the row are not those that it is compared to.",
        GIBBS_OF_COUNTS,
    ),
    Mutation(
        "mixture-events-of-many-as-of-one",
        COUNTS,
        "            m = 1.0\n            while m < amount:\n                for k",
        "            m = 1.0\n            while m < 1.0:\n                for k",
        "Two events of a kind are a rising factorial.",
        "tests/exact/mixture/test_densities.py::test_rows_alone[multinomial]",
    ),
    Mutation(
        "mixture-one-rate-for-all-columns",
        COUNTS,
        "clusters.slopes[v, k] = -math.log(prior.rates[v] + size + 1.0)",
        "clusters.slopes[v, k] = -math.log(prior.rates[0] + size + 1.0)",
        "Each column has a prior of its own.",
        "tests/exact/mixture/test_densities.py"
        "::test_each_column_of_counts_has_its_own_prior[labels0]",
    ),
]
