"""Wrong patches: gaussian, sums."""

from mutation.mutation import Mutation

TESTS = "tests/unit/emissions/test_gaussian_sums.py"

MUTATIONS = [
    Mutation(
        "gaussian-ranges-of-the-first-part",
        "emissions/_gaussian/_sums.py",
        "            np.maximum(self.highs, other.highs),",
        "            self.highs,",
        "A range is that of all parts.",
        f"{TESTS}::test_parts_and_orders[cuts1]",
    ),
]
