"""Clusters of counts: short texts as sparse rows, pixels of digits, and noise of wider laws.

Texts are files of a folder: {"text", "cluster"} in lines of JSON, gzipped. Words are those of
`CountVectorizer`. The normalized mutual information is by the geometric mean, the adjusted Rand
index that of the digits. CPU time is that of a fit without compilation. Noise is 400 rows of
negative binomial columns, or of Dirichlet-multinomial rows, and its counts ten times as large: a
single cluster. "merged" are `labels_at` of the number of classes.

    python benchmarks/clusters_of_counts.py --data short_texts
"""

import argparse
import gzip
import json
import time
import warnings
from pathlib import Path

import numpy as np
from report import print_header, print_table
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from skdp.emissions import MultinomialEmission, PoissonEmission
from skdp.mixture import DPMixture


def fit(emission, X, sweeps):
    """Return a mixture, and the CPU seconds of its fit."""
    model = DPMixture(emission, max_iter=sweeps, n_samples=5, random_state=0)
    start = time.process_time()
    model.fit(X)
    return model, time.process_time() - start


def read_texts(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    names = np.unique([str(line["cluster"]) for line in lines], return_inverse=True)[1]
    return CountVectorizer().fit_transform([line["text"] for line in lines]), names


def compare_texts(folder, sweeps):
    rows = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        X, classes = read_texts(path)
        for b in (None, "auto"):
            fit(MultinomialEmission(0.03, b), X[:200], 2)
            model, seconds = fit(MultinomialEmission(0.03, b), X, sweeps)
            nmi = normalized_mutual_info_score(classes, model.labels_, average_method="geometric")
            b = "" if b is None else f"{model.trace_['emission_row_concentration'][0, -1]:.0f}"
            rows.append([
                path.name.split(".")[0], f"{X.shape[0]} x {X.shape[1]}", len(set(classes)), b,
                model.n_components_, f"{nmi:.3f}", f"{seconds:.1f}",
            ])  # fmt: skip
    print_table(["texts", "X", "classes", "drawn b", "clusters", "NMI", "CPU s"], rows)


def compare_digits(sweeps):
    X, classes = load_digits(return_X_y=True)
    emissions = {
        **{f"Poisson, {f}": PoissonEmission(dispersion=f) for f in (None, "auto", 0.5, 1.5, 3.0)},
        **{f"multinomial, {b}": MultinomialEmission(row_concentration=b) for b in (None, "auto")},
    }
    rows = []
    for name, emission in emissions.items():
        model, seconds = fit(emission, X, sweeps)
        found = [model.labels_, model.labels_at(10)]
        scores = [f"{adjusted_rand_score(classes, labels):.3f}" for labels in found]
        rows.append([name, model.n_components_, *scores, f"{seconds:.0f}"])
    print_table(["digits", "clusters", "ARI", "merged", "CPU s"], rows)


def compare_noise(sweeps):
    rng = np.random.default_rng(0)
    means = np.array([3.0, 10.0, 0.5, 40.0, 7.0, 1.0])
    psi = rng.dirichlet(8.0 * rng.dirichlet(np.full(30, 0.5)), size=400)
    rows = []
    for times in (1, 10):
        wide = rng.negative_binomial(2.0, 2.0 / (2.0 + times * means), size=(400, 6))
        bursts = np.array([rng.multinomial(40 * times, own) for own in psi])
        for name, X, emissions in (
            ("negative binomial", wide, (PoissonEmission(), PoissonEmission(dispersion="auto"))),
            ("Dirichlet-multinomial", bursts, (
                MultinomialEmission(), MultinomialEmission(row_concentration="auto")
            )),
        ):  # fmt: skip
            found = [fit(emission, X, sweeps)[0].n_components_ for emission in emissions]
            rows.append([name, times, *found])
    print_table(["noise", "times", "plain", "auto"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the texts")
    parser.add_argument("--sweeps", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_header()
    compare_texts(options.data, options.sweeps)
    compare_digits(options.sweeps)
    compare_noise(options.sweeps)


if __name__ == "__main__":
    main()
