"""Transformers of columns, applied to the steps of sequences."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdp._sklearn_compat import EstimatorMixin, HasMethods, PlainOutputMixin, validate_parameters
from skdp.data import SequencePanel, check_panel


class SequenceTransformer(PlainOutputMixin, EstimatorMixin, TransformerMixin, BaseEstimator):
    """Base of transformers whose output is always of the kind of X."""


def _can_invert(estimator: PanelTransformer) -> bool:
    return hasattr(getattr(estimator, "transformer_", estimator.transformer), "inverse_transform")


class PanelTransformer(SequenceTransformer):
    """Apply a transformer of columns to every step of sequences.

    The transformer, such as scikit-learn's ``StandardScaler`` or ``PCA``, is fitted to the steps of
    all sequences and applied step by step. What comes out is of the kind of X: a panel of a panel,
    a list of a list, an array of an array, and data frames of data frames. So models of sequences
    may follow in a pipeline, and a search fits the transformer to training sequences only.

    Parameters
    ----------
    transformer : transformer
        Its ``transform`` must return one row of numbers per row. It is cloned before it is fitted.

    Attributes
    ----------
    transformer_ : transformer
        The fitted one.
    n_features_in_ : int
        Number D of columns of an observation.
    feature_names_in_ : (D,) array
        Only if X was a data frame, or a list of them, with string column names. The transformer
        then gets data frames, too, and may choose columns by name.

    See Also
    --------
    WindowFeatures : Turns sequences into features of windows.

    Notes
    -----
    NaN and infinity are passed to the transformer, which may accept them or raise:
    ``StandardScaler`` keeps NaN, ``PCA`` raises an error.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skdp.preprocessing import PanelTransformer
    >>> from skdp.sequence import HDPHMMLT
    >>> sequences = [np.array([[1.0, 200.0], [3.0, 400.0]]), np.array([[5.0, 600.0]])]
    >>> scaler = PanelTransformer(StandardScaler())
    >>> [sequence.round(1).tolist() for sequence in scaler.fit_transform(sequences)]
    [[[-1.2, -1.2], [0.0, 0.0]], [[1.2, 1.2]]]
    >>> model = make_pipeline(scaler, HDPHMMLT(3, max_iter=100, random_state=0))
    >>> [len(states) for states in model.fit(sequences).predict(sequences)]
    [2, 1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "transformer": [HasMethods(["fit", "transform"])]
    }

    def __init__(self, transformer: Any):
        self.transformer = transformer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.transformer).input_tags
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.positive_only = inner.positive_only
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer to the steps of all sequences.

        Parameters
        ----------
        X : SequencePanel, list of sequences, or (T, n_features) array
            Each sequence in a list is a (T_i, n_features) or (T_i,) array, or a data frame. An
            array or data frame is one sequence.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X is invalid, or the transformer raises. The estimator is left unchanged.
        """
        if isinstance(self.transformer, type):
            raise TypeError(
                f"transformer must be an object, got the class {self.transformer.__name__}: write "
                f"PanelTransformer({self.transformer.__name__}(...))."
            )
        validate_parameters(self)
        reader = clone(self)
        panel, _ = check_panel(reader, X, reset=True, ensure_all_finite=False)
        transformer = clone(self.transformer).fit(reader._as_table(panel))
        self.n_features_in_ = reader.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if "feature_names_in_" in vars(reader):
            self.feature_names_in_ = reader.feature_names_in_
        self.transformer_ = transformer
        return self

    def transform(self, X: Any) -> Any:
        """Return the transformed sequences.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        SequencePanel, list of (T_i, n) arrays, or (T, n) array
            As X is. Data frames become data frames with the same index.
        """
        check_is_fitted(self)
        panel, is_single = check_panel(self, X, reset=False, ensure_all_finite=False)
        rows = self.transformer_.transform(self._as_table(panel))
        return self._like(X, panel, is_single, rows, self.get_feature_names_out)

    @available_if(_can_invert)
    def inverse_transform(self, X: Any) -> Any:
        """Return sequences of the original columns.

        Only if the transformer has this method.

        Parameters
        ----------
        X : as `transform` returns it

        Returns
        -------
        SequencePanel, list of (T_i, n_features) arrays, or (T, n_features) array
            As X is. Data frames become data frames with the same index.
        """
        check_is_fitted(self)
        panel, is_single = check_panel(clone(self), X, reset=True, ensure_all_finite=False)
        rows = self.transformer_.inverse_transform(panel.values)
        return self._like(X, panel, is_single, rows, self._get_names_in)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that come out, those of the transformer.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns that go in. None: `feature_names_in_`, or x0, x1, ...

        Returns
        -------
        (n,) array of str objects
        """
        check_is_fitted(self)
        return self.transformer_.get_feature_names_out(input_features)

    def _get_names_in(self) -> Any:
        names = [f"x{d}" for d in range(self.n_features_in_)]
        return vars(self).get("feature_names_in_", names)

    def _as_table(self, panel: SequencePanel) -> Any:
        """Return all steps for the transformer, as a data frame if columns have names."""
        names = vars(self).get("feature_names_in_")
        if names is None:
            return panel.values
        import pandas as pd

        return pd.DataFrame(panel.values, columns=names)

    def _like(
        self, X: Any, panel: SequencePanel, is_single: bool, rows: Any, get_names: Any
    ) -> Any:
        """Return rows, one per step, in the form of X."""
        if issparse(rows):
            raise TypeError(
                f"transformer must return dense arrays, but {type(self.transformer).__name__} "
                "returned a sparse matrix: set sparse_output=False, or the like."
            )
        values = np.asarray(rows)
        if values.ndim != 2 or len(values) != len(panel.values):
            raise ValueError(
                f"transformer must return one row per row, but {type(self.transformer).__name__} "
                f"returned shape {values.shape} for {len(panel.values)} rows."
            )
        if isinstance(X, SequencePanel):
            names = None if X.feature_names is None else get_names()
            return SequencePanel(values, panel.ptr)._with_names(names)
        if is_single:
            return dress(values, X, get_names)
        parts = np.split(values, panel.ptr[1:-1])
        return [dress(part, x, get_names) for part, x in zip(parts, X, strict=True)]


def dress(values: NDArray[Any], like: Any, get_names: Any) -> Any:
    """Return an array, or a data frame with the index of `like` if `like` is a data frame."""
    if not (hasattr(like, "iloc") and hasattr(like, "columns")):
        return values
    import pandas as pd

    return pd.DataFrame(values, columns=get_names(), index=like.index)
