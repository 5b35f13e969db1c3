"""Held-out nats a step on series of many kinds, beside hmmlearn's and scikit-learn's best by BIC.

The part `sets` of `sequence_quality.py`.
"""

import logging
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
from report import mean_and_error, print_table, report_done
from sequence_data import load_sets
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from skdp.emissions import CategoricalEmission, GaussianEmission, PoissonEmission
from skdp.emissions._common._columns import InMemoryRows, moments_of
from skdp.sequence import HDPHMMLT

N_STATES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
"""Of which BIC chooses."""

N_STARTS = 3
"""Of expectation maximization, for each number of states."""


def make_emission(prior, held_out_kind, train):
    """Return an emission: "default", "auto", "diag", or the prior's degrees of freedom and share.

    "2 * D + 1 : 0.2" are formulas in the number D of columns; the prior mean of covariances is the
    share times the covariance of the training data. With "diag :" before, columns are independent;
    degrees of freedom are then those of one column each.
    """
    if held_out_kind == "poisson":
        return PoissonEmission()
    if held_out_kind == "categorical":
        return CategoricalEmission(int(train.values.max()) + 1)
    if prior == "auto":
        return GaussianEmission(covariance_prior="auto")
    if prior in ("default", "diag"):
        return GaussianEmission("full" if prior == "default" else "diag")
    formulas = prior.split(":")
    covariance_type = "diag" if formulas[0].strip() == "diag" else "full"
    freedom, share = (
        eval(formula, {"__builtins__": {}}, {"D": train.n_features}) for formula in formulas[-2:]
    )
    covariance = moments_of(InMemoryRows(train.values))[1]
    if covariance_type == "diag":
        scale = share * (freedom - 2.0) * np.diag(covariance)
    else:
        scale = share * (freedom - train.n_features - 1.0) * covariance
    return GaussianEmission(
        covariance_type, degrees_of_freedom_prior=freedom, covariance_prior=scale
    )


def fit_ours(prior, held_out, options):
    """Return scores by seed, means over splits: as they are, and with the parameters' means."""
    scores = np.empty((2, len(options.seeds), len(held_out.splits)))
    n_states = []
    for i, seed in enumerate(options.seeds):
        for s, (train, test) in enumerate(held_out.splits):
            model = HDPHMMLT(
                options.components[0],
                emission=make_emission(prior, held_out.kind, train),
                stickiness="auto",
                max_iter=options.sweeps,
                n_chains=options.chains,
                random_state=seed,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # many states are in use
                model.fit(train)
            scores[0, i, s] = model.score(test)
            n_states.append(model.n_active_components_)
            forget_uncertainty(model)
            scores[1, i, s] = model.score(test)
    return scores.mean(axis=2), np.mean(n_states)


def forget_uncertainty(model):
    """Let stored samples score with the means of their parameters."""
    fields = "degrees_of_freedom", "scale_ratios", "shapes"
    for i, sample in enumerate(model._models):
        none = {name: None for name in fields if hasattr(sample.emission, name)}
        model._models[i] = replace(sample, emission=replace(sample.emission, **none))


def best_of_hmmlearn(held_out, covariance_type):
    """Return the mean score of the models that BIC chooses, and their numbers of states."""
    from hmmlearn.hmm import CategoricalHMM, GaussianHMM, PoissonHMM

    logging.getLogger("hmmlearn").setLevel(logging.CRITICAL)
    scores, chosen = [], []
    for train, test in held_out.splits:
        known = read(train, held_out.kind)
        cls, parameters = {
            "gaussian": (GaussianHMM, {"covariance_type": covariance_type}),
            "poisson": (PoissonHMM, {}),
            "categorical": (CategoricalHMM, {"n_features": int(train.values.max()) + 1}),
        }[held_out.kind]
        fits = []
        for k, seed in product(N_STATES, range(N_STARTS)):
            model = cls(k, n_iter=100, random_state=seed, **parameters)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # starts and states that die out
                try:
                    bic = model.fit(*known).bic(*known)
                except ValueError:  # of a state without data
                    continue
            if np.isfinite(bic):
                fits.append((bic, k, seed, model))
        _, k, _, model = min(fits)
        scores.append(model.score(*read(test, held_out.kind)) / len(test.values))
        chosen.append(str(k))
    return np.mean(scores), ", ".join(chosen)


def read(panel, kind):
    """Return values and lengths as hmmlearn takes them."""
    values = panel.values if kind == "gaussian" else panel.values.astype(int)
    return values, np.diff(panel.ptr)


def best_mixture(held_out, covariance_type):
    """Return the mean score of the Gaussian mixtures that BIC chooses."""
    scores = []
    for train, test in held_out.splits:
        fits = []
        for k in N_STATES:
            model = GaussianMixture(
                k, covariance_type=covariance_type, n_init=N_STARTS, random_state=0
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(train.values)
            fits.append((model.bic(train.values), k, model))
        scores.append(min(fits)[2].score(test.values))
    return np.mean(scores)


def print_sets(options):
    """Print held-out scores of all sets, ours for each prior, beside what others reach."""
    sets = load_sets(options.data)
    unknown = set(options.sets or sets) - set(sets)
    if unknown:
        raise SystemExit(f"no such sets: {', '.join(unknown)}; there are {', '.join(sets)}")
    print(
        f"J = {options.components[0]}, sticky, {options.sweeps} sweeps, {options.chains} chain(s), "
        f"seeds {options.seeds}; the others: BIC over {N_STATES} states, {N_STARTS} starts each\n"
    )
    rows = []
    for name in options.sets or sets:
        held_out = sets[name]
        own = held_out.kind == "gaussian"
        n_features = held_out.splits[0][0].n_features
        types = ("full", "diag") if own and n_features > 1 else ("full",)
        row, others = [name, n_features, sum(len(test.values) for _, test in held_out.splits)], []
        for covariance_type in ("full", "diag"):
            cells = ["", ""]
            if covariance_type in types:
                score, chosen = best_of_hmmlearn(held_out, covariance_type)
                cells = [f"{score:.3f} ({chosen})", ""]
                others.append(score)
                if own:
                    score = best_mixture(held_out, covariance_type)
                    cells[1] = f"{score:.3f}"
                    others.append(score)
            row += cells
        for prior in options.priors if own else options.priors[:1]:
            scores, n_states = fit_ours(prior, held_out, options)
            row += [f"{scores[1].mean():.3f}", mean_and_error(scores[0])]
            row += [f"{scores[0].mean() - max(others):+.3f}", f"{n_states:.1f}"]
        row += [""] * (len(options.priors) * 4 + 7 - len(row))
        rows.append(row)
        report_done(row)
    columns = ["set", "D", "test steps"]
    for covariance_type in ("full", "diag"):
        columns += [f"hmmlearn, {covariance_type}", f"mixture, {covariance_type}"]
    for prior in options.priors:
        columns += [f"{prior}: means alone", "score", "less the best other", "states"]
    print_table(columns, rows)
