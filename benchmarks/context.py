"""Classifiers of outcomes in context on the modifiers of a treebank: log loss, accuracy, time.

`DATA/grammar/train.mrg` is learned from, `dev.mrg` scored: the events "mod1" of
`skdp.context.extract_events`, the label of the next modifier of a phrase (or STOP) given the
parent's label, the head's label and the distance, the head's tag and the head's word. With
``--outcome pair`` the outcome is label and tag, with ``--outcome word`` the modifier's word, given
its label and tag, too ("mod2").

Rows are ours and scikit-learn's. "three orders" is the mean over classifiers with three orders
of the columns. With "crosses", one-hot rows have the combinations of parent, head and distance, and
of these and the tag, too. Times are CPU times of one thread, with draws of discounts and
concentrations; million events a second: of the kept half of the sweeps.

    python benchmarks/context.py --data DATA
    python benchmarks/context.py --data DATA --only Pitman
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from language_models import Clock
from report import print_header, print_table, report_done
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

from skdp.context import CollinsBackoffClassifier, HDPBackoffClassifier
from skdp.grammar import read_trees
from skdp.processes._franchise import Franchise

ORDERS = [
    [[0], [1, 2], [3], [4]],
    [[1, 2], [0], [3], [4]],
    [[0], [2], [3], [1], [4]],
]
"""Of parent, head, distance, tag and word: the usual one, and others that are nearly as good."""


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="folder with grammar/train.mrg")
    parser.add_argument("--outcome", choices=["label", "pair", "word"], default="label")
    parser.add_argument("--only", default="", help="only rows whose name has this")
    parser.add_argument("--sweeps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def read_events(folder, part, outcome):
    """Return the contexts, the outcomes and the levels of the events of a part of the treebank."""
    from skdp.context import extract_events

    trees = read_trees(Path(folder, "grammar", f"{part}.mrg"))
    events = extract_events(trees, "mod2" if outcome == "word" else "mod1")
    y = events.y
    if outcome == "label":
        y = np.array([pair.split()[0] for pair in y], dtype=object)
    return events.X, y, events.levels


def add_crosses(X):
    """Return rows with combinations: parent, head and distance; these and the tag."""
    crosses = [["&".join(row) for row in X[:, columns]] for columns in ([0, 1, 2], [0, 1, 2, 3])]
    return np.column_stack([X, np.array(crosses, dtype=object).T])


class Codes(OrdinalEncoder):
    """Ordinal codes from 1; 0 for what is new."""

    def transform(self, X):
        codes = super().transform(X) + 1
        return codes.astype(int)


class SeveralOrders:
    """The mean over classifiers with other orders of levels; a VotingClassifier would encode y."""

    def __init__(self, orders, params):
        self.classifiers = [HDPBackoffClassifier(order, **params) for order in orders]

    def fit(self, X, y):
        for each in self.classifiers:
            each.fit(X, y)
        self.classes_ = each.classes_

    def predict_proba(self, X):
        return np.mean([each.predict_proba(X) for each in self.classifiers], axis=0)


def make_models(levels, classes, options):
    """Yield names and classifiers."""
    chain = {"max_iter": options.sweeps, "random_state": options.seed, "classes": classes}
    yield "marginal", DummyClassifier(strategy="prior")
    codes = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    yield "CategoricalNB", make_pipeline(Codes(**codes), CategoricalNB())
    logistic = LogisticRegression(C=1.0, max_iter=100)
    one_hot = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    yield "logistic regression", make_pipeline(one_hot, logistic)
    crosses = FunctionTransformer(add_crosses)
    yield "logistic regression, crosses", make_pipeline(crosses, one_hot, logistic)
    yield (
        "histogram gradient boosting",
        make_pipeline(
            Codes(**codes, max_categories=254),
            HistGradientBoostingClassifier(
                max_iter=60, learning_rate=0.05, l2_regularization=1.0, early_stopping=False,
                random_state=options.seed,
                categorical_features=list(range(sum(map(len, levels)))),
            ),
        ),
    )  # fmt: skip
    for gamma in (1.0, 2.0, 5.0):
        yield (
            f"Collins, gamma {gamma:g}",
            CollinsBackoffClassifier(levels, gamma=gamma, classes=classes),
        )
    for scope in ("level", "context"):
        own = {"concentration_scope": scope, **chain}
        yield (
            f"Dirichlet processes, alpha by {scope}",
            HDPBackoffClassifier(levels, discount=0.0, **own),
        )
    for scope in ("level", "context"):
        own = {"concentration_scope": scope, **chain}
        yield f"Pitman-Yor processes, theta by {scope}", HDPBackoffClassifier(levels, **own)
    yield "Pitman-Yor processes, no root", HDPBackoffClassifier(levels, root=False, **chain)
    yield "Pitman-Yor processes, 4 chains", HDPBackoffClassifier(levels, n_chains=4, **chain)
    if options.outcome != "word":
        yield "Pitman-Yor processes, three orders", SeveralOrders(ORDERS, chain)


def measure(name, model, train, test, options):
    """Return a row: log loss, accuracy, CPU seconds of fit and of prediction, events a second."""
    (X, y), (X_test, y_test) = train, test
    with Clock(Franchise, "sweep") as sweeps, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begin = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
    proba = model.predict_proba(X_test)
    done = time.process_time()
    places = np.searchsorted(model.classes_, y_test)
    chance = proba[np.arange(len(y_test)), np.minimum(places, len(model.classes_) - 1)]
    chance[~np.isin(y_test, model.classes_)] = 1e-9  # what others cannot expect
    right = model.classes_[proba.argmax(axis=1)] == y_test
    speed = ""
    if sweeps.times:
        kept = sweeps.times[options.sweeps // 2 : options.sweeps]
        speed = f"{len(X) / np.median(kept) / 1e6:.1f}"
    loss = -np.log(np.maximum(chance, 1e-9)).mean()
    row = [name, f"{loss:.4f}", f"{right.mean():.4f}", f"{fitted - begin:.1f}"]
    return [*row, f"{done - fitted:.1f}", speed]


def main():
    options = parse_options()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    print_header()
    *train, levels = read_events(options.data, "train", options.outcome)
    *test, _ = read_events(options.data, "dev", options.outcome)
    classes = np.union1d(train[1], test[1])
    print(f"{len(train[1])} events to learn from, {len(test[1])} to score, {len(classes)} classes")
    print(f"levels {levels}\n")
    tiny = HDPBackoffClassifier(levels, max_iter=3).fit(train[0][:50], train[1][:50])
    tiny.predict_proba(test[0][:5])  # compile
    rows = []
    for name, model in make_models(levels, classes, options):
        if options.only in name:
            rows.append(measure(name, model, train, test, options))
            report_done(rows[-1])
    print_table(
        ["model", "log loss", "accuracy", "fit, s", "prediction, s", "million events a second"],
        rows,
    )


if __name__ == "__main__":
    main()
