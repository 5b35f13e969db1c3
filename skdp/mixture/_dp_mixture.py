"""Mixtures whose number of components has a Dirichlet process prior."""

from __future__ import annotations

from typing import Any

from skdp.mixture._row_mixture import RowMixture


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
        The loss whose posterior mean the representative partition (`labels_`) minimizes. "binder":
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
    warm_start : bool, default=False
        Keep the state of the fit, so that another `fit` on the same X continues where this one
        stopped: after an interruption, or with a larger `max_iter`.
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.
    verbose : int, default=0
        Print a line every `verbose` sweeps or iterations; 0: print nothing.

    Attributes
    ----------
    labels_ : (n_samples,) array of int
        Number (see `component_labels_`) of the component of each row in the representative
        partition.
    n_components_ : int
        Their number K.
    component_labels_ : (K,) array of int
        Number of each component, in the order of `weights_` and of the columns of `predict_proba`.
        Without known labels: 0 to K - 1, by decreasing size. Otherwise first the labels in
        ascending order, then, by decreasing size, the components without a label, whose numbers
        follow the largest label.
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
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 5,
        n_samples: int = 20,
        n_chains: int = 1,
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
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.thin = thin
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _discount_and_prior(self) -> tuple[float | None, tuple[float, float]]:
        return 0.0, (1.0, 1.0)
