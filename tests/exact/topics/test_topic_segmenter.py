"""TopicSegmenter against all cuts and topics of a few words of two topics."""

from itertools import pairwise

import numpy as np
import pytest
from exact.oracles import segmentations
from exact.oracles.batch_means import check_chain
from exact.oracles.enumeration import split, word_factor
from exact.oracles.quadrature import gamma_quadrature
from scipy import stats

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.topics._kernels._segmenter import weigh_divisions
from skdp.topics._shared._arrays import Seeds, WordPrior
from skdp.topics._shared._fold_in import Halt
from skdp.topics._tables._segmenter import (
    CutParameters,
    OwnWordsSampler,
    SegmenterModel,
    SegmenterSampler,
    check_known,
    cut_prior,
    divide,
    empty_work,
    nothing_known,
    units_of,
)

ALPHA, ETA, B = (0.7, 1.2), 0.4, 3.0
CUTS = (1.5, 2.0)
DOCUMENTS = {
    "one": [[[0, 0], [1], [0, 1]]],
    "two": [[[0], [1], [1]], [[1, 0], [0]]],
    "five units": [[[0], [1], [], [1], [0]]],
    "odd": [[[0, 1], []], [[1]], [], [[]]],
}


def make_sampler(
    documents, known=None, most=None, b=B, b_prior=(1.0, 0.1), seeds=None, alpha=ALPHA
):
    root = make_seed_sequence(0)
    corpus = SegmentedCorpus.from_documents(documents, n_features=2)
    eta = ETA if seeds is None else WordPrior(ETA, Seeds(*np.nonzero(seeds), int(np.max(seeds)), 2))
    given = CutParameters(np.array(alpha), eta, (1.0, 0.1), b, b_prior, "auto", CUTS, most)
    topics = np.zeros(len(corpus.tokens), dtype=np.int32)
    return SegmenterSampler(
        check_known(corpus, known, most), 2, given, topics, derive_stream(root, Role.SWEEP)
    )


def check(documents, n_sweeps, **params):
    values, alpha = params.get("b", B), params.get("alpha", ALPHA)
    if values == "auto":
        rule = zip(*gamma_quadrature(*params["b_prior"]), strict=True)
        values = [pair for pair in rule if pair[1] > 1e-12]
    of_oracle = {name: params.get(name) for name in ("known", "most", "seeds")}
    expected = segmentations.posterior(documents, 2, alpha, ETA, values, CUTS, **of_oracle)
    sampler = make_sampler(documents, **params)
    has_gap = np.array([u > 0 for units in documents for u in range(len(units))])

    def step():
        sampler.sweep()
        state, sums = sampler.state(), sampler.empty_sums()
        sampler.add_to(sums)
        scalars = np.array([state.cut_probability, state.concentration])
        together = np.equal.outer(state.topics, state.topics)
        cuts = np.stack([state.starts[has_gap], sums["cut_proba"][has_gap]])
        shares = np.stack([state.doc_topic[:, 0], sums["doc_topic"][:, 0]])
        return cuts, shares, together, scalars

    def compare(cuts, shares, together, scalars):
        yield cuts, np.stack([expected.cuts] * 2), "cuts, and their probabilities", 1e-3
        yield shares, np.stack([expected.shares] * 2), "shares, and their estimates", 1e-3
        yield together, expected.together, "words of one topic", 1e-3
        yield scalars, [expected.rho, expected.b], "probability of a cut, concentration", 1e-3

    check_chain(step, compare, n_sweeps)


PROBLEMS = {
    "one": {"documents": DOCUMENTS["one"]},
    "odd": {"documents": DOCUMENTS["odd"]},
    "known cuts": {"documents": DOCUMENTS["one"], "known": [(-1, 0)]},
    "seeds": {
        "documents": [[[0, 0], [1], [0, 1]], [[1]]], "alpha": (0.7, 0.7), "seeds": [(0, 0), (0, 2)],
    },
}  # fmt: skip


@pytest.mark.parametrize("case", PROBLEMS)
def test_posterior(case):
    check(**PROBLEMS[case], n_sweeps=12_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two", "five units"])
def test_posterior_long(name):
    check(DOCUMENTS[name], 40_000)


@pytest.mark.slow
def test_short_parts_and_known_cuts():
    check(DOCUMENTS["five units"], 40_000, known=[(-1, 1, -1, -1)], most=2)


@pytest.mark.slow
def test_learned_concentration():
    check(DOCUMENTS["one"], 60_000, b="auto", b_prior=(2.0, 0.5))


@pytest.mark.parametrize("most", [None, 1, 2, 4])
@pytest.mark.parametrize("known", [None, (-1, 1, -1, 0), (0, -1, -1, -1), (1, 1, 1, 1)])
def test_filters(known, most):
    """All divisions of five units, two of them without words; probabilities of every cut."""
    document = [[0, 1, 0], [1], [], [1, 1], [0, 1]]
    topics, mu, rho = [[0, 2, 0], [1], [], [1, 2], [0, 2]], np.array([0.5, 0.2, 0.3]), 0.3
    corpus = SegmentedCorpus.from_documents([[[0]], document], n_features=2)
    y = None if known is None else [[], list(known)]
    if (known == (-1, 1, -1, 0) and most == 1) or (known == (0, -1, -1, -1) and most == 1):
        with pytest.raises(ValueError, match="joins 2 units to one part, but max_units is 1"):
            check_known(corpus, y, most)
        return
    data = check_known(corpus, y, most)
    work = empty_work(corpus, 3, B)
    work.base[:] = B * mu
    flat = [k for unit in topics for k in unit]
    probabilities = np.zeros(6)
    found = weigh_divisions(
        1,
        6,
        units_of(corpus).unit_ptr,
        np.array([0, *flat], dtype=np.int32),
        cut_prior(data.known, most, rho),
        work,
        probabilities,
    )
    total, of_cuts = 0.0, np.zeros(4)
    for cuts in segmentations.divisions(5, known, most):
        parts = segmentations.parts_of(document, flat, cuts)
        weight = segmentations.evidence_of_parts(parts, mu, B)
        weight *= rho ** sum(cuts) * (1.0 - rho) ** (4 - sum(cuts))
        total += weight
        of_cuts += weight * np.array(cuts)
    assert found == pytest.approx(np.log(total), abs=1e-10)
    np.testing.assert_allclose(probabilities[2:], of_cuts / total, rtol=1e-10, atol=1e-14)
    assert probabilities[:2].tolist() == [0.0, 0.0]
    assert not work.n_k.any()


def test_log_joint():
    documents = DOCUMENTS["two"]
    sampler, words = make_sampler(documents), [0, 1, 1, 1, 0, 0]
    for _ in range(20):
        sampler.sweep()
        state = sampler.state()
        rho, topics = state.cut_probability, state.topics.tolist()
        expected = np.log(word_factor(words, topics, [[ETA] * 2] * 2))
        starts = split(state.starts, map(len, documents))
        of_documents = zip(documents, split(topics, [3, 3]), starts, state.doc_topic, strict=True)
        for document, own, (_, *cuts), shares in of_documents:
            parts = segmentations.parts_of(document, own, cuts)
            expected += np.log(segmentations.evidence_of_parts(parts, shares, B))
            expected += sum(cuts) * np.log(rho) + (len(cuts) - sum(cuts)) * np.log1p(-rho)
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)


def test_nothing_is_known_of_a_corpus():
    data = nothing_known(SegmentedCorpus.from_documents(DOCUMENTS["odd"], n_features=2))
    assert data.known.tolist() == [1, -1, 1, 1]


# One topic, of which each part has its own version.


def own_words_sampler(documents, b, b_prior=(1.0, 0.001), known=None, most=None, weight=0):
    corpus = SegmentedCorpus.from_documents(documents, n_features=2)
    eta = WordPrior(ETA, Seeds(np.array([0]), np.array([1]), weight, 2)) if weight else ETA
    given = CutParameters(
        np.ones(1), eta, (1.0, 0.1), 1.0, (1.0, 0.1), "auto", CUTS, most, b, b_prior
    )
    stream = derive_stream(make_seed_sequence(0), Role.SWEEP)
    return OwnWordsSampler(check_known(corpus, known, most), given, stream)


def check_own_words(documents, n_sweeps, b=B, b_prior=(1.0, 0.001), weight=0, **given):
    if b == "auto":
        lengths = [sum(map(len, document)) for document in documents]
        least = 0.75 * sum(lengths) / sum(len(document) > 0 for document in documents)
        grid = np.exp(np.linspace(np.log(least), np.log(1e4), 400))
        density = grid ** b_prior[0] * np.exp(-b_prior[1] * grid)  # of log b
        density[[0, -1]] *= 0.5
        values = list(zip(grid.tolist(), (density / density.sum()).tolist(), strict=True))
    else:
        values = [(b, 1.0)]
    expected = segmentations.own_words_posterior(
        documents, (ETA, ETA + weight), values, CUTS, **given
    )
    sampler = own_words_sampler(documents, b, b_prior, weight=weight, **given)
    has_gap = np.array([u > 0 for units in documents for u in range(len(units))])

    def step():
        sampler.sweep()
        state, sums = sampler.state(), sampler.empty_sums()
        sampler.add_to(sums)
        cuts = np.stack([state.starts[has_gap], sums["cut_proba"][has_gap]])
        phi = np.array([sampler.phi[0, 0], sampler.components()[0, 0]])
        return cuts, phi, np.array([state.cut_probability, np.log(state.burst_concentration)])

    def compare(cuts, phi, scalars):
        yield cuts, np.stack([expected.cuts] * 2), "cuts, and their probabilities", 1e-3
        yield phi, [expected.phi] * 2, "the first word, and its estimate", 1e-3
        yield scalars[:, 0], expected.rho, "probability of a cut", 1e-3
        yield np.exp(scalars[:, 1]), expected.b, "concentration", 1e-3

    check_chain(step, compare, n_sweeps)


OWN_WORDS = {
    "one": {"documents": [[[0, 0, 0], [1], [0, 1, 1]]], "b": 0.8},
    "odd": {"documents": [[[0, 1], []], [[1, 1, 1]], [], [[]]]},
    "two": {"documents": [[[0, 0], [1, 1], [1]], [[1, 0], [0, 0, 0]]], "b": 2.0},
    "known": {"documents": [[[0, 0], [1, 1], [0], [1, 1]]], "known": [(-1, 0, -1)], "most": 3},
    "seeds": {"documents": [[[0, 0], [1], [0, 1]], [[1]]], "weight": 2},
}


@pytest.mark.parametrize("case", OWN_WORDS)
def test_own_words(case):
    check_own_words(**OWN_WORDS[case], n_sweeps=20_000)


def test_learned_concentration_of_own_words():
    check_own_words([[[0, 0, 0], [1, 1], [0, 1, 1]]], 40_000, b="auto", b_prior=(2.0, 0.2))


DOCUMENT = [[0, 1, 0], [1], [], [2, 1, 1], [0, 2], [2, 2]]
PHI, RHO = (0.5, 0.3, 0.2), 0.3


@pytest.mark.parametrize("most", [None, 2])
def test_given_own_words(most):
    """Probabilities of cuts and of further words of units, against all divisions."""
    corpus = SegmentedCorpus.from_documents([[[0]], DOCUMENT, []], n_features=3)
    model = SegmenterModel(np.array([PHI]), np.ones(1), 1.0, RHO, most, B)
    further = np.array([2, 0, 1, 2, 0, 1], dtype=np.int32)
    units = np.array([0, 1, 3, 3, 5, 6])
    fold = model.prepare(corpus, None)
    *_, scores, cuts = fold.score(corpus, None, (further, units), Halt())
    every = list(segmentations.own_words_given(DOCUMENT, PHI, B, RHO, most))
    weights = np.exp([log for _, log, _ in every])
    weights /= weights.sum()
    of_cuts = weights @ np.array([own for own, *_ in every])
    shares = np.tensordot(weights, np.array([share for *_, share in every]), axes=1)
    np.testing.assert_allclose(cuts[2:7], of_cuts, rtol=1e-6)
    first = (B * PHI[2]) / (B + 1.0)
    expected = [first, *(shares[u - 1, w] for u, w in zip(units[1:], further[1:], strict=True))]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)
    np.testing.assert_array_equal(fold(corpus, None, Halt())[2], cuts)


def test_improbable_beginnings_are_dropped():
    rng = np.random.default_rng(0)
    first = np.repeat([0, 10, 0, 10], 20)
    text = [(k + rng.integers(0, 10, 6)).tolist() for k in first]
    corpus = SegmentedCorpus.from_documents([text], n_features=20)
    cuts, found = cut_prior(nothing_known(corpus).known, None, 0.1), []
    for drops in (False, True):
        work, probabilities = empty_work(corpus, 20, 60.0, drops=drops), np.zeros(80)
        work.base[:] = 3.0
        arguments = units_of(corpus).unit_ptr, corpus.tokens.copy(), cuts, work, probabilities
        found.append([weigh_divisions(0, 80, *arguments), probabilities])
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-12)
    np.testing.assert_allclose(found[1][1], found[0][1], atol=1e-10)
    assert work.reach[-1] >= 20


def test_divisions_of_own_words():
    """The most probable division under two samples, of each number of parts and of words."""
    corpus = SegmentedCorpus.from_documents([[[0]], DOCUMENT], n_features=3)
    other, rho = (0.1, 0.2, 0.7), 0.1
    models = [
        SegmenterModel(np.array([PHI]), np.ones(1), 1.0, RHO, None, B),
        SegmenterModel(np.array([other]), np.ones(1), 1.0, rho, None, 9.0),
    ]
    shares = [(np.ones((2, 1)), np.ones((7, 1)))] * 2
    logs = {}
    for phi, b, r in ((PHI, B, RHO), (other, 9.0, rho)):
        for cuts, log, _ in segmentations.own_words_given(DOCUMENT, phi, b, r):
            logs[cuts] = logs.get(cuts, 0.0) + log / 2
    sizes = np.array([len(unit) for unit in DOCUMENT])
    for n_parts, most in ((0, None), (1, None), (2, None), (4, None), (6, None), (0, 3), (0, 6)):
        allowed = {}
        for cuts, log in logs.items():
            starts = [0, *(np.flatnonzero(cuts) + 1), 6]
            lengths = [(e - s, sizes[s:e].sum()) for s, e in pairwise(starts)]
            if n_parts in (0, len(lengths)) and all(
                n == 1 or most is None or words <= most for n, words in lengths
            ):
                allowed[tuple(starts[1:-1])] = log
        _, found = divide(corpus, models, shares, np.array([min(n_parts, 1), n_parts]), most)
        assert allowed[tuple(found)] == pytest.approx(max(allowed.values()), rel=1e-9)


def test_log_joint_of_own_words():
    documents, words = DOCUMENTS["two"], [[0, 1, 1], [1, 0, 0]]
    sampler = own_words_sampler(documents, 2.0)
    for _ in range(20):
        sampler.sweep()
        state, (m, rest) = sampler.state(), sampler.phi[0]
        expected = np.log(dirichlet_density((ETA, ETA), (m, rest)))
        for document, own, starts in zip(
            documents, words, split(state.starts, map(len, documents)), strict=True
        ):
            cuts = tuple(starts[1:])
            parts = segmentations.parts_of(document, own, cuts)
            expected += np.log(segmentations.evidence_of_parts(parts, (m, rest), 2.0))
            rho = state.cut_probability
            expected += sum(cuts) * np.log(rho) + (len(cuts) - sum(cuts)) * np.log1p(-rho)
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)


def dirichlet_density(prior, shares):
    return stats.dirichlet(prior).pdf(np.array(shares) / sum(shares))
