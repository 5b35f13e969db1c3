"""Wrong patches of known states and of possible transitions."""

from mutation.mutation import Mutation

HINTS = "sequence/_hmm/_hints.py"
TESTS = "tests/unit/sequence/test_hints.py"
POSSIBLE = f"{TESTS}::TestPossibleTransitions"

MUTATIONS = [
    Mutation(
        "hints-clusters-do-not-take-known-names",
        HINTS,
        "    names = np.where(labeled.any(axis=1), labeled.argmax(axis=1), -1)\n",
        "    names = np.where(labeled.any(axis=1), np.arange(len(counts)), -1)\n",
        "A cluster becomes the state of most of its known steps.",
        f"{TESTS}::test_clusters_become_the_states_of_their_known_steps",
    ),
    Mutation(
        "hints-start-is-ignored",
        HINTS,
        '        allowed[-1] = _read_mask(start, (n_states,), "start")\n',
        '        _read_mask(start, (n_states,), "start")\n',
        "No sequence begins in another state.",
        f"{POSSIBLE}::test_impossible_has_probability_0[params0]",
    ),
]
