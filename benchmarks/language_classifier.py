"""Which president wrote these 100 characters? Language models of characters beside n-gram features.

State of the Union addresses by the 17 presidents since 1900 with at least four. A third of each
president's addresses is for the test, drawn by the seed; the others are cut into strings of at most
100 characters at spaces, of which a number per president is drawn to learn from (all, where there
are fewer). 100 strings of each president's test addresses are classified. All classifiers see the
same strings.

Every classifier's settings are chosen by cross-validation on the training strings, or on 100 of
each president where there are more. There are three folds of whole addresses, since strings of one
address are alike, and the test is on other addresses:

- TF-IDF of n-grams of 1 to 5 characters, sublinear, and logistic regression: C of 1, 10 and 100;
- naive Bayes on counts of the same n-grams, up to 3, 4 or 5 characters: alpha of .03, .1, .3 and 1;
- `LanguageModelClassifier` of `KneserNeyLM`: orders 4, 5 and 6;
- the same of `HierarchicalPitmanYorLM`, with the order chosen for Kneser-Ney, to save time;
- "stacked": logistic regression (C of .001 and .01) on the centered log probabilities that the
  Kneser-Ney models of all classes give, out of fold; it learns which are mistaken for which. These
  folds are of strings: with whole addresses classes would lose unequal amounts of text, so that
  scores are not comparable.

Means over seeds, and means of paired differences to the better of the two baselines (by its mean),
with their standard errors.

    python benchmarks/language_classifier.py --data DATA --sizes 30 100 300 --seeds 0 1 2 3
"""

import argparse
import textwrap
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from scipy.linalg import cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sotu import read_records

from skdp.feature_extraction import TokenVectorizer
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM, LanguageModelClassifier

N_TEST = 100
"""Strings of each president."""

N_CHOOSE = 100
"""Strings of each president that choose settings."""

N_FOLDS = 3
ORDERS = 4, 5, 6

N_DENSE = 2500
"""Strings up to which logistic regression sees inner products."""


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="folder with topics/sotu.jsonl")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100, 300, 1000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--sweeps", type=int, default=20)
    return parser.parse_args()


def load_addresses(folder):
    """Return the addresses of each president."""
    addresses = defaultdict(list)
    for record in read_records(Path(folder, "topics", "sotu.jsonl")):
        if record["year"] >= 1900:
            addresses[record["president"]].append(" ".join(record["segments"]))
    return {name: texts for name, texts in sorted(addresses.items()) if len(texts) >= 4}


def draw_strings(addresses, seed):
    """Return training and test strings of each president with their folds, in random order."""
    rng = np.random.default_rng(seed)
    train, test = {}, {}
    for name, texts in addresses.items():
        order = rng.permutation(len(texts))
        n_test = max(1, len(texts) // 3)
        for part, chosen in ((train, order[n_test:]), (test, order[:n_test])):
            strings = [
                (s, place % N_FOLDS)
                for place, i in enumerate(chosen)
                for s in textwrap.wrap(texts[i], 100)
            ]
            part[name] = [strings[i] for i in rng.permutation(len(strings))]
    return train, test


def flatten(strings, n):
    """Return the first n strings of each president, whose they are, and their folds."""
    labels = np.array([name for name in strings for _ in strings[name][:n]])
    chosen = [pair for name in strings for pair in strings[name][:n]]
    return [s for s, _ in chosen], labels, np.array([fold for _, fold in chosen])


def first_of_each(y, n):
    """Return the places of the first n labels of each class."""
    return np.concatenate([np.flatnonzero(y == name)[:n] for name in np.unique(y)])


def to_rows(X, X_test):
    """Return dense features, as many as there are training rows, with the same inner products.

    A linear model with a quadratic penalty has the same fit and predictions, in less time.
    """
    gram = (X @ X.T).toarray()
    factor = cholesky(gram + 1e-9 * np.eye(len(gram)), lower=True)
    return factor, solve_triangular(factor, (X @ X_test.T).toarray(), lower=True).T


def logistic(c):
    return LogisticRegression(C=c, tol=1e-5, class_weight="balanced", max_iter=300)


def run_logistic(counts, y, folds, counts_test, y_test):
    tfidf = TfidfTransformer(sublinear_tf=True).fit(counts)
    X, X_test = tfidf.transform(counts), tfidf.transform(counts_test)
    few = first_of_each(y, N_CHOOSE)
    rows, _ = to_rows(X[few], X_test[:1])
    cv = PredefinedSplit(folds[few])
    scores = {c: cross_val_score(logistic(c), rows, y[few], cv=cv).mean() for c in (1, 10, 100)}
    c = max(scores, key=scores.get)
    if len(y) <= N_DENSE:
        X, X_test = to_rows(X, X_test)
    return logistic(c).fit(X, y).score(X_test, y_test), f"C {c}"


def run_bayes(counts, y, folds, counts_test, y_test, lengths):
    few = first_of_each(y, N_CHOOSE)
    cv = PredefinedSplit(folds[few])
    columns = {n: np.flatnonzero(lengths <= n) for n in (3, 4, 5)}
    scores = {
        (n, alpha): cross_val_score(
            MultinomialNB(alpha=alpha, fit_prior=False), counts[few][:, kept], y[few], cv=cv
        ).mean()
        for n, kept in columns.items()
        for alpha in (0.03, 0.1, 0.3, 1.0)
    }
    n, alpha = max(scores, key=scores.get)
    model = MultinomialNB(alpha=alpha, fit_prior=False).fit(counts[:, columns[n]], y)
    return model.score(counts_test[:, columns[n]], y_test), f"n {n} alpha {alpha}"


def centered(classifier, X):
    """Return log probabilities of the classes less their means."""
    values = classifier.predict_log_proba(X)
    return values - values.mean(axis=1, keepdims=True)


def kneser_ney(order):
    return LanguageModelClassifier(KneserNeyLM(order, end_of_sequence=False), class_prior="uniform")


def out_of_fold(order, X, y, folds):
    """Return what models of other folds say of each string."""
    values = np.empty((len(y), len(np.unique(y))))
    for seen, unseen in folds.split(y, y):
        values[unseen] = centered(kneser_ney(order).fit(X[seen], y[seen]), X[unseen])
    return values


def run_kneser_ney(X, y, folds, X_test, y_test):
    """Return accuracies, plain and stacked, and the order."""
    few, names = first_of_each(y, N_CHOOSE), np.unique(y)
    cv = PredefinedSplit(folds[few])
    values = {order: out_of_fold(order, X[few], y[few], cv) for order in ORDERS}
    scores = {o: np.mean(names[v.argmax(axis=1)] == y[few]) for o, v in values.items()}
    order = max(scores, key=scores.get)
    model = kneser_ney(order).fit(X, y)
    plain = model.score(X_test, y_test), f"order {order}"
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    inner = out_of_fold(order, X, y, cv)
    scores = {c: cross_val_score(logistic(c), inner, y, cv=cv).mean() for c in (0.001, 0.01)}
    c = max(scores, key=scores.get)
    final = logistic(c).fit(inner, y)
    stacked = final.score(centered(model, X_test), y_test), f"order {order} C {c:g}"
    return plain, stacked, order


def run(addresses, size, seed, sweeps):
    """Return accuracy and settings of each classifier."""
    train, test = draw_strings(addresses, seed)
    (train, y, folds), (test, y_test, _) = flatten(train, size), flatten(test, N_TEST)
    found = {}
    counter = CountVectorizer(analyzer="char", ngram_range=(1, 5), lowercase=False)
    counts, counts_test = counter.fit_transform(train), counter.transform(test)
    lengths = np.array([len(name) for name in counter.get_feature_names_out()])
    found["TF-IDF, logistic"] = run_logistic(counts, y, folds, counts_test, y_test)
    found["naive Bayes"] = run_bayes(counts, y, folds, counts_test, y_test, lengths)
    vectorizer = TokenVectorizer(analyzer="char", min_count=1, unknown_words="single")
    X, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)
    plain, stacked, order = run_kneser_ney(X, y, folds, X_test, y_test)
    found["Kneser-Ney"] = plain
    found["Kneser-Ney, stacked"] = stacked
    lm = HierarchicalPitmanYorLM(
        order, end_of_sequence=False, max_iter=sweeps, n_samples=sweeps // 2, random_state=seed
    )
    model = LanguageModelClassifier(lm, class_prior="uniform").fit(X, y)
    found["Pitman-Yor"] = model.score(X_test, y_test), f"order {order}"
    return found


def main():
    options = parse_options()
    print_header()
    warnings.simplefilter("ignore", UserWarning)  # counts of counts that give no discount
    warnings.simplefilter("ignore", ConvergenceWarning)
    addresses = load_addresses(options.data)
    print(f"{len(addresses)} presidents; seeds {options.seeds}, {options.sweeps} sweeps\n")
    table = []
    for size in options.sizes:
        accuracies, settings = defaultdict(list), defaultdict(list)
        for seed in options.seeds:
            for name, row in run(addresses, size, seed, options.sweeps).items():
                accuracies[name].append(row[0])
                settings[name].append(row[1])
                report_done([size, seed, name, f"{row[0]:.4f}", *row[1:]])
        best = max(("TF-IDF, logistic", "naive Bayes"), key=lambda name: np.mean(accuracies[name]))
        for name, values in accuracies.items():
            difference = np.subtract(values, accuracies[best])
            against = "" if name == best else mean_and_error(difference)
            counts = sorted({s: settings[name].count(s) for s in settings[name]}.items())
            chosen = ", ".join(f"{s} ({n})" for s, n in counts)
            table.append([size, name, mean_and_error(values), against, chosen])
    columns = ["strings", "classifier", "accuracy", "less the better baseline", "settings"]
    print_table(columns, table)


if __name__ == "__main__":
    main()
