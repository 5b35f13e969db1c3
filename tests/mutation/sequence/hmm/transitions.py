"""Wrong patches of transitions."""

from mutation.mutation import Mutation

DRAWS = "tests/exact/sequence/hmm/test_transition_draws.py"
MOVES = "tests/exact/sequence/hmm/test_split_merge.py"
FITS = "tests/unit/sequence/test_partitioned_fits.py"
BITS = f"{FITS}::test_bits_are_those_of_the_whole"
CONCENTRATIONS = "sequence/_hmm/_transitions.py"


def _draws(case: str) -> str:
    return f"{DRAWS}::test_posterior[{case}]"


def _moves(case: str) -> str:
    return f"{MOVES}::test_posterior_in_short[{case}]"


MUTATIONS = [
    Mutation(
        "moves-old-times",
        CONCENTRATIONS,
        "        if rates_known:",
        "        if True:",
        "The rates of before a move do not go with its states.",
        f"{MOVES}::test_posterior[three states, apart, concentrations]",
    ),
    Mutation(
        "transitions-rate-of-alpha-without-first-states",
        CONCENTRATIONS,
        "rate + of_states + of_first, rng)",
        "rate + of_states, rng)",
        "Erratum 15: log(1 + u_0) enters the rate of alpha.",
        _draws("plain"),
    ),
    Mutation(
        "transitions-stickiness-of-first-states",
        CONCENTRATIONS,
        "rate += of_states + (1.0 - share) * of_first",
        "rate += of_states + of_first",
        "Erratum 14: the initial row knows no kappa.",
        _draws("stickiness"),
    ),
    Mutation(
        "transitions-mass-without-overridden-tables",
        CONCENTRATIONS,
        "_draw_concentration(shape + others + overridden, rate, rng)",
        "_draw_concentration(shape + others, rate, rng)",
        "Erratum 14: alpha + kappa explains all tables.",
        _draws("stickiness"),
    ),
    Mutation(
        "transitions-self-transitions-of-segments",
        CONCENTRATIONS,
        "            np.fill_diagonal(logs[:-1], -np.inf)",
        "            np.fill_diagonal(logs[:-1], 0.0)",
        "Erratum 13: in a semi-Markov model all self-transitions fail.",
        _draws("no self-transitions"),
    ),
    Mutation(
        "possible-transitions-only-at-first",
        CONCENTRATIONS,
        "        similarity.write(self.log_similarity[:-1], emission)\n"
        "        self._forbid(self.log_similarity)\n",
        "        similarity.write(self.log_similarity[:-1], emission)\n",
        "A similarity makes no impossible transition possible.",
        "tests/unit/sequence/test_hints.py::TestPossibleTransitions"
        "::test_impossible_has_probability_0[params3]",
    ),
    Mutation(
        "possible-transitions-inform-similarities",
        CONCENTRATIONS,
        "            shapes[~self.allowed] = 0.0  # phi = 0 for any similarity\n",
        "            pass\n",
        "Impossible transitions say nothing about similarities.",
        "tests/unit/sequence/hmm/test_impossible_jumps.py"
        "::test_similarities_do_not_depend_on_impossible_transitions",
    ),
    Mutation(
        "partitions-stays-are-transitions",
        CONCENTRATIONS,
        "        np.fill_diagonal(changes[:-1], 0)\n        return changes\n",
        "        return changes\n",
        "With a duration, how long a state lasts is not for transitions to explain.",
        f"{BITS}[poisson durations]",
    ),
]
