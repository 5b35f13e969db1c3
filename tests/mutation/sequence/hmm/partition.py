"""Wrong patches of a partition of a panel."""

from mutation.mutation import Mutation

FITS = "tests/unit/sequence/test_partitioned_fits.py"
BITS = f"{FITS}::test_bits_are_those_of_the_whole"
STARTS = f"{FITS}::test_starts_of_large_panels"

MUTATIONS = [
    Mutation(
        "partitions-missing-by-local-number",
        "sequence/_hmm/_partition.py",
        "chain.emission.complete_with(states, orders.missing_key, self.first_step)",
        "chain.emission.complete_with(states, orders.missing_key, 0)",
        "Missing values have streams of the numbers of their steps in the whole panel.",
        f"{BITS}[missing]",
    ),
    Mutation(
        "partitions-start-of-local-numbers",
        "sequence/_hmm/_partition.py",
        "        chosen, _ = list_chosen(self.panel.ptr, stride, self.first_sequence)",
        "        chosen, _ = list_chosen(self.panel.ptr, stride)",
        "The sequences are evenly chosen from the whole panel.",
        f"{STARTS}[poisson]",
    ),
    Mutation(
        "partitions-joined-sequences",
        "sequence/_hmm/_partition.py",
        "        return self.compute(f, (self.panel.ptr, *args))\n",
        "        return self.compute(f, (self.panel.ptr[[0, -1]], *args))\n",
        "The prior comes from sequences, wherever partitions end.",
        f"{BITS}[autoregressive]",
    ),
    Mutation(
        "partitions-draw-known-states",
        "sequence/_hmm/_partition.py",
        "            self.known.clamp(log_obs)\n",
        "            pass\n",
        "Known states stay in partitions, too.",
        "tests/unit/sequence/test_hints.py::TestKnownStates::test_partitions",
    ),
]
