"""Cost of HDPPCFG by the length of sentences.

One sentence at a time, of words drawn uniformly: a fit of three iterations (four expectations) by
maximum likelihood, which tries no symbols, then `transform`, `predict` and `score`. A sentence of n
words costs n^2 / 2 K^3 + n^3 / 6 K^2 multiplications and additions, some of them more than once:
twice the words at most eight times the cost. Times are CPU times of the process, one thread;
figures are the least of some rounds, since whatever else runs only adds.

    python benchmarks/sentence_lengths.py
"""

import argparse
import os
import time
import warnings

import numpy as np
from report import print_header, print_table
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from skdp.grammar import HDPPCFG

N_WORDS = 50


def timed(function):
    begin = time.process_time()
    function()
    return time.process_time() - begin


def measure(n_words, options):
    """Return the times of a fit and of each method, in seconds."""
    rng = np.random.default_rng(n_words)
    X = [rng.integers(N_WORDS, size=n_words).tolist(), [N_WORDS - 1]]  # the vocabulary is the same
    model = HDPPCFG(options.components, inference="em", max_iter=3, tol=0.0, random_state=0).fit(X)
    tasks = [lambda name=name: getattr(model, name)(X) for name in METHODS]
    n_rounds = max(1, options.rounds if n_words < 200 else options.rounds // 2)
    rounds = [[timed(task) for task in tasks] for _ in range(n_rounds)]
    return [min(column) for column in zip(*rounds, strict=True)]


METHODS = ("fit", "transform", "predict", "score")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--components", type=int, default=20, help="K")
    parser.add_argument("--lengths", type=int, nargs="+", default=[25, 50, 100, 200, 400])
    options = parser.parse_args()
    print_header()
    print("load of the machine: " + " ".join(f"{x:.1f}" for x in os.getloadavg()) + "\n")
    rows, before = [], None
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # three iterations are few
        for n_words in options.lengths:
            times = measure(n_words, options)
            cells = [f"{seconds * 1e3:.1f}" for seconds in times]
            if before is not None:
                growth = [f"{now / then:.1f}" for now, then in zip(times, before, strict=True)]
                cells = [f"{a} (x {b})" for a, b in zip(cells, growth, strict=True)]
            rows.append([n_words, *cells])
            before = times
            print(".", end="", flush=True)
    print("\n")
    heads = [f"ms, K = {options.components}: words", *METHODS]
    print_table(heads, rows)


if __name__ == "__main__":
    main()
