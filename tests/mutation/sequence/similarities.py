"""Wrong patches of similarities."""

from mutation.mutation import Mutation

LOCATION_TESTS = "tests/exact/sequence/similarities/test_locations.py"
LINK_TESTS = "tests/exact/emissions/test_factor_links.py"

LAPLACIAN = "sequence/_similarities/_kernels_laplacian.py"
LOCATIONS = "sequence/_similarities/_kernels_locations.py"
SPACE = "sequence/_similarities/_gaussian.py"

MUTATIONS = [
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
        "Every transition is normalised.",
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
