"""Hidden Markov models on a cluster: the bits of one machine, bytes a sweep, lost workers."""

import joblib
import pytest
from scale.workers import assert_nothing_is_left, count_bytes, kill_at, one_worker
from unit.sequence.panels import EMISSIONS, KINDS, assert_same, draw_panel

from skdp._executors import LostWorkerError
from skdp._sklearn_compat import has_callbacks
from skdp.callback import Checkpoint
from skdp.data import PartitionedPanel
from skdp.sequence import HDPHMMLT
from skdp.sequence._hmm._distributed import DistributedHMMSampler

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

# Dask issues its own warnings, and fits are too short to converge.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def make(kind="gaussian", **params):
    # Partitions are not judged.
    params = {"max_iter": 12, "thin": 2, "random_state": 0, "judge": False, **params}
    return HDPHMMLT(5, emission=EMISSIONS[kind], **params)


def split(panel, n):
    return PartitionedPanel.from_panel(panel, n)


def here(kind="gaussian", **params):
    """Return what this process alone fits to the whole panel."""
    with joblib.parallel_config("threading"):
        return make(kind, **params).fit(draw_panel(kind))


EVERYTHING = {"stickiness": "auto", "similarity": "gaussian", "n_chains": 2}


@pytest.mark.parametrize("n_partitions", [1, 2, 3])
def test_bits_are_those_of_one_machine(client, n_partitions):
    found = make("missing", **EVERYTHING).fit(split(draw_panel("missing"), n_partitions))
    assert_same(found, here("missing", **EVERYTHING))
    assert_nothing_is_left(client)


@pytest.mark.parametrize("kind", KINDS)
def test_bits_of_emissions(client, kind):
    assert_same(make(kind).fit(split(draw_panel(kind), 3)), here(kind))
    assert_nothing_is_left(client)


@pytest.mark.parametrize("duration", ["poisson", "negative_binomial"])
def test_bits_of_durations(client, duration):
    panel, expected = draw_panel("missing"), here("missing", duration=duration)
    assert_same(make("missing", duration=duration).fit(split(panel, 3)), expected)
    assert_nothing_is_left(client)


def test_bits_of_impossible_transitions(client):
    params = {"transitions": "left-right"}
    found = make("missing", **params).fit(split(draw_panel("missing"), 3))
    assert_same(found, here("missing", **params))
    assert_nothing_is_left(client)


def test_one_worker_with_threads():
    expected = here("missing")
    with one_worker(2):
        for n_partitions in (1, 3):
            assert_same(make("missing").fit(split(draw_panel("missing"), n_partitions)), expected)


def test_files_and_what_dask_computes(client, tmp_path):
    expected, X = here("poisson"), split(draw_panel("poisson"), 3)
    assert_same(make("poisson").fit(X.to_files(tmp_path)), expected)
    parts = [dask.delayed(part) for part in X.partitions]
    assert_same(make("poisson").fit(PartitionedPanel.from_delayed(parts, 2)), expected)
    assert_nothing_is_left(client)


def test_a_sweep_sends_sums_and_no_steps(client, monkeypatch):
    """In a sweep of 160,000 steps the client unpacks some 60,000 bytes: no values, no states."""
    largest = count_bytes(monkeypatch, DistributedHMMSampler)
    make(max_iter=6).fit(split(draw_panel("gaussian", [8000] * 20), 4))
    assert len(largest) == 6
    assert 0 < max(largest) < 100_000


def test_a_lost_worker_is_a_clear_error(client, monkeypatch):
    kill_at(monkeypatch, client, DistributedHMMSampler, 3)
    model = make()
    with pytest.raises(
        LostWorkerError, match=r"partitions 0, 1\. The fit has lost .*Checkpoint it"
    ):
        model.fit(split(draw_panel("gaussian"), 4))
    assert not hasattr(model, "transmat_")
    client.wait_for_workers(2, timeout=120)
    monkeypatch.undo()
    assert_same(make().fit(split(draw_panel("gaussian"), 4)), here())
    assert_nothing_is_left(client)


@pytest.mark.skipif(not has_callbacks(), reason="callbacks came with scikit-learn 1.9")
def test_a_fit_goes_on_from_its_checkpoint(client, monkeypatch, tmp_path):
    """A worker is killed in sweep 10, after samples were kept."""
    kill_at(monkeypatch, client, DistributedHMMSampler, 10)
    model = make("missing").set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=4))
    with pytest.warns(RuntimeWarning, match=r"partitions 0, 1\. The fit continues from the"):
        model.fit(split(draw_panel("missing"), 4))
    assert_same(model, here("missing"))
    client.wait_for_workers(2, timeout=120)
    assert_nothing_is_left(client)
