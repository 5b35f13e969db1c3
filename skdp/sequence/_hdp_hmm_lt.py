"""Infinite hidden Markov models whose transitions prefer similar states."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from skdp._checks import check_beta_prior, check_gamma_prior, check_memory, shorten
from skdp._executors import Executor
from skdp._fit import FitState
from skdp._fit._estimator import (
    PartitionedSampling,
    StreamMixin,
    check_no_warm_start,
    checksum,
)
from skdp._numeric import Places
from skdp._numeric._random import Role, derive_seed, derive_stream
from skdp._sklearn_compat import HasMethods, Interval, StrOptions
from skdp.data import PartitionedPanel, SequencePanel
from skdp.data._sequence_panel import split
from skdp.data._validation import check_partitions
from skdp.emissions._common._protocol import (
    CollapsedEmission,
    check_part,
    looks_back,
    resolve_part,
)
from skdp.emissions._discrete._categorical import CategoricalEmission
from skdp.emissions._independent import EMISSIONS, has_numbers, list_unsummed
from skdp.inference._convergence import (
    SHARE_AT_BOUND,
    warn_of_bound,
    warn_of_latent_bound,
    warn_of_truncation,
)
from skdp.inference._trace import Trace
from skdp.sequence._base import (
    DURATIONS,
    SIMILARITIES,
    check_columns_observed,
    check_partition,
    make_part,
)
from skdp.sequence._durations._families import SummedDuration
from skdp.sequence._hmm._distributed import DistributedHMMSampler, DistributedPanel
from skdp.sequence._hmm._first_states import check_init, list_given
from skdp.sequence._hmm._messages import (
    KnownStates,
    LabeledPanel,
    Mask,
    check_allowed,
    check_known_states,
    check_path,
    find_possible_steps,
)
from skdp.sequence._hmm._model import count_active, sum_states
from skdp.sequence._hmm._sampler import HMMSampler, StateOrder, name_states, unite_states
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._hmm_predictions import HMMPredictions
from skdp.sequence._similarities._protocol import (
    EmissionCoupledSampler,
    FixedSimilarity,
    FixedSimilaritySampler,
)

_PARTS: dict[str, Mapping[str, type]] = {
    "emission": EMISSIONS,
    "similarity": SIMILARITIES,
    "duration": DURATIONS,
}
_MOST_FROZEN = 100
"""Number of first sweeps, at most half the burn-in, in which the concentrations and the decay of
latent locations keep their initial values."""

_LEARNT = ("top_concentration", "transition_concentration", "stickiness", "decay")
"""Scalars of the trace whose posterior means are attributes."""

_POSITIVE = Interval(Real, 1e-8, 1e8, closed="both")


class HDPHMMLT(StreamMixin, HMMPredictions):
    r"""Infinite hidden Markov model: a hidden Markov model that infers its number of states.

    It finds the states that series go through: stretches of steps whose observations have the same
    distribution, and which may return. `InfiniteHMM` is another name of this class.

    >>> import numpy as np
    >>> from skdp.sequence import HDPHMMLT
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(m, 0.5, 40) for m in (0, 5, 0, 5)]).reshape(-1, 1)
    >>> model = HDPHMMLT(6, stickiness=20.0, max_iter=200, random_state=0).fit(x)
    >>> states = model.predict(x)
    >>> np.flatnonzero(np.diff(states)) + 1  # change points
    array([ 40,  80, 120])

    The rows of the transition matrix P share the weights beta of a hierarchical Dirichlet process,
    so the data decide how many states are used; `n_components` is only an upper bound. States may
    be *sticky*, and transitions between *similar* states may be preferred (local transitions, LT).
    If kappa = 0 and phi = 1, this is the HDP-HMM:

    .. math::

        P_{jj'} \propto \pi_{jj'} \phi_{jj'}, \quad 0 < \phi_{jj'} \le 1, \quad
        \pi_{jj'} \sim \mathrm{Gamma}(\alpha \beta_{j'} + \kappa [j = j'], 1)

    Parameters
    ----------
    n_components : int, default=20
        Upper bound J on the number of states (weak limit, beta ~ Dirichlet(gamma / J)). If at least
        half of `samples_` use all of three or more, `fit` warns that it is too low.
    emission : str or emission object, default="gaussian"
        Distribution of the observations given the state: an object, such as `GaussianEmission`, or
        its name: "gaussian", "student_t", "autoregressive", "categorical", "poisson", "bernoulli"
        or "multinomial". A name stands for the object with default settings.
    similarity : {"gaussian", "emission"}, similarity object or None, default=None
        The source of phi: `GaussianSimilarity` (latent locations), `EmissionSimilarity` (the
        states' own distributions of observations), `LaplacianSimilarity` (binary factors of
        `BinaryFactorEmission`), `FixedSimilarity`, or your own object. A name stands for one of the
        first two with its defaults. None: phi = 1.
    stickiness : float or "auto", default=0.0
        kappa, the extra rate of staying, from 0 to 1e8. "auto": drawn, with kappa / (alpha + kappa)
        ~ Beta(stickiness_prior).
    stickiness_prior : (p, q), default=(1.0, 1.0)
        Parameters of this Beta prior, both from 1e-8 to 1e8.
    duration : {"poisson", "negative_binomial"}, duration object or None, default=None
        Distribution of the time that a state lasts, in a semi-Markov model: `PoissonDuration`,
        `NegativeBinomialDuration`, or your own object. A name stands for one of the first two with
        its defaults. It excludes stickiness and beam sampling. None: a state lasts until a
        transition to another one.
    transitions : "left-right", (J, J) array-like of bool or None, default=None
        Which transitions are possible: True in row j and column k if state k may follow state j.
        All others have probability 0. "left-right": a state is followed by itself or by a state
        with a higher number; with more states than needed, numbers between those in use are free.
        With a duration, the diagonal is ignored, and each state needs another successor, which
        "left-right" lacks for the last state. None: all transitions.
    start : (J,) array-like of bool or None, default=None
        The states in which a sequence may begin. None: all states.
    top_concentration : float or "auto", default="auto"
        Concentration gamma of the top-level weights beta, from 1e-8 to 1e8: the larger, the more
        components are used.
    transition_concentration : float or "auto", default="auto"
        alpha, from 1e-8 to 1e8: the larger, the more similar the rows of the transition matrix.
        With ``stickiness="auto"`` it is alpha + kappa.
    top_concentration_prior, transition_concentration_prior : (shape, rate), default=(1.0, 0.1)
        Gamma priors under which the two concentrations are drawn if they are "auto"; shape and rate
        from 1e-8 to 1e8.
    state_sampler : {"ffbs", "beam"}, default="ffbs"
        How states are drawn: from all paths by forward filtering and backward sampling, or from the
        paths whose transitions are likely enough (beam sampling, Van Gael et al. 2008). Beam
        sampling may pay off for very many states with few likely transitions each. With up to 200
        states it was slower in all our benchmarks, and successive draws differ less.
    init : {"auto", "random"} or list of (T_i,) arrays of int, default="auto"
        First states of each chain. "auto": all steps start in one state, which is split recursively
        as long as that explains the data better; for categories and binary factors, the same as
        "random". With Gaussian observations and fewer than 20 steps per column, partitions into 2
        to 13 clusters by k-means are tried as well, all of them with small and large degrees of
        freedom if these are drawn, and the most probable states win. "random": the emission's own
        initialization: the nearest of `n_components` k-means++ centers for Gaussian observations,
        the best-fitting regression of a random window for autoregressive ones, random runs for
        categories. If several sequences have 200,000 steps or more in total and the emission
        supports partitions, both use only evenly spaced sequences with about 100,000 steps; the
        states of the other sequences are drawn given the model learned from these. Or your own
        states, from 0 to ``n_components - 1``, one per step of each sequence; an array for a single
        sequence. They are only a start: y of `fit` holds states that do not change.
    state_order : {"auto", "given", "share", "mean"}, default="auto"
        Numbers of the states in the results. "share": the state with the largest share of the time
        is state 0. "mean": the state with the smallest mean of the first column is state 0, and
        unused states come last. "given": states that you have numbered keep their numbers, and the
        others take the remaining numbers by their share. You have numbered the states in y of
        `fit`, in `init`, and all states with `transitions`, `start` or a `FixedSimilarity`. "auto":
        "given" if you have numbered any state, "share" otherwise.
    use_y : bool, default=True
        Whether y of `fit` holds known states. False: y is ignored, for a Pipeline in which it
        belongs to a later step. If every state is known, the fit finds no others, and learns only
        transitions and distributions.
    judge : "auto" or bool, default="auto"
        Whether held-out steps decide about the number of states, once, at the end of the burn-in.
        Then a fit has the smallest number whose loss is within one standard error of the best, and
        one state unless more are clearly better (see Notes). "auto": True with
        `CategoricalEmission` and `StudentTEmission`, False with other emissions, and with
        similarities, durations, restricted transitions, known states or partitions, with which True
        is refused. False: the number is that of the posterior.
    merge_overlapping : "auto" or bool, default="auto"
        Whether components form one state if there is no gap between their observations and they are
        followed and preceded by the same states. A state whose noise is skewed, or has long tails
        or sharp edges, takes several components, which follow each other at random. Predictions
        then refer to states; scores, forecasts, `transmat_` and `emission_` to components. "auto":
        where possible. It needs columns of numbers or counts, and takes no similarity, duration or
        restricted transitions, with which True is refused. False: each component is a state.
    max_iter, burn_in, thin
    n_samples : int, default=20
    n_chains, stream_sweeps, stream_window, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    startprob_ : (n_components,) array
        Probabilities of the first state, in one stored sample of the best chain: the sample with
        the highest log joint among those with the most frequent number of states in use. Most of
        the following attributes belong to this sample.
    transmat_ : (n_components, n_components) array
        Transition probabilities from the row's state to the column's state. States are numbered by
        `state_order`. With a duration, the diagonals of this and of `similarity_` are 0.
    emission_ : object
        Distributions of the next observation given the states, with the posterior means of their
        parameters (binary factors as drawn). The user guide lists the attributes.
    state_shares_ : (n_components,) array
        Share of the training observations in each state. Steps without observed values do not
        count.
    n_active_components_ : int
        Number of states in use in this sample: states with at least a thousandth of the training
        observations, according to `state_shares_`. The numbers of all kept sweeps are in
        ``trace_["n_active_components"]``.
    component_labels_ : (n_components,) array of int
        State of each component: its own number or, with `merge_overlapping`, the number of the
        known or else the first component of its union, which all predictions have. Columns of
        probabilities that belong to no state are 0.
    n_active_states_ : int
        Number of states that hold at least a thousandth of the training observations. Without
        `merge_overlapping`, `n_active_components_`.
    similarity_ : (n_components, n_components) array
        Similarities phi, if the model has any.
    locations_ : (n_components, n_dims) array
        Locations of the states, with `GaussianSimilarity`.
    factors_ : (n_components, n_factors) array
        Binary vectors of the states, with `BinaryFactorEmission`. If their number is inferred, the
        factors of states in use come first, in order of the number of steps in which they are on.
    n_active_factors_ : int
        Number of factors that states in use have, with ``BinaryFactorEmission("auto")``. The
        numbers of all kept sweeps are in ``trace_["n_active_factors"]``.
    duration_ : object
        Distributions of durations, if the model has any, such as a `PoissonDurationModel`.
    samples_ : list of HMMModel
        All stored samples of the best chain, with the labels of states aligned.
    top_concentration_, transition_concentration_, stickiness_ : float
        Posterior means of gamma, of alpha without kappa, and of kappa.
    decay_ : float
        Posterior mean of lambda, if the similarities have a decay.
    trace_, n_iter_, convergence_, n_features_in_, feature_names_in_
    categories_ : list of n_features arrays or None
        Only if a column of categories held text: for each column its categories, in the order of
        their codes in the model, or None if the column holds numbers.

    See Also
    --------
    hmm_posterior, hmm_viterbi : States under a known model.
    FactorialHMM : Binary factors instead of states, each an independent Markov chain.
    StateDetector : States of recordings with waves, with few settings.
    skdp.mixture.HDPMixture : Clusters of rows whose order does not matter.

    Notes
    -----
    Blocked Gibbs sampling draws all states of a sequence at once, then the rates, tables and
    concentrations. The jumps that fail (the Markov-jump augmentation in appendix A of the source)
    are summed out. Time is proportional to the number of observations and, with ``"ffbs"``, to the
    square of `n_components`. `n_jobs` threads work on chains and on stored samples.

    Every second sweep of the first 250 and every fifth sweep afterwards also tries to split a state
    or to merge two states, with rates and parameters integrated out (Metropolis-Hastings): Gibbs
    sampling alone takes thousands of sweeps to merge two states that share a cluster. This requires
    an emission other than binary factors, or your own with the methods of `CollapsedEmission`, and
    no duration.

    Under the model, states that do not differ cost little. So symbols drawn independently, such as
    throws of dice, have many states, and so has noise with other tails than those of the states.
    The judge compares numbers by predictions, as a user would: the panel is cut into about 40
    blocks, and two short chains go on from the current states, without every second block. Their
    states are merged step by step, and scored by the probabilities of the blocks that they have not
    seen. With Student t states, the first states, found before the first sweep, compete with these.
    The chain goes on with the chosen number of states, and all others are closed. With fewer than
    200 steps standard errors are not used: the best number is chosen, if it is better than one
    state by three nats. A fit takes up to half as long again. Later calls of `partial_fit` do
    without the judge, and may open states again.

    Concentrations keep their first values during the first half of the burn-in, for at most 100
    sweeps.

    A sample is a sequence. A two-dimensional array is *one* sequence, whose rows are samples to
    scikit-learn.

    References
    ----------
    C. Dawson, C. Huang, C. T. Morrison (2017), An infinite hidden Markov model with
    similarity-biased transitions, ICML: (1)-(9) the model, appendix A the sampler.
    E. B. Fox, E. B. Sudderth, M. I. Jordan, A. S. Willsky (2008), An HDP-HMM for systems with state
    persistence, ICML: stickiness.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HMMPredictions._parameter_constraints,
        **StreamMixin._stream_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "emission": [StrOptions(set(EMISSIONS)), HasMethods("make_sampler")],
        "similarity": [StrOptions(set(SIMILARITIES)), HasMethods("make_sampler"), None],
        "stickiness": [Interval(Real, 0, 1e8, closed="both"), StrOptions({"auto"})],
        "stickiness_prior": [tuple, list],
        "duration": [StrOptions(set(DURATIONS)), HasMethods("make_sampler"), None],
        "transitions": [StrOptions({"left-right"}), "array-like", None],
        "start": ["array-like", None],
        "top_concentration": [_POSITIVE, StrOptions({"auto"})],
        "transition_concentration": [_POSITIVE, StrOptions({"auto"})],
        "top_concentration_prior": [tuple, list],
        "transition_concentration_prior": [tuple, list],
        "state_sampler": [StrOptions({"ffbs", "beam"})],
        "init": [StrOptions({"auto", "random"}), "array-like"],
        "state_order": [StrOptions({"auto", "given", "share", "mean"})],
        "use_y": ["boolean"],
        "judge": ["boolean", StrOptions({"auto"})],
        "merge_overlapping": ["boolean", StrOptions({"auto"})],
    }

    _name_of_number = "n_active_components"

    _optional_attributes = frozenset(
        ["decay_", "similarity_", "locations_", "factors_", "n_active_factors_", "duration_"]
    )

    def __init__(
        self,
        n_components: int = 20,
        *,
        emission: Any = "gaussian",
        similarity: Any = None,
        stickiness: float | str = 0.0,
        stickiness_prior: tuple[float, float] = (1.0, 1.0),
        duration: Any = None,
        transitions: Any = None,
        start: Any = None,
        top_concentration: float | str = "auto",
        transition_concentration: float | str = "auto",
        top_concentration_prior: tuple[float, float] = (1.0, 0.1),
        transition_concentration_prior: tuple[float, float] = (1.0, 0.1),
        state_sampler: str = "ffbs",
        init: Any = "auto",
        state_order: str = "auto",
        use_y: bool = True,
        judge: bool | str = "auto",
        merge_overlapping: bool | str = "auto",
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 10,
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

    # Validation

    def _part(self, name: str) -> Any:
        return resolve_part(getattr(self, name), _PARTS.get(name, {}))

    def _emission_object(self) -> Any:
        """Return the emission for X, whose vocabulary or names of columns it may need."""
        emission, n_words = self._part("emission"), vars(self).get("_n_words")
        if n_words is not None and getattr(emission, "n_symbols", 0) is None:
            emission = clone(emission).set_params(n_symbols=n_words)
        names = vars(self).get("feature_names_in_")
        if names is not None and hasattr(emission, "with_feature_names"):
            emission = emission.with_feature_names(names)
        return emission

    def _accepts_tokens(self) -> bool:
        emission = self.emission
        return emission == "categorical" or isinstance(emission, CategoricalEmission)

    def _allows_nan(self) -> bool:
        """Return whether NaN is a missing value."""
        emission = self.emission
        if isinstance(emission, str):
            emission = EMISSIONS.get(emission)
        return bool(getattr(emission, "allows_nan", False))

    def _n_given(self) -> int:
        """Return the number of first steps of each sequence that count as given."""
        n_lags = getattr(self._part("emission"), "n_lags", None)
        return max(int(n_lags), 0) if isinstance(n_lags, Integral) else 0

    def _validate_parameters(self) -> None:
        for name in ("emission", "similarity", "duration"):
            check_part(getattr(self, name), name)
        super()._validate_parameters()
        self._priors()
        self._check_order(is_restricted=self._allowed() is not None)
        if self.merge_overlapping not in ("auto", False):
            self._merges()
        if self.duration is not None:
            if self.stickiness != 0.0:
                raise ValueError(
                    "stickiness must be 0 with a duration, which determines how long states last; "
                    f"got stickiness={self.stickiness!r}."
                )
            if self.state_sampler == "beam":
                raise ValueError(
                    "state_sampler='beam' is for models without a duration; use 'ffbs'."
                )

    def _merges(self) -> bool:
        """Return whether components are merged into states; raise ValueError if they cannot be."""
        emission = self._part("emission")
        has_gaps = has_numbers(emission) and not getattr(emission, "needs_inputs", False)
        if isinstance(self.merge_overlapping, str):
            return has_gaps and self._is_plain()
        if self.merge_overlapping and not has_gaps:
            raise ValueError(
                "merge_overlapping=True needs an emission of numbers or of counts in columns, and "
                f"{shorten(emission)} has none."
            )
        if self.merge_overlapping and not self._is_plain():
            raise ValueError(
                "merge_overlapping=True takes no similarity, duration or restricted transitions."
            )
        return bool(self.merge_overlapping)

    def _is_plain(self) -> bool:
        """Return whether all states are alike a priori and last until a transition."""
        return self.similarity is None and self.duration is None and self._allowed() is None

    def _priors(self) -> TransitionPriors:
        def number(value: float | str) -> float | None:
            return None if isinstance(value, str) else float(value)

        return TransitionPriors(
            number(self.top_concentration),
            check_gamma_prior(self.top_concentration_prior, "top_concentration_prior"),
            number(self.transition_concentration),
            check_gamma_prior(
                self.transition_concentration_prior, "transition_concentration_prior"
            ),
            number(self.stickiness),
            check_beta_prior(self.stickiness_prior, "stickiness_prior"),
        )

    def _allowed(self) -> Mask | None:
        """Return the transitions that are possible by `transitions` and `start`, or None."""
        allowed = check_allowed(self.transitions, self.start, self.n_components)
        if allowed is not None and self.duration is not None:
            np.fill_diagonal(allowed[:-1], True)  # a duration decides
        return allowed

    def _possible_steps(self) -> Mask | None:
        """Return which states may follow each other step by step, (J + 1, J); None: all."""
        similarity = self._make_option("similarity")
        known = getattr(similarity, "log_similarity", None)
        is_fixed = isinstance(similarity, FixedSimilaritySampler)
        return find_possible_steps(
            self._allowed(), known if is_fixed else None, ends=self.duration is not None
        )

    def _check_order(self, *, is_restricted: bool = False, has_known: bool = False) -> None:
        """Raise ValueError if the order of states contradicts the numbers that the user gave."""
        order = self.state_order
        numbered = "transitions and start" if is_restricted else "known states in y"
        if order in ("share", "mean") and (is_restricted or has_known):
            raise ValueError(
                f"state_order={order!r} would renumber the states, while {numbered} refer to their "
                "numbers: use 'auto' or 'given'."
            )
        emission = self._part("emission")
        has_no_mean = looks_back(emission) or getattr(emission, "needs_inputs", False)
        if order == "mean" and (self._accepts_tokens() or has_no_mean):
            raise ValueError(
                f"state_order='mean' takes no emission={self.emission!r}: its states have no mean."
            )

    def _state_order(self, known: KnownStates | None) -> StateOrder:
        """Return the order of states in the results."""
        if self.state_order in ("share", "mean"):
            return StateOrder(np.empty(0, np.int64), by_mean=self.state_order == "mean")
        fixed = isinstance(self._part("similarity"), FixedSimilarity)
        if fixed or self._allowed() is not None:
            return StateOrder(np.arange(self.n_components), np.arange(self.n_components))
        given = np.array([] if isinstance(self.init, str) else list_given(self.init), np.int64)
        are_known = np.array([], np.int64) if known is None else np.flatnonzero(known.are_known)
        return StateOrder(np.union1d(given, are_known), are_known)

    def _check_partitions(self, X: PartitionedPanel) -> None:
        """Raise TypeError for parameters that partitions do not allow."""
        name = type(self).__name__
        cure = f"takes no {type(X).__name__} yet: X.compute() gathers it in a SequencePanel."
        for emission in list_unsummed(self._part("emission")):
            raise TypeError(
                f"{name} with {type(emission).__name__} {cure} Partitions are for "
                "'gaussian', 'autoregressive', 'poisson', 'bernoulli', 'categorical', "
                "'multinomial' and IndependentEmissions of these."
            )
        duration = self._make_option("duration")
        if duration is not None and not isinstance(duration, SummedDuration):
            raise TypeError(f"{name} with {type(self._part('duration')).__name__} {cure}")
        if self.state_sampler == "beam":
            raise TypeError(f"state_sampler='beam' {cure}")
        check_no_warm_start(self, X)

    def _check_input(self, X: Any, y: Any = None, executor: Executor | None = None) -> Any:
        y = y if self.use_y else None
        if executor is not None:
            return self._distribute(X, y, executor)
        panel = super()._check_input(X, y)
        known = check_known_states(y, panel.ptr, self.n_components)
        self._check_order(has_known=known is not None)
        self._check_paths(panel.ptr, known)
        return panel if known is None else LabeledPanel(panel, known)

    def _check_stream(self, X: Any, y: Any) -> None:
        if isinstance(X, PartitionedPanel):
            raise TypeError(f"partial_fit takes no {type(X).__name__}: use X.compute().")
        if y is not None and self.use_y:
            raise ValueError("partial_fit takes no known states in y.")

    def _check_batch(self, earlier: SequencePanel, X: Any, y: Any) -> tuple[SequencePanel, range]:
        batch, _ = self._check_panel(X, reset=False)
        panel, staying = self._join(earlier, batch)
        self._check_size(len(panel.values))
        self._checksum = checksum(panel.values, panel.ptr)
        return panel, staying

    def _distribute(self, X: PartitionedPanel, y: Any, executor: Executor) -> DistributedPanel:
        """Return a panel whose partitions are opened in the workers of an executor."""
        check_partitions(self, X, reset=True)
        for name in ("_n_words", "categories_", "_checksum"):
            self.__dict__.pop(name, None)
        data, allows_nan = DistributedPanel(X, executor), self._allows_nan()
        known = type(self).__name__, self._part("emission"), allows_nan, self._n_given()
        (n_seen,) = data.sum("check", partial(check_partition, *known))
        if allows_nan:
            check_columns_observed(n_seen == 0, None)
        self._check_size(max(n_steps for _, n_steps in data.sizes))
        if y is not None:
            data.set_known(check_known_states(y, data.bounds(), self.n_components))
            self._check_order(has_known=data.known is not None)
        if self._possible_steps() is not None:
            self._check_paths(data.bounds(), data.known)
        return data

    def _check_paths(self, ptr: Places, known: KnownStates | None) -> None:
        """Raise ValueError if no possible path goes through the known or the first states."""
        possible = self._possible_steps()
        if possible is None:
            return
        if not isinstance(self.init, str):
            init: Any = check_init(self.init, ptr, self.n_components)
            check_path(ptr, init, possible, "init")
        if known is not None:
            check_path(ptr, known.states, possible, "y")

    def _make_option(self, name: str) -> Any:
        """Return the sampler of the similarity or the duration, or None."""
        part = self._part(name)
        return None if part is None else make_part(part, name, self.n_components)

    def _check_size(self, n_steps: int) -> None:
        n_states = float(self.n_components)
        check_memory(
            8.0 * self.n_chains * n_states * (6.0 * n_states + n_steps),
            f"n_components={self.n_components} states with {n_steps} observations and "
            f"n_chains={self.n_chains}: transitions and densities",
        )

    # Chains

    def _make_procedure(self, data: Any) -> Any:
        if isinstance(data, DistributedPanel):
            return self._make_sampling(PartitionedSampling, data, unit="steps")
        return super()._make_procedure(data)

    def _judged_at(self, panel: Any, emission: Any) -> int | None:
        """Return the number of sweeps after which states are judged, or None."""
        is_possible = self._is_plain() and not isinstance(panel, LabeledPanel | DistributedPanel)
        chosen = self.judge
        if isinstance(chosen, str):
            chosen = is_possible and getattr(emission, "judged", False)
        elif chosen and not is_possible:
            raise ValueError(
                "judge=True takes no similarity, duration, restricted transitions, known states or "
                "partitions: leave judge='auto', or set it to False."
            )
        return max(self._burn_in(), 1) if chosen else None

    def _start_sampler(self, panel: Any, root: np.random.SeedSequence, c: int) -> HMMSampler:
        emission, n_states = self._emission_object(), self.n_components
        judged_at = self._judged_at(panel, emission)
        is_distributed = isinstance(panel, DistributedPanel)
        sequences = LabeledPanel.of(panel).panel
        if not is_distributed:
            self._check_size(len(sequences.values))
        init_stream = derive_stream(root, Role.INIT, c)
        similarity, duration = self._make_option("similarity"), self._make_option("duration")
        if is_distributed and isinstance(similarity, EmissionCoupledSampler):
            raise TypeError(
                f"{type(self._part('similarity')).__name__} takes no PartitionedPanel yet: "
                "X.compute() gathers it in a SequencePanel."
            )
        transitions = Transitions(
            n_states, self._priors(), init_stream, self_transitions=duration is None,
            allowed=self._allowed(),
        )  # fmt: skip
        n_frozen = min(_MOST_FROZEN, self._burn_in() // 2)
        options = {"similarity": similarity, "duration": duration, "n_frozen": n_frozen}
        streams = init_stream, derive_stream(root, Role.SWEEP, c)
        if is_distributed:
            sampler = emission.make_sampler_of(panel.observations(), n_states)
            init: Any = self.init
            if not isinstance(init, str):
                init = panel.split(check_init(init, panel.bounds(), n_states))
            return DistributedHMMSampler(
                panel, c, transitions, sampler, *streams, **options, init=init
            )
        return HMMSampler(
            panel,
            transitions,
            self._make_emission(sequences),
            *streams,
            **options,
            state_sampler=self.state_sampler,
            judged_at=judged_at,
            init=check_init(self.init, sequences.ptr, n_states),
        )

    def _extend_sampler(self, sampler: HMMSampler, data: SequencePanel, n_left: int) -> HMMSampler:
        stream, before = sampler.stream.copy(), copy(sampler)
        before.states = sampler.states[self._stream.ptr[n_left] :]
        return HMMSampler(
            data,
            sampler.transitions,
            self._make_emission(data),
            stream,
            stream,
            similarity=sampler.similarity,
            duration=sampler.duration,
            state_sampler=self.state_sampler,
            init=before,
        )

    def _make_emission(self, sequences: SequencePanel) -> Any:
        """Return the sampler of the emission, which must be collapsed for a stream."""
        emission = self._emission_object()
        ptr = [sequences.ptr] if looks_back(emission) else []
        sampler = make_part(emission, "emission", sequences.values, self.n_components, *ptr)
        loop = vars(self).get("_loop")
        if loop is not None and loop.is_stream and not isinstance(sampler, CollapsedEmission):
            raise ValueError(
                "partial_fit needs an emission whose parameters can be integrated out, got "
                f"{shorten(emission)}."
            )
        return sampler

    # Public methods

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Learn from X, then return the most probable states of its steps, as `predict` does, but
        given the known states in y, too.

        Parameters
        ----------
        X, y : as in `fit`
        """
        self.fit(X, y)
        if y is None or not self.use_y or isinstance(X, PartitionedPanel):
            return self.predict(X)
        panel, is_single = self._check_panel(X, reset=False)
        known = check_known_states(y, panel.ptr, self.n_components)
        probabilities = self._mean_of_samples("posteriors", panel, known)
        states = sum_states(probabilities, self._labels).argmax(axis=1)
        return split(states, panel.ptr, is_single)

    # Results

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        best, trace = attributes["_best_chain"], attributes["trace_"]
        chain = state.runs[best]
        draws, order = list(chain.models.values()), self._state_order(chain.sampler.known)
        numbers = vars(self).get("_numbers")
        if chain.sampler.n_settled > 0 and numbers is not None and len(order.fixed) == 0:
            n_known = chain.sampler.n_settled_steps
            order = replace(order, before=numbers[len(numbers) - n_known :])
        samples, reference = name_states(draws, chain.sampler.count_pairs, order)
        model = samples[reference]
        most_factors = getattr(chain.sampler.emission, "most_factors", None)
        geometry = {
            "similarity_": model.similarity,
            "locations_": getattr(model.geometry, "locations", None),
            "factors_": getattr(model.emission, "factors", None),
            "duration_": model.duration,
            "n_active_factors_": None if most_factors is None else model.n_active_factors,
        }
        learned = [name for name in _LEARNT if name in trace]
        if vars(self)["_loop"].is_stream:
            names = order.list_names(draws[reference])
            attributes["_numbers"] = np.argsort(names)[draws[reference].states].astype(np.int32)
        labels = np.arange(self.n_components)
        if self._merges():
            rng = np.random.default_rng(derive_seed(state.root, Role.TRANSFORM, 1))
            labels = unite_states(chain.sampler, samples, reference, rng)
        return {
            **attributes,
            **self._list_samples(state, best, samples, model),
            "_most_factors": most_factors,
            "_n_observed": chain.sampler.n_observed,
            "emission_": model.emission,
            "state_shares_": model.shares,
            "n_active_components_": model.n_active_components,
            "component_labels_": labels,
            "n_active_states_": count_active(sum_states(model.shares, labels)),
            **{name: value for name, value in geometry.items() if value is not None},
            **{f"{name}_": float(trace[name][best].mean()) for name in learned},
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        if "longest_share" in self.trace_:
            bound = int(self._part("duration").max_duration)
            warn_of_bound(
                self,
                "max_duration",
                self.trace_["longest_share"].ravel() >= SHARE_AT_BOUND,
                bound,
                f"have a twentieth of the steps or more in segments that last max_duration={bound} "
                "steps, so longer ones are cut into pieces. Raise max_duration in `duration`.",
            )
        samples: list[Any] = self.samples_
        by_matrix = isinstance(self._part("similarity"), FixedSimilarity)
        warn_of_truncation(self, [sample.n_active_components for sample in samples], by_matrix)
        if self._most_factors is not None:
            numbers = [len(sample.emission.factors.T) for sample in samples]
            warn_of_latent_bound(self, numbers, self._most_factors, "factors")
