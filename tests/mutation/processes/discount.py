"""Wrong patches of the draws of discounts."""

from mutation.mutation import Mutation

PROCESSES = "tests/exact/processes"
DISCOUNT = "processes/_discount.py"

MUTATIONS = [
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
