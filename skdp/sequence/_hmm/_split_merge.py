"""Moves that split a state in two and merge two states of a hidden Markov model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from skdp._random import draw_log_gamma, next_double
from skdp._typing import Floats, Places
from skdp.emissions._protocol import CollapsedEmission
from skdp.sequence._hmm import _kernels_split_merge as kernels
from skdp.sequence._hmm._transitions import SMALLEST_WEIGHT, Transitions
from skdp.sequence._similarities._protocol import EmissionCoupledSampler

WIDTHS = 1, 3, 10, 30
"""Steps of a window. Short ones see states that last a step, long ones states that overlap."""

_N_TRIED = 10
"""Windows among which the second anchor is the one that is least like the first."""

_N_PASSES = 2

Groups = NDArray[np.int8]


class Steps(NamedTuple):
    """Steps of two states; see `_kernels_split_merge`."""

    steps: Places
    before: Places
    after: Places


def list_steps(ptr: Places, states: Places, n_states: int, a: int, b: int) -> Steps:
    """Return the steps of two states, or of one that is given twice."""
    arrays = np.empty((3, len(states)), dtype=np.int64)
    n = kernels.list_steps(ptr, states, n_states, a, b, *arrays)
    return Steps(*np.ascontiguousarray(arrays[:, :n]))


def count_groups(steps: Steps, groups: Groups, n_states: int) -> tuple[Places, Places, Places]:
    """Return the transitions into, out of and within two groups."""
    into = np.empty((n_states + 1, 2), dtype=np.int64)
    out_of = np.empty((2, n_states + 1), dtype=np.int64)
    within = np.empty((2, 2), dtype=np.int64)
    kernels.count_groups(steps.before, steps.after, groups, into, out_of, within)
    return into, out_of, within


class TwoStates:
    """A hidden Markov model of two groups of steps, for proposals.

    Its parameters are those that one way to group the steps would teach.

    Parameters
    ----------
    steps : Steps
    emission : CollapsedEmission
        Restricted to these steps, for two states.
    groups : (n,) array of int8
        What to learn from; -1: nothing.
    weights : (J,) array
        Rates alpha beta of the transitions to all states.
    mass : float
        Rate of those to the two states together.
    kappa : float
    """

    def __init__(
        self,
        steps: Steps,
        emission: CollapsedEmission,
        groups: Groups,
        weights: Floats,
        mass: float,
        kappa: float,
    ):
        self._after = steps.after
        into, out_of, within = count_groups(steps, groups, len(weights))
        log_into = np.log((into + 0.5 * mass) / (into.sum(axis=1, keepdims=True) + mass))
        totals = within.sum(axis=1) + out_of[:, :-1].sum(axis=1) + weights.sum() + kappa
        log_within = np.log((within + 0.5 * mass + kappa * np.eye(2)) / totals[:, np.newaxis])
        log_out_of = np.zeros(out_of.shape)  # any state may be the last one of a sequence
        log_out_of[:, :-1] = np.log(
            np.maximum(out_of[:, :-1] + weights, SMALLEST_WEIGHT) / totals[:, np.newaxis]
        )
        emission.condition(groups.astype(np.int64))
        log_obs = np.empty((len(groups), 2))
        emission.write_log_predictive(log_obs)
        self._log_within = log_within
        self._odds = np.empty(len(groups))
        kernels.filter_groups(
            log_obs, steps.before, steps.after, log_into, log_out_of, log_within, self._odds
        )

    def draw(self, rng: NDArray[np.uint64]) -> Groups:
        """Return a draw of the groups of all steps."""
        groups = np.empty(len(self._odds), dtype=np.int8)
        kernels.draw_groups(self._odds, self._after, self._log_within, groups, rng)
        return groups

    def log_probability(self, groups: Groups) -> float:
        """Return the log probability of a draw if a coin says which group is called 0."""
        known = self._odds, self._after, self._log_within, groups
        both = [kernels.log_probability_of_groups(*known, flip) for flip in (0, 1)]
        return float(np.logaddexp(*both) - np.log(2.0))

    def choose(self) -> Groups:
        """Return good groups, each the better one given that of the step that follows."""
        groups = np.empty(len(self._odds), dtype=np.int8)
        kernels.choose_groups(self._odds, self._after, self._log_within, groups)
        return groups


@dataclass(frozen=True)
class Splitter:
    """What proposes how to split steps of one or two states; nothing of it depends on how they are.

    Parameters
    ----------
    steps : Steps
    emission : CollapsedEmission
        That of the walker.
    transitions : Transitions
    mass : float
        alpha times the weights of both states.
    rng : (4,) uint64 array
    """

    steps: Steps
    emission: CollapsedEmission
    transitions: Transitions
    mass: float
    rng: NDArray[np.uint64]

    def launch(self) -> TwoStates | None:
        """Return a model of two groups, random but blind to which groups there are now.

        Two windows that differ gather those that are like them, then all steps choose a group.
        """
        n = len(self.steps.steps)
        windows = np.empty(n, dtype=np.int64)
        n_windows = kernels.cut_windows(self.steps.before, pick(WIDTHS, self.rng), windows)
        if n_windows < 2:
            n_windows = kernels.cut_windows(self.steps.before, 1, windows)
        if n_windows < 2:
            return None
        log_obs = np.empty((n, 2))

        def compare(groups: Groups) -> Floats:
            """Return by how much each window is more likely in group 1."""
            self.emission.condition(groups.astype(np.int64))
            self.emission.write_log_predictive(log_obs)
            gains: Floats = log_obs[:, 1] - log_obs[:, 0]
            return np.bincount(windows, gains).astype(np.float64)

        first = pick(range(n_windows), self.rng)
        others = [pick(range(n_windows - 1), self.rng) for _ in range(_N_TRIED)]
        others = [i + (i >= first) for i in others]
        away = compare((windows != first).astype(np.int8)) / np.bincount(windows)
        second = max(others, key=lambda i: away[i])
        groups = np.full(n, -1, dtype=np.int8)
        groups[windows == first], groups[windows == second] = 0, 1
        for _ in range(_N_PASSES):
            groups = (compare(groups) > 0.0).astype(np.int8)[windows]
            groups[windows == first], groups[windows == second] = 0, 1
        return self.learn(self.learn(groups).draw(self.rng))

    def learn(self, groups: Groups) -> TwoStates:
        """Return the model of two groups that they would teach."""
        transitions = self.transitions
        weights = transitions.alpha * transitions.weights
        return TwoStates(self.steps, self.emission, groups, weights, self.mass, transitions.kappa)

    def log_evidence(self, groups: Groups) -> float:
        """Return log p(observations of these steps given their groups)."""
        self.emission.condition(groups.astype(np.int64))
        return self.emission.log_evidence()


class Regrouping:
    """Base class: what gives steps of some states to others, in place.

    Parameters
    ----------
    ptr : (n + 1,) array
    states : (N,) array of int
        Written to.
    transitions : Transitions
    emission : CollapsedEmission
    rng : (4,) uint64 array
    """

    def __init__(
        self,
        ptr: Places,
        states: Places,
        transitions: Transitions,
        emission: CollapsedEmission,
        rng: NDArray[np.uint64],
    ):
        self._ptr, self._states = ptr, states
        self._transitions, self._emission = transitions, emission
        self._rng = rng


class SplitMerge(Regrouping):
    """Metropolis-Hastings moves on the states and two weights beta, all else summed out or given.

    A split takes a state in use and one that is not, and proposes a path through the two for the
    steps of the first; a merge gives the steps of two states to one of them. Rates of transitions
    and parameters of observations are summed out, so that those of before say nothing after a move
    was accepted. The weights are those of the transitions, and written to.

    Similarities that depend on the parameters of the observations change with them. Those of the
    two states are then proposed from their posterior given the states and the observations, so that
    the evidence, with parameters summed out, is all that counts of observations here, too.

    Parameters
    ----------
    ptr, states, transitions, emission, rng : as for `Regrouping`
    similarity : EmissionCoupledSampler or None, default=None
        What such similarities come from.
    """

    def __init__(
        self,
        ptr: Places,
        states: Places,
        transitions: Transitions,
        emission: Any,
        rng: NDArray[np.uint64],
        similarity: EmissionCoupledSampler | None = None,
    ):
        super().__init__(ptr, states, transitions, emission, rng)
        self._similarity = similarity

    def try_once(self) -> bool:
        """Propose a split or a merge; return whether it was accepted."""
        counts = np.bincount(self._states, minlength=self._transitions.n_states)
        used, empty = np.flatnonzero(counts), np.flatnonzero(counts == 0)
        if next_double(self._rng) < 0.5:
            return len(empty) > 0 and self._split(counts, used, empty)
        return len(used) > 1 and self._merge(counts, used, empty)

    def _split(self, counts: Places, used: Places, empty: Places) -> bool:
        a, b = pick(used, self._rng), pick(empty, self._rng)
        splitter = self._splitter(a, a, b)
        model = splitter.launch()
        if model is None:
            return False
        groups = model.draw(self._rng)
        if next_double(self._rng) < 0.5:  # which group keeps the name
            groups ^= 1
        if groups.min() == groups.max():
            return False
        forward = model.log_probability(groups) - np.log(len(used) * len(empty))
        counts = counts.copy()
        counts[b] = np.count_nonzero(groups)
        counts[a] -= counts[b]
        backward = log_probability_of_merge(counts, b)
        gain = splitter.log_evidence(groups) - splitter.log_evidence(np.zeros_like(groups))
        shapes = self._shapes(splitter.steps, groups), self._shapes(splitter.steps, 0 * groups)
        states = self._states.copy()
        states[splitter.steps.steps[groups == 1]] = b
        log_ratio = gain + backward - forward
        return self._accept(states, (splitter, groups), a, b, *shapes, log_ratio)

    def _merge(self, counts: Places, used: Places, empty: Places) -> bool:
        ends = np.cumsum(1.0 / counts[used])
        i = min(np.searchsorted(ends, next_double(self._rng) * ends[-1]), len(used) - 1)
        a, b = pick(np.delete(used, i), self._rng), used[i]
        splitter = self._splitter(a, b, b)
        model = splitter.launch()
        if model is None:
            return False
        groups = (self._states[splitter.steps.steps] == b).astype(np.int8)
        forward = log_probability_of_merge(counts, b)
        backward = model.log_probability(groups) - np.log((len(used) - 1.0) * (len(empty) + 1.0))
        gain = splitter.log_evidence(np.zeros_like(groups)) - splitter.log_evidence(groups)
        shapes = self._shapes(splitter.steps, 0 * groups), self._shapes(splitter.steps, groups)
        states = self._states.copy()
        states[splitter.steps.steps] = a
        log_ratio = gain + backward - forward
        return self._accept(states, (splitter, 0 * groups), a, b, *shapes, log_ratio)

    def _splitter(self, a: int, b: int, other: int) -> Splitter:
        """Return what splits the steps of a and b, whose weights, with the other's, are shared."""
        transitions = self._transitions
        steps = list_steps(self._ptr, self._states, transitions.n_states, a, b)
        mass = transitions.alpha * (transitions.weights[a] + transitions.weights[other])
        emission = self._emission.restrict(steps.steps, 2)
        return Splitter(steps, emission, transitions, mass, self._rng)

    def _shapes(self, steps: Steps, groups: Groups) -> Floats:
        """Return the parameters of the Beta law from which the share of two weights is proposed.

        As if each restaurant had one table of a group that its customers eat from.
        """
        transitions = self._transitions
        into, _, within = count_groups(steps, groups, transitions.n_states)
        tables = (into > 0).sum(axis=0) + (within > 0).sum(axis=0)
        return transitions.gamma / transitions.n_states + tables

    def _accept(
        self,
        states: Places,
        grouped: tuple[Splitter, Groups],
        a: int,
        b: int,
        new: Floats,
        old: Floats,
        log_ratio: float,
    ) -> bool:
        """Propose weights for the states, then accept all or nothing.

        Parameters
        ----------
        grouped : (Splitter, (n,) array)
            What proposed the states, and the groups of its steps in them: 0 is a, 1 is b.
        new, old : (2,) arrays
            Parameters of the Beta laws from which the weights would come, there and back.
        """
        transitions = self._transitions
        pair = [a, b]
        logs = np.array([draw_log_gamma(shape, self._rng) for shape in new])
        weights = transitions.weights.copy()
        total = weights[pair].sum()
        shares = np.exp(logs - np.logaddexp(*logs))
        weights[pair] = np.maximum(total * shares, SMALLEST_WEIGHT)
        # Densities of the logit of the share, as that of beta is one of log ratios.
        log_ratio += log_density_of_share(transitions.weights[pair], old)
        log_ratio -= log_density_of_share(weights[pair], new)
        if self._similarity is None:
            log_ratio += transitions.log_ratio(
                self._ptr, (states, self._states), (weights, transitions.weights), a, b
            )
        else:
            splitter, groups = grouped
            proposal = self._similarity.propose_pair(
                self._emission, splitter.emission, groups.astype(np.int64), pair, self._rng
            )
            there = transitions.with_log_similarity(proposal.log_similarity)
            log_ratio += there.log_probability_of(self._ptr, states, weights)
            log_ratio -= transitions.log_probability_of(
                self._ptr, self._states, transitions.weights
            )
        if not np.log1p(-next_double(self._rng)) < log_ratio:
            return False
        if self._similarity is not None:
            self._similarity.accept_pair(self._emission, proposal)
            transitions.log_similarity[:] = there.log_similarity
        self._states[:] = states
        transitions.weights[:] = weights
        return True


def pick(choices: Sequence[Any] | NDArray[Any], rng: NDArray[np.uint64]) -> Any:
    """Return one of several choices, each as likely as the others."""
    return choices[int(next_double(rng) * len(choices))]


def log_probability_of_merge(counts: Places, b: int) -> float:
    """Return the log probability to try to merge state b into a certain other one.

    Small states are tried more often: a few odd steps often make a state of their own.
    """
    used = counts[counts > 0]
    return float(-np.log(counts[b] * (1.0 / used).sum() * (len(used) - 1)))


def log_density_of_share(weights: Floats, shapes: Floats) -> float:
    """Return the log density of the logit of the first one's share of two weights."""
    return float(shapes @ np.log(weights / weights.sum()) - betaln(*shapes))
