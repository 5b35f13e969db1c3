"""A transformer of sequences into features of their windows."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, clone
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_memory, check_scale, is_list_like, shorten
from skdp._fit._estimator import warn_of_counter, warn_of_times
from skdp._numeric._random import make_seed_sequence
from skdp._sklearn_compat import Interval, StrOptions, validate_parameters
from skdp.data import SequencePanel, check_panel
from skdp.data._sequence_panel import split
from skdp.preprocessing._panel_transformer import SequenceTransformer
from skdp.preprocessing._windows import (
    Convolutions,
    Features,
    Function,
    Spectrum,
    Steps,
    TooFewValuesError,
    WindowLayout,
    choose_features,
    find_observed,
    find_periods,
    find_varying,
)

_PERIODS = 2
_SHORTEST = 40
_LARGEST_SHARE = 6
"""A window chosen by "auto" holds two periods, at least 40 steps, and at most a sixth of the
longest sequence."""

_STEPS_OF_ROUNDING = 1.5
"""Windows of a wave hold no whole number of periods, and crossings of thresholds lie between steps:
so the shares of two windows differ by up to 0.9 steps for sines, and 1.5 for square waves, in the
quadratic mean over filters."""

_ADVICE = (
    "Fill short gaps in, for example by interpolation, or leave out columns and steps that are "
    "hardly ever observed."
)


class WindowFeatures(ClassNamePrefixFeaturesOutMixin, SequenceTransformer):
    """Turn sequences into features of overlapping windows.

    A recording of waves, such as an ECG or an accelerometer, has states that its single values do
    not show: in each state, the values run through a whole wave. Windows of several waves do show
    them. Each window becomes a row of numbers, so a sequence of T steps becomes a shorter sequence
    of windows, for `HDPHMMLT`, a mixture or a classifier. `StateDetector` combines this transformer
    with `HDPHMMLT`.

    Parameters
    ----------
    window : int or "auto", default="auto"
        Number of steps in a window. A shorter sequence has one window, which holds all of it.
        "auto": two dominant periods of X, at least 40 steps, but at most a sixth of the longest
        sequence. The period is the lag of the first high peak of the autocorrelation of the
        differences between steps; for several columns, the median.
    hop : int or "auto", default="auto"
        Number of steps from the beginning of a window to that of the next. "auto": half a window.
    features : {"convolutions", "spectrum"} or callable, default="convolutions"
        What to compute for a window. "convolutions": the shares of its steps at which `n_kernels`
        random dilated filters exceed thresholds, as in ROCKET; four of five filters ignore the
        level of the series. "spectrum": for each column the mean, the logarithm of the standard
        deviation, both in units of the standard deviation of the whole column in `fit`, and the
        square roots of the shares of power in bands of frequencies. A callable
        takes the (T, D) values of a window and returns a number or a one-dimensional array.
    n_kernels : int, default=200
        Number of random filters, which take turns in reading the columns that vary. Only for
        "convolutions".
    n_components : int or None, default=5
        Number of principal components of the features to keep, fewer if there are fewer windows or
        features. None: keep all features as they are.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.

    Attributes
    ----------
    window_, hop_ : int
        Numbers of steps of a window and between windows.
    n_features_in_ : int
        Number D of columns of an observation.
    feature_names_in_ : (D,) array
        Only if X was a data frame, or a list of them, with string column names.

    See Also
    --------
    StateDetector : The states of a recording, step by step.
    PanelTransformer : Applies a transformer of columns to every step.

    Notes
    -----
    Every convolution is compared with a quantile of itself, so units and offsets of the columns
    do not matter. Columns that are constant in `fit` have no features and do not count, now or in
    `transform`; only a callable sees them. Missing values (NaN) are interpolated within their
    sequence before filters and spectra are computed; the shares count only steps at which seven of
    the nine values of the filter were observed. A window with fewer such steps than 90 % of what
    most windows have (for other features: with less than 80 % of its values) gets a row of NaN,
    which models with missing values accept.

    A filter cannot read a column with regular gaps, such as a sensor at half the rate of the
    others, unless its taps fall on observed steps. If fewer than a tenth of the windows have all
    features, the features that are missing most often are left out of the principal components,
    until half of the windows have all others.

    Transform takes time and memory proportional to the number of steps: about 1 s for 200 filters
    and a million steps.

    References
    ----------
    A. Dempster, F. Petitjean, G. I. Webb (2020), ROCKET: exceptionally fast and accurate time
    series classification using random convolutional kernels: filters and shares.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import WindowFeatures
    >>> t = np.arange(1000)
    >>> x = np.where(t < 500, np.sin(t / 5), np.sign(np.sin(t / 5)))
    >>> features = WindowFeatures(n_components=2, random_state=0)
    >>> rows = features.fit_transform(x.reshape(-1, 1))
    >>> features.window_, features.hop_, rows.shape
    (62, 31, (31, 2))
    >>> states = (rows[:, 0] > 0).astype(int)
    >>> steps = features.inverse_states(states, x.reshape(-1, 1))
    >>> len(steps), int(np.flatnonzero(np.diff(steps))[0]) + 1
    (1000, 512)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "window": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "hop": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "features": [StrOptions({"convolutions", "spectrum"}), callable],
        "n_kernels": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        window: int | str = "auto",
        *,
        hop: int | str = "auto",
        features: Any = "convolutions",
        n_kernels: int = 200,
        n_components: int | None = 5,
        random_state: Any = None,
    ):
        self.window = window
        self.hop = hop
        self.features = features
        self.n_kernels = n_kernels
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the window, draw the filters, and learn the principal components.

        Parameters
        ----------
        X : SequencePanel, list of sequences, or (T, n_features) array
            Each sequence in a list is a (T_i, n_features) or (T_i,) array, or a data frame. An
            array or data frame is one sequence. NaN is a missing value.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid, X holds nothing but missing values or too few values in
            every window, or `window` exceeds the longest sequence. The estimator is left unchanged.

        Warns
        -----
        UserWarning
            If most windows get rows of NaN, although they are observed as usual.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to X, then return ``transform(X)``.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        As `transform`.
        """
        panel, is_single, rows, layout = self._fit(X)
        return self._like(X, panel, is_single, rows, layout)

    def transform(self, X: Any) -> Any:
        """Return the features of the windows of each sequence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        SequencePanel, list of (n_windows_i, n) arrays, or (n_windows, n) array
            As X is: a panel of a panel, a list of a list, and an array of one sequence. Window i of
            a sequence begins at step ``i * hop_``. NaN if too little of a window was observed.
        """
        check_is_fitted(self)
        panel, is_single = check_panel(self, X, reset=False, ensure_all_finite="allow-nan")
        raw, layout = self._measure(panel)
        rows = self._reduce(self._without_rounding(raw, self._nearest_inner(panel, layout)))
        return self._like(X, panel, is_single, rows, layout)

    def inverse_states(self, states: Any, X: Any) -> Any:
        """Return the states of the steps, given the states of the windows.

        A step has the state of the window with the nearest center.

        Parameters
        ----------
        states : list of (n_windows_i,) arrays, or for a single array (n_windows,)
            One state, or row of probabilities, per window.
        X : as in `transform`
            The sequences to which the windows belong. Only their lengths are used.

        Returns
        -------
        list of (T_i,) arrays, or for a single array (T,)

        Raises
        ------
        ValueError
            If there is not one state per window.
        """
        check_is_fitted(self)
        panel, is_single = check_panel(self, X, reset=False, ensure_all_finite="allow-nan")
        layout = self._lay(panel)
        parts: list[Any] = [states]
        if not is_single:
            parts = list(states) if is_list_like(states) else [None]
        if not all(map(is_list_like, parts)):
            raise TypeError(
                "states must be an array with an entry for each window, or a list of such arrays, "
                f"got {shorten(states)}."
            )
        numbers = [len(part) for part in parts]
        if numbers != np.diff(layout.ptr).tolist():
            raise ValueError(
                "states must hold one entry per window of X, "
                f"{np.diff(layout.ptr)[:5].tolist()} in the first sequences, got {numbers[:5]}."
            )
        rows = np.concatenate([np.asarray(part) for part in parts])
        return split(layout.spread(rows), panel.ptr, is_single)

    @property
    def _n_features_out(self) -> int:
        return self._n_out

    def _fit(self, X: Any) -> tuple[SequencePanel, bool, NDArray[np.float64], WindowLayout]:
        """Learn from X; return it as a panel, and the features of its windows."""
        validate_parameters(self)
        reader = clone(self)
        panel, is_single = check_panel(reader, X, reset=True, ensure_all_finite="allow-nan")
        if np.isnan(panel.values).all():
            raise ValueError("X holds nothing but missing values (NaN): there is nothing to learn.")
        warn_of_times(self, X)
        warn_of_counter(reader, panel.values, panel.ptr)
        reader._columns = None if callable(self.features) else find_varying(panel.values)
        steps = reader._read_steps(panel)
        reader.window_ = self._choose_window(steps)
        reader.hop_ = max(reader.window_ // 2, 1) if self.hop == "auto" else int(self.hop)
        reader._features = self._learn_features(steps, reader._lay(panel), reader.window_)
        raw, layout = reader._measure(panel, steps)
        is_observed = find_observed(steps, layout)
        nearest = reader._nearest_inner(panel, layout)
        reader._typical = reader._find_typical(raw, nearest)
        raw = reader._without_rounding(raw, nearest)
        reader._learn_components(raw, is_observed)
        rows = reader._reduce(raw)
        n_known = np.count_nonzero(~np.isnan(rows[is_observed]).all(axis=1))
        reader._works = bool(2 * n_known >= np.count_nonzero(is_observed))
        for name in ("feature_names_in_", "_pca"):
            self.__dict__.pop(name, None)
        fitted = vars(reader).keys() - vars(clone(self)).keys()
        self.__dict__.update({name: vars(reader)[name] for name in fitted})
        if not self._works:
            warnings.warn(
                "WindowFeatures: most windows have too many missing values (NaN) between those "
                f"observed, and get rows of NaN. {_ADVICE}",
                stacklevel=3,
            )
        return panel, is_single, rows, layout

    def _read_steps(self, panel: SequencePanel) -> Steps:
        """Return the columns that varied in `fit`, or all of them for a callable."""
        if not callable(self.features):
            check_scale(panel.values)
        values = panel.values if self._columns is None else panel.values[:, self._columns]
        return Steps.of(values, panel.ptr)

    def _choose_window(self, steps: Steps) -> int:
        longest = int(np.diff(steps.ptr).max())
        if self.window != "auto":
            width = int(self.window)
            if width > longest:
                raise ValueError(
                    f"window={width} exceeds the longest sequence, which has {longest} steps."
                )
            return width
        periods = find_periods(steps.values, steps.ptr)
        period = int(np.median(periods[periods > 0])) if periods.any() else 0
        width = max(_PERIODS * period, _SHORTEST)
        return max(min(width, longest // _LARGEST_SHARE), 1)

    def _learn_features(self, steps: Steps, layout: WindowLayout, width: int) -> Features:
        if callable(self.features):
            return Function(self.features)
        if self.features == "spectrum":
            return Spectrum.learn(steps, width)
        rng = np.random.default_rng(make_seed_sequence(self.random_state))
        return Convolutions.draw(steps, layout, self.n_kernels, rng)

    def _lay(self, panel: SequencePanel) -> WindowLayout:
        return WindowLayout.of(panel.ptr, self.window_, self.hop_)

    def _measure(
        self, panel: SequencePanel, steps: Steps | None = None
    ) -> tuple[NDArray[np.float64], WindowLayout]:
        """Return the features of all windows of a panel, before reduction, (W, F)."""
        layout = self._lay(panel)
        n_features = len(getattr(self._features, "weights", ()))
        check_memory(8 * len(layout.starts) * n_features, "the features of the windows", "hop")
        steps = self._read_steps(panel) if steps is None else steps
        raw = self._features.measure(steps, layout)
        if "_n_raw" not in vars(self):
            self._n_raw = raw.shape[1]
        elif np.isnan(raw).all():
            raw = np.full((len(raw), self._n_raw), np.nan)
        elif raw.shape[1] != self._n_raw:
            raise ValueError(
                f"features must return equally many numbers for each window, got {raw.shape[1]}, "
                f"and {self._n_raw} in fit."
            )
        return raw, layout

    def _nearest_inner(
        self, panel: SequencePanel, layout: WindowLayout
    ) -> NDArray[np.int64] | None:
        """Return the nearest window where filters read only observed values; None: no filters."""
        if not isinstance(self._features, Convolutions):
            return None
        # Other filters read the end values of a sequence again, or values of gaps.
        is_observed = np.asarray(~np.isnan(panel.values[:, self._columns]).any(axis=1))
        return layout.nearest_inner(is_observed, self._features.reach)

    def _find_typical(
        self, raw: NDArray[np.float64], nearest: NDArray[np.int64] | None
    ) -> NDArray[np.float64] | None:
        """Return the median window if all windows are as alike as those of a pure wave, or None."""
        is_known = ~np.isnan(raw).any(axis=1)
        if nearest is None or not is_known.any():
            return None
        typical: NDArray[np.float64] = np.median(raw[is_known], axis=0)
        return typical if self._is_typical(raw, typical, nearest)[is_known].all() else None

    def _is_typical(
        self, raw: NDArray[np.float64], typical: NDArray[np.float64], nearest: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which windows differ from another by what counting steps of a wave may differ."""
        differences = np.sqrt(np.mean((raw - typical) ** 2, axis=1))[nearest]
        return np.asarray(differences * self.window_ <= _STEPS_OF_ROUNDING)

    def _without_rounding(
        self, raw: NDArray[np.float64], nearest: NDArray[np.int64] | None
    ) -> NDArray[np.float64]:
        """Return windows, made equal to those of the pure wave in `fit` if they nearly are."""
        if self._typical is None or nearest is None:
            return raw
        is_typical = self._is_typical(raw, self._typical, nearest) & ~np.isnan(raw).any(axis=1)
        return np.where(is_typical[:, np.newaxis], self._typical, raw)

    def _learn_components(self, raw: NDArray[np.float64], is_observed: NDArray[np.bool_]) -> None:
        """Learn the principal components from the windows whose features are all known."""
        self._n_out = raw.shape[1]
        if self.n_components is not None:
            self._kept = choose_features(raw, is_observed)
            if self._kept is not None:
                raw = raw[:, self._kept]
            complete = raw[~np.isnan(raw).any(axis=1)]
            if len(complete) == 0:
                raise TooFewValuesError(
                    "X has too many missing values (NaN): in no window are enough values observed "
                    f"next to each other. {_ADVICE}"
                )
            self._n_out = min(self.n_components, *complete.shape)
            with np.errstate(divide="ignore", invalid="ignore"):  # shares of a total of 0
                self._pca = PCA(self._n_out, svd_solver="full").fit(complete)

    def _reduce(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the principal components of windows; NaN if more than half of the features are."""
        if self.n_components is None:
            return raw
        if self._kept is not None:
            raw = raw[:, self._kept]
        known = ~np.isnan(raw)
        rows = np.full((len(raw), self._n_out), np.nan)
        complete = known.all(axis=1)
        if complete.any():
            # Unlike a product of matrices, this rounds each row alike, whatever the others are.
            centered = raw[complete] - self._pca.mean_
            rows[complete] = np.einsum("nd,kd->nk", centered, self._pca.components_)
        for i in np.flatnonzero(~complete & (known.mean(axis=1) >= 0.5)):
            own = known[i]
            loadings, centered = self._pca.components_[:, own].T, (raw[i] - self._pca.mean_)[own]
            # components that fit the known features best
            rows[i] = np.linalg.lstsq(loadings, centered, rcond=None)[0]
        return rows

    def _like(
        self,
        X: Any,
        panel: SequencePanel,
        is_single: bool,
        rows: NDArray[np.float64],
        layout: WindowLayout,
    ) -> Any:
        """Return rows, one per window, in the form of X."""
        if isinstance(X, SequencePanel):
            return SequencePanel(rows, layout.ptr)
        return split(rows, layout.ptr, is_single)
