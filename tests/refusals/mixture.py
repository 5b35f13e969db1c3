"""Mixtures and latent features: mistakes and their messages."""

from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone

from skdp.data import TokenSequences
from skdp.emissions import GaussianEmission, IndependentEmissions, MultinomialEmission
from skdp.language import HierarchicalPitmanYorLM
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture

X = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.random.default_rng(0).poisson(3.0, (12, 2)).astype(float)
GROUPS = [X[:5], X[5:]]
LABELS = [0, 0, 3, *[-1] * 9]
WEIGHTS = np.array([2, 1, 0, 3, 1, 1, 2, 0, 1, 4, 1, 1])
CONSTANT = np.column_stack([X, np.full(12, 7.0)])
HOLES = np.where(np.arange(24).reshape(12, 2) % 7 < 2, np.nan, COUNTS > 3.0)
WIDE = np.random.default_rng(0).normal(size=(4, 9))
FRAME = pd.DataFrame({"age": X[:, 0], "job": ["cook", "clerk", None] * 4, "kids": COUNTS[:, 0]})
NO_JOBS = FRAME.assign(job=pd.Series([None] * 12, dtype=object))
TURNED = FRAME[["job", "kids", "age"]]
PARTS = IndependentEmissions(
    [("age", GaussianEmission("diag"), ["age"]), ("job", "categorical", ["job"]),
     ("kids", "poisson", ["kids"])]
)  # fmt: skip
ZIPS = np.array([1001, 1203, 1310, 1499])[np.arange(80).reshape(40, 2) % 7 % 4]
HOMES = pd.DataFrame(ZIPS, columns=["home", "work"])
BAR = [("a", "categorical", [1, 0])]


def entry(value, rows=X):
    """Return rows with another entry."""
    changed = rows.copy()
    changed[3, 1] = value
    return changed


def groups(value, rows=COUNTS):
    return [rows[:3], entry(value, rows)]


def py(emission, X=COUNTS):
    return PitmanYorMixture(emission).fit(X)


@cache
def fitted(model=DPMixture, emission="gaussian"):
    """Return a fit to X, to its groups, or to a table."""
    data = X if emission == "gaussian" else FRAME
    X_or_groups = [data[:5], data[5:]] if model is HDPMixture else data
    return model(emission, max_iter=4, random_state=0).fit(X_or_groups)


@cache
def features():
    return IBPLatentFeatures(max_iter=4, random_state=0).fit(X)


def fits(model, X):
    """Fit a few sweeps, of each sampler that there is, and see that all scores are finite."""
    samplers = ["collapsed", "blocked"] if "sampler" in model.get_params() else [None]
    for sampler in samplers:
        again = clone(model).set_params(max_iter=6, random_state=0)
        again = again.set_params(**{"sampler": sampler} if sampler else {}).fit(X)
        assert np.all(np.isfinite(again.score_samples(X)))
        if sampler is None:  # groups, or latent features
            shares = again.transform(X)
            assert shares.shape[1] == getattr(again, "n_clusters_", again.n_components_)
            assert np.all((shares >= 0.0) & (shares <= 1.0 + 1e-9))
        else:
            assert np.isfinite(again.predict_proba(X)).all()
        if isinstance(model, HDPMixture):
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        if isinstance(model, IBPLatentFeatures):
            assert np.isfinite(again.impute(X)).all()


def labeled(y):
    """Fit with odd labels that are allowed; rows keep theirs."""
    for sampler in ("collapsed", "blocked"):
        model = DPMixture(sampler=sampler, max_iter=8, random_state=0).fit(X, y)
        known = [(i, label) for i, label in enumerate(y) if label not in (None, -1)]
        assert all(model.labels_[i] == label for i, label in known)
        n_labels = len({label for _, label in known})
        assert model.component_labels_[:n_labels].max() == known[-1][1]


def to_arviz(y=None, sample_weight=None, X=COUNTS, rows=COUNTS):
    model = DPMixture("poisson", max_iter=4, random_state=0)
    return model.fit(X, y, sample_weight=sample_weight).to_arviz(rows)


def later_sentences(X):
    """Give a second batch to a model whose first one had two of four words."""
    base = [0.5, 0.5, 0.0, 0.0]
    lm = HierarchicalPitmanYorLM(base=base, end_of_sequence=False, max_iter=2)
    return lm.partial_fit(TokenSequences.from_sequences([[0, 1]], 4)).partial_fit(X)


def sparse_rows(emission, value):
    X = sparse.lil_array((4, 9))
    X[2, 5], X[0, 1] = value, 1.0
    return DPMixture(emission).fit(X.tocsr())


def wide_counts():
    emission = MultinomialEmission(row_concentration=5.0)
    return DPMixture(emission, max_iter=5, random_state=0).fit(COUNTS)
