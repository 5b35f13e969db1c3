"""Compare the changes found by `ChangePointDetector` with the annotations of five people.

Sixteen series of a public benchmark, by default settings. Cover: the mean over annotators of the
covering of their parts by those found (for each of theirs the largest Jaccard index, weighted by
length). F1: precision against the changes of all annotators, recall as the mean over annotators,
with a margin of five steps; step 0 counts as a change for all. The published scores of methods with
their default settings come with the data. If ruptures is installed, its optimal partition with the
penalty 2 D log T in units of the standard deviation is a column, too.

The second table has the largest probability of a change in random walks, in which nothing changes.

    python benchmarks/change_points.py --data shared/data
"""

import argparse
import gzip
import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from report import print_header, print_table

from skdp.sequence import ChangePointDetector

MARGIN = 5


def covering(true, found, n):
    """Return how well the parts found cover the true ones."""
    total = 0.0
    ours = list(pairwise([0, *found, n]))
    for begin, end in pairwise([0, *sorted(true), n]):
        shared = [
            max(0, min(end, e) - max(begin, b)) / (max(end, e) - min(begin, b)) for b, e in ours
        ]
        total += (end - begin) * max(shared)
    return total / n


def match(true, found):
    """Return the true changes that a change found is near to, each found one for one of them."""
    left, hit = set(found), set()
    for place in sorted(true):
        near = min(left, key=lambda each: (abs(each - place), each), default=None)
        if near is not None and abs(near - place) <= MARGIN:
            hit.add(place)
            left.remove(near)
    return hit


def f1(annotations, found):
    sets, found = [{0, *changes} for changes in annotations], {0, *found}
    precision = len(match(set.union(*sets), found)) / len(found)
    recall = np.mean([len(match(each, found)) / len(each) for each in sets])
    return 2 * precision * recall / (precision + recall)


def detect(values, **parameters):
    return ChangePointDetector(**parameters).fit(values).change_points_.positions.tolist()


def partition(values):
    """Return the changes of the optimal partition of ruptures."""
    import ruptures

    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    penalty = 2 * values.shape[1] * np.log(len(values))
    search = ruptures.Pelt(model="l2", min_size=1, jump=1).fit(scaled)
    return search.predict(pen=penalty)[:-1]


METHODS = {
    "no change": lambda values: [],
    'ChangePointDetector("auto")': detect,
    '"auto", autocorrelation="auto"': lambda values: detect(values, autocorrelation="auto"),
    '"gaussian"': lambda values: detect(values, emission="gaussian"),
}


PUBLISHED = {"binseg": "binary segmentation", "bocpd": "Bayesian online detection"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--walks", type=int, default=40)
    args = parser.parse_args()
    methods = dict(METHODS)
    try:
        import ruptures  # noqa: F401
    except ImportError:
        print("ruptures is not installed", flush=True)
    else:
        methods["ruptures, Pelt, l2"] = partition
    print_header()
    print()
    with gzip.open(args.data / "sequence/changes/series.jsonl.gz", "rt") as lines:
        series = [json.loads(line) for line in lines]
    is_published = np.array(
        [set(PUBLISHED) <= set(each.get("published_default") or ()) for each in series]
    )
    rows = []
    for name, method in methods.items():
        scores, begin = [], time.process_time()
        for each in series:
            values = np.array(each["values"], dtype=float)
            found = method(values)
            cover = np.mean([covering(true, found, len(values)) for true in each["annotations"]])
            scores.append((cover, f1(each["annotations"], found)))
        seconds = f"{time.process_time() - begin:.1f}"
        means = [*np.mean(scores, axis=0), *np.mean(np.array(scores)[is_published], axis=0)]
        rows.append([name, *(f"{mean:.3f}" for mean in means), seconds])
    known = [each["published_default"] for each in np.array(series)[is_published]]
    for key, name in PUBLISHED.items():
        means = [np.mean([each[key][score] for each in known]) for score in ("cover", "f1")]
        rows.append([f"{name}, published", "", "", *(f"{mean:.3f}" for mean in means), ""])
    both = [f"{score}, {n} series" for n in (len(series), len(known)) for score in ("cover", "F1")]
    print_table(["method", *both, "CPU s"], rows)
    print()
    walks = np.random.default_rng(0).normal(size=(args.walks, 300, 1)).cumsum(axis=1)
    largest = [ChangePointDetector().fit(walk).predict_proba(walk).max() for walk in walks]
    row = [f"{np.quantile(largest, q):.2f}" for q in (0.5, 0.9, 1.0)]
    print_table(["random walks: median", "90 %", "largest"], [row])


if __name__ == "__main__":
    main()
