"""Modifiers of phrases given their context: links between similar contexts beside back-off.

Events are those of a treebank sample: the label of the next modifier, or STOP, given the labels of
parent and head child, side and distance, tag and word of the head. A few thousand of them are
learned from, as links cost more time than counts, and as similarity should help most where data are
few. Held-out log-loss (nats an event) and accuracy of:

- a kernel smoother with the product similarity, whose decays and weight of the base distribution
  maximize the leave-one-out likelihood of the training events: what is left of the model without
  its links;
- `DistanceDependentCRPClassifier`, its decays or weights learned: with the same columns; and, as it
  needs no order of them, with side, adjacency and verb between as columns of their own. "1 / X" is
  an `outcome_prior` of one observation in all, shared out among the classes;
- Collins's back-off for some gamma, and the hierarchical Pitman-Yor back-off.

    python benchmarks/similar_contexts.py --data ../shared/data
    python benchmarks/similar_contexts.py --data ../shared/data --events 1000 --sweeps 100
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import accuracy_score, log_loss

from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
    extract_events,
)
from skdp.grammar import read_trees


class KernelSmoother:
    """Votes of all training events by the product similarity, and of a base distribution."""

    def __init__(self, classes):
        self.classes_ = np.unique(classes)

    def _patterns(self, X, block=200):
        """Yield, for blocks of rows, in which columns they differ from training rows, as bits."""
        bits = 1 << np.arange(X.shape[1])
        for begin in range(0, len(X), block):
            yield begin, (X[begin : begin + block, None] != self.X[None]) @ bits

    def _weigh(self, decay):
        """Return the similarity by the columns that differ."""
        patterns = np.arange(2 ** len(decay))[:, None] >> np.arange(len(decay)) & 1
        return np.exp(-patterns @ decay)

    def fit(self, X, y):
        self.X, self.y = X, np.searchsorted(self.classes_, y)
        n, n_patterns = len(X), 2 ** X.shape[1]
        every, same = np.zeros((n, n_patterns)), np.zeros((n, n_patterns))
        for begin, patterns in self._patterns(X):
            for i, row in enumerate(patterns, begin):
                every[i] = np.bincount(row, minlength=n_patterns)
                same[i] = np.bincount(row[self.y == self.y[i]], minlength=n_patterns)
        every[:, 0] -= 1.0  # an event says nothing of itself
        same[:, 0] -= 1.0
        counts = np.bincount(self.y, minlength=len(self.classes_)) + 1.0
        self.base = counts / counts.sum()
        base = self.base[self.y]

        def loss(logs):
            alpha, weights = np.exp(logs[0]), self._weigh(np.exp(logs[1:]))
            return -np.log((same @ weights + alpha * base) / (every @ weights + alpha)).sum()

        best = minimize(loss, np.zeros(1 + X.shape[1]), method="L-BFGS-B")
        self.alpha, self.decay = np.exp(best.x[0]), np.exp(best.x[1:])
        return self

    def predict_proba(self, X):
        weights, votes = self._weigh(self.decay), np.eye(len(self.classes_))[self.y]
        proba = np.empty((len(X), len(self.classes_)))
        for begin, patterns in self._patterns(X):
            proba[begin : begin + len(patterns)] = weights[patterns] @ votes
        proba += self.alpha * self.base
        return proba / proba.sum(axis=1, keepdims=True)


def read_events(path):
    """Return contexts, labels of modifiers, and the levels of a back-off."""
    events = extract_events(read_trees(path), "mod1")
    return events.X, np.array([outcome.split()[0] for outcome in events.y]), events.levels


def split_distances(X):
    """Return contexts with the parts of their third column as columns of their own."""
    parts = [
        (value.split(",")[0], "adjacent" in value, "verb" in value) for value in X[:, 2].tolist()
    ]
    return np.column_stack([X[:, :2], np.array(parts, dtype=object), X[:, 3:]])


def encode(train, test):
    """Return categories as numbers; those that training lacks are all -1, unlike any."""
    columns = [{value: i for i, value in enumerate(dict.fromkeys(column))} for column in train.T]
    return [
        np.array([[known.get(value, -1) for known, value in zip(columns, row, strict=True)]
                  for row in rows])
        for rows in (train, test)
    ]  # fmt: skip


def report(name, model, X, y, X_test, y_test, classes):
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    fitted = time.process_time()
    proba = model.predict_proba(X_test)
    loss = log_loss(y_test, proba, labels=classes)
    right = accuracy_score(y_test, classes[np.argmax(proba, axis=1)])
    seconds = f"{fitted - start:.1f} + {time.process_time() - fitted:.1f}"
    print(f"| {name} | {loss:.4f} | {right:.4f} | {seconds} |", flush=True)
    for warning in caught:
        print(f"  {str(warning.message)[:150]}")
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--held-out", type=int, default=10000)
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the names of models to run")
    args = parser.parse_args()
    X, y, levels = read_events(args.data / "grammar" / "train.mrg")
    X_test, y_test, _ = read_events(args.data / "grammar" / "dev.mrg")
    classes = np.unique([*y, *y_test])
    rng = np.random.default_rng(args.seed)
    some = np.sort(rng.choice(len(y), args.events, replace=False))
    some_test = np.sort(rng.choice(len(y_test), args.held_out, replace=False))
    X, y, X_test, y_test = X[some], y[some], X_test[some_test], y_test[some_test]
    codes, codes_test = encode(X, X_test)
    DistanceDependentCRPClassifier(max_iter=2).fit(X[:50], y[:50])  # compiles
    print(f"{len(y)} events of {len(np.unique(codes, axis=0))} contexts, {len(classes)} classes")
    print("| | log-loss | accuracy | CPU s, fit + predict |\n|---|---|---|---|")
    data = X, y, X_test, y_test, classes
    split_data = split_distances(X), y, split_distances(X_test), y_test, classes
    models = {
        f"Collins, gamma {gamma}": CollinsBackoffClassifier(levels, gamma=gamma, classes=classes)
        for gamma in (1.0, 2.0, 5.0, 10.0)
    }
    models["Pitman-Yor back-off"] = HDPBackoffClassifier(levels, classes=classes, random_state=0)
    settings = {"classes": classes, "max_iter": args.sweeps, "n_chains": args.chains,
                "random_state": 0}  # fmt: skip
    one = 1.0 / len(classes)
    for name, params in {
        "shared, overlap": {"kernel": "overlap", "weights": "auto"},
        "shared": {"outcome_prior": 1.0},
        "shared, 7 columns": {"outcome_prior": 1.0},
        "shared, auto": {"outcome_prior": "auto"},
        "dirichlet": {"outcome_model": "dirichlet", "outcome_prior": 1.0},
        "dirichlet, 1 / X": {"outcome_model": "dirichlet", "outcome_prior": one},
        "dirichlet, auto": {"outcome_model": "dirichlet", "outcome_prior": "auto"},
        "dirichlet, auto, 7 columns": {"outcome_model": "dirichlet", "outcome_prior": "auto"},
    }.items():
        models[f"links, {name}"] = DistanceDependentCRPClassifier(**params, **settings)
    if args.only in "kernel smoother":
        smoother = report(
            "kernel smoother", KernelSmoother(classes), codes, y, codes_test, y_test, classes
        )
        print(f"  decay {smoother.decay.round(2)}, alpha {smoother.alpha:.3g}")
    for name, model in models.items():
        if args.only in name:
            is_split = "7 columns" in name
            report(name, model, *(data if not is_split else split_data))
        if args.only in name and name.startswith("links"):
            print("  " + str(model.trace_.summary()).replace("\n", "\n  "))


if __name__ == "__main__":
    main()
