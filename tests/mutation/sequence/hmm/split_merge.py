"""Wrong patches of moves that split and merge states."""

from mutation.mutation import Mutation

MOVES = "tests/exact/sequence/hmm/test_split_merge.py"
SIMILARITY_TESTS = "tests/exact/sequence/similarities/test_emission.py"
SPLIT_MERGE = "sequence/_hmm/_split_merge.py"


def _moves(case: str) -> str:
    return f"{MOVES}::test_posterior_in_short[{case}]"


MUTATIONS = [
    Mutation(
        "emission-similarity-moves-with-old-phi",
        SPLIT_MERGE,
        "log_ratio += there.log_probability_of(counts, weights)",
        "log_ratio += transitions.log_probability_of(counts, weights)",
        "New parameters of two states are new similarities.",
        f"{SIMILARITY_TESTS}::test_posterior_by_many_splits_and_merges",
    ),
    Mutation(
        "emission-similarity-moves-with-swapped-names",
        SPLIT_MERGE,
        "self._emission, splitter.emission, groups[0].astype(np.int64), pair, self._rng",
        "self._emission, splitter.emission, 1 - groups[0].astype(np.int64), pair, self._rng",
        "Each of the two has parameters given its own steps.",
        f"{SIMILARITY_TESTS}::test_split_states_have_parameters_of_their_own_steps",
    ),
    Mutation(
        "moves-empty-states",
        SPLIT_MERGE,
        "model.log_probability(groups) - np.log(len(used) * len(empty))",
        "model.log_probability(groups) - np.log(len(used))",
        "A split chooses one of the states that are not in use.",
        f"{MOVES}::test_posterior[three states]",
    ),
    Mutation(
        "moves-small-states",
        SPLIT_MERGE,
        "    return float(-np.log(counts[b] * (1.0 / used).sum() * (len(used) - 1)))",
        "    return float(-np.log(len(used) * (len(used) - 1)))",
        "Merges choose small states more often.",
        f"{MOVES}::test_choice_of_merges",
    ),
    Mutation(
        "moves-one-orientation",
        SPLIT_MERGE,
        "    return float(np.logaddexp(*both) - np.log(2.0))",
        "    return float(both[0])",
        "A coin decides which group keeps the name.",
        _moves("three states"),
    ),
    Mutation(
        "moves-known-steps-leak-in-a-split",
        SPLIT_MERGE,
        "            log_obs[is_known] = 0.0, -np.inf\n",
        "            pass\n",
        "Known steps stay in the state that is split.",
        _moves("known"),
    ),
    Mutation(
        "moves-known-states-vanish-in-a-merge",
        SPLIT_MERGE,
        "        if self._is_known(b):\n            return False\n",
        "",
        "No merge takes a known step to another state.",
        _moves("known"),
    ),
    Mutation(
        "moves-known-states-by-a-coin",
        SPLIT_MERGE,
        "    if has_known:\n        return float(round_sum(sums[0]))\n",
        "",
        "Known steps, not a coin, decide which group keeps the name.",
        _moves("known"),
    ),
    Mutation(
        "moves-weights-for-nothing",
        SPLIT_MERGE,
        "        log_ratio -= log_density_of_share(weights[pair], new)",
        "        log_ratio -= log_density_of_share(weights[pair], old)",
        "The weights have a proposal of their own.",
        _moves("three states"),
    ),
    Mutation(
        "moves-transitions-of-before",
        "sequence/_hmm/_split_merge.py",
        "    result[np.ix_(pair, pair)] = within\n",
        "",
        "Transitions between the two states change, too.",
        "tests/exact/sequence/hmm/test_split_merge.py::test_posterior_in_short[three states]",
    ),
]
