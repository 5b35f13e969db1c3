"""Wrong patches: first states."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "symbols-first-states-one-by-one",
        "emissions/_first_states.py",
        "if t == 0 or next_double(rng) * MEAN_RUN < 1.0:",
        "if True:",
        "First states come in runs, or chains of many symbols get stuck.",
        "tests/unit/emissions/test_categorical.py::test_first_states_come_in_runs",
    ),
]
