"""Fits of estimators of all kinds survive being killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skdp._sklearn_compat import has_callbacks

SCRIPT = Path(__file__).with_name("killed_fits.py")
NAMES = "segmented", "hmm", "grammar", "grammar-gibbs", "mixture", "features", "links", "strings"
VARIANTS = (
    "segmented-auto", "sequential", "adaptive", "lda-chains", "hmm-factors", "hmm-durations",
    "factorial", "grammar-starts", "ngrams", "strings-collocations", "mixture-groups", "backoff",
    "refiner", "hdp-topics",
)  # fmt: skip

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
    pytest.mark.skipif(not has_callbacks(), reason="this scikit-learn calls no callbacks"),
    pytest.mark.slow,
]


def kill(name, n):
    run = subprocess.run(
        [sys.executable, str(SCRIPT), name, str(n), "0"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{name}: {n} kills" in run.stdout


@pytest.mark.parametrize("name", NAMES)
def test_kills(name):
    kill(name, 4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES + VARIANTS)
def test_many_kills(name):
    kill(name, 30)
