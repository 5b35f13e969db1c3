"""Similarities of contexts as sums over the sets of columns in which they agree.

exp(-sum_n lambda_n [h_n != h'_n]) is a product of factors t_n + (1 - t_n) [h_n = h'_n] with
t_n = exp(-lambda_n), so it is a sum over sets of columns: prod_{n in set} (1 - t_n) prod_{n not in
set} t_n if the contexts agree in the whole set. So sums of similarities are weighted sums of
numbers of observations, and a draw by similarity is a draw of a set followed by a draw of one of
the observations that agree in it. Overlaps are sums over single columns by definition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from skdp._numeric._typing import Floats, Ints, Places
from skdp.context._distance_dependent._kernels_sweep import Buckets
from skdp.context._distance_dependent._observations import ContextObservations


def all_subsets(n_columns: int) -> list[int]:
    """Return all sets of columns as bits, subsets before their supersets."""
    return list(range(2**n_columns))


def single_columns(n_columns: int) -> list[int]:
    """Return the sets of a single column."""
    return [1 << d for d in range(n_columns)]


def weigh_subsets(decay: Floats) -> Floats:
    """Return the weights of all sets of columns in the "product" similarity: they sum to 1."""
    weights = np.ones(1)
    for rate in decay:
        weights = np.concatenate([weights * np.exp(-rate), weights * -np.expm1(-rate)])
    return weights


class SubsetIndex:
    """Index of the combinations of codes that contexts have in sets of columns: `names`, (Q, U).

    Sets are given as bits; each without its highest column is another listed set, or empty.
    """

    def __init__(self, codes: Ints, subsets: Sequence[int]):
        self.subsets = list(subsets)
        self._n_codes = [int(column.max()) + 1 for column in codes.T]
        self._keys: dict[int, Places] = {}
        known = {0: np.zeros(len(codes), dtype=np.int64)}
        for subset in self.subsets:
            if subset:
                pairs = self._pair(known, codes, subset)
                self._keys[subset], names = np.unique(pairs, return_inverse=True)
                known[subset] = names.ravel()
        self.names = np.array([known[subset] for subset in self.subsets])

    def _pair(self, known: dict[int, Places], codes: Ints, subset: int) -> Places:
        """Return keys of contexts in a set from a subset's numbers and one more column's codes."""
        d = subset.bit_length() - 1
        return known[subset ^ (1 << d)] * self._n_codes[d] + codes[:, d]

    def find(self, codes: Ints) -> Places:
        """Return the numbers of other contexts, (Q, m); -1 for combinations that are unknown."""
        known = {0: np.zeros(len(codes), dtype=np.int64)}
        for subset in self.subsets:
            if subset:
                d = subset.bit_length() - 1
                pairs, keys = self._pair(known, codes, subset), self._keys[subset]
                place = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
                is_new = (known[subset ^ (1 << d)] < 0) | (codes[:, d] < 0) | (keys[place] != pairs)
                known[subset] = np.where(is_new, -1, place)
        return np.array([known[subset] for subset in self.subsets])

    def count(self, repeats: Places) -> Floats:
        """Return the number of observations that agree with each context in each set, (U, Q)."""
        columns = [np.bincount(names, weights=repeats)[names] for names in self.names]
        return np.ascontiguousarray(np.transpose(columns))

    def make_buckets(self, observations: ContextObservations, groups: Places) -> Buckets:
        """Return buckets of observations by their combination in each set, separately by group."""
        n_groups = int(groups.max()) + 1
        kinds, row_of = np.unique(observations.context_of * n_groups + groups, return_inverse=True)
        shape = len(self.subsets), len(kinds)
        starts, sizes = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        members = np.empty((len(self.subsets), len(groups)), dtype=np.int32)
        for q, names in enumerate(self.names):
            keys = names[observations.context_of] * n_groups + groups
            members[q] = np.argsort(keys, kind="stable")
            in_order = keys[members[q]]
            wanted = names[kinds // n_groups] * n_groups + kinds % n_groups
            starts[q] = np.searchsorted(in_order, wanted, "left")
            sizes[q] = np.searchsorted(in_order, wanted, "right") - starts[q]
        return Buckets(
            np.empty(len(self.subsets)),
            np.ascontiguousarray(starts.T),
            np.ascontiguousarray(sizes.T),
            members,
            row_of.ravel().astype(np.int64),
            np.empty(len(self.subsets)),
        )

    def smooth(self, codes: Ints, weights: Floats, values: Sequence[Floats]) -> list[Floats]:
        """Return sums over known contexts, weighted by similarity to others: S arrays (m, X).

        The weights of the sets are (S, Q); `values` are S arrays (U, X), or one for all samples.
        """
        sums = [np.zeros((len(codes), values[0].shape[1])) for _ in weights]
        for q, found in enumerate(self.find(codes)):
            names = self.names[q]
            shape = int(names.max()) + 1, len(names)
            gather = csr_matrix((np.ones(len(names)), (names, np.arange(len(names)))), shape=shape)
            rows = np.flatnonzero(found >= 0)
            parts = [(gather @ value)[found[rows]] for value in values]
            for s, total in enumerate(sums):
                total[rows] += weights[s, q] * parts[s % len(parts)]
        return sums
