"""Fits of topic models to a corpus in partitions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import joblib
import numpy as np

from skdp._executors import Executor, LostWorkerError, Pace, choose_executor
from skdp._memory import check_memory
from skdp._random import Role
from skdp._resumable import SavedRuns
from skdp._sklearn_compat import with_callbacks
from skdp.callback._checkpoint import Checkpoint, CheckpointContent
from skdp.callback._part_files import PartFiles
from skdp.data import PartitionedCorpus
from skdp.data._validation import check_partitions
from skdp.inference import warn_user
from skdp.topics._base import BaseTopicModel
from skdp.topics._shared._placed import PlacedCorpus
from skdp.topics._shared._placed_averages import PlacedAverages
from skdp.topics._shared._placed_walker import PlacedWalker

_MOST_LOSSES = 3
"""So many times in a row may workers be lost without a checkpoint in between."""


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

    _optional_attributes: ClassVar[frozenset[str]] = frozenset(
        ["doc_topic_", "segment_topic_", "segment_mixing_", "_n_partitions"]
    )

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
            If interrupted, at the end of the current sweep. If a sample has been kept by then, the
            estimator is fitted with the samples so far; another `fit` with ``warm_start=True``
            continues; on a PartitionedCorpus if it was True before, too, or with the callback
            `Checkpoint`.
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
        if not isinstance(X, PartitionedCorpus):
            return self._fit(X)
        self._validate_parameters()
        self._check_partitions(X)
        n_losses = 0
        while True:
            n_before = self._n_written()
            try:
                return self._fit_placed(X)
            except LostWorkerError as error:
                n_losses = 1 if self._n_written() > n_before else n_losses + 1
                self._tell_of_loss(error, n_losses)

    def _n_written(self) -> int:
        """Return the number of checkpoints that have been written."""
        return sum(checkpoint._n_written for checkpoint in self._checkpoints())

    def _tell_of_loss(self, error: LostWorkerError, n_losses: int) -> None:
        """Warn that a worker is lost, or raise where the fit cannot go on from a checkpoint."""
        if not self._checkpoints():
            raise LostWorkerError(
                f"{error} The topics of their words are lost, and the fit has to begin anew. With "
                "the callback skdp.callback.Checkpoint it would go on from a file."
            ) from None
        if n_losses == _MOST_LOSSES:
            raise LostWorkerError(
                f"{error} It is the third loss in a row without a checkpoint in between."
            ) from None
        warn_user(
            f"{error} The fit goes on from the checkpoint {self._checkpoints()[0].path}.",
            RuntimeWarning,
        )

    @with_callbacks  # which are set up anew after a loss
    def _fit_placed(self, X: PartitionedCorpus) -> Self:
        """Fit partitions, from a checkpoint where there is one, until a worker is lost."""
        executor = choose_executor(self.n_jobs)
        try:
            return self._fit(X, executor=executor)
        finally:
            kept = self._kept_partitions()
            if kept is None or not kept.is_with(executor):
                executor.drop()
            saved = vars(self).get("_saved")
            if saved is not None and saved.is_torn and not self.warm_start:
                del self._saved

    def _kept_partitions(self) -> PlacedCorpus | None:
        """Return the partitions that the last fit has kept for another one."""
        saved = vars(self).get("_saved")
        if saved is None or not self._is_placed(saved):
            return None
        placed: PlacedCorpus = saved.runs[0].walker.data
        return placed

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
        kept = self._kept_partitions() if self.warm_start else None
        if kept is None or any(each.path.exists() for each in self._checkpoints()):
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

    def _start_chains(self, data: Any, n_chains: int) -> SavedRuns:
        saved = super()._start_chains(data, n_chains)
        for chain in saved.runs:
            if isinstance(chain.walker, PlacedWalker):
                chain.averages = self._make_placed_averages()
        return saved

    def _make_placed_averages(self) -> PlacedAverages:
        """Return the running means of a new chain over partitions."""
        return PlacedAverages(is_lasting=True)

    @staticmethod
    def _is_placed(saved: SavedRuns) -> bool:
        """Tell whether chains run over partitions."""
        return any(isinstance(chain.walker, PlacedWalker) for chain in saved.runs)

    # Checkpoints

    def _run(self, saved: SavedRuns, X: Any, data: Any, guard: Any) -> None:
        if self._is_placed(saved):
            n_words = data.n_tokens * self.n_chains
            self._pace = Pace(data.n_partitions, n_words, "tokens", self._step_name)
            self._pace.begin(self._n_steps_done(), data.n_moved)
        try:
            super()._run(saved, X, data, guard)
        except LostWorkerError:
            saved.is_torn = True  # whatever was under way: what partitions held is gone
            raise
        finally:
            self.__dict__.pop("_pace", None)

    def _progress(self, runs: list[Any]) -> str:
        found = super()._progress(runs)
        if not isinstance(runs[0].walker, PlacedWalker):
            return found
        n_steps = max(map(self._n_steps, runs))
        n_left = self._most_steps - n_steps
        return f"{found}, {self._pace.describe(n_steps, n_left, runs[0].walker.data.n_moved)}"

    def _write_first(self, saved: SavedRuns) -> None:
        """Write a checkpoint that a fit to partitions can go back to if there is none yet.

        Raises
        ------
        OSError
            If that fails: later ones would fail, too.
        """
        if not self._is_placed(saved):
            return
        for checkpoint in self._checkpoints():
            if checkpoint.path.exists():
                continue
            try:
                checkpoint._write(self)
            except OSError as error:
                raise OSError(
                    f"The checkpoint {checkpoint.path} could not be written: {error}. A fit to "
                    "partitions needs a folder that this process and all workers can write to."
                ) from error

    def _checkpoint(self, files: PartFiles) -> CheckpointContent:
        content = super()._checkpoint(files)
        if not self._is_placed(self._under_way):
            return content
        folder = files.make(self._n_steps_done())
        self._under_way.runs[0].walker.data.write(folder)
        return content._replace(parts=folder.name)

    def _restore(self, checkpoint: Checkpoint, data: Any) -> SavedRuns | None:
        saved = super()._restore(checkpoint, data)
        if saved is not None and checkpoint._parts is not None:
            data.read(PartFiles(checkpoint.path).find(checkpoint._parts))
        return saved

    def _attach(self, run: Any, data: Any) -> None:
        super()._attach(run, data)
        if isinstance(run.averages, PlacedAverages):
            run.averages.attach(run.walker)

    def _advance_all(self, runs: list[Any], plans: list[Any], step: int) -> list[Any]:
        if not isinstance(runs[0].walker, PlacedWalker):
            return super()._advance_all(runs, plans, step)
        # The partitions have the threads or the workers.
        return [self._advance(run, plan, step) for run, plan in zip(runs, plans, strict=True)]

    def _showing(self, saved: SavedRuns, *, final: bool = False) -> SavedRuns:
        if self._is_placed(saved) and "_pace" in vars(self):  # in a round
            raise TypeError(
                "A callback asks for the fit under way, which a fit to a PartitionedCorpus cannot "
                "show: means are where the partitions are. Use X.compute(), or fit without it."
            )
        return super()._showing(saved, final=final)

    def _show_what_there_is(self, saved: SavedRuns) -> bool:
        if not self._is_placed(saved):
            return super()._show_what_there_is(saved)
        has_result = all(map(self._has_result, saved.runs))
        if has_result:
            final = not self.warm_start
            self._set_fitted_attributes(self._showing(saved, final=final), final=final)
        return has_result

    def _save(self, saved: SavedRuns, data: Any) -> None:
        if not self._is_placed(saved):
            super()._save(saved, data)
        elif self.warm_start:  # the chains keep their partitions
            self._sign(saved, data)
            self._keep(saved)

    def _fitted_attributes(self, saved: SavedRuns, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(saved, final=final)
        if self._is_placed(saved):
            attributes["_n_partitions"] = len(saved.runs[0].walker.streams)
            for chain in saved.runs:
                chain.averages.drop()
        return attributes

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        left_out = {name for name in _MEANS if hasattr(state.get(name), "dask")}
        if self._kept_partitions() is not None:
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
