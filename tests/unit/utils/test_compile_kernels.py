"""Kernels compiled beforehand: what later fits find, and what users hear of compiling."""

import importlib
import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import skdp
from skdp._fit import IterativeEstimator
from skdp.mixture import HDPMixture
from skdp.sequence import GaussianEmission
from skdp.utils import compile_kernels
from skdp.utils._compile_kernels import _data_for

FIT = """
import numpy as np
from skdp._numeric._kernel_cache import wait
from skdp.topics import GibbsLDA

rng = np.random.default_rng(0)
documents = [[rng.integers(0, 50, 9).tolist() for _ in range(3)] for _ in range(20)]
model = GibbsLDA(5, max_iter=20).fit(documents)
print("compiled" if wait.spent else "found")
"""
USE = FIT.replace(
    "(documents)\n",
    """(documents)
from skdp.mixture import PitmanYorMixture
PitmanYorMixture(max_iter=20).fit(rng.normal(size=(60, 3)))  # on no grid and at no limit
model.transform(documents), model.transform_segments(documents)
model.score(documents), model.log_likelihood(documents)
""",
    1,
)
"""Methods, too: compiling them takes three times as long as compiling a fit."""


def run(script, folder):
    """Run a script in a new process with a new cache."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder),
        "PYTHONPATH": str(Path(skdp.__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], env=environment,
        text=True, capture_output=True, timeout=1500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_nothing_is_left_to_compile(tmp_path):
    prepare = """
    from skdp.topics import GibbsLDA
    from skdp.utils import compile_kernels

    from skdp.language import KneserNeyLM
    from skdp.mixture import PitmanYorMixture

    model = GibbsLDA(7, warm_start=True, max_iter=10**6)
    compile_kernels([model, KneserNeyLM(), PitmanYorMixture()], n_jobs=2)
    assert not hasattr(model, "components_")
    """
    assert run(prepare, tmp_path) == ""
    assert run(FIT, tmp_path / "empty") == "compiled\n"
    assert run(USE, tmp_path) == "found\n"


def test_what_is_no_estimator_with_kernels():
    with pytest.raises(TypeError, match="got GaussianEmission"):
        compile_kernels(GaussianEmission())
    with pytest.raises(TypeError, match="got str"):
        compile_kernels(["HDPHMMLT"])
    with pytest.raises(ValueError, match="n_jobs"):
        compile_kernels([], n_jobs=0)


@pytest.mark.parametrize(
    "family", ["topics", "sequence", "grammar", "language", "mixture", "context"]
)
def test_it_knows_every_estimator_that_has_runs(family):
    module = importlib.import_module(f"skdp.{family}")
    found = [getattr(module, name) for name in module.__all__]
    found = [each for each in found if inspect.isclass(each)]
    found = [each for each in found if issubclass(each, IterativeEstimator)]
    assert found
    for each in found:
        assert list(_data_for(each())), each


@pytest.mark.parametrize("init", [[0, 1, 0], [[0, 1, 0], [1]], "sequential"])
def test_groups_fit_the_labels_that_they_begin_with(init):
    mixture = HDPMixture(init=init, max_iter=1, burn_in=0)
    (groups,), *_ = _data_for(mixture)
    assert len(mixture.fit(groups).labels_) == (1 if init == [0, 1, 0] else 2)


EVERYTHING = """
from skdp._numeric._kernel_cache import wait
from skdp.utils import _compile_kernels

_compile_kernels._SHORT = {"max_iter": 30, "random_state": 3}
for estimator in _compile_kernels._all_estimators():
    _compile_kernels._run(estimator)
    assert not wait.spent, estimator
"""


@pytest.mark.slow
@pytest.mark.skipif("SKDP_COMPILE_ALL" not in os.environ, reason="compiles everything: minutes")
def test_every_estimator_finds_its_kernels(tmp_path):
    """Longer fits, in another process, find all that two sweeps on a few samples left behind."""
    run("from skdp.utils import compile_kernels; compile_kernels()", tmp_path)
    run(EVERYTHING, tmp_path)
