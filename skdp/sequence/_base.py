"""Base class of the estimators of sequences: fits, predictions, and parts that users pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_jobs
from skdp._executors import predict_parts
from skdp._fit import ChainEstimator, FitState
from skdp._fit._estimator import checksum, fit_partitions, warn_of_counter, warn_of_times
from skdp._numeric import Floats, Places
from skdp._sklearn_compat import with_callbacks
from skdp.data import PartitionedPanel, SequencePanel, TokenSequences, check_panel
from skdp.data._sequence_panel import check_finite, check_no_lengths, split
from skdp.data._validation import check_lengths, check_partitions
from skdp.emissions._common._protocol import EmissionSampler, make_part_for
from skdp.emissions._gaussian._autoregressive_model import (
    check_complete_sequences,
    check_continued,
    check_lags,
    describe_short,
)
from skdp.emissions._independent import EMISSIONS
from skdp.emissions._table import code_categories
from skdp.inference._convergence import warn_user
from skdp.sequence._durations._families import (
    DurationSampler,
    NegativeBinomialDuration,
    PoissonDuration,
)
from skdp.sequence._hmm._messages import scored_steps
from skdp.sequence._similarities._emission import EmissionSimilarity
from skdp.sequence._similarities._gaussian import GaussianSimilarity
from skdp.sequence._similarities._protocol import SimilaritySampler

# Decorator for methods that accept panels in partitions.


Method = Callable[[Any, Any], Any]


def takes_partitions(shape: Callable[[Any], tuple[int, ...]] | None) -> Callable[[Method], Method]:
    """Return a decorator by which a method also takes a PartitionedPanel, one partition at a time.
    `shape(estimator)` is the shape of its result for one sequence, floats; None: it is a list.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def joined(self: Any, X: Any) -> Any:
            if not isinstance(X, PartitionedPanel):
                return method(self, X)
            check_is_fitted(self)
            check_partitions(self, X, reset=False)
            return predict_parts(self, method.__name__, X, None if shape is None else shape(self))

        return joined

    return decorate


# The base class.


class SequenceEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ChainEstimator):
    """Base class: panels, fits, scores; subclasses define `_allows_nan`, `_part` and `predict`.

    Attributes
    ----------
    n_features_in_ : int
        Number D of columns of an observation.
    feature_names_in_ : (D,) array
        Only if X was a data frame with string column names.
    """

    samples_: list[Any]  # models of the best chain
    _models: list[Any]  # of all chains: `log_likelihoods`, `log_predictives`, `posteriors`

    _feature_attributes = (
        *ChainEstimator._feature_attributes,
        "_n_words",
        "categories_",
        "_checksum",
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _allows_nan(self) -> bool:
        """Return whether NaN is a missing value."""
        raise NotImplementedError

    def _accepts_tokens(self) -> bool:
        """Return whether observations may be word ids."""
        return False

    def _n_given(self) -> int:
        """Return the number of first steps of each sequence that count as given."""
        return 0

    def _check_panel(
        self, X: Any, *, reset: bool, continues: bool = False
    ) -> tuple[SequencePanel, bool]:
        """Return X as a panel, and whether it is one array; one that `continues` needs all lags."""
        accept_tokens = self._accepts_tokens()
        if isinstance(X, TokenSequences) and not accept_tokens:
            raise TypeError(
                "X must hold observations, got TokenSequences: word ids are for "
                f'HDPHMMLT(emission="categorical"), not for {type(self).__name__} with '
                f"emission={self._part('emission')!r}."
            )
        X = code_categories(self, self._part("emission"), X, reset=reset, allow_missing=True)
        n_given = self._n_given()
        panel, is_single = check_panel(
            self, X, reset=reset, ensure_all_finite="allow-nan", accept_tokens=accept_tokens
        )
        warn_of_times(self, X)
        if continues and n_given > 0:
            check_continued(panel.values, panel.ptr, n_given)
        if n_given == 0 or not self._allows_nan():
            check_observed(panel, is_single, self._part("emission"), self._allows_nan(), n_given)
        elif not continues:
            short = check_lags(panel.values, panel.ptr, n_given)
            if len(short):
                warn_user(describe_short(short, n_given), UserWarning)
        return panel, is_single

    def _check_input(self, X: Any, y: Any = None) -> SequencePanel:
        panel, is_single = self._check_panel(X, reset=True)
        check_no_lengths(y, panel, is_single)
        if is_single and isinstance(X, list | tuple):
            self._warn_of_one_step(*panel.values.shape)
        if self._allows_nan():
            empty = np.asarray(np.isnan(panel.values).all(axis=0))
            check_columns_observed(empty, vars(self).get("feature_names_in_"))
        if not hasattr(self._part("emission"), "inputs"):  # a trend may be one
            warn_of_counter(self, panel.values, panel.ptr)
        self.__dict__.pop("_n_words", None)
        self._checksum = checksum(panel.values, panel.ptr)
        if isinstance(X, TokenSequences):
            self._n_words = X.n_features
        return panel

    def _warn_of_one_step(self, n_steps: int, n_columns: int) -> None:
        """Warn if a list of lists is a single step: it may be meant to be a list of sequences."""
        if n_steps == 1 and n_columns > 1:
            warn_user(
                f"{type(self).__name__}: X is a sequence of 1 step with {n_columns} columns: a row "
                "is a step, and a single step has no transitions. If X is a sequence of "
                f"{n_columns} numbers, pass np.reshape(X, (-1, 1)), which has a step in each "
                "row; if a single step is what you mean, pass np.asarray(X).",
                UserWarning,
            )

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the hidden states and their transitions from sequences.

        Parameters
        ----------
        X : SequencePanel, list of sequences, or (T, n_features) array
            Each sequence in a list is a (T_i, n_features) or (T_i,) array, or a data frame. An
            array or data frame is one sequence of T observations. With ``emission="categorical"``,
            X may also be `TokenSequences`, whose vocabulary is the set of symbols. For `HDPHMMLT`
            with most emissions, X may also be a PartitionedPanel: the result is bit-identical to
            that of a SequencePanel of all sequences, computed in threads or, with
            ``joblib.parallel_config("dask")``, in the workers of a cluster.
        y : array of T integers, list of them or None, default=None
            Known states of the steps, from 0 to ``n_components - 1``: an array for a single
            sequence, a list with an array or None for each of several, or one array for the steps
            of all of them; -1 (or None, or NaN) is unknown. The fit never changes a known state,
            and known states keep their numbers in the results. Steps with unknown states may also
            be in other states, unless `n_components` is the number of known states. One number or
            string per sequence is a class, not a state, and is ignored. Lengths of the parts of a
            single array are refused.

            For `FactorialHMM`, known bits of factors: an array of T rows and `n_factors` columns
            for a single sequence, a list with such an array or None for each of several, or one
            array for the steps of all of them; 0, 1, False, True, or -1 (or None, or NaN) if a bit
            is unknown. Columns are the factors, which keep their numbers and values in the results.
            With ``n_factors="auto"``, y has a column for each factor that you know, which must hold
            a 1, and the model may find other factors. One-dimensional arrays with a value per step
            hold classes, not bits, and are ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid, a column of X holds nothing but missing values, or y
            holds the lengths of sequences or something other than states or bits. The estimator is
            left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. The estimator is then fitted with the
            samples so far or, during the burn-in, with the current state unless it was fitted
            before. Another `fit` with ``warm_start=True`` continues; on a PartitionedPanel this
            requires the callback `Checkpoint`.
        RuntimeError
            If a worker of the cluster is lost, and with it the state of its partitions, and there
            is no callback `Checkpoint`; with this callback, if that happens three times in a row.

        Warns
        -----
        ConvergenceWarning
            If the log joint of a chain still climbs, or fewer than 12 sweeps follow the burn-in,
            which are too few to judge; then raise `max_iter`. If `HDPHMMLT` uses all the states
            that it may have; then raise its `n_components`. If `FactorialHMM` with
            ``n_factors="auto"`` has as many factors as it may have; its priors are then far from
            the scale of X. If chains plainly disagree; then compare them in `trace_`.
        """
        if isinstance(X, PartitionedPanel) and hasattr(self, "_check_partitions"):
            return fit_partitions(self, X, y)
        return self._fit(X, y)

    @takes_partitions(None)
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the states at each step given the whole sequence; of factors,
        that they are on.

        The probabilities are averaged over the stored samples of the best chain.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel

        Returns
        -------
        list of (T_i, n) arrays, or for a single array (T, n)
            With a column for each of `n_components` states, or of `n_factors` factors, whose rows
            need not sum to 1. For a PartitionedPanel under ``joblib.parallel_config("dask")``, a
            dask.bag.Bag of them.
        """
        return split(*self._posteriors(X))

    @takes_partitions(lambda estimator: (estimator._n_features_out,))
    def transform(self, X: Any) -> Floats:
        """Return the expected share of time that each sequence spends in each state, or that each
        factor is on in it.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel

        Returns
        -------
        (n_sequences, n) array
            Columns are those of `predict_proba`. For a single array, every step is a sample, and
            the result is ``predict_proba(X)``. For a PartitionedPanel under
            ``joblib.parallel_config("dask")``, a dask.array.Array with one chunk per partition.
        """
        probabilities, ptr, is_single = self._posteriors(X)
        if is_single:
            return probabilities
        bounds = pairwise(ptr)
        return np.array([probabilities[begin:end].mean(axis=0) for begin, end in bounds])

    @takes_partitions(lambda estimator: ())
    def score_samples(self, X: Any) -> Floats:
        """Return the log probability (or density) of sequences.

        Probabilities are averaged over the stored samples of all chains.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel

        Returns
        -------
        (n_sequences,) array
            Natural logarithm of p(x) of the observed values; 0 if nothing was observed. For a
            single array, log p(x_t | x_1, ..., x_t-1) of every step, (T,). For a PartitionedPanel
            under ``joblib.parallel_config("dask")``, a dask.array.Array with one chunk per
            partition.

        Notes
        -----
        With an `AutoregressiveEmission`, missing values are lags of later steps. They are
        integrated out by a particle filter: a Monte Carlo average over 200 draws for each sequence
        and stored sample, with fixed seeds, so that the result is always the same and does not
        depend on the other sequences. Predictions average over 50 joint draws of the missing values
        given the whole sequence. Sequences without missing values are exact.
        """
        return self._score_samples(X)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability (or density) per step; higher is better.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel
        y : ignored
            Lengths of the parts of a single array are refused, as in `fit`.

        Returns
        -------
        float
            ``score_samples(X).sum()`` divided by the number of steps at which anything was
            observed. Steps whose columns are all missing have probability 1 and do not count, nor
            do the first steps of a sequence that an `AutoregressiveEmission` counts as given, nor
            steps of which a `RegressionEmission` has inputs only.

        Raises
        ------
        ValueError
            If nothing was observed at any step, or X is invalid.
        """
        if isinstance(X, PartitionedPanel):
            check_is_fitted(self)
            check_partitions(self, X, reset=False)
            log_probability, n_steps = np.asarray(predict_parts(self, "_sums", X, (2,))).sum(axis=0)
        else:
            log_probability, n_steps = self._sums(X, y)[0]
        if n_steps == 0:
            raise ValueError(
                "X holds nothing but missing values (NaN): its log probability per observed step "
                "is not defined. score_samples gives 0 for each sequence."
            )
        return float(log_probability / n_steps)

    def _sums(self, X: Any, y: Any = None) -> Floats:
        """Return the log probability of X and the number of its steps that count, (1, 2)."""
        log_probabilities, panel = self._score_samples(X)
        check_no_lengths(y, panel, is_single=len(panel) == 1 and len(log_probabilities) != 1)
        part = vars(self).get("emission_")
        counts = scored_steps(panel.values, panel.ptr, self._n_given(), part)
        return np.array([[log_probabilities.sum(), np.count_nonzero(counts)]])

    # Averages over the stored samples

    def _list_samples(
        self, state: FitState, best: int, samples: list[Any], model: Any
    ) -> dict[str, Any]:
        """Return the attributes for the models of all chains, and for one of the best chain."""
        rest = [run for c, run in enumerate(state.runs) if c != best]
        return {
            "samples_": samples,
            "_models": [*samples, *(draw.model for run in rest for draw in run.models.values())],
            "startprob_": model.startprob,
            "transmat_": model.transmat,
        }

    def _each(self, models: list[Any], method: str, *args: Any) -> list[Any]:
        """Return the results of a method of all models, in order."""
        return Parallel(n_jobs=check_jobs(self.n_jobs), prefer="threads")(
            delayed(getattr(model, method))(*args) for model in models
        )

    def _posteriors(
        self, X: Any, method: str = "posteriors", *args: Any
    ) -> tuple[Floats, Places, bool]:
        """Return the mean over the stored samples of a method's result for each step."""
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        return self._mean_of_samples(method, panel, *args), panel.ptr, is_single

    def _mean_of_samples(self, method: str, panel: SequencePanel, *args: Any) -> Floats:
        """Return the mean over the stored samples of a method's result for a panel."""
        width = effective_n_jobs(check_jobs(self.n_jobs))
        total: Any = 0.0
        for first in range(0, len(self.samples_), width):  # never all at once: each is (N, J)
            some = self.samples_[first : first + width]
            for part in self._each(some, method, panel.ptr, panel.values, *args):
                total += part
        return np.asarray(total / len(self.samples_))

    def _score_samples(self, X: Any) -> tuple[Floats, SequencePanel]:
        """Return log probabilities of samples, and X as a panel."""
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        if not is_single:
            parts = self._each(self._models, "log_likelihoods", panel.ptr, panel.values)
            mean = logsumexp(parts, axis=0) - np.log(len(parts))
            return mean, panel
        parts = self._each(self._models, "log_predictives", panel.values)
        before = np.zeros(len(panel.values) + 1)
        before[1:] = logsumexp(np.cumsum(parts, axis=1), axis=0) - np.log(len(parts))
        n_possible = np.count_nonzero(before > -np.inf)  # steps after an impossible one are, too
        steps = np.full(len(panel.values), -np.inf)
        steps[: n_possible - 1] = np.diff(before[:n_possible])
        return steps, panel


# Checks of observations.


def check_observed(
    panel: SequencePanel, is_single: bool, emission: Any, allows_nan: bool, n_given: int
) -> None:
    """Raise if values are missing, or sequences too short, for an emission."""
    if n_given > 0:
        check_complete_sequences(panel.values, panel.ptr, n_given)
    elif not allows_nan:
        check_complete(panel, is_single, emission)


def check_complete(panel: SequencePanel, is_single: bool, emission: Any) -> None:
    """Raise if X holds NaN that the emission does not accept; the message lists others that do."""
    rows = np.isnan(panel.values).any(axis=1)
    if not rows.any():
        return
    row = int(np.argmax(rows))
    s = int(np.searchsorted(panel.ptr, row, side="right")) - 1
    place = f"step {row}" if is_single else f"sequence {s}, step {row - panel.ptr[s]}"
    able = [repr(name) for name, kind in EMISSIONS.items() if getattr(kind, "allows_nan", False)]
    raise ValueError(
        f"Input X contains NaN: {place}. {type(emission).__name__} takes no missing values; these "
        f"emissions do: {', '.join(able)}, BinaryFactorEmission, and IndependentEmissions of these."
    )


def check_partition(
    name: str, emission: Any, allows_nan: bool, n_given: int, panel: SequencePanel
) -> None:
    """Raise a ValueError if `check_panel`, or a model without missing values, would."""
    check_lengths(name, panel)
    check_finite(panel, allow_nan=True)
    check_observed(panel, False, emission, allows_nan, n_given)


def as_row(x: Any, estimator: Any) -> Any:
    """Return one observation as a (1, D) array or data frame; raise ValueError if it is not one."""
    known = vars(estimator).get("feature_names_in_", ())
    if hasattr(x, "to_frame") and set(known) & set(getattr(x, "index", ())):
        x = x.to_frame().T.infer_objects()  # a row of a data frame
    elif not hasattr(x, "columns"):
        x = np.asarray(x)
        x = x.reshape(1, -1) if x.ndim < 2 else x
    if len(x) != 1:
        raise ValueError(f"x must be one observation, got {len(x)}.")
    return x


def list_names(estimator: Any) -> list[str]:
    """Return the names of the columns, x0, x1, ... if they have none."""
    default = [f"x{d}" for d in range(estimator.n_features_in_)]
    return list(map(str, vars(estimator).get("feature_names_in_", default)))


def check_training_panel(reader: Any, panel: SequencePanel, is_single: bool, y: Any) -> None:
    """Raise if y holds lengths, or a column nothing but NaN; warn if a column counts the steps."""
    check_no_lengths(y, panel, is_single)
    empty = np.asarray(np.isnan(panel.values).all(axis=0))
    check_columns_observed(empty, vars(reader).get("feature_names_in_"))
    warn_of_counter(reader, panel.values, panel.ptr)


def take_fit(estimator: Any, reader: Any) -> Any:
    """Give an estimator the attributes of its fitted clone."""
    for name in ("feature_names_in_", "categories_"):
        estimator.__dict__.pop(name, None)
    fitted = vars(reader).keys() - estimator.get_params(deep=False).keys()
    estimator.__dict__.update({name: vars(reader)[name] for name in fitted})
    return estimator


def check_columns_observed(empty: NDArray[np.bool_], names: Any) -> None:
    """Raise if a column holds nothing but NaN."""
    if empty.all():
        raise ValueError("X holds nothing but missing values (NaN): there is nothing to learn.")
    if empty.any():
        d = int(np.argmax(empty))
        name = f"{d}" if names is None else f"{d} ({names[d]!r})"
        raise ValueError(
            f"X: column {name} holds nothing but missing values (NaN): leave it out, nothing can "
            "be learned from it."
        )


# Parts of a model that users pass: their names, and checks of their interface.


SIMILARITIES = {"gaussian": GaussianSimilarity, "emission": EmissionSimilarity}
DURATIONS = {"poisson": PoissonDuration, "negative_binomial": NegativeBinomialDuration}
"""Classes by the names of similarities and durations, which stand for default settings."""

_PROTOCOLS: dict[str, type] = {
    "emission": EmissionSampler,
    "similarity": SimilaritySampler,
    "duration": DurationSampler,
}
"""Protocol of the sampler of a part, by parameter."""


def make_part(part: Any, name: str, *args: Any) -> Any:
    """Return ``part.make_sampler(*args)``; raise TypeError if it lacks the protocol of `name`."""
    return make_part_for(_PROTOCOLS[name], part, name, *args)
