"""Wrong patches of how text is cut into sentences."""

from mutation.mutation import Mutation

SEGMENTERS = "feature_extraction/_segmenters.py"
TESTS = "tests/unit/feature_extraction"

MUTATIONS = [
    Mutation(
        "sentences-lower-case-of-ascii",
        SEGMENTERS,
        "    if text[begin : begin + 1].islower():",
        '    if "a" <= text[begin : begin + 1] <= "z":',
        "No sentence begins with a lowercase letter of any alphabet.",
        f"{TESTS}/test_segmenters.py::test_no_cut_before_lower_case[\\xfc-\\n]",
    ),
    Mutation(
        "sentences-initials-with-capitals",
        SEGMENTERS,
        "word.isalpha() and not word.islower()",
        "word.isupper()",
        "Scripts without capitals have initials, too.",
        f"{TESTS}/test_segmenters.py::test_no_cut_behind_initials"
        "[\\u05d0. \\u05d1. \\u05d9\\u05d4\\u05d5\\u05e9\\u05e2]",
    ),
]
