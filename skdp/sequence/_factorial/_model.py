"""Factorial hidden Markov models with known parameters: likelihoods, posteriors and draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats
from skdp.emissions._binary_factors._kernels import write_centers
from skdp.emissions._binary_factors._model import BinaryFactorModel, check_outputs
from skdp.sequence._factorial import _joint as joint
from skdp.sequence._factorial._known_bits import pad_known

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

    startprob: NDArray[np.float64]
    transmat: NDArray[np.float64]
    weights: NDArray[np.float64]
    noise_variance: NDArray[np.float64]
    output: tuple[str, ...]
    shares: NDArray[np.float64]
    places: NDArray[np.intp] | None = None

    def log_likelihoods(
        self, ptr: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return log p(x) of every sequence, (n,)."""
        steps = np.empty(len(values))
        joint.log_predictives(ptr, *self._joint(values), steps)
        return np.add.reduceat(steps, ptr[:-1])

    def log_predictives(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(x_t given x_<t) of every step of one sequence, (T,)."""
        steps = np.empty(len(values))
        joint.log_predictives(np.array([0, len(values)]), *self._joint(values), steps)
        return steps

    def posteriors(
        self,
        ptr: NDArray[np.int64],
        values: NDArray[np.float64],
        known: NDArray[np.int8] | None = None,
    ) -> NDArray[np.float64]:
        """Return the probabilities that factors are on given x and known bits, (N, F).

        With `places`, return the probabilities of the G reference factors, (N, G); factors without
        a match are never on.
        """
        out = np.empty((len(values), len(self.shares)))
        parts = self._joint(values, pad_known(known, out.shape[1]))
        impossible = joint.activities(ptr, *parts, MOST_KEPT, out)
        if impossible >= 0:
            raise ValueError(
                f"Sequence {impossible} has probability 0 under a stored sample: its factors have "
                "no distribution."
            )
        if self.places is not None:
            out = np.where(self.places >= 0, np.pad(out, ((0, 0), (0, 1)))[:, self.places], 0.0)
        return out

    def draw_paths(self, n_steps: int, rng: np.random.Generator) -> NDArray[np.int8]:
        """Return activities drawn from the model, (n_steps, F)."""
        paths = np.empty((n_steps, len(self.shares)), dtype=np.int8)
        on = self.startprob[:, 1]
        factors = np.arange(len(on))
        for t, uniform in enumerate(rng.random(paths.shape)):
            paths[t] = uniform < on
            on = self.transmat[factors, paths[t], 1]
        return paths

    def observe(self, paths: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return a draw of observations given activities, (n_steps, D)."""
        emission = BinaryFactorModel(paths, self.weights, self.noise_variance, self.output)
        return emission.sample(np.arange(len(paths)), rng)

    def reorder(self, order: NDArray[np.intp], flipped: NDArray[np.bool_]) -> Self:
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

    def _joint(
        self, values: NDArray[np.float64], known: NDArray[np.int8] | None = None
    ) -> tuple[Floats, Floats, Floats, Floats, Any]:
        """Return observations, and the model as a hidden Markov model with 2^F joint states."""
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
        return values, on_probs, centers, precisions, probit
