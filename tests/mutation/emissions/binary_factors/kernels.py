"""Wrong patches: binary factors, kernels."""

from mutation.mutation import Mutation

FACTORS = "emissions/_binary_factors/_kernels.py"
VECTORS = "tests/exact/emissions/test_factor_vectors.py"
BUFFET = "tests/exact/emissions/test_factor_buffet.py::test_factors"
WEIGHTS = "tests/exact/emissions/test_factor_weights.py"

MUTATIONS = [
    Mutation(
        "buffet-swap-of-a-single",
        FACTORS,
        "if prior_on + min(others_f, others_g) == 0.0:",
        "if prior_on + others_g == 0.0:",
        "A swap must not drop a factor that no other state has.",
        f"{BUFFET}[three states]",
    ),
    Mutation(
        "factors-half-shift",
        FACTORS,
        "(means[d] - fit[d] - 0.5 * shift[d])",
        "(means[d] - fit[d] - shift[d])",
        "The square of the weight counts half; the papers' (86), (1.112).",
        f"{VECTORS}::test_vectors[normal]",
    ),
    Mutation(
        "factors-own-bit-counted",
        FACTORS,
        "others_on = n_on[f] - (spin > 0.0)",
        "others_on = n_on[f]",
        "A bit does not support itself.",
        f"{VECTORS}::test_vectors[normal]",
    ),
    Mutation(
        "factors-swap-uncoupled",
        FACTORS,
        "                gain += weigh_change(links, spins, j, 2.0, decay)\n",
        "",
        "A swap changes similarities, too.",
        f"{VECTORS}::test_vectors[coupled, three factors]",
    ),
    Mutation(
        "factors-idle-always-kept",
        FACTORS,
        "            if next_double(rng) < math.exp(min(gain, 0.0)):\n                for b in",
        "            if True:\n                for b in",
        "Bits of states without data enter the normalizers of transitions.",
        f"{VECTORS}::test_vectors[coupled, two idle states]",
    ),
    Mutation(
        "factors-noise-not-halved",
        FACTORS,
        "shape + 0.5 * seen[d]",
        "shape + seen[d]",
        "A value adds one half to the shape of the precision.",
        f"{WEIGHTS}::test_weights_and_noise",
    ),
    Mutation(
        "factors-weights-without-noise",
        FACTORS,
        "n = precisions[d] * counts[j, d]\n",
        "n = counts[j, d]\n",
        "The papers' (1.122), (1.137): the noise divides theta'theta.",
        f"{WEIGHTS}::test_weights_and_noise",
    ),
    Mutation(
        "factors-latent-sign",
        FACTORS,
        "totals[j, d] -= draw_normal_above(center, rng)",
        "totals[j, d] -= draw_normal_above(-center, rng)",
        "Where a value is 0 the latent normal is below 0.",
        f"{WEIGHTS}::test_probit_weights",
    ),
    Mutation(
        "factors-latent-tail",
        FACTORS,
        "if 0.5 * (x - rate) ** 2 < draw_exponential(rng)",
        "if 0.5 * (x - bound) ** 2 < draw_exponential(rng)",
        "The ratio of the densities peaks at the rate.",
        f"{WEIGHTS}::test_normal_above[0.6]",
    ),
]
