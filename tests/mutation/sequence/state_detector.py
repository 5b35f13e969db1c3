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
        "detector-labels-without-known-steps",
        "sequence/_state_detector.py",
        "            write_known(labels, known.states, layout)",
        "            pass",
        "Known steps keep their states, also in windows across changes.",
        f"{KNOWN_TESTS}::test_known_steps_in_windows_across_changes",
    ),
    Mutation(
        "detector-memory-of-other-columns",
        "sequence/_state_detector.py",
        "                memory = memory[self._columns]\n",
        "                memory = memory[: len(self._columns)]\n",
        "Each column that varies forgets its own share, whatever constant columns stand before it.",
        "tests/unit/sequence/test_state_detector.py::test_memory_of_columns_that_vary",
    ),
    Mutation(
        "detector-part-of-a-wave-as-evidence",
        "sequence/_state_detector.py",
        "_LEAST_OF_A_WINDOW = 0.9\n",
        "_LEAST_OF_A_WINDOW = 0.5\n",
        "Sequences without a whole wave must not resemble a state that no training step has.",
        "tests/unit/sequence/test_state_detector.py::test_sequences_shorter_than_a_window",
    ),
    Mutation(
        "detector-drift-in-states",
        "sequence/_state_detector.py",
        "                if other.criterion > best.criterion:\n",
        "                if other.criterion < best.criterion:\n",
        "The better states are those without memory, if a sensor drifts.",
        "tests/unit/sequence/test_state_detector.py::test_drift_is_no_state[0]",
    ),
]
