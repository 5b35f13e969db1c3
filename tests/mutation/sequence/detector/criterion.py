"""Wrong patches of the criterion that compares segmentations."""

from mutation.mutation import Mutation

CRITERION = "sequence/_detector/_criterion.py"
DEFINITION = "tests/unit/sequence/test_state_detector.py::test_criterion_by_its_definition"

MUTATIONS = [
    Mutation(
        "detector-noise-without-memory",
        CRITERION,
        "(1.0 / self.usual_lag), _LONGEST_MEMORY)",
        "(1.0 / self.usual_lag), 0.0)",
        "Residuals depend on those before.",
        DEFINITION,
    ),
    Mutation(
        "detector-pairs-across-sequences",
        CRITERION,
        "follows = np.flatnonzero(sequences[1:] == sequences[:-1]) + 1",
        "follows = np.arange(1, len(complete))",
        "The first step of a sequence follows none.",
        DEFINITION,
    ),
    Mutation(
        "detector-lags-without-root",
        CRITERION,
        "self.correlations ** (1.0 / self.usual_lag)",
        "self.correlations",
        "The correlation after k steps is a^k.",
        DEFINITION,
    ),
    Mutation(
        "detector-noise-of-one-step",
        CRITERION,
        "    log_likelihood = -np.log(scales).sum()\n",
        "    log_likelihood = 0.0\n",
        "The noise of several steps is larger, and its density lower.",
        DEFINITION,
    ),
    Mutation(
        "detector-power-of-one-step",
        CRITERION,
        "memory ** (2 * lags)",
        "memory ** lags",
        "The variance has the square of the coefficient.",
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
