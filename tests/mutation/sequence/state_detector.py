"""Wrong patches of the detector of states."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "detector-changes-at-the-start-of-windows",
        "sequence/_state_detector.py",
        "        out[layout.first_steps] = ",
        "        out[layout.starts] = ",
        "A change is where the states of the steps change.",
        "tests/unit/sequence/test_state_detector.py::test_changes_are_where_states_change",
    ),
]
