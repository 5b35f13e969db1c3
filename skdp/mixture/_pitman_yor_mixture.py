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
    emission
    discount : float or "auto", default="auto"
        a, in [0, 1): the larger, the more small components. "auto": drawn.
    discount_prior : (p, q), default=(1.0, 15.0)
        Beta prior under which a is drawn; p and q from 1e-8 to 1e8. With q = 1, every one of a few
        rows could be its own component, see Notes.
    concentration : float or "auto", default="auto"
        b, above minus the discount (above 0 if that is drawn): the larger, the more components.
        "auto": drawn.
    concentration_prior, sampler, split_merge, point_estimate, init, use_y, merge_overlapping
    max_iter : int, default=500
    burn_in
    thin : int, default=5
    n_samples, n_chains, stream_sweeps, stream_window, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    labels_, n_clusters_, n_components_, cluster_labels_, component_labels_,
    n_components_distribution_, weights_, means_, covariances_, emission_
    discount_, concentration_ : float
        Posterior means of a and b.
    trace_, n_iter_, convergence_, n_features_in_, feature_names_in_, categories_

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
        self._store(locals())

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
    emission
    concentration : float or "auto", default="auto"
        b, above 0: the larger, the more components. "auto": drawn.
    concentration_prior, sampler, split_merge, point_estimate, init, use_y, merge_overlapping
    max_iter : int, default=500
    burn_in
    thin : int, default=5
    n_samples, n_chains, stream_sweeps, stream_window, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    labels_, n_clusters_, n_components_, cluster_labels_, component_labels_,
    n_components_distribution_, weights_, means_, covariances_, emission_
    concentration_ : float
        Posterior mean of b.
    trace_, n_iter_, convergence_, n_features_in_, feature_names_in_, categories_

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
        self._store(locals())

    def _discount_and_prior(self) -> tuple[float | None, tuple[float, float]]:
        return 0.0, (1.0, 1.0)
