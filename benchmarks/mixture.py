"""Mixtures whose number of components is inferred, compared with those of scikit-learn.

Held-out nats a row: five folds, columns standardized in the fold, densities in the original units.
`BayesianGaussianMixture` has 30 components and a Dirichlet process prior; `GaussianMixture` the
number of components (and "full" or "diag") that is best on the same folds, which flatters it.
Labels: adjusted Rand index of all rows against the known classes. Merged: the same index after
clusters are merged until there is one for each class, compared with methods that are told the
number. Starts: fits of all rows from 1, 20 and 200 random components. Speed: sweeps over 10,000
rows, 10 columns and 20 components.
The parts "large" and "blocked" are not run by default: fits of 100,000 generated rows and rows of
60 columns, with either sampler from 50,000 rows on, and blocked sweeps over a million rows of 2 and
10 columns, compared with iterations of scikit-learn's.

    python benchmarks/mixture.py --data DATA --chains 4
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from report import print_header, print_table
from sklearn import datasets
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from skdp.emissions import GaussianEmission
from skdp.mixture import DPMixture, PitmanYorMixture

N_FOLDS = 5
KINDS = ("full", "diag")


def load_sets(folder):
    """Return rows and classes (None: unknown) by name."""
    sets = {}
    path = None if folder is None else next(Path(folder).rglob("old_faithful.csv"), None)
    if path is not None:
        sets["Old Faithful"] = np.loadtxt(path, delimiter=",", skiprows=1)[:, -2:], None
    sets["iris"] = datasets.load_iris(return_X_y=True)
    sets["wine"] = datasets.load_wine(return_X_y=True)
    for name, load, n in (
        ("breast cancer, PCA 8", datasets.load_breast_cancer, 8),
        ("digits, PCA 10", datasets.load_digits, 10),
    ):
        X, y = load(return_X_y=True)
        if n == 8:
            X = StandardScaler().fit_transform(X)
        sets[name] = PCA(n, random_state=0).fit_transform(X), y
    return sets


def held_out(make, X):
    """Return the mean log density of held-out rows, in original units."""
    total = 0.0
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=0).split(X):
        scaler = StandardScaler().fit(X[train])
        model = make().fit(scaler.transform(X[train]))
        total += model.score_samples(scaler.transform(X[test])).sum()
        total -= len(test) * np.log(scaler.scale_).sum()
    return total / len(X)


def best_mixture(X, seed):
    """Return the held-out score of the best finite mixture."""
    return max(
        held_out(
            lambda k=k, kind=kind: GaussianMixture(k, covariance_type=kind, random_state=seed), X
        )
        for kind in KINDS
        for k in range(1, 13)
    )


def bayesian(seed):
    return BayesianGaussianMixture(
        n_components=30,
        weight_concentration_prior_type="dirichlet_process",
        max_iter=500,
        random_state=seed,
    )


def ours(cls, kind, options, **params):
    return cls(
        GaussianEmission(kind, covariance_prior=options.scale),
        max_iter=options.sweeps,
        n_chains=options.chains,
        random_state=options.seed,
        **params,
    )


def compare(sets, options):
    columns = ["data", "rows", "BGM 30", "GMM, best K"]
    columns += [f"{cls.__name__} {kind}" for cls in (PitmanYorMixture, DPMixture) for kind in KINDS]
    rows = []
    for name, (X, _) in sets.items():
        scores = [held_out(lambda: bayesian(options.seed), X)]
        scores.append(best_mixture(X, options.seed) if options.grid else np.nan)
        for cls in (PitmanYorMixture, DPMixture):
            for kind in KINDS:
                scores.append(held_out(lambda cls=cls, kind=kind: ours(cls, kind, options), X))
        rows.append([name, len(X), *(f"{score:.3f}" for score in scores)])
        print(rows[-1], flush=True)
    print_table(columns, rows)


def label(sets, options):
    rows = []
    for name, (X, y) in sets.items():
        if y is None:
            continue
        Z = StandardScaler().fit_transform(X)
        cells = [f"{adjusted_rand_score(y, bayesian(options.seed).fit_predict(Z)):.3f}"]
        for kind in KINDS:
            begin = time.process_time()
            model = ours(PitmanYorMixture, kind, options).fit(Z)
            seconds = time.process_time() - begin
            index = adjusted_rand_score(y, model.labels_)
            cells.append(f"{index:.3f} (K = {model.n_components_}, {seconds:.1f} s)")
        rows.append([name, *cells])
        print(rows[-1], flush=True)
    print_table(["data", "BGM 30", "ours, full", "ours, diag"], rows)


def merge(sets, options):
    """Print Rand indices of as many clusters as there are classes, for all who are told."""
    rows = []
    for name, (X, y) in sets.items():
        if y is None:
            continue
        Z, n, seed = StandardScaler().fit_transform(X), len(np.unique(y)), options.seed
        model = ours(PitmanYorMixture, "full", options).fit(Z)
        found = [
            model.labels_,
            model.labels_at(min(n, model.n_components_)),
            KMeans(n, n_init=10, random_state=seed).fit_predict(Z),
            AgglomerativeClustering(n).fit_predict(Z),
            GaussianMixture(n, n_init=10, random_state=seed).fit_predict(Z),
        ]
        indices = [f"{adjusted_rand_score(y, labels):.3f}" for labels in found]
        rows.append([name, n, model.n_components_, *indices])
        print(rows[-1], flush=True)
    columns = ["data", "classes", "K", "labels_", "labels_at", "KMeans", "Ward", "GaussianMixture"]
    print_table(columns, rows)


def start(sets, options):
    rows = []
    for name, (X, _) in sets.items():
        Z, rng = StandardScaler().fit_transform(X), np.random.default_rng(options.seed)
        cells = []
        for n in (1, 20, 200):
            model = ours(PitmanYorMixture, "full", options, init=rng.integers(0, n, len(Z))).fit(Z)
            counts = model.trace_["n_components"]
            cells.append(f"{counts.mean():.2f}, {model.score(Z):.3f}")
        rows.append([name, *cells])
        print(rows[-1], flush=True)
    print_table(["E[K], score from", "1", "20", "200"], rows)


def measure(options):
    rng = np.random.default_rng(0)
    z = rng.integers(20, size=10_000)
    X = 4.0 * rng.normal(size=(20, 10))[z] + rng.normal(size=(10_000, 10))
    rows = []
    for kind in KINDS:
        emission = GaussianEmission(kind, covariance_prior=options.scale)
        model = DPMixture(emission, max_iter=30, init=z, random_state=0)
        states = model.iter_sweeps(X)
        next(states)
        begin = time.process_time()
        n = sum(1 for _ in states)
        seconds = (time.process_time() - begin) / n
        rows.append([kind, f"{1000.0 * seconds:.1f}"])
    print_table(["10,000 rows, D = 10, K = 20", "CPU ms a sweep"], rows)


def generate(n_rows, n_columns, n_components, seed):
    """Return rows of correlated components, and these."""
    rng = np.random.default_rng(seed)
    z = rng.integers(n_components, size=n_rows)
    shape = n_components, n_columns, n_columns
    roots = np.eye(n_columns) + 0.5 * rng.normal(size=shape) / np.sqrt(n_columns)
    means = rng.normal(size=(n_components, n_columns))
    noise = rng.normal(size=(n_rows, n_columns))
    return means[z] + np.einsum("nij,nj->ni", roots[z], noise), z


def measure_large(options):
    """Fit generated rows of 30 components, one model right after the other."""
    rows = []
    for n_columns, n_rows in zip(options.columns, options.rows, strict=True):
        X, z = generate(n_rows + 5000, n_columns, 30, options.seed)
        train, test, truth = X[:n_rows], X[n_rows:], z[:n_rows]
        models = {
            "BGM 30": bayesian(options.seed),
            "DPMixture": DPMixture(max_iter=options.sweeps, random_state=options.seed),
        }
        if n_rows >= 50_000:
            models["DPMixture, blocked"] = DPMixture(
                sampler="blocked", max_iter=options.sweeps, random_state=options.seed
            )
        for name, model in models.items():
            begin = time.process_time()
            labels = model.fit_predict(train)
            seconds = time.process_time() - begin
            cells = f"{seconds:.0f}", str(len(np.unique(labels)))
            index = f"{adjusted_rand_score(truth, labels):.3f}"
            shape = f"{n_rows}, {n_columns}"
            rows.append([shape, name, *cells, index, f"{model.score(test):.3f}"])
            print(rows[-1], flush=True)
    print_table(["rows, D", "model", "CPU s", "K", "Rand index", "held out"], rows)


def measure_blocked(options):
    """Time sweeps over a million rows of 20 components, and iterations of scikit-learn's models."""
    rows, n, n_components = [], 1_000_000, 20
    for n_columns in (2, 10):
        rng = np.random.default_rng(0)
        z = rng.integers(n_components, size=n)
        centers = 4.0 * rng.normal(size=(n_components, n_columns))
        X = centers[z] + rng.normal(size=(n, n_columns))
        for n_jobs in (1, 2):
            model = DPMixture(sampler="blocked", init=z, max_iter=12, n_jobs=n_jobs, random_state=0)
            states = model.iter_sweeps(X)
            next(states)
            begin, cpu = time.perf_counter(), time.process_time()
            n_sweeps = sum(1 for _ in states)
            times = time.perf_counter() - begin, time.process_time() - cpu
            name = f"DPMixture, {n_jobs} threads"
            rows.append([n_columns, name, *(f"{each / n_sweeps:.2f}" for each in times)])
            print(rows[-1], flush=True)
        for peer in (GaussianMixture, BayesianGaussianMixture):
            begin, cpu = time.perf_counter(), time.process_time()
            peer(
                n_components=n_components, max_iter=3, tol=0.0, init_params="random", random_state=0
            ).fit(X)
            times = time.perf_counter() - begin, time.process_time() - cpu
            rows.append([n_columns, peer.__name__, *(f"{each / 3:.2f}" for each in times)])
            print(rows[-1], flush=True)
    print_table(["D", "a million rows, K = 20", "seconds a sweep", "CPU seconds"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=None, help="folder with old_faithful.csv")
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--parts", nargs="+", default=["speed", "labels", "starts", "held-out"])
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--given-scale", dest="scale", action="store_const", const=None, default="auto",
        help="the scale of the covariances is not drawn",
    )  # fmt: skip
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 60], help="of part large")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 20_000])
    parser.add_argument("--no-grid", dest="grid", action="store_false")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_header()
    sets = load_sets(options.data)
    if options.sets:
        sets = {name: sets[name] for name in options.sets}
    parts = {"labels": label, "merged": merge, "starts": start, "held-out": compare}
    for part, run in parts.items():
        if part in options.parts:
            run(sets, options)
    if "speed" in options.parts:
        measure(options)
    if "large" in options.parts:
        measure_large(options)
    if "blocked" in options.parts:
        measure_blocked(options)


if __name__ == "__main__":
    main()
