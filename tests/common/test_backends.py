"""Where the work is done has no effect: joblib's backends give the same bits for all estimators.

Fits ask for threads; a user's `parallel_config` overrules that, and then what is done is pickled.
"""

import pickle

import numpy as np
import pytest
from common.test_battery import assert_same
from joblib import parallel_config
from numpy.testing import assert_array_equal
from registry import CASES, fitted, results
from sklearn.base import clone

from skdp.data import TokenSequences
from skdp.grammar._chart._engine import sample_trees
from skdp.grammar._chart._paths import RuleWeights
from skdp.utils._checking import same_fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PARALLEL = [name for name, case in CASES.items() if "n_jobs" in case.estimator.get_params()]
FAMILIES = [
    "SegmentedTopicModel, inferred", "LDCC", "HDPTopicModel", "HDPHMMLT", "FactorialHMM", "HDPPCFG",
    "HDPPCFGRefiner", "HierarchicalPitmanYorLM", "NestedPitmanYorLM", "DPMixture", "HDPMixture",
    "IBPLatentFeatures", "HDPBackoffClassifier", "DistanceDependentCRPClassifier",
]  # fmt: skip


def check_backend(name, backend, **params):
    case = CASES[name]
    with parallel_config(backend, **params):
        found = clone(case.estimator).set_params(n_jobs=None).fit(*case.data)
        made = results(found, case.data)
    same_fit(fitted(name), found)
    assert_same(made, results(fitted(name), case.data))


@pytest.mark.parametrize("name", PARALLEL)
def test_threads(name):
    check_backend(name, "threading", n_jobs=2)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("LDCC", "HDPPCFG") else [pytest.mark.slow])
        for name in FAMILIES
    ],
)
def test_processes(name):
    """Large arrays are mapped to memory, read-only: chains work in place and want their own."""
    check_backend(name, "loky", n_jobs=2, max_nbytes=100)


@pytest.mark.slow  # it starts processes for every step
@pytest.mark.parametrize("name", ["LDCC", "HDPHMMLT", "HDPPCFG", "DPMixture"])
def test_multiprocessing(name):
    """It pickles as pickle does, not as cloudpickle."""
    check_backend(name, "multiprocessing", n_jobs=2)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_kernel_is_sent(name):
    """Other processes get no objects of numba, which each would recompile for minutes."""
    estimator = clone(CASES[name].estimator)
    data = estimator._check_input(*CASES[name].data)
    assert b"numba" not in pickle.dumps(estimator._make_procedure(data).start().runs)


def test_drawn_trees():
    """Streams are advanced in place, although other processes do the work."""
    rng = np.random.default_rng(0)
    lengths = np.r_[rng.integers(1, 6, 1000), 40]
    sentences = TokenSequences.from_sequences([rng.integers(0, 4, n) for n in lengths], 4)
    weights = RuleWeights(
        *(np.log(rng.random(shape)) for shape in ((2,), (2, 4), (2, 2, 2))), n_preterminals=None
    )
    streams = rng.integers(2**63, size=(len(sentences), 4)).astype(np.uint64)
    moved = streams.copy()
    expected = sample_trees(sentences, weights, moved)
    with parallel_config("loky", n_jobs=2):
        found = sample_trees(sentences, weights, streams)
    assert_array_equal(streams, moved)
    for one, two in zip(found, expected, strict=True):
        assert_array_equal(one, two)


@pytest.mark.slow  # it starts a cluster
@pytest.mark.filterwarnings("ignore")  # dask's own
def test_dask():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        for name in FAMILIES[::3]:
            check_backend(name, "dask")
