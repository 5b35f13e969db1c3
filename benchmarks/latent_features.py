"""Latent features of an Indian buffet, beside factor analysis, PCA and NMF.

Glyphs: 100 images of 6 x 6 pixels, noise .5, the data of Griffiths and Ghahramani (2005); how many
pixels of each glyph the nearest component has wrong, cut at one half. Digits: 30 % of the pixels
are missing; the error of imputed ones, in units of a pixel (0 to 16). Factor analysis alternates
fits and conditional means, PCA and NMF fits and what they make of the filled rows. What has to be
chosen (numbers of factors and fits, our noise) is chosen by a tenth of the observed pixels, held
out; the column "best" shows what the missing ones themselves would have chosen. Errors: standard
errors of estimated log densities of digits.

    python benchmarks/latent_features.py
"""

import argparse
import time
import warnings
from functools import partial

import numpy as np
from report import print_header, print_table, report_done
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF, PCA, FactorAnalysis
from sklearn.exceptions import ConvergenceWarning

from skdp.datasets import make_feature_images
from skdp.mixture import IBPLatentFeatures

N_ALTERNATIONS = 8


def show_glyphs(options):
    rows = []
    for seed in range(10):
        images = make_feature_images(100, noise_scale=0.5, random_state=seed)
        begin = time.process_time()
        model = IBPLatentFeatures(
            center=False, max_iter=options.sweeps, n_chains=options.chains, random_state=seed
        ).fit(images.data)
        seconds = time.process_time() - begin
        shown = model.components_ > 0.5
        wrong = (shown[:, np.newaxis] != (images.glyphs > 0.5)).sum(axis=2).min(axis=0)
        probabilities = model.feature_probabilities_.round(2)
        rows.append([seed, wrong.tolist(), model.n_components_, probabilities, f"{seconds:.2f}"])
        report_done(rows[-1])
    print_table(["seed", "pixels wrong", "features", "their shares", "CPU s"], rows)


def condition(analysis, rows, missing):
    """Return rows with the conditional means of their missing entries."""
    covariance, out = analysis.get_covariance(), rows.copy()
    for i in range(len(rows)):
        gone = missing[i]
        seen = ~gone
        own = covariance[np.ix_(seen, seen)] + 1e-9 * np.eye(seen.sum())
        gain = np.linalg.solve(own, rows[i, seen] - analysis.mean_[seen])
        out[i, gone] = analysis.mean_[gone] + covariance[np.ix_(gone, seen)] @ gain
    return out


def impute_by_factors(rows, n_factors):
    """Yield imputed rows after each of several fits."""
    missing = np.isnan(rows)
    full = np.where(missing, np.nanmean(rows, axis=0), rows)
    for _ in range(N_ALTERNATIONS):
        full = condition(FactorAnalysis(n_factors, random_state=0).fit(full), full, missing)
        yield full


def impute_by_factorization(rows, make):
    """Yield imputed rows after each of several fits of PCA or NMF."""
    missing = np.isnan(rows)
    full = np.where(missing, np.nanmean(rows, axis=0), rows)
    for _ in range(N_ALTERNATIONS):
        model = make()
        back = model.inverse_transform(model.fit_transform(full))
        full = np.where(missing, np.maximum(back, 0.0), rows)
        yield full


def make_imputers(options):
    """Return functions that yield imputed rows, by the name of a peer and its size."""
    imputers = {
        ("FactorAnalysis", k): partial(impute_by_factors, n_factors=k) for k in options.factors
    }
    for k in options.parts_of_rows:
        imputers["PCA", k] = partial(impute_by_factorization, make=partial(PCA, k, random_state=0))
        make = partial(NMF, k, init="nndsvda", max_iter=300, random_state=0)
        imputers["NMF", k] = partial(impute_by_factorization, make=make)
    return imputers


def impute_by_features(rows, options, **params):
    model = IBPLatentFeatures(
        max_iter=options.digit_sweeps, n_samples=10, random_state=options.seed, **params
    )
    return model.fit(rows).impute(rows), model


def error(found, truth, where):
    return float(np.sqrt(np.mean((found - truth)[where] ** 2)))


def impute_digits(options):
    X = load_digits().data
    rng = np.random.default_rng(options.seed)
    missing = rng.random(X.shape) < 0.3
    held_out = ~missing & (rng.random(X.shape) < 0.1)
    rows = np.where(missing, np.nan, X)
    fewer = np.where(held_out, np.nan, rows)
    means = np.where(missing, np.nanmean(rows, axis=0), rows)
    table = [["means of columns", "", f"{error(means, X, missing):.3f}", "", ""]]

    imputers = make_imputers(options)
    for peer in ("FactorAnalysis", "PCA", "NMF"):
        begin = time.process_time()
        trials, found = {}, {}
        for (name, k), impute in imputers.items():
            if name == peer:
                for n, full in enumerate(impute(fewer)):
                    trials[k, n] = error(full, X, held_out)
                for n, full in enumerate(impute(rows)):
                    found[k, n] = error(full, X, missing)
        chosen = min(trials, key=trials.get)
        seconds = time.process_time() - begin
        name = f"{chosen[0]} factors, {chosen[1] + 1} fits"
        best = f"{min(found.values()):.3f}"
        table.append([peer, name, f"{found[chosen]:.3f}", best, f"{seconds:.0f}"])
        report_done(table[-1])

    begin = time.process_time()
    trials, found, sizes = {}, {}, {}
    for noise in options.noise:
        full, _ = impute_by_features(fewer, options, noise_variance=noise)
        trials[noise] = error(full, X, held_out)
        full, model = impute_by_features(rows, options, noise_variance=noise)
        found[noise], sizes[noise] = error(full, X, missing), model.n_components_
        report_done([noise, trials[noise], found[noise], sizes[noise]])
    chosen = min(trials, key=trials.get)
    seconds = time.process_time() - begin
    name = f"noise_variance={chosen:g}, {sizes[chosen]} features"
    best = f"{min(found.values()):.3f}"
    table.append(["IBPLatentFeatures", name, f"{found[chosen]:.3f}", best, f"{seconds:.0f}"])

    for noise in ("auto", "columns"):
        begin = time.process_time()
        full, model = impute_by_features(rows, options, noise_variance=noise)
        seconds = time.process_time() - begin
        variance = np.mean(model.noise_variance_)
        name = f'"{noise}": {variance:.2f}, {model.n_components_} features'
        table.append(["", name, f"{error(full, X, missing):.3f}", "", f"{seconds:.0f}"])
        report_done(table[-1])
    print_table(["30 % missing", "chosen", "RMSE", "best", "CPU s of all trials"], table)


def show_errors(options):
    X = load_digits().data
    rows = []
    for noise in (12.0, 8.0, 4.0):
        model = IBPLatentFeatures(
            noise_variance=noise, max_iter=options.digit_sweeps, n_samples=1, random_state=0
        ).fit(X[:1500])
        (sample,) = model._models
        keys = np.random.default_rng(0).integers(1, 2**63, (20, 4)).astype(np.uint64)
        test = X[1500:1600] - model.mean_
        begin = time.process_time()
        logs = [sample.predict(test, key, 50, new=True, density=True)[1] for key in keys]
        seconds = (time.process_time() - begin) / (20 * len(test))
        spread = np.std(logs, axis=0, ddof=1)
        cells = [f"{np.median(spread):.3f}", f"{np.quantile(spread, 0.9):.3f}"]
        rows.append([noise, model.n_components_, *cells, f"{1000.0 * seconds:.2f}"])
        report_done(rows[-1])
    print_table(["noise", "features", "median error", "of one row in ten", "CPU ms a row"], rows)


PARTS = {"glyphs": show_glyphs, "digits": impute_digits, "errors": show_errors}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--digit-sweeps", type=int, default=100)
    parser.add_argument("--factors", type=int, nargs="+", default=[20, 30, 40, 50])
    parser.add_argument("--parts-of-rows", type=int, nargs="+", default=[5, 10, 15, 20, 30])
    parser.add_argument("--noise", type=float, nargs="+", default=[2.0, 4.0, 6.0, 8.0])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_header()
    for part in options.parts:
        PARTS[part](options)
        print()


if __name__ == "__main__":
    main()
