"""The trace, and labels that are matched."""

import builtins
import pickle

import numpy as np
import pytest

from skdp.inference import Trace
from skdp.inference._trace import align_labels


@pytest.fixture
def trace():
    rows = [[{"log_joint": -10.0 * c - i, "b": float(i)} for i in range(4 - c)] for c in range(2)]
    return Trace.from_chains(rows, [[2, 4, 6, 8], [2, 4, 6]])


def test_it_is_a_mapping_of_arrays_as_far_as_all_chains_came(trace):
    assert list(trace) == ["log_joint", "b"]
    assert trace.n_chains == 2
    assert trace.sweeps.tolist() == [2, 4, 6]
    assert trace["log_joint"].tolist() == [[0.0, -1.0, -2.0], [-10.0, -11.0, -12.0]]
    assert len(trace) == 2
    assert "b" in trace


def test_it_is_read_only(trace):
    with pytest.raises(ValueError, match="read-only"):
        trace["b"][0, 0] = 1.0
    with pytest.raises(KeyError):
        trace["c"]


def test_repr_and_pickle(trace):
    assert repr(trace) == "Trace(log_joint, b; 2 chains x 3 kept sweeps)"
    again = pickle.loads(pickle.dumps(trace))
    assert again == trace
    assert not again["b"].flags.writeable
    assert trace != Trace.from_chains([[{"b": 1.0}]], [[1]])


def test_arviz_is_optional(trace, monkeypatch):
    real = builtins.__import__

    def without_arviz(name, *args, **kwargs):
        if name == "arviz":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_arviz)
    with pytest.raises(ImportError, match=r"skdp\[arviz\]"):
        trace.to_arviz()


@pytest.mark.slow  # the import alone takes seconds
@pytest.mark.filterwarnings("ignore")  # arviz's own
def test_to_arviz(trace):
    pytest.importorskip("arviz")
    posterior = trace.to_arviz().posterior
    np.testing.assert_array_equal(posterior["b"].values, trace["b"])
    np.testing.assert_array_equal(posterior.coords["draw"], [2, 4, 6])


@pytest.fixture
def summary():
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((2, 100)) - 1e6
    return Trace(np.arange(1, 101), {"log_joint": draws, "given": np.ones((2, 100))}).summary()


def test_summary(summary):
    assert list(summary) == ["log_joint", "given"]
    mean, sd, r_hat, ess_bulk = row = summary["log_joint"]
    assert (row.mean, row.sd, row.r_hat, row.ess_bulk) == row
    assert mean == pytest.approx(-1e6, abs=0.3)
    assert sd == pytest.approx(1.0, abs=0.2)
    assert 0.99 < r_hat < 1.05
    assert 100.0 < ess_bulk < 300.0
    assert summary["given"][:2] == (1.0, 0.0)
    assert np.isnan(summary["given"].r_hat)
    assert summary["given"].ess_bulk == 200.0
    with pytest.raises(KeyError):
        summary["other"]


def test_summary_is_shown_as_a_table(summary):
    head, *lines = repr(summary).splitlines()
    assert head.split() == ["mean", "sd", "r_hat", "ess_bulk"]
    assert [line.split()[0] for line in lines] == ["log_joint", "given"]
    assert len({len(line) for line in [head, *lines]}) == 1
    assert lines[1].split()[1:] == ["1", "0", "nan", "200"]


def test_summary_makes_a_data_frame(summary):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(summary.values(), index=summary)
    assert frame.columns.tolist() == ["mean", "sd", "r_hat", "ess_bulk"]
    assert frame.loc["given", "ess_bulk"] == 200.0


def test_summary_of_a_single_sweep():
    row = Trace(np.array([1]), {"log_joint": np.array([[-3.0]])}).summary()["log_joint"]
    assert row.mean == -3.0
    assert np.isnan(row[1:]).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_permutation_is_found_in_spite_of_noise(seed):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(30, 0.1), size=8)
    order = rng.permutation(8)
    noisy = topics[order] + 0.1 * rng.dirichlet(np.ones(30), size=8)
    assert np.array_equal(align_labels(topics, noisy), order)


def test_the_sum_counts_not_the_single_best():
    reference = np.array([[0.6, 0.4, 0.0], [0.5, 0.0, 0.5]])
    current = np.array([[0.7, 0.15, 0.15], [0.0, 1.0, 0.0]])
    assert align_labels(reference, current).tolist() == [1, 0]
