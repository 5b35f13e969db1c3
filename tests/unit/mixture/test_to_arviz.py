"""The data for arviz.loo: what is refused, and the order of the stored samples."""

import numpy as np
import pytest

from skdp.emissions import CategoricalEmission
from skdp.mixture import DPMixture

X = np.repeat([[0.0, 1.0], [7.0, 9.0]], 6, axis=0)


@pytest.fixture
def mixture():
    return DPMixture("poisson", max_iter=24, n_samples=4, n_chains=2, random_state=0)


def test_order_of_samples(mixture, monkeypatch):
    """Chains are rows, sweeps are columns, with the scalars of these sweeps."""
    calls = []
    monkeypatch.setattr(
        "skdp._fit._chain_estimator.make_inference_data", lambda *args: calls.append(args)
    )
    mixture.fit(X).to_arviz(X)
    (name, groups, sweeps, dims), *_ = calls
    assert name == "DPMixture.to_arviz"
    assert dims == {"x": ["row"]}
    assert groups["log_likelihood"]["x"].shape == (2, 4, 12)
    np.testing.assert_array_equal(sweeps, [s for c, s in mixture._stored if c == 0])
    trace = mixture.trace_
    assert len(trace.sweeps) == 4 or len(trace.sweeps) > len(sweeps)
    for name, values in groups["posterior"].items():
        np.testing.assert_array_equal(values, trace[name][:, np.isin(trace.sweeps, sweeps)])
    sizes = [
        [len(np.unique(model.labels)) for model in mixture._models[4 * c :][:4]] for c in (0, 1)
    ]
    np.testing.assert_array_equal(groups["posterior"]["n_components"], sizes)


def test_refused(mixture):
    with pytest.raises(ValueError, match="the data that the model was fitted to"):
        mixture.fit(X).to_arviz(X[::-1])
    with pytest.raises(ValueError, match="without sample_weight"):
        mixture.fit(X, sample_weight=np.repeat([1, 2], 6)).to_arviz(X)
    with pytest.raises(ValueError, match="known labels"):
        mixture.fit(X, np.repeat([-1, 0], 6)).to_arviz(X)


def test_categories(mixture):
    """Which of several columns differ between clusters depends on the row that is left out."""
    codes = (X > 2.0).astype(int)
    mixture.set_params(emission="categorical").fit(codes)
    with pytest.raises(TypeError, match="columns of categories with a known prior"):
        mixture.to_arviz(codes)
    mixture.fit(codes[:, :1])  # a single column always differs
    (emission,) = {type(model.emission).__name__ for model in mixture._models}
    assert emission == "CategoricalModel"
    mixture.set_params(emission=CategoricalEmission(2, prior=0.5)).fit(codes)
    mixture.set_params(emission=CategoricalEmission(9, prior=0.5))
    with pytest.raises(ValueError, match="not that of the fit"):
        mixture.to_arviz(codes)
