"""Wrong patches of the choice of the initial number of topics."""

from mutation.mutation import Mutation

PILOTS = "topics/_shared/_pilots.py"
TESTS = "tests/unit/topics/shared/test_pilots.py"

MUTATIONS = [
    Mutation(
        "one-topic-without-a-learned-prior",
        PILOTS,
        "    for _ in range(_STEPS):",
        "    for _ in range(0):",
        "The prior of the one topic is learned.",
        f"{TESTS}::TestOneTopic::test_probabilities",
    ),
    Mutation(
        "pilots-better-by-chance",
        PILOTS,
        "        return bool(gain.sum() > CLEAR_GAIN * standard_error(gain))",
        "        return bool(gain.sum() > 0.0)",
        "Pilots have to be better by two standard errors.",
        f"{TESTS}::TestOneTopic::test_two_standard_errors[0.15-False]",
    ),
    Mutation(
        "learned-prior-of-even-words",
        "topics/_inferred_number.py",
        "        sampler.learns_topic_word_prior = False",
        "        sampler.learns_topic_word_prior = estimator.topic_word_prior == 'auto'",
        "The prior is not learned from documents that do not differ.",
        f"{TESTS}::TestInFits::test_even_words[HDPTopicModel()]",
    ),
]
