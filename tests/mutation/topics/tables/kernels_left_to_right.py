"""Wrong patches of the left-to-right likelihood."""

from mutation.mutation import Mutation

LIKELIHOODS = "tests/exact/topics/test_log_likelihood.py"

LEFT_TO_RIGHT = "topics/_tables/_kernels_left_to_right.py"


def _likelihood(case: str, n_particles: int, model: str = "segmented") -> str:
    return f"{LIKELIHOODS}::test_mean_is_the_probability[{n_particles}-{model}-{case}]"


MUTATIONS = [
    Mutation(
        "likelihood-without-customers",
        LEFT_TO_RIGHT,
        "math.log(running / (prior.concentration[i] + ahead.level_customers[i]))",
        "math.log(running / prior.concentration[i])",
        "The denominator b + Nd_j of a word's weight.",
        _likelihood("middle empty", 1),
    ),
    Mutation(
        "likelihood-chain-of-two",
        LEFT_TO_RIGHT,
        "ahead.fixed_part[i, k] = share * inverse + at_above + TINY",
        "ahead.fixed_part[i, k] = share * inverse + TINY",
        "A segment without words hands on what the one before it has.",
        _likelihood("middle empty", 1, "sequential"),
    ),
    Mutation(
        "likelihood-customers-without-tables",
        LEFT_TO_RIGHT,
        "enter_level(level, level, stop, True, corpus, assignments, customers, level_customers)",
        "enter_level(level, level, stop, False, corpus, assignments, customers, level_customers)",
        "A table that orders from the segment before is a customer there.",
        _likelihood("middle empty", 1, "sequential"),
    ),
    Mutation(
        "likelihood-rebuilds-from-the-document",
        LEFT_TO_RIGHT,
        "    first = corpus.part_begin[j]\n",
        "    first = corpus.part_begin[0]\n",
        "The segments above, when a segment is swept, are those of its part.",
        "tests/unit/topics/tables/test_kernels_left_to_right.py::"
        "test_levels_of_a_part_are_those_of_the_part_alone[sequential]",
    ),
]
