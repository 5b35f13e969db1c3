"""Wrong patches of the top level of a hierarchical Dirichlet process."""

from mutation.mutation import Mutation

TOP = "processes/_kernels_top_level.py"
EXACT = "tests/exact/topics/test_hdp_topic_model.py"
MANY = "tests/unit/processes/test_kernels_top_level.py::test_tables_of_many_customers"

SEED_TESTS = "tests/exact/topics/test_seed_words.py"

MUTATIONS = [
    Mutation(
        "top-level-shares-of-another-concentration",
        TOP,
        "    log_left = math.log(next_open_double(rng)) / gamma\n",
        "    log_left = math.log(next_open_double(rng))\n",
        "A new dish takes a Beta(1, gamma) share of beta_u.",
        f"{EXACT}::test_sweeps_that_stop_for_room",
    ),
    Mutation(
        "top-level-rest-without-gamma",
        TOP,
        "    largest = log_rest = draw_log_gamma(gamma, rng)\n",
        "    largest = log_rest = draw_log_gamma(1.0, rng)\n",
        "beta_u has the shape gamma.",
        f"{EXACT}::test_partitions[words]",
    ),
    Mutation(
        "top-level-density-without-weights",
        TOP,
        "    return float(result - np.log(weights[n_given:]).sum())\n",
        "    return float(result)\n",
        "The density of beta falls as 1 / beta_k.",
        f"{EXACT}::test_log_joint[two]",
    ),
    Mutation(
        "top-level-tables-jump-too-far",
        TOP,
        "math.exp(draw_exponential(rng) / concentration)",
        "math.exp(draw_exponential(rng))",
        "From one table to the next, beyond the first thousand customers.",
        f"{MANY}[5000-0.3]",
    ),
    Mutation(
        "top-level-density-of-given-dishes",
        "processes/_kernels_top_level.py",
        "    result = (len(weights) - n_given) * math.log(gamma)",
        "    result = len(weights) * math.log(gamma)",
        "The density has a factor gamma for each dish that is not given.",
        f"{SEED_TESTS}::test_log_joint_of_hdp",
    ),
    Mutation(
        "top-level-density-without-a-constant-of-given-dishes",
        "processes/_kernels_top_level.py",
        "        result += math.lgamma(gamma + n_given) - math.lgamma(gamma)\n",
        "        pass\n",
        "The density of Dirichlet(1, ..., 1, gamma) has a factor (gamma)_G.",
        f"{SEED_TESTS}::test_log_joint_of_hdp",
    ),
]
