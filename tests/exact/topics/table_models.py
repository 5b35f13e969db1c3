"""Estimators that count tables against enumeration of all states (exact/oracles/segmented.py).

What the tests of the three models and of their hyper-parameters share: running the chain of a
problem, and comparing all that it shows of itself to the exact posterior.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.segmented import (
    Posterior,
    Problem,
    completion,
    customers_and_tables,
    enumerate_posterior,
    fold_in,
    log_joint,
    segment_ranges,
    weights_of_document,
    word_counts,
)

from skdp import topics
from skdp.data import SegmentedCorpus
from skdp.topics._shared._completion import split_words

MODELS = {
    "segmented": "SegmentedTopicModel",
    "sequential": "SequentialLDA",
    "adaptive": "AdaptiveTopicModel",
}
SAMPLERS = ["btigs", "cmgs", "ssa"]
BURN_IN = 400
N_SEEDS = 40

every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)
# For what is not a sampler's own, the draws of hyper-parameters: the others are slow tests.
mostly_one_sampler = pytest.mark.parametrize(
    "sampler",
    ["btigs", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cmgs", "ssa"))],
)
every_model = pytest.mark.parametrize("model_name", MODELS)


def cases(problems: dict[str, Problem], slow=()) -> pytest.MarkDecorator:
    """Parametrize a test by the names of problems, some of them for the slow run alone."""
    marks = {name: [pytest.mark.slow] if name in slow else [] for name in problems}
    names = [pytest.param(name, marks=marks[name]) for name in problems]
    return pytest.mark.parametrize("case", names)


@cache
def as_model(problem: Problem, name: str) -> Problem:
    """Return the problem of another model, one object for all tests: posteriors are kept."""
    return replace(problem, model=name)


def of_model(problems: dict[str, Problem], name: str) -> dict[str, Problem]:
    return {case: as_model(problem, name) for case, problem in problems.items()}


# What the two models that chain their segments are tested on. Tables order from tables that order
# from tables: many words of a topic in a last segment, none or few before.
CHAINS = {
    "three segments": Problem(
        [[[0, 0], [1], [0, 1, 0]]],
        alpha=(0.6, 0.6), gamma=0.3, n_features=2, discount=0.5, concentration=1.0,
        mixing=(0.3, 2.0),
    ),
    "cascade": Problem(
        [[[], [1], [0, 0, 0, 0, 0]]],
        alpha=(1.5, 0.2), gamma=0.4, n_features=2, discount=0.5, concentration=5.0,
        mixing=(0.3, 2.0),
    ),
    "middle empty": Problem(
        [[[0, 0, 1, 0], [], [1, 2, 2]]],
        alpha=(0.8, 0.8), gamma=0.3, n_features=4, discount=0.0, concentration=25.0,
        mixing=(3.0, 0.5),
    ),
    "asymmetric": Problem(
        [[[0, 0, 1], [1, 0, 0, 1, 0]], []],
        alpha=(1.5, 0.2), gamma=0.4, n_features=2, discount=0.0, concentration=0.2,
    ),
    "three topics": Problem(
        [[[0, 0, 1], [2]], [[0], [], [1, 1]]],
        alpha=(1.4, 0.3, 0.6), gamma=0.5, n_features=3, discount=0.9, concentration=1.5,
        mixing=(0.3, 2.0),
    ),
    "four segments": Problem(
        [[[0], [1], [1, 0], [0, 0, 1]]],
        alpha=(0.9, 0.3), gamma=0.3, n_features=2, discount=0.5, concentration=1.0,
    ),
    "cascade of small tables": Problem(
        [[[1, 1], [], [0, 0, 0, 0]]],
        alpha=(0.5, 0.5), gamma=0.3, n_features=2, discount=0.9, concentration=0.2,
        mixing=(3.0, 0.5),
    ),
    # Few tables and many words: most words come and go without a table.
    "long segments": Problem(
        [[[0, 1, 0, 1, 1], [0, 1, 0, 0]]],
        alpha=(0.5, 0.7), gamma=0.3, n_features=2, discount=0.2, concentration=0.5,
    ),
    "leading empty": Problem(
        [[[], [0, 1, 1], [0, 0, 2]]],
        alpha=(0.5, 0.5, 0.5), gamma=0.2, n_features=3, discount=0.5, concentration=5.0,
        mixing=(3.0, 0.5),
    ),
    "trailing empty": Problem(
        [[[0, 0, 0], [1, 0], []], [[1, 1], [0]]],
        alpha=(0.5, 0.5), gamma=0.3, n_features=2, discount=0.5, concentration=2.0,
    ),
    "large discount": Problem(
        [[[0, 0], [1, 1, 0]], [[0], [1, 0]]],
        alpha=(0.7, 0.7), gamma=0.3, n_features=2, discount=0.9, concentration=0.2,
        mixing=(0.3, 2.0),
    ),
    "alternating": Problem(
        [[[0, 0], [1, 1], [0, 0, 0]]],
        alpha=(0.3, 0.3), gamma=0.1, n_features=2, discount=0.0, concentration=5.0,
    ),
}  # fmt: skip
BROKEN_CHAINS = {
    "breaks": Problem(
        [[[0, 0], [1], [0, 1, 0], [0]], [[1], [1, 0]]],
        alpha=(0.9, 0.3), gamma=0.3, n_features=2, discount=0.5, concentration=1.0,
        mixing=(0.3, 2.0), breaks=[(2,), (1,)],
    ),
    "empty segments at breaks": Problem(
        [[[0, 1], [], [0, 0, 1], [], [1]]],
        alpha=(0.6, 0.6), gamma=0.3, n_features=2, discount=0.0, concentration=4.0,
        mixing=(3.0, 0.5), breaks=[(2, 3)],
    ),
    "learned": Problem(
        [[[0, 0, 1], [1], [0, 0, 0]], [[1, 1], [0]]],
        alpha=(1.5, 0.4), gamma=0.2, n_features=2, concentration_prior=(1.0, 0.3),
        mixing=(0.3, 2.0), breaks=[(1,), ()],
    ),
}  # fmt: skip
CHAINS |= {name: each for name, each in BROKEN_CHAINS.items() if name != "learned"}
SLOW_CHAINS = [case for case in CHAINS if case not in ("cascade", "three topics", "breaks")]
CHAINS_WITH_RANDOM_CONCENTRATION = {
    "segments of one topic": Problem(
        [[[0, 0, 0, 0], [1, 1, 1, 1]]],
        alpha=(3.0, 2.0), gamma=0.05, n_features=2, discount=0.0, concentration_prior=(1.0, 0.3),
    ),
    "two documents": replace(
        CHAINS["large discount"], discount=0.4, concentration=None,
        concentration_prior=(1.0, 0.3),
    ),
    "breaks": BROKEN_CHAINS["learned"],
    "empty segment": replace(
        CHAINS["cascade"], concentration=None, concentration_prior=(3.0, 2.0)
    ),
}  # fmt: skip


def corpus(problem: Problem) -> SegmentedCorpus:
    n_features = problem.n_features if problem.phi is None else problem.phi.shape[1]
    X = SegmentedCorpus.from_documents(problem.documents, n_features=n_features)
    return X if problem.breaks is None else X.with_parts(problem.breaks)


def estimator_class(problem: Problem) -> type:
    return getattr(topics, MODELS[problem.model])


def parameters(problem: Problem) -> dict:
    """Everything an estimator must be told of a problem but its topics' prior."""
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "discount": "auto" if problem.discount is None else problem.discount,
        "concentration": "auto" if problem.concentration is None else problem.concentration,
        "concentration_prior": problem.concentration_prior,
    }
    if problem.discount is None:
        params["discount_prior"] = problem.discount_prior
    if problem.scope != "corpus":
        params["concentration_scope"] = problem.scope
    if problem.model == "adaptive":
        params["mixing_prior"] = problem.mixing
    return params | hints_of(problem)


def hints_of(problem) -> dict:
    """Return the parameters for pseudo-counts, all of which are equal or 0, and fixed topics."""
    fixed = {} if problem.fixed is None else {"fixed_components": problem.fixed}
    if problem.seeds is None:
        return fixed
    words = {k: np.flatnonzero(row).tolist() for k, row in enumerate(problem.seeds) if any(row)}
    return {"seed_words": words, "seed_weight": int(np.max(problem.seeds)), **fixed}


def model(problem: Problem, **params):
    """Return the estimator for a problem, random hyper-parameters as in the problem."""
    params = {
        "n_components": len(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **parameters(problem),
        **params,
    }
    return estimator_class(problem)(**params)


# --- training -------------------------------------------------------------------------------


@dataclass
class Sweeps:
    topics: np.ndarray  # (n_sweeps, n_tokens)
    tables: np.ndarray  # (n_sweeps, n_segments, K), that order from the document
    tables_to_previous: np.ndarray  # that order from the segment before
    discount: np.ndarray  # (n_sweeps,)
    concentration: np.ndarray  # (n_sweeps,), or (n_sweeps, n_documents or n_segments)
    log_joint: np.ndarray


def run(problem: Problem, n_sweeps: int = N_SWEEPS, **params) -> Sweeps:
    """Run the training sampler and keep the state after every sweep that follows the burn-in."""
    n_documents, n_segments = len(problem.documents), problem.doc_ptr[-1]
    tables = (n_sweeps, n_segments, len(problem.alpha))
    own = {"corpus": (), "document": (n_documents,), "segment": (n_segments,)}[problem.scope]
    sweeps = Sweeps(
        np.empty((n_sweeps, len(problem.words)), dtype=int),
        np.empty(tables, dtype=int),
        np.zeros(tables, dtype=int),
        np.empty(n_sweeps),
        np.empty((n_sweeps, *own)),
        np.empty(n_sweeps),
    )
    estimator = model(problem, max_iter=BURN_IN + n_sweeps, **params)
    n_seen = 0
    for i, state in enumerate(estimator.iter_sweeps(corpus(problem)), start=-BURN_IN):
        n_seen += 1
        if i >= 0:
            sweeps.topics[i] = state.topics
            sweeps.tables[i] = state.tables_to_document
            if problem.model != "segmented":
                sweeps.tables_to_previous[i] = state.tables_to_previous
            sweeps.discount[i] = state.discount
            sweeps.concentration[i] = state.concentration
            if i % 40 == 0:
                assert np.shape(state.concentration) == own
                sweeps.log_joint[i : i + 40] = state.log_joint()
    assert n_seen == BURN_IN + n_sweeps
    return sweeps


def kept_sweeps(problem: Problem, n_sweeps: int = 60, **params):
    """The sweeps that a short fit keeps, all after burn-in, and the fitted estimator."""
    params = {"burn_in": BURN_IN, "thin": 1, **params}
    fitted = model(problem, max_iter=BURN_IN + n_sweeps, **params).fit(corpus(problem))
    return run(problem, n_sweeps, **params), fitted


# Problems compare by identity.
posterior_of = cache(enumerate_posterior)
fold_in_of = cache(fold_in)


def observed_half(X: SegmentedCorpus) -> list[list[list[int]]]:
    """Return the words of each segment that are given when the others are scored."""
    half = split_words(X)[0]
    plain = SegmentedCorpus(half.tokens, half.segment_ptr, half.doc_ptr, half.n_features)
    return [[words.tolist() for words in document] for document in plain]


@cache
def completion_of(problem: Problem) -> np.ndarray:
    return completion(problem, observed_half(corpus(problem)))


def assert_posterior(sweeps: Sweeps, expected: Posterior, identified: bool = False) -> None:
    """Compare everything that does not depend on the labels of exchangeable topics."""
    pairs = np.triu_indices(sweeps.topics.shape[1], 1)
    same = sweeps.topics[:, pairs[0]] == sweeps.topics[:, pairs[1]]
    assert_means(same, expected.coassignment[pairs], "P(z_i = z_j)")
    n_tables = expected.tables_to_document.sum(axis=1)
    assert_means(sweeps.tables.sum(axis=2), n_tables, "E[tables of a segment]")
    n_tables = expected.tables_to_previous.sum(axis=1)
    assert_means(sweeps.tables_to_previous.sum(axis=2), n_tables, "E[tables to the previous]")
    assert_means(sweeps.log_joint[::40], expected.log_joint, "E[log joint]")
    if identified:
        found = sweeps.topics[:, :, None] == np.arange(expected.topics.shape[1])
        assert_means(found, expected.topics, "P(z_i = k)")
        assert_means(sweeps.tables, expected.tables_to_document, "E[tables]")
        assert_means(
            sweeps.tables_to_previous, expected.tables_to_previous, "E[tables to the previous]"
        )


def assert_hyper_parameters(sweeps: Sweeps, problem: Problem, expected: Posterior) -> None:
    if problem.concentration is None:
        assert_means(sweeps.concentration, expected.concentration, "E[b]")
    if problem.discount is None:
        assert np.all((sweeps.discount >= 0.0) & (sweeps.discount < 1.0))
        assert_means(sweeps.discount, expected.discount, "E[a]")


def check_posterior(problem: Problem, sampler: str, **params) -> Sweeps:
    """Compare 24,000 sweeps of a problem's own chain to the problem's posterior."""
    sweeps, expected = run(problem, sampler=sampler, **params), posterior_of(problem)
    assert_posterior(sweeps, expected, is_identified(problem))
    assert_hyper_parameters(sweeps, problem, expected)
    if problem.model == "adaptive":
        found = mixing_weights(problem, sweeps)
        assert_means(found, expected.weight_of_document, "E[weight of the document]")
    return sweeps


def is_identified(problem: Problem) -> bool:
    """Topics are exchangeable under a symmetric alpha, and identified under an asymmetric one."""
    return len(set(problem.alpha)) > 1


def mixing_weights(problem: Problem, sweeps: Sweeps) -> np.ndarray:
    """Expected weight of the document given the tables, (n_sweeps, n_segments)."""
    s, t = sweeps.tables.sum(axis=2), sweeps.tables_to_previous.sum(axis=2)
    ranges = segment_ranges(problem)
    return np.hstack([
        weights_of_document(problem, problem.firsts(d), s[:, i:j], t[:, i:j])
        for d, (i, j) in enumerate(ranges)
    ])  # fmt: skip


# --- single states --------------------------------------------------------------------------


def check_state(problem: Problem, state) -> Problem:
    """Check a state's constraints and log joint; return the problem with what the state learned."""
    s = np.asarray(state.tables_to_document)
    t = np.asarray(state.tables_to_previous)
    n = word_counts(problem, state.topics)
    assert s.shape == t.shape == n.shape
    assert s.min(initial=0) >= 0
    assert t.min(initial=0) >= 0
    for d, (first, last) in enumerate(segment_ranges(problem)):
        here = slice(first, last)
        firsts = [first + j for j in problem.firsts(d) if j < last - first]
        customers, tables = customers_and_tables(n[here], s[here], t[here])
        assert np.all(tables <= customers)
        assert np.all((tables == 0) == (customers == 0))
        assert np.all(t[firsts] == 0)
        later = [j for j in range(first, last) if j not in firsts]
        assert problem.model != "sequential" or np.all(s[later] == 0)
        assert problem.model != "segmented" or np.all(t[here] == 0)
    now = replace(
        problem,
        alpha=tuple(state.doc_topic_prior),
        gamma=float(state.topic_word_prior),
        discount=float(state.discount),
        concentration=per_segment(problem, state.concentration),
    )
    expected = log_joint(now, state.topics, s, t)
    assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)
    return now


def per_segment(problem: Problem, concentration) -> np.ndarray:
    """Return the concentration of every segment, (n_segments,)."""
    n_segments = np.diff(problem.doc_ptr)
    shape = {"corpus": (), "document": n_segments.shape, "segment": (n_segments.sum(),)}
    assert np.shape(concentration) == shape[problem.scope]
    if problem.scope == "document":
        return np.repeat(concentration, n_segments)
    return np.broadcast_to(concentration, n_segments.sum())


def check_states(problem: Problem, n_sweeps: int = 60, **params) -> list[Problem]:
    """Check the states of a short chain; return the problem at each of them."""
    estimator = model(problem, max_iter=n_sweeps, **params)
    return [check_state(problem, state) for state in estimator.iter_sweeps(corpus(problem))]


def check_states_with_learned_priors(problem: Problem, sampler: str) -> None:
    learned = {"doc_topic_prior": "auto", "topic_word_prior": "auto"}
    found = check_states(problem, sampler=sampler, **learned)
    priors = {(x.alpha, x.gamma, x.discount, x.concentration.tobytes()) for x in found}
    assert len(priors) > 30


def check_trajectories_differ(problem: Problem, **params) -> None:
    runs = [run(problem, 1000, sampler=sampler, **params) for sampler in SAMPLERS]
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        assert np.any(runs[i].topics != runs[j].topics)


# --- topics fixed ---------------------------------------------------------------------------

PHI = np.array([[0.5, 0.3, 0.1, 0.1], [0.05, 0.15, 0.4, 0.4], [0.3, 0.1, 0.05, 0.55]])

FOLD_IN_CHAINS = {
    "small concentration": Problem(
        [[[0, 0, 2], [3, 0]], [[], [1], [1, 1, 3]], [[2]], [[]], []],
        alpha=(0.3, 0.9, 0.5), phi=PHI, discount=0.5, concentration=0.4, mixing=(0.3, 2.0),
    ),
    "large concentration": Problem(
        [[[0, 1], [], [3, 0, 2]], [[3, 3], [1, 0]], [[2, 2], [0, 0], []]],
        alpha=(0.2, 0.4, 0.1), phi=PHI, discount=0.0, concentration=12.0,
    ),
    "large discount": Problem(
        [[[0, 1], [2, 0, 0, 0]], [[3], [1], [0, 0]]],
        alpha=(0.5, 0.5, 0.5), phi=PHI, discount=0.9, concentration=2.0, mixing=(3.0, 0.5),
    ),
    "breaks": Problem(
        [[[0, 0, 2], [3, 0], [0, 0, 1]], [[1], [], [1, 3], [3]], [[0, 2], [2, 2]]],
        alpha=(0.3, 0.9, 0.5), phi=PHI, discount=0.3, concentration=1.5, mixing=(0.3, 2.0),
        breaks=[(2,), (1, 3), (1,)],
    ),
    "random concentration": Problem(
        [[[0, 2], [3, 0, 2]], [[0], [0, 0, 1]], [[], []]],
        alpha=(0.3, 0.9, 0.5), phi=PHI, discount=0.2, concentration_prior=(1.5, 0.4),
    ),
}  # fmt: skip


def estimators(problem: Problem, n_iter: int = 2000, **params) -> list:
    """Estimators with independent random streams; each estimate of each is one draw."""
    return [
        estimator_class(problem).from_topics(
            problem.phi,
            transform_max_iter=n_iter,
            random_state=seed,
            **parameters(problem),
            **params,
        )
        for seed in range(N_SEEDS)
    ]


def check_transform(problem: Problem, sampler: str, **params) -> None:
    """Compare E[mu] and E[nu] of documents, each by itself, to the posterior."""
    X, expected = corpus(problem), fold_in_of(problem)
    found = estimators(problem, sampler=sampler, **params)
    mu = np.array([estimator.transform(X) for estimator in found])
    nu = np.array([estimator.transform_segments(X) for estimator in found])
    for draws, name in ((mu, "mu"), (nu, "nu")):
        rows = np.concatenate([getattr(posterior, name) for posterior in expected])
        assert_means(draws, rows, f"E[{name}]", resolution=1e-6)
        np.testing.assert_allclose(draws.sum(axis=-1), 1.0, rtol=0, atol=1e-6)


def check_completion(problem: Problem, sampler: str, **params) -> None:
    """Compare the scores of documents to the log predictive of their second halves."""
    X, expected = corpus(problem), completion_of(problem)
    n_scored = sum(len(segment) // 2 for document in problem.documents for segment in document)
    found = estimators(problem, sampler=sampler, **params)
    scores = np.array([estimator.score_samples(X) for estimator in found])
    assert_means(scores, expected, "log p(half | other half)", resolution=1e-6)
    for estimator, score in zip(found[:3], scores, strict=False):
        assert estimator.score(X) == pytest.approx(score.sum() / n_scored, rel=1e-10)
        assert estimator.perplexity(X) == pytest.approx(np.exp(-score.sum() / n_scored), rel=1e-10)


def check_documents_without_tokens(problem: Problem) -> None:
    """They have the prior mean, and nothing to score."""
    problem = replace(problem, documents=[[], [[]], [[], []]])
    X, estimator = corpus(problem), estimators(problem)[0]
    expected = np.array(problem.alpha) / sum(problem.alpha)
    for shares in (estimator.transform(X), estimator.transform_segments(X)):
        np.testing.assert_allclose(shares, np.tile(expected, (3, 1)), rtol=1e-6)
    np.testing.assert_array_equal(estimator.score_samples(X), 0.0)
