"""What labels of some steps are worth: accuracy of the states of all other steps.

A share of the steps is labeled at random, in six recordings of motion capture (12 actions) or in
each of 17 recordings of a water circulation system (states between the change points of its
authors). Every method sees the same labels; the accuracy is that of the steps without labels.
`HDPHMMLT` with labels is fitted with ``fit(X, y)``, with as many states as there are and with eight
more; without labels, its states are matched to the truth, which uses all labels. Baselines: the
nearest labeled step in time; a random forest of means and deviations of windows of 3, 11 and 41
steps; and a supervised hidden Markov model, with a Gaussian for each state (shrunken covariances)
and transitions that stay with probability .98.

With ``--windows`` the recordings are those of TSSB and UTSA, whose states are waves, and
`StateDetector` with labels is compared with a random forest of the same windows, which learns from
the windows with a known state and predicts all; with `HDPHMMLT` of the values, with labels; with
`StateDetector` without labels, matched to the truth; and with the nearest label.

    python benchmarks/known_states.py --data shared/data --draws 3
    python benchmarks/known_states.py --data shared/data --draws 1 --windows
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from report import print_header, print_table
from scipy.ndimage import uniform_filter1d
from scipy.optimize import linear_sum_assignment
from sequence_data import load_mocap
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import RandomForestClassifier

from skdp.sequence import HDPHMMLT, StateDetector, hmm_posterior
from skdp.sequence._state_detector import know_windows

WIDTHS = 3, 11, 41
STAYING = 0.98


def load_sets(folder):
    """Return lists of pairs (sequences, states) by the name of the set."""
    panel, actions = load_mocap(folder, lag=False)
    sequences = np.split(panel.values, panel.ptr[1:-1])
    states = np.split(actions, panel.ptr[1:-1])
    path = Path(folder, "sequence", "states")
    about = json.loads((path / "series.json").read_text())
    recordings = []
    with np.load(path / "series.npz") as data:
        for each in about:
            if each["benchmark"] == "SKAB":
                values = data[f"SKAB/{each['name']}"].astype(float)
                values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-9)
                bounds = [0, *each["change_points"], len(values)]
                recordings.append(([values], [np.repeat(each["states"], np.diff(bounds))]))
    return {"motion capture": [(sequences, states)], "water circulation": recordings}


def load_waves(folder):
    """Return lists of pairs (sequences, states) of the recordings with waves by their benchmark."""
    path = Path(folder, "sequence", "states")
    sets = {"TSSB": [], "UTSA": []}
    with np.load(path / "series.npz") as data:
        for each in json.loads((path / "series.json").read_text()):
            if each["benchmark"] in sets and each["change_points"]:
                values = data[f"{each['benchmark']}/{each['name']}"].astype(float)
                values = values.reshape(each["n_steps"], -1)
                bounds = [0, *each["change_points"], len(values)]
                names = np.unique(each["states"], return_inverse=True)[1]
                sets[each["benchmark"]].append(([values], [np.repeat(names, np.diff(bounds))]))
    return sets


def label(states, share, rng):
    """Return known states, -1 where unknown, with at least one step of each state."""
    found = [np.where(rng.random(len(own)) < share, own, -1) for own in states]
    every = np.concatenate(states)
    for j in np.setdiff1d(every, np.concatenate(found)):
        s = rng.choice([s for s, own in enumerate(states) if (own == j).any()])
        found[s][rng.choice(np.flatnonzero(states[s] == j))] = j
    return found


def by_hmm(sequences, known, emission, seed, n_others):
    n_components = np.concatenate(known).max() + 1 + n_others
    model = HDPHMMLT(n_components, emission=emission, stickiness="auto", random_state=seed)
    return model.fit(sequences, known).predict(sequences)


def by_matched_hmm(sequences, states, emission, seed, n_others):
    """Return the states of a fit without labels, renamed by the best match to the truth."""
    every = np.concatenate(states)
    n_components = every.max() + 1 + n_others
    model = HDPHMMLT(n_components, emission=emission, stickiness="auto", random_state=seed)
    found = model.fit(sequences).predict(sequences)
    pairs = np.zeros((n_components, n_components), dtype=int)
    np.add.at(pairs, (np.concatenate(found), every), 1)
    names = linear_sum_assignment(pairs, maximize=True)[1]
    return [names[own] for own in found]


def by_nearest(known):
    found = []
    every = np.concatenate(known)
    for own in known:
        at = np.flatnonzero(own >= 0)
        steps = np.arange(len(own))
        if len(at) == 0:
            found.append(np.full(len(own), np.bincount(every[every >= 0]).argmax()))
        else:
            found.append(own[at[np.abs(steps[:, np.newaxis] - at).argmin(axis=1)]])
    return found


def windows_of(values):
    parts = [values]
    for width in WIDTHS:
        mean = uniform_filter1d(values, width, axis=0)
        square = uniform_filter1d(values**2, width, axis=0)
        parts += [mean, np.sqrt(np.maximum(square - mean**2, 0.0))]
    return np.hstack(parts)


def by_forest(sequences, known, seed):
    rows, y = [windows_of(x) for x in sequences], np.concatenate(known)
    forest = RandomForestClassifier(300, random_state=seed, n_jobs=1)
    forest.fit(np.vstack(rows)[y >= 0], y[y >= 0])
    return [forest.predict(own) for own in rows]


def by_supervised_hmm(sequences, known):
    x, y = np.vstack(sequences), np.concatenate(known)
    labels = np.unique(y[y >= 0])
    pooled = LedoitWolf().fit(x).covariance_
    log_obs = np.empty((len(x), len(labels)))
    for k, j in enumerate(labels):
        own = x[y == j]
        weight = len(own) / (len(own) + x.shape[1])
        covariance = weight * np.cov(own.T, bias=True) if len(own) > 1 else 0.0
        covariance = covariance + (1.0 - weight) * pooled
        difference = np.linalg.solve(np.linalg.cholesky(covariance), (x - own.mean(axis=0)).T)
        log_obs[:, k] = -0.5 * (difference**2).sum(axis=0)
        log_obs[:, k] -= 0.5 * np.linalg.slogdet(covariance)[1]
    log_obs[y >= 0] = np.where(labels == y[y >= 0, np.newaxis], 0.0, -np.inf)
    n = len(labels)
    transmat = np.full((n, n), (1.0 - STAYING) / max(n - 1, 1))
    np.fill_diagonal(transmat, STAYING if n > 1 else 1.0)
    ptr = np.cumsum([0, *map(len, sequences)])
    found = labels[hmm_posterior(np.full(n, 1 / n), transmat, log_obs, ptr).argmax(axis=1)]
    return np.split(found, ptr[1:-1])


def match(found, states):
    """Return states renamed by the best match to the truth."""
    every = np.concatenate(states)
    size = max(np.concatenate(found).max(), every.max()) + 1
    pairs = np.zeros((size, size), dtype=int)
    np.add.at(pairs, (np.concatenate(found), every), 1)
    names = linear_sum_assignment(pairs, maximize=True)[1]
    return [names[own] for own in found]


def by_forest_of_windows(detector, sequences, known, seed):
    """Return the states of steps by a forest of the features that the detector chose."""
    if detector.features_ is None:
        rows, windows = np.vstack(sequences), np.concatenate(known)
    else:
        panel = detector._check_panel(sequences)[0]
        layout = detector.features_._lay(panel)
        windows = know_windows(np.concatenate(known), layout)
        rows = detector.features_.transform(panel).values
    forest = RandomForestClassifier(300, random_state=seed, n_jobs=1)
    forest.fit(rows[windows >= 0], windows[windows >= 0])
    found = forest.predict(rows)
    return [found] if detector.features_ is None else [layout.spread(found)]


def compare_windows(options):
    for name, problems in load_waves(options.data).items():
        problems = problems[:: options.every]
        rows, plain = [], {}
        for share in options.shares:
            accuracies = {}
            seconds = 0.0
            for draw in range(options.draws):
                rng = np.random.default_rng(draw)
                for sequences, states in problems:
                    known = label(states, share, rng)
                    begin = time.process_time()
                    detector = StateDetector(random_state=draw)
                    found = {"labels": detector.fit_predict(sequences, known)}
                    seconds += time.process_time() - begin
                    key = id(sequences), draw
                    if key not in plain:
                        plain[key] = StateDetector(random_state=draw).fit_predict(sequences)
                    found["no labels, matched"] = match(plain[key], states)
                    forest = by_forest_of_windows(detector, sequences, known, draw)
                    found["forest of the same windows"] = forest
                    found["HDPHMMLT of values, labels"] = by_hmm(
                        sequences, known, "gaussian", draw, 0
                    )
                    found["nearest label"] = by_nearest(known)
                    is_free = np.concatenate(known) < 0
                    truth = np.concatenate(states)[is_free]
                    for method, paths in found.items():
                        right = np.concatenate(paths)[is_free] == truth
                        accuracies.setdefault(method, []).append(right.mean())
            rows.append([f"{share:.0%}", *(f"{np.mean(a):.3f}" for a in accuracies.values()),
                         f"{seconds / options.draws / len(problems):.1f}"])  # fmt: skip
        print(f"\n{name}, {len(problems)} recordings\n")
        print_table(
            ["labeled", *accuracies, "CPU s a fit"],
            rows,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.05, 0.2])
    parser.add_argument("--emission", default="gaussian")
    parser.add_argument("--every", type=int, default=1, help="take every n-th recording of waves")
    parser.add_argument("--windows", action="store_true", help="recordings of waves")
    options = parser.parse_args()
    print_header()
    warnings.simplefilter("ignore")
    if options.windows:
        compare_windows(options)
        return
    for name, problems in load_sets(options.data).items():
        rows = []
        for share in options.shares:
            accuracies = {}
            begin, seconds = 0.0, 0.0
            for draw in range(options.draws):
                rng = np.random.default_rng(draw)
                for sequences, states in problems:
                    known = label(states, share, rng)
                    begin = time.process_time()
                    more = options.emission, draw
                    found = {"labels": by_hmm(sequences, known, *more, 0)}
                    seconds += time.process_time() - begin
                    found["labels, 8 more states"] = by_hmm(sequences, known, *more, 8)
                    found["no labels, matched"] = by_matched_hmm(sequences, states, *more, 8)
                    found["supervised HMM"] = by_supervised_hmm(sequences, known)
                    found["forest of windows"] = by_forest(sequences, known, draw)
                    found["nearest label"] = by_nearest(known)
                    is_free = np.concatenate(known) < 0
                    truth = np.concatenate(states)[is_free]
                    for method, paths in found.items():
                        right = np.concatenate(paths)[is_free] == truth
                        accuracies.setdefault(method, []).append(right.mean())
            rows.append([f"{share:.0%}", *(f"{np.mean(a):.3f}" for a in accuracies.values()),
                         f"{seconds / options.draws / len(problems):.1f}"])  # fmt: skip
        print(f"\n{name}\n")
        print_table(["labeled", *accuracies, "CPU s a fit"], rows)


if __name__ == "__main__":
    main()
