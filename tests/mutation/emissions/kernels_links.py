"""Wrong patches: kernels links."""

from mutation.mutation import Mutation

LINKS = "emissions/_kernels_links.py"
VECTORS = "tests/exact/emissions/test_factor_vectors.py"
LINK_TESTS = "tests/exact/emissions/test_factor_links.py"

MUTATIONS = [
    Mutation(
        "laplacian-moves-one-way",
        LINKS,
        "counts[j, k] + counts[k, j]",
        "2 * counts[j, k]",
        "Moves into a state count as those out of it.",
        f"{VECTORS}::test_vectors[coupled]",
    ),
    Mutation(
        "laplacian-own-row-forgotten",
        LINKS,
        "    if links.left[j] > 0.0:\n        steps[j]",
        "    if False:\n        steps[j]",
        "A vector changes the normalizer of its own row.",
        f"{VECTORS}::test_vectors[coupled]",
    ),
    Mutation(
        "laplacian-totals-stay",
        LINKS,
        "            links.log_totals[i] += links.steps[i]\n    for k",
        "            links.log_totals[i] += 0.0\n    for k",
        "Normalizers follow the changes that are kept.",
        f"{VECTORS}::test_vectors[coupled]",
    ),
    Mutation(
        "laplacian-column-forgotten",
        LINKS,
        "steps[i] = small_log_1p(terms[i] * (growth[i] - 1.0))",
        "steps[i] = 0.0",
        "A vector changes the normalizers of other rows, where the change is small, too.",
        f"{LINK_TESTS}::test_change_of_a_vector[0.3-30.0]",
    ),
]
