"""Categories that predict a class: back-off chains, their features, and what others do.

Three tables of categories, each split into rows to learn from and rows to score:

- packages: the section of 8,000 and 4,000 Debian packages, given the maintainer, the first and the
  last part of the name, the first dependency and the architecture, from the index that apt keeps
  (``--packages`` names another index in the same format, compressed or not);
- networks: a variable of a Bayesian network given all others, drawn from networks of known truth,
  for which the entropy bound is computed: the mean log loss of the true conditional distribution.
  ``--bif`` names files of networks in the BIF format, which pgmpy and bnlearn ship; without it
  random networks are generated;
- events: the labels of modifiers in a treebank, as in `benchmarks/context.py` (``--data``).

Rows are ours and scikit-learn's; times are CPU seconds of fit and prediction together. Each
logistic regression chooses C by the log loss on a fifth of the rows to learn from. Features are
those of `HDPBackoffFeatures`: of single columns, of these and all ordered pairs (up to 10 columns
and 50,000 rows), or of the chains that ``levels="auto"`` chooses on the training rows.

    python benchmarks/tables_context.py
    python benchmarks/tables_context.py --data DATA --bif alarm.bif.gz --target VENTLUNG
"""

import argparse
import gzip
import os
import re
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
from report import print_header, print_table, report_done
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder

from skdp.context import CollinsBackoffClassifier, HDPBackoffClassifier, HDPBackoffFeatures

APT = "/var/lib/apt/lists"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", help="folder with grammar/train.mrg, for the events")
    parser.add_argument("--packages", help="a Packages index; default: the largest of apt's")
    parser.add_argument("--bif", nargs="*", default=[], help="files of networks")
    parser.add_argument("--target", nargs="*", default=[], help="the variable of each file")
    parser.add_argument("--tables", nargs="*", default=["packages", "networks", "events"])
    parser.add_argument("--only", default="", help="only rows whose name has this")
    parser.add_argument("--rows", type=int, default=8000, help="rows to learn from")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


# Packages


def read_index(path):
    """Return the text of an index of packages, of apt's largest one if there is no path."""
    if path is None:
        found = [*Path(APT).glob("*_Packages"), *Path(APT).glob("*_Packages.*")]
        if not found:
            return None
        path = max(found, key=lambda each: each.stat().st_size)
    if str(path).endswith(".lz4"):
        command = ["/usr/lib/apt/apt-helper", "cat-file", str(path)]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode()
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return file.read()


def make_packages(text, n, seed):
    rows = []
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", stanza, re.MULTILINE))
        if "Section" in fields:
            parts = fields["Package"].split("-")
            needs = re.match(r"[a-z0-9.+-]+", fields.get("Depends", ""))
            rows.append([
                fields.get("Maintainer", "").split("<")[0].strip(), parts[0],
                parts[-1] if len(parts) > 1 else "(none)", needs.group() if needs else "(none)",
                fields["Architecture"], fields["Section"],
            ])  # fmt: skip
    table = np.array(rows, dtype=object)
    table = table[np.random.default_rng(seed).permutation(len(table))[: n + n // 2]]
    return (table[:n, :-1], table[:n, -1]), (table[n:, :-1], table[n:, -1])


# Networks


class Network:
    """Variables in topological order, each with parents and a table of probabilities."""

    def __init__(self, sizes, parents, tables):
        self.sizes, self.parents, self.tables = sizes, parents, tables

    @classmethod
    def random(cls, n_variables, rng):
        """Return a network of variables with 2 to 30 values and at most three parents."""
        sizes = rng.choice([2, 3, 4, 8, 30], n_variables)
        parents, tables = [], []
        for v in range(n_variables):
            n_parents = min(v, int(rng.integers(1, 4)))
            mine = sorted(rng.choice(v, n_parents, replace=False).tolist()) if v else []
            shape = [sizes[u] for u in mine]
            effects = sum(
                (rng.gumbel(size=(*[s if i == k else 1 for i, s in enumerate(shape)], sizes[v]))
                 * 1.5 for k in range(len(shape))), start=np.zeros((*shape, sizes[v])),
            )  # fmt: skip
            effects = effects + rng.gumbel(size=effects.shape)
            table = np.exp(effects)
            parents.append(mine)
            tables.append(table / table.sum(axis=-1, keepdims=True))
        return cls(sizes.tolist(), parents, tables)

    @classmethod
    def read(cls, path):
        """Return the network of a BIF file and the names of its variables."""
        opened = gzip.open if str(path).endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8") as file:
            text = file.read()
        values = {
            name: [value.strip() for value in listed.split(",")]
            for name, listed in re.findall(
                r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}", text
            )
        }
        found = {}
        for name, above, body in re.findall(
            r"probability\s*\(\s*([^|\s)]+)\s*(?:\|([^)]*))?\)\s*\{([^}]*)\}", text
        ):
            mine = [each.strip() for each in above.split(",") if each.strip()]
            table = np.zeros((*[len(values[u]) for u in mine], len(values[name])))
            for key, row in re.findall(r"\(([^)]*)\)\s*([^;]*);", body):
                place = tuple(
                    values[u].index(value.strip())
                    for u, value in zip(mine, key.split(","), strict=True)
                )
                table[place] = [float(p) for p in row.split(",")]
            if not mine:
                table[:] = [float(p) for p in re.search(r"table([^;]*);", body).group(1).split(",")]
            found[name] = mine, table / table.sum(axis=-1, keepdims=True)
        order = []
        while len(order) < len(found):
            order += [v for v in found if v not in order and set(found[v][0]) <= set(order)]
        index = {name: v for v, name in enumerate(order)}
        network = cls(
            [len(values[v]) for v in order],
            [[index[u] for u in found[v][0]] for v in order],
            [found[v][1] for v in order],
        )
        return network, order

    def sample(self, n, rng):
        """Return n rows."""
        rows = np.zeros((n, len(self.sizes)), int)
        for v, (mine, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            p = table[tuple(rows[:, u] for u in mine)] if mine else np.tile(table, (n, 1))
            rows[:, v] = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        return np.minimum(rows, np.array(self.sizes) - 1)

    def truth(self, rows, target):
        """Return p(target | all other variables) for each row."""
        logs = np.zeros((len(rows), self.sizes[target]))
        for value in range(self.sizes[target]):
            changed = rows.copy()
            changed[:, target] = value
            for v, (mine, table) in enumerate(zip(self.parents, self.tables, strict=True)):
                if v == target or target in mine:
                    with np.errstate(divide="ignore"):
                        logs[:, value] += np.log(table[tuple(changed[:, [*mine, v]].T)])
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)


def make_networks(options):
    """Yield names, rows to learn from and to score, and the entropy bound."""
    n, networks = options.rows, []
    for path, name in zip(options.bif, options.target, strict=True):
        network, names = Network.read(path)
        networks.append((f"{Path(path).name.split('.')[0]}, {name}", network, names.index(name)))
    if not networks:
        for seed in (1, 2):
            rng = np.random.default_rng(seed)
            network = Network.random(9, rng)
            mentions = [len(network.parents[v]) + sum(v in mine for mine in network.parents)
                        if network.sizes[v] > 2 else 0 for v in range(9)]  # fmt: skip
            networks.append((f"random network {seed}", network, int(np.argmax(mentions))))
    for name, network, target in networks:
        rows = network.sample(n + n // 2, np.random.default_rng(options.seed))
        others = [v for v in range(rows.shape[1]) if v != target]
        X, y = rows[:, others].astype(str).astype(object), rows[:, target]
        truth = network.truth(rows[n:], target)
        bound = -np.log(truth[np.arange(len(truth)), y[n:]]).mean()
        yield name, (X[:n], y[:n]), (X[n:], y[n:]), bound


# Models


class Codes(OrdinalEncoder):
    """Ordinal codes from 1; 0 for what is new."""

    def transform(self, X):
        return (super().transform(X) + 1).astype(int)


class TunedRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression whose C has the lowest log loss on a fifth of the training rows."""

    def __init__(self, Cs=(0.1, 1.0, 10.0)):
        self.Cs = Cs

    def fit(self, X, y):
        losses = []
        parts = train_test_split(X, y, test_size=0.2, random_state=0)
        for C in self.Cs:
            model = LogisticRegression(C=C, max_iter=300).fit(parts[0], parts[2])
            losses.append(-log_chances(model, parts[1], parts[3]).mean())
        self.C_ = self.Cs[int(np.argmin(losses))]
        self.regression_ = LogisticRegression(C=self.C_, max_iter=300).fit(X, y)
        self.classes_ = self.regression_.classes_
        return self

    def predict_proba(self, X):
        return self.regression_.predict_proba(X)


class Stacked(ClassifierMixin, BaseEstimator):
    """Logistic regression on out-of-fold features of given or of automatically chosen chains."""

    def __init__(self, chains, seed):
        self.chains, self.seed = chains, seed

    def fit(self, X, y):
        chains = self.chains
        if chains == "chosen":
            chooser = HDPBackoffClassifier(max_iter=24, random_state=self.seed)
            chains = chooser.fit(X, y).chains_
        self.features_ = HDPBackoffFeatures(chains, random_state=self.seed)
        self.regression_ = TunedRegression((0.001, 0.003, 0.01, 0.1))
        self.regression_.fit(self.features_.fit_transform(X, y), y)
        self.classes_ = self.regression_.classes_
        return self

    def predict_proba(self, X):
        return self.regression_.predict_proba(self.features_.transform(X))


def make_models(n_rows, n_columns, classes, seed):
    """Yield names and classifiers."""
    chain = {"random_state": seed, "classes": classes}
    yield "marginal", DummyClassifier(strategy="prior")
    yield (
        "one-hot, logistic regression",
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), TunedRegression()),
    )
    yield (
        "target encoder, logistic regression",
        make_pipeline(TargetEncoder(), StandardScaler(), TunedRegression()),
    )
    yield (
        "histogram gradient boosting",
        make_pipeline(
            Codes(handle_unknown="use_encoded_value", unknown_value=-1, max_categories=254),
            HistGradientBoostingClassifier(
                max_iter=60, learning_rate=0.05, l2_regularization=1.0, early_stopping=False,
                random_state=seed,
                categorical_features=list(range(n_columns)),
            ),
        ),
    )  # fmt: skip
    yield "Collins, columns in order", CollinsBackoffClassifier(classes=classes)
    yield "back-off, columns in order", HDPBackoffClassifier(None, **chain)
    yield "back-off, levels='auto'", HDPBackoffClassifier(**chain)
    for chains in ("single", "pairs", "chosen"):
        if chains == "pairs" and (n_columns > 10 or n_rows > 50_000):
            continue
        yield f"back-off features, {chains}, logistic regression", Stacked(chains, seed)


def log_chances(model, X, y, proba=None):
    """Return the log probability of the true class of each row; an unknown class has 1e-9."""
    proba = model.predict_proba(X) if proba is None else proba
    places = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    chances = np.where(model.classes_[places] == y, proba[np.arange(len(y)), places], 1e-9)
    return np.log(np.maximum(chances, 1e-9))


def measure(name, model, train, test):
    """Return a row: log loss, accuracy and CPU seconds."""
    (X, y), (X_test, y_test) = train, test
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The least populated class")
        warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
        proba = model.fit(X, y).predict_proba(X_test)
    seconds = time.process_time() - begin
    right = (model.classes_[proba.argmax(axis=1)] == y_test).mean()
    loss = -log_chances(model, X_test, y_test, proba).mean()
    return [name, f"{loss:.4f}", f"{right:.4f}", f"{seconds:.1f}"]


def compare(title, train, test, options, bound=None):
    """Print the table of one split."""
    classes = np.union1d(train[1], test[1])
    print(f"\n{title}: {len(train[1])} rows to learn from, {len(test[1])} to score, "
          f"{train[0].shape[1]} columns, {len(classes)} classes\n")  # fmt: skip
    rows = []
    for name, model in make_models(*train[0].shape, classes, options.seed):
        if options.only in name:
            rows.append(measure(name, model, train, test))
            report_done(rows[-1])
    if bound is not None:
        rows.append(["the true distribution (entropy bound)", f"{bound:.4f}", "", ""])
    print_table(["model", "log loss", "accuracy", "CPU, s"], rows)


def main():
    options = parse_options()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    print_header()
    tiny = np.array([["a", "b"], ["a", "c"], ["d", "c"], ["d", "b"]] * 5, dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        HDPBackoffClassifier(max_iter=12).fit(tiny, [0, 1, 1, 0] * 5).predict_proba(tiny)  # compile
    if "packages" in options.tables:
        text = read_index(options.packages)
        if text is None:
            print(f"no index of packages in {APT}: give one by --packages")
        else:
            compare("packages", *make_packages(text, options.rows, options.seed), options)
    if "networks" in options.tables:
        for name, train, test, bound in make_networks(options):
            compare(name, train, test, options, bound)
    if "events" in options.tables and options.data:
        from context import read_events

        *train, _ = read_events(options.data, "train", "label")
        *test, _ = read_events(options.data, "dev", "label")
        compare("events of a treebank", train, test, options)


if __name__ == "__main__":
    main()
