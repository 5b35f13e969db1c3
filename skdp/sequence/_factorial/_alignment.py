"""Alignment of the factors of the samples of one chain."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skdp.sequence._factorial._model import FactorialModel


class FactorialDraw(NamedTuple):
    """A draw of the activities in the training data, which aligns factors, and its model."""

    model: FactorialModel
    paths: NDArray[np.int8]  # (N, F) activities in the training data
    log_joint: float


def name_factors(
    samples: list[FactorialDraw], known: NDArray[np.int8] | None = None, *, exchangeable: bool
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


def _rename(
    model: FactorialModel, matches: NDArray[np.intp], flipped: NDArray[np.bool_]
) -> FactorialModel:
    """Return a model with its factors in the order of `matches` (-1: none), unmatched ones last."""
    own = matches[matches >= 0]
    order = np.append(own, np.setdiff1d(np.arange(len(model.shares)), own))
    turned = np.append(flipped[matches >= 0], np.zeros(len(order) - len(own), dtype=np.bool_))
    model = model.reorder(order, turned)
    if len(own) == len(matches) == len(order):
        return model
    places = np.where(matches >= 0, np.cumsum(matches >= 0) - 1, -1)
    return replace(model, places=places)


def _match(
    reference: NDArray[np.int8], paths: NDArray[np.int8], named: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
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
