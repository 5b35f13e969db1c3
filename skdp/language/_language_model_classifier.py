"""Classification by language models, one for each class."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from skdp._checks import as_floats, shorten
from skdp._numeric._arrays import log_posterior
from skdp._sklearn_compat import JOBS, EstimatorMixin, HasMethods, StrOptions, validate_parameters
from skdp.data import TokenSequences, check_sentences
from skdp.language._base import OfWords


class LanguageModelClassifier(
    OfWords, EstimatorMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    r"""Classify sequences by language models, one for each class, and Bayes' rule.

    .. math::

        p(y \mid x) \propto p(y) \, p(x \mid y)

    where p(x | y) is the probability of the whole sequence under the model of class y. The
    classifier uses word order, and the length if the models have an end of sequences. With
    characters as words it identifies authors, languages or kinds of names from short strings.

    Parameters
    ----------
    estimator : estimator
        Language model, or any model with ``score_samples`` of sequences. It is cloned.
    class_prior : {"empirical", "uniform"} or (n_classes,) array-like, default="empirical"
        Probabilities of the classes, in sorted order. "empirical": shares of the training
        sequences.
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.

    Attributes
    ----------
    classes_ : (n_classes,) array
    estimators_ : list of n_classes fitted estimators
    class_log_prior_ : (n_classes,) array
    n_words_ : int
        Size of the vocabulary.
    n_features_in_ : int
        Length of the sentences if X was an array, `n_words_` otherwise.

    See Also
    --------
    sklearn.naive_bayes.MultinomialNB : The same approach with independent words.
    HierarchicalPitmanYorLM, KneserNeyLM : The models of the classes.

    Notes
    -----
    All models share the vocabulary of X: a symbol that was never seen in a class has the
    probability of new symbols under its model. Models without smoothing, such as ``KneserNeyLM``
    with ``discount=0.0``, give new symbols the probability 0. A sequence with probability 0 in
    every class is not evidence for any class: its probabilities are those of the classes,
    ``class_prior``.

    References
    ----------
    F. Peng, D. Schuurmans, S. Wang (2004), Augmenting naive Bayes classifiers with statistical
    language models, Information Retrieval 7.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdp.feature_extraction import TokenVectorizer
    >>> from skdp.language import KneserNeyLM, LanguageModelClassifier
    >>> names = ["amelia", "sophia", "olivia", "oliver", "harper", "carter"]
    >>> model = make_pipeline(
    ...     TokenVectorizer(analyzer="char"),
    ...     LanguageModelClassifier(KneserNeyLM(order=3, discount=0.5)),
    ... )
    >>> model.fit(names, ["a", "a", "a", "r", "r", "r"]).predict(["victoria", "sampler"]).tolist()
    ['a', 'r']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "score_samples"])],
        "class_prior": [StrOptions({"empirical", "uniform"}), "array-like"],
        "n_jobs": JOBS,
    }

    def __init__(
        self, estimator: Any, *, class_prior: Any = "empirical", n_jobs: int | None = None
    ):
        self._store(locals())

    def _check_prior(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log probability of each class."""
        if isinstance(self.class_prior, str):
            if self.class_prior == "uniform":
                counts = np.ones_like(counts)
            prior = counts / counts.sum()
        else:
            prior = as_floats(self.class_prior, "class_prior", 1)
            if (
                prior.shape != counts.shape
                or not np.all(prior > 0.0)
                or abs(prior.sum() - 1.0) > 1e-6
            ):
                raise ValueError(
                    f"class_prior must hold {len(counts)} positive probabilities with sum 1, one "
                    f"for each class; got {shorten(self.class_prior)}."
                )
        return np.log(prior)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a model to the sequences of each class.

        Parameters
        ----------
        X : TokenSequences, list of sequences, or (n_sequences, length) array of int
        y : (n_sequences,) array-like
            Class labels.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid, or X and y differ in length.
        """
        if isinstance(self.estimator, type):
            raise TypeError(
                f"estimator must be an object, got the class {self.estimator.__name__}: write "
                f"LanguageModelClassifier({self.estimator.__name__}(...))."
            )
        validate_parameters(self)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        reader = clone(self)
        sentences = check_sentences(reader, X, reset=True, any_length=True)
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        if len(labels) != len(sentences):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{len(sentences)} sequences, y has {len(labels)} labels."
            )
        classes, codes = np.unique(labels, return_inverse=True)
        log_prior = self._check_prior(np.bincount(codes))
        fitted = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_fit)(self.estimator, sentences[codes == k]) for k in range(len(classes))
        )
        for name in ("n_features_in_", "n_words_", "_sentence_length"):
            setattr(self, name, getattr(reader, name))
        self.classes_ = classes
        self.class_log_prior_ = log_prior
        self.estimators_ = list(fitted)
        return self

    def _log_joint(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        sentences = check_sentences(self, X, reset=False, any_length=True)
        scores = [estimator.score_samples(sentences) for estimator in self.estimators_]
        return np.column_stack(scores) + self.class_log_prior_

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the log probability of each class for each sequence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sequences, n_classes) array
            Natural logarithms of ``predict_proba(X)``.
        """
        return log_posterior(self._log_joint(X), self.class_log_prior_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each sequence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sequences, n_classes) array
            Rows sum to 1; a sequence that is impossible in every class has the prior probabilities.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each sequence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sequences,) array
        """
        best = np.argmax(self.predict_log_proba(X), axis=1)
        return np.asarray(self.classes_[best])


def _fit(estimator: Any, sentences: TokenSequences) -> Any:
    return clone(estimator).fit(sentences)
