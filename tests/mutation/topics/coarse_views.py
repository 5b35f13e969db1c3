"""Wrong patches of coarse views."""

from mutation.mutation import Mutation

VIEWS = "topics/_coarse_views.py"
TESTS = "tests/unit/topics/test_coarse_views.py"

MUTATIONS = [
    Mutation(
        "merged-topics-regardless-of-sizes",
        VIEWS,
        "        means = (is_part * tokens).T @ self.components_",
        "        means = is_part.T @ self.components_",
        "Topics are means weighted by their tokens.",
        f"{TESTS}::TestView::test_sums[GibbsLDA(n_components=6)]",
    ),
    Mutation(
        "tree-with-seeds",
        VIEWS,
        "            counts[seeds.topics, seeds.words] += seeds.weight",
        "            pass",
        "Seed words are no words of the corpus.",
        f"{TESTS}::test_words_are_compared_without_the_prior[seeds]",
    ),
    Mutation(
        "tree-without-a-prior-of-given-words",
        VIEWS,
        "        counts[: estimator._n_fixed_in_fit] = 0.0",
        "        pass",
        "Given words have no prior.",
        f"{TESTS}::test_given_words_are_compared_as_they_are",
    ),
    Mutation(
        "tree-with-a-uniform-base",
        VIEWS,
        "            counts[:] = estimator.topic_word_concentration_ * estimator.topic_word_base_",
        "            counts[:] = estimator.topic_word_prior_",
        "A shared base gives frequent words more of the concentration.",
        f"{TESTS}::test_words_are_compared_without_the_prior[shared-base]",
    ),
]
