"""The density of beta, L(beta) and its gradient, against their definitions."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from exact.grammar.fitted import CASES, betas_of, count_of, model_of
from exact.oracles import hdp_pcfg as oracle
from numpy.testing import assert_allclose
from scipy.special import expit

from skdp.grammar import HDPPCFG
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._variational import RuleCounts, VariationalGrammar
from skdp.grammar._top_weights import TopPrior, gradient, log_joint

PRIORS = [TopPrior(kind, gamma) for kind in ("gem", "dirichlet") for gamma in (0.6, 1.0, 2.5)]
DENSITIES = {"gem": oracle.log_gem, "dirichlet": oracle.log_symmetric}

every_prior = pytest.mark.parametrize("prior", PRIORS, ids=lambda p: f"{p.kind} {p.concentration}")


@every_prior
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_density(prior, n):
    rng = np.random.default_rng(0)
    for _ in range(5):
        beta = rng.dirichlet(np.ones(n))
        expected = DENSITIES[prior.kind](beta, prior.concentration)
        assert_allclose(prior.log_density(beta), expected, rtol=1e-10, atol=1e-10)


@every_prior
@pytest.mark.parametrize("n", [2, 3])
def test_density_integrates_to_one(prior, n):
    """By trapezoids in the logits of the sticks."""
    logits = np.arange(-85.0, 86.0)  # the smallest shape is .2: e^-17 lies beyond
    total = 0.0
    for chosen in product(logits, repeat=n - 1):
        taken, left = expit(chosen), expit(np.negative(chosen))
        tails = np.cumprod([1.0, *left])
        beta = tails * [*taken, 1.0]
        slope = np.prod(taken * left * tails[:-1])
        if beta.min() > 0.0:
            total += np.exp(prior.log_density(beta)) * slope
    assert_allclose(total, 1.0, atol=1e-5)


@every_prior
def test_order_of_symbols(prior):
    """It never lowers the density."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        beta = rng.dirichlet(np.ones(4))
        order = prior.best_order(beta)
        assert sorted(order) == list(range(4))
        assert prior.log_density(beta[order]) >= prior.log_density(beta) - 1e-12


class Setting:
    """A grammar with drawn counts, one of its rows empty, and the oracle's view of it."""

    def __init__(self, case: str, seed: int = 0):
        rng = np.random.default_rng(seed)
        n_preterminals = CASES[case].get("n_preterminals") and 3
        estimator = HDPPCFG(**{**CASES[case], "n_components": 4, "n_preterminals": n_preterminals})
        layout = GrammarLayout(3, 4, n_preterminals)
        n = layout.n_symbols
        binary = rng.gamma(0.5, 2.0, (4, n, n))
        binary[2] = 0.0
        counts = RuleCounts(
            rng.gamma(1.0, 1.0, n), rng.gamma(1.0, 1.0, (layout.n_emitting, 3)), binary
        )
        self.weights = [
            rng.dirichlet(np.full(place.stop - place.start, 2.0)) for place in layout.inventories
        ]
        self.prior = estimator._priors(layout).top
        grammar = VariationalGrammar(layout, estimator._priors(layout), self.weights, counts)
        self.families = grammar.families()
        self.grammar = grammar
        estimator.n_words_ = 3
        self.model = model_of(estimator)
        estimator.top_weights_ = np.concatenate(self.weights)
        assert len(betas_of(estimator)) == len(self.weights)

    def expected(self, weights) -> float:
        """Return L(beta) of the definition, with all rows that beta is in integrated out."""
        rows = self.model.rows(weights)
        uses: Counter = Counter()
        for row, outcomes in rows.items():
            for outcome in outcomes:
                if row[0] not in ("kind", "type", "emission"):
                    uses[row, outcome] = count_of(self.model, self.grammar.counts, row, outcome)
        return self.model.log_top_density(weights) + oracle.log_evidence_of_counts(uses, rows)


every_case = pytest.mark.parametrize(
    "case", [name for name in CASES if name not in ("three symbols, GEM", "uneven, GEM")]
)


@every_case
def test_log_joint(case):
    """All but a constant."""
    setting, rng = Setting(case), np.random.default_rng(1)
    gaps = []
    for _ in range(4):
        weights = [rng.dirichlet(np.ones(len(beta))) for beta in setting.weights]
        found = log_joint(setting.prior, setting.families, weights)
        gaps.append(found - setting.expected(weights))
    assert_allclose(gaps, gaps[0], atol=1e-9)


@every_case
@pytest.mark.parametrize("family", range(10))
def test_gradient_of_each_family(case, family):
    """Roots, and PP, PC, CP and CC each, or both sides of each, along the simplex."""
    setting = Setting(case)
    for chosen in setting.families[family : family + 1]:
        check_gradient(setting, [chosen], partial_of=[chosen])


@every_case
def test_gradient(case):
    setting = Setting(case)
    check_gradient(setting, setting.families, partial_of=None)


def check_gradient(setting, families, partial_of):
    rng, step = np.random.default_rng(2), 1e-6
    slopes = gradient(setting.prior, families, setting.weights)
    for i, beta in enumerate(setting.weights):
        for _ in range(5):
            way = rng.standard_normal(len(beta))
            way -= way.mean()
            values = []
            for sign in (1.0, -1.0):
                moved = list(setting.weights)
                moved[i] = beta + sign * step * way
                values.append(
                    setting.expected(moved)
                    if partial_of is None
                    else log_joint(setting.prior, partial_of, moved)
                )
            assert_allclose(
                slopes[i] @ way, (values[0] - values[1]) / (2 * step), rtol=1e-5, atol=1e-6
            )
