"""Tables of categories with and without clusters: how many are found, and do they agree?

"uniform" columns have equal probabilities, "skewed" ones probabilities from a flat Dirichlet
distribution, both without clusters. "classes" are three latent classes with flat probabilities in
six columns (several single columns show little), and "classes + 30" adds thirty uniform columns.
"given" is a fixed symmetric prior of .5, with which every column differs between clusters.

    python benchmarks/tables_of_noise.py
    python benchmarks/tables_of_noise.py --rows 500 --seeds 0
"""

import argparse
import time

import numpy as np
from report import print_header, print_table, report_done
from sklearn.metrics import adjusted_rand_score

from skdp.emissions import CategoricalEmission
from skdp.mixture import DPMixture

KINDS = "uniform", "skewed", "classes", "classes + 30"
EMISSIONS = {"drawn": CategoricalEmission(), "given": CategoricalEmission(prior=0.5)}


def make_table(kind, n_rows, n_columns, n_symbols, seed):
    """Return columns of symbols, and the class of each row."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3 if kind.startswith("classes") else 1, size=n_rows)
    if kind == "uniform":
        return rng.integers(n_symbols, size=(n_rows, n_columns)), classes
    probs = rng.dirichlet(np.ones(n_symbols), (n_columns, 3))
    ends = probs.cumsum(axis=2)[:, classes]
    X = (ends < rng.random((n_columns, n_rows, 1))).sum(axis=2).T.clip(0, n_symbols - 1)
    if kind == "classes + 30":
        X = np.hstack([X, rng.integers(n_symbols, size=(n_rows, 30))])
    return X, classes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="+", type=int, default=[200, 500, 2000])
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--symbols", type=int, default=4)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--max-iter", type=int, default=300)
    args = parser.parse_args()
    print_header()
    table = []
    for n_rows in args.rows:
        for kind in KINDS:
            for name, emission in EMISSIONS.items():
                numbers, scores, begin = [], [], time.process_time()
                for seed in args.seeds:
                    X, classes = make_table(kind, n_rows, args.columns, args.symbols, seed)
                    model = DPMixture(emission, max_iter=args.max_iter, random_state=seed).fit(X)
                    numbers.append(model.n_components_)
                    scores.append(adjusted_rand_score(classes, model.labels_))
                seconds = (time.process_time() - begin) / len(args.seeds)
                is_noise = classes.max() == 0
                shown = "" if is_noise else " ".join(f"{score:.2f}" for score in scores)
                clusters = " ".join(map(str, numbers))
                table.append([n_rows, kind, name, clusters, shown, f"{seconds:.1f}"])
                report_done([f"{n_rows} rows, {kind}, {name}"])
    print_table(["rows", "table", "prior", "clusters", "Rand index", "CPU s"], table)


if __name__ == "__main__":
    main()
