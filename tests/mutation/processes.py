"""Wrong patches of the processes' kernels and samplers."""

from mutation.mutation import Mutation

PROCESSES = "tests/exact/processes"

CONCENTRATION = "processes/_concentration.py"
DISCOUNT = "processes/_discount.py"
PATCHES = "processes/_kernels_stirling_patches.py"
STIRLING = "processes/_kernels_stirling.py"
TABLE_COUNTS = "processes/_kernels_table_counts.py"

MUTATIONS = [
    Mutation(
        "concentration-beta",
        CONCENTRATION,
        "draw_log_beta(concentration + 1.0, customers[j] - 1.0, rng)[0]",
        "draw_log_beta(concentration, customers[j], rng)[0]",
        "Erratum 6: x ~ Beta(b, N) goes with all T factors of (b | a)_T, not with T - 1 of them.",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[discount]",
    ),
    Mutation(
        "concentration-every-table-counts",
        CONCENTRATION,
        "        if discount == 0.0:",
        "        if discount >= 0.0:",
        "Erratum 6: with a > 0 a table counts with probability b / (b + a m) only (5.8).",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[discount]",
    ),
    Mutation(
        "concentration-first-table-counts",
        CONCENTRATION,
        "shape += max(tables[j] - 1, 0)",
        "shape += tables[j]",
        "The first table's factor b cancels against Beta(b + 1, N - 1).",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[no discount]",
    ),
    Mutation(
        "concentration-without-rate",
        CONCENTRATION,
        "    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "    rate = 0.0\n    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "The prior's rate.",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[no discount, one table each]",
    ),
    Mutation(
        "concentration-without-shape",
        CONCENTRATION,
        "    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "    shape = 1.0\n    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "The prior's shape.",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[discount, one table each]",
    ),
    Mutation(
        "stirling-open-ratio",
        STIRLING,
        "values[row + t, 1] = 1.0 + (n - a * (t + 1)) * r[t + 1]",
        "values[row + t, 1] = (n - a * (t + 1)) * r[t + 1]",
        "The recursion's first term, S^n_{t-1} (3.4).",
        f"{PROCESSES}/test_stirling.py::test_table_and_integral_match_integers",
    ),
    Mutation(
        "stirling-share-ratio",
        STIRLING,
        "values[row + t, 0] = n - a * t + 1.0 / r[t]",
        "values[row + t, 0] = n - t + 1.0 / r[t]",
        "The recursion's second term, (n - a t) S^n_t (3.4).",
        f"{PROCESSES}/test_stirling.py::test_table_and_integral_match_integers",
    ),
    Mutation(
        "stirling-patch-of-next-t",
        PATCHES,
        "integrate(n, m + 1.0, a)[1] * n * m / (n - m)",
        "integrate(n, m + 1.0, a)[1] * n * m / (n - m + 1.0)",
        "H is 2 / (1 - a) at t = n: R falls to 0 at t = n + 1, where m = n.",
        f"{PROCESSES}/test_stirling.py::test_patches_match_closed_form_of_one_half[100000]",
    ),
    Mutation(
        "stirling-patch-rounded-points",
        PATCHES,
        "m = 4.0 * octave / (s[j] + 3.0)",
        "m = math.floor(4.0 * octave / (s[j] + 3.0))",
        "Chebyshev's points lie between whole numbers.",
        f"{PROCESSES}/test_stirling.py::test_patches_follow_the_recursion[0.3]",
    ),
    Mutation(
        "table-counts-special-rule",
        TABLE_COUNTS,
        "                if t > 1:\n                    share *=",
        "                if t > 0:\n                    share *=",
        "Erratum 3: the rule that keeps a dish's last table, without the weight that belongs to "
        "it (after 3.10, algorithm 3).",
        f"{PROCESSES}/test_table_counts.py::test_table_counts[discount-btigs]",
    ),
    Mutation(
        "discount-tables-exchanged",
        DISCOUNT,
        "(concentration + discount * m) < discount * m",
        "(concentration + discount * m) < concentration",
        "A factor b + a m counts for a with probability a m / (b + a m), not b / (b + a m).",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[large concentrations-0.9]",
    ),
    Mutation(
        "discount-first-table-counts",
        DISCOUNT,
        "for m in range(1, n_tables):",
        "for m in range(1, n_tables + 1):",
        "The factors with an a are T - 1: those of all tables but the first.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[all tables-0.9]",
    ),
    Mutation(
        "discount-one-table-joined",
        DISCOUNT,
        "(ratio - u) * (n - a * t) <= (ratio - 1.0) * t * (1.0 - a)",
        "(ratio - u) * (n - a * t) <= (ratio - 1.0) * (1.0 - a)",
        "Each of t tables holds a factor 1 - a: z = 0 has weight t (1 - a).",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one restaurant-0.9]",
    ),
    Mutation(
        "discount-without-opening",
        DISCOUNT,
        "            t -= not joined\n",
        "",
        "Going back, a customer who opened a table takes it along.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one restaurant-0.9]",
    ),
    Mutation(
        "discount-last-table-sits",
        DISCOUNT,
        "    if t == 1:\n        for r",
        "    if t == 0:\n        for r",
        "The customers of a dish's first table have their z, too.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one table-0.9]",
    ),
    Mutation(
        "discount-bounds-exchanged",
        DISCOUNT,
        "opened = u * largest < 1.0",
        "opened = u * smallest < 1.0",
        "A customer opened a table for certain only if the largest V of its block says so.",
        f"{PROCESSES}/test_discount.py::test_law_of_seating_evidence[8-3-0.4-False]",
    ),
    Mutation(
        "discount-prior-exchanged",
        DISCOUNT,
        "return draw_bounded_beta(prior_p, prior_q, rng)",
        "return draw_bounded_beta(prior_q, prior_p, rng)",
        "p and the tables' powers belong to a, q and the seatings' to 1 - a.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[asymmetric prior-0.9]",
    ),
    Mutation(
        "discount-of-old-ratios",
        DISCOUNT,
        "ratios = StirlingRatios.for_counts(n_max, discount)",
        "ratios = StirlingRatios.for_counts(n_max, 0.9)",
        "The ratios follow a: a table made at the start is of another a.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one restaurant-0.9]",
    ),
]
