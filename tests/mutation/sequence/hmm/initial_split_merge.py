"""Wrong patches of the search for first states."""

from mutation.mutation import Mutation

STARTS = "sequence/_hmm/_initial_split_merge.py"
TESTS = "tests/unit/sequence/hmm/test_initial_split_merge.py"

MUTATIONS = [
    Mutation(
        "first-states-from-splits-only",
        STARTS,
        "partial(self._take, each) for each in clusters if each.max() < n_states",
        "",
        "Splits that begin with two steps may find nothing in many columns.",
        f"{TESTS}::test_few_steps_of_many_columns[2-0]",
    ),
    Mutation(
        "first-states-under-one-prior",
        STARTS,
        "product(emission.list_first_priors(), starts)",
        "product(emission.list_first_priors()[:1], starts)",
        "Small covariances of few steps overfit.",
        f"{TESTS}::test_few_steps_of_one_state",
    ),
    Mutation(
        "first-states-under-the-scale-of-one-state",
        STARTS,
        'if getattr(emission, "draws_scale", False):',
        "if False:",
        "Under the scale of all steps, a single state is the most probable.",
        f"{TESTS}::TestThreeStepsPerColumn::test_first_states[0-auto]",
    ),
]
