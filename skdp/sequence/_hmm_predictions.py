"""Predictions of fitted hidden Markov models: states, paths, forecasts, draws."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_floats, check_count, check_memory, naming, shorten
from skdp._numeric import Floats, Places
from skdp._numeric._random import make_seed_sequence
from skdp.data import SequencePanel, check_panel
from skdp.data._coding import TableFormat
from skdp.data._frames import is_frame
from skdp.data._sequence_panel import split
from skdp.emissions._common._protocol import looks_back
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._discrete._poisson import PoissonEmission
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._independent import mix_symbols
from skdp.sequence._base import SequenceEstimator, as_row, list_names, takes_partitions
from skdp.sequence._divisions import (
    NORMAL_90,
    find_changes,
    find_dates,
    find_intervals,
    make_tables,
)
from skdp.sequence._hmm._forecast import Mixture, as_frame, has_index, pick
from skdp.sequence._hmm._gap_filter import Tail, has_gaps
from skdp.sequence._hmm._messages import KnownStates
from skdp.sequence._hmm._model import (
    FilterState,
    HMMModel,
    advance,
    forecast_lagged,
    log_density_of_last,
    sum_states,
    warn_of_levels,
)

_TINY = 1e-100


class HMMPredictions(SequenceEstimator):
    """Base class with the methods of a fitted hidden Markov model whose samples are `HMMModel`."""

    samples_: list[HMMModel]
    startprob_: Floats
    transmat_: Floats
    emission_: Any
    state_shares_: Floats
    component_labels_: Places

    @property
    def _labels(self) -> Places | None:
        """The state of each component, or None if it has its own number."""
        check_is_fitted(self)
        labels = self.component_labels_
        return None if len(np.unique(labels)) == len(labels) else labels

    @takes_partitions(None)
    def predict(self, X: Any) -> Any:
        """Return the states of sequences.

        The state at each step is the state with the highest posterior probability, which gives the
        smallest expected number of errors. The result is not the most probable path, which `decode`
        returns: the transition between two successive states may be impossible.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel

        Returns
        -------
        list of (T_i,) arrays of int, or for a single array (T,)
            For a PartitionedPanel under ``joblib.parallel_config("dask")``, a dask.bag.Bag of them.
        """
        probabilities, ptr, is_single = self._posteriors(X)
        return split(probabilities.argmax(axis=1), ptr, is_single)

    def _posteriors(self, X: Any, method: str = "posteriors", *args: Any) -> Any:
        found, ptr, is_single = super()._posteriors(X, method, *args)
        return sum_states(found, self._labels) if found.ndim > 1 else found, ptr, is_single

    def decode(self, X: Any) -> Any:
        """Return the most probable path of each sequence (Viterbi), and its log probability.

        Paths are those of one model: the stored sample to which `startprob_`, `transmat_`,
        `emission_` and `duration_` belong. Averages over samples, as in `predict`, have no most
        probable path.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        log_probabilities : (n_sequences,) array, or for a single array float
            log p(x, z) of the path z, natural logarithm. -inf if the sequence is impossible.
        paths : list of (T_i,) arrays of int, or for a single array (T,)
            States; -1 throughout an impossible sequence. With `merge_overlapping`, those of the
            most probable path of components. Among equally probable paths, the path
            with the lowest last state is chosen, then with the lowest state before it, and so on;
            with durations, the path with the lowest state of each segment, from the last one, then
            its shortest duration.

        Raises
        ------
        ValueError
            If X is invalid, or values are missing with an `AutoregressiveEmission`.

        Warns
        -----
        UserWarning
            If a sequence is impossible.

        See Also
        --------
        hmm_viterbi : The same algorithm with given parameters.
        """
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        self._check_no_gaps("decode", panel)
        known = self.startprob_, self.transmat_, self.emission_, self.state_shares_
        model = HMMModel(*known, duration=getattr(self, "duration_", None))
        log_probabilities, states = model.decode(panel.ptr, panel.values)
        states = np.where(states < 0, states, self.component_labels_[states])
        paths = split(states, panel.ptr, is_single)
        return (float(log_probabilities[0]) if is_single else log_probabilities), paths

    @takes_partitions(None)
    def predict_change_proba(self, X: Any) -> Any:
        """Return the probability that the state changes at each step, given the whole sequence.

        It is the probability that the state of a step is not the state of the step before; with a
        duration, that a new segment begins. At the first step of a sequence it is 0. The
        probabilities are averaged over the stored samples of the best chain; their sum over a
        sequence is the expected number of changes.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel

        Returns
        -------
        list of (T_i,) arrays, or for a single array (T,)

        See Also
        --------
        StateDetector.predict_change_proba : Changes between the waves of a recording.
        """
        return split(*self._posteriors(X, "changes", self._labels))

    @takes_partitions(None)
    def change_intervals(self, X: Any) -> Any:
        """Return a table of the changes of the states that `predict` returns.

        A row has the `position`, the first step of the new state; the shortest `interval` about it
        with 90 % of the probability of changes near it, up to halfway to the next ones; the exact
        `probability` that there is a change in the interval; the `size` of the change, the mean of
        the new state minus that of the old one, with its 90 % interval, which is infinite if the
        variance of a state is; and `date` if X is a data frame with dates. `to_frame()` makes a
        data frame of it.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel

        Returns
        -------
        list of ChangeTable, or for a single array a ChangeTable
            Sizes are those of columns of numbers or counts; with other emissions than
            `GaussianEmission`, `StudentTEmission` and `PoissonEmission` there are none.

        Raises
        ------
        ValueError
            If X is invalid, or values are missing with an `AutoregressiveEmission`.

        See Also
        --------
        ChangePointDetector : Changes to levels that do not come back.
        """
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        self._check_no_gaps("change_intervals", panel)
        probabilities = self._mean_of_samples("posteriors", panel)
        states = sum_states(probabilities, self._labels).argmax(axis=1)
        changes = find_changes(states, panel.ptr)
        names, sizes = [], np.empty((len(changes), 3, 0))
        if isinstance(self._part("emission"), GaussianEmission | PoissonEmission):
            names, sizes = list_names(self), self._find_sizes(states[changes - 1], states[changes])
        dates, found = find_dates(X, panel, is_single), self._judge_changes(panel, changes)
        tables = make_tables(panel.ptr, dates, changes, *found, sizes, names)
        return tables[0] if is_single else tables

    def _judge_changes(
        self, panel: SequencePanel, changes: Places, known: KnownStates | None = None
    ) -> tuple[Places, Floats]:
        """Return 90 % intervals of changes, (n, 2), and the probabilities of a change in them."""
        intervals = np.empty((len(changes), 2), dtype=np.int64)
        if len(changes) == 0:
            return intervals, np.empty(0)
        given = self._labels, known
        p = self._mean_of_samples("changes", panel, *given)
        for begin, end in pairwise(panel.ptr):
            own = (changes >= begin) & (changes < end)
            intervals[own] = begin + find_intervals(p[begin:end], changes[own] - begin)
        return intervals, 1.0 - self._mean_of_samples("quiet", panel, intervals, *given)

    def _find_sizes(self, old: Places, new: Places) -> Floats:
        """Return differences of the means of states, and their 90 % intervals, (n, 3, D)."""
        unions = self.component_labels_ == np.arange(len(self.startprob_))[:, np.newaxis]
        sizes, variances = [], []
        for model in self.samples_:
            emission: Any = model.emission
            own, weights = emission.marginals(), unions * np.maximum(model.shares, _TINY)
            # What is empty in this sample has the distribution of the prior: no part of its union.
            weights[weights < 1e-90 * weights.max(axis=1, keepdims=True)] = 0.0
            shares, has = np.maximum(weights.sum(axis=1), _TINY)[:, np.newaxis], weights > 0.0
            weights, has = weights[:, :, np.newaxis], has[:, :, np.newaxis]
            means = (weights * np.where(has, own.means, 0.0)).sum(axis=1) / shares
            squares = np.where(has, own.variances + (own.means - means[:, np.newaxis]) ** 2, 0.0)
            spread = (weights * squares).sum(axis=1) / shares
            spread /= np.maximum(shares * self._n_observed, 1.0)
            sizes.append(means[new] - means[old])
            variances.append(spread[new] + spread[old])
        size = np.mean(sizes, axis=0)
        width = NORMAL_90 * np.sqrt(np.var(sizes, axis=0) + np.mean(variances, axis=0))
        return np.stack([size, size - width, size + width], axis=1)

    def _check_no_gaps(self, name: str, panel: SequencePanel) -> None:
        """Raise ValueError if values are missing on which others depend."""
        if has_gaps(self.emission_, panel.values):
            raise ValueError(
                f"{name} with an AutoregressiveEmission requires complete sequences; X contains "
                f"NaN. predict accepts missing values; or pass the result of impute."
            )

    @takes_partitions(None)
    def filter_proba(self, X: Any) -> Any:
        """Return the probabilities of the states at each step, given the sequence up to there.

        These probabilities do not use later steps; at the last step, they equal those of
        `predict_proba`, which uses the whole sequence.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel

        Returns
        -------
        As `predict_proba`.
        """
        return split(*self._posteriors(X, "filtered"))

    def filter_update(self, state: FilterState | None, x: Any) -> FilterState:
        """Return the probabilities of the states after one more observation of a sequence.

        It needs no earlier observations: `state` holds what they imply. After each step of a
        sequence, ``state.proba`` equals the row of ``filter_proba``.

        Parameters
        ----------
        state : FilterState or None
            The result of the previous call; None for the first observation of a sequence.
        x : (n_features,) or (1, n_features) array-like, or data frame of one row
            The observation. NaN is a missing value as in `fit`, but with an
            `AutoregressiveEmission` there must be none.

        Returns
        -------
        FilterState
            The new state; the old one does not change. Its attribute ``proba`` holds the
            probabilities of the states, (n_components,). It can be pickled.

        Raises
        ------
        ValueError
            If x is invalid, or impossible in all states, or the arrays of `state` differ in number
            or shape from those of this model. A state of another model with the same shapes is not
            detected.

        Examples
        --------
        >>> import numpy as np
        >>> from skdp.sequence import HDPHMMLT
        >>> rng = np.random.default_rng(0)
        >>> x = np.concatenate([rng.normal(m, 0.5, 40) for m in (0, 5, 0, 5)]).reshape(-1, 1)
        >>> model = HDPHMMLT(6, stickiness=20.0, max_iter=200, random_state=0).fit(x)
        >>> state = None
        >>> for value in [0.1, 0.3, 4.8]:
        ...     state = model.filter_update(state, [value])
        >>> bool(state.proba.argmax() == model.predict([[5.0]])[0])
        True
        """
        check_is_fitted(self)
        models, n_features = self.samples_, self.n_features_in_
        emission: Any = models[0].emission
        row = self._check_row(x, emission)
        shape = models[0].duration and models[0].duration.tables()[0].shape[::-1]
        expected = shape or (1, len(self.startprob_))
        if state is not None and (
            not isinstance(state, FilterState)
            or len(state.ends) != len(models)
            or any(own.shape != expected for own in state.ends)
            or state.last_values.shape[1] != n_features
        ):
            raise ValueError(
                "state must be a result of filter_update of this estimator since its last fit, or "
                "None for the first observation of a sequence."
            )
        n_lags = emission.n_lags if looks_back(emission) else 0
        before = np.empty((0, n_features)) if state is None else state.last_values
        values = np.concatenate([before, row])
        n_steps = 1 if state is None else state.n_steps + 1
        ends = [None] * len(models) if state is None else state.ends
        found = [
            advance(model, own, log_density_of_last(model.emission, values, n_steps))
            for model, own in zip(models, ends, strict=True)
        ]
        last = values[len(values) - min(n_lags, len(values)) :]
        return FilterState(tuple(found), last, n_steps, self._labels)

    def _check_row(self, x: Any, emission: Any) -> Floats:
        """Return one observation as (1, n_features), or raise a ValueError."""
        x = as_row(x, self)
        if not looks_back(emission):
            return np.array(self._check_panel(x, reset=False)[0].values)
        panel, _ = check_panel(self, x, reset=False, ensure_all_finite="allow-nan")
        if np.isnan(panel.values).any():
            raise ValueError(
                "x contains NaN: filter_update takes no missing values of autoregressive states; "
                "filter_proba does."
            )
        return np.array(panel.values)

    def forecast(self, X: Any, n_steps: int, quantiles: ArrayLike = (0.05, 0.5, 0.95)) -> Bunch:
        """Return predictive means, deviations and quantiles of the next observations.

        At each of the next steps, the predictive distribution is a mixture over the stored samples
        of the best chain and the states: the weights of the distributions of the next observation
        are the probabilities of the states at the end of the sequence, propagated by the
        transitions (and durations). Nothing is simulated: moments are exact, and quantiles are
        roots of the mixture's cumulative distribution, found for each column separately; the error
        of a quantile's probability is at most 1e-10 of the smaller tail.

        With an `AutoregressiveEmission`, means and standard deviations are exact, too, but from the
        second step on, quantiles are those of 10,000 simulated continuations, which are always the
        same. Sequences must have as many steps as its largest lag. If some of the last values are
        missing, forecasts are averages over their draws: see `score_samples`.

        Parameters
        ----------
        X : as in `fit`
        n_steps : int
            Number of steps to forecast, >= 1.
        quantiles : float or list of float, default=(0.05, 0.5, 0.95)
            Probabilities between 0 and 1. The default gives the median within an interval of 90 %.
            An empty list gives no quantiles, which is several times as fast.

        Returns
        -------
        Bunch
            Each entry is a list with an array for each sequence, or an array for a single one.

            - mean, sd : (n_steps, n_features), means and standard deviations.
            - quantiles : (n_steps, n_features, n_quantiles). For counts (and columns of 0 and 1)
              the smallest value with at least this cumulative probability.

            For categories, which have no order, the only entry is proba, (n_steps, n_symbols), the
            probabilities of the symbols. With `IndependentEmissions`, columns of categories are NaN
            above, and proba is a dictionary of such arrays by the names of the parts.

            If X is a pandas data frame, or a list of them, the entry frame has the same numbers as
            data frames. Their index continues that of X (dates with a regular frequency, periods,
            or integers; otherwise it counts the steps). Their columns are pairs of a column of X
            and "mean", "sd" or the probability of a quantile; for categories, the symbols.

        Raises
        ------
        ValueError
            If `n_steps` is below 1, a quantile is not between 0 and 1, or X is invalid.
        TypeError
            If the model of your own emission has no method `marginals`.

        Warns
        -----
        UserWarning
            If the last value of a sequence lies outside of all states, or a column has a trend: the
            forecast would jump back to the levels of the training data. Forecast differences, or
            use an `AutoregressiveEmission`.

        Notes
        -----
        A Student t distribution with two degrees of freedom or less has no variance, and one with
        one or less has no mean: `sd` is then infinite, and `mean` is NaN. With default settings,
        only a `StudentTEmission` has two: its `sd` is infinite, so use quantiles.
        """
        check_is_fitted(self)
        n_steps = check_count(n_steps, "n_steps", at_least=1)
        levels = np.atleast_1d(as_floats(quantiles, "quantiles"))
        if levels.ndim != 1 or not np.all((levels > 0.0) & (levels < 1.0)):
            raise ValueError(f"quantiles must be between 0 and 1, got {shorten(quantiles)}.")
        found, is_single = self._forecast(X, n_steps, levels)
        frames = [X] if is_single else X
        if isinstance(frames, list | tuple) and all(map(has_index, frames)):
            symbols = getattr(self, "categories_", [None])[0]
            found["frame"] = [
                as_frame(frame, {name: x[i] for name, x in found.items()}, levels, symbols)
                for i, frame in enumerate(frames)
            ]
        return Bunch(**{name: x[0] if is_single else x for name, x in found.items()})

    def _forecast(self, X: Any, n_steps: int, levels: Floats) -> tuple[dict[str, list[Any]], bool]:
        """Return the entries of `forecast` for each sequence, and whether X is a single one."""
        emissions: list[Any] = [model.emission for model in self.samples_]
        is_categorical = isinstance(emissions[0], CategoricalModel)
        is_lagged = looks_back(emissions[0])
        if is_lagged:
            self._require(getattr(emissions[0], "varying", emissions[0]), "steps_about", "forecast")
        elif not is_categorical:
            self._require(emissions[0], "marginals", "forecast")
        panel, is_single = self._check_panel(X, reset=False, continues=True)
        n_numbers = self.n_features_in_ * (2 + levels.size)
        n_numbers += len(self.samples_) * self._n_features_out
        check_memory(
            8.0 * n_steps * panel.shape[0] * n_numbers,
            f"forecast of n_steps={n_steps} of {panel.shape[0]} sequences",
        )
        if is_lagged:
            tails = self._each(self.samples_, "tails", panel.ptr, panel.values)
            parts = forecast_lagged(self.samples_, tails, panel, n_steps, levels)
            names = "mean", "sd", "quantiles"
            return dict(zip(names, map(list, zip(*parts, strict=True)), strict=True)), is_single
        weights = np.array(self._each(self.samples_, "forecast", panel.ptr, panel.values, n_steps))
        weights /= len(weights)
        if is_categorical:
            probs = [
                sum(w @ emission.probs for w, emission in zip(own, emissions, strict=True))
                for own in weights.swapaxes(0, 1)
            ]
            return {"proba": probs}, is_single
        marginals = [emission.marginals() for emission in emissions]
        found: dict[str, list[Any]] = {"mean": [], "sd": [], "quantiles": []}
        symbols = list(getattr(emissions[0], "symbols", {}).values())
        warn_of_levels(self.samples_, marginals, panel, symbols)
        for own in weights.swapaxes(0, 1):
            mixture = Mixture(list(own), marginals)
            mean, variance = mixture.moments()
            found["mean"].append(mean)
            found["sd"].append(np.sqrt(variance))
            found["quantiles"].append(mixture.quantiles(levels))
            if symbols:
                for array in (found["mean"][-1], found["sd"][-1], found["quantiles"][-1]):
                    array[:, symbols] = np.nan
                found.setdefault("proba", []).append(mix_symbols(emissions, own))
        return found, is_single

    def impute(self, X: Any) -> Any:
        """Return sequences in which missing values are replaced by their posterior means.

        The mean of a missing value is conditional on all observed values: the whole sequence is
        informative about the state and, with correlated columns, the rest of the row about the
        value. Means are over the states and the stored samples of the best chain. Observed values
        do not change.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        SequencePanel, list of (T_i, n_features) arrays, or (T, n_features) array
            As X: a panel for a panel, a list for a list, an array for a single array, and data
            frames for data frames.

        Raises
        ------
        TypeError
            If a category is missing, which has no mean, or values are missing and the model of your
            own emission has no method `fill`.
        """
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        values = np.array(panel.values)
        missing = np.isnan(values)
        if missing.any():
            if not has_gaps(self.samples_[0].emission, values):
                self._require(self.samples_[0].emission, "fill", "impute")
            some: Any = self._mean_of_samples("impute", panel)
            values[missing] = some[missing]
        if isinstance(X, SequencePanel):
            return SequencePanel(values, panel.ptr)
        parts = split(values, panel.ptr, is_single)
        hidden = split(missing, panel.ptr, is_single)
        if is_single:
            return _with_cells(X, hidden, parts)
        return [_with_cells(*each) for each in zip(X, hidden, parts, strict=True)]

    def _require(self, emission: Any, method: str, caller: str) -> None:
        if not callable(getattr(emission, method, None)):
            raise TypeError(
                f"{caller} requires an emission whose model has a method {method}; "
                f"{type(emission).__name__} has none."
            )

    def sample(
        self, n_steps: int, n_sequences: int = 1, *, given: Any = None, random_state: Any = None
    ) -> tuple[SequencePanel, list[Places]]:
        """Draw sequences from the fitted model, each from a stored sample of the best chain.

        Parameters
        ----------
        n_steps : int
            Length of a sequence, >= 1.
        n_sequences : int, default=1
            Number of sequences; with `given`, of continuations of each given sequence.
        given : as X in `fit`, or None, default=None
            Sequences to continue: the draws follow their last steps. None: new sequences. (With an
            `AutoregressiveEmission`, their first values, up to the largest lag, are Gaussian, with
            the mean and covariance of as many successive values of the training data.)
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        panel : SequencePanel
            With `given`, the continuations of the first given sequence come first, and so on,
            without the given sequences.
        states : list of arrays (n_steps,)
            The states of each sequence.
        """
        check_is_fitted(self)
        n_steps = check_count(n_steps, "n_steps", at_least=1)
        n_sequences = check_count(n_sequences, "n_sequences", at_least=1)
        panel = None
        if given is not None:
            with naming("given"):
                panel = self._check_panel(given, reset=False, continues=True)[0]
        is_gapped = panel is not None and has_gaps(self.samples_[0].emission, panel.values)
        n_given = 1 if panel is None else panel.shape[0]
        check_memory(
            8.0 * n_steps * n_sequences * n_given * (self.n_features_in_ + 3.0),
            f"n_sequences={n_sequences} of n_steps={n_steps}",
        )
        rng = np.random.default_rng(make_seed_sequence(random_state))
        which = rng.integers(len(self.samples_), size=n_sequences * n_given)
        ends: dict[int, Any] = {}
        if panel is not None:
            used = np.unique(which)
            models = [self.samples_[s] for s in used]
            found = self._each(models, "tails" if is_gapped else "ends", panel.ptr, panel.values)
            ends = dict(zip(used.tolist(), found, strict=True))
        sequences, states = [], []
        for i, s in enumerate(which.tolist()):
            model = self.samples_[s]
            before = None if panel is None else panel[i // n_sequences]
            if before is None:
                states.append(model.draw_states(n_steps, rng))
            else:
                own = ends[s][i // n_sequences]
                if is_gapped:
                    own, before = draw_end(own, before, rng)
                states.append(model.draw_next_states(own, n_steps, rng))
            sequences.append(model.draw_observations(states[-1], rng, before))
        names = self.component_labels_
        return SequencePanel.from_sequences(sequences), [names[own] for own in states]

    def to_arviz(self, X: Any) -> Any:
        """Return the stored samples for ``arviz.loo``, which leaves out one sequence at a time.

        Parameters
        ----------
        X : SequencePanel or list of sequences
            The data of the fit, two sequences or more. With fewer than about 200 stored samples
            (parameter `n_samples`, times `n_chains`), estimates are poor.

        Returns
        -------
        arviz.InferenceData, or the DataTree of ArviZ 1
            The group "posterior" has the scalars of `trace_` at the stored samples, and the group
            "log_likelihood" the variable "x" with the dimensions "chain", "draw" and "sequence":
            log p(x_i) of a whole sequence given the transition probabilities and the parameters of
            the states that were drawn, summed over paths. Given these, sequences are independent.
            Steps are not, so there is no value per step.

        Raises
        ------
        ImportError
            If arviz is not installed (``pip install skdp[arviz]``).
        ValueError
            If X is a single sequence, or not the data of the fit.
        TypeError
            If the fit had a `duration`, known states in y, a PartitionedPanel, or an emission other
            than `GaussianEmission`, `CategoricalEmission`, `PoissonEmission`, `BernoulliEmission`,
            `MultinomialEmission` and `IndependentEmissions` of these.
        """
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        if is_single or len(panel) == 1:
            raise ValueError(
                f"{type(self).__name__}.to_arviz: X is one sequence, and arviz.loo leaves out "
                "sequences. Pass two sequences or more, or hold out the end of the sequence and "
                "compare models by score."
            )
        first: Any = self._models[0]
        if first.drawn is None or first.duration is not None or "_checksum" not in vars(self):
            raise TypeError(
                f"{type(self).__name__}.to_arviz needs a fit without a duration, without known "
                "states in y, not to a PartitionedPanel, and with an emission whose drawn "
                f"parameters are stored; got emission={self._part('emission')!r} and "
                f"duration={self._part('duration')!r}. Compare models by score on held-out data."
            )
        self._check_training_data(panel.values, panel.ptr)
        models = [replace(model, emission=model.drawn) for model in self._models]
        logs = self._each(models, "log_likelihoods", panel.ptr, panel.values)
        # The models of the best chain come first.
        chains = [c for c, _ in self._stored]
        places = np.argsort([c != self._best_chain for c in chains], kind="stable")
        return self._to_arviz([logs[i] for i in np.argsort(places)], "sequence")

    @property
    def _n_features_out(self) -> int:
        return len(self.startprob_)


def draw_end(tail: Tail, values: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return probabilities of states and ages, (A, J), and a sequence with drawn last values."""
    m = pick(np.cumsum(tail.ends.sum(axis=(0, 1))), rng.random())
    lags, completed = tail.lags[m].reshape(-1, values.shape[1]), values.copy()
    completed[len(values) - len(lags) :] = lags[::-1]
    return tail.ends[:, :, m], completed


def _with_cells(X: Any, hidden: NDArray[np.bool_], values: Floats) -> Any:
    """Return a data frame with other values in hidden cells; of anything else the values."""
    return TableFormat.of(X).with_cells(X, hidden, values, None) if is_frame(X) else values
