"""Ctrl-C in the burn-in: the current state becomes the only sample of every kind of estimator."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from small_fits import FITS

from skdp.utils._checking import interrupt, list_fitted, same_fit

CHAINS = {name: fit for name, fit in FITS.items() if hasattr(fit[0], "n_chains")}
CHAINS.pop("HDPPCFG")  # an ascent has no burn-in


@pytest.mark.parametrize(("estimator", "parameters", "data"), CHAINS.values(), ids=CHAINS)
def test_interrupts_in_the_burn_in(estimator, parameters, data):
    parameters = {**parameters, "max_iter": 12, "burn_in": 8, "random_state": 0}
    stopped = clone(estimator).set_params(**parameters)
    with pytest.warns(UserWarning, match="interrupted in its burn-in"):
        interrupt(stopped, 3, *data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        straight = clone(estimator).set_params(**parameters).fit(*data)
    assert list_fitted(stopped) == list_fitted(straight)
    n_chains = parameters.get("n_chains", 1)
    assert stopped.trace_["log_joint"].shape == (n_chains, 1)
    if len(data) == 1:
        assert np.isfinite(stopped.score(*data))
    for name in ("predict", "transform", "predict_proba", "score_samples"):
        if hasattr(stopped, name) and len(data) == 1:
            assert len(getattr(stopped, name)(*data)) == len(getattr(straight, name)(*data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        same_fit(straight, stopped.set_params(warm_start=True).fit(*data))
