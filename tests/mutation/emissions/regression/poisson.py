"""Wrong patches: regression, poisson."""

from mutation.mutation import Mutation

POISSON = "emissions/_regression/_poisson.py"
TESTS = "tests/exact/emissions/test_poisson_regression.py"

MUTATIONS = [
    Mutation(
        "poisson-draws-around-stale-modes",
        POISSON,
        "        elif not np.array_equal(states, self._states):\n"
        "            self.condition(states)\n",
        "",
        "After a move, modes and curvatures are others.",
        f"{TESTS}::test_draws_after_a_move_of_states",
    ),
    Mutation(
        "poisson-coordinates-forget-coefficients",
        POISSON,
        "        if are_drawn:\n            self._first",
        "        if False:\n            self._first",
        "The coordinates of first steps follow from the coefficients.",
        f"{TESTS}::test_posterior_of_coefficients[0]",
    ),
    Mutation(
        "poisson-weights-without-reference",
        POISSON,
        " + 0.5 * (normals**2).sum()",
        "",
        "A weight is a ratio to the Gaussian approximation.",
        f"{TESTS}::test_mean_weights_are_evidences",
    ),
    Mutation(
        "poisson-moves-by-laplace",
        POISSON,
        "        normals, coefs, logs = self._find_normals(), np",
        "        normals, coefs, logs = np.zeros(self.means.shape), np",
        "Moves by Laplace's approximation are not exact.",
        f"{TESTS}::test_weights_at_the_drawn_coefficients",
    ),
    Mutation(
        "poisson-evidence-without-determinant",
        POISSON,
        "float(self._logs.sum() - self._log_determinant())",
        "float(self._logs.sum())",
        "Coefficients are integrated out, not maximized.",
        f"{TESTS}::test_evidence_by_laplace",
    ),
    Mutation(
        "poisson-means-of-log-rates",
        POISSON,
        " + 0.5 * self._find_variances(rows)",
        "",
        "The mean of a rate is larger than the rate at the mean.",
        f"{TESTS}::test_model_averages_over_gaussian_coefficients",
    ),
    Mutation(
        "poisson-targets-without-deviation",
        POISSON,
        "        logs += deviations * rng.normal(size=logs.shape)\n",
        "",
        "Targets follow the predictive distribution.",
        f"{TESTS}::test_draws_of_targets_follow_their_probabilities",
    ),
    Mutation(
        "poisson-constants-of-zeros",
        POISSON,
        "as_rows(np.where(targets > 0.0, constants, 0.0))",
        "as_rows(np.where(targets >= 0.0, constants, 0.0))",
        "log p(0) is minus the rate.",
        f"{TESTS}::test_means_of_poisson_probabilities[1.0]",
    ),
]
