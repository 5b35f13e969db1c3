"""The perplexity of language models by their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, is_number, shorten
from skdp.inspection._axes import PALETTE, add_legend, as_names, check_matplotlib, open_axes

_SIZE = (4.6, 3.4)
_MARKERS = "os^Dv<>p"


class PerplexityDisplay:
    """The perplexity of language models against their order, the length of their n-grams.

    Create it with `from_estimators`, or with the constructor and `plot`. Perplexity is the number
    of equally likely words that would be as hard to guess as the next word; lower is better. Models
    can be compared only if they have the same vocabulary and the same events.

    Parameters
    ----------
    perplexities : dict of str to dict of int to float
        The label of each line, with the perplexity for each order.

    Attributes
    ----------
    perplexities : dict
        As passed, with ascending orders.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each label.
    legend_ : matplotlib Legend

    Raises
    ------
    ValueError
        If there are no perplexities, or if they or their orders are invalid.

    See Also
    --------
    TraceDisplay : Plots the trace of a fit.

    Examples
    --------
    >>> from skdp.inspection import PerplexityDisplay
    >>> from skdp.language import KneserNeyLM
    >>> train, test = [[0, 1, 2], [0, 1, 1, 2], [0, 2], [0, 1, 2]], [[0, 1, 2], [0, 2]]
    >>> models = [KneserNeyLM(order, discount=0.5).fit(train) for order in (1, 2)]
    >>> display = PerplexityDisplay.from_estimators(models, test)
    >>> display.perplexities["KneserNeyLM"][2] < display.perplexities["KneserNeyLM"][1]
    True
    """

    def __init__(self, perplexities: Mapping[str, Mapping[int, float]]):
        if not isinstance(perplexities, Mapping) or not perplexities:
            raise ValueError(
                "perplexities must be a dict of labels, each with a dict of orders and their "
                f"perplexities, got {shorten(perplexities)}."
            )
        self.perplexities = {
            str(label): _check_curve(curve, label) for label, curve in perplexities.items()
        }

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        *,
        labels: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the perplexities of fitted language models on held-out sentences.

        Parameters
        ----------
        estimators : list of fitted language models, or dict
            :class:`~skdp.language.HierarchicalPitmanYorLM` and
            :class:`~skdp.language.KneserNeyLM`. A dict has labels as keys, and a model or a list of
            models of several orders as each value.
        X : as in the estimators' `fit`
            Sentences that were not used in training.
        labels : list of n_estimators str, default=None
            A label for each model in the list. Models with the same label form a line. None: the
            names of their classes.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        PerplexityDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If an estimator is not fitted.
        TypeError
            If an estimator has no order or no perplexity.
        ValueError
            If two models have the same label and order, if models differ in their vocabulary or in
            their use of ends of sentences, or if X or another argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimators")
        pairs = _read_estimators(estimators, labels)
        for _, model in pairs:
            if not hasattr(model, "perplexity") or not hasattr(model, "order"):
                raise TypeError(
                    "estimators must be language models with an order, such as "
                    f"HierarchicalPitmanYorLM or KneserNeyLM, got {type(model).__name__}."
                )
            check_is_fitted(model)
        models = [model for _, model in pairs]
        for name, what in _SAME.items():
            values = {getattr(model, name, None) for model in models}
            if len(values) > 1:
                raise ValueError(
                    f"perplexities cannot be compared: estimators {what} ({name} is "
                    f"{' or '.join(sorted(map(str, values)))})."
                )
        curves: dict[str, dict[int, float]] = {}
        for label, model in pairs:
            if int(model.order) in curves.setdefault(label, {}):
                raise ValueError(
                    f"two models of order {model.order} are labeled {shorten(label)}: give labels "
                    "that tell them apart."
                )
            curves[label][int(model.order)] = np.nan  # scored after all checks
        for label, model in pairs:
            curves[label][int(model.order)] = model.perplexity(X)
        return cls(curves).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the perplexities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. The legend is to the right of the axes; your own
            figure should have ``layout="constrained"``, which makes room for it.

        Returns
        -------
        PerplexityDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        labels = list(self.perplexities)
        self.ax_ = ax = open_axes(ax, _SIZE, labels)
        self.figure_ = ax.figure
        self.lines_ = []
        for i, (curve, marker) in enumerate(
            zip(self.perplexities.values(), cycle(_MARKERS), strict=False)
        ):
            self.lines_ += ax.plot(
                list(curve),
                list(curve.values()),
                color=PALETTE[i % len(PALETTE)],
                marker=marker,
                markersize=5.0,
                linewidth=1.4,
            )
        orders = sorted({order for curve in self.perplexities.values() for order in curve})
        if len(orders) <= 12:
            ax.set_xticks(orders)
        if len(orders) == 1:
            ax.set_xlim(orders[0] - 1.0, orders[0] + 1.0)
        ax.set(xlabel="order", ylabel="perplexity")
        ax.ticklabel_format(axis="y", useOffset=False, style="plain")
        ax.margins(y=0.08)
        ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = add_legend(ax, self.lines_, labels)
        return self


_SAME = {
    "n_words_": "have vocabularies of different sizes",
    "end_of_sequence": "differ in whether ends of sentences count",
}
"""Attributes in which models must agree."""


def _read_estimators(estimators: Any, labels: Any) -> list[tuple[str, Any]]:
    """Return labels and models."""
    if isinstance(estimators, Mapping):
        if labels is not None:
            raise ValueError("labels are the keys of estimators if these are a dict.")
        pairs = [
            (str(label), model)
            for label, models in estimators.items()
            for model in (models if isinstance(models, list | tuple) else [models])
        ]
    else:
        models = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
        if labels is None:
            names = [type(model).__name__ for model in models]
        else:
            names = as_names(labels, "labels", len(models), ", one for each estimator")
        pairs = list(zip(names, models, strict=True))
    if not pairs:
        raise ValueError("estimators must hold at least one fitted language model.")
    return pairs


def _check_curve(curve: Any, label: Any) -> dict[int, float]:
    """Return perplexities by ascending order."""
    if not isinstance(curve, Mapping) or not curve:
        raise ValueError(
            f"perplexities of {shorten(label)} must be a dict of orders and their perplexities, "
            f"got {shorten(curve)}."
        )
    for value in curve.values():
        if not is_number(value) or not 0.0 < value < np.inf:
            raise ValueError(
                f"perplexities of {shorten(label)} must be positive numbers, got {shorten(value)}."
            )
    orders = sorted(check_count(order, "an order", at_least=1) for order in curve)
    return {order: float(curve[order]) for order in orders}
