"""SectionedTopicModel against all topics and tables of a few words."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from exact.oracles import sections, segmented
from exact.oracles.batch_means import N_BATCHES, assert_means, check_chain
from exact.oracles.bursts import SectionedProblem
from exact.topics.table_models import mostly_slow

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.topics import SectionedTopicModel
from skdp.topics._shared._bursts import Bursts
from skdp.topics._shared._fold_in import split_words
from skdp.topics._tables._sections import SectionParameters, SectionSampler

ALPHA, ETA = (0.7, 1.4), 0.4
DOCUMENTS = {
    "one": [[[[0, 0], [1]], [[0, 1]]]],
    "two": [[[[0], [1, 1]]], [[[1]], [[0], [0]]]],
    "long": [[[[0, 1, 0, 0, 1]]]],
    "odd": [[[[0, 1], []], [[1], [0]]], [], [[[]]]],
}
PLAIN = (0.0, 0.0), (1.3, 2.5)
DISCOUNTED = (0.3, 0.6), (1.5, 0.4)
LARGE = 1e9
PHI = np.array([[0.8, 0.2], [0.3, 0.7]])


def make_sampler(problem):
    root = make_seed_sequence(0)

    def given(values):
        return tuple("auto" if value is None else value for value in values)

    parameters = SectionParameters(
        np.array(problem.alpha), problem.gamma, (1.0, 0.1), given(problem.discount),
        problem.discount_prior, given(problem.concentration), problem.concentration_prior,
    )  # fmt: skip
    X = SegmentedCorpus.from_documents(problem.documents, n_features=2)
    bursts = ()
    if isinstance(problem, SectionedProblem):
        a, b = problem.bursts
        bursts = Bursts(b, problem.bursts_prior, a), problem.unit
    return SectionSampler(
        X, len(problem.alpha), parameters, "random", derive_stream(root, Role.INIT),
        derive_stream(root, Role.SWEEP), *bursts,
    )  # fmt: skip


def check(problem, n_sweeps, expected=None):
    """Compare a chain to everything that an oracle expects, by name."""
    expected = dict(sections.enumerate_posterior(problem) if expected is None else expected)
    expected.pop("log_evidence", None)
    if None in (*problem.discount, *problem.concentration) or hasattr(problem, "bursts"):
        expected.pop("log_joint", None)  # which holds no priors of these, and single seats
    sampler = make_sampler(problem)

    def step():
        sampler.sweep()
        state, sums = sampler.state(), sampler.empty_sums()
        sampler.add_to(sums)
        now = {
            "coassignment": np.equal.outer(state.topics, state.topics),
            "topics": np.equal.outer(state.topics, range(len(problem.alpha))),
            "section_tables": state.section_tables.copy(),
            "paragraph_tables": state.paragraph_tables.copy(),
            "mu": sums["doc_topic"],
            "sections": sums["section_topic"],
            "paragraphs": sums["segment_topic"],
            "setting": np.concatenate([state.discount, state.concentration]),
        }
        if "log_joint" in expected:
            now["log_joint"] = state.log_joint()
        return tuple(now[name] for name in expected)

    def compare(*draws):
        for values, (name, mean) in zip(draws, expected.items(), strict=True):
            yield values, mean, name, 1e-3

    check_chain(step, compare, n_sweeps)


def problem_of(name, setting, **changes):
    discount, concentration = setting
    return sections.Problem(
        DOCUMENTS[name], ALPHA, discount, concentration, gamma=ETA, n_features=2, **changes
    )


@pytest.mark.parametrize("setting", [PLAIN, DISCOUNTED], ids=["plain", "discounted"])
@pytest.mark.parametrize("name", ["one", "odd"])
def test_posterior(name, setting):
    check(problem_of(name, setting), 24_000)


@pytest.mark.parametrize(
    ("name", "unit", "bursts"),
    mostly_slow(
        [
            ("one", "document", (0.0, 0.8)),
            ("one", "segment", (0.3, 0.4)),
            ("two", "document", (0.4, 0.5)),
            ("odd", "document", (0.0, 0.4)),
        ],
        [("one", "document", (0.0, 0.8))],
    ),
)
def test_bursts(name, unit, bursts):
    problem = SectionedProblem(
        DOCUMENTS[name], ALPHA, *DISCOUNTED, gamma=ETA, n_features=2, bursts=bursts, unit=unit
    )
    check(problem, 24_000)


@pytest.mark.parametrize("unit", ["document", pytest.param("segment", marks=pytest.mark.slow)])
def test_predictions_with_bursts(unit):
    """Words of all sections of a document predict others."""
    a, b = 0.4, 0.8
    problem = SectionedProblem(
        [[[[0, 0, 0], [0, 1]], [[0, 1]]]], ALPHA, *DISCOUNTED, phi=PHI, bursts=(a, b), unit=unit
    )
    X = SegmentedCorpus.from_documents(problem.documents, n_features=2)
    observed, scored, segment_of = split_words(X)
    ends = observed.segment_ptr.tolist()
    halves = [observed.tokens[i:j].tolist() for i, j in pairwise(ends)]

    def evidence(first, second, third):
        documents = [[[first, second], [third]]]
        return sections.enumerate_posterior(replace(problem, documents=documents))["log_evidence"]

    without = evidence(*halves)
    more = [
        [[*words, w] if i == j else words for i, words in enumerate(halves)]
        for w, j in zip(scored.tolist(), segment_of.tolist(), strict=True)
    ]
    scores = [
        SectionedTopicModel.from_topics(
            PHI, doc_topic_prior=np.array(ALPHA), discount=DISCOUNTED[0],
            concentration=DISCOUNTED[1], burst_concentration=b, burst_discount=a, burst_scope=unit,
            transform_max_iter=4000, random_state=seed,
        ).score_samples(X)[0]
        for seed in range(N_BATCHES)
    ]  # fmt: skip
    expected = sum(evidence(*words) - without for words in more)
    assert_means(np.array(scores), expected, "score", resolution=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "setting"),
    [("one", PLAIN), ("two", DISCOUNTED), ("long", DISCOUNTED), ("odd", PLAIN)],
    ids=["one-plain", "two-discounted", "long-discounted", "odd-plain"],
)
def test_posterior_long(name, setting):
    check(problem_of(name, setting), 120_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [
        ((0.3, 0.2), (None, 1.5)),
        ((0.3, 0.2), (1.5, None)),
        ((None, 0.2), (1.5, 0.8)),
        ((0.3, None), (1.5, 0.8)),
    ],
    ids=["b of sections", "b of paragraphs", "a of sections", "a of paragraphs"],
)
def test_learned_parameters(setting):
    problem = problem_of("two", setting, concentration_prior=(2.0, 0.8), discount_prior=(1.5, 2.0))
    check(problem, 60_000)


def check_segmented(problem, documents, concentration, discount, n_sweeps):
    """Compare draws with all topics and tables of the segmented topic model."""
    other = segmented.Problem(documents, ALPHA, discount, concentration, gamma=ETA, n_features=2)
    means = segmented.enumerate_posterior(other)
    names = {"coassignment": "coassignment", "mu": "mu", "paragraphs": "nu"}
    check(problem, n_sweeps, {name: getattr(means, of) for name, of in names.items()})


@pytest.mark.parametrize("name", ["one", "two"])
def test_equal_sections_are_a_segmented_topic_model(name):
    """If b of sections is infinite, sections have the shares of their document."""
    problem = problem_of(name, ((0.2, 0.4), (LARGE, 1.5)))
    documents = [[p for section in document for p in section] for document in DOCUMENTS[name]]
    check_segmented(problem, documents, 1.5, 0.4, 24_000)


@pytest.mark.parametrize("name", ["one", "two"])
def test_equal_paragraphs_are_a_segmented_topic_model(name):
    """If b of paragraphs is infinite, the words of a section are those of one segment."""
    problem = problem_of(name, ((0.4, 0.2), (1.5, LARGE)))
    joined = [[[[w for p in section for w in p]] for section in doc] for doc in DOCUMENTS[name]]
    documents = [[section[0] for section in document] for document in joined]
    check_segmented(replace(problem, documents=joined), documents, 1.5, 0.4, 24_000)


def test_oracles_agree():
    """With sections like their document, all tables that order from it are those of paragraphs."""
    problem = problem_of("one", ((0.2, 0.4), (1e12, 1.5)))
    found = sections.enumerate_posterior(problem)
    documents = [[p for section in document for p in section] for document in DOCUMENTS["one"]]
    expected = segmented.enumerate_posterior(
        segmented.Problem(documents, ALPHA, 0.4, 1.5, gamma=ETA, n_features=2)
    )
    np.testing.assert_allclose(found["coassignment"], expected.coassignment, rtol=1e-8)
    np.testing.assert_allclose(found["paragraph_tables"], expected.tables_to_document, rtol=1e-8)
    np.testing.assert_allclose(found["paragraphs"], expected.nu, rtol=1e-8)


def test_log_joint():
    """Every state of a chain, against all tables of the network with the same topics."""
    problem = problem_of("two", DISCOUNTED)
    sampler = make_sampler(problem)
    values = {}
    for _ in range(200):
        sampler.sweep()
        state = sampler.state()
        key = tuple(state.topics), state.section_tables.tobytes(), state.paragraph_tables.tobytes()
        values[key] = state.log_joint()
        expected = sections.log_joint(
            problem, state.topics, state.section_tables, state.paragraph_tables
        )
        assert values[key] == pytest.approx(expected, abs=1e-8)
    assert len(values) > 20
