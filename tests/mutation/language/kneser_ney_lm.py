"""Wrong patches of Kneser-Ney smoothing."""

from mutation.mutation import Mutation

TEST = "tests/exact/language/test_kneser_ney_lm.py::test_probabilities"
FILE = "language/_kneser_ney_lm.py"

MUTATIONS = [
    Mutation(
        "kneser-ney-next-count",
        FILE,
        "discounts = k - (k + 1) * share * n[k + 1] / n[k]",
        "discounts = k - k * share * n[k + 1] / n[k]",
        "D_k = k - (k + 1) Y n_{k+1} / n_k.",
        f"{TEST}[modified-60]",
    ),
    Mutation(
        "kneser-ney-share",
        FILE,
        "share = n[1] / (n[1] + 2.0 * n[2])",
        "share = n[1] / (n[1] + n[2])",
        "Y = n_1 / (n_1 + 2 n_2).",
        f"{TEST}[absolute-60]",
    ),
    Mutation(
        "kneser-ney-classes",
        FILE,
        "discounts[m, np.minimum(at_depth, _N_CLASSES) - 1]",
        "discounts[m, np.minimum(at_depth, 2) - 1]",
        "Counts of three and more have a discount of their own.",
        f"{TEST}[modified-60]",
    ),
]
