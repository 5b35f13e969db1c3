"""Wrong patches: discrete, poisson."""

from mutation.mutation import Mutation

POISSON = "emissions/_discrete/_poisson.py"
GAPS = "tests/exact/emissions/test_counts.py::test_missing_values_have_factor_one"
PREDICTIVES = "tests/exact/emissions/test_predictives.py"

MUTATIONS = [
    Mutation(
        "predictive-counts-rounded",
        POISSON,
        "x - np.log(one_more))",
        "x - np.log1p(x))",
        "Where x is near -1, 1 + x has lost its digits.",
        f"{PREDICTIVES}::test_large_counts_and_shapes_lose_no_digits[15]",
    ),
    Mutation(
        "predictive-counts-as-if-known",
        POISSON,
        "(self.rates + self.counts), shapes)",
        "(self.rates + self.counts))",
        "The intensity of a state is known from n observations only.",
        f"{PREDICTIVES}::test_counts_by_quadrature_over_the_intensity[1.5-0.4]",
    ),
    Mutation(
        "counts-missing-are-zeros-when-predicted",
        POISSON,
        "            table[np.isnan(counts)] = 0.0\n",
        "",
        "A missing count has probability 1.",
        f"{GAPS}[poisson]",
    ),
]
