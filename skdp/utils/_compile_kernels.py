"""All kernels compiled at once, before anyone waits for them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone

from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
)
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)
from skdp.mixture import HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.mixture._row_mixture import RowMixture
from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    ChangePointDetector,
    FactorialHMM,
    GaussianEmission,
    GaussianSimilarity,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    PoissonEmission,
    RegressionEmission,
    StudentTEmission,
)
from skdp.sequence._base import SequenceEstimator
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
    TopicSegmenter,
)
from skdp.topics._base import BaseTopicModel

_METHODS = (
    *("transform", "predict", "predict_proba", "score"),
    *("transform_segments", "log_likelihood", "log_proba"),
)


_SHORT = {
    **{"max_iter": 8, "burn_in": 2, "thin": 1, "warm_start": False},
    **{"transform_max_iter": 2, "transform_burn_in": None, "anneal": None, "verbose": -1},
}
"""Several sweeps are kept, or labels of theirs would not be aligned."""


def compile_kernels(estimators: Any = None, *, n_jobs: int | None = None) -> None:
    """Compile the kernels of estimators now, so that no later fit has to wait for the compiler.

    A kernel is compiled when it is first called, which takes seconds, and its machine code is kept
    in the user's cache folder, or in the folder that ``NUMBA_CACHE_DIR`` names. Call this function
    when you build an image or set up a cluster, as the user and on the kind of machine that will
    run the fits: code is kept by the kind of CPU.

    Parameters
    ----------
    estimators : estimator, list of estimators, or None, default=None
        Every estimator is fitted to a few generated samples, and all its methods are called, with
        your settings; it is not changed. None: all estimators of skdp in the settings that compile
        separate kernels, which takes some minutes.
    n_jobs : int or None, default=None
        The number of processes that compile at the same time. Each compiles the kernels of a
        family, such as all topic models. None means 1, unless a ``joblib.parallel_config`` context
        sets another number, and -1 means one for every processor.

    Raises
    ------
    TypeError
        If something is no estimator of skdp.
    ValueError
        If a parameter is invalid, or `n_jobs` is 0.

    Examples
    --------
    >>> from skdp.topics import GibbsLDA
    >>> from skdp.utils import compile_kernels
    >>> compile_kernels(GibbsLDA(10))
    """
    if estimators is None:
        estimators = _all_estimators()
    elif isinstance(estimators, BaseEstimator):
        estimators = [estimators]
    families: dict[str, list[Any]] = {}
    for estimator in estimators:
        family = ".".join(type(estimator).__module__.split(".")[:2])
        families.setdefault(family, []).append(estimator)
    largest_first = sorted(families.values(), key=len, reverse=True)
    joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(_run_all)(each) for each in largest_first)


def _run_all(estimators: list[Any]) -> None:
    for estimator in estimators:
        _run(estimator)


def _run(estimator: Any) -> None:
    """Fit a copy of an estimator to a few samples and call its methods."""
    params: dict[str, Any] = {"random_state": 0, **_SHORT}
    if isinstance(estimator, BaseEstimator):
        names = estimator.get_params(deep=False)
        params = {name: value for name, value in params.items() if name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such short fits have not converged
        for X, *y in _data_for(estimator):
            model = clone(estimator).set_params(**params).fit(X, *y)
            for name in _METHODS:
                method = getattr(model, name, None)
                if method is not None:
                    method(X, *y) if name == "score" else method(X)
            if hasattr(model, "log_proba"):
                model.sample(1, max_length=2)
            if hasattr(model, "explain"):
                model.score_samples(X, *y)


def _data_for(estimator: Any) -> Iterator[tuple[Any, ...]]:
    """Yield what an estimator can be fitted to."""
    if isinstance(estimator, BaseTopicModel):
        n_words = 4 if isinstance(estimator.init, str) else np.shape(estimator.init)[1]
        ids = np.arange(40) % min(n_words, 4)
        matrix = np.zeros((2, n_words), dtype=int)
        np.add.at(matrix, (np.arange(40) % 2, ids), 1)
        if isinstance(estimator.init, str):
            yield ([[ids[:7].tolist(), ids[7:20].tolist()], [ids[20:].tolist(), []]],)
        else:
            yield (matrix,)
    elif isinstance(estimator, SequenceEstimator):
        yield from _panels_for(estimator)
    elif isinstance(estimator, RowMixture | HDPMixture):
        emission = estimator._part("emission")
        n_columns = 1 if isinstance(emission, CategoricalEmission) else 2
        sizes = [25, 15]
        if not isinstance(estimator.init, str):
            parts = estimator.init if np.ndim(estimator.init[0]) else [estimator.init]
            sizes = [len(part) for part in parts]
        makers = [_zeros_and_ones]
        if isinstance(emission, GaussianEmission | StudentTEmission):  # on no grid, at no limit
            makers += [lambda *shape: np.sin(1.0 + _zeros_and_ones(*shape).cumsum(0) ** 2)]
        for make in makers:
            samples = [make(n_rows, n_columns) for n_rows in sizes]
            yield (samples if isinstance(estimator, HDPMixture) else np.concatenate(samples),)
    elif isinstance(estimator, IBPLatentFeatures | ChangePointDetector):
        values = _zeros_and_ones(40, 2)
        yield (values,)
        values = values.copy()
        values[3, 0 if isinstance(estimator, IBPLatentFeatures) else slice(None)] = np.nan
        yield (values,)
    elif isinstance(estimator, HDPPCFG):
        yield ([[0, 1, 2, 1], [2, 0], [1]],)
        yield ([[0, 1] * 30],)  # long sentences have separate kernels
    elif isinstance(estimator, HierarchicalPitmanYorLM | KneserNeyLM | NestedPitmanYorLM):
        yield ([[0, 1, 2, 1, 0, 1], [2, 0], [1], [0, 1, 2]],)
    elif isinstance(estimator, LanguageModelClassifier):
        yield [[0, 1, 2, 1, 0, 1], [2, 0], [1], [0, 1, 2]], [0, 0, 1, 1]
    elif isinstance(estimator, HDPBackoffClassifier | CollinsBackoffClassifier):
        yield from _events_for(estimator)
    elif isinstance(estimator, DistanceDependentCRPClassifier):
        yield _contexts_for(estimator)
    elif isinstance(estimator, HDPPCFGRefiner):
        trees = [ParseTree.from_brackets("(S (A a) (B (A a) (C b)))")] * 3
        yield [tree.leaves for tree in trees], trees
    else:
        raise TypeError(
            "estimators must be estimators of skdp that fit by kernels, got "
            f"{type(estimator).__name__}."
        )


def _events_for(estimator: Any) -> Iterator[tuple[Any, ...]]:
    """Yield categories and classes for the levels of a classifier."""
    y = np.array([0, 0, 1, 0] if estimator.classes is None else [estimator.classes[0]] * 4)
    laws = (getattr(estimator, name, "auto") for name in ("discount", "concentration"))
    sizes = [len(law) for law in laws if hasattr(law, "__len__") and not isinstance(law, str)]
    n_levels = max(sizes) - bool(estimator.root) if sizes else 1
    is_open = estimator.levels is None or isinstance(estimator.levels, str)
    levels = range(n_levels) if is_open else estimator.levels
    columns = [column for group in levels for column in np.ravel(group)]
    if any(isinstance(column, str) for column in columns):
        import pandas as pd

        yield pd.DataFrame({str(column): ["a", "a", "a", "b"] for column in columns}), y
    else:
        yield np.repeat([[0], [0], [0], [1]], max(columns) + 1, axis=1), y


def _contexts_for(estimator: Any) -> tuple[Any, Any]:
    """Return numbers, which are categories for every kernel, and outcomes."""
    parameters = (getattr(estimator, name) for name in ("decay", "weights"))
    sizes = [len(p) for p in parameters if hasattr(p, "__len__") and not isinstance(p, str)]
    y = [0, 1] if estimator.classes is None else [estimator.classes[0]] * 2
    if isinstance(estimator.kernel, str) and estimator.kernel == "precomputed":
        return np.ones((40, 40)), y * 20
    return _zeros_and_ones(40, sizes[0] if sizes else 2), y * 20


def _zeros_and_ones(n_rows: int, n_columns: int) -> Any:
    """Return rows that are observations for every emission."""
    values = np.arange(n_rows * n_columns) * 7 % 11 % 2
    return values.reshape(n_rows, n_columns).astype(float)


def _panels_for(estimator: Any) -> Iterator[tuple[Any, ...]]:
    """Yield sequences of zeros and ones, which are observations for every emission."""
    emission = estimator._emission_object()
    weights = getattr(emission, "weights", None)
    output = getattr(emission, "output", None)
    n_columns = 1
    if weights is not None:
        n_columns = np.shape(weights)[1]
    elif isinstance(output, (list, tuple)):
        n_columns = len(output)
    elif not isinstance(emission, CategoricalEmission):
        n_columns = 2
    values = _zeros_and_ones(40, n_columns)
    yield ([values[:25], values[25:]],)
    if estimator._allows_nan():
        values = values.copy()
        values[3, getattr(emission, "targets", slice(None))] = np.nan  # inputs are never missing
        yield ([values[:25], values[25:]],)
    yield (values[:25],)


def _all_estimators() -> Iterable[Any]:
    """Yield estimators that run every kernel of the package."""
    for sampler in ("btigs", "cmgs", "ssa"):
        for model in (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel):
            yield model(3, sampler=sampler, discount="auto", concentration_scope="segment")
    yield SegmentedTopicModel(3, init="lda")
    yield SegmentedTopicModel("auto")
    yield TopicSegmenter(3)
    yield GibbsLDA(3)
    yield GibbsLDA(200)
    yield LatentDirichletCoClustering(3)
    yield HDPTopicModel()
    factors = BinaryFactorEmission(2)
    yield HDPHMMLT(3, stickiness="auto")
    yield HDPHMMLT(3, emission=GaussianEmission(covariance_type="diag"), state_sampler="beam")
    yield HDPHMMLT(3, emission=PoissonEmission(), duration=PoissonDuration())
    yield HDPHMMLT(3, emission="categorical", duration=NegativeBinomialDuration())
    for emission in (
        *("student_t", StudentTEmission(covariance_type="diag"), AutoregressiveEmission()),
        *("bernoulli", "multinomial"),
        *(RegressionEmission(0, output=output) for output in ("normal", "bernoulli", "poisson")),
    ):
        yield HDPHMMLT(3, emission=emission)
    yield HDPHMMLT(3, similarity=GaussianSimilarity(2))
    for emission in (
        *(factors, BinaryFactorEmission("auto"), BinaryFactorEmission(2, output="probit")),
        BinaryFactorEmission(2, amplitude_variance="auto"),
    ):
        yield HDPHMMLT(3, emission=emission)
        yield HDPHMMLT(3, emission=emission, similarity=LaplacianSimilarity())
    yield FactorialHMM(2)
    yield FactorialHMM(2, emission="probit")
    yield FactorialHMM("auto")
    yield from map(ChangePointDetector, ("auto", "poisson", "categorical"))
    for name in ("gaussian", "poisson", "categorical", "bernoulli", "multinomial"):
        yield HDPHMMLT(3, emission=name, similarity="emission")
    gaussians = [GaussianEmission(covariance_type=name) for name in ("full", "diag")]
    for emission in ("poisson", "categorical", "multinomial", *gaussians):
        yield PitmanYorMixture(emission)
        yield HDPMixture(emission)
    yield PitmanYorMixture("student_t")
    yield IBPLatentFeatures()
    yield HierarchicalPitmanYorLM()
    yield KneserNeyLM()
    for scope in ("level", "context"):
        yield HDPBackoffClassifier(concentration_scope=scope)
        yield HDPBackoffClassifier(None, concentration_scope=scope)
    yield CollinsBackoffClassifier()
    for outcome_model in ("shared", "dirichlet"):
        for n_columns in (2, 8):  # sets of columns, and a table of pairs
            decay = [1.0] * n_columns
            yield DistanceDependentCRPClassifier(decay=decay, outcome_model=outcome_model)
    for type_moves, method in ((0.0, "mbr"), (1.0, "viterbi")):
        nested: Any = {"n_chains": 1, "type_moves": type_moves, "predict_method": method}
        yield NestedPitmanYorLM(1, **nested, end_probability="auto")
        yield NestedPitmanYorLM(2, **nested)
        yield NestedPitmanYorLM(3, **nested)
    for method in ("mbr", "viterbi"):
        yield CollocationPitmanYorLM(n_chains=1, predict_method=method, stop_probability="auto")
    for inference in ("vb", "em"):
        yield HDPPCFG(2, inference=inference)
        yield HDPPCFGRefiner(2, inference=inference)
    yield HDPPCFGRefiner(2, inference="split-merge")
    yield HDPPCFG(2, inference="viterbi-em", n_preterminals=2)
    yield HDPPCFG(2, inference="gibbs", top_concentration="auto", binary_concentration="auto")
