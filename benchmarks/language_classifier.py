"""Which president wrote these 100 characters? Language models of characters beside n-gram features.

State of the Union addresses by the 17 presidents since 1900 with at least four. A third of each
president's addresses is for the test, drawn by the seed; the others are cut into strings of at most
100 characters at spaces, of which a number per president is drawn to learn from (all, where there
are fewer). 100 strings of each president's test addresses are classified. All classifiers see the
same strings.

Every classifier's settings are chosen by cross-validation (4 folds) on the training strings, or on
100 of each president where there are more:

- TF-IDF of n-grams of 1 to 5 characters, sublinear, and logistic regression: C of 1, 10 and 100;
- naive Bayes on counts of the same n-grams, up to 3, 4 or 5 characters: alpha of .03, .1, .3 and 1;
- `LanguageModelClassifier` of `KneserNeyLM` and of `HierarchicalPitmanYorLM`: orders 4, 5 and 6;
- stacked: logistic regression (C of .001 and .01) on the centered log probabilities of all classes,
  out of fold, which learns which models are mistaken for which; and the better of both by
  cross-validation, "chosen".

Means over seeds, and means of paired differences to the better of the two baselines (by its mean),
with their standard errors.

    python benchmarks/language_classifier.py --data DATA --sizes 30 100 300 --seeds 0 1 2 3
"""

import argparse
import textwrap
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sotu import read_records

from skdp.feature_extraction import TokenVectorizer
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM, LanguageModelClassifier

N_TEST = 100
"""Strings of each president."""

N_CHOOSE = 100
"""Strings of each president that choose settings."""

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
ORDERS = 4, 5, 6


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="folder with topics/sotu.jsonl")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100, 300, 1000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--sweeps", type=int, default=30)
    return parser.parse_args()


def load_addresses(folder):
    """Return the addresses of each president."""
    addresses = defaultdict(list)
    for record in read_records(Path(folder, "topics", "sotu.jsonl")):
        if record["year"] >= 1900:
            addresses[record["president"]].append(" ".join(record["segments"]))
    return {name: texts for name, texts in sorted(addresses.items()) if len(texts) >= 4}


def draw_strings(addresses, seed):
    """Return training and test strings of each president, in random order."""
    rng = np.random.default_rng(seed)
    train, test = {}, {}
    for name, texts in addresses.items():
        order = rng.permutation(len(texts))
        n_test = max(1, len(texts) // 3)
        for part, chosen in ((train, order[n_test:]), (test, order[:n_test])):
            strings = [s for i in chosen for s in textwrap.wrap(texts[i], 100)]
            part[name] = [strings[i] for i in rng.permutation(len(strings))]
    return train, test


def flatten(strings, n):
    """Return the first n strings of each president, and whose they are."""
    labels = np.array([name for name in strings for _ in strings[name][:n]])
    return [s for name in strings for s in strings[name][:n]], labels


def choose(make, settings, X, y):
    """Return the setting of the highest accuracy in cross-validation."""
    if len(settings) == 1:
        return settings[0]
    scores = [cross_val_score(make(s), X, y, cv=FOLDS).mean() for s in settings]
    return settings[int(np.argmax(scores))]


def first_of_each(y, n):
    """Return the places of the first n labels of each class."""
    return np.concatenate([np.flatnonzero(y == name)[:n] for name in np.unique(y)])


def run_baselines(train, y, test, y_test):
    """Return accuracies and settings of the two baselines."""
    few = first_of_each(y, N_CHOOSE)
    counter = CountVectorizer(analyzer="char", ngram_range=(1, 5), lowercase=False)
    counts, counts_test = counter.fit_transform(train), counter.transform(test)
    tfidf = TfidfTransformer(sublinear_tf=True).fit(counts)
    X, X_test = tfidf.transform(counts), tfidf.transform(counts_test)

    def logistic(c):
        return LogisticRegression(C=c, tol=1e-5, class_weight="balanced", max_iter=200)

    c = choose(logistic, [1.0, 10.0, 100.0], X[few], y[few])
    found = {"TF-IDF, logistic": (logistic(c).fit(X, y).score(X_test, y_test), f"C {c:g}")}

    lengths = np.array([len(name) for name in counter.get_feature_names_out()])
    columns = {n: np.flatnonzero(lengths <= n) for n in (3, 4, 5)}

    def bayes(alpha):
        return MultinomialNB(alpha=alpha, fit_prior=False)

    best = max(
        (cross_val_score(bayes(a), counts[few][:, columns[n]], y[few], cv=FOLDS).mean(), n, a)
        for n in columns
        for a in (0.03, 0.1, 0.3, 1.0)
    )
    _, n, alpha = best
    model = bayes(alpha).fit(counts[:, columns[n]], y)
    found["naive Bayes"] = model.score(counts_test[:, columns[n]], y_test), f"n {n} alpha {alpha}"
    return found


def centered(classifier, X):
    """Return log probabilities of the classes less their means."""
    values = classifier.predict_log_proba(X)
    return values - values.mean(axis=1, keepdims=True)


def run_ours(make, train, y, test, y_test):
    """Return accuracies: of language models, stacked, and of what cross-validation prefers."""
    vectorizer = TokenVectorizer(analyzer="char", min_count=1, unknown_words="single")
    X, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)
    few = first_of_each(y, N_CHOOSE)

    def classifier(order):
        return LanguageModelClassifier(make(order), class_prior="uniform")

    def out_of_fold(order, X, y):
        values = np.empty((len(y), len(np.unique(y))))
        for seen, unseen in FOLDS.split(y, y):
            values[unseen] = centered(classifier(order).fit(X[seen], y[seen]), X[unseen])
        return values

    names = np.unique(y)
    values = {order: out_of_fold(order, X[few], y[few]) for order in ORDERS}
    accuracies = {o: np.mean(names[v.argmax(axis=1)] == y[few]) for o, v in values.items()}
    order = max(accuracies, key=accuracies.get)
    model = classifier(order).fit(X, y)
    plain = model.score(X_test, y_test), f"order {order}"
    inner = values[order] if len(few) == len(y) else out_of_fold(order, X, y)

    def logistic(c):
        return LogisticRegression(C=c, class_weight="balanced", max_iter=500)

    scores = {c: cross_val_score(logistic(c), inner, y, cv=FOLDS).mean() for c in (0.001, 0.01)}
    c = max(scores, key=scores.get)
    final = logistic(c).fit(inner, y)
    stacked = final.score(centered(model, X_test), y_test), f"order {order} C {c:g}"
    unstacked = np.mean(names[inner.argmax(axis=1)] == y)
    chosen = stacked if scores[c] > unstacked else plain
    chosen = chosen[0], "stacked" if scores[c] > unstacked else "plain"
    return plain, stacked, chosen


def run(addresses, size, seed, sweeps):
    """Return accuracy, settings and CPU seconds of each classifier."""
    train, test = draw_strings(addresses, seed)
    (train, y), (test, y_test) = flatten(train, size), flatten(test, N_TEST)
    begin = time.process_time()
    found = run_baselines(train, y, test, y_test)
    found = {name: (*row, "") for name, row in found.items()}
    makers = {
        "Kneser-Ney": lambda order: KneserNeyLM(order, end_of_sequence=False),
        "Pitman-Yor": lambda order: HierarchicalPitmanYorLM(
            order, end_of_sequence=False, max_iter=sweeps, n_samples=sweeps // 3, random_state=seed
        ),
    }
    for name, make in makers.items():
        begin = time.process_time()
        rows = run_ours(make, train, y, test, y_test)
        seconds = time.process_time() - begin
        for suffix, row in zip(("", ", stacked", ", chosen"), rows, strict=True):
            found[name + suffix] = (*row, f"{seconds:.0f} s")
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
    print_table(["strings", "classifier", "accuracy", "less the better baseline", "settings"], table)


if __name__ == "__main__":
    main()
