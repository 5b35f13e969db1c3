"""Coarse views of topic models: a fine model predicts, and people read a few topics."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import entropy
from sklearn.utils.validation import check_is_fitted

from skdp._merge_tree import MergeTree, check_at_most
from skdp.topics._shared._topic_tree import make_topic_tree

_OF_THE_CHAIN = "_saved", "n_components_distribution_", "initial_components_"
"""Attributes that do not apply to merged topics."""

_SUMMED = (
    "doc_topic_prior_", "weights_", "_topic_tokens", "doc_topic_", "section_topic_",
    "segment_topic_",
)  # fmt: skip
"""Attributes whose last axis lists topics; merged topics have the sums."""


class CoarseViewsMixin:
    """Mixin of the topic models that merges topics."""

    components_: NDArray[np.float64]
    _documents_share_topics: bool
    _rest_of_tree: MergeTree | None = None
    """Tree of a coarse view; a fit discards it."""

    def topic_tree(self) -> MergeTree:
        """Return the tree of the topics: which are merged first if there should be fewer.

        Two topics at a time are merged, so that their merge loses the least likelihood of the
        training words given their topics. The loss is the Jensen-Shannon divergence of the two
        topics, weighted by their numbers of words. It is never negative.

        The words of topics are compared without the prior: the counts are `components_` times the
        number of words, less `topic_word_prior_` and, for seed words, `seed_weight`. They are
        nearly exact for a model whose attributes are one sample and approximate for means of
        samples. The words of `fixed_components` are as given. From a topic that is a Pitman-Yor
        process (`topic_word_discount`) the concentration times the base is subtracted. What the
        discount takes from the words remains, spread in proportion to the base: the number of
        tables is not an attribute. The tree of a coarse view is the rest of the tree of its model.

        Returns
        -------
        MergeTree
            With the attributes `merges`, `losses` (nats per word), `sizes` and `linkage` (for
            scipy), and the method `labels`: the coarse topic of every topic.

        Raises
        ------
        TypeError
            If the columns are not topics of words (`LatentDirichletCoClustering`).
        ValueError
            If topics were given to `from_topics`: without training documents they have no sizes.

        See Also
        --------
        skdp.inspection.TopicTreeDisplay : Plots the tree.
        """
        check_is_fitted(self)
        if not self._documents_share_topics:
            raise TypeError(f"{type(self).__name__} has two kinds of topics, which have no tree.")
        if self._rest_of_tree is not None:
            return self._rest_of_tree
        estimator: Any = self
        tokens = estimator._tokens_of_topics("topic_tree")
        return make_topic_tree(self.components_, tokens, self._pseudo_counts())

    def _pseudo_counts(self) -> NDArray[np.float64]:
        """Return the part that the prior has in the counts of words, (K, W)."""
        estimator: Any = self
        counts = np.empty_like(self.components_)
        if hasattr(self, "topic_word_base_"):
            counts[:] = estimator.topic_word_concentration_ * estimator.topic_word_base_
        else:
            counts[:] = estimator.topic_word_prior_
        if (seeds := estimator._seeds) is not None:
            counts[seeds.topics, seeds.words] += seeds.weight
        counts[: estimator._n_fixed_in_fit] = 0.0
        return counts

    def reduce_topics(self, n_topics: int) -> Self:
        """Return a coarse view of the model: an estimator with merged topics.

        Prediction likes hundreds of topics, and people read twenty. Topics are merged as in
        `topic_tree`; this estimator is not changed.

        Parameters
        ----------
        n_topics : int
            Number of topics of the view, at most the number of topics of this model.

        Returns
        -------
        Fitted estimator
            Its topics are means of the merged ones, weighted by their tokens, in decreasing order
            of size; shares and priors are their sums, and names are joined by " + ". Topics in
            `components_` and `doc_topic_` are the merged ones, and `transform` and `score` use
            these as given topics. It has the parameters of this estimator, so another `fit` begins
            from scratch.

        Raises
        ------
        ValueError, TypeError
            As in `topic_tree`, or if `n_topics` is out of range.
        """
        tree = self.topic_tree()
        labels = tree.labels(check_at_most(n_topics, "n_topics", tree.n_components, "topics"))
        is_part = np.zeros((len(labels), labels.max() + 1))
        is_part[np.arange(len(labels)), labels] = 1.0
        coarse: Any = copy(self)
        for name in _OF_THE_CHAIN:
            vars(coarse).pop(name, None)
        tokens = np.maximum(coarse._topic_tokens, np.finfo(float).tiny)[:, np.newaxis]
        means = (is_part * tokens).T @ self.components_
        coarse.components_ = means / means.sum(axis=1, keepdims=True)
        for name in _SUMMED:
            if name in vars(coarse):
                setattr(coarse, name, vars(coarse)[name] @ is_part)
        if hasattr(coarse, "weights_"):
            coarse.n_components_ = len(coarse.weights_)
            coarse.n_effective_components_ = effective_number(coarse.weights_)
        coarse._rest_of_tree = tree.coarse(n_topics)
        coarse._topic_names = None
        if "topic_names_" in vars(coarse):
            coarse.topic_names_ = _join_names(coarse.topic_names_, labels)
        coarse._models = [coarse._averaged_model()]
        view: Self = coarse
        return view


def _join_names(names: list[str | None], labels: NDArray[np.intp]) -> list[str | None]:
    """Return the names of merged topics: those of their parts, None if no part has a name."""
    joined: list[list[str]] = [[] for _ in range(labels.max() + 1)]
    for name, label in zip(names, labels, strict=True):
        joined[label] += [] if name is None else [name]
    return [" + ".join(parts) or None for parts in joined]


def effective_number(weights: NDArray[np.float64]) -> float:
    """Return the exponential of the entropy of weights, which are scaled to a sum of 1."""
    return float(np.exp(entropy(weights)))
