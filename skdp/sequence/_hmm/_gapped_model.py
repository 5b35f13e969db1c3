"""Predictions for sequences with missing values if observations depend on earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np

from skdp._numeric._typing import Floats, Places
from skdp.emissions._autoregressive._model import AutoregressiveModel
from skdp.emissions._autoregressive._wide import WideAutoregressiveModel
from skdp.sequence._hmm._forecast import StateMoves
from skdp.sequence._hmm._gap_filter import GapFilter, Tail
from skdp.sequence._hmm._hints import KnownStates


def has_gaps(emission: Any, values: Floats) -> bool:
    """Return whether values are missing on which other observations depend."""
    is_lagged = isinstance(emission, AutoregressiveModel | WideAutoregressiveModel)
    return is_lagged and bool(np.isnan(values).any())


class GappedModel:
    """The methods of a model for panels in which some sequences have missing values."""

    def __init__(self, model: Any):
        self._wide: WideAutoregressiveModel | None = None
        # States do not depend on columns that were constant in the data of the fit.
        if isinstance(model.emission, WideAutoregressiveModel):
            self._wide = model.emission
            model = replace(model, emission=model.emission.varying)
        self._model = model

    def _leave_out(self, values: Floats) -> Floats:
        """Return the values without constant columns."""
        return values if self._wide is None else self._wide.constants.leave_out(values)

    def _filter(self, values: Floats, log_known: Floats | None = None) -> GapFilter:
        model = self._model
        tables = None if model.duration is None else model.duration.tables()
        moves = StateMoves(model.transmat, tables)
        # The errors of different samples are independent.
        seed = crc32(np.ascontiguousarray(model.emission.coefs).tobytes())
        return GapFilter(model.startprob, moves, model.emission, values, log_known, seed=seed)

    def _sequences(self, ptr: Places, values: Floats) -> Iterator[tuple[int, slice, Floats, bool]]:
        """Yield number, steps and values of each sequence, and whether it has gaps."""
        values = self._leave_out(values)
        for s, (begin, end) in enumerate(pairwise(ptr.tolist())):
            own = values[begin:end]
            yield s, slice(begin, end), own, bool(np.isnan(own).any())

    def log_likelihoods(self, ptr: Places, values: Floats) -> Floats:
        """Return log p(x) of every sequence, (n,)."""
        out = np.empty(len(ptr) - 1)
        for s, _, own, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                out[s] = self._filter(own).log_steps.sum()
            else:
                out[s] = self._model.log_likelihoods(np.array([0, len(own)]), own)[0]
        if self._wide is not None:
            logs = self._wide.log_constants(values, ptr)
            out += [own.sum() for own in np.split(logs, ptr[1:-1])]
        return out

    def log_predictives(self, values: Floats) -> Floats:
        """Return log p(x_t given x_<t) of every step of one sequence, (T,)."""
        own = self._leave_out(values)
        if not np.isnan(own).any():
            logs: Floats = self._model.log_predictives(own)
        else:
            logs = self._filter(own).log_steps
        if self._wide is not None:
            logs = logs + self._wide.log_constants(values, np.array([0, len(values)]))[:, 0]
        return logs

    def filtered(self, ptr: Places, values: Floats) -> Floats:
        """Return p(z_t = j given x_<=t), (N, J)."""
        out = np.empty((len(values), len(self._model.startprob)))
        for s, steps, own, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                out[steps] = self._filter_possible(own, s).filtered
            else:
                out[steps] = self._model.filtered(np.array([0, len(own)]), own)
        return out

    def posteriors(self, ptr: Places, values: Floats, known: KnownStates | None = None) -> Floats:
        """Return p(z_t = j given x and known states), (N, J)."""
        out = np.empty((len(values), len(self._model.startprob)))
        for s, steps, own, is_gapped in self._sequences(ptr, values):
            bounds = np.array([0, len(own)])
            states = None if known is None else KnownStates(known.states[steps], known.n_states)
            if is_gapped and self._model.duration is None:
                out[steps] = self._filter_possible(own, s, states).smooth()[0]
            elif is_gapped:
                draws = self._filter_possible(own, s, states).draw()
                parts = (self._model.posteriors(bounds, draw, states) for draw in draws)
                out[steps] = sum(parts) / len(draws)
            else:
                out[steps] = self._model.posteriors(bounds, own, states)
        return out

    def changes(self, ptr: Places, values: Floats) -> Floats:
        """Return the probability given x that a state begins at each step, (N,)."""
        out = np.empty(len(values))
        for s, steps, own, is_gapped in self._sequences(ptr, values):
            bounds = np.array([0, len(own)])
            if is_gapped and self._model.duration is None:
                out[steps] = self._filter_possible(own, s).smooth()[1]
            elif is_gapped:
                draws = self._filter_possible(own, s).draw()
                out[steps] = sum(self._model.changes(bounds, draw) for draw in draws) / len(draws)
            else:
                out[steps] = self._model.changes(bounds, own)
        return out

    def impute(self, ptr: Places, values: Floats) -> Floats:
        """Return observations with NaN replaced by its mean given all observed values, (N, D)."""
        out = self._leave_out(values).copy()
        for s, steps, own, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                out[steps] = self._filter_possible(own, s).impute()
        if self._wide is None:
            return out
        constants = self._wide.constants
        return np.where(np.isnan(values), constants.insert(out, constants.values), values)

    def tails(self, ptr: Places, values: Floats) -> list[Tail]:
        """Return the end of each sequence, from which it continues."""
        tails, n_lags = [], self._model.emission.n_lags
        for s, _, own, is_gapped in self._sequences(ptr, values):
            if is_gapped:
                tails.append(self._filter_possible(own, s).tail())
            else:
                ends = self._model.ends(np.array([0, len(own)]), own)
                lags = own[::-1][:n_lags].reshape(1, -1)
                tails.append(Tail(lags, ends[0][:, :, np.newaxis]))
        if self._wide is None:
            return tails
        return [tail._replace(lags=self._wide.widen_lags(tail.lags)) for tail in tails]

    def _filter_possible(
        self, values: Floats, s: int, known: KnownStates | None = None
    ) -> GapFilter:
        """Return a filtered sequence; raise a ValueError if it has probability 0."""
        log_known = None
        if known is not None:
            log_known = np.zeros((len(values), known.n_states))
            known.clamp(log_known)
        found = self._filter(values, log_known)
        if found.log_steps[-1] == -np.inf:
            raise ValueError(
                f"Sequence {s} has probability 0 under a stored sample: its states have no "
                "distribution."
            )
        return found
