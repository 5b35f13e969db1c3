"""First states of the steps of a panel, from which chains of hidden Markov models start."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import pairwise, permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array
from skdp._numeric import Floats, Places
from skdp.data import SequencePanel
from skdp.emissions._common import Stream
from skdp.emissions._common._protocol import CollapsedEmission, SummedEmission, values_for
from skdp.inference._chain import check_interrupts
from skdp.sequence._hmm._messages import (
    HMMMessages,
    KnownStates,
    Mask,
    check_possible,
    decode,
    rename_by_known,
    take_key,
)
from skdp.sequence._hmm._split_merge import Splitter, StateRegrouping, list_steps
from skdp.sequence._hmm._transitions import Transitions, count_transitions

# Given first states, their order, and first states by splits and merges.


FORBIDDEN = 1e-6
"""Similarities below this value all but forbid a transition."""

LOG_IMPOSSIBLE = -1e3
"""The finite value that counts as log phi of impossible transitions."""

_N_ORDERS, _MOST_NUMBERS = 30, 4000
"""Number of initial orders of states, which is reduced if there are many states."""

_N_TRIES = 4
_N_INITIAL_REFITS = 3


def check_init(init: Any, ptr: Places, n_states: int) -> str | Places:
    """Return the initialization: a name, or the first states of all steps, which are checked."""
    if isinstance(init, str):
        return init
    lengths = np.diff(ptr)
    parts = init if isinstance(init, list | tuple) else [init]
    arrays = [as_array(part, "init") for part in parts]
    if len(lengths) == 1 and all(array.ndim == 0 for array in arrays):
        arrays = [as_array(init, "init")]
    if len(arrays) != len(lengths):
        raise ValueError(
            f"init must hold the states of {len(lengths)} sequences, those of X; got {len(arrays)}."
        )
    for s, (array, length) in enumerate(zip(arrays, lengths, strict=True)):
        if array.dtype.kind not in "iu" or array.shape != (length,):
            raise ValueError(
                f"init must hold integers, one per step: {length} for sequence {s}, got an array "
                f"of {array.dtype} of shape {array.shape}."
            )
    states = np.concatenate(arrays).astype(np.int64)
    if len(states) and not 0 <= states.min() <= states.max() < n_states:
        wrong = states.min() if states.min() < 0 else states.max()
        raise ValueError(
            f"init must hold states from 0 to n_components - 1 = {n_states - 1}, got {wrong}."
        )
    return states


def list_given(init: Any) -> list[int]:
    """Return the states that occur in given first states."""
    parts = init if isinstance(init, list | tuple) else [init]
    return sorted({int(j) for part in parts for j in np.unique(np.asarray(part))})


def find_order(transitions: Places, log_similarity: Floats) -> Places:
    """Return an order of states, (J,), in which transitions agree with known similarities. A chain
    hardly leaves an order with all but forbidden ones, as its states would have to change places.
    """
    log_similarity = np.maximum(log_similarity, LOG_IMPOSSIBLE)
    n_states = len(log_similarity)
    order, counts = np.arange(n_states), transitions[:-1].astype(np.float64)
    if not np.any(log_similarity[counts > 0.0] < np.log(FORBIDDEN)):
        return order
    used = np.flatnonzero(transitions.sum(axis=0))
    known = counts[np.ix_(used, used)], used, log_similarity
    # Swaps of two numbers and moves of one increase the sum of log phi over all transitions, from
    # the given order and, while such transitions remain, from up to 29 random ones (9 with 20
    # states, none with 50).
    rng, best, largest = np.random.default_rng(0), order, -np.inf
    for _ in range(max(1, min(_N_ORDERS, _MOST_NUMBERS // n_states**2))):
        order, weight = _climb(order, *known)
        if weight > largest:
            best, largest = order, weight
        places = order[used]
        if not np.any(log_similarity[np.ix_(places, places)][known[0] > 0.0] < np.log(FORBIDDEN)):
            break
        order = rng.permutation(n_states)
    return best


def _climb(
    order: Places, counts: Floats, used: Places, log_similarity: Floats
) -> tuple[Places, float]:
    """Return an order improved by swaps and moves of numbers, and its sum of log phi."""

    def weigh(order: Places) -> float:
        places = order[used]
        return float(np.sum(counts * log_similarity[np.ix_(places, places)]))

    best, is_better = weigh(order), True
    while is_better:
        is_better = False
        for a, b in permutations(range(len(order)), 2):
            swapped = order.copy()
            swapped[order == a], swapped[order == b] = b, a
            moved = order.copy()
            moved[(order > a) & (order <= b)] -= 1
            moved[(order < a) & (order >= b)] += 1
            moved[order == a] = b
            for candidate in (swapped, moved):
                found = weigh(candidate)
                if found > best + 1e-9 * abs(best):
                    order, best, is_better = candidate, found, True
                    break
    return order, best


class InitialSplitMerge(StateRegrouping):
    """First states: a single state, split and merged as long as the probability grows."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        # Without self-transitions, as in models with durations, the time that a state lasts would
        # have no effect here, and several states would be created for the same observations.
        self._transitions = self._transitions.with_self_transitions()
        n_states = self._transitions.n_states
        self._weights = np.full(n_states, 1.0 / n_states)

    def run(self) -> None:
        """Write the states."""
        emission: Any = self._emission
        freedoms, found = getattr(emission, "first_freedoms", ()), []
        for freedom in freedoms:
            emission.begin_with(freedom)
            self._run()
            self._take(self._states)
            found.append((self._log_joint(), self._states.copy(), emission.prior, freedom))
        if not freedoms:
            self._run()
            return
        _, self._states[:], emission.prior, freedom = max(found, key=lambda start: start[0])
        emission.begin_with(freedom)

    def _run(self) -> None:
        """Write the states, given the degrees of freedom of Student t distributions."""
        emission: Any = self._emission
        if not getattr(emission, "has_few_rows", False):
            self._split_all()
            self._merge_all()
            return
        # With few steps for their columns, splits that begin with two steps may find nothing, and
        # small covariances overfit. So clusters are merged, too, under several priors; the most
        # probable states win.
        clusters, n_states = emission.find_clusters(self._rng), self._transitions.n_states
        starts: list[Any] = [self._split_all]
        starts += [partial(self._take, each) for each in clusters if each.max() < n_states]
        found = []
        for prior, start in product(emission.list_first_priors(), starts):
            emission.prior = prior
            start()
            self._merge_all()
            found.append((self._log_joint(), self._states.copy(), prior))
        if getattr(emission, "draws_scale", False):  # the first scale is that of a single state
            distinct = {states.tobytes(): states for _, states, _ in found}
            found = [self._settle(states) for states in distinct.values()]
        _, self._states[:], emission.prior = max(found, key=lambda start: start[0])

    def _settle(self, states: Places) -> tuple[float, Places, Any]:
        """Return states, a prior drawn given these, and the mean log joint of such draws."""
        emission: Any = self._emission
        part = emission.of_clusters(states, int(states.max()) + 1)
        log_evidence = part.settle_shared(self._rng)
        return log_evidence + self._weigh(states), states, part.prior

    def _take(self, labels: Places) -> None:
        """Take clusters as states."""
        self._states[:], self._n_used = labels, int(labels.max()) + 1
        self._log_probability = self._weigh(self._states)

    def _split_all(self) -> None:
        """Split a single state as long as the probability grows."""
        self._states[:], self._n_used = 0, 1
        self._log_probability = self._weigh(self._states)
        waiting = [0]
        while waiting and self._n_used < self._transitions.n_states:
            a = waiting.pop(0)
            if self._split(a):
                waiting += [a, self._n_used - 1]

    def _log_joint(self) -> float:
        """Return the log probability of states and observations."""
        emission = self._emission.restrict(np.arange(len(self._states)), self._n_used)
        emission.condition(self._states)
        return float(emission.log_evidence()) + self._log_probability

    def _weigh(self, states: Places) -> float:
        counts = self._transitions.count(self._ptr, states)
        return self._transitions.log_probability_of(counts, self._weights)

    def _split(self, a: int) -> bool:
        """Try to split a state; return whether the probability grew."""
        b = self._n_used
        transitions = self._transitions
        steps = list_steps(self._ptr, self._states, transitions.n_states, a, a)
        if len(steps.steps) < 2:
            return False
        mass = 2.0 * transitions.alpha / transitions.n_states
        splitter = Splitter(
            steps, self._emission.restrict(steps.steps, 2), transitions, mass, self._rng
        )
        best, best_states, best_log_probability = 0.0, None, 0.0
        whole = splitter.log_evidence(np.zeros(len(steps.steps), dtype=np.int8))
        for _ in range(_N_TRIES):
            check_interrupts()
            model = splitter.launch()
            if model is None:
                return False
            for _ in range(_N_INITIAL_REFITS):
                groups = model.choose()
                model = splitter.learn(groups)
            groups = model.choose()
            if groups.min() == groups.max():
                continue
            states = self._states.copy()
            states[steps.steps[groups == 1]] = b
            log_probability = self._weigh(states)
            gain = splitter.log_evidence(groups) - whole + log_probability - self._log_probability
            if gain > best:
                best, best_states, best_log_probability = gain, states, log_probability
        if best_states is None:
            return False
        self._states[:] = best_states
        self._log_probability = best_log_probability
        self._n_used += 1
        return True

    def _merge_all(self) -> None:
        """Merge states with the states that predict their steps second best, while that helps."""
        everything = np.arange(len(self._states))
        while self._n_used > 1:
            check_interrupts()
            emission = self._emission.restrict(everything, self._n_used)
            emission.condition(self._states)
            log_obs = np.empty((len(self._states), self._n_used))
            emission.write_log_predictive(log_obs)
            order = np.argsort(self._states, kind="stable")
            counts = np.bincount(self._states, minlength=self._n_used)
            sums = np.add.reduceat(log_obs[order], np.cumsum(counts) - counts)
            np.fill_diagonal(sums, -np.inf)
            partners = sums.argmax(axis=1)
            if not any(self._merge(a, int(partners[a])) for a in np.argsort(counts)):
                break

    def _merge(self, a: int, b: int) -> bool:
        """Merge two states if the probability grows; return whether it did."""
        transitions = self._transitions
        a, b = min(a, b), max(a, b)
        steps = list_steps(self._ptr, self._states, transitions.n_states, a, b)
        groups = (self._states[steps.steps] == b).astype(np.int8)
        emission = self._emission.restrict(steps.steps, 2)
        emission.condition(np.zeros(len(groups), dtype=np.int64))
        gain = emission.log_evidence()
        emission.condition(groups.astype(np.int64))
        gain -= emission.log_evidence()
        states = self._states.copy()
        states[states == b] = a
        states[states == self._n_used - 1] = b  # indices without gaps
        log_probability = self._weigh(states)
        if not gain + log_probability > self._log_probability:
            return False
        self._states[:] = states
        self._log_probability = log_probability
        self._n_used -= 1
        return True


# First states if some transitions are impossible.


_N_REFITS = 5


class PossibleStates:
    """First states of some sequences that are refined, and their observations."""

    def __init__(
        self, ptr: Places, states: Places, allowed: Mask, emission: Any, known: KnownStates | None
    ):
        self._ptr, self._first, self._known = ptr, states, known
        self._candidates = list_candidates(ptr, states, allowed)
        self._best = states.copy()
        self.n_states = allowed.shape[1]
        self._log_obs = np.empty((len(states), self.n_states))
        self.emission = emission.restrict(np.arange(len(states)), self.n_states)

    @property
    def n_candidates(self) -> int:
        """Number of candidates of first states."""
        return len(self._candidates)

    def choose(self, i: int) -> None:
        """Begin with a candidate."""
        self.states = self._candidates[i]

    def condition(self) -> None:
        """Condition the emission on the current states."""
        self.emission.condition(self.states)

    def log_evidence(self) -> float:
        """Return the log evidence of the conditioned emission."""
        return float(self.emission.log_evidence())

    def count(self) -> Places:
        """Return the transitions of the current states, (J + 1, J)."""
        return count_transitions(self._ptr, self.states, self.n_states)

    def decode(self, startprob: Floats, transmat: Floats) -> bool:
        """Make the most probable paths the current states, and return whether all are possible."""
        self.emission.write_log_predictive(self._log_obs)
        if self._known is not None:
            self._known.clamp(self._log_obs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of impossible observations, which the fit reports
            _, self.states = decode(self._ptr, startprob, transmat, self._log_obs)
        return not (self.states < 0).any()

    def keep(self) -> None:
        """Keep the current states."""
        self._best = self.states

    def write(self) -> None:
        """Replace the first states by the states kept last."""
        self._first[:] = self._best


def write_possible_states(first: Any, transitions: Transitions) -> None:
    """Replace first states by states without impossible transitions (Viterbi training)."""
    # Each candidate is refined: the most probable possible paths are found given parameters that
    # are learned from the last paths. The most probable result wins.
    n_states = transitions.n_states
    weights = np.full(n_states, 1.0 / n_states)
    best_of_all = -np.inf
    for i in range(first.n_candidates):
        check_interrupts()
        first.choose(i)
        first.condition()
        best = -np.inf
        for _ in range(_N_REFITS):
            rates = first.count() + transitions.shapes(weights)
            rates *= np.exp(transitions.log_similarity)
            rates /= rates.sum(axis=1, keepdims=True)
            if not first.decode(rates[-1], rates[:-1]):
                break
            first.condition()
            value = first.log_evidence()
            value += transitions.log_probability_of(first.count(), weights)
            if not value > best:
                break
            best = value
            if best > best_of_all:
                best_of_all = best
                first.keep()
    first.write()


def relax_transitions(transitions: Transitions, log_similarity: Floats) -> Transitions:
    """Return transitions with self-transitions and known similarities."""
    log_similarity = log_similarity[:-1].copy()
    if not transitions.self_transitions:
        np.fill_diagonal(log_similarity, 0.0)
    return transitions.with_self_transitions().with_log_similarity(log_similarity)


def list_candidates(ptr: Places, states: Places, allowed: Mask) -> list[Places]:
    """Return candidates of states, which may contain impossible transitions."""
    n_states = allowed.shape[1]
    candidates = [states]
    numbers = np.arange(n_states)
    if not (allowed[numbers, numbers].all() and allowed[numbers[:-1], numbers[1:]].all()):
        return candidates
    # If states may follow each other in the order of their numbers: runs of the given states in
    # this order, and sequences cut into equal parts.
    first = int(np.argmax(allowed[-1]))  # the first state in which a sequence may begin
    bounds = list(pairwise(ptr.tolist()))
    runs, equal = np.empty_like(states), np.arange(len(states))
    for begin, end in bounds:
        runs[begin:end] = np.cumsum(
            np.diff(states[begin:end], prepend=states[begin : begin + 1]) != 0
        )
    candidates.append(np.minimum(first + runs, n_states - 1))
    n_parts = 1
    while n_parts <= n_states - first:
        for begin, end in bounds:
            equal[begin:end] = first + np.arange(end - begin) * n_parts // max(end - begin, 1)
        candidates.append(equal.copy())
        n_parts = max(n_parts + 1, n_parts * 4 // 3)
    return candidates


# First states of a whole panel, found on a subset of its sequences if it is large.


MOST_STEPS = 100_000
"""First states are sought on about this many steps, or up to twice as many."""


class Start(NamedTuple):
    """First states of some sequences, and a model that goes with them."""

    states: NDArray[Any]
    emission: Any  # a sampler without observations
    matrix: tuple[Floats, Floats] | None  # of first states, transitions; None: no other sequences


def choose_stride(n_sequences: int, n_steps: int) -> int:
    """Return the spacing in a panel of the sequences whose first states are sought."""
    return max(n_steps // MOST_STEPS, 1) if n_sequences > 1 else 1


def list_chosen(ptr: Places, stride: int, number: int = 0) -> tuple[Places, Mask]:
    """Return indices of chosen sequences, of which the first is `number`, and a mask of steps."""
    numbers = np.arange(number, number + len(ptr) - 1)
    is_chosen = numbers % stride == 0
    return np.flatnonzero(is_chosen), np.repeat(is_chosen, np.diff(ptr))


def write_first_states(
    panel: SequencePanel,
    states: Places,
    transitions: Transitions,
    emission: Any,
    init: Any,
    rng: Stream,
    log_similarity: Floats | None = None,
    known: KnownStates | None = None,
) -> None:
    """Write the first states of a panel: those given as `init`, or sought by the method of that
    name. The latter are fitted to known states and similarities: their order, and possible paths.
    """
    if not isinstance(init, str):
        states[:] = init
        if known is not None:
            known.write(states)
        return
    is_summed = isinstance(emission, SummedEmission)
    stride = choose_stride(len(panel), len(states)) if is_summed else 1
    if stride == 1:
        seek_states(panel.ptr, states, transitions, emission, init, rng)
    else:
        chosen, is_chosen = list_chosen(panel.ptr, stride)
        start = begin(panel[chosen], transitions, emission, init, rng)
        key = take_key(rng)
        check_followed(follow(panel.ptr, states, emission, start, is_chosen, key))
    if known is not None:
        states[:] = rename_by_known(known.count(states))[states]
        known.write(states)
    if log_similarity is None:
        return
    if known is None:
        counts = count_transitions(panel.ptr, states, transitions.n_states)
        order = find_order(counts, log_similarity[:-1])
        states[:] = order[states]
    if np.isneginf(log_similarity).any() and isinstance(emission, CollapsedEmission):
        relaxed = relax_transitions(transitions, log_similarity)
        allowed = ~np.isneginf(relaxed.log_similarity)
        write_possible_states(PossibleStates(panel.ptr, states, allowed, emission, known), relaxed)


def seek_states(
    ptr: Places, states: Places, transitions: Transitions, emission: Any, init: str, rng: Stream
) -> None:
    """Write first states, by splits and merges or by the emission's initialization."""
    can_split = isinstance(emission, CollapsedEmission) and emission.starts_with_one_state
    if init == "auto" and can_split:
        InitialSplitMerge(ptr, states, transitions, emission, rng).run()
    else:
        emission.start(states, rng)


def begin(
    panel: SequencePanel,
    transitions: Transitions,
    emission: Any,
    init: str,
    rng: Stream,
    *,
    are_all: bool = False,
) -> Start:
    """Return the first states of some or all sequences, and the model learned from them."""
    sampler = emission.copy()
    sampler.attach(*values_for(sampler, panel.values, panel.ptr))
    states = np.zeros(len(panel.values), dtype=np.int64)
    seek_states(panel.ptr, states, transitions, sampler, init, rng)
    matrix = None
    if not are_all:
        if hasattr(sampler, "held"):
            sampler.held = True
        sampler.draw(states, rng)
        rates = transitions.with_self_transitions().copy()
        rates.draw(panel.ptr, states, rng, hold=True, rates_known=False)
        matrix = rates.matrix()
    sampler.detach()
    return Start(states, sampler, matrix)


def follow(
    ptr: Places,
    states: Places,
    emission: Any,
    start: Start,
    is_chosen: Mask,
    key: Stream,
    number: int = 0,
) -> int:
    """Write states of chosen sequences, draw the others; return the first impossible one, or -1."""
    emission.adopt(start.emission.copy())
    impossible = -1
    if start.matrix is not None:
        log_obs = np.empty((len(states), len(start.matrix[0])))
        emission.write_log_obs(log_obs)
        messages = HMMMessages(ptr, *start.matrix, log_obs)
        impossible = messages.sample_states_with(states, key, number)
    states[is_chosen] = start.states
    return impossible


def check_followed(impossible: int) -> None:
    """Raise unless the number of the first impossible sequence is -1."""
    rest = " given the first states of others: its observations are too far from theirs."
    check_possible(impossible, rest)
