"""Wrong patches of parse trees."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "trees-words-below-traces",
        "data/_parse_tree.py",
        "                del kept[len(kept) - size :]",
        "                kept.pop()",
        "All that is below a trace goes with it.",
        "tests/unit/data/test_parse_tree.py::test_without_traces"
        "[(S (NP (-NONE- (X *)) (N n)))-(S (NP (N n)))]",
    ),
]
