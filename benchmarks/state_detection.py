"""Compare the states and changes that `StateDetector` finds with published methods.

71 recordings of three benchmarks (TSSB, UTSA, SKAB) with the change points and states of their
authors, and the published scores of nine methods on each. Covering: for each true segment the
largest Jaccard index with a found one, weighted by length. AMI: adjusted mutual information of the
states of all steps. The recordings with even numbers served to choose the defaults of
`StateDetector`; those with odd numbers did not. Baselines: one state for all steps; k-means of the
same windows (or values), told the true number of states; `HDPHMMLT` of the values, as it comes.

The last table compares predicted probabilities of changes with the truth: recordings are cut into
blocks of two windows (or 50 values), and the probability of a change in a block is the sum over its
steps, at most 1.

    python benchmarks/state_detection.py --data shared/data --seeds 3 --csv scores.csv
"""

import argparse
import csv
import json
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from report import print_header, print_table, report_done
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

from skdp.sequence import HDPHMMLT, StateDetector

OURS = "StateDetector"
BINS = 5


def load(folder):
    """Yield what is known about each recording, its values and the true states of its steps."""
    about = json.loads((folder / "series.json").read_text())
    with np.load(folder / "series.npz") as data:
        for each in about:
            values = data[f"{each['benchmark']}/{each['name']}"].astype(float)
            values = values.reshape(each["n_steps"], -1)
            bounds = [0, *each["change_points"], each["n_steps"]]
            yield each, values, np.repeat(each["states"], np.diff(bounds))


def load_published(folder):
    """Return the published scores, (covering, AMI, seconds), by benchmark, recording and method."""
    scores = {}
    with open(folder / "published_scores.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            key = row["benchmark"], row["dataset"], row["method"]
            names = "covering_score", "ami_score", "runtime"
            scores[key] = tuple(float(row[name]) if row[name] else np.nan for name in names)
    return scores


def covering(truth, found):
    """Return the covering of the true segments by the found ones."""
    bounds = [
        np.concatenate([[0], np.flatnonzero(np.diff(states)) + 1, [len(states)]])
        for states in (truth, found)
    ]
    begins, ends = bounds[1][:-1], bounds[1][1:]
    total = 0.0
    for first, last in zip(bounds[0][:-1], bounds[0][1:], strict=True):
        common = np.maximum(np.minimum(last, ends) - np.maximum(first, begins), 0)
        joint = (last - first) + (ends - begins) - common
        total += (last - first) * (common / joint).max()
    return total / len(truth)


def count_changes(detector, values, truth):
    """Return pairs (probability, truth) of a change in each block."""
    width = 50 if detector.features_ is None else 2 * detector.features_.window_
    starts = np.arange(0, len(values), width)
    predicted = np.add.reduceat(detector.predict_change_proba(values), starts)
    happened = np.add.reduceat(np.diff(truth, prepend=truth[0]) != 0, starts)
    return [(min(p, 1.0), bool(n)) for p, n in zip(predicted, happened, strict=True)]


def by_k_means(detector, values, n_states):
    """Return the states of steps by k-means of what the detector observes."""
    if detector.features_ is None:
        rows = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-12)
    else:
        rows = detector.features_.transform(values)
    n_states = min(n_states, len(rows))
    labels = KMeans(n_states, n_init=10, random_state=0).fit_predict(rows)
    return (
        labels if detector.features_ is None else detector.features_.inverse_states(labels, values)
    )


def measure(values, truth, seeds, with_raw):
    """Return (covering, AMI, seconds) by method, and the predicted changes."""
    found, changes = defaultdict(list), []
    for seed in range(seeds):
        start = time.process_time()
        detector = StateDetector(random_state=seed).fit(values)
        seconds = time.process_time() - start
        runs = {OURS: (detector.labels_, seconds)}
        if seed == 0:
            start = time.process_time()
            runs["one state"] = np.zeros(len(values), dtype=int), 0.0
            labels = by_k_means(detector, values, len(set(truth.tolist())))
            runs["k-means, told the number"] = labels, time.process_time() - start
            if with_raw:
                start = time.process_time()
                labels = HDPHMMLT(random_state=0).fit_predict(values)
                runs["HDPHMMLT of the values"] = labels, time.process_time() - start
        for method, (labels, spent) in runs.items():
            score = covering(truth, labels), adjusted_mutual_info_score(truth, labels), spent
            found[method].append(score)
        changes += count_changes(detector, values, truth)
    return {method: np.mean(scores, axis=0) for method, scores in found.items()}, changes


def print_calibration(changes):
    """Print the share of blocks with a change by the predicted probability."""
    p, happened = np.array(changes, dtype=float).T
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    rows = [
        (
            f"{b / BINS:.1f} to {(b + 1) / BINS:.1f}", np.count_nonzero(bins == b),
            f"{p[bins == b].mean():.2f}", f"{happened[bins == b].mean():.2f}",
        )
        for b in range(BINS)
        if (bins == b).any()
    ]  # fmt: skip
    print_table(("probability of a change", "blocks", "mean", "share with a change"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--csv", type=Path, help="file for the scores of each recording")
    parser.add_argument("--skip-raw", action="store_true", help="leave HDPHMMLT of values out")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header()
    folder = args.data / "sequence" / "states"
    published = load_published(folder)
    scores, changes, lines = defaultdict(list), [], []
    for i, (about, values, truth) in enumerate(load(folder)):
        name, half = about["benchmark"], ("tuning", "held out")[i % 2]
        own, own_changes = measure(values, truth, args.seeds, not args.skip_raw)
        if half == "held out":
            changes += own_changes
        own |= {
            method: np.array(score)
            for (benchmark, series, method), score in published.items()
            if (benchmark, series) == (name, about["name"])
        }
        for method, score in own.items():
            scores[name, half, method].append(score)
            lines.append((name, about["name"], half, method, *np.round(score, 3)))
        report_done((name, about["name"], *np.round(own[OURS], 3)))
    for name in dict.fromkeys(key[0] for key in scores):
        methods = dict.fromkeys(key[2] for key in scores if key[0] == name)
        rows = []
        for method in methods:
            halves = [np.array(scores[name, half, method]) for half in ("tuning", "held out")]
            means = [np.mean(rows, axis=0) for rows in (*halves, np.concatenate(halves))]
            cells = [f"{mean[0]:.3f} {mean[1]:.3f}" for mean in means]
            rows.append((method, *cells, f"{means[-1][2]:.1f}"))
        n = [len(scores[name, half, OURS]) for half in ("tuning", "held out")]
        print(f"\n{name}, {n[0]} + {n[1]} recordings: covering, AMI\n")
        print_table(("method", "tuning half", "other half", "all", "seconds"), rows)
    print("\nChanges, other half\n")
    print_calibration(changes)
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            writer = csv.writer(file)
            head = "benchmark", "recording", "half", "method", "covering", "AMI", "seconds"
            writer.writerows([head, *lines])


if __name__ == "__main__":
    main()
