"""Wrong patches of the order of a topic's words."""

from mutation.mutation import Mutation

WORDS = "topics/_words_of_topics.py"
TESTS = "tests/unit/topics/test_words_of_topics.py"

MUTATIONS = [
    Mutation(
        "relevance-all-topics-alike",
        WORDS,
        "        marginal = n_tokens / n_tokens.sum() @ self.components_",
        "        marginal = self.components_.mean(axis=0)",
        "Topics count for p(w) by their tokens.",
        f"{TESTS}::TestTopWords::test_marginals_weigh_topics_by_tokens",
    ),
    Mutation(
        "relevance-the-other-way-round",
        WORDS,
        "        return logs - (1.0 - relevance) * marginal",
        "        return logs - relevance * marginal",
        "1 is the order of probability, 0 that of lift.",
        f"{TESTS}::TestTopWords::test_by_relevance[0.9]",
    ),
    Mutation(
        "rest-of-topics-all-alike",
        WORDS,
        "            merged = n_tokens[rest] @ self.components_[rest] / n_tokens[rest].sum()",
        "            merged = self.components_[rest].mean(axis=0)",
        "Topics count for the words of the rest by their tokens.",
        f"{TESTS}::TestSummary::test_rest",
    ),
    Mutation(
        "representative-documents-across",
        WORDS,
        '        return np.argsort(-shares.T, axis=1, kind="stable")[:, :n]',
        '        return np.argsort(shares.T, axis=1, kind="stable")[:, :n]',
        "The largest shares come first.",
        f"{TESTS}::TestRepresentativeDocuments::test_training_documents",
    ),
]
