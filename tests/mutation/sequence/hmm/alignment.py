"""Wrong patches of names of states."""

from mutation.mutation import Mutation

NAMES = "tests/unit/sequence/hmm/test_alignment.py"
ALIGNMENT = "sequence/_hmm/_alignment.py"

MUTATIONS = [
    Mutation(
        "names-of-the-unlikeliest",
        ALIGNMENT,
        "np.where(is_usual, log_joints, -np.inf)",
        "np.where(is_usual, -log_joints, -np.inf)",
        "The sample with the highest log joint names the states.",
        f"{NAMES}::test_names_come_from_the_highest_log_joint",
    ),
    Mutation(
        "names-of-a-sample-with-an-odd-state",
        ALIGNMENT,
        "np.where(is_usual, log_joints, -np.inf)",
        "log_joints",
        "Samples with the most frequent number of states come first.",
        f"{NAMES}::test_names_come_from_a_sample_with_the_usual_number_of_states",
    ),
    Mutation(
        "names-of-fixed-states-are-matched",
        ALIGNMENT,
        "np.setdiff1d(np.arange(len(names)), order.fixed)",
        "np.arange(len(names))",
        "A state with its own possible transitions never takes another number.",
        f"{NAMES}::test_fixed_states_are_never_renamed",
    ),
    Mutation(
        "names-one-by-one",
        ALIGNMENT,
        "linear_sum_assignment(pairs[some], maximize=True)[1]",
        "linear_sum_assignment(-pairs[some], maximize=True)[1]",
        "As many observations as possible keep their names.",
        f"{NAMES}::test_a_match_has_most_in_all",
    ),
]
