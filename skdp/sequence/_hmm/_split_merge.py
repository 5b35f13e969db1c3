"""Moves that split a state in two or merge two states of a hidden Markov model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from skdp._numeric import Floats, Places
from skdp._numeric._arithmetic import round_sum
from skdp._numeric._random import draw_log_gamma, next_double
from skdp.emissions._common import Stream
from skdp.emissions._common._protocol import CollapsedEmission
from skdp.inference._chain import check_interrupts
from skdp.sequence._hmm._messages import HMMMessages, KnownStates, Mask, take_key
from skdp.sequence._hmm._transitions import SMALLEST_WEIGHT, Transitions, count_transitions
from skdp.sequence._kernels import _transitions as kernels
from skdp.sequence._similarities._protocol import EmissionCoupledSampler

WIDTHS = 1, 3, 10, 30
"""Steps of a window: short windows find states that last one step, long ones overlapping states."""

_N_TRIED = 10
"""Number of windows from which the second anchor is chosen, as the least like the first."""

_N_PASSES = 2

Groups = NDArray[np.int8]


class StepsOfTwo(NamedTuple):
    """Steps of two states; see `_kernels/_transitions`."""

    steps: Places
    before: Places
    after: Places


def list_steps(ptr: Places, states: Places, n_states: int, a: int, b: int) -> StepsOfTwo:
    """Return the steps of two states, or of one state that is passed twice."""
    arrays = np.empty((3, len(states)), dtype=np.int64)
    n = kernels.list_steps(ptr, states, n_states, a, b, *arrays)
    return StepsOfTwo(*np.ascontiguousarray(arrays[:, :n]))


def count_groups(steps: StepsOfTwo, groups: Groups, n_states: int) -> tuple[Places, Places, Places]:
    """Return the transitions into, out of and within two groups."""
    into = np.empty((n_states + 1, 2), dtype=np.int64)
    out_of = np.empty((2, n_states + 1), dtype=np.int64)
    within = np.empty((2, 2), dtype=np.int64)
    kernels.count_groups(steps.before, steps.after, groups, into, out_of, within)
    return into, out_of, within


class LogTables(NamedTuple):
    """Logs of the weights of transitions of a hidden Markov model of two groups of steps."""

    into: Floats
    out_of: Floats
    within: Floats


def weigh_transitions(
    counts: tuple[Places, Places, Places], weights: Floats, mass: float, kappa: float
) -> LogTables:
    """Return log weights of transitions given their counts, `weights` alpha beta, and `mass`."""
    # `mass` is the rate of transitions to the two states together; each may have half of it.
    into, out_of, within = counts
    log_into = np.log((into + 0.5 * mass) / (into.sum(axis=1, keepdims=True) + mass))
    totals = within.sum(axis=1) + out_of[:, :-1].sum(axis=1) + weights.sum() + kappa
    log_within = np.log((within + 0.5 * mass + kappa * np.eye(2)) / totals[:, np.newaxis])
    log_out_of = np.zeros(out_of.shape)  # any state may be the last one of a sequence
    log_out_of[:, :-1] = np.log(
        np.maximum(out_of[:, :-1] + weights, SMALLEST_WEIGHT) / totals[:, np.newaxis]
    )
    return LogTables(log_into, log_out_of, log_within)


class TwoStates:
    """A hidden Markov model of two groups of steps, for proposals."""

    def __init__(
        self,
        steps: StepsOfTwo,
        emission: CollapsedEmission,
        tables: LogTables,
        first: int = 0,
        is_known: Mask | None = None,
    ):
        self._steps, self._first, self._log_within = steps, first, tables.within
        self._has_known = is_known is not None
        n = len(steps.steps)
        log_obs, self._odds = np.empty((n, 2)), np.empty(n)
        emission.write_log_predictive(log_obs)
        if is_known is not None:
            log_obs[is_known] = 0.0, -np.inf  # known steps stay in group 0, the state that is split
        kernels.filter_groups(log_obs, steps.before, steps.after, *tables, self._odds)

    def draw(self, rng: Stream) -> Groups:
        """Return a draw of the groups of all steps."""
        return self.draw_with(take_key(rng))

    def draw_with(self, key: Stream) -> Groups:
        """Return the draw determined by a key."""
        groups = np.empty(len(self._odds), dtype=np.int8)
        kernels.draw_groups(
            self._odds, self._steps.steps, self._steps.after, self._log_within, self._first, groups,
            key, np.empty_like(key),
        )  # fmt: skip
        return groups

    def log_probability(self, groups: Groups) -> float:
        """Return the log probability of a draw."""
        return log_probability_of_sums(self.add_logs(groups), has_known=self._has_known)

    def add_logs(self, groups: Groups) -> Places:
        """Return the sums of log probabilities of the groups, and of the opposite groups."""
        sums = np.zeros((2, 3), dtype=np.int64)
        for flip in (0, 1):
            kernels.log_probability_of_groups(
                self._odds, self._steps.after, self._log_within, groups, flip, sums[flip]
            )
        return sums

    def choose(self) -> Groups:
        """Return good groups: the better one at each step given the group of the next step."""
        groups = np.empty(len(self._odds), dtype=np.int8)
        kernels.choose_groups(self._odds, self._steps.after, self._log_within, groups)
        return groups


def log_probability_of_sums(sums: Places, *, has_known: bool) -> float:
    """Return the log probability of groups, given the log sums of both orientations, (2, 3)."""
    # Unless known states decide which group is 0, a fair coin does.
    if has_known:
        return float(round_sum(sums[0]))
    both = [round_sum(each) for each in sums]
    return float(np.logaddexp(*both) - np.log(2.0))


@dataclass(eq=False)
class Splitter:
    """Proposals that split steps of one or two states, independent of their current states."""

    # A subclass may keep steps and groups elsewhere; groups are then not arrays.
    steps: StepsOfTwo
    emission: Any
    transitions: Transitions
    mass: float
    rng: Stream
    is_known: Mask | None = None

    def launch(self) -> Any:
        """Return a random model of two groups, independent of the current ones, or None."""
        n_windows = self.cut_windows(pick(WIDTHS, self.rng))
        if n_windows < 2:
            n_windows = self.cut_windows(1)
        if n_windows < 2:
            return None  # there is nothing to split
        # Two different windows gather the windows like them; then each step chooses a group.
        first = pick(range(n_windows), self.rng)
        others = [pick(range(n_windows - 1), self.rng) for _ in range(_N_TRIED)]
        others = [i + (i >= first) for i in others]
        second = others[int(np.argmax(self.compare_windows(first, others)))]
        groups = self.anchor(first, second)
        for _ in range(_N_PASSES):
            groups = self.gather(groups, first, second)
        return self.learn(self.learn(groups).draw(self.rng))

    def learn(self, groups: Any) -> Any:
        """Return the model estimated from two groups."""
        transitions = self.transitions
        weights = transitions.alpha * transitions.weights
        tables = weigh_transitions(self.count(groups), weights, self.mass, transitions.kappa)
        self.condition(groups)
        return self.model(tables)

    def log_evidence(self, groups: Any) -> float:
        """Return log p(observations of these steps given their groups)."""
        self.condition(groups)
        return float(self.emission.log_evidence())

    # Operations on steps

    def cut_windows(self, width: int) -> int:
        """Cut all runs into windows of at most `width` steps; return their number."""
        self._windows = np.empty(len(self.steps.steps), dtype=np.int64)
        return int(kernels.cut_windows(self.steps.before, width, self._windows))

    def compare_windows(self, first: int, others: list[int]) -> Floats:
        """Return the mean log density ratio of some windows, all windows but `first` over it."""
        self.condition(self.all_but(first))
        return self.gains_of(others)

    def all_but(self, first: int) -> Groups:
        """Return groups with one window in group 0 and all others in group 1."""
        return (self._windows != first).astype(np.int8)

    def gains_of(self, windows: list[int]) -> Floats:
        """Return the mean log density ratio of some windows, group 1 over group 0."""
        away: Floats = self._window_gains() / np.bincount(self._windows)
        return away[windows]

    def _window_gains(self) -> Floats:
        """Return the log density ratio of each window, group 1 over group 0."""
        log_obs = np.empty((len(self._windows), 2))
        self.emission.write_log_predictive(log_obs)
        return np.bincount(self._windows, log_obs[:, 1] - log_obs[:, 0]).astype(np.float64)

    def anchor(self, first: int, second: int) -> Any:
        """Return groups of one window each; all other steps are in no group."""
        groups = np.full(len(self._windows), -1, dtype=np.int8)
        self._pin(groups, first, second)
        return groups

    def _pin(self, groups: Groups, first: int, second: int) -> None:
        groups[self._windows == first], groups[self._windows == second] = 0, 1

    def gather(self, groups: Any, first: int, second: int) -> Any:
        """Return groups of the windows, by the given group that each resembles more."""
        self.condition(groups)
        return self.gather_windows(first, second)

    def gather_windows(self, first: int, second: int) -> Groups:
        """Return groups: the more likely one of each window under the conditioned emission."""
        groups = (self._window_gains() > 0.0).astype(np.int8)[self._windows]
        self._pin(groups, first, second)
        return groups

    def condition(self, groups: Any) -> None:
        """Condition the emission on groups."""
        self.emission.condition(groups.astype(np.int64))

    def model(self, tables: LogTables) -> Any:
        """Return a model of two groups, with the conditioned emission."""
        return TwoStates(self.steps, self.emission, tables, is_known=self.is_known)

    def count(self, groups: Any) -> tuple[Places, Places, Places]:
        """Return the transitions into, out of and within two groups."""
        return count_groups(self.steps, groups, self.transitions.n_states)

    def sizes(self, groups: Any) -> tuple[int, int]:
        """Return the numbers of steps of both groups."""
        n_ones = int(np.count_nonzero(groups))
        return len(groups) - n_ones, n_ones

    def whole(self) -> Any:
        """Return groups with all steps in group 0."""
        return np.zeros(len(self.steps.steps), dtype=np.int8)

    def exchange(self, groups: Any) -> Any:
        """Return the groups with their labels exchanged."""
        return groups ^ 1

    def group_by(self, states: Places, b: int) -> Any:
        """Return groups with the steps of state `b` in group 1."""
        return (states[self.steps.steps] == b).astype(np.int8)

    def write(self, states: Places, groups: Any, a: int, b: int) -> None:
        """Write state a to the steps of group 0, and b to the steps of group 1."""
        states[self.steps.steps] = np.where(groups == 0, a, b)


class StateRegrouping:
    """Base class of moves that reassign steps of some states to others, in place."""

    def __init__(
        self,
        ptr: Places,
        states: Places,
        transitions: Transitions,
        emission: Any,
        rng: Stream,
        similarity: EmissionCoupledSampler | None = None,
        known: KnownStates | None = None,
    ):
        self._ptr, self._states = ptr, states
        self._transitions, self._emission = transitions, emission
        self._rng, self._similarity, self._known = rng, similarity, known


class StateSplitMerge(StateRegrouping):
    """Metropolis-Hastings moves on states and two weights, in place. Rates and parameters of the
    observations are integrated out, and stale after an accepted move. Known states stay.
    """

    def try_once(self) -> bool:
        """Propose a split or a merge; return whether it was accepted."""
        self._counts = self._count()
        sizes = self._counts.sum(axis=0)
        used, empty = np.flatnonzero(sizes), np.flatnonzero(sizes[: self._transitions.n_open] == 0)
        if next_double(self._rng) < 0.5:
            return len(empty) > 0 and self._split(sizes, used, empty)
        return len(used) > 1 and self._merge(sizes, used, empty)

    def _split(self, sizes: Places, used: Places, empty: Places) -> bool:
        a, b = pick(used, self._rng), pick(empty, self._rng)
        splitter = self._splitter(a, a, b)
        model = splitter.launch()
        if model is None:
            return False
        groups = model.draw(self._rng)
        if not self._is_known(a) and next_double(self._rng) < 0.5:  # which group keeps state a
            groups = splitter.exchange(groups)
        sizes_of_groups = splitter.sizes(groups)
        if min(sizes_of_groups) == 0:
            return False
        forward = model.log_probability(groups) - np.log(len(used) * len(empty))
        sizes = sizes.copy()
        sizes[a], sizes[b] = sizes_of_groups
        backward = log_probability_of_merge(sizes, b)
        whole = splitter.whole()
        gain = splitter.log_evidence(groups) - splitter.log_evidence(whole)
        log_ratio = gain + backward - forward
        return self._accept(splitter, (groups, whole), a, b, log_ratio)

    def _merge(self, sizes: Places, used: Places, empty: Places) -> bool:
        ends = np.cumsum(1.0 / sizes[used])
        i = min(np.searchsorted(ends, next_double(self._rng) * ends[-1]), len(used) - 1)
        a, b = pick(np.delete(used, i), self._rng), used[i]
        # A merge would move the known steps of b.
        if self._is_known(b):
            return False
        splitter = self._splitter(a, b, b)
        model = splitter.launch()
        if model is None:
            return False
        groups = splitter.group_by(self._states, b)
        forward = log_probability_of_merge(sizes, b)
        backward = model.log_probability(groups) - np.log((len(used) - 1.0) * (len(empty) + 1.0))
        whole = splitter.whole()
        gain = splitter.log_evidence(whole) - splitter.log_evidence(groups)
        log_ratio = gain + backward - forward
        return self._accept(splitter, (whole, groups), a, b, log_ratio)

    def _is_known(self, j: int) -> bool:
        """Return whether any step is known to be in a state."""
        return self._known is not None and bool(self._known.are_known[j])

    def _count(self) -> Places:
        """Return the transitions of the current states, (J + 1, J)."""
        return self._transitions.count(self._ptr, self._states)

    def _splitter(self, a: int, b: int, other: int) -> Splitter:
        """Return the splitter of the steps of a and b; a and `other` share their weights."""
        weights = self._transitions.weights
        return self._make_splitter(a, b, self._transitions.alpha * (weights[a] + weights[other]))

    def _make_splitter(self, a: int, b: int, mass: float) -> Splitter:
        transitions = self._transitions
        steps = list_steps(self._ptr, self._states, transitions.n_states, a, b)
        emission = self._emission.restrict(steps.steps, 2)
        is_known = None
        if self._known is not None and self._is_known(a):
            is_known = self._known.states[steps.steps] >= 0
        return Splitter(steps, emission, transitions, mass, self._rng, is_known)

    def _shapes(self, counts: tuple[Places, Places, Places]) -> Floats:
        """Return the shapes of the Beta distribution that proposes the share of two weights."""
        # Each restaurant is assumed to have one table for each group that its customers choose.
        into, _, within = counts
        tables = (into > 0).sum(axis=0) + (within > 0).sum(axis=0)
        return self._transitions.gamma / self._transitions.n_states + tables

    def _accept(
        self, splitter: Splitter, groups: tuple[Any, Any], a: int, b: int, log_ratio: float
    ) -> bool:
        """Propose weights for the states of the proposed `groups`; then accept all or nothing."""
        transitions = self._transitions
        pair = [a, b]
        among = [splitter.count(each) for each in groups]
        new, old = (self._shapes(each) for each in among)
        counts = regroup(self._counts, a, b, among[0])
        logs = np.array([draw_log_gamma(shape, self._rng) for shape in new])
        weights = transitions.weights.copy()
        total = weights[pair].sum()
        shares = np.exp(logs - np.logaddexp(*logs))
        weights[pair] = np.maximum(total * shares, SMALLEST_WEIGHT)
        # Densities of the logit of the share, because the density of beta is one of log ratios.
        log_ratio += log_density_of_share(transitions.weights[pair], old)
        log_ratio -= log_density_of_share(weights[pair], new)
        if self._similarity is None:
            log_ratio += transitions.log_ratio(
                (counts, self._counts), (weights, transitions.weights), a, b
            )
        else:
            # Parameters of the two states are proposed from their posterior given states and
            # observations, so that observations still enter only through the evidence.
            proposal = self._similarity.propose_pair(
                self._emission, splitter.emission, groups[0].astype(np.int64), pair, self._rng
            )
            there = transitions.with_log_similarity(proposal.log_similarity)
            log_ratio += there.log_probability_of(counts, weights)
            log_ratio -= transitions.log_probability_of(self._counts, transitions.weights)
        if not np.log1p(-next_double(self._rng)) < log_ratio:
            return False
        if self._similarity is not None:
            self._similarity.accept_pair(self._emission, proposal)
            transitions.log_similarity[:] = there.log_similarity
        splitter.write(self._states, groups[0], a, b)
        self._counts = counts
        transitions.weights[:] = weights
        return True


def regroup(counts: Places, a: int, b: int, among: tuple[Places, Places, Places]) -> Places:
    """Return all transitions after steps of a and b are regrouped, given their `count_groups`."""
    into, out_of, within = among
    pair = [a, b]
    result = counts.copy()
    result[pair] = out_of[:, :-1]
    result[:, pair] = into
    result[np.ix_(pair, pair)] = within
    return result


def pick(choices: Sequence[Any] | NDArray[Any], rng: Stream) -> Any:
    """Return one of several choices, drawn uniformly."""
    return choices[int(next_double(rng) * len(choices))]


def log_probability_of_merge(counts: Places, b: int) -> float:
    """Return the log probability of trying to merge state b into a given other state."""
    # Small states are tried more often: a few outlying steps often have their own state.
    used = counts[counts > 0]
    return float(-np.log(counts[b] * (1.0 / used).sum() * (len(used) - 1)))


def log_density_of_share(weights: Floats, shapes: Floats) -> float:
    """Return the log density of the logit of the first weight's share of two weights."""
    return float(shapes @ np.log(weights / weights.sum()) - betaln(*shapes))


# The number of states that held-out steps support.
#
# If data are not quite from the model, or states are all alike, the posterior holds more states
# than predictions need. So the number of states is judged as that of topics is: by the probability
# of held-out steps, given those before them. Pilots, short chains, do not see these steps.


class StatePartition(NamedTuple):
    """States of some steps, without gaps in their numbers, and the emission's setting for them."""

    states: Places
    setting: Any = None  # the argument of its `begin_with`, if it has one

    @classmethod
    def of(cls, states: Places, emission: Any) -> StatePartition:
        """Return the partition by states of which some may not be used."""
        setting = emission.freedom if hasattr(emission, "begin_with") else None
        return cls(np.unique(states, return_inverse=True)[1].reshape(-1), setting)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.states.max()) + 1


_N_BLOCKS, _SHORTEST = 40, 5
"""Number of blocks of steps, and least length; every second one is held out, then the others."""


_FEWEST_STEPS = 200
"""Number of steps below which standard errors tell little, and are not used."""

_CLEAR_GAIN, _LEAST_GAIN = 2.0, 3.0
"""Standard errors, and nats, by which the best number has to be better than one state."""

_N_REDRAWS = 4
"""Number of draws of the states after merges."""


class StateJudge:
    """Choice of the smallest number of states that predicts held-out steps as well as the best."""

    def __init__(self, ptr: Places, emission: Any, rng: Stream):
        self._emission, self._rng = emission, rng
        length = max(int(ptr[-1]) // _N_BLOCKS, _SHORTEST)
        starts = [np.arange(begin, end, length) for begin, end in pairwise(ptr)]
        self._blocks = np.append(np.concatenate(starts), ptr[-1]).astype(np.int64)
        self._folds = np.arange(len(self._blocks) - 1) % 2

    @property
    def has_blocks(self) -> bool:
        """Whether there are steps in both folds."""
        return len(self._folds) > 1

    def seen(self, fold: int) -> tuple[Places, Places]:
        """Return the steps that are not in a fold, and the offsets of their blocks."""
        lengths = np.diff(self._blocks)
        steps = np.flatnonzero(np.repeat(self._folds != fold, lengths))
        return steps, np.concatenate([[0], np.cumsum(lengths[self._folds != fold])])

    def choose(
        self, chain: StatePartition, first: StatePartition | None, pilots: list[StatePartition]
    ) -> StatePartition:
        """Return a partition that follows by merges from that of the chain, or the first one.
        `pilots` have states of the steps that each fold leaves.
        """
        paths = []
        for fold in (0, 1):
            steps, ptr = self.seen(fold)
            path = self._merge_down(steps, ptr, pilots[fold])
            paths.append([self._redraw(steps, ptr, partition) for partition in path])
        scores, partitions = [], self._merge_down(np.arange(len(chain.states)), self._blocks, chain)
        for n in range(1, max(len(path) for path in paths) + 1):
            scores.append(self._score([path[-min(n, len(path))] for path in paths]))
        candidates = [partitions[-min(n, len(partitions))] for n in range(1, len(scores) + 1)]
        if first is not None:
            for each in self._merge_down(np.arange(len(first.states)), self._blocks, first):
                rest = [each._replace(states=each.states[self.seen(fold)[0]]) for fold in (0, 1)]
                scores.append(self._score(rest))
                candidates.append(each)
        logs = np.array(scores)
        losses = logs[int(logs.sum(axis=1).argmax())] - logs
        # A block may hold an absurd value: it counts no more than the next one.
        limits = np.sort(np.abs(losses), axis=1)[:, -2:-1]
        losses = np.clip(losses, -limits, limits)
        errors = losses.std(axis=1) * np.sqrt(losses.shape[1])  # standard errors of their sums
        if self._blocks[-1] < _FEWEST_STEPS:
            errors[:] = 0.0
        # As with topics, the best has to be clearly better than one state.
        is_one = np.array([each.n_states == 1 for each in candidates])
        bounds = np.where(is_one, np.maximum(_CLEAR_GAIN * errors, _LEAST_GAIN), errors)
        good = np.flatnonzero(losses.sum(axis=1) <= bounds)
        # Of those with the same number, the first states, which come last here, were most probable.
        order = [(candidates[i].n_states, -i) for i in good]
        return candidates[-min(order)[1]]

    def _conditioned(self, steps: Places, partition: StatePartition, n_states: int) -> Any:
        """Return the emission of some steps given their states."""
        emission = self._emission.restrict(steps, n_states)
        if partition.setting is not None:
            emission.begin_with(partition.setting)
        emission.condition(partition.states)
        return emission

    def _score(self, partitions: list[StatePartition]) -> Floats:
        """Return the log probability of each block given states of the steps of the other fold."""
        out, everything = np.empty(len(self._folds)), np.arange(int(self._blocks[-1]))
        for fold, partition in enumerate(partitions):
            steps, ptr = self.seen(fold)
            whole = np.full(len(everything), -1)
            whole[steps] = partition.states
            log_obs = np.empty((len(whole), partition.n_states))
            own = partition._replace(states=whole)
            emission = self._conditioned(everything, own, partition.n_states)
            if hasattr(self._emission, "settle_prior"):
                self._emission.settle_prior(emission)
            getattr(emission, "write_log_scores", emission.write_log_predictive)(log_obs)
            logs = np.empty(len(out))
            HMMMessages(self._blocks, *self._expect(ptr, partition), log_obs).log_likelihoods(logs)
            out[self._folds == fold] = logs[self._folds == fold]
        return out

    def _redraw(self, steps: Places, ptr: Places, partition: StatePartition) -> StatePartition:
        """Return a partition whose states have been drawn a few times: merges misplace some."""
        for _ in range(_N_REDRAWS if partition.n_states > 1 else 0):
            log_obs = np.empty((len(steps), partition.n_states))
            emission = self._conditioned(steps, partition, partition.n_states)
            emission.write_log_predictive(log_obs)
            states = partition.states.copy()
            messages = HMMMessages(ptr, *self._expect(ptr, partition), log_obs)
            messages.sample_states(states, self._rng)
            states = np.unique(states, return_inverse=True)[1].reshape(-1)
            partition = partition._replace(states=states)
        return partition

    def _expect(self, ptr: Places, partition: StatePartition) -> tuple[Floats, Floats]:
        """Return the expected shares of states, (K,), and their transitions, (K, K)."""
        states, n = partition.states, partition.n_states
        counts = count_transitions(ptr, states, n)
        # The concentrations of the chain suit its own states. Here one transition is added to each.
        sizes: Floats = np.bincount(states, minlength=n).astype(np.float64)
        shares = (sizes + 1.0 / n) / (len(states) + 1.0)
        rows: Floats = counts[:-1] + shares
        return shares, rows / rows.sum(axis=1, keepdims=True)

    def _merge_down(
        self, steps: Places, ptr: Places, partition: StatePartition
    ) -> list[StatePartition]:
        """Return a partition and those that follow by the best merges, down to one state."""
        found = [partition]
        while partition.n_states > 1:
            check_interrupts()
            emission = self._conditioned(steps, partition, partition.n_states)
            log_obs = np.empty((len(steps), partition.n_states))
            emission.write_log_predictive(log_obs)
            sums = np.zeros(log_obs.shape[1:] * 2)
            np.add.at(sums, partition.states, log_obs)
            own = np.diag(sums).copy()
            np.fill_diagonal(sums, -np.inf)
            # The state whose steps another one explains best joins that.
            a = int((own - sums.max(axis=1)).argmin())
            states = np.where(partition.states == a, int(sums[a].argmax()), partition.states)
            states -= states > a
            partition = partition._replace(states=states)
            found.append(partition)
        return found
