"""Wrong patches: gaussian, sampler."""

from mutation.mutation import Mutation

GAUSSIAN_SAMPLER = "emissions/_gaussian/_sampler.py"
DRAWN_SCALE = "tests/exact/emissions/test_drawn_scale.py"
PREDICTIVES = "tests/exact/emissions/test_predictives.py"

MUTATIONS = [
    Mutation(
        "moves-missing-values-twice",
        "emissions/_gaussian/_sampler.py",
        "        if self._filled is None:\n            self.complete(states, rng)",
        "        self.complete(states, rng)",
        "Parameters of before a move say nothing of what is missing after it.",
        "tests/unit/emissions/test_gaussian.py::test_parameters_are_drawn_given_completed_values",
    ),
    Mutation(
        "predictive-without-the-means-error",
        GAUSSIAN_SAMPLER,
        "divisors / freedoms * (1.0 + 1.0 / (precision + self.counts))",
        "divisors / freedoms",
        "The mean of a state is known from n observations only.",
        f"{PREDICTIVES}::test_full_covariances[2-1.5]",
    ),
    Mutation(
        "predictive-freedom-of-the-prior",
        GAUSSIAN_SAMPLER,
        "freedoms = dofs - (width - 1.0)",
        "freedoms = dofs",
        "Each column takes a degree of freedom.",
        f"{PREDICTIVES}::test_full_covariances[2-1.5]",
    ),
    Mutation(
        "gaussian-posterior-of-covariances",
        "emissions/_gaussian/_sampler.py",
        "logs += (dofs - width - 1.0) * log_dets",
        "logs += (dofs - width) * log_dets",
        "The Wishart density of Sigma^-1.",
        "tests/exact/emissions/test_comparable.py::test_log_posterior_is_what_bayes_says[full]",
    ),
    Mutation(
        "gaussian-degrees-of-freedom-without-the-determinants",
        GAUSSIAN_SAMPLER,
        "(dof - width - 1.0) * self.log_dets.sum() - 0.5 * traces",
        "-0.5 * traces",
        "The Wishart density of Sigma^-1.",
        f"{DRAWN_SCALE}::test_degrees_of_freedom_given_the_covariances",
    ),
    Mutation(
        "gaussian-degrees-of-freedom-without-weights",
        GAUSSIAN_SAMPLER,
        "evidence_of_gaussians(*statistics, *prior, *scratch)",
        "evidence_of_gaussians(*statistics[:1], statistics[0], *statistics[2:], *prior, *scratch)",
        "Student t steps count by their weights.",
        f"{DRAWN_SCALE}::test_degrees_of_freedom_of_two_columns[student t]",
    ),
    Mutation(
        "gaussian-degrees-of-freedom-are-certain",
        GAUSSIAN_SAMPLER,
        "            result -= math.log(len(self.scale_prior.freedoms))\n",
        "",
        "Each of five values has a fifth of the prior probability.",
        f"{DRAWN_SCALE}::test_degrees_of_freedom_are_in_the_log_evidence",
    ),
]
