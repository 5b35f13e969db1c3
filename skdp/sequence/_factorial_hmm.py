"""Factorial hidden Markov models: parallel binary chains."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_beta_prior, check_count, check_gamma_prior, check_memory, shorten
from skdp._fit import FitState
from skdp._numeric import Floats
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data import SequencePanel
from skdp.data._sequence_panel import split
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._binary_factors._part import OUTPUTS
from skdp.inference._convergence import warn_of_latent_bound, warn_user
from skdp.inference._trace import Trace
from skdp.sequence._base import SequenceEstimator, takes_partitions
from skdp.sequence._factorial._model import (
    MOST_FACTORS,
    Bits,
    check_known_bits,
    name_factors,
    write_known,
)
from skdp.sequence._factorial._sampler import (
    BuffetNumber,
    FactorialSampler,
    GivenNumber,
    StepFactors,
)
from skdp.sequence._hmm._messages import LabeledPanel

_NO_PRIOR = (1.0, 1.0)
"""Default prior of the activities of states, which this model does not have."""


_HALF = 0.5 - 1e-9
"""A probability that equals 1/2 up to rounding, as averages over samples may, counts as 1/2."""


class FactorialHMM(SequenceEstimator):
    r"""Factorial hidden Markov model: F binary factors, each an independent Markov chain.

    At every step a factor is on or off, b_tf = 1 or 0, depending on its value at the previous step
    and on no other factor. Observations are linear in the factors, as in `BinaryFactorEmission`.
    Column d of step t has the mean

    .. math::

        m_{td} = w_{0d} + \sum_f b_{tf} w_{fd}

    with normal noise or as the probit of a probability. Transition probabilities are drawn under
    Beta priors; weights and noise are drawn or given.

    Parameters
    ----------
    n_factors : int or "auto", default=8
        Number of binary factors, F. "auto": inferred, under an Indian buffet process over the
        states of HDPHMMLT, or under a Markov Indian buffet process in FactorialHMM. The number of
        factors in use is bounded by 24 plus twice the number that the buffet expects at the mean
        mass. In HDPHMMLT, "auto" takes no given weights and no amplitude variance.
    emission : {"normal", "probit"} or BinaryFactorEmission, default="normal"
        The kind of the columns. A name stands for a `BinaryFactorEmission` of `n_factors` factors
        with this output and otherwise default settings. An object must have the same `n_factors`.
        With "auto", weights cannot be given. Its `activity_prior` is for states, which this model
        does not have: leave it at its default. If its init is "data" and weights are given, the
        first activities are found by least squares, with a threshold of 0.5; if weights are drawn,
        the first activities are found from differences between runs of similar observations. If its
        init is "random", they are drawn from their prior.
    start_prior, switch_on_prior, switch_off_prior : (p, q), default=(1.0, 1.0)
        Beta priors on the probabilities that a factor is on at the first step of a sequence, that
        it is switched on from one step to the next, and that it is switched off; p and q from 1e-8
        to 1e8. p / (p + q) is the mean, p + q the weight of the prior. With ``n_factors="auto"``, a
        factor at the first step is switched on as after a step at which it is off, `start_prior` is
        left at its default, and so is the p of `switch_on_prior`: the buffet is the limit of F
        factors with Beta(mass q / F, q) as F grows.
    mass_prior : (shape, rate), default=(1.0, 1.0)
        Gamma prior of the mass of the Indian buffet, both from 1e-8 to 1e8; only used with
        ``n_factors="auto"``. The number of factors is Poisson with mean mass (q / q + q / (q + 1) +
        ... + q / (q + N - 1)) for N steps, about mass log N if q is 1.
    block_size : int, default=4
        Number of factors, grouped at random, whose activities are drawn jointly, from 1 to 10.
        Drawing one factor at a time mixes badly if several of them explain the same observation,
        especially with more factors than columns. The time of a sweep grows as
        ``2**block_size / block_size``.
    use_y : bool, default=True
        Whether y of `fit` holds known bits. False: y is ignored, for a Pipeline in which it belongs
        to a later step. If all bits are known, the fit learns only weights, noise and transitions.
    max_iter, burn_in, thin
    n_samples : int, default=20
    n_chains, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    startprob_ : (F, 2) array
        Probabilities that factors are off and on at the first step: the posterior mean given the
        activities. This and the following attributes belong to the stored sample of the best chain
        that has the highest log joint.
    transmat_ : (F, 2, 2) array
        Transition probabilities, also as posterior means: ``transmat_[f, i, j]`` is from i to j; 0
        is off, 1 is on.
    weights_ : (F + 1, n_features) array
        Weights w, given or their posterior mean; row 0 is the background.
    noise_variance_ : (n_features,) array
        Variances of the noise, given or learned; 1 for probit columns.
    factor_shares_ : (F,) array
        Share of the training observations in which each factor is on. Steps without observed values
        do not count.
    n_active_factors_ : int
        Number of factors that are ever on in the training observations. With ``n_factors="auto"``
        this is F, the number of factors of the sample to which the attributes above belong, unless
        some factors are on only at steps without observed values.
    samples_ : list of FactorialModel
        All stored samples of the best chain, with the factors aligned. With ``n_factors="auto"``
        they may differ in their number of factors.
    trace_, n_iter_, convergence_, n_features_in_, feature_names_in_

    See Also
    --------
    HDPHMMLT : States that are binary vectors and may favor some combinations of factors.
    skdp.mixture.IBPLatentFeatures : Binary features of rows whose order does not matter.

    Notes
    -----
    Blocked Gibbs sampling draws all activities of `block_size` factors at once given the others,
    then transitions, weights and noise. Time is proportional to the numbers of observations,
    factors and columns. `n_jobs` threads work on chains and on stored samples.

    Given a stored sample, scores and probabilities of activities are exact sums over all 2^F joint
    states. Their time doubles with every factor, and more than 20 factors raise an error; if a fit
    with ``n_factors="auto"`` ends with more, it warns. With 16, a score takes about
    1 ms per step and stored sample, and probabilities about 3 ms, so a small `n_samples` is enough.
    The draws of `iter_sweeps` have no such limit.

    If weights are drawn, further moves integrate out both weights and transitions: a run of steps
    goes from one factor to another or to a new one, a factor with one run comes or goes, two
    factors are flipped together in a run of steps, and one is flipped wherever another is on. A
    chain begins with 120 sweeps in which the noise is wide at first. With ``n_factors="auto"``,
    factors also come and go by slice sampling. Held-out scores use only the factors of the samples,
    not additional ones in new data.

    Drawn weights determine neither the order of the factors nor which of their values is 1. The
    factors are then ordered by `factor_shares_`, each at most 1/2. Given weights keep their order
    and their sign, and so do factors with known bits.

    A sample is a sequence. A two-dimensional array is *one* sequence, whose rows are samples to
    scikit-learn.

    References
    ----------
    Z. Ghahramani, M. I. Jordan (1997), Factorial hidden Markov models, Machine Learning 29: the
    model, with several values per factor. J. Van Gael, Y. W. Teh, Z. Ghahramani (2009), The
    infinite factorial hidden Markov model, NIPS: the Markov Indian buffet. C. Dawson, C. Huang,
    C. T. Morrison (2017), An infinite hidden Markov model with similarity-biased transitions, ICML:
    section 4.1, as a baseline.

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
        "n_factors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "emission": [StrOptions(set(OUTPUTS)), BinaryFactorEmission],
        "block_size": [Interval(Integral, 1, 10, closed="both")],
        "start_prior": [tuple, list],
        "switch_on_prior": [tuple, list],
        "switch_off_prior": [tuple, list],
        "mass_prior": [tuple, list],
        "use_y": ["boolean"],
    }

    def __init__(
        self,
        n_factors: int | str = 8,
        *,
        emission: str | BinaryFactorEmission = "normal",
        start_prior: tuple[float, float] = (1.0, 1.0),
        switch_on_prior: tuple[float, float] = (1.0, 1.0),
        switch_off_prior: tuple[float, float] = (1.0, 1.0),
        mass_prior: tuple[float, float] = (1.0, 1.0),
        block_size: int = 4,
        use_y: bool = True,
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
        self._store(locals())

    # Validation

    def _check_input(self, X: Any, y: Any = None) -> Any:
        y = y if self.use_y else None
        panel = super()._check_input(X, y)
        known = self._check_known(y, panel)
        return panel if known is None else LabeledPanel(panel, known)

    def _check_known(self, y: Any, panel: SequencePanel) -> Bits | None:
        """Return the known bits of the factors, or None if y has none."""
        if isinstance(self.n_factors, str):
            return check_known_bits(y, panel.ptr, None, self._priors(len(panel.values)).most)
        return check_known_bits(y, panel.ptr, int(self.n_factors))

    def _allows_nan(self) -> bool:
        """Return True: NaN is a missing value in columns of any kind."""
        return True

    def _part(self, name: str) -> Any:
        return self._emission_object() if name == "emission" else getattr(self, name)

    def _emission_object(self) -> BinaryFactorEmission:
        if isinstance(self.emission, str):
            return BinaryFactorEmission(self.n_factors, output=self.emission)
        return self.emission

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        emission = self._emission_object()
        if emission.n_factors != self.n_factors:
            raise ValueError(
                "n_factors must be the same for FactorialHMM and its emission, got "
                f"{self.n_factors!r} and {emission.n_factors!r}."
            )
        self._prior_counts()
        check_gamma_prior(self.mass_prior, "mass_prior")
        if self.n_factors == "auto":
            self._check_buffet(emission)
        if check_beta_prior(emission.activity_prior, "activity_prior") != _NO_PRIOR:
            raise ValueError(
                "activity_prior of the emission is for states of HDPHMMLT: FactorialHMM has "
                "start_prior, switch_on_prior and switch_off_prior instead. Leave it at "
                f"{_NO_PRIOR}, got {shorten(emission.activity_prior)}."
            )
        if check_gamma_prior(emission.mass_prior, "mass_prior of the emission") != _NO_PRIOR:
            raise ValueError(
                "mass_prior of the emission is for states of HDPHMMLT: FactorialHMM has its own "
                f"mass_prior. Leave it at {_NO_PRIOR}, got {shorten(emission.mass_prior)}."
            )
        if emission.amplitude_variance != 0.0:
            raise ValueError(
                "amplitude_variance of the emission is for states of HDPHMMLT: FactorialHMM has "
                f"factors of one strength. Leave it at 0, got {emission.amplitude_variance!r}."
            )

    def _check_buffet(self, emission: BinaryFactorEmission) -> None:
        if emission.weights is not None:
            raise ValueError(
                "weights of the emission are those of a given number of factors: leave them at "
                'None with n_factors="auto".'
            )
        if check_beta_prior(self.start_prior, "start_prior") != _NO_PRIOR:
            raise ValueError(
                'With n_factors="auto", factors are switched on at first steps as at others: leave '
                f"start_prior at {_NO_PRIOR}, got {shorten(self.start_prior)}."
            )
        if check_beta_prior(self.switch_on_prior, "switch_on_prior")[0] != 1.0:
            raise ValueError(
                'With n_factors="auto", the mass of the Indian buffet stands for the first number '
                f"of switch_on_prior: leave it at 1.0, got {self.switch_on_prior!r}."
            )

    def _prior_counts(self) -> Floats:
        """Return the pseudo-counts of the priors for off and on: at first, after off, after on."""
        start, switch_on, switch_off = (
            check_beta_prior(getattr(self, name), name)
            for name in ("start_prior", "switch_on_prior", "switch_off_prior")
        )
        return np.array([start[::-1], switch_on[::-1], switch_off])

    def _priors(self, n_steps: int) -> GivenNumber | BuffetNumber:
        """Return the prior of the paths of factors."""
        counts = self._prior_counts()
        if isinstance(self.n_factors, str):
            return BuffetNumber(counts, check_gamma_prior(self.mass_prior, "mass_prior"), n_steps)
        return GivenNumber(counts, self.n_factors)

    # Chains

    def _start_sampler(self, panel: Any, root: np.random.SeedSequence, c: int) -> FactorialSampler:
        values = LabeledPanel.of(panel).panel.values
        emission = self._emission_object()
        n_factors = self.n_factors
        if isinstance(n_factors, str):
            n_factors = 1  # to begin with
            emission = clone(emission).set_params(n_factors=n_factors)
        n_entries = float(n_factors) * (len(values) + values.shape[1] + 10)
        check_memory(
            16.0 * self.n_chains * n_entries,
            f"n_factors={self.n_factors} with {len(values)} observations and "
            f"n_chains={self.n_chains}: activities and weights",
        )
        return FactorialSampler(
            panel,
            StepFactors(*emission.check_parts(values, len(values), reaches_all=True)),
            self._priors(len(values)),
            derive_stream(root, Role.INIT, c),
            derive_stream(root, Role.SWEEP, c),
            block_size=self.block_size,
        )

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        best = attributes["_best_chain"]
        samples, reference = name_factors(
            list(state.runs[best].models.values()),
            state.runs[best].sampler.known,
            exchangeable=self._emission_object().weights is None,
        )
        model = samples[reference]
        return {
            **attributes,
            **self._list_samples(state, best, samples, model),
            "weights_": model.weights,
            "noise_variance_": model.noise_variance,
            "factor_shares_": model.shares,
            "n_active_factors_": int(np.count_nonzero(model.shares)),
            "_most_factors": state.runs[best].sampler.priors.most,
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        if self.n_factors == "auto":
            numbers = [int(np.count_nonzero(sample.shares)) for sample in self.samples_]
            warn_of_latent_bound(self, numbers, self._most_factors, "factors")
            n_factors = max(len(sample.shares) for sample in self._models)
            if n_factors > MOST_FACTORS:
                warn_user(
                    f"FactorialHMM: stored samples have up to {n_factors} factors. predict, "
                    "predict_proba, transform, score and score_samples are sums over all "
                    f"2^n_factors joint states and refuse more than {MOST_FACTORS}; iter_sweeps, "
                    "weights_ and factor_shares_ can be used. For predictions, fit again with a "
                    f"given n_factors of at most {MOST_FACTORS}; the factors with the largest "
                    "factor_shares_ show how many matter.",
                    UserWarning,
                )

    # Public methods

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Learn from X, then return the activities of factors, as `predict` does, but given the
        known bits in y, too.

        Parameters
        ----------
        X, y : as in `fit`
        """
        self.fit(X, y)
        panel, is_single = self._check_panel(X, reset=False)
        known = self._check_known(y if self.use_y else None, panel)
        if known is None:
            return self.predict(X)
        probabilities = self._mean_of_samples("posteriors", panel, known)
        activities = (probabilities >= _HALF).astype(np.int64)
        write_known(known, activities)
        return split(activities, panel.ptr, is_single)

    @takes_partitions(None)
    def predict(self, X: Any) -> Any:
        """Return the activities of factors.

        A factor is on if its posterior probability is at least 1/2, which gives the smallest
        expected number of errors.

        Parameters
        ----------
        X : as in `fit`, or PartitionedPanel, with results as those of `HDPHMMLT`

        Returns
        -------
        list of (T_i, n_factors) arrays of int, or for a single array (T, n_factors)
            0 or 1.
        """
        probabilities, ptr, is_single = self._posteriors(X)
        return split((probabilities >= _HALF).astype(np.int64), ptr, is_single)

    def sample(
        self, n_steps: int, n_sequences: int = 1, *, random_state: Any = None
    ) -> tuple[SequencePanel, list[Bits]]:
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
            With ``n_factors="auto"`` the factors are those of the sample that the sequence is drawn
            from.
        """
        check_is_fitted(self)
        n_steps = check_count(n_steps, "n_steps", at_least=1)
        n_sequences = check_count(n_sequences, "n_sequences", at_least=1)
        check_memory(
            8.0 * n_steps * n_sequences * (self.n_features_in_ + 3.0 + len(self.factor_shares_)),
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
