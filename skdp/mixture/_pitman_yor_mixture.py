"""Mixtures whose number of components has a Pitman-Yor or Dirichlet process prior."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from skdp._checks import check_beta_prior
from skdp._fit import FitState
from skdp._sklearn_compat import Interval, StrOptions
from skdp.mixture._row_mixture import RowMixture


class PitmanYorMixture(RowMixture):
    r"""Pitman-Yor process mixture, whose number of components is inferred from the data.

    Given the n other rows, which have K components of n_k rows, a row joins component k or opens a
    new one with the probabilities

    .. math::

        p(z = k) = \frac{n_k - a}{n + b}, \quad
        p(z = \mathrm{new}) = \frac{b + a K}{n + b}

    a is the discount and b the concentration. With a > 0 there are a few large components and many
    small ones, and their number grows like a power of the number of rows.

    Parameters
    ----------
    emission : str or emission object, default="gaussian"
        Distribution of the rows of a component: `GaussianEmission` or, for rows with outliers,
        `StudentTEmission` ("full" or "diag"), `PoissonEmission`, `CategoricalEmission` (columns of
        categories, numbers or text), `BernoulliEmission` (columns of 0 and 1),
        `MultinomialEmission` (rows of counts), or its name: "gaussian", "student_t", "poisson",
        "categorical", "bernoulli" or "multinomial". "gaussian" stands for
        ``GaussianEmission(covariance_prior="auto")``, whose covariance prior is learned jointly
        from all components, and "student_t" for ``StudentTEmission("auto",
        covariance_prior="auto")``, which also learns its degrees of freedom; the others stand for
        the object with default settings. For a table with columns of several kinds,
        `IndependentEmissions` of any of these but `StudentTEmission`, with the same names. NaN is a
        missing value.
    discount : float or "auto", default="auto"
        a, in [0, 1): the larger, the more small components. "auto": drawn.
    discount_prior : (p, q), default=(1.0, 15.0)
        Beta prior under which a is drawn; p and q from 1e-8 to 1e8. With q = 1, every one of a few
        rows could be its own component, see Notes.
    concentration : float or "auto", default="auto"
        b, above minus the discount (above 0 if that is drawn): the larger, the more components.
        "auto": drawn.
    concentration_prior : (shape, rate), default=(1.0, 1.0)
        Gamma prior under which b is drawn; shape and rate from 1e-8 to 1e8.
    sampler : {"collapsed", "blocked"}, default="collapsed"
        "collapsed": rows are drawn in turn, each given all others. "blocked":
        parameters are drawn, then all rows at once given them, in `n_jobs` threads if there is one
        chain; use it for more than about 50,000 rows. Both have the same posterior; a blocked sweep
        mixes more slowly if clusters overlap.
    split_merge : bool, default=True
        Whether each sweep also tries to split components, to merge two, and to redistribute the
        rows of two: 20 + sqrt(number of rows) / 10 moves, or 20 with ``sampler="blocked"``, and 20
        more of large components if there are more than 20,000 rows.
    point_estimate : {"binder", "vi"}, default="binder"
        The loss whose posterior mean the representative partition minimizes. "binder":
        the number of pairs of rows that are together in only one of two partitions. "vi": the
        variation of information, which merges components if rows could be in either. The best of
        the stored partitions is improved by moves of rows and merges until few rows move, provided
        that its contingency tables with the others take less than a gigabyte. The result has at
        most the median number of clusters of the stored partitions.
    init : {"sequential"} or (n_samples,) array of int, default="sequential"
        First partition of each chain. "sequential": rows join components in turn, in
        random order, each given the rows before. From 4,000 rows on, a subset of 2,000 comes first
        and is moved by a hundred sweeps, and the others join the components found; from 40,000 on,
        a subset of 20,000 is moved by fifty sweeps. If the emission draws its degrees
        of freedom ("gaussian" does) and there are fewer than 20 rows per column, partitions into 2
        to 13 clusters by k-means are tried as well: each is moved by 15 sweeps, and the chain goes
        on from the one with the highest mean log joint. Or your own labels. They are only a
        start: components may be merged, split or emptied, so `labels_` has other numbers, by
        decreasing size. Labels in y of `fit` do not change, and keep their numbers.
    use_y : bool, default=True
        Whether `fit` reads `y` as known labels of rows. False: it ignores `y`, for a pipeline or
        a search in which `y` holds the classes of a later step or of a metric. After a fit with
        labels, predictions for the training rows are computed as for new rows, without their
        labels. If every row has a label, these are the components, and the fit finds no others.
    merge_overlapping : "auto" or bool, default="auto"
        Whether components without a gap between their rows form one cluster. A group of rows that
        is skewed, or has long tails or sharp edges, takes several components. `labels_`, `predict`
        and `predict_proba` refer to clusters; densities, `weights_` and `emission_` to components,
        whose clusters are in `component_labels_`. "auto": if some columns are numbers or counts;
        without them, True is refused. False: each component is a cluster.
    max_iter : int, default=500
        Number of sweeps of each chain.
    burn_in : int or None, default=None
        Number of sweeps to discard at the start of each chain. None: half of the current
        `max_iter`. With ``warm_start=True`` it may be `max_iter` or more; the fit then shows the
        current state.
    thin : int, default=5
        After the burn-in, keep the first sweep, every `thin`-th sweep from there on, and the last
        sweep.
    n_samples : int, default=20
        Number of kept samples of each chain, evenly spaced, to store. Densities are averaged over
        them, and the representative partition is chosen by them.
    n_chains : int, default=1
        Number of independent chains, each from its own first state. The samples of all of them are
        pooled.
    stream_sweeps : int, default=20
        Number of sweeps of each later call of `partial_fit`.
    stream_window : int or None, default=None
        Number of samples to keep in a stream: the oldest leave in later calls of `partial_fit`,
        as if they had never come. None: all.
    warm_start : bool, default=False
        Keep the state of the fit, so that another `fit` on the same X continues where this one
        stopped: after an interruption, or with a larger `max_iter`.
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.
    verbose : int, default=0
        Print a line every `verbose` sweeps or iterations; 0: none; -1: none on compiling, either.

    Attributes
    ----------
    labels_ : (n_samples,) array of int
        Number (see `cluster_labels_`) of the cluster of each row in the representative partition.
    n_clusters_, n_components_ : int
        Numbers C of clusters and K of components; see `merge_overlapping`.
    cluster_labels_ : (C,) array of int
        Number of each cluster, in the order of the columns of `predict_proba`. Without known
        labels: 0 to C - 1, by decreasing size. Otherwise first the labels in ascending order, then,
        by decreasing size, the clusters without a label, whose numbers follow the largest label.
    component_labels_ : (K,) array of int
        Number of the cluster of each component, in the order of `weights_`.
    n_components_distribution_ : array
        Posterior distribution of the number of components: entry k is P(K = k), over the kept
        sweeps of all chains.
    weights_ : (K,) array
        Probabilities that the next row is of each component; the remainder to 1 is the probability
        of a new one.
    means_, covariances_ : (K, n_features), (K, n_features, n_features) arrays
        Posterior means of the parameters given the representative partition, with a
        `GaussianEmission`; with "diag", variances, (K, n_features).
    emission_ : object
        Distributions of the next row of each component.
    discount_, concentration_ : float
        Posterior means of a and b.
    trace_ : Trace
        Scalars of every kept sweep of every chain, "n_components" among them.
    n_iter_ : int
        Number of sweeps done.
    convergence_ : dict
        The numbers behind the ConvergenceWarnings of the fit, by kind; empty without a warning.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : (n_features,) array
        Only if X was a data frame with string column names.
    categories_ : list of n_features arrays or None
        Only if a column of categories held labels: for each column its categories, in the order of
        the codes that stand for them in the model; None: the column holds numbers.

    See Also
    --------
    DPMixture : The special case without a discount.
    HDPMixture : Mixture of groups of rows that share components.
    IBPLatentFeatures : Model in which a row has any number of features.
    sklearn.mixture.BayesianGaussianMixture : A variational approximation, faster and truncated.

    Notes
    -----
    The joint distribution of a partition and of the rows X_k of its components is

    .. math::

        \frac{(b + a) \cdots (b + (K - 1) a)}{(b + 1)_{n - 1}}
        \prod_k (1 - a)_{n_k - 1} f(X_k)

    where the parameters of the components are integrated out of f. A sweep draws the
    component of each row given all others; then it proposes moves that split a component, merge two
    or redistribute the rows of two, with exact Metropolis-Hastings acceptance; then it draws a and
    b by slice sampling. Nothing is truncated. Moves begin with a two-means split of Gaussian rows,
    or with one row on each side, and continue with passes of Gibbs sampling, as in [1]_; with one
    pass from one row on each side they would be the moves of [2]_.

    A blocked sweep draws weights and parameters of the components given the partition, then the
    components of all rows given these. Rows have random times: the first row of each component
    stays, and the others are drawn among the components whose first rows come before them. So no
    component becomes empty, and none without rows has to be represented. Components are opened and
    removed by Metropolis-Hastings steps of single rows, 20 + sqrt(n_samples) of them. Moves of more
    than 20,000 rows begin with a random subset of a thousand. Nothing is truncated here, either.

    The probability that each of n rows is its own component goes to 1 as a does, and with
    components as narrow as the covariance prior that is learned with them, this partition describes
    any rows as well as a single component. Under a Beta(1, q) prior of a, its probability is about
    q! / n^q: 1 / n under a uniform prior, as probable as a single component, but 4e-8 for 20 rows
    with q = 15. Thousands of rows outweigh this prior if their components follow a power law.

    Known labels restrict the posterior to the partitions that have rows of the same label together
    and rows of different labels apart; both samplers are exact under this restriction. Labeled rows
    do not move in a sweep. Moves of components keep each label on one side, and are not proposed if
    they would separate the rows of a label or join two labels. New rows are drawn given the
    partition as without labels.

    For Gaussian components, moving a row updates the factor of the posterior scale in D^2 steps; a
    sweep takes time in proportion to n K D^2.

    NaN marks a missing value of a `GaussianEmission` or `StudentTEmission`; values must be missing
    at random. With full covariances the missing values are drawn as a part of the chain: a row
    leaves its component, joins one by the density of its observed values, and then draws the
    missing ones from their conditional t distribution there. Moves are proposed given these
    values, and the log joint in the trace includes them. In new rows, missing values are
    integrated out. Every row of a `StudentTEmission` is Gaussian given the weight of its precision,
    which is drawn with its component, on a lattice of values of its logarithm; once a sweep,
    parameters are drawn, then the degrees of freedom and all weights given these, and the
    parameters are dropped. Blocked sweeps draw missing values and weights given the parameters.

    Columns of a `GaussianEmission` that are constant in the training data have no influence on the
    components. One row is enough for a fit, and there may be fewer rows than columns.

    References
    ----------
    .. [1] S. Jain and R. M. Neal, "A split-merge Markov chain Monte Carlo procedure for the
       Dirichlet process mixture model", Journal of Computational and Graphical Statistics 13, 2004.
    .. [2] D. B. Dahl, "Sequentially-allocated merge-split sampler for conjugate and nonconjugate
       Dirichlet process mixture models", technical report, Texas A&M University, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mixture import PitmanYorMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 0.5, (40, 2)) for m in (0, 5, 10)])
    >>> model = PitmanYorMixture(random_state=0).fit(X)
    >>> model.n_components_
    3
    >>> bool(model.novelty([[5.0, -30.0]])[0] > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RowMixture._parameter_constraints,
        "discount": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "discount_prior": [tuple, list],
    }

    def __init__(
        self,
        emission: Any = "gaussian",
        *,
        discount: float | str = "auto",
        discount_prior: tuple[float, float] = (1.0, 15.0),
        concentration: float | str = "auto",
        concentration_prior: tuple[float, float] = (1.0, 1.0),
        sampler: str = "collapsed",
        split_merge: bool = True,
        point_estimate: str = "binder",
        init: Any = "sequential",
        use_y: bool = True,
        merge_overlapping: bool | str = "auto",
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 5,
        n_samples: int = 20,
        n_chains: int = 1,
        stream_sweeps: int = 20,
        stream_window: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.emission = emission
        self.discount = discount
        self.discount_prior = discount_prior
        self.concentration = concentration
        self.concentration_prior = concentration_prior
        self.sampler = sampler
        self.split_merge = split_merge
        self.point_estimate = point_estimate
        self.init = init
        self.use_y = use_y
        self.merge_overlapping = merge_overlapping
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.thin = thin
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.stream_sweeps = stream_sweeps
        self.stream_window = stream_window
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _discount_and_prior(self) -> tuple[float | None, tuple[float, float]]:
        prior = check_beta_prior(self.discount_prior, "discount_prior")
        return (None if isinstance(self.discount, str) else float(self.discount)), prior

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        return {**attributes, "discount_": float(attributes["trace_"]["discount"].mean())}


class DPMixture(RowMixture):
    r"""Dirichlet process mixture, whose number of components is inferred from the data.

    This is `PitmanYorMixture` without a discount: given the n other rows, a row joins component k
    of n_k rows or opens a new one with the probabilities

    .. math::

        p(z = k) = \frac{n_k}{n + b}, \quad
        p(z = \mathrm{new}) = \frac{b}{n + b}

    b is the concentration.

    Parameters
    ----------
    emission : str or emission object, default="gaussian"
        Distribution of the rows of a component: `GaussianEmission` or, for rows with outliers,
        `StudentTEmission` ("full" or "diag"), `PoissonEmission`, `CategoricalEmission` (columns of
        categories, numbers or text), `BernoulliEmission` (columns of 0 and 1),
        `MultinomialEmission` (rows of counts), or its name: "gaussian", "student_t", "poisson",
        "categorical", "bernoulli" or "multinomial". "gaussian" stands for
        ``GaussianEmission(covariance_prior="auto")``, whose covariance prior is learned jointly
        from all components, and "student_t" for ``StudentTEmission("auto",
        covariance_prior="auto")``, which also learns its degrees of freedom; the others stand for
        the object with default settings. For a table with columns of several kinds,
        `IndependentEmissions` of any of these but `StudentTEmission`, with the same names. NaN is a
        missing value.
    concentration : float or "auto", default="auto"
        b, above 0: the larger, the more components. "auto": drawn.
    concentration_prior : (shape, rate), default=(1.0, 1.0)
        Gamma prior under which b is drawn; shape and rate from 1e-8 to 1e8.
    sampler : {"collapsed", "blocked"}, default="collapsed"
        "collapsed": rows are drawn in turn, each given all others. "blocked":
        parameters are drawn, then all rows at once given them, in `n_jobs` threads if there is one
        chain; use it for more than about 50,000 rows. Both have the same posterior; a blocked sweep
        mixes more slowly if clusters overlap.
    split_merge : bool, default=True
        Whether each sweep also tries to split components, to merge two, and to redistribute the
        rows of two: 20 + sqrt(number of rows) / 10 moves, or 20 with ``sampler="blocked"``, and 20
        more of large components if there are more than 20,000 rows.
    point_estimate : {"binder", "vi"}, default="binder"
        The loss whose posterior mean the representative partition minimizes. "binder":
        the number of pairs of rows that are together in only one of two partitions. "vi": the
        variation of information, which merges components if rows could be in either. The best of
        the stored partitions is improved by moves of rows and merges until few rows move, provided
        that its contingency tables with the others take less than a gigabyte. The result has at
        most the median number of clusters of the stored partitions.
    init : {"sequential"} or (n_samples,) array of int, default="sequential"
        First partition of each chain. "sequential": rows join components in turn, in
        random order, each given the rows before. From 4,000 rows on, a subset of 2,000 comes first
        and is moved by a hundred sweeps, and the others join the components found; from 40,000 on,
        a subset of 20,000 is moved by fifty sweeps. If the emission draws its degrees
        of freedom ("gaussian" does) and there are fewer than 20 rows per column, partitions into 2
        to 13 clusters by k-means are tried as well: each is moved by 15 sweeps, and the chain goes
        on from the one with the highest mean log joint. Or your own labels. They are only a
        start: components may be merged, split or emptied, so `labels_` has other numbers, by
        decreasing size. Labels in y of `fit` do not change, and keep their numbers.
    use_y : bool, default=True
        Whether `fit` reads `y` as known labels of rows. False: it ignores `y`, for a pipeline or
        a search in which `y` holds the classes of a later step or of a metric. After a fit with
        labels, predictions for the training rows are computed as for new rows, without their
        labels. If every row has a label, these are the components, and the fit finds no others.
    merge_overlapping : "auto" or bool, default="auto"
        Whether components without a gap between their rows form one cluster. A group of rows that
        is skewed, or has long tails or sharp edges, takes several components. `labels_`, `predict`
        and `predict_proba` refer to clusters; densities, `weights_` and `emission_` to components,
        whose clusters are in `component_labels_`. "auto": if some columns are numbers or counts;
        without them, True is refused. False: each component is a cluster.
    max_iter : int, default=500
        Number of sweeps of each chain.
    burn_in : int or None, default=None
        Number of sweeps to discard at the start of each chain. None: half of the current
        `max_iter`. With ``warm_start=True`` it may be `max_iter` or more; the fit then shows the
        current state.
    thin : int, default=5
        After the burn-in, keep the first sweep, every `thin`-th sweep from there on, and the last
        sweep.
    n_samples : int, default=20
        Number of kept samples of each chain, evenly spaced, to store. Densities are averaged over
        them, and the representative partition is chosen by them.
    n_chains : int, default=1
        Number of independent chains, each from its own first state. The samples of all of them are
        pooled.
    stream_sweeps : int, default=20
        Number of sweeps of each later call of `partial_fit`.
    stream_window : int or None, default=None
        Number of samples to keep in a stream: the oldest leave in later calls of `partial_fit`,
        as if they had never come. None: all.
    warm_start : bool, default=False
        Keep the state of the fit, so that another `fit` on the same X continues where this one
        stopped: after an interruption, or with a larger `max_iter`.
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.
    verbose : int, default=0
        Print a line every `verbose` sweeps or iterations; 0: none; -1: none on compiling, either.

    Attributes
    ----------
    labels_ : (n_samples,) array of int
        Number (see `cluster_labels_`) of the cluster of each row in the representative partition.
    n_clusters_, n_components_ : int
        Numbers C of clusters and K of components; see `merge_overlapping`.
    cluster_labels_ : (C,) array of int
        Number of each cluster, in the order of the columns of `predict_proba`. Without known
        labels: 0 to C - 1, by decreasing size. Otherwise first the labels in ascending order, then,
        by decreasing size, the clusters without a label, whose numbers follow the largest label.
    component_labels_ : (K,) array of int
        Number of the cluster of each component, in the order of `weights_`.
    n_components_distribution_ : array
        Posterior distribution of the number of components: entry k is P(K = k), over the kept
        sweeps of all chains.
    weights_ : (K,) array
        Probabilities that the next row is of each component; the remainder to 1 is the probability
        of a new one.
    means_, covariances_ : (K, n_features), (K, n_features, n_features) arrays
        Posterior means of the parameters given the representative partition, with a
        `GaussianEmission`; with "diag", variances, (K, n_features).
    emission_ : object
        Distributions of the next row of each component.
    concentration_ : float
        Posterior mean of b.
    trace_ : Trace
        Scalars of every kept sweep of every chain, "n_components" among them.
    n_iter_ : int
        Number of sweeps done.
    convergence_ : dict
        The numbers behind the ConvergenceWarnings of the fit, by kind; empty without a warning.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : (n_features,) array
        Only if X was a data frame with string column names.
    categories_ : list of n_features arrays or None
        Only if a column of categories held labels: for each column its categories, in the order of
        the codes that stand for them in the model; None: the column holds numbers.

    See Also
    --------
    PitmanYorMixture : The generalization with a discount; its notes describe the sampler.
    HDPMixture : Mixture of groups of rows that share components.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mixture import DPMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.poisson(m, (40, 3)) for m in (1, 10)])
    >>> model = DPMixture("poisson", random_state=0).fit(X)
    >>> np.bincount(model.labels_)
    array([40, 40])
    """

    def __init__(
        self,
        emission: Any = "gaussian",
        *,
        concentration: float | str = "auto",
        concentration_prior: tuple[float, float] = (1.0, 1.0),
        sampler: str = "collapsed",
        split_merge: bool = True,
        point_estimate: str = "binder",
        init: Any = "sequential",
        use_y: bool = True,
        merge_overlapping: bool | str = "auto",
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 5,
        n_samples: int = 20,
        n_chains: int = 1,
        stream_sweeps: int = 20,
        stream_window: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.emission = emission
        self.concentration = concentration
        self.concentration_prior = concentration_prior
        self.sampler = sampler
        self.split_merge = split_merge
        self.point_estimate = point_estimate
        self.init = init
        self.use_y = use_y
        self.merge_overlapping = merge_overlapping
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.thin = thin
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.stream_sweeps = stream_sweeps
        self.stream_window = stream_window
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _discount_and_prior(self) -> tuple[float | None, tuple[float, float]]:
        return 0.0, (1.0, 1.0)
