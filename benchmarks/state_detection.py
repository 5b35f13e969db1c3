"""Compare the states and changes that `StateDetector` finds with published methods.

71 recordings of three benchmarks (TSSB, UTSA, SKAB) with the change points and states of their
authors, and the published scores of nine methods on each. Covering: for each true segment the
largest Jaccard index with a found one, weighted by length. AMI: adjusted mutual information of the
states of all steps. The recordings with even numbers served to choose the defaults of
`StateDetector`; those with odd numbers did not. Baselines: one state for all steps; k-means of the
same windows (or values), told the true number of states; `HDPHMMLT` of the values, as it comes.

The next table compares predicted probabilities of changes with the truth: recordings are cut into
blocks of two windows (or 50 values), and the probability of a change in a block is the sum over its
steps, at most 1.

The last table asks whether probable changes (.8 or more within a window) that are not among those
of the authors are changes at all. A logistic regression learns to tell the windows before and after
a change from their spectra, which the detector does not use, and predicts others of the same two
segments. The middles of found segments serve as a control: there is nothing to tell.

    python benchmarks/state_detection.py --data shared/data --seeds 3 --csv scores.csv

With ``--intervals``, the tables of changes instead: how often there is a true change in an
interval, by the predicted probability, and how many true changes are covered. Besides the
recordings, simulated hidden Markov models with four levels in normal noise, whose states last 100
steps on average.
"""

import argparse
import csv
import json
import time
import warnings
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
from report import print_header, print_table, report_done
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.preprocessing import WindowFeatures
from skdp.sequence import HDPHMMLT, StateDetector

OURS = "StateDetector"
BINS = 5
FEWEST, MOST = 6, 24
"""Numbers of windows on each side of a change from which a classifier learns."""


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


def find_probable(probabilities, width):
    """Return the steps at which a change has a probability of .8 or more within `width` steps."""
    left, found = probabilities.copy(), []
    while (t := int(left.argmax())) > 0 and left[t] > 0.01:
        near = slice(max(t - width // 2, 0), t + width // 2 + 1)
        if left[near].sum() >= 0.8:
            found.append(t)
        left[near] = 0.0
    return sorted(found)


def tell_apart(rows, starts, width, place, begin, end):
    """Return the accuracy with which windows before and after a place are told apart, or None."""
    before = np.flatnonzero((starts >= begin) & (starts + width <= place - width // 2))
    after = np.flatnonzero((starts >= place + width // 2) & (starts + width <= end))
    n = min(len(before), len(after), MOST)
    if n < FEWEST:
        return None
    near = np.concatenate([before[len(before) - n // 2 :], after[: n // 2]])
    far = np.concatenate([before[len(before) - n : len(before) - n // 2], after[n // 2 : n]])
    accuracies = []
    for learned, predicted in ((near, far), (far, near)):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=200))
        model.fit(rows[learned], learned >= after[0])
        accuracies.append(model.score(rows[predicted], predicted >= after[0]))
    return np.mean(accuracies)


def check_changes(detector, values, truth):
    """Return accuracies of `tell_apart` at probable changes and at middles of segments, by kind."""
    window = 1 if detector.features_ is None else detector.features_.window_
    width, found = max(window, 20), defaultdict(list)
    spectra = WindowFeatures(width, features="spectrum", n_components=None).fit(values)
    rows = spectra.transform(values)
    complete = ~np.isnan(rows).any(axis=1)
    rows, starts = rows[complete], spectra.hop_ * np.flatnonzero(complete)
    tolerance = 50 if detector.features_ is None else 2 * window
    changes = find_probable(detector.predict_change_proba(values), tolerance)
    true, bounds = np.flatnonzero(np.diff(truth)) + 1, [0, *changes, len(values)]
    for k, place in enumerate(changes):
        is_true = np.abs(true - place).min(initial=len(values)) <= tolerance
        accuracy = tell_apart(rows, starts, width, place, bounds[k], bounds[k + 2])
        found["of the authors" if is_true else "others"].append(accuracy)
    for begin, end in pairwise(bounds):
        accuracy = tell_apart(rows, starts, width, (begin + end) // 2, begin, end)
        found["middles of segments"].append(accuracy)
    return {kind: [own for own in all_ if own is not None] for kind, all_ in found.items()}


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
    """Return (covering, AMI, seconds) by method, predicted changes, and checks of changes."""
    found, changes, checks = defaultdict(list), [], {}
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
            checks = check_changes(detector, values, truth)
            if with_raw:
                start = time.process_time()
                labels = HDPHMMLT(random_state=0).fit_predict(values)
                runs["HDPHMMLT of the values"] = labels, time.process_time() - start
        for method, (labels, spent) in runs.items():
            score = covering(truth, labels), adjusted_mutual_info_score(truth, labels), spent
            found[method].append(score)
        changes += count_changes(detector, values, truth)
    return {method: np.mean(scores, axis=0) for method, scores in found.items()}, changes, checks


def print_calibration(changes, what="blocks"):
    """Print the share of blocks, or intervals, with a change by the predicted probability."""
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
    print_table(("probability of a change", what, "mean", "share with a change"), rows)


def simulate(apart, seed, n_steps=1000, n_states=4):
    """Return values of a hidden Markov model with levels that are so far apart, and its states."""
    rng = np.random.default_rng([seed, apart])
    moves = np.where(rng.random(n_steps) < 0.01, rng.integers(1, n_states, size=n_steps), 0)
    states = np.cumsum(moves) % n_states
    levels = apart * rng.permutation(n_states)
    return (levels[states] + rng.normal(size=n_steps))[:, np.newaxis], states


def check_table(table, truth):
    """Return (probability, whether a true change is inside) of each interval, and whether each true
    change is in an interval: of all, and of those nearest to a found one.
    """
    true, places = np.flatnonzero(np.diff(truth)) + 1, table.positions
    bounds = np.concatenate([[0], (places[1:] + places[:-1]) // 2, [len(truth)]])
    rows, nearest = [], []
    for change, (begin, end) in zip(table, pairwise(bounds), strict=False):  # maybe no change
        first, last = change.interval
        rows.append((change.probability, ((first <= true) & (true <= last)).any()))
        own = true[(begin <= true) & (true < end)]
        if len(own):
            nearest.append(first <= own[np.abs(own - change.position).argmin()] <= last)
    covered = [any(c.interval[0] <= t <= c.interval[1] for c in table) for t in true]
    return rows, covered, nearest


def check_tables(folder, seeds):
    """Print how well the probabilities and intervals of tables of changes fit."""
    found = defaultdict(lambda: ([], [], []))
    for apart in range(1, 7):
        for seed in range(20):
            values, truth = simulate(apart, seed)
            models = StateDetector(random_state=seed), HDPHMMLT(random_state=seed)
            for model in models[: 1 + (seed < 5)]:
                name = type(model).__name__
                table = model.fit(values).change_intervals(values)
                for key in ((name, "simulated"), (name, f"{apart} apart")):
                    for own, new in zip(found[key], check_table(table, truth), strict=True):
                        own.extend(new)
        report_done((apart,))
    for i, (about, values, truth) in enumerate(load(folder)):
        half = ("tuning", "held out")[i % 2]
        for seed in range(seeds):
            table = StateDetector(random_state=seed).fit(values).change_intervals_
            for key in ((half, about["benchmark"]), (half, "all recordings")):
                for own, new in zip(found[key], check_table(table, truth), strict=True):
                    own.extend(new)
        report_done((about["name"], len(table)))
    head = "intervals", "mean p", "with a change", "covered: all changes", "nearest to a found one"
    lines = []
    for key, (rows, covered, nearest) in found.items():
        means = [*np.mean(rows, axis=0), np.mean(covered), np.mean(nearest)]
        lines.append((*key, len(rows), *(f"{mean:.2f}" for mean in means)))
    print_table(("", "", *head), lines)
    for key, (rows, _, _) in found.items():
        if not key[1].endswith("apart"):
            print(f"\n{', '.join(key)}\n")
            print_calibration(rows, "intervals")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--csv", type=Path, help="file for the scores of each recording")
    parser.add_argument("--skip-raw", action="store_true", help="leave HDPHMMLT of values out")
    parser.add_argument("--intervals", action="store_true", help="check tables of changes only")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header()
    folder = args.data / "sequence" / "states"
    if args.intervals:
        check_tables(folder, args.seeds)
        return
    published = load_published(folder)
    scores, changes, lines, checks = defaultdict(list), [], [], defaultdict(list)
    for i, (about, values, truth) in enumerate(load(folder)):
        name, half = about["benchmark"], ("tuning", "held out")[i % 2]
        own, own_changes, own_checks = measure(values, truth, args.seeds, not args.skip_raw)
        for kind, accuracies in own_checks.items():
            checks[name, kind] += accuracies
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
    print("\nWindows before and after probable changes, all recordings\n")
    rows = [
        (*key, len(own), f"{np.mean(own):.2f}", f"{np.mean(np.array(own) >= 0.8):.2f}")
        for key, own in sorted(checks.items())
        if own
    ]
    print_table(("benchmark", "changes", "number", "accuracy", "share of .8 or more"), rows)
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            writer = csv.writer(file)
            head = "benchmark", "recording", "half", "method", "covering", "AMI", "seconds"
            writer.writerows([head, *lines])


if __name__ == "__main__":
    main()
