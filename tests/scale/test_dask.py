"""Partitions on a cluster: the bits of one machine, lost workers, errors, nothing left behind."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scale.workers import assert_nothing_is_left, kill_a_worker, one_worker

from skdp._executors import LostWorkerError, choose_executor
from skdp._executors._dask import DaskExecutor
from skdp.data import PartitionedPanel, PartitionedSentences, SequencePanel, TokenSequences
from skdp.grammar import HDPPCFG
from skdp.grammar._chart._paths import without_empty
from skdp.grammar._induction._ascent import start_weights
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._partitions import DistributedSentences
from skdp.sequence import HDPHMMLT

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

# Dask issues its own warnings, and fits of grammars are too short to converge.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

RNG = np.random.default_rng(0)
SENTENCES = TokenSequences.from_sequences(
    [RNG.integers(0, 5, RNG.integers(0, 7)) for _ in range(40)], n_features=5
)
WEIGHTS = start_weights(GrammarLayout(5, 2, None), np.full(2, 0.5), np.random.default_rng(1))


def model(**params):
    return HDPPCFG(2, **{"max_iter": 3, "random_state": 0, **params})


def split(n):
    return PartitionedSentences.from_sentences(SENTENCES, n)


def here(**params):
    """Return what this process alone fits."""
    with joblib.parallel_config("threading"):
        return model(**params).fit(split(3))


def assert_same(first, second):
    for name in ("root_probs_", "emission_probs_", "binary_probs_", "lower_bounds_"):
        assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize(
    "params", [{}, {"n_init": 2}, {"inference": "viterbi-em"}, {"n_preterminals": 2}], ids=str
)
def test_bits_are_those_of_one_machine(client, params):
    assert_same(model(**params).fit(split(3)), here(**params))
    assert_nothing_is_left(client)


@pytest.mark.parametrize("params", [{}, {"inference": "viterbi-em"}], ids=str)
def test_brackets(client, params):
    """Each worker gets the brackets of its own partitions."""
    X = split(3)
    y = [[[(0, len(words) - 1)] if len(words) > 2 else None for words in part]
         for part in X.partitions]  # fmt: skip
    with joblib.parallel_config("threading"):
        expected = model(**params).fit(X, y)
    assert_same(model(**params).fit(X, y), expected)
    assert not np.array_equal(expected.binary_probs_, here(**params).binary_probs_)
    assert_nothing_is_left(client)


@pytest.mark.parametrize("n_partitions", [1, 9])
def test_bits_do_not_depend_on_workers(client, n_partitions):
    X = split(n_partitions)
    with joblib.parallel_config("threading"):
        expected = model().fit(X)
    assert_same(model().fit(X), expected)


def test_files_and_what_dask_computes(client, tmp_path):
    expected = here()
    assert_same(model().fit(split(3).to_files(tmp_path)), expected)
    parts = [dask.delayed(part) for part in split(3).partitions]
    assert_same(model().fit(PartitionedSentences.from_delayed(parts, 5)), expected)
    assert_nothing_is_left(client)


def test_predictions_are_lazy(client, tmp_path):
    fitted = here()
    X = split(3).to_files(tmp_path)
    scores, shares, trees = fitted.score_samples(X), fitted.transform(X), fitted.predict(X)
    assert scores.shape == (40,)
    assert shares.chunks == (tuple(map(len, X.partitions)), (2,))
    assert_array_equal(scores.compute(), fitted.score_samples(SENTENCES))
    assert_array_equal(shares.compute(), fitted.transform(SENTENCES))
    assert trees.compute() == fitted.predict(SENTENCES)
    with joblib.parallel_config("threading"):
        expected = fitted.score(X)
    assert fitted.score(X) == expected
    unknown = PartitionedSentences.from_delayed([dask.delayed(SENTENCES)], 5)
    assert_array_equal(fitted.score_samples(unknown).compute(), scores.compute())
    assert_nothing_is_left(client)


def test_states_of_panels_are_lazy(client, tmp_path):
    rng = np.random.default_rng(0)
    panel = SequencePanel.from_sequences([rng.normal(size=(n, 2)) for n in (4, 1, 7, 3, 5)])
    with joblib.parallel_config("threading"):
        fitted = HDPHMMLT(3, max_iter=12, random_state=0).fit(panel)
        expected = fitted.score_samples(panel), fitted.transform(panel), fitted.predict(panel)
        score = fitted.score(PartitionedPanel.from_panel(panel, 2))
    X = PartitionedPanel.from_panel(panel, 2).to_files(tmp_path)
    scores, shares, states = fitted.score_samples(X), fitted.transform(X), fitted.predict(X)
    assert shares.chunks == (tuple(map(len, X.partitions)), (3,))
    assert_array_equal(scores.compute(), expected[0])
    assert_array_equal(shares.compute(), expected[1])
    for mine, theirs in zip(states.compute(), expected[2], strict=True):
        assert_array_equal(mine, theirs)
    assert fitted.score(X) == score
    assert_nothing_is_left(client)


def test_errors_name_the_partition(client, tmp_path):
    X = split(3).to_files(tmp_path)
    (tmp_path / "part-00002" / "tokens.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"partition 2 \(part-00002\): .*tokens.npy"):
        model().fit(X)
    assert_nothing_is_left(client)


def test_a_partition_that_cannot_be_computed_is_named(client):
    @dask.delayed
    def load(i):
        if i == 1:
            raise ValueError("no rows")
        return SENTENCES

    X = PartitionedSentences.from_delayed([load(0), load(1)], 5)
    with pytest.raises(ValueError, match="partition 1: no rows"):
        model().fit(X)
    assert_nothing_is_left(client)


def test_other_versions(client, monkeypatch):
    monkeypatch.setattr("skdp._executors._dask.describe_versions", lambda: "skdp 0")
    with pytest.raises(RuntimeError, match="but this process has skdp 0"):
        model().fit(split(3))
    assert_nothing_is_left(client)


def test_a_lost_worker_is_an_error_of_the_executor(client):
    with choose_executor(None) as executor:
        executor.place(split(4)._parts, without_empty)
        kill_a_worker(client)
        with pytest.raises(LostWorkerError, match=r"gone, and with them the partitions 0, 1\."):
            executor.results([executor.call(s, "__len__") for s in range(4)])
    client.wait_for_workers(2, timeout=120)


@pytest.mark.parametrize("error", [ConnectionResetError, distributed.comm.CommClosedError])
def test_a_worker_lost_while_something_is_shared(client, monkeypatch, error):
    """The connection breaks before the scheduler has noticed the loss of the worker."""

    def scatter(*args, **kwargs):
        kill_a_worker(client)
        raise error

    with choose_executor(None) as executor:
        executor.place(split(4)._parts, without_empty)
        monkeypatch.setattr(client, "scatter", scatter)
        with pytest.raises(LostWorkerError, match=r"gone, and with them the partitions 0, 1\."):
            executor.share(1)
    client.wait_for_workers(2, timeout=120)


def test_a_broken_connection_that_is_no_loss(client, monkeypatch):
    def scatter(*args, **kwargs):
        raise ConnectionResetError

    monkeypatch.setattr("skdp._executors._dask._HEARSAY", 0.2)
    with choose_executor(None) as executor:
        executor.place(split(4)._parts, without_empty)
        monkeypatch.setattr(client, "scatter", scatter)
        with pytest.raises(ConnectionResetError):
            executor.share(1)


def test_expectations_survive_a_lost_worker(client):
    with joblib.parallel_config("threading"), choose_executor(None) as executor:
        expected = DistributedSentences(split(4), executor).rule_counts(np.dtype(float), WEIGHTS)
    with choose_executor(None) as executor:
        data = DistributedSentences(split(4), executor)
        kill_a_worker(client)
        with pytest.warns(RuntimeWarning, match="gone.*They are opened again"):
            log_likelihood, counts = data.rule_counts(np.dtype(float), WEIGHTS)
    assert log_likelihood == expected[0]
    for mine, theirs in zip(counts, expected[1], strict=True):
        assert_array_equal(mine, theirs)
    client.wait_for_workers(2, timeout=120)
    assert_nothing_is_left(client)


@pytest.mark.parametrize("what", ["client", "cluster"])
@pytest.mark.parametrize("use", ["call", "share", "place", "go_on"])
def test_a_cluster_that_is_closed_is_lost(what, use):
    """A closed client has its own errors, at any time during a fit."""
    with one_worker() as (cluster, client):
        executor = DaskExecutor(client)
        executor.place(split(2)._parts, without_empty)
        {"client": client, "cluster": cluster}[what].close()
        uses = {
            "call": lambda: executor.results([executor.call(0, "__len__")]),
            "share": lambda: executor.share(WEIGHTS),
            "place": lambda: executor.place(split(2)._parts, without_empty),
            "go_on": lambda: executor.go_on(None),
        }
        with pytest.raises(LostWorkerError, match=r"is closed|does not answer|are gone"):
            uses[use]()


def test_a_handler_may_raise_a_timeout(client, monkeypatch):
    """It is not taken for the end of a short wait."""

    def alarm(*_, **__):
        raise TimeoutError("by a handler")

    executor = DaskExecutor(client)
    executor.place(split(2)._parts, without_empty)
    monkeypatch.setattr(distributed, "wait", alarm)
    with pytest.raises(TimeoutError, match="by a handler"):
        executor.results([executor.call(0, "__len__")])
    executor.drop()


@pytest.mark.filterwarnings("default")
def test_workers_that_are_paused_are_named(client, monkeypatch):
    executor = DaskExecutor(client)
    executor.place(split(2)._parts, without_empty)
    workers = {address: {"status": "paused"} for address in executor._addresses[1:]}
    monkeypatch.setattr("skdp._executors._dask._SILENCE", -1)
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": workers})
    with pytest.warns(RuntimeWarning, match=f"paused the worker.*{executor._addresses[1]}"):
        executor.results([executor.call(0, "__len__")])
    executor.drop()
