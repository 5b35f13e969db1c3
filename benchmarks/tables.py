"""Tables of mixed columns with gaps: imputation, clusters and CPU time, next to other libraries.

"adult" is a generated table like the census data of UCI, with known clusters: age, hours and log
income (numbers), years of education and children (counts), occupation and marital status
(categories), and two flags. Wine and breast cancer are scikit-learn's, with the classes as truth.
Cells are removed at random. Errors of numbers and counts are root mean squares in standard
deviations of the column; categories and flags count as right or wrong. CPU seconds are right under
load.

    python benchmarks/tables.py
    python benchmarks/tables.py --data wine --shares 0.3 --seeds 0
"""

import argparse
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
from report import print_header, print_table, report_done
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture
from sklearn.preprocessing import StandardScaler

from skdp.emissions import GaussianEmission, IndependentEmissions
from skdp.mixture import DPMixture

JOBS = ["clerk", "craft", "manager", "nurse", "none", "sales"]
STATES = ["single", "married", "divorced", "widowed"]


def make_adult(n_rows, seed):
    """Return a table, its clusters, and the kinds of its columns."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    kind = rng.choice(5, n_rows, p=shares)

    def normal(means, deviations):
        return rng.normal(np.array(means)[kind], np.array(deviations)[kind])

    def choose(values, table):
        ends = np.cumsum(np.array(table)[kind], axis=1)
        places = (rng.random((n_rows, 1)) > ends).sum(axis=1)
        return np.array(values, dtype=object)[np.minimum(places, len(values) - 1)]

    frame = pd.DataFrame(
        {
            "age": normal([23, 38, 47, 34, 69], [4, 8, 8, 6, 6]).round(),
            "hours": normal([22, 42, 50, 36, 8], [8, 4, 7, 6, 7]).round(),
            "log_income": normal([9.0, 10.3, 11.2, 10.4, 9.7], [0.5, 0.3, 0.4, 0.3, 0.4]),
            "education": rng.poisson(np.array([11.0, 9.0, 16.0, 14.0, 8.0])[kind]),
            "children": rng.poisson(np.array([0.1, 1.8, 1.5, 1.0, 2.6])[kind]),
            "job": choose(
                JOBS,
                [
                    [0.25, 0.1, 0.02, 0.03, 0.25, 0.35],
                    [0.1, 0.65, 0.05, 0.05, 0.05, 0.1],
                    [0.1, 0.05, 0.65, 0.03, 0.02, 0.15],
                    [0.15, 0.02, 0.08, 0.6, 0.05, 0.1],
                    [0.05, 0.05, 0.03, 0.02, 0.8, 0.05],
                ],
            ),
            "marital": choose(
                STATES,
                [
                    [0.92, 0.06, 0.02, 0.0],
                    [0.2, 0.65, 0.14, 0.01],
                    [0.1, 0.75, 0.13, 0.02],
                    [0.4, 0.4, 0.18, 0.02],
                    [0.05, 0.5, 0.1, 0.35],
                ],
            ),
            "owner": rng.random(n_rows) < np.array([0.05, 0.6, 0.85, 0.4, 0.8])[kind],
            "abroad": rng.random(n_rows) < 0.2,
        }
    )
    parts = [
        ("numbers", GaussianEmission("diag"), ["age", "hours", "log_income"]),
        ("counts", "poisson", ["education", "children"]),
        ("categories", "categorical", ["job", "marital"]),
        ("flags", "bernoulli", ["owner", "abroad"]),
    ]
    return frame, kind, {"independent": IndependentEmissions(parts)}


def load_numbers(loader):
    bunch = loader(as_frame=True)
    emissions = {"independent": GaussianEmission("diag"), "full": "gaussian"}
    return bunch.data, bunch.target.to_numpy(), emissions


def load(name, seed, n_rows):
    if name == "adult":
        return make_adult(n_rows, seed)
    return load_numbers({"wine": load_wine, "cancer": load_breast_cancer}[name])


def is_discrete(column):
    """Return whether all observed values are categories or flags."""
    return column.dropna().map(lambda value: isinstance(value, str | bool | np.bool_)).all()


def encode(frame):
    """Return numbers, scaled, with a column for each category and flag, and the inverse."""
    gaps = frame.isna()
    parts, places = [], []
    for name in frame.columns:
        column = frame[name]
        if is_discrete(column):
            values = sorted(column.dropna().unique(), key=str)
            block = np.column_stack([(column == v).to_numpy(dtype=float) for v in values])
            block[gaps[name].to_numpy()] = np.nan
        else:
            values, block = None, column.to_numpy(dtype=float, na_value=np.nan)[:, None]
        places.append((name, values, block.shape[1]))
        parts.append(block)
    scaler = StandardScaler()
    X = scaler.fit_transform(np.concatenate(parts, axis=1))

    def decode(Z):
        Z, out, first = scaler.inverse_transform(Z), frame.copy(), 0
        for name, values, width in places:
            own, first = Z[:, first : first + width], first + width
            hidden = gaps[name].to_numpy()
            if values is None:
                found = own[:, 0]
            else:
                found = np.array(values, dtype=object)[own.argmax(axis=1)]
            column = frame[name].astype(object)
            column[hidden] = found[hidden]
            out[name] = column
        return out

    return X, decode


def measure_errors(filled, full, hidden):
    """Return the error of numbers in standard deviations, and the share of right categories."""
    squares, right = [], []
    for d, name in enumerate(full.columns):
        rows = hidden[:, d]
        found, truth = filled[name][rows], full[name][rows]
        if is_discrete(full[name]):
            right += (found.astype(object).to_numpy() == truth.astype(object).to_numpy()).tolist()
        else:
            away = found.to_numpy(dtype=float) - truth.to_numpy(dtype=float)
            squares += ((away / full[name].to_numpy(dtype=float).std()) ** 2).tolist()
    return np.sqrt(np.mean(squares)), np.mean(right) if right else np.nan


def mean_impute(frame):
    out = frame.copy()
    for name in frame.columns:
        column = frame[name]
        is_text = is_discrete(column)
        out[name] = column.astype(object).where(
            column.notna(), column.mode()[0] if is_text else column.astype(float).mean()
        )
    return out


def run_mixture(frame, emission):
    model = DPMixture(emission, max_iter=200, random_state=0).fit(frame)
    return model.impute(frame), model.labels_, model.n_components_


def run_iterative(frame):
    X, decode = encode(frame)
    Z = IterativeImputer(max_iter=10, random_state=0).fit_transform(X)
    return decode(Z), Z


def run_chained(frame, n_rounds=5):
    """Return cells filled by regressions of each column on all others: ridge, or logistic."""
    filled, gaps = mean_impute(frame), frame.isna()
    for _ in range(n_rounds):
        for name in frame.columns:
            hidden = gaps[name].to_numpy()
            if not hidden.any():
                continue
            Z, _ = encode(filled.drop(columns=name))
            if is_discrete(frame[name]):
                regression = LogisticRegression(max_iter=500)
                y = filled[name].astype(str).to_numpy()
                known = {str(value): value for value in filled[name].unique()}
                found = regression.fit(Z[~hidden], y[~hidden]).predict(Z[hidden])
                found = np.array([known[text] for text in found], dtype=object)
            else:
                y = filled[name].to_numpy(dtype=float)
                found = BayesianRidge().fit(Z[~hidden], y[~hidden]).predict(Z[hidden])
            column = filled[name].astype(object)
            column[hidden] = found
            filled[name] = column
    return filled, encode(filled)[0]


def run_gaussian(frame, imputer):
    """Return filled cells, and clusters of scikit-learn's Dirichlet process mixture after them."""
    if imputer != "mean":
        filled, Z = run_iterative(frame) if imputer == "iterative" else run_chained(frame)
    else:
        filled = mean_impute(frame)
        X, _ = encode(frame)
        Z = np.where(np.isnan(X), 0.0, X)
    model = BayesianGaussianMixture(
        n_components=20, covariance_type="diag", max_iter=500, random_state=0,
        weight_concentration_prior_type="dirichlet_process",
    )  # fmt: skip
    labels = model.fit_predict(Z)
    return filled, labels, len(np.unique(labels))


def run_hdbscan(frame, imputer):
    filled, Z = run_iterative(frame) if imputer == "iterative" else run_chained(frame)
    labels = HDBSCAN(min_cluster_size=max(5, len(Z) // 50), copy=True).fit_predict(Z)
    return filled, labels, len(np.unique(labels[labels >= 0]))


def run_prototypes(frame, n_clusters):
    """Return k-prototypes given the true number of clusters, after mean imputation."""
    from kmodes.kprototypes import KPrototypes

    filled = mean_impute(frame)
    text = [d for d, name in enumerate(frame.columns) if is_discrete(frame[name])]
    rows = filled.copy()
    for d, name in enumerate(frame.columns):
        if d in text:
            rows[name] = rows[name].astype(str)
        else:
            column = rows[name].astype(float)
            rows[name] = (column - column.mean()) / column.std()
    if not text:
        raise ValueError("no categories")
    labels = KPrototypes(n_clusters, n_init=5, random_state=0).fit_predict(
        rows.to_numpy(dtype=object), categorical=text
    )
    return None, labels, n_clusters


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["adult", "wine", "cancer"])
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.3])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--rows", type=int, default=1000, help="of the generated table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header("pandas")
    rows = []
    for name in options.data:
        for share in options.shares:
            found = {}
            for seed in options.seeds:
                full, truth, emissions = load(name, seed, options.rows)
                hidden = np.random.default_rng(100 + seed).random(full.shape) < share
                frame = (
                    full.astype(object).where(~hidden, None)
                    if name == "adult"
                    else full.mask(hidden)
                )
                methods = {
                    f"DPMixture, {kind}": partial(run_mixture, frame, emission)
                    for kind, emission in emissions.items()
                }
                # IterativeImputer would predict the indicators of a category from each other.
                imputer = "chained" if name == "adult" else "iterative"
                call = "chained regressions" if name == "adult" else "IterativeImputer"
                methods |= {
                    f"{call}, then BayesianGaussianMixture": partial(run_gaussian, frame, imputer),
                    "mean, then BayesianGaussianMixture": partial(run_gaussian, frame, "mean"),
                    f"{call}, then HDBSCAN": partial(run_hdbscan, frame, imputer),
                }
                if name == "adult":
                    k = len(np.unique(truth))
                    methods["mean, then k-prototypes (true K)"] = partial(run_prototypes, frame, k)
                for method, run in methods.items():
                    start = time.process_time()
                    filled, labels, n_clusters = run()
                    seconds = time.process_time() - start
                    error, right = (
                        (np.nan, np.nan) if filled is None else measure_errors(filled, full, hidden)
                    )
                    rand = adjusted_rand_score(truth, labels)
                    found.setdefault(method, []).append((error, right, rand, n_clusters, seconds))
                    report_done(
                        (name, share, seed, method, error, right, rand, n_clusters, seconds)
                    )
            for method, results in found.items():
                error, right, rand, n_clusters, seconds = np.mean(results, axis=0)
                rows.append(
                    [
                        name, f"{share:.0%}", method, "" if np.isnan(error) else f"{error:.3f}",
                        "" if np.isnan(right) else f"{right:.3f}", f"{rand:.3f}",
                        f"{n_clusters:.1f}", f"{seconds:.1f}",
                    ]
                )  # fmt: skip
    print_table(
        ["data", "missing", "method", "error (sd)", "right", "Rand index", "clusters", "CPU s"],
        rows,
    )


if __name__ == "__main__":
    main()
