"""When a series changes: the exact posterior of its divisions into parts."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, log_expit, logit, logsumexp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skdp._checks import (
    check_beta_prior,
    check_entries,
    check_how_many,
    check_known,
    check_scale,
    is_list_like,
)
from skdp._fit._estimator import warn_of_times
from skdp._numeric import Floats, Places
from skdp._numeric._random import make_seed_sequence
from skdp._sklearn_compat import Interval, StrOptions, validate_parameters
from skdp.data import SequencePanel, check_panel
from skdp.data._sequence_panel import check_no_lengths, split
from skdp.emissions._table import code_categories
from skdp.inference._convergence import warn_user
from skdp.preprocessing._panel_transformer import SequenceTransformer, dress
from skdp.sequence._base import as_row, check_training_panel, list_names, take_fit
from skdp.sequence._divisions import (
    NORMAL_90,
    RARE,
    CellModel,
    ChangePoint,
    ChangeTable,
    DividedSeries,
    DivisionRule,
    GaussianSpanModel,
    PoissonSpanModel,
    RunLengths,
    RunningParts,
    find_dates,
    find_intervals,
    go_on,
    smooth,
)
from skdp.sequence._hmm._messages import split_by_sequence

CLIP = 4.0
"""With "auto", values count as at most this far from the median of five around them, in standard
deviations of these distances, so that one or two outliers are no part of their own."""

_POWER = 0.3
"""With "auto", share of the evidence of an observation: noise that is not independent and normal
would otherwise be explained by many parts."""

_NOISE = 0.5
"""Scale b0 of the prior of the variance of noise, in units of that of all values."""

_SLOPE = 0.01
"""Prior variance of a slope per step, in units of that of the level."""

_NOISES = (0.5, 0.05, 0.005)
_AUTOCORRELATIONS = (0.0, 0.3, 0.6, 0.9)
_PRIORS = (0.1, 0.3, 1.0)
"""Values that are averaged: of b0 with "gaussian", of an autocorrelation "auto", and of the
Dirichlet priors of symbols."""

_TAIL = 0.05
"""Share of the values at each end that do not bend the scale of a column."""

_FEWEST_CHANGES, _LARGEST_RATE, _N_RATES = 0.3, 0.1, 8
"""The probabilities of a change with "auto": from that of `_FEWEST_CHANGES` in a series on."""

_SMALLEST_WEIGHT = 1e-12
_NO_LIMIT = 2**31

_DISCRETE = ("poisson", "bernoulli", "categorical", "multinomial")

# The estimator.


class _Posterior:
    """The divisions of one series under all models, averaged with the weights of the fit."""

    def __init__(self, detector: ChangePointDetector, divisions: list[DividedSeries]):
        self.divisions = divisions
        self._weights = detector._weights
        self._after = {m: divisions[m].sum_after() for m in self.used()}
        self.change_probabilities = sum(
            divisions[m].change_probabilities(after, self._weights[m])
            for m, after in self._after.items()
        )

    def used(self) -> list[int]:
        """Return the models that are not negligible."""
        return np.flatnonzero(self._weights.sum(axis=1) > _SMALLEST_WEIGHT).tolist()

    def change_in(self, ranges: Places) -> Floats:
        """Return P(a part starts at first to last) of each range."""
        if len(ranges) == 0:
            return np.zeros(0)
        quiet = sum(
            self.divisions[m].quiet_probabilities(
                after, self._weights[m], ranges, np.asarray(self.change_probabilities)
            )
            for m, after in self._after.items()
        )
        return np.clip(1.0 - quiet, 0.0, 1.0)

    def sizes(self, first: int, last: int) -> tuple[Floats, Floats]:
        """Return the mean size of a change at first to last, and its 90 % interval."""
        logs, means, variances = [], [], []
        p = np.asarray(self.change_probabilities)[first : last + 1]
        for place in first + np.flatnonzero(p > RARE * p.sum()):
            for m, after in self._after.items():
                shares, mean, variance = self.divisions[m].sizes(after, int(place))
                # A power holds back changes, not what is known of their sizes.
                weights = np.maximum(shares * self._weights[m], np.finfo(np.float64).tiny)
                logs.append(np.log(weights) / self.divisions[m].power)
                means.append(mean)
                variances.append(variance)
        w, mu, var = map(np.concatenate, (logs, means, variances))
        w = np.exp(w - w.max())
        w /= w.sum()
        size = w @ mu
        width = NORMAL_90 * np.sqrt(w @ (var + (mu - size) ** 2))
        return size, np.array([size - width, size + width])

    def count_changes(self) -> Floats:
        """Return the distribution of the number of changes."""
        found = [
            (self._weights[m], self.divisions[m].count_changes(self._weights[m]))
            for m in self.used()
        ]
        out = np.zeros(max(len(numbers) for _, numbers in found))
        for weights, numbers in found:
            out[: len(numbers)] += weights.sum() * numbers
        return out[: np.flatnonzero(out > _SMALLEST_WEIGHT)[-1] + 1]


class ChangePointDetector(SequenceTransformer):
    """Find when a series changes, and how sure that is.

    A series is divided into parts, and each part has its own level or line, rate, or shares of
    symbols, which do not come back. All divisions are compared, not only the best one: the results
    are exact posterior probabilities, with no Markov chain.

    Parameters
    ----------
    emission : {"auto", "gaussian", "poisson", "bernoulli", "categorical", "multinomial"}, \
            default="auto"
        What a part has of its own. "gaussian": a level or a line, and the variance of its noise, in
        each column. "poisson": the rate of counts in each column. "bernoulli": the probability of 1
        in each column of 0 and 1. "categorical": the shares of the symbols 0, 1, 2, ... or of texts
        in each column. "multinomial": the shares of the columns, which hold counts such as those
        of words. "auto": as "gaussian", but it resists noise that is neither independent nor
        normal, and outliers; see Notes.
    trend : {"auto", "level", "linear"}, default="auto"
        Whether parts of numbers are level, or lines with a slope. "auto": both, with the weights
        that the data give them.
    autocorrelation : float or "auto", default=0.0
        Correlation of the noise of successive steps, from 0 to below 1, the same in all parts of
        numbers; at the start of a part, and after a missing value, it starts again. "auto": 0, .3,
        .6 and .9, with the weights that the data give them.
    change_probability : float, (p, q) or "auto", default="auto"
        Probability of a change at each step, above 0 and below 1, or the parameters of a Beta(p, q)
        prior of it. "auto": eight values in equal ratios from .3 changes in a series to one in ten
        steps, with the weights that the data give them.
    min_length : int, default=1
        Fewest steps of a part.
    max_length : int or None, default=None
        Most steps of a part. None: no limit. A fit warns if parts have this length.
    power : float or "auto", default="auto"
        Share of the evidence of each observation that decides about changes, above 0 and up to 1.
        "auto": .3 if `emission` is "auto", otherwise 1.
    use_y : bool, default=True
        Whether y of `fit` holds known changes. False: y is ignored, for a Pipeline in which it
        belongs to a later step.

    Attributes
    ----------
    change_points_ : ChangeTable, or list of them
        The changes of the most probable division of each sequence; for a single array, its changes.
        A row has the `position`, the first step of a new part; its 90 % `interval`, and the
        `probability` that there is a change in it; the `size` of the change, new minus old mean
        averaged over all divisions with a change in the interval, with its 90 % interval; and
        `date` if X was a data frame with dates. `to_frame()` makes a data frame of it.
    n_changes_distribution_ : (n,) array, or list of them
        The probabilities of 0, 1, 2, ... changes in each sequence.
    n_changes_ : float or list of them
        Expected number of changes in each sequence.
    change_probability_ : float
        Posterior mean of the probability of a change.
    n_features_in_ : int
        Number D of columns of an observation.
    feature_names_in_ : (D,) array
        Only if X was a data frame, or a list of them, with string column names.
    categories_ : list of D arrays
        Only if X held texts: the symbols of each column.

    See Also
    --------
    StateDetector : For states that come back.
    skdp.topics.TopicSegmenter : For texts.

    Notes
    -----
    A product partition model [1]_ with conjugate priors. With normal noise, the variance has an
    inverse gamma prior, s2 ~ IG(1, b0), the level is N(0, .5 s2 / b0) around the median of a
    column, and the slope per step has a hundredth of this variance, in units of the standard
    deviation of the column without the 5 % at both ends. b0 is 0.5 with "auto"; with "gaussian"
    0.5, 0.05 and 0.005 are averaged. Rates are Gamma(1, 1 / mean of the column), and shares are
    Dirichlet, with 0.1, 0.3 and 1 per symbol averaged. Averages are weighted by exact evidence.

    Sums over divisions are made forwards and backwards [2]_. The start of a part is dropped at the
    step at which its posterior weight falls below 1e-12, so that long series with changes take less
    than the square of their length; memory is proportional to it.

    Real noise is seldom independent. As its evidence adds up, a model that takes it for independent
    explains it by changes. So "auto" raises the evidence to the power .3 [3]_. Also, a value far
    from the median of the five around it counts as four standard deviations from it, those of all
    such distances, in `score`, too. For the sizes of changes, probabilities of divisions are raised
    to 1 over the power.

    References
    ----------
    .. [1] D. Barry and J. A. Hartigan, "A Bayesian analysis for change point problems," *Journal of
       the American Statistical Association* 88 (1993).
    .. [2] P. Fearnhead, "Exact and efficient Bayesian inference for multiple changepoint problems,"
       *Statistics and Computing* 16 (2006).
    .. [3] J. W. Miller and D. B. Dunson, "Robust Bayesian inference via coarsening," *Journal of
       the American Statistical Association* 114 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import ChangePointDetector
    >>> level = np.repeat([0.0, 6.0, 1.0], [40, 30, 50])
    >>> x = level + np.random.default_rng(0).standard_normal(120)
    >>> detector = ChangePointDetector("gaussian", trend="level").fit(x.reshape(-1, 1))
    >>> detector.change_points_.positions
    array([40, 70])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "emission": [StrOptions({"auto", "gaussian", *_DISCRETE})],
        "trend": [StrOptions({"auto", "level", "linear"})],
        "autocorrelation": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "change_probability": [
            Interval(Real, 0, 1, closed="neither"),
            tuple,
            list,
            StrOptions({"auto"}),
        ],
        "min_length": [Interval(Integral, 1, None, closed="left")],
        "max_length": [Interval(Integral, 1, None, closed="left"), None],
        "power": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "use_y": ["boolean"],
    }

    def __init__(
        self,
        emission: str = "auto",
        *,
        trend: str = "auto",
        autocorrelation: float | str = 0.0,
        change_probability: Any = "auto",
        min_length: int = 1,
        max_length: int | None = None,
        power: float | str = "auto",
        use_y: bool = True,
    ):
        self.emission = emission
        self.trend = trend
        self.autocorrelation = autocorrelation
        self.change_probability = change_probability
        self.min_length = min_length
        self.max_length = max_length
        self.power = power
        self.use_y = use_y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the changes of sequences.

        Parameters
        ----------
        X : SequencePanel, list of sequences, or (T, n_features) array
            As in `HDPHMMLT.fit`. NaN is a missing value.
        y : (T,) array-like, list of them, or None, default=None
            Known changes, a value for each step: 1 if a new part starts there, 0 if none does, and
            -1, None or NaN if that is unknown. For a list of sequences a list of such arrays, or
            None for a sequence of which nothing is known.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid, a column of X holds nothing but missing values, or a
            sequence cannot have parts of the lengths that are allowed. The estimator is left
            unchanged.
        """
        validate_parameters(self)
        check_entries(y)
        reader = clone(self)
        reader._check_parameters()
        panel, is_single = reader._check_panel(X, reset=True)
        check_training_panel(reader, panel, is_single, y)
        reader._models = reader._list_models(panel)
        reader._rates = reader._list_rates(np.diff(panel.ptr))
        known = reader._check_known(y if self.use_y else None, panel.ptr)
        divisions = [reader._divide(*each) for each in zip(panel, known, strict=True)]
        log_weights = sum(reader._log_evidence(each) for each in divisions)
        log_weights = log_weights + np.log(reader._rates.prior)
        reader._weights = np.exp(log_weights - logsumexp(log_weights))
        reader.change_probability_ = float(reader._weights.sum(axis=0) @ reader._rates.rates)
        reader._warn_of_length(divisions)
        posteriors = [_Posterior(reader, each) for each in divisions]
        dates = find_dates(X, panel, is_single)
        tables = list(map(reader._list_changes, posteriors, dates))
        numbers = [posterior.count_changes() for posterior in posteriors]
        expected = [float(p @ np.arange(len(p))) for p in numbers]
        reader.change_points_ = tables[0] if is_single else tables
        reader.n_changes_distribution_ = numbers[0] if is_single else numbers
        reader.n_changes_ = expected[0] if is_single else expected
        return take_fit(self, reader)

    def _warn_of_length(self, divisions: list[Any]) -> None:
        """Warn if the most probable division has parts of the largest length."""
        if self.max_length is None:
            return
        m, g = self._best_model
        parts = [np.diff([0, *each[m].best(g), each[m].n_steps]) for each in divisions]
        if np.any(np.concatenate(parts) == self.max_length):
            warn_user(
                "ChangePointDetector: the most probable division has parts of "
                f"max_length={self.max_length} steps, so longer ones may have been cut. Raise "
                "max_length, unless no part can be longer.",
                UserWarning,
            )

    def fit_predict(self, X: Any, y: Any = None, *, n_parts: int | None = None) -> Any:
        """Find the changes of sequences, and return the most probable ones, as `predict` does.

        Parameters
        ----------
        X, y : as in `fit`
        n_parts : as in `predict`
        """
        self.fit(X, y)
        return self.predict(X, n_parts=n_parts, known=y if self.use_y else None)

    def predict(self, X: Any, *, n_parts: int | None = None, known: Any = None) -> Any:
        """Return the changes of the most probable division: the first steps of new parts.

        It is the most probable division under the model and the probability of a change that
        explain the data of the fit best.

        Parameters
        ----------
        X : as in `fit`
        n_parts : int or None, default=None
            Number of parts, one more than changes. None: any number.
        known : as y in `fit`
            Known changes, also if `use_y` is False.

        Returns
        -------
        list of (n_changes,) arrays of int, or for a single array one of them
        """
        divisions, _, is_single = self._divide_all(X, known)
        m, g = self._best_model
        if n_parts is None:
            found = [each[m].best(g) for each in divisions]
        else:
            n = check_how_many(n_parts, "n_parts", 1, 2**31 - 1, "parts")
            found = [each[m].best_of(n) for each in divisions]
        return found[0] if is_single else found

    def predict_proba(self, X: Any, *, known: Any = None) -> Any:
        """Return the probability that a new part starts at each step, given the whole sequence.

        The first step of a sequence has 0. The sum over a sequence is the expected number of
        changes.

        Parameters
        ----------
        X : as in `fit`
        known : as in `predict`

        Returns
        -------
        list of (T_i,) arrays, or for a single array (T,)
        """
        divisions, panel, is_single = self._divide_all(X, known)
        found = [np.asarray(_Posterior(self, each).change_probabilities) for each in divisions]
        return split(np.concatenate(found), panel.ptr, is_single)

    def tabulate(self, X: Any, *, known: Any = None) -> Any:
        """Return the changes of the most probable division, as `change_points_` has those of fit.

        Parameters
        ----------
        X : as in `fit`
        known : as in `predict`

        Returns
        -------
        list of ChangeTable, or for a single array a ChangeTable
        """
        divisions, panel, is_single = self._divide_all(X, known)
        posteriors = [_Posterior(self, each) for each in divisions]
        tables = list(map(self._list_changes, posteriors, find_dates(X, panel, is_single)))
        return tables[0] if is_single else tables

    def transform(self, X: Any, *, known: Any = None) -> Any:
        """Return the mean at each step, that of its part in the most probable division.

        Parameters
        ----------
        X : as in `fit`
        known : as in `predict`

        Returns
        -------
        list of (T_i, n) arrays, or for a single array (T, n)
            Levels, lines, rates, probabilities of 1, or shares of symbols. Data frames of pandas
            become data frames with the same index.
        """
        divisions, _, is_single = self._divide_all(X, known)
        m, g = self._best_model
        found = [_draw(each[m], each[m].best(g)) for each in divisions]
        frames = [X] if is_single else X
        found = [
            dress(means, frame, self.get_feature_names_out)
            for means, frame in zip(found, frames, strict=True)
        ]
        return found[0] if is_single else found

    def sample(
        self, X: Any, n_samples: int = 1, *, known: Any = None, random_state: Any = None
    ) -> Any:
        """Draw divisions from their posterior distribution, independently and exactly.

        Parameters
        ----------
        X : as in `fit`
        n_samples : int, default=1
        known : as in `predict`
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        list of `n_samples` arrays of changes, or for several sequences a list of such lists
        """
        n = check_how_many(n_samples, "n_samples", 1, 2**31 - 1, "samples")
        divisions, _, is_single = self._divide_all(X, known)
        rng = np.random.default_rng(make_seed_sequence(random_state))
        found = []
        for each in divisions:
            cells = rng.choice(self._weights.size, size=n, p=self._weights.ravel())
            drawn: list[Any] = [None] * n
            for cell in np.unique(cells):
                m, g = np.unravel_index(cell, self._weights.shape)
                places = np.flatnonzero(cells == cell)
                draws = each[m].sample(int(g), len(places), rng)
                for place, changes in zip(places, draws, strict=True):
                    drawn[place] = changes
            found.append(drawn)
        return found[0] if is_single else found

    def score(self, X: Any, y: Any = None) -> float:
        """Return the exact log evidence per step; higher is better.

        It is the logarithm of the probability (or density) of X, summed over all divisions and
        averaged over models as in the fit. Emissions of the same data can be compared by it.

        Parameters
        ----------
        X : as in `fit`
        y : ignored
            Lengths of the parts of a single array are refused, as in `fit`.

        Returns
        -------
        float
            In nats, divided by the number of steps at which anything was observed. The evidence has
            power 1 here, whatever `power` is.

        Raises
        ------
        ValueError
            If nothing was observed at any step, or X is invalid.
        """
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        check_no_lengths(y, panel, is_single)
        n_steps = np.count_nonzero(~np.isnan(panel.values).all(axis=1))
        if n_steps == 0:
            raise ValueError(
                "X holds nothing but missing values (NaN): its log evidence per observed step is "
                "not defined."
            )
        with np.errstate(divide="ignore"):
            log_weights = np.log(self._weights)
        total = 0.0
        for part, unknown in zip(panel, self._check_known(None, panel.ptr), strict=True):
            divisions = self._divide(part, unknown, power=1.0)
            constants = np.array([each.spans.constant for each in divisions])[:, np.newaxis]
            total += logsumexp(self._log_evidence(divisions) + constants + log_weights)
        return float(total / n_steps)

    def filter_update(self, state: RunLengths | None, x: Any) -> RunLengths:
        """Return how long the current part of a series has lasted, after one more step.

        It is Bayesian online change point detection: steps come one by one, and the settings,
        scales and weights of models are those of the fit.

        Parameters
        ----------
        state : RunLengths or None
            The result of the previous call; None for the first step of a series.
        x : (n_features,) or (1, n_features) array-like, or data frame of one row
            The observation. NaN is a missing value.

        Returns
        -------
        RunLengths
            The new state; the old one does not change. Its attribute ``proba`` has the
            probabilities that the current part began 0, 1, 2, ... steps before this one, so
            ``proba[:5].sum()`` is that of a change at one of the last five steps. It can be
            pickled.

        Raises
        ------
        ValueError
            If x is invalid, or `state` is not of a model with this number of columns, models and
            probabilities of a change.

        Notes
        -----
        The current part is not over, so it may be shorter than `min_length`. Otherwise these are
        the probabilities of the last part in a series that ends here. An update takes time in
        proportion to the steps that the current part may have.

        Examples
        --------
        >>> import numpy as np
        >>> from skdp.sequence import ChangePointDetector
        >>> rng = np.random.default_rng(0)
        >>> x = np.repeat([0.0, 6.0, 1.0], 40) + rng.normal(size=120)
        >>> detector = ChangePointDetector("gaussian").fit(x.reshape(-1, 1))
        >>> state = None
        >>> for value in [0.3, -0.5, 0.8, 6.2, 5.1]:
        ...     state = detector.filter_update(state, [value])
        >>> int(state.proba.argmax())  # the part began a step before the last one
        1
        """
        check_is_fitted(self)
        row = self._check_panel(as_row(x, self), reset=False)[0].values
        rule, used = self._rates, np.flatnonzero(self._weights.sum(axis=1) > _SMALLEST_WEIGHT)
        if state is None:
            begin = RunningParts(np.zeros(1, dtype=np.int64), np.zeros((1, len(rule.rates))))
            state = RunLengths(np.ones(1), 0, row[:0], (begin,) * len(used))
        elif (
            not isinstance(state, RunLengths)
            or state._values.shape[1:] != row.shape[1:]
            or [each.logs.shape[1] for each in state._parts] != [len(rule.rates)] * len(used)
        ):
            raise ValueError(
                "state must be a result of filter_update of this estimator since its last fit, or "
                "None for the first step of a series."
            )
        n, values = state.n_steps + 1, np.concatenate([state._values, row])
        offset = n - len(values)
        # With "auto", values depend on the two after them.
        first = max(n - 2 if self.emission == "auto" else n - 1, 1) - offset
        proba, found = np.zeros(len(values)), []
        for m, parts in zip(used, state._parts, strict=True):
            own = parts._replace(starts=parts.starts - offset)
            own, shares = go_on(
                self._models[m].of(values), rule, own, first, len(values), self._power
            )
            proba[len(values) - 1 - own.starts] += shares @ self._weights[m]
            found.append(own._replace(starts=own.starts + offset))
        longest = n - min(int(each.starts[0]) for each in found)
        return RunLengths(proba[:longest] / proba.sum(), n, values[-longest:], tuple(found))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X. None: `feature_names_in_`, or x0, x1, ...

        Returns
        -------
        (n,) array of str objects
        """
        check_is_fitted(self)
        names = list_names(self) if input_features is None else input_features
        if self.emission == "categorical":
            known = vars(self).get("categories_")
            sizes = self._models[0].sizes
            symbols = [range(n) if known is None else known[d] for d, n in enumerate(sizes)]
            names = [
                f"{name}={s}" for name, column in zip(names, symbols, strict=True) for s in column
            ]
        return np.array([str(name) for name in names], dtype=object)

    # Parameters and data

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that do not fit together."""
        if self.emission in _DISCRETE:
            for name, default in (("trend", "auto"), ("autocorrelation", 0.0)):
                if getattr(self, name) != default:
                    raise ValueError(
                        f"{name}={getattr(self, name)!r} is for numbers, emission='gaussian' or "
                        f"'auto', not for emission={self.emission!r}."
                    )
        if self.max_length is not None and self.max_length < self.min_length:
            raise ValueError(
                f"max_length={self.max_length} must be at least min_length={self.min_length}."
            )
        if not isinstance(self.change_probability, str | Real):
            check_beta_prior(self.change_probability, "change_probability")

    def _check_panel(self, X: Any, *, reset: bool) -> tuple[SequencePanel, bool]:
        """Return X as a panel of values that the emission takes."""
        if _is_ambiguous(X, reset):
            raise ValueError(
                "X is a list of lists, which may be the steps of one sequence, or sequences: pass "
                "np.array(X) for steps, or [np.array(x) for x in X] for sequences."
            )
        X = code_categories(self, self.emission, X, reset=reset, allow_missing=True)
        panel, is_single = check_panel(
            self, X, reset=reset, ensure_all_finite="allow-nan",
            accept_tokens=self.emission == "categorical",
        )  # fmt: skip
        warn_of_times(self, X)
        check_scale(panel.values)
        if self.emission in _DISCRETE:
            self._check_discrete(panel.values, reset)
        return panel, is_single

    def _check_discrete(self, values: Floats, reset: bool) -> None:
        """Raise ValueError for values that a discrete emission cannot have."""
        seen = values[~np.isnan(values)]
        what, largest = "integers from 0", 2.0**31
        if self.emission == "bernoulli":
            what, largest = "0 and 1", 1.0
        wrong = (seen < 0.0) | (seen > largest) | (seen != np.floor(seen))
        if wrong.any():
            raise ValueError(
                f"emission={self.emission!r}: X must hold {what}, got {seen[np.argmax(wrong)]:g}."
            )
        if self.emission == "categorical" and not reset:
            known = np.asarray(self._models[0].sizes)
            with np.errstate(invalid="ignore"):
                new = (values >= known).any(axis=0)
            if new.any():
                d = int(np.argmax(new))
                raise ValueError(
                    f"X: column {d} has the symbol {np.nanmax(values[:, d]):g}, but only "
                    f"{known[d]} symbols are known from the fit."
                )
        if self.emission == "multinomial":
            partly = np.isnan(values).any(axis=1) & ~np.isnan(values).all(axis=1)
            if partly.any():
                raise ValueError(
                    f"emission='multinomial': row {int(np.argmax(partly))} of X has missing values "
                    "and counts; only whole rows may be missing."
                )

    def _list_models(self, panel: SequencePanel) -> list[Any]:
        """Return the models that are averaged."""
        values = panel.values
        if self.emission == "poisson":
            means = np.nanmean(values, axis=0)
            return [PoissonSpanModel(1.0, 1.0 / np.where(means > 0.0, means, 1.0))]
        if self.emission in _DISCRETE:
            are_counts, is_binary = (self.emission == kind for kind in ("multinomial", "bernoulli"))
            if are_counts:
                sizes = np.array([values.shape[1]])
            elif is_binary:
                sizes = np.full(values.shape[1], 2)
            else:
                sizes = np.nanmax(values, axis=0).astype(np.int64) + 1
                for d, known in enumerate(vars(self).get("categories_", ())):
                    sizes[d] = max(sizes[d], len(known))
            return [CellModel(prior, sizes, are_counts, is_binary) for prior in _PRIORS]
        is_auto = self.emission == "auto"
        center = np.nanmedian(values, axis=0)
        scale = find_scale(values - center)
        scale = np.where(scale > 0.0, scale, 1.0)
        clip = np.full(len(center), np.inf)
        if is_auto:
            clip = CLIP * find_scale(np.concatenate([x - smooth(x) for x in panel]))
        trends = {"auto": (False, True), "level": (False,), "linear": (True,)}[self.trend]
        phi: Any = self.autocorrelation
        return [
            GaussianSpanModel(
                center,
                scale,
                clip,
                is_linear,
                correlation,
                noise,
                shape=1.0,
                level=_NOISE / noise,
                slope=_SLOPE * _NOISE / noise,
            )
            for is_linear in trends
            for correlation in (_AUTOCORRELATIONS if phi == "auto" else (float(phi),))
            for noise in ((_NOISE,) if is_auto else _NOISES)
        ]

    def _list_rates(self, lengths: Places) -> DivisionRule:
        """Return the lengths and the probabilities of a change, with their prior."""
        chance: Any = self.change_probability
        if isinstance(chance, str):
            least = min(_FEWEST_CHANGES / float(np.mean(lengths)), 0.5 * _LARGEST_RATE)
            rates = np.geomspace(least, _LARGEST_RATE, _N_RATES)
            prior = np.full(_N_RATES, 1.0 / _N_RATES)
        elif isinstance(chance, Real):
            rates, prior = np.array([float(chance)]), np.ones(1)
        else:
            p, q = chance
            rates, prior = spread_beta(p, q, int(np.max(lengths)))
        limit = _NO_LIMIT if self.max_length is None else int(self.max_length)
        return DivisionRule(int(self.min_length), limit, rates, prior)

    @property
    def _power(self) -> float:
        if self.power == "auto":
            return _POWER if self.emission == "auto" else 1.0
        return float(self.power)

    # Divisions

    def _divide(
        self, values: Floats, known: Places, power: float | None = None
    ) -> list[DividedSeries]:
        """Return the divisions of a sequence under each model."""
        power = self._power if power is None else power
        n, rule = len(values), self._rates
        found = [DividedSeries(model.of(values), rule, known, power) for model in self._models]
        if not np.isfinite(found[0].before.bases[-1]):
            raise ValueError(
                f"A sequence of {n} steps cannot be divided into parts of at least "
                f"min_length={self.min_length} and at most max_length={self.max_length} steps"
                f"{' with the known changes' if (known >= 0).any() else ''}."
            )
        return found

    def _divide_all(
        self, X: Any, known: Any
    ) -> tuple[list[list[DividedSeries]], SequencePanel, bool]:
        """Return the divisions of all sequences of X."""
        check_is_fitted(self)
        panel, is_single = self._check_panel(X, reset=False)
        parts = zip(panel, self._check_known(known, panel.ptr), strict=True)
        return [self._divide(*part) for part in parts], panel, is_single

    def _check_known(self, y: Any, ptr: Places) -> list[Places]:
        """Return the known changes of each sequence, -1 where nothing is known."""
        lengths = np.diff(ptr).tolist()
        parts = split_by_sequence(y, ptr) or [None] * len(lengths)
        return [
            np.full(n, -1)
            if part is None
            else check_known(part, n, "y", what="change", place=f"step of sequence {s}", largest=1)
            for s, (part, n) in enumerate(zip(parts, lengths, strict=True))
        ]

    def _log_evidence(self, divisions: list[DividedSeries]) -> Floats:
        """Return the log evidence of a sequence given a model and a probability of a change."""
        rule = divisions[0].rule
        found = np.array([each.log_evidence for each in divisions]) - np.log(rule.prior)
        if rule.min_length > 1 or self.max_length is not None:
            found -= rule.log_allowed(divisions[0].n_steps)
        return found

    @property
    def _best_model(self) -> tuple[int, int]:
        m, g = np.unravel_index(int(np.argmax(self._weights)), self._weights.shape)
        return int(m), int(g)

    def _list_changes(self, posterior: _Posterior, dates: Any) -> ChangeTable:
        """Return the table of the changes of a sequence."""
        m, g = self._best_model
        division = posterior.divisions[m]
        changes = division.best(g)
        intervals = find_intervals(np.asarray(posterior.change_probabilities), changes)
        rows = []
        for k, probability in enumerate(posterior.change_in(intervals)):
            first, last = intervals[k].tolist()
            known = (first, last), float(probability), *posterior.sizes(first, last)
            when = () if dates is None else (dates[changes[k]], (dates[first], dates[last]))
            rows.append(ChangePoint(int(changes[k]), *known, *when))
        return ChangeTable(rows, self.get_feature_names_out().tolist())


def _draw(division: DividedSeries, changes: Places) -> Floats:
    """Return the posterior mean at each step, (T, C)."""
    bounds = np.concatenate([[0], changes, [division.n_steps]])
    first, last = division.spans.learn(bounds[:-1], bounds[1:]).means
    part = np.repeat(np.arange(len(first)), np.diff(bounds))
    share = (np.arange(division.n_steps) - bounds[part]) / np.diff(bounds)[part]
    return np.asarray(first[part] + share[:, np.newaxis] * (last - first)[part])


def _is_ambiguous(X: Any, reset: bool) -> bool:
    """Return whether X may hold steps or sequences: equal lists of texts, or one list in a fit."""
    if not isinstance(X, list | tuple) or not all(isinstance(row, list | tuple) for row in X):
        return False
    values = [value for row in X for value in row]
    if len({len(row) for row in X}) != 1 or len(X[0]) < 2 or any(map(is_list_like, values)):
        return False
    return (reset and len(X) == 1) or any(isinstance(value, str) for value in values)


def find_scale(values: Floats) -> Floats:
    """Return the standard deviation of columns without their tails, or with them if it is 0."""
    ends = np.nanquantile(values, [_TAIL, 1.0 - _TAIL], axis=0)
    scale = np.nanstd(np.clip(values, *ends), axis=0)
    return np.where(scale > 0.0, scale, np.nanstd(values, axis=0))


def spread_beta(p: float, q: float, n_steps: int) -> tuple[Floats, Floats]:
    """Return probabilities with the weights of a Beta(p, q) prior: the trapezoid rule of logits."""
    ends = np.array([logit(betaincinv(p, q, _TINY)), -logit(betaincinv(q, p, _TINY))])
    ends = np.clip(ends, -_LARGEST_LOGIT, _LARGEST_LOGIT)
    # The rule is exact to ten digits if steps are shorter than the posterior is wide.
    width = 1.6 / np.sqrt(n_steps + p + q)
    most = _MOST_RATES if n_steps <= _SHORT else _MOST_RATES // 3
    logits = np.linspace(ends[0], ends[1], min(int(np.ceil((ends[1] - ends[0]) / width)) + 2, most))
    logs = p * log_expit(logits) + q * log_expit(-logits)
    return expit(logits), np.exp(logs - logsumexp(logs))


_TINY = 1e-13
_LARGEST_LOGIT = 36.0
_MOST_RATES, _SHORT = 180, 1000
"""Most nodes of a Beta prior, and the length of series from which on a third of them are used."""
