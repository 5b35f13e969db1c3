"""Base classes of estimators that are fitted step by step: by Markov chains, also in partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, clone

from skdp._checks import check_memory
from skdp._executors import LostWorkerError, Throughput, choose_executor
from skdp._fit._loop import FitAlgorithm, FitLoop, FitState, list_checkpoints
from skdp._numeric._random import make_seed_sequence
from skdp._sklearn_compat import (
    JOBS,
    CallbackSupportMixin,
    EstimatorMixin,
    Interval,
    validate_parameters,
    with_callbacks,
)
from skdp.callback._checkpoint import PartFiles
from skdp.data._frames import find_counter, find_fault_of_frames
from skdp.inference._chain import Chain, NoAverages, Schedule, SweepIterator
from skdp.inference._convergence import (
    LEAST_SWEEPS,
    warn_of_climbs,
    warn_of_disagreement,
    warn_of_few_sweeps,
    warn_user,
)
from skdp.inference._trace import Trace, make_inference_data


class IterativeEstimator(EstimatorMixin, CallbackSupportMixin, BaseEstimator):
    """Base class with common parameters, and the steps of a fit in the order of `FitLoop`.

    Attributes
    ----------
    convergence_ : dict
        The numbers behind the ConvergenceWarnings of the fit, by kind; empty without a warning.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": JOBS,
        "random_state": ["random_state", np.random.Generator],
        "verbose": [Interval(Integral, -1, None, closed="left"), "boolean"],
    }

    _free_in_warm_start: ClassVar[frozenset[str]] = frozenset(
        [
            *("max_iter", "warm_start", "n_jobs", "random_state", "verbose"),
            *("stream_sweeps", "stream_window"),
        ]
    )
    """Parameters that may change before a warm start."""

    _free_in_checkpoints: ClassVar[frozenset[str]] = frozenset(
        ["max_iter", "warm_start", "n_jobs", "verbose"]
    )
    """Parameters that may change before a fit continues from a checkpoint."""

    _feature_attributes: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    """Attributes that describe X, which are recorded before there is a result."""

    _optional_attributes: ClassVar[frozenset[str]] = frozenset()
    """Fitted attributes that not every fit has."""

    def _validate_parameters(self) -> None:
        """Raise for parameters out of range."""
        raise NotImplementedError

    def _check_input(self, X: Any, y: Any = None) -> Any:
        """Return X, and y if a fit needs one, as a container, and record its features."""
        raise NotImplementedError

    def _make_procedure(self, data: Any) -> FitAlgorithm:
        """Return the procedure that fits the model to a container."""
        raise NotImplementedError

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        """Return the fitted attributes by name; with `final` the runs may be consumed."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        """Validate the parameters, fit X, and set the fitted attributes."""
        self._validate_parameters()
        FitLoop(self).run(X, y, **options)
        return self

    def _set_fitted_attributes(self, attributes: dict[str, Any]) -> None:
        for name in self._optional_attributes.difference(attributes):
            self.__dict__.pop(name, None)  # an earlier fit may have had more options
        self.__dict__.update(attributes, convergence_={})

    def _part(self, name: str) -> Any:
        """Return the value of a parameter; for a name that stands for an object, the object."""
        return getattr(self, name)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator and, as ``emission__prior=...``, of its parts.

        A part given by its name, such as ``emission="gaussian"``, is first replaced by the object
        that the name stands for.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self
        """
        nested = {key: value for key, value in params.items() if "__" in key}
        super().set_params(**{key: params[key] for key in params.keys() - nested.keys()})
        for name in {key.partition("__")[0] for key in nested}:
            if isinstance(getattr(self, name, None), str):
                setattr(self, name, self._part(name))
        super().set_params(**nested)
        return self


# Warnings of columns and dates that would silently distort results.


def warn_of_times(estimator: Any, X: Any) -> None:
    """Warn if the index of a data frame of steps is not in order, or has left out steps."""
    fault = find_fault_of_frames(X)
    if fault is not None:
        warn_user(f"{type(estimator).__name__}: {fault}", UserWarning)


def warn_of_counter(estimator: Any, values: NDArray[Any], ptr: Any = None) -> None:
    """Warn if a column next to others numbers the rows; `ptr` are the offsets of sequences."""
    ptr = np.array([0, len(values)]) if ptr is None else ptr
    column = find_counter(values, ptr)
    if column is not None:
        names = vars(estimator).get("feature_names_in_")
        name = f"column {column}" if names is None else f"column {names[column]!r}"
        warn_user(
            f"{type(estimator).__name__}: {name} of X numbers the rows, as a row number, an "
            "identifier or a time does. Its values would determine the result: leave it out, or "
            "make it the index of the data frame.",
            UserWarning,
        )


# The procedure of fits by Markov chains.


class SamplingSettings(NamedTuple):
    """Parameters for the length of a chain and the sweeps that it keeps and stores."""

    max_iter: int
    burn_in: int
    thin: int
    n_samples: int


class Sampling(FitAlgorithm):
    """Independent Markov chains; each keeps some of its sweeps."""

    step_name = "sweep"

    def __init__(
        self,
        data: Any,
        start_sampler: Callable[[Any, np.random.SeedSequence, int], Any],  # (data, root, c)
        extend_sampler: Callable[[Any, Any, int], Any],  # (sampler, data, n_left)
        make_averages: Callable[[], Any],
        settings: SamplingSettings,
        *,
        n_chains: int,
        n_jobs: int | None,  # threads that share the chains
        n_jobs_of_chain: int | None,  # threads of a sweep, if samplers have an attribute `n_jobs`
        random_state: Any,
    ):
        self._data = data
        self._start_sampler = start_sampler
        self._extend_sampler = extend_sampler
        self._make_averages = make_averages
        self._settings = settings
        self._n_chains = n_chains
        self._n_jobs_of_chain = n_jobs_of_chain
        self._random_state = random_state
        self.n_jobs = n_jobs
        self.max_steps = settings.max_iter

    def start(self) -> FitState:
        """Return new chains."""
        return self.start_chains(self._n_chains)

    def start_chains(self, n_chains: int) -> FitState:
        """Return `n_chains` new chains, each with its own random streams."""
        root = make_seed_sequence(self._random_state)
        chains = [
            Chain(self._start_sampler(self._data, root, c), self._make_averages())
            for c in range(n_chains)
        ]
        return FitState(chains, root)

    def continue_stream(self, state: FitState, n_left: int, n_steps: int) -> FitState:
        """Return the chains of a state without the first `n_left` samples and with more data, and
        do `n_steps` sweeps from there.
        """
        self.max_steps = n_steps
        n_samples = self._settings.n_samples
        thin = max(n_steps // (2 * n_samples), 1)
        self._settings = SamplingSettings(n_steps, n_steps // 2, thin, n_samples)
        chains = [
            Chain(self._extend_sampler(run.sampler, self._data, n_left), self._make_averages())
            for run in state.runs
        ]
        return FitState(chains, state.root)

    def plan(self, run: Chain) -> Schedule:
        """Return the schedule of a chain."""
        if hasattr(run.sampler, "n_jobs"):
            run.sampler.n_jobs = self._n_jobs_of_chain
        return run.plan(*self._settings)

    @staticmethod
    def advance(run: Chain, plan: Schedule, n_steps: int) -> Chain:
        """Return a chain after `n_steps` more sweeps, or fewer if the schedule ends before."""
        for _ in islice(run.run(plan), n_steps):
            pass
        return run

    @staticmethod
    def n_steps(run: Chain) -> int:
        """Return the number of sweeps that a chain has done."""
        return run.n_sweeps

    @staticmethod
    def has_result(run: Chain) -> bool:
        """Return whether a chain has done a sweep."""
        return run.n_sweeps > 0

    def progress(self, runs: list[Chain]) -> str:
        """Return the log joint of each chain."""
        joints = ", ".join(f"{chain.sampler.log_joint():.6g}" for chain in runs)
        return f"log joint {joints}"

    def showing(self, state: FitState, *, final: bool = False) -> FitState:
        """Return chains with at least one kept and stored sample, if need be the current state."""
        return replace(state, runs=[chain.showing(final=final) for chain in state.runs])

    def may_show(self, estimator: Any, state: FitState) -> bool:
        """Return whether an interrupted fit sets attributes; warn if they are from the burn-in."""
        if not super().may_show(estimator, state):
            return False
        n_sweeps = [run.n_sweeps for run in state.runs if not run.kept]
        if not n_sweeps:
            return True
        # An earlier result is better than a state of the burn-in.
        if estimator.__sklearn_is_fitted__():
            return False
        with suppress(UserWarning):  # if filters make it an error, the interrupt still counts
            warn_user(
                f"{type(estimator).__name__}: the fit was interrupted in its burn-in, after "
                f"{min(n_sweeps)} sweep(s). Its attributes show the current state as the only "
                "sample.",
                UserWarning,
            )
        return True

    def warn_unless_converged(self, estimator: Any, state: FitState) -> None:
        """Warn if chains still climb or disagree, or if there are too few sweeps to judge."""
        judged = [chain.judged() for chain in state.runs]
        n_sweeps = min(len(sweeps) for sweeps, _ in judged)
        if n_sweeps < LEAST_SWEEPS:
            warn_of_few_sweeps(estimator, n_sweeps)
        else:
            estimator._warn_of_trace(
                Trace.from_chains([rows for _, rows in judged], [sweeps for sweeps, _ in judged])
            )

    def attach(self, run: Chain) -> None:
        """Attach the data to a chain."""
        run.sampler.attach(self._data)

    @staticmethod
    def detach(run: Chain) -> None:
        """Drop the data of a chain."""
        run.sampler.detach()

    @staticmethod
    def detached(run: Chain) -> Chain:
        """Return a copy of a chain without its data."""
        return run.detached()


# Estimators that are fitted by Markov chains.


_LEAST_BYTES = 2.0**12
"""The minimum memory of a chain in bytes for any data."""


def checksum(*arrays: NDArray[Any]) -> int:
    """Return a checksum, by which a later call recognizes the data of the fit."""
    result = 0
    for array in arrays:
        result = crc32(np.ascontiguousarray(array).data, result)
    return result


class ChainEstimator(IterativeEstimator):
    """Base class of estimators with chains: their parameters, procedure and common attributes.

    Estimators may only name a parameter or an attribute that is described here: see `take_texts`.

    Parameters
    ----------
    max_iter : int, default=500
        Number of sweeps of each chain.
    burn_in : int or None, default=None
        Number of sweeps to discard at the start of each chain. None: half of the current
        `max_iter`. With ``warm_start=True`` it may be `max_iter` or more; the fit then shows the
        current state.
    thin : int, default=10
        After the burn-in, keep the first sweep, every `thin`-th sweep from there on, and the last
        sweep.
    n_samples : int, default=5
        Number of kept samples of each chain, evenly spaced, to store as models. Held-out scores and
        probabilities are averaged over them.
    n_chains : int, default=1
        Number of independent chains, each from its own first state. Attributes and features come
        from the one with the highest mean log joint, scores and probabilities from all.
    warm_start : bool, default=False
        Keep the state of the fit, so that another `fit` on the same X continues where this one
        stopped: after an interruption, or with a larger `max_iter`.

    Attributes
    ----------
    trace_ : Trace
        Scalars of every kept sweep of every chain.
    n_iter_ : int
        Number of sweeps done.
    n_features_in_ : int
        Number of columns.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeEstimator._parameter_constraints,
        "burn_in": [Interval(Integral, 0, None, closed="left"), None],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_warm_start: ClassVar[frozenset[str]] = IterativeEstimator._free_in_warm_start | {
        "burn_in",
        "thin",
        "n_samples",
    }

    trace_: Trace
    _checksum: int
    _stored: list[tuple[int, int]]
    """Chain and sweep of each stored sample."""

    _name_of_number: ClassVar[str] = "n_components"
    """The scalar in the trace that is the inferred number of components, if it is inferred."""

    def _validate_parameters(self) -> None:
        """Raise for parameters out of range."""
        validate_parameters(self)
        check_memory(_LEAST_BYTES * self.n_chains, f"n_chains={self.n_chains}")
        if self._burn_in() >= self.max_iter and not self.warm_start:
            raise ValueError(
                f"burn_in must be smaller than max_iter unless warm_start=True, got "
                f"burn_in={self.burn_in} and max_iter={self.max_iter}."
            )

    def _burn_in(self) -> int:
        """Return the number of first sweeps that are not kept."""
        return self.max_iter // 2 if self.burn_in is None else self.burn_in

    def _start_sampler(self, data: Any, root: np.random.SeedSequence, c: int) -> Any:
        """Return the sampler of a new chain with its own random streams."""
        raise NotImplementedError

    def _extend_sampler(self, sampler: Any, data: Any, n_left: int) -> Any:
        """Return a sampler of data that begin with those of another one, of which `n_left` samples
        have left, with its state.
        """
        raise NotImplementedError

    def _make_averages(self) -> Any:
        """Return the running means of a new chain; by default there are none."""
        return NoAverages()

    def _n_jobs_of_chain(self) -> int | None:
        """Return the number of threads per sweep: 1 if several chains share the threads."""
        return self.n_jobs if self.n_chains == 1 else 1

    def _make_procedure(self, data: Any) -> Any:
        return self._make_sampling(Sampling, data)

    def _make_sampling(self, kind: Any, data: Any, **options: Any) -> Any:
        """Return an instance of `kind`, a subclass of `Sampling`, for a container."""
        return kind(
            data,
            **{
                "start_sampler": self._start_sampler,
                "extend_sampler": self._extend_sampler,
                "make_averages": self._make_averages,
                "settings": SamplingSettings(
                    self.max_iter, self._burn_in(), self.thin, self.n_samples
                ),
                "n_chains": self.n_chains,
                "n_jobs": self.n_jobs,
                "n_jobs_of_chain": self._n_jobs_of_chain(),
                "random_state": self.random_state,
                **options,
            },
        )

    def iter_sweeps(self, X: Any, y: Any = None) -> Iterator[Any]:
        """Yield the state after every sweep of the first chain that `fit` would run.

        The estimator is neither fitted nor changed: use this to watch, plot or stop a chain. It
        always begins at the first sweep, even with `warm_start`.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        iterator of states, of length `max_iter`
            Each is a live, read-only view; ``state.copy()`` detaches it from the chain. Exceptions
            from signal handlers during a sweep, such as Ctrl-C, are raised at the end of the sweep,
            and the iterator can continue from there.

        Raises
        ------
        ValueError, TypeError
            At the call, before the first sweep, if `fit` would raise it.
        """
        return self._iter_sweeps(X, y)

    def _iter_sweeps(self, X: Any, y: Any = None, **others: Any) -> Iterator[Any]:
        """Return the iterator of `iter_sweeps`, given the arguments of `fit`."""
        runner = self._make_runner()
        runner._validate_parameters()
        sampling = runner._make_procedure(runner._check_input(X, y, **others))
        (chain,) = sampling.start_chains(1).runs
        return SweepIterator(chain, sampling.plan(chain).without_keeping())

    def _make_runner(self) -> Any:
        """Return an estimator with the same parameters, whose chain does not change this one."""
        return clone(self)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit has led to a result; one that was interrupted early has not."""
        return hasattr(self, "_models")

    def _check_training_data(self, *arrays: NDArray[Any]) -> None:
        """Raise a ValueError unless X has the arrays that the estimator was fitted to."""
        if checksum(*arrays) != self._checksum:
            raise ValueError(
                f"{type(self).__name__}.to_arviz: X must be the data that the model was fitted to, "
                "with rows in the same order. For other data, use score_samples."
            )

    def _to_arviz(self, logs: Sequence[NDArray[np.float64]], unit: str) -> Any:
        """Return the scalars and the log likelihoods of the stored samples for ArviZ.
        `logs` has an (n,) array for each of `_models`, whose axis is named by `unit`.
        """
        chains = range(self.trace_.n_chains)
        places = [[i for i, (own, _) in enumerate(self._stored) if own == c] for c in chains]
        n_draws = min(map(len, places))  # the chains of an interrupted fit may differ
        sweeps = [sweep for c, sweep in self._stored if c == 0][:n_draws]
        kept = np.searchsorted(self.trace_.sweeps, sweeps)
        scalars = {name: values[:, kept] for name, values in self.trace_.items()}
        found = np.array([[logs[i] for i in own[:n_draws]] for own in places])
        return make_inference_data(
            f"{type(self).__name__}.to_arviz",
            {"posterior": scalars, "log_likelihood": {"x": found}},
            np.array(sweeps),
            {"x": [unit]},
        )

    def _warn_of_trace(self, trace: Trace) -> None:
        """Warn if the scalars of enough sweeps climb or disagree."""
        warn_of_climbs(self, trace)
        warn_of_disagreement(self, trace)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        """Return the common attributes, with the index of the best chain in `_best_chain`."""
        chains = state.runs
        best = int(np.argmax([chain.mean_log_joint for chain in chains]))
        return {
            "trace_": Trace.from_chains(
                [chain.trace for chain in chains], [chain.kept for chain in chains]
            ),
            "n_iter_": chains[best].n_sweeps,
            "_best_chain": best,
            "_models": [model for chain in chains for model in chain.models.values()],
            "_stored": [(c, sweep) for c, chain in enumerate(chains) for sweep in chain.models],
        }


def keep_numbers(
    shared: NDArray[np.float64],  # (K, L) what the groups before and after have in common
    numbers: NDArray[Any],  # (K,) of the groups before
    given: NDArray[Any],  # of the first groups after
) -> NDArray[np.int64]:
    """Return numbers, (L,), of the groups after: those before, so that groups with the same number
    have most in common in total, or new ones beyond all others if they have nothing in common.
    """
    shared[np.isin(numbers, given)] = shared[:, : len(given)] = 0.0
    rows, columns = linear_sum_assignment(shared, maximize=True)
    is_kept = shared[rows, columns] > 0.0
    out = np.full(shared.shape[1], -1, dtype=np.int64)
    out[: len(given)], out[columns[is_kept]] = given, numbers[rows[is_kept]]
    new = np.flatnonzero(out < 0)
    out[new] = max(numbers.max(initial=-1), given.max(initial=-1)) + 1 + np.arange(len(new))
    return out


class StreamMixin:
    """Mixin of models whose samples may come in batches; a subclass has `_check_batch`.

    Parameters
    ----------
    stream_sweeps : int, default=20
        Number of sweeps of each later call of `partial_fit`.
    stream_window : int or None, default=None
        Number of samples to keep in a stream: the oldest leave in later calls of `partial_fit`,
        as if they had never come. None: all.
    """

    stream_sweeps: int
    stream_window: int | None

    _stream_constraints: ClassVar[dict[str, list[Any]]] = {
        "stream_sweeps": [Interval(Integral, 1, None, closed="left")],
        "stream_window": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _check_batch(self, earlier: Any, X: Any, y: Any) -> tuple[Any, range]:
        """Return the earlier samples that stay and those of X and y in one container, and which of
        the earlier ones stay.
        """
        raise NotImplementedError

    def _staying(self, n_earlier: int, n_new: int) -> range:
        """Return which of the earlier samples stay when new ones come."""
        window = n_earlier + n_new if self.stream_window is None else int(self.stream_window)
        return range(n_earlier - min(max(window - n_new, 0), n_earlier), n_earlier)

    def _join(self, earlier: Any, batch: Any) -> tuple[Any, range]:
        """Return the result of `_check_batch` if both are containers of the same kind."""
        staying = self._staying(len(earlier), len(batch))
        parts = [*([earlier[staying.start :]] if staying else []), batch]
        return earlier._join_all(parts), staying

    def _check_stream(self, X: Any, y: Any) -> None:
        """Raise if data or parameters cannot be those of a stream."""

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add new samples to a fit.

        The first call does what `fit` does. A later call gives the new samples a first state, and
        does `stream_sweeps` sweeps over them and as many earlier samples, which are chosen at
        random in each sweep. Attributes refer to the samples of all calls, in their order, and
        come from the second half of these sweeps. The posterior is that of a `fit` to all samples
        at once; if the new ones are unlike the others, the chain may need more sweeps to reach it.
        With a `stream_window`, samples that have left it no longer count.

        Clusters, topics and states keep their numbers from call to call, and new ones come last.

        Parameters
        ----------
        X, y : as in `fit`
            With the features of the first call. Topic models take no topics of documents in y, and
            `HDPHMMLT` no known states.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid, or a parameter of the model or of the first state has
            changed since the last call; `random_state` may, but is no longer read. The estimator
            is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. The samples of X have been added to
            earlier ones, and attributes show the current state.

        Warns
        -----
        ConvergenceWarning
            As in `fit`, in the first call. The sweeps of later calls are too few to judge.
        UserWarning
            If the estimator was fitted by `fit`, which keeps no data: the stream begins with X.

        Notes
        -----
        The estimator and its pickles hold the data of all calls, or of the window. A pickle
        continues with the same results. `fit` starts over.
        """
        self._validate_parameters()  # type: ignore[attr-defined]
        self._check_stream(X, y)
        FitLoop(self, is_stream=True).run(X, y)
        return self


# Fits to data in partitions: losses of workers, checkpoints, progress.


_MOST_LOSSES = 3
"""The number of consecutive worker losses, without a checkpoint in between, that ends a fit."""


class PartitionedSampling(Sampling):
    """Markov chains over partitions, which hold parts of the chains."""

    is_distributed = True

    def __init__(self, data: Any, *args: Any, unit: str, **params: Any):  # what n_units counts
        super().__init__(data, *args, **params)
        self._unit = unit
        self._throughput: Throughput | None = None

    @contextmanager
    def running(self, state: FitState) -> Iterator[None]:
        """Measure throughput, and set `is_inconsistent` if a worker is lost."""
        n_units = self._data.n_units * self._n_chains
        self._throughput = Throughput(self._data.n_partitions, n_units, self._unit, self.step_name)
        self._throughput.begin(max(map(self.n_steps, state.runs)), self._data.n_moved)
        try:
            yield
        except LostWorkerError:
            state.is_inconsistent = True  # the parts that the worker held are gone
            raise
        finally:
            self._throughput = None

    def progress(self, runs: list[Chain]) -> str:
        """Return the log joint of each chain, the throughput and the time left."""
        assert self._throughput is not None  # in a round
        n_steps = max(map(self.n_steps, runs))
        throughput = self._throughput.describe(
            n_steps, self.max_steps - n_steps, self._data.n_moved
        )
        return f"{super().progress(runs)}, {throughput}"

    def advance_all(self, runs: list[Any], plans: list[Any], n_steps: int) -> list[Any]:
        """Advance one chain after another, because partitions share the threads or workers."""
        return [self.advance(run, plan, n_steps) for run, plan in zip(runs, plans, strict=True)]

    def showing(self, state: FitState, *, final: bool = False) -> FitState:
        """Return chains that have all kept and stored a sample; TypeError between two rounds."""
        if self._throughput is not None:  # this would move the parts of the partitions
            raise TypeError(
                "A callback asks for the attributes of a fit in progress. A fit to partitions has "
                "none before its end. Use X.compute(), or fit without the callback."
            )
        return super().showing(state, final=final)

    def attach(self, run: Chain) -> None:
        """Attach the partitions to a chain and its running means."""
        super().attach(run)
        if hasattr(run.averages, "attach"):
            run.averages.attach(run.sampler)

    @staticmethod
    def detach(run: Chain) -> None:
        """Do nothing: a warm start continues with the distributed partitions."""

    def write_parts(self, files: PartFiles, state: FitState) -> str:
        """Write the parts that partitions hold; return the name of their folder."""
        folder = files.make(max(map(self.n_steps, state.runs)))
        self._data.write(folder)
        return folder.name

    def read_parts(self, files: PartFiles, name: str | None) -> None:
        """Load the parts that `write_parts` has written into the partitions."""
        if name is not None:
            self._data.read(files.find(name))


def fit_partitions(estimator: Any, X: Any, y: Any = None) -> Any:
    """Fit partitions, and continue from checkpoints after losses of workers.
    `_check_partitions` of the estimator raises for parameters that partitions do not allow.
    """
    estimator._validate_parameters()
    estimator._check_partitions(X)
    n_losses = 0
    while True:
        n_before = _n_written(estimator)
        try:
            return _fit_once(estimator, X, y)
        except LostWorkerError as error:
            n_losses = 1 if _n_written(estimator) > n_before else n_losses + 1
            _warn_of_loss(estimator, error, n_losses)


@with_callbacks  # which sets them up for each attempt
def _fit_once(estimator: Any, X: Any, y: Any) -> Any:
    """Fit partitions, from a checkpoint if there is one; a loss of a worker ends the attempt."""
    executor = choose_executor(estimator.n_jobs)
    try:
        return estimator._fit(X, y, executor=executor)
    finally:
        kept = kept_partitions(estimator)
        if kept is None or not kept.is_with(executor):
            executor.drop()
        saved = vars(estimator).get("_saved")
        if saved is not None and saved.is_inconsistent and not estimator.warm_start:
            del estimator._saved


def _n_written(estimator: Any) -> int:
    """Return the number of checkpoints that have been written."""
    return sum(checkpoint._n_written for checkpoint in list_checkpoints(estimator))


def _warn_of_loss(estimator: Any, error: LostWorkerError, n_losses: int) -> None:
    """Warn of a lost worker, or raise if the fit cannot continue from a checkpoint."""
    checkpoints = list_checkpoints(estimator)
    if not checkpoints:
        raise LostWorkerError(
            f"{error} The fit has lost its state and has to start again. With "
            "the callback skdp.callback.Checkpoint it would continue from a file."
        ) from None
    if n_losses == _MOST_LOSSES:
        raise LostWorkerError(
            f"{error} It is the third loss in a row without a checkpoint in between."
        ) from None
    warn_user(
        f"{error} The fit continues from the checkpoint {checkpoints[0].path}.",
        RuntimeWarning,
    )


def kept_partitions(estimator: Any) -> Any:
    """Return the distributed data set that the last fit has kept for a warm start, or None."""
    saved = vars(estimator).get("_saved")
    if saved is None or not is_over_partitions(saved):
        return None
    return saved.runs[0].sampler.data


def is_over_partitions(state: FitState) -> bool:
    """Return whether the chains of a fit run over partitions."""
    return any(chain.sampler.is_distributed for chain in state.runs)


def check_no_warm_start(estimator: Any, X: Any) -> None:
    """Raise TypeError if the estimator has `warm_start=True`."""
    if estimator.warm_start:
        raise TypeError(
            f"warm_start=True takes no {type(X).__name__}, whose partitions are dropped after "
            "the fit. Use the callback skdp.callback.Checkpoint, from whose file a fit can "
            "continue, X.compute(), or a larger max_iter from the start."
        )
