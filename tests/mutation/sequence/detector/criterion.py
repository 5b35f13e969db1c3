"""Wrong patches of the criterion that compares segmentations."""

from mutation.mutation import Mutation

CRITERION = "sequence/_detector/_criterion.py"
DEFINITION = "tests/unit/sequence/test_state_detector.py::test_criterion_by_its_definition"

MUTATIONS = [
    Mutation(
        "detector-noise-without-memory",
        CRITERION,
        "0.0, _LONGEST_MEMORY)",
        "0.0, 0.0)",
        "Residuals depend on those before.",
        DEFINITION,
    ),
    Mutation(
        "detector-pairs-across-sequences",
        CRITERION,
        "        follows[ptr[:-1]] = False\n",
        "        follows[0] = False\n",
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
]
