"""Numbers that are learned where there is nothing to find, and where there are three clear groups.

Noise of several laws, 900 steps or rows: alone, and about three levels that are 12 apart, each of
them for 300 steps. Symbols are thrown independently, or in three ways. A cell has the share of the
runs with more than one state (or cluster, change), then the share with three. States and clusters
with less than 1 % of the steps do not count.

    python benchmarks/nothing_to_find.py --seeds 5
"""

import argparse
import warnings

import numpy as np
from report import print_header, print_table, report_done
from sklearn.base import clone

from skdp.mixture import DPMixture
from skdp.sequence import HDPHMMLT, StateDetector

N = 900
NOISE = {
    "normal": lambda rng: rng.normal(size=N),
    "Laplace": lambda rng: rng.laplace(size=N),
    "half-normal": lambda rng: np.abs(rng.normal(size=N)),
    "exponential": lambda rng: rng.exponential(size=N),
    "lognormal": lambda rng: np.exp(rng.normal(size=N)),
    "uniform": lambda rng: 3.0 * rng.random(N),
    "rounded": lambda rng: np.round(0.4 * rng.normal(size=N) + rng.random()),
    "at a limit": lambda rng: np.minimum(rng.normal(size=N), 0.3),
    "2 % errors": lambda rng: np.where(rng.random(N) < 0.02, 15.0, 1.0) * rng.normal(size=N),
}
CHAIN = {"max_iter": 150}
STICKY = {"stickiness": "auto", **CHAIN}
ESTIMATORS = {
    "HDPHMMLT": HDPHMMLT(10, **STICKY),
    "HDPHMMLT, components": HDPHMMLT(10, merge_overlapping=False, **STICKY),
    "HDPHMMLT, Student t": HDPHMMLT(10, emission="student_t", **STICKY),
    "StateDetector": StateDetector(),
    "DPMixture": DPMixture(**CHAIN),
    "DPMixture, components": DPMixture(merge_overlapping=False, **CHAIN),
    "DPMixture, Student t": DPMixture("student_t", **CHAIN),
}
SYMBOLS = {
    "HDPHMMLT, categories": HDPHMMLT(10, emission="categorical", **STICKY),
    "the same, judge=False": HDPHMMLT(10, emission="categorical", judge=False, **STICKY),
}


def count(estimator, x):
    """Return the number of states or clusters that have at least 1 % of the steps."""
    estimator.fit(x)
    labels = estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(x)
    return int(np.count_nonzero(np.bincount(labels) >= 0.01 * len(x)))


def draw_symbols(n_symbols):
    """Return functions that draw independent symbols, and symbols of three states."""
    weights = np.ones((3, n_symbols))
    for k, own in enumerate(np.array_split(np.arange(n_symbols), 3)):
        weights[k, own] = 8.0

    def draw(rng, states):
        shares = weights[states] / weights[states].sum(axis=1, keepdims=True)
        return np.array([rng.choice(n_symbols, p=p) for p in shares])

    return (
        lambda rng: rng.integers(n_symbols, size=N),
        lambda rng: draw(rng, np.repeat(np.arange(15) % 3, N // 15)),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header()

    def compare(estimator, draws):
        """Return the cell of two functions that draw data."""
        found = [
            [
                count(
                    clone(estimator).set_params(random_state=seed),
                    draw(np.random.default_rng(100 + seed))[:, np.newaxis],
                )
                for draw in draws
            ]
            for seed in range(args.seeds)
        ]
        nothing, groups = np.array(found).T
        return f"{(nothing > 1).mean():.2f} {(groups == 3).mean():.2f}"

    levels = np.repeat([0.0, 12.0, 24.0], N // 3)
    pairs = {name: (own, lambda rng, own=own: levels + own(rng)) for name, own in NOISE.items()}
    rows = []
    for name, estimator in ESTIMATORS.items():
        rows.append((name, *(compare(estimator, pair) for pair in pairs.values())))
        report_done(rows[-1])
    print_table(("estimator", *NOISE), rows)
    numbers = 2, 6, 20
    rows = [
        (name, *(compare(estimator, draw_symbols(n)) for n in numbers))
        for name, estimator in SYMBOLS.items()
    ]
    print_table(("estimator", *(f"{n} symbols" for n in numbers)), rows)


if __name__ == "__main__":
    main()
