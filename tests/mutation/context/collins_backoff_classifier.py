"""Wrong patches of Collins's back-off."""

from mutation.mutation import Mutation

BY_HAND = "tests/exact/context/test_collins_backoff_classifier.py::test_by_hand"

MUTATIONS = [
    Mutation(
        "collins-tables",
        "context/_collins_backoff_classifier.py",
        "        counts = layout.capacity  #",
        "        counts = np.maximum(layout.observed, 1)  #",
        "(2.3): the shares are those of events, at all levels.",
        BY_HAND,
    ),
    Mutation(
        "collins-diversity",
        "context/_collins_backoff_classifier.py",
        "        total = customers + gamma * diversity\n",
        "        total = customers + gamma\n",
        "(2.5): lambda depends on the number of distinct outcomes.",
        BY_HAND,
    ),
]
