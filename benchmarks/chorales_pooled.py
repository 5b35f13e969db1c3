"""What decides the gain of locations on chorales: pooling, sweeps, stickiness or the chord prior.

Each fit has four chains. Its pooled score averages the stored samples of all chains; the scores of
single chains come from the same fit, one for each chain. Differences are paired by split (pooled)
or by split and chain (single). A fit is a line of the file, and fits that the file has are skipped.

    python benchmarks/chorales_pooled.py fits.csv --data DATA --components 50 --sweeps 500 2000
    python benchmarks/chorales_pooled.py fits.csv
"""

import argparse
import csv
import time
from itertools import product
from pathlib import Path

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from sequence_data import load_chorales, split_chorales
from sequence_quality import MODELS, make_model, number_or_auto

from skdp.sequence import CategoricalEmission, GaussianSimilarity

COLUMNS = ("components", "sweeps", "prior", "split", "model")
"""Columns of the file that identify a fit; the others are its scores."""


def fit(train, n_symbols, key, n_chains):
    n_components, n_sweeps, prior, split, name = key
    return make_model(
        name,
        n_components,
        GaussianSimilarity(3),
        emission=CategoricalEmission(n_symbols, prior=prior),
        max_iter=n_sweeps,
        n_samples=20,
        n_chains=n_chains,
        random_state=split,
    ).fit(train)


def score_models(models, panel):
    """Return nats per chord under the average of models, a mixture of whole sequences."""
    logs = np.array([model.log_likelihoods(panel.ptr, panel.values) for model in models])
    return (np.logaddexp.reduce(logs, axis=0) - np.log(len(models))).sum() / len(panel.values)


def run_fits(options):
    """Fit and score what the file lacks."""
    sequences, n_symbols, test_part = load_chorales(options.data)
    path = Path(options.file)
    found = set()
    if path.exists():
        with open(path, newline="") as file:
            found = {tuple(row[name] for name in COLUMNS) for row in csv.DictReader(file)}
    splits = {s: split_chorales(sequences, test_part, s) for s in options.splits}
    keys = product(options.components, options.sweeps, options.prior, splits, MODELS)
    for key in keys:
        if tuple(map(str, key)) in found:
            continue
        train, test = splits[key[3]]
        begin = time.process_time()
        model = fit(train, n_symbols, key, options.chains)
        seconds = time.process_time() - begin
        n = len(model._models) // options.chains
        each = [score_models(model._models[n * c : n * c + n], test) for c in range(options.chains)]
        row = dict(zip(COLUMNS, key, strict=True))
        row |= {"pooled": model.score(test), "stickiness": model.stickiness_, "seconds": seconds}
        row |= {f"chain_{c}": score for c, score in enumerate(each)}
        is_new = not path.exists()
        with open(path, "a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if is_new:
                writer.writeheader()
            writer.writerow(row)
        report_done(row.values())


def print_scores(path):
    """Print the means over splits, and the paired differences of local transitions."""
    with open(path, newline="") as file:
        fits = list(csv.DictReader(file))
    chains = [name for name in fits[0] if name.startswith("chain_")]
    pooled, single = {}, {}
    for row in fits:
        key = tuple(row[name] for name in COLUMNS)
        pooled[key] = float(row["pooled"])
        single[key] = np.array([float(row[name]) for name in chains])
    rows = []
    groups = dict.fromkeys(key[:3] for key in pooled)
    for group in sorted(groups, key=lambda key: (int(key[0]), int(key[1]), key[2])):
        names = MODELS
        splits = [s for s in range(99) if all((*group, str(s), name) in pooled for name in names)]
        if not splits:
            continue
        scores = {
            name: (
                np.array([pooled[*group, str(s), name] for s in splits]),
                np.array([single[*group, str(s), name].mean() for s in splits]),
            )
            for name in names
        }
        for which, kind in enumerate(("pooled", "single")):
            of = {name: own[which] for name, own in scores.items()}
            rows.append([
                *group, len(splits), kind, *(f"{of[name].mean():.3f}" for name in names),
                mean_and_error(of["LT"] - of["plain"]),
                mean_and_error(of["sticky-LT"] - of["sticky"]),
            ])  # fmt: skip
    gains = ["LT less plain", "sticky-LT less sticky"]
    print_table(["J", "sweeps", "prior", "splits", "chains", *MODELS, *gains], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="CSV of the fits")
    parser.add_argument("--data", help="folder with sequence/; without it, only the table")
    parser.add_argument("--components", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--sweeps", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--prior", nargs="+", type=number_or_auto, default=["auto", 0.02])
    parser.add_argument("--splits", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--chains", type=int, default=4)
    options = parser.parse_args()
    print_header()
    if options.data is not None:
        run_fits(options)
    print_scores(options.file)


if __name__ == "__main__":
    main()
