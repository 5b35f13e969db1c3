"""Wrong patches of the detector of states."""

from mutation.mutation import Mutation

KNOWN_TESTS = "tests/unit/sequence/test_known_windows.py"

MUTATIONS = [
    Mutation(
        "detector-changes-at-the-start-of-windows",
        "sequence/_state_detector.py",
        "        out[layout.first_steps] = ",
        "        out[layout.starts] = ",
        "A change is where the states of the steps change.",
        "tests/unit/sequence/test_state_detector.py::test_changes_are_where_states_change",
    ),
    Mutation(
        "detector-known-windows-across-changes",
        "sequence/_detector/_known.py",
        "    return _states_of(known, own, whole.agree)",
        "    return _states_of(known, own, own.agree)",
        "All known steps of a window must agree.",
        f"{KNOWN_TESTS}::test_windows_and_labels_by_their_definition[40-20-0.3]",
    ),
    Mutation(
        "detector-windows-know-the-steps-of-others",
        "sequence/_detector/_known.py",
        "    return np.where(agree & (ranges.lasts > ranges.firsts), states, -1)",
        "    return np.where(agree, states, -1)",
        "A window without known steps is free.",
        f"{KNOWN_TESTS}::test_windows_and_labels_by_their_definition[7-3-0.05]",
    ),
    Mutation(
        "detector-labels-without-known-steps",
        "sequence/_state_detector.py",
        "            write_known(labels, known.states, layout)",
        "            pass",
        "Known steps keep their states, also in windows across changes.",
        f"{KNOWN_TESTS}::test_known_steps_in_windows_across_changes",
    ),
]
