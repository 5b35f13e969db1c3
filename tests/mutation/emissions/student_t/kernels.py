"""Wrong patches: student t, kernels."""

from mutation.mutation import Mutation

MIXTURE = "emissions/_student_t/_kernels.py"
STUDENT_T_TESTS = "tests/exact/emissions/test_student_t.py"

MUTATIONS = [
    Mutation(
        "outliers-mean-not-weighted",
        MIXTURE,
        "centers[k, d] += weights[t, b] * values[t, b * width + d]",
        "centers[k, d] += values[t, b * width + d]",
        "A step counts as much as its weight.",
        f"{STUDENT_T_TESTS}::test_parameters_given_weights",
    ),
    Mutation(
        "outliers-scatter-not-weighted",
        MIXTURE,
        "x = weights[t, b] * (values[t, b * width + d] - centers[k, d])",
        "x = values[t, b * width + d] - centers[k, d]",
        "A step counts as much as its weight.",
        f"{STUDENT_T_TESTS}::test_evidence_given_weights[full]",
    ),
    Mutation(
        "outliers-missing-values-count",
        MIXTURE,
        "draw = draw_gamma(0.5 * (freedom + n_observed[t, b]), rng)",
        "draw = draw_gamma(0.5 * (freedom + 2.0), rng)",
        "Only what was observed tells of a weight.",
        f"{STUDENT_T_TESTS}::test_weights_and_missing_values[full]",
    ),
    Mutation(
        "outliers-weights-without-distance",
        MIXTURE,
        "weights[t, b] = 2.0 * draw / (freedom + distances[t, b])",
        "weights[t, b] = 2.0 * draw / freedom",
        "The farther off, the smaller the weight.",
        f"{STUDENT_T_TESTS}::test_posterior_of_a_column",
    ),
    Mutation(
        "outliers-nodes-left-out",
        MIXTURE,
        "reach = 25.0 / total + math.sqrt(50.0 / total)",
        "reach = 1.0",
        "What an outlier's weight may be spreads far below its mode.",
        f"{STUDENT_T_TESTS}::test_predictive_given_weights[3.0-full]",
    ),
]
