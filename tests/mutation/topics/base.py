"""Wrong patches of fits of topic models to partitions."""

from mutation.mutation import Mutation

WARM = "tests/unit/topics/test_partitioned_warm_starts.py"

MUTATIONS = [
    Mutation(
        "warm-starts-keep-what-was-looked-at",
        "topics/_base.py",
        "                chain.averages.drop()\n",
        "                pass\n",
        "What was made for a look at a chain is dropped.",
        f"{WARM}::test_before_the_end_of_the_burn_in",
    ),
    Mutation(
        "given-topics-beside-fixed-ones",
        "topics/_base.py",
        'for name in ("seed_words", "fixed_components"):',
        'for name in ("seed_words",):',
        "Topics that are all given leave none to fix.",
        "tests/unit/topics/test_gibbs_lda.py::TestFromTopics::test_hints_are_refused",
    ),
]
