"""Fits of topic models to a corpus in partitions."""

from __future__ import annotations

from typing import Any

import joblib

from skdp._checks import check_memory
from skdp._executors import Executor, LostWorkerError
from skdp._fit._checkpoints import list_checkpoints
from skdp._fit._partitions import kept_partitions
from skdp.data import PartitionedCorpus
from skdp.data._validation import check_partitions
from skdp.inference._convergence import warn_user
from skdp.topics._shared._distributed import DistributedCorpus

_MEANS = "doc_topic_", "segment_topic_", "segment_mixing_"
"""Fitted attributes that stay in the workers of a cluster."""

OF_PARTITIONS = frozenset([*_MEANS, "_n_partitions"])
"""Fitted attributes that depend on whether X was in partitions."""


class InPartitions:
    """A fitted attribute that is lost with a cluster, and a hint about alternatives."""

    def __init__(self, cure: str):
        self._cure = cure

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        """Raise an error: if there is a value, Python finds it first."""
        if estimator is None:
            return self
        if "_n_partitions" in vars(estimator):
            raise AttributeError(
                f"{self._name} was in the workers of a cluster, and no pickle has it: {self._cure}"
            )
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}'")


def distribute_corpus(
    estimator: Any, X: PartitionedCorpus, y: Any, executor: Executor
) -> DistributedCorpus:
    """Return a corpus whose partitions are opened in the processes of an executor."""
    check_partitions(estimator, X, reset=True)
    n_topics = estimator._n_first_topics(X)
    check_memory(
        12.0 * n_topics * X.n_features * estimator.n_chains,
        f"X: {estimator._first_topics_name}={n_topics} topics and n_features={X.n_features} "
        f"words, n_chains={estimator.n_chains}: counts",
    )
    estimator._check_init(X.n_features)
    data = _find_kept(estimator, X, y, executor)
    if data is None:
        data = _distribute(estimator, X, y, executor)
    if data.n_tokens == 0:
        raise ValueError(
            f"X has no tokens at all, while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )
    estimator._check_matching(n_topics, is_labeled=data.is_labeled)
    estimator._check_seeds(data.n_tokens, n_topics)
    return data


def _distribute(
    estimator: Any, X: PartitionedCorpus, y: Any, executor: Executor
) -> DistributedCorpus:
    """Return the distributed partitions with their labels, if `y` has any."""
    data = DistributedCorpus(X, executor)
    labels = estimator._read_labels(y)
    if labels is not None or estimator.fixed_components is not None:
        data.label(labels, estimator._topics_check(X.n_features))
    return data


def _find_kept(
    estimator: Any, X: PartitionedCorpus, y: Any, executor: Executor
) -> DistributedCorpus | None:
    """Return the partitions of the last fit if this one is to continue with them."""
    kept: DistributedCorpus | None = kept_partitions(estimator) if estimator.warm_start else None
    if kept is None or any(each.path.exists() for each in list_checkpoints(estimator)):
        return None
    try:
        kept.go_on(estimator.n_jobs)
        if kept.is_of(X) and not kept.is_labeled and estimator._read_labels(y) is None:
            return kept
        other = _distribute(estimator, X, y, executor)  # opened for comparison
        if joblib.hash(other) != joblib.hash(kept):
            return other
        executor.drop()
        return kept
    except LostWorkerError as error:
        raise RuntimeError(
            "With warm_start=True, fit continues on the partitions of the last fit. "
            f"{error} Use warm_start=False to start over."
        ) from None


def without_partitions(estimator: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return a pickle's state without the attributes that partitions hold; warn if any are lost."""
    left_out = {name for name in _MEANS if hasattr(state.get(name), "dask")}
    if kept_partitions(estimator) is not None:
        left_out.add("_saved")
    if left_out:
        named = [name for name in _MEANS if name in left_out]
        if "_saved" in left_out:
            named.append("the chains that warm_start=True would continue")
        warn_user(
            f"A pickle leaves out what partitions hold: {', '.join(named)}.",
            UserWarning,
        )
    return {name: value for name, value in state.items() if name not in left_out}
