"""Wrong patches of models whose number of topics is inferred."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "learned-prior-of-even-words",
        "topics/_inferred_number.py",
        "        sampler.learns_topic_word_prior = False",
        "        sampler.learns_topic_word_prior = estimator.topic_word_prior == 'auto'",
        "The prior is not learned from documents that do not differ.",
        "tests/unit/topics/shared/test_pilots.py::TestInFits::test_even_words[HDPTopicModel()]",
    ),
]
