"""Do the times hold that docstrings state? Exits 1 if something takes more than twice as long.

The sentences are looked up in the docstrings, so that neither changes without the other.

    python benchmarks/stated_times.py
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from report import print_header, print_table

from skdp.inspection import LexiconDisplay
from skdp.sequence import StateDetector

RNG = np.random.default_rng(0)
STEPS = np.arange(60_000)
HALF = STEPS < 30_000
WAVES = np.where(HALF, np.sin(STEPS / 7), np.sign(np.sin(STEPS / 7)))
LEVELS = np.where(STEPS // 20_000 % 2, 4.0, 0.0)
SHARE = 0.06  # of a million steps, or words


def detect(x: Any) -> Callable[[], Any]:
    """Return a call that finds the states of a signal with noise."""
    x = (x + RNG.normal(size=len(x))).reshape(-1, 1)
    return lambda: StateDetector(random_state=0).fit(x)


def draw(order: int) -> Callable[[], Any]:
    """Return a call that draws a text."""
    sentences = [[f"w{k}" for k in RNG.zipf(1.5, 20)] for _ in range(3_000)]
    law = {"discount": [0.7] * (order + 1), "concentration": [1.0] * (order + 1)}
    display = LexiconDisplay(sentences, **law)
    return lambda: display.plot(n_draws=1, random_state=0)


# What is stated, where, for how many seconds per million, and a call with 60,000.
STATED = [
    ("30 to 50 seconds if the states explain windows", StateDetector, 50.0, detect(5.0 * WAVES)),
    ("80 to 120 if they explain values", StateDetector, 120.0, detect(LEVELS)),
    ("takes 1 to 2 seconds without context", LexiconDisplay, 2.0, draw(0)),
    ("5 to 7 with order 3", LexiconDisplay, 7.0, draw(2)),
]


def main() -> None:
    """Measure all, in CPU seconds per million."""
    warnings.simplefilter("ignore")
    print_header()
    rows = []
    for sentence, described, stated, call in STATED:
        assert sentence in " ".join(described.__doc__.split()), sentence
        call()  # compiles
        began = time.process_time()
        call()
        rows.append((sentence, stated, round((time.process_time() - began) / SHARE, 1)))
    print_table(("stated", "seconds", "measured"), rows)
    sys.exit(any(measured > 2.0 * stated for _, stated, measured in rows))


if __name__ == "__main__":
    main()
