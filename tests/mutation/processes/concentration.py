"""Wrong patches of the draws of concentrations."""

from mutation.mutation import Mutation

PROCESSES = "tests/exact/processes"
CONCENTRATION = "processes/_concentration.py"

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
]
