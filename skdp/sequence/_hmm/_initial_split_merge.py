"""First states of a hidden Markov model."""

from __future__ import annotations

from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array
from skdp._numeric._typing import Floats, Places
from skdp.emissions._protocol import CollapsedEmission
from skdp.inference._interrupt import check_interrupts
from skdp.sequence._hmm._split_merge import Splitter, StateRegrouping, list_steps
from skdp.sequence._hmm._transitions import Transitions

FORBIDDEN = 1e-6
"""Similarities below this value all but forbid a transition."""

LOG_IMPOSSIBLE = -1e3
"""The finite value that counts as log phi of impossible transitions."""

_N_ORDERS, _MOST_NUMBERS = 30, 4000
"""Number of initial orders of states, which is reduced if there are many states."""

_N_TRIES = 4
_N_REFITS = 3


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

    def __init__(
        self,
        ptr: Places,
        states: Places,
        transitions: Transitions,
        emission: CollapsedEmission,
        rng: NDArray[np.uint64],
    ):
        # Without self-transitions, as in models with durations, the time that a state lasts would
        # have no effect here, and several states would be created for the same observations.
        super().__init__(ptr, states, transitions.with_self_transitions(), emission, rng)
        self._weights = np.full(transitions.n_states, 1.0 / transitions.n_states)

    def run(self) -> None:
        """Write the states."""
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
            for _ in range(_N_REFITS):
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
