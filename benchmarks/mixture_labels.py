"""A few labels for a mixture: accuracy on the other rows, and the discovery of a new class.

Wine is standardized; digits are the first 20 principal components. A few rows of each class, drawn
at random, have labels. Accuracy is on the rows without labels, the mean of several draws of labels
with its standard error. The mixture counts twice: by `predict`, whose components without labels
are all wrong, and by the most probable label, from the columns of `predict_proba` that have one.
`LabelSpreading` runs with both kernels ("rbf" with the gamma of scikit-learn's "scale", as its
default suits no data of more than a few columns), and for digits on the pixels, too;
`SelfTrainingClassifier` uses logistic regression.
Next to it, the adjusted Rand index of the same rows, also of a mixture without any labels.
New: one class, another in each draw, has no labels. The share of its rows that are in components
without a label, the same share of the other rows, and among those of them that are in a component
with a label the share with a wrong one.

    python benchmarks/mixture_labels.py
"""

import argparse
import warnings

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from skdp.mixture import DPMixture

N_COMPONENTS = 20


def load_sets():
    """Return rows, classes and, for the peers, other features (None: none) by name."""
    X, y = datasets.load_wine(return_X_y=True)
    sets = {"wine": (StandardScaler().fit_transform(X), y, None)}
    X, y = datasets.load_digits(return_X_y=True)
    reduced = PCA(N_COMPONENTS, random_state=0).fit_transform(X)
    sets["digits"] = reduced, y, X / 16.0
    return sets


def draw_labels(y, n, seed):
    """Return the classes of n random rows of each class, -1 for the others."""
    rng = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    for label in np.unique(y):
        known[rng.choice(np.flatnonzero(y == label), n, replace=False)] = label
    return known


def make_mixture(options):
    return DPMixture(sampler=options.sampler, max_iter=options.sweeps, random_state=options.seed)


def make_peers(X, pixels):
    """Return the peers and their features by name."""
    gamma = 1.0 / (X.shape[1] * X.var())
    peers = {
        "spreading, kNN": (LabelSpreading(kernel="knn"), X),
        "spreading, rbf": (LabelSpreading(gamma=gamma), X),
        "spreading, pixels": (LabelSpreading(kernel="knn"), pixels),
        "self-training": (SelfTrainingClassifier(LogisticRegression(max_iter=2000)), X),
        "self-training, pixels": (
            SelfTrainingClassifier(LogisticRegression(max_iter=2000)), pixels
        ),
    }  # fmt: skip
    return {name: peer for name, peer in peers.items() if peer[1] is not None}


def most_probable_labels(model, X, labels):
    """Return the most probable of the labels of each row."""
    return labels[model.predict_proba(X)[:, : len(labels)].argmax(axis=1)]


def predict_all(X, pixels, known, options):
    """Return the predictions of the mixture and of its peers, and the number of components."""
    model = make_mixture(options).fit(X, known)
    found = {
        "mixture, predict": model.predict(X),
        "mixture, labels": most_probable_labels(model, X, np.unique(known[known >= 0])),
    }
    for name, (estimator, features) in make_peers(X, pixels).items():
        found[name] = estimator.fit(features, known).predict(features)
    return found, model.n_components_


def measure_accuracy(sets, options):
    for name, (X, y, pixels) in sets.items():
        plain = make_mixture(options).fit(X)
        accuracies, indices = [], []
        for n in options.labels:
            right, rand, numbers = {}, {}, []
            for draw in range(options.draws):
                known = draw_labels(y, n, draw)
                free = known < 0
                found, n_components = predict_all(X, pixels, known, options)
                numbers.append(n_components)
                for key, result in found.items():
                    right.setdefault(key, []).append(np.mean(result[free] == y[free]))
                found = {"no labels": plain.labels_, **found}
                for key, result in found.items():
                    index = adjusted_rand_score(y[free], result[free])
                    rand.setdefault(key, []).append(index)
            accuracies.append([n, f"{np.mean(numbers):.1f}", *map(mean_and_error, right.values())])
            indices.append([n, *map(mean_and_error, rand.values())])
            report_done([name, *accuracies[-1]])
        print(f"{name}, {len(X)} rows, accuracy; K = {plain.n_components_} without labels\n")
        print_table(["labels a class", "K", *right], accuracies)
        print(f"\n{name}, Rand index\n")
        print_table(["labels a class", *rand], indices)
        print()


def measure_new(sets, options):
    rows = []
    for name, (X, y, _) in sets.items():
        for n in options.labels:
            shares = {"new": [], "others": [], "wrong": []}
            for draw in range(options.draws):
                new = draw % (y.max() + 1)
                known = draw_labels(y, n, draw)
                known[y == new] = -1
                free = known < 0
                found = make_mixture(options).fit(X, known).labels_
                is_new = ~np.isin(found, known[~free])
                shares["new"].append(is_new[y == new].mean())
                shares["others"].append(is_new[free & (y != new)].mean())
                rest = free & (y != new) & ~is_new
                shares["wrong"].append(np.mean(found[rest] != y[rest]))
            rows.append([name, n, *map(mean_and_error, shares.values())])
            report_done(rows[-1])
    print("A class without labels\n")
    columns = ["its rows, new", "other rows, new", "others with a label, wrong"]
    print_table(["data", "labels a class", *columns], rows)


PARTS = {"accuracy": measure_accuracy, "new": measure_new}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sets", nargs="+", default=["wine", "digits"])
    parser.add_argument("--labels", type=int, nargs="+", default=[1, 2, 5])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--sampler", default="collapsed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    # Label spreading divides by 0 for rows that no label reaches in its graph of neighbors.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="sklearn.semi_supervised")
    print_header()
    sets = load_sets()
    for part in options.parts:
        PARTS[part]({name: sets[name] for name in options.sets}, options)
        print()


if __name__ == "__main__":
    main()
