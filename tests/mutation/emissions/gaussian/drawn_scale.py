"""Wrong patches: gaussian, drawn scale."""

from mutation.mutation import Mutation

PRIOR = "emissions/_gaussian/_drawn_scale.py"
TESTS = "tests/exact/emissions/test_drawn_scale.py"

MUTATIONS = [
    Mutation(
        "drawn-scale-in-all-directions",
        PRIOR,
        "d = np.flatnonzero(varies[b])",
        "d = np.arange(len(lengths))",
        "A constant column has no scale.",
        f"{TESTS}::test_a_constant_column_has_no_scale",
    ),
    Mutation(
        "drawn-scale-of-collinear-columns",
        PRIOR,
        "is_free = eigenvalues > _SMALLEST_EIGENVALUE",
        "is_free = eigenvalues > 0.0",
        "A direction in which nothing varies has no scale.",
        f"{TESTS}::test_directions_in_which_nothing_varies_stay",
    ),
    Mutation(
        "drawn-scale-density-without-the-trace",
        PRIOR,
        "0.5 * n * (log_ratios - traces + n * np.log(0.5 * n))",
        "0.5 * n * (log_ratios + n * np.log(0.5 * n))",
        "The density of a Wishart matrix.",
        f"{TESTS}::test_the_log_evidence_has_the_density_of_the_scale[full]",
    ),
    Mutation(
        "drawn-scale-of-the-first-degrees-of-freedom",
        PRIOR,
        "            roots=math.sqrt(ratio) * self.roots,",
        "            roots=self.roots,",
        "The prior mean of S is proportional to nu - W - 1.",
        f"{TESTS}::test_degrees_of_freedom_of_one_column",
    ),
    Mutation(
        "drawn-scale-density-of-the-first-degrees-of-freedom",
        PRIOR,
        "            inverses=self.inverses / ratio,",
        "            inverses=self.inverses,",
        "The prior mean of S is proportional to nu - W - 1.",
        f"{TESTS}::test_degrees_of_freedom_are_in_the_log_evidence",
    ),
    Mutation(
        "scale-of-few-rows-not-drawn",
        PRIOR,
        "    return n_rows < _VERY_FEW_ROWS * width",
        "    return False",
        "With many degrees of freedom, a scale that follows few rows hides states.",
        "tests/unit/sequence/hmm/test_initial_split_merge.py::"
        "TestThreeStepsPerColumn::test_scale_is_drawn[30]",
    ),
    Mutation(
        "gaussian-degrees-of-freedom-with-the-same-scale",
        PRIOR,
        "scale=(dof - least) / (self.dof - least) * self.scale)",
        "scale=self.scale)",
        "S / (nu - W - 1), the prior mean of a covariance, stays.",
        f"{TESTS}::test_degrees_of_freedom_of_one_column",
    ),
]
