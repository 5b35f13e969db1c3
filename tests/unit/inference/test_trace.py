"""The trace."""

import builtins
import pickle

import numpy as np
import pytest

from skdp.inference import Trace


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
