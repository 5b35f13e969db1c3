"""Factorial hidden Markov models with known parameters, known bits, and aligned samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skdp._checks import as_array, check_known, is_list_like, shorten, unpack
from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp.emissions._binary_factors._part import BinaryFactorModel, check_outputs
from skdp.emissions._kernels._binary_factors import write_centers, write_log_probs
from skdp.sequence._hmm._messages import Batches, Mask, check_possible
from skdp.sequence._kernels import _evidence as kernels

# Known bits of factors, which users pass.
#
# They are an (N, G) array of int8 for the first G factors: 0, 1, or -1 for an unknown bit.


Bits = NDArray[np.int8]
Order = NDArray[np.intp]


def check_known_bits(y: Any, ptr: Places, n_factors: int | None, most: int = 0) -> Bits | None:
    """Return the known bits of the steps, or None if y has none; raise if it holds anything else.
    Without `n_factors`, for a buffet, each of up to `most` columns must hold a 1.
    """
    parts = _split_by_sequence(y, ptr)
    if parts is None:
        return None
    widths = {part.shape[1] for part in parts if part is not None}
    if n_factors is None and len(widths) > 1:
        raise ValueError(f"y: all arrays must have the same number of columns, got {widths}.")
    width = n_factors or widths.pop()
    known = np.full((int(ptr[-1]), width), -1, dtype=np.int8)
    for s, part in enumerate(parts):
        if part is None:
            continue
        begin, end = int(ptr[s]), int(ptr[s + 1])
        name, place = (f"y[{s}]", f"sequence {s}") if len(parts) > 1 else ("y", "X")
        if part.shape[1] != width:
            raise ValueError(
                f"{name} must have n_factors={width} columns, a bit per factor, -1 if it is "
                f"unknown; got shape {part.shape}. If y is for a later step, set use_y=False."
            )
        for f in range(width):
            known[begin:end, f] = check_known(
                _without_bools(part[:, f]), end - begin, f"{name}[:, {f}]", what="bit",
                place=f"step of {place}", largest=1,
            )  # fmt: skip
    if n_factors is None:
        _check_columns(known, most)
    return known if (known >= 0).any() else None


def _split_by_sequence(y: Any, ptr: Places) -> list[NDArray[Any] | None] | None:
    """Return the two-dimensional entries of y for each sequence, or None if it holds no bits."""
    if y is None:
        return None
    y = unpack(y)
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    entries = list(y) if isinstance(y, list | tuple) else as_array(y, "y")
    if not isinstance(entries, list) and entries.ndim == 0:
        raise TypeError(f"y must be an array, or a list of arrays, got {shorten(y)}.")
    if not any(is_list_like(entry) for entry in entries):
        return None  # a number or string for each sequence or step is a class
    n_sequences, n_steps = len(ptr) - 1, int(ptr[-1])
    are_rows = all(_count_dimensions(entry) == 1 for entry in entries)
    if are_rows and len(entries) == n_steps:
        table = as_array(entries, "y")
        if table.ndim == 2:
            return [np.asarray(part) for part in np.split(table, ptr[1:-1])]
    if _are_classes(entries, ptr):
        return None
    if are_rows or len(entries) != n_sequences:
        raise ValueError(
            f"y must be an array of {n_steps} rows of bits, one for each step, or a list of "
            f"{n_sequences} such arrays, one for each sequence of X; got {len(entries)} entries."
        )
    parts: list[NDArray[Any] | None] = []
    for s, entry in enumerate(entries):
        part = entry.to_numpy() if hasattr(entry, "to_numpy") else entry
        part = None if part is None else as_array(part, f"y[{s}]")
        if part is not None and part.ndim != 2:
            raise ValueError(
                f"y[{s}] must have a row for each step and a column for each factor, got shape "
                f"{part.shape}."
            )
        parts.append(part)
    return parts


def _are_classes(entries: Any, ptr: Places) -> bool:
    """Return whether entries for the sequences hold a value for each step, or None."""
    return len(entries) == len(ptr) - 1 and all(
        entry is None or (_count_dimensions(entry) == 1 and len(entry) == n_steps)
        for entry, n_steps in zip(entries, np.diff(ptr), strict=True)
    )


def _without_bools(bits: NDArray[Any]) -> NDArray[Any]:
    """Return bits with integers instead of True and False."""
    if bits.dtype == object:
        return np.array([int(b) if isinstance(b, bool | np.bool_) else b for b in bits], object)
    return bits.astype(np.int8) if bits.dtype == np.bool_ else bits


def _count_dimensions(entry: Any) -> int:
    """Return the number of dimensions of an entry of y: 0 for a number, 2 for a table or None."""
    if entry is None:
        return 2
    if hasattr(entry, "to_numpy"):
        return int(entry.to_numpy().ndim)
    return as_array(entry, "y").ndim if is_list_like(entry) else 0


def _check_columns(known: Bits, most: int) -> None:
    """Raise ValueError if a column of an Indian buffet has no 1, or there are too many."""
    if known.shape[1] > most:
        raise ValueError(
            f'y may have at most {most} columns with n_factors="auto" and these priors, got '
            f"{known.shape[1]}."
        )
    never = np.flatnonzero(~(known == 1).any(axis=0))
    if len(never) and (known >= 0).any():
        raise ValueError(
            f'y[:, {never[0]}] holds no 1 in any sequence: with n_factors="auto", each column of '
            "y is a factor that is known to be on at some step. Leave the column out, or give the "
            "number of factors."
        )


def pad_known(known: Bits | None, n_factors: int) -> Bits:
    """Return known bits with unknown ones of further factors; without rows if none is known."""
    if known is None:
        return np.empty((0, n_factors), dtype=np.int8)
    return np.pad(known, ((0, 0), (0, n_factors - known.shape[1])), constant_values=-1)


def write_known(known: Bits, bits: NDArray[Any]) -> None:
    """Write the known bits."""
    np.copyto(bits[:, : known.shape[1]], known, where=known >= 0)


def name_paths(bits: Bits, known: Bits) -> Bits:
    """Return paths in the order of the known factors, with the known bits, (N, max(F, G))."""
    n_known, n_paths = known.shape[1], bits.shape[1]
    spins = np.where(known >= 0, 2.0 * known - 1.0, 0.0)
    # A known factor takes the path, or its opposite, that agrees with most of its known bits.
    agreement = spins.T @ (2.0 * bits - 1.0)
    rows, columns = linear_sum_assignment(np.abs(agreement), maximize=True)
    result = np.zeros((len(bits), max(n_known, n_paths)), dtype=np.int8)
    result[:, rows] = bits[:, columns] ^ (agreement[rows, columns] < 0.0).astype(np.int8)
    result[:, n_known:] = np.delete(bits, columns, axis=1)
    write_known(known, result)
    return result


# Filtering and smoothing of factors over all their joint states: calls of the kernels. Sequence s
# is steps ptr[s] to ptr[s + 1] - 1; for the other names, see `_kernels/_evidence`.


class JointModel:
    """Observations and a hidden Markov model with 2^F joint states, and buffers for one step."""

    def __init__(
        self, values: Floats, on_probs: Floats, centers: Floats, precisions: Floats, probit: Mask
    ):
        self.n_states = centers.shape[1]
        log_probs = np.empty((2, *centers.shape))
        write_log_probs(centers, probit, log_probs)
        self._on_probs, self._n_steps = on_probs, len(values)
        self._known = as_readonly(values), on_probs, centers, precisions, probit, log_probs
        self._log_obs, self._current = np.empty((2, self.n_states))

    def _filter(
        self, ptr: Places, predicted: Floats, filtered: Floats, steps: Floats, *, goes_on: bool
    ) -> int:
        """Filter; return the first impossible sequence, or -1."""
        return kernels.filter_sequences(
            as_readonly(ptr), goes_on, *self._known, self._log_obs, self._current, predicted,
            filtered, steps,
        )  # fmt: skip

    def log_predictives(self, ptr: Places) -> Floats:
        """Return log p(y_t given y_<t) of all steps, (N,); after an impossible step, all -inf."""
        out = np.full(self._n_steps, -np.inf)
        ring = np.empty((2, 1, self.n_states))
        self._filter(ptr, ring[0], ring[1], out, goes_on=False)
        return out

    def activities(self, ptr: Places, most_kept: int, out: Floats) -> int:
        """Write p(b_tf = 1 given y), (N, F); return the first impossible sequence, or -1."""
        n, steps = self.n_states, np.empty(self._n_steps)
        message, folded, following = np.empty((3, n))
        # The filtered probabilities of a whole sequence may not fit into memory. Then only those
        # before each block of steps are kept, and those within a block are recomputed when it is
        # smoothed.
        for first, last in Batches(ptr, n):
            begin, end = int(ptr[first]), int(ptr[last])
            # Only a sequence in a separate batch may be long enough to be cut.
            length = max(most_kept // n, int(np.sqrt(end - begin)) + 1)
            cuts = [begin] if last - first > 1 else list(range(begin, end, length)) or [begin]
            before = np.zeros((len(cuts), n))  # filtered, at the step before a block
            ring = np.empty((2, 1, n))
            for block in range(len(cuts) - 1):
                part = np.array(cuts[block : block + 2])
                if self._filter(part, ring[0], ring[1], steps, goes_on=block > 0) >= 0:
                    return first
                before[block + 1] = self._current
            for block in range(len(cuts) - 1, -1, -1):
                self._current[:] = before[block]
                is_last = block == len(cuts) - 1
                if len(cuts) > 1:
                    part = np.array([cuts[block], end if is_last else cuts[block + 1]])
                else:
                    part = ptr[first : last + 1]
                predicted, filtered = np.empty((2, int(part[-1] - part[0]), n))
                impossible = self._filter(part, predicted, filtered, steps, goes_on=block > 0)
                if impossible >= 0:
                    return first + impossible
                kernels.smooth_sequences(
                    as_readonly(part), not is_last, self._on_probs, filtered, predicted,
                    following, message, folded, out,
                )  # fmt: skip
                following[:] = predicted[0]  # the step after the previous block
        return -1


# Models with known parameters: likelihoods, posteriors and draws.


MOST_FACTORS = 20
"""The joint states of more factors take too much memory."""

MOST_KEPT = 1 << 22
"""Largest number of values of a sequence that smoothing keeps; more are computed twice."""


@dataclass(frozen=True, eq=False)
class FactorialModel:
    """A factorial hidden Markov model with known parameters.

    Estimators store such a model for each sample that they keep.

    Attributes
    ----------
    startprob : (F, 2) array
        Probabilities that factors are off and on at the first step. Like all probabilities here,
        they are posterior means given the activities of this sample.
    transmat : (F, 2, 2) array
        Transition probabilities from row to column; off is 0, on is 1.
    weights : (F + 1, D) array
        Weights of the factors, with the background in row 0.
    noise_variance : (D,) array
        Variances of the noise, 1 for probit columns.
    output : tuple of str
        "normal" or "probit", for every column.
    shares : (F,) array
        Shares of the training observations in which factors are on.
    places : (G,) array of int or None
        For each of the G reference factors, its index among the F factors, or -1 if it has no
        match. None: the F factors in their order.
    """

    startprob: Floats
    transmat: Floats
    weights: Floats
    noise_variance: Floats
    output: tuple[str, ...]
    shares: Floats
    places: Order | None = None

    def log_likelihoods(self, ptr: Places, values: Floats) -> Floats:
        """Return log p(x) of every sequence, (n,)."""
        return np.add.reduceat(self._joint(values).log_predictives(ptr), ptr[:-1])

    def log_predictives(self, values: Floats) -> Floats:
        """Return log p(x_t given x_<t) of every step of one sequence, (T,)."""
        return self._joint(values).log_predictives(np.array([0, len(values)]))

    def posteriors(self, ptr: Places, values: Floats, known: Bits | None = None) -> Floats:
        """Return the probabilities that factors are on given x and known bits, (N, F).

        With `places`, return the probabilities of the G reference factors, (N, G); factors without
        a match are never on.
        """
        out = np.empty((len(values), len(self.shares)))
        joint = self._joint(values, pad_known(known, out.shape[1]))
        check_possible(
            joint.activities(ptr, MOST_KEPT, out),
            " under a stored sample: its factors have no distribution.",
        )
        if self.places is not None:
            out = np.where(self.places >= 0, np.pad(out, ((0, 0), (0, 1)))[:, self.places], 0.0)
        return out

    def draw_paths(self, n_steps: int, rng: np.random.Generator) -> Bits:
        """Return activities drawn from the model, (n_steps, F)."""
        paths = np.empty((n_steps, len(self.shares)), dtype=np.int8)
        on = self.startprob[:, 1]
        factors = np.arange(len(on))
        for t, uniform in enumerate(rng.random(paths.shape)):
            paths[t] = uniform < on
            on = self.transmat[factors, paths[t], 1]
        return paths

    def observe(self, paths: Bits, rng: np.random.Generator) -> Floats:
        """Return a draw of observations given activities, (n_steps, D)."""
        emission = BinaryFactorModel(paths, self.weights, self.noise_variance, self.output)
        return emission.sample(np.arange(len(paths)), rng)

    def reorder(self, order: Order, flipped: Mask) -> Self:
        """Return the same model with its factors in another order and some of them flipped.

        Factor f becomes the former factor ``order[f]``, or its opposite if ``flipped[f]``: on then
        means off, and the weight of the former factor is added to the background.
        """
        startprob, transmat = self.startprob[order], self.transmat[order]
        weights, shares = self.weights[1:][order], self.shares[order]
        background = self.weights[0] + weights[flipped].sum(axis=0)
        startprob[flipped] = startprob[flipped, ::-1]
        transmat[flipped] = transmat[flipped, ::-1, ::-1]
        weights[flipped] = -weights[flipped]
        return replace(
            self,
            startprob=startprob,
            transmat=transmat,
            weights=np.vstack([background, weights]),
            shares=np.where(flipped, 1.0 - shares, shares),
        )

    def _joint(self, values: Floats, known: Bits | None = None) -> JointModel:
        n_factors = len(self.shares)
        if n_factors > MOST_FACTORS:
            raise ValueError(
                "Scores and probabilities are sums over all 2^n_factors joint states; they can be "
                f"computed for up to {MOST_FACTORS} factors, got {n_factors}. `iter_sweeps` gives "
                "draws of the activities for any number."
            )
        probit = np.array([kind == "probit" for kind in self.output])
        values = check_outputs(np.asarray(values, dtype=np.float64), probit)
        numbers = np.arange(2**n_factors)[:, np.newaxis]
        vectors = (numbers >> np.arange(n_factors) & 1).astype(np.int8)
        centers = np.empty((len(probit), len(vectors)))
        write_centers(vectors, np.array(self.weights), centers)
        on_probs = np.column_stack([self.startprob[:, 1], self.transmat[:, :, 1]])
        precisions = 1.0 / self.noise_variance
        if known is not None and len(known):  # observed in probit columns of one factor each
            values = np.hstack([values, np.where(known < 0, np.nan, known)])
            centers = np.vstack([centers, np.where(vectors.T == 1, np.inf, -np.inf)])
            precisions = np.append(precisions, np.ones(n_factors))
            probit = np.append(probit, np.ones(n_factors, dtype=np.bool_))
        return JointModel(values, on_probs, centers, precisions, probit)


# Alignment of the factors of the samples of one chain.


class FactorialDraw(NamedTuple):
    """A draw of the activities in the training data, which aligns factors, and its model."""

    model: FactorialModel
    paths: Bits  # (N, F) activities in the training data
    log_joint: float


def name_factors(
    samples: list[FactorialDraw], known: Bits | None = None, *, exchangeable: bool
) -> tuple[list[FactorialModel], int]:
    """Return models with aligned factors, and the index of the reference, of highest log joint."""
    reference = int(np.argmax([sample.log_joint for sample in samples]))
    if not exchangeable:  # given weights: factors keep their order
        return [sample.model for sample in samples], reference
    shares = samples[reference].model.shares
    # Order the reference's factors by decreasing share, at most 1/2 after an exchange of values.
    # Factors with known bits keep their numbers and values.
    named = np.flatnonzero([] if known is None else (known >= 0).any(axis=0))
    often = shares > 0.5
    often[named] = False
    order = np.argsort(-np.where(often, 1.0 - shares, shares), kind="stable")
    others = np.setdiff1d(np.arange(len(order)), named)
    order[others], order[named] = order[~np.isin(order, named)], named
    paths = samples[reference].paths[:, order] ^ often[order].astype(np.int8)
    # Match the other samples so that as many activities as possible agree.
    return [_rename(s.model, *_match(paths, s.paths, named)) for s in samples], reference


def _rename(model: FactorialModel, matches: Order, flipped: Mask) -> FactorialModel:
    """Return a model with its factors in the order of `matches` (-1: none), unmatched ones last."""
    own = matches[matches >= 0]
    order = np.append(own, np.setdiff1d(np.arange(len(model.shares)), own))
    turned = np.append(flipped[matches >= 0], np.zeros(len(order) - len(own), dtype=np.bool_))
    model = model.reorder(order, turned)
    if len(own) == len(matches) == len(order):
        return model
    places = np.where(matches >= 0, np.cumsum(matches >= 0) - 1, -1)
    return replace(model, places=places)


def _match(reference: Bits, paths: Bits, named: Order) -> tuple[Order, Mask]:
    """Return the match of each reference factor, or -1, and whether its values are exchanged."""
    spins, others = 2.0 * reference - 1.0, 2.0 * paths - 1.0
    agreement = spins.T @ others
    agreement[named, named] = agreement.size * len(paths) + 1.0  # more than all others together
    rows, columns = linear_sum_assignment(np.abs(agreement), maximize=True)
    matches = np.full(reference.shape[1], -1, dtype=np.intp)  # -1: the least alike, if too few
    matches[rows] = columns
    flipped = np.zeros(len(matches), dtype=np.bool_)
    flipped[rows] = agreement[rows, columns] < 0.0
    return matches, flipped
