"""Wrong patches of seats."""

from mutation.mutation import Mutation

ADAPTIVE = "tests/exact/topics/test_adaptive.py"
TOPICS = "tests/exact/topics/test_segmented.py"

SEATS = "topics/_tables/_kernels_seats.py"


def _joint(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


MUTATIONS = [
    Mutation(
        "seats-without-kind",
        SEATS,
        "    kinds[seat] = kind\n",
        "    kinds[seat] = DOCUMENT\n",
        "A table remembers where its dish was ordered.",
        _joint("ssa", "three topics", ADAPTIVE),
    ),
]
