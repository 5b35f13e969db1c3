"""Wrong patches: hmm, filter."""

from mutation.mutation import Mutation

FILTER = "sequence/_hmm/_filter.py"
STEPS = "tests/unit/sequence/test_filter_update.py::test_each_step_is_that_of_the_whole_sequence"

MUTATIONS = [
    Mutation(
        "filter-backwards",
        FILTER,
        "moved: Floats = ends @ model.transmat",
        "moved: Floats = ends @ model.transmat.T",
        "Rows of the transition matrix are the states that are left.",
        f"{STEPS}[left-right]",
    ),
    Mutation(
        "filter-stays-at-the-first-age",
        FILTER,
        "    moved[1:] = (ends - leaving)[:-1]  # nothing is older than the longest duration\n",
        "    moved[1:] = (ends - leaving)[1:]\n",
        "A state that is not left grows older.",
        f"{STEPS}[durations]",
    ),
    Mutation(
        "filter-given-steps-have-densities",
        FILTER,
        "    if len(values) <= n_lags:\n",
        "    if len(values) <= n_lags + 1:\n",
        "The first step after the given ones has a density.",
        f"{STEPS}[lags]",
    ),
    Mutation(
        "filter-trend-stands-still",
        FILTER,
        "        arguments += (n_steps - len(values),)",
        "        arguments += (0,)",
        "A trend advances by one step with each observation.",
        f"{STEPS}[lags and a trend]",
    ),
]
