"""Wrong patches of the known states of windows."""

from mutation.mutation import Mutation

KNOWN_TESTS = "tests/unit/sequence/test_known_windows.py"

MUTATIONS = [
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
]
