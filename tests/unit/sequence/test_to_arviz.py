"""The data for arviz.loo: what is refused, and the order of the stored samples."""

from dataclasses import replace

import numpy as np
import pytest

from skdp.data import PartitionedPanel, SequencePanel
from skdp.sequence import HDPHMMLT

X = [np.repeat([0.0, 1.0, 0.0], n) for n in (4, 2, 3)]


@pytest.fixture
def model():
    return HDPHMMLT(
        2, emission="categorical", max_iter=40, burn_in=10, thin=2, n_samples=4, n_chains=3,
        random_state=1,
    )  # fmt: skip


def test_order_of_chains(model, monkeypatch):
    """The samples of the best chain come first in the estimator, but not here."""
    calls = []
    monkeypatch.setattr(
        "skdp._fit._chain_estimator.make_inference_data", lambda *args: calls.append(args)
    )
    model.fit(X)
    assert model._best_chain > 0
    model.to_arviz(X)
    (_, groups, sweeps, dims), *_ = calls
    assert dims == {"x": ["sequence"]}
    logs = groups["log_likelihood"]["x"]
    assert logs.shape == (3, len(sweeps), 3)
    panel = model._check_panel(X, reset=False)[0]

    def score(sample):
        known = replace(sample, emission=sample.drawn)
        return known.log_likelihoods(panel.ptr, panel.values)

    best = model._best_chain
    np.testing.assert_array_equal(logs[best], [score(sample) for sample in model.samples_])
    others = np.array([score(sample) for sample in model._models[len(sweeps) :]])
    np.testing.assert_array_equal(np.delete(logs, best, axis=0).reshape(others.shape), others)
    for name, values in groups["posterior"].items():
        kept = np.isin(model.trace_.sweeps, sweeps)
        np.testing.assert_array_equal(values, model.trace_[name][:, kept])


def test_drawn_parameters_are_not_overwritten(model):
    """Each stored sample has its own draw."""
    model.set_params(emission="gaussian").fit([x.reshape(-1, 1) + 0.1 * x.size for x in X])
    means = [sample.drawn.means for sample in model.samples_]
    assert all(np.abs(a - b).max() > 1e-6 for a, b in zip(means[1:], means[:-1], strict=True))


def test_refused(model):
    model.fit(X)
    for single in (X[0].reshape(-1, 1), X[:1]):
        with pytest.raises(ValueError, match="X is one sequence"):
            model.to_arviz(single)
    with pytest.raises(ValueError, match="the data that the model was fitted to"):
        model.to_arviz(X[::-1])
    with pytest.raises(ValueError, match="the data that the model was fitted to"):
        model.to_arviz([np.concatenate(X[:2]), *X[2:]])
    parts = PartitionedPanel.from_panel(SequencePanel.from_sequences(X), 2)
    with pytest.raises(TypeError, match="not to a PartitionedPanel"):
        model.fit(parts).to_arviz(X)
    known = [np.full(len(x), -1) for x in X]
    known[0][0] = 1
    with pytest.raises(TypeError, match="without known states in y"):
        model.fit(X, known).to_arviz(X)
    with pytest.raises(TypeError, match="without a duration"):
        model.set_params(duration="poisson").fit(X).to_arviz(X)
