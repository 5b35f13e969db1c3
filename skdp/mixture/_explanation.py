"""Draws of missing cells of tables, and explanations of clusters by their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from skdp._checks import is_list_like, shorten
from skdp._numeric import Floats, Places
from skdp._numeric._arrays import log_posterior
from skdp.data._coding import Categories
from skdp.emissions._discrete._bernoulli import BernoulliModel
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._discrete._multinomial import MultinomialModel
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.emissions._independent import IndependentModel
from skdp.mixture._rows._sampler import MixtureModel

# Missing cells of a table: their predictions and draws, given the observed cells of the row.


_BLOCK = 2000
"""Number of rows at a time, which limits the memory for probabilities of components."""


def parts_of(emission: Any, n_columns: int) -> list[tuple[Places, Any]]:
    """Return the columns and the model of each part of an emission model, also of nested parts."""
    if not isinstance(emission, IndependentModel):
        return [(np.arange(n_columns), emission)]
    return [
        (block.columns[columns], model)
        for block in emission.blocks
        for columns, model in parts_of(emission.models[block.name], len(block.columns))
    ]


class CellSums:
    """Sums over stored samples and components of predictions of the missing cells of rows."""

    def __init__(self, values: Floats):
        self.values = values
        self._hidden = np.isnan(values)
        self._sums = np.zeros(values.shape)
        self._probs: dict[int, Floats] = {}
        self._kinds: dict[int, type] = {}

    def add(self, emission: Any, weights: Floats) -> None:
        """Add the predictions of a sample; `weights`, (n, K + 1), sum to 1 over all samples."""
        for columns, model in parts_of(emission, self.values.shape[1]):
            hidden = self._hidden[:, columns]
            rows = np.flatnonzero(hidden.any(axis=1))
            if len(rows) == 0:
                continue
            self._kinds.update(dict.fromkeys(columns.tolist(), type(model)))
            if isinstance(model, CategoricalModel):
                d = int(columns[0])
                own = weights[rows] @ model.probs.astype(np.float64)
                self._probs[d] = own if d not in self._probs else self._probs[d] + own
                continue
            expected = model.fill(self.values[np.ix_(rows, columns)], weights[rows])
            self._sums[np.ix_(rows, columns)] += np.where(hidden[rows], expected, 0.0)

    def filled(self) -> Floats:
        """Return the rows with means in missing cells, or with values that a column can have."""
        out = np.where(self._hidden, self._sums, self.values)
        for d, kind in self._kinds.items():
            rows = np.flatnonzero(self._hidden[:, d])
            if d in self._probs:
                out[rows, d] = np.argmax(self._probs[d], axis=1)
            elif issubclass(kind, BernoulliModel):
                out[rows, d] = self._sums[rows, d] > 0.5
            elif issubclass(kind, PoissonModel | MultinomialModel):
                out[rows, d] = np.rint(self._sums[rows, d])
        return out


def weigh_samples(models: Sequence[MixtureModel], values: Floats) -> list[Floats]:
    """Return probabilities of each sample's components, (n, K + 1): they sum to 1 over samples."""
    logs = np.concatenate([model.log_joint_with(values) for model in models], axis=1)
    prior = np.concatenate([model.log_weights for model in models])
    ends = np.cumsum([len(model.log_weights) for model in models])[:-1]
    return np.split(np.exp(log_posterior(logs, prior)), ends, axis=1)


def complete_rows(
    models: Sequence[MixtureModel], values: Floats, rng: np.random.Generator | None
) -> Floats:
    """Return rows with missing cells drawn given the observed ones; without `rng`, predicted."""
    out = np.array(values)
    incomplete = np.flatnonzero(np.isnan(values).any(axis=1))
    for first in range(0, len(incomplete), _BLOCK):
        rows = incomplete[first : first + _BLOCK]
        own, weights = values[rows], weigh_samples(models, values[rows])
        if rng is None:
            sums = CellSums(own)
            for model, each in zip(models, weights, strict=True):
                sums.add(model.emission, each)
            out[rows] = sums.filled()
            continue
        samples, components = _draw_components(weights, rng)
        for m in np.unique(samples):
            some = np.flatnonzero(samples == m)
            emission = models[m].emission
            out[rows[some]] = draw_cells(emission, own[some], components[some], rng)
    return out


def complete_groups(
    models: Sequence[Any],
    ptr: Places,
    values: Floats,
    key: NDArray[np.uint64],
    rng: np.random.Generator | None,
) -> Floats:
    """Return the rows of groups with their missing cells replaced, as in `complete_rows`."""
    hidden = np.isnan(values)
    if not hidden.any():
        return np.array(values)
    chosen: Any = None
    if rng is not None:
        # a draw uses one stored sample for all rows of a group
        chosen = np.repeat(rng.integers(len(models), size=len(ptr) - 1), np.diff(ptr))
    sums, out = CellSums(values), np.array(values)
    for m, model in enumerate(models):
        if chosen is not None and not (chosen == m).any():
            continue
        weights = model.responsibilities(ptr, values, key + np.uint64(m))
        if rng is None:
            sums.add(model.emission, weights / len(models))
        else:
            rows = np.flatnonzero((chosen == m) & hidden.any(axis=1))
            _, components = _draw_components([weights[rows]], rng)
            out[rows] = draw_cells(model.emission, values[rows], components, rng)
    return sums.filled() if rng is None else out


def _draw_components(
    weights: Sequence[Floats], rng: np.random.Generator
) -> tuple[Places, NDArray[np.int64]]:
    """Return a random stored sample and component for each row."""
    ends = np.cumsum(np.concatenate(weights, axis=1), axis=1)
    uniform = rng.random(len(ends)) * ends[:, -1]
    places = (ends <= uniform[:, np.newaxis]).sum(axis=1)
    offsets = np.cumsum([0, *(each.shape[1] for each in weights)])
    samples = np.searchsorted(offsets, places, side="right") - 1
    return samples, places - offsets[samples]


def draw_cells(
    emission: Any, values: Floats, components: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """Return rows with draws of their missing cells, given their components and observed cells."""
    out = np.array(values)
    for columns, model in parts_of(emission, values.shape[1]):
        own = values[:, columns]
        hidden = np.isnan(own)
        if not hidden.any():
            continue
        if hasattr(model, "draw_missing"):
            out[:, columns] = model.draw_missing(own, components, rng)
        else:
            out[:, columns] = np.where(hidden, model.sample(components, rng), own)
    return out


# Divergence of each column of a component from the column of the whole mixture.


_TAIL = 1e-13
"""Probability beyond either end of the range of a sum or an integral."""

_SHARE_OF_SCALE, _SHARE_OF_DISTANCE = 0.5, 0.4
"""Largest panel of an integral, as shares of a component's scale and of the distance from it."""

_SHARE_OF_COUNTS = 1.0 / 64.0
"""Largest cell of counts, as a share of the scale and the distance: counts up to 64 are alone."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(10)

_ROW_BLOCK = 200_000
"""Number of densities at a time."""


def measure_divergences(emission: Any, joint: Floats, n_columns: int) -> Floats:
    """Return KL(p(x_d | cluster) || p(x_d)) in nats of clusters and columns, (C, D).

    `joint`, (C, K), has the probabilities of clusters and their components.
    """
    out = np.zeros((len(joint), n_columns))
    for columns, model in parts_of(emission, n_columns):
        if isinstance(model, CategoricalModel):
            out[:, columns[0]] = _of_table(model.probs.astype(np.float64), joint)
            continue
        if isinstance(model, BernoulliModel):
            for own, d in enumerate(columns):
                ones = model.probs[:, own]
                out[:, d] = _of_table(np.column_stack([1.0 - ones, ones]), joint)
            continue
        marginals = model.marginals()
        for own, d in enumerate(columns):
            measure = _of_counts if marginals.is_discrete(own) else _of_numbers
            out[:, d] = measure(marginals, own, joint)
    return np.maximum(out, 0.0)


def _of_table(probs: Floats, joint: Floats) -> Floats:
    """Return divergences of distributions over a finite number of values, (K, V)."""
    weights = joint.sum(axis=1)
    probs = joint @ (probs / probs.sum(axis=1, keepdims=True)) / weights[:, np.newaxis]
    mixed = weights @ probs
    ratios = np.divide(probs, mixed, out=np.ones_like(probs), where=mixed > 0.0)
    return np.asarray(xlogy(probs, ratios).sum(axis=1))


def _of_counts(marginals: Any, column: int, joint: Floats) -> Floats:
    """Return divergences of distributions of counts: sums over counts, or cells of large ones."""
    means = marginals.means[:, column]
    scales = np.sqrt(np.minimum(marginals.variances[:, column], 1e300))
    last = 1.0
    while (marginals.cdf(np.array([last]), column) < 1.0 - _TAIL).any() and last < 1e300:
        last *= 2.0
    ends = _march(-1.0, last, means, scales, _SHARE_OF_COUNTS, _SHARE_OF_COUNTS, whole=True)
    step = max(1, _ROW_BLOCK // joint.shape[1])
    below = np.concatenate(
        [marginals.cdf(ends[i : i + step], column) for i in range(0, len(ends), step)]
    )
    return _of_table(np.maximum(np.diff(below, axis=0), 0.0).T, joint)


def _of_numbers(marginals: Any, column: int, joint: Floats) -> Floats:
    """Return divergences of densities of numbers, by quadrature."""
    (low, _), (_, high) = np.transpose(marginals.brackets(np.array([_TAIL, 1.0 - _TAIL]), column))
    locations, scales = marginals.locations[:, column], marginals.scales[:, column]
    ends = _march(low, high, locations, scales, _SHARE_OF_SCALE, _SHARE_OF_DISTANCE)
    weights, out = joint.sum(axis=1), np.zeros(len(joint))
    shares = joint.T / weights  # (K, C), of the components in each cluster
    step = max(1, _ROW_BLOCK // (joint.shape[1] * len(_NODES)))
    for first in range(0, len(ends) - 1, step):
        own = ends[first : first + step + 1]
        halves = 0.5 * np.diff(own)[:, np.newaxis]
        points = own[:-1, np.newaxis] + halves * (1.0 + _NODES)
        densities = np.exp(marginals.log_density(points.ravel(), column)) @ shares
        ratios = densities / np.maximum(densities @ weights, 1e-300)[:, np.newaxis]
        out += (halves * _NODE_WEIGHTS).ravel() @ xlogy(densities, ratios)
    return out


def _march(
    low: float,
    high: float,
    locations: Floats,
    scales: Floats,
    of_scale: float,
    of_distance: float,
    *,
    whole: bool = False,
) -> Floats:
    """Return the ends of panels from `low` to `high` that are narrow near every component."""
    ends, x = [low], low
    while x < high:
        # At most a share of a component's scale, or of its distance if that is more.
        width = float(np.maximum(of_scale * scales, of_distance * np.abs(x - locations)).min())
        if whole:
            width = max(1.0, np.floor(width))
        x = min(max(x + width, np.nextafter(x, np.inf)), high)
        ends.append(x)
    return np.array(ends)


# Explanations: the columns that distinguish a component from the whole mixture.


class ColumnContribution(NamedTuple):
    """What a column contributes to setting a cluster apart.

    Attributes
    ----------
    component : int
        Number of the cluster, from `cluster_labels_`.
    column : str
    divergence : float
        KL(p(x_d | cluster) || p(x_d)) in nats: the mean log ratio of the two densities of the
        column for a row of the cluster. 0: the column is distributed as in the whole mixture.
    inside, outside : float, or a category
        Mean of the column in the cluster and in all others; for categories and flags the most
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
    joint: Floats,
    labels: NDArray[Any],
    names: Sequence[str],
    categories: Categories | None,
) -> ClusterExplanation:
    """Return the contributions of all columns to all clusters, as in `measure_divergences`."""
    joint = joint / joint.sum()
    divergences = measure_divergences(emission, joint, len(names))
    typical = _find_typical(emission, joint, len(names), categories)
    contributions = [
        ColumnContribution(int(labels[k]), names[d], float(divergences[k, d]), *typical[d][k])
        for k in range(len(joint))
        for d in np.argsort(-divergences[k], kind="stable")
    ]
    information = joint.sum(axis=1) @ divergences
    order = np.argsort(-information, kind="stable")
    return ClusterExplanation(contributions, {names[d]: float(information[d]) for d in order})


def _find_typical(
    emission: Any, joint: Floats, n_columns: int, categories: Categories | None
) -> list[list[tuple[Any, Any, float, float]]]:
    """Return typical values inside and outside each cluster, with their shares, by column."""
    weights = joint.sum(axis=1)
    shares = joint / weights[:, np.newaxis]
    found: list[list[tuple[Any, Any, float, float]]] = [[] for _ in range(n_columns)]
    for columns, model in parts_of(emission, n_columns):
        is_category = isinstance(model, CategoricalModel)
        means = None if is_category or isinstance(model, BernoulliModel) else _means_of(model)
        for own, d in enumerate(columns.tolist()):
            if means is not None:
                of_column = shares @ means[:, own]
                others = _mix_others(of_column, weights)
                found[d] = [
                    (float(a), None if np.isnan(b) else float(b), np.nan, np.nan)
                    for a, b in zip(of_column, others, strict=True)
                ]
                continue
            ones = None if is_category else model.probs[:, own]
            probs = shares @ (model.probs if ones is None else np.column_stack([1.0 - ones, ones]))
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
