"""Explanations of clusters: which columns set them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import is_list_like, shorten
from skdp._numeric._typing import Floats
from skdp.data._coding import Categories
from skdp.emissions._discrete._bernoulli import BernoulliModel
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.mixture._table._cells import parts_of
from skdp.mixture._table._divergences import measure_divergences


class ColumnContribution(NamedTuple):
    """What a column contributes to setting a component apart.

    Attributes
    ----------
    component : int
        Number of the component, from `component_labels_`.
    column : str
    divergence : float
        KL(p(x_d | component) || p(x_d)) in nats: the mean log ratio of the two densities of the
        column for a row of the component. 0: the column is distributed as in the whole mixture.
    inside, outside : float, or a category
        Mean of the column in the component and in all others; for categories and flags the most
        common one. None if there are no others.
    inside_share, outside_share : float
        Probability of the most common category; NaN for numbers and counts.
    """

    component: int
    column: str
    divergence: float
    inside: Any
    outside: Any
    inside_share: float
    outside_share: float


class ClusterExplanation:
    """Table of the contributions of all columns to all components.

    It is a sequence of `ColumnContribution`, by component and decreasing divergence.

    Parameters
    ----------
    contributions : sequence of ColumnContribution
    information : dict
        Mutual information of each column and the component in nats, by decreasing information.
    """

    def __init__(self, contributions: Sequence[ColumnContribution], information: dict[str, float]):
        self.contributions = list(contributions)
        self.information = information

    def __len__(self) -> int:
        return len(self.contributions)

    def __iter__(self) -> Iterator[ColumnContribution]:
        return iter(self.contributions)

    def __getitem__(self, place: Any) -> Any:
        return self.contributions[place]

    def of(self, component: int) -> list[ColumnContribution]:
        """Return the contributions to one component, by decreasing divergence."""
        return [each for each in self if each.component == component]

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame, one row per contribution."""
        import pandas as pd  # optional

        return pd.DataFrame(self.contributions, columns=list(ColumnContribution._fields))

    def __str__(self) -> str:
        rows = [("component", "column", "nats", "inside", "outside")]
        rows += [
            (
                str(each.component),
                each.column,
                f"{each.divergence:.2f}",
                _show(each.inside, each.inside_share),
                _show(each.outside, each.outside_share),
            )
            for each in self
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__


def _show(value: Any, share: float) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if np.isnan(share) else f"{value} ({share:.0%})"


def explain_clusters(
    emission: Any,
    weights: Floats,
    component_labels: NDArray[Any],
    names: Sequence[str],
    categories: Categories | None,
) -> ClusterExplanation:
    """Return the contributions of all columns to all components."""
    weights = weights / weights.sum()
    divergences = measure_divergences(emission, weights, len(names))
    typical = _find_typical(emission, weights, len(names), categories)
    contributions = [
        ColumnContribution(
            int(component_labels[k]), names[d], float(divergences[k, d]), *typical[d][k]
        )
        for k in range(len(weights))
        for d in np.argsort(-divergences[k], kind="stable")
    ]
    information = weights @ divergences
    order = np.argsort(-information, kind="stable")
    return ClusterExplanation(contributions, {names[d]: float(information[d]) for d in order})


def _find_typical(
    emission: Any, weights: Floats, n_columns: int, categories: Categories | None
) -> list[list[tuple[Any, Any, float, float]]]:
    """Return typical values inside and outside each component, with their shares, by column."""
    found: list[list[tuple[Any, Any, float, float]]] = [[] for _ in range(n_columns)]
    for columns, model in parts_of(emission, n_columns):
        is_category = isinstance(model, CategoricalModel)
        means = None if is_category or isinstance(model, BernoulliModel) else _means_of(model)
        for own, d in enumerate(columns.tolist()):
            if means is not None:
                of_column, others = means[:, own], _mix_others(means[:, own], weights)
                found[d] = [
                    (float(a), None if np.isnan(b) else float(b), np.nan, np.nan)
                    for a, b in zip(of_column, others, strict=True)
                ]
                continue
            ones = None if is_category else model.probs[:, own]
            probs = model.probs if ones is None else np.column_stack([1.0 - ones, ones])
            known = None if categories is None else categories[d]
            found[d] = [
                (*_most_common(a, known), *_most_common(b, known))
                for a, b in zip(probs, _mix_others(probs, weights), strict=True)
            ]
            found[d] = [(a, b, p, q) for a, p, b, q in found[d]]
    return found


def _means_of(model: Any) -> Floats:
    """Return locations of numbers, whose means need not exist, or means of counts, (K, D)."""
    marginals = model.marginals()
    means: Floats = getattr(marginals, "locations", marginals.means)
    return means


def _mix_others(values: Floats, weights: Floats) -> Floats:
    """Return means over all other components for each component; NaN if there are none."""
    others = weights * (1.0 - np.eye(len(weights)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((others / others.sum(axis=1, keepdims=True)) @ values)


def _most_common(probs: Floats, known: NDArray[Any] | None) -> tuple[Any, float]:
    if np.isnan(probs).any():
        return None, np.nan
    code = int(np.argmax(probs))
    return (code if known is None else known[code]), float(probs[code])


def check_names(feature_names: Any, known: Any, n_columns: int) -> list[str]:
    """Return the names of the columns: given, those of the fit, or x0, x1 and so on."""
    names = known if feature_names is None else feature_names
    if names is None:
        return [f"x{d}" for d in range(n_columns)]
    listed = [str(name) for name in names] if is_list_like(names) else []
    if len(listed) != n_columns or len(set(listed)) != n_columns:
        raise ValueError(
            f"feature_names must hold {n_columns} different names, one for each column of X; got "
            f"{shorten(names)}."
        )
    return listed
