"""Wrong patches of how text is read."""

from mutation.mutation import Mutation

TEXT = "feature_extraction/_text.py"
TESTS = "tests/unit/feature_extraction"

MUTATIONS = [
    Mutation(
        "text-byte-order-marks",
        TEXT,
        "return without_byte_order_mark(text) if isinstance(text, str) else text",
        "return text",
        "A byte order mark is no part of a text.",
        f"{TESTS}/test_token_vectorizer.py::test_byte_order_marks",
    ),
    Mutation(
        "vocabulary-in-its-order",
        TEXT,
        "    if isinstance(vocabulary, set | frozenset):  # has",
        "    if True:  # has",
        "The ids of the words of a list are their places.",
        f"{TESTS}/test_token_vectorizer.py::test_a_closed_vocabulary",
    ),
]
