"""Wrong patches: independent."""

from mutation.mutation import Mutation

INDEPENDENT = "emissions/_independent.py"
MIXED_TESTS = "tests/exact/emissions/test_independent.py"
BITS = "tests/unit/sequence/test_partitioned_fits.py::test_bits_are_those_of_the_whole[mixed]"

MUTATIONS = [
    Mutation(
        "mixed-last-part-alone",
        INDEPENDENT,
        "            out += self._scratch",
        "            out[:] = self._scratch",
        "Log densities of parts are added up.",
        f"{MIXED_TESTS}::test_log_densities",
    ),
    Mutation(
        "mixed-evidence-of-one-part",
        INDEPENDENT,
        "sum(sampler.log_evidence() for sampler in self.samplers)",
        "sum(sampler.log_evidence() for sampler in self.samplers[:1])",
        "All parts tell whether to split or merge.",
        f"{MIXED_TESTS}::test_evidence",
    ),
    Mutation(
        "mixed-one-key-for-all",
        INDEPENDENT,
        "            stream_of_number(key, i, own)",
        "            stream_of_number(key, 0, own)",
        "Missing values of parts are independent.",
        "tests/unit/emissions/test_independent.py::test_missing_values_of_parts_are_drawn_apart",
    ),
    Mutation(
        "mixed-sums-of-one-partition",
        INDEPENDENT,
        "tuple(a + b for a, b in zip(self.values, other.values, strict=True))",
        "self.values",
        "What partitions measure and add up is for all of them.",
        BITS,
    ),
    Mutation(
        "mixed-missing-values-drawn-twice",
        INDEPENDENT,
        "        if not self._is_complete:\n            self.complete(states, rng)\n",
        "        self.complete(states, rng)\n",
        "Missing values are drawn once a sweep, right after the states.",
        BITS,
    ),
    Mutation(
        "mixed-sampler-without-targets",
        INDEPENDENT,
        "        return find_target_columns(self.blocks, self.samplers)\n",
        "        return None\n",
        "Steps that have only inputs do not count in shares of states.",
        "tests/unit/emissions/test_regression.py::TestEstimator::"
        "test_parts_without_targets_do_not_count[normal]",
    ),
]
