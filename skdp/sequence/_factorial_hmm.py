"""Factorial hidden Markov models: binary chains side by side."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_beta_prior, check_count
from skdp._memory import check_memory
from skdp._public import public
from skdp._random import Role, derive_stream, make_seed_sequence
from skdp._resumable import SavedRuns
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data import SequencePanel
from skdp.emissions._binary_factor_model import OUTPUTS
from skdp.emissions._binary_factors import BinaryFactorEmission
from skdp.sequence._base import SequenceEstimator, split
from skdp.sequence._factorial._alignment import name_factors
from skdp.sequence._factorial._step_factors import StepFactors
from skdp.sequence._factorial._walker import FactorialWalker

_NO_PRIOR = (1.0, 1.0)
"""Of the activities of states, which this model has not."""


@public
class FactorialHMM(SequenceEstimator):
    r"""Factorial hidden Markov model: F binary factors, each a Markov chain of its own.

    At every step a factor is on or off, b_tf = 1 or 0, which depends on what it was at the step
    before and on no other factor. Observations are linear in the factors, as those of
    `BinaryFactorEmission`: column d has mean w_0d + sum_f b_tf w_fd, with normal noise or as the
    probit of a probability. Probabilities of transitions are drawn under Beta priors, weights and
    noise drawn or given.

    Parameters
    ----------
    n_factors : int, default=8
        Number of binary factors, F.
    emission : {"normal", "probit"} or BinaryFactorEmission, default="normal"
        What the columns are; a name stands for a `BinaryFactorEmission` of `n_factors` factors with
        this output and its other defaults. An object must have `n_factors` factors, too. Its
        `activity_prior` is for states, which this model has not: leave it as it is. With its init
        "data" and given weights activities begin with least squares, cut at .5, otherwise with a
        draw from their prior.
    start_prior, switch_on_prior, switch_off_prior : (p, q), default=(1.0, 1.0)
        Beta priors of the probabilities that a factor is on at the first step of a sequence, that
        it goes on from a step to the next, and that it goes off; p, q from 1e-8 to 1e8. p / (p + q)
        is the mean, p + q how much the prior counts.
    block_size : int, default=4
        Number of factors, put together at random, whose activities are drawn jointly, 1 to 10. One
        factor at a time moves badly where several of them explain the same observation, the more
        so with more factors than columns. Time of a sweep grows with ``2**block_size /
        block_size``.
    max_iter : int, default=500
        Number of sweeps of each chain.
    burn_in : int or None, default=None
        Number of sweeps to discard at the start of each chain. None: half of the current
        `max_iter`. With ``warm_start=True`` it may be `max_iter` or more; the fit then shows the
        current state.
    thin : int, default=10
        After the burn-in, keep the first sweep, every `thin`-th sweep from there on, and the last
        sweep.
    n_samples : int, default=20
        Number of kept samples of each chain, evenly spaced, to store as models. Held-out scores and
        probabilities are averaged over them.
    n_chains : int, default=1
        Number of independent chains, each from its own first state. Attributes and features come
        from the chain with the highest mean log joint, scores from all chains.
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
    startprob_ : (n_factors, 2) array
        Probabilities that factors are off and on at first, in the stored sample of the best chain
        that has the highest log joint: the posterior mean given its activities.
    transmat_ : (n_factors, 2, 2) array
        The same of transitions: ``transmat_[f, i, j]`` from i to j, off is 0, on is 1.
    weights_ : (n_factors + 1, n_features) array
        Its weights w, the background in row 0: given, or the posterior mean.
    noise_variance_ : (n_features,) array
        Its variances of the noise, given or learnt; 1 for probit columns.
    factor_shares_ : (n_factors,) array
        Its shares of the training observations in which factors are on.
    n_active_factors_ : int
        Factors that are ever on in its training data.
    samples_ : list of FactorialModel
        All stored samples of the best chain, factors aligned.
    trace_ : Trace
        Scalars of every kept sweep and chain.
    n_iter_ : int
        Sweeps that were run.
    n_features_in_ : int
        Size D of an observation.
    feature_names_in_ : (D,) array
        Where X was a data frame with string names.

    See Also
    --------
    HDPHMMLT : States that are binary vectors, and may favour some combinations of factors.

    Notes
    -----
    Blocked Gibbs sampling: all activities of `block_size` factors at once given the others, then
    transitions, weights and noise. Time is proportional to the numbers of observations, of factors
    and of columns.

    Scores and probabilities of activities are exact given a stored sample, sums over all 2^F
    joint states: their time doubles with every factor, and more than 20 are an error. With 16 a
    score takes about 1 ms a step and stored sample, probabilities about 3 ms: `n_samples` may well
    be small. Draws of `iter_sweeps` have no such bound.

    Drawn weights tell neither the order of factors nor which of their values is 1. They are then
    ordered by `factor_shares_`, each at most 1/2. Given weights keep their order and their sign.

    A sample is a sequence; a two-dimensional array is *one* sequence, of which every row is a
    sample to scikit-learn.

    References
    ----------
    Z. Ghahramani, M. I. Jordan (1997), Factorial hidden Markov models, Machine Learning 29: the
    model, with several values a factor.
    C. Dawson, C. Huang, C. T. Morrison (2017), An infinite hidden Markov model with
    similarity-biased transitions, ICML: section 4.1, where it is a baseline.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import BinaryFactorEmission, FactorialHMM
    >>> rng = np.random.default_rng(0)
    >>> on = np.repeat([[0, 0], [1, 0], [1, 1], [0, 1]], 25, axis=0)  # two switches
    >>> weights = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0]])  # no background
    >>> x = weights[0] + on @ weights[1:] + 0.3 * rng.normal(size=(100, 2))
    >>> emission = BinaryFactorEmission(2, weights=weights)
    >>> model = FactorialHMM(2, emission=emission, max_iter=100, random_state=0).fit(x)
    >>> print((model.predict(x) == on).mean())
    0.99
    >>> model.factor_shares_.round(2)
    array([0.52, 0.5 ])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SequenceEstimator._parameter_constraints,
        "n_factors": [Interval(Integral, 1, None, closed="left")],
        "emission": [StrOptions(set(OUTPUTS)), BinaryFactorEmission],
        "block_size": [Interval(Integral, 1, 10, closed="both")],
        "start_prior": [tuple, list],
        "switch_on_prior": [tuple, list],
        "switch_off_prior": [tuple, list],
    }

    def __init__(
        self,
        n_factors: int = 8,
        *,
        emission: str | BinaryFactorEmission = "normal",
        start_prior: tuple[float, float] = (1.0, 1.0),
        switch_on_prior: tuple[float, float] = (1.0, 1.0),
        switch_off_prior: tuple[float, float] = (1.0, 1.0),
        block_size: int = 4,
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 10,
        n_samples: int = 20,
        n_chains: int = 1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_factors = n_factors
        self.emission = emission
        self.start_prior = start_prior
        self.switch_on_prior = switch_on_prior
        self.switch_off_prior = switch_off_prior
        self.block_size = block_size
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.thin = thin
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Validation

    def _allows_nan(self) -> bool:
        """Tell that NaN is a missing value, in columns of any kind."""
        return True

    def _emission_object(self) -> BinaryFactorEmission:
        if isinstance(self.emission, str):
            return BinaryFactorEmission(self.n_factors, output=self.emission)
        return self.emission

    def _validate_parameters(self) -> int:
        burn_in = super()._validate_parameters()
        self._priors()
        emission = self._emission_object()
        if emission.n_factors != self.n_factors:
            raise ValueError(
                "n_factors must be the same for FactorialHMM and its emission, got "
                f"{self.n_factors!r} and {emission.n_factors!r}."
            )
        if check_beta_prior(emission.activity_prior, "activity_prior") != _NO_PRIOR:
            raise ValueError(
                "activity_prior of the emission is for states of HDPHMMLT: FactorialHMM has "
                "start_prior, switch_on_prior and switch_off_prior instead. Leave it at "
                f"{_NO_PRIOR}, got {emission.activity_prior!r}."
            )
        if emission.amplitude_variance != 0.0:
            raise ValueError(
                "amplitude_variance of the emission is for states of HDPHMMLT: FactorialHMM has "
                f"factors of one strength. Leave it at 0, got {emission.amplitude_variance!r}."
            )
        return burn_in

    def _priors(self) -> NDArray[np.float64]:
        """Return what priors count for off and for on: at first, after off, after on."""
        start, switch_on, switch_off = (
            check_beta_prior(getattr(self, name), name)
            for name in ("start_prior", "switch_on_prior", "switch_off_prior")
        )
        return np.array([start[::-1], switch_on[::-1], switch_off])

    # Chains

    def _start_walker(
        self, panel: SequencePanel, root: np.random.SeedSequence, c: int
    ) -> FactorialWalker:
        values = panel.values
        n_entries = float(self.n_factors) * (len(values) + values.shape[1] + 10)
        check_memory(
            16.0 * self.n_chains * n_entries,
            f"n_factors={self.n_factors} with {len(values)} observations and "
            f"n_chains={self.n_chains}: activities and weights",
        )
        emission = StepFactors(*self._emission_object().check_parts(values, len(values)))
        return FactorialWalker(
            panel,
            emission,
            self._priors(),
            derive_stream(root, Role.INIT, c),
            derive_stream(root, Role.SWEEP, c),
            block_size=self.block_size,
        )

    def _fitted_attributes(self, saved: SavedRuns, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(saved, final=final)
        best = attributes["_best_chain"]
        samples, reference = name_factors(
            list(saved.runs[best].models.values()),
            exchangeable=self._emission_object().weights is None,
        )
        others = [
            sample.model
            for c, chain in enumerate(saved.runs)
            for sample in chain.models.values()
            if c != best
        ]
        model = samples[reference]
        return {
            **attributes,
            "_models": [*samples, *others],
            "samples_": samples,
            "startprob_": model.startprob,
            "transmat_": model.transmat,
            "weights_": model.weights,
            "noise_variance_": model.noise_variance,
            "factor_shares_": model.shares,
            "n_active_factors_": int(np.count_nonzero(model.shares)),
        }

    # Public methods

    def predict(self, X: Any) -> Any:
        """Return the activities of factors.

        A factor is on where the probability of it is at least 1/2: of all activities these have the
        smallest expected number of errors.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (T_i, n_factors) arrays of int, or for a single array (T, n_factors)
            0 or 1.

        Raises
        ------
        ValueError
            If there are more than 20 factors, or X is invalid.
        """
        probabilities, ptr, is_single = self._posteriors(X)
        return split((probabilities >= 0.5).astype(np.int64), ptr, is_single)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities that factors are on at each step, given the whole sequence.

        Averaged over the stored samples of the best chain.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (T_i, n_factors) arrays, or for a single array (T, n_factors)
            Rows need not sum to 1.

        Raises
        ------
        ValueError
            If there are more than 20 factors, or X is invalid.
        """
        return split(*self._posteriors(X))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the expected share of time that factors are on in sequences.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sequences, n_factors) array
            Rows need not sum to 1. For a single array every step is a sample: ``predict_proba(X)``,
            (T, n_factors).

        Raises
        ------
        ValueError
            If there are more than 20 factors, or X is invalid.
        """
        return self._shares(X)

    def sample(
        self, n_steps: int, n_sequences: int = 1, *, random_state: Any = None
    ) -> tuple[SequencePanel, list[NDArray[np.int8]]]:
        """Draw sequences from the fitted model, each from a stored sample of the best chain.

        Parameters
        ----------
        n_steps : int
            Length of a sequence, >= 1.
        n_sequences : int, default=1
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        panel : SequencePanel
        activities : list of n_sequences arrays (n_steps, n_factors)
        """
        check_is_fitted(self)
        n_steps = check_count(n_steps, "n_steps", at_least=1)
        n_sequences = check_count(n_sequences, "n_sequences", at_least=1)
        check_memory(
            8.0 * n_steps * n_sequences * (self.n_features_in_ + 3.0 + self.n_factors),
            f"n_sequences={n_sequences} of n_steps={n_steps}",
        )
        rng = np.random.default_rng(make_seed_sequence(random_state))
        sequences, activities = [], []
        for s in rng.integers(len(self.samples_), size=n_sequences):
            model = self.samples_[s]
            activities.append(model.draw_paths(n_steps, rng))
            sequences.append(model.observe(activities[-1], rng))
        return SequencePanel.from_sequences(sequences), activities

    @property
    def _n_features_out(self) -> int:
        return len(self.factor_shares_)
