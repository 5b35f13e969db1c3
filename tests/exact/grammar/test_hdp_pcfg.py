"""The lower bound of HDPPCFG, its coordinates and its predictions, against all trees."""

from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pytest
from exact.grammar import fitted
from exact.oracles import hdp_pcfg as oracle
from numpy.testing import assert_allclose
from scipy.stats import chi2

from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG, ParseTree
from skdp.grammar._chart._ascents import MIN_WEIGHT, TopPrior, gradient, log_joint
from skdp.grammar._chart._paths import SentenceBatches
from skdp.grammar._induction._ascent import start_weights
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._partitions import rule_counts
from skdp.grammar._induction._variational import MaximumLikelihoodGrammar, VariationalGrammar

every_case = pytest.mark.parametrize("case", fitted.CASES)

SLACK = 1e-7
"""What the last iteration may leave: each stops when it gains about 1e-9 of the bound."""

KNOWN_BRACKETS = [[(0, 2)], [], [(0, 1)], [(1, 4)], None]


def posteriors(model, rows_of_logs, corpus, brackets=None):
    """Return the trees of each sentence that have its brackets, their shares and the log sum."""
    pairs = zip(corpus, brackets or [None] * len(corpus), strict=True)
    return [oracle.sentence_posterior(model, x, rows_of_logs, known or ()) for x, known in pairs]


# Mean field


def assert_same_counts(estimator, expected):
    found = fitted.uses_of(fitted.model_of(estimator), estimator._grammar.counts)
    assert found.keys() >= expected.keys()
    for event, n in found.items():
        assert_allclose(n, expected[event], atol=1e-5)


@every_case
@pytest.mark.parametrize("max_iter", [3, 1000])
def test_lower_bound(case, max_iter):
    """Term by term from q, before convergence and at it, where counts are those of all trees."""
    estimator = fitted.fit(case, max_iter)
    model, rules = fitted.model_of(estimator), fitted.posterior_of(estimator)
    corpus = fitted.sentences_for(case)
    trees = posteriors(model, oracle.expected_logs(rules), corpus)
    expected = oracle.bound(model, corpus, fitted.betas_of(estimator), rules, trees)
    assert_allclose(estimator.lower_bound_, expected, rtol=1e-9, atol=1e-8)  # may be near 0
    if max_iter == 1000:
        assert_same_counts(estimator, oracle.expected_counts(trees))


@every_case
def test_weights_of_the_trees(case):
    """q(z) has the weights exp E log phi of Dir(prior + counts); those of exp(-1e9) are 0."""
    estimator = fitted.fit(case, 3)
    logs = oracle.expected_logs(fitted.posterior_of(estimator))
    expected = [
        sum(max(logs[row][outcome], -1e9) for row, outcome in events)
        for events in fitted.model_of(estimator).events_of_rules()
    ]
    found = fitted.flat(estimator._grammar.weights()[:3])
    assert_allclose(found, np.maximum(expected, -1e9), rtol=1e-12)


@pytest.mark.parametrize("case", ["plain, GEM", "partitioned, Dirichlet"])
def test_bound_given_brackets(case):
    """The bound is that of q(z) over the trees with the brackets, whose counts are those of q."""
    estimator = HDPPCFG(**fitted.CASES[case], max_iter=1000, tol=0.0, random_state=0)
    estimator.fit(fitted.CORPUS, KNOWN_BRACKETS)
    model, rules = fitted.model_of(estimator), fitted.posterior_of(estimator)
    trees = posteriors(model, oracle.expected_logs(rules), fitted.CORPUS, KNOWN_BRACKETS)
    expected = oracle.bound(model, fitted.CORPUS, fitted.betas_of(estimator), rules, trees)
    assert_allclose(estimator.lower_bound_, expected, rtol=1e-9, atol=1e-8)
    assert_same_counts(estimator, oracle.expected_counts(trees))


def moves(betas, rng):
    """Yield weights nearby: others in proportion, and part of the way to somewhere else."""
    for step in (1e-5, 1e-3, 0.05):
        for _ in range(4):
            shares = [(b - MIN_WEIGHT) * np.exp(step * rng.normal(size=len(b))) for b in betas]
            yield [MIN_WEIGHT + (1.0 - len(s) * MIN_WEIGHT) * s / s.sum() for s in shares]
            yield [(1.0 - step) * b + step * rng.dirichlet(np.full(len(b), 0.5)) for b in betas]


@pytest.mark.parametrize("case", [case for case in fitted.CASES if case != "uniform"])
def test_top_weights_are_optimal(case):
    """q(phi) held: at a joint maximum no factor alone can do better."""
    estimator, rng = fitted.fit(case), np.random.default_rng(0)
    model, betas, rules = (
        fitted.model_of(estimator),
        fitted.betas_of(estimator),
        fitted.posterior_of(estimator),
    )
    logs = oracle.expected_logs(rules)

    def part(betas):
        prior = model.rows(betas)
        return model.log_top_density(betas) - sum(
            oracle.divergence(rules[row], prior[row], logs[row]) for row in prior
        )

    best = part(betas)
    for moved in moves(betas, rng):
        if min(map(np.min, moved)) >= MIN_WEIGHT:
            assert part(moved) <= best + SLACK


PRIORS = [TopPrior(kind, gamma) for kind in ("gem", "dirichlet") for gamma in (0.6, 1.0, 2.5)]
DENSITIES = {"gem": oracle.log_gem, "dirichlet": oracle.log_symmetric}


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: f"{p.kind} {p.concentration}")
def test_density_of_top_weights(prior):
    """The order that is best never lowers it."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5) * 5:
        beta = rng.dirichlet(np.ones(n))
        found = prior.log_density(beta)
        expected = DENSITIES[prior.kind](beta, prior.concentration)
        assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        order = prior.best_order(beta)
        assert sorted(order) == list(range(n))
        assert prior.log_density(beta[order]) >= found - 1e-12


def log_joint_of(estimator, betas):
    """Return L(beta) of the definition, with all rows that beta is in integrated out."""
    model = fitted.model_of(estimator)
    uses = fitted.uses_of(model, estimator._grammar.counts)
    of_beta = Counter(
        {e: n for e, n in uses.items() if e[0][0] not in ("kind", "type", "emission")}
    )
    return model.log_top_density(betas) + oracle.log_evidence_of_counts(of_beta, model.rows(betas))


@every_case
def test_log_joint_of_top_weights(case):
    """All but a constant; its slopes along the simplex are those of the definition."""
    estimator, rng, step = fitted.fit(case, 3), np.random.default_rng(1), 1e-6
    prior, families = estimator._grammar.priors.top, estimator._grammar.families()
    sizes = [len(beta) for beta in fitted.betas_of(estimator)]
    gaps = []
    for _ in range(4):
        betas = [rng.dirichlet(np.full(n, 2.0)) for n in sizes]
        gaps.append(log_joint(prior, families, betas) - log_joint_of(estimator, betas))
        slopes = gradient(prior, families, betas)
        for i, beta in enumerate(betas):
            way = rng.standard_normal(len(beta))
            way -= way.mean()
            above, below = (
                log_joint_of(estimator, [*betas[:i], beta + by * way, *betas[i + 1 :]])
                for by in (step, -step)
            )
            difference = (above - below) / (2.0 * step)
            assert_allclose(slopes[i] @ way, difference, rtol=1e-5, atol=1e-6)
    assert_allclose(gaps, gaps[0], atol=1e-9)


def climb(case, grammar, expect, seed):
    """Return the bound after each iteration, whether it rises or falls."""
    layout = layout_of(case)
    types = np.full(layout.n_rule_types, 1.0 / layout.n_rule_types)
    counts, bounds = expect(start_weights(layout, types, np.random.default_rng(seed)))[1], []
    for _ in range(25):
        grammar = grammar.updated(counts)
        log_likelihood, counts = expect(grammar.weights())
        bounds.append(grammar.lower_bound(log_likelihood))
    return np.array(bounds)


def layout_of(case):
    return GrammarLayout(
        3, fitted.CASES[case]["n_components"], fitted.CASES[case].get("n_preterminals")
    )


SENTENCES = TokenSequences.from_sequences(fitted.CORPUS * 3, 3)
expect_all = partial(rule_counts, SENTENCES, np.dtype(np.float64), 1)


@every_case
def test_bound_never_falls(case):
    """Of the iterations themselves: the estimator would stop at the first that falls."""
    layout = layout_of(case)
    grammar = VariationalGrammar(layout, HDPPCFG(**fitted.CASES[case])._priors(layout))
    bounds = climb(case, grammar, expect_all, seed=[*fitted.CASES].index(case) % 3)
    assert np.all(np.diff(bounds) >= -1e-10 * np.abs(bounds[1:]))
    assert bounds[-1] > bounds[0] + 0.1


# Maximum likelihood


@pytest.mark.parametrize(
    ("case", "pseudo_count", "viterbi"),
    [("three symbols, GEM", 0.0, False), ("three symbols, GEM", 0.01, True),
     ("three symbols, GEM", 1.0, False), ("partitioned, GEM", 0.0, True),
     ("partitioned, GEM", 0.01, False), ("partitioned, GEM", 1.0, True)],
)  # fmt: skip
def test_likelihood_never_falls(case, pseudo_count, viterbi):
    layout, expect = layout_of(case), expect_all
    if viterbi:
        expect = partial(rule_counts, SentenceBatches.of(SENTENCES), None, 1)
    for seed in range(3):
        bounds = climb(case, MaximumLikelihoodGrammar(layout, pseudo_count), expect, seed)
        assert np.all(np.diff(bounds) >= -1e-10 * np.abs(bounds[1:]))


@pytest.mark.parametrize(
    ("case", "pseudo_count", "tolerance"),
    [
        ("plain, GEM", 0.2, 1e-4),
        ("partitioned, GEM", 0.0, 0.01),
        pytest.param("partitioned, GEM", 0.2, 1e-4, marks=pytest.mark.slow),
    ],
)
def test_maximum_likelihood(case, pseudo_count, tolerance):
    """A fixed point is a stationary point of the likelihood, of all trees enumerated."""
    parts = {name: fitted.CASES[case].get(name) for name in ("n_components", "n_preterminals")}
    estimator = HDPPCFG(
        **parts, inference="em", pseudo_count=pseudo_count, max_iter=1500, tol=0.0, random_state=3
    ).fit(fitted.CORPUS)
    model, rules = fitted.model_of(estimator), fitted.maximum_of(estimator)

    def penalized(rules):
        """Return the log likelihood, with `pseudo_count` uses of every whole rule and root."""
        value = oracle.log_likelihood(model, fitted.CORPUS, rules)
        uses = Counter(event for events in model.events_of_rules() for event in events)
        for (row, outcome), n in uses.items() if pseudo_count else ():
            value += pseudo_count * n * np.log(rules[row][outcome])
        return value

    best = penalized(rules)
    assert_allclose(best, estimator.lower_bound_, rtol=1e-10)
    step = 1e-4
    for row, outcomes in rules.items():
        for o in outcomes if len(outcomes) > 1 else ():
            slopes = []
            for towards in (step, -step):
                moved = {other: p * (1.0 - towards) for other, p in outcomes.items()}
                moved[o] += towards
                if moved[o] > 0.0:
                    slopes.append((penalized({**rules, row: moved}) - best) / towards)
            if len(slopes) == 2:
                assert abs(np.mean(slopes)) < tolerance
            else:  # at the edge
                assert slopes[0] < tolerance


@pytest.mark.parametrize(
    ("inference", "n_preterminals"), [("em", None), ("viterbi-em", 2), ("viterbi-em", None)]
)
def test_maximum_likelihood_given_brackets(inference, n_preterminals):
    """The maximum is that of the trees with the brackets: of all of them, or of the best."""
    estimator = HDPPCFG(
        2, n_preterminals=n_preterminals, inference=inference, max_iter=50, tol=0.0, random_state=3
    ).fit(fitted.CORPUS, KNOWN_BRACKETS)
    logs = oracle.log_rows(fitted.maximum_of(estimator))
    trees = posteriors(fitted.model_of(estimator), logs, fitted.CORPUS, KNOWN_BRACKETS)
    if inference == "em":
        expected = sum(total for *_, total in trees)
    else:
        expected = sum(np.log(shares.max()) + total for _, shares, total in trees)
    assert_allclose(estimator.lower_bound_, expected, rtol=1e-10)
    assert np.all(np.diff(estimator.lower_bounds_) >= -1e-10)


# Predictions

NEW = [[2], [0, 0], [1, 2, 0], [1, 0, 2, 2], [0, 1, 0]]


def tree_of(parse: ParseTree):
    """Return a tree of the oracle."""
    symbol = parse.label[0], int(parse.label[1:])
    if isinstance(parse.children[0], str):
        return symbol, int(parse.children[0])
    return symbol, *map(tree_of, parse.children)


def new_sentences(case):
    return NEW[:3] if case == "three symbols, GEM" else NEW


METHODS = ["expected-log", "mean"]
METHODS_OF_CASES = [(METHODS[i % 2], case) for i, case in enumerate(fitted.CASES)]


@pytest.mark.parametrize(
    ("method", "case"), [*METHODS_OF_CASES, ("mean", "plain, GEM"), ("mean", "partitioned, GEM")]
)
def test_k_best(case, method):
    """All trees, in order; their probabilities are those of the posterior mean. After one
    iteration, when the two methods disagree on some of the trees."""
    estimator = fitted.fit(case, 1).set_params(predict_method=method)
    model, rules = fitted.model_of(estimator), fitted.posterior_of(estimator)
    means = oracle.log_rows(oracle.means(rules))
    logs = oracle.expected_logs(rules) if method == "expected-log" else means
    sentences = new_sentences(case)
    for k in (1, 3, 10**4):
        found = estimator.k_best(sentences, k)
        for words, ranked, best in zip(sentences, found, estimator.predict(sentences), strict=True):
            assert ranked[0][0] == best
            assert tuple(map(int, best.leaves)) == tuple(words)
            counts = dict(oracle.counted_trees(model, words))
            trees = [tree_of(parse) for parse, _ in ranked]
            assert len(set(trees)) == len(trees) == min(k, len(counts))
            weights = sorted((oracle.log_weight(c, logs) for c in counts.values()), reverse=True)
            ranks = [oracle.log_weight(counts[t], logs) for t in trees]
            assert_allclose(ranks, weights[:k], rtol=1e-12)
            expected = [oracle.log_weight(counts[t], means) for t in trees]
            assert_allclose([log_prob for _, log_prob in ranked], expected, rtol=1e-12)
    totals = [np.logaddexp.reduce([p for _, p in ranked]) for ranked in found]
    assert_allclose(totals, estimator.score_samples(sentences), rtol=1e-10)


@pytest.mark.parametrize("case", [*fitted.CASES][3:])
def test_expected_probabilities(case):
    """Equation (19): of the 50 best trees, the best by the mean over all Dirichlet rows."""
    estimator = fitted.fit(case, 1).set_params(predict_method="expected")
    model, rules = fitted.model_of(estimator), fitted.posterior_of(estimator)
    logs, sentences = oracle.expected_logs(rules), new_sentences(case)
    ranked, best = estimator.k_best(sentences, 60), estimator.predict(sentences)
    n_other = 0
    for words, trees, parse in zip(sentences, ranked, best, strict=True):
        counts = dict(oracle.counted_trees(model, words))
        weights = {t: oracle.log_weight(c, logs) for t, c in counts.items()}
        least = sorted(weights.values(), reverse=True)[:60][-1]
        expected = {
            t: oracle.log_evidence_of_counts(c, rules)
            for t, c in counts.items()
            if weights[t] >= least - 1e-12
        }
        found = [tree_of(tree) for tree, _ in trees]
        assert found[0] == tree_of(parse)
        in_order = sorted((expected[t] for t in found), reverse=True)
        assert_allclose([expected[t] for t in found], in_order, rtol=1e-12)
        least = sorted(weights.values(), reverse=True)[:50][-1]
        highest = max(expected[t] for t, w in weights.items() if w >= least - 1e-12)
        first = tree_of(estimator.k_best([words], 1)[0][0][0])
        assert_allclose(expected[first], highest, rtol=1e-12)
        n_other += weights[first] < max(weights.values()) - 1e-9
    if case == "uniform":
        assert n_other > 0  # the criteria differ


@every_case
def test_scores_and_shares(case):
    """Under the posterior mean of the grammar, which is what the attributes hold."""
    estimator, sentences = fitted.fit(case), new_sentences(case)
    model, means = fitted.model_of(estimator), oracle.means(fitted.posterior_of(estimator))
    scores, shares = estimator.score_samples(sentences), estimator.transform(sentences)
    found = posteriors(model, oracle.log_rows(means), sentences)
    for i, (trees, probabilities, log_prob) in enumerate(found):
        assert_allclose(scores[i], log_prob, rtol=1e-10)
        expected = Counter()
        for (tree, _), probability in zip(trees, probabilities, strict=True):
            for node in oracle.nodes_of(tree):
                expected[node[0]] += probability / (2 * len(sentences[i]) - 1)
        assert_allclose(shares[i], [expected[symbol] for symbol in model.symbols], atol=1e-10)
    n_words = sum(map(len, sentences))
    assert_allclose(estimator.score(sentences), scores.sum() / n_words)
    assert_allclose(estimator.perplexity(sentences), np.exp(-scores.sum() / n_words))
    for row, outcomes in fitted.maximum_of(estimator).items():
        for outcome, probability in outcomes.items():
            assert_allclose(means[row][outcome], probability, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("parts", [fitted.PLAIN, fitted.PARTITIONED], ids=["plain", "partitioned"])
def test_probabilities_of_all_sentences_sum_to_one(parts):
    """Trees of a grammar fitted to short sentences end."""
    short = [[0], [0], [0], [0], [0, 1], [1]] * 8
    estimator = HDPPCFG(**parts, max_iter=50, random_state=0).fit(short)
    totals = [
        np.exp(estimator.score_samples([*product(range(2), repeat=n)])).sum() for n in range(1, 9)
    ]
    assert np.all(np.diff(totals) < 0.0)
    assert 0.99 < np.sum(totals) < 1.0 + 1e-12
    one = HDPPCFG(**parts, max_iter=50, random_state=0).fit([[0], [0], [0], [0], [0, 0]] * 8)
    longer = np.exp(one.score_samples([[0] * n for n in range(1, 61)]))
    assert_allclose(longer.sum(), 1.0, atol=1e-7)


@pytest.mark.parametrize("parts", [fitted.PLAIN, fitted.PARTITIONED], ids=["plain", "partitioned"])
def test_draws(parts):
    """Trees of two words at most, against their probabilities; by chance 1 seed in 10,000 fails."""
    estimator = HDPPCFG(**parts, max_iter=20, random_state=0).fit([[0, 1], [1, 0], [1], [0, 0, 1]])
    sentences, trees = estimator.sample(6000, max_length=2, random_state=1)
    for words, parse in zip(sentences, trees, strict=True):
        assert tuple(map(int, parse.leaves)) == tuple(words)
    model, rules = fitted.model_of(estimator), oracle.means(fitted.posterior_of(estimator))
    expected = {
        tree: np.exp(oracle.log_weight(counts, oracle.log_rows(rules)))
        for words in [(0,), (1,), *product(range(2), repeat=2)]
        for tree, counts in oracle.counted_trees(model, words)
    }
    drawn = Counter(map(tree_of, trees))
    assert set(drawn) <= set(expected)
    means = {tree: 6000 * p / sum(expected.values()) for tree, p in expected.items()}
    rare = [tree for tree, mean in means.items() if mean < 8.0]
    cells = [(drawn[tree], mean) for tree, mean in means.items() if mean >= 8.0]
    cells.append((sum(drawn[tree] for tree in rare), sum(means[tree] for tree in rare)))
    cells = [(n, mean) for n, mean in cells if mean > 4.0]
    statistic = sum((n - mean) ** 2 / mean for n, mean in cells)
    assert chi2.sf(statistic, len(cells) - 1) > 1e-4
