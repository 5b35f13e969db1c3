"""Wrong patches of the detector of states."""

from mutation.mutation import Mutation

TESTS = "tests/unit/sequence/test_state_detector.py"
CRITERION = "sequence/_detector/_criterion.py"
DEFINITION = f"{TESTS}::test_criterion_by_its_definition"

MUTATIONS = [
    Mutation(
        "detector-noise-without-memory",
        CRITERION,
        "0.0, 0.999) * before",
        "0.0, 0.0) * before",
        "Residuals depend on those before.",
        DEFINITION,
    ),
    Mutation(
        "detector-pairs-across-sequences",
        CRITERION,
        "    follows[ptr[:-1]] = False\n",
        "    follows[0] = False\n",
        "The first step of a sequence follows none.",
        DEFINITION,
    ),
    Mutation(
        "detector-free-changes",
        CRITERION,
        "(n_parameters + n_changes)",
        "n_parameters",
        "A change costs as much as a parameter.",
        DEFINITION,
    ),
    Mutation(
        "detector-changes-at-the-start-of-windows",
        "sequence/_state_detector.py",
        "        out[layout.first_steps] = ",
        "        out[layout.starts] = ",
        "A change is where the states of the steps change.",
        f"{TESTS}::test_changes_are_where_states_change",
    ),
]
