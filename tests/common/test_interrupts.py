"""Fits, transforms and scores survive interrupts and kills at any moment.

The scripts take more estimators and more interrupts: see their docstrings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skdp._sklearn_compat import has_callbacks

INTERRUPTED = {
    "topics": ["segmented", "segmented-auto", "adaptive", "lda-chains", "ldcc", "hdp-topics"],
    "sequence": ["hmm", "hmm-factors", "hmm-durations", "factorial"],
    "grammar": ["grammar", "grammar-gibbs", "refiner"],
    "language": ["ngrams", "classifier", "strings"],
    "mixture": ["mixture", "mixture-blocked", "mixture-groups", "features"],
    "context": ["backoff", "links"],
}
KILLED = {
    "sampled": ["segmented", "hmm", "grammar-gibbs", "mixture"],
    "others": ["grammar", "features", "links", "strings"],
}

pytestmark = pytest.mark.slow


def run(script, n, names):
    command = [sys.executable, str(Path(__file__).with_name(script)), str(n), "0", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGALRM")
@pytest.mark.parametrize("names", INTERRUPTED.values(), ids=INTERRUPTED)
def test_interrupts(names):
    output = run("interrupted_fits.py", 6, names)
    assert all(f"{name}: 6 interrupts" in output for name in names)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.skipif(not has_callbacks(), reason="this scikit-learn calls no callbacks")
@pytest.mark.parametrize("names", KILLED.values(), ids=KILLED)
def test_kills(names):
    output = run("killed_fits.py", 4, names)
    assert all(f"{name}: 4 kills" in output for name in names)
