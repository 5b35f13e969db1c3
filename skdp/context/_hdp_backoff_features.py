"""Features of categories: log probabilities of the classes under chains of columns."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_memory, is_list_like, shorten
from skdp._numeric import Floats, Places
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp._sklearn_compat import (
    JOBS,
    EstimatorMixin,
    HasMethods,
    Interval,
    StrOptions,
    check_feature_names,
    validate_parameters,
)
from skdp.context._backoff._columns import (
    ContextTree,
    GapColumn,
    check_levels,
    describe_column,
    label_columns,
    read_columns,
)
from skdp.context._backoff._pool import BackoffSampler, uniform
from skdp.context._base import TrainingEvents, take_columns
from skdp.data._coding import Values
from skdp.processes._franchise import FranchisePriors, TableSample, check_law_priors

Chain = tuple[int, ...]


class _FittedChain(NamedTuple):
    """The tree of a chain of columns and samples of its tables."""

    tree: ContextTree
    samples: list[TableSample]

    def log_probabilities(self, codes: Places) -> Floats:
        """Return log p(class) of rows, given the codes of the chain's columns, (n, n_classes)."""
        base = uniform(self.tree.n_outcomes)
        contexts = self.tree.find_codes(list(codes.T), len(codes))
        total = np.zeros((len(codes), self.tree.n_outcomes))
        for sample in self.samples:
            sample.interpolated(self.tree, base).add_to_distributions(contexts, total)
        return np.log(total / len(self.samples))


class HDPBackoffFeatures(EstimatorMixin, TransformerMixin, BaseEstimator):
    """Encode categories by the log probabilities of the classes under chains of columns.

    For each chain of columns, such as (maker, model), there is a back-off model like that of
    `HDPBackoffClassifier`, and its log probability of each class is a feature. A linear classifier
    on these features adds the evidence of columns, and includes interactions of columns if
    the data suffice. `fit_transform` returns out-of-fold values for the training rows, so
    that the classifier does not see features that were computed from a row's own class.

    Parameters
    ----------
    chains : {"pairs", "single"} or list of lists of columns, default="pairs"
        The chains. "single": each column; "pairs": each column and each ordered pair of columns;
        otherwise column indices, or names if X is a data frame, the most important first.
    cv : int, splitter or list of splits, default=5
        Folds of `fit_transform`. int: that many stratified folds of shuffled rows. Otherwise each
        row must be in the test part of exactly one fold.
    discount : "auto" or float, default="auto"
        Discounts of all levels, in [0, 1). "auto": drawn for each level.
    discount_prior : tuple of two floats, default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `discount`, in [1e-8, 1e8].
    concentration : "auto" or float, default="auto"
        Concentrations of all levels, > 0. "auto": drawn for each level.
    concentration_prior : tuple of two floats, default=(1.0, 0.1)
        Shape and rate of the Gamma prior on a learned `concentration`, in [1e-8, 1e8].
    classes : (n_classes,) array-like or None, default=None
        All possible labels. None: the labels in y.
    max_iter : int, default=6
        Number of sweeps of each chain and fold; the second half is stored as samples.
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.

    Attributes
    ----------
    classes_ : (n_classes,) array
    chains_ : list of lists
        The columns of each chain: names if X has names, else indices.
    n_iter_ : int
        Number of sweeps of each chain and fold, which is `max_iter`.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array
        If X is a data frame with names.

    See Also
    --------
    HDPBackoffClassifier : A classifier that weighs chains by itself.
    sklearn.preprocessing.TargetEncoder : Smoothed means of the classes for single columns.

    Notes
    -----
    A pair is ordered: its second column is used if it was seen together with the first one, and
    a rare pair has the probabilities of its first column. D columns have D single chains and
    D (D - 1) pairs, so list the chains if there are many columns.

    ``fit(X, y).transform(X)`` differs from ``fit_transform(X, y)``: the former uses each row's own
    class and is meant for new rows. A pipeline calls `fit_transform` for its training rows.

    References
    ----------
    Y. W. Teh (2006), A hierarchical Bayesian language model based on Pitman-Yor processes,
    Proceedings of COLING/ACL, section 3. -- D. H. Wolpert (1992), Stacked generalization, Neural
    Networks 5.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdp.context import HDPBackoffFeatures
    >>> X = [["rain", "mon"], ["rain", "sun"], ["sun", "mon"], ["sun", "sun"]] * 10
    >>> y = ["bus", "bus", "bike", "park"] * 10
    >>> features = HDPBackoffFeatures("single", random_state=0)
    >>> features.fit_transform(X, y).shape
    (40, 6)
    >>> features.get_feature_names_out()[:2].tolist()
    ['x0_bike', 'x0_bus']
    >>> model = make_pipeline(features, LogisticRegression()).fit(X, y)
    >>> model.predict([["rain", "fri"]]).tolist()
    ['bus']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "chains": [StrOptions({"pairs", "single"}), "array-like"],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"]), list, tuple],
        "discount": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "discount_prior": [tuple, list],
        "concentration": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "concentration_prior": [tuple, list],
        "classes": ["array-like", None],
        "max_iter": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        chains: Any = "pairs",
        *,
        cv: Any = 5,
        discount: Any = "auto",
        discount_prior: tuple[float, float] = (1.0, 1.0),
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        classes: Any = None,
        max_iter: int = 6,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    # Public methods

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the distributions of the classes under all chains, for new rows.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Categories: integers, strings or other objects, compared by equality. A missing value
            (NaN, None, pandas' NA and NaT) is a category of its column.
        y : (n_samples,) array-like
            Class labels.
        sample_weight : (n_samples,) array-like of int or None, default=None
            How often each row occurred. 0 leaves a row out; its label remains a class.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid. The estimator is left unchanged.
        """
        self._learn(X, y, sample_weight, out_of_fold=False)
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Learn from all rows, and return out-of-fold features of the training rows.

        The features of a row come from models of the other folds, which were not given its class.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`

        Returns
        -------
        (n_samples, n_chains * n_classes) array or data frame
            Natural logarithms, by chain and then by class in the order of `classes_`.

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid, there are fewer rows of every class than folds, or
            the training rows of a fold all have the weight 0.
        """
        return self._learn(X, y, sample_weight, out_of_fold=True)

    def transform(self, X: Any) -> Any:
        """Return the log probabilities of the classes for new rows, under all chains.

        Parameters
        ----------
        X : as in `fit`
            A chain with an unseen category has the probabilities of its columns before it. If the
            category is in the first column, they are those of a new context, in which classes count
            by the contexts that have them rather than by rows.

        Returns
        -------
        (n_samples, n_chains * n_classes) array or data frame
            Natural logarithms, by chain and then by class in the order of `classes_`.
        """
        check_is_fitted(self)
        values = read_columns(self, X, reset=False)
        codes = {j: column.find(values[j]) for j, column in self._columns.items()}
        self._check_size(len(values[0]), len(self._chains), len(self.classes_))
        parts = [
            fitted.log_probabilities(np.column_stack([codes[j] for j in chain]))
            for chain, fitted in zip(self._chains, self._fitted, strict=True)
        ]
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features: the chain's columns and the class.

        Parameters
        ----------
        input_features : (n_features,) array-like of str or None, default=None
            Names of the columns. None: those of X in `fit`, or x0, x1 and so on.

        Returns
        -------
        (n_chains * n_classes,) array of str
            Such as ``maker>model_cheap``.
        """
        check_is_fitted(self)
        names = check_feature_names(self, input_features)
        return np.array(
            [
                f"{'>'.join(str(names[j]) for j in chain)}_{label}"
                for chain in self._chains
                for label in self.classes_
            ],
            dtype=object,
        )

    # Fits

    def _learn(self, X: Any, y: Any, sample_weight: Any, *, out_of_fold: bool) -> Any:
        validate_parameters(self)
        priors = check_law_priors(self)
        reader = clone(self)
        values, labels, counts, classes, names = TrainingEvents.read(reader, X, y, sample_weight)
        chains = self._find_chains(len(values), names)
        self._check_size(len(labels), len(chains), len(classes))
        columns, codes = _encode(values, counts, chains, names)
        outcomes = np.searchsorted(classes, labels)
        splits = self._split(codes, labels) if out_of_fold else []
        if not all(np.any(counts[train] > 0) for train, _ in splits):
            raise ValueError(
                "cv leaves a fold whose training rows all have the sample_weight 0: use fewer "
                "folds, or leave out rows without weight."
            )
        root = make_seed_sequence(self.random_state)
        everything = np.arange(len(labels))
        tasks = [
            (k, fold, train)
            for k in range(len(chains))
            for fold, train in enumerate([everything, *(train for train, _ in splits)])
        ]

        def learn(k: int, fold: int, train: Places) -> _FittedChain:
            chain, train = chains[k], train[counts[train] > 0]
            tree = ContextTree.of(
                [columns[j] for j in chain], [codes[train, j] for j in chain],
                tuple((j,) for j in chain), outcomes[train], counts[train], classes,
                has_root=True,
            )  # fmt: skip
            discount, concentration = (
                None if isinstance(value, str) else np.full(len(chain) + 1, float(value))
                for value in (self.discount, self.concentration)
            )
            laws = FranchisePriors(discount, concentration, *priors)
            rng = derive_stream(root, Role.SWEEP, k, fold)
            sampler = BackoffSampler(tree, uniform(len(classes)), laws, rng, finds_start=True)
            samples = []
            for sweep in range(self.max_iter):
                sampler.sweep()
                if sweep >= self.max_iter // 2:
                    samples.append(sampler.model())
            return _FittedChain(tree, samples)

        parallel = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")
        models = parallel(joblib.delayed(learn)(*task) for task in tasks)
        fitted = {(k, fold): each for (k, fold, _), each in zip(tasks, models, strict=True)}
        features = np.empty((len(labels) if out_of_fold else 0, len(chains), len(classes)))
        if out_of_fold:
            for k, chain in enumerate(chains):
                for fold, (_, test) in enumerate(splits, start=1):
                    mine = codes[np.ix_(test, np.array(chain))]
                    features[test, k] = fitted[k, fold].log_probabilities(mine)
        take_columns(self, reader)
        self.classes_ = classes
        self.n_iter_ = int(self.max_iter)
        self.chains_ = [label_columns(chain, names) for chain in chains]
        self._chains, self._columns = chains, columns
        self._fitted = [fitted[k, 0] for k in range(len(chains))]
        return features.reshape(len(features), len(chains) * len(classes))

    # Checks

    def _find_chains(self, n_features: int, names: NDArray[Any] | None) -> list[Chain]:
        """Return the columns of each chain."""
        if isinstance(self.chains, str):
            chains: list[Chain] = [(j,) for j in range(n_features)]
            if self.chains == "pairs":
                chains += [(i, j) for i in range(n_features) for j in range(n_features) if i != j]
            return chains
        if not is_list_like(self.chains) or len(self.chains) == 0:
            raise ValueError(
                "chains must be 'pairs', 'single' or a list of lists of columns, got "
                f"{shorten(self.chains)}."
            )
        found = []
        for i, chain in enumerate(self.chains):
            if isinstance(chain, str) or not is_list_like(chain):
                raise ValueError(
                    f"chains must hold lists of columns, got {shorten(chain)}; write [[column]] "
                    "for a chain of one column."
                )
            levels = check_levels(chain, n_features, names, f"chains[{i}]")
            found.append(tuple(j for level in levels for j in level))
        repeated = [list(chain) for chain in dict.fromkeys(found) if found.count(chain) > 1]
        if repeated:
            raise ValueError(f"chains must differ, but {shorten(repeated)} occur more than once.")
        return found

    def _check_size(self, n_rows: int, n_chains: int, n_classes: int) -> None:
        check_memory(
            16.0 * n_rows * n_chains * n_classes,
            f"{n_rows} rows, {n_chains} chains and {n_classes} classes",
            "List fewer chains in the parameter chains, or transform fewer rows at a time.",
        )

    def _split(self, codes: Places, labels: NDArray[Any]) -> list[tuple[Places, Places]]:
        """Return the training and test rows of each fold."""
        cv = self.cv
        if isinstance(cv, Integral):
            seed = make_seed_sequence(self.random_state).generate_state(1)
            cv = StratifiedKFold(int(cv), shuffle=True, random_state=int(seed[0]))
        with warnings.catch_warnings():  # rare classes are missing from some folds
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = [
                (np.asarray(train), np.asarray(test))
                for train, test in check_cv(cv, labels, classifier=True).split(codes, labels)
            ]
        times = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(labels))
        if np.any(times != 1):
            raise ValueError(
                "cv must have each row in the test part of exactly one fold, as KFold does."
            )
        return splits


def _encode(
    values: list[Values], counts: Places, chains: list[Chain], names: NDArray[Any] | None
) -> tuple[dict[int, GapColumn], Places]:
    """Return the chains' columns, with categories of counted rows, and all codes, -1 elsewhere."""
    columns, codes = {}, np.full((len(counts), len(values)), -1, np.int64)
    is_counted = counts > 0
    for j in sorted({j for chain in chains for j in chain}):
        columns[j], _ = GapColumn.of(values[j][is_counted], describe_column(j, names))
        codes[:, j] = columns[j].find(values[j])
    return columns, codes
