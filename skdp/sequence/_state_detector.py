"""The states of recordings, and where they change."""

from __future__ import annotations

import warnings
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_entries, check_scale
from skdp._fit._estimator import warn_of_times
from skdp._numeric import Floats, Places
from skdp._numeric._random import make_seed_sequence
from skdp._sklearn_compat import EstimatorMixin, Interval, StrOptions, validate_parameters
from skdp.data import SequencePanel, check_panel
from skdp.data._sequence_panel import split
from skdp.emissions._common._columns import SPREAD, InMemoryRows, find_steps
from skdp.emissions._common._protocol import EmissionModel
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.preprocessing._window_features import WindowFeatures
from skdp.preprocessing._windows import (
    Steps,
    TooFewValuesError,
    WindowLayout,
    find_varying,
    has_waves,
)
from skdp.sequence._base import check_training_panel, list_names, take_fit
from skdp.sequence._change_point_detector import CLIP, find_scale
from skdp.sequence._divisions import ChangeTable, find_changes, find_dates, make_tables, smooth
from skdp.sequence._hdp_hmm_lt import HDPHMMLT
from skdp.sequence._hmm._messages import KnownStates, check_known_states

# Predictions of hidden Markov models with a part of the evidence.


@dataclass(frozen=True)
class _CoarseEmission:
    """An emission whose log densities are multiplied by a power below 1."""

    emission: EmissionModel
    power: float

    def log_obs(self, values: Floats) -> Floats:
        return self.power * self.emission.log_obs(values)


def coarsen(model: HDPHMMLT, power: float) -> HDPHMMLT:
    """Return a copy of a fitted model that gives each observation only `power` of its evidence."""
    # Only predictions of states and changes are meant to be used.
    coarse = copy(model)
    coarse.samples_ = [
        replace(sample, emission=_CoarseEmission(sample.emission, power))  # type: ignore[arg-type]
        for sample in model.samples_
    ]
    return coarse


def decode_with(model: HDPHMMLT, observations: SequencePanel, known: Places | None) -> Places:
    """Return the most probable state of each observation, given `known` states (-1: unknown)."""
    if known is None:
        return np.concatenate(model.predict(observations))
    states = KnownStates(known, model.n_components)
    probabilities = model._mean_of_samples("posteriors", observations, states)
    return np.asarray(probabilities.argmax(axis=1))


# A criterion by which segmentations of the same observations are compared.
#
# Successive observations of a recording depend on each other beyond their states: a level drifts,
# and windows overlap. A hidden Markov model without this dependence explains a drift by many
# states. So the residuals of the states' means are an autoregression of order one, with a
# coefficient for each column and a covariance for each state:
#
#     x_t - m(z_t) = a (x_t-1 - m(z_t-1)) + e_t,  e_t ~ N(0, S(z_t))
#
# Over a gap of k steps, a^k and the variance of k steps take the places of a and S(z_t).


_SHRINKAGE = 0.05
"""Variance, relative to that of a column, of the pseudo-observations added to each covariance: a
state of a few equal steps must not have an unbounded density."""


_LONGEST_MEMORY = 0.999


class Residuals(NamedTuple):
    """What is left of observations when the means of their states are subtracted."""

    now: Places  # (n,) complete observations after another one in their sequence
    lags: Places  # (n,) how many steps ago that one was
    before: Floats  # (n, D) residuals of the earlier ones
    after: Floats  # (n, D) residuals of these

    @classmethod
    def of(cls, values: Floats, ptr: Places, states: Places) -> Residuals:
        """Return the residuals of observations as in `judge_states`."""
        complete = np.flatnonzero(~np.isnan(values).any(axis=1))
        used, numbers = np.unique(states[complete], return_inverse=True)
        residuals = values[complete]
        for k in range(len(used)):
            residuals[numbers == k] -= residuals[numbers == k].mean(axis=0)
        sequences = np.searchsorted(ptr, complete, side="right")
        follows = np.flatnonzero(sequences[1:] == sequences[:-1]) + 1
        now, last = complete[follows], complete[follows - 1]
        return cls(now, now - last, residuals[follows - 1], residuals[follows])

    @property
    def usual_lag(self) -> int:
        """The lag with the most pairs of observations; the shortest of them."""
        return max(int(np.bincount(self.lags, minlength=2).argmax()), 1)

    @property
    def correlations(self) -> Floats:
        """The share of a residual that is left after the usual lag, from 0 to 1, (D,)."""
        usual = self.lags == self.usual_lag
        before, after = self.before[usual], self.after[usual]
        power = np.maximum((before**2).sum(axis=0), np.finfo(float).tiny)
        return np.clip((before * after).sum(axis=0) / power, 0.0, 1.0)

    @property
    def memory(self) -> Floats:
        """The coefficient of the autoregression of each column, from 0 to .999, (D,)."""
        return np.minimum(self.correlations ** (1.0 / self.usual_lag), _LONGEST_MEMORY)

    def noise(self) -> tuple[Floats, Floats]:
        """Return the noise of each observation scaled to one step, and its scale, (n, D) each."""
        memory, lags = self.memory, self.lags[:, np.newaxis]
        # After k steps, noise of variance s has the variance s (1 - a^2k) / (1 - a^2).
        scales = np.sqrt((1.0 - memory ** (2 * lags)) / (1.0 - memory**2))
        return (self.after - memory**lags * self.before) / scales, scales


def judge_states(
    values: Floats, ptr: Places, states: Places, cost: float, spread: Any = 0.0
) -> float:
    """Return a penalized log likelihood of the complete steps given states; higher is better.
    Values on a grid have variances `spread` about them, (D,).
    """
    variances = np.nanvar(values, axis=0)
    values, spread = values[:, variances > 0.0], (spread + 0.0 * variances)[variances > 0.0]
    variances = variances[variances > 0.0]
    is_inner = np.ones(len(values), dtype=bool)
    is_inner[ptr[:-1]] = False
    n_changes = np.count_nonzero((np.diff(states) != 0) & is_inner[1:])
    used = np.unique(states[~np.isnan(values).any(axis=1)])
    residuals = Residuals.of(values, ptr, states)
    noise, scales = residuals.noise()
    least = np.diag(spread * (1.0 + residuals.memory**2))
    n_columns = values.shape[1]
    n_parameters = n_columns * (1 + len(used))
    log_likelihood = -np.log(scales).sum()
    n_pseudo = n_columns + 2
    prior = n_pseudo * _SHRINKAGE * np.diag(variances)
    for state in used:
        errors = noise[states[residuals.now] == state]
        if len(errors) == 0 or n_columns == 0:
            continue
        scatter = errors.T @ errors + len(errors) * least
        covariance = (scatter + prior) / (len(errors) + n_pseudo)
        log_likelihood -= 0.5 * len(errors) * np.linalg.slogdet(covariance)[1]
        log_likelihood -= 0.5 * np.trace(np.linalg.solve(covariance, scatter))
        n_parameters += n_columns * (n_columns + 1) // 2
    # With a cost of 1/2, this is the Bayesian information criterion.
    return float(log_likelihood - cost * (n_parameters + n_changes) * np.log(len(values)))


# Known states of steps, or -1, for the windows that represent them.


class KnownRanges(NamedTuple):
    """Known states within ranges of successive places."""

    firsts: Places  # range i holds the known places number firsts[i] to lasts[i] - 1
    lasts: Places
    agree: np.ndarray  # whether all known places of a range have the same state

    @classmethod
    def of(cls, known: Places, begins: Places, ends: Places) -> KnownRanges:
        """Return the known states, or -1, of places from `begins` to ``ends - 1``."""
        places = np.flatnonzero(known >= 0)
        changes = np.concatenate([[0], np.cumsum(np.diff(known[places]) != 0)])
        firsts, lasts = np.searchsorted(places, begins), np.searchsorted(places, ends)
        last = np.minimum(np.maximum(lasts - 1, firsts), len(changes) - 1)
        agree = changes[last] == changes[np.minimum(firsts, len(changes) - 1)]
        return cls(firsts, lasts, agree)


def know_windows(known: Places, layout: WindowLayout) -> Places:
    """Return the known state of each window, or -1 if there is none or its steps disagree, (W,)."""
    # A window represents the steps to which its center is nearest, and one of these must be known.
    # If any of the known steps that it holds disagree, it lies across a change.
    begins = layout.first_steps
    ends = np.append(begins[1:], layout.step_ptr[-1])
    own = KnownRanges.of(known, begins, ends)
    whole = KnownRanges.of(known, np.minimum(begins, layout.starts), np.maximum(ends, layout.ends))
    return _states_of(known, own, whole.agree)


def know_groups(known: Places, rows: Places, ptr: Places) -> Places:
    """Return the known state, or -1, that each of the windows `rows` shares up to the next one."""
    # `rows` has the first window of each sequence, so that no range extends into the next one.
    own = KnownRanges.of(known, rows, np.append(rows[1:], ptr[-1]))
    return _states_of(known, own, own.agree)


def _states_of(known: Places, ranges: KnownRanges, agree: np.ndarray) -> Places:
    """Return the first known state of each range, or -1 if there is none or they do not agree."""
    states = np.append(known[known >= 0], -1)[ranges.firsts]
    return np.where(agree & (ranges.lasts > ranges.firsts), states, -1)


def write_known(labels: Places, known: Places, layout: WindowLayout) -> None:
    """Write known states to labels; in a window with known steps, the nearest one decides."""
    places = np.flatnonzero(known >= 0)
    window = layout.spread(np.arange(len(layout.starts)))
    steps, last = np.arange(len(labels)), len(places) - 1
    number = np.searchsorted(places, steps, side="right")
    before, after = places[np.maximum(number - 1, 0)], places[np.minimum(number, last)]
    distances = [
        np.where(window[place] == window, np.abs(steps - place), len(labels))
        for place in (before, after)
    ]
    nearest = np.where(distances[0] <= distances[1], before, after)
    is_near = np.minimum(*distances) < len(labels)
    labels[is_near] = known[nearest[is_near]]


# Values without the autocorrelation of their noise.


_CLEAR = 2.0
"""Smallest coefficient, in standard errors, that is not taken as 0."""


def learn_memory(panel: SequencePanel, states: Places) -> Floats:
    """Return the share of a residual that the next one repeats, (D,); 0 if it is not clear."""
    residuals = Residuals.of(panel.values, panel.ptr, states)
    n_pairs = np.count_nonzero(residuals.lags == residuals.usual_lag)
    is_clear = residuals.correlations * np.sqrt(n_pairs) >= _CLEAR
    return np.where(is_clear, residuals.memory, 0.0)


def forget(panel: SequencePanel, memory: Floats) -> SequencePanel:
    """Return y_t = x_t - a x_t-1, with a = `memory`; x_t replaces a missing x_t-1. If x_t - m = a
    (x_t-1 - m) + e_t in a state of mean m, y_t = (1 - a) m + e_t has independent noise.
    """
    before = np.roll(panel.values, 1, axis=0)
    before[panel.ptr[:-1]] = np.nan
    before = np.where(np.isnan(before), panel.values, before)
    # The first value after a change still has its share of the previous state.
    return SequencePanel(panel.values - memory * before, panel.ptr)


# Values without the tails of their noise.


def _find_middle(panel: SequencePanel) -> Floats:
    """Return the median of the five steps around each step."""
    return np.concatenate([smooth(part) for part in panel])


def find_noise(panel: SequencePanel) -> Floats:
    """Return the deviation, without tails, of values from the median of five; inf if it is 0."""
    noise = find_scale(panel.values - _find_middle(panel))
    return np.where(noise > 0.0, noise, np.inf)


def limit_noise(panel: SequencePanel, noise: Floats) -> SequencePanel:
    """Return values at most `CLIP` deviations, or as far as in another column, from the median."""
    # Far values in one column are tails or errors, in two of them at the same step an event.
    middle = _find_middle(panel)
    apart = np.nan_to_num(np.abs(panel.values - middle) / noise)
    second = np.sort(apart, axis=1)[:, -2:-1] if apart.shape[1] > 1 else 0.0
    most = np.maximum(second, CLIP) * noise
    return SequencePanel(np.clip(panel.values, middle - most, middle + most), panel.ptr)


# Columns on coarse grids.


_WIDE_NOISE = 0.6
"""Deviation of noise, in steps of its grid, from which rounding does not matter."""


def find_coarse_steps(values: Floats) -> Floats:
    """Return the step of the grid on which each column lies, or 0 if its noise is wide, (D,)."""
    steps = find_steps(InMemoryRows(values))
    for d in np.flatnonzero(steps):
        column = values[~np.isnan(values[:, d]), d]
        deviation = 0.5 * np.sqrt(np.pi) * np.abs(np.diff(column)).mean()  # of normal noise
        if deviation > _WIDE_NOISE * steps[d]:
            steps[d] = 0.0
    return steps


# The estimator.


_EVIDENCE = 0.25
"""Share of the evidence of an observation, divided by the step, that predictions use: overlapping
windows and successive values repeat each other."""

_LEAST_OF_A_WINDOW = 0.9
"""Share of a window that a sequence holds at least. Part of a wave would resemble another wave, as
at the edge of a gap."""

_EVIDENCE_OF_CHANGES = 0.1
"""The same for probabilities of changes."""

_COST_OF_WINDOWS, _COST_OF_VALUES = 1.0, 0.5
"""Cost of a parameter in the criterion, in units of log N: windows overlap, so they are fewer than
N independent observations."""

_FEWEST = 100
"""Minimum number of observations that a step chosen by "auto" leaves in a longer recording."""

_N_WELL_SWEPT, _FEWEST_SWEEPS = 2000, 30
"""Number of observations up to which a chain has `max_iter` sweeps, and least number beyond: few
are enough for a chain that begins with the states of a coarser step."""

_N_DECODED, _FEWEST_SAMPLES, _MOST_SAMPLES = 100_000, 3, 20
"""Number of observations times samples with which states are found, and bounds on that of samples:
with more observations, parameters differ less between samples."""


class _CandidateModel(NamedTuple):
    """A fitted model, the states of all observations, and the criterion of the choice."""

    criterion: float
    step: int
    model: HDPHMMLT
    states: Places
    caught: list[Any]


class StateDetector(
    EstimatorMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Find the states of recordings, and the steps at which they change.

    A recording of a machine, a body or an animal passes through states, such as walking, jogging
    and running, which may return. Neither their number nor their order is known. `fit_predict`
    returns a state for each step, and `change_points_` the steps at which a new state begins.

    The states are those of an infinite hidden Markov model (`HDPHMMLT`) with strong stickiness. It
    observes features of windows (`WindowFeatures`) if X has waves that are short against their
    states, and the values themselves if X has levels. With ``features="auto"``, a column that jumps
    between long levels is judged by the noise around them: a machine that is switched on and off
    regularly has levels, not waves. A column that is constant in `fit` has no influence, not even
    on predictions for data in which it varies.

    Parameters
    ----------
    n_components : int, default=20
        Upper bound on the number of states. If at least half of the samples of `model_` use all of
        three or more, `fit` warns that it is too low.
    features : {"auto", "windows", "values"} or WindowFeatures, default="auto"
        What the states explain. "windows": features of windows by `WindowFeatures`, or by your own
        object of this class. "values": the values of each step. "auto": windows if at least half of
        the columns have a dominant period, or if successive values depend on each other in columns
        of which at most a fifth is missing; values if they are noise around levels, or if windows
        hold too few of the values between gaps, of which `fit` warns.
    stickiness : float, default=1e5
        kappa, the extra rate of staying in a state, from 0 to 1e8: a change lowers the log
        probability by about log(kappa).
    step : int or "auto", default="auto"
        The model learns from every `step`-th window or value: the larger, the coarser the states.
        Predictions use all of them. "auto": 1, 2, 4, ..., as long as 100 observations remain, are
        tried. The states of all windows or values are then compared under noise that depends on the
        noise before, with a penalty on states and changes; see Notes.
    use_y : bool, default=True
        Whether y of `fit` holds known states. False: y is ignored, for a Pipeline in which it
        belongs to a later step. If every state is known, the fit finds no others, and learns only
        transitions and distributions.
    max_iter : int, default=200
        Number of sweeps of each chain, for each step that is tried. If several are, chains of more
        than 2,000 observations begin with the states found so far, by coarser steps, and have fewer
        sweeps: in inverse proportion to the observations, but at least 30.
    n_chains : int, default=1
        Number of independent chains. States come from the chain with the highest mean log joint.
    n_jobs, random_state, verbose

    Attributes
    ----------
    labels_ : (T,) array of int, or list of (T_i,) arrays
        The state of each step of the training sequences. State 0 is the most frequent one, unless
        y holds known states, which keep their numbers.
    change_points_ : array of int, or list of arrays
        For each training sequence the steps at which another state begins. The first step does not
        count.
    change_intervals_ : ChangeTable, or list of them
        A table of these changes, as in `HDPHMMLT.change_intervals`, given all known states. If the
        states explain windows, intervals have a hop more on both sides, and there are no sizes.
        `position` is that of `change_points_`.
    features_ : WindowFeatures or None
        The fitted features; None if the states explain values.
    memory_ : (D,) array or None
        If the states explain values: the share a of its previous value that is subtracted from each
        value, for each column, from 0 to .999; `model_` explains x_t - a x_t-1. None if they
        explain windows.
    resolution_ : (D,) array or None
        If the states explain values: the step of the grid on which the values of each column lie,
        such as 1 for whole degrees, or 0 if there is none or noise is wider than .6 of a step, so
        that rounding does not matter. None if they explain windows.
    model_ : HDPHMMLT
        The fitted model of the windows, or of the values of the columns that vary.
    step_ : int
        The step, as chosen.
    criteria_ : dict of int to float
        The criterion of each step that was tried; higher is better. If values were tried with and
        without their previous ones, it is the higher of the two.
    n_active_components_ : int
        Number of states in `labels_`.
    n_iter_ : int
        Number of sweeps of this model.
    convergence_ : dict
        The numbers behind the ConvergenceWarnings of this model, by kind; empty without a warning.
    n_features_in_ : int
        Number D of columns of an observation.
    feature_names_in_ : (D,) array
        Only if X was a data frame, or a list of them, with string column names.

    See Also
    --------
    WindowFeatures : The features of windows alone, for other models.
    HDPHMMLT : The model, with all its settings.

    Notes
    -----
    A hidden Markov model takes observations as independent given the states. Overlapping windows
    and drifting sensors are not, and the model then explains their dependence by more states. Using
    every c-th observation is a coarsened posterior: the same model with 1 / c of the evidence.
    States and tables of changes use all observations, each with 1 / (4 c) of its evidence, and
    `predict_change_proba`, which is for any place, with 1 / (10 c). The coarseness is chosen by a
    Gaussian likelihood whose residuals are autoregressive of order one, with log N per parameter
    and per change as the penalty, or half as much for values.

    Values are then explained once more, without what their noise repeats: from each value its
    share of the previous one is subtracted, the coefficient a of that autoregression, column by
    column. So a sensor that drifts hardly counts, while one with levels in noise does. The
    criterion decides whether these states are better. Windows are taken as they are.

    Noise may have long tails, and sensors make gross errors, which normal states would explain by
    states of a few steps. So a value counts as at most four standard deviations of the noise from
    the median of the five around it, as in `ChangePointDetector`, or as far as another column is at
    the same step: a value that is far in one column is an error, in several an event. States that
    last one or two steps of noisy values in a single column are therefore not found; ``HDPHMMLT``
    finds them. In 9,000 steps or more of very skewed noise, such as lognormal, parts that differ
    by chance may still be states.

    The constants (two periods in a window, half a window as its hop, five components, the
    stickiness, at least 100 observations, the shares of the evidence, the penalties) were chosen on
    one half of a published benchmark.

    A sequence shorter than 90 % of a window has too little of a wave to recognize it: its steps
    have the state with the highest prior probability.

    Probabilities are those of the model and take the states of stored samples into account, but not
    the choices of window and step. A probable change is a change of the signal, which a user may
    not name: in some recordings of the benchmark, windows before and after probable changes
    differ as clearly as those around the changes of the authors, who do not list them. Known states
    in `y` show the model which differences matter.

    Time and memory are proportional to the number of steps: for a million steps of one column 30 to
    50 seconds if the states explain windows, 80 to 120 if they explain values, or twice that if
    these are explained once more, with 1 GB.

    References
    ----------
    J. W. Miller, D. B. Dunson (2019), Robust Bayesian inference via coarsening, Journal of the
    American Statistical Association: coarsened posteriors.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import StateDetector
    >>> t = np.arange(3000)
    >>> is_other = (1000 <= t) & (t < 2000)
    >>> wave = np.where(is_other, np.sin(t / 6) ** 3, np.sin(t / 6))
    >>> x = wave + 0.1 * np.random.default_rng(0).standard_normal(3000)
    >>> detector = StateDetector(random_state=0).fit(x.reshape(-1, 1))
    >>> detector.n_active_components_, detector.change_points_
    (2, array([1007, 2033]))
    """

    memory_: Floats | None
    resolution_: Floats | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "features": [StrOptions({"auto", "windows", "values"}), WindowFeatures],
        "stickiness": [Interval(Real, 0, 1e8, closed="both")],
        "step": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "use_y": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
        "verbose": [Interval(Integral, -1, None, closed="left"), "boolean"],
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        features: Any = "auto",
        stickiness: float = 1e5,
        step: int | str = "auto",
        use_y: bool = True,
        max_iter: int = 200,
        n_chains: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the states of sequences.

        Parameters
        ----------
        X : SequencePanel, list of sequences, or (T, n_features) array
            As in `HDPHMMLT.fit`. NaN is a missing value.
        y : array of T integers, list of them or None, default=None
            Known states of the steps, as in `HDPHMMLT.fit`. Known states keep their numbers, and
            known steps keep their states in `labels_`. A window has a known state if one of the
            steps to which its center is nearest is known and no known step in the window has
            another state.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid, a column of X holds nothing but missing values, or y
            holds something other than states. The estimator is left unchanged, as it is by an
            interrupt.

        Warns
        -----
        ConvergenceWarning
            As `HDPHMMLT.fit`.
        UserWarning
            If X has waves, but too many gaps for windows: then the states explain values.
        """
        validate_parameters(self)
        check_entries(y)
        reader = clone(self)
        panel, is_single = reader._check_panel(X, reset=True)
        check_training_panel(reader, panel, is_single, y)
        seeds = make_seed_sequence(self.random_state).generate_state(2).tolist()
        reader._columns = find_varying(panel.values)
        reader.features_ = self._fit_features(panel, seeds[0])
        reader.memory_ = reader.resolution_ = None
        if reader.features_ is None:
            reader.memory_ = np.zeros(panel.n_features)
            reader.resolution_ = find_coarse_steps(panel.values)
            reader._noise = find_noise(panel)
        known = check_known_states(y if self.use_y else None, panel.ptr, self.n_components)
        observations, layout = reader._observe(panel)
        known_windows = None if known is None else know_windows(known.states, layout)
        states, caught = reader._choose_model(observations, layout, seeds[1], known_windows)
        labels = layout.spread(states)
        if known is not None:
            write_known(labels, known.states, layout)
        reader.n_active_components_ = len(np.unique(labels))
        reader.labels_ = split(labels, panel.ptr, is_single)
        if reader.memory_ is not None:
            observations, _ = reader._observe(panel)  # without what the fit has found to repeat
        tables = reader._list_changes(
            observations, layout, labels, find_dates(X, panel, is_single), known
        )
        changes = [table.positions for table in tables]
        reader.change_intervals_ = tables[0] if is_single else tables
        reader.change_points_ = changes[0] if is_single else changes
        take_fit(self, reader)
        for warning in caught:
            warnings.warn(warning.message, stacklevel=2)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Find the states of sequences, and return them, as `predict` does, with those of y.

        Parameters
        ----------
        X, y : as in `fit`
        """
        return self.fit(X, y).labels_

    def predict(self, X: Any) -> Any:
        """Return the state of each step: the one with the highest posterior probability.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (T_i,) arrays of int, or for a single array (T,)
        """
        return self._spread(X, "predict")

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the states at each step, given the whole sequence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (T_i, n_components) arrays, or for a single array (T, n_components)
        """
        return self._spread(X, "predict_proba")

    def predict_change_proba(self, X: Any) -> Any:
        """Return the probability that the state changes at each step, given the whole sequence.

        With windows, a change is located between the centers of two windows: the step in the middle
        has its probability, and the steps between have 0. The first step of a sequence has 0. The
        sum over a sequence is the expected number of changes. Observations have less evidence than
        in `predict`, see Notes of the class, so a change of the states may have a low probability:
        for these changes use `change_intervals`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (T_i,) arrays, or for a single array (T,)
        """
        check_is_fitted(self)
        panel, is_single = self._check_panel(X)
        observations, layout = self._observe(panel)
        out = np.zeros(len(panel.values))
        changes = self._join("predict_change_proba", observations, _EVIDENCE_OF_CHANGES)
        out[layout.first_steps] = changes
        return split(out, panel.ptr, is_single)

    def change_intervals(self, X: Any) -> Any:
        """Return a table of the changes of the states of `predict`, as `change_intervals_` has
        those of fit.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of ChangeTable, or for a single array a ChangeTable
        """
        check_is_fitted(self)
        panel, is_single = self._check_panel(X)
        observations, layout = self._observe(panel)
        labels = layout.spread(self._join("predict", observations))
        tables = self._list_changes(observations, layout, labels, find_dates(X, panel, is_single))
        return tables[0] if is_single else tables

    def transform(self, X: Any) -> Floats:
        """Return the expected share of time that each sequence spends in each state.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sequences, n_components) array
            For a single array, the probabilities of the states at each step, (T, n_components).
        """
        probabilities = self.predict_proba(X)
        if isinstance(probabilities, np.ndarray):
            return probabilities
        return np.array([part.mean(axis=0) for part in probabilities])

    @property
    def n_iter_(self) -> int:
        """Number of sweeps of the model."""
        return self.model_.n_iter_

    @property
    def convergence_(self) -> dict[str, dict[str, Any]]:
        """The numbers behind the ConvergenceWarnings of the model."""
        return self.model_.convergence_

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def _check_panel(self, X: Any, *, reset: bool = False) -> tuple[SequencePanel, bool]:
        panel, is_single = check_panel(self, X, reset=reset, ensure_all_finite="allow-nan")
        warn_of_times(self, X)
        check_scale(panel.values)  # before features of windows, which are sums of squares, too
        return panel, is_single

    def _fit_features(self, panel: SequencePanel, seed: int) -> WindowFeatures | None:
        """Return the features that the panel needs, fitted, or None if it needs none."""
        if not isinstance(self.features, str):
            return clone(self.features).fit(panel)
        features = WindowFeatures(random_state=seed)
        if self.features == "windows":
            return features.fit(panel)
        if self.features == "values" or not has_waves(
            Steps.of(panel.values, panel.ptr).values, panel.ptr, np.isnan(panel.values)
        ):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            with suppress(TooFewValuesError):
                features.fit(panel)
        if getattr(features, "_works", False):
            return features
        warnings.warn(
            "StateDetector: X seems to have waves, but too few values are observed next to each "
            "other for features of windows, so the states explain values. Fill short gaps in, for "
            "example by interpolation, or leave out columns that are hardly ever observed.",
            stacklevel=3,
        )
        return None

    def _observe(self, panel: SequencePanel) -> tuple[SequencePanel, WindowLayout]:
        """Return the observations of the model, and the steps that each of them represents."""
        if self.memory_ is not None:
            layout, memory = WindowLayout.of(panel.ptr, 1, 1), self.memory_
            panel = limit_noise(panel, self._noise)
            if self._columns is not None:
                panel = SequencePanel(panel.values[:, self._columns], panel.ptr)
                memory = memory[self._columns]
            return forget(panel, memory), layout
        windows, layout = self.features_.transform(panel), self.features_._lay(panel)
        is_short = layout.ends - layout.starts < _LEAST_OF_A_WINDOW * self.features_.window_
        if is_short.any():
            windows = SequencePanel(np.where(is_short[:, None], np.nan, windows.values), layout.ptr)
        return windows, layout

    def _choose_model(
        self, observations: SequencePanel, layout: WindowLayout, seed: int, known: Places | None
    ) -> tuple[Places, list[Any]]:
        """Fit models and keep the best; return its states of all observations, and its warnings."""
        self.criteria_: dict[int, float] = {}
        steps = np.zeros(observations.values.shape[1])  # of the grid of each column
        if self.resolution_ is not None:
            steps = self.resolution_[slice(None) if self._columns is None else self._columns]
        grid = steps, steps
        best = self._try_steps(observations, observations.values, layout, seed, known, grid)
        if self.memory_ is not None:
            memory = learn_memory(observations, best.states)
            if memory.any():
                rest = forget(observations, memory)
                # Both are judged by the values before a part of them was forgotten.
                grid = steps, steps * np.sqrt(1.0 + memory**2)
                other = self._try_steps(rest, observations.values, layout, seed, known, grid)
                if other.criterion > best.criterion:
                    best = other
                    self.memory_[slice(None) if self._columns is None else self._columns] = memory
        self.step_, self.model_ = best.step, best.model
        return best.states, best.caught

    def _try_steps(
        self,
        observations: SequencePanel,
        values: Floats,
        layout: WindowLayout,
        seed: int,
        known: Places | None,
        grid: tuple[Floats, Floats],
    ) -> _CandidateModel:
        """Fit models to every step-th observation; return that with the best states of `values`.
        `grid` has the steps on which values and observations lie.
        """
        steps, resolution = grid
        best: _CandidateModel | None = None
        n_samples = _N_DECODED // max(len(values), 1)
        n_samples = min(max(n_samples, _FEWEST_SAMPLES), _MOST_SAMPLES)
        for step in self._list_steps(observations)[::-1]:
            rows = layout.thin(step)
            some = _take(observations, rows)
            if step > 1 and np.isnan(some.values).all(axis=0).any():
                if self.step == "auto":
                    continue
                raise ValueError(
                    f"step={step} leaves no observed value of some column: choose another step."
                )
            own = None if known is None else know_groups(known, rows, observations.ptr)
            init: Any = "auto"
            max_iter = self.max_iter
            if best is not None and len(rows) > _N_WELL_SWEPT:
                init = np.split(best.states[rows], some.ptr[1:-1])
                max_iter = max(max_iter * _N_WELL_SWEPT // len(rows), min(max_iter, _FEWEST_SWEEPS))
            model = HDPHMMLT(
                self.n_components, emission=GaussianEmission(resolution=resolution),
                merge_overlapping=False,
                stickiness=self.stickiness, init=init, max_iter=max_iter, n_samples=n_samples,
                n_chains=self.n_chains, n_jobs=self.n_jobs, random_state=seed, verbose=self.verbose,
            )  # fmt: skip
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(some, None if own is None else np.split(own, some.ptr[1:-1]))
            model.set_params(init="auto")  # a clone is for other data
            states = decode_with(coarsen(model, _EVIDENCE / step), observations, known)
            cost = _COST_OF_WINDOWS if self.features_ is not None else _COST_OF_VALUES
            criterion = judge_states(values, observations.ptr, states, cost, SPREAD * steps**2)
            self.criteria_[step] = max(criterion, self.criteria_.get(step, -np.inf))
            if best is None or criterion >= best.criterion:
                best = _CandidateModel(criterion, step, model, states, caught)
        self.criteria_ = dict(sorted(self.criteria_.items()))
        assert best is not None  # a step of 1 is never left out
        return best

    def _list_steps(self, observations: SequencePanel) -> list[int]:
        if self.step != "auto":
            return [int(self.step)]
        most = max(len(observations.values) // _FEWEST, 1)
        return [2**i for i in range(most.bit_length())]

    def _join(
        self, method: str, observations: SequencePanel, evidence: float = _EVIDENCE
    ) -> NDArray[Any]:
        """Return the result of a method of the model for all observations."""
        model = coarsen(self.model_, evidence / self.step_)
        return np.concatenate(getattr(model, method)(observations))

    def _list_changes(
        self, observations: SequencePanel, layout: WindowLayout, labels: Any, dates: list[Any],
        known: KnownStates | None = None,
    ) -> list[ChangeTable]:  # fmt: skip
        """Return the table of the changes of labels of each sequence, given known states."""
        ptr, firsts = layout.step_ptr, layout.first_steps
        changes = find_changes(labels, ptr)
        are_between = np.isin(changes, firsts)  # known states may change within a window
        windows = np.searchsorted(firsts, changes[are_between])
        states = None
        if known is not None:
            states = KnownStates(know_windows(known.states, layout), self.n_components)
        # A change is asserted by states, so it is judged with their share of the evidence.
        model = coarsen(self.model_, _EVIDENCE / self.step_)
        found = model._judge_changes(observations, windows, states)
        intervals, probabilities = np.empty((len(changes), 2), np.int64), np.empty(len(changes))
        intervals[are_between], probabilities[are_between] = firsts[found[0]], found[1]
        names, sizes = [], np.zeros((len(changes), 3, 0))
        if self.memory_ is not None:
            names, sizes = list_names(self), np.zeros((len(changes), 3, self.n_features_in_))
            columns = slice(None) if self._columns is None else self._columns
            explained = self.model_._find_sizes(labels[changes - 1], labels[changes])
            sizes[:, :, columns] = explained / (1.0 - self.memory_[columns])
        else:  # changes of waves are found to within a hop
            s = np.searchsorted(ptr, changes, side="right") - 1
            intervals += self.features_.hop_ * np.array([-1, 1])
            intervals = intervals.clip(ptr[s, np.newaxis] + 1, ptr[s + 1, np.newaxis] - 1)
        if known is not None:
            _narrow(changes, intervals, probabilities, known.states, ~are_between)
        return make_tables(ptr, dates, changes, intervals, probabilities, sizes, names)

    def _spread(self, X: Any, method: str) -> Any:
        """Return the result of a method of the model for the steps of X."""
        check_is_fitted(self)
        panel, is_single = self._check_panel(X)
        observations, layout = self._observe(panel)
        return split(layout.spread(self._join(method, observations)), panel.ptr, is_single)


def _narrow(
    changes: Places, intervals: Places, probabilities: Floats, known: Places, are_sure: Any
) -> None:
    """Narrow intervals to steps between known states that differ: there a change is certain."""
    places = np.flatnonzero(known >= 0)
    number = np.searchsorted(places, changes)
    before, after = places[np.maximum(number - 1, 0)], places[np.minimum(number, len(places) - 1)]
    are_inside = (intervals[:, 0] <= before + 1) & (before < changes) & (after <= intervals[:, 1])
    sure = are_sure | (are_inside & (changes <= after) & (known[before] != known[after]))
    intervals[sure] = np.stack([before + 1, after], axis=1)[sure]
    probabilities[sure] = 1.0


def _take(panel: SequencePanel, rows: Places) -> SequencePanel:
    """Return a panel of some rows, in order, at least one of each sequence."""
    return SequencePanel(panel.values[rows], np.searchsorted(rows, panel.ptr))
