"""Settings of Markov chains from the parameters of their estimator."""

import numpy as np
import pytest

from skdp.grammar import HDPPCFG
from skdp.mixture import DPMixture
from skdp.topics import GibbsLDA

ROWS = np.random.default_rng(0).normal(size=(12, 2))
CASES = {
    "topics": (GibbsLDA(2), [[[0, 1, 0]], [[2, 3, 2]]], 2),  # shards have threads, too
    "grammar": (HDPPCFG(2, inference="gibbs"), [[0, 1], [1, 0, 1]], 1),
    "mixture": (DPMixture(sampler="blocked"), ROWS, 1),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CASES)
def test_sweeps_of_a_warm_start_have_its_threads(name):
    """The chains of the last fit had one thread; several chains have the threads themselves."""
    estimator, X, n_with_two_chains = CASES[name]
    for n_chains, expected in ((1, 2), (2, n_with_two_chains)):
        params = {"max_iter": 2, "burn_in": 1, "n_chains": n_chains, "warm_start": True}
        estimator.set_params(**params, n_jobs=1, random_state=0).fit(X)
        estimator.set_params(max_iter=4, n_jobs=2).fit(X)
        assert [run.sampler.n_jobs for run in estimator._saved.runs] == [expected] * n_chains
        del estimator._saved
