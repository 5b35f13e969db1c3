"""Methods of mixtures for tables: imputation, synthetic rows, and explanations of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._checks import shorten
from skdp._numeric._random import make_seed_sequence
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.data._table_format import TableFormat
from skdp.mixture._table._explanation import ClusterExplanation, check_names, explain_clusters


class TableMethods:
    """Mixin of the methods; a subclass implements `_read_table` and `_complete`."""

    n_features_in_: int
    component_labels_: Places
    weights_: Floats
    emission_: Any
    _format: TableFormat

    def _read_table(self, X: Any) -> tuple[Floats, Places | None]:
        """Return the rows of X, and the offsets of their groups if X is a list of groups."""
        raise NotImplementedError

    def _complete(
        self, values: Floats, ptr: Places | None, rng: np.random.Generator | None
    ) -> Floats:
        """Return rows in which missing cells are predicted or, with `rng`, drawn."""
        raise NotImplementedError

    def impute(self, X: Any) -> Any:
        """Return X with missing cells replaced by the values that the model expects there.

        A number is replaced by its mean given the observed cells of the row, under the density of
        `score_samples`: over the stored samples, and over the components by how well they fit the
        observed cells. A count is replaced by the rounded mean, and a flag or a category by the
        most probable one. Observed cells do not change.

        Parameters
        ----------
        X : as in `fit`
            NaN, None, pandas' NA or a null of polars or Arrow: a missing cell. In rows of counts of
            a `MultinomialEmission`, whole rows.

        Returns
        -------
        X
            Of the kind of X: a data frame for a data frame, with its column types, and an array for
            an array or a list of rows. In columns of integers, numbers are rounded.

        Raises
        ------
        ValueError, TypeError
            If X is invalid.

        See Also
        --------
        sample_missing : Draws of missing cells, which keep the spread of the columns.
        """
        return self._with_cells(X, None)

    def sample_missing(self, X: Any, *, random_state: Any = None) -> Any:
        """Return X with missing cells replaced by draws, for multiple imputation.

        The cells of a row are drawn together, given its observed cells: a stored sample, then the
        component, then the cells. The mean of an analysis of several results, and the spread
        between them, account for the uncertainty about the missing cells.

        Parameters
        ----------
        X : as in `impute`
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        X
            A table of the kind of X, as in `impute`.

        Raises
        ------
        ValueError, TypeError
            If X is invalid.
        """
        check_is_fitted(self)
        return self._with_cells(X, np.random.default_rng(make_seed_sequence(random_state)))

    def _with_cells(self, X: Any, rng: np.random.Generator | None) -> Any:
        values, ptr = self._read_table(X)
        filled, hidden = self._complete(values, ptr, rng), np.isnan(values)
        if isinstance(X, SequencePanel):
            return SequencePanel(filled, X.ptr)
        known = vars(self).get("categories_")
        if ptr is None:
            table = TableFormat.of(X).with_defaults(self._format)
            return table.with_cells(X, hidden, filled, known)
        formats = [TableFormat.of(part).with_defaults(self._format) for part in X]
        return [
            table.with_cells(part, hidden[a:b], filled[a:b], known)
            for table, part, a, b in zip(formats, X, ptr[:-1], ptr[1:], strict=True)
        ]

    def explain(self, feature_names: Any = None) -> ClusterExplanation:
        """Return which columns set each component apart.

        The contribution of a column to a component is KL(p(x_d | component) || p(x_d)), in nats:
        the mean log ratio of the column's density in the component to that in the mixture of all
        components, for rows of the component. Densities are predictive, under the representative
        partition. The mean of the contributions of a column over the components, by their weights,
        is the mutual information of the column and the component. A column without information,
        close to 0, does not help to distinguish the components: leave such columns out and fit
        again, because many of them drown the others.

        Parameters
        ----------
        feature_names : list of n_features str, default=None
            Names of the columns. None: `feature_names_in_`, or x0, x1 and so on.

        Returns
        -------
        ClusterExplanation
            A sequence of named tuples (component, column, divergence, inside, outside,
            inside_share, outside_share), by component and decreasing divergence. `inside` and
            `outside` are the mean of the column in the component and in all others, or its most
            common category, with its share. ``print`` shows the table, ``to_frame()`` returns it as
            a pandas data frame, ``of(component)`` the tuples of one component, and `information` is
            the mutual information by column.

        Raises
        ------
        ValueError
            If `feature_names` are not unique names of all columns.

        Notes
        -----
        Sums over categories, flags and counts are exact up to rounding (counts that are large for
        their spread are summed in narrow cells). Densities of numbers are integrated by
        Gauss-Legendre quadrature. With a `MultinomialEmission`, a column is the number of events of
        one kind, over the distribution of totals in `fit`.
        """
        check_is_fitted(self)
        names = check_names(feature_names, vars(self).get("feature_names_in_"), self.n_features_in_)
        known = vars(self).get("categories_")
        return explain_clusters(self.emission_, self.weights_, self.component_labels_, names, known)

    def _wants_frame(self, as_frame: Any) -> bool:
        """Return whether `sample` returns data frames."""
        table = self._format
        if isinstance(as_frame, str) and as_frame == "auto":
            return table.is_mixed
        if not isinstance(as_frame, bool | np.bool_):
            raise ValueError(f"as_frame must be 'auto' or a bool, got {shorten(as_frame)}.")
        if as_frame and not table.is_frame:
            raise ValueError("as_frame=True needs a fit to a data frame, which has the columns.")
        return bool(as_frame)

    def _in_format(self, values: Floats, as_frame: Any) -> Any:
        """Return drawn rows as `sample` returns them."""
        known = vars(self).get("categories_")
        if self._wants_frame(as_frame) or (as_frame == "auto" and known is not None):
            return self._format.make(values, known)
        return values
