"""Wrong patches: student t, emission."""

from mutation.mutation import Mutation

STUDENT_T = "emissions/_student_t/_emission.py"
STUDENT_T_TESTS = "tests/exact/emissions/test_student_t.py"

MUTATIONS = [
    Mutation(
        "outliers-absurdly-far",
        STUDENT_T,
        "            sampler.limits = find_limits(values)\n",
        "",
        "One absurd value would make the tails of all clusters heavier than they are.",
        "tests/unit/mixture/test_mixtures.py"
        "::test_one_absurd_value_of_a_heavy_tail[-1e+110-blocked-DPMixture]",
    ),
    Mutation(
        "outliers-masses-as-counts",
        STUDENT_T,
        "return self.counts, self.masses, self.centers, self.scatter",
        "return self.counts, self.counts, self.centers, self.scatter",
        "The mean is known as well as the weights of its steps say.",
        f"{STUDENT_T_TESTS}::test_evidence_given_weights[full]",
    ),
    Mutation(
        "outliers-jacobian",
        STUDENT_T,
        "logs = (half - 1.0 + 0.5 * width) * np.log(weights) - half * weights",
        "logs = (half - 1.0) * np.log(weights) - half * weights",
        "A weight scales the precision in all columns.",
        f"{STUDENT_T_TESTS}::test_evidence_given_weights[full]",
    ),
    Mutation(
        "outliers-freedom-without-normalizer",
        STUDENT_T,
        " - 0.5 * numbers * log_freedom",
        "",
        "The scale of a t density depends on its degrees of freedom.",
        f"{STUDENT_T_TESTS}::test_posterior_of_the_degrees_of_freedom",
    ),
    Mutation(
        "outliers-bound-without-entropy",
        STUDENT_T,
        "terms = constant - shape * np.log(rates) + (rates - 0.5 * nu) * weights",
        "terms = constant - shape * np.log(rates) + (rates + 0.5 * nu) * weights",
        "The bound stays below the evidence.",
        f"{STUDENT_T_TESTS}::test_variational_evidence_is_a_lower_bound[5.0]",
    ),
]
