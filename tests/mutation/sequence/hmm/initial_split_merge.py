"""Wrong patches of the search for first states."""

from mutation.mutation import Mutation

STARTS = "sequence/_hmm/_initial_split_merge.py"
TESTS = "tests/unit/sequence/hmm/test_initial_split_merge.py"

MUTATIONS = [
    Mutation(
        "first-states-from-splits-only",
        STARTS,
        "        starts += [partial(self._take, each) for each in clusters if each.max() < n_states]\n",
        "",
        "Splits that begin with two steps may find nothing in many columns.",
        f"{TESTS}::test_few_steps_of_many_columns[2-0]",
    ),
    Mutation(
        "first-states-under-one-prior",
        STARTS,
        "        for prior in emission.list_first_priors():",
        "        for prior in emission.list_first_priors()[:1]:",
        "Small covariances of few steps overfit.",
        f"{TESTS}::test_few_steps_of_one_state",
    ),
]
