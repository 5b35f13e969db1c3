"""What the table models whose number of topics may be inferred have in common."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from skdp._fit import FitState
from skdp._numeric._random import Role
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.inference import Trace, warn_of_drifts
from skdp.processes._top_level import TopPriors, check_concentration_or_prior
from skdp.topics._base import check_topics
from skdp.topics._shared._best_sample import BestSample
from skdp.topics._shared._first_number import first_number_of_topics
from skdp.topics._tables._base import BaseTableModel
from skdp.topics._tables._open_walker import (
    LARGEST_TOP_CONCENTRATION,
    FirstTopLevel,
    OpenTableWalker,
)
from skdp.topics._tables._walker import TableWalker


class OpenTableModel(BaseTableModel):
    """Base class of the table models that infer their number of topics if `n_components` is "auto".

    The attributes are then those of one sample, as in `HDPTopicModel`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseTableModel._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "document_concentration": "no_validation",
        "document_concentration_prior": [tuple, list],
        "top_concentration": "no_validation",
        "top_concentration_prior": [tuple, list],
        "initial_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    }

    _optional_attributes = BaseTableModel._optional_attributes | frozenset([
        "n_components_", "n_components_distribution_", "weights_", "document_concentration_",
        "top_concentration_",
    ])  # fmt: skip

    @property
    def _is_open(self) -> bool:
        """Whether the number of topics is inferred."""
        return isinstance(self.n_components, str)

    # Validation

    def _validate_parameters(self) -> None:
        self._top_level()
        if self._is_open and not (
            isinstance(self.doc_topic_prior, str) and self.doc_topic_prior == "auto"
        ):
            raise ValueError(
                "doc_topic_prior must be 'auto' if n_components is 'auto': it is then "
                "document_concentration times the weights of the topics. Got "
                f"{self.doc_topic_prior!r}."
            )
        super()._validate_parameters()

    def _top_level(self) -> FirstTopLevel:
        value, prior = check_concentration_or_prior(
            self.document_concentration, self.document_concentration_prior, "document_concentration"
        )
        top_value, top_prior = check_concentration_or_prior(
            self.top_concentration, self.top_concentration_prior, "top_concentration",
            largest=LARGEST_TOP_CONCENTRATION,
        )  # fmt: skip
        return FirstTopLevel(value, top_value, TopPriors(prior, top_prior))

    def _check_init(self, n_words: int) -> Any:
        if not self._is_open or isinstance(self.init, str):
            return super()._check_init(n_words)
        topics = check_topics(self.init, "init", None)
        if topics.shape[1] != n_words:
            raise ValueError(
                f"init must have shape (n_topics, n_features) with n_features={n_words}, got "
                f"{topics.shape}."
            )
        return topics

    @property
    def _first_topics_name(self) -> str:
        return "initial_components" if self._is_open else "n_components"

    def _n_first_topics(self, X: SegmentedCorpus | PartitionedCorpus) -> int:
        if not self._is_open or isinstance(X, PartitionedCorpus):
            return super()._n_first_topics(X)
        if not isinstance(self.init, str):
            return len(self.init)
        return first_number_of_topics(self.initial_components, X, self._size_of_topic(X))

    # Chains

    def _make_averages(self) -> Any:
        return BestSample() if self._is_open else super()._make_averages()

    def _check_partitions(self, X: PartitionedCorpus) -> None:
        super()._check_partitions(X)
        if self._is_open:
            raise TypeError(
                f"n_components='auto' takes no {type(X).__name__}: topics come and go with all "
                "documents in one place. Give a number of topics, or use X.compute()."
            )

    def _start_local_walker(
        self, corpus: SegmentedCorpus, root: np.random.SeedSequence, c: int
    ) -> TableWalker:
        if not self._is_open:
            return super()._start_local_walker(corpus, root, c)
        return OpenTableWalker(
            corpus,
            self._n_first_topics(corpus),
            self.sampler,
            self._hyper_parameters(),
            self._top_level(),
            self._first_topics(corpus, root, c),
            self._streams(root, Role.INIT, c),
            self._streams(root, Role.SWEEP, c),
            self.n_jobs,
        )

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        if not self._is_open:
            return attributes
        numbers = attributes["trace_"]["n_components"].astype(np.int64).ravel()
        return {
            **attributes,
            "n_components_": len(attributes["weights_"]),
            "n_components_distribution_": np.bincount(numbers) / len(numbers),
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        if self._is_open:
            warn_of_drifts(self, trace, "topics")
