"""Fits of hidden Markov models to panels in partitions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from skdp._executors import Executor
from skdp._fit._partitions import check_no_warm_start
from skdp._numeric._random import Role, derive_stream
from skdp.data import PartitionedPanel
from skdp.data._validation import check_partitions
from skdp.emissions._independent import list_unsummed
from skdp.sequence._base import CheckPanel, check_columns_observed
from skdp.sequence._durations._protocol import SummedDuration
from skdp.sequence._hmm._distributed import DistributedPanel
from skdp.sequence._hmm._distributed_sampler import DistributedHMMSampler
from skdp.sequence._hmm._hints import check_known_states
from skdp.sequence._hmm._initial_split_merge import check_init
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._similarities._protocol import EmissionCoupledSampler


def check_partitionable(estimator: Any, X: PartitionedPanel) -> None:
    """Raise TypeError for parameters of `HDPHMMLT` that partitions do not allow."""
    cure = f"takes no {type(X).__name__} yet: X.compute() gathers it in a SequencePanel."
    for emission in list_unsummed(estimator._part("emission")):
        raise TypeError(
            f"{type(estimator).__name__} with {type(emission).__name__} {cure} Partitions are for "
            "'gaussian', 'autoregressive', 'poisson', 'bernoulli', 'categorical', "
            "'multinomial' and IndependentEmissions of these."
        )
    duration = estimator._make_option("duration")
    if duration is not None and not isinstance(duration, SummedDuration):
        name = type(estimator._part("duration")).__name__
        raise TypeError(f"{type(estimator).__name__} with {name} {cure}")
    if estimator.state_sampler == "beam":
        raise TypeError(f"state_sampler='beam' {cure}")
    check_no_warm_start(estimator, X)


def distribute_panel(
    estimator: Any, X: PartitionedPanel, y: Any, executor: Executor
) -> DistributedPanel:
    """Return a panel whose partitions are opened in the workers of an executor."""
    check_partitions(estimator, X, reset=True)
    for name in ("_n_words", "categories_", "_checksum"):
        vars(estimator).pop(name, None)
    data = DistributedPanel(X, executor)
    check = CheckPanel(
        type(estimator).__name__,
        estimator._part("emission"),
        allows_nan=estimator._allows_nan(),
        n_given=estimator._n_given(),
    )
    (n_seen,) = data.sum("check", check)
    if estimator._allows_nan():
        check_columns_observed(n_seen == 0, None)
    estimator._check_size(max(n_steps for _, n_steps in data.sizes))
    if y is not None:
        data.set_known(check_known_states(y, _list_bounds(data), estimator.n_components))
        estimator._check_order(has_known=data.known is not None)
    if estimator._possible_steps() is not None:
        estimator._check_paths(_list_bounds(data), data.known)
    return data


def start_distributed(
    estimator: Any, data: DistributedPanel, root: np.random.SeedSequence, c: int
) -> DistributedHMMSampler:
    """Return the sampler of a new chain over partitions."""
    init_stream = derive_stream(root, Role.INIT, c)
    similarity, duration = estimator._make_option("similarity"), estimator._make_option("duration")
    if isinstance(similarity, EmissionCoupledSampler):
        name = type(estimator._part("similarity")).__name__
        raise TypeError(
            f"{name} takes no PartitionedPanel yet: X.compute() gathers it in a SequencePanel."
        )
    n_states = estimator.n_components
    return DistributedHMMSampler(
        data,
        c,
        Transitions(
            n_states,
            estimator._priors(),
            init_stream,
            self_transitions=duration is None,
            allowed=estimator._allowed(),
        ),
        estimator._emission_object().make_sampler_of(data.observations(), n_states),
        init_stream,
        derive_stream(root, Role.SWEEP, c),
        similarity=similarity,
        duration=duration,
        n_frozen=estimator._n_frozen(),
        init=_read_init(estimator.init, data, n_states),
    )


def _list_bounds(data: DistributedPanel) -> Any:
    """Return the bounds of all sequences in the whole panel, (n + 1,)."""
    (lengths,) = data.sum("list_lengths")
    return np.concatenate([[0], np.cumsum(lengths)])


def _read_init(init: Any, data: DistributedPanel, n_states: int) -> Any:
    """Return the name of the initialization, or the first states of each partition."""
    if isinstance(init, str):
        return init
    states: Any = check_init(init, _list_bounds(data), n_states)
    ends = np.cumsum([0, *(n_steps for _, n_steps in data.sizes)])
    return [states[begin:end] for begin, end in pairwise(ends)]
