"""Emissions of tables in mixtures: columns of different kinds, and codes of their categories."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from skdp._numeric import Floats, Places
from skdp._part import ChainComponent
from skdp.data._coding import with_codes
from skdp.data._frames import common_names, is_frame
from skdp.emissions._common import Stream
from skdp.emissions._common._clusters import ClusterEmission, ClusterTerms, cell_terms, join_terms
from skdp.emissions._common._columns import find_columns
from skdp.emissions._discrete._categorical import CategoricalEmission, CategoricalSampler
from skdp.emissions._independent import CollapsedIndependentSampler, IndependentEmissions


class TableEmissionSampler(ChainComponent):
    """Sampler of the emissions of a table, whose rows join clusters one by one."""

    # Parts of several dependent columns allow neither missing cells nor powers of rows.

    _data_attributes: ClassVar[tuple[str, ...]] = ("_powers",)

    def __init__(self, root: Any, supported: str = "emission"):
        self.root = root
        for leaf in self.leaves():
            if not isinstance(leaf, ClusterEmission):  # `supported` begins the message
                kind = type(leaf).__name__.removesuffix("Sampler")
                raise TypeError(f"{supported}; got {kind}Emission.")
        if sum(1 for _ in self.leaves()) > 1:
            for leaf in self.leaves():
                if isinstance(leaf, CategoricalSampler):
                    leaf.may_be_alike = leaf.concentration_prior is not None
        self._prior = self._gather_priors()

    def leaves(self) -> Iterator[Any]:
        """Yield the samplers of the parts, and of the parts of parts."""
        yield from _list_leaves(self.root)

    def attach(self, values: Floats, powers: Floats | None = None) -> None:
        """Store the observations, and the powers of the likelihoods of rows (None: all are 1)."""
        self.root.attach(values)
        self._powers = powers
        for leaf in self.leaves():
            if _read_columns(leaf) is None:
                _check_whole(leaf, powers)
        for leaf in self._list_comparing():
            leaf.suit_symbols(powers)
        self._take_priors()

    def cluster_terms(self) -> ClusterTerms:
        columns, others, n_rows = [], [], 0
        for leaf in self.leaves():
            own = _read_columns(leaf)
            if own is None:
                if hasattr(leaf, "take_rows_as_exact"):
                    leaf.take_rows_as_exact("with full covariances next to other parts")
                others.append(leaf.cluster_terms())
                rows = others[-1].rows
                n_rows = len(rows.values if hasattr(rows, "values") else rows.totals)
            else:
                columns.append(own)
                n_rows = len(own[0])
        return join_terms(cell_terms(columns, n_rows, self._powers), others)

    def restrict(self, steps: Places, n_states: int) -> TableEmissionSampler:
        """Return a sampler for some of the rows, whose prior is fixed at the current one."""
        other = TableEmissionSampler(self.root.restrict(steps, n_states))
        other._powers = None if self._powers is None else self._powers[steps]
        return other

    def condition(self, states: Places) -> None:
        self.root.condition(states)
        if self._powers is not None:
            for leaf in self.leaves():
                leaf.condition_with_powers(states, self._powers)

    def log_evidence(self) -> float:
        """Return log p(x | z), with the likelihoods of rows to their powers."""
        return float(self.root.log_evidence())

    def model(self) -> Any:
        return self.root.model()

    def scalars(self) -> dict[str, float]:
        """Return the scalars of the parts for the trace."""
        return self.root.scalars() if hasattr(self.root, "scalars") else {}

    # Parameters that clusters share

    @property
    def prior(self) -> tuple[Any, ...]:
        """Priors of the parts: the same object until one of them is drawn."""
        return self._prior

    @prior.setter
    def prior(self, priors: tuple[Any, ...]) -> None:
        for leaf, prior in zip(self.leaves(), priors, strict=True):
            # The prior of a constant column depends on the rows attached here.
            if prior is not None and not getattr(leaf, "is_constant", False):
                leaf.prior = prior
        self._prior = self._gather_priors()

    def _gather_priors(self) -> tuple[Any, ...]:
        return tuple(getattr(leaf, "prior", None) for leaf in self.leaves())

    def _take_priors(self) -> None:
        """Renew `prior` if a part has drawn its own."""
        priors = self._gather_priors()
        if any(new is not old for new, old in zip(priors, self._prior, strict=True)):
            self._prior = priors

    def draw_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw the shared parameters of the parts given the clusters of the rows."""
        if not any(hasattr(leaf, "draw_shared_given") for leaf in self.leaves()):
            return
        given = self.restrict(np.arange(len(labels)), n_clusters)
        given.condition(labels)
        choosing = self._list_choosing()
        for leaf, own in zip(self.leaves(), given.leaves(), strict=True):
            log_odds: tuple[float, ...] = ()
            if any(leaf is other for other in choosing):
                n_others = sum(other.differs for other in choosing if other is not leaf)
                log_odds = (math.log((n_others + 1.0) / (len(choosing) - n_others)),)
            if hasattr(leaf, "draw_shared_given"):
                leaf.draw_shared_given(own, rng, *log_odds)
        self._take_priors()

    def _list_comparing(self) -> list[Any]:
        """Return the parts of a table that may have the same distribution in all clusters."""
        return [leaf for leaf in self.leaves() if getattr(leaf, "may_be_alike", False)]

    def _list_choosing(self) -> list[Any]:
        """Return those of them that may also differ between clusters."""
        return [leaf for leaf in self._list_comparing() if not leaf.is_constant]

    @property
    def may_be_alike(self) -> bool:
        """Whether it is drawn which columns have the same distribution in all clusters."""
        return len(self._list_choosing()) > 0

    @property
    def draws_tables(self) -> bool:
        """Whether a part draws which events of a row are repetitions."""
        return any(getattr(leaf, "draws_tables", False) for leaf in self.leaves())

    @property
    def shows_clusters(self) -> bool:
        """Whether at least two columns of categories differ between clusters, or any other part."""
        # Mixtures of categories in a single column are not identified.
        comparing = self._list_comparing()
        n_parts = sum(1 for _ in self.leaves())
        return len(comparing) < n_parts or sum(leaf.differs for leaf in comparing) > 1

    @property
    def mixes_to_itself(self) -> bool:
        """Whether the table is a single part whose mixtures are not identified."""
        first, *others = self.leaves()
        return not others and bool(getattr(first, "mixes_to_itself", False))

    def _list_drawing_dof(self) -> list[Any]:
        return [leaf for leaf in self.leaves() if getattr(leaf, "draws_dof", False)]

    @property
    def draws_dof(self) -> bool:
        """Whether a part draws its degrees of freedom."""
        return len(self._list_drawing_dof()) > 0

    @property
    def has_few_rows(self) -> bool:
        """Whether a chain that begins with one cluster may not find the others."""
        return any(leaf.has_few_rows for leaf in self._list_drawing_dof())

    def find_clusters(self, rng: Stream) -> list[Places]:
        """Return partitions of the rows into few and into more clusters, by each of these parts."""
        drawing = self._list_drawing_dof()
        return [labels for leaf in drawing for labels in leaf.find_clusters(rng)]

    def fit_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw the scales of these parts until their first values are forgotten."""
        for leaf in self._list_drawing_dof():
            leaf.fit_shared(labels, n_clusters, rng)
        self._take_priors()


def _list_leaves(sampler: Any) -> Iterator[Any]:
    if isinstance(sampler, CollapsedIndependentSampler):
        for part in sampler.samplers:
            yield from _list_leaves(part)
    else:
        yield sampler


def _read_columns(leaf: Any) -> Any:
    """Return the columns of an emission, or None if they depend on each other."""
    read = getattr(leaf, "columns_of_cells", None)
    return None if read is None else read()


def _check_whole(leaf: Any, powers: Floats | None) -> None:
    """Raise ValueError if a part of dependent columns has missing cells or rows have powers."""
    kind = type(leaf).__name__.removesuffix("Sampler")
    if getattr(leaf, "has_gaps", False):
        raise ValueError(
            f"X contains NaN in columns of a {kind}Emission with full covariances, which takes no "
            "missing values next to other parts or with fractions of weights: use "
            'GaussianEmission("diag"), or fill in the values.'
        )
    if powers is not None:
        raise whole_weights_error(f"{kind}Emission of several dependent columns")


def whole_weights_error(kind: str) -> ValueError:
    """Return the error for fractional weights of rows with an emission that takes none."""
    return ValueError(
        f"sample_weight: a {kind} takes whole weights only. Round the weights, or use an emission "
        'of independent columns, such as GaussianEmission("diag").'
    )


# Columns of X that hold categories, and their conversion to codes.


def code_categories(
    estimator: Any,
    emission: Any,
    X: Any,
    *,
    reset: bool,
    allow_missing: bool = False,
    reads_types: bool = False,
) -> Any:
    """Return X with codes in the columns of text that an emission treats as categories."""
    # With `reset` (in ``fit``), set `categories_`; otherwise use its codes, and raise for others.
    if emission == "categorical":
        emission = CategoricalEmission()
    if not isinstance(emission, CategoricalEmission | IndependentEmissions):
        if reset:
            vars(estimator).pop("categories_", None)
        return X
    frames = [X] if is_frame(X) else X if isinstance(X, list | tuple) else []
    if frames and all(map(is_frame, frames)):
        common_names(frames)
        if not reset and hasattr(estimator, "feature_names_in_"):
            # Names are checked first: codes are those of the columns of the fit in their order.
            validate_data(estimator, X=frames[0], reset=False, skip_check_array=True)
    known = None if reset else vars(estimator).get("categories_")
    of_fit = None if reset else vars(estimator).get("feature_names_in_")
    find = partial(_find_columns, emission, of_fit)
    options = {"reset": reset, "allow_missing": allow_missing, "reads_types": reads_types}
    X, categories = with_codes(X, find, known, **options)
    if reset:
        vars(estimator).pop("categories_", None)
        if categories is not None:
            estimator.categories_ = categories
    return X


def _find_columns(emission: Any, of_fit: Any, n_columns: int, names: list[str] | None) -> list[int]:
    """Return the columns that an emission treats as categories."""
    if of_fit is not None and names is None:  # columns have the names of the fit, by position
        if len(of_fit) != n_columns:
            raise ValueError(
                f"X has {n_columns} features, but the model is expecting {len(of_fit)} features as "
                "input."
            )
        names = [str(name) for name in of_fit]
    if isinstance(emission, CategoricalEmission):
        return list(range(n_columns))
    found: list[int] = []
    for name, part, columns in emission.emissions:
        if part == "categorical" or isinstance(part, CategoricalEmission):
            where = f"IndependentEmissions: emission {name!r}"
            found += find_columns(columns, n_columns, names, where).tolist()
    return found
