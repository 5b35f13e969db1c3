"""Wrong patches of models whose number of topics is inferred."""

from mutation.mutation import Mutation

TESTS = "tests/unit/topics/shared/test_pilots.py::TestInFits"

MUTATIONS = [
    Mutation(
        "topics-of-even-words",
        "topics/_inferred_number.py",
        "            sampler.most_topics = 1",
        "            sampler.learns_topic_word_prior = False",
        "Documents that do not differ have one topic.",
        f"{TESTS}::test_random_words[20-60-0.0-HDPTopicModel()]",
    ),
    Mutation(
        "topics-begin-with-one",
        "topics/_inferred_number.py",
        "        number = self._choice.number if is_open else 1",
        "        number = self._choice.number",
        "The chain cannot begin with more topics than it may have.",
        f"{TESTS}::test_random_words[20-60-0.0-HDPTopicModel()]",
    ),
]
