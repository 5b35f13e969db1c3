"""Wrong patches of the values without what their noise repeats."""

from mutation.mutation import Mutation

MEMORY = "sequence/_detector/_memory.py"
TESTS = "tests/unit/sequence/test_state_detector.py"

MUTATIONS = [
    Mutation(
        "detector-memory-across-sequences",
        MEMORY,
        "    before[panel.ptr[:-1]] = np.nan\n",
        "    before[0] = np.nan\n",
        "The first value of a sequence has none before it.",
        f"{TESTS}::test_memory_is_forgotten_by_its_definition",
    ),
    Mutation(
        "detector-memory-of-noise",
        MEMORY,
        "    is_clear = residuals.correlations * np.sqrt(n_pairs) >= _CLEAR\n",
        "    is_clear = residuals.correlations >= 0.0\n",
        "A coefficient within its error is 0.",
        f"{TESTS}::test_criterion_by_its_definition",
    ),
]
