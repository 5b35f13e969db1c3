"""`partial_fit`: data in batches, of every estimator that has it."""

import pickle
import signal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from skdp.inference._chain import Chain
from skdp.language import HierarchicalPitmanYorLM
from skdp.mixture import DPMixture, PitmanYorMixture
from skdp.sequence import HDPHMMLT
from skdp.topics import GibbsLDA, HDPTopicModel
from skdp.topics._shared._sampler import keep_rows

RNG = np.random.default_rng(0)
SHORT = {"max_iter": 12, "stream_sweeps": 6, "random_state": 0}
WORDS = np.kron(np.eye(4), np.ones(5)) / 5.0


def rows_at(*centers):
    return np.concatenate([RNG.normal(center, 0.5, (20, 2)) for center in centers])


def counts_of(*topics):
    return np.concatenate([RNG.multinomial(30, WORDS[k], 15) for k in topics])


def sequences_of(*levels):
    return [RNG.normal(np.repeat(RNG.permutation(levels), 8), 0.5)[:, None] for _ in range(6)]


def joined(batches):
    if isinstance(batches[0], list):
        return [sequence for batch in batches for sequence in batch]
    return np.concatenate(batches)


ROWS = [rows_at(0, 5), rows_at(0, 5, 10), rows_at(10)]
COUNTS = [counts_of(0, 1), counts_of(0, 1, 2), counts_of(2)]
SEQUENCES = [sequences_of(0, 5), sequences_of(0, 5, 10), sequences_of(0, 10)]
SENTENCES = [RNG.integers(0, 5, (15, 6)) for _ in range(3)]
STREAMS = {
    "DPMixture": (DPMixture(**SHORT), ROWS),
    "blocked": (PitmanYorMixture(sampler="blocked", n_chains=2, **SHORT), ROWS),
    "GibbsLDA": (GibbsLDA(4, **SHORT), COUNTS),
    "sparse": (GibbsLDA(400, **SHORT), COUNTS),
    "HDPTopicModel": (HDPTopicModel(n_chains=2, **SHORT), COUNTS),
    "no bursts": (HDPTopicModel(burst_concentration=None, level="segment", **SHORT), COUNTS),
    "HierarchicalPitmanYorLM": (HierarchicalPitmanYorLM(**SHORT), SENTENCES),
    "any order": (HierarchicalPitmanYorLM(None, n_chains=2, **SHORT), SENTENCES),
    "HDPHMMLT": (HDPHMMLT(6, **SHORT), SEQUENCES),
    "semi-Markov": (HDPHMMLT(6, duration="poisson", n_chains=2, **SHORT), SEQUENCES),
}
every_stream = pytest.mark.parametrize("name", STREAMS)
UNGROUPED = ("HierarchicalPitmanYorLM", "any order", "HDPHMMLT", "semi-Markov")


def check_current(model, name, batches):
    """Check that attributes show the state after an interrupt, with the samples of all batches."""
    assert model.n_iter_ < 3
    assert np.isfinite(model.score(batches[0]))
    if name not in UNGROUPED:
        assert len(groups_of(model)) == sum(map(len, batches))


def stream_of(name):
    model, batches = STREAMS[name]
    return clone(model), batches


def results_of(model):
    """Return the results that must be identical in two fits."""
    names = (
        *("labels_", "components_", "doc_topic_", "discounts_", "n_tables_"),
        *("transmat_", "component_labels_"),
    )
    found = [getattr(model, name).tolist() for name in names if hasattr(model, name)]
    return found, model.trace_["log_joint"].tolist()


def groups_of(model):
    return model.labels_ if hasattr(model, "labels_") else model.doc_topic_.argmax(axis=1)


@every_stream
def test_one_batch_is_a_fit(name):
    model, (first, *_) = stream_of(name)
    assert results_of(model.partial_fit(first)) == results_of(clone(model).fit(first))


@every_stream
def test_a_pickle_continues(name):
    model, batches = stream_of(name)
    copy = pickle.loads(pickle.dumps(model.partial_fit(batches[0]).partial_fit(batches[1])))
    assert results_of(model.partial_fit(batches[2])) == results_of(copy.partial_fit(batches[2]))
    if name not in UNGROUPED:
        assert len(groups_of(model)) == sum(map(len, batches))
    assert model.n_iter_ == 6
    assert np.isfinite(model.score(batches[0]))


@pytest.mark.parametrize("name", [name for name in STREAMS if name not in ("sparse", *UNGROUPED)])
def test_numbers_stay(name):
    """What is found again keeps its number; a third group has another one."""
    model, (first, second, third) = stream_of(name)
    n = len(first) // 2
    model.set_params(max_iter=60, stream_window=n + len(second) + len(third))
    before = groups_of(model.partial_fit(first))
    now = groups_of(model.partial_fit(second).partial_fit(third))
    assert np.mean(now[:n] == before[-n:]) > 0.9
    assert (now[-len(third) :] == now[-1]).mean() > 0.9
    assert now[-1] not in before


@pytest.mark.parametrize("judge", [False, True])
def test_numbers_of_states_stay(judge):
    """A third state has another number, and comes last; the judge of the first call allows it."""
    model, (first, second, third) = stream_of("HDPHMMLT")
    model.set_params(judge=judge, random_state=1, stream_window=14)
    before = np.concatenate(model.set_params(max_iter=60).partial_fit(first).predict(first))
    model.set_params(stream_sweeps=30).partial_fit(second).partial_fit(third)
    now = np.concatenate(model.predict(first))
    assert np.mean(now == before) > 0.95
    assert {*before} == {0, 1}
    values = np.concatenate(third).ravel()
    assert np.mean((np.concatenate(model.predict(third)) == 2) == (values > 7.5)) > 0.95


def test_a_closed_cluster_keeps_its_number():
    model, (first, second, _) = stream_of("DPMixture")
    model.partial_fit(first)
    model.cluster_labels_ = np.array([0, 1, 7])  # as if the third had closed
    model.partial_fit(second)
    assert model.cluster_labels_.tolist() == [0, 1, 7, 8]
    assert model.n_clusters_ == 3
    assert (model.predict_proba(first)[:, 2] == 0.0).all()
    assert {row.component for row in model.explain()} == {0, 1, 8}
    assert model.compact().cluster_labels_.tolist() == [0, 1, 8]
    assert model.predict_proba(first).shape == (len(first), 3)


def test_known_labels_of_later_rows():
    """A label takes its number, and the cluster that had it another."""
    model, (first, second, _) = stream_of("DPMixture")
    model.partial_fit(first)
    number = model.labels_[0]
    y = np.full(len(second), -1)
    y[-2:] = number  # in the third group
    model.partial_fit(second, y)
    assert set(model.labels_[-20:]) == {number}
    assert model.labels_[0] == model.labels_[40] == 2


def test_rows_of_topics():
    """A topic with other words has a new row; one that has closed keeps its row, with weight 0."""
    means = {"components_": WORDS[[3, 2, 0]], "weights_": np.array([0.5, 0.3, 0.2])}
    axes = {"components": 0, "weights": 0, "doc_topic": 1}
    means["doc_topic_"] = np.array([[0.6, 0.3, 0.1]])
    kept = keep_rows(WORDS[:3], means, axes, 0)
    np.testing.assert_array_equal(kept["components_"], WORDS)
    np.testing.assert_array_equal(kept["weights_"], [0.2, 0.0, 0.3, 0.5])
    np.testing.assert_array_equal(kept["doc_topic_"], [[0.1, 0.0, 0.3, 0.6]])
    del means["weights_"]  # as many topics as before
    assert keep_rows(WORDS[:3], means, axes, 0)["components_"].shape == (3, 20)


@pytest.mark.parametrize("model", [GibbsLDA(4, doc_topic_prior=1e-3), HDPTopicModel()])
def test_documents_of_one_topic(model):
    """The first word of a later document does not choose the topic of all others."""
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(100, 0.05), 4)
    topics = rng.integers(0, 4, 180)
    X = np.array([rng.multinomial(40, words[k]) for k in topics])
    model = clone(model).set_params(max_iter=100, random_state=0)
    for batch in np.split(X, 3):
        model.partial_fit(batch)
    assert adjusted_rand_score(model.doc_topic_.argmax(axis=1), topics) > 0.98


def test_a_stream_that_begins_with_one_topic():
    model = HDPTopicModel(**SHORT)
    for even in RNG.multinomial(30, np.full(20, 0.05), (4, 60)):
        assert model.partial_fit(even).n_components_ == 1
    assert model.partial_fit(np.concatenate(COUNTS)).n_components_ > 2


def test_compact_topics():
    model, (first, *_) = stream_of("HDPTopicModel")
    model.partial_fit(first)
    words, shares = model.components_, model.transform(first)
    model.weights_[-1] = 0.0
    model.compact()
    assert model.n_components_ == len(words) - 1
    np.testing.assert_array_equal(model.components_, words[:-1])
    assert model.transform(first).shape == (len(first), shares.shape[1] - 1)


@every_stream
def test_what_leaves_makes_no_difference(name):
    """What stays keeps its state; a batch as large as the window is fitted alone."""
    model, (first, second, third) = stream_of(name)
    n = len(first) // 2
    model.set_params(stream_window=n + len(second)).partial_fit(first)
    before = model._saved.runs[0].sampler
    data, staying = model._check_batch(model._stream, second, None)
    after = model._extend_sampler(before, data, staying.start)
    assert len(staying) == n
    if name in UNGROUPED[:2]:  # `test_posterior_of_a_stream` has customers
        assert after.n_settled == n
    else:
        key = next(key for key in ("labels", "topics", "states") if hasattr(before, key))
        n = int(np.sum(first[-n:])) if key == "topics" else len(np.concatenate(first[-n:]))
        n = len(staying) if key == "labels" else n
        assert adjusted_rand_score(getattr(before, key)[-n:], getattr(after, key)[:n]) == 1.0
    model.partial_fit(second).partial_fit(third)
    alone = model.set_params(stream_window=1).partial_fit(first)
    assert results_of(alone) == results_of(clone(model).fit(first))


@every_stream
def test_interrupts(name, monkeypatch):
    """The batch is in after Ctrl-C; after an error in a sweep, the chain starts over."""
    model, batches = stream_of(name)
    model.set_params(n_chains=1).partial_fit(batches[0])
    advance, stops = Chain.advance, iter([None, signal.SIGINT, None, MemoryError])

    def interrupted(chain, schedule):
        stop = next(stops)
        if stop is MemoryError:
            raise stop
        advance(chain, schedule)
        if stop is not None:
            signal.raise_signal(stop)

    monkeypatch.setattr(Chain, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(batches[1])
    check_current(model, name, batches[:2])
    with pytest.raises(MemoryError):
        model.partial_fit(batches[2])
    monkeypatch.setattr(Chain, "advance", advance)
    with pytest.warns(UserWarning, match="starts over"):
        model.partial_fit(batches[2])
    assert results_of(model) == results_of(clone(model).fit(joined(batches)))


@every_stream
def test_interrupts_before_the_first_sweep(name, monkeypatch):
    model, batches = stream_of(name)
    model.partial_fit(batches[0])
    check = type(model)._check_batch

    def interrupted(*args):
        signal.raise_signal(signal.SIGINT)
        return check(*args)

    monkeypatch.setattr(type(model), "_check_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(batches[1])
    assert not model._saved.is_inconsistent
    check_current(model, name, batches[:2])


@pytest.mark.parametrize(
    ("name", "change", "X", "message"),
    [
        ("DPMixture", {"concentration": 2.0}, ROWS[0], "had concentration='auto'; got"),
        ("DPMixture", {}, ROWS[0][:, :1], "X has 1 features"),
        ("HDPTopicModel", {}, COUNTS[0][:, :7], "X has 7 features"),
        ("DPMixture", {}, [[np.inf, 0.0]], "contains infinity"),
        ("HierarchicalPitmanYorLM", {"order": 2}, SENTENCES[0], "had order=3; got order=2"),
        ("HierarchicalPitmanYorLM", {}, SENTENCES[0] + 5, "word id"),
        ("HierarchicalPitmanYorLM", {}, SENTENCES[0][:, :5], "X has 5 features"),
    ],
)
def test_later_calls_that_are_refused(name, change, X, message):
    model, (first, second, _) = stream_of(name)
    model.partial_fit(first)
    copy = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match=message):
        model.set_params(**change).partial_fit(X)
    model.set_params(**{key: getattr(copy, key) for key in change})
    assert results_of(model.partial_fit(second)) == results_of(copy.partial_fit(second))


def test_a_fit_starts_over():
    first, model = ROWS[0], DPMixture(**SHORT).partial_fit(ROWS[0])
    model.fit(ROWS[1])
    assert len(model.labels_) == len(ROWS[1])
    with pytest.warns(UserWarning, match="begins with X alone"):
        model.partial_fit(first)
    assert results_of(model) == results_of(clone(model).fit(first))
