"""Emissions of observations whose columns are of different kinds: models, emission and samplers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import stream_of_number
from skdp._part import ChainComponent
from skdp._sklearn_compat import BaseComposition
from skdp.data._frames import check_unique_columns, is_frame, names_of
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._common import Stream
from skdp.emissions._common._columns import (
    InMemoryRows,
    MappedRows,
    NamedColumns,
    PartedEmission,
    check_shared_out,
    find_columns,
    refuse_cells,
)
from skdp.emissions._common._marginals import ColumnMarginals, Marginals, NumberMarginals
from skdp.emissions._common._protocol import (
    CollapsedEmission,
    ComparableEmission,
    Coupling,
    EmissionModel,
    SummedEmission,
    SummedSampler,
    resolve_part,
)
from skdp.emissions._discrete._bernoulli import BernoulliEmission
from skdp.emissions._discrete._categorical import CategoricalEmission, CategoricalModel
from skdp.emissions._discrete._multinomial import MultinomialEmission
from skdp.emissions._discrete._poisson import PoissonEmission
from skdp.emissions._gaussian._autoregressive import AutoregressiveEmission
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._gaussian._student_t import StudentTEmission

# The model in a stored sample.


@contextmanager
def naming(name: str, columns: Places) -> Iterator[None]:
    """Prepend the name and columns of a part to the message of a ValueError."""
    try:
        yield
    except ValueError as error:
        own = ", ".join(str(column) for column in columns[:5].tolist())
        more = ", ..." if len(columns) > 5 else ""
        raise ValueError(
            f"IndependentEmissions: emission {name!r} (columns {own}{more} of X): {error}"
        ) from None


@dataclass(frozen=True)
class Block:
    """The columns of one part."""

    name: str
    columns: Places
    allows_nan: bool

    def of(self, values: Floats) -> Floats:
        """Return the block's columns, or raise a ValueError if they contain forbidden NaN."""
        own: Floats = as_readonly(np.ascontiguousarray(values[:, self.columns]))
        if not self.allows_nan:
            rule = "X contains NaN in {place}: this emission takes no missing values."
            refuse_cells(np.isnan(own), own, rule, self.columns)
        return own


def find_target_columns(blocks: Sequence[Block], parts: Sequence[Any]) -> Places | None:
    """Return the columns that no part takes as given, or None if no column is given."""
    owns = [getattr(part, "target_columns", None) for part in parts]
    if all(own is None for own in owns):
        return None
    each = zip(blocks, owns, strict=True)
    return np.concatenate([b.columns if own is None else b.columns[own] for b, own in each])


@dataclass(frozen=True, eq=False)
class UnorderedMarginals(ColumnMarginals):
    """Marginals of categories, which have no order, moments or quantiles."""

    _is_discrete = True

    zeros: Floats  # (J, 1), equal for all states

    @property
    def means(self) -> Floats:
        """Means, all NaN."""
        return self.zeros + np.nan

    @property
    def variances(self) -> Floats:
        """Variances, all NaN."""
        return self.means

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return NaN."""
        return np.full((*x.shape, len(self.zeros)), np.nan)


@dataclass(frozen=True, eq=False)
class IndependentMarginals:
    """Distributions of single columns, each from the part it belongs to."""

    parts: Sequence[Marginals]
    places: Sequence[Places]  # columns of each part

    def _gather(self, blocks: list[Floats]) -> Floats:
        out = np.empty((len(blocks[0]), sum(len(columns) for columns in self.places)))
        for columns, block in zip(self.places, blocks, strict=True):
            out[:, columns] = block
        return out

    @property
    def means(self) -> Floats:
        return self._gather([part.means for part in self.parts])

    @property
    def variances(self) -> Floats:
        return self._gather([part.variances for part in self.parts])

    def _find(self, column: int) -> tuple[Marginals, int]:
        """Return the part of a column, and the column's index within the part."""
        for part, columns in zip(self.parts, self.places, strict=True):
            if column in columns:
                return part, int(np.flatnonzero(columns == column)[0])
        raise IndexError(column)

    def parameters(self, column: int) -> Floats:
        part, own = self._find(column)
        return part.parameters(own)

    def take(self, states: NDArray[np.intp]) -> Self:
        return replace(self, parts=[part.take(states) for part in self.parts])

    def is_discrete(self, column: int) -> bool:
        part, own = self._find(column)
        return part.is_discrete(own)

    def cdf(self, x: Floats, column: int) -> Floats:
        part, own = self._find(column)
        return part.cdf(x, own)

    def brackets(self, q: Floats, column: int) -> tuple[Floats, Floats]:
        part, own = self._find(column)
        return cast("NumberMarginals", part).brackets(q, own)


@dataclass(frozen=True, eq=False)
class IndependentModel:
    """Blocks of columns with separate models, independent given the state.

    Attributes
    ----------
    blocks : tuple of Block
        Names and columns.
    models : dict
        Models by the names of the blocks.
    """

    blocks: tuple[Block, ...]
    models: dict[str, EmissionModel]

    @property
    def target_columns(self) -> Places | None:
        """The columns that are not given, or None if no column is given."""
        return find_target_columns(self.blocks, [model for _, model in self._pairs()])

    def _pairs(self) -> Iterator[tuple[Block, Any]]:
        for block in self.blocks:
            yield block, self.models[block.name]

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of every step in every state, summed over parts, (N, J)."""
        out: Any = None
        for block, model in self._pairs():
            with naming(block.name, block.columns):
                own = model.log_obs(block.of(values))
            if out is None:
                out = own
            else:
                out += own
        return np.asarray(out)

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return an observation for each state, (N, D)."""
        out = np.empty((len(states), sum(len(block.columns) for block in self.blocks)))
        for block, model in self._pairs():
            out[:, block.columns] = model.sample(states, rng)
        return out

    @property
    def symbols(self) -> dict[str, int]:
        """The columns of categories, by the names of their parts."""
        return {
            block.name: int(block.columns[0])
            for block, model in self._pairs()
            if isinstance(model, CategoricalModel)
        }

    def marginals(self) -> IndependentMarginals:
        """Return the distributions of single columns of the next observation."""
        parts: list[Marginals] = []
        for block, model in self._pairs():
            if isinstance(model, CategoricalModel):
                parts.append(UnorderedMarginals(np.zeros((len(model.probs), 1))))
            else:
                _require(block, model, "marginals", "forecast")
                parts.append(model.marginals())
        return IndependentMarginals(parts, [block.columns for block in self.blocks])

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations with NaN replaced by its mean given the rest of the part's row."""
        out = np.array(values)
        for block, model in self._pairs():
            own = block.of(values)
            if np.isnan(own).any():
                _require(block, model, "fill", "impute")
                out[:, block.columns] = model.fill(own, weights)
        return out

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        models = {name: model.reorder(order) for name, model in self.models.items()}
        return replace(self, models=models)


def _require(block: Block, model: Any, method: str, caller: str) -> None:
    if not callable(getattr(model, method, None)):
        raise TypeError(
            f"{caller} requires emissions whose models have a method {method}; that of "
            f"{block.name!r}, {type(model).__name__}, has none."
        )


def mix_symbols(
    emissions: Sequence[IndependentModel], weights: Sequence[Floats]
) -> dict[str, Floats]:
    """Return probabilities of the symbols of each categorical part, (H, V), by its name."""
    # The weights of states, (H, J) for each model, sum to 1 over all models and states.
    found: dict[str, Floats] = {}
    for name in emissions[0].symbols:
        parts = [
            w @ cast("CategoricalModel", emission.models[name]).probs
            for w, emission in zip(weights, emissions, strict=True)
        ]
        found[name] = np.sum(parts, axis=0)
    return found


# Emissions by name, and their combination.


EMISSIONS: dict[str, Any] = {
    "gaussian": GaussianEmission,
    "categorical": CategoricalEmission,
    "poisson": PoissonEmission,
    "autoregressive": AutoregressiveEmission,
    "bernoulli": BernoulliEmission,
    "multinomial": MultinomialEmission,
    "student_t": StudentTEmission,
}
"""Emission classes by name; a name stands for an emission with default parameters."""


_CATEGORIES = ("object", "str", "large_string", "categor", "enum", "dictionary")
"""Beginnings of the names of types of text and categories in pandas, polars and Arrow."""


class IndependentEmissions(NamedColumns, PartedEmission, BaseComposition):
    """Columns of several kinds with one emission for each kind, independent given the state.

    Parameters
    ----------
    emissions : list of (name, emission, columns)
        The parts. An emission is an object or a name, as for the model that uses it. Columns are an
        int, a name, a slice, or a list of ints, names or bools, as for scikit-learn's
        ``ColumnTransformer``; names are for data frames. Each column of X belongs to one part.

    Notes
    -----
    Log densities and log evidences are sums over the parts. If the parameters of all parts can be
    integrated out (`CollapsedEmission`), states are split and merged. The chain starts with one
    state if any part alone would do so, otherwise with the initial states of the first part.

    Mixtures take `GaussianEmission`, `PoissonEmission`, `CategoricalEmission` (there with any
    number of columns, each with its own probabilities), `BernoulliEmission` and
    `MultinomialEmission` as parts. A missing cell of an independent column is left out of the
    likelihood there. Parts with full covariances must be complete.

    A panel may be in partitions if all parts support them.

    NaN marks a missing value in the columns of emissions that allow it. `BinaryFactorEmission` and
    emissions with lags cannot be parts.

    A stored sample holds the models of the parts by name: ``model.emission_.models["name"]``.
    `forecast` gives NaN for columns of categories, which have no order, and their probabilities in
    ``proba``, by the name of the part. Parameters of a part are set as
    ``emission__name__parameter``.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import HDPHMMLT, IndependentEmissions
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat([0, 1, 0, 1], 50)
    >>> x = np.column_stack([rng.normal(4.0 * kind), rng.poisson(1 + 8 * kind), kind])
    >>> emission = IndependentEmissions(
    ...     [("level", "gaussian", [0]), ("events", "poisson", [1]), ("kind", "categorical", [2])]
    ... )
    >>> model = HDPHMMLT(6, emission=emission, max_iter=100, random_state=0).fit(x)
    >>> np.flatnonzero(np.diff(model.predict(x))) + 1
    array([ 50, 100, 150])
    >>> model.set_params(emission__events__rate=0.5).emission.emissions[1][1]
    PoissonEmission(rate=0.5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"emissions": [list, tuple]}

    def __init__(self, emissions: list[tuple[str, Any, Any]]):
        self.emissions = emissions

    @classmethod
    def from_frame(cls, frame: Any, counts: Sequence[Any] = ()) -> Self:
        """Return an emission for each column of a data frame, by its type.

        Parameters
        ----------
        frame : pandas or polars data frame, or Arrow table
        counts : sequence of str, default=()
            Names of columns of counts, whose type is that of other numbers.

        Returns
        -------
        IndependentEmissions
            Text and categories are a part each, "categorical", with the name of the column.
            Columns of bools are "bernoulli" ("flags"), counts "poisson" ("counts"), and all others
            a `GaussianEmission` with diagonal covariances ("numbers").
        """
        if not is_frame(frame):
            raise TypeError(f"frame must be a data frame, got {type(frame).__name__}.")
        check_unique_columns(frame, "frame")
        columns = names_of(frame)
        if isinstance(counts, str) or not set(counts) <= set(columns):
            raise ValueError(
                f"counts must be a list of columns of {shorten(columns)}, got {shorten(counts)}."
            )
        found: dict[str, tuple[str, Any, list[int]]] = {}
        emission: Any
        for j, column in enumerate(columns):
            values = frame[column]
            kind = str(getattr(values, "dtype", None) or values.type).lower()
            name, emission = "numbers", GaussianEmission("diag")
            if column in counts:
                name, emission = "counts", "poisson"
            elif kind.startswith("bool"):
                name, emission = "flags", "bernoulli"
            elif kind.startswith(_CATEGORIES):
                name, emission = str(column), "categorical"
            found.setdefault(name, (name, emission, []))[2].append(j)
        return cls(list(found.values()))

    # Parameters

    @property
    def _parts(self) -> Any:
        """Names and emissions, in the format of scikit-learn's compositions."""
        try:
            return [(name, emission) for name, emission, _ in self.emissions]
        except (TypeError, ValueError):  # `fit` raises an error
            return self.emissions

    @_parts.setter
    def _parts(self, parts: Any) -> None:
        self.emissions = [
            (name, emission, columns)
            for (name, emission), (_, _, columns) in zip(parts, self.emissions, strict=True)
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; if `deep`, include those of the parts as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        dict
        """
        return self._get_params("_parts", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the parts as ``name__parameter``, and parts by their names.

        An emission given by name, such as "gaussian", is first replaced by the corresponding
        object.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        nested = {key.partition("__")[0] for key in params if "__" in key}
        parts = self._parts
        if "emissions" not in params and any(
            name in nested and isinstance(part, str) for name, part in parts
        ):
            known = dict.fromkeys(nested, EMISSIONS)
            self._parts = [(name, resolve_part(part, known.get(name, {}))) for name, part in parts]
        self._set_params("_parts", **params)
        return self

    @property
    def allows_nan(self) -> bool:
        """Whether NaN marks a missing value in at least some columns."""
        return self._has_part(lambda part: _takes_nan(resolve_part(part, EMISSIONS)))

    @property
    def needs_inputs(self) -> bool:
        """Whether some columns are inputs, which are given and not modeled."""
        return self._has_part(lambda part: getattr(part, "needs_inputs", False))

    def _has_part(self, is_such: Callable[[Any], bool]) -> bool:
        try:
            return any(is_such(part) for _, part in self._parts)
        except (TypeError, ValueError):  # `fit` raises an error
            return False

    def _make_sampler_of(self, data: Any, n_states: int) -> IndependentSampler:
        n_columns, names = data.n_features, self._names
        emissions = self._read_emissions()
        columns = {
            name: find_columns(own, n_columns, names, f"IndependentEmissions: emission {name!r}")
            for name, _, own in self.emissions
        }
        check_shared_out(columns, n_columns, names, "IndependentEmissions")
        blocks, samplers = [], []
        for name, emission in emissions.items():
            block = Block(name, columns[name], _takes_nan(emission))
            if names is not None and hasattr(emission, "with_feature_names"):
                emission = emission.with_feature_names([names[d] for d in block.columns])
            with naming(name, block.columns):
                samplers.append(_make_part(emission, block, data, n_states))
            blocks.append(block)
        collapsed, summed, comparable = (
            all(isinstance(sampler, protocol) for sampler in samplers)
            for protocol in (CollapsedEmission, SummedEmission, ComparableEmission)
        )
        kind = _KINDS[summed, comparable] if collapsed else IndependentSampler
        return kind(n_states, tuple(blocks), samplers)

    def _read_emissions(self) -> dict[str, Any]:
        """Return the emissions by name, or raise."""
        shape = "IndependentEmissions: emissions must be a list of (name, emission, columns)"
        if len(self.emissions) == 0:
            raise ValueError(f"{shape}, got none.")
        found: dict[str, Any] = {}
        for part in self.emissions:
            if not isinstance(part, tuple | list) or len(part) != 3:
                raise ValueError(f"{shape}, got {shorten(part)}.")
            name, emission, _ = part
            if not isinstance(name, str) or not name or "__" in name or name == "emissions":
                raise ValueError(
                    "IndependentEmissions: names must be text without two underscores, and not "
                    f"'emissions'; got {name!r}."
                )
            if name in found:
                raise ValueError(f"IndependentEmissions: two emissions have the name {name!r}.")
            found[name] = _check_emission(name, resolve_part(emission, EMISSIONS))
        return found


def _make_part(emission: Any, block: Block, data: Any, n_states: int) -> Any:
    """Return the sampler of an emission's own columns."""
    if isinstance(data, InMemoryRows):
        return emission.make_sampler(block.of(data.values), n_states)
    own = MappedRows(data, len(block.columns), block.of)
    return emission.make_sampler_of(own, n_states)


def _takes_nan(emission: Any) -> bool:
    return bool(getattr(emission, "allows_nan", False))


def _check_emission(name: str, emission: Any) -> Any:
    """Return an emission if it can be combined with others, or raise a TypeError."""
    where = f"IndependentEmissions: emission {name!r}"
    if isinstance(emission, type):
        kind = emission.__name__
        raise TypeError(f"{where} must be an object, got the class {kind}: write {kind}(...).")
    if not hasattr(emission, "make_sampler"):
        known = ", ".join(repr(known) for known in EMISSIONS)
        raise TypeError(f"{where} must be an emission or one of {known}; got {shorten(emission)}.")
    kind = type(emission).__name__
    if isinstance(emission, BinaryFactorEmission):
        raise TypeError(
            f"{where} must not be a {kind}: its binary factors are those of whole states. Use it "
            "alone, with all columns."
        )
    if hasattr(emission, "n_lags"):
        raise TypeError(
            f"{where} must not be a {kind}: it looks back in time, over all columns. Use it alone."
        )
    return emission


def list_unsummed(emission: Any) -> list[Any]:
    """Return an emission or its components that do not support observations in parts."""
    if isinstance(emission, IndependentEmissions):
        parts = emission._read_emissions().values()
        return [unsummed for part in parts for unsummed in list_unsummed(part)]
    return [emission] if getattr(emission, "make_sampler_of", None) is None else []


def has_numbers(emission: Any) -> bool:
    """Return whether some columns are numbers or counts, between which a gap can be seen."""
    if isinstance(emission, IndependentEmissions):
        parts = [part[1] for part in emission.emissions if len(part) == 3]
        return any(has_numbers(resolve_part(part, EMISSIONS)) for part in parts)
    return isinstance(emission, GaussianEmission | PoissonEmission)


# Samplers.


class IndependentSampler(ChainComponent):
    """Samplers of the parameters of all parts."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_scratch",)

    def __init__(self, n_states: int, blocks: tuple[Block, ...], samplers: list[Any]):
        self.n_states = n_states
        self.blocks = blocks
        self.samplers: list[Any] = samplers

    @property
    def target_columns(self) -> Places | None:
        """The columns that are not given, or None if no column is given."""
        return find_target_columns(self.blocks, self.samplers)

    def copy(self) -> Self:
        other = super().copy()
        other.samplers = [sampler.copy() for sampler in self.samplers]
        return other

    def detach(self) -> None:
        super().detach()
        for sampler in self.samplers:
            sampler.detach()

    def attach(self, values: Floats) -> None:
        for block, sampler in zip(self.blocks, self.samplers, strict=True):
            with naming(block.name, block.columns):
                sampler.attach(block.of(values))
        self._scratch = np.empty((len(values), self.n_states))

    def start(self, states: Places, rng: Stream) -> None:
        """Write the initial states of the first part."""
        self.samplers[0].start(states, rng)

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw the parameters of all parts given the states."""
        for sampler in self.samplers:
            sampler.draw(states, rng)

    @property
    def held(self) -> bool:
        """Whether parts leave their concentrations unchanged."""
        return any(getattr(sampler, "held", False) for sampler in self.samplers)

    @held.setter
    def held(self, value: bool) -> None:
        for sampler in self.samplers:
            if hasattr(sampler, "held"):
                sampler.held = value

    def scalars(self) -> dict[str, float]:
        """Return the scalars of the parts for the trace, as ``name__scalar``."""
        return {
            f"{block.name}__{name}": value
            for block, sampler in zip(self.blocks, self.samplers, strict=True)
            if hasattr(sampler, "scalars")
            for name, value in sampler.scalars().items()
        }

    def write_log_obs(self, out: Floats) -> None:
        """Write the log densities of all steps, summed over the parts."""
        self._add_up("write_log_obs", out)

    def _add_up(self, method: str, out: Floats) -> None:
        """Write the sum over parts of the output of a method."""
        getattr(self.samplers[0], method)(out)
        for sampler in self.samplers[1:]:
            getattr(sampler, method)(self._scratch)
            out += self._scratch

    def log_evidence(self) -> float:
        return float(sum(sampler.log_evidence() for sampler in self.samplers))

    def model(self) -> IndependentModel:
        return self._join([sampler.model() for sampler in self.samplers])

    def _join(self, models: list[Any]) -> IndependentModel:
        names = [block.name for block in self.blocks]
        return IndependentModel(self.blocks, dict(zip(names, models, strict=True)))


class CollapsedIndependentSampler(IndependentSampler):
    """Samplers of parts whose parameters can all be integrated out."""

    def __init__(self, n_states: int, blocks: tuple[Block, ...], samplers: list[Any]):
        super().__init__(n_states, blocks, samplers)
        self.starts_with_one_state = any(sampler.starts_with_one_state for sampler in samplers)

    def complete(self, states: Places, rng: Stream) -> None:
        for sampler in self.samplers:
            sampler.complete(states, rng)

    def restrict(self, steps: Places, n_states: int) -> Self:
        samplers = [sampler.restrict(steps, n_states) for sampler in self.samplers]
        other = type(self)(n_states, self.blocks, samplers)
        other._scratch = np.empty((len(steps), n_states))
        return other

    def condition(self, states: Places) -> None:
        for sampler in self.samplers:
            sampler.condition(states)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log predictive densities, possibly approximate, summed over the parts."""
        self._add_up("write_log_predictive", out)


@dataclass(frozen=True, eq=False)
class PerPartSums:
    """Measurements or sums of all parts, with elementwise addition."""

    values: tuple[Any, ...]

    def __add__(self, other: PerPartSums) -> PerPartSums:
        return PerPartSums(tuple(a + b for a, b in zip(self.values, other.values, strict=True)))


class SummedIndependentSampler(CollapsedIndependentSampler):
    """Samplers of parts whose statistics are all exact sums."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_scratch", "_is_complete")

    def attach(self, values: Floats) -> None:
        super().attach(values)
        self._is_complete = False

    def adopt(self, other: Self) -> None:
        """Adopt the values of another sampler, which must not be modified, and keep the data."""
        for sampler, own in zip(self.samplers, other.samplers, strict=True):
            sampler.adopt(own)

    def of_states(self, n_states: int) -> Self:
        samplers = [sampler.of_states(n_states) for sampler in self.samplers]
        return type(self)(n_states, self.blocks, samplers)

    @property
    def is_incomplete(self) -> bool:
        return any(sampler.is_incomplete for sampler in self.samplers)

    complete: Any = SummedSampler.complete

    def complete_with(self, states: Places, key: Stream, first: int = 0) -> None:
        """Draw the missing values with a given key, from which a key for each part is derived."""
        own = np.empty_like(key)
        for i, sampler in enumerate(self.samplers):
            stream_of_number(key, i, own)
            sampler.complete_with(states, own, first)
        self._is_complete = True

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw the missing values, then the parameters of all parts, given the states."""
        if not self._is_complete:
            self.complete(states, rng)
        super().draw(states, rng)
        self._is_complete = False

    def restrict(self, steps: Places, n_states: int) -> Self:
        other = super().restrict(steps, n_states)
        other._is_complete = False
        return other

    def measure(self, states: Places) -> PerPartSums:
        return PerPartSums(tuple(sampler.measure(states) for sampler in self.samplers))

    def add_up(self, states: Places, measured: PerPartSums) -> tuple[PerPartSums]:
        each = zip(self.samplers, measured.values, strict=True)
        sums = (PerPartSums(sampler.add_up(states, own)) for sampler, own in each)
        return (PerPartSums(tuple(sums)),)

    def take(self, measured: PerPartSums, sums: tuple[PerPartSums]) -> None:
        for sampler, own, added in zip(self.samplers, measured.values, sums[0].values, strict=True):
            sampler.take(own, added.values)

    def draw_parameters(self, rng: Stream) -> None:
        for sampler in self.samplers:
            sampler.draw_parameters(rng)


class ComparableIndependentSampler(CollapsedIndependentSampler):
    """Samplers of parts whose drawn parameters can all define similarities of states."""

    def parameters(self) -> tuple[Floats, ...]:
        """Return the parameters of all parts in order."""
        return tuple(array for sampler in self.samplers for array in sampler.parameters())

    def _shared_out(
        self, parameters: tuple[Floats, ...]
    ) -> Iterator[tuple[Any, tuple[Floats, ...]]]:
        """Yield each part with its own parameters."""
        first = 0
        for sampler in self.samplers:
            last = first + len(sampler.parameters())
            yield sampler, parameters[first:last]
            first = last

    def log_posterior(self) -> float:
        """Return the log density of the drawn parameters of all parts given the states."""
        return float(sum(sampler.log_posterior() for sampler in self.samplers))

    def known_model(self, parameters: tuple[Floats, ...]) -> IndependentModel:
        each = self._shared_out(parameters)
        return self._join([sampler.known_model(own) for sampler, own in each])

    def log_affinity(self, parameters: tuple[Floats, ...]) -> Floats:
        """Return log Bhattacharyya coefficients, (K, K), as sums over the independent parts."""
        parts = [sampler.log_affinity(own) for sampler, own in self._shared_out(parameters)]
        return np.sum(parts, axis=0)

    def move_shared(self, rng: Stream) -> list[Any] | None:
        """Move the shared parameters of each part; return the previous ones, or None if none."""
        moves = [
            sampler.move_shared(rng) if hasattr(sampler, "held") else None
            for sampler in self.samplers
        ]
        return None if all(before is None for before in moves) else moves

    def restore_shared(self, before: list[Any]) -> None:
        for sampler, own in zip(self.samplers, before, strict=True):
            if own is not None:
                sampler.restore_shared(own)


class SummedComparableIndependentSampler(SummedIndependentSampler, ComparableIndependentSampler):
    """Samplers of parts whose statistics are exact sums and whose parameters are comparable."""


_KINDS: dict[tuple[bool, bool], type[CollapsedIndependentSampler]] = {
    (False, False): CollapsedIndependentSampler,
    (True, False): SummedIndependentSampler,
    (False, True): ComparableIndependentSampler,
    (True, True): SummedComparableIndependentSampler,
}
"""Sampler classes by whether all parts are summed and whether all are comparable."""
