"""Wrong patches of how words are found."""

from mutation.mutation import Mutation

WORDS = "feature_extraction/_word_patterns.py"
TESTS = "tests/unit/feature_extraction"

MUTATIONS = [
    Mutation(
        "words-marks-behind-symbols",
        WORDS,
        'return re.compile(f"{flags}(?:{body})[{marks}]*")',
        'return re.compile(f"{flags}(?:{body})")',
        "Marks belong to symbols, too.",
        f"{TESTS}/test_word_patterns.py::test_words_with_marks[symbol with a variation selector]",
    ),
    Mutation(
        "words-no-supplementary-marks",
        WORDS,
        "    return _marks(has_supplementary)",
        "    return _marks(False)",
        "Scripts outside of the basic plane have marks.",
        f"{TESTS}/test_word_patterns.py::test_words_with_marks[supplementary marks]",
    ),
    Mutation(
        "words-marks-in-negated-classes",
        WORDS,
        'return f"(?:{text}|[{marks}])" if is_negated else',
        "return text if is_negated else",
        "A class without other characters than those of words has marks.",
        f"{TESTS}/test_word_patterns.py::test_patterns"
        "[[^\\\\W\\\\d_]+-\\u0928\\u092e\\u0938\\u094d\\u0924\\u09472_\\u092e\\u0947\\u0902-words4]",
    ),
]
