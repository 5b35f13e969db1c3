"""Fits of topic models to a corpus in partitions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import joblib
import numpy as np

from skdp._checks import check_memory
from skdp._executors import Executor, LostWorkerError
from skdp._fit import FitState
from skdp._fit._checkpoints import list_checkpoints
from skdp._fit._partitions import (
    PartitionedSampling,
    fit_partitions,
    is_over_partitions,
    kept_partitions,
)
from skdp._numeric._random import Role
from skdp._sklearn_compat import with_callbacks
from skdp.data import PartitionedCorpus
from skdp.data._validation import check_partitions
from skdp.inference import warn_user
from skdp.topics._base import BaseTopicModel
from skdp.topics._shared._placed import PlacedCorpus
from skdp.topics._shared._placed_averages import PlacedAverages
from skdp.topics._shared._placed_walker import PlacedWalker

_MEANS = "doc_topic_", "segment_topic_", "segment_mixing_"
"""Fitted attributes that stay in the workers of a cluster."""


class InPartitions:
    """A fitted attribute that is lost with a cluster, and what to use in its place."""

    def __init__(self, cure: str):
        self._cure = cure

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        """Raise: where there is a value, Python finds it first."""
        if estimator is None:
            return self
        if "_n_partitions" in vars(estimator):
            raise AttributeError(
                f"{self._name} was in the workers of a cluster, and no pickle has it: {self._cure}"
            )
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}'")


class PartitionedTopicModel(BaseTopicModel):
    """Base class of the topic models that can be fitted to a corpus in partitions.

    A subclass gives `_start_placed_walker`, and extends `_check_partitions`.
    """

    _optional_attributes: ClassVar[frozenset[str]] = BaseTopicModel._optional_attributes | {
        "doc_topic_", "segment_topic_", "segment_mixing_", "_n_partitions",
    }  # fmt: skip

    doc_topic_: Any = InPartitions("model.transform(X) returns the shares of documents.")

    segment_topic_: Any = InPartitions(
        "transform_segments of a partition, model.transform_segments(X.partitions[i]), returns "
        "the shares of its segments."
    )

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics from documents made of segments.

        Parameters
        ----------
        X : SegmentedCorpus, list of documents, or (n_documents, n_features) count matrix
            Each document in a list is a list of segments, each a sequence of word ids. Each row of
            a matrix (dense, sparse or data frame) is a document of one segment. Or
            PartitionedCorpus: the partitions are the shards of the fit (`n_shards` is 1 or their
            number), in threads or, with ``joblib.parallel_config("dask")``, in the workers of a
            cluster.
        y : ignored
            Present by scikit-learn's convention.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid. The estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. It is fitted with the samples so far,
            in the burn-in with the current state unless it was fitted before; another `fit` with
            ``warm_start=True`` continues; on a PartitionedCorpus if it was True before, too, or
            with the callback `Checkpoint`.
        RuntimeError
            If a worker of the cluster is lost, and with it the state of its partitions, without the
            callback `Checkpoint`; with it, if that happens three times in a row. If
            ``warm_start=True`` and the workers of the last fit are gone.
        OSError
            If `Checkpoint` cannot write what partitions begin with.

        Warns
        -----
        RuntimeWarning
            If a worker is lost: the fit goes back to the last checkpoint, and on from there with
            the same bits. If a checkpoint could not be written.
        ConvergenceWarning
            If the log joint of a chain still climbs, or there are fewer than 12 sweeps after the
            burn-in, too few to tell; raise `max_iter` then.
            If chains plainly disagree; compare them in `trace_` then.
        """
        return fit_partitions(self, X) if isinstance(X, PartitionedCorpus) else self._fit(X)

    def _check_partitions(self, X: PartitionedCorpus) -> None:
        """Raise for parameters that partitions do not allow."""
        if self.n_shards not in (1, X.n_partitions):
            raise ValueError(
                f"The partitions of X are the shards of the fit: n_shards must be 1 or "
                f"n_partitions={X.n_partitions}, got n_shards={self.n_shards}."
            )

    def _check_input(self, X: Any, y: Any = None, executor: Executor | None = None) -> Any:
        if executor is None:
            return super()._check_input(X, y)
        check_partitions(self, X, reset=True)
        n_topics = self._n_first_topics(X)
        check_memory(
            12.0 * n_topics * X.n_features * self.n_chains,
            f"X: {self._first_topics_name}={n_topics} topics and n_features={X.n_features} words, "
            f"n_chains={self.n_chains}: counts",
        )
        self._check_init(X.n_features)
        kept = self._find_kept(X, executor)
        if kept is not None:
            return kept
        placed = PlacedCorpus(X, executor)
        if placed.n_tokens == 0:
            raise ValueError(
                f"X has no tokens at all, while a minimum of 1 is required by "
                f"{type(self).__name__}."
            )
        return placed

    def _find_kept(self, X: PartitionedCorpus, executor: Executor) -> PlacedCorpus | None:
        """Return the partitions of the last fit if this one is to go on with them."""
        kept = kept_partitions(self) if self.warm_start else None
        if kept is None or any(each.path.exists() for each in list_checkpoints(self)):
            return None
        try:
            kept.go_on(self.n_jobs)
            if kept.is_of(X):
                return kept
            other = PlacedCorpus(X, executor)  # opened to be compared
            if joblib.hash(other) != joblib.hash(kept):
                return other
            executor.drop()
            return kept
        except LostWorkerError as error:
            raise RuntimeError(
                "With warm_start=True fit goes on where the partitions of the last fit are. "
                f"{error} Use warm_start=False to start anew."
            ) from None

    # Chains

    def _start_walker(self, corpus: Any, root: np.random.SeedSequence, c: int) -> Any:
        if not isinstance(corpus, PlacedCorpus):
            return self._start_local_walker(corpus, root, c)
        init, sweep = (
            self._streams(root, role, c, corpus.n_partitions) for role in (Role.INIT, Role.SWEEP)
        )
        return self._start_placed_walker(corpus, c, init, sweep)

    def _start_local_walker(self, corpus: Any, root: np.random.SeedSequence, c: int) -> Any:
        """Return the walker of a new chain over a corpus in memory."""
        raise NotImplementedError

    def _start_placed_walker(
        self, data: PlacedCorpus, c: int, init_streams: Any, streams: Any
    ) -> PlacedWalker:
        """Return the walker of a new chain over partitions."""
        raise NotImplementedError

    def _make_procedure(self, data: Any) -> Any:
        if not isinstance(data, PlacedCorpus):
            return super()._make_procedure(data)
        return self._make_sampling(
            PartitionedSampling,
            data,
            unit="tokens",
            make_averages=self._make_placed_averages,
        )

    def _make_placed_averages(self) -> PlacedAverages:
        """Return the running means of a new chain over partitions."""
        return PlacedAverages(is_lasting=True)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        if is_over_partitions(state):
            attributes["_n_partitions"] = len(state.runs[0].walker.streams)
            for chain in state.runs:
                chain.averages.drop()
        return attributes

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        left_out = {name for name in _MEANS if hasattr(state.get(name), "dask")}
        if kept_partitions(self) is not None:
            left_out.add("_saved")
        if left_out:
            named = [name for name in _MEANS if name in left_out]
            if "_saved" in left_out:
                named.append("the chains that warm_start=True would go on with")
            warn_user(
                f"What is where the partitions are is left out of a pickle: {', '.join(named)}.",
                UserWarning,
            )
        return {name: value for name, value in state.items() if name not in left_out}
