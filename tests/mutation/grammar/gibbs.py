"""Wrong patches of the Gibbs sampler of grammars, and of independent children."""

from mutation.mutation import Mutation

GIBBS_TESTS = "tests/exact/grammar/test_gibbs.py"
BOUND_TESTS = "tests/exact/grammar/test_hdp_pcfg.py"

DIRICHLET = "grammar/_dirichlet.py"
GIBBS = "grammar/_induction/_gibbs.py"
TOP_WEIGHTS = "grammar/_top_weights.py"
VARIATIONAL = "grammar/_induction/_variational.py"

GEM = f"{GIBBS_TESTS}::test_posterior[GEM]"
BINARY = f"{GIBBS_TESTS}::test_posterior[binary learnt, beta known]"

MUTATIONS = [
    Mutation(
        "grammar-tables-order-no-left-child",
        GIBBS,
        "            orders[family.left] += m.sum(axis=(0, 2))",
        "            pass",
        "A table orders two symbols from the top.",
        GEM,
    ),
    Mutation(
        "grammar-tables-order-no-right-child",
        GIBBS,
        "            orders[family.right] += m.sum(axis=(0, 1))",
        "            pass",
        "A table orders two symbols from the top.",
        GEM,
    ),
    Mutation(
        "grammar-roots-order-nothing",
        GIBBS,
        "            orders[family.left] += m.sum(axis=0)",
        "            pass",
        "The root's row has a prior made of beta, too.",
        GEM,
    ),
    Mutation(
        "grammar-antoniak-without-beta",
        DIRICHLET,
        "np.broadcast_to(prior, rows.shape)",
        "np.broadcast_to(prior.sum(), rows.shape)",
        "The parameter is alpha beta_l beta_r.",
        BINARY,
    ),
    Mutation(
        "grammar-sticks-passed-by-themselves",
        TOP_WEIGHTS,
        "np.cumsum(orders[::-1])[::-1][1:]",
        "np.cumsum(orders[::-1])[::-1][:-1]",
        "A stick is passed by what comes after it.",
        GEM,
    ),
    Mutation(
        "grammar-rules-of-the-prior",
        VARIATIONAL,
        "partial(draw_log, rng=rng)",
        "lambda prior, counts: draw_log(prior, 0.5 * counts, rng)",
        "Rules are drawn given the trees.",
        GEM,
    ),
    Mutation(
        "grammar-binary-concentration-of-roots",
        GIBBS,
        "draw(families[i : i + n], tables[i : i + n], old, self.learnt.binary)",
        "draw(families[:1], tables[:1], old, self.learnt.binary)",
        "The rows of binary rules tell of their concentration.",
        BINARY,
    ),
    Mutation(
        "grammar-top-concentration-without-jacobian",
        GIBBS,
        "+ shape * log_gamma",
        "+ (shape - 1.0) * log_gamma",
        "The slice is of the logarithm.",
        f"{GIBBS_TESTS}::test_posterior_of_more[top learnt, GEM]",
    ),
    Mutation(
        "grammar-independent-children-swapped",
        VARIATIONAL,
        "rules = join(rules[:, :, None], next(found)[:, None, :])",
        "rules = join(next(found)[:, :, None], rules[:, None, :])",
        "Section 2.3: the left child has the first row.",
        f"{BOUND_TESTS}::test_lower_bound[3-independent]",
    ),
]
