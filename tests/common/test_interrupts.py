"""Fits, transforms and scores of every estimator survive interrupts at any moment."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interrupted_fits.py")
NAMES = (
    "segmented", "segmented-auto", "sequential", "adaptive", "lda", "lda-chains", "ldcc", "hmm",
    "hmm-factors", "factorial", "grammar", "refiner", "ngrams", "classifier", "strings", "mixture",
    "mixture-blocked", "features", "backoff", "links", "hdp-topics",
)  # fmt: skip
VARIANTS = (
    "segmented-cmgs", "segmented-ssa", "sectioned", "adaptive-shards", "lda-sparse", "hmm-beam",
    "hmm-locations", "hmm-durations", "grammar-starts", "grammar-gibbs", "strings-types",
    "mixture-groups", "hmm-known", "hmm-gaps", "hmm-regressions", "hmm-choices", "hmm-spikes",
    "factorial-known",
)  # fmt: skip

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGALRM"),
    pytest.mark.slow,
]


def interrupt(name, n, seed):
    run = subprocess.run(
        [sys.executable, str(SCRIPT), name, str(n), str(seed)],
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{name}: {n} interrupts" in run.stdout
    print(run.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_interrupts(name):
    interrupt(name, 8, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES + VARIANTS)
def test_many_interrupts(name):
    interrupt(name, 50, 1)
