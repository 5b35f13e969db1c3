"""The lower bound of HDPPCFG and its coordinates, against all trees of tiny corpora."""

from functools import partial

import numpy as np
import pytest
from exact.grammar.fitted import (
    CASES,
    CORPUS,
    betas_of,
    count_of,
    fit,
    maximum_of,
    model_of,
    posterior_of,
    sentences_for,
)
from exact.oracles import hdp_pcfg as oracle
from numpy.testing import assert_allclose

from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG
from skdp.grammar._chart._batches import SentenceBatches
from skdp.grammar._induction._ascent import start_weights
from skdp.grammar._induction._counts import count_expected
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._maximum_likelihood import MaximumLikelihoodGrammar
from skdp.grammar._induction._trees import count_best_trees
from skdp.grammar._induction._variational import VariationalGrammar
from skdp.grammar._top_weights import MIN_WEIGHT

every_case = pytest.mark.parametrize("case", CASES)

SLACK = 1e-7
"""What the last iteration may leave: each stops when it gains about 1e-9 of the bound."""


@every_case
@pytest.mark.parametrize("max_iter", [3, 1000])
def test_lower_bound(case, max_iter):
    """Term by term from q, before convergence and at it."""
    estimator = fit(case, max_iter)
    expected = oracle.bound(
        model_of(estimator), sentences_for(case), betas_of(estimator), posterior_of(estimator)
    )
    assert_allclose(estimator.lower_bound_, expected, rtol=1e-9, atol=1e-8)  # may be near 0


@every_case
def test_bound_is_below_the_evidence(case):
    corpus = [[0, 1], [1, 1], [0]] if case == "three symbols, GEM" else [[0, 1, 0], [1, 0], [1]]
    estimator = HDPPCFG(**CASES[case], max_iter=30, random_state=1).fit(corpus)
    model, betas = model_of(estimator), betas_of(estimator)
    bound = estimator.lower_bound_ - model.log_top_density(betas)
    evidence = oracle.log_evidence(model, corpus, betas)
    assert evidence - 5.0 < bound <= evidence


@every_case
def test_weights_of_the_trees(case):
    """q(z) has the weights exp E log phi of Dir(prior + counts); those of exp(-1e9) are 0."""
    estimator = fit(case, 3)
    model, layout = model_of(estimator), estimator._grammar.layout
    logs = oracle.expected_logs(posterior_of(estimator))
    root, emission, binary, _ = estimator._grammar.weights()
    logs = {row: {o: max(v, -1e9) for o, v in each.items()} for row, each in logs.items()}
    symbols, first = model.symbols, layout.branching.start
    for z, symbol in enumerate(symbols):
        one = ("kind",) if model.is_partitioned else ()
        kind = symbol[0] if one else None
        at_root = logs["root", kind][symbol] + logs[one][kind] if one else logs["root",][symbol]
        assert_allclose(root[z], at_root, rtol=1e-12)
        if kind in (None, "P"):
            with_type = 0.0 if one else logs["type", symbol]["E"]
            expected = [with_type + logs["emission", symbol][w] for w in range(model.n_words)]
            assert_allclose(emission[z], expected, rtol=1e-12)
        if kind in (None, "C"):
            for i, left in enumerate(symbols):
                for j, right in enumerate(symbols):
                    rule = left[0] + right[0] if one else "B"
                    of_pair = (
                        logs[rule + "<", symbol][left] + logs[rule + ">", symbol][right]
                        if model.child_prior == "independent"
                        else logs[rule, symbol][left, right]
                    )
                    expected = logs["type", symbol][rule] + of_pair
                    assert_allclose(binary[z - first, i, j], max(expected, -1e9), rtol=1e-12)


@every_case
def test_counts_at_convergence_are_those_of_all_trees(case):
    estimator = fit(case)
    model = model_of(estimator)
    logs = oracle.expected_logs(posterior_of(estimator))
    trees = [oracle.sentence_posterior(model, words, logs)[:2] for words in sentences_for(case)]
    expected = oracle.expected_counts(model, trees)
    counts = estimator._grammar.counts
    for row, outcomes in posterior_of(estimator).items():
        for outcome in outcomes:
            found = count_of(model, counts, row, outcome)
            assert_allclose(found, expected[row, outcome], atol=1e-5)


@every_case
def test_rules_are_optimal(case):
    """No other Dirichlet parameters raise the bound, the trees' distribution held."""
    estimator, rng = fit(case), np.random.default_rng(0)
    model, betas, best = model_of(estimator), betas_of(estimator), posterior_of(estimator)
    logs = oracle.expected_logs(best)
    trees = [oracle.sentence_posterior(model, words, logs)[:2] for words in sentences_for(case)]
    counts = oracle.expected_counts(model, trees)
    prior = model.rows(betas)

    def part(row, parameters):
        """Return what the bound has of a row."""
        row_logs = oracle.expected_logs({row: parameters})[row]
        uses = sum(counts[row, o] * row_logs[o] for o in parameters)
        return uses - oracle.divergence(parameters, prior[row], row_logs)

    for row, parameters in best.items():
        at_best = part(row, parameters)
        for step in (1e-4, 1e-2, 0.3):
            for _ in range(4):
                factors = np.exp(step * rng.standard_normal(len(parameters)))
                moved = dict(zip(parameters, factors * [*parameters.values()], strict=True))
                assert part(row, moved) <= at_best + SLACK


@every_case
def test_trees_are_optimal(case):
    estimator, rng = fit(case), np.random.default_rng(0)
    model, betas, rules = model_of(estimator), betas_of(estimator), posterior_of(estimator)
    corpus, logs = sentences_for(case), oracle.expected_logs(rules)
    trees = [oracle.sentence_posterior(model, words, logs)[:2] for words in corpus]
    best = estimator.lower_bound_
    for step in (1e-4, 1e-2, 0.3):
        moved = []
        for each, shares in trees:
            other = shares * np.exp(step * rng.standard_normal(len(each)))
            moved.append((each, other / other.sum()))
        assert oracle.bound(model, corpus, betas, rules, moved) <= best + SLACK


def moves(betas, rng):
    """Yield weights nearby: others in proportion, and part of the way to somewhere else."""
    for step in (1e-5, 1e-3, 0.05):
        for _ in range(20):
            shares = [beta - MIN_WEIGHT for beta in betas]
            for share in shares:
                share *= np.exp(step * rng.standard_normal(len(share)))
            yield [
                MIN_WEIGHT + (1.0 - len(share) * MIN_WEIGHT) * share / share.sum()
                for share in shares
            ]
            yield [
                (1.0 - step) * beta + step * rng.dirichlet(np.full(len(beta), 0.5))
                for beta in betas
            ]


@every_case
def test_top_weights_are_optimal(case):
    """q(phi) held: at a joint maximum no factor alone can do better."""
    estimator, rng = fit(case), np.random.default_rng(0)
    model, betas, rules = model_of(estimator), betas_of(estimator), posterior_of(estimator)
    logs = oracle.expected_logs(rules)

    def part(betas):
        prior = model.rows(betas)
        return model.log_top_density(betas) - sum(
            oracle.divergence(rules[row], prior[row], logs[row]) for row in prior
        )

    best = part(betas)
    for moved in moves(betas, rng) if estimator.top_concentration is not None else ():
        if min(map(np.min, moved)) >= MIN_WEIGHT:
            assert part(moved) <= best + SLACK


def climb(grammar, start, expect, n_steps):
    """Return the bound after each iteration, whether it rises or falls."""
    counts, bounds = expect(start)[1], []
    for _ in range(n_steps):
        grammar = grammar.updated(counts)
        log_likelihood, counts = expect(grammar.weights())
        bounds.append(grammar.lower_bound(log_likelihood))
    return np.array(bounds)


def sentences() -> TokenSequences:
    return TokenSequences.from_sequences(CORPUS * 3, 3)


def layout_of(case: str) -> GrammarLayout:
    return GrammarLayout(3, CASES[case]["n_components"], CASES[case].get("n_preterminals"))


def equal_types(layout):
    return np.full(layout.n_rule_types, 1.0 / layout.n_rule_types)


def assert_never_falls(bounds):
    assert np.all(np.diff(bounds) >= -1e-10 * np.abs(bounds[1:]))
    assert bounds[-1] > bounds[0] + 0.1


@every_case
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bound_never_falls(case, seed):
    """Of the iterations themselves: the estimator would stop at the first that falls."""
    estimator, layout = HDPPCFG(**CASES[case]), layout_of(case)
    start = start_weights(layout, equal_types(layout), np.random.default_rng(seed))
    expect = partial(count_expected, sentences(), np.dtype(np.float64), 1)
    grammar = VariationalGrammar(layout, estimator._priors(layout))
    assert_never_falls(climb(grammar, start, expect, 25))


@pytest.mark.parametrize("case", ["three symbols, GEM", "partitioned, GEM"])
@pytest.mark.parametrize("pseudo_count", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("viterbi", [False, True])
def test_likelihood_never_falls(case, pseudo_count, viterbi):
    layout = layout_of(case)
    if viterbi:
        expect = partial(count_best_trees, SentenceBatches.of(sentences()), layout, 1)
    else:
        expect = partial(count_expected, sentences(), np.dtype(np.float64), 1)
    for seed in range(3):
        start = start_weights(layout, equal_types(layout), np.random.default_rng(seed))
        grammar = MaximumLikelihoodGrammar(layout, pseudo_count)
        bounds = climb(grammar, start, expect, 25)
        assert np.all(np.diff(bounds) >= -1e-10 * np.abs(bounds[1:]))


@pytest.mark.parametrize("case", ["plain, GEM", "partitioned, GEM"])
@pytest.mark.parametrize(("pseudo_count", "tolerance"), [(0.0, 0.01), (0.2, 1e-4)])
def test_maximum_likelihood(case, pseudo_count, tolerance):
    """A fixed point is a stationary point of the likelihood, of all trees enumerated."""
    parts = {name: CASES[case].get(name) for name in ("n_components", "n_preterminals")}
    estimator = HDPPCFG(
        **parts, inference="em", pseudo_count=pseudo_count, max_iter=1500, tol=0.0, random_state=3
    ).fit(CORPUS)
    model, rules = model_of(estimator), maximum_of(estimator)

    def penalized(rules):
        """Return the log likelihood, with `pseudo_count` uses of every whole rule and root."""
        value = oracle.log_likelihood(model, CORPUS, rules)
        for row, outcomes in rules.items() if pseudo_count else ():
            each = dict.fromkeys(outcomes, 1)
            if row[0] == "kind":
                each = dict(zip("PC", model.n_symbols, strict=True))
            if row[0] == "type":
                owner = row[1]
                each = {t: len(rules["emission" if t == "E" else t, owner]) for t in outcomes}
            value += pseudo_count * sum(n * np.log(outcomes[o]) for o, n in each.items())
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
