"""Predictions for partitions: computed at once in this process, or lazily on a cluster."""

from __future__ import annotations

from copy import copy
from typing import Any
from uuid import uuid4

import joblib
import numpy as np

from skdp._checks import check_jobs
from skdp._executors._choose import find_client
from skdp.data._partitioned import Partitioned
from skdp.data._parts import Partition


def predict_parts(
    estimator: Any, method: str, X: Partitioned, shape: tuple[int, ...] | None = None
) -> Any:
    """Return the predictions of a fitted estimator for all samples, lazily on a Dask cluster.
    The method returns an array of floats with entries of a `shape`, or a list if that is None.
    """
    alone = copy(estimator)
    alone.n_jobs = 1  # the threads are shared among partitions
    if find_client() is not None:
        return _promise(alone, method, X, shape)
    found = joblib.Parallel(n_jobs=check_jobs(estimator.n_jobs), prefer="threads")(
        joblib.delayed(_predict_part)(alone, method, part) for part in X._parts
    )
    if shape is None:
        return [each for part in found for each in part]
    return np.concatenate(found)


def _promise(estimator: Any, method: str, X: Partitioned, shape: tuple[int, ...] | None) -> Any:
    """Return the predictions as a lazy Dask collection."""
    import dask

    sent = dask.delayed(estimator, traverse=False)  # sent once, not with every partition
    task = dask.delayed(_predict_part)
    key = f"skdp-{method.replace('_', '-')}-{uuid4().hex}"  # shown in the dashboard
    calls = [
        task(sent, method, part.without_source(), part.source, dask_key_name=f"{key}-{part.number}")
        if part.is_delayed
        else task(
            sent, method, dask.delayed(part, traverse=False), dask_key_name=f"{key}-{part.number}"
        )
        for part in X._parts
    ]
    if shape is None:
        from dask.bag import from_delayed

        return from_delayed(calls)
    import dask.array as da

    return da.concatenate(
        [
            da.from_delayed(
                call,
                (np.nan if part.n_samples is None else part.n_samples, *shape),
                dtype=np.float64,
            )
            for call, part in zip(calls, X._parts, strict=True)
        ]
    )


def _predict_part(estimator: Any, method: str, part: Partition, found: Any = None) -> Any:
    """Return the predictions for the samples of a partition."""
    container = part.open() if found is None else part.accept(found)
    return getattr(estimator, method)(container)
