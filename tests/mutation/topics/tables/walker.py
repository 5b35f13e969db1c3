"""Wrong patches of what moves the state of table models."""

from mutation.mutation import Mutation

DISCOUNTS = "tests/exact/topics/test_discount.py"
SCOPES = "tests/exact/topics/test_concentration_scope.py"

TABLE_SAMPLER = "topics/_tables/_walker.py"

MUTATIONS = [
    Mutation(
        "concentrations-averaged",
        TABLE_SAMPLER,
        "of_segments = np.repeat(self.concentration, np.diff(self._group_ptr))",
        "of_segments = np.full(self._group_ptr[-1], self.concentration.mean())",
        "Kernels take each segment's own concentration.",
        f"{SCOPES}::test_log_joint_of_estimated_hyper_parameters[btigs-segmented-unequal segments]",
    ),
    Mutation(
        "discount-keeps-its-weights",
        TABLE_SAMPLER,
        "        self.discount = draw_bounded_beta(p, q, stream)\n        self._make_ratios()\n",
        "        self.discount = draw_bounded_beta(p, q, stream)\n",
        "The ratios of Stirling numbers follow the discount.",
        f"{DISCOUNTS}::test_log_joint_of_estimated_hyper_parameters[btigs-segmented]",
    ),
]
