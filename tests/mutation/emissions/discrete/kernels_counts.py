"""Wrong patches: discrete, kernels counts."""

from mutation.mutation import Mutation

COUNTS = "emissions/_discrete/_kernels_counts.py"
CONCENTRATION = "tests/exact/emissions/test_symbol_concentration.py"
TESTS = "tests/exact/emissions/test_comparable.py"
SHRUNK = f"{TESTS}::test_probabilities_follow_the_prior[0.2]"
GROWN = f"{TESTS}::test_probabilities_follow_the_prior[3.0]"

GAPS = "tests/exact/emissions/test_counts.py::test_missing_values_have_factor_one"

MUTATIONS = [
    Mutation(
        "counts-missing-count-as-zeros",
        COUNTS,
        "                if not math.isnan(values[t, d]):\n"
        "                    counts[states[t], d] += 1.0\n"
        "                    totals",
        "                counts[states[t], d] += 1.0\n"
        "                if not math.isnan(values[t, d]):\n"
        "                    totals",
        "A missing count does not add to the rate of the posterior.",
        f"{GAPS}[poisson]",
    ),
    Mutation(
        "symbols-missing-are-the-last",
        COUNTS,
        "        if states[t] >= 0 and symbols[t] >= 0:\n",
        "        if states[t] >= 0:\n",
        "A missing symbol does not count.",
        f"{GAPS}[categorical]",
    ),
    Mutation(
        "symbols-sizes-of-states-left-out",
        COUNTS,
        "math.lgamma(concentration) - math.lgamma(concentration + sizes[i])",
        "0.0",
        "Without the normalizer the concentration grows without end.",
        f"{CONCENTRATION}::test_posterior[uniform]",
    ),
    Mutation(
        "symbols-equal-counts-once",
        COUNTS,
        "result += n_cells[i] * (math.lgamma(shape + n)",
        "result += (math.lgamma(shape + n)",
        "Each of several equal counts has its factor.",
        f"{CONCENTRATION}::test_posterior[uniform]",
    ),
    Mutation(
        "symbols-base-of-the-first",
        COUNTS,
        "counts[v, j] * n_groups + group[v]",
        "counts[v, j] * n_groups",
        "A symbol has its own share of the base.",
        f"{CONCENTRATION}::test_posterior[array]",
    ),
    Mutation(
        "shared-move-forgets-counts",
        COUNTS,
        "base = draw_log_gamma(after[v] + counts[v, j], rng)",
        "base = draw_log_gamma(after[v], rng)",
        "A share of a Gamma number that counts have made larger.",
        SHRUNK,
    ),
    Mutation(
        "shared-move-grows-too-much",
        COUNTS,
        "away = abs(after[v] - before[v])",
        "away = after[v]",
        "Only the difference of the parameters is new.",
        GROWN,
    ),
    Mutation(
        "shared-move-without-scale",
        COUNTS,
        "log_g = log_probs[v, j] + sums[1, j]",
        "log_g = log_probs[v, j]",
        "What is added is in units of the sum of the Gamma numbers.",
        GROWN,
    ),
]
