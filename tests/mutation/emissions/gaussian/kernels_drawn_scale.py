"""Wrong patches: gaussian, kernels drawn scale."""

from mutation.mutation import Mutation

KERNELS = "emissions/_gaussian/_kernels_drawn_scale.py"
TESTS = "tests/exact/emissions/test_drawn_scale.py"

MUTATIONS = [
    Mutation(
        "drawn-scale-without-a-state",
        KERNELS,
        "        freedom = float(n_free[b])\n",
        "        freedom = float(n_free[b]) - dof\n",
        "Each covariance adds its degrees of freedom.",
        f"{TESTS}::test_one_column[full]",
    ),
    Mutation(
        "drawn-scale-of-the-prior-covariances",
        KERNELS,
        "factor, width, dof + counts[k], bartlett",
        "factor, width, dof, bartlett",
        "Covariances are drawn given the observations.",
        f"{TESTS}::test_one_column[full]",
    ),
    Mutation(
        "drawn-scale-of-one-dimension",
        KERNELS,
        "factor[i, j] = float(n) if i == j else 0.0",
        "factor[i, j] = 1.0 if i == j else 0.0",
        "E[Q] = I for any number of columns.",
        f"{TESTS}::test_given_the_covariances[full]",
    ),
    Mutation(
        "drawn-scale-without-end",
        KERNELS,
        "if sum_inverse_squares(precision_factor, n, factor) * LOWEST > n:",
        "if False:",
        "Rows that are equal in each state would pull it to 0.",
        f"{TESTS}::test_the_scale_stays_above_its_bound",
    ),
    Mutation(
        "drawn-scale-moves-without-empty-states",
        KERNELS,
        "        freedom = n_free[b] + dof * (n_components // n_blocks)\n",
        "        freedom = n_free[b] + dof * (n_components // n_blocks - 1)\n",
        "Given all covariances, those of empty states count, too.",
        f"{TESTS}::test_given_the_covariances[diag]",
    ),
]
