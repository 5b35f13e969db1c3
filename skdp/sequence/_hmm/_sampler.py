"""Gibbs sampler of the hidden Markov model, and alignment of the states of its samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln, xlogy

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._random import draw_key, make_generator
from skdp._part import ChainComponent
from skdp.data import SequencePanel
from skdp.data._ragged import select
from skdp.emissions._common import Stream
from skdp.emissions._common._protocol import (
    CollapsedEmission,
    ComparableEmission,
    Coupling,
    EmissionModel,
    EmissionSampler,
    values_for,
)
from skdp.inference._chain import check_interrupts
from skdp.mixture._unions import fill_hidden, find_unions
from skdp.sequence._durations._families import DurationSampler
from skdp.sequence._hmm._first_states import write_first_states
from skdp.sequence._hmm._messages import (
    HMMMessages,
    KnownStates,
    LabeledPanel,
    check_possible,
    count_pairs,
    make_messages,
    observed_steps,
)
from skdp.sequence._hmm._model import HMMModel, count_active
from skdp.sequence._hmm._split_merge import StateJudge, StatePartition, StateSplitMerge
from skdp.sequence._hmm._transitions import HMMState, Transitions
from skdp.sequence._similarities._protocol import (
    EmissionCoupledSampler,
    FixedSimilaritySampler,
    SimilaritySampler,
)

FIRST_PERIOD, N_FIRST, LATER_PERIOD = 2, 250, 5
"""A split or merge is tried in every second of the first sweeps, in every fifth of the others."""

_MOST_PILOT_SWEEPS = 50
"""Largest number of sweeps of a pilot."""

_AT_FAULT = (
    " under the current parameters: its observations are too far from the others, or states cannot "
    "last long enough."
)


class HMMDraw(NamedTuple):
    """A draw of the states of the training data, which aligns states, and its model."""

    model: HMMModel
    states: Any  # (N,) int32; or, for partitions, the sweep under which they keep the states
    log_joint: float


class HMMSampler(ChainComponent):
    """Markov chain over states, transitions and parameters of the observations of one panel."""

    is_distributed: ClassVar[bool] = False
    """Whether its data are partitions that an executor has distributed."""

    n_settled = n_settled_steps = 0
    """Numbers of first sequences, and of their steps, from earlier calls of `partial_fit`."""

    states: Places

    judged_at: int | None = None
    """The sweep after which held-out steps decide how many states there are; None: never."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_ptr",
        "_values",
        "_log_obs",
        "_is_observed",
        "_known",
    )

    def __init__(
        self,
        panel: Any,  # SequencePanel or LabeledPanel
        transitions: Transitions,
        emission: EmissionSampler,
        init_stream: Stream,
        stream: Stream,
        *,
        similarity: SimilaritySampler | None = None,
        duration: DurationSampler | None = None,
        state_sampler: str = "ffbs",
        n_frozen: int = 0,
        init: Any = "auto",
        judged_at: int | None = None,
    ):
        # In the first sweeps, states follow each other at random. Learned from these,
        # concentrations would leave few states, and similarities would not differ: they keep their
        # initial values.
        self.n_frozen = n_frozen
        self.transitions, self.emission = transitions, emission
        self.similarity, self.duration = similarity, duration
        self.state_sampler, self.stream = state_sampler, stream
        self.attach(panel)
        self.n_sweeps = 0
        self._first: StatePartition | None = None
        if isinstance(init, HMMSampler):
            self._continue(init)
            return
        self._write_first_states(LabeledPanel.of(panel).panel, init, init_stream)
        if judged_at is not None and not self._can_run_pilots:
            raise ValueError(
                "judge=True needs an emission whose parameters can be integrated out, got "
                f"{type(emission).__name__}."
            )
        self.judged_at = judged_at
        if self.judged_at is not None and hasattr(emission, "begin_with"):
            self._first = StatePartition.of(self.states, emission)
        self._begin(init_stream)

    def _continue(self, before: HMMSampler) -> None:
        """Take the state of the chain of the first sequences, and draw the states of the others."""
        emission, n_steps = self.emission, len(before.states)
        assert isinstance(emission, CollapsedEmission)
        own = before.copy()
        self.transitions, self.similarity, self.duration = (
            own.transitions, own.similarity, own.duration
        )  # fmt: skip
        self.n_settled, self.n_sweeps = int(np.searchsorted(self._ptr, n_steps)), own.n_sweeps
        self.n_settled_steps = n_steps
        old, new = self._ptr[: self.n_settled + 1], self._ptr[self.n_settled :] - n_steps
        self.transitions.reopen()  # what the judge has closed
        self.transitions.draw(old, own.states, self.stream, rates_known=False)
        self.states = np.append(own.states, np.full(len(self._log_obs) - n_steps, -1))
        emission.condition(self.states)
        emission.write_log_predictive(self._log_obs)
        impossible = self._draw_paths(new, self._log_obs[n_steps:], self.states[n_steps:])
        check_possible(impossible + self.n_settled if impossible >= 0 else -1, _AT_FAULT)
        self._begin(self.stream, is_new=False)

    def _write_first_states(self, panel: Any, init: Any, rng: Stream) -> None:
        """Write the first states, given these or the way to seek them."""
        self.states = np.zeros(len(panel.values), dtype=np.int64)
        write_first_states(
            panel, self.states, self.transitions, self.emission, init, rng,
            self._known_similarity(), self._known,
        )  # fmt: skip

    def _known_similarity(self) -> Floats | None:
        """Return log phi, (J + 1, J), as far as it is known: -inf for impossible transitions."""
        allowed = self.transitions.allowed
        is_fixed = isinstance(self.similarity, FixedSimilaritySampler)
        if allowed is None and not is_fixed:
            return None
        log_similarity = np.zeros_like(self.transitions.log_similarity)
        if is_fixed:
            log_similarity[:-1] = self.similarity.log_similarity  # type: ignore[union-attr]
        if allowed is not None:
            log_similarity[~allowed] = -np.inf
        return log_similarity

    def _begin(self, rng: Stream, *, is_new: bool = True) -> None:
        """Draw the first parameters, given the first states."""
        self._hold_emission()
        self._draw_emission(rng)
        emission: Any = self.emission
        if getattr(emission, "needs_settling", False):
            emission.settle_shared(rng)
            self._draw_emission(rng)
        if self.similarity is not None:
            if is_new:
                self.similarity.start(self.emission, rng)
            self.transitions.take_similarity(self.similarity, self.emission)
        if self.duration is not None and is_new:
            self.duration.start(rng)
        self._draw_parameters(rng, rates_known=is_new)

    def attach(self, panel: SequencePanel | LabeledPanel) -> None:
        """Store the panel."""
        panel, self._known = LabeledPanel.of(panel)
        self._ptr, self._values = panel.ptr, panel.values
        self._log_obs = np.empty((len(panel.values), self.transitions.n_states))
        self._is_observed = observed_steps(panel.values, self.emission)
        self.emission.attach(*values_for(self.emission, panel.values, panel.ptr))

    @property
    def _n_sequences(self) -> int:
        return len(self._ptr) - 1

    @property
    def known(self) -> KnownStates | None:
        """The known states of the panel."""
        return self._known

    def bounds(self) -> Places:
        """Return the bounds of sequences in the whole panel."""
        return self._ptr

    def observations(self, steps: Places) -> Floats:
        """Return the observations of some steps of the whole panel, in ascending order."""
        return self._values[steps]

    def detach(self) -> None:
        """Drop the panel and arrays derived from it."""
        super().detach()
        if not isinstance(self.emission, ChainComponent):
            self.emission.detach()

    def copy(self) -> Self:
        other = super().copy()
        for name in ("emission", "similarity", "duration"):
            part = getattr(self, name)
            if not isinstance(part, ChainComponent | None):  # made by a user's own class
                setattr(other, name, part.copy())
        return other

    def sweep(self) -> None:
        """Draw the states, then everything else."""
        check_possible(self._draw_states(), _AT_FAULT)
        moved = self._is_due() and self._split_or_merge()
        self._draw_parameters(self.stream, rates_known=not moved)
        self.n_frozen = max(self.n_frozen - 1, 0)
        self.n_sweeps += 1
        if self.n_sweeps == self.judged_at:
            self._judge()

    def _judge(self) -> None:
        """Let held-out steps decide about the states; those that are not kept are closed."""
        emission: Any = self.emission
        judge = StateJudge(self._ptr, emission, self.stream)
        if not judge.has_blocks:  # there are only a few steps
            return
        pilots = [self._run_pilot(*judge.seen(fold)) for fold in (0, 1)]
        chosen = judge.choose(StatePartition.of(self.states, emission), self._first, pilots)
        self.states[:], self._first = chosen.states, None
        if chosen.setting is not None:
            emission.begin_with(chosen.setting)
        self.transitions.close(chosen.n_states)
        self._restart()

    def _restart(self) -> None:
        """Draw parameters given the states, to which the current parameters do not belong."""
        emission: Any = self.emission
        emission.condition(self.states)
        emission.write_log_predictive(self._log_obs)  # expected parameters: latent values need some
        self._draw_parameters(self.stream, rates_known=False)

    def _run_pilot(self, steps: Places, ptr: Places) -> StatePartition:
        """Return states that a chain from the current ones reaches without the other steps."""
        pilot, emission = self.copy(), self.emission
        assert isinstance(emission, CollapsedEmission)
        pilot.judged_at, pilot.n_sweeps = None, 0
        pilot._ptr, pilot._known = ptr, None
        pilot.states, pilot._is_observed = self.states[steps], self._is_observed[steps]
        pilot._log_obs = np.empty((len(steps), self.transitions.n_states))
        pilot.emission = emission.restrict(steps, self.transitions.n_states)
        draw_key(self.stream, pilot.stream)
        pilot._restart()
        for _ in range(min(_MOST_PILOT_SWEEPS, self.n_sweeps // 4)):
            check_interrupts()
            pilot.sweep()
        return StatePartition.of(pilot.states, pilot.emission)

    def _draw_states(self) -> int:
        """Draw states and missing values; return the first impossible sequence, or -1."""
        drawn = self._drawn_emission() if self.n_settled > 0 else None
        if drawn is None:
            self.emission.write_log_obs(self._log_obs)
        if self._known is not None:
            self._known.clamp(self._log_obs)
        by_beam = self.state_sampler == "beam"
        if self.n_settled == 0:
            impossible = self._draw_paths(self._ptr, self._log_obs, self.states, by_beam=by_beam)
        else:
            chosen = self._choose()
            ptr, steps = select(self._ptr, chosen)
            log_obs = self._log_obs[steps] if drawn is None else drawn.log_obs(self._values[steps])
            states = self.states[steps]
            impossible = self._draw_paths(ptr, log_obs, states, by_beam=by_beam)
            self.states[steps] = states
            impossible = int(chosen[impossible]) if impossible >= 0 else impossible
        if impossible < 0 and isinstance(self.emission, CollapsedEmission):
            self.emission.complete(self.states, self.stream)
        return impossible

    def _draw_paths(
        self, ptr: Places, log_obs: Floats, states: Places, *, by_beam: bool = False
    ) -> int:
        """Draw the states of sequences; return the first impossible one, or -1."""
        tables = None if self.duration is None else self.duration.tables()
        messages = make_messages(ptr, *self.transitions.matrix(), log_obs, tables)
        draw = messages.sample_states_by_beam if by_beam else messages.sample_states
        impossible: int = draw(states, self.stream)
        return impossible

    def _choose(self) -> Places:
        """Return the new sequences and as many of the others, drawn at random, in order."""
        is_chosen = np.arange(self._n_sequences) >= self.n_settled
        n_new = np.count_nonzero(is_chosen)
        is_chosen[make_generator(self.stream).integers(self.n_settled, size=n_new)] = True
        return np.flatnonzero(is_chosen)

    def _is_due(self) -> bool:
        """Return whether to split or merge in this sweep."""
        period = FIRST_PERIOD if self.n_sweeps < N_FIRST else LATER_PERIOD
        return self._can_move and self.n_sweeps % period == 0

    @property
    def _can_move(self) -> bool:
        """Whether parameters and rates can be integrated out of the joint distribution."""
        return self.duration is None and isinstance(self.emission, CollapsedEmission)

    @property
    def _can_run_pilots(self) -> bool:
        """Whether a chain can see a part of the steps: latent values of regressions are of all."""
        if not isinstance(self.emission, CollapsedEmission):
            return False
        part = self.emission.restrict(np.arange(1), 1)
        return all(hasattr(sampler, "draw") for sampler in getattr(part, "samplers", [part]))

    def _split_or_merge(self) -> bool:
        """Try a move; return whether states have changed, which makes all parameters stale."""
        similarity: Any = self.similarity if self._is_coupled else None
        return StateSplitMerge(
            self._ptr, self.states, self.transitions, self.emission, self.stream, similarity,
            self._known,
        ).try_once()  # fmt: skip

    @property
    def _is_coupled(self) -> bool:
        """Whether similarities depend on the parameters of the observations."""
        return isinstance(self.similarity, EmissionCoupledSampler)

    def _hold_emission(self) -> None:
        """Freeze the concentration that an emission draws, or release it."""
        if hasattr(self.emission, "held"):
            self.emission.held = self.n_frozen > 0

    def _draw_parameters(self, rng: Stream, *, rates_known: bool = True) -> None:
        transitions, similarity = self.transitions, self.similarity
        hold = self.n_frozen > 0
        transitions.draw_given(self._count(), rng, hold=hold, rates_known=rates_known)
        if self.duration is not None:
            self._draw_duration(self.duration, rng)
        self._hold_emission()
        if similarity is None:
            self._draw_emission(rng)
            return
        if isinstance(similarity, EmissionCoupledSampler):
            similarity.draw_with_emission(transitions.timed(), self.states, self.emission, rng)
            transitions.take_similarity(similarity, self.emission)
            transitions.redraw_rates(rng)
            return
        given = transitions.counts_and_rates()
        similarity.draw(*given, self.emission, rng, hold=hold)
        self._draw_emission(rng, similarity.coupling(*given))
        transitions.take_similarity(similarity, self.emission)

    def _count(self) -> Places:
        """Return the transitions of the current states, (J + 1, J)."""
        return self.transitions.count(self._ptr, self.states)

    def _draw_duration(self, duration: Any, rng: Stream) -> None:
        """Draw the parameters of the durations given the states."""
        duration.draw(self._ptr, self.states, rng)

    def _draw_emission(self, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw the parameters of the observations given the states."""
        self.emission.draw(self.states, rng, coupling)

    def log_joint(self) -> float:
        """Return log p(x, states, beta, parameters of similarities and durations)."""
        # Rates are integrated out, because the densities of hundreds of tiny rates would dominate
        # everything else; so are the parameters of observations, unless similarities depend on
        # them.
        result = self.transitions.log_probability() + self.emission.log_evidence()
        if self._is_coupled:
            emission: Any = self.emission
            result += emission.log_posterior()
        return result + sum(part.log_density() for part in self._options())

    def scalars(self) -> dict[str, float]:
        return {
            "log_joint": self.log_joint(),
            "top_concentration": self.transitions.gamma,
            "transition_concentration": self.transitions.alpha,
            "stickiness": self.transitions.kappa,
            "n_active_components": float(count_active(self._shares())),
            **(self.emission.scalars() if hasattr(self.emission, "scalars") else {}),
            **{name: x for part in self._options() for name, x in part.scalars().items()},
        }

    @property
    def n_observed(self) -> int:
        """Number of steps with an observed value."""
        return int(np.count_nonzero(self._is_observed))

    def _shares(self) -> Floats:
        """Return the share of the observed steps in each state, (J,)."""
        states = self.states[self._is_observed]
        return np.bincount(states, minlength=self.transitions.n_states) / len(states)

    def count_pairs(self, first: Any, second: Any, n_states: int) -> Places:
        """Count the observed steps by their pair of states in two draws."""
        return count_pairs(first, second, self._is_observed, n_states)

    def _options(self) -> list[Any]:
        """Return the optional parts that this model has."""
        return [part for part in (self.similarity, self.duration) if part is not None]

    def model(self) -> HMMDraw:
        """Return the current draw; its model has the distribution of the next observation."""
        startprob, transmat = self.transitions.matrix()
        similarity = geometry = None
        if self.similarity is not None:
            similarity = np.exp(self.transitions.log_similarity[:-1]).astype(np.float32)
            geometry = self.similarity.model()
        if isinstance(self.similarity, EmissionCoupledSampler):
            geometry = self.similarity.model_with_emission(self.emission)
        model = HMMModel(
            startprob, transmat, self.emission.model(), self._shares(), similarity, geometry,
            None if self.duration is None else self.duration.model(), self._drawn_emission(),
        )  # fmt: skip
        return HMMDraw(model, self._keep_states(), self.log_joint())

    def _drawn_emission(self) -> EmissionModel | None:
        """Return the distributions under the last drawn parameters, to leave out sequences."""
        emission, is_known = self.emission, self.known is not None
        if is_known or self._n_sequences < 2 or not isinstance(emission, ComparableEmission):
            return None
        return emission.known_model(tuple(part.copy() for part in emission.parameters()))

    def _keep_states(self) -> Any:
        """Return the current states, or a reference to states that are held elsewhere."""
        return self.states.astype(np.int32)

    def state(self) -> HMMState:
        return HMMState(self)


# Alignment of the states of the samples of one chain.


@dataclass(frozen=True)
class StateOrder:
    """The numbers of states in the results of a fit."""

    given: Places  # states that keep the numbers that they have in the chain
    # Given states that are the same in all samples: known ones, and those with their own possible
    # transitions or similarities. Others may have exchanged their numbers since the first sweep.
    fixed: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    by_mean: bool = False  # order others by the mean of their first column, not by share
    before: Ints | None = None  # numbers of the first steps, which states keep

    def list_names(self, draw: HMMDraw) -> Places:
        """Return the state of a sample for each number, (J,)."""
        model, n_states = draw.model, len(draw.model.shares)
        if self.before is not None:
            n_steps = len(self.before)
            shared = count_pairs(
                self.before, draw.states[:n_steps], np.ones(n_steps, np.bool_), n_states
            )
            numbers, states = linear_sum_assignment(shared, maximize=True)
            found = shared[numbers, states] > 0
            names = np.full(n_states, -1)
            names[numbers[found]] = states[found]
            is_old = shared.any(axis=1)  # other numbers come first
            free = np.argsort(np.where(names >= 0, 2, is_old), kind="stable")[: np.sum(names < 0)]
            rest = np.setdiff1d(np.arange(n_states), states[found])
            names[free] = rest[np.argsort(-model.shares[rest], kind="stable")]
            return names
        keys: Any = -model.shares
        if self.by_mean:
            emission: Any = model.emission
            keys = np.where(model.shares > 0.0, emission.marginals().means[:, 0], np.inf)
        names = np.arange(n_states)
        others = np.setdiff1d(names, self.given)
        names[others] = others[np.argsort(keys[others], kind="stable")]
        return names


BY_SHARE = StateOrder(np.empty(0, dtype=np.int64))


def name_states(
    samples: list[HMMDraw], count: Callable[[Any, Any, int], Places], order: StateOrder = BY_SHARE
) -> tuple[list[HMMModel], int]:
    """Return models with aligned states, and the index of the reference sample."""
    # The usual number of states comes first (the lowest of the most frequent ones), then the log
    # joint: a few outlying steps sometimes have their own state.
    numbers = [sample.model.n_active_components for sample in samples]
    is_usual = np.array(numbers) == np.bincount(numbers).argmax()
    log_joints = np.array([sample.log_joint for sample in samples])
    reference = int(np.argmax(np.where(is_usual, log_joints, -np.inf)))
    names = order.list_names(samples[reference])
    matched = np.setdiff1d(np.arange(len(names)), order.fixed)
    models = []
    for sample in samples:
        pairs = count(samples[reference].states, sample.states, len(names))
        # Match each reference state to the state that shares the most observations with it.
        own = names.copy()
        some = np.ix_(names[matched], matched)
        own[matched] = matched[linear_sum_assignment(pairs[some], maximize=True)[1]]
        models.append(sample.model.reorder(own))
    return models, reference


# States as unions of components: those without a gap between their observations, which are also
# followed and preceded alike. A union whose components follow each other at random is one state
# with a mixture of observations. Such a model (unions `a` and `b` are one state) is compared with
# one in which a and b are two states, by their log likelihoods, summed over paths. Drawn paths
# would not do: where the data do not tell components apart, a sticky prior makes runs of them.


_MOST_STEPS, _BLOCK = 20_000, 1000
"""Number of steps, and of successive ones, in which unions are looked for in a long panel."""

_LEAST_FACTOR = 3.0
"""Log Bayes factor that keeps two unions apart: without a gap they are one state, as a rule."""

_N_ASCENTS = 10
"""Number of steps of expectation maximization, from the transitions of the fit."""


class StatesOfUnions:
    """Hidden Markov models whose states are unions of components with known distributions."""

    def __init__(self, ptr: Places, startprob: Floats, transmat: Floats, log_obs: Floats):
        self._ptr, self._log_obs = ptr, log_obs
        self._counts = HMMMessages(ptr, startprob, transmat, log_obs).count_transitions()
        self._found: dict[bytes, tuple[float, Floats]] = {}

    def fit(self, labels: Places) -> tuple[float, Floats]:
        """Return the log likelihood of a fit, and the expected transitions between unions."""
        if (key := labels.tobytes()) not in self._found:
            members = (labels[:, np.newaxis] == np.arange(len(labels))).astype(np.float64)
            counts = self._counts
            for _ in range(_N_ASCENTS):
                visits = counts.sum(axis=0) + 1e-3
                start = visits / visits.sum()
                moves = members.T @ counts @ members + 0.01 * members.any(axis=0)
                moves /= moves.sum(axis=1, keepdims=True)
                within = visits / (members @ (visits @ members))
                messages = HMMMessages(
                    self._ptr, start, moves[np.ix_(labels, labels)] * within, self._log_obs
                )
                counts = messages.count_transitions()
            out = np.empty(len(self._ptr) - 1)
            messages.log_likelihoods(out)
            self._found[key] = float(out.sum()), members.T @ counts @ members
        return self._found[key]

    def log_factor(self, labels: Places, a: int, b: int) -> float:
        """Return the log Bayes factor of two states, a and b, against one."""
        apart, counts = self.fit(labels)
        together, _ = self.fit(np.where(labels == b, a, labels))
        following = np.delete(counts[[a, b]], b, axis=1)
        following[:, a] += counts[[a, b], b]  # a < b
        return apart - together + _price(following) + _price(counts[:, [a, b]])


def _price(table: Floats) -> float:
    """Return the log Bayes factor of separate rows of counts, less its log likelihood ratio."""
    if not (used := table.sum(axis=0) >= 1.0).any():
        return 0.0
    table = table[:, used]

    def log_evidence(counts: Floats) -> Floats:  # less the log likelihood, under Dirichlet(1/2)
        n, total = table.shape[1], counts.sum(axis=-1)
        own = gammaln(counts + 0.5) - gammaln(0.5) - xlogy(counts, counts)
        return own.sum(axis=-1) + xlogy(total, total) + gammaln(0.5 * n) - gammaln(total + 0.5 * n)

    return float(log_evidence(table).sum() - log_evidence(table.sum(axis=0)))


def unite_states(
    sampler: HMMSampler, models: list[HMMModel], reference: int, rng: np.random.Generator
) -> Places:
    """Return the state of each component: the known or else the first component of its union."""
    model, known = models[reference], sampler.known
    emission: Any = model.emission
    ptr, steps = _choose_blocks(sampler.bounds())
    values, are_known = sampler.observations(steps), np.zeros(len(model.shares), dtype=np.bool_)
    log_obs = emission.log_obs(values)
    if known is not None:
        are_known, known = known.are_known, KnownStates(known.states[steps], known.n_states)
        known.clamp(log_obs)
    posterior: Any = sum(each.posteriors(ptr, values, known) for each in models) / len(models)
    seen = observed_steps(values)
    values = fill_hidden(values, posterior.argmax(axis=1), rng)
    unions = StatesOfUnions(ptr, posterior.mean(axis=0), model.transmat, log_obs)

    def are_one(labels: Places, a: int, b: int) -> bool:
        are_two = are_known[labels == a].any() and are_known[labels == b].any()
        return not are_two and unions.log_factor(labels, a, b) < _LEAST_FACTOR

    found = find_unions(emission, values[seen], posterior[seen], rng, 0, are_one)
    order = np.argsort(~are_known, kind="stable")
    names, first = np.unique(found[order], return_index=True)
    return order[first][np.searchsorted(names, found)]


def _choose_blocks(ptr: Places) -> tuple[Places, Places]:
    """Return the bounds and the steps of evenly spaced blocks of a long panel, else of all."""
    n_steps = int(ptr[-1])
    if n_steps <= _MOST_STEPS:
        return ptr, np.arange(n_steps)
    bounds = np.union1d(ptr, np.arange(0, n_steps, _BLOCK))
    n_blocks = -(-(len(bounds) - 1) * _MOST_STEPS // n_steps)
    chosen = np.linspace(0, len(bounds) - 2, n_blocks).astype(np.int64)
    steps = [np.arange(*bounds[i : i + 2]) for i in chosen]
    return np.cumsum([0, *map(len, steps)]), np.concatenate(steps)
