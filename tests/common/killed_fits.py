"""Fits that are killed at random moments go on from their checkpoint to the same bits.

A script: ``killed_fits.py N SEED NAME ...`` kills fits of each of the named estimators `N` times,
each time takes the fit up again until it comes to its end, and compares it with one that was left
alone. Names are those of ``interrupted_fits.py``. Every fit runs in a process of its own. The tests
kill few times; before a release, run it with N = 30."""

import os
import pickle
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from interrupted_fits import ESTIMATORS
from sklearn.base import clone

from skdp.callback import Checkpoint
from skdp.utils._checking import same_fit


def fit(name, folder):
    """Fit, from the checkpoint if there is one, and leave the estimator in a file."""
    estimator, make_data = ESTIMATORS[name]
    data = make_data()
    estimator = clone(estimator).set_params(random_state=0)
    estimator.set_callbacks(Checkpoint(folder / "checkpoint", every_sweeps=1))
    estimator.fit(*(data if isinstance(data, tuple) else (data,)))
    (folder / "fitted").write_bytes(pickle.dumps(estimator))


def start(name, folder):
    """Return the number of a process that fits; it exits with 1 if that raises."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            fit(name, folder)
            code = 0
        finally:
            os._exit(code)
    return pid


def run(name, folder):
    """Fit to the end; return the estimator and the seconds that it took."""
    begin = time.perf_counter()
    _, status = os.waitpid(start(name, folder), 0)
    assert status == 0, (name, status)
    return pickle.loads((folder / "fitted").read_bytes()), time.perf_counter() - begin


def kill(name, n, seed):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        run(name, Path(folder))  # loads or compiles kernels
    with tempfile.TemporaryDirectory() as folder:
        straight, seconds = run(name, Path(folder))
    n_kills = n_resumed = 0
    while n_kills < n:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            while n_kills < n:
                pid = start(name, folder)
                time.sleep(rng.uniform(0.0, seconds))
                if os.waitpid(pid, os.WNOHANG)[0]:
                    break
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                n_kills += 1
                if rng.random() < 0.5:
                    break
            n_resumed += (folder / "checkpoint").exists()
            same_fit(straight, run(name, folder)[0])
            left = {path.name for path in folder.iterdir()} - {"checkpoint", "fitted"}
            assert not left, left
    print(f"{name}: {n_kills} kills, {n_resumed} fits went on from a checkpoint")


if __name__ == "__main__":
    for each in sys.argv[3:]:
        kill(each, int(sys.argv[1]), int(sys.argv[2]))
