"""Wrong patches of the sampler without tables."""

from mutation.mutation import Mutation

LIKELIHOODS = "tests/exact/topics/test_log_likelihood.py"

NODES = "topics/_lda/_kernels_nodes.py"

MUTATIONS = [
    Mutation(
        "counts-in-lists-that-were-full-are-forgotten",
        "topics/_lda/_shard.py",
        "    overflows = sums != words.totals\n",
        "    overflows = sums > words.totals\n",
        "A count that was full has lost a word, although it has fallen since.",
        "tests/unit/topics/shared/test_arrays.py::test_lists[0]",
    ),
    Mutation(
        "likelihood-lda-moves-under-another-prior",
        NODES,
        "topics[r], words, alpha, 0.0, scratch, rng)",
        "topics[r], words, alpha + 1.0, 0.0, scratch, rng)",
        "A move leaves the posterior of the topics so far invariant.",
        f"{LIKELIHOODS}::test_mean_is_the_probability_lda[1-document]",
    ),
]
