"""Wrong patches of Dirichlet distributions of rules."""

from mutation.mutation import Mutation

BOUND_TESTS = "tests/exact/grammar/test_hdp_pcfg.py"
PREDICTION_TESTS = "tests/exact/grammar/test_predictions.py"

DIRICHLET = "grammar/_dirichlet.py"


def _bound(case: str) -> str:
    """Return the test of the bound three iterations after a start."""
    return f"{BOUND_TESTS}::test_lower_bound[3-{case}]"


GIBBS_TESTS = "tests/exact/grammar/test_gibbs.py"
BINARY = f"{GIBBS_TESTS}::test_posterior[binary learned, beta known]"

MUTATIONS = [
    Mutation(
        "grammar-exponent-of-the-posterior",
        DIRICHLET,
        "    posterior = prior + rows\n    logs",
        "    posterior = prior + rows + 1.0\n    logs",
        "Erratum C2, (38)-(41): the exponent is alpha - 1 + C.",
        f"{BOUND_TESTS}::test_weights_of_the_trees[plain, GEM]",
    ),
    Mutation(
        "grammar-mean-without-the-prior",
        DIRICHLET,
        "    posterior = prior + rows\n    return (",
        "    posterior = 1e-9 * prior + rows\n    return (",
        "E phi counts the prior.",
        f"{PREDICTION_TESTS}::test_scores_and_shares[plain, GEM]",
    ),
    Mutation(
        "grammar-weights-of-the-mean",
        DIRICHLET,
        "    logs = psi(posterior) - psi(posterior.sum(axis=1, keepdims=True))",
        "    logs = np.log(posterior) - np.log(posterior.sum(axis=1, keepdims=True))",
        "E log phi, not log E phi (36).",
        f"{BOUND_TESTS}::test_weights_of_the_trees[plain, GEM]",
    ),
    Mutation(
        "grammar-bound-without-expected-logs",
        DIRICHLET,
        "log_evidence(prior, counts) - float(np.sum(counts * expected_log(prior, counts)))",
        "log_evidence(prior, counts)",
        "A divergence, not an evidence.",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-bound-without-normalizer",
        DIRICHLET,
        "np.sum(gammaln(total) - gammaln(total + rows.sum(axis=1)))",
        "0.0",
        "The normalizers of the rows are part of their divergence.",
        _bound("plain, GEM"),
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
        "expected-probability-per-rule",
        "grammar/_dirichlet.py",
        "    result = np.sum(gammaln(before + added) - gammaln(before))",
        "    result = np.sum(added * np.log(before))",
        "A rule used twice has the expected square of its probability, not the square of its mean.",
        "tests/exact/grammar/test_predictions.py::test_expected_probabilities[uniform]",
    ),
]
