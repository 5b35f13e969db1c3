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
]
