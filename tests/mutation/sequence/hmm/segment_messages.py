"""Wrong patches of messages of hidden semi-Markov models."""

from mutation.mutation import Mutation

FILTER_TESTS = "tests/exact/sequence/hmm/test_filtered.py"
FITS = "tests/unit/sequence/test_partitioned_fits.py"
BITS = f"{FITS}::test_bits_are_those_of_the_whole"

MUTATIONS = [
    Mutation(
        "filtering-segments-that-end",
        "sequence/_hmm/_segment_messages.py",
        "np.exp(self._log_filtered[: len(rows)], out=rows)",
        "np.exp(self._log_end[: len(rows)], out=rows)",
        "Segments go on after the step.",
        f"{FILTER_TESTS}::test_filtered_segments[plain]",
    ),
    Mutation(
        "partitions-segments-by-local-number",
        "sequence/_hmm/_segment_messages.py",
        "self.ptr[first : last + 1], number + first, self.reverse, self.log_obs,",
        "self.ptr[first : last + 1], first, self.reverse, self.log_obs,",
        "The stream of a sequence is that of its number in the whole panel.",
        f"{BITS}[poisson durations]",
    ),
    Mutation(
        "changes-of-segments-a-step-early",
        "sequence/_hmm/_segment_messages.py",
        "            own[1:] = np.minimum(ends[:-1], 1.0)",
        "            own[:] = np.minimum(ends, 1.0)",
        "A segment begins at the step after the one at which another ends.",
        "tests/exact/sequence/hmm/test_changes.py::test_changes_of_segments[plain]",
    ),
]
