"""Wrong patches: independent (emissions)."""

from mutation.mutation import Mutation

MIXED_TESTS = "tests/exact/emissions/test_independent.py"
INDEPENDENT = "emissions/_independent.py"
INDEPENDENT_MODEL = "emissions/_independent_model.py"

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
        "mixed-columns-in-order",
        INDEPENDENT_MODEL,
        "            out[:, columns] = block",
        "            out[:, np.sort(columns)] = block",
        "Columns of a part may be in any order.",
        f"{MIXED_TESTS}::test_quantiles_of_mixtures[0]",
    ),
]
