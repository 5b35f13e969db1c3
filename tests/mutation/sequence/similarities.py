"""Wrong patches of similarities."""

from mutation.mutation import Mutation

LOCATION_TESTS = "tests/exact/sequence/similarities/test_locations.py"
LINK_TESTS = "tests/exact/emissions/test_factor_links.py"

LAPLACIAN = "sequence/_similarities/_kernels_laplacian.py"
LOCATIONS = "sequence/_similarities/_kernels_locations.py"
SPACE = "sequence/_similarities/_gaussian.py"
EMISSION_TESTS = "tests/exact/sequence/similarities/test_emission.py"
UNIT_TESTS = "tests/unit/sequence/similarities/test_emission.py"
IN_SHORT = f"{EMISSION_TESTS}::test_posterior_in_short[bits, far]"
EMISSION = "sequence/_similarities/_emission.py"
EMISSION_KERNELS = "sequence/_similarities/_kernels_emission.py"

MUTATIONS = [
    Mutation(
        "emission-similarity-without-transitions",
        EMISSION_KERNELS,
        "return count * log_similarity - shape",
        "return -shape",
        "Transitions that succeed have the probability phi.",
        IN_SHORT,
    ),
    Mutation(
        "emission-similarity-failures-without-prior",
        EMISSION_KERNELS,
        "return count * log_similarity - shape * log_1p_exp(",
        "return count * log_similarity - count * log_1p_exp(",
        "Rates are summed out: their prior counts, too.",
        IN_SHORT,
    ),
    Mutation(
        "emission-similarity-one-way",
        EMISSION_KERNELS,
        "        if log_times[k] > -math.inf:\n",
        "        if log_times[k] > math.inf:\n",
        "Transitions into a state tell of it as those out of it do.",
        f"{UNIT_TESTS}::test_acceptance_of_all_proposals_is_the_product",
    ),
    Mutation(
        "emission-similarity-others-as-before",
        EMISSION_KERNELS,
        "other = k + n_states * taken[k]",
        "other = k",
        "A state is compared with what the others have become.",
        f"{UNIT_TESTS}::test_acceptance_of_all_proposals_is_the_product",
    ),
    Mutation(
        "emission-similarity-takes-all",
        EMISSION_KERNELS,
        "taken[j] = int(math.log1p(-next_double(rng)) < gain)",
        "taken[j] = int(math.log1p(-next_double(rng)) < gain + 1e9)",
        "The conjugate draw knows nothing of transitions.",
        f"{UNIT_TESTS}::test_states_that_refuse_keep_their_parameters",
    ),
    Mutation(
        "emission-similarity-keeps-what-it-refused",
        EMISSION,
        "_put_back(proposed, before, taken == 0)",
        "_put_back(proposed, before, taken < 0)",
        "Distances and parameters must be of the same draw.",
        f"{UNIT_TESTS}::test_states_that_refuse_keep_their_parameters",
    ),
    Mutation(
        "emission-similarity-squared-hellinger",
        EMISSION,
        "np.sqrt(-np.expm1(logs))",
        "-np.expm1(logs)",
        "The distance is the root of 1 - BC.",
        f"{UNIT_TESTS}::test_similarity_is_that_of_the_drawn_parameters[hellinger]",
    ),
    Mutation(
        "emission-similarity-decay-without-jacobian",
        EMISSION,
        "return result + shape * log_decay - rate * decay",
        "return result + (shape - 1.0) * log_decay - rate * decay",
        "The slice is that of log lambda.",
        f"{EMISSION_TESTS}::test_posterior_in_short[bits]",
    ),
    Mutation(
        "emission-similarity-concentration-with-all",
        EMISSION,
        "was_frozen, emission.held = emission.held, True",
        "was_frozen = emission.held",
        "With theta summed out the concentration is drawn only where theta is accepted with it.",
        f"{UNIT_TESTS}::test_held_concentrations_stay",
    ),
    Mutation(
        "emission-similarity-shared-always",
        EMISSION,
        "self.shared_acceptance = float(math.log1p(-next_double(rng)) < gain)",
        "self.shared_acceptance = 1.0",
        "A new concentration moves theta, and with it phi.",
        f"{UNIT_TESTS}::test_a_refused_move_of_the_concentration_changes_nothing",
    ),
    Mutation(
        "laplacian-decay-without-jacobian",
        LAPLACIAN,
        "result = shape * log_decay - decay",
        "result = (shape - 1.0) * log_decay - decay",
        "The slice is that of log lambda.",
        f"{LINK_TESTS}::test_decay[coupled-prior0]",
    ),
    Mutation(
        "laplacian-decay-counts-rows-once",
        LAPLACIAN,
        "result -= left[b] * (largest + math.log(total))",
        "result -= largest + math.log(total)",
        "Every transition is normalized.",
        f"{LINK_TESTS}::test_decay[coupled-prior0]",
    ),
    Mutation(
        "locations-gradient-one-way",
        LOCATIONS,
        "            gradient[d, rows[v]] += pulls[d, v]",
        "            gradient[d, rows[v]] += 0.0 * pulls[d, v]",
        "Erratum 4: transitions in both directions.",
        f"{LOCATION_TESTS}::test_gradient[7-1.0]",
    ),
    Mutation(
        "locations-gradient-without-prior",
        LOCATIONS,
        "_product_of_differences(share, source, x) - x\n",
        "_product_of_differences(share, source, x)\n",
        "Erratum 4: the prior's part of the gradient.",
        f"{LOCATION_TESTS}::test_gradient[2-1.0]",
    ),
    Mutation(
        "locations-whole-squares",
        LOCATIONS,
        "half[v] += 0.5 * (source[v] - x)",
        "half[v] += (source[v] - x)",
        "Erratum 4: exp(-lambda d^2 / 2).",
        f"{LOCATION_TESTS}::test_log_posterior[1.0]",
    ),
    Mutation(
        "locations-accepted-without-prior",
        LOCATIONS,
        "        after -= 0.5 * sum_of_squares(proposal)\n",
        "        after -= 0.5 * sum_of_squares(locations)\n",
        "The prior of the locations is part of the energy.",
        f"{LOCATION_TESTS}::test_posterior[two, fixed]",
    ),
    Mutation(
        "locations-decay-without-jacobian",
        SPACE,
        "result + shape * log_decay - rate * decay",
        "result + (shape - 1.0) * log_decay - rate * decay",
        "The slice is that of log lambda.",
        f"{LOCATION_TESTS}::test_posterior[two]",
    ),
    Mutation(
        "locations-scale-without-jacobian",
        SPACE,
        "exponent = shape - 0.5 * self.locations.size",
        "exponent = shape",
        "Locations shrink as the decay grows: so does a volume of them.",
        f"{LOCATION_TESTS}::test_posterior[two]",
    ),
    Mutation(
        "locations-scale-without-their-prior",
        SPACE,
        "exponent * log_decay - 0.5 * squares / decay - rate * decay",
        "exponent * log_decay - 0.5 * squares - rate * decay",
        "The scale of locations is that of their prior.",
        f"{LOCATION_TESTS}::test_posterior[two]",
    ),
    Mutation(
        "locations-held-decay-drawn",
        SPACE,
        "if self.fixed_decay is None and not hold:",
        "if self.fixed_decay is None:",
        "While states follow each other at random they say that no similarity matters.",
        "tests/unit/sequence/similarities/test_gaussian.py::test_held_decay_stays",
    ),
]
