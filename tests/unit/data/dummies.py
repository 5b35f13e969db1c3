"""The least estimators that take each container: what checks and containers are tested with."""

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp.data import check_corpus, check_panel, check_sentences


class Dummy(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer of as many features as it was fitted on."""

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    @property
    def _n_features_out(self):
        return self.n_features_in_


class WordGroups(Dummy):
    """Shares of a document's words in `n_components` groups of words; scores by word shares."""

    def __init__(self, n_components=3, *, smoothing=1.0):
        self.n_components = n_components
        self.smoothing = smoothing

    def fit(self, X, y=None):
        corpus = check_corpus(self, X, reset=True, require_tokens=True)
        counts = np.bincount(corpus.tokens, minlength=corpus.n_features) + self.smoothing
        self.word_share_ = counts / counts.sum()
        return self

    def transform(self, X):
        check_is_fitted(self)
        corpus = check_corpus(self, X, reset=False)
        groups = np.eye(self.n_components)[np.arange(corpus.n_features) % self.n_components]
        shares = corpus.to_bow() @ groups + 1.0
        return shares / shares.sum(axis=1, keepdims=True)

    def score(self, X, y=None):
        corpus = check_corpus(self, X, reset=False)
        return float(np.log(self.word_share_[corpus.tokens]).mean())

    @property
    def _n_features_out(self):
        return self.n_components


class MeanLevel(Dummy):
    """Mean observation of a sequence; of a single one, each observation."""

    def __init__(self, missing=False):
        self.missing = missing

    def _check(self, X, reset):
        finite = "allow-nan" if self.missing else True
        return check_panel(self, X, reset=reset, ensure_all_finite=finite)

    def fit(self, X, y=None):
        panel, self.is_single_ = self._check(X, reset=True)
        self.mean_ = np.nanmean(panel.values, axis=0)
        return self

    def transform(self, X):
        check_is_fitted(self)
        panel, is_single = self._check(X, reset=False)
        if is_single:
            return panel.values - self.mean_
        return np.array([sequence.mean(axis=0) for sequence in panel]) - self.mean_


class WordShares(Dummy):
    """Share of every word in a sentence."""

    def fit(self, X, y=None):
        check_sentences(self, X, reset=True)
        return self

    def transform(self, X):
        check_is_fitted(self)
        counts = check_sentences(self, X, reset=False).to_bow().toarray()
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)

    @property
    def _n_features_out(self):
        return self.n_words_
