"""Wrong patches of messages of hidden Markov models."""

from mutation.mutation import Mutation

FILTER_TESTS = "tests/exact/sequence/hmm/test_filtered.py"
FITS = "tests/unit/sequence/test_partitioned_fits.py"
BITS = f"{FITS}::test_bits_are_those_of_the_whole"


def _messages(function: str, case: str) -> str:
    return f"tests/exact/sequence/hmm/test_messages.py::{function}[{case}]"


MUTATIONS = [
    Mutation(
        "filtering-logs-as-they-are",
        "sequence/_hmm/_messages.py",
        "            out[self.ptr[s] : self.ptr[s + 1]] = np.exp(logs[1])",
        "            out[self.ptr[s] : self.ptr[s + 1]] = np.ones(logs[1].shape)",
        "Sequences that take logarithms say as much as others.",
        f"{FILTER_TESTS}::test_filtered[left to right, late]",
    ),
    Mutation(
        "partitions-states-by-local-number",
        "sequence/_hmm/_messages.py",
        "ptr, number + first, self.reverse, own, filtered, states, weights, key, own_rng",
        "ptr, first, self.reverse, own, filtered, states, weights, key, own_rng",
        "The stream of a sequence is that of its number in the whole panel.",
        f"{BITS}[gaussian]",
    ),
    Mutation(
        "changes-given-the-past",
        "sequence/_hmm/_messages.py",
        "        both = before * now * np.diag(self.transmat)",
        "        both = before * before * np.diag(self.transmat)",
        "A change is probable given the whole sequence.",
        "tests/exact/sequence/hmm/test_changes.py::test_changes[plain]",
    ),
    Mutation(
        "changes-of-what-underflows",
        "sequence/_hmm/_messages.py",
        "        staying = np.minimum(after[:-1], now)",
        "        staying = np.zeros(now.shape)",
        "A state whose predicted probability underflows may have been entered before.",
        "tests/exact/sequence/hmm/test_changes.py::test_changes[a way out]",
    ),
]
