"""Wrong patches of top-level weights."""

from mutation.mutation import Mutation

BOUND_TESTS = "tests/exact/grammar/test_hdp_pcfg.py"
TOP_TESTS = "tests/exact/grammar/test_top_weights.py"

TOP = "grammar/_top_weights.py"


def _bound(case: str) -> str:
    """Return the test of the bound three iterations after a start."""
    return f"{BOUND_TESTS}::test_lower_bound[3-{case}]"


GIBBS_TESTS = "tests/exact/grammar/test_gibbs.py"
GEM = f"{GIBBS_TESTS}::test_posterior[GEM]"

MUTATIONS = [
    Mutation(
        "grammar-rules-without-beta",
        TOP,
        "        return self.concentration * np.outer(weights[self.left], weights[self.right])",
        "        shape = len(weights[self.left]), len(weights[self.right])\n"
        "        return np.full(shape, self.concentration / (shape[0] * shape[1]))",
        "Erratum C1: the base measure of the binary rules is beta beta'.",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-root-without-beta",
        TOP,
        "            return self.concentration * weights[self.left]",
        "            return np.full(len(weights[self.left]), self.concentration)",
        "Erratum C7: the root's distribution has the base measure beta.",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-gem-without-last-tail",
        TOP,
        "(gamma - 1.0) * logs[-1] - logs[:-1].sum()",
        "-logs[:-1].sum()",
        "Beta(1, gamma) densities leave (gamma - 1) log T_K.",
        f"{TOP_TESTS}::test_density",
    ),
    Mutation(
        "grammar-gem-without-jacobian",
        TOP,
        "(gamma - 1.0) * logs[-1] - logs[:-1].sum()",
        "(gamma - 1.0) * logs[-1]",
        "The Jacobian of the sticks is the product of 1 / T_z.",
        f"{TOP_TESTS}::test_density",
    ),
    Mutation(
        "grammar-gem-without-constant",
        TOP,
        "float((n - 1) * np.log(gamma) + ",
        "float(",
        "A density integrates to 1.",
        f"{TOP_TESTS}::test_density_integrates_to_one",
    ),
    Mutation(
        "grammar-gem-slope-of-last-tail",
        TOP,
        "        slopes[-1] *= 1.0 - gamma",
        "        slopes[-1] = 0.0",
        "(48)-(49): the last tail has the factor gamma - 1.",
        f"{TOP_TESTS}::test_gradient[plain, GEM]",
    ),
    Mutation(
        "grammar-dirichlet-shared-out",
        TOP,
        "        shape = gamma / n\n",
        "        shape = gamma\n",
        "Dirichlet(gamma / K), A.3.3.",
        f"{TOP_TESTS}::test_density",
    ),
    Mutation(
        "grammar-dirichlet-slope",
        TOP,
        "np.asarray((gamma / n - 1.0) / beta)",
        "np.asarray((gamma - 1.0) / beta)",
        "The slope of Dirichlet(gamma / K).",
        f"{TOP_TESTS}::test_gradient[plain, Dirichlet]",
    ),
    Mutation(
        "grammar-slopes-of-one-child",
        TOP,
        "            slopes[family.right] = slopes[family.right] + cells.T @ weights[family.left]",
        "            slopes[family.left] = slopes[family.left] + cells @ weights[family.right]",
        "Erratum C10: PC and CP are linear in each of the two betas.",
        f"{TOP_TESTS}::test_gradient[partitioned, GEM]",
    ),
    Mutation(
        "grammar-slopes-of-the-counts",
        TOP,
        "np.sum(psi(base + family.counts) - psi(base), axis=0)",
        "np.sum(psi(base + family.counts), axis=0)",
        "(52)-(54): the normalizer depends on beta.",
        f"{TOP_TESTS}::test_gradient[plain, GEM]",
    ),
    Mutation(
        "grammar-sticks-passed-by-themselves",
        TOP,
        "np.cumsum(orders[::-1])[::-1][1:]",
        "np.cumsum(orders[::-1])[::-1][:-1]",
        "A stick is passed by what comes after it.",
        GEM,
    ),
]
